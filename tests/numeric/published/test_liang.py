"""Liang et al., both versions, against the printed formulas in 30 digits."""

from dataclasses import replace
from math import inf

import mpmath
import numpy as np
import pytest

from lastiterate.numeric.losses.assumptions import Clipped, Smooth
from lastiterate.numeric.published.altschuler_talwar import order_is_small
from lastiterate.numeric.published.closed_forms import liang_3_3, liang_3_4, liang_3_4_earlier
from lastiterate.numeric.run import NoisySGD

RUN = NoisySGD(40, 0.2, 0.5, 1.5, dataset_size=20, batch_size=5, sampling="without_replacement", diameter=1.0)


def parts(run: NoisySGD, order: float, L: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """A of (46) and B of (51), from the noise on the gradient."""
    eta, n, b, C, D = (
        mpmath.mpf(value)
        for value in (run.step_size_at(0), run.dataset_size, run.batch, run.clip_norm, run.diameter)
    )
    sigma = mpmath.mpf(run.noise_std_at(0)) / eta
    return 2 * order * C**2 / (n * b * sigma**2), order * (1 + eta * L) ** 2 * D**2 / (2 * eta**2 * sigma**2)


def close(found: float, true: mpmath.mpf) -> bool:
    return true <= found <= true * (1 + mpmath.mpf(10) ** -13)


def test_without_the_extra_conditions() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        order, L = float(generator.uniform(1.1, 40)), float(generator.uniform(0, 5))
        run = replace(RUN, noise_std=float(generator.uniform(0.01, 0.3)), steps=int(generator.integers(1, 200)))
        run = replace(run, diameter=float(generator.uniform(0.01, 10)))
        with mpmath.workdps(30):
            A, B = parts(run, order, L)
            assert close(liang_3_3(run, Clipped(), order), A * run.steps)
            assert close(liang_3_4(run, Smooth(L), order), min(A * run.steps, B))
            best = min(A / beta + B / (1 - beta) for beta in np.linspace(0.002, 0.998, 500).tolist())
            found = liang_3_4_earlier(run, Smooth(L), order)
            assert best * (1 - 1e-2) <= found <= best * (1 + 1e-9)
            assert close(found, (mpmath.sqrt(A) + mpmath.sqrt(B)) ** 2)


def test_with_the_extra_conditions() -> None:
    run, order = replace(RUN, noise_std=0.2 * 2 * 1.5 * 8 / 2, batch_size=2), 1.5
    assert order_is_small(0.1, 8.0, order)
    with mpmath.workdps(30):
        A, B = parts(run, order, 1.0)
        strong = A * 4 * run.batch / run.dataset_size
        assert close(liang_3_3(run, Clipped(), order), strong * run.steps)
        assert close(liang_3_4(replace(run, diameter=100.0), Smooth(1.0), order), strong * run.steps)
        small = replace(run, diameter=0.01)
        _, B = parts(small, order, 1.0)
        assert close(liang_3_4_earlier(small, Smooth(1.0), order), (mpmath.sqrt(strong) + mpmath.sqrt(B)) ** 2)
    assert liang_3_3(replace(run, batch_size=5), Clipped(), order) == pytest.approx(
        float(parts(replace(run, batch_size=5), order, 1.0)[0]) * run.steps
    )


def test_the_later_version_vanishes_with_the_domain_and_the_earlier_does_not() -> None:
    small = replace(RUN, diameter=1e-6)
    assert liang_3_4(small, Smooth(1.0), 2.0) < 1e-10 < 0.01 < liang_3_4_earlier(small, Smooth(1.0), 2.0)


def test_no_domain() -> None:
    endless = replace(RUN, diameter=inf)
    assert liang_3_4_earlier(endless, Smooth(1.0), 2.0) == inf
    assert liang_3_4(endless, Smooth(1.0), 2.0) == liang_3_3(endless, Smooth(1.0), 2.0)
