"""Bad input of a run is one sentence with ``name=value`` in it."""

from dataclasses import replace
from math import inf, nan, nextafter

import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD

_GOOD = NoisySGD(steps=3, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("steps", value) for value in (0, -1, 2.0, "3", None, True)),
        *(("step_size", value) for value in (0.0, -0.1, nan, inf, "0.1", None, True)),
        *(("noise_std", value) for value in (0.0, -1.0, nan, inf, "1")),
        *(("clip_norm", value) for value in (0.0, -2.0, nan, inf, "2")),
        *(("dataset_size", value) for value in (0, -5, 5.0, "5")),
        *(("diameter", value) for value in (0.0, -1.0, nan, "1", None)),
        *(("batch_size", value) for value in (0, 6, 2.5, "all", 3)),
        *(("sampling", value) for value in ("poisson", "", 1, None)),
        *(("adjacency", value) for value in ("add", None)),
    ],
)
def test_one_sentence(name: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        replace(_GOOD, **{name: value})
    sentence = str(caught.value)
    assert f"{name}=" in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize("name", ["step_size", "noise_std"])
@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ((0.1, 0.2), "got 2 numbers"),
        ((), "got 0 numbers"),
        ((0.1, nan, 0.1), "[1]=nan"),
        ((0.1, 0.1, 0.0), "[2]=0"),
        ((0.1, -0.1, 0.1), "[1]=-0.1"),
        ((0.1, "0.1", 0.1), "[1]='0.1'"),
    ],
)
def test_bad_schedules(name: str, schedule: tuple[object, ...], said: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(_GOOD, **{name: schedule})
    assert name in str(caught.value)
    assert said in str(caught.value)


def test_schedules_of_every_make() -> None:
    wanted = (0.1, 0.2, 0.3)
    for given in (wanted, list(wanted), np.array(wanted)):
        assert replace(_GOOD, step_size=given).step_size == wanted
    assert replace(_GOOD, step_size=(0.1, 0.1, 0.1)) == _GOOD
    run = replace(_GOOD, noise_std=wanted)
    assert [run.noise_std_at(t) for t in range(3)] == list(wanted)
    assert not run.constant


def test_numbers_of_numpy_are_numbers() -> None:
    run = replace(_GOOD, steps=np.int64(3), step_size=np.float64(0.1), clip_norm=np.float32(2.0))
    assert run == _GOOD
    assert type(run.steps) is int
    assert type(run.clip_norm) is float


def test_gradient_noise() -> None:
    run = NoisySGD.gradient_noise(gradient_noise_std=5, step_size=0.25, steps=1, clip_norm=1, dataset_size=5)
    assert run.noise_std == 1.25
    above = NoisySGD.gradient_noise(gradient_noise_std=3, step_size=0.1, steps=1, clip_norm=1, dataset_size=5)
    assert above.noise_std == nextafter(3 * 0.1, 0.0)  # the product of floats is above that of the numbers
    for name in ("gradient_noise_std", "step_size"):
        values = {"gradient_noise_std": 5.0, "step_size": 0.1} | {name: -1.0}
        with pytest.raises(InputError, match=f"{name}=-1"):
            NoisySGD.gradient_noise(**values, steps=1, clip_norm=1, dataset_size=5)
