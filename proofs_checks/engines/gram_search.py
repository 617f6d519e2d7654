"""Search in floats for multipliers and counterexamples; every candidate is verified exactly."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, islice, product
from typing import Any, NamedTuple, TypeAlias

import clarabel
import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy import sparse
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.gram_forms import (
    Form,
    GramCase,
    linear_coefficients,
    seen_letters,
    slack,
)
from lastiterate.proofs_checks.exact_values import Point
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols

Floats: TypeAlias = NDArray[np.float64]


def _solve(
    cost: Floats,
    equal: tuple[Floats, Floats],
    above: tuple[Floats, Floats],
    psd: Sequence[tuple[Floats, Floats]],
) -> Floats | None:
    """Minimise ``cost . x`` subject to A x = b, A x >= b and positive semidefinite B + sum x_j A_j.

    ``equal`` and ``above`` are (A, b); ``psd`` contains the stacked A_j and the B of each matrix.
    """
    rows, sides, cones = [equal[0], -above[0]], [equal[1], -above[1]], list[Any]()
    if len(equal[1]):
        cones.append(clarabel.ZeroConeT(len(equal[1])))
    if len(above[1]):
        cones.append(clarabel.NonnegativeConeT(len(above[1])))
    for parts, rest in psd:
        size = len(rest)
        if size:
            places = np.triu_indices(size)
            order = np.lexsort((places[0], places[1]))
            i, k = places[0][order], places[1][order]
            scale = np.where(i == k, 1.0, np.sqrt(2.0))
            rows.append(-(parts[:, i, k] * scale).T)
            sides.append(rest[i, k] * scale)
            cones.append(clarabel.PSDTriangleConeT(size))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    count = len(cost)
    constraints = sparse.csc_matrix(np.vstack([row.reshape(-1, count) for row in rows]))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((count, count)), cost, constraints, np.concatenate(sides), cones, settings
    )
    found = solver.solve()
    good = {"Solved", "AlmostSolved"}
    return np.array(found.x) if str(found.status) in good else None


_TOLERANCE = 1e-9
_MOST_SYSTEMS, _MOST_FOUND = 20_000, 12
"""Largest number of systems of equations solved, and of solutions tried as multipliers."""


@dataclass(frozen=True)
class _Free:
    """Multipliers, and constant s and matrix S of their `slack`, as linear functions of free parameters t."""

    names: tuple[str, ...]
    letters: tuple[sp.Symbol, ...]
    multipliers: tuple[sp.Expr, ...]
    constant: sp.Expr
    matrix: sp.Matrix

    def put(self, values: dict[sp.Symbol, sp.Expr]) -> dict[str, sp.Expr]:
        """Nonzero multipliers at values of t."""
        found = (sp.factor(one.xreplace(values)) for one in self.multipliers)
        return {name: one for name, one in zip(self.names, found, strict=True) if one != 0}

    def equations(self) -> list[sp.Expr]:
        """Expressions linear in t that may vanish."""
        rows = range(self.matrix.rows)
        found = [
            *self.multipliers,
            self.constant,
            *(one - other for one, other in combinations(self.multipliers, 2)),
        ]
        found += (self.matrix[i, k] for i in rows for k in rows if i <= k)
        for i, k in combinations(rows, 2):
            minor = self.matrix[i, i] * self.matrix[k, k] - self.matrix[i, k] ** 2
            found += (sp.expand(minor.diff(letter)) for letter in self.letters)
        for i, k in combinations(rows, 2):
            found += (self.matrix[i, j] + sign * self.matrix[k, j] for j in rows for sign in (1, -1))
        return [one for one in dict.fromkeys(found) if one.free_symbols & {*self.letters}]


def _vertices(free: _Free, points: Sequence[Point]) -> Iterator[dict[str, sp.Expr]]:
    """Multipliers that are rational in the problem's parameters and, in floating point, valid at the points.

    The free parameters t solve equally many equations. Each says that a multiplier, s or an entry of S
    vanishes, two multipliers agree, a minor of two rows has slope 0, or two entries of a column agree up to
    sign.
    """
    equations, size, count = free.equations(), free.matrix.rows, len(free.letters)
    rows, matrix, numbers = (
        np.array([_coefficients(one, free.letters, points[0]) for one in some]).reshape(-1, count + 1)
        for some in (equations, free.matrix, (*free.multipliers, free.constant))
    )
    seen = set[tuple[float, ...]]()
    for chosen in islice(combinations(range(len(equations)), count), _MOST_SYSTEMS):
        system = rows[list(chosen)]
        if count and np.linalg.cond(system[:, 1:]) > 1 / _TOLERANCE:
            continue
        place = np.append(1.0, np.linalg.solve(system[:, 1:], -system[:, 0]))
        key = tuple(np.round(place, 7))
        if key in seen or not _is_good(numbers @ place, (matrix @ place).reshape(size, size)):
            continue
        seen.add(key)
        solved = next(iter(sp.linsolve([equations[i] for i in chosen], free.letters)), ()) if count else ()
        values = {letter: sp.factor(one) for letter, one in zip(free.letters, solved, strict=False)}
        if len(solved) == count and all(_serves(free, values, point) for point in points):
            yield free.put(values)


def _coefficients(expression: sp.Expr, letters: tuple[sp.Symbol, ...], point: Point) -> list[float]:
    here = sp.expand(expression.xreplace(point))
    slopes = [here.coeff(letter) for letter in letters]
    return [float(here.xreplace(dict.fromkeys(letters, sp.S.Zero))), *map(float, slopes)]


def _is_good(multipliers: Floats, matrix: Floats) -> bool:
    if min(multipliers, default=0) < -_TOLERANCE:
        return False
    return not matrix.size or float(np.linalg.eigvalsh(matrix)[0]) >= -_TOLERANCE * (
        1 + float(np.abs(matrix).max())
    )


def _serves(free: _Free, values: dict[sp.Symbol, sp.Expr], point: Point) -> bool:
    here = {name: value.xreplace(point) for name, value in values.items()}
    found = [one.xreplace(point).xreplace(here) for one in (*free.multipliers, free.constant, *free.matrix)]
    if not all(one.is_number and one.is_real for one in found):
        return False
    numbers, count = np.array([float(one) for one in found]), len(free.multipliers) + 1
    return _is_good(numbers[:count], numbers[count:].reshape(free.matrix.shape))


_MOST_FREE = 3
"""Largest number of free parameters t."""
_NOTHING = 1e-5
"""Share of the largest multiplier below which a multiplier is taken to be 0."""


def find_multipliers(problem: GramCase, points: Sequence[Point]) -> Iterator[dict[str, sp.Expr]]:
    """Candidate multipliers that are valid at the points, in floating point."""
    for names in _supports(problem, points):
        free = _eliminated(problem, names)
        if free is not None and len(free.letters) <= _MOST_FREE:
            yield from islice(_vertices(free, points), _MOST_FOUND)


def _supports(problem: GramCase, points: Sequence[Point]) -> list[tuple[str, ...]]:
    """Sets of hypotheses with nonzero multipliers: small sets found by semidefinite programs, then all."""
    names = tuple(problem.hypotheses)
    sparse, generator = list[tuple[str, ...]](), np.random.default_rng(0)
    for point in points[:2] if len(names) > _MOST_FREE else ():
        for weights in (np.ones(len(names)), *(0.5 + generator.random((2, len(names))))):
            found = _at_point(problem, point, weights)
            if found is not None:
                sizes = zip(names, found, strict=True)
                sparse.append(tuple(name for name, one in sizes if one > _NOTHING * max(found)))
    return list(dict.fromkeys((*sorted(sparse, key=len), names)))


def _numbers(form: Form, point: Point) -> tuple[Floats, Floats, float]:
    here = form.at(point)
    size = here.matrix.rows
    return (
        np.array(here.matrix, float).reshape(size, size),
        np.array(here.values, float).ravel(),
        float(here.constant),
    )


def _at_point(problem: GramCase, point: Point, weights: Floats) -> Floats | None:
    if not problem.hypotheses:
        return None
    forms = [_numbers(form, point) for form in problem.hypotheses.values()]
    matrix, values, constant = _numbers(problem.goal, point)
    count = len(forms)
    equal = np.array([value for _, value, _ in forms]).reshape(count, len(values)).T
    constants = np.array([one for _, _, one in forms])
    above = np.vstack([np.eye(count), constants]), np.append(np.zeros(count), constant)
    stacked = np.array([one for one, _, _ in forms]).reshape(count, *matrix.shape)
    return _solve(weights, (equal, values), above, [(stacked, -matrix)])


def _eliminated(problem: GramCase, names: tuple[str, ...]) -> _Free | None:
    """Multipliers of these hypotheses with which the function values cancel, or None."""
    letters = sp.symbols(f"l:{len(names)}", cls=sp.Dummy)
    matrix, values, constant = slack(problem, dict(zip(names, letters, strict=True)))
    equations = [one for one in values if one != 0]
    if not letters and equations:
        return None  # without hypotheses nothing cancels the values
    while True:
        solved = sp.linsolve(equations, letters) if equations else {letters}
        if not solved:
            return None
        (found,) = solved
        by = dict(zip(letters, found, strict=True))
        free = tuple(one for one in letters if by[one] == one)
        reduced = matrix.xreplace(by).applyfunc(partial(_collected, free=free))
        more = [reduced[i, k] for i in range(matrix.rows) if reduced[i, i] == 0 for k in range(matrix.rows)]
        more = [one for one in more if one != 0]
        if not more:
            kept = seen_letters(
                [reduced.xreplace(dict.fromkeys(free, sp.S.Zero)), *(reduced.diff(one) for one in free)]
            )
            return _Free(
                names, free, tuple(found), _collected(constant.xreplace(by), free), reduced.extract(kept, kept)
            )
        equations += more


def _collected(expression: sp.Expr, free: tuple[sp.Symbol, ...]) -> sp.Expr:
    *numbers, rest = linear_coefficients(expression, free) or (expression,)
    return sum((number * letter for number, letter in zip(numbers, free, strict=True)), start=rest)


_LARGEST = 100.0
_DENOMINATORS = (1, 10, 100, 10**4, 10**6)
"""Largest denominators of rounded numbers, tried in this order."""


class Matrix(NamedTuple):
    """Exact vectors, one column per letter, and function values, at a point of the parameters."""

    point: Point
    vectors: sp.Matrix
    values: sp.Matrix


def find_matrix(problem: GramCase, point: Point, *, goal: bool = True) -> Matrix | None:
    """Vectors and values that meet the hypotheses and, with ``goal``, violate the goal."""
    found = _with_room(problem, point, goal=goal)
    if found is None:
        return None
    gram, values = found
    weights, directions = np.linalg.eigh(gram)
    roots = (directions * np.sqrt(np.maximum(weights, 0))).T[::-1]
    for rank, most in product(range(1, len(roots) + 1), _DENOMINATORS):
        exact = Matrix(point, _rounded(roots[:rank], most), _rounded(values.reshape(-1, 1), most))
        if _is_right(problem, exact, goal=goal):
            return exact
    return None


def _with_room(problem: GramCase, point: Point, *, goal: bool) -> tuple[Floats, Floats] | None:
    forms = [_numbers(form, point) for form in problem.hypotheses.values()]
    below = [(-matrix, -values, -constant) for matrix, values, constant in forms]
    if goal:
        below.append(_numbers(problem.goal, point))
    i, k = np.triu_indices(len(problem.letters))
    entries, count = len(i), len(problem.values)
    unknowns = np.eye(entries + count + 1)  # the entries of the matrix, the values, and the room
    basis = np.zeros((len(unknowns), len(problem.letters), len(problem.letters)))
    basis[range(entries), i, k] = basis[range(entries), k, i] = 1
    rows = [np.tensordot(basis, matrix) for matrix, _, _ in below]
    for row, (matrix, values, _) in zip(rows, below, strict=True):
        row[entries:] = *values, -(1 + np.abs(matrix).sum())
    sizes, cost = unknowns[entries:-1], -unknowns[-1]
    rows += [-np.trace(basis, axis1=1, axis2=2), *sizes, *-sizes, cost]
    sides = [*(-constant for *_, constant in below), *[-_LARGEST] * (1 + 2 * count), -1.0]
    nothing = np.zeros((0, len(cost))), np.zeros(0)
    found = _solve(cost, nothing, (np.array(rows), np.array(sides)), [(basis, np.zeros(basis.shape[1:]))])
    if found is None or found[-1] < 1e-7:
        return None
    return np.tensordot(found, basis, axes=(0, 0)), found[entries:-1]


def _rounded(array: Floats, most: int) -> sp.Matrix:
    numbers = [sp.Rational(Fraction(float(one)).limit_denominator(most)) for one in array.ravel()]
    return sp.Matrix(*array.shape, numbers)


def _is_right(problem: GramCase, found: Matrix, *, goal: bool) -> bool:
    gram = found.vectors.T * found.vectors
    if any(_value(form.at(found.point), gram, found.values) > 0 for form in problem.hypotheses.values()):
        return False
    return not goal or bool(_value(problem.goal.at(found.point), gram, found.values) > 0)


def _value(form: Form, gram: sp.Matrix, values: sp.Matrix) -> sp.Expr:
    products = sum((a * b for a, b in zip(form.matrix, gram, strict=True)), start=sp.S.Zero)
    return products + sum((a * b for a, b in zip(form.values, values, strict=True)), start=form.constant)


def points_inside(problem: GramCase, wanted: int, *more: Boolean) -> Iterator[Point]:
    """Points of the parameters that meet the premises and further conditions."""
    forms = (problem.goal, *problem.hypotheses.values())
    letters = free_symbols(problem.premises, problem.signs, *(part for form in forms for part in form))
    with suppress(NoPointError):
        yield from find_points(letters, (*more, *problem.premises), wanted, tries=50)


def points_on_edges(problem: GramCase) -> Iterator[Point]:
    """Points at which a premise is an equality."""
    for premise in problem.premises:
        if isinstance(premise, sp.Le | sp.Ge):
            gap = premise.lhs - premise.rhs
            for letter in sorted(gap.free_symbols, key=str):
                for solution in sp.solve(gap, letter)[:2]:
                    yield from points_inside(problem, 2, sp.Eq(letter, solution, evaluate=False))
