"""Runs of the sequences of an induction at exact points: each value from its law, any that has none at random.

Where roots are taken, what is drawn are the powers of which they are the roots.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import lcm

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.defined import defined_at
from lastiterate.proofs_checks.exact_values import Point, truth_at
from lastiterate.proofs_checks.feasible_points import free_symbols, points
from lastiterate.symbolic.inductive import Induction

POINTS, LONGEST, TRIES = 8, 5, 12
"""Points, indices of a run, and numbers tried where a sequence may be any."""

_FACTS = (
    "positive", "negative", "nonnegative", "nonpositive", "zero", "nonzero", "integer", "noninteger", "even", "odd",
    "prime", "composite", "irrational",
)  # fmt: skip
"""What a sequence may be declared to be."""


@dataclass(frozen=True)
class Run:
    """The conclusion at one index of a run.

    Attributes:
        point: values of the letters.
        values: of the sequences, up to this index.
        index: the index.
        left, right: sides of the conclusion.
        holds: whether it holds; None where that cannot be told.
    """

    point: Point
    values: Mapping[AppliedUndef, sp.Expr]
    index: int
    left: sp.Expr
    right: sp.Expr
    holds: bool | None


def runs(check: Induction, assumptions: tuple[Boolean, ...]) -> Iterator[Run]:
    """The conclusion at the first indices of runs that obey all that is supposed.

    Raises:
        NoPointError: no sample satisfies the assumptions.
    """
    parts = (*check.first, *check.laws, *check.keeps, check.conclusion)
    letters = [symbol for symbol in free_symbols(assumptions, parts) if symbol != check.index]
    names = sorted({value.func for part in parts for value in part.atoms(AppliedUndef)}, key=str)
    generator = random.Random(5)  # noqa: S311
    powers = set[sp.Pow]().union(*(part.atoms(sp.Pow) for part in parts))
    root = lcm(*(power.exp.q for power in powers if power.exp.is_Rational))
    of_letters = [law for law in check.laws if check.index not in law.free_symbols and not law.atoms(AppliedUndef)]
    for point in points(letters, (*assumptions, *of_letters), POINTS):
        values: dict[AppliedUndef, sp.Expr] = {}
        for i in range(check.start, check.start + LONGEST):
            if not _extended(check, names, point, values, i, generator, root):
                break
            left, right = (_at(side, check, point, values, i) for side in check.conclusion.args)
            relation = check.conclusion.func(left, right, evaluate=False)
            known = defined_at((left, right), {})
            yield Run(point, dict(values), i, left, right, truth_at(relation, {}) if known else None)


def _at(part: sp.Basic, check: Induction, point: Point, values: Mapping[AppliedUndef, sp.Expr], i: int) -> sp.Basic:
    """An expression or condition at index i of a run."""
    return part.subs(check.index, i).xreplace(dict(point)).xreplace(dict(values))


def _extended(
    check: Induction,
    names: list[sp.core.function.UndefinedFunction],
    point: Point,
    values: dict[AppliedUndef, sp.Expr],
    i: int,
    generator: random.Random,
    root: int,
) -> bool:
    """Add the values at index i, so that all that is supposed up to there holds; False where none were found."""
    laws = (law.subs(check.index, k) for k in range(check.start, i + 1) for law in check.laws)
    rules = (*check.first, *laws)
    for _ in range(TRIES):
        added = dict(values)
        open_ = [name(i) for name in names]
        for value in list(open_):
            if _by_rule(value, rules, point, added):
                open_.remove(value)
        for value in open_:
            number = sp.Rational(generator.randint(0, 8), generator.choice((1, 2, 4))) ** root
            added[value] = number if value.is_nonnegative or generator.random() < 0.5 else -number
            for other in open_:
                if other not in added:
                    _by_rule(other, rules, point, added)
        whole = [rule.xreplace(dict(point)).xreplace(added) for rule in rules]
        said = [rule for rule in whole if rule != sp.true and not rule.atoms(AppliedUndef)]
        if all(_allowed(value, added) for value in added) and all(truth_at(rule, {}) for rule in said):
            values.update(added)
            return True
        if not open_:
            return False
    return False


def _allowed(value: AppliedUndef, values: Mapping[AppliedUndef, sp.Expr]) -> bool:
    declared = ((getattr(value, f"is_{fact}"), getattr(values[value], f"is_{fact}")) for fact in _FACTS)
    return bool(values[value].is_Rational) and all(wanted in (None, found) for wanted, found in declared)


def _by_rule(
    value: AppliedUndef, rules: tuple[Boolean, ...], point: Point, values: dict[AppliedUndef, sp.Expr]
) -> bool:
    """Give a value what the first law allows that has it alone on one side: both sides are equal there."""
    for rule in rules:
        if isinstance(rule, Relational):
            for one, other in (rule.args, rule.args[::-1]):
                found = other.xreplace(dict(point)).xreplace(values) if one == value and not other.has(value) else None
                if found is not None and found.is_Rational:
                    values[value] = found
                    return True
    return False
