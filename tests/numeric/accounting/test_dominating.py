"""The Renyi divergence of a composition."""

import pytest

from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps, step_rdp
from lastiterate.numeric.divergences import replacement_step, s_down, s_up
from lastiterate.numeric.errors import InputError


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
def test_prices_add_and_serve_both_directions(order: float) -> None:
    steps = (SampledSteps(0.1, 1.0, "add_remove", 3), SampledSteps(0.2, 2.0, "replace", 1))
    expected = (
        order * 0.5 / 2 + 3 * s_up(0.1, 1.0, alpha=order).upper + replacement_step(0.2, 2.0, alpha=order).upper
    )
    assert DominatingPair(0.5, steps).rdp(order) == pytest.approx(expected, rel=1e-12)
    assert DominatingPair(0.0, steps[:1]).rdp(order) >= 3 * s_down(0.1, 1.0, alpha=order).upper


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_step_costs_more_than_the_whole_batch(adjacency: str) -> None:
    for rate, multiplier, order in ((0.5, 1e-3, 2.0), (0.5, 1.0, 1e6), (1.0, 3.0, 4.0), (0.999, 0.2, 30.0)):
        whole = order / (2 * multiplier**2)
        assert 0.9 * whole <= step_rdp(rate, multiplier, adjacency, order) <= whole * (1 + 1e-12)


def test_a_composition_that_may_fail_has_no_renyi_divergence() -> None:
    with pytest.raises(InputError, match=r"failure=1e-06"):
        DominatingPair(1.0, failure=1e-6).rdp(2.0)


def test_few_kinds_of_steps_cost_no_less_than_all() -> None:
    """Thirty kinds, of which the rarer ones need not have more noise: each step has a kind that dominates it."""
    steps = tuple(
        SampledSteps(0.05 + 0.01 * (7 * k % 30), 1.0 + 0.1 * k, "add_remove", k % 3 + 1) for k in range(30)
    )
    few = DominatingPair(0.0, steps).few_steps()
    assert len(few) <= 12
    each, every = ([one for one in kinds for _ in range(one.count)] for kinds in (few, steps))
    assert len(each) == len(every)
    for merged, one in zip(sorted(each, key=lambda kind: kind.multiplier), every, strict=True):
        assert merged.rate >= one.rate
        assert merged.multiplier <= one.multiplier
