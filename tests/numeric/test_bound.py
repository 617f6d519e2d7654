"""Properties of `bound`: against the oracle, and in every parameter."""

from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, nextafter

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from mpmath import mpf
from oracle import SLACK, cost, exact_shifts, expand, gdp_delta, states, tracked
from programs import ASSUMPTIONS, run_of, settings

from lastiterate.numeric.bound import Bound, Estimate, bound, bound_by_shifts, estimate
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Convex,
    Holder,
    Measured,
    Minimum,
    Smooth,
    StronglyConvex,
)
from lastiterate.numeric.published.chien_li import theorem_3_1, theorem_3_7
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram

pytestmark = pytest.mark.usefixtures("sixty_digits")

_KINDS = pytest.mark.parametrize("kind", ASSUMPTIONS)
_QUICK = options(max_examples=25)
_SLACK = 1 + 1e-9  # of the float search for a path; its cost is certified all the same


def _up_to_search(kind: str) -> float:
    """How far from the optimum the search may stop."""
    return 1 + 5e-6 if kind in ("tabulated", "minimum") else _SLACK


@_KINDS
@_QUICK
@given(setting=settings())
def test_never_below_the_exact_cost_of_its_own_path(kind: str, setting: dict[str, float]) -> None:
    run, assumption = run_of(setting), ASSUMPTIONS[kind](setting)
    found = optimum(ShiftProgram(run, assumption))
    told = bound(run, assumption)
    _is_feasible(run, assumption, found, told)
    exactly = cost(run, assumption, found.path, found.route)
    # `bound` may know a path of another route that costs no more, at most by what a search leaves
    assert mpf(told.cost) >= exactly * (1 - SLACK) / (1 if told.route == found.route else _up_to_search(kind))
    assert mpf(told.cost) <= exactly * (1 + mpf(10) ** -12)  # and not wasteful


def _is_feasible(run: NoisySGD, assumption: Assumption, found: object, told: Bound) -> None:
    path, route = found.path, found.route  # type: ignore[attr-defined]
    assert told.window == (path.start, run.steps)
    needed = tracked(run, assumption, path.start)
    assert mpf(path.distance) >= needed * (1 - SLACK)
    shifts = exact_shifts(run, assumption, path, route)
    assert all(a >= 0 for a in shifts)
    line = states(run, assumption, path, shifts)
    if route in ("closed form", "composition"):  # z >= 0 is a condition of the closed form
        assert all(z >= -(mpf(10) ** -14) * (mpf(path.distance) + shifts[0]) for z in line)
        assert line[-1] <= mpf(10) ** -12 * (mpf(path.distance) + shifts[0])


@_QUICK
@given(setting=settings(longest=12), data=st.data())
def test_schedules_against_the_oracle(setting: dict[str, float], data: st.DataObject) -> None:
    factors = st.lists(st.floats(0.5, 1), min_size=setting["T"], max_size=setting["T"])  # type: ignore[arg-type]
    run = replace(
        run_of(setting),
        step_size=tuple(setting["eta"] * x for x in data.draw(factors)),
        noise_std=tuple(setting["sigma"] / x for x in data.draw(factors)),
    )
    assumption = ASSUMPTIONS[data.draw(st.sampled_from([*ASSUMPTIONS]))](setting)
    made = bound(run, assumption)
    found = made.candidate.optimum
    assert found is not None
    assert mpf(made.cost) >= cost(run, assumption, found.path, found.route) * (1 - SLACK)
    assert mpf(found.path.distance) >= tracked(run, assumption, found.path.start) * (1 - SLACK)


@_QUICK
@given(setting=settings(longest=8), schedule=st.lists(st.floats(0.5, 1), min_size=8, max_size=8))
def test_tracked_distances_are_rounded_up(setting: dict[str, float], schedule: list[float]) -> None:
    steps = int(setting["T"])
    run = replace(run_of(setting), step_size=tuple(setting["eta"] * x for x in schedule[:steps]))
    for kind in ASSUMPTIONS:
        program = ShiftProgram(run, ASSUMPTIONS[kind](setting))
        for t in range(steps):
            exactly = tracked(run, program.assumption, t)
            assert exactly * (1 - SLACK) <= mpf(program.tracked[t]) <= exactly * (1 + mpf(10) ** -11)


