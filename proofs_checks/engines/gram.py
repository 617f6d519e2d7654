"""Inequalities between vectors of every dimension, for all members of families of functions, sets and operators.

What holds for every positive semidefinite matrix of inner products holds in every R^d. A proof is a sum of hypotheses
with multipliers, verified exactly in `gram_verify`; a refutation is an exact matrix. Finding neither decides nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.answers import held, refuted, undecided
from lastiterate.proofs_checks.engines.gram_asked import require, undefined
from lastiterate.proofs_checks.engines.gram_fit import fitted
from lastiterate.proofs_checks.engines.gram_forms import Problem, problems, renamed
from lastiterate.proofs_checks.engines.gram_refute import Matrix, breaks, edges, inside
from lastiterate.proofs_checks.engines.gram_search import candidates
from lastiterate.proofs_checks.engines.gram_verify import fault
from lastiterate.proofs_checks.engines.variants import changed, spread, terms_of
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import as_text
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Relation, VectorInequality
from lastiterate.symbolic.families import Clipping
from lastiterate.symbolic.vectors import Inner, Norm, Vector, coefficients, inner

_FITTED = 30
"""Points of a fit."""


def decide(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide a `VectorInequality` under the assumptions and its own premises.

    Raises:
        NoPointError: no sample satisfies the premises.
        UnsupportedError: a side or a premise is not linear in inner products and function values.
        InputError: a letter has two meanings, or a family has no member.
    """
    require(check, assumptions)
    why = undefined(check, assumptions)
    if why:
        return undecided(check, why)
    proofs = dict[str, None]()
    for one in _directions(check):
        cases, plain = tuple(problems(one, assumptions)), _unclipped(one)
        found = _counterexample(cases if plain == one else tuple(problems(plain, assumptions)))
        if found is not None:
            return _refuted(check, *found)
        for problem in cases:
            proof, why = _proof(problem)
            if why:
                return undecided(check, why)
            proofs[proof] = None
    return held(check, Grade.PROVED, f"in every dimension; multipliers {'; '.join(proofs)}")


def _directions(check: VectorInequality) -> tuple[VectorInequality, ...]:
    """An equation is two inequalities."""
    if check.relation is Relation.EQUAL:
        return replace(check, sign="<="), replace(check, sign="<=", left=check.right, right=check.left)
    return (check,)


def _proof(problem: Problem) -> tuple[str, str]:
    """Verified multipliers as text, or else why there are none."""
    spots = tuple(inside(problem, 4))
    if not spots:
        raise NoPointError(f"no sample satisfies the premises {', '.join(map(str, problem.premises))}.")
    if not any(_consistent(problem, spot) for spot in spots):
        return "", "no inner products are known that meet the hypotheses"
    why = "no multipliers found"
    given = problem.multipliers
    for search in ((given,) if given else (), candidates(problem, spots), _fits(problem)):
        for multipliers in search:
            why = fault(problem, multipliers)
            if not why:
                return ", ".join(f"{name}: {number}" for name, number in multipliers.items()) or "none", ""
    return "", why


def _fits(problem: Problem) -> Iterator[dict[str, sp.Expr]]:
    yield from fitted(problem, tuple(inside(problem, _FITTED)))


def _consistent(problem: Problem, spot: dict[sp.Symbol, sp.Rational]) -> bool:
    """Tell whether some inner products meet the hypotheses, so that the proof is of something."""
    constants = [form.constant.xreplace(spot) for form in problem.hypotheses.values()]
    return all(one <= 0 for one in constants) or breaks(problem, spot, goal=False) is not None


def _counterexample(cases: tuple[Problem, ...]) -> tuple[Problem, Matrix] | None:
    """Inner products and values, of members of the families, that break the goal."""
    for problem in cases:
        if problem.exact:
            for spot in (*edges(problem), *inside(problem, 6)):
                found = breaks(problem, spot)
                if found is not None:
                    return problem, found
    return None


def _unclipped(check: VectorInequality) -> VectorInequality:
    """The check where clipping changes nothing: of vectors that are no longer than the radius."""
    for one in check.samples:
        if isinstance(one.family, Clipping) and (one.image.is_Symbol or one.image == one.point):
            rest = tuple(other for other in check.samples if other != one)
            short = sp.Le(inner(one.point, one.point), one.family.radius**2)
            plain = replace(check, samples=rest, given=(*check.given, short))
            return _unclipped(renamed(plain, {one.image: one.point}))
    return check


def _refuted(check: VectorInequality, problem: Problem, found: Matrix) -> Outcome:
    """The refutation, with coordinates of every vector and the values of functions."""
    columns = {letter: found.vectors[:, i] for i, letter in enumerate(problem.letters)}
    columns |= dict.fromkeys(problem.origin, sp.zeros(found.vectors.rows, 1))
    named = sorted((str(letter), column) for letter, column in columns.items())
    at = as_text(found.point) | {name: f"({', '.join(map(str, column))})" for name, column in named}
    at |= {str(value): str(number) for value, number in zip(problem.values, found.values, strict=True)}
    left, right = (_value(problem, found, columns, side) for side in problem.sides)
    rough = "" if left.is_Rational and right.is_Rational else f"about {sp.N(left, 6)} and {sp.N(right, 6)}; "
    note = f"{rough}in R^{found.vectors.rows} and above"
    return refuted(check, Counterexample(at, str(left), "<=", str(right), note))


def _value(problem: Problem, found: Matrix, columns: Mapping[Vector, sp.Matrix], side: sp.Expr) -> sp.Expr:
    """A side at the vectors and values, exactly."""

    def product(one: sp.Expr, other: sp.Expr) -> sp.Expr:
        first, second = (
            sum((number.xreplace(found.point) * columns[letter] for letter, number in coefficients(part).items()), zero)
            for part in (one, other)
        )
        return first.dot(second)

    zero = sp.zeros(found.vectors.rows, 1)
    numbers = dict(zip(problem.values, found.values, strict=True)) | dict(found.point)
    plain = side.replace(Norm, lambda one: sp.sqrt(product(one, one))).replace(Inner, product)
    return sp.simplify(plain.xreplace(numbers))


def near_misses(check: VectorInequality, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:
    """A length on the left one percent longer, room aside, or one on the right shorter; in an equation any term."""
    return spread(list(_lengths(check, assumptions, room)))


def _lengths(check: VectorInequality, assumptions: tuple[Boolean, ...], room: sp.Expr) -> Iterator[Check]:
    """A length on the left one percent longer, room aside, or one on the right shorter; in an equation any term."""
    equal = check.relation is Relation.EQUAL
    for place in terms_of(check, "left", "right"):
        number = place.term.replace(Norm, lambda _: sp.S.One)
        if equal or (place.term.has(Norm) and entails((*assumptions, *check.given), sp.Ge(number, 0, evaluate=False))):
            factor = sp.Rational(101, 100) / (1 - room) if place.field == "left" else sp.Rational(99, 100) * (1 - room)
            yield changed(check, place, factor)
