"""What peers are judged by: the lower end of the bracket, and the judgement itself."""

import sys
from math import exp, inf
from pathlib import Path

import pytest
from hockey_stick import hockey_stick_mixtures

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.divergences import Mixture

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import accounting
from benchmarks.accounting import standings
from benchmarks.optimistic import epsilon_from_below
from benchmarks.peers import Peer


@pytest.mark.parametrize(("noise", "steps"), [(30.0, 1000), (5.0, 1), (2.0, 40)])
@pytest.mark.parametrize("delta", [1e-3, 1e-7])
def test_below_and_close_to_exact_gaussian_compositions(noise: float, steps: int, delta: float) -> None:
    exact = gdp_epsilon(steps**0.5 / noise, delta)
    assert exact * 0.99 <= epsilon_from_below(1.0, noise, steps, delta) <= exact


@pytest.mark.parametrize(("q", "noise"), [(0.01, 1.0), (0.4, 2.0)])
def test_below_and_close_to_exact_single_steps(q: float, noise: float) -> None:
    found = epsilon_from_below(q, noise, 1, 1e-5)
    mixture, alone = Mixture(q, 0.0, 1.0), Mixture(0.0, 0.0, 1.0)
    for factor, above in ((1.0, True), (1.01, False)):
        profile = hockey_stick_mixtures(mixture, alone, noise, t=exp(found * factor))
        assert (profile.upper >= 1e-5) is above


def test_below_and_close_to_the_certified_bound() -> None:
    for q, noise, steps in ((0.01, 1.0, 1000), (0.1, 4.0, 300)):
        above = DominatingPair(0.0, (SampledSteps(q, noise, "add_remove", steps),)).dp(1e-5)
        assert above * 0.998 <= epsilon_from_below(q, noise, steps, 1e-5) <= above


def test_the_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_of_it(q, noise, orders):
        return [0.5 * accounting.s_up(q, noise, alpha=order).lower for order in orders]

    def broken(_q, _noise, _orders):
        raise RuntimeError

    peers = (
        Peer("halved", "numpy", half_of_it),
        Peer("infinite", "numpy", lambda _q, _noise, orders: [inf] * len(orders)),
        Peer("broken", "numpy", broken),
        Peer("absent", "no-such-package-anywhere", half_of_it),
    )
    for name, value in {"RENYI": peers, "_RATES": (0.1,), "_NOISES": (2.0,), "_ORDERS": (2.0, 3.5)}.items():
        monkeypatch.setattr(accounting, name, value)
    ours, halved, infinite, broke, absent = rows = accounting.renyi()
    assert (ours.too_small, ours.lost, ours.count) == (0, 0, 2)
    assert (halved.too_small, halved.below) == (2, pytest.approx(0.5))
    assert "truly at least" in halved.note
    assert infinite.lost == broke.lost == 2
    assert absent.note == "not installed"
    table = standings(rows).splitlines()
    assert len({line.count("|") for line in table}) == 1
