"""Sources in the paper, and names that several modules share."""

from functools import partial

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.checks import share_checks, windows
from lastiterate.symbolic.derivations.deductions import HOELDER, LIPSCHITZ
from lastiterate.symbolic.derivations.iterations import D_T
from lastiterate.symbolic.derivations.shared_noise import B
from lastiterate.symbolic.derivations.statements import FACTOR
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import CLIPPING, X, Y

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
    "radius for diameter": {D: D / 2},
    "no smoothness at all": {L: 0 * L},
    "a hundredth of the smoothness": {L: L / 100},
    "four times the strong convexity": {m: 4 * m},
}
"""Changes of parameters under which an upper bound must fail."""

COMMON: Final = ("factor two dropped in 2 eta K / n", "T - 1 for T", "noise counted twice")
"""Changes that make every bound on a whole run too small."""

at: Final = partial(Source, PAPERS["chien_li"])
"""The source of a claim: its number in the paper, and an equation or words of the line."""

SHIFT_COST: Final[Words] = words("cost of the cheapest shifts, in units of {}", alpha / (2 * sigma**2))
"""The ``quantity`` of a `RefutingRun` for a remark on shifts."""

FULL_BATCHES: Final = (Clipped(K), Diameter(D), FullBatches(n))
"""Assumptions of Theorems 3.1 and 3.7."""

_shares, _shifts = Function("beta"), Function("a")
_start = Tuple(tau, 0, T - 1)
_s = sensitivity()


def _summed(term: Expr) -> Expr:
    return Sum(term, (t, tau, T - 1))


def split_bound(factor: Expr) -> Expr:
    """The right side of (3) for ``factor``-Lipschitz updates."""
    tracked = Min(_s * Sum(factor**t, (t, 0, tau - 1)), 2 * eta * K * tau, D, evaluate=False)
    left = _summed((1 - _shares(t)) * factor ** (-2 * (t - tau + 1)))
    paid = LeastOver(_summed(_s**2 / _shares(t)) + tracked**2 / left, _start, Tuple(_shares(t), 0, 1))
    return alpha / (2 * sigma**2) * paid


def shift_bound(expansion: Expr, *, split: bool = False, most: Expr = oo) -> Expr:
    """The least cost of shifts that hide a distance z, which is at most ``most`` before tau.

    A step expands z to ``expansion``. With ``split``, shares of the noise hide the sensitivity, and shifts
    hide the rest.
    """
    left = expansion - _s if split else expansion
    hidden = Hides(Lambda(t, _shifts(t)), Lambda((t, z), left), tau, Lambda((t, z), Min(expansion, most)))
    if not split:
        return alpha / (2 * sigma**2) * LeastOver(_summed(_shifts(t) ** 2), _start, hidden)
    cost = _summed(_s**2 / _shares(t) + _shifts(t) ** 2 / (1 - _shares(t)))
    return alpha / (2 * sigma**2) * LeastOver(cost, _start, Tuple(_shares(t), 0, 1), hidden)


def sampled_bound(step: type[Expr], outside: Expr, inside: Expr) -> Expr:
    """The least cost if each step of b samples pays for its coin, with a share of the noise, and for its shift.

    Before tau, a step expands z to ``inside`` (both data sets); from tau on, to ``outside`` (one data set).
    """
    share, shift = _shares(t), _shifts(t)
    coin = step(b / n, sqrt(share) * sigma / sensitivity(b), alpha)
    cost = _summed(coin + alpha * shift**2 / (2 * sigma**2 * (1 - share)))
    hidden = Hides(Lambda(t, shift), Lambda((t, z), outside), tau, Lambda((t, z), inside))
    return LeastOver(cost, _start, Tuple(share, 0, 1), hidden)


def attacked(bound: str, attacks: tuple[str, ...], *wrong: str, name: str = "bound") -> UpperBound:
    """An upper bound with mutants named in `CHANGES`, for which the evaluator sees other parameters."""
    check = UpperBound(bound, attacks, name=name)
    for change in wrong:
        check = check.mutant(change, altered=CHANGES[change])
    return check
