"""Inequalities between vectors of every dimension, for all members of families of functions and operators.

An inequality that holds for every positive semidefinite matrix of inner products holds in every R^d. A proof
is a sum of hypotheses with multipliers, verified exactly; a refutation is an exact matrix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.answers import (
    changed,
    first_middle_last,
    held,
    refuted,
    terms_of,
    undecided,
)
from lastiterate.proofs_checks.engines.gram_forms import Form, GramCase, gram_cases, rename, seen_letters, slack
from lastiterate.proofs_checks.engines.gram_search import (
    Matrix,
    find_matrix,
    find_multipliers,
    points_inside,
    points_on_edges,
)
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import point_text
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Relation, VectorInequality
from lastiterate.symbolic.families import Clipping, Family, Functions, FunctionValue, Operators, Sample
from lastiterate.symbolic.vectors import Inner, Norm, Vector, coefficients, inner


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
