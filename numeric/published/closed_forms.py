"""Theorems whose value for a run, a Renyi epsilon, is a formula or a minimum of a few formulas, rounded up.

Liang et al. 2026, Theorems 3.3 and 3.4 in both versions. Their noise sigma_DP is added to the gradient, so
eta sigma_DP = ``noise_std``. Their C is the clip norm K, q = b/n, and one data set has an additional sample.
With

    A = 2 alpha K^2 / (n b sigma_DP^2),   A' = 8 alpha K^2 / (n^2 sigma_DP^2),
    B = alpha (1 + eta L)^2 D^2 / (2 eta^2 sigma_DP^2),

A' may replace A if b <= n/5, alpha <= alpha*(b/n, b sqrt(beta) sigma_DP / (2 K)) and sigma_DP > 8 K / (b
sqrt(beta)). The later version states both theorems up to a constant; the constants here are from its proofs,
(46) and (51). D is read as the diameter, as in the theorems, although section 2.2 calls it a radius.

Bok, Su & Altschuler 2024, strongly convex losses. Their gradients of two samples differ by at most L_sens = 2
K, and their noise sigma is added to the gradient. c = max(|1 - eta m|, |1 - eta L|) is the contraction of the
step taken, and m_1 = 2 eta K / (b noise_std) is the sensitivity of one participation divided by the noise.
Projections are not used. The ledger derives the values of both theorems (`ours/cyclic/strongly_convex`).
"""

from math import inf, isfinite

from sympy import Expr, sqrt

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.altschuler_talwar import order_is_small
from lastiterate.numeric.published.record import Evaluator, contraction_factor, statement_value
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T


def formula(statement: Expr) -> Evaluator:
    """Evaluator for a statement whose letters are all values of the run."""
    return lambda run, _losses, order: statement_value(statement, run, order)


def one_last_step(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """alpha e(D)^2 / (2 sigma^2), not alpha D^2 / (2 sigma^2), since the noise follows a gradient step."""
    if not run.diameter < inf:
        return inf
    with precision():
        reach = upper(ShiftProgram(run, assumption).expansion(0).ball(exact(run.diameter)))
        return upper(exact(order) / 2 * (exact(reach) / exact(run.noise_std_at(0))) ** 2)


def noisy_gd(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """Full batches, constant steps: mu^2 = m_1^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T)."""
    with precision():
        c = contraction_factor(run, assumption)
        return statement_value(stated.NOISY_GD if c < 1 else stated.COMPOSITION, run, order, c=c)


def noisy_cgd(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """NoisyCGD with l cyclic batches in E whole epochs of constant steps, at the worst position of the sample.

    mu^2 = m_1^2 (1 + c^(2l-2) (1 - c^2)/(1 - c^l)^2 (1 - c^(l(E-1)))/(1 + c^(l(E-1)))).
    """
    with precision():
        c = contraction_factor(run, assumption)
        return statement_value(stated.NOISY_CGD if c < 1 else stated.NOISY_CGD_CONVEX, run, order, c=c)


def liang_3_3(run: NoisySGD, _losses: Assumption, order: float) -> float:
    """(11): O(alpha K^2 T / (n b sigma_DP^2)); here A T of (46) with beta up to 1, or A' T of (42).

    Source: Theorem 3.3 and B.2. In the earlier version, (12) is A T / beta for all beta < 1, with the same
    limit, and (13) has A' instead of A.
    """
    return min(statement_value(T * step, run, order) for step in _steps(run, order, 1.0))


def liang_3_4(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """(12): O(alpha K^2/(n b sigma_DP^2) min{T, (1 + eta L)^2 n b D^2/(eta^2 K^2)}); here min{A T, B}, or A' from (48).

    Source: later version, Theorem 3.4, and B.3.
    """
    return min(liang_3_3(run, assumption, order), _smooth_value(stated.LIANG_DOMAIN, run, assumption, order))


def liang_3_4_earlier(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """(14): 2 alpha K^2/(beta n b sigma_DP^2) + alpha (1 + eta L)^2 D^2/(2 eta^2 sigma_DP^2 (1 - beta)).

    At the best beta this is (sqrt A + sqrt B)^2. (15) has A' instead of A, if its conditions hold at its own
    best beta. Source: earlier version, Theorem 3.4.
    """
    if not isfinite(run.diameter):
        return inf
    roots = [
        _smooth_value(part, run, assumption, order) ** 0.5
        for part in (stated.LIANG_SMALL_ORDER, stated.LIANG_DOMAIN)
    ]
    steps = _steps(run, order, roots[0] / sum(roots))
    return min(
        _smooth_value((sqrt(one) + sqrt(stated.LIANG_DOMAIN)) ** 2, run, assumption, order) for one in steps
    )


def _smooth_value(statement: Expr, run: NoisySGD, assumption: Assumption, order: float) -> float:
    return statement_value(statement, run, order, L=float(getattr(assumption, "L", 0.0)))


def _steps(run: NoisySGD, order: float, share: float) -> list[Expr]:
    multiplier = run.batch * share**0.5 * run.noise_std_at(0) / (run.step_size_at(0) * 2 * run.clip_norm)
    small = 5 * run.batch <= run.dataset_size and multiplier > 4
    if small and order_is_small(run.batch / run.dataset_size, multiplier, order):
        return [stated.LIANG_STEP, stated.LIANG_SMALL_ORDER]
    return [stated.LIANG_STEP]