@_KINDS
@_QUICK
@given(setting=settings(), where=st.floats(0, 1))
def test_expansions_agree_with_the_table(kind: str, setting: dict[str, float], where: float) -> None:
    run, assumption = run_of(setting), ASSUMPTIONS[kind](setting)
    expansion, z = ShiftProgram(run, assumption).expansion(0), where * 2 * run.diameter
    exactly = expand(run, assumption, 0, mpf(z))
    assert mpf(float(expansion.value(np.array([z]))[0])) == pytest.approx(exactly, rel=1e-14)
    ball = expansion.ball(_ball(z))
    low, high = mpf(str(ball.lower().str(40, radius=False))), mpf(str(ball.upper().str(40, radius=False)))
    assert low * (1 - mpf(10) ** -14) <= exactly <= high * (1 + mpf(10) ** -14)


def _ball(z: float) -> object:
    from lastiterate.numeric.rounding import exact

    return exact(z)


@_QUICK
@given(setting=settings(), epsilon=st.floats(1e-3, 30))
def test_every_number_is_rounded_up(setting: dict[str, float], epsilon: float) -> None:
    found = bound_by_shifts(run_of(setting), ASSUMPTIONS["holder"](setting), order=setting["alpha"])
    path = found.candidate
    exactly = mpf(setting["alpha"]) / 2 * mpf(found.cost)
    assert exactly <= mpf(path.rdp(setting["alpha"])) <= exactly * (1 + mpf(2) ** -51)
    assert found.epsilon == path.rdp(setting["alpha"])
    root = mp.sqrt(mpf(found.cost))
    assert root <= mpf(found.mu) <= root * (1 + mpf(2) ** -51)
    if found.mu > 1e-3:
        delta = float(gdp_delta(found.mu, epsilon))
        if 1e-300 < delta < 1:
            assert gdp_delta(found.mu, path.dp(delta)) <= mpf(delta)
            assert path.dp(delta) == pytest.approx(epsilon, rel=2e-9, abs=2e-9)


_UPWARD = {
    "L": ("holder", "smooth", "sum", "minimum", "tabulated"),
    "D": ("clipped", "convex", "strongly convex"),
    "K": ("clipped", "convex", "strongly convex", "holder"),
    "eta": ("holder", "clipped"),
    "T": ("clipped", "convex", "strongly convex", "holder", "smooth", "sum", "minimum", "tabulated"),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in _UPWARD.items() for kind in kinds])
@_QUICK
@given(setting=settings(longest=40), factor=st.floats(1.0, 3.0))
def test_more_of_it_is_never_cheaper(name: str, kind: str, setting: dict[str, float], factor: float) -> None:
    more = setting | {name: int(np.ceil(setting[name] * factor)) if name == "T" else setting[name] * factor}
    assumption = ASSUMPTIONS[kind](setting)
    # Losses stay the same, except where they are what grows.
    after = ASSUMPTIONS[kind](setting | {"L": more["L"]}) if name == "L" else assumption
    less = bound(run_of(setting), assumption).cost
    assert less <= bound(run_of(more), after).cost * _up_to_search(kind)


@pytest.mark.parametrize("kind", ["holder", "smooth", "clipped", "convex", "minimum"])
@_QUICK
@given(setting=settings(longest=40), factor=st.floats(1.0, 3.0))
def test_noise_and_samples_help(kind: str, setting: dict[str, float], factor: float) -> None:
    assumption = ASSUMPTIONS[kind](setting)
    before = bound(run_of(setting), assumption).cost * _up_to_search(kind)
    assert bound(run_of(setting | {"sigma": setting["sigma"] * factor}), assumption).cost <= before
    assert bound(run_of(setting | {"n": setting["n"] + 1}), assumption).cost <= before


