"""The bounds on a sampled Gaussian at small rates against integrals, and the conditions that they need."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sympy import Symbol, lambdify

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import Deduced
from lastiterate.symbolic.kernel.integrals import Calculus
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.notation import alpha, q, sigma
from lastiterate.symbolic.statement import Normal, RenyiDivergence, closed

Setting = tuple[float, float, float]
"""The rate, the noise and the order."""

REGIONS: dict[str, tuple[float, float, Callable[..., float]]] = {
    "printed": (0.2, 4.0, lambda q, s, a: s * s / 2 * math.log1p(1 / (q * (a - 1))) - 2 * math.log(s)),
    "wide": (0.1, 1.0, lambda q, s, _: s * s / 2 * math.log(1 / q)),
}


def larger(rate: float, noise: float, order: float) -> float:
    """D_order of the mixture over its base, without cancellation for small rates, by the trapezoidal rule."""
    mu = 1 / noise
    points = np.arange(-10 - mu, (order + 1) * mu + 10, 0.02)
    excess = rate * np.expm1(mu * points - mu**2 / 2)
    base = np.exp(-(points**2) / 2)
    near = np.abs(order * excess) < 1e-3
    here = np.where(near, excess, 0)
    series = here**2 * order * (order - 1) / 2 * (1 + (order - 2) / 3 * here * (1 + (order - 3) / 4 * here))
    powers = np.exp(order * np.log1p(excess) - points**2 / 2) - base * (1 + order * excess)
    total = float(np.where(near, series * base, powers).sum()) * 0.02 / math.sqrt(2 * math.pi)
    return math.log1p(total) / (order - 1)


def settings(region: str, seed: int) -> Iterator[Setting]:
    """Random and extreme settings: the largest rate, the least noise, and the largest order at them."""
    top, least, most = REGIONS[region]
    some = random.Random(seed)  # noqa: S311
    while True:
        rate = some.choice((top, 10 ** some.uniform(-7, math.log10(top))))
        noise = some.choice((least, least * 10 ** some.uniform(0, 1.2)))
        low, high = 1.0, 1e7
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if middle <= most(rate, noise, middle) else (low, middle)
        order = some.choice((low, 1 + (low - 1) * some.random(), min(low, 1 + 10 ** some.uniform(-2, 1))))
        if 1.001 < order < 30 * noise:
            yield rate, noise, order


def bound(*, wide: bool) -> Callable[..., Any]:
    """The right side of the rule."""
    made = Calculus(prove).sampled(alpha, q, sigma**2, back=False, wide=wide)
    value: Callable[..., Any] = lambdify((q, sigma, alpha), made.right)
    return value


@pytest.mark.parametrize("region", list(REGIONS))
def test_a_sampled_gaussian_costs_no_more_at_small_rates(region: str) -> None:
    claimed, strongest = bound(wide=region == "wide"), 0.0
    for (rate, noise, order), _ in zip(settings(region, 5), range(1500), strict=False):
        true = larger(rate, noise, order)
        assert true <= claimed(rate, noise, order) * (1 + 1e-6), (rate, noise, order)
        strongest = max(strongest, true / claimed(rate, noise, order))
    assert 0.25 < strongest < 0.3


def test_beyond_its_orders_it_costs_more() -> None:
    assert larger(0.1, 4.0, 100.0) > bound(wide=False)(0.1, 4.0, 100.0)
    assert larger(0.1, 1.0, 8.0) > bound(wide=True)(0.1, 1.0, 8.0)


@pytest.mark.parametrize("key", ["altschuler_talwar/lemma_2_12/larger_direction", "d2p2/lemma_5/rightly"])
def test_it_needs_each_condition(key: str) -> None:
    claim: Any = known(key)
    check = next(one for one in claim.checks if isinstance(one, Deduced))
    said, needed = check.statement, 0
    assert decide_check(check, ()).status is Status.HELD
    for one in said.conditions:
        fewer = [other for other in said.conditions if other != one]
        weaker = Deduced(closed(said.body, *fewer), check.derivation)
        needed += decide_check(weaker, ()).status is not Status.HELD
    assert needed >= 3


def test_another_constant_or_pair_of_laws_is_refused() -> None:
    claim: Any = known("altschuler_talwar/lemma_2_12/larger_direction")
    said: Any = claim.checks[0].statement
    base, moved = Normal(0, sigma**2), Normal(1, sigma**2)
    twice = RenyiDivergence(alpha, (1 - q) * base + q * moved, (1 - q) * base + q * Normal(-1, sigma**2))
    for body in (said.body.func(said.body.lhs, said.body.rhs * 99 / 100), said.body.func(twice, said.body.rhs)):
        other = Deduced(closed(body, *said.conditions), "small_rate")
        assert decide_check(other, ()).status is not Status.HELD


def test_symbols_of_another_name_do_not_matter() -> None:
    rate = Symbol("rate", positive=True)
    made = Calculus(prove).sampled(alpha, rate, sigma**2, back=True, wide=True)
    assert made.right == 3 * alpha * rate**2 / sigma**2
