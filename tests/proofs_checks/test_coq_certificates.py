"""Coq files of certificates: what they say, what Coq accepts, and what it refuses."""

import json
import re
import subprocess
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from coq_compiled import copy, make
from shared import made_once

import lastiterate as li
from lastiterate.commands.verify import command
from lastiterate.numeric.bound import candidates, contracted
from lastiterate.numeric.certificates.description import UncertifiedError, dyadic, seal_nodes
from lastiterate.numeric.certificates.proof import least_certified
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.proofs_checks.certificates.checker import check
from lastiterate.proofs_checks.certificates.coq import coq_file

_FULL: dict[str, Any] = {"step_size": 0.1, "noise_std": 1.0, "dataset_size": 5}
_RUNS: dict[str, tuple[li.NoisySGD, li.Assumption, float]] = {
    "readme": (li.NoisySGD(2000, clip_norm=2.0, diameter=1.0, **_FULL), li.Smooth(1.0), 1e-5),
    "two_steps": (li.NoisySGD(1001, clip_norm=6.25, diameter=3.6, **_FULL), li.Convex(1.0), 1e-5),
    "ten_steps": (li.NoisySGD(3000, clip_norm=4.0, diameter=9.0, **_FULL), li.StronglyConvex(1.0, 0.1), 1e-5),
    "more_noise": (li.NoisySGD(10_000, 0.5, 4.0, 1.0, 50, diameter=6.0), li.Convex(1.0), 1e-6),
    "small_delta": (li.NoisySGD(100, 0.1, 1.0, 1.0, 20, diameter=0.5), li.Smooth(2.0), 1e-8),
    "strongly": (li.NoisySGD(100, 0.1, 1.0, 1.0, 20, diameter=3.0), li.StronglyConvex(2.0, 0.5), 1e-5),
    "large_epsilon": (li.NoisySGD(1000, 0.1, 1.0, 8.0, 4, diameter=3.0), li.Smooth(1.0), 1e-3),
    "cyclic": (li.NoisySGD(2000, 0.1, 1.0, 2.0, 20, 4, "cyclic", 1.0), li.Convex(1.0), 1e-5),
    "cyclic_blocks": (
        li.NoisySGD(3000, 0.1, 1.0, 4.0, 60, 6, "cyclic", 6.0),
        li.StronglyConvex(1.0, 0.1),
        1e-5,
    ),
    "cyclic_few": (li.NoisySGD(40, 0.1, 1.0, 2.0, 40, 4, "cyclic", 2.0), li.Convex(1.0), 1e-5),
}


_PATHS: dict[str, tuple[li.NoisySGD, li.Assumption, float]] = {
    "composition": (li.NoisySGD(20, 0.1, 1.0, 1.0, 50, diameter=20.0), li.Convex(1.0), 1e-5),
    "from_the_domain": (li.NoisySGD(400, clip_norm=2.0, diameter=3.0, **_FULL), li.Convex(1.0), 1e-5),
    "expanding": (li.NoisySGD(400, clip_norm=2.0, diameter=1.0, **_FULL), li.Smooth(1.0), 1e-5),
    "cyclic_path": (li.NoisySGD(2000, 0.1, 1.0, 2.0, 20, 4, "cyclic", 1.0), li.Convex(1.0), 1e-5),
    "from_the_start": (li.NoisySGD(2000, 0.1, 1.0, 2.0, 10, diameter=3.0), li.StronglyConvex(1.0, 0.5), 1e-5),
}
"""Certificates by a Gaussian path, without contraction."""
_BATCHES: dict[str, tuple[li.NoisySGD, li.Assumption, float]] = {
    "poisson": (li.NoisySGD(1000, 0.1, 1.0, 1.0, 50, 5, "poisson", 1.0), li.Convex(1.0), 1e-5),
    "breast_cancer": (
        li.NoisySGD(5000, 4.0088, 30 * 4.0088 * 0.5 / 228, 0.5, 455, 228, "poisson", 1.0),
        li.Convex(0.25),
        1e-5,
    ),
    "poisson_smooth": (li.NoisySGD(500, 0.1, 1.0, 2.0, 40, 20, "poisson", 1.0), li.Smooth(1.0), 1e-6),
    "without_replacement": (
        li.NoisySGD(1000, 0.1, 1.0, 4.0, 50, 5, "without_replacement", 3.0),
        li.Convex(1.0),
        1e-5,
    ),
    "without_strongly": (
        li.NoisySGD(3000, 0.2, 0.5, 2.0, 100, 10, "without_replacement", 2.0),
        li.StronglyConvex(1.0, 0.2),
        1e-6,
    ),
    "without_many": (
        li.NoisySGD(20_000, 0.5, 0.02, 1.0, 10_000, 200, "without_replacement", 0.02),
        li.Convex(1.0),
        1e-6,
    ),
}
"""Certificates of random batches; their files carry a table that is not in the certificate."""
_BY_DAY = ("poisson", "without_replacement")


