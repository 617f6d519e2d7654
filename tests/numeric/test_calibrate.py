"""Calibration lands on the safe side, and close."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD

_RUN = NoisySGD(2000, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
_ASSUMPTIONS: list[Assumption] = [
    Smooth(1.0),
    Convex(1.0),
    StronglyConvex(1.0, 0.5),
    Holder(1.0, 0.5),
    Clipped(),
]


@pytest.mark.parametrize(
    ("diameter", "examples"), [(inf, 10), (1.0, 1), pytest.param(1.0, 100, marks=pytest.mark.nightly)]
)
def test_the_least_noise(diameter: float, examples: int) -> None:
    """Without projection by shifts alone, in no time; on a domain by contraction."""

    @settings(max_examples=examples)
    @given(
        st.sampled_from(_ASSUMPTIONS),
        st.floats(0.01, 20.0),
        st.sampled_from([{"order": 2.0}, {"order": 1.5}, {"delta": 1e-5}]),
    )
    def check(assumption: Assumption, epsilon: float, target: dict[str, float]) -> None:
        found = calibrate(replace(_RUN, diameter=diameter), assumption, epsilon=epsilon, **target)
        assert found.epsilon <= epsilon
        assert found.as_dict() | bound(found.run, assumption, **target).as_dict() == found.as_dict()
        less = replace(found.run, noise_std=found.run.noise_std * (1 - 1e-4))
        assert bound(less, assumption, **target).epsilon > epsilon

    check()


def test_the_noise_does_not_depend_on_the_start() -> None:
    run = replace(_RUN, diameter=inf)
    far = replace(run, noise_std=1e-9)
    near = calibrate(run, Smooth(1.0), epsilon=1.0, order=2.0).run.noise_std
    assert calibrate(far, Smooth(1.0), epsilon=1.0, order=2.0).run.noise_std == pytest.approx(near, rel=3e-5)


def test_a_schedule_of_noise_is_scaled() -> None:
    run = replace(_RUN, steps=3, noise_std=(1.0, 2.0, 4.0))
    found = calibrate(run, Convex(1.0), epsilon=0.001, order=2.0).run.noise_std
    assert isinstance(found, tuple)
    assert (found[1] / found[0], found[2] / found[0]) == pytest.approx((2.0, 4.0))


@pytest.mark.parametrize("vary", ["noise_std", "steps", "batch_size"])
def test_few_bounds_are_taken(vary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[NoisySGD] = []

    def counted(run: NoisySGD, *rest: Any, **asked: Any) -> Bound:
        taken.append(run)
        return bound(run, *rest, **asked)

    monkeypatch.setattr("lastiterate.numeric.calibrate.bound", counted)
    run = replace(_RUN, steps=20, dataset_size=60, batch_size=12, sampling="cyclic", diameter=inf)
    calibrate(run, Convex(1.0), epsilon=0.3, order=2.0, vary=vary)
    assert 0 < len(taken) < 40


def test_the_most_steps() -> None:
    found = calibrate(_RUN, Smooth(1.0), epsilon=0.01, order=2.0, vary="steps")
    assert found.epsilon <= 0.01
    assert bound(replace(_RUN, steps=found.run.steps + 1), Smooth(1.0), order=2.0).epsilon > 0.01


@pytest.mark.parametrize("most", [1, 2, 3, 999, 12345])
@pytest.mark.parametrize("spare", [0.001, 0.5, 0.999])
def test_the_most_steps_of_a_composition(most: int, spare: float) -> None:
    """Without a domain, T convex steps of a Gaussian mechanism each cost T (2 eta K / (n sigma))^2 at order 2."""
    run = replace(_RUN, diameter=inf, steps=7)
    epsilon = (most + spare) * (2 * 0.1 * 2.0 / 5) ** 2
    found = calibrate(run, Convex(1.0), epsilon=epsilon, order=2.0, vary="steps")
    assert found.run.steps == found.value == most
    assert found.epsilon == pytest.approx(most * 0.08**2, rel=1e-12)


@pytest.mark.parametrize("target", [{"order": 2.0}, {"delta": 1e-5}], ids=["order", "delta"])
@pytest.mark.parametrize("share", [0.05, 0.6])
@pytest.mark.sweep(2)
def test_few_bounds_find_the_most_steps(
    target: dict[str, Any], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may take seconds: doubling and halving took 60 for a million steps."""
    asked: list[int] = []

    def counted(run: NoisySGD, *args: Any, **rest: Any) -> object:
        asked.append(run.steps)
        return bound(run, *args, **rest)

    monkeypatch.setattr("lastiterate.numeric.calibrate.bound", counted)
    run = NoisySGD(1, 0.01, 1.0, 1.0, 10, batch_size=1, sampling="cyclic", diameter=2e4)
    scale = bound(replace(run, steps=10**6), Convex(1.0), **target).epsilon
    found = calibrate(run, Convex(1.0), epsilon=share * scale, vary="steps", **target)
    after = replace(found.run, steps=found.run.steps + 1)
    assert found.epsilon <= share * scale < bound(after, Convex(1.0), **target).epsilon
    assert len(asked) <= 24


