"""Inequalities between vectors of every dimension, for all members of families of functions and operators.

An inequality that holds for every positive semidefinite matrix of inner products holds in every R^d. A proof
is a sum of hypotheses with multipliers, verified exactly; a refutation is an exact matrix. Both are searched
for in floats.

An inequality is a linear form <matrix, G> + values . F + constant <= 0 in inner products G and function values
F, with coefficients that depend on the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, combinations, combinations_with_replacement, islice, product
from typing import Any, NamedTuple, TypeAlias

import clarabel
import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy import sparse
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks import declared
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.answers import (
    changed,
    first_middle_last,
    held,
    refuted,
    terms_of,
    undecided,
)
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, point_text
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Relation, VectorInequality
from lastiterate.symbolic.families import (
    Clipping,
    Family,
    Functions,
    FunctionValue,
    Operators,
    Sample,
    inequalities,
)
from lastiterate.symbolic.statement import letters as letters_of
from lastiterate.symbolic.vectors import Inner, Norm, Vector, coefficients, inner

_Case: TypeAlias = tuple[VectorInequality, tuple[Boolean, ...]]
"""Check with conditions on its parameters."""


class Form(NamedTuple):
    """Expression <matrix, G> + values . F + constant."""

    matrix: sp.Matrix
    values: sp.Matrix
    constant: sp.Expr

    def at(self, point: Mapping[sp.Symbol, sp.Expr]) -> "Form":
        """Form at a point of the parameters."""
        return Form(self.matrix.xreplace(point), self.values.xreplace(point), self.constant.xreplace(point))


@dataclass(frozen=True)
class GramCase:
    """Case of a check: if the premises hold and no hypothesis is positive, the goal is at most 0.

    Attributes:
        letters: vectors in the order of the matrices; the vectors in ``origin`` are set to 0.
        goal: left minus right side, or the difference of their squares; ``sides`` are not squared.
        signs: numbers that must be nonnegative for the squares to imply the original inequality.
        exact: whether members of the families attain all values that meet the hypotheses.
    """

    premises: tuple[Boolean, ...]
    letters: tuple[Vector, ...]
    values: tuple[FunctionValue, ...]
    hypotheses: Mapping[str, Form]
    goal: Form
    signs: tuple[sp.Expr, ...]
    multipliers: Mapping[str, sp.Expr]
    exact: bool
    origin: tuple[Vector, ...]
    sides: tuple[sp.Expr, sp.Expr]


def gram_cases(check: VectorInequality, premises: tuple[Boolean, ...]) -> Iterator[GramCase]:
    """Cases that together cover a check."""
    for chosen, found in _of_maxima(check, premises):
        for case, allowed in _of_curvatures(chosen, found):
            yield _problem(case, allowed)


def _of_maxima(check: VectorInequality, premises: tuple[Boolean, ...]) -> Iterator[_Case]:
    """Cases by the argument that attains a maximum or minimum of numbers."""
    said = (check.left, check.right, *check.given)
    found = sorted(set[sp.Basic]().union(*(one.atoms(sp.Max, sp.Min, sp.Abs) for one in said)), key=str)
    if not found:
        yield check, premises
        return
    first = found[0]
    args = (first.args[0], -first.args[0]) if isinstance(first, sp.Abs) else first.args
    for chosen in args:
        order = sp.Le if isinstance(first, sp.Min) else sp.Ge
        beside = tuple(order(chosen, other, evaluate=False) for other in args if other != chosen)
        of_vectors = tuple(one for one in beside if one.atoms(Vector, FunctionValue))
        case = rename(replace(check, given=(*check.given, *of_vectors)), {first: chosen})
        yield from _of_maxima(case, (*premises, *(one for one in beside if one not in of_vectors)))


def _of_curvatures(check: VectorInequality, premises: tuple[Boolean, ...]) -> Iterator[_Case]:
    """Cases low < high and low = high of each class of functions; in the latter, gradients are affine."""
    for family in dict.fromkeys(one.family for one in check.samples if isinstance(one.family, Functions)):
        low, high = family.low, family.high
        apart = sp.Lt(low, high, evaluate=False)
        if high in (sp.oo, low) or apart in premises or entails(premises, apart):
            continue
        yield from _of_curvatures(check, (*premises, apart))
        for letter, same in _meet(high - low):
            known = (*premises, *declared.conditions(letter))
            together = tuple(one.xreplace({letter: same}) for one in known)
            if not entails(together, sp.false):
                yield from _of_curvatures(rename(check, {letter: same}), together)
        return
    yield _affine(check), premises


def _meet(gap: sp.Expr) -> Iterator[tuple[sp.Symbol, sp.Expr]]:
    """Solutions of gap = 0, each as a letter and its value."""
    for factor, _ in sp.factor_list(sp.numer(sp.together(gap)))[1]:
        if not factor.is_nonzero:
            letter = next(
                (one for one in sorted(factor.free_symbols, key=str) if sp.degree(factor, one) == 1), None
            )
            if letter is None or sp.LC(factor, letter).free_symbols:
                raise UnsupportedError(f"the gram engine cannot find where {factor} is 0")
            yield letter, sp.solve(factor, letter)[0]


def _affine(check: VectorInequality) -> VectorInequality:
    """Eliminate samples determined by others (same point, one curvature), and clipping of short gradients."""
    short = {one.image: one.family.steep for one in check.samples if isinstance(one.family, Functions)}
    for one in check.samples:
        if (
            isinstance(one.family, Clipping)
            and short.get(one.point) == one.family.radius
            and one.image != one.point
        ):
            return _affine(rename(check, {one.image: one.point}))
    ordered = sorted(check.samples, key=lambda one: one.image.is_Symbol)  # samples with known gradients first
    for first, other in combinations(ordered, 2):
        names = _implied(first, other) if first.family == other.family else {}
        if names:
            rest = tuple(one for one in check.samples if one != other)
            return _affine(rename(replace(check, samples=rest), names))
    return check


def _implied(first: Sample, other: Sample) -> dict[sp.Expr, sp.Expr]:
    """Image and value of a sample in terms of another sample's; {} if not determined."""
    family, apart = first.family, sp.expand(other.point - first.point)
    low, high = (family.low, family.high) if isinstance(family, Functions) else (sp.S.Zero, sp.S.One)
    if high == sp.oo or (apart != 0 and low != high):
        return {}
    if not other.image.is_Symbol or other.image in apart.free_symbols:
        need = f"a new letter for the image of {other.point}, which the image of {first.point} determines"
        raise UnsupportedError(f"the gram engine needs {need}, got {other.image}")
    rise = inner(first.image, apart) + low / 2 * inner(apart, apart)
    return {other.image: first.image + low * apart, other.value: first.value + rise}


