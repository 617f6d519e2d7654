# ruff: noqa: E501
"""Claims about vectors and members of families: those that are false or mean nothing, and those that are true."""

from dataclasses import replace

import sympy as sp
from referee_letters import ZERO, nonneg, pos, pos2, q, r, s

from lastiterate.symbolic.checks import VectorInequality
from lastiterate.symbolic.families import (
    Clipping,
    ConvexSet,
    Functions,
    FunctionValue,
    Operators,
    Sample,
    convex,
    smooth,
    strongly_convex,
)
from lastiterate.symbolic.vectors import Norm, Vector, inner

x, y, z = map(Vector, "xyz")
g, h, w = map(Vector, "ghw")
u, v = map(FunctionValue, "uv")
f, ball, body = convex("f"), Clipping("clip", pos), ConvexSet("K")
narrow, curved = strongly_convex("f", pos2, pos), smooth("f", pos)
steep = Functions("f", pos2, sp.oo, pos)
loose = Operators("M")
signed, firm = Operators("T", lipschitz=r), Operators("T", lipschitz=pos, strong=pos2)
firmer = Operators("T", strong=pos, cocoercive=pos2)
domed = Functions("f", -pos2, -pos, nonneg)
THIN = (r - sp.Rational(777, 1000)) ** 2 - sp.Rational(1, 10**7)  # below 0 where no sample is
HALF, SHARE = sp.Rational(1, 2), pos**2 / (pos2**2 - pos**2)
once = ball.at(x)
twice, beside = ball.at(once.image), ball.at(once.image + y)


def square(vector):
    return inner(vector, vector)


def vectors(left, right, *samples, given=(), sign="<="):
    return VectorInequality(sp.sympify(left), sign, sp.sympify(right), samples=samples, given=given)


def apart(family, of=lambda one: one.image):
    return of(family.at(x)) - of(family.at(y))


FALSE = [
    ("equal at equal vectors", vectors(2 * inner(x, y), square(x) + square(y), sign="<"), ()),
    ("a pole that cancels", vectors((r**2 - 1) / (r - 1) * square(x), (r + 1) * square(x) + square(y)), ()),
    ("a pole of a point", vectors(0, square(x), f.at(x / r)), ()),
    ("a root of any number", vectors(sp.sqrt(r) * square(x), 2 * sp.sqrt(r) * square(x)), ()),
    ("a value of 0 that nobody supposed", vectors(inner(g, y - x), 0, Sample(f, x, g), Sample(f, y, h, name="y")), ()),
    ("one letter for two values", vectors(inner(g, y - x), 0, Sample(f, x, g, v), Sample(f, y, h, v, "y")), ()),
    ("one letter for two gradients", vectors(inner(g, x - y), 0, Sample(f, x, g, u), Sample(f, y, g, v, "y")), ()),
    ("more curvature below than above", vectors(square(x), 0, narrow.at(x), narrow.at(y)), (pos2 > pos,)),
    ("strongly convex, with short gradients", vectors(apart(steep, lambda one: one.value), 0, *map(steep.at, (x, y))), ()),
    ("an empty class", vectors(pos2**2 * square(x - y), 4 * pos**2, steep.at(x), steep.at(y)), ()),
    ("a class that is empty: strongly concave, with short gradients", replace(vectors(pos**2 * square(x - y), 4 * nonneg**2, domed.at(x), domed.at(y)), multipliers={"f(x)": 2, "f(y)": 2, "f(x, y)": 2 * pos, "f(y, x)": 2 * pos}), (pos < pos2,)),
    ("operators that there are not: Lipschitz, and more strongly monotone", replace(vectors(square(apart(firm)), 0, firm.at(x), firm.at(y)), multipliers={"T(x, y)": 2 * pos2 * SHARE, "T(x, y)*": 1 + SHARE}), (pos2 > pos,)),
    ("operators that there are not: cocoercive, and too strongly monotone", replace(vectors(square(x - y), 0, firmer.at(x), firmer.at(y)), multipliers={"T(x, y)": pos2 / (pos * pos2 - 1), "T(x, y)*": pos2 / (pos * pos2 - 1)}), (pos * pos2 > 1,)),
    ("a multiplier with a root of any number", replace(vectors(r * square(x), r, firm.at(z), given=(square(x) <= HALF,)), multipliers={"given 1": (5 * r + r**sp.Rational(3, 2)) / 4}), (r <= 1, pos2 <= pos)),
    ("a square times a number below 0 where no sample is", vectors(0, THIN * square(x)), ()),
    ("a constant below 0 where no sample is", vectors(0, square(x) + THIN), ()),
    ("a multiplier below 0 where no sample is", replace(vectors(THIN * square(x), THIN, given=(square(x) <= 1,)), multipliers={"given 1": THIN}), ()),
    ("a pivot below 0 where no sample is", vectors(0, THIN * square(x) + 2 * inner(x, y) + 10**8 * square(y)), ()),
    ("a bound of the right square, and of any sign", vectors(Norm(x), r, given=(square(x) <= r**2,)), ()),
    ("a premise that says nothing where r is below 0", replace(vectors(r**2 * square(x), 1, firm.at(z), given=(sp.Le(r * Norm(x), 1),)), multipliers={"given 1": 1}), (pos2 <= pos,)),
    ("a sign that a premise says where a vector is not 0", vectors(0, r * square(z), given=(sp.Le(Norm(x), r * Norm(y)),)), ()),
    ("the value of a smooth function as on a line", vectors(curved.at(x).value, curved.at(y).value + inner(curved.at(y).image, x - y), curved.at(x), curved.at(y)), ()),
    ("premises against each other", vectors(square(y), 0, given=(inner(x, y) >= 2, square(x) <= 1, square(y) <= 1)), ()),
    ("a squared length below 0", vectors(square(y), 0, given=(sp.Le(Norm(x), -1),)), ()),
    ("two minima", vectors(square(x - y), 0, f.minimum(x), f.minimum(y)), ()),
    ("a Lipschitz constant of any sign", vectors(Norm(apart(signed)), r * Norm(x - y), signed.at(x), signed.at(y)), ()),
    ("a radius of any sign", vectors(Norm(g), r, Sample(Clipping("clip", r), x, g)), ()),
    ("two classes of one name", vectors(apart(narrow, lambda one: one.value), 0, narrow.at(x), f.at(y)), ()),
    ("vectors of one name", vectors(inner(f.at(x).image, x - Vector("x", nonzero=True)), 0, f.at(x)), ()),
    ("values of two functions", vectors(f.at(x).value, convex("h").at(x).value, f.at(x), convex("h").at(x)), ()),
    ("the least curvature as the greatest", vectors(square(apart(narrow)), pos2**2 * square(x - y), narrow.at(x), narrow.at(y)), (pos2 <= pos,)),
    ("a cycle of three under a monotone operator", vectors(0, inner(loose.at(x).image, x - y) + inner(loose.at(y).image, y - z) + inner(loose.at(z).image, z - x), *map(loose.at, (x, y, z))), ()),
    ("a step of any length", vectors(square(x - q * g - y), square(x - y), Sample(curved, x, g, v)), (q > 0,)),
]  # fmt: skip

