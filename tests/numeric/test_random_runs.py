"""Random valid runs of every scheme and assumption: a bound is a number, and not below what is certainly lost."""

from math import inf, isnan

import numpy as np
import pytest

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.schemes import SCHEMES


def _drawn(rng: np.random.Generator, wide: float) -> tuple[NoisySGD, Assumption, dict[str, float]]:
    """A run, an assumption, and an order or a delta; scales within a factor e^wide of where all of them matter."""

    def spread(middle: float) -> float:
        return float(middle * np.exp(rng.uniform(-wide, wide)))

    scheme = SCHEMES[str(rng.choice(list(SCHEMES)))]
    batch, batches = round(spread(10) + 0.5), 1 if scheme.full else 1 + round(spread(10) + 0.5)
    steps, varies = round(spread(30) + 0.5), rng.random() < 0.3
    eta, K = spread(0.1), spread(1.0)
    s = 2 * eta * K / batch
    etas = tuple((eta * rng.uniform(0.3, 1, steps)).tolist()) if varies and steps <= 100 else eta
    noise, D = spread(s), inf if rng.random() < 0.2 else s * spread(10)
    noises = tuple((noise * rng.uniform(0.5, 2, steps)).tolist()) if varies and steps <= 100 else noise
    steps = steps if varies or rng.random() < 0.8 else int(steps ** (1 + 4 * rng.random()))
    run = NoisySGD(steps, etas, noises, K, batch * batches, batch_size=batch, sampling=scheme.name, diameter=D)
    lam, reach, height = float(rng.uniform(0.1, 1)), s * 10, K * spread(0.3)
    smooth, holder = Smooth(K / reach * spread(1)), Holder(K / reach**lam * spread(1), lam)
    L = float(rng.uniform(0.05, 1.9)) / eta
    kinds = (
        *(Clipped(), smooth, holder, Convex(L), StronglyConvex(L, L * float(rng.uniform(1e-3, 1)))),
        *(Minimum(smooth, holder), Sum(smooth, holder), Blocks(smooth, holder)),
        Tabulated((reach / 3, reach), (height / 3, height)),
    )
    order, delta = {"order": 1 + spread(3)}, {"delta": 10 ** float(rng.uniform(-12, -1))}
    return run, kinds[int(rng.integers(len(kinds)))], order if rng.random() < 0.6 else delta


_MANY = pytest.param(5000, marks=(pytest.mark.nightly, pytest.mark.timeout(36_000)))


@pytest.mark.parametrize("count", [5, _MANY])
def test_random_runs(count: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(count):
        run, assumption, goal = _drawn(rng, wide=float(rng.choice([1.0, 3.0])))
        epsilon = bound(run, assumption, **goal).epsilon
        assert not isnan(epsilon), (run, assumption, goal)
        assert epsilon >= lower_bound(run, assumption, **goal).value >= 0, (run, assumption, goal)