@pytest.mark.nightly
def test_the_widest_domain() -> None:
    found = calibrate(_RUN, Convex(1.0), epsilon=0.3, order=2.0, vary="diameter")
    assert found.epsilon <= 0.3
    wider = replace(_RUN, diameter=found.run.diameter * (1 + 1e-4))
    assert bound(wider, Convex(1.0), order=2.0).epsilon > 0.3


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"epsilon": -1.0, "order": 2.0}, "epsilon=-1"),
        ({"epsilon": float("nan"), "order": 2.0}, "epsilon=nan"),
        ({"epsilon": 1.0}, "order=None, delta=None"),
        ({"epsilon": 1.0, "order": 2.0, "delta": 1e-5}, "order=2.0"),
        ({"epsilon": 1.0, "order": 2.0, "vary": "step_size"}, "vary='step_size'"),
        ({"epsilon": 1e-9, "order": 2.0, "vary": "steps"}, "by a run of one step"),
        (
            {"epsilon": 1e-9, "order": 2.0, "vary": "diameter"},
            "reachable by varying diameter.*a larger epsilon",
        ),
    ],
)
def test_bad_targets(arguments: dict[str, object], part: str) -> None:
    with pytest.raises(InputError, match=part):
        calibrate(_RUN, Smooth(1.0), **arguments)


def test_a_domain_that_does_not_matter() -> None:
    found = calibrate(replace(_RUN, steps=1), Smooth(1.0), epsilon=1.0, order=2.0, vary="diameter")
    assert found.value == inf
    assert found.epsilon <= 1.0


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("sampling", "any_steps"), [("full", True), ("poisson", True), ("shuffled", False)])
def test_a_target_that_holds_for_every_number_of_steps(sampling: str, any_steps: bool) -> None:
    run = NoisySGD(5, 0.1, 1.0, 1.0, 10, None if sampling == "full" else 5, sampling, diameter=1.0)
    found = calibrate(run, Convex(1.0), epsilon=1.0, order=2.0, vary="steps")
    assert found.any_steps == any_steps == found.as_dict()["any_steps"]
    assert ("steps = any number" in str(found)) == any_steps
    assert found.epsilon == bound(found.run, Convex(1.0), order=2.0).epsilon <= 1.0
    if any_steps:  # a run that is longer still, and a short one
        for steps in (3 * found.value + 1, 2):
            assert bound(replace(run, steps=steps), Convex(1.0), order=2.0).epsilon <= found.epsilon * (
                1 + 1e-9
            )
    assert not calibrate(run, Convex(1.0), epsilon=1e-4, order=2.0, vary="noise_std").any_steps


def test_steps_need_no_schedule() -> None:
    with pytest.raises(InputError, match="schedule"):
        calibrate(
            replace(_RUN, steps=2, noise_std=(1.0, 2.0)), Smooth(1.0), epsilon=1.0, order=2.0, vary="steps"
        )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("sampling", ["cyclic", "without_replacement"])
@pytest.mark.parametrize("target", [{"order": 2.0}, {"delta": 1e-5}])
def test_the_smallest_batch(sampling: str, target: dict[str, float]) -> None:
    run = replace(_RUN, dataset_size=60, batch_size=60, sampling=sampling, noise_std=0.2, steps=60)
    epsilon = 1.3 * bound(replace(run, batch_size=12), Convex(1.0), **target).epsilon
    found = calibrate(run, Convex(1.0), epsilon=epsilon, vary="batch_size", **target)
    assert found.epsilon <= epsilon
    size = found.run.batch
    assert size <= 12
    if sampling == "cyclic":
        smaller = [b for b in range(1, size) if 60 % b == 0]
    else:
        smaller = [size - 1] if size > 1 else []
    assert all(bound(replace(run, batch_size=b), Convex(1.0), **target).epsilon > epsilon for b in smaller)


@pytest.mark.nightly
def test_a_tiny_batch_may_hide_within_delta() -> None:
    """With next to no noise, a batch of one of 10,000 samples, drawn once, is met with a chance below delta."""
    run = replace(_RUN, steps=1, noise_std=1e-4, dataset_size=10_000, batch_size=1, sampling="without_replacement",
                  diameter=inf)  # fmt: skip
    found = calibrate(run, Convex(1.0), epsilon=0.1, delta=2e-4, vary="batch_size")
    assert found.run.batch == 1
    with pytest.raises(InputError, match="batch_size"):
        calibrate(run, Convex(1.0), epsilon=0.1, delta=1e-5, vary="batch_size")
    with pytest.raises(InputError, match="sampling='full'"):
        calibrate(_RUN, Convex(1.0), epsilon=0.1, delta=1e-5, vary="batch_size")


@pytest.mark.parametrize(("sampling", "size"), [("shuffled", 6), ("cyclic", 6), ("cyclic", 720720)])
def test_the_largest_batch_may_be_the_only_one(sampling: str, size: int) -> None:
    run = NoisySGD(60, 0.1, 1.0, 1.0, dataset_size=size, batch_size=1, sampling=sampling)
    whole = bound(replace(run, batch_size=size), Convex(1.0), order=2.0).epsilon
    found = calibrate(run, Convex(1.0), epsilon=whole, order=2.0, vary="batch_size")
    assert (found.run.batch_size, found.epsilon) == (size, whole)
    with pytest.raises(InputError, match="reachable by varying batch_size"):
        calibrate(run, Convex(1.0), epsilon=whole * 0.99, order=2.0, vary="batch_size")
