"""Responses of activations to inputs that are known as a ball: values, slopes and second derivatives.

Layer norm, group norm and RMS norm are activations z / sqrt(|z|^2 / d + eps) in each group of d entries, z the entries,
less their mean where the norm is centred. What is learned, a factor and a bias an entry, is a layer of its own.
Derivatives are bounded because of eps, and far better where the variance is bounded from below on the ball.

Source: docs/proofs/network_constants.md, "Balls" and "Normalisation" (claims ours/certified/network/*).
"""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Protocol

import numpy as np
from flint import arb
from sympy import Symbol

from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.losses.activations import PiecewiseLinear, SmoothActivation
from lastiterate.numeric.networks.matrices import (
    TINY,
    Floats,
    MatrixBall,
    Slopes,
    Spread,
    as_float,
    gamma,
    length,
    round_up,
)
from lastiterate.numeric.rounding import exact
from lastiterate.symbolic.formulas import networks as stated

_V, _EPS, _D = (Symbol(name, nonnegative=True) for name in ("v", "eps", "d"))
_SLOPE, _CURVATURE, _TWIST = stated.greatest_slope(_V, _EPS), stated.curvature(_V, _EPS, _D), stated.twist(_V, _EPS, _D)


class Bends(Protocol):
    """The second derivative of an activation on a ball of its inputs."""

    @property
    def finite(self) -> bool:
        """True if it is bounded: no kink lies in the ball."""

    def largest(self, each: Floats, total: arb) -> arb:
        """At least |m . phi''(u, u)| for |u| = 1 and every m, |m_i| <= each[i], shape (width,), and |m| <= total."""

    def form(self, at: Floats, off: Spread) -> Slopes | MatrixBall:
        """All quadratic forms u -> m . phi''(u, u), m within ``off`` of ``at``."""


@dataclass(frozen=True)
class Response:
    """Values and derivatives of an activation on a ball of inputs.

    Attributes:
        values: at the centre, shape (width,).
        off: how far from there the exact values may be, shape (width,).
        slopes: its derivative, wherever in the ball.
        bends: its second derivative.
        most: how far from ``values`` it may be anywhere; None where that is not bounded.
    """

    values: Floats
    off: Floats
    slopes: Slopes | MatrixBall
    bends: Bends
    most: Spread | None = None


@dataclass(frozen=True)
class _EntryBends:
    """phi'' of an activation that acts entry by entry."""

    ranges: Slopes

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.ranges.spread).all())

    def largest(self, each: Floats, total: arb) -> arb:  # noqa: ARG002
        return exact(float(round_up((each * self.ranges.above).max(), 2)))

    def form(self, at: Floats, off: Spread) -> Slopes:
        middle = at * self.ranges.middle
        spread = np.abs(at) * self.ranges.spread + off.each * self.ranges.above + np.abs(middle) * 2.0**-52
        return Slopes(middle, round_up(spread, 4))


def entrywise(phi: SmoothActivation | PiecewiseLinear, center: Floats, spread: Spread) -> Response:
    """Response of an activation that acts entry by entry, to inputs within ``spread`` of ``center``."""
    ends = [
        (exact(a) - exact(off), exact(a) + exact(off))
        for a, off in zip(center.tolist(), spread.each.tolist(), strict=True)
    ]
    slopes, curved = (_around([curve(*one) for one in ends]) for curve in (phi.slopes, phi.curvatures))
    return Response(*_rounded([phi.value(exact(a)) for a in center.tolist()]), slopes, _EntryBends(curved))


def _rounded(exactly: list[arb]) -> tuple[Floats, Floats]:
    """The middles of balls as floats, and at least the distance of each from the numbers in the ball."""
    values = np.array([float(value.mid()) for value in exactly])
    return values, np.array([as_float(abs(v - exact(c))) for v, c in zip(exactly, values.tolist(), strict=True)])


def _around(ranges: list[tuple[arb, arb]]) -> Slopes:
    middles, radii = [], []
    for least, most in ranges:
        middle = float(((least + most) / 2).mid())
        middles.append(middle if isfinite(middle) else 0.0)
        radii.append(as_float((most - exact(middles[-1])).max(exact(middles[-1]) - least)))
    return Slopes(np.array(middles), np.array(radii))


@dataclass(frozen=True)
class Normalisation:
    """A norm without learned parameters.

    Attributes:
        groups: the entries are split evenly among so many, in their order.
        eps: what is added to the variance, positive.
        centred: whether the mean is subtracted; RMS norm does not.
        name: as it is called in statements.

    Raises:
        InputError: a number out of its range.

    >>> with_mean = Normalisation(eps=1e-5).response(np.array([1.0, 3.0]), Spread(np.zeros(2), arb(0)))
    >>> with_mean.values.round(4).tolist()
    [-1.0, 1.0]
    """

    groups: int = 1
    eps: float = 1e-5
    centred: bool = True
    name: str = "layer_norm"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", count("groups", self.groups))
        object.__setattr__(self, "eps", positive("eps", self.eps))

    def response(self, center: Floats, spread: Spread) -> Response:
        """Response to inputs within ``spread`` of ``center``.

        Raises:
            InputError: the entries cannot be split evenly.
        """
        width = len(center)
        if width % self.groups:
            raise InputError(
                f"A norm needs its entries split evenly, got groups={self.groups} of {width}; give a divisor."
            )
        parts = np.split(np.arange(width), self.groups)
        found = [_Group(self, center[part], spread.total.min(length(spread.each[part]))) for part in parts]
        values, off = (np.concatenate(several) for several in zip(*(one.values for one in found), strict=True))
        size = width // self.groups
        most = Spread(np.abs(values) + as_float(exact(float(size)).sqrt()), length(values) + arb(width).sqrt())
        return Response(values, off, _side_by_side([one.slopes for one in found]), _Bends(tuple(found)), most)


