"""Consistency of assumptions: whatever follows from a contradiction is not proved."""

from collections.abc import Iterable, Iterator, Sequence

import sympy as sp
import z3
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, BooleanAtom, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.z3_answers import ask, entails
from lastiterate.proofs_checks.engines.z3_terms import Terms
from lastiterate.proofs_checks.exact_values import Point
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points

FEW = 100
"""Points that are tried before z3 is asked whether there are any."""


def some_point(symbols: Sequence[sp.Symbol], conditions: Sequence[Boolean], tries: int) -> Point:
    """The first admissible point.

    Raises:
        NoPointError: z3 shows that there is none, or none of so many candidates is one.
    """
    try:
        return next(points(symbols, conditions, 1, tries=min(FEW, tries)))
    except NoPointError:
        if entails(conditions, sp.false):
            raise
    return next(points(symbols, conditions, 1, tries=tries))


def impossible(assumptions: Sequence[Boolean], tries: int = 20_000) -> str:
    """Reason why the assumptions cannot be met, or "" where a point meets them, or z3 has one that is not rational."""
    symbols, why = free_symbols(assumptions), ""
    for some in dict.fromkeys((min(FEW, tries), tries)):
        try:
            next(points(symbols, assumptions, 1, tries=some))
        except NoPointError as error:
            why = str(error)
            if entails(assumptions, sp.false):
                return why
            if _solved(assumptions):  # z3 takes milliseconds, many points seconds
                return ""
        else:
            return ""
    return why


def _solved(conditions: Sequence[Boolean]) -> bool:
    """Tell whether z3 finds numbers that meet the conditions, with no part of them replaced by a free letter."""
    terms = Terms(whole=True)
    try:
        return bool(ask(terms, [terms.condition(one) for one in conditions]) == z3.sat and not terms.loose)
    except UnsupportedError:
        return False


def relations(said: Iterable[sp.Basic]) -> Iterator[Boolean]:
    """Relations between numbers among premises, and what is made of such alone; parts of a conjunction one by one."""
    for one in said:
        for part in And.make_args(one) if isinstance(one, Boolean) else ():
            if isinstance(part, Relational | BooleanAtom) or _of_relations(part):
                yield part


def _of_relations(part: Boolean) -> bool:
    inner = isinstance(part, And | Or | Not)
    return inner and all(isinstance(one, Relational | BooleanAtom) or _of_relations(one) for one in part.args)
