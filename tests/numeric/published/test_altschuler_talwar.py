"""Altschuler & Talwar 2022 against the printed formulas: every window, a fine grid of splits, 30 digits."""

from dataclasses import replace
from math import inf, log

import mpmath
import numpy as np
import pytest

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import Convex, StronglyConvex
from lastiterate.numeric.published import altschuler_talwar as printed
from lastiterate.numeric.run import NoisySGD

_CONVEX = Convex(1.0)
RUN = NoisySGD(30, 0.2, 0.5, 1.5, dataset_size=20, batch_size=2, sampling="without_replacement", diameter=1.0)


def random_run(generator: np.random.Generator, sampling: str = "full", steps: int = 80) -> NoisySGD:
    batch = int(generator.integers(1, 5))
    return NoisySGD(
        steps=int(generator.integers(1, steps)),
        step_size=float(generator.uniform(0.01, 0.6)),
        noise_std=float(generator.uniform(0.1, 3)),
        clip_norm=float(generator.uniform(0.1, 4)),
        dataset_size=batch * int(generator.integers(2, 12)),
        batch_size=None if sampling == "full" else batch,
        sampling=sampling,
        diameter=float(generator.uniform(0.05, 10)),
    )


def smaller(run: NoisySGD, order: float, share: float) -> mpmath.mpf:
    """D_alpha(N(0, v) || (1-q) N(0, v) + q N(1, v)) by mpmath's quadrature, v in units of the squared shift."""
    q, L = mpmath.mpf(run.batch) / run.dataset_size, run.clip_norm
    s = run.batch * mpmath.sqrt(share) * run.noise_std_at(0) / run.step_size_at(0) / (2 * L)

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x) * ((1 - q) + q * mpmath.exp(x / s - 1 / (2 * s**2))) ** (1 - order)

    ends = [-40, -10, -3, 0, 3, 10, 40]
    return mpmath.log(mpmath.quad(integrand, ends)) / (order - 1)


def hidden(run: NoisySGD, order: float, share: float) -> mpmath.mpf:
    """alpha D^2 / (2 eta^2 sigma_1^2), sigma the noise on the gradient."""
    sigma = mpmath.mpf(run.noise_std_at(0)) / run.step_size_at(0)
    return order * mpmath.mpf(run.diameter) ** 2 / (2 * run.step_size_at(0) ** 2 * (1 - share) * sigma**2)


@pytest.mark.parametrize(
    ("batch", "noise", "order", "share"), [(2, 0.5, 2.0, 0.5), (1, 0.9, 7.5, 0.3), (5, 3.0, 1.2, 0.8)]
)
def test_random_batches_against_the_printed_formulas(
    batch: int, noise: float, order: float, share: float
) -> None:
    run = replace(RUN, batch_size=batch, noise_std=noise)
    with mpmath.workdps(30):
        Q, H = smaller(run, order, share), hidden(run, order, share)
        flat = min((run.steps - tau) * Q + H / (run.steps - tau - 1) for tau in range(run.steps - 1))
        assert flat * (1 - 1e-14) <= printed.equation_3_7(run, _CONVEX, order, share) <= flat * (1 + 1e-9)
        assert printed.smaller_direction(run, order, share) <= Q * (1 + 1e-9)


def test_the_best_split_is_found() -> None:
    for order in (1.5, 4.0):
        m, L = 0.5, 2.0
        shares = np.linspace(0.001, 0.999, 120)
        b_2, b_3 = (
            printed.equation_b_2(RUN, _CONVEX, order),
            printed.equation_b_3(RUN, StronglyConvex(L, m), order),
        )
        grid = min(printed.equation_3_7(RUN, _CONVEX, order, share) for share in shares)
        whole = RUN.steps * printed.smaller_direction(RUN, order)
        assert min(grid, whole) * (1 - 1e-3) <= b_2 <= min(grid, whole) * (1 + 1e-9)
        assert b_3 <= b_2


def test_whole_batches_are_at_their_minimum_over_windows_and_splits() -> None:
    generator = np.random.default_rng(0)
    share = np.linspace(0, 1, 4001)[1:-1]
    for _ in range(60):
        run = random_run(generator)
        order, L = float(generator.uniform(1.1, 30)), float(generator.uniform(0.2, 1.5) / run.step_size_at(0))
        m = float(generator.uniform(0.05, 1)) * L
        s, eta, sigma = (
            2 * run.step_size_at(0) * run.clip_norm / run.dataset_size,
            run.step_size_at(0),
            run.noise_std_at(0),
        )
        unit, D = order / (2 * sigma**2), run.diameter
        for c, found in (
            (max(abs(1 - eta * m), abs(1 - eta * L)), printed.equation_b_3(run, StronglyConvex(L, m), order)),
            (1.0, printed.equation_b_2(run, _CONVEX, order)),
        ):
            grid = run.steps * s**2
            for w in range(1, run.steps):
                decay = 1 / w if c == 1 else (1 - c**2) / (c ** (-2 * w) - 1)
                grid = min(grid, float(((w + 1) * s**2 / share + D**2 * decay / (1 - share)).min()))
            assert grid * unit * (1 - 1e-3) <= found <= grid * unit * (1 + 1e-12)


