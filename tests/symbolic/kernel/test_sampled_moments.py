"""Bounds on steps with a sampled batch hold for mixtures of Gaussians whose divergences are integrated numerically."""

import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import mpf
from numpy.typing import NDArray
from scipy.special import logsumexp
from sympy import And, Symbol, lambdify

from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import Order, PoissonStep, SwapStep
from lastiterate.symbolic.kernel.renyi import Sampled, bound_renyi
from lastiterate.symbolic.notation import alpha

Floats = NDArray[np.float64]
Setting = tuple[float, float, float]
"""The rate, the distance between the means in units of the noise, and the order."""

q, x = Symbol("q", positive=True), Symbol("x", positive=True)


def settings(count: int, seed: int) -> Iterator[Setting]:
    """Random settings, the first ones with small or large parameters."""
    some = random.Random(seed)  # noqa: S311
    yield from (
        (rate, mu, order)
        for rate in (1e-4, 0.1, 0.999)
        for mu in (1e-2, 1.0, 5.0)
        for order in (1.01, 2.0, 30.0)
    )
    for _ in range(count):
        yield 10 ** some.uniform(-4, -0.01), 10 ** some.uniform(-1.5, 0.8), 1 + 10 ** some.uniform(-2, 1.6)


def mixture(points: Floats, rate: float, first: Floats, second: Floats) -> Floats:
    """Logarithm of the density of (1 - rate) N(first) + rate N(second), up to a constant; points are rows."""
    both = [-((points - mean) ** 2).sum(-1) / 2 for mean in (first, second)]
    density: Floats = np.logaddexp(both[0] + math.log1p(-rate), both[1] + math.log(rate))
    return density


def grid(order: float, *means: Floats) -> tuple[Floats, float]:
    """A grid in each dimension that covers all modes of p^order q^(1 - order), and the log of its cell."""
    reach = [[(1 + order) * abs(one[i]) for one in means] for i in range(means[0].size)]
    axes = [np.arange(-max(most) - 9, max(most) + 9, 0.05 if len(reach) == 1 else 0.25) for most in reach]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    return points, sum(math.log(one[1] - one[0]) for one in axes) - len(axes) * math.log(2 * math.pi) / 2


def divergence(order: float, cell: float, p: Floats, q: Floats) -> float:
    """D_order(p || q) by the trapezoidal rule, which is exact to many digits for sums of Gaussians."""
    return float(logsumexp(order * p + (1 - order) * q) + cell) / (order - 1)


@cache
def rule(profile: PoissonStep | SwapStep, by: Sampled) -> Callable[..., tuple[Any, bool]]:
    """The bound of the rule, in extended precision, and whether its conditions are met."""
    found = bound_renyi(profile, alpha, by)
    made: Callable[..., tuple[Any, bool]] = lambdify(
        (q, x, alpha), (found.value, And(*found.conditions)), "mpmath"
    )
    return made


def bound(profile: PoissonStep | SwapStep, setting: Setting, by: Sampled) -> float | None:
    """The value of a rule; None if its conditions are not met."""
    rate, mu, order = map(mpf, setting)
    value, holds = rule(profile, by)(rate, mu**2, order)
    return float(value) if holds else None


@pytest.mark.parametrize("by", [Sampled.ALWAYS, Sampled.MIXED, Sampled.RATE, Sampled.SECOND])
def test_a_sample_that_is_added(by: Sampled) -> None:
    ratios = []
    for rate, mu, order in settings(1000, 1):
        none, there = np.zeros(1), np.array([mu])
        points, cell = grid(order, none, there)
        base, mixed = mixture(points, rate, none, none), mixture(points, rate, none, there)
        for side, pair in {Order.FIRST: (mixed, base), Order.SECOND: (base, mixed)}.items():
            if by is Sampled.SECOND and side is Order.FIRST:
                continue
            most = bound(PoissonStep(q, x, side), (rate, mu, order), by)
            true = divergence(order, cell, *pair)
            if most is not None and most > 1e-7:
                assert true <= most * (1 + 1e-6) + 1e-9, (rate, mu, order, side)
                ratios.append(true / most)
    strongest = max(ratios)
    assert len(ratios) > 200
    assert strongest > (0.55 if by is Sampled.RATE else 0.9)


@pytest.mark.parametrize("by", [Sampled.MIXED, Sampled.RATE])
def test_a_sample_that_is_replaced(by: Sampled) -> None:
    ratios = []
    for place, (rate, mu, order) in enumerate(settings(400, 2)):
        if (1 + order) * mu > 60:
            continue
        angle = (
            math.pi * (1 + place % 3) / 3
        )  # the replaced samples move the mean by angles of up to a half turn
        length = mu if angle <= math.pi / 3 else mu / 2 / math.sin(angle / 2)
        none, one, other = (
            np.array(point)
            for point in ((0.0, 0.0), (length, 0.0), (length * math.cos(angle), length * math.sin(angle)))
        )
        points, cell = grid(order, one, other)
        first, second = mixture(points, rate, none, one), mixture(points, rate, none, other)
        most = bound(SwapStep(q, x), (rate, mu, order), by)
        true = divergence(order, cell, first, second)
        if most is not None and most > 1e-7:
            assert true <= most * (1 + 1e-6) + 1e-9, (rate, mu, order, angle)
            ratios.append(true / most)
    strongest = max(ratios)
    assert len(ratios) > 50
    assert strongest > 0.4


def test_what_bounds_one_order_does_not_bound_the_other() -> None:
    for profile in (PoissonStep(q, x, Order.FIRST), PoissonStep(q, x), SwapStep(q, x)):
        with pytest.raises(UnprovedError, match="No rule"):
            bound_renyi(profile, alpha, Sampled.SECOND)
    points, cell = grid(20, np.zeros(1), np.ones(1))
    base, mixed = (mixture(points, 0.1, np.zeros(1), np.array([mean])) for mean in (0.0, 1.0))
    most = bound(PoissonStep(q, x, Order.SECOND), (0.1, 1.0, 20.0), Sampled.SECOND)
    assert most is not None
    assert divergence(20, cell, base, mixed) < most < 7 * most < divergence(20, cell, mixed, base)


@pytest.mark.parametrize("setting", [(0.1, 1.0, 2.01), (0.1, 1.5, 2.0)])
def test_linear_in_the_rate_needs_its_condition(setting: Setting) -> None:
    assert bound(PoissonStep(q, x, Order.FIRST), setting, Sampled.RATE) is None
