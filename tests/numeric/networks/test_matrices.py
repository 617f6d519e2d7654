"""Balls of matrices hold what they should, whatever the singular value decomposition says."""

import numpy as np
import pytest

from lastiterate.numeric.networks import matrices
from lastiterate.numeric.networks.matrices import MatrixBall, Slopes, box, length, row_lengths, spectral_norm
from lastiterate.numeric.rounding import exact, precision, upper


@pytest.mark.parametrize("seed", range(8))
def test_the_norm_is_above_and_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rng.integers(1, 12), rng.integers(1, 12))) * 10.0 ** rng.integers(-200, 200)
    true = np.linalg.norm(matrix / np.abs(matrix).max(), 2) * np.abs(matrix).max()
    with precision():
        assert true * (1 - 1e-13) <= upper(spectral_norm(matrix)) <= true * (1 + 1e-12)


def test_a_norm_of_known_value_is_not_below_it() -> None:
    with precision():
        assert spectral_norm(np.array([[1.0, 1.0], [1.0, -1.0]])) >= exact(2.0).sqrt()
        assert spectral_norm(np.diag([3.0, 1.0])) >= 3
        assert spectral_norm(np.zeros((2, 3))) == 0
        assert not spectral_norm(np.array([[np.nan, 1.0], [1.0, 1.0]])).is_finite()
        assert length(np.array([3.0, 4.0])) >= 5
        assert (row_lengths(np.array([[3.0, 4.0], [0.0, 0.0]])) >= [5.0, 0.0]).all()


def test_wrong_singular_vectors_give_a_wider_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(6, 4))
    for wrong in (
        np.linalg.qr(rng.normal(size=(4, 4)))[0],
        np.eye(4) * 1.2,
        np.zeros((4, 4)),
        rng.normal(size=(4, 4)),
    ):
        monkeypatch.setattr(matrices.np.linalg, "svd", lambda *_a, v=wrong, **_k: (None, None, v))
        with precision():
            assert upper(spectral_norm(matrix)) >= np.sqrt(np.linalg.eigvalsh(matrix.T @ matrix)[-1]) * (
                1 - 1e-13
            )


def test_slopes_times_numbers_hold_every_product() -> None:
    """At the ends of both, so that a share of 1e-9 less is too narrow."""
    rng = np.random.default_rng(0)
    middle, spread, at, off = rng.normal(size=6), rng.uniform(0, 1, 6), rng.normal(size=6), rng.uniform(0, 1, 6)
    found = Slopes(middle, spread).times(at, box(off))
    ends = [np.abs((at + i * off) * (middle + j * spread) - found.middle) for i in (-1, 1) for j in (-1, 1)]
    assert (np.max(ends, axis=0) <= found.spread).all()
    assert (np.max(ends, axis=0) >= found.spread * (1 - 1e-9)).all()


@pytest.mark.parametrize("seed", range(5))
def test_balls_hold_their_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B, D = rng.normal(size=(3, 4)), rng.normal(size=(4, 5)), rng.normal(size=4)
    rho, tau, spread = 0.3, 0.2, rng.uniform(0, 0.5, size=4)

    def off(shape: tuple[int, int], radius: float) -> np.ndarray:
        drawn = rng.normal(size=shape)
        return drawn * radius / np.linalg.norm(drawn, 2)

    with precision():
        left, right = MatrixBall(A, exact(rho)), MatrixBall(B, exact(tau))
        slopes = Slopes(D, spread)
        balls = left.times(right), right.after(slopes), left.before(slopes), left.plus(left)
        for _ in range(50):
            X, Y = A + off(A.shape, rho), B + off(B.shape, tau)
            E = np.diag(D + rng.choice([-1, 1], size=4) * spread)
            for ball, product in zip(balls, (X @ Y, E @ Y, X @ E, X + X), strict=True):
                assert np.linalg.norm(product - ball.center, 2) <= upper(ball.radius) * (1 + 1e-12)
                assert np.linalg.norm(product, 2) <= upper(ball.norm) * (1 + 1e-12)
