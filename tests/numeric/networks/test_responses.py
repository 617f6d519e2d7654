"""Norms: what is computed of them is what the claims state, and no ball is left."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from flint import arb
from sympy import Rational

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.networks import responses
from lastiterate.numeric.networks.matrices import MatrixBall, Spread, box
from lastiterate.numeric.networks.responses import Normalisation
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.symbolic.formulas import networks as stated

_ROUNDING = 1 + 1e-9


def _jacobian(norm: Normalisation, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian and the second derivative, shape (d, d, d), of one group, by the plain quotient rule."""
    d = len(x)
    C = np.eye(d) - norm.centred / d
    z = C @ x
    s = sqrt(z @ z / d + norm.eps)
    slope = z / (d * s)
    bend = (C / d - np.outer(slope, slope)) / s
    jacobian = C / s - np.outer(z, slope) / s**2
    second = (
        -np.einsum("ij,k->ijk", C, slope) / s**2 - np.einsum("ik,j->ijk", C, slope) / s**2
        - np.einsum("i,jk->ijk", z, bend) / s**2 + 2 * np.einsum("i,j,k->ijk", z, slope, slope) / s**3
    )  # fmt: skip
    return jacobian, second


def _matrix(slopes: object) -> MatrixBall:
    assert isinstance(slopes, MatrixBall)
    return slopes


@pytest.mark.parametrize("seed", range(24))
def test_balls_hold_the_derivatives_everywhere(seed: int) -> None:
    """Also where the variance may vanish in the ball, and in the worst direction that is known."""
    rng = np.random.default_rng(seed)
    d, eps = int(rng.integers(2, 7)), 10.0 ** rng.integers(-5, 1)
    norm = Normalisation(eps=eps, centred=bool(seed % 2))
    center = rng.normal(size=d) * (0.0 if seed % 8 == 7 else 1.0)
    reach, off = (0.0, 1e-4, 0.1, 5.0)[seed // 6] * float(rng.uniform(0.5, 1)), 0.1 * (seed % 3)
    m0 = rng.normal(size=d)
    with precision():
        spread = Spread(np.full(d, reach), exact(reach))
        found = norm.response(center, spread)
        slopes, most = _matrix(found.slopes), found.most
        form = _matrix(found.bends.form(m0, Spread(np.full(d, off), exact(off))))
        largest = upper(found.bends.largest(np.abs(m0) + off, exact(np.linalg.norm(m0) + off)))
        moved = spread.stretched(slopes)
    assert most is not None
    for _ in range(200):
        away, aside = rng.normal(size=d), rng.normal(size=d)
        x = center + reach * rng.uniform() ** (1 / d) * away / np.linalg.norm(away)
        m = m0 + off * aside / np.linalg.norm(aside)
        jacobian, second = _jacobian(norm, x)
        assert np.linalg.norm(jacobian - slopes.center, 2) <= upper(slopes.radius) * _ROUNDING + 1e-12
        bent = np.einsum("i,ijk->jk", m, second)
        assert np.linalg.norm(bent - form.center, 2) <= upper(form.radius) * _ROUNDING + 1e-12
        assert np.linalg.norm(bent, 2) <= largest * _ROUNDING
        z = x - x.mean() * norm.centred
        y = z / sqrt(z @ z / d + eps)
        for spread_of in (moved, most):
            assert np.linalg.norm(y - found.values) <= upper(spread_of.total) * _ROUNDING + 1e-12
            assert (np.abs(y - found.values) <= spread_of.each * _ROUNDING + 1e-12).all()


def test_the_second_derivative_is_that_of_the_claims() -> None:
    """At the centre: the parts of y' and y'' along u and n."""
    rng, d, eps = np.random.default_rng(0), 5, 0.25
    center, u, m = rng.normal(size=d), rng.normal(size=d), rng.normal(size=d)
    u -= u.mean()
    u /= np.linalg.norm(u)
    with precision():
        found = Normalisation(eps=eps).response(center, box(np.zeros(d)))
        slopes, form = _matrix(found.slopes), _matrix(found.bends.form(m, box(np.zeros(d))))
    n = found.values / sqrt(d)
    z = center - center.mean()
    c, s = Rational(float(n @ u)), Rational(sqrt(z @ z / d + eps))
    parts = [[float(part) for part in pair] for pair in (stated.first(c, s), stated.second(c, s, Rational(d)))]
    np.testing.assert_allclose(slopes.center @ u, parts[0][0] * u + parts[0][1] * n, rtol=1e-12)
    assert u @ form.center @ u == pytest.approx(m @ (parts[1][0] * u + parts[1][1] * n), rel=1e-12)


@pytest.mark.parametrize(("share", "constant"), [(0.9, "_CURVATURE"), (0.2, "_CURVATURE"), (1e-6, "_SLOPE")])
def test_bounds_three_percent_too_small_are_exceeded(
    share: float, constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rho is the share of the variance: bends are attained at c^2 = 1/3 and 1/5, the slope across n."""
    d, eps = 4, 1.0
    n = sqrt(share) * np.array([1.0, -1.0, 0.0, 0.0]) / sqrt(2)
    center = n * sqrt(d) * sqrt(eps / (1 - share))
    c = sqrt(min(share, 1 / 3))
    across = np.array([0.0, 0.0, 1.0, -1.0]) / sqrt(2)
    u = c / share * n + sqrt(1 - c**2 / share) * across
    jacobian, second = _jacobian(Normalisation(eps=eps), center)
    bent = np.einsum("ijk,j,k->i", second, u, u)
    truth = np.linalg.norm(jacobian, 2) if constant == "_SLOPE" else np.linalg.norm(bent)

    def claimed() -> float:
        with precision():
            found = Normalisation(eps=eps).response(center, box(np.zeros(d)))
            if constant == "_SLOPE":
                group = responses._Group(Normalisation(eps=eps), center, arb(0))
                return upper(group._least[0])
            return upper(found.bends.largest(np.full(d, 9.0), arb(1)))

    assert truth <= claimed() * _ROUNDING
    assert claimed() <= truth * 1.0001
    monkeypatch.setattr(responses, constant, getattr(responses, constant) * Rational(97, 100))
    assert claimed() < truth


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Normalisation(eps=0.0), "eps=0"),
        (lambda: Normalisation(groups=0), "groups=0"),
        (lambda: Normalisation(groups=2).response(np.ones(3), box(np.zeros(3))), "groups=2 of 3"),
    ],
)
def test_bad_input(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
