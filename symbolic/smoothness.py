"""Items of Lemmas A.14 and A.15 of Liang et al. as inequalities between vectors of R^d.

A.14 goes round: an L-Lipschitz gradient bounds the function by a parabola; of a convex function that is so bounded, the
third item follows at the point that is best for the parabola; two of the third item are the first. A.15: the chord
of |x|^2 is above it by c (1 - c) |x - y|^2: strong convexity is convexity without m |x|^2/2, and so for tangents.
"""

from typing import Final

from lastiterate.symbolic.families import convex, smooth, strongly_convex
from lastiterate.symbolic.notation import L, c, m
from lastiterate.symbolic.vector_checks import VectorInequality
from lastiterate.symbolic.vector_steps import X, Y
from lastiterate.symbolic.vectors import Norm, Vector, inner

_BEST: Final = Vector("x*")
_any = smooth("f", L)
_x, _y = _any.at(X), _any.at(Y)
PARABOLA: Final = VectorInequality(
    _y.value, "<=", _x.value + inner(_x.image, Y - X) + L / 2 * Norm(X - Y) ** 2, (_x, _y), name="first gives second"
)

_convex = convex("f")
_u, _v = _convex.at(X), _convex.at(Y)
_rest = _u.value + inner(_u.image, Y - X)
_between = _convex.at(Y - (_v.image - _u.image) / L)
COCOERCIVE: Final = VectorInequality(
    _rest + Norm(_u.image - _v.image) ** 2 / (2 * L),
    "<=",
    _v.value,
    (_u, _v, _between),
    (
        _between.value
        <= _v.value + inner(_v.image, _between.point - Y) + L / 2 * inner(_between.point - Y, _between.point - Y),
    ),
    name="second gives third",
)
_third = (
    _rest + Norm(_u.image - _v.image) ** 2 / (2 * L) <= _v.value,
    _v.value + inner(_v.image, X - Y) + Norm(_u.image - _v.image) ** 2 / (2 * L) <= _u.value,
)
LIPSCHITZ: Final = VectorInequality(
    Norm(_u.image - _v.image), "<=", L * Norm(X - Y), (_u, _v), _third, name="third gives first"
)

_least = convex("f", L).minimum(_BEST)
_there = convex("f", L).at(X)
GRADIENT: Final = VectorInequality(
    Norm(_there.image) ** 2, "<=", 2 * L * (_there.value - _least.value), (_there, _least), name="gradient"
)

_strong = strongly_convex("f", m)
_points = _strong.at(X), _strong.at(Y), _strong.at(c * X + (1 - c) * Y)
_chord = c * _points[0].value + (1 - c) * _points[1].value
CHORD: Final = VectorInequality(
    _points[2].value, "<=", _chord - m / 2 * c * (1 - c) * Norm(X - Y) ** 2, _points, name="second gives first"
)
WITHOUT: Final = VectorInequality(
    Norm(c * X + (1 - c) * Y) ** 2,
    "==",
    c * Norm(X) ** 2 + (1 - c) * Norm(Y) ** 2 - c * (1 - c) * Norm(X - Y) ** 2,
    name="first is third",
)
TANGENT: Final = VectorInequality(
    Norm(Y) ** 2, "==", Norm(X) ** 2 + 2 * inner(X, Y - X) + Norm(X - Y) ** 2, name="third is second"
)

_minimum = _strong.minimum(_BEST)
DISTANCE: Final = VectorInequality(
    m / 2 * Norm(X - _BEST) ** 2, "<=", _points[0].value - _minimum.value, (_points[0], _minimum), name="distance"
)
GAP: Final = VectorInequality(
    2 * m * (_points[0].value - _minimum.value), "<=", Norm(_points[0].image) ** 2, (_points[0], _minimum), name="gap"
)
