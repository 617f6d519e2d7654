"""Conditions on a claim about members of families: each letter has one meaning, and what is said is defined."""

from collections.abc import Iterator

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.symbolic.checks import Relation, VectorInequality
from lastiterate.symbolic.families import Clipping, Family, Functions, FunctionValue, Operators, Sample
from lastiterate.symbolic.vectors import Inner, Norm, Vector


def require(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> None:
    """Raise unless every letter has one meaning, and every family has a member.

    Raises:
        InputError: it is not so.
    """
    if check.relation not in (Relation.AT_MOST, Relation.EQUAL):
        raise InputError(f"An inequality between vectors needs the sign <= or ==, got sign={check.sign}; use <=.")
    _letters(check)
    known = _known(check, assumptions)
    for family in {one.family for one in check.samples}:
        for number in _not_negative(family):
            if not (number.is_nonnegative or entails(known, sp.Ge(number, 0, evaluate=False))):
                raise InputError(f"A family needs constants that suit each other, got {family}; show 0 <= {number}.")


def undefined(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> str:
    """Say what is not shown to be defined: a side, a point or a constant; "" where all are."""
    return unmet(tuple(_numbers(check)), _known(check, assumptions), lambda given, need: entails(tuple(given), need))


def _known(check: VectorInequality, assumptions: tuple[Boolean, ...]) -> tuple[Boolean, ...]:
    """The conditions on numbers that are supposed."""
    return (*assumptions, *(one for one in check.given if not one.atoms(Vector, FunctionValue)))


def _letters(check: VectorInequality) -> None:
    """Raise unless every letter of a sample is that of one member at one point, and every value has a sample."""
    families: dict[str, Family] = {}
    meanings: dict[sp.Expr, tuple[str, sp.Expr]] = {}
    points: dict[tuple[str, str], Sample] = {}
    for one in dict.fromkeys(check.samples):
        family = one.family
        if isinstance(family, Functions) and not isinstance(one.value, FunctionValue):
            raise InputError(f"A sample needs a letter for the value there, got value={one.value}; use at.")
        if any(families.setdefault(name, family) != family for name in (family.name, family.image_name)):
            raise InputError(f"A name needs one family, got {family.name} for two; put them into one.")
        if points.setdefault((family.name, one.name), one) != one:
            raise InputError(f"Samples need names of their own, got name={one.name!r} for two; name them apart.")
        letters = (letter for letter in (one.image, one.value) if letter.is_Symbol and letter != one.point)
        meaning = family.name, sp.expand(one.point)
        if any(meanings.setdefault(letter, meaning) != meaning for letter in letters):
            raise InputError(f"A letter needs one meaning, got those at {one.point} at another point, too; use at.")
    made = {letter: one.point.free_symbols for one in check.samples for letter in one.shown}
    while known := [letter for letter, parts in made.items() if not parts & made.keys()]:
        made = {letter: parts for letter, parts in made.items() if letter not in known}
    if made:
        circle = ", ".join(sorted(map(str, made)))
        raise InputError(f"A point needs to be known before what is there, got {circle} in a circle; name the point.")
    calls = tuple(f"{name}(" for name in families)
    parts = [check.left, check.right, *check.given, *(one.point for one in check.samples)]
    used = set[sp.Symbol]().union(*(one.atoms(Vector, FunctionValue) for one in parts))
    for letter in sorted(used - meanings.keys(), key=str):
        if isinstance(letter, FunctionValue) or letter.name.startswith(calls):
            raise InputError(f"What is said of a member needs a sample, got {letter}; add the sample at its point.")


def _not_negative(family: Family) -> Iterator[sp.Expr]:
    """Numbers that must not be negative for the family to have a member.

    No function on R^d that is strongly convex or concave has bounded gradients. Of the operators, those of strong
    monotonicity m, cocoercive with b, have |T(x) - T(y)| = a |x - y| with a >= m + b a^2 and a <= lipschitz, and a
    multiple of x is one wherever such an a exists.
    """
    if isinstance(family, Functions) and family.steep != sp.oo:
        yield from (family.steep, -family.low, *(one for one in (family.high,) if one != sp.oo))
    elif isinstance(family, Clipping):
        yield family.radius
    elif isinstance(family, Operators):
        a, m, b = family.lipschitz, family.strong, family.cocoercive
        yield from (number for number in (a, m, b) if number != sp.oo)
        roots = 1 - 4 * m * b
        yield roots if a == sp.oo else a - m if b == 0 else sp.Max(a - m - b * a**2, sp.Min(roots, 2 * a * b - 1))


def _numbers(check: VectorInequality) -> Iterator[sp.Expr]:
    """The expressions of a claim, with letters in the places of lengths and inner products, and what stands in them."""
    constants = (part for one in check.samples for part in vars(one.family).values() if isinstance(part, sp.Basic))
    samples = (part for one in check.samples for part in (one.point, one.image, one.value))
    for part in (check.left, check.right, *samples, *(one for one in constants if one != sp.oo)):
        products = part.atoms(Norm, Inner)
        yield from (inside for product in products for inside in product.args)
        yield part.xreplace({product: sp.Dummy(real=True) for product in products})
