"""Laws of linear losses under random batches."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy.stats import norm

from lastiterate.numeric.divergences import Mixture, renyi_mixtures
from lastiterate.numeric.lower import line
from lastiterate.numeric.lower.line import GaussianMixture, binomial_mixture, component_below, mixture_masses
from lastiterate.numeric.lower.masses import Target, renyi_below
from lastiterate.numeric.rounding import exact, precision


def law_of(steps: int, rate: Fraction, move: float, noise: float) -> GaussianMixture:
    return binomial_mixture([(steps, rate, move)], noise * np.sqrt(steps))


@pytest.mark.parametrize(("steps", "rate"), [(1, Fraction(1, 3)), (7, Fraction(1, 10)), (40, Fraction(9, 10))])
def test_masses_enclose_those_of_scipy(steps: int, rate: Fraction) -> None:
    law = law_of(steps, rate, -0.7, 1.3)
    edges = np.linspace(-30, 5, 40)
    masses = law.masses(edges)
    low, high = np.exp(masses.low), np.exp(masses.high)
    q = float(rate)
    cdf = sum(
        comb(steps, k) * q**k * (1 - q) ** (steps - k) * norm.cdf(edges, -0.7 * k, law.std)
        for k in range(steps + 1)
    )
    exact = np.diff(np.concatenate([[0.0], cdf, [1.0]]))
    assert np.all(low <= exact + 1e-14)
    assert np.all(high >= exact - 1e-14)
    assert high.sum() - low.sum() < 1e-9
    assert low.sum() <= 1 <= high.sum()


@pytest.mark.parametrize("order", [1.2, 2.0, 20.0])
@pytest.mark.parametrize("other", [0.0, -1.0])
def test_one_step_is_just_below_the_enclosure(order: float, other: float) -> None:
    laws = [law_of(1, Fraction(1, 4), move, 1.0) for move in (1.0, other)]
    mixtures = [Mixture(0.25, 0.0, move) for move in (1.0, other)]
    for i, j in ((0, 1), (1, 0)):
        exact = renyi_mixtures(mixtures[i], mixtures[j], alpha=order)
        assert 0.99 * exact.lower <= renyi_below(order, *mixture_masses(order, laws[i], laws[j])) <= exact.upper


def test_certain_batches_are_gaussian() -> None:
    first, second = (law_of(5, Fraction(1), move, 2.0) for move in (1.0, -1.0))
    exact = 3.0 * 10.0**2 / (2 * 5 * 4)
    assert 0.99 * exact <= renyi_below(3.0, *mixture_masses(3.0, first, second)) <= exact


def test_many_steps_keep_few_components() -> None:
    law, still = (law_of(10**6, Fraction(1, 100), move, 1.0) for move in (1e-3, 0.0))
    assert len(law.places) < 5000
    assert law.low.sum() <= 1 <= law.high.sum() + law.missing
    assert law.missing < 1e-12
    assert 0 < renyi_below(2.0, *mixture_masses(2.0, law, still)) < 2.0 * 1e-2**2 * 1e6 * 1e-6


def test_a_component_whose_terms_nearly_cancel_is_rounded_down() -> None:
    """All three steps meet the sample with probability 1/8: at order 2 the loss is 3 (move / noise)^2 - 2 log 8."""
    noise, target = 1.3, Target(2.0, None)
    move = noise * float(np.sqrt(2 * np.log(8) / 3)) * (1 + 1e-10)
    with mpmath.workdps(50):
        truth = 3 * (mpmath.mpf(move) / mpmath.mpf(noise)) ** 2 - 2 * mpmath.log(8)
    rounded = noise * 3**0.5 / 3**0.5
    with precision():
        found = component_below(target, 3, Fraction(1, 2), move, arb(0), 3 * exact(noise) ** 2)
        mutant = component_below(target, 3, Fraction(1, 2), move, arb(0), 3 * exact(rounded) ** 2)
    assert truth * (1 - mpmath.mpf(10) ** -12) <= found <= truth
    assert rounded < noise
    assert mutant * (1 - 1e-13) > truth


def test_components_left_out_are_added_to_the_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "MOST", 8)
    monkeypatch.setattr(line, "_NEGLIGIBLE", 0.1)
    law = binomial_mixture([(40, Fraction(1, 3), 1.0), (40, Fraction(1, 3), 2.0)], 1.0)
    assert law.high.sum() < 0.9 < 1 <= law.high.sum() + law.missing
    masses = law.masses(np.linspace(-5, 150, 60))
    assert np.all(np.exp(masses.high) >= law.missing)
    assert np.exp(masses.low).sum() < 0.9