class _Group:
    """One group of entries, within ``moved`` of ``center`` in the Euclidean norm."""

    def __init__(self, norm: Normalisation, center: Floats, moved: arb) -> None:
        self.size, self._norm, self._moved = len(center), norm, moved
        entries = [exact(a) for a in center.tolist()]
        mean = sum(entries, arb(0)) / self.size if norm.centred else arb(0)
        z = [a - mean for a in entries]
        sizes = sum((a**2 for a in z), arb(0))
        least = exact(max(0.0, -as_float(moved - sizes.sqrt()))) ** 2 / self.size
        self._here, self._least = self._bounds(sizes / self.size), self._bounds(least)
        y, root = [a * self._here[0] for a in z], arb(self.size).sqrt()
        self.values = _rounded(y)  # and how far from y they may be
        self._n, off = _rounded([one / root for one in y])
        self._n_off = length(off)

    def _bounds(self, variance: arb) -> tuple[arb, arb, arb]:
        """1/s, and at least |y''| and |y'''|, where the variance is at least this."""
        at = {_V: variance, _EPS: exact(self._norm.eps), _D: arb(self.size)}
        slope, curvature, twist = (enclose(each, at) for each in (_SLOPE, _CURVATURE, _TWIST))
        return slope, curvature, twist

    @cached_property
    def _centring(self) -> Floats:
        """I, less the mean where it is taken away; an entry is off by at most three roundings of it."""
        return np.eye(self.size) - (1.0 / self.size if self._norm.centred else 0.0)

    @cached_property
    def slopes(self) -> MatrixBall:
        """(C - n n^T) / s, C the centring: at the centre, or half of its greatest value, whichever says more.

        It lies between 0 and C / s in the order of quadratic forms.
        """
        (scale,), (off,) = _rounded([self._here[0]])
        size = length(self._n)
        center = scale * (self._centring - np.outer(self._n, self._n))
        rounding = gamma(8) * exact(scale) * (length(self._centring) + size**2) + exact(TINY)
        near = exact(scale) * self._n_off * (2 * size + self._n_off) + exact(off)
        moved = MatrixBall(center, self._moved * self._least[1] + rounding + near)
        (half,), (half_off,) = _rounded([self._least[0] / 2])
        middle = MatrixBall(
            half * self._centring,
            self._least[0] / 2 + exact(half_off) + gamma(8) * exact(half) * length(self._centring) + exact(TINY),
        )
        return _lesser(moved, middle)

    def largest(self, total: arb) -> arb:
        """At least |m . y''(u, u)|, |m| <= total and |u| = 1."""
        return total * self._least[1]

    def form(self, at: Floats, off: arb) -> MatrixBall:
        """-(n m^T + m n^T + (m . n)(C - 3 n n^T)) / (s^2 sqrt(d)), m within ``off`` of ``at``, less its mean."""
        n, C, size = self._n, self._centring, length(self._n)
        (scale,), (scale_off,) = _rounded([self._here[0] ** 2 / arb(self.size).sqrt()])
        m, total = C @ at, length(at)
        center = -scale * (np.outer(n, m) + np.outer(m, n) + (at @ n) * (C - 3.0 * np.outer(n, n)))
        # Sizes of the terms in the Euclidean norm, all of whose roundings are fewer than 4 d + 16; then the change of
        # the terms with n, each at most linear, bilinear or trilinear in it, |n| <= 1 and m no longer than ``at``.
        terms = total * size * (2 * (1 + length(C)) + length(C) + 3 * size**2)
        reach = 1 + self._n_off
        turned = self._n_off * (2 + 1 + 3 * 3 * reach**2) * total
        rounding = gamma(4 * self.size + 16) * terms * exact(scale)
        near = exact(scale) * turned + exact(scale_off) * 8 * total * reach**3 + exact(TINY)
        moved = total * self._least[2] * self._moved + off * self._least[1]
        middle = MatrixBall(np.zeros_like(center), (total + off) * self._least[1])
        return _lesser(MatrixBall(center, rounding + near + moved), middle)


@dataclass(frozen=True)
class _Bends:
    """The second derivative of a norm, group by group."""

    groups: tuple[_Group, ...]

    @property
    def finite(self) -> bool:
        return True

    def largest(self, each: Floats, total: arb) -> arb:
        parts = np.split(each, len(self.groups))
        found = arb(0)
        for group, part in zip(self.groups, parts, strict=True):
            found = found.max(group.largest(total.min(length(part))))
        return found

    def form(self, at: Floats, off: Spread) -> MatrixBall:
        parts = zip(self.groups, np.split(at, len(self.groups)), np.split(off.each, len(self.groups)), strict=True)
        return _side_by_side([group.form(here, off.total.min(length(each))) for group, here, each in parts])


def _lesser(one: MatrixBall, other: MatrixBall) -> MatrixBall:
    return one if as_float(one.radius) <= as_float(other.radius) else other


def _side_by_side(blocks: list[MatrixBall]) -> MatrixBall:
    """The matrices along the diagonal of one."""
    size = len(blocks[0].center)
    center, radius = np.zeros((size * len(blocks),) * 2), arb(0)
    for place, block in enumerate(blocks):
        at = slice(place * size, (place + 1) * size)
        center[at, at], radius = block.center, radius.max(block.radius)
    return MatrixBall(center, radius)
