"""Printed theorems for a run, as Renyi epsilons at order alpha, in the letters of `notation`.

Bounds are minimised over the window length w, the share beta of the noise variance that hides the change of
the data, and shifts a_j. Noise is on the iterate: eta times the noise on the gradient. D is a diameter,
q = b/n, and c is the contraction of a step. Constants are from the proofs.
"""

from typing import Final

from sympy import Expr, IndexedBase, Min, Sum, sqrt

from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.formulas.divergences import SampledDown
from lastiterate.symbolic.notation import D, Delta, K, L, T, alpha, b, beta, c, chi, eta, j, n, nu, r, sigma, w
from lastiterate.symbolic.notation import s as one_step

SHARES, SHIFTS = IndexedBase("beta"), IndexedBase("a")
"""beta_j and a_j at position j = 1..w of the window."""

_renyi: Final = alpha / (2 * sigma**2)
_full: Final = update.step_sensitivity(eta, K, n)
_batch: Final = update.step_sensitivity(eta, K, b)
_gradient_noise: Final = sigma / eta
DOWN: Final[Expr] = SampledDown(b / n, sqrt(beta) * sigma / _batch, alpha)
"""Q: the smaller direction of the sampled Gaussian at the share beta; the base is the numerator."""
_hidden: Final = _renyi * D**2 / (1 - beta)

COMPOSITION: Final[Expr] = _renyi * T * _full**2
"""Composition of T steps, each at the cost of its sensitivity."""

OUTPUT_PERTURBATION: Final[Expr] = _renyi * D**2
"""Chien & Li 2025, A.15 and Figure 1: one Gaussian step that hides the diameter."""

LAST_STEP: Final[Expr] = _renyi * update.modulus(D, r, eta, K, n) ** 2
"""alpha e(D)^2 / (2 sigma^2), where r is the modulus of the gradients at D; other expansions are analogous."""

EQUATION_B_1: Final[Expr] = _renyi * w * ((D + _full) / w + _full) ** 2
"""Altschuler & Talwar 2022, (B.1), an alternative to composition; minimised over w <= T."""

EQUATION_3_7: Final[Expr] = (w + 1) * DOWN + _hidden / w
"""(3.7) with beta = 1/2; (B.2) with any beta, or T Q at beta = 1; minimised over w < T."""

EQUATION_B_3: Final[Expr] = (w + 1) * DOWN + _hidden * (1 - c**2) * c ** (2 * w) / (1 - c ** (2 * w))
"""(B.3) for c < 1, or T Q at beta = 1; minimised over w < T and beta."""

_even: Final = _batch * b / n
EQUATION_5_6_SHORT: Final[Expr] = _renyi * ((T - n / b) * _even**2 + _batch**2)
"""(5.4) with the constants of its proof, starting at 0; T is a multiple of n/b."""

_wide: Final = (D + _batch) / w
EQUATION_5_6_LONG: Final[Expr] = _renyi * (
    (n / b - 1) * _wide**2 + (w - n / b) * (_wide + _even) ** 2 + (_wide + _batch) ** 2
)
"""(5.6) at the worst position; w is the horizon ceil(D n / (eta L)) in whole epochs."""

EQUATION_3: Final[Expr] = _renyi * (
    Sum(one_step**2 / SHARES[j], (j, 1, w)) + Delta**2 / Sum((1 - SHARES[j]) * c ** (-2 * j), (j, 1, w))
)
"""Chien & Li 2025, Theorem 3.1, (3), with s = 2 eta K / n and tracked distance Delta; minimised over w and beta_j."""

EQUATION_13: Final[Expr] = _renyi * Sum(one_step**2 / SHARES[j] + SHIFTS[j] ** 2 / (1 - SHARES[j]), (j, 1, w))
"""Theorem 3.7, (13); minimised over w, beta_j and the shifts that hide the distance."""

EQUATION_19: Final[Expr] = Sum(
    SampledDown(b / n, sqrt(SHARES[j]) * sigma / _batch, alpha) + _renyi * SHIFTS[j] ** 2 / (1 - SHARES[j]),
    (j, 1, w),
)
"""Theorem 3.12, (19), with sqrt(beta) for the misprinted beta; minimised over w, beta_j and the shifts."""

LIANG_STEP: Final[Expr] = 2 * alpha * K**2 / (n * b * _gradient_noise**2)
"""A of Liang et al. 2026, (46)."""

LIANG_SMALL_ORDER: Final[Expr] = 8 * alpha * K**2 / (n**2 * _gradient_noise**2)
"""A' of (42) and (48), for b <= n/5, small orders and large noise."""

LIANG_DOMAIN: Final[Expr] = _renyi * (1 + eta * L) ** 2 * D**2
"""B of (51)."""

LIANG_3_3: Final[Expr] = T * LIANG_STEP
LIANG_3_4: Final[Expr] = Min(LIANG_3_3, LIANG_DOMAIN)
LIANG_3_4_EARLIER: Final[Expr] = LIANG_STEP / beta + LIANG_DOMAIN / (1 - beta)
"""Theorem 3.3, and Theorem 3.4 in both versions; the minimum of the earlier one is (sqrt A + sqrt B)^2."""

_load: Final = 14 * (T * b / (n * nu)) ** 2
D2P2_1: Final[Expr] = (_load + sqrt(_load**2 + 8 * _load * chi)) / 2
"""Epsilon at chi = log(1/delta) by the proof of Theorem 1 of D2P2-SGD, (13)."""

_first: Final = alpha * _batch**2 / (2 * sigma**2)
NOISY_GD: Final[Expr] = _first * (1 + c) / (1 - c) * (1 - c**T) / (1 + c**T)
"""Bok, Su & Altschuler 2024, for full batches (b = n) and c < 1."""

_l, _rest = n / b, T - n / b
NOISY_CGD: Final[Expr] = _first * (
    1 + c ** (2 * _l - 2) * (1 - c**2) / (1 - c**_l) ** 2 * (1 - c**_rest) / (1 + c**_rest)
)
"""Bok, Su & Altschuler 2024, NoisyCGD: whole epochs, the worst position, and c < 1."""

NOISY_CGD_CONVEX: Final[Expr] = _first * (1 + _rest / _l**2)
"""The limit of `NOISY_CGD` at c = 1, which adds (E - 1) / l for E epochs of l batches."""