@_KINDS
@_QUICK
@given(setting=settings(), power=st.integers(-8, 8), factor=st.floats(0.1, 10))
def test_units_do_not_matter(kind: str, setting: dict[str, float], power: int, factor: float) -> None:
    # Lengths times x, with time and the step size left alone: gradients are lengths too.
    def scaled(x: float) -> Bound:
        lengths = {name: setting[name] * x for name in ("D", "sigma", "K")}
        other = setting | lengths | {"L": setting["L"] * x ** (1 - setting["lam"])}
        return bound(run_of(other), ASSUMPTIONS[kind](other))

    before = scaled(1.0).cost
    search = 1e-12 if kind in ("clipped", "convex", "strongly convex", "smooth") else 1e-9
    if kind in ("clipped", "convex", "strongly convex"):
        assert scaled(2.0**power).cost == before  # no power of lambda is taken: exactly proportional
    assert scaled(factor).cost == pytest.approx(before, rel=5e-6 if kind == "tabulated" else search)


@_KINDS
@_QUICK
@given(setting=settings(longest=30))
def test_never_above_the_anchors(kind: str, setting: dict[str, float]) -> None:
    run, assumption = run_of(setting), ASSUMPTIONS[kind](setting)
    found = bound(run, assumption).cost
    sigma = mpf(run.noise_std_at(0))
    assert mpf(found) <= run.steps * (expand(run, assumption, 0, mpf(0)) / sigma) ** 2 * (1 + mpf(2) ** -50)
    assert mpf(found) <= (expand(run, assumption, 0, mpf(run.diameter)) / sigma) ** 2 * (1 + mpf(2) ** -50)


@_KINDS
@_QUICK
@given(setting=settings(longest=20))
def test_a_schedule_that_does_not_change(kind: str, setting: dict[str, float]) -> None:
    run, assumption = run_of(setting), ASSUMPTIONS[kind](setting)
    same = replace(run, step_size=(setting["eta"],) * run.steps, noise_std=(setting["sigma"],) * run.steps)
    assert same == run
    # A change in the last bit must go the general way, and lead to the same place.
    nearly = replace(run, noise_std=(nextafter(setting["sigma"], inf),) + (setting["sigma"],) * (run.steps - 1))
    assert bound(nearly, assumption).cost == pytest.approx(bound(run, assumption).cost, rel=2e-5)


@_QUICK
@given(setting=settings())
def test_no_smoothness_at_all_is_convexity(setting: dict[str, float]) -> None:
    run = run_of(setting)
    assert bound(run, Smooth(0.0)).cost == bound(run, Convex(1 / setting["eta"])).cost
    assert bound(run, Holder(0.0, 0.5)).cost == bound(run, Convex(1 / setting["eta"])).cost


@pytest.mark.parametrize("diameter", [None, inf], ids=["projected", "free"])
@_QUICK
@given(setting=settings(longest=30), data=st.data())
def test_a_minimum_is_never_above_its_parts(
    diameter: float | None, setting: dict[str, float], data: st.DataObject
) -> None:
    kinds = data.draw(st.lists(st.sampled_from([*ASSUMPTIONS]), min_size=2, max_size=3, unique=True))
    run = run_of(setting) if diameter is None else replace(run_of(setting), diameter=diameter)
    parts = [ASSUMPTIONS[kind](setting) for kind in kinds]
    together = bound(run, Minimum(*parts)).cost
    assert together <= min(bound(run, part).cost for part in parts) * (1 + 1e-6)