def test_b_1_is_the_minimum_over_all_windows() -> None:
    generator = np.random.default_rng(3)
    for _ in range(100):
        run = random_run(generator)
        s = 2 * run.step_size_at(0) * run.clip_norm / run.dataset_size
        windows = np.arange(1, run.steps + 1)
        best = min(run.steps * s**2, float(np.min(windows * ((run.diameter + s) / windows + s) ** 2)))
        assert printed.equation_b_1(run, _CONVEX, 2.0) == pytest.approx(
            best / run.noise_std_at(0) ** 2, rel=1e-12
        )


def test_ours_is_never_above_what_holds() -> None:
    generator = np.random.default_rng(1)
    for _ in range(60):
        run = random_run(generator)
        L = float(generator.uniform(0.2, 1.5) / run.step_size_at(0))
        m = float(generator.uniform(0.05, 1)) * L
        order = float(generator.uniform(1.1, 30))
        strong, convex = bound(run, StronglyConvex(L, m), order=order), bound(run, Convex(L), order=order)
        assert strong.epsilon <= printed.equation_b_3(run, StronglyConvex(L, m), order) * (1 + 1e-12)
        assert convex.epsilon <= min(
            printed.equation_b_1(run, _CONVEX, order), printed.equation_b_2(run, _CONVEX, order)
        ) * (1 + 1e-12)


def test_theorem_5_6_is_above_ours_and_equals_b_1_for_one_batch() -> None:
    generator = np.random.default_rng(2)
    for _ in range(60):
        run = random_run(generator, "cyclic", 2000)
        epsilon = printed.theorem_5_6(run, _CONVEX, 2.0)
        assert bound(run, Convex(1.0), order=2.0).epsilon <= epsilon * (1 + 1e-12)
        one = replace(run, batch_size=run.dataset_size, steps=10**6)
        s = 2 * one.step_size_at(0) * one.clip_norm / one.dataset_size
        horizon = np.ceil(one.diameter * one.dataset_size / (one.step_size_at(0) * one.clip_norm))
        cost = horizon * ((one.diameter + s) / horizon + s) ** 2 / one.noise_std_at(0) ** 2
        assert printed.theorem_5_6(one, _CONVEX, 2.0) == pytest.approx(cost, rel=1e-9)


def test_theorem_5_6_at_its_worst_position() -> None:
    run = NoisySGD(10**5, 0.1, 1.0, 1.0, dataset_size=12, batch_size=3, sampling="cyclic", diameter=1.0)
    T, batches, s = 120, 4, 0.2 / 3
    wide, even = (1 + s) / T, s / batches
    costs = [
        (j - 1) * wide**2
        + (T - batches) * (wide + even) ** 2
        + (batches - j + 1) * (wide + s / (batches - j + 1)) ** 2
        for j in range(1, batches + 1)
    ]
    assert printed.theorem_5_6(run, _CONVEX, 2.0) == pytest.approx(max(costs), rel=1e-12)


def test_no_domain_and_one_step() -> None:
    endless = replace(RUN, diameter=inf)
    whole = RUN.steps * printed.smaller_direction(RUN, 2.0)
    assert printed.equation_3_7(endless, _CONVEX, 2.0) == inf
    assert printed.equation_b_2(endless, _CONVEX, 2.0) == pytest.approx(whole, rel=1e-12)
    assert printed.equation_3_7(replace(RUN, steps=1), _CONVEX, 2.0) == inf
    assert printed.equation_b_3(
        replace(RUN, steps=1), StronglyConvex(1.0, 1.0), 2.0
    ) == printed.smaller_direction(RUN, 2.0)


def test_a_step_that_forgets_everything_leaves_two_prices() -> None:
    for noise, diameter in ((0.1, 1.0), (2.0, 1.0), (0.1, 1e-3)):
        run = replace(RUN, step_size=0.5, noise_std=noise, diameter=diameter)
        least = 2 * printed.smaller_direction(run, 2.0, 0.9999)
        assert printed.equation_b_3(run, StronglyConvex(2.0, 2.0), 2.0) == pytest.approx(least, rel=1e-3)


def test_a_domain_too_wide_for_floats_leaves_composition() -> None:
    run = replace(RUN, diameter=1e200, noise_std=1e-3)
    composed = 30 * printed.smaller_direction(run, 2.0)
    assert printed.equation_b_2(run, _CONVEX, 2.0) == pytest.approx(composed, rel=1e-12)


def test_the_smaller_direction_never_exceeds_its_ceiling() -> None:
    for noise, order in ((1e-6, 2.0), (1e-3, 40.0), (1.0, 1e6), (0.1, 1e4)):
        run = replace(RUN, noise_std=noise)
        assert 0 < printed.smaller_direction(run, order) <= log(1 / 0.9) * (1 + 1e-12)


def test_the_orders_of_lemma_2_12() -> None:
    """alpha* by bisection of the two printed inequalities in 30 digits."""
    for q, noise in ((0.01, 5.0), (0.1, 4.0), (0.001, 8.0)):
        with mpmath.workdps(30):

            def meets(alpha: mpmath.mpf, q: float = q, s: float = noise) -> bool:
                M = mpmath.log(1 + 1 / (q * (alpha - 1)))
                second = (M**2 * s**2 / 2 - mpmath.log(5 * s**2)) / (
                    M + mpmath.log(q * alpha) + 1 / (2 * mpmath.mpf(s) ** 2)
                )
                return alpha <= M * s**2 / 2 - mpmath.log(s**2) and alpha <= second

            for order in np.linspace(1.5, 60, 40).tolist():
                assert printed.order_is_small(q, noise, order) == meets(mpmath.mpf(order))
