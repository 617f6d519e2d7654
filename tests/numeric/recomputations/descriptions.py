"""Events for dp_accounting, random batches, rounding, and tables and blocks of contraction.

Without dp_accounting, a stand-in represents an event as a tuple of its name and its parts.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import starmap
from math import comb, exp, log, sqrt
from sys import modules
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from dp_events import to_dp_event, to_pld

from lastiterate.numeric.accounting.batches import least_range, outcome_distance, rate, tail_from
from lastiterate.numeric.accounting.dominating import SampledSteps
from lastiterate.numeric.bound import bound
from lastiterate.numeric.contraction import block, chain, random_batches, table
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.rounding import exact, geometric_sum, lower, precision, printed_down, printed_up, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.subsampling.noise_split import round_down
from recomputations import profiles
from recomputations.record import TABLE, Number, as_recorded, equals, upper_bound

_MODULES = ("", ".pld", ".pld.pld_pmf", ".pld.privacy_loss_distribution")


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return lambda *parts: (name, *parts)


def _delta(found: Any, epsilon: float) -> float:
    deltas: list[float] = []
    for _, step, first, probabilities, infinite, _ in found[1:]:
        losses = step * (first + np.arange(len(probabilities)))
        deltas.append(float(np.maximum(-np.expm1(epsilon - losses), 0.0) @ probabilities) + infinite)
    return max(deltas)


def recompute_events() -> Iterator[Number]:
    """Noise multipliers of events, and privacy-loss distributions for dp_accounting."""
    full = NoisySGD(10, 0.1, 0.4, 2.0, dataset_size=5)
    poisson = NoisySGD(10, 0.1, 0.4, 2.0, dataset_size=12, batch_size=3, sampling="poisson")
    cyclic = NoisySGD(10, 0.1, (0.4,) * 5 + (0.2,) * 5, 2.0, dataset_size=12, batch_size=3, sampling="cyclic")
    names = [f"dp_accounting{module}" for module in _MODULES]
    with patch.dict(modules, {name: _StandIn(name) for name in names}):
        _, (_, multiplier), count = to_dp_event(full)
        yield equals("multiplier of full batches", multiplier, 0.4 / (2 * 0.1 * 2 / 5))
        yield equals("steps of full batches", count, 10)
        _, (_, probability, (_, multiplier)), _ = to_dp_event(poisson)
        yield equals("multiplier of Poisson batches", multiplier, 0.4 / (0.1 * 2 / 3))
        yield equals("rate of Poisson batches", probability, 0.25)
        _, parts = to_dp_event(cyclic)
        for (_, (_, multiplier), count), (noise, times) in zip(parts, ((0.2, 2), (0.4, 1)), strict=True):
            name = f"of epochs of least noise {noise:g}"
            yield equals(f"multiplier {name}", multiplier, noise / (2 * 0.1 * 2 / 3))
            yield equals(f"number {name}", count, times)
        mu = sqrt(10) * 2 * 0.1 * 2 / 5 / 0.4
        whole = to_pld(bound(full, Convex(1.0), delta=1e-5), discretization=1e-3)
        for epsilon in (0.2, 0.5):
            truth = profiles.gaussian_delta(mu, epsilon)
            yield upper_bound(f"delta of composition at {epsilon:g}", _delta(whole, epsilon), truth, 1e-3)
        pair = to_pld(bound(replace(poisson, steps=2), Convex(1.0), delta=1e-5), discretization=1e-3)
        yield as_recorded("delta of a Poisson pair at 0.2", _delta(pair, 0.2))
        short = NoisySGD(4, 0.1, 0.1, 1.0, dataset_size=4, batch_size=2, sampling="cyclic", diameter=0.3)
        contracted = to_pld(bound(short, Convex(1.0), delta=1e-3), discretization=1e-3)
        yield as_recorded("delta of a table at 1", _delta(contracted, 1.0), TABLE)


def recompute_batches() -> Iterator[Number]:
    """Sizes of Poisson batches, numbers of draws of a sample, rates, moves and rounding."""
    count, q = 40, 0.2

    def tail(least: int, p: float) -> float:
        """Geometric series barely above the binomial tail."""
        ratio = (count - least) / (least + 1) * p / (1 - p)
        return comb(count, least) * p**least * (1 - p) ** (count - least) / (1 - ratio)

    for least in (12, 20):
        value, total = tail_from(count, Fraction(1, 5), least), sum(profiles.binomial(count, q)[least:])
        yield equals(f"P(X >= {least})", value, tail(least, q))
        yield Number(f"P(X >= {least}) and the sum", value, total, 1.2 * total)
    low, high, chance = least_range(count, Fraction(1, 5), log(1e-4), both=True)
    greatest = next(k for k in range(9, count) if tail(k + 1, q) <= 1e-4)
    least = count - next(k for k in range(33, count + 1) if tail(k + 1, 1 - q) <= 1e-4)
    met = random_batches.outcomes(10, 0.3, 6)
    edges = [k for k, _ in met]
    mean = sum(next(e for e in edges if e >= k) * p for k, p in enumerate(profiles.binomial(10, 0.3)))
    run = NoisySGD(3, 0.1, 0.4, 2.0, dataset_size=12, batch_size=3, sampling="poisson")
    replaced = replace(run, sampling="without_replacement", adjacency="")
    kinds = round_down({1.0: 2, 1.5: 3, 3.0: 4, 4.0: 1}, 2)
    noisy = NoisySGD.gradient_noise(
        gradient_noise_std=5.0, step_size=0.3, steps=1, clip_norm=1.0, dataset_size=5
    )
    with precision():
        third = exact(1.0) / 3
        numbers = (
            ("greatest size", high, greatest),
            ("least size", low, least),
            ("probability beyond", chance, tail(high + 1, q) + tail(count - low + 1, 1 - q)),
            ("how often a sample is met, rounded up", sum(chance * k for k, chance in met), mean),
            ("rate", rate(run), 0.25),
            ("move when a sample is added", outcome_distance(run), 2.0 / 3),
            ("move when one is replaced", outcome_distance(replaced), 4.0 / 3),
            ("kinds rounded down", sum(k * n for k, n in kinds.items()), 1.0 * 9 + 4.0),
            ("noise on the gradient", noisy.noise_std_at(0), 1.5),
            ("printed up", float(printed_up(1.0000011)), 1.00001),
            ("printed down", float(printed_down(1.9999999)), 1.99999),
            ("a third, rounded up", float(Fraction(upper(third)) > Fraction(1, 3)), 1.0),
            ("a third, rounded down", float(Fraction(lower(third)) < Fraction(1, 3)), 1.0),
            ("a geometric sum", float(geometric_sum(exact(0.5), 4)), 0.5 + 0.25 + 0.125 + 0.0625),
            ("a geometric sum of ones", float(geometric_sum(exact(1.0), 4)), 4.0),
        )
    yield from starmap(equals, numbers)


def recompute_tables() -> Iterator[Number]:
    """Tables of profiles, their measures, and a block of steps, against quadrature and direct search."""
    mu = 1.3
    found = table.gaussian_table(mu)
    for epsilon in (0.0, 0.7, 2.0):
        truth = profiles.gaussian_delta(mu, epsilon)
        yield upper_bound(f"a Gaussian table at {epsilon:g}", found.delta(epsilon), truth, 2e-3)
        below_one = found(np.array(exp(-epsilon)))
        yield upper_bound(f"the same at -{epsilon:g}", float(below_one), 1 - exp(-epsilon) * (1 - truth), 2e-3)
    truth = profiles.gaussian_epsilon(mu, 1e-3)
    yield upper_bound("epsilon of a Gaussian table", found.epsilon(1e-3), truth, 2e-3)
    by_table = table.table_rdp(found, 3.0, lambda order: order * mu * mu / 2)
    yield upper_bound("order 3 of a Gaussian table", by_table, 1.5 * mu**2 * (1 - 1e-9), 3e-3)
    nodes = np.exp(table.spread_nodes(0.05, 30.0, 60))
    before = table.Table(nodes, profile := table.chord(found.g, found.ahead, nodes), profile)
    measure = block.DiscretePair.of(before)
    yield equals("mass of P", float(measure.p.sum() + measure.only_p), 1.0, 1e-6)
    yield equals("mass of Q", float(measure.q.sum() + measure.only_q), 1.0, 1e-6)
    value = float(np.maximum(measure.p - 2.0 * measure.q, 0).sum() + measure.only_p)
    yield upper_bound("profile of the measures at ratio 2", value, profiles.gaussian_delta(mu, log(2.0)), 2e-3)
    one = random_batches.sampled_step(0.3, 1.0, "add_remove")
    removed, added = (profiles.losses_of_sampling(0.3, 1.0, side) for side in ("remove", "add"))
    for side, found, losses in (("remove", one, removed), ("add", one.reversed, added)):
        truth = float(losses.profile(np.array(0.2))) * (1 - 2e-7)
        yield upper_bound(f"table of a sampled step, {side}", float(found(np.array(exp(0.2)))), truth, 5e-3)
    two = random_batches.compose_prices((SampledSteps(0.3, 1.0, "add_remove", 2),))
    if two is not None:
        truth = profiles.two_steps(removed, removed, 1e-3) * (1 - 1e-6)
        yield upper_bound("table of two sampled steps", two.epsilon(1e-3), truth, 0.02)
    # One block, against a direct search over thresholds on the atoms of the Gaussian table.
    near, far = table.gaussian_table(0.4), table.gaussian_table(2.0)
    after = block.Block(nodes, near, far).after(before)
    clean = block.Block(nodes, None, far).after(before)
    for place in (5, 20):
        g, known = float(nodes[place]), float(before.ahead[place])
        least = _block(measure, near, far, g)
        yield Number(f"a block at ratio {g:.3g}", float(after.ahead[place]), 0.98 * least, 1.01 * least)
        truth = known * profiles.gaussian_delta(2.0, log(1 + (g - 1) / known))
        yield upper_bound(f"a clean block at ratio {g:.3g}", float(clean.ahead[place]), min(truth, known), 2e-3)
    # If the laws are unknown, only the far cost of a block remains.
    goal = chain.Goal(None, 1e-3, 8.0, lambda order: 2 * order)
    left = chain.chain_blocks([(near, far)], goal, from_equal=False).epsilon(1e-3)
    yield upper_bound("a block from anything", left, profiles.gaussian_epsilon(2.0, 1e-3), 0.02)
    yield equals("end of a spread", float(table.spread_nodes(0.05, 30.0, 60)[-1]), 30.0, 1e-6)


def _block(measure: block.DiscretePair, near: table.Table, far: table.Table, g: float) -> float:
    """Least int u N(g dv/du) + A F(g B / A) over g0 <= g1; u = min(p, g1 q), v = min(q, p / g0)."""
    p, q, ratio, best = measure.p, measure.q, measure.ratio, 1.0
    for low in (0.0, *ratio[::3]):
        for high in (*ratio[ratio >= low][::3], np.inf):
            u, v = np.minimum(p, high * q), np.minimum(q, p / low) if low else q
            only_p, only_q = measure.only_p, measure.only_q
            A = max(float((p - u).sum()) + only_p * (high < np.inf), 0.0)
            B = max(float((q - v).sum()) + only_q * (low > 0), 0.0)
            inside = float(u @ near(g * v / np.maximum(u, 1e-300))) + only_p * (high == np.inf)
            best = min(best, inside + (A * float(far(np.array(g * B / A))) if A > 0 else 0.0))
    return best
