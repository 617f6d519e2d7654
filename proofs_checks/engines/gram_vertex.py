"""Multipliers by linear equations and vertices: recipes tried at a point in floats, then followed exactly.

Of the free numbers t, on which multipliers and entries of S depend linearly, all but one are put where a multiplier
or an entry of S vanishes, two multipliers agree, or a minor of two rows has no slope: linear equations. The last one is
put where one of these happens, or at the vertex of a minor of two rows, of S or of what one elimination leaves of S.
All of it is rational in the parameters.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
import sympy as sp

from lastiterate.proofs_checks.engines.gram_sdp import Floats
from lastiterate.proofs_checks.exact_values import Point

_TOLERANCE = 1e-9
_PLACES = (0.31, 0.93, 1.71, 2.63)
_MOST_LINES = 3000
_MOST_FOUND = 12


@dataclass(frozen=True)
class Free:
    """Multipliers and the matrix S, linear in free numbers t."""

    names: tuple[str, ...]
    letters: tuple[sp.Symbol, ...]
    multipliers: tuple[sp.Expr, ...]
    matrix: sp.Matrix

    def put(self, values: dict[sp.Symbol, sp.Expr]) -> dict[str, sp.Expr]:
        """The multipliers where t has these values, without those that are 0."""
        found = (sp.factor(one.xreplace(values)) for one in self.multipliers)
        return {name: one for name, one in zip(self.names, found, strict=True) if one != 0}

    def equations(self) -> list[sp.Expr]:
        """Expressions linear in t that may vanish."""
        rows = range(self.matrix.rows)
        found = [*self.multipliers, *(one - other for one, other in combinations(self.multipliers, 2))]
        found += (self.matrix[i, k] for i in rows for k in rows if i <= k)
        for i, k in combinations(rows, 2):
            minor = self.matrix[i, i] * self.matrix[k, k] - self.matrix[i, k] ** 2
            found += (sp.expand(minor.diff(letter)) for letter in self.letters)
        return [one for one in dict.fromkeys(found) if one.free_symbols & {*self.letters}]


class _End(NamedTuple):
    """The last free number: where an equation holds, or where a minor after an elimination has its vertex."""

    equation: int = -1
    pivot: int = -1
    rows: tuple[int, int] = (-1, -1)


def vertices(free: Free, points: Sequence[Point]) -> Iterator[dict[str, sp.Expr]]:
    """Multipliers that serve at the points, in floats."""
    if not free.letters:
        if all(_serves(free, {}, point) for point in points):
            yield free.put({})
        return
    equations = free.equations()
    for zeros, end in islice(_recipes(free, equations, points[0]), _MOST_FOUND):
        values = _followed(free, [equations[i] for i in zeros], end, equations)
        if values is not None and all(_serves(free, values, point) for point in points):
            yield free.put(values)


def _recipes(free: Free, equations: list[sp.Expr], point: Point) -> Iterator[tuple[tuple[int, ...], _End]]:
    """Recipes that serve at one point."""
    rows = np.array([_linear(one, free.letters, point) for one in equations])
    size = free.matrix.rows
    matrix = np.array([_linear(one, free.letters, point) for one in free.matrix]).reshape(size, size, -1)
    numbers = np.array([_linear(one, free.letters, point) for one in free.multipliers])
    for zeros in islice(combinations(range(len(equations)), len(free.letters) - 1), _MOST_LINES):
        line = _line(rows[list(zeros)], len(free.letters))
        if line is None:
            continue
        start, way = line

        def at(s: float, start: Floats = start, way: Floats = way) -> Floats:
            return np.append(1.0, start + s * way)

        seen = list[float]()
        for end, s in _ends(rows, matrix, at):
            if any(abs(s - other) <= _TOLERANCE * (1 + abs(s)) for other in seen):
                continue
            seen.append(s)
            if _good(numbers @ at(s), matrix @ at(s)):
                yield zeros, end


def _linear(expression: sp.Expr, letters: tuple[sp.Symbol, ...], point: Point) -> list[float]:
    """The number without letters, then those before them."""
    here = sp.expand(expression.xreplace(point))
    slopes = [here.coeff(letter) for letter in letters]
    return [float(here.xreplace(dict.fromkeys(letters, sp.S.Zero))), *map(float, slopes)]


def _line(rows: Floats, count: int) -> tuple[Floats, Floats] | None:
    """A point and a direction of the solutions of equations, where these are a line."""
    if not len(rows):
        return np.zeros(count), np.ones(1)
    _, sizes, directions = np.linalg.svd(rows[:, 1:])
    if sizes[-1] <= _TOLERANCE * sizes[0]:
        return None
    return np.asarray(np.linalg.lstsq(rows[:, 1:], -rows[:, 0], rcond=None)[0], float), directions[-1]


def _ends(rows: Floats, matrix: Floats, at: Callable[[float], Floats]) -> Iterator[tuple[_End, float]]:
    """Places on a line for the last number."""
    values, slopes = rows @ at(0), rows @ (at(1) - at(0))
    for i, (value, slope) in enumerate(zip(values, slopes, strict=True)):
        if abs(slope) > _TOLERANCE * (1 + abs(value)):
            yield _End(i), -value / slope
    size, whole = len(matrix), [matrix @ at(s) for s in _PLACES]
    for pivot in range(-1, size):
        if pivot >= 0 and any(abs(one[pivot, pivot]) <= _TOLERANCE for one in whole):
            continue
        left = whole if pivot < 0 else [_without(one, pivot) for one in whole]
        for i, k in combinations([j for j in range(size) if j != pivot], 2):
            minors = np.array([one[i, i] * one[k, k] - one[i, k] ** 2 for one in left])
            quadratic = np.polyfit(_PLACES[:3], minors[:3], 2)
            room = _TOLERANCE * (1 + float(np.abs(minors).max()))
            if quadratic[0] < -1e-3 * room and abs(np.polyval(quadratic, _PLACES[3]) - minors[3]) < room:
                yield _End(pivot=pivot, rows=(i, k)), -quadratic[1] / (2 * quadratic[0])


def _without(matrix: Floats, pivot: int) -> Floats:
    return np.asarray(matrix - np.outer(matrix[pivot], matrix[pivot]) / matrix[pivot, pivot], float)


def _good(multipliers: Floats, matrix: Floats) -> bool:
    if min(multipliers, default=0) < -_TOLERANCE:
        return False
    return not matrix.size or float(np.linalg.eigvalsh(matrix)[0]) >= -_TOLERANCE * (1 + float(np.abs(matrix).max()))


def _followed(free: Free, zeros: list[sp.Expr], end: _End, equations: list[sp.Expr]) -> dict[sp.Symbol, sp.Expr] | None:
    """The free numbers by a recipe, exactly."""
    solved = sp.linsolve(zeros, free.letters) if zeros else {free.letters}
    found = next(iter(solved), None)
    if found is None:
        return None
    values = {letter: sp.factor(one) for letter, one in zip(free.letters, found, strict=True)}
    left = [letter for letter, one in values.items() if letter == one]
    if len(left) != 1:
        return None
    (last,) = left
    if end.equation >= 0:
        expression = sp.cancel(equations[end.equation].xreplace(values))
    else:
        matrix = free.matrix.xreplace(values)
        (i, k), j = end.rows, end.pivot
        if j >= 0:
            matrix = matrix - matrix[:, j] * matrix[j, :] / matrix[j, j]
        expression = sp.cancel(matrix[i, i] * matrix[k, k] - matrix[i, k] ** 2).diff(last)
    slope = sp.cancel(expression.diff(last))
    place = sp.factor(last - expression / slope) if slope != 0 else last
    return (
        None if last in place.free_symbols else {letter: one.xreplace({last: place}) for letter, one in values.items()}
    )


def _serves(free: Free, values: dict[sp.Symbol, sp.Expr], point: Point) -> bool:
    """Tell whether the multipliers are not negative and S is positive semidefinite at a point, in floats."""
    here = {name: value.xreplace(point) for name, value in values.items()}
    found = [one.xreplace(point).xreplace(here) for one in (*free.multipliers, *free.matrix)]
    if not all(one.is_number and one.is_real for one in found):
        return False
    numbers, count = np.array([float(one) for one in found]), len(free.multipliers)
    return _good(numbers[:count], numbers[count:].reshape(free.matrix.shape))
