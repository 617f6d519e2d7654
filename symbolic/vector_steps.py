"""Inequalities on one update that several papers state, for every function of a class on R^d."""

from typing import Final

from sympy import Expr, Integer, S, Symbol

from lastiterate.symbolic.checks import VectorInequality
from lastiterate.symbolic.families import (
    Clipping,
    ConvexSet,
    Functions,
    Sample,
    convex,
    smooth,
    strongly_convex,
)
from lastiterate.symbolic.notation import D, K, L, b, c, eta, m
from lastiterate.symbolic.vectors import Norm, Vector, inner

X: Final = Vector("x")
Y: Final = Vector("y")
CLIPPING: Final = Clipping("clip", K)
DOMAIN: Final = ConvexSet("X")


def step(
    family: Functions, factor: Expr, size: Expr = eta, *, clipped: bool = False, name: str = "step"
) -> VectorInequality:
    """A step multiplies the distance between two points by at most ``factor``; gradients can be ``clipped`` at K."""
    pair = tuple(family.at(point) for point in (X, Y))
    clips: tuple[Sample, ...] = tuple(CLIPPING.at(one.image) for one in pair) if clipped else ()
    one, other = clips or pair
    moved = X - Y - size * (one.image - other.image)
    rate, (u, v) = 2 * size * factor, pair
    helped = {"f(x, y)": rate, "f(y, x)": rate}
    helped |= {
        f"clip({u.image}, {v.image})": rate / family.high,
        f"clip({v.image}, {u.image})": rate / family.high,
    }
    bound = factor * Norm(X - Y)
    return VectorInequality(Norm(moved), "<=", bound, (*pair, *clips), (), helped if clipped else {}, name)


def projection(family: ConvexSet, factor: Expr = S.One) -> VectorInequality:
    """Projection multiplies the distance between two points by at most ``factor``."""
    one, other = family.at(X), family.at(Y)
    return VectorInequality(
        Norm(one.image - other.image), "<=", factor * Norm(X - Y), (one, other), name="projection"
    )


def tangent(family: Functions, above: Expr = S.Zero) -> VectorInequality:
    """f(x) exceeds the tangent of f at y by at least ``above`` times |x - y|^2."""
    one, other = family.at(X), family.at(Y)
    line = other.value + inner(other.image, X - Y)
    return VectorInequality(line + above * Norm(X - Y) ** 2, "<=", one.value, (one, other), name="tangent")


_V, _W, _SHIFT, _NOISE, _U, _S = map(Vector, ("v", "w", "a", "z", "u", "s"))
MAP_LETTERS: Final = {
    _SHIFT: "noise before, less the new part Y_t",
    _NOISE: "noise before and Z_t",
    Symbol("f"): "mean of the losses of the batch, of the class of each of them",
}
PROJECTED_LETTERS: Final = {
    _U: "a value of U_t",
    _V: "another value of U_t",
    _S: "Z_t",
    Symbol("f"): MAP_LETTERS[Symbol("f")],
}
REPLACED_LETTERS: Final = {
    Symbol("f"): "sum of the losses of the b - 1 other samples over b, (b - 1) L/b-smooth as each is L-smooth",
    _U: "gradient of the sample at one iterate",
    _S: "gradient of its replacement at the other iterate",
}


def noisy_map(family: Functions, factor: Expr, size: Expr) -> VectorInequality:
    """The map v -> P_X(v - size f'(v + a) + z) + a constant is ``factor``-Lipschitz."""
    samples = tuple(family.at(point + _SHIFT) for point in (_V, _W))
    one, other = (DOMAIN.at(at.point - _SHIFT - size * at.image + _NOISE) for at in samples)
    moved = Norm(one.image - other.image)
    return VectorInequality(moved, "<=", factor * Norm(_V - _W), (*samples, one, other), name="map")