def rename(check: VectorInequality, names: Mapping[sp.Expr, sp.Expr]) -> VectorInequality:
    """Substitute expressions in a check."""
    return replace(
        check, **{one.name: declared.renamed(getattr(check, one.name), names) for one in fields(check)}
    )


def _problem(check: VectorInequality, premises: tuple[Boolean, ...]) -> GramCase:
    goal, signs = _difference(check.left, check.right, premises)
    hypotheses, allowed = dict(inequalities(check.samples)), list(premises)
    for number, premise in enumerate(check.given, 1):
        if not premise.atoms(Vector, FunctionValue):
            allowed.append(premise)
            continue
        for name, expression, needed in _premise(premise, f"given {number}", premises):
            hypotheses[name] = expression
            allowed += (sp.Ge(one, 0, evaluate=False) for one in needed)
    everything = [goal, *hypotheses.values()]
    letters = tuple(sorted(set[Any]().union(*(one.atoms(Vector) for one in everything)), key=str))
    values = tuple(sorted(set[Any]().union(*(one.atoms(FunctionValue) for one in everything)), key=str))
    forms = [_form(one, letters, values) for one in everything]
    kept = seen_letters([one.matrix for one in forms])
    multipliers = {
        name: sp.sympify(one, strict=True) for name, one in check.multipliers.items() if name in hypotheses
    }
    reduced = [Form(one.matrix.extract(kept, kept), one.values, one.constant) for one in forms]
    return GramCase(
        premises=tuple(one for one in allowed if one != sp.true),
        letters=tuple(letters[i] for i in kept),
        values=values,
        hypotheses=dict(zip(hypotheses, reduced[1:], strict=True)),
        goal=reduced[0],
        signs=signs,
        multipliers=multipliers,
        exact=all(one.family.exact for one in check.samples),
        origin=tuple(
            {one for one in letters_of(check) if isinstance(one, Vector)} - {letters[i] for i in kept}
        ),
        sides=(check.left, check.right),
    )


