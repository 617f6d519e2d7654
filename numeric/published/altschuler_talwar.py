"""Altschuler & Talwar 2022, section 5 and appendix B, as printed.

Their run adds noise of standard deviation sigma to the averaged gradient, so eta sigma = ``noise_std``. Their
L is the clip norm K, and D is a diameter. With q = b/n and a share beta of the variance (sigma_2^2 = beta
sigma^2),

    Q = S_alpha(q, b sigma_2 / (2 L)) = D_alpha(N(0, s^2) || (1 - q) N(0, s^2) + q N(2 eta K / b, s^2)),
    s^2 = beta noise_std^2,

the *smaller* of the two directions of the sampled Gaussian, as in their Definition 2.10. At b = n both
directions agree. If the variance may be split freely, a search chooses the split. All values are Renyi
epsilons, rounded up.
"""

# Sympy has no stubs; pyright infers wider types from its source than it documents.
# pyright: reportArgumentType=false

from collections.abc import Iterator
from math import ceil, exp, floor, inf, isfinite, log, log1p, sqrt

import numpy as np
from flint import arb

from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.record import contraction_factor, statement_value
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import u

_EQUATION_3_7, _EQUATION_B_3 = (
    statement.xreplace({stated.DOWN: u}) for statement in (stated.EQUATION_3_7, stated.EQUATION_B_3)
)
"""The statements with Q replaced by u; `smaller_direction` bounds Q even if no quadrature resolves it."""

_EVEN = 0.5
"""Share with sigma_1 = sigma_2 = sigma / sqrt 2, which the paper uses if it does not optimise (footnote 7)."""
_WIDEST, _HIGHEST = 1e4, 1e4
"""Largest ratio shift / noise, and largest order, for which the quadrature resolves Q."""
_WINDOWS = 10**6
"""Longest window searched; every window is an instance of the theorem."""


def smaller_direction(run: NoisySGD, order: float, share: float = 1.0) -> float:
    """Q: Definition 2.10 at q = b/n and ``share`` of the noise variance, rounded up.

    Outside the range of the quadrature, this is the smaller of the limit log(1/(1 - q)) of Q and the Gaussian
    value.
    """
    with precision():
        q, out = upper(exact(run.batch) / run.dataset_size), run.dataset_size - run.batch
        shift = upper(2 * exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch)
        noise = exact(run.noise_std_at(0)) * exact(share).sqrt()
        whole = upper(exact(order) * exact(shift) ** 2 / (2 * noise**2))
        if not out:
            return whole
        std = lower(noise)
        if shift > _WIDEST * std or order > _HIGHEST:
            return min(whole, upper((exact(run.dataset_size) / out).log()))
    return s_down(q, std, alpha=order, shift=shift).upper


def order_is_small(q: float, noise: float, order: float) -> bool:
    """Tell whether the order satisfies both inequalities that define alpha*(q, noise), above Lemma 2.12."""
    M = log1p(1 / (q * (order - 1)))
    if not order <= M * noise**2 / 2 - log(noise**2):
        return False
    slope = M + log(q * order) + 1 / (2 * noise**2)
    return slope <= 0 or order <= (M**2 * noise**2 / 2 - log(5 * noise**2)) / slope


def equation_b_1(run: NoisySGD, _losses: Assumption, order: float) -> float:
    """(B.1): alpha / (2 eta^2 sigma^2) min{T s^2, min over w of w (D~ / w + s)^2}, s = 2 eta L / n, D~ = D + s."""
    best = statement_value(stated.COMPOSITION, run, order)
    if not isfinite(run.diameter):
        return best
    s = 2 * run.step_size_at(0) * run.clip_norm / run.dataset_size
    windows = _around(run.diameter / s + 1, 1, run.steps)
    return min(best, *(statement_value(stated.EQUATION_B_1, run, order, w=w) for w in windows))


def equation_3_7(run: NoisySGD, _losses: Assumption, order: float, share: float = _EVEN) -> float:
    """(3.7): min over tau of (T - tau) Q + alpha D^2 / (2 eta^2 sigma_1^2 (T - tau - 1)); infinite at T = 1."""
    return inf if run.steps == 1 or not isfinite(run.diameter) else _least_window(run, order, share, arb(1))


