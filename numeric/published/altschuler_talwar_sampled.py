"""Altschuler & Talwar 2022, random batches, as printed.

Their run adds noise of standard deviation sigma to the averaged gradient, eta sigma = ``noise_std`` here; their L is
the clip norm K, and D is a diameter. With q = b/n and a share beta of the variance (sigma_2^2 = beta sigma^2),

    Q = S_alpha(q, b sigma_2 / (2 L)) = D_alpha(N(0, s^2) || (1 - q) N(0, s^2) + q N(2 eta K / b, s^2)),
    s^2 = beta noise_std^2,

the *smaller* of the two directions of the sampled Gaussian, which their Definition 2.10 names; at b = n it is a
Gaussian step and there is one direction only. Where the variance may be split freely, any split is an instance of the
theorem: the one that is used here is the best that a search finds. All values are Renyi epsilons, rounded up.

Source: Altschuler & Talwar 2022, section 5 and appendix B.
"""

# Sympy has no stubs; what pyright infers from its source is wider than what it documents.
# pyright: reportArgumentType=false

from collections.abc import Callable, Iterator
from math import ceil, exp, floor, inf, isfinite, log, log1p, sqrt

import numpy as np
from flint import arb

from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.record import claimed, contraction
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import u

_EQUATION_3_7, _EQUATION_5_3, _EQUATION_5_7, _EQUATION_B_3 = (
    statement.xreplace({stated.DOWN: u})
    for statement in (stated.EQUATION_3_7, stated.EQUATION_5_3, stated.EQUATION_5_7, stated.EQUATION_B_3)
)
"""With u for Q, which `smaller_direction` bounds where no quadrature resolves it, too."""

EVEN = 0.5
"""sigma_1 = sigma_2 = sigma / sqrt 2, what the paper takes where it does not optimise (footnote 7)."""

_WIDEST = 1e4
_HIGHEST = 1e4
_WINDOWS = 10**6  # longer ones are not searched; any window is an instance of the theorem


def smaller_direction(run: NoisySGD, order: float, share: float = 1.0, t: int = 0) -> float:
    """Q: Definition 2.10 at q = b/n and ``share`` of the noise variance of step t, rounded up.

    Where the quadrature would not resolve it it is the lesser of log(1/(1 - q)), its limit, and the Gaussian value.
    """
    with precision():
        q, out = upper(exact(run.batch) / run.dataset_size), run.dataset_size - run.batch
        shift = upper(2 * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch)
        noise = exact(run.noise_std_at(t)) * exact(share).sqrt()
        whole = upper(exact(order) * exact(shift) ** 2 / (2 * noise**2))
        if not out:
            return whole
        std = lower(noise)
        if shift > _WIDEST * std or order > _HIGHEST:
            return min(whole, upper((exact(run.dataset_size) / out).log()))
    return s_down(q, std, alpha=order, shift=shift).upper


def order_is_small(q: float, noise: float, order: float) -> bool:
    """Tell whether order meets both inequalities that define alpha*(q, noise), above Lemma 2.12."""
    M = log1p(1 / (q * (order - 1)))
    if not order <= M * noise**2 / 2 - log(noise**2):
        return False
    slope = M + log(q * order) + 1 / (2 * noise**2)
    return slope <= 0 or order <= (M**2 * noise**2 / 2 - log(5 * noise**2)) / slope


def equation_3_7(run: NoisySGD, order: float, share: float = EVEN) -> float:
    """min over tau of (T - tau) Q + alpha D^2 / (2 eta^2 sigma_1^2 (T - tau - 1)); infinite at T = 1.

    Source: (3.7).
    """
    price, hidden = smaller_direction(run, order, share), _hidden(run, order, 1 - share)
    if run.steps == 1 or not isfinite(hidden):
        return inf
    windows = around(sqrt(hidden / price) if price > 0 else inf, 1, run.steps - 1)
    return min(claimed(_EQUATION_3_7, run, order, u=price, beta=share, w=w) for w in windows)


def equation_5_3(run: NoisySGD, order: float, assumption: Assumption, share: float = EVEN) -> float:
    """min over tau of (T - tau) Q + c^(2 (T - tau - 1)) alpha D^2 / (2 eta^2 sigma_1^2).

    The paper has c = (kappa - 1)/(kappa + 1), which is for the step size 2/(m + L); at any other its proof needs the
    contraction of the step that is taken, c = max(|1 - eta m|, |1 - eta L|).

    Source: (5.3).
    """
    price, hidden = smaller_direction(run, order, share), _hidden(run, order, 1 - share)
    if not isfinite(hidden):
        return inf
    with precision():
        c = contraction(run, assumption)
        rate = -2 * log(float(c)) if 0 < float(c) < 1 else 0.0
        best = log(rate * hidden / price) / rate if rate and price > 0 and hidden > 0 else 0.0
        return min(
            claimed(_EQUATION_5_3, run, order, u=price, beta=share, w=w, c=c)
            for w in {*around(best, 0, run.steps - 1), min(1, run.steps - 1)}  # at c = 0 one free step hides all
        )


