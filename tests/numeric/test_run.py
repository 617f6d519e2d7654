"""Bad input of a run is one sentence with ``name=value`` in it."""

from dataclasses import replace
from math import inf, nan, nextafter

import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, described_run

_GOOD = NoisySGD(steps=3, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)


def test_one_sentence(subtests: pytest.Subtests) -> None:
    for name, value in [
        *(("steps", value) for value in (0, -1, 2.0, "3", None, True)),
        *(("step_size", value) for value in (0.0, -0.1, nan, inf, "0.1", None, True)),
        *(("noise_std", value) for value in (0.0, -1.0, nan, inf, "1")),
        *(("clip_norm", value) for value in (0.0, -2.0, nan, inf, "2")),
        *(("dataset_size", value) for value in (0, -5, 5.0, "5")),
        *(("diameter", value) for value in (0.0, -1.0, nan, "1", None)),
        *(("batch_size", value) for value in (0, 6, 2.5, "all", 3)),
        *(("sampling", value) for value in ("poisson", "", 1, None)),
        *(("adjacency", value) for value in ("add", None)),
    ]:
        with subtests.test(name=name, value=value):
            with pytest.raises(InputError) as caught:
                replace(_GOOD, **{name: value})
            sentence = str(caught.value)
            assert f"{name}=" in sentence
            assert "\n" not in sentence
            assert sentence.endswith(".")


def test_bad_schedules(subtests: pytest.Subtests) -> None:
    for schedule, said in [
        ((0.1, 0.2), "got 2 numbers"),
        ((), "got 0 numbers"),
        ((0.1, nan, 0.1), "[1]=nan"),
        ((0.1, 0.1, 0.0), "[2]=0"),
        ((0.1, -0.1, 0.1), "[1]=-0.1"),
        ((0.1, "0.1", 0.1), "[1]='0.1'"),
    ]:
        for name in ["step_size", "noise_std"]:
            with subtests.test(name=name, schedule=schedule, said=said):
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


@pytest.mark.parametrize("name", ["steps", "dataset_size", "batch_size"])
def test_counts_that_no_run_reaches_are_refused_whatever_their_length(name: str) -> None:
    many = replace(_GOOD, steps=10**15, step_size=0.1)
    assert many.steps == 10**15
    for value in (10**15 + 1, 10**5000):
        with pytest.raises(InputError) as caught:
            replace(_GOOD, **{name: value})
        assert str(caught.value) == (
            f"{name} needs a whole number of at most 1e+15, got a larger {name}; lower it."
        )
    with pytest.raises(InputError, match=r"steps=-1000000000000000; give at least 1"):
        replace(_GOOD, steps=-(10**5000))


def test_a_number_beyond_every_float_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^clip_norm needs a positive number, got a clip_norm too large for a float; "
    ):
        replace(_GOOD, clip_norm=10**400)


def test_what_is_no_run_is_refused() -> None:
    assert described_run("A test", _GOOD) is _GOOD
    with pytest.raises(InputError, match=r"^A test needs a NoisySGD, got run=str; describe it first\.$"):
        described_run("A test", "run.toml")


def test_epochs_are_counted_in_whole_batches() -> None:
    run = replace(_GOOD, dataset_size=12, batch_size=4, sampling="cyclic")
    assert (run.batch, run.batches) == (4, 3)
    assert (_GOOD.batch, _GOOD.batches) == (5, 1)
    for scheme, adjacency in (
        ("cyclic", "replace"),
        ("without_replacement", "replace"),
        ("poisson", "add_remove"),
    ):
        assert replace(run, sampling=scheme, adjacency="").adjacency == adjacency


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"batch_size": 3, "sampling": "cyclic"},
            "sampling='cyclic' needs a batch_size that divides dataset_size=5, got batch_size=3",
        ),
        ({"batch_size": 3}, "sampling='full' needs batch_size equal to dataset_size=5, got batch_size=3"),
        ({"batch_size": 6}, "batch_size must be at most dataset_size=5, got batch_size=6"),
        (
            {"sampling": "all"},
            "sampling must be one of full, cyclic, shuffled, without_replacement, poisson, got sampling='all'",
        ),
        ({"adjacency": "add_remove"}, "sampling='full' needs adjacency='replace', got adjacency='add_remove'"),
        (
            {"dataset_size": [5, 5, 8]},
            "dataset_size needs one number for all steps, got a list of 3",
        ),
        ({"step_size": [0.1, 0.2]}, "step_size needs one number, or a list of steps=3 numbers, got 2 numbers"),
    ],
)
def test_the_sentence_says_what_to_do(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(_GOOD, **change)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{said}; ")
