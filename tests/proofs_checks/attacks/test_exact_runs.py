"""Witnesses with batches, and the bounds by name that they attack."""

from math import inf, log

import pytest

from lastiterate.numeric.divergences import s_down, s_up
from lastiterate.numeric.published.record import run_of
from lastiterate.proofs_checks.attacks import ATTACKS, Assumed
from lastiterate.proofs_checks.attacks.targets import TARGETS

_ONE = {
    "T": 1.0,
    "n": 7.0,
    "eta": 1.0,
    "sigma": 1.0,
    "K": 1.0,
    "D": inf,
    "L": 1.0,
    "lam": 1.0,
    "m": 0.0,
    "alpha": 4.0,
}


@pytest.mark.parametrize(("n", "batch"), [(1, 1), (2, 1), (7, 1), (10, 5), (12, 6), (35, 7)])
def test_the_batch_is_the_largest_proper_divisor(n: int, batch: int) -> None:
    assert run_of({**_ONE, "n": float(n)}, "poisson").batch == batch


@pytest.mark.parametrize(("sampling", "shift"), [("without_replacement", 2.0), ("poisson", 1.0)])
def test_one_step_is_the_sampled_gaussian_in_both_orders(sampling: str, shift: float) -> None:
    lower = ATTACKS[f"linear_{sampling}"].lower(_ONE, Assumed.CONVEX)
    assert lower is not None
    up, down = (which(1 / 7, 1.0, alpha=4.0, shift=shift).lower for which in (s_up, s_down))
    assert 0.97 * up <= lower.forward <= up
    assert 0.97 * down <= lower.backward <= down


def test_the_smaller_direction_is_below_the_witness() -> None:
    lower = ATTACKS["linear_poisson"].lower(_ONE, Assumed.CONVEX)
    assert lower is not None
    assert (
        TARGETS["poisson_s_down"].evaluate(_ONE)
        < lower.forward
        <= TARGETS["shifts_poisson_convex"].evaluate(_ONE)
    )
    assert TARGETS["poisson_s_down"].evaluate({**_ONE, "sigma": 1e-6}) == pytest.approx(log(7 / 6), rel=1e-9)


@pytest.mark.parametrize("sampling", ["without_replacement", "poisson", "cyclic"])
def test_a_wide_interval_is_hardly_a_wall(sampling: str) -> None:
    wide = {**_ONE, "T": 6.0, "D": 40.0}
    clamped = ATTACKS[f"clamped_{sampling}"].lower(wide, Assumed.CONVEX)
    free = ATTACKS[f"linear_{sampling}"].lower({**wide, "D": inf}, Assumed.CONVEX)
    assert clamped is not None
    assert free is not None
    assert 0 < clamped.forward <= 1.05 * free.forward
    if sampling != "without_replacement":  # there the line has a stronger run: all others pull one way
        assert clamped.forward >= 0.95 * free.forward
    assert ATTACKS[f"clamped_{sampling}"].lower({**wide, "D": inf}, Assumed.CONVEX) is None


def test_the_best_position_is_no_bound() -> None:
    """Two epochs but one step of seven batches: the last batch is met at once, the first eight steps before."""
    setting = {**_ONE, "T": 9.0}
    lower = ATTACKS["linear_cyclic"].lower(setting, Assumed.CONVEX)
    assert lower is not None
    assert TARGETS["cyclic_best_position"].evaluate(setting) < TARGETS["shifts_cyclic_convex"].evaluate(setting)
    assert lower.forward <= TARGETS["shifts_cyclic_convex"].evaluate(setting)
