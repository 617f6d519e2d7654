"""Theorem 3.10 as far as the cases of C.1 go: the mean of the least G = sqrt(l - l*) over random paths.

The gradient at theta_t decides the case of a step, so that a path has steps of several cases. In case 2 the steps of
2.1 lower the squared distance from theta* by u G, those of 2.2 by v G^2, but for noise z. In case 1 those of 1.1 do by
u G, and a path is stopped at its first step of 1.2, where G is at most d. Means of a step are over the paths of one
kind: E[G; 2.1] and E[G^2; 2.2], of the paths that are not stopped in case 1, which has no second kind.
"""

from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.prelude import *

# Of all paths: E|theta_t - theta*|^2, the means of step t on paths of either kind, and their sums over the steps.
_distance, _first, _second, _firsts, _seconds = (Function(name, nonnegative=True) for name in ("e", "x", "y", "X", "Y"))
# Of one path: G at step t, whether it is of the first kind, and over the steps their numbers, the sums of G and of G^2.
_root, _kind, _number, _others, _roots, _squares = (
    Function(name, nonnegative=True) for name in ("G", "k", "N", "O", "S", "Q")
)
# Of the paths: chance, least, and the two parts that bound it; the means of these, and the mean square of the second.
_chance, _least, _part, _other, _chances, _least_mean, _part_mean, _other_mean, _other_square = (
    Function(name, nonnegative=True) for name in ("P", "m", "x", "z", "C", "M", "X", "Z", "R")
)


def _nearly(percent: int) -> Rational:
    return Rational(percent, 100)


def _lowered(noise: Expr) -> Induction:
    return Induction(
        t,
        Le(_distance(t) + u * _firsts(t) + v * _seconds(t), D**2 + t * z),
        (Le(_distance(0), D**2), *begin(_firsts, _seconds)),
        (
            Le(_distance(t + 1), _distance(t) - u * _first(t) - v * _second(t) + noise),
            gains(_firsts, _first(t)),
            gains(_seconds, _second(t)),
        ),
        name="the steps summed",
    )


_COUNTED = Induction(
    t,
    Le(g**2 * _others(t), _squares(t)),
    begin(_number, _others, _roots, _squares),
    (
        Le(_kind(t), 1),
        Le(g, _root(t)),
        gains(_number, _kind(t)),
        gains(_others, 1 - _kind(t)),
        gains(_roots, _kind(t) * _root(t)),
        gains(_squares, (1 - _kind(t)) * _root(t) ** 2),
    ),
    (Eq(_number(t) + _others(t), t), Le(g * _number(t), _roots(t))),
    name="a path of steps of either kind, g the least G",
)

_OVER_PATHS = Induction(
    t,
    Le(_least_mean(t), _part_mean(t) + _other_mean(t)),
    begin(_least_mean, _part_mean, _other_mean),
    (
        Le(_least(t), _part(t) + _other(t)),
        gains(_least_mean, _chance(t) * _least(t)),
        gains(_part_mean, _chance(t) * _part(t)),
        gains(_other_mean, _chance(t) * _other(t)),
    ),
    name="any number of paths, each with its chance",
)

_LEAST = Inequality(
    g,
    "<= and attained",
    x + sqrt(y),
    (a * g <= (T + 1) * x, (T + 1 - a) * g**2 <= (T + 1) * y),
    "its least, from the sums over T + 1, a steps of the first kind",
    attained=(Eq(a, T + 1), Eq(g, x), Eq(y, 0)),
)

CLAIMS = (
    Ours(
        "liang/theorem_3_10/repaired",
        "Steps that lower E|theta - theta*|^2 by u E G on some paths and by v E G^2 on the others, but for z: as in "
        "C.1, E min_t G is at most h/u + sqrt(h/v), h = D^2/(T + 1) + z; h/u + d if paths stop at the first G <= d",
        at("Theorem 3.10", "(17)"),
        _lowered(z).mutant("three percent more noise", _lowered(_nearly(103) * z)),
        _COUNTED,
        _LEAST.mutant("97 percent of x", sign="<=", right=_nearly(97) * x + sqrt(y), attained=()).mutant(
            "97 percent of the root", sign="<=", right=x + _nearly(97) * sqrt(y), attained=()
        ),
        Inequality(
            g,
            "<= and attained",
            x + d,
            (Or(g <= x, g <= d),),
            "stopped: G <= d, or g is at most the mean",
            attained=(Eq(g, x), Eq(d, 0)),
        ),
        _OVER_PATHS.mutant(
            "97 percent of one part",
            conclusion=Le(_least_mean(t), _nearly(97) * _part_mean(t) + _other_mean(t)),
        ),
        mean_square(
            _other, _chance, _other_mean, _other_square, _chances, name="the mean of a root (Cauchy and Schwarz)"
        ),
        Inequality(
            g,
            "<=",
            h / u + sqrt(h / v),
            (g <= x + P, y >= P**2, u * x + v * y <= h),
            "in the mean over all paths",
        ),
        Inequality(g, "<= and attained", h / u + d, (g <= x + d, u * x <= h), "and of stopped paths"),
        letters={
            g: "least G, or its mean",
            x: "mean of G over steps of the first kind, or its mean",
            y: "mean of G^2 over steps of the second kind, or its mean",
            P: "E sqrt(y)",
            h: "D^2/(T + 1) + z",
            z: "what the noise of a step adds",
            d: "bound of G in case 1.2",
            a: "number of steps of the first kind",
        },
        repairs="liang/theorem_3_10",
    ),
)
