"""Every rule in the derivations that `bound` cites has a theorem of Coq, or is in a short list; without Coq."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

import lastiterate as li
from benchmarks import coq_rules
from lastiterate.numeric.bound import candidates
from lastiterate.proofs_checks.describe import _RULES
from lastiterate.proofs_checks.engines import derivation
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.symbolic.checks import Derived, RenyiBound, Tracked
from lastiterate.symbolic.kernel.judgement import Span

ROWS = {one["python"]: one for one in coq_rules.read(coq_rules.COQ / "rules.toml", "rule")}
LISTED = frozenset(coq_rules.rules_of(coq_rules.ROOT / "symbolic"))

LINES = {"close", "induction hypothesis", "specialise", "suppose"}
"""Lines of traces without a theorem: letters and hypotheses, which are variables and premises in Coq."""

FUNCTIONS = {
    "symbolic.derivations.losses.moved_apart",
    "symbolic.kernel.induction.StepInduction.__post_init__",
    "symbolic.kernel.induction.StepInduction.close",
    "symbolic.kernel.lemmas.supposing",
    "symbolic.kernel.rules.Kernel.specialise",
    "symbolic.kernel.rules.Kernel.suppose",
}
"""Rules in Python without a theorem; rules.toml says why."""

PART = {
    "symbolic.kernel.lemmas.gaussian_shift",
    "symbolic.kernel.rules.Kernel._linked",
    "symbolic.kernel.rules.Kernel.step",
    "symbolic.kernel.rules.Kernel.weaken",
    "symbolic.kernel.rules.contract",
}
"""Rules whose theorems leave something open, which rules.toml names."""

CLAIMS = (
    *(f"chien_li/theorem_3_1/direct/{losses}" for losses in ("clipped", "convex", "smooth", "strongly_convex")),
    "chien_li/theorem_3_1/composition",
    "chien_li/theorem_3_7/sharper",
    "chien_li/remarks_3_1/last_step",
    *("ours/cyclic/theorem", "ours/poisson/theorem", "ours/sampled/theorem"),
    *("ours/shuffled/mean", "ours/shuffled/worst"),
    *(
        f"ours/contraction/{kind}"
        for kind in ("full", "cyclic", "shuffled", "without_replacement", "poisson", "forgetting")
    ),
)
"""The claims that `bound` and `forgetting` can cite."""

_BATCHES = {"dataset_size": 20, "batch_size": 4}
RUNS: tuple[tuple[dict[str, Any], li.Assumption], ...] = (
    ({"dataset_size": 20}, li.Smooth(1.0)),
    ({"dataset_size": 20}, li.Clipped()),
    (_BATCHES | {"sampling": "cyclic"}, li.StronglyConvex(1.0, 0.1)),
    (_BATCHES | {"sampling": "shuffled"}, li.Convex(1.0)),
    (_BATCHES | {"sampling": "without_replacement"}, li.Convex(1.0)),
    (_BATCHES | {"sampling": "poisson"}, li.Convex(1.0)),
)


@pytest.mark.parametrize("place", range(len(RUNS)))
@pytest.mark.parametrize("diameter", [float("inf"), 1.0])
@pytest.mark.parametrize("asked", [(None, 1e-5), (8.0, None)], ids=["delta", "order"])
def test_a_bound_cites_a_claim_of_the_list(
    place: int, diameter: float, asked: tuple[float | None, float | None]
) -> None:
    more, losses = RUNS[place]
    run = li.NoisySGD(20, 0.1, 1.0, 1.0, diameter=diameter, **more)
    found = {one.claim for one in candidates(run, losses, *asked)}
    assert found
    assert found <= set(CLAIMS)


@contextmanager
def called() -> Iterator[set[str]]:
    """The rules in Python that are called inside."""
    found = set[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and "/symbolic/" in path:
            module = f"symbolic/{path.partition('/symbolic/')[2]}".removesuffix(".py").replace("/", ".")
            found.add(f"{module}.{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.mark.long
def test_every_rule_that_a_bound_rests_on_has_a_theorem_or_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("derive", "track"):  # also if another test has followed these derivations before
        monkeypatch.setattr(derivation, name, getattr(derivation, name).__wrapped__)
    lines = set[str]()
    with called() as calls:
        for claim in of_ledger(keys=CLAIMS):
            checks = [one for one in claim.checks if isinstance(one, Derived | RenyiBound | Tracked)]
            assert checks, claim.key
            ends = [end for one in checks for end in derivation.judgements(one, claim.assumptions)]
            lines |= {
                line.rule if isinstance(line, Span) else "calculus" for end in ends for line in end.lines()
            }
    assert {one for one in lines if "theorem" not in _RULES[one]} == LINES
    rules = calls & LISTED
    assert {one for one in rules if not ROWS[one]["theorems"]} == FUNCTIONS
    assert {one for one in rules - FUNCTIONS if "open" in ROWS[one]} == PART
    assert all(ROWS[one]["open"] for one in FUNCTIONS | PART)
    assert all(_RULES[one]["none"] for one in LINES)
