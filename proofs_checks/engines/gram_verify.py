"""Exact verification of multipliers, whoever found them.

With hypotheses H_k <= 0 and multipliers l_k >= 0, the sum of all l_k H_k minus the goal must be <S, G> + s, with a
positive semidefinite matrix S and a number s >= 0; the values of functions cancel. Then the goal is at most 0.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.gram_forms import Form, Problem, seen
from lastiterate.proofs_checks.engines.z3_answers import entails


def slack(problem: Problem, multipliers: Mapping[str, sp.Expr]) -> Form:
    """The form sum l_k H_k - goal."""
    matrix, values, constant = -problem.goal.matrix, -problem.goal.values, -problem.goal.constant
    for name, number in multipliers.items():
        form = problem.hypotheses[name]
        matrix, values = matrix + number * form.matrix, values + number * form.values
        constant += number * form.constant
    return Form(matrix.applyfunc(sp.factor), values.applyfunc(sp.cancel), sp.factor(constant))


def fault(problem: Problem, multipliers: Mapping[str, sp.Expr]) -> str:
    """Say what keeps the multipliers from being a proof; "" where they are one."""
    given = problem.premises  # under which the forms are defined, as what they are of is, and its curvatures differ
    rest = slack(problem, multipliers)
    if any(value != 0 for value in rest.values):
        return "the values of functions do not cancel"
    for name, number in multipliers.items():
        if not nonnegative(number, given):
            return f"the multiplier {number} of {name} may be negative or undefined"
    if not nonnegative(rest.constant, given):
        return f"the constant {rest.constant} may be negative"
    for number in problem.signs:
        if not nonnegative(number, given):
            return f"the number {number} before a length may be negative"
    return next(
        (
            f"the minor {one} may be negative"
            for one in _minors(_left(rest.matrix, given))
            if not nonnegative(one, given)
        ),
        "",
    )


def _left(matrix: sp.Matrix, given: tuple[Boolean, ...]) -> sp.Matrix:
    """The matrix that elimination by positive entries of the diagonal leaves: both are semidefinite, or neither is."""
    for i in range(matrix.rows):
        pivot = matrix[i, i]
        if pivot.is_positive or (pivot != 0 and entails(given, sp.Gt(pivot, 0, evaluate=False))):
            rest = [k for k in range(matrix.rows) if k != i]
            less = matrix[:, i] * matrix[i, :] / pivot
            return _left((matrix - less).extract(rest, rest).applyfunc(sp.factor), given)
    return matrix


def _minors(matrix: sp.Matrix) -> Sequence[sp.Expr]:
    """The principal minors that are not 0, without rows that are, and without letters that a translation sets to 0."""
    kept = [i for i in seen([matrix]) if any(entry != 0 for entry in matrix[i, :])]
    chosen = (rows for size in range(1, len(kept) + 1) for rows in combinations(kept, size))
    minors = (sp.factor(matrix.extract(list(rows), list(rows)).det(method="berkowitz")) for rows in chosen)
    return [minor for minor in minors if minor != 0]


def nonnegative(number: sp.Expr, given: tuple[Boolean, ...]) -> bool:
    """Tell whether z3 shows that a number is defined and not negative; even powers and known signs are left out."""
    if unmet((number,), given, entails):
        return False
    above, below = sp.fraction(sp.together(number))
    sign, factors = sp.factor_list(sp.expand(above * below))
    rest = sp.sign(sign)
    for factor, power in factors:
        if power % 2 and not factor.is_positive:
            rest = -rest if factor.is_negative else rest * factor
    return bool(rest.is_nonnegative) or entails(given, sp.Ge(rest, 0, evaluate=False))
