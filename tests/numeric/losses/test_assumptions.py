"""Assumptions: bad constants, step sizes outside their range, and what a table means."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from flint import arb

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Modulus,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_RUN = NoisySGD(steps=30, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)


def test_bad_constants_are_one_sentence(subtests: pytest.Subtests) -> None:
    for make, said in [
        (lambda: Smooth(-1), "L=-1"),
        (lambda: Smooth(nan), "L=nan"),
        (lambda: Smooth(inf), "L=inf"),
        (lambda: Smooth("1"), "L='1'"),
        (lambda: Holder(1, 0), "lam=0"),
        (lambda: Holder(1, -0.5), "lam=-0.5"),
        (lambda: Holder(1, 1.1), "lam=1.1"),
        (lambda: Holder(1, nan), "lam=nan"),
        (lambda: Holder(1, "half"), "lam='half'"),
        (lambda: Holder(-1, 0.5), "L=-1"),
        (lambda: Convex(-1), "L=-1"),
        (lambda: Convex(None), "L=None"),
        (lambda: StronglyConvex(1, 0), "m=0"),
        (lambda: StronglyConvex(1, -1), "m=-1"),
        (lambda: StronglyConvex(1, 2), "m=2"),
        (lambda: StronglyConvex(nan, 1), "L=nan"),
        (lambda: Tabulated((), ()), "len(distances)=0"),
        (lambda: Tabulated((1.0,), (1.0, 2.0)), "len(values)=2"),
        (lambda: Tabulated((1.0, 1.0), (1.0, 2.0)), "distances[1]=1"),
        (lambda: Tabulated((1.0, 2.0), (2.0, 1.0)), "values[1]=1"),
        (lambda: Tabulated("1", (1.0,)), "distances needs a list of numbers, got distances='1'"),
        (lambda: Tabulated((1.0,), 1.0), "values needs a list of numbers, got values=1.0"),
        (lambda: Tabulated((0.0,), (1.0,)), "distances[0]=0"),
        (lambda: Tabulated((1.0,), (-1.0,)), "values[0]=-1"),
        (lambda: Tabulated((1.0,), (nan,)), "values[0]=nan"),
    ]:
        with subtests.test(make=make, said=said):
            with pytest.raises(InputError) as caught:
                make()  # type: ignore[operator]
            assert said in str(caught.value)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [Sum, Minimum])
@pytest.mark.parametrize("parts", [(), ("smooth",), (1.0, 2.0)])
def test_combinations_need_parts(make: type, parts: tuple[object, ...]) -> None:
    with pytest.raises(InputError):
        make(*parts)


def test_a_sum_is_of_moduli() -> None:
    with pytest.raises(InputError):
        Sum(Smooth(1), Convex(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("assumption", [Convex(20.5), StronglyConvex(20.5, 1)])
def test_a_long_step_expands_no_more_than_the_smoothness_says(assumption: Convex | StronglyConvex) -> None:
    z = np.geomspace(1e-3, 10, 9)
    long, smooth = (one.expansion(_RUN, 0, differs=False).value(z) for one in (assumption, Smooth(20.5)))
    assert np.all(z < long)
    assert np.all(long < smooth)


def test_one_long_step_of_a_schedule_is_no_step_of_the_papers() -> None:
    schedule = (0.1,) * 29 + (0.3,)
    run = NoisySGD(steps=30, step_size=schedule, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
    assert Convex(6).cited(run) == Convex.claim
    assert Convex(10).cited(run) == "ours/derived/known_windows"


def test_the_limit_itself_is_allowed() -> None:
    run = NoisySGD(steps=30, step_size=0.125, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
    assert bound(run, Convex(16)).cost == bound(run, Convex(1)).cost


def test_nothing_stays_nothing_however_far() -> None:
    assert Smooth(0.0).value(np.array([0.0, 1.0, inf])).tolist() == [0.0, 0.0, 0.0]
    assert Sum(Smooth(0.0), Clipped()).value(np.array([inf])).tolist() == [inf]


def test_a_table_is_its_monotone_completion() -> None:
    table = Tabulated((0.25, 0.5), (1.0, 3.0))
    at = np.array([0.0, 0.1, 0.25, 0.2500001, 0.5, 0.51])
    assert table.value(at).tolist() == [0.0, 1.0, 1.0, 3.0, 3.0, inf]
    drift = ShiftProgram(_RUN, table).expansion(0).value(at) - at - 0.08
    np.testing.assert_allclose(drift, 0.08 * np.array([0, 1, 1, 3, 3, 4]), atol=1e-15)  # the cap is 2 K = 4


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0.2, 0.3, (1.0, 3.0)), (0.0, 0.3, (0.0, 3.0)), (0.3, 0.4, (3.0, 3.0)), (0.2, 0.9, (1.0, 4.0))],
)
def test_a_ball_of_distances_has_every_value_of_its_table(
    low: float, high: float, values: tuple[float, float]
) -> None:
    """A path may come to lie on either side of a distance of the table, whose larger value then counts."""
    found = Tabulated((0.25, 0.5, 1.0), (1.0, 3.0, 4.0)).ball(arb(low).union(arb(high)))
    assert (float(found.lower()), float(found.upper())) == pytest.approx(values, abs=1e-7)


def test_strong_convexity_beyond_one_over_l() -> None:
    # |1 - eta h| over curvatures h in [m, L] is largest at an end.
    for L in (5.0, 10.0, 15.0, 19.9):
        line = ShiftProgram(_RUN, StronglyConvex(L, 2.0)).expansion(0).affine_on(1.0)
        assert line is not None
        assert float(line[0]) == pytest.approx(max(0.8, 0.1 * L - 1), rel=1e-15)


def test_the_same_thing_said_in_other_words() -> None:
    wanted = bound(_RUN, Smooth(1.0)).cost
    for same in (Holder(1.0, 1.0), Sum(Smooth(0.5), Smooth(0.5)), Minimum(Smooth(1.0), Clipped())):
        assert bound(_RUN, same).cost == pytest.approx(wanted, rel=1e-9)
    assert bound(_RUN, Minimum(Smooth(1.0), Convex(1.0))).cost == bound(_RUN, Convex(1.0)).cost


@pytest.mark.parametrize(
    "assumption",
    [
        *(Smooth(1), Holder(1, 0.5), Clipped(), Convex(1), StronglyConvex(1, 0.5)),
        *(Tabulated((1.0,), (1.0,)), Sum(Smooth(1), Holder(1, 0.5)), Minimum(Smooth(1), Clipped())),
        Blocks(Smooth(1), Holder(1, 0.5)),
    ],
    ids=lambda assumption: type(assumption).__name__,
)
def test_every_assumption_states_itself(assumption: Smooth) -> None:
    assert bound(_RUN, assumption).assumptions[0].startswith(assumption.statement)
    assert not assumption.statement.endswith(".")


@pytest.mark.parametrize(
    ("modulus", "knots", "concave", "linear"),
    [
        (Smooth(2.0), (), True, 2.0),
        (Holder(2.0, 1.0), (), True, 2.0),
        (Holder(2.0, 0.5), (), True, None),
        (Holder(0.0, 0.5), (), True, 0.0),
        (Clipped(), (), True, None),
        (Tabulated((1.0, 2.0), (1.0, 3.0)), (1.0, 2.0), False, None),
        (Sum(Smooth(1.0), Tabulated((2.0, 3.0), (1.0, 1.0)), Tabulated((1.0, 2.0), (1.0, 1.0))), (1.0, 2.0, 3.0), False,
         None),
        (Sum(Smooth(1.0), Holder(2.0, 0.5)), (), True, None),
        (Blocks(Smooth(3.0), Smooth(4.0)), (), True, 5.0),
    ],
)  # fmt: skip
def test_the_shape_of_a_modulus(modulus: Modulus, knots: tuple, concave: bool, linear: float | None) -> None:
    assert modulus.knots == knots
    assert modulus.concave is concave
    assert (None if modulus.linear is None else float(modulus.linear)) == linear
    assert modulus.expansive(_RUN) is True
    assert modulus.expansive(replace(_RUN, weight_decay=1e-9)) is False
    assert isinstance(modulus.claim, str)
    z = np.array([0.5, 1.5, 2.5])
    for place, value in zip(z.tolist(), modulus.value(z).tolist(), strict=True):
        ball = modulus.ball(arb(place))
        assert abs(ball - value) < 1e-13 if value < inf else not ball.is_finite()
        step = 1e-6
        if value < inf and modulus.value(np.array([place + step]))[0] < inf:
            rise = (modulus.value(np.array([place + step]))[0] - value) / step
            assert modulus.slope(np.array([place]))[0] == pytest.approx(rise, rel=1e-4, abs=1e-9)
    assert modulus.ball(arb(0)) == 0
    assert modulus.value(np.array([0.0]))[0] == 0
    wide = modulus.ball(arb(0.5).union(arb(0.75)))
    if wide.is_finite():
        assert wide.contains(modulus.ball(arb(0.5)))
        assert wide.contains(modulus.ball(arb(0.75)))