@lru_cache
def _certificate(run: li.NoisySGD, assumption: li.Assumption, delta: float, paths: bool = False) -> str:
    every = candidates(run, assumption, None, delta)
    found = [one for one in every if not isinstance(one, TableCandidate)]
    made = [] if paths else contracted(run, assumption, None, delta, found)
    least = least_certified(run, assumption, None, delta, [*found, *made])
    assert least
    return json.dumps(least[0])


@lru_cache
def _file(case: str) -> str:
    known = _RUNS | _BATCHES
    text = _certificate(*known[case]) if case in known else _certificate(*_PATHS[case], paths=True)
    return coq_file(json.loads(text), check(text))


@pytest.mark.parametrize("case", _RUNS)
def test_the_theorem_says_nearly_what_the_certificate_says(case: str) -> None:
    """The table that Coq reads bounds every number of steps, and is coarser, or finer, than that of the certificate."""
    text, made = _file(case), json.loads(_certificate(*_RUNS[case]))
    m, e = made["claim"]["value"]
    ((p, q),) = set(re.findall(r"exp \((\d+)/(\d+)\)", text))
    assert m * 2.0**e * 0.99 < int(p) / int(q) < m * 2.0**e * 1.01
    assert f"This epsilon is {int(p) / int(q) / (m * 2.0**e):.4f} times" in text
    noise = dict(re.findall(r"Definition (\w+) : R := \((\S+)\)\.", text))["noise"]
    assert float(noise) == _RUNS[case][0].noise_std
    assert ("gaussian_composition" in text) == (
        any(one["steps"] > 1 for one in made["proof"]["of"]["blocks"][-2:])
    )
    assert "Admitted" not in text


@pytest.mark.parametrize("case", _PATHS)
def test_the_theorem_of_a_path_says_what_the_certificate_says(case: str) -> None:
    text, made = _file(case), json.loads(_certificate(*_PATHS[case], paths=True))
    assert made["proof"]["rule"] == "from gdp"
    assert "This epsilon is 1.0000 times" in text
    assert f"Definition steps : nat := {_PATHS[case][0].steps}." in text
    assert ("m := 0%N" in text) == (
        made["proof"]["of"].get("since", 0) == 0 and "of" not in made["proof"]["of"]
    )


@pytest.mark.parametrize(
    "case",
    [one if one in _BY_DAY else pytest.param(one, marks=pytest.mark.nightly) for one in _BATCHES],
)
def test_a_file_of_random_batches_carries_a_table_of_its_own(case: str) -> None:
    """The certificate is by composition; Coq is given a table by contraction, nearly as good as that of `bound`."""
    text, made = _file(case), json.loads(_certificate(*_BATCHES[case]))
    run, assumption, delta = _BATCHES[case]
    assert made["proof"]["rule"] != "from table"
    ((p, q),) = set(re.findall(r"exp \((\d+)/(\d+)\)", text))
    m, e = made["claim"]["value"]
    assert f"This epsilon is {int(p) / int(q) / (m * 2.0**e):.4f} times" in text
    least = li.bound(run, assumption, delta=delta).epsilon
    assert 0.99 * least < int(p) / int(q) < 1.15 * least
    assert f"Definition others : nat := Z.to_nat {run.dataset_size - 1}%ZZ." in text