def theorem_5_6(run: NoisySGD, _losses: Assumption, order: float) -> float:
    """Theorem 5.6 with the constants of its proof: alpha / (2 eta^2 sigma^2) times the sum of a_t^2 in (5.6).

    For T > Tbar = ceil(D n / (L eta)) this is (5.6) with the shifts printed above it, at the worst position
    of the sample, with D~ = D + 2 eta L / b and Tbar rounded up to a multiple of n/b; else it is the argument
    for (5.4), which starts at 0. Partial epochs count as whole epochs.
    """
    with precision():
        batches, horizon = run.batches, run.steps
        if isfinite(run.diameter):
            reach = exact(run.diameter) * run.dataset_size / (exact(run.step_size_at(0)) * exact(run.clip_norm))
            horizon = batches * ceil(ceil(float(reach.upper())) / batches)
        if run.steps <= horizon:
            return statement_value(stated.EQUATION_5_6_SHORT, run, order, T=batches * -(-run.steps // batches))
        return statement_value(stated.EQUATION_5_6_LONG, run, order, w=horizon)


def equation_b_2(run: NoisySGD, _losses: Assumption, order: float) -> float:
    """(B.2): min{T Q_1, min over beta of Q + min over w of w Q + alpha D^2 / (2 eta^2 sigma_1^2 w)}, Q_1 at beta 1."""
    return _best_split(run, order, arb(1))


def equation_b_3(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """(B.3): (B.2) with D^2 (1 - c^2) / (c^(-2 w) - 1) for D^2 / w, where c is the contraction of the step taken."""
    with precision():
        return _best_split(run, order, contraction_factor(run, assumption))


def _best_split(run: NoisySGD, order: float, c: arb) -> float:
    whole = smaller_direction(run, order)
    with precision():
        composed = whole if run.steps == 1 else upper(run.steps * exact(whole))
        if run.steps == 1 or not isfinite(run.diameter):
            return composed
        if run.batch == run.dataset_size:
            return min(composed, _whole_batch(run, order, c))
    from scipy.optimize import minimize_scalar  # slow import, rarely needed

    tried = [composed]

    def at(place: float) -> float:
        tried.append(_least_window(run, order, 1 / (1 + exp(-place)), c))
        return log(tried[-1]) if 0 < tried[-1] < inf else tried[-1]

    if isfinite(at(0.0)):
        minimize_scalar(at, bounds=(-9.0, 9.0), method="bounded", options={"xatol": 1e-5})
    return min(tried)


def _whole_batch(run: NoisySGD, order: float, c: arb) -> float:
    """Value at the best split: Q is Q_1 / beta, and x / beta + y / (1 - beta) is at least (sqrt x + sqrt y)^2."""
    cost, hidden = smaller_direction(run, order), _hidden(run, order, 1.0)
    lengths = np.arange(1, min(run.steps - 1, _WINDOWS) + 1)
    ratio = float(c)
    with np.errstate(over="ignore", under="ignore"):
        powers = ratio ** (2.0 * lengths)
        decay = 1 / lengths if ratio >= 1 else (1 - ratio) * (1 + ratio) * powers / (1 - powers)
    best = int(lengths[np.argmin(np.sqrt((lengths + 1) * cost) + np.sqrt(hidden * decay))])
    with precision():
        at_best = (1 - c**2) * c ** (2 * best) / (1 - c ** (2 * best)) if c < 1 else arb(1) / best
        return upper((((best + 1) * exact(cost)).sqrt() + (exact(hidden) * at_best).sqrt()) ** 2)


def _least_window(run: NoisySGD, order: float, share: float, c: arb) -> float:
    """Minimum over windows w < T of (w + 1) Q + H (1 - c^2)/(c^(-2 w) - 1), or of (w + 1) Q + H / w if c >= 1.

    H is `_hidden`. The minimising real w is computed in closed form.
    """
    cost, hidden, ratio = smaller_direction(run, order, share), _hidden(run, order, 1 - share), float(c)
    place = 1.0
    if not ratio < 1:
        place = sqrt(hidden / cost) if cost > 0 else inf
    elif ratio > 0:
        rate = -2 * log(ratio)
        place = float(np.arccosh(1 + hidden * -np.expm1(-rate) * rate / cost / 2) / rate)
    statement = _EQUATION_B_3 if c < 1 else _EQUATION_3_7
    windows = _around(place, 1, run.steps - 1)
    return min(statement_value(statement, run, order, u=cost, beta=share, w=w, c=c) for w in windows)


def _hidden(run: NoisySGD, order: float, share: float) -> float:
    with precision():
        length, variance = exact(run.diameter), exact(share) * exact(run.noise_std_at(0)) ** 2
        return upper(exact(order) * length**2 / (2 * variance)) if isfinite(run.diameter) else inf


def _around(place: float, low: int, high: int) -> Iterator[int]:
    """Integers in [low, high] next to the real minimiser of a convex function."""
    if place >= high:
        yield high
        return
    yield from {min(max(near, low), high) for near in (floor(place), ceil(place))}
