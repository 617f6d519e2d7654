"""The float path: both ends against the enclosures, on a grid that reaches into every corner."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st

from lastiterate.numeric.divergences import Orders, orders, s_down, s_down_orders, s_up, s_up_orders

_BOTH = pytest.mark.parametrize(("fast", "slow"), [(s_up_orders, s_up), (s_down_orders, s_down)], ids=["up", "down"])
_GRID = [
    *((q, noise) for q in (1e-12, 1e-5, 0.01, 0.3, 0.999, 1 - 1e-12, 1.0) for noise in (0.2, 0.7, 1.0, 3.0, 50.0)),
    (0.4, 12.0),
    (1e-50, 1.0),
    (1e-40, 0.05),
    (0.5, 0.02),
    (0.2, 0.005),
    (1e-3, 1e6),
    (1 - 2**-53, 0.3),
]
_ALPHAS = [1 + 1e-9, 1.0001, 1.1, 1.5, 2.0, 2.7, 8.0, 31.9, 59.3, 256.0]


def _check(q: float, noise: float, alphas: list[float], fast: object, slow: object) -> Orders:
    found = fast(q, noise, alphas)  # type: ignore[operator]
    assert np.isfinite(found.upper).all()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()
    for k, alpha in enumerate(alphas):
        ball = slow(q, noise, alpha=alpha)  # type: ignore[operator]
        assert found.lower[k] <= ball.lower, (q, noise, alpha)  # certified: the whole enclosure lies between the ends
        assert ball.upper <= found.upper[k], (q, noise, alpha)
        assert found.upper[k] - found.lower[k] <= 1e-10 * ball.upper
    return found


@_BOTH
@pytest.mark.parametrize(("q", "noise"), _GRID)
def test_both_ends_against_the_enclosure(q: float, noise: float, fast: object, slow: object) -> None:
    _check(q, noise, _ALPHAS, fast, slow)


@_BOTH
@options(max_examples=40)
@given(
    q=st.floats(-10, 0).map(lambda p: 10**p),
    noise=st.floats(-1, 2).map(lambda p: 10**p),
    alphas=st.lists(st.floats(-5, 2.4).map(lambda p: 1 + 10**p), min_size=1, max_size=4),
)
def test_both_ends_anywhere(q: float, noise: float, alphas: list[float], fast: object, slow: object) -> None:
    _check(q, noise, alphas, fast, slow)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@_BOTH
def test_both_ends_at_length(fast: object, slow: object) -> None:
    draw = np.random.default_rng(5)
    for _ in range(1000):
        alphas = (1 + 10 ** draw.uniform(-6, 2.4, 5)).tolist()
        _check(float(10 ** draw.uniform(-12, 0)), float(10 ** draw.uniform(-1.5, 3)), alphas, fast, slow)


def test_common_settings_need_no_enclosure(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(orders.sampled, "s_up", never)
    monkeypatch.setattr(orders.sampled, "s_down", never)
    alphas = np.concatenate([np.linspace(1.01, 10.9, 100), np.arange(11, 61)])
    for q, noise in [(0.01, 1.0), (0.1, 1.0), (1e-4, 0.6), (0.5, 10.0), (1e-3, 0.3)]:
        for fast in (s_up_orders, s_down_orders):
            found = fast(q, noise, alphas)
            assert (found.upper - found.lower <= 4.1e-12 * found.value).all()


def test_a_wrong_error_bound_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a step three times as wide, and rho left as it was, the enclosure falls outside."""
    step = orders._step

    def wide(m: float, depth: float, penalty: float) -> tuple[float, float]:
        mh, rho = step(m, depth, penalty)
        return 3 * mh, rho

    monkeypatch.setattr(orders, "_step", wide)
    found, ball = s_up_orders(0.1, 1.0, [2.5]), s_up(0.1, 1.0, alpha=2.5)
    assert not found.lower[0] <= ball.middle <= found.upper[0]


def test_a_coarse_step_is_told_by_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tolerance that asks for little, the stated radius grows and still covers."""
    step = orders._step
    monkeypatch.setattr(orders, "_WANTED", 1.0)
    monkeypatch.setattr(orders, "_step", lambda m, depth, penalty: step(m, depth / 4, penalty))
    for fast, slow in ((s_up_orders, s_up), (s_down_orders, s_down)):
        found = fast(0.1, 1.0, [2.5, 30.0])
        for k, alpha in enumerate([2.5, 30.0]):
            ball = slow(0.1, 1.0, alpha=alpha)
            assert found.lower[k] <= ball.lower <= ball.upper <= found.upper[k]
            assert found.upper[k] - found.lower[k] > 1e-9 * ball.upper


def test_shape_order_and_units() -> None:
    alphas = [40.0, 1.5, 7.0]
    found = s_up_orders(0.1, 1.0, alphas)
    assert found.alpha.tolist() == alphas
    assert [s_up_orders(0.1, 1.0, [a]).value[0] for a in alphas] == pytest.approx(found.value.tolist(), rel=1e-12)
    assert s_up_orders(0.1, 4.0, np.array(alphas), shift=4.0).value == pytest.approx(found.value, rel=1e-13)
    assert s_up_orders(0.1, 1.0, []).value.shape == (0,)
