"""Divergences from below against exact finite laws, and with ends that are only known roughly."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from lastiterate.numeric.lower.masses import Masses, epsilon_below, renyi_below


def laws(seed: int, cells: int = 12) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    p, q = (generator.dirichlet(np.full(cells, 0.6)) + 1e-6 for _ in range(2))
    return p / p.sum(), q / q.sum()


def test_renyi_of_known_masses(subtests: pytest.Subtests) -> None:
    for order in [1.5, 2.0, 20.0, 500.0]:
        for seed in range(8):
            with subtests.test(seed=seed, order=order):
                p, q = laws(seed)
                true = float(logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1))
                found = renyi_below(order, Masses.between(p, p), Masses.between(q, q))
                assert true * (1 - 1e-10) - 1e-10 <= found <= true


def test_orders_next_to_one_fall_back_on_kullback_leibler() -> None:
    p, q = laws(3)
    exact = float(np.sum(p * np.log(p / q)))
    wide = [Masses.between(law * (1 - 1e-9), law * (1 + 1e-9)) for law in (p, q)]
    assert exact * (1 - 1e-6) <= renyi_below(1 + 1e-9, *wide) <= exact


@pytest.mark.parametrize("seed", range(5))
def test_wider_ends_never_give_more(seed: int) -> None:
    p, q = laws(seed)
    for order in (1.01, 2.0, 50.0):
        before = np.inf
        for width in (0.0, 1e-6, 1e-3, 0.1):
            ends = [
                Masses.between(law * (1 - width) - width / 50, law * (1 + width) + width / 50) for law in (p, q)
            ]
            found = renyi_below(order, *ends)
            assert found <= before
            before = found


@pytest.mark.parametrize("seed", range(5))
def test_epsilon_is_where_the_hockey_stick_is_delta(seed: int) -> None:
    p, q = laws(seed)

    def stick(epsilon: float) -> float:
        return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())

    delta = 0.3 * stick(0.0)
    true = brentq(lambda epsilon: stick(epsilon) - delta, 0, 30, xtol=1e-14)
    found = epsilon_below(delta, Masses.between(p, p), Masses.between(q, q))
    assert true - 1e-9 <= found <= true
    assert epsilon_below(1.1 * stick(0.0), Masses.between(p, p), Masses.between(q, q)) == 0


def test_nothing_known_is_nothing_lost() -> None:
    nothing = Masses.between(np.zeros(3), np.ones(3))
    assert renyi_below(2.0, nothing, nothing) == 0
    assert epsilon_below(0.1, nothing, nothing) == 0


def test_same_laws() -> None:
    p, _ = laws(0)
    same = Masses.between(p, p)
    assert renyi_below(2.0, same, same) == 0 == epsilon_below(1e-9, same, same)
