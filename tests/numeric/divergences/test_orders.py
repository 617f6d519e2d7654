"""The float path: both ends against the enclosures, on a grid that reaches into every corner."""

import mpmath
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
def test_both_ends_against_the_enclosure(subtests: pytest.Subtests, fast: object, slow: object) -> None:
    for k, (q, noise) in enumerate(_GRID):
        with subtests.test(q=q, noise=noise):
            _check(q, noise, _ALPHAS[k % 3 :: 3] if 0.2 <= noise <= 50 else _ALPHAS, fast, slow)


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


def _documented(q: float, m: float, alpha: float, x: np.ndarray, bend: float, *, up: bool) -> tuple[float, float]:
    """Value and radius from the nodes, with 30 digits, by the paragraphs Trapezoid, Tails and Rounding."""
    with mpmath.workdps(30):
        unit, nodes = mpmath.mpf(2) ** -53, [mpmath.mpf(float(one)) for one in x]
        beta, h = mpmath.mpf(alpha if up else 1 - alpha), (nodes[-1] - nodes[0]) / (len(nodes) - 1)
        odds = [q * mpmath.exp(m * one - mpmath.mpf(m) ** 2 / 2) for one in nodes]
        r = [1 - q + odd for odd in odds]
        f = [mpmath.npdf(one) * ratio**beta for one, ratio in zip(nodes, r, strict=True)]
        total = mpmath.fsum(f)

        def mean(weights: list[mpmath.mpf], values: list[mpmath.mpf]) -> mpmath.mpf:
            return mpmath.fsum(w * v for w, v in zip(weights, values, strict=True)) / mpmath.fsum(weights)

        far = [one**2 + m * abs(one) for one in nodes]
        rates = []
        for end in (0, -1):
            rising = (m if end else 0) if up else m * odds[end] / r[end]  # slope of log r, from there on at least
            rates.append(abs(beta * rising - nodes[end]))
        ends = (f[0] / rates[0] + f[-1] / rates[1]) / (h * total)
        moment = mpmath.log(h * total)
        peak = max(mpmath.log(one * mpmath.sqrt(2 * mpmath.pi)) for one in f)
        if moment >= 1:
            exponents = 40 + 8 * mean(f, far) + abs(beta) * (8 + 4 * mean(f, [abs(mpmath.log(one)) for one in r]))
            error = mpmath.mpf("1.01") * (bend + ends) + unit * (exponents + abs(peak) + 4 * abs(moment))
            return float(moment / (alpha - 1)), float(error / (alpha - 1))
        F = [mpmath.npdf(one) * (ratio**beta - 1 - beta * (ratio - 1)) for one, ratio in zip(nodes, r, strict=True)]
        J = h * mpmath.fsum(F)
        steep = [abs((beta - 1 if up else beta) * mpmath.log(one)) for one in r]
        heavy = mean(F, [one + other for one, other in zip(far, steep, strict=True)])
        rest = mpmath.npdf(nodes[0]) * (1 + r[0]) / abs(nodes[0])
        rest += mpmath.npdf(nodes[-1]) * (1 + r[-1]) / (abs(nodes[-1]) - m)
        error = mpmath.mpf("1.01") * (bend * (1 + J + 2 * alpha) + ends * mpmath.e + (alpha - 1) * rest)
        error += unit * (1000 + 60 * heavy) * J
        value = mpmath.log1p(J) / (alpha - 1)
        return float(value), float(mpmath.mpf("1.01") * error / (1 + J) / (alpha - 1) + 8 * unit * value)


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(
    ("q", "m", "alpha"),
    [(0.1, 1.0, 3.0), (0.3, 2.0, 8.0), (0.01, 0.5, 1.5), (0.9, 1.5, 20.0), (0.5, 4.0, 6.0), (0.5, 0.3, 2.5)],
)
def test_the_radius_is_made_of_the_errors_that_are_listed(
    q: float, m: float, alpha: float, up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No comparison of values shows an error bound that is too small by luck: it is worked out a second time."""
    nodes, bends, density, step = [], [], orders._density, orders._step
    monkeypatch.setattr(orders, "_density", lambda x, log_ratio: (nodes.append(x), density(x, log_ratio))[1])
    monkeypatch.setattr(orders, "_step", lambda *given: (found := step(*given), bends.append((found, given)))[0])
    value, radius = (float(part[0]) for part in orders._trapezoid(q, m, np.array([alpha]), up=up))
    (mh, bend), (_, _, penalty) = bends[0]
    wanted = _documented(q, m, alpha, nodes[0], bend, up=up)
    assert value == pytest.approx(wanted[0], rel=1e-12)
    assert radius == pytest.approx(wanted[1], rel=3e-13, abs=0)
    assert np.diff(nodes[0]) == pytest.approx(mh / m, rel=1e-9)
    assert penalty == (0.0 if up else alpha - 1)
    with mpmath.workdps(30):
        h = mpmath.mpf(mh) / m
        widths = [mpmath.pi / m * k / 2000 for k in range(1, 2000)]
        kappas = [mpmath.exp(w**2 / 2) * mpmath.cos(m * w / 2) ** (-penalty) for w in widths]
        rho = min(2 * k / mpmath.expm1(2 * mpmath.pi * w / h) for k, w in zip(kappas, widths, strict=True))
        assert float(rho) * (1 - 1e-12) <= bend <= 1.1 * float(rho)


def test_far_apart_lies_between_the_two_sides_of_minkowski() -> None:
    q, m, alpha = 0.3, 30.0, np.array([1.5, 4.0])
    value, radius = orders._far_apart(q, m, alpha)
    with mpmath.workdps(40):
        for k, order in enumerate(alpha.tolist()):
            least = (order * mpmath.log(q) + order * (order - 1) * mpmath.mpf(m) ** 2 / 2) / (order - 1)
            assert abs(mpmath.mpf(float(value[k])) - least) <= radius[k]
            assert radius[k] <= 20 * 2.0**-53 * order * m**2
    close = orders._far_apart(0.001, 1.0, np.array([1.1]))
    assert not np.isfinite(close[1]).any()
