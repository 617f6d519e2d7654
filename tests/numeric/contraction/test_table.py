"""Tables of profiles, the measures behind them, and what is read off: all from above, none by much."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from flint import arb

from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.contraction import block as measures
from lastiterate.numeric.contraction.block import DiscretePair
from lastiterate.numeric.contraction.random_batches import compose_prices, sampled_step
from lastiterate.numeric.contraction.table import (
    Table,
    _one_order,
    gaussian_table,
    spread_nodes,
    table_rdp,
    tabulate,
)
from lastiterate.numeric.rounding import precision

_POISSON = SampledSteps(0.1, 2.0, "add_remove", 1)


@pytest.mark.parametrize("mu", [0.02, 0.7, 3.0])
def test_a_gaussian_is_bounded_closely_at_every_ratio(mu: float) -> None:
    table = gaussian_table(mu)
    for epsilon in mu * np.linspace(0, 6, 13):
        exactly = float(gdp_delta(mu, epsilon))
        assert exactly * (1 - 1e-12) <= table.delta(epsilon) <= exactly * 1.01
        below = exp(-epsilon)  # E_g = 1 - g + g E_(1/g)
        assert 1 - below + below * exactly <= float(table(np.array(below))) * (1 + 1e-12)
        assert float(table(np.array(below))) <= (1 - below + below * exactly) * 1.01 + 1e-15
    for delta in (1e-1, 1e-5, 1e-12):
        assert gdp_epsilon(mu, delta) * (1 - 1e-12) <= table.epsilon(delta) <= gdp_epsilon(mu, delta) * 1.003


@pytest.mark.parametrize("order", [1.3, 2.0, 8.0])
@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_renyi_divergences_come_out_of_a_table(mu: float, order: float) -> None:
    found = table_rdp(gaussian_table(mu), order, lambda a: a * mu**2 / 2 * (1 + 1e-15))
    assert order * mu**2 / 2 <= found <= order * mu**2 / 2 * 1.01


def test_a_sampled_step_has_two_orders() -> None:
    table = sampled_step(_POISSON.rate, _POISSON.multiplier, _POISSON.adjacency)
    pair = DominatingPair(0.0, (_POISSON,))
    for epsilon in (0.0, 0.05, 0.2, 0.6):
        assert table.delta(epsilon) >= pair.delta(epsilon) * (1 - 1e-3)  # the transform is from above, too
        assert table.delta(epsilon) <= pair.delta(epsilon) * 1.01 + 1e-15
    # no event tells against the sample for sure
    assert table.back[-1] < 1e-100 < float(table(np.array(1 / 0.9)))
    assert table_rdp(table, 3.0, pair.rdp) >= pair.rdp(3.0) * (1 - 1e-12)
    assert table_rdp(table, 3.0, pair.rdp) <= pair.rdp(3.0) * 1.01


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_many_steps_are_the_composition_of_one(adjacency: str) -> None:
    steps = (SampledSteps(0.05, 1.5, adjacency, 40),)
    table, pair = compose_prices(steps), DominatingPair(0.0, steps)
    assert table is not None
    for epsilon in (0.1, 0.5, 1.5):
        assert pair.delta(epsilon) * 0.98 <= table.delta(epsilon) <= pair.delta(epsilon) * 1.05


def _table() -> Table:
    g = np.exp(spread_nodes(0.02, 30.0, 60))
    ahead, back = gaussian_table(0.8)(g), gaussian_table(1.1)(g)
    ahead[0] = back[0] = min(ahead[0], back[0])
    return Table(g, ahead, back)


def test_measures_have_at_least_the_profile_of_their_table() -> None:
    """In exact arithmetic, at the nodes, between them and at their inverses."""
    table, found = _table(), DiscretePair.of(_table())
    p, q = [[Fraction(float(x)) for x in part] for part in (found.p, found.q)]
    only_p, only_q = Fraction(found.only_p), Fraction(found.only_q)
    assert sum(p) + only_p >= 1 >= sum(q) + only_q
    hull = table.hull()
    for ratio in [*table.g[:-1:7], *(table.g[3:-1:7] * 1.003), *(1 / table.g[1:40:5])]:
        g = Fraction(float(ratio))
        exactly = sum(max(a - g * b, Fraction(0)) for a, b in zip(p, q, strict=True)) + only_p
        assert exactly >= Fraction(float(hull(np.array(float(ratio))))) * (1 - Fraction(1, 10**10))


def test_measures_that_are_not_lifted_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "LIFTS", (0.0,))
    with pytest.raises(ArithmeticError, match="rounding errors"):
        DiscretePair.of(_table())


def test_the_envelope_cuts_what_is_above_a_chord() -> None:
    table = _table()
    table.ahead[10] *= 1.2
    table.back[15] *= 1.2
    cut = table.hull()
    assert cut.ahead[10] < table.ahead[10] / 1.1
    assert cut.back[15] < table.back[15] / 1.1
    assert np.all(cut.ahead <= table.ahead * (1 + 1e-10))
    slopes = np.diff(cut.ahead) / np.diff(cut.g)
    assert np.all(np.diff(slopes) >= -1e-9 * np.abs(slopes[:-1]))


def test_one_order_is_not_the_other() -> None:
    table = _table()
    assert table.reversed.ahead is table.back
    assert not table.symmetric
    assert tabulate(lambda g: 1 / (1 + g), np.linspace(0, 1, 5)).symmetric


@pytest.mark.parametrize("swapped", [False, True])
def test_the_larger_of_both_orders_is_read(swapped: bool) -> None:
    table = Table(np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.1, 0.05]), np.array([0.3, 0.2, 0.15]))
    table = table.reversed if swapped else table
    assert table.epsilon(0.2) >= log(2)
    assert table.epsilon(0.25) >= log(1.5)
    for ratio, delta in ((1.5, 0.25), (2.0, 0.2), (3.0, 0.175), (9.0, 0.15)):
        assert delta * (1 - 1e-12) <= table.delta(log(ratio)) <= delta * (1 + 1e-12)


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_a_mass_that_only_the_other_law_has_counts_at_all_ratios(order: float) -> None:
    """D(P || Q) = -log(1 - w) at every order if Q is P but for a mass w, which P lacks."""
    w = 0.3
    g = np.append(np.linspace(1.0, 1 / (1 - w), 50), 2.0)
    table = Table(g, np.maximum(1 - g * (1 - w), 0.0), np.full(len(g), w))
    with precision():
        found = _one_order(table, order, lambda cut, _: arb(0 if cut == len(g) - 1 else "inf"))
    assert -log(1 - w) * (1 - 1e-12) <= found <= -log(1 - w) * 1.001


@pytest.mark.parametrize(
    ("values", "admitted"), [((0.25, 0.1), True), ((0.25, 0.101), False), ((0.26, 0.1), False)]
)
def test_atoms_below_their_table_are_refused(values: tuple[float, float], admitted: bool) -> None:
    """Masses 0.1 and 0.05 of Q at the ratios 2 and 4: E_1 = 0.25, E_2 = 0.1 and E_4 = 0, all lifted."""
    g, kept = np.array([1.0, 2.0, 4.0]), np.arange(3)
    atoms = np.array([0, 0, 0.6, 0.2, 0.2]), np.array([0, 0, 0.85, 0.1, 0.05]), 0.0, 0.0
    tables = np.array([*values, 0.0]), np.full(3, -1.0)  # nothing is asked of the other order
    assert measures._admitted(g, tables, (kept, kept), atoms, measures.LIFTS[-1]) is admitted
