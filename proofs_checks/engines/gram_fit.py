"""Multipliers by a fit: semidefinite programs at rational points, and the least rational functions through them."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp
from sympy.polys.monomials import itermonomials

from lastiterate.proofs_checks.engines.gram_forms import Problem
from lastiterate.proofs_checks.engines.gram_sdp import Floats
from lastiterate.proofs_checks.engines.gram_search import at_point
from lastiterate.proofs_checks.exact_values import Point

_DEGREES = ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (3, 0), (2, 2))
"""Of numerators and denominators, in the order in which they are tried."""

_SPARE = 4
"""Points more than coefficients."""

_TOLERANCE = 1e-4
_LARGEST = 60
"""Denominator of a coefficient."""


def fitted(problem: Problem, points: Sequence[Point]) -> Iterator[dict[str, sp.Expr]]:
    """At most one set of multipliers, through those of least sum at the points."""
    solved = [(point, at_point(problem, point, np.ones(len(problem.hypotheses)))) for point in points]
    found = [(point, sizes) for point, sizes in solved if sizes is not None and len(sizes)]
    if not found:
        return
    usable, largest = [point for point, _ in found], max(float(sizes.max()) for _, sizes in found)
    multipliers = {}
    for name, sizes in zip(problem.hypotheses, np.array([sizes for _, sizes in found]).T, strict=True):
        if float(np.abs(sizes).max()) > _TOLERANCE * largest:
            function = _least(sizes, usable)
            if function is None:
                return
            multipliers[name] = function
    yield multipliers


def _least(sizes: Floats, points: Sequence[Point]) -> sp.Expr | None:
    """The rational function of least degree through numbers at points."""
    letters = sorted(points[0], key=str)
    for above, below in _DEGREES:
        tops, bottoms = (sorted(itermonomials(letters, degree), key=str) for degree in (above, below))
        if len(tops) + len(bottoms) + _SPARE > len(points):
            continue
        rows = np.array([[float(one.xreplace(point)) for one in (*tops, *bottoms)] for point in points])
        rows[:, len(tops) :] *= -sizes[:, None]
        rows /= np.abs(rows).max(axis=1, keepdims=True)
        _, singular, directions = np.linalg.svd(rows)
        if singular[-1] <= _TOLERANCE * singular[0]:
            return _rational(directions[-1], tops, bottoms)
    return None


def _rational(numbers: Floats, tops: list[sp.Expr], bottoms: list[sp.Expr]) -> sp.Expr | None:
    """The quotient of two sums with short coefficients, of which the last that is not small below is 1."""
    sizes = np.abs(numbers[len(tops) :])
    lead = numbers[len(tops) + int(np.flatnonzero(sizes > 1e2 * _TOLERANCE * sizes.max())[-1])]
    short = [sp.Rational(Fraction(float(one / lead)).limit_denominator(_LARGEST)) for one in numbers]
    above, below = (
        sum((a * b for a, b in pairs), start=sp.S.Zero)
        for pairs in (zip(short, tops, strict=False), zip(short[len(tops) :], bottoms, strict=True))
    )
    return sp.factor(above / below) if below != 0 else None
