"""Bounds on spectral norms hold, whatever the computed eigenvectors are."""

import numpy as np
import pytest

from lastiterate.numeric.networks import matrices
from lastiterate.numeric.networks.matrices import spectral_norm
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


def test_wrong_singular_vectors_give_a_wider_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(6, 4))
    for wrong in (
        np.linalg.qr(rng.normal(size=(4, 4)))[0],
        np.eye(4) * 1.2,
        np.zeros((4, 4)),
        rng.normal(size=(4, 4)),
    ):
        monkeypatch.setattr(matrices.np.linalg, "eigh", lambda *_a, v=wrong, **_k: (None, v[None]))
        with precision():
            assert upper(spectral_norm(matrix)) >= np.sqrt(np.linalg.eigvalsh(matrix.T @ matrix)[-1]) * (
                1 - 1e-13
            )
