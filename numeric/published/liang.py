"""Liang et al., Theorems 3.3 and 3.4 in both versions, as printed.

Their noise sigma_DP is on the gradient, eta sigma_DP = ``noise_std`` here, C is the clip norm K, batches come with
probability q = b/n, and one data set has a sample more. Write

    A = 2 alpha K^2 / (n b sigma_DP^2),   A' = 8 alpha K^2 / (n^2 sigma_DP^2),
    B = alpha (1 + eta L)^2 D^2 / (2 eta^2 sigma_DP^2).

A' may stand for A where b <= n/5, alpha <= alpha*(b/n, b sqrt(beta) sigma_DP / (2 K)), sigma_DP > 8 K / (b sqrt(beta)).
The later version states both theorems up to a constant; the constants here are those of its own proofs, (46) and (51).
D is called a diameter in the theorems and is a radius in section 2.2: it is read as the diameter. Values are Renyi
epsilons, rounded up.

Source: Liang et al. 2026, its later and its earlier version.
"""

from math import inf, isfinite

from sympy import Expr, Min, sqrt

from lastiterate.numeric.losses.assumptions import Assumption, Smooth
from lastiterate.numeric.published.altschuler_talwar_sampled import order_is_small
from lastiterate.numeric.published.record import Evaluator, PublishedBound, Refusal, bounded, claimed, unbounded
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T, beta


def theorem_3_3(run: NoisySGD, order: float) -> float:
    """(11): O(alpha K^2 T / (n b sigma_DP^2)); here A T of (46) with beta up to 1, or A' T of (42).

    In the earlier version (12) has A T / beta for every beta < 1 and (13) has A' for A: the same at the limit.

    Source: Theorem 3.3 and B.2 of the later version; Theorem 3.3 of the earlier one.
    """
    return min(claimed(T * step, run, order) for step in _steps(run, order, 1.0))


def theorem_3_4(run: NoisySGD, order: float, smoothness: float) -> float:
    """(12): O(alpha K^2/(n b sigma_DP^2) min{T, (1 + eta L)^2 n b D^2/(eta^2 K^2)}); here min{A T, B}, and A' of (48).

    Source: later version, Theorem 3.4, and B.3.
    """
    return min(theorem_3_3(run, order), claimed(stated.LIANG_DOMAIN, run, order, L=smoothness))


def theorem_3_4_earlier(run: NoisySGD, order: float, smoothness: float) -> float:
    """(14): 2 alpha K^2/(beta n b sigma_DP^2) + alpha (1 + eta L)^2 D^2/(2 eta^2 sigma_DP^2 (1 - beta)), best beta.

    That is (sqrt A + sqrt B)^2; (15) has A' for A, where its conditions hold at its own best beta.

    Source: earlier version, Theorem 3.4.
    """
    if not isfinite(run.diameter):
        return inf

    def best(step: Expr) -> Expr:
        return (sqrt(step) + sqrt(stated.LIANG_DOMAIN)) ** 2

    found = claimed(best(stated.LIANG_STEP), run, order, L=smoothness)
    second, hidden = (
        claimed(part, run, order, L=smoothness) ** 0.5 for part in (stated.LIANG_SMALL_ORDER, stated.LIANG_DOMAIN)
    )
    if len(_steps(run, order, second / (second + hidden))) > 1:
        found = min(found, claimed(best(stated.LIANG_SMALL_ORDER), run, order, L=smoothness))
    return found


def naive_bound(run: NoisySGD, order: float) -> float:
    """E.1: 2 alpha (D + eta K / b)^2 / sigma_DP^2, of post-processing and one Gaussian step; refuted.

    A squared length over the variance of noise on gradients: eta^2 is missing below it (``liang/appendix_e_1``).
    D is read as for Theorem 3.4, with which E.1 compares it.

    Source: later version, E.1.
    """
    return claimed(stated.LIANG_NAIVE, run, order)


def _steps(run: NoisySGD, order: float, share: float) -> list[Expr]:
    """A, and A' where its conditions hold at beta = ``share``; both without the factor 1 / beta."""
    multiplier = run.batch * share**0.5 * run.noise_std_at(0) / (run.step_size_at(0) * 2 * run.clip_norm)
    small = 5 * run.batch <= run.dataset_size and multiplier > 4
    if small and order_is_small(run.batch / run.dataset_size, multiplier, order):
        return [stated.LIANG_STEP, stated.LIANG_SMALL_ORDER]
    return [stated.LIANG_STEP]


_READING = "sigma_DP = noise_std / step_size, C = clip_norm, D read as the diameter; constants of the paper's own proof"


def _theorem(
    name: str, title: str, claim: str, statement: Expr, evaluate: Evaluator, needs: Refusal, reading: str = _READING
) -> PublishedBound:
    schemes = ("full", "without_replacement", "poisson")
    return PublishedBound(name, title, claim, schemes, (Smooth,), statement, evaluate, reading, needs)


def _smoothness(assumption: Assumption) -> float:
    return float(getattr(assumption, "L", 0.0))


THEOREMS = (
    _theorem(
        "liang_3_3",
        "Liang et al. 2026, Theorem 3.3",
        "liang/theorem_3_3",
        T * stated.LIANG_STEP,
        lambda run, _assumption, order: theorem_3_3(run, order),
        unbounded,
    ),
    _theorem(
        "liang_3_3_earlier",
        "Liang et al., earlier version, Theorem 3.3",
        "liang/theorem_3_3/earlier",
        T * stated.LIANG_STEP,
        lambda run, _assumption, order: theorem_3_3(run, order),
        unbounded,
        f"{_READING}; its constant beta is taken up to 1",
    ),
    _theorem(
        "liang_3_4",
        "Liang et al. 2026, Theorem 3.4",
        "liang/theorem_3_4",
        Min(T * stated.LIANG_STEP, stated.LIANG_DOMAIN),
        lambda run, assumption, order: theorem_3_4(run, order, _smoothness(assumption)),
        bounded,
    ),
    _theorem(
        "liang_3_4_earlier",
        "Liang et al., earlier version, Theorem 3.4",
        "liang/theorem_3_4/earlier",
        stated.LIANG_STEP / beta + stated.LIANG_DOMAIN / (1 - beta),
        lambda run, assumption, order: theorem_3_4_earlier(run, order, _smoothness(assumption)),
        bounded,
        f"{_READING}; at its best constant beta",
    ),
)
