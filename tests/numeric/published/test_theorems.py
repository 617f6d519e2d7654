"""The catalogue of printed theorems: claims that exist, kinds that are their verdicts, refusals that teach."""

from math import inf, isfinite
from typing import Any

import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Smooth, StronglyConvex
from lastiterate.numeric.published.record import PublishedBound
from lastiterate.numeric.published.theorems import THEOREMS, theorem_named
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_KINDS = {
    Verdict.PROVED: "bound",
    Verdict.SUPPORTED: "supported",
    Verdict.REFUTED: "refuted",
    Verdict.GAP: "gap",
}
_RUN = NoisySGD(20, 0.1, 1.0, 1.0, dataset_size=10, diameter=1.0)

each = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=lambda theorem: theorem.name)


def test_the_kind_is_the_verdict_of_the_lock_file(subtests: pytest.Subtests) -> None:
    for theorem in THEOREMS.values():
        with subtests.test(theorem=theorem):
            verdict = read_lock()[theorem.claim].verdict
            assert theorem.kind == _KINDS[verdict]
            assert theorem.usable == (verdict in (Verdict.PROVED, Verdict.SUPPORTED))


def test_what_is_refuted_has_a_reason_in_the_ledger(subtests: pytest.Subtests) -> None:
    for theorem in THEOREMS.values():
        with subtests.test(theorem=theorem):
            claim = next(claim for claim in CLAIMS if claim.key == theorem.claim)
            assert bool(claim.remark) == (not theorem.usable)
            assert theorem.reading


@each
def test_some_run_is_spoken_of(theorem: PublishedBound) -> None:
    if not theorem.schemes:
        assert theorem.refusal(_RUN, Smooth(1.0))
        return
    spoken = []
    for scheme in theorem.schemes:
        batch = None if scheme == "full" else 2
        for steps in (20, tuple(0.1 / (1 + t) for t in range(20))):
            eta = 0.1 if isinstance(steps, int) else steps
            noise = 1.0 if isinstance(steps, int) else tuple(2 * step for step in steps)
            for diameter in (1.0, float("inf")):
                run = NoisySGD(
                    20, eta, noise, 1.0, dataset_size=10, batch_size=batch, sampling=scheme, diameter=diameter
                )
                known = (Smooth(1.0), Convex(1.0), StronglyConvex(1.0, 0.5), Clipped())
                spoken += [theorem.epsilon(run, one, 2.0) for one in known if not theorem.refusal(run, one)]
    assert spoken
    assert all(value > 0 for value in spoken)
    assert any(isfinite(value) for value in spoken)


def test_a_theorem_that_does_not_speak_of_the_run_says_what_it_needs() -> None:
    with pytest.raises(InputError, match="needs batches that are without_replacement, got sampling='full'"):
        THEOREMS["chien_li_3_12"].epsilon(_RUN, Smooth(1.0), 2.0)
    with pytest.raises(InputError, match="losses that are StronglyConvex"):
        THEOREMS["bok_su_altschuler"].epsilon(_RUN, Convex(1.0), 2.0)


_HYPOTHESES = [
    ("altschuler_talwar_b1", {"step_size": 2.5}, "step_size <= 2/L"),
    ("altschuler_talwar_b2", {"step_size": (0.1, 0.2), "sampling": "without_replacement"}, "one step_size"),
    ("chien_li_3_1_strongly_convex", {"step_size": 1.5}, "step_size <= 1/L"),
    ("liang_3_4_earlier", {"diameter": inf}, "a domain of finite diameter"),
    ("liang_3_3", {}, "a run without projection"),
    ("bok_su_altschuler_cyclic", {"steps": 3, "sampling": "cyclic"}, "whole epochs"),
]


@pytest.mark.parametrize(("name", "changes", "said"), _HYPOTHESES)
def test_a_hypothesis_that_a_run_does_not_meet_is_named(name: str, changes: dict[str, Any], said: str) -> None:
    given = {"steps": 2, "step_size": 0.1, "sampling": "full", "diameter": 1.0} | changes
    batch = None if given["sampling"] == "full" else 3
    run = NoisySGD(noise_std=1.0, clip_norm=1.0, dataset_size=6, batch_size=batch, **given)
    kinds = Smooth(1.0), Convex(1.0), StronglyConvex(1.0, 0.5)
    assert any(said in theorem_named(name).refusal(run, losses) for losses in kinds)


def test_an_unknown_name() -> None:
    with pytest.raises(InputError, match="theorem='chien_li_9'"):
        theorem_named("chien_li_9")
