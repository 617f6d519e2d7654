"""Every theorem beside ours: below first, ours next, and never the largest of those that hold."""

from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest

from lastiterate.numeric.bound import bound
from lastiterate.numeric.compare import _ratio, compare
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Tabulated,
)
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.run import NoisySGD

_RUN = NoisySGD(steps=2000, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
_SAMPLED = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
_ASSUMPTIONS = (
    *(Smooth(1), Holder(1, 0.5), Clipped(), Convex(1), StronglyConvex(1, 0.5)),
    *(Tabulated((0.5, 1.0), (1.0, 2.0)), Minimum(Smooth(1), Clipped())),
)


@pytest.mark.parametrize("assumption", _ASSUMPTIONS, ids=lambda assumption: type(assumption).__name__)
def test_below_then_ours_then_the_papers_then_composition(assumption: Smooth) -> None:
    rows = compare(_RUN, assumption, order=2)
    assert [rows[0].name, rows[1].name, rows[-2].name, rows[-1].name] == [
        "lower",
        "bound",
        "last_step",
        "composition",
    ]
    assert rows[0].epsilon == lower_bound(_RUN, assumption, order=2).value > 0
    assert rows[1].epsilon == bound(_RUN, assumption, order=2).epsilon
    assert rows[1].epsilon <= min(row.epsilon for row in rows if row.usable) * (1 + 1e-12)
    assert all(row.ratio >= 1 for row in rows if row.usable)
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    for row in rows:
        assert row.ratio == pytest.approx(row.epsilon / rows[0].epsilon)


def test_the_setting_that_refutes_theorem_3_12() -> None:
    rows = {row.name: row for row in compare(_SAMPLED, Smooth(1.0), order=20)}
    claimed = rows["chien_li_3_12"]
    assert round(claimed.epsilon, 4) == 0.0807
    assert claimed.kind == "refuted"
    assert not claimed.usable
    assert claimed.ratio < 1
    assert 7.6815867 < rows["lower"].epsilon <= rows["bound"].epsilon <= 37.5763
    assert rows["liang_3_3"].epsilon == rows["liang_3_3_earlier"].epsilon == pytest.approx(4)


def test_what_applies() -> None:
    strong = replace(_RUN, dataset_size=20, batch_size=5, sampling="cyclic", diameter=inf)
    assert "bok_su_altschuler_cyclic" in {row.name for row in compare(strong, StronglyConvex(1, 0.5), order=2)}
    part = replace(strong, steps=1999)
    assert "bok_su_altschuler_cyclic" not in {
        row.name for row in compare(part, StronglyConvex(1, 0.5), order=2)
    }
    full = {row.name for row in compare(_RUN, StronglyConvex(1, 0.5), order=2)}
    assert {"bok_su_altschuler", "chien_li_3_1_strongly_convex"} <= full
    assert "chien_li_3_7" not in full
    assert "output_perturbation" not in {
        row.name for row in compare(replace(_RUN, diameter=inf), Smooth(1), order=2)
    }


def test_the_papers_theorems_are_for_constant_runs() -> None:
    schedule = tuple(0.1 / (1 + t) for t in range(20))
    run = NoisySGD(steps=20, step_size=schedule, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
    names = [row.name for row in compare(run, Smooth(1), order=2)]
    assert names == ["lower", "bound", "shifts", "last_step", "composition"]


def test_no_witness_is_no_ratio() -> None:
    schedule = tuple(0.1 / (1 + t) for t in range(20))
    run = NoisySGD(20, schedule, 1.0, 2.0, dataset_size=5, batch_size=1, sampling="without_replacement")
    rows = compare(run, Smooth(1), order=2)
    assert rows[0].epsilon == 0
    assert {row.ratio for row in rows} == {inf}


def test_bad_order() -> None:
    with pytest.raises(InputError, match="order=1"):
        compare(_RUN, Smooth(1), order=1)


def test_a_ratio_is_rounded_up_and_that_of_the_least_is_one() -> None:
    assert (_ratio(0.3, 0.3), _ratio(0.3, 0.0), _ratio(0.0, 0.0)) == (1.0, inf, inf)
    for value, least in ((0.3, 0.1), (1.0, 3.0), (0.7, 0.1), (2.0, 1.0), (0.1, 0.3)):
        ratio = _ratio(value, least)
        assert Fraction(ratio) >= Fraction(value) / Fraction(least)
        assert ratio <= value / least * (1 + 5e-16)
