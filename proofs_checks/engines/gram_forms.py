"""Vector inequalities as linear forms in a matrix of inner products, in function values, and in 1.

An inequality is <matrix, G> + values . F + constant <= 0, with inner products G, function values F and
coefficients that depend on the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple, TypeAlias

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks import declared
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.symbolic.checks import VectorInequality
from lastiterate.symbolic.families import Clipping, Functions, FunctionValue, Sample, inequalities
from lastiterate.symbolic.statement import letters as letters_of
from lastiterate.symbolic.vectors import Inner, Norm, Vector, inner

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