def _premise(
    premise: Boolean, name: str, known: tuple[Boolean, ...]
) -> Iterator[tuple[str, sp.Expr, list[sp.Expr]]]:
    """Named expressions <= 0 that a premise states, with numbers that must be nonnegative."""
    if isinstance(premise, sp.Eq) and not _lengths(premise):
        yield name, premise.lhs - premise.rhs, []
        yield f"{name} reversed", premise.rhs - premise.lhs, []
    elif isinstance(premise, sp.Le | sp.Ge) or (isinstance(premise, sp.Eq) and premise.rhs.is_nonnegative):
        less, more = (premise.lts, premise.gts) if isinstance(premise, sp.Le | sp.Ge) else premise.args
        expression, signs = _difference(less, more, known)
        if signs and more.atoms(Vector):
            raise UnsupportedError(f"the factor of a length must be nonnegative, got {signs[0]}")
        yield name, expression, [one for one in signs if not one.is_nonnegative]
        if isinstance(premise, sp.Eq):
            yield f"{name} reversed", -expression, []
    else:
        raise UnsupportedError(f"the gram engine accepts premises with <=, >= and == only, got {premise}")


def _lengths(expression: sp.Basic) -> list[sp.Expr]:
    return sorted(expression.replace(_is_square, lambda _: sp.S.Zero).atoms(Norm), key=str)


def _is_square(expression: sp.Basic) -> bool:
    return bool(expression.is_Pow and isinstance(expression.base, Norm) and expression.exp == 2)


@lru_cache(maxsize=4096)
def _difference(
    less: sp.Expr, more: sp.Expr, known: tuple[Boolean, ...]
) -> tuple[sp.Expr, tuple[sp.Expr, ...]]:
    """Left minus right side, each squared if lengths occur, and numbers that must then be nonnegative."""
    less, more = sp.sympify(less, strict=True), sp.sympify(more, strict=True)
    if not _lengths(less) and not _lengths(more):
        return _expanded(less - more), ()
    sides, signs = [], []
    for side in (less, more):
        lengths = _lengths(side)
        number = sp.cancel(side / lengths[0]) if lengths else side
        if len(lengths) > 1 or number.atoms(Vector, FunctionValue):
            raise UnsupportedError(f"each side must be a number or a number times a length, got {side}")
        sides.append(number**2 * (inner(lengths[0].args[0], lengths[0].args[0]) if lengths else 1))
        if not entails(known, sp.Ge(number, 0, evaluate=False)):
            if side is less:
                raise UnsupportedError(f"the smaller side must be nonnegative, got the factor {number}")
            signs.append(number)
    return _expanded(sides[0] - sides[1]), tuple(signs)


def _expanded(expression: sp.Expr) -> sp.Expr:
    squared = expression.replace(_is_square, lambda one: inner(one.base.args[0], one.base.args[0]))
    return squared.replace(Inner, inner)