@pytest.mark.parametrize("case", [*_RUNS, *_PATHS, *_BY_DAY])
def test_the_comment_says_no_smaller_number_than_the_theorem(case: str) -> None:
    text = _file(case)
    (epsilon, delta), *_ = re.findall(r"iterate is \((\S+), (\S+)\)-DP\.\n   This", text)
    (theorem,) = set(re.findall(r"exp \((\d+(?:/\d+)?)\)", text))
    (failure,) = set(re.findall(r"[AB] \+ (\d+/\d+)\)%coqR", text))
    assert Fraction(epsilon) == Fraction(theorem)
    assert Fraction(delta) >= Fraction(failure)


def test_the_command_writes_the_file_of_a_certificate_that_holds(tmp_path: Path) -> None:
    text = _certificate(*_RUNS["readme"])
    (tmp_path / "run.json").write_text(text)
    done = CliRunner().invoke(command, [str(tmp_path / "run.json"), "--coq", str(tmp_path / "new" / "run.v")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "run.v").read_text() == _file("readme")
    for key, change in (
        ("claim", {"value": dyadic(0.4)}),
        ("run", {"noise_std": [[*dyadic(0.8), 2000]]}),
    ):
        forged = json.loads(text)
        forged[key] |= change
        (tmp_path / "forged.json").write_text(json.dumps(seal_nodes(forged)))
        done = CliRunner().invoke(command, [str(tmp_path / "forged.json"), "--coq", str(tmp_path / "forged.v")])
        assert done.exit_code == 1, done.output
        assert not (tmp_path / "forged.v").exists()


@pytest.mark.parametrize(
    ("run", "assumption", "says"),
    [
        (li.NoisySGD(10, diameter=1.0, clip_norm=1.0, **_FULL), li.Clipped(), "smooth or convex losses"),
        (li.NoisySGD(10, 0.1, 1.0, 1.0, 50, 5, "poisson", 1.0), li.Clipped(), "smooth or convex losses"),
        (li.NoisySGD(3, 0.1, 1.0, 1.0, 50, 5, "poisson"), li.Convex(1.0), "a bounded domain"),
        (li.NoisySGD(3, clip_norm=1.0, **_FULL), li.Convex(1.0), "a bounded domain"),
        (li.NoisySGD(100, 0.1, 1.0, 1.0, 20, 4, "shuffled", 1.0), li.Convex(1.0), "Poisson batches"),
    ],
)
def test_what_coq_has_no_theorem_for_is_said(run: li.NoisySGD, assumption: li.Assumption, says: str) -> None:
    with pytest.raises(UncertifiedError, match=f"A Coq file needs .*{says}"):
        coq_file(json.loads(_certificate(run, assumption, 1e-5)), "")


def test_every_sample_in_every_batch_is_another_scheme() -> None:
    """A certificate may say so of batches without replacement; `bound` calls them full."""
    text = json.loads(_certificate(*_BATCHES["without_replacement"]))
    text["run"]["batch_size"] = text["run"]["dataset_size"]
    with pytest.raises(UncertifiedError, match="a batch_size below 50, got 50"):
        coq_file(text, "")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with all files compiled; shared with the tests of the README's run."""

    def build(folder: Path) -> None:
        copy(folder)
        (folder / "log").write_text(make(folder, "run"))

    return made_once(tmp_path_factory, "coq-run", build)


def _coqc(compiled: Path, folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    (folder / "run.v").write_text(text)
    return subprocess.run(  # noqa: S603
        ["coqc", "-q", "-Q", str(compiled), "lastiterate", "-w", "none", "run.v"],  # noqa: S607
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
@pytest.mark.parametrize("case", [*_RUNS, *_PATHS, *_BATCHES])
def test_coq_accepts_the_run(compiled: Path, tmp_path: Path, case: str) -> None:
    done = _coqc(compiled, tmp_path, _file(case))
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Axioms:" in done.stdout  # those of Coq's real numbers
    assert "found" not in done.stdout.partition("Axioms:")[2]


WEAKENINGS = {
    "a smaller epsilon": (
        r"exp \((\d+)/(\d+)\)",
        lambda m: f"exp ({int(m[1]) - int(m[2]) // 1000}/{m[2]})",
    ),
    "a smaller delta": (r" \+ 1/100000", lambda _: " + 1/110000"),
    "less noise": (r"Definition noise : R := \(1\)", lambda _: "Definition noise : R := (99/100)"),
    "a larger step": (
        r"step_size : R := \((\d+)/(\d+)\)",
        lambda m: f"step_size : R := ({int(m[1]) + 10**9}/{m[2]})",
    ),
    "a larger domain": (r"diameter : R := \(1\)", lambda _: "diameter : R := (1001/1000)"),
    "less of a path is hidden": (
        r"far_mu : Z \* Z := \((\d+),",
        lambda m: f"far_mu : Z * Z := ({int(m[1]) - 9},",
    ),
    "a lighter table": (
        r"carried : seq \(Z \* Z\) := \[:: \((\d+),",
        lambda m: m[0].replace(m[1], str(int(m[1]) // 2)),
    ),
    "a cheaper near cost": (
        r"near_cost : seq \(Z \* Z\) := .*",
        lambda _: "near_cost : seq (Z * Z) := [:: (1, 1)].",
    ),
}
"""Edits of the README's file, each of which claims more than is true or shown."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", WEAKENINGS)
def test_coq_refuses_what_is_changed(compiled: Path, tmp_path: Path, name: str) -> None:
    """Without the proofs at the nodes of the costs, which no edit but the last two concerns, to take less time."""
    _changed(compiled, tmp_path, "readme", *WEAKENINGS[name])


CYCLIC = {
    "fewer steps in an epoch": (r"period : nat := 5", lambda _: "period : nat := 4"),
    "more blocks than an epoch has": (r"Clean 4 ", lambda _: "Clean 5 "),
    "a cheaper block without the sample": (
        r"clean0_cost : seq \(Z \* Z\) := .*",
        lambda _: "clean0_cost : seq (Z * Z) := [:: (1, 1)].",
    ),
    "a lighter table before the last block": (
        r"before_last : seq \(Z \* Z\) := \[:: \((\d+),",
        lambda m: m[0].replace(m[1], str(int(m[1]) // 2)),
    ),
    "a position outside an epoch": (r"\(position < period\)%N", lambda _: "(position < period + 1)%N"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", CYCLIC)
def test_coq_refuses_what_is_changed_in_cyclic_batches(compiled: Path, tmp_path: Path, name: str) -> None:
    _changed(compiled, tmp_path, "cyclic", *CYCLIC[name])


POISSON = {
    "a smaller epsilon": (r"exp \((\d+)/(\d+)\)", lambda m: f"exp ({int(m[1]) - int(m[2]) // 1000}/{m[2]})"),
    "a larger probability": (r"batch_rate : Z \* Z := .*", lambda _: "batch_rate : Z * Z := (1, 9)%ZZ."),
    "more samples": (r"Z.to_nat 49%ZZ", lambda _: "Z.to_nat 4900%ZZ"),
    "less noise": (r"Definition noise : R := \(1\)", lambda _: "Definition noise : R := (99/100)"),
    "a larger move": (r"moved : R := step_size", lambda _: "moved : R := 2 * step_size"),
    "a larger domain": (r"diameter : R := \(1\)", lambda _: "diameter : R := (1001/1000)"),
    "a use that costs nothing": (r"extra : Z := \d+", lambda _: "extra : Z := 0"),
    "a cheaper step": (r"one_of : seq \(Z \* Z\) := .*", lambda _: "one_of : seq (Z * Z) := [:: (1, 1)]."),
    "a cheaper far cost": (
        r"far_cost_of : seq \(Z \* Z\) := \[:: \((\d+),",
        lambda m: m[0].replace(m[1], str(int(m[1]) * 1001 // 1000)),
    ),
}
"""Edits of the file for Poisson batches, each of which claims more than is true or shown."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", POISSON)
def test_coq_refuses_what_is_changed_in_poisson_batches(compiled: Path, tmp_path: Path, name: str) -> None:
    _changed(compiled, tmp_path, "poisson", *POISSON[name])


WITHOUT = {
    "a smaller epsilon": POISSON["a smaller epsilon"],
    "a smaller batch": (r"batch_size : nat := Z.to_nat 5%ZZ", lambda _: "batch_size : nat := Z.to_nat 4%ZZ"),
    "more samples": (r"Z.to_nat 49%ZZ", lambda _: "Z.to_nat 99%ZZ"),
    "a batch of another size": (r"k == batch_size then", lambda _: "k == batch_size.+1 then"),
    "a larger move": (r"moved : R := 2", lambda _: "moved : R := 3"),
    "a cheaper step": POISSON["a cheaper step"],
}
"""Edits of the file for batches without replacement."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", WITHOUT)
def test_coq_refuses_what_is_changed_in_batches_without_replacement(
    compiled: Path, tmp_path: Path, name: str
) -> None:
    _changed(compiled, tmp_path, "without_replacement", *WITHOUT[name])


def _changed(compiled: Path, tmp_path: Path, case: str, pattern: str, change: Any) -> None:
    text = re.sub(r"(?s)Lemma (near|far|clean\d)_at\d+ :.*?Qed\.\n", "", _file(case))
    text = re.sub(r"(?s)(Lemma (?:near|far|clean\d)_nodes : [^\n]*\n).*?Qed\.", r"\1Admitted.", text)
    edited, count = re.subn(pattern, change, text)
    assert count
    done = _coqc(compiled, tmp_path, edited)
    assert done.returncode, pattern
    assert "Syntax error" not in done.stderr
    *before, own = edited.splitlines()[: int(re.findall(r"line (\d+), char", done.stderr)[-1])]
    known = "\n".join(before)
    assert "Proof" in own or known.rfind("Proof") > known.rfind("Qed."), done.stderr


def _lower(found: re.Match[str]) -> str:
    return f"exp ({int(found[1]) - int(found[2]) // 1000}/{found[2]})"


def _half(found: re.Match[str]) -> str:
    return found[0].replace(found[1], str(int(found[1]) // 2))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("case", "pattern", "change"),
    [
        ("from_the_domain", r"exp \((\d+)/(\d+)\)", _lower),
        ("from_the_domain", r"Definition noise : R := \(1\)", lambda _: "Definition noise : R := (99/100)"),
        ("from_the_domain", r"diameter : R := \(3\)", lambda _: "diameter : R := (31/10)"),
        ("from_the_domain", r"m := 362%N", lambda _: "m := 361%N"),
        ("from_the_domain", r"hiding : path := \[:: \((\d+),", _half),
        ("cyclic_path", r"exp \((\d+)/(\d+)\)", _lower),
        ("cyclic_path", r"Definition noise : R := \(1\)", lambda _: "Definition noise : R := (99/100)"),
        ("cyclic_path", r"Definition period : nat := 5", lambda _: "Definition period : nat := 4"),
        ("cyclic_path", r"hiding : path := \[:: \((\d+),", _half),
        (
            "cyclic_path",
            r"Definition used : seq line := .*",
            lambda _: "Definition used : seq line := [:: line2].",
        ),
    ],
)
def test_coq_refuses_a_changed_path(
    compiled: Path, tmp_path: Path, case: str, pattern: str, change: Any
) -> None:
    edited, count = re.subn(pattern, change, _file(case))
    assert count
    done = _coqc(compiled, tmp_path, edited)
    assert done.returncode
    assert "Syntax error" not in done.stderr
