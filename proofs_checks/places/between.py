"""Powers that are off a little, held between two powers that engines know: what holds so, holds."""

from collections.abc import Sequence
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.answers import held, undecided
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.claim import Inequality, Relation
from lastiterate.symbolic.kernel.term import new_letter

STEEP: Final = 12
"""Denominator of an exponent beyond which z3 is not asked."""


def steep(check: Inequality) -> tuple[sp.Pow, ...]:
    """The powers of a check, in its premises too, whose exponents have large denominators."""
    sides = (sp.sympify(side, strict=True) for side in (check.left, check.right, *check.given))
    powers = set[sp.Pow]().union(*(side.atoms(sp.Pow) for side in sides))
    return tuple(sorted((one for one in powers if one.exp.is_Rational and one.exp.q > STEEP), key=str))


def shown_between(check: Inequality, assumptions: Sequence[Boolean]) -> Outcome:
    """The outcome of a check for any positive numbers in the place of such powers that lie where these powers lie.

    If u < v < w, then b^v is between b^u and b^w for b > 0, and at most (1 - a) b^u + a b^w with v = (1 - a) u + a w,
    for the exponential function is convex. If the check holds for all such numbers, it holds for b^v.
    """
    put, lies = dict[sp.Basic, sp.Basic](), list[Boolean]()
    said = (*(sp.sympify(side, strict=True) for side in (check.left, check.right)), *check.given, *assumptions)
    for at, power in enumerate(steep(check)):
        base, exponent = power.args
        near = sp.Rational(round(2 * exponent), 2)
        far = near + (1 if exponent > near else -1) * (1 if near.is_Integer else sp.Rational(1, 2))
        one, other, share = base**near, base**far, (exponent - near) / (far - near)
        put[power] = number = new_letter(sp.Symbol(f"power_{at}", positive=True), *said)
        lies += [base > 0, (number - one) * (other - number) >= 0, number <= (1 - share) * one + share * other]
    given = [one.xreplace(put) for one in (*assumptions, *check.given, *lies)]
    left, right = (sp.sympify(side, strict=True).xreplace(put) for side in (check.left, check.right))
    kind = {Relation.BELOW: sp.Lt, Relation.EQUAL: sp.Eq}.get(check.relation, sp.Le)
    if entails([one for one in given if one != sp.true], kind(left, right, evaluate=False)):
        return held(check, Grade.PROVED, "z3: for all numbers between the two powers beside it")
    return undecided(check, "no point breaks it, and z3 does not show it for powers between those that it knows")
