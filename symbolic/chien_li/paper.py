"""Where a line of the paper stands, and the names that several of its modules share."""

from collections.abc import Mapping
from typing import Final

from sympy import Expr, Symbol

from lastiterate.symbolic.claim import UpperBound
from lastiterate.symbolic.notation import D, K, L, T, alpha, m, n, sigma
from lastiterate.symbolic.papers import PAPERS, Source

__all__ = [
    "ALL_RUNS",
    "CLIPPED_RUNS",
    "CONVEX_RUNS",
    "HOLDER_RUNS",
    "SMOOTH_RUNS",
    "STRONG_RUNS",
    "at",
    "attacked",
]

SMOOTH_RUNS: Final = ("linear", "quadratic", "clamped_linear", "clamped_quadratic", "sign_drift")
CONVEX_RUNS: Final = ("linear", "quadratic", "clamped_linear", "clamped_quadratic")
STRONG_RUNS: Final = ("quadratic", "clamped_quadratic")
HOLDER_RUNS: Final = ("linear", "clamped_linear", "sign_drift")
CLIPPED_RUNS: Final = ("linear", "clamped_linear", "clamped_quadratic", "sign_drift")
ALL_RUNS: Final = (*SMOOTH_RUNS, "expanding")
"""The exactly solvable runs (`proofs_checks.attacks`) that meet each assumption."""


CHANGES: Final[Mapping[str, Mapping[Symbol, Expr]]] = {
    "factor two dropped in 2 eta K / n": {K: K / 2},
    "T - 1 for T": {T: T - 1},
    "noise counted twice": {sigma: 2 * sigma},
    "as if there were 2 n samples": {n: 2 * n},
    "alpha / 2 for alpha": {alpha: alpha / 2},
    "a tenth of the diameter": {D: D / 10},
    "a hundredth of the smoothness": {L: L / 100},
    "four times the strong convexity": {m: 4 * m},
}
"""Wrong parameters that an upper bound must not survive."""


def at(number: str, detail: str = "") -> Source:
    """The source of a claim: number in the paper; equation, or words of the line meant.

    >>> print(at("Lemma 3.4"))
    Chien & Li 2025 (arXiv:2410.01068), Lemma 3.4
    """
    return Source(PAPERS["chien_li"], number, detail)


def attacked(bound: str, attacks: tuple[str, ...], *wrong: str, name: str = "bound") -> UpperBound:
    """An upper bound with mutants by the names of `CHANGES`: the evaluator sees other parameters than the run has."""
    check = UpperBound(bound, attacks, name=name)
    for change in wrong:
        check = check.mutant(change, altered=CHANGES[change])
    return check
