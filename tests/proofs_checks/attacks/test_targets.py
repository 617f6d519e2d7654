"""Runs with an added sample, and what holds in place of refuted bounds."""

from math import inf

import pytest

from lastiterate.numeric.divergences import s_down, s_up
from lastiterate.proofs_checks.attacks import ATTACKS, Assumed
from lastiterate.proofs_checks.attacks.targets import repaired_liang, with_batches

_ADDED = {"T": 1.0, "n": 6.0, "b": 2.0, "eta": 1.0, "sigma": 1.0, "K": 1.0, "D": inf, "L": 1.0, "alpha": 4.0}


@pytest.mark.parametrize(("batches", "rate", "shift"), [("fixed", 2 / 7, 1.0), ("drawn", 1 / 3, 0.5)])
def test_one_step_with_an_added_sample_is_the_sampled_gaussian(batches: str, rate: float, shift: float) -> None:
    lower = ATTACKS[f"added_{batches}"].lower(_ADDED, Assumed.SMOOTH)
    assert lower is not None
    up, down = (which(rate, 1.0, alpha=4.0, shift=shift).upper for which in (s_up, s_down))
    assert 0.97 * up <= lower.forward <= up * (1 + 1e-9)
    assert 0.97 * down <= lower.backward <= down * (1 + 1e-9)
    second = ATTACKS[f"added_{batches}_second"].lower(_ADDED, Assumed.SMOOTH)
    assert second is not None
    assert (second.forward, second.backward) == (0.0, lower.backward)


def test_a_steep_loss_adds_to_what_an_added_sample_does_on_a_small_domain() -> None:
    small = {**_ADDED, "T": 60.0, "n": 20.0, "b": 20.0, "K": 2.5, "D": 0.5}
    flat, steep = (ATTACKS["added_fixed"].lower({**small, "L": L}, Assumed.SMOOTH) for L in (1e-6, 40.0))
    assert flat is not None
    assert steep is not None
    assert steep.backward > 2 * flat.backward > 0


def test_small_orders_are_asked_only_where_their_conditions_hold() -> None:
    wide = {**_ADDED, "n": 10.0, "b": 2.0, "K": 0.2, "alpha": 2.0}
    assert repaired_liang(wide, small=True) == pytest.approx(8 * 2 * 0.04 / 100)
    assert repaired_liang(wide, small=True) < repaired_liang(wide)
    assert repaired_liang({**wide, "K": 0.3}, small=True) == inf  # sigma_DP <= 8 K/b
    assert repaired_liang({**wide, "b": 5.0}, small=True) == inf  # b > n/5
    assert any(repaired_liang(setting, small=True) < inf for setting in with_batches(bounded=True))
