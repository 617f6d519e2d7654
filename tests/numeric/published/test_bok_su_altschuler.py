"""Bok, Su & Altschuler 2024, and D2P2-SGD, against their formulas and against ours."""

from math import isclose

import mpmath
import numpy as np
import pytest

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import StronglyConvex
from lastiterate.numeric.published.closed_forms import noisy_cgd, noisy_gd
from lastiterate.numeric.run import NoisySGD


def test_full_batches_are_the_variance_and_gap_of_equal_quadratics() -> None:
    generator = np.random.default_rng(0)
    for _ in range(60):
        T, c = int(generator.integers(1, 200)), float(generator.uniform(0.05, 0.999))
        run = NoisySGD(T, 0.5, float(generator.uniform(0.1, 2)), 1.0, dataset_size=4)
        m = (1 - c) / 0.5
        order = float(generator.uniform(1.1, 30))
        with mpmath.workdps(30):
            c = 1 - mpmath.mpf("0.5") * mpmath.mpf(m)
            gap, variance = mpmath.fsum(c**t for t in range(T)), mpmath.fsum(c ** (2 * t) for t in range(T))
            mu = (mpmath.mpf("0.25") / run.noise_std_at(0)) ** 2 * gap**2 / variance
            found = noisy_gd(run, StronglyConvex(m, m), order)
            assert order * mu / 2 <= found <= order * mu / 2 * (1 + mpmath.mpf(10) ** -12)
        assert bound(run, StronglyConvex(m, m), order=order).epsilon == pytest.approx(found, rel=1e-9)


def test_cyclic_batches_are_ours_at_the_worst_position() -> None:
    generator = np.random.default_rng(1)
    for _ in range(40):
        batches, epochs = int(generator.integers(2, 9)), int(generator.integers(1, 12))
        m = float(generator.uniform(0.05, 1.9))
        run = NoisySGD(batches * epochs, 0.5, 1.0, 1.0, dataset_size=batches, batch_size=1, sampling="cyclic")
        found = noisy_cgd(run, StronglyConvex(m, m), 2.0)
        assert isclose(bound(run, StronglyConvex(m, m), order=2.0).epsilon, found, rel_tol=1e-9)


def test_no_contraction_is_the_limit() -> None:
    run = NoisySGD(20, 0.5, 1.0, 1.0, dataset_size=5, batch_size=1, sampling="cyclic")
    assert noisy_cgd(run, StronglyConvex(4.0, 1e-9), 2.0) == pytest.approx(1 + 3 / 5)
    full = NoisySGD(20, 0.5, 1.0, 1.0, dataset_size=1)
    assert noisy_gd(full, StronglyConvex(4.0, 1e-9), 2.0) == pytest.approx(20)