def projected_map(family: Functions, factor: Expr, size: Expr) -> VectorInequality:
    """The map u -> p - size f'(p), p = P_X(u + s), is ``factor``-Lipschitz."""
    ends = tuple(DOMAIN.at(point + _S) for point in (_U, _V))
    samples = tuple(family.at(end.image) for end in ends)
    moved = [end.image - size * one.image for end, one in zip(ends, samples, strict=True)]
    return VectorInequality(
        Norm(moved[0] - moved[1]), "<=", factor * Norm(_U - _V), (*ends, *samples), name="map"
    )


def replaced_sample(times: Expr) -> VectorInequality:
    """Iterates at most D apart stay within D + times eta K/b after a projected step with one of b samples replaced.

    With c = 2 eta K/b, |u + v|^2 <= (1 + c/D) |u|^2 + (1 + D/c) |v|^2.
    """
    family, more = convex("f", (b - 1) * L / b), 2 * eta * K / b
    samples = tuple(map(family.at, (_V, _W)))
    moved = [one.point - eta * one.image - eta / b * own for one, own in zip(samples, (_U, _S), strict=True)]
    ends = tuple(map(DOMAIN.at, moved))
    projected = (f"X({moved[0]}, {moved[1]})", f"X({moved[1]}, {moved[0]})")
    multipliers = {
        **dict.fromkeys(("f(v, w)", "f(w, v)"), 2 * eta * (1 + more / D)),
        **dict.fromkeys(projected, Integer(2)),
        "given 1": 1 + more / D,
        **dict.fromkeys(("given 2", "given 3"), 2 * (eta / b) ** 2 * (1 + D / more)),
    }
    given = (Norm(_V - _W) <= D, Norm(_U) <= K, Norm(_S) <= K)
    apart = Norm(ends[0].image - ends[1].image)
    return VectorInequality(apart, "<=", D + times * eta * K / b, (*samples, *ends), given, multipliers, "step")


_BEST: Final = Vector("x*")
_x, _y = smooth("f", L).at(X), smooth("f", L).at(Y)
PARABOLA: Final = VectorInequality(
    _y.value,
    "<=",
    _x.value + inner(_x.image, Y - X) + L / 2 * Norm(X - Y) ** 2,
    (_x, _y),
    name="first gives second",
)

_convex = convex("f")
_u, _v = _convex.at(X), _convex.at(Y)
_bent = Norm(_u.image - _v.image) ** 2 / (2 * L)
_third = (
    _u.value + inner(_u.image, Y - X) + _bent <= _v.value,
    _v.value + inner(_v.image, X - Y) + _bent <= _u.value,
)
_between = _convex.at(Y - (_v.image - _u.image) / L)
_away = _between.point - Y
COCOERCIVE: Final = VectorInequality(
    _third[0].lhs,
    "<=",
    _v.value,
    (_u, _v, _between),
    (_between.value <= _v.value + inner(_v.image, _away) + L / 2 * inner(_away, _away),),
    name="second gives third",
)
LIPSCHITZ: Final = VectorInequality(
    Norm(_u.image - _v.image), "<=", L * Norm(X - Y), (_u, _v), _third, name="third gives first"
)

_least, _there = convex("f", L).minimum(_BEST), convex("f", L).at(X)
GRADIENT: Final = VectorInequality(
    Norm(_there.image) ** 2, "<=", 2 * L * (_there.value - _least.value), (_there, _least), name="gradient"
)

_strong = strongly_convex("f", m)
_one, _other, _inside = _strong.at(X), _strong.at(Y), _strong.at(c * X + (1 - c) * Y)
_chord = c * _one.value + (1 - c) * _other.value - m / 2 * c * (1 - c) * Norm(X - Y) ** 2
CHORD: Final = VectorInequality(_inside.value, "<=", _chord, (_one, _other, _inside), name="second gives first")
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
_above = _one.value - _minimum.value
DISTANCE: Final = VectorInequality(
    m / 2 * Norm(X - _BEST) ** 2, "<=", _above, (_one, _minimum), name="distance"
)
GAP: Final = VectorInequality(2 * m * _above, "<=", Norm(_one.image) ** 2, (_one, _minimum), name="gap")