@lru_cache(maxsize=4096)
def _form(expression: sp.Expr, letters: tuple[Vector, ...], values: tuple[FunctionValue, ...]) -> Form:
    products = {
        (u, v): Norm(u) ** 2 if u == v else Inner(u, v) for u, v in combinations_with_replacement(letters, 2)
    }
    names: dict[sp.Expr, sp.Symbol] = {product: sp.Dummy(real=True) for product in products.values()}
    found = linear_coefficients(expression.xreplace(names), [*names.values(), *values])
    if found is None or any(one.atoms(Vector, FunctionValue, Norm, Inner) for one in found):
        raise UnsupportedError(f"sides must be linear in inner products and function values, got {expression}")
    matrix, place = sp.zeros(len(letters), len(letters)), letters.index
    for (u, v), row in zip(products, found, strict=False):
        matrix[place(u), place(v)] = matrix[place(v), place(u)] = row if u == v else row / 2
    return Form(matrix, sp.Matrix([found[len(products) : -1]]), found[-1])


def linear_coefficients(expression: sp.Expr, unknowns: Sequence[sp.Symbol]) -> list[sp.Expr] | None:
    """Coefficients of the unknowns, then the constant term; None if not linear."""
    if not unknowns:
        return [sp.factor(expression)]
    terms = dict(sp.Poly(expression, *unknowns).terms())
    units = [tuple(int(i == k) for k in range(len(unknowns))) for i in range(len(unknowns))]
    units.append((0,) * len(unknowns))
    return None if terms.keys() - {*units} else [sp.factor(terms.get(unit, sp.S.Zero)) for unit in units]


def seen_letters(matrices: Sequence[sp.Matrix]) -> list[int]:
    """Indices of letters that a translation along a common null vector does not set to 0."""
    size = matrices[0].rows
    if not size:
        return []
    stacked = sp.Matrix.vstack(*matrices)
    symbols = sorted(stacked.free_symbols, key=str)
    point = {one: sp.Rational(7 + 4 * k, 3 + k) for k, one in enumerate(symbols)}
    null = [v for v in stacked.xreplace(point).nullspace() if all(sp.cancel(e) == 0 for e in stacked * v)]
    if not null:
        return list(range(size))
    _, pivots = sp.Matrix.hstack(*null).T.rref()
    return [i for i in range(size) if i not in pivots]


def slack(problem: GramCase, multipliers: Mapping[str, sp.Expr]) -> Form:
    """Form sum l_k H_k - goal, with multipliers l_k of the hypotheses H_k."""
    matrix, values, constant = (-part for part in problem.goal)
    for name, number in multipliers.items():
        form = problem.hypotheses[name]
        matrix, values = matrix + number * form.matrix, values + number * form.values
        constant += number * form.constant
    return Form(matrix, values, constant)


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


def _floats(form: Form, point: Point) -> tuple[Floats, Floats, float]:
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
    forms = [_floats(form, point) for form in problem.hypotheses.values()]
    matrix, values, constant = _floats(problem.goal, point)
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
    forms = [_floats(form, point) for form in problem.hypotheses.values()]
    below = [(-matrix, -values, -constant) for matrix, values, constant in forms]
    if goal:
        below.append(_floats(problem.goal, point))
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
    if any(_form_value(form.at(found.point), gram, found.values) > 0 for form in problem.hypotheses.values()):
        return False
    return not goal or bool(_form_value(problem.goal.at(found.point), gram, found.values) > 0)


def _form_value(form: Form, gram: sp.Matrix, values: sp.Matrix) -> sp.Expr:
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


