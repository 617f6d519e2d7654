"""Inequalities about one update that several papers state, for every function of a class on R^d."""

from typing import Final

from sympy import Expr, Integer, S, Symbol

from lastiterate.symbolic.families import Clipping, ConvexSet, Functions, Sample, convex
from lastiterate.symbolic.notation import D, K, L, b, eta
from lastiterate.symbolic.vector_checks import VectorInequality
from lastiterate.symbolic.vectors import Norm, Vector, inner

X: Final = Vector("x")
Y: Final = Vector("y")
CLIPPING: Final = Clipping("clip", K)
DOMAIN: Final = ConvexSet("X")


def step(
    family: Functions, factor: Expr, size: Expr = eta, *, clipped: bool = False, name: str = "step"
) -> VectorInequality:
    """Two points after a step are at most ``factor`` times as far apart; ``clipped``: with gradients clipped at K."""
    pair = tuple(family.at(point) for point in (X, Y))
    clips: tuple[Sample, ...] = tuple(CLIPPING.at(one.image) for one in pair) if clipped else ()
    one, other = clips or pair
    moved = X - Y - size * (one.image - other.image)
    return VectorInequality(Norm(moved), "<=", factor * Norm(X - Y), (*pair, *clips), name=name)


def projection(family: ConvexSet, factor: Expr = S.One) -> VectorInequality:
    """Two projections are at most ``factor`` times as far apart as the points."""
    one, other = family.at(X), family.at(Y)
    return VectorInequality(Norm(one.image - other.image), "<=", factor * Norm(X - Y), (one, other), name="projection")


def tangent(family: Functions, above: Expr = S.Zero) -> VectorInequality:
    """The value of a function at x is above its tangent at y, by ``above`` times |x - y|^2."""
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
    """The map v -> P_X(v - size f'(v + a) + z) + a constant moves two points no farther apart than ``factor`` times."""
    samples = tuple(family.at(point + _SHIFT) for point in (_V, _W))
    moved = [point - size * one.image + _NOISE for point, one in zip((_V, _W), samples, strict=True)]
    ends = tuple(map(DOMAIN.at, moved))
    return VectorInequality(
        Norm(ends[0].image - ends[1].image), "<=", factor * Norm(_V - _W), (*samples, *ends), name="map"
    )


def projected_map(family: Functions, factor: Expr, size: Expr) -> VectorInequality:
    """The map u -> p - size f'(p), p = P_X(u + s), moves two points no farther apart than ``factor`` times."""
    ends = tuple(DOMAIN.at(point + _S) for point in (_U, _V))
    samples = tuple(family.at(end.image) for end in ends)
    moved = [end.image - size * one.image for end, one in zip(ends, samples, strict=True)]
    return VectorInequality(Norm(moved[0] - moved[1]), "<=", factor * Norm(_U - _V), (*ends, *samples), name="map")


def replaced_sample(times: Expr) -> VectorInequality:
    """Two iterates at most D apart, one of b samples replaced: after a projected step, D + times eta K/b apart.

    With c = 2 eta K/b, the square of a sum is at most (1 + c/D) and (1 + D/c) times the squares of its parts.
    """
    family, more = convex("f", (b - 1) * L / b), 2 * eta * K / b
    samples = tuple(map(family.at, (_V, _W)))
    moved = [
        point - eta * one.image - eta / b * own for point, one, own in zip((_V, _W), samples, (_U, _S), strict=True)
    ]
    ends = tuple(map(DOMAIN.at, moved))
    step_back, own = 2 * eta * (1 + more / D), 2 * (eta / b) ** 2 * (1 + D / more)
    multipliers = {
        "f(v, w)": step_back,
        "f(w, v)": step_back,
        f"X({moved[0]}, {moved[1]})": Integer(2),
        f"X({moved[1]}, {moved[0]})": Integer(2),
        "given 1": 1 + more / D,
        "given 2": own,
        "given 3": own,
    }
    given = (Norm(_V - _W) <= D, Norm(_U) <= K, Norm(_S) <= K)
    apart = Norm(ends[0].image - ends[1].image)
    return VectorInequality(apart, "<=", D + times * eta * K / b, (*samples, *ends), given, multipliers, "step")
