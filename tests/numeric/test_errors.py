"""Wrong arguments are told in one sentence, as those of a run file are."""

from collections.abc import Callable
from typing import Any

import pytest

import lastiterate as li
from lastiterate.numeric.losses.assumptions import KINDS

RUN, LOSSES = li.NoisySGD(10, 0.1, 1.0, 1.0, 100, batch_size=10, sampling="poisson"), li.Convex(0.25)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: li.NoisySGD(lr=4), "got lr=4; it is called step_size here."),
        (lambda: li.NoisySGD(noise_multiplier=1), "noise_std is step_size * noise_multiplier"),
        (
            lambda: li.NoisySGD(100, 0.1),
            "needs noise_std, clip_norm, dataset_size, got steps, step_size; write",
        ),
        (lambda: li.Convex(), "Convex needs L, got nothing; write"),
        (lambda: li.Smooth(l=1), "got l=1; did you mean L?"),
        (lambda: li.bound(RUN, LOSSES, epsilon=1), "got epsilon=1; bound finds epsilon: give order or delta"),
        (lambda: li.bound(RUN), "bound needs assumption, got run; write"),
        (
            lambda: li.calibrate(RUN, LOSSES, 0.5, 1e-5),
            "got 4 arguments; write epsilon=..., order=..., delta=...",
        ),
        (lambda: li.compare(RUN, LOSSES, delta=1e-5), "by Renyi divergence, at an order"),
        (
            lambda: li.bound(RUN, li.Convex, delta=1e-5),
            "got assumption=the class Convex; write for example Smooth(1.0).",
        ),
    ],
)
def test_wrong_arguments_are_one_sentence(call: Callable[[], object], said: str) -> None:
    with pytest.raises(li.InputError) as caught:
        call()
    assert said in str(caught.value)


def test_every_assumption_is_named() -> None:
    with pytest.raises(li.InputError) as caught:
        li.bound(RUN, 3, delta=1e-5)  # type: ignore[arg-type]
    assert all(make.__name__ in str(caught.value) for make, _ in KINDS.values())


def test_an_object_is_told_by_its_type() -> None:
    with pytest.raises(li.InputError, match="got assumption=object; write for"):
        li.bound(RUN, object(), delta=1e-5)  # type: ignore[arg-type]


def test_an_error_within_stays_what_it_is() -> None:
    class Broken(li.Clipped):
        def expansion(self, *_: object, **__: object) -> Any:
            raise TypeError("broken")

    with pytest.raises(TypeError, match="broken"):
        li.calibrate(RUN, Broken(), epsilon=1.0, delta=1e-5)
