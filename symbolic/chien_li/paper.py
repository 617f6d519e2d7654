"""Where a line of the paper stands, and the names that several of its modules share."""

from collections.abc import Mapping
from typing import Final

from sympy import Expr, Symbol

from lastiterate.symbolic.claim import Source, UpperBound
from lastiterate.symbolic.notation import D, K, L, T, alpha, m, n, sigma

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

FILE: Final = "004_62071bf32927f9d4.txt"

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


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/004_62071bf32927f9d4.txt, number in the paper, equation.

    >>> at(118, "Lemma 3.4").file
    '004_62071bf32927f9d4.txt'
    """
    return Source(FILE, line, number, equation)


def attacked(bound: str, attacks: tuple[str, ...], *wrong: str, name: str = "bound") -> UpperBound:
    """An upper bound with mutants by the names of `CHANGES`: the evaluator sees other parameters than the run has."""
    check = UpperBound(bound, attacks, name=name)
    for change in wrong:
        check = check.mutant(change, altered=CHANGES[change])
    return check
