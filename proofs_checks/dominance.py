"""Order of the theorems by what they claim, on runs where both of two say something.

A run whose losses are strongly convex is also one with convex, smooth and merely clipped losses, so a theorem is asked
at the strongest assumption that it accepts. The comparison is on random runs with full batches, the same ones every
time: "at most" is what was seen there, unless a claim of the ledger proves it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import isfinite
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.record import PublishedBound, run_of
from lastiterate.numeric.published.theorems import THEOREMS, TRIVIAL
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.attacks.record import Setting
from lastiterate.proofs_checks.attacks.settings import settings
from lastiterate.symbolic.formulas import published as stated

RUNS: Final = 400
"""Runs tried, half of them on a bounded domain."""

SEED: Final = 2026

SLACK: Final = 1e-9
"""Relative: values are rounded up, so equal ones differ by less."""

PROVED: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("ours", "chien_li_3_1_smooth"): "chien_li/theorem_3_1/shares/no_gain",
        ("ours", "chien_li_3_1_convex"): "chien_li/theorem_3_1/shares/no_gain",
        ("ours", "chien_li_3_1_strongly_convex"): "chien_li/theorem_3_1/shares/no_gain",
    }
)
"""(lower, higher) -> the claim that proves it; a test asks that it is PROVED and that the samples agree."""


@dataclass(frozen=True)
class Pair:
    """Two theorems compared.

    Attributes:
        lower: the theorem that claims less; the first by name of the catalogue where neither always does.
        higher: the other.
        least: smallest ratio lower / higher that was seen.
        greatest: largest ratio lower / higher.
        runs: number of runs on which both claim something finite.
        contained: whether ``higher`` spoke of every run of which ``lower`` did: the hypotheses of the lower bound
            are at least as strong, on these runs.
        proved: key of the claim that proves lower <= higher; "" where it was sampled alone.
    """

    lower: PublishedBound
    higher: PublishedBound
    least: float
    greatest: float
    runs: int
    contained: bool
    proved: str

    @property
    def basis(self) -> str:
        """On what the relation rests: a proof in the ledger, or the samples."""
        return f"proved: {self.proved}" if self.proved else f"sampled, {self.runs} runs"

    @property
    def relation(self) -> str:
        """Relation that was seen: "=", "<=" or "either"."""
        if self.greatest <= 1 + SLACK:
            return "=" if self.least >= 1 - SLACK else "<="
        return "either"


def compared() -> tuple[PublishedBound, ...]:
    """Composition, the catalogue's theorems for full batches, and the bound of this package by shifts, quick to find.

    Contraction only lowers that bound.
    """
    ours = PublishedBound(
        "ours",
        "ours, the best shifts",
        "chien_li/theorem_3_1/direct/smooth",
        ("full",),
        (Assumption,),
        stated.WINDOW,
        lambda run, assumption, order: bound_by_shifts(run, assumption, order=order).epsilon,
        "",
    )
    printed = (theorem for theorem in THEOREMS.values() if "full" in theorem.schemes and not theorem.schedules)
    return (ours, *printed, TRIVIAL["composition"])


def dominance(runs: int = RUNS, seed: int = SEED) -> tuple[Pair, ...]:
    """Every two of the compared theorems that speak of a common run, sure relations first."""
    theorems = compared()
    return pairs(theorems, [_claimed(theorems, *case) for case in _cases(runs, seed)])


def pairs(theorems: Sequence[PublishedBound], rows: Sequence[Sequence[float | None]]) -> tuple[Pair, ...]:
    """Compare theorems by what they claim.

    Args:
        theorems: the theorems, shape (k,).
        rows: for each run what each theorem claims, None where it does not speak of the run; shape (runs, k).
    """
    found = []
    for i, j in combinations(range(len(theorems)), 2):
        both = ((row[i], row[j]) for row in rows)
        ratios = [a / b for a, b in both if a is not None and b is not None and _usable(a) and _usable(b)]
        if not ratios:
            continue
        turned = max(ratios) > 1 + SLACK and min(ratios) >= 1 - SLACK
        low, high = (j, i) if turned else (i, j)
        least, greatest = (1 / max(ratios), 1 / min(ratios)) if turned else (min(ratios), max(ratios))
        contained = all(row[high] is not None for row in rows if row[low] is not None)
        key = PROVED.get((theorems[low].name, theorems[high].name), "")
        found.append(Pair(theorems[low], theorems[high], least, greatest, len(ratios), contained, key))
    return tuple(sorted(found, key=lambda pair: ("<=", "=", "either").index(pair.relation)))


def _usable(value: float) -> bool:
    return isfinite(value) and value > 0


def _cases(runs: int, seed: int) -> Iterator[tuple[Setting, NoisySGD, int]]:
    """Settings with their runs, on bounded and unbounded domains in turn, and how strong the losses are."""
    streams = [settings(seed, bounded=True), settings(seed, bounded=False)]
    for k, setting in enumerate(islice((s for pair in zip(*streams, strict=False) for s in pair), runs)):
        yield setting, run_of(setting), k // 2 % 4


def _weaker(setting: Setting, strength: int) -> Iterator[Assumption]:
    """Assumptions that the losses meet, from the strongest of this run to clipping alone."""
    L = setting["L"]
    kinds = (
        lambda: StronglyConvex(L, setting["m"]),
        lambda: Convex(L),
        lambda: Smooth(L),
        lambda: Holder(L, setting["lam"]) if strength == 3 else Smooth(L),
    )
    for kind in kinds[strength:]:
        try:
            yield kind()
        except InputError:
            continue
    yield Clipped()


def _claimed(theorems: Sequence[PublishedBound], setting: Setting, run: NoisySGD, strength: int) -> list[float | None]:
    """Claim of each theorem at the strongest assumption that it accepts; None where it accepts none."""
    chain = list(_weaker(setting, strength))
    return [_one(theorem, run, chain, setting["alpha"]) for theorem in theorems]


def _one(theorem: PublishedBound, run: NoisySGD, chain: Sequence[Assumption], order: float) -> float | None:
    for assumption in chain:
        try:
            if not theorem.refusal(run, assumption):
                return theorem.epsilon(run, assumption, order)
        except InputError:
            continue
    return None
