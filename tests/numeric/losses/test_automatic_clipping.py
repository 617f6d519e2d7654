"""Automatic clipping steepens moduli by K / gamma and keeps nothing of convexity."""

import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Blocks,
    Clipped,
    Convex,
    Holder,
    Measured,
    Minimum,
    Modulus,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.losses.automatic_clipping import automatic_clipping


def test_the_modulus_holds_for_ten_thousand_pairs_and_is_attained_near_zero():
    rng = np.random.default_rng(4)
    g = rng.standard_normal((10_000, 3)) * 10.0 ** rng.uniform(-4, 2, (10_000, 1))
    h = g + rng.standard_normal((10_000, 3)) * 10.0 ** rng.uniform(-5, 1, (10_000, 1))
    for gamma, clip_norm in ((0.01, 1.0), (0.3, 5.0), (20.0, 2.0)):
        u, v = (clip_norm * x / (np.linalg.norm(x, axis=1, keepdims=True) + gamma) for x in (g, h))
        steep = automatic_clipping(Smooth(1.0), stability=gamma, clip_norm=clip_norm)
        ratio = np.linalg.norm(u - v, axis=1) / np.linalg.norm(g - h, axis=1)
        assert isinstance(steep, Smooth)
        assert ratio.max() <= steep.L * (1 + 1e-6)
        assert ratio.max() > 0.9 * steep.L
        assert np.linalg.norm(u, axis=1).max() < clip_norm


def test_every_modulus_has_a_counterpart():
    half = {"stability": 0.5, "clip_norm": 2.0}
    assert automatic_clipping(Holder(3.0, 0.5), **half) == Holder(12.0, 0.5)
    assert automatic_clipping(Tabulated((1.0, 2.0), (0.5, 1.0)), **half) == Tabulated((1.0, 2.0), (2.0, 4.0))
    assert automatic_clipping(Clipped(), **half) == Clipped()
    assert automatic_clipping(Sum(Smooth(1.0), Holder(1.0, 0.5)), **half) == Sum(Smooth(4.0), Holder(4.0, 0.5))
    assert automatic_clipping(Minimum(Smooth(1.0), Clipped()), **half) == Minimum(Smooth(4.0), Clipped())
    measured = automatic_clipping(Measured(Smooth(1.0), "a sample"), **half)
    assert measured == Measured(Smooth(4.0), "a sample")


def test_blocks_hold_for_the_whole_and_not_for_one() -> None:
    """Two blocks, x and 3 y: the whole meets the modulus, the block of x alone does not meet its own."""
    gamma, rng = 0.05, np.random.default_rng(6)
    blocks = automatic_clipping(Blocks(Smooth(1.0), Smooth(3.0)), stability=gamma)
    assert isinstance(blocks, Blocks)
    assert blocks.parts == (Smooth(20.0), Smooth(60.0))
    assert "root of the sum of squares" in blocks.statement
    points = rng.standard_normal((2, 10_000, 2)) * 10.0 ** rng.uniform(-4, 0, (10_000, 1))
    fields = [g / (np.linalg.norm(g, axis=1, keepdims=True) + gamma) for g in points * [1.0, 3.0]]
    distance = np.linalg.norm(points[0] - points[1], axis=1)
    change = fields[0] - fields[1]
    ratio = np.linalg.norm(change, axis=1) / blocks.value(distance)
    assert 0.5 < ratio.max() <= 1 + 1e-9
    # x stays, y alone changes: a block whose modulus is 0 changes all the same.
    still = [np.array([1.0, 3 * y]) / (np.hypot(1.0, 3 * y) + gamma) for y in (0.0, 1.0)]
    assert abs(still[0][0] - still[1][0]) > 0.5


def test_constants_are_rounded_up():
    steep = automatic_clipping(Smooth(0.1), stability=3.0)
    assert steep.L >= 0.1 / 3
    assert steep.L - 0.1 / 3 < 1e-16


@pytest.mark.parametrize("assumption", [Convex(1.0), StronglyConvex(1.0, 0.5), Minimum(Smooth(1.0), Convex(1.0))])
def test_convexity_is_refused(assumption):
    with pytest.raises(InputError, match=r"assumption=(Strongly)?Convex"):
        automatic_clipping(assumption, stability=0.1)


def test_a_modulus_of_ones_own_is_refused():
    class Own(Modulus):
        """A modulus that is not of this package."""

        def value(self, z):
            return z

        def slope(self, z):
            return np.ones_like(z)

        def ball(self, z):
            return z

        statement = "mine"

    with pytest.raises(InputError, match="keeps known moduli of continuity alone, got assumption=Own"):
        automatic_clipping(Own(), stability=0.1)


def test_a_wrong_stability_is_refused():
    with pytest.raises(InputError, match="stability=0"):
        automatic_clipping(Smooth(1.0), stability=0.0)
