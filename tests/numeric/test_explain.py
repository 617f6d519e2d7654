"""What stands beside a number: the noise as Opacus counts it, and a delta that promises little."""

from dataclasses import replace

import lastiterate as li
from lastiterate.numeric.explain import remarks

RUN = li.NoisySGD(20, 4.0, 0.1, 1.0, 40, batch_size=10, sampling="poisson", weight_decay=0.01)


def test_the_noise_multiplier_gives_no_less_noise() -> None:
    for noise in (0.1, 1 / 3, 0.0828225387567001):
        run = replace(RUN, noise_std=noise)
        told = float(remarks(run, None)["noise multiplier"])
        assert noise <= told * 4.0 * 1.0 / 10 <= noise * (1 + 1e-5)
    assert remarks(replace(RUN, noise_std=[0.1] * 19 + [0.2]), None) == {}
    found = li.calibrate(RUN, li.Convex(0.25), epsilon=1.0, delta=1e-5)
    assert f"(noise multiplier {remarks(found.run, None)['noise multiplier']})" in str(found)


def test_a_delta_that_promises_nothing_is_told() -> None:
    assert "delta" not in remarks(RUN, 0.02)
    assert remarks(RUN, 0.025)["delta"].startswith("no less than 1/n")
    assert "no less than 1/n" in str(li.bound(RUN, li.Clipped(), delta=0.5).table())