TRUE = [
    ("the larger of two lengths", vectors(square(x), sp.Max(square(x), square(y))), ()),
    ("the smaller of two lengths", vectors(sp.Min(square(x), square(y)), square(x)), ()),
    ("an inner product below the larger square", vectors(inner(x, y), sp.Max(square(x), square(y))), ()),
    ("clipped twice", vectors(square(twice.image - once.image), 0, once, twice), ()),
    ("clipped, moved, clipped", vectors(square(beside.image - once.image), square(y), once, beside), ()),
    ("both Lipschitz and strongly monotone", vectors(pos2 * square(x - y), inner(apart(firm), x - y), *map(firm.at, (x, y))), (pos2 <= pos,)),
    ("cocoercive and strongly monotone", vectors(pos * square(x - y) + pos2 * square(apart(firmer)), inner(apart(firmer), x - y), *map(firmer.at, (x, y))), (4 * pos * pos2 <= 1,)),
    ("subgradients at one point", vectors(0, inner(g - w, x - y), Sample(f, x, g, u, "x"), Sample(f, y, h, v, "y"), Sample(f, y, w, v, "z")), ()),
    ("any Lipschitz constant from 0 on", vectors(square(apart(convex("f", nonneg))), nonneg**2 * square(x - y), *map(convex("f", nonneg).at, (x, y))), ()),
    ("projected twice", vectors(square(body.at(body.at(x).image).image - body.at(x).image), 0, body.at(x), body.at(body.at(x).image)), ()),
    ("a member of the ball", vectors(square(x), pos**2, ball.member(x)), ()),
]  # fmt: skip

UNCLEAR = [
    ("a number whose sign a premise says", vectors(0, r * square(y), given=(sp.Le(Norm(x), r * Norm(y)),)), ()),
    ("no name for samples", vectors(u + inner(g, y - x), v, Sample(f, x, g, u), Sample(f, y, h, v), Sample(f, z, w, FunctionValue("w"))), ()),
    ("a value without a sample", vectors(f.at((x + y) / 2).value, (u + v) / 2, Sample(f, x, g, u, "x"), Sample(f, y, h, v, "y")), ()),
    ("convex here, smooth there", vectors(square(apart(f)), pos * inner(apart(f), x - y), f.at(x), f.at(y), replace(curved.at(x), name="1"), replace(curved.at(y), name="2")), ()),
    ("a bound that is a length", vectors(0, r * square(x - y), signed.at(x), signed.at(y)), ()),
    ("a bound of gradients", vectors(ZERO, s, convex("f", steep=s).at(x)), ()),
]  # fmt: skip
"""True or unclear: none is refuted, and none needs to hold."""
