"""The theorems that are derived, at the numbers that `bound` prints, and faults in either that this notices."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lastiterate as li
from lastiterate.__main__ import cli
from lastiterate.numeric.bound import by_shifts
from lastiterate.numeric.certificates import proof
from lastiterate.numeric.certificates.description import dyadic
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import replay
from lastiterate.proofs_checks.engines.replay import ReplayedTheorem, replay_theorems
from lastiterate.symbolic.kernel.judgement import UnprovedError

_FALLING = tuple(0.1 * (1 - 0.5 * t / 40) for t in range(40))
_SCHEMES = ("full", "cyclic", "without_replacement", "poisson")
_CLASSES = (li.Clipped(), li.Holder(2.0, 0.5), li.Smooth(0.2), li.Convex(2.0), li.StronglyConvex(2.0, 0.5))


def _run(scheme: str, **changes: Any) -> li.NoisySGD:
    told = {"steps": 40, "step_size": 0.1, "noise_std": 0.3, "clip_norm": 1.0, "dataset_size": 400, "diameter": 0.03}
    batch = {} if scheme == "full" else {"batch_size": 20 if scheme != "cyclic" else 100}
    return li.NoisySGD(sampling=scheme, **{**told, **batch, **changes})


def _certificate(run: li.NoisySGD, assumption: li.Assumption, **ask: float) -> dict[str, Any]:
    """The certificate of the best bound by shifts."""
    order, delta = ask.get("order"), ask.get("delta")
    best = min(by_shifts(run, assumption, order, delta), key=lambda one: one.value(order, delta))
    made: dict[str, Any] = json.loads(json.dumps(proof.certificate(run, assumption, order, delta, best)))
    return made


def _same(one: ReplayedTheorem) -> bool:
    return not one.exceeds(1e-9) and one.cost >= one.stated * (1 - 1e-6)


@pytest.mark.parametrize("scheme", _SCHEMES)
@pytest.mark.sweep(2)
def test_the_theorem_gives_the_number(scheme: str) -> None:
    theorems: Counter[str] = Counter()
    for assumption in _CLASSES:
        for changes in ({}, {"step_size": _FALLING}, {"diameter": float("inf"), "steps": 30}):
            for ask in ({"order": 4.0}, {"delta": 1e-4}):
                for one in replay_theorems(_certificate(_run(scheme, **changes), assumption, **ask)):
                    assert _same(one), (one, assumption, changes)
                    theorems[one.theorem] += 1
    assert sum(theorems.values()) >= 24
    assert {name.partition("/")[2].partition(",")[0] for name in theorems} == {
        "clipped", "Hoelder", "smooth", "convex", "strongly convex"
    }  # fmt: skip


def test_a_distance_that_is_tracked() -> None:
    run = _run("without_replacement", diameter=float("inf"), steps=60, noise_std=0.5, dataset_size=20, batch_size=5)
    (one,) = replay_theorems(_certificate(run, li.StronglyConvex(2.0, 0.5), delta=1e-3))
    assert one.theorem == "without_replacement/strongly convex, tracked from 0"
    assert _same(one)


_FAULTS = {
    "gradients one percent longer": ("run", "clip_norm", dyadic(1.01)),
    "a domain one percent wider": ("run", "diameter", dyadic(0.00303)),
    "one percent less noise": ("run", "noise_std", [[*dyadic(0.297), 40]]),
    "steps one percent longer": ("run", "step_size", [[*dyadic(0.101), 40]]),
    "a tenth of the samples fewer in a batch": ("run", "batch_size", 18),
    "a curvature that is a tenth less": ("class", "m", [461, -10]),
}


@pytest.mark.parametrize("fault", _FAULTS)
@pytest.mark.parametrize("scheme", ["full", "without_replacement"])
def test_a_number_of_another_run_is_noticed(scheme: str, fault: str) -> None:
    part, name, other = _FAULTS[fault]
    run = _run(scheme, diameter=0.003)
    certificate = _certificate(run, li.StronglyConvex(2.0, 0.5), order=4.0)
    assert all(map(_same, replay_theorems(certificate)))
    if scheme == "full" and name == "batch_size":
        certificate["run"]["dataset_size"] = 360
    certificate[part][name] = other
    with suppress(UnprovedError):
        assert any(one.exceeds(1e-6) for one in replay_theorems(certificate)), fault


def test_another_theorem_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A theorem without the sensitivity does not give the number of `bound`: the texts are held together."""
    certificate = _certificate(_run("full"), li.Convex(2.0), order=4.0)
    (right,) = replay_theorems(certificate)
    laws = replay._laws
    for scale in (0.97, 1.03):

        def changed(name: str, scale: float = scale) -> tuple[replay._Law, ...]:
            found = []
            for law in laws(name):
                if {"z_j", "z_next"} <= law.names:
                    grows = law.law.rhs.subs(2 * law.right.letters["K"], 2 * scale * law.right.letters["K"])
                    found.append(replay._Law(law.law.func(law.law.lhs, grows)))
                else:
                    found.append(law)
            return tuple(found)

        with monkeypatch.context() as patch:
            patch.setattr(replay, "_laws", changed)
            (other,) = replay_theorems(certificate)
            assert abs(other.cost / right.cost - 1) > 0.001


def test_what_is_no_certificate_is_refused() -> None:
    with pytest.raises(InputError, match="needs a proof"):
        replay_theorems({"proof": {"rule": "path"}})


def test_verify_names_the_theorem_and_refuses_what_it_does_not_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(_certificate(_run("full"), li.Convex(2.0), order=4.0)))
    said = CliRunner().invoke(cli, ["verify", str(file), "--theorem"])
    assert said.exit_code == 0
    assert "known_batches/convex" in said.output

    def stop(_: object) -> None:
        raise UnprovedError("The theorem supposes more.")

    monkeypatch.setattr("lastiterate.proofs_checks.engines.replay.replay_theorems", stop)
    refused = CliRunner().invoke(cli, ["verify", str(file), "--theorem"])
    assert (refused.exit_code, refused.output) == (1, "refused: The theorem supposes more.\n")