def equation_5_7(run: NoisySGD, order: float, share: float = EVEN) -> float:
    """min over tau of (T - tau) Q + (T - tau - 1) alpha D^2 / (2 sigma_1^2 (sum of eta_t, tau < t < T)^2).

    For step sizes that vary and noise of one size on the gradient: noise_std_t / step_size_t is constant.

    Source: (5.7).
    """
    if run.steps == 1 or not isfinite(run.diameter):
        return inf
    price = smaller_direction(run, order, share)
    eta = np.array([run.step_size_at(t) for t in range(run.steps)])
    lengths = np.arange(1, run.steps)
    travelled = np.cumsum(eta[:0:-1])
    gradient_noise = exact(run.noise_std_at(0)) / exact(run.step_size_at(0))
    scale = exact(order) * exact(run.diameter) ** 2 / (2 * (1 - exact(share)) * gradient_noise**2)
    best = int(np.argmin((lengths + 1) * price + float(scale) * lengths / travelled**2)) + 1
    with precision():
        total = sum((exact(step) for step in eta[run.steps - best :].tolist()), arb(0))
        return claimed(_EQUATION_5_7, run, order, u=price, beta=share, w=best, r=total)


def equation_b_2(run: NoisySGD, order: float) -> float:
    """min{T S, min over the split of Q + min over w of w Q + alpha D^2 / (2 eta^2 sigma_1^2 w)}.

    Source: (B.2).
    """
    with precision():
        return min(_composed(run, order), _windowed(run, order, arb(1)))


def equation_b_3(run: NoisySGD, order: float, assumption: Assumption) -> float:
    """As (B.2), with D^2 (1 - c^2) / (c^(-2 w) - 1) for D^2 / w; c as in `equation_5_3`.

    Source: (B.3).

    >>> from lastiterate.numeric.losses.assumptions import StronglyConvex
    >>> run = NoisySGD(steps=1000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> round(equation_b_3(run, 2.0, StronglyConvex(1.0, 1.0)), 4)
    0.1695
    """
    with precision():
        return min(_composed(run, order), _windowed(run, order, contraction(run, assumption)))


def _windowed(run: NoisySGD, order: float, c: arb) -> float:
    """The second part of (B.2) and (B.3), at its best window and split."""
    if run.steps == 1 or not isfinite(run.diameter):
        return inf
    if run.batch == run.dataset_size:
        return _whole_batch(run, order, c)

    def split(share: float) -> float:
        price, hidden = smaller_direction(run, order, share), _hidden(run, order, 1 - share)
        windows = around(_turning(float(c), hidden, price), 1, run.steps - 1)
        statement = _EQUATION_B_3 if c < 1 else _EQUATION_3_7
        return min(claimed(statement, run, order, u=price, beta=share, w=w, c=c) for w in windows)

    return _best_split(split)


def _whole_batch(run: NoisySGD, order: float, c: arb) -> float:
    """Q is Q_1 / beta, so the best split is exact: x / beta + y / (1 - beta) has the minimum (sqrt x + sqrt y)^2."""
    price, hidden = smaller_direction(run, order), _hidden(run, order, 1.0)
    lengths = np.arange(1, min(run.steps - 1, _WINDOWS) + 1)
    ratio = float(c)
    with np.errstate(over="ignore", under="ignore"):
        powers = ratio ** (2.0 * lengths)
        decay = 1 / lengths if ratio >= 1 else (1 - ratio) * (1 + ratio) * powers / (1 - powers)
    best = int(lengths[np.argmin(np.sqrt((lengths + 1) * price) + np.sqrt(hidden * decay))])
    with precision():
        at_best = (1 - c**2) * c ** (2 * best) / (1 - c ** (2 * best)) if c < 1 else arb(1) / best
        return upper((((best + 1) * exact(price)).sqrt() + (exact(hidden) * at_best).sqrt()) ** 2)


def _turning(c: float, hidden: float, price: float) -> float:
    """The real w at which w price + hidden (1 - c^2)/(c^(-2 w) - 1) is least: x + 1/x = 2 + r at x = c^(-2 w)."""
    if not 0 < c < 1:
        return sqrt(hidden / price) if c else 1.0
    rate = -2 * log(c)
    r = hidden * -np.expm1(-rate) * rate / price
    return float(np.arccosh(1 + r / 2) / rate)


def _composed(run: NoisySGD, order: float) -> float:
    if run.steps == 1:
        return smaller_direction(run, order)
    return upper(run.steps * exact(smaller_direction(run, order)))


def _hidden(run: NoisySGD, order: float, share: float) -> float:
    """alpha D^2 / (2 eta^2 sigma_1^2), rounded up, with sigma_1^2 = share sigma^2."""
    if not isfinite(run.diameter):
        return inf
    with precision():
        return upper(exact(order) * exact(run.diameter) ** 2 / (2 * exact(share) * exact(run.noise_std_at(0)) ** 2))


def around(place: float, low: int, high: int) -> Iterator[int]:
    """The whole numbers of [low, high] next to a real one; a convex function is least at one of them."""
    if place >= high:
        yield high
        return
    yield from {min(max(near, low), high) for near in (floor(place), ceil(place))}


def _best_split(value: Callable[[float], float]) -> float:
    """The least value found over shares in (0, 1), each of them an instance of the theorem."""
    from scipy.optimize import minimize_scalar  # a slow import that most runs do not need

    tried: list[float] = []

    def at(place: float) -> float:
        tried.append(value(1 / (1 + exp(-place))))
        return log(tried[-1]) if 0 < tried[-1] < inf else tried[-1]

    if not isfinite(at(0.0)):
        return tried[0]
    minimize_scalar(at, bounds=(-9.0, 9.0), method="bounded", options={"xatol": 1e-5})
    return min(tried)
