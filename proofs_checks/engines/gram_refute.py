"""Refutation by an exact matrix of inner products and exact values of functions, at one rational point.

A semidefinite program asks for inner products and values that meet every hypothesis and break the goal, with room to
spare; what it finds is rounded to rationals and verified exactly. They are inner products of vectors of R^r, where r is
the rank of the matrix; small ranks are tried first.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.gram_forms import Form, Problem
from lastiterate.proofs_checks.engines.gram_sdp import Floats, solve
from lastiterate.proofs_checks.engines.gram_search import numbers
from lastiterate.proofs_checks.exact_values import Point
from lastiterate.proofs_checks.feasible_points import NoPointError, points

_LARGEST = 100.0
_DENOMINATORS = (1, 10, 100, 10**4, 10**6)
"""Largest denominators of rounded numbers, tried in this order."""


class Matrix(NamedTuple):
    """Exact inner products and values that meet the hypotheses and break the goal, if there is one.

    Attributes:
        point: of the parameters.
        vectors: rows of coordinates, a column for every letter: the inner products are theirs.
        values: of functions.
        excess: the goal there, above 0.
    """

    point: Point
    vectors: sp.Matrix
    values: sp.Matrix
    excess: sp.Expr


def breaks(problem: Problem, point: Point, *, goal: bool = True) -> Matrix | None:
    """Inner products and values at this point that meet the hypotheses and, with ``goal``, break the goal."""
    found = _with_room(problem, point, goal=goal)
    if found is None:
        return None
    gram, values = found
    weights, directions = np.linalg.eigh(gram)
    roots = (directions * np.sqrt(np.maximum(weights, 0))).T[::-1]
    for rank, most in product(range(1, len(roots) + 1), _DENOMINATORS):
        exact = Matrix(point, _rounded(roots[:rank], most), _rounded(values.reshape(-1, 1), most), sp.S.Zero)
        excess = _excess(problem, exact, goal=goal)
        if excess is not None:
            return exact._replace(excess=excess)
    return None


def _with_room(problem: Problem, point: Point, *, goal: bool) -> tuple[Floats, Floats] | None:
    """The inner products and values, in floats, with the most room."""
    forms = [numbers(form, point) for form in problem.hypotheses.values()]
    below = [(-matrix, -values, -constant) for matrix, values, constant in forms]
    if goal:
        below.append(numbers(problem.goal, point))
    size, count = len(problem.letters), len(problem.values)
    places = [(i, k) for i in range(size) for k in range(i, size)]
    basis = np.zeros((len(places) + count + 1, size, size))
    for j, (i, k) in enumerate(places):
        basis[j, i, k] = basis[j, k, i] = 1
    rows = [
        np.concatenate([[m[i, k] * (1 if i == k else 2) for i, k in places], v, [-(1 + np.abs(m).sum())]])
        for m, v, _ in below
    ]
    sides = [-constant for *_, constant in below]
    trace = np.array([float(i == k) for i, k in places])
    rows.append(np.concatenate([-trace, np.zeros(count + 1)]))
    sides.append(-_LARGEST)
    for sign in (1, -1):
        for j in range(count):
            rows.append(np.concatenate([np.zeros(len(places)), sign * np.eye(count)[j], [0]]))
            sides.append(-_LARGEST)
    cost = np.append(np.zeros(len(places) + count), -1.0)
    rows.append(cost)
    sides.append(-1.0)
    nothing = np.zeros((0, len(cost))), np.zeros(0)
    found = solve(cost, nothing, (np.array(rows), np.array(sides)), [(basis, np.zeros((size, size)))])
    if found is None or found[-1] < 1e-7:
        return None
    gram = np.tensordot(found, basis, axes=(0, 0))
    return gram, found[len(places) : len(places) + count]


def _rounded(array: Floats, most: int) -> sp.Matrix:
    numbers = [sp.Rational(Fraction(float(one)).limit_denominator(most)) for one in array.ravel()]
    return sp.Matrix(*array.shape, numbers)


def _excess(problem: Problem, found: Matrix, *, goal: bool) -> sp.Expr | None:
    """The goal at exact inner products, where every hypothesis is met and the goal is not; 0 without a goal."""
    gram = found.vectors.T * found.vectors
    if any(_value(form.at(found.point), gram, found.values) > 0 for form in problem.hypotheses.values()):
        return None
    if not goal:
        return sp.S.Zero
    excess = _value(problem.goal.at(found.point), gram, found.values)
    return excess if excess > 0 else None


def _value(form: Form, gram: sp.Matrix, values: sp.Matrix) -> sp.Expr:
    products = sum((a * b for a, b in zip(form.matrix, gram, strict=True)), start=sp.S.Zero)
    return products + sum((a * b for a, b in zip(form.values, values, strict=True)), start=form.constant)


def inside(problem: Problem, wanted: int) -> Iterator[Point]:
    """Points of the parameters at which the premises hold."""
    yield from _some(problem, problem.premises, wanted)


def edges(problem: Problem) -> Iterator[Point]:
    """Points at which a premise holds with equality."""
    for premise in problem.premises:
        if isinstance(premise, sp.Le | sp.Ge):
            gap = premise.lhs - premise.rhs
            for letter in sorted(gap.free_symbols, key=str):
                for solution in sp.solve(gap, letter)[:2]:
                    yield from _some(problem, (sp.Eq(letter, solution, evaluate=False), *problem.premises), 2)


def _some(problem: Problem, premises: tuple[Boolean, ...], wanted: int) -> Iterator[Point]:
    letters = sorted(_symbols(problem), key=str)
    try:
        yield from points(letters, premises, wanted, tries=50)
    except NoPointError:
        return


def _symbols(problem: Problem) -> set[sp.Symbol]:
    """The parameters."""
    forms = [problem.goal, *problem.hypotheses.values()]
    parts = [*problem.premises, *problem.signs, *(part for form in forms for part in form)]
    return set[sp.Symbol]().union(*(part.free_symbols for part in parts))
