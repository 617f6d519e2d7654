"""Bounds on lengths of sums of at most three vectors, in every dimension.

A symmetric matrix is a matrix of inner products if and only if no principal minor is negative. So z3 decides
a bound on a length as an inequality between numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from sympy import Basic, Expr, Ge, Le, Matrix, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import inequality
from lastiterate.proofs_checks.engines.answers import held, lessened
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.checks import Check, Inequality, NormBound
from lastiterate.symbolic.kernel.profiles import new_letter
from lastiterate.symbolic.vectors import Inner, Norm, Vector, inner

MOST = 3
"""Largest number of vectors in one check."""


def decide(check: NormBound, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide a `NormBound`."""
    said: tuple[Basic, ...] = (*assumptions, *check.given, check.bound)
    letters = sorted(check.vector.atoms(Vector).union(*(one.atoms(Vector) for one in said)), key=str)
    if len(letters) > MOST:
        raise UnsupportedError(
            f"the vectors engine can decide lengths of sums of at most {MOST} vectors, got {len(letters)}"
        )
    given = [*check.given, *gram(letters)]
    try:
        square = inner(check.vector, check.vector)
    except ValueError as error:
        raise InputError(str(error)) from None
    numbers = products_as_letters((square, check.bound, *assumptions, *given))
    premises, supposed = ([one.xreplace(numbers) for one in some] for some in (given, assumptions))
    bound, length = check.bound.xreplace(numbers), square.xreplace(numbers)
    details = []
    for left, right, name in ((S.Zero, bound, "the bound is at least 0"), (length, bound**2, "squares")):
        asked = Inequality(left, "<=", right, tuple(premises), name)
        outcome = replace(inequality.decide(asked, tuple(supposed)), check=check.name, engine=check.engine)
        if outcome.status is not Status.HELD:
            return outcome
        details.append(f"{name}: {outcome.detail}")
    return held(check, Grade.PROVED, f"in every dimension; {'; '.join(details)}")


def gram(letters: Sequence[Vector]) -> Iterable[Boolean]:
    """Conditions that the principal minors of the Gram matrix are nonnegative."""
    for u, v in combinations(letters, 2):
        yield Le(inner(u, v), Norm(u) * Norm(v))
        yield Ge(inner(u, v), -Norm(u) * Norm(v))
    for three in combinations(letters, 3):
        yield Ge(Matrix(3, 3, lambda i, k, three=three: inner(three[i], three[k])).det(), 0)


def products_as_letters(said: tuple[Basic, ...]) -> dict[Expr, Symbol]:
    """New letter for each length and inner product of letters; UnsupportedError for vectors elsewhere."""
    found = sorted(set[Expr]().union(*(one.atoms(Norm, Inner) for one in said)), key=str)
    for one in found:
        letters = [argument for argument in one.args if isinstance(argument, Vector)]
        if len(letters) < len(one.args) or one not in {
            Norm(letters[0]),
            *inner(letters[0], letters[-1]).atoms(Inner),
        }:
            raise UnsupportedError(f"lengths need letters, and inner products need inner(), got {one}")
    if len(set(map(str, found))) < len(found):
        raise UnsupportedError(f"two vectors share the same name in {found}")
    signs = ({"real": True, "nonnegative": True} if isinstance(one, Norm) else {"real": True} for one in found)
    names = {one: new_letter(Symbol(str(one), **sign), *said) for one, sign in zip(found, signs, strict=True)}
    if any(one.xreplace(names).atoms(Vector) for one in said):
        raise UnsupportedError("vectors may occur only in lengths and inner products")
    return names


def near_misses(check: NormBound, assumptions: tuple[Boolean, ...], room: Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Check with the bound on the length reduced by 3 %."""
    return lessened(check, "bound", "a length", room)
