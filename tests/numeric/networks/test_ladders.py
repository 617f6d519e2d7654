"""Bounds on graphs that are attained: ladders of balls, several linear maps, Hessians near the one of the centre."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from lastiterate.numeric.losses.activations import FUNCTIONS
from lastiterate.numeric.networks import jets
from lastiterate.numeric.networks.centres import Graph, Linear
from lastiterate.numeric.networks.jets import Jets, bounds

_ROUNDING = 1 + 1e-7


@pytest.mark.parametrize("radius", [0.0, 0.1, 1.0])
def test_the_hessian_of_an_exponential_is_that_at_the_end_of_the_ball(radius: float) -> None:
    graph = Graph([1])
    graph.pull_back(graph.entrywise(graph.variable(0, np.zeros(1)), FUNCTIONS["exp"]))
    assert math.exp(radius) <= bounds(graph, {}, radius).smoothness <= math.exp(radius) * _ROUNDING
    for rungs, slack in (
        (1, 0.8),
        (64, 0.02),
    ):  # changes are sums of the largest third derivatives on each ball
        change = Jets(graph, {}, radius, rungs=rungs).changes[0, 0]
        assert math.expm1(radius) <= change * _ROUNDING <= math.expm1(radius) * (1 + slack) + 1e-9


@pytest.mark.parametrize("rungs", [1, 5])
def test_values_move_as_far_as_the_largest_slopes_on_the_way_allow(rungs: int) -> None:
    graph, radius = Graph([1]), 0.5
    node = graph.entrywise(graph.variable(0, np.zeros(1)), FUNCTIONS["exp"])
    graph.pull_back(node)
    jet = Jets(graph, {}, radius, rungs=rungs).of[node]
    assert math.expm1(radius) <= jet.moved[0][0] <= math.expm1(radius) * (1 + 0.2 / rungs)


@pytest.mark.parametrize("rungs", [1, 3])
def test_second_derivatives_after_several_linear_maps_are_those_of_their_product(rungs: int) -> None:
    rng, radius = np.random.default_rng(0), 0.01
    A, B, C, v = (rng.normal(size=shape) for shape in ((3, 4), (8, 2), (5, 6), (2, 1)))
    graph = Graph([1, 12])
    one, matrix = graph.variable(0, np.array([0.3])), graph.variable(1, A.reshape(1, 3, 4))
    two = graph.linear(graph.multiply(one, one), Linear(csr_array(v)), (2,))
    product = graph.matmul(matrix, graph.linear(two, Linear(csr_array(B)), (1, 4, 2)))
    last = graph.linear(product, Linear(csr_array(C)), (5,))
    graph.pull_back(graph.linear(last, Linear(csr_array(np.ones((1, 5)))), ()))
    jet = Jets(graph, {}, radius, rungs=rungs).of[last]
    inner = (B @ v).reshape(4, 2)
    for moved in (A, A * (1 + radius / np.linalg.norm(A)), A * (1 - radius / np.linalg.norm(A))):
        exact = 2 * np.abs(C @ (moved @ inner).reshape(6))
        assert (exact <= jet.second[0][:, 0, 0]).all()
        assert np.linalg.norm(exact) <= jet.second[3][0, 0, 0]
    still = 2 * np.linalg.norm(C @ (A @ inner).reshape(6))
    assert jet.second[3][0, 0, 0] <= still * (1 + 6 * radius)


@pytest.mark.parametrize("seed", range(12))
def test_no_hessian_near_another_has_a_larger_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.array([0, 3, 4, 9])
    H, changes, least = rng.normal(size=(9, 9)), rng.exponential(size=(3, 3)), 9 * rng.exponential(size=(3, 3))
    H, changes, least = (one + one.T for one in (H, (0.1, 1.0)[seed % 2] * changes, least))
    least = least if seed % 4 >= 2 else np.full((3, 3), np.inf)
    bound, found = jets._near(H, changes, least, [3, 1, 5]), 0.0
    blocks = [slice(a, b) for a, b in pairwise(starts)]
    for sign in (1, -1):
        v = sign * np.linalg.eigh(sign * H)[1][:, -1]
        for _ in range(30):
            A = np.zeros((9, 9))
            for (i, one), (j, other) in itertools.product(enumerate(blocks), repeat=2):
                u, w = v[one] / np.linalg.norm(v[one]), v[other] / np.linalg.norm(v[other])
                A[one, other] = H[one, other] + sign * changes[i, j] * np.outer(u, w)
                A[one, other] *= min(1.0, least[i, j] / np.linalg.norm(A[one, other], 2))
            v = np.linalg.eigh(sign * A)[1][:, -1]
            found = max(found, abs(float(v @ A @ v)))
    assert found <= bound
    assert seed % 4 >= 2 or bound <= 1.1 * found