def require(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> None:
    """Raise InputError unless each letter has one meaning and each family has a member."""
    if check.relation not in (Relation.AT_MOST, Relation.EQUAL):
        raise InputError(
            f"An inequality between vectors needs the sign <= or ==, got sign={check.sign}; use <=."
        )
    _letters(check)
    known = _known(check, assumptions)
    for family in {one.family for one in check.samples}:
        for number in _not_negative(family):
            if not (number.is_nonnegative or entails(known, sp.Ge(number, 0, evaluate=False))):
                raise InputError(
                    f"A family needs compatible constants, got {family}; add the assumption 0 <= {number}."
                )


def _known(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> tuple[Boolean, ...]:
    return (*assumptions, *(one for one in check.given if not one.atoms(Vector, FunctionValue)))


def _letters(check: VectorInequality) -> None:
    """Raise InputError unless each sample letter has one member and one point, and each value a sample."""
    families: dict[str, Family] = {}
    meanings: dict[sp.Expr, tuple[str, sp.Expr]] = {}
    points: dict[tuple[str, str], Sample] = {}
    for one in dict.fromkeys(check.samples):
        family = one.family
        if isinstance(family, Functions) and not isinstance(one.value, FunctionValue):
            raise InputError(
                f"A sample of a function needs a letter for its value, got value={one.value}; use the at() method."
            )
        if any(families.setdefault(name, family) != family for name in (family.name, family.image_name)):
            raise InputError(f"Each family needs its own name, got {family.name} for two families; rename one.")
        if points.setdefault((family.name, one.name), one) != one:
            raise InputError(
                f"Each sample needs its own name, got name={one.name!r} for two samples; rename one."
            )
        letters = (letter for letter in (one.image, one.value) if letter.is_Symbol and letter != one.point)
        meaning = family.name, sp.expand(one.point)
        if any(meanings.setdefault(letter, meaning) != meaning for letter in letters):
            raise InputError(
                f"A letter may belong to only one point, got {one.point} and another; use the at() method."
            )
    made = {letter: one.point.free_symbols for one in check.samples for letter in one.shown}
    while known := [letter for letter, parts in made.items() if not parts & made.keys()]:
        made = {letter: parts for letter, parts in made.items() if letter not in known}
    if made:
        circle = ", ".join(sorted(map(str, made)))
        raise InputError(
            f"A point must be known before the values at it, got a circular dependence among {circle}; give the "
            "point a letter of its own."
        )
    calls = tuple(f"{name}(" for name in families)
    parts = [check.left, check.right, *check.given, *(one.point for one in check.samples)]
    used = set[sp.Symbol]().union(*(one.atoms(Vector, FunctionValue) for one in parts))
    for letter in sorted(used - meanings.keys(), key=str):
        if isinstance(letter, FunctionValue) or letter.name.startswith(calls):
            raise InputError(
                f"A letter of a family needs a sample, got {letter} without one; add the sample at its point."
            )


def _not_negative(family: Family) -> Iterator[sp.Expr]:
    """Numbers that must be nonnegative for the family to have a member.

    No strongly convex or concave function on R^d has bounded gradients. An operator with strong monotonicity
    m and cocoercivity b satisfies |T(x) - T(y)| = a |x - y| with a >= m + b a^2 and a <= lipschitz.
    Conversely, for such an a, a times the identity is a member.
    """
    if isinstance(family, Functions) and family.steep != sp.oo:
        yield from (family.steep, -family.low, *(one for one in (family.high,) if one != sp.oo))
    elif isinstance(family, Clipping):
        yield family.radius
    elif isinstance(family, Operators):
        a, m, b = family.lipschitz, family.strong, family.cocoercive
        yield from (number for number in (a, m, b) if number != sp.oo)
        roots = 1 - 4 * m * b
        yield (
            roots if a == sp.oo else a - m if b == 0 else sp.Max(a - m - b * a**2, sp.Min(roots, 2 * a * b - 1))
        )


def _numbers(check: VectorInequality) -> Iterator[sp.Expr]:
    """Expressions of a check, with letters for lengths and inner products, and the arguments of these."""
    constants = (
        part for one in check.samples for part in vars(one.family).values() if isinstance(part, sp.Basic)
    )
    samples = (part for one in check.samples for part in (one.point, one.image, one.value))
    for part in (check.left, check.right, *samples, *(one for one in constants if one != sp.oo)):
        products = part.atoms(Norm, Inner)
        yield from (inside for product in products for inside in product.args)
        yield part.xreplace({product: sp.Dummy(real=True) for product in products})


def fault(problem: GramCase, multipliers: Mapping[str, sp.Expr]) -> str:
    """Reason why the multipliers do not form a proof; "" if they do."""
    given = problem.premises  # these define the forms: the sides are defined, and the curvatures differ
    rest = slack(problem, multipliers)
    rest = Form(rest.matrix.applyfunc(sp.factor), rest.values.applyfunc(sp.cancel), sp.factor(rest.constant))
    if any(value != 0 for value in rest.values):
        return "the values of functions do not cancel"
    for name, number in multipliers.items():
        if not _nonnegative(number, given):
            return f"the multiplier {number} of {name} may be negative or undefined"
    if not _nonnegative(rest.constant, given):
        return f"the constant {rest.constant} may be negative"
    for number in problem.signs:
        if not _nonnegative(number, given):
            return f"the factor {number} of a length may be negative"
    minors = _minors(_left(rest.matrix, given))
    return next((f"the minor {one} may be negative" for one in minors if not _nonnegative(one, given)), "")


def _left(matrix: sp.Matrix, given: tuple[Boolean, ...]) -> sp.Matrix:
    """Eliminate positive diagonal entries; the result is semidefinite if and only if the matrix is."""
    for i in range(matrix.rows):
        pivot = matrix[i, i]
        if pivot.is_positive or (pivot != 0 and entails(given, sp.Gt(pivot, 0, evaluate=False))):
            rest = [k for k in range(matrix.rows) if k != i]
            less = matrix[:, i] * matrix[i, :] / pivot
            return _left((matrix - less).extract(rest, rest).applyfunc(sp.factor), given)
    return matrix


def _minors(matrix: sp.Matrix) -> Sequence[sp.Expr]:
    """Nonzero principal minors, leaving out zero rows and letters that a translation sets to 0."""
    kept = [i for i in seen_letters([matrix]) if any(entry != 0 for entry in matrix[i, :])]
    chosen = (rows for size in range(1, len(kept) + 1) for rows in combinations(kept, size))
    minors = (sp.factor(matrix.extract(list(rows), list(rows)).det(method="berkowitz")) for rows in chosen)
    return [minor for minor in minors if minor != 0]


def _nonnegative(number: sp.Expr, given: tuple[Boolean, ...]) -> bool:
    """Tell whether a number is provably defined and nonnegative, by its factors of unknown sign."""
    if unmet((number,), given, entails):
        return False
    above, below = sp.fraction(sp.together(number))
    sign, factors = sp.factor_list(sp.expand(above * below))
    rest = sp.sign(sign)
    for factor, power in factors:
        if power % 2 and not factor.is_positive:
            rest = -rest if factor.is_negative else rest * factor
    return bool(rest.is_nonnegative) or entails(given, sp.Ge(rest, 0, evaluate=False))


def decide(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide a `VectorInequality`."""
    require(check, assumptions)
    why = unmet(tuple(_numbers(check)), _known(check, assumptions), entails)  # of a side, a point or a constant
    if why:
        return undecided(check, why)
    proofs = dict[str, None]()
    checks: tuple[VectorInequality, ...] = (check,)
    if check.relation is Relation.EQUAL:  # an equation is two inequalities
        checks = replace(check, sign="<="), replace(check, sign="<=", left=check.right, right=check.left)
    for one in checks:
        cases, plain = tuple(gram_cases(one, assumptions)), _unclipped(one)
        found = _counterexample(cases if plain == one else tuple(gram_cases(plain, assumptions)))
        if found is not None:
            return _refuted(check, *found)
        for problem in cases:
            proof, why = _proof(problem)
            if why:
                return undecided(check, why)
            proofs[proof] = None
    return held(check, Grade.PROVED, f"in every dimension; multipliers {'; '.join(proofs)}")


def _proof(problem: GramCase) -> tuple[str, str]:
    spots = tuple(points_inside(problem, 4))
    if not spots:
        raise NoPointError(f"no sample satisfies the premises {', '.join(map(str, problem.premises))}.")
    if not any(_consistent(problem, spot) for spot in spots):
        return "", "no inner products that meet the hypotheses were found"
    why = "no multipliers were found"
    given = problem.multipliers
    for multipliers in chain([given] if given else [], find_multipliers(problem, spots)):
        why = fault(problem, multipliers)
        if not why:
            return ", ".join(f"{name}: {number}" for name, number in multipliers.items()) or "none", ""
    return "", why


def _consistent(problem: GramCase, spot: dict[sp.Symbol, sp.Rational]) -> bool:
    """Tell whether some inner products meet the hypotheses, so that a proof is not vacuous."""
    constants = [form.constant.xreplace(spot) for form in problem.hypotheses.values()]
    return all(one <= 0 for one in constants) or find_matrix(problem, spot, goal=False) is not None


def _counterexample(cases: tuple[GramCase, ...]) -> tuple[GramCase, Matrix] | None:
    for problem in (one for one in cases if one.exact):
        for spot in (*points_on_edges(problem), *points_inside(problem, 6)):
            if (found := find_matrix(problem, spot)) is not None:
                return problem, found
    return None


def _unclipped(check: VectorInequality) -> VectorInequality:
    for one in check.samples:
        if isinstance(one.family, Clipping) and (one.image.is_Symbol or one.image == one.point):
            rest = tuple(other for other in check.samples if other != one)
            short = sp.Le(inner(one.point, one.point), one.family.radius**2)
            plain = replace(check, samples=rest, given=(*check.given, short))
            return _unclipped(rename(plain, {one.image: one.point}))
    return check


def _refuted(check: VectorInequality, problem: GramCase, found: Matrix) -> Outcome:
    columns = {letter: found.vectors[:, i] for i, letter in enumerate(problem.letters)}
    columns |= dict.fromkeys(problem.origin, sp.zeros(found.vectors.rows, 1))
    named = sorted((str(letter), column) for letter, column in columns.items())
    at = point_text(found.point) | {name: f"({', '.join(map(str, column))})" for name, column in named}
    at |= {str(value): str(number) for value, number in zip(problem.values, found.values, strict=True)}
    left, right = (_value(problem, found, columns, side) for side in problem.sides)
    rough = "" if left.is_Rational and right.is_Rational else f"about {sp.N(left, 6)} and {sp.N(right, 6)}; "
    note = f"{rough}in R^{found.vectors.rows} and above"
    return refuted(check, Counterexample(at, str(left), "<=", str(right), note))


def _value(problem: GramCase, found: Matrix, columns: Mapping[Vector, sp.Matrix], side: sp.Expr) -> sp.Expr:

    def product(one: sp.Expr, other: sp.Expr) -> sp.Expr:
        first, second = (
            sum(
                (
                    number.xreplace(found.point) * columns[letter]
                    for letter, number in coefficients(part).items()
                ),
                zero,
            )
            for part in (one, other)
        )
        return first.dot(second)

    zero = sp.zeros(found.vectors.rows, 1)
    numbers = dict(zip(problem.values, found.values, strict=True)) | dict(found.point)
    plain = side.replace(Norm, lambda one: sp.sqrt(product(one, one))).replace(Inner, product)
    return sp.simplify(plain.xreplace(numbers))


def near_misses(check: VectorInequality, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:
    """Lengths (in equations, all terms) increased on the left or reduced on the right by 1 % and the room."""
    found = list[Check]()
    for place in terms_of(check, "left", "right"):
        number = place.term.replace(Norm, lambda _: sp.S.One)
        known = place.term.has(Norm) and entails((*assumptions, *check.given), sp.Ge(number, 0, evaluate=False))
        if check.relation is Relation.EQUAL or known:
            factor = (
                sp.Rational(101, 100) / (1 - room)
                if place.field == "left"
                else sp.Rational(99, 100) * (1 - room)
            )
            found.append(changed(check, place, factor))
    return first_middle_last(found)
