"""Prices in floats, for a search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.accounting.composed_rdp import step_price
from lastiterate.numeric.batches.price_table import PriceTable, approximate_prices


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@given(st.floats(1e-5, 1.0), st.floats(0.05, 40.0), st.floats(1.02, 1500.0))
@settings(max_examples=25)
def test_near_the_certified_price(adjacency: str, rate: float, multiplier: float, order: float) -> None:
    certified = step_price(rate, multiplier, adjacency, order)
    assert approximate_prices(rate, np.array([multiplier]), adjacency, order)[0] == pytest.approx(certified, rel=1e-4)


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
