"""Events and privacy-loss distributions exchanged with dp_accounting."""

import sys
from dataclasses import replace
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from dp_events import _of_pair, _of_table, to_dp_event, to_pld

from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair, SampledSteps
from lastiterate.numeric.accounting.pld import Composition
from lastiterate.numeric.bound import Bound, bound, estimate
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex, Measured, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD

dp = pytest.importorskip("dp_accounting")
pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

_RUN = NoisySGD(
    steps=120, step_size=0.5, noise_std=0.2, clip_norm=1.0, dataset_size=60, batch_size=6,
    sampling="without_replacement", diameter=2.0,
)  # fmt: skip
_GAUSSIAN = dp.GaussianDpEvent(1.0)


def test_the_rate_of_an_event_is_rounded_up() -> None:
    run = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=49, batch_size=3, sampling="poisson")
    event = to_dp_event(run)
    assert Fraction(event.event.sampling_probability) >= Fraction(3, 49) > Fraction(3 / 49)


def test_the_events_say_what_is_released() -> None:
    sampled = dp.SampledWithoutReplacementDpEvent(60, 6, dp.GaussianDpEvent(pytest.approx(0.2 / (2 * 0.5 / 6))))
    assert to_dp_event(_RUN) == dp.SelfComposedDpEvent(sampled, 120)
    poisson = to_dp_event(replace(_RUN, sampling="poisson", adjacency=""))
    assert poisson.event == dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(pytest.approx(0.2 / (0.5 / 6))))
    cyclic = to_dp_event(replace(_RUN, sampling="cyclic", steps=23))
    assert (cyclic.count, cyclic.event.noise_multiplier) == (3, pytest.approx(1.2))
    schedule = replace(_RUN, sampling="shuffled", steps=20, noise_std=(0.2,) * 15 + (0.1,) + (0.3,) * 4)
    parts = to_dp_event(schedule).events
    assert [(part.count, part.event.noise_multiplier) for part in parts] == [
        (1, pytest.approx(0.6)),
        (1, pytest.approx(1.2)),
    ]


def test_the_poisson_event_is_the_composition() -> None:
    run = replace(_RUN, sampling="poisson", adjacency="")
    accountant = dp.pld.PLDAccountant()
    accountant.compose(to_dp_event(run))
    ours = DominatingPair(0.0, (SampledSteps(0.1, 2.4, "add_remove", 120),)).dp(1e-5)
    assert ours == pytest.approx(accountant.get_epsilon(1e-5), rel=3e-3)


@pytest.mark.parametrize("cost", [0.01, 4.0])
def test_a_gaussian_bound_as_a_pld(cost: float) -> None:
    full = replace(_RUN, sampling="full", batch_size=None, diameter=inf, steps=1, noise_std=1 / 60 / sqrt(cost))
    found = bound(full, Smooth(1.0))
    assert found.cost == pytest.approx(cost)
    law = to_pld(found, discretization=1e-3)
    for epsilon in (0.0, 0.3, 2.0):
        exact = gdp_delta(found.mu, epsilon)
        assert exact <= law.get_delta_for_epsilon(epsilon) <= exact * 1.03 + 1e-11
    other = pld.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3)
    together = law.compose(other).get_epsilon_for_delta(1e-6)
    assert together == pytest.approx(gdp_epsilon(sqrt(found.cost + 1), 1e-6), rel=2e-3)


def _other(found: Bound) -> Candidate:
    """The bound without contraction."""
    return found.candidate.other if isinstance(found.candidate, TableCandidate) else found.candidate


def test_random_batches_as_a_pld() -> None:
    found = bound(replace(_RUN, steps=400), StronglyConvex(1.0, 0.5), delta=1e-5)
    law = to_pld(found)
    assert found.epsilon * (1 - 1e-3) <= law.get_epsilon_for_delta(1e-5) <= found.epsilon * (1 + 3e-3)
    adding = DominatingPair(0.3, (SampledSteps(0.1, 2.0, "add_remove", 30),), failure=1e-6)
    law = to_pld(replace(found, candidate=replace(_other(found), pair=adding)))
    expected = adding.dp(1e-5)
    assert expected * (1 - 1e-3) <= law.get_epsilon_for_delta(1e-5) <= expected * (1 + 3e-3)
    nothing = to_pld(replace(found, candidate=replace(_other(found), pair=DominatingPair(0.0))))
    assert nothing.get_epsilon_for_delta(1e-5) == 0.0


def test_what_is_lost_has_an_infinite_loss() -> None:
    """The event, the mass beyond the lattice and the errors of a transform; and what a table says of its far end."""
    pair = DominatingPair(0.3, (SampledSteps(0.1, 2.0, "add_remove", 30),), failure=1e-6)
    law = Composition.of(pair.releases("remove"), 1e-3, tilt=0.0)
    assert law is not None
    assert min(law.error, law.lost) > 0
    assert _of_pair(pair, "remove", 1e-3)[2] >= (1e-6 + law.lost + law.error) * (1 - 1e-15)
    g, values = np.array([1.0, 2.0, 4.0]), np.array([0.4, 0.2, 0.1])
    losses, masses, infinite = _of_table(Table(g, values, values), 1e-12)
    assert infinite >= 0.1
    for ratio, value in zip(g, values, strict=True):
        found = infinite + float(np.sum(masses * np.maximum(1 - ratio * np.exp(-losses), 0.0)))
        assert value <= found <= value * (1 + 1e-9)


def test_no_pld_of_an_estimate_nor_on_too_fine_a_grid() -> None:
    guess = estimate(replace(_RUN, sampling="cyclic"), Measured(Smooth(1.0), "a measurement"), order=2.0)
    with pytest.raises(InputError, match="bound=Estimate"):
        to_pld(guess)
    with pytest.raises(InputError, match="discretization=1e-09"):
        to_pld(bound(_RUN, Convex(1.0), order=2.0), discretization=1e-9)


def test_without_dp_accounting_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(InputError, match=r"lastiterate\[dp-accounting\]"):
        to_dp_event(_RUN)


def test_what_no_grid_of_losses_can_hold() -> None:
    found = bound(replace(_RUN, sampling="full", batch_size=None, diameter=inf, steps=1), Smooth(1.0))
    for tail in (1.0, 1.5):
        with pytest.raises(
            InputError, match=rf"^tail_mass needs a number in \(0, 1\), got tail_mass={tail:g}; 1e-12 is"
        ):
            to_pld(found, tail_mass=tail)
    with pytest.raises(InputError, match=r"^to_pld needs a finite bound, got cost=1e\+40; add noise\.$"):
        to_pld(replace(found, candidate=replace(found.candidate, pair=DominatingPair(1e40))))
