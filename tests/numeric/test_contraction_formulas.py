"""Contraction in floats is what `symbolic.formulas.contraction` says: blocks for every two thresholds, and moments."""

from collections.abc import Callable
from functools import cache
from math import exp, log

import numpy as np
import pytest
from sympy import Expr, Float, Integer, S

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import Block, DiscretePair
from lastiterate.numeric.contraction.table import Table, gaussian_table, table_rdp
from lastiterate.symbolic.formulas import contraction

G = np.array([1.0, 1.25, 1.75, 3.0, 8.0])


def read(mu: float, g: Array = G) -> Table:
    """The profile of mu-GDP at a few nodes."""
    values = gaussian_table(mu)(g)
    return Table(g, values, values)


def price(table: Table) -> Callable[[Expr], Expr]:
    return cache(lambda r: Float(table(np.array(float(r))).item()) if r > 0 else S.One)


def of_thresholds(atoms: DiscretePair, g: float, near: Table, far: Table) -> list[float]:
    """The formula at all thresholds among the ratios, and at those that keep all of p or of q."""
    found = []
    for low in (None, *atoms.ratio):
        for high in (*atoms.ratio, None):
            if low is not None and high is not None and low > high:
                continue
            kept = [contraction.shares(y, low or y, high or y) for y in atoms.ratio]
            parts = [(p * u, q * v) for p, q, (u, v) in zip(atoms.p, atoms.q, kept, strict=True)]
            singular = atoms.only_p if high is None else S.Zero
            found.append(float(contraction.block(g, parts, singular, price(near), price(far))))
    return found


def test_a_block_is_the_formula_at_thresholds_of_its_choice() -> None:
    before, near, far = read(1.0), read(0.25), read(1.5)
    after = Block(G, near, far).after(before).ahead
    for place in (1, 3):
        said = np.array(of_thresholds(DiscretePair.of(before), G[place], near, far))
        assert np.min(np.abs(said / after[place] - 1)) < 1e-6
        assert after[place] >= np.min(said) * (1 - 1e-9)


def test_a_block_of_equal_steps_is_the_formula_at_each_ratio() -> None:
    before, far = read(1.0), read(1.5)
    after = Block(G, None, far).after(before).ahead
    said = [float(contraction.damped(g, a, price(far))) for g, a in zip(G, before.ahead, strict=True)]
    assert after == pytest.approx(np.minimum.accumulate(said), rel=1e-6)
    assert np.all(after >= np.array(said) * (1 - 1e-9))


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_a_moment_is_its_atoms_and_what_is_right_of_the_last_node(order: float) -> None:
    """The numeric part takes the best of several nodes from which on the other bound serves: the last is one."""
    mu = 0.5
    table = read(mu, np.exp(np.linspace(0, 12, 200)))
    atoms, last = DiscretePair.of(table), float(table.g[-1])
    divergences = {
        b: b * mu**2 / 2 for b in (1.25 * order, 1.5 * order, 2 * order, 3 * order, 5 * order, 9 * order)
    }
    tails = [float(contraction.markov_rest(order, b, exp((b - 1) * d), last)) for b, d in divergences.items()]
    whole = float(atoms.q @ atoms.ratio**order) + float(contraction.constant_moment(order, last, atoms.only_p))
    found = table_rdp(table, order, lambda b: b * mu**2 / 2)
    assert order * mu**2 / 2 <= found <= log(whole + min(tails)) / (order - 1) * (1 + 1e-9) + 1e-9
    assert float(contraction.gaussian_rest(Integer(2), Float(last), Float(mu))) >= 0


def test_what_an_atom_gives_up_to_a_node() -> None:
    """By the trapezoidal rule."""
    g = np.linspace(2, 5, 20001)
    told = np.trapezoid(3 * 2 * g * (5 - g), g)
    assert float(contraction.moment_up_to(Integer(3), Integer(5), Integer(2))) == pytest.approx(told, rel=1e-7)