@_QUICK
@given(setting=settings())
def test_never_above_chien_and_li(setting: dict[str, float]) -> None:
    run = run_of(setting)
    eta, K, D, T = setting["eta"], setting["K"], setting["D"], run.steps
    s, variance = 2 * eta * K / setting["n"], setting["sigma"] ** 2
    smooth = ASSUMPTIONS["smooth"](setting)
    assert bound(run, smooth).cost <= theorem_3_1(1 + eta * smooth.L, s, 2 * eta * K, D, T) / variance * _SLACK
    assert bound(run, Convex(1 / eta)).cost <= theorem_3_1(1.0, s, 2 * eta * K, D, T) / variance * _SLACK
    strong = StronglyConvex(1 / eta, 0.3 / eta)
    assert bound(run, strong).cost <= theorem_3_1(0.7, s, 2 * eta * K, D, T) / variance * _SLACK
    printed = theorem_3_7(eta * setting["L"], setting["lam"], s, D, T)
    assert bound(run, ASSUMPTIONS["holder"](setting)).cost <= printed / variance * _SLACK


def test_a_million_steps_have_a_window_and_no_list() -> None:
    run = NoisySGD(steps=10**6, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    found = bound(run, Smooth(1))
    assert found.cost == bound(replace(run, steps=1000), Smooth(1)).cost
    assert found.window[1] == 10**6
    assert found.shifts.shape == (found.window[1] - found.window[0],)


def test_shifts_are_the_path() -> None:
    run = NoisySGD(steps=100, step_size=0.1, noise_std=2, clip_norm=2, dataset_size=5, diameter=1)
    for assumption in (Smooth(1), Holder(1, 0.5), Clipped()):
        found = bound(run, assumption)
        assert float(np.sum((found.shifts / 2) ** 2)) == pytest.approx(found.cost, rel=1e-12)
        assert len(found.shifts) == found.window[1] - found.window[0]


def test_an_estimate_is_not_a_bound() -> None:
    run = NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    measured = Measured(Smooth(1), "the largest ratio that was seen")
    found = estimate(run, measured, order=2)
    assert isinstance(found, Estimate)
    assert not isinstance(found, Bound)
    assert found.epsilon == bound(run, Smooth(1), order=2).epsilon
    assert found.as_dict()["conditional_on"] == "the largest ratio that was seen"
    with pytest.raises(InputError, match="Measured"):
        bound(run, measured)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="measured=Smooth"):
        estimate(run, Smooth(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [1, 0.5, -2, inf, float("nan"), "two", True])
def test_bad_order(order: object) -> None:
    _refused(f"order={'nan' if order != order else ''}", order=order)


@pytest.mark.parametrize("delta", [0, 1, -1e-5, 2.0, float("nan"), "1e-5"])
def test_bad_delta(delta: object) -> None:
    _refused("delta=", delta=delta)


def test_a_delta_may_be_any_real_number(subtests: pytest.Subtests) -> None:
    for sampling in ["full", "cyclic", "shuffled", "without_replacement", "poisson"]:
        batch = {} if sampling == "full" else {"batch_size": 2, "sampling": sampling}
        run = NoisySGD(4, 0.1, 1.0, 2.0, 6, diameter=1.0, **batch)  # type: ignore[arg-type]
        known = bound(run, Convex(1.0), delta=2**-9).epsilon
        for kind in [Fraction, np.float32, np.float64]:
            with subtests.test(sampling=sampling, kind=kind):
                found = bound(run, Convex(1.0), delta=kind(2**-9))
                assert type(found.delta) is float
                assert found.epsilon == known


def _refused(match: str, **arguments: object) -> None:
    run = NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    with pytest.raises(InputError, match=match) as caught:
        bound(run, Smooth(1), **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_an_order_and_a_delta_at_once() -> None:
    _refused("order=2, delta=1e-05", order=2, delta=1e-5)


def test_no_epsilon_without_an_order_or_a_delta() -> None:
    run = NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5)
    with pytest.raises(InputError, match="order=None, delta=None"):
        _ = bound(run, Smooth(1)).epsilon
    assert isfinite(bound(run, Smooth(1)).rdp(1.5))


@pytest.mark.parametrize("assumption", ["smooth", None, 1.0, Smooth])
def test_an_assumption_is_needed(assumption: object) -> None:
    run = NoisySGD(steps=10, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5)
    with pytest.raises(InputError, match="assumption="):
        bound(run, assumption)  # type: ignore[arg-type]
