"""Search for multipliers: candidates, each of which is verified exactly by others.

The values of functions cancel, and so do the entries beside a diagonal entry that is 0: linear equations, solved
exactly. What is left free goes to `gram_vertex`. Of many multipliers, a semidefinite program at a point says which may
vanish, and which agree.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import sympy as sp

from lastiterate.proofs_checks.engines.gram_forms import Form, Problem, linear, seen
from lastiterate.proofs_checks.engines.gram_sdp import Floats, solve
from lastiterate.proofs_checks.engines.gram_vertex import Free, vertices
from lastiterate.proofs_checks.exact_values import Point

_MOST_FREE = 3
_NOTHING = 1e-5

_Groups: TypeAlias = tuple[tuple[str, ...], ...]
"""Names of hypotheses, those together that have one multiplier."""


def candidates(problem: Problem, points: Sequence[Point]) -> Iterator[dict[str, sp.Expr]]:
    """Multipliers that serve at the points, in floats."""
    for groups in dict.fromkeys(_supports(problem, points)):
        free = _eliminated(problem, groups)
        if free is not None and len(free.letters) <= _MOST_FREE:
            yield from vertices(free, points)


def _supports(problem: Problem, points: Sequence[Point]) -> Iterator[_Groups]:
    """Hypotheses whose multipliers may be other than 0: few, as semidefinite programs have them, then all."""
    names = tuple(problem.hypotheses)
    sparse, generator = list[tuple[str, ...]](), np.random.default_rng(0)
    for point in points[:2] if len(names) > _MOST_FREE else ():
        for weights in (np.ones(len(names)), *(0.5 + generator.random((2, len(names))))):
            found = at_point(problem, point, weights)
            if found is None:
                continue
            sizes = {name: one for name, one in zip(names, found, strict=True) if one > _NOTHING * max(found)}
            sparse.append(tuple(sizes))
            groups = list[list[str]]()
            for name, size in sizes.items():
                alike = [one for one in groups if abs(sizes[one[0]] - size) <= _NOTHING * max(found)]
                groups += [] if alike else [[]]
                (alike or groups)[-1].append(name)
            if len(groups) < len(sizes):
                yield tuple(map(tuple, groups))
    for some in (*sorted(dict.fromkeys(sparse), key=len), names):
        yield tuple((name,) for name in some)


def numbers(form: Form, point: Point) -> tuple[Floats, Floats, float]:
    """The form at a point, in floats."""
    here = form.at(point)
    size = here.matrix.rows
    return np.array(here.matrix, float).reshape(size, size), np.array(here.values, float).ravel(), float(here.constant)


def at_point(problem: Problem, point: Point, weights: Floats) -> Floats | None:
    """Multipliers at a point, the sum of which, so weighted, is least."""
    if not problem.hypotheses:
        return None
    forms = [numbers(form, point) for form in problem.hypotheses.values()]
    matrix, values, constant = numbers(problem.goal, point)
    count = len(forms)
    equal = np.array([value for _, value, _ in forms]).reshape(count, len(values)).T
    constants = np.array([one for _, _, one in forms])
    above = np.vstack([np.eye(count), constants]), np.append(np.zeros(count), constant)
    stacked = np.array([one for one, _, _ in forms]).reshape(count, *matrix.shape)
    return solve(weights, (equal, values), above, [(stacked, -matrix)])


def _eliminated(problem: Problem, groups: _Groups) -> Free | None:
    """The multipliers of these hypotheses for which values cancel; None where there are none."""
    names = tuple(name for group in groups for name in group)
    letters = sp.symbols(f"l:{len(names)}", cls=sp.Dummy)
    forms = [problem.hypotheses[name] for name in names]
    matrix, values = -problem.goal.matrix, -problem.goal.values
    for letter, form in zip(letters, forms, strict=True):
        matrix, values = matrix + letter * form.matrix, values + letter * form.values
    by_name = dict(zip(names, letters, strict=True))
    equations = [one for one in values if one != 0]
    equations += (by_name[group[0]] - by_name[name] for group in groups for name in group[1:])
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
            kept = seen([reduced.xreplace(dict.fromkeys(free, sp.S.Zero)), *(reduced.diff(one) for one in free)])
            return Free(names, free, tuple(found), reduced.extract(kept, kept))
        equations += more


def _collected(expression: sp.Expr, free: tuple[sp.Symbol, ...]) -> sp.Expr:
    """The expression as a sum of free numbers with factors."""
    *numbers, rest = linear(expression, free) or (expression,)
    return sum((number * letter for number, letter in zip(numbers, free, strict=True)), start=rest)
