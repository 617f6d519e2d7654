"""What stands beside a number: the noise as Opacus counts it, and a delta that promises little."""

from dataclasses import replace

import pytest

import lastiterate as li
from lastiterate.numeric.explain import question, remarks

RUN = li.NoisySGD(20, 4.0, 0.1, 1.0, 40, batch_size=10, sampling="poisson", weight_decay=0.01)


@pytest.mark.nightly
def test_the_noise_multiplier_gives_no_less_noise() -> None:
    for noise in (0.1, 1 / 3, 0.0828225387567001):
        run = replace(RUN, noise_std=noise)
        told = float(remarks(run, None)["noise multiplier"])
        assert noise <= told * 4.0 * 1.0 / 10 <= noise * (1 + 1e-5)
    assert remarks(replace(RUN, noise_std=[0.1] * 19 + [0.2]), None) == {}
    found = li.calibrate(RUN, li.Convex(0.25), epsilon=1.0, delta=1e-5)
    assert f"(noise multiplier {remarks(found.run, None)['noise multiplier']})" in str(found)


def test_noise_that_may_be_a_noise_multiplier_is_asked_about() -> None:
    meant = li.NoisySGD(1000, 0.1, 1.1 * 0.1 / 500, 1.0, 50_000, batch_size=500, sampling="poisson")
    wrong = replace(meant, noise_std=1.1)
    found, legitimate = (li.bound(run, li.Clipped(), delta=1e-5) for run in (wrong, meant))
    asked = "if it is meant as a noise multiplier, write noise_std=0.00022"
    assert asked in str(found)
    assert asked in dict(found.table().rows)["noise_std"]
    assert "meant" not in str(legitimate) + str(legitimate.table())


@pytest.mark.parametrize(
    "run",
    [
        li.NoisySGD(2000, 0.1, 1.0, 2.0, 5, diameter=1.0),
        li.NoisySGD(10_000, 0.1, 376 * 0.1 / 1000, 1.0, 1000),  # gradient descent on everything at mu = 0.53
        li.NoisySGD(3, 0.1, [9.0, 9.0, 8.0], 1.0, 1000),
    ],
)
def test_a_run_that_needs_its_noise_is_not_asked_about(run: li.NoisySGD) -> None:
    assert question(run) == ""


def test_a_delta_that_promises_nothing_is_told() -> None:
    assert "delta" not in remarks(RUN, 0.02)
    assert remarks(RUN, 0.025)["delta"].startswith("at least 1/n")
    assert "at least 1/n" in str(li.bound(RUN, li.Clipped(), delta=0.5).table())
