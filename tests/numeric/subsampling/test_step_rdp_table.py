"""Costs in floats, for a search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.accounting.dominating import step_rdp
from lastiterate.numeric.subsampling.noise_split import PriceTable, approximate_prices


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@given(st.floats(1e-5, 1.0), st.floats(0.05, 40.0), st.floats(1.02, 1500.0))
@settings(max_examples=25)
def test_near_the_certified_price(adjacency: str, rate: float, multiplier: float, order: float) -> None:
    certified = step_rdp(rate, multiplier, adjacency, order)
    assert approximate_prices(rate, np.array([multiplier]), adjacency, order)[0] == pytest.approx(
        certified, rel=1e-4
    )


@given(st.floats(-9, 3), st.floats(0.3, 20.0))
@settings(max_examples=50)
def test_the_vertex_is_the_least_of_all_nodes(log_pull: float, most: float) -> None:
    nodes = np.geomspace(0.2, 20.0, 40)
    prices = approximate_prices(0.05, nodes, "replace", 3.0)
    table, pull = PriceTable.over(nodes, prices), 10.0**log_pull
    chosen = int(table.best(np.array([pull]), np.array([most]))[0])
    below = nodes < most
    least = float((prices[below] + pull * nodes[below] ** 2).min())
    assert table.multiplier[chosen] < most
    assert table.price[chosen] + pull * table.multiplier[chosen] ** 2 <= least * (1 + 1e-2)


@given(
    st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.0, 1.0)), min_size=1, max_size=12), st.floats(-3, 3)
)
@settings(max_examples=200)
def test_the_vertices_are_the_lower_hull(steps: list[tuple[float, float]], log_pull: float) -> None:
    """Costs fall in no particular way: below every chord, and each pull finds the least of all nodes."""
    nodes = np.cumsum([step for step, _ in steps])
    prices = np.cumsum([fall for _, fall in steps][::-1])[::-1] + 0.1
    table = PriceTable.over(nodes, prices)
    x, y = table.multiplier**2, table.price
    assert (table.multiplier[0], table.multiplier[-1]) == (nodes[0], nodes[-1])
    assert (np.interp(nodes**2, x, y) <= prices * (1 + 1e-12)).all()
    assert (np.diff(table.slope) > 0).all()
    assert table.slope == pytest.approx(np.diff(y) / np.diff(x))
    pull = 10.0**log_pull
    chosen = int(table.best(np.array([pull]), np.array([np.inf]))[0])
    least = float((prices + pull * nodes**2).min())
    assert table.price[chosen] + pull * table.multiplier[chosen] ** 2 == pytest.approx(least, rel=1e-9)
