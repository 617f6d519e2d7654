"""Lemma 3.2 of Liang et al. where it holds: steps from two points on a line, told apart by a half-line.

A law within W_infinity w of P gives the half-line from s - w on at least what P gives the one from s on. So for two
coins D(coin, coin') is a lower bound of the shifted divergence of the steps, while that of the points is 0.
"""

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr
from sympy import lambdify

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import Deduced
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.notation import L, eta, z
from lastiterate.symbolic.statement import Lipschitz, ShiftedDivergence, closed

Law = list[tuple[float, float]]
"""Weights and means of Gaussians with one variance."""


def drawn(seed: int) -> Iterator[tuple[dict[str, float], Law, Law]]:
    """Letters, and the laws after a step without and with the added sample, from points z apart."""
    some = random.Random(seed)  # noqa: S311
    while True:
        n = some.randint(1, 8)
        b, step, curve = some.randint(1, n), some.choice((0.1, 1.0)), some.choice((0.0, 0.3, 1.0))
        share = some.choice((1.0, some.uniform(0.05, 1)))
        letters = {
            "n": n,
            "b": b,
            "eta": step,
            "K": 1.0,
            "L": curve / step,
            "beta": share,
            "z": some.choice((0.0, 1.0)),
        }
        letters["sigma_DP"] = some.choice((0.5, 1.0, 4.0)) / b
        letters["alpha"] = some.choice((1.1, 2.0, 8.0, 20.0))
        level, own = some.choice(((1.0, -1.0), (0.0, 1.0), (some.uniform(-1, 1), some.uniform(-1, 1))))

        def moved(x: float, added: float | None, step: float = step, b: int = b) -> float:
            rest = max(-1.0, min(1.0, level - letters["L"] * x))  # noqa: B023
            return x - step * (rest if added is None else ((b - 1) * rest + added) / b)

        first, second = some.choice(((0.0, letters["z"]), (letters["z"], 0.0), (0.0, 0.0)))
        rate = b / (n + 1)
        without = [(1.0, moved(first, None))]
        yield letters, without, [(1 - rate, moved(second, None)), (rate, moved(second, own))]


def coins(order: float, p: float, q: float) -> float:
    """D_order of two coins, without a side that has almost no probability, which lowers it."""
    pairs = [(x, y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 1e-9 and y > 1e-9]
    terms = [order * math.log(x) + (1 - order) * math.log(y) for x, y in pairs]
    return float(logsumexp(terms)) / (order - 1) if terms else 0.0


def seen(letters: dict[str, float], first: Law, second: Law) -> float:
    """The largest lower bound, over half-lines to either side."""
    spread = letters["eta"] * letters["sigma_DP"] * letters["beta"] ** 0.5
    away = (1 + letters["eta"] * letters["L"]) * letters["z"]
    means = [mean for _, mean in first + second]
    found = 0.0
    for place in np.linspace(min(means) - away - 6 * spread, max(means) + away + 6 * spread, 25):
        for side in (1, -1):
            p = sum(w * ndtr(side * (m - place) / spread) for w, m in first)
            q = sum(w * ndtr(side * (m - place) / spread + away / spread) for w, m in second)
            if p > q:
                found = max(found, coins(letters["alpha"], float(p), float(q)))
    return found


@pytest.mark.parametrize(("key", "both"), [("forward", False), ("both_orders", True)])
def test_a_step_costs_no_more_in_the_orders_that_are_claimed(key: str, *, both: bool) -> None:
    claim: Any = known(f"liang/lemma_3_2/{key}")
    cost = next(one for one in claim.statement.body.rhs.args if not one.has(ShiftedDivergence))
    letters = sorted(cost.free_symbols, key=str)
    bound, strongest = lambdify(letters, cost, "mpmath"), 0.0
    for (run, without, with_one), _ in zip(drawn(3), range(1000), strict=False):
        most = float(bound(*(run[str(one)] for one in letters)))
        true = seen(run, without, with_one)
        true = max(true, seen(run, with_one, without)) if both else true
        assert true <= most * (1 + 1e-9) + 1e-12, run
        strongest = max(strongest, true / most)
    assert strongest > 0.25


def test_the_other_order_costs_more_than_the_printed_bound() -> None:
    claim: Any = known("liang/lemma_3_2/forward")
    cost = next(one for one in claim.statement.body.rhs.args if not one.has(ShiftedDivergence))
    letters = sorted(cost.free_symbols, key=str)
    bound = lambdify(letters, cost, "mpmath")
    assert any(
        seen(run, with_one, without) > 2 * bound(*(run[str(one)] for one in letters))
        for (run, without, with_one), _ in zip(drawn(3), range(300), strict=False)
    )


def test_a_smaller_shift_or_another_map_is_refused() -> None:
    claim: Any = known("liang/lemma_3_2/forward")
    (check,) = claim.checks
    said = check.statement
    shifted, before = said.body.lhs, said.body.rhs
    closer = closed(shifted.func(shifted.args[0], z, *shifted.args[2:]) <= before, *said.conditions)
    turned = closed(shifted.func(*shifted.args[:2], *shifted.args[:1:-1]) <= before, *said.conditions)
    loose = [one for one in said.conditions if not isinstance(one, Lipschitz)]
    other = [one.func(one.args[0], 2 + eta * L) for one in said.conditions if isinstance(one, Lipschitz)]
    for wrong in (closer, turned, closed(said.body, *loose, *other)):
        assert decide_check(Deduced(wrong, check.derivation), ()).status is not Status.HELD
