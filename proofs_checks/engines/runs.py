"""Runs of the sequences of an induction at exact points.

Each value follows from its law or is random. If laws take roots, the random values have rational roots.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import lcm

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.declared import has_property
from lastiterate.proofs_checks.defined import defined_at
from lastiterate.proofs_checks.exact_values import Point, fraction, rational, truth_at
from lastiterate.proofs_checks.feasible_points import find_points, free_symbols
from lastiterate.symbolic.checks import Induction

POINTS, LONGEST, TRIES = 8, 5, 12
"""Numbers of points, of indices in a run, and of attempts at an index."""

AHEAD = 4
"""Number of further indices for which a run must continue, because a run that ends does not obey the laws."""

FAR = (9, 99)
"""Offsets from the start at which laws without sequences must hold, too."""

_FACTS = (
    "positive", "negative", "nonnegative", "nonpositive", "zero", "nonzero", "integer", "noninteger", "even", "odd",
    "prime", "composite", "irrational",
)  # fmt: skip
"""Declarations with which the values of a sequence are compared."""


@dataclass(frozen=True)
class SequenceRun:
    """Sides of the conclusion at an index of a run, and the values up to it; ``holds`` is None if unclear."""

    point: Point
    values: Mapping[AppliedUndef, sp.Expr]
    index: int
    left: sp.Expr
    right: sp.Expr
    holds: bool | None


def sequence_runs(check: Induction, assumptions: tuple[Boolean, ...]) -> Iterator[SequenceRun]:
    """Evaluate the conclusion at the first indices of runs that obey all suppositions."""
    parts = (*check.first, *check.laws, *check.keeps, check.conclusion)
    letters = [symbol for symbol in free_symbols(assumptions, parts) if symbol != check.index]
    names = sorted({value.func for part in parts for value in part.atoms(AppliedUndef)}, key=str)
    powers = set[sp.Pow]().union(*(part.atoms(sp.Pow) for part in parts))
    root = lcm(*(power.exp.q for power in powers if power.exp.is_Rational))
    of_letters = [law for law in check.laws if not law.atoms(AppliedUndef)]
    of_letters = list(
        dict.fromkeys(law.subs(check.index, check.start + i) for law in of_letters for i in (0, *FAR))
    )
    sides = cache(lambda i: tuple(_at_index(side, check.index, i) for side in check.conclusion.args))
    drawn = find_points(letters, (*assumptions, *of_letters), POINTS)
    courses = _courses(check.index, check.start, check.first, check.laws, tuple(names), root)
    known = False

    def seen(point: Point, seed: int, *, looking: bool) -> list[SequenceRun]:
        """Evaluate the conclusion up to the first failure; [] if the run does not continue."""
        after, goes_on = courses(tuple(point.items()), seed, looking)
        told = list[SequenceRun]()
        for i in range(check.start, check.start + LONGEST):
            course = after(i)
            if course is None:
                return []
            left, right = (side.xreplace(point).xreplace(course.values) for side in sides(i))
            relation = check.conclusion.func(left, right, evaluate=False)
            holds = truth_at(relation, {}) if defined_at((left, right), {}) else None
            told.append(SequenceRun(point, course.values, i, left, right, holds))
            if holds is False:
                break
        return told if (known and holds is not False) or goes_on(i) else []

    for seed, point in enumerate(drawn):
        told = seen(point, seed, looking=False) or seen(point, seed, looking=True)
        known = known or bool(told)
        yield from told


def _at_index(part: sp.Basic, index: sp.Symbol, i: int) -> sp.Basic:
    """Substitute a number for the index, without evaluating relations (Sympy would take a long time)."""
    if isinstance(part, Relational):
        return part.func(*(_at_index(side, index, i) for side in part.args), evaluate=False)
    bound = part.has(ExprWithLimits, sp.Subs, sp.Lambda)
    return part.subs(index, i) if bound else part.xreplace({index: sp.Integer(i)})


_Draw = Callable[[AppliedUndef], sp.Expr]
"""Function that draws a value that no law gives."""


def _any(generator: random.Random, root: int) -> _Draw:
    def drawn(value: AppliedUndef) -> sp.Expr:
        number = sp.Rational(generator.randint(0, 8), generator.choice((1, 2, 4))) ** root
        return number if value.is_nonnegative or generator.random() < 0.5 else -number

    return drawn


def _calm(generator: random.Random, root: int, values: Mapping[AppliedUndef, sp.Expr], i: int) -> _Draw:
    """Draw values with which runs often continue: 0, the previous value, or a random value."""
    other = _any(generator, root)
    return lambda value: generator.choice((sp.S.Zero, values.get(value.func(i - 1), sp.S.One), other(value)))


def _at_letters(rule: Boolean, point: Point) -> Boolean:
    """Substitute values for the letters of a rule if its sequences have letters in their arguments."""
    return _put(rule, point) if any(value.free_symbols for value in rule.atoms(AppliedUndef)) else rule


def _put(rule: Boolean, known: Mapping[sp.Expr, sp.Expr]) -> Boolean:
    if isinstance(rule, Relational):
        return rule.func(*(_number(side, known) for side in rule.args), evaluate=False)
    return rule.xreplace(known)


def _number(side: sp.Expr, known: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    try:
        value = fraction(side, known)
    except UnsupportedError:
        return side.xreplace(known)
    return rational(value)


@dataclass(frozen=True)
class _Course:
    """Values of a run at a point, and rules that mention later values."""

    names: Sequence[UndefinedFunction]
    rules: list[Boolean]
    point: Point
    values: dict[AppliedUndef, sp.Expr]

    def next(
        self, i: int, laws: list[Boolean], draw: _Draw, later: list[Boolean] | None = None
    ) -> "_Course | None":
        """Course with values at index i with which rules and ``later`` laws may hold; None if none are found."""
        rules = [*self.rules, *laws]
        for _ in range(TRIES):
            added: dict[sp.Expr, sp.Expr] = {**self.point, **self.values}
            open_ = [name(i) for name in self.names]
            for value in list(open_):
                if _by_rule(value, rules, added):
                    open_.remove(value)
            for value in open_:
                if value in added:
                    continue
                added[value] = draw(value)
                for other in open_:
                    if other not in added:
                        _by_rule(other, rules, added)
            whole = [_put(rule, added) for rule in rules]
            new = {
                one: number for one, number in added.items() if one not in self.values and one not in self.point
            }
            left = [rule for rule in whole if rule.has(AppliedUndef)]
            holds = all(number.is_Rational and _declared(value, number) for value, number in new.items())
            holds = holds and all(map(_may_hold, whole))
            if holds and (later is None or self._may_go_on(i, [*left, *later], added)):
                return _Course(self.names, left, self.point, self.values | new)
            if not open_:
                return None
        return None

    def _may_go_on(self, i: int, rules: list[Boolean], known: Mapping[sp.Expr, sp.Expr]) -> bool:
        """Tell whether rules may hold at the next index, as far as they determine values there."""
        further = dict(known)
        values = [value for value in (name(i + 1) for name in self.names) if _by_rule(value, rules, further)]
        declared = all(_declared(value, further[value]) for value in values)
        return declared and all(_may_hold(_put(rule, further)) for rule in rules)

    def goes_on(self, start: int, laws: list[list[Boolean]], root: int) -> bool:
        """Tell whether values are found at further indices, one for each entry of ``laws`` but the last."""
        generator, course = random.Random(5), self  # noqa: S311
        for i, (here, then) in enumerate(pairwise(laws), start):
            found = course.next(i, here, _calm(generator, root, course.values, i), then)
            if found is None:
                return False
            course = found
        return True


_Followed = tuple[Callable[[int], _Course | None], Callable[[int], bool]]
"""Functions of an index: the course up to it, None if there is none, and whether this course goes on."""


@lru_cache(maxsize=32)  # near misses and mutants often have the laws of their check
def _courses(
    index: sp.Symbol,
    start: int,
    first: tuple[Boolean, ...],
    laws: tuple[Boolean, ...],
    names: tuple[UndefinedFunction, ...],
    root: int,
) -> Callable[[tuple[tuple[sp.Symbol, sp.Expr], ...], int, bool], _Followed]:
    """Function of a point, a seed, and whether to look at the laws of the next index."""
    every = cache(lambda i: tuple(_at_index(law, index, i) for law in laws))

    @cache
    def followed(letters: tuple[tuple[sp.Symbol, sp.Expr], ...], seed: int, looking: bool) -> _Followed:
        point = dict(letters)
        here = cache(lambda i: [_at_letters(law, point) for law in every(i)])
        draw = _any(random.Random(2 * seed + looking), root)  # noqa: S311
        # the value drawn last is often at the edge of its law
        begun = _Course(names[:: -1 if seed % 2 else 1], [_at_letters(one, point) for one in first], point, {})

        @cache
        def after(i: int) -> _Course | None:
            before = begun if i == start else after(i - 1)
            return before and before.next(i, here(i), draw, here(i + 1) if looking else None)

        @cache
        def goes_on(i: int) -> bool:
            course = after(i)
            return course is not None and course.goes_on(
                i + 1, [here(j) for j in range(i + 1, i + AHEAD + 2)], root
            )

        return after, goes_on

    return followed


def _may_hold(rule: Boolean) -> bool:
    """Tell whether a rule holds, or may hold for values still unknown."""
    if rule.has(AppliedUndef):
        alone = isinstance(rule, Relational) and any(isinstance(side, AppliedUndef) for side in rule.args)
        if not alone:
            return True
        if isinstance(rule, sp.Eq):
            value, number = rule.args if isinstance(rule.lhs, AppliedUndef) else rule.args[::-1]
            return not number.is_Rational or _declared(value, number)
        return bool(rule.func(*rule.args) != sp.false)
    known = truth_at(rule, {})
    return known if known is not None else bool(rule.func(*rule.args) == sp.true)


def _declared(value: AppliedUndef, number: sp.Expr) -> bool:
    return all(has_property(number, name) == fact for name, fact in _facts(value))


@lru_cache(maxsize=4096)
def _facts(value: AppliedUndef) -> list[tuple[str, bool]]:
    facts = ((name, getattr(value, f"is_{name}")) for name in _FACTS)
    return [(name, fact) for name, fact in facts if fact is not None]


def _by_rule(value: AppliedUndef, rules: list[Boolean], known: dict[sp.Expr, sp.Expr]) -> bool:
    """Set a value by the first rule that has it alone on one side; False if there is no such rule."""
    for rule in rules:
        if isinstance(rule, Relational):
            for one, other in (rule.args, rule.args[::-1]):
                # comparing applied functions takes ten times as long as comparing their hashes
                same = hash(one) == hash(value) and one == value
                found = _number(other, known) if same and not other.has(value) else None
                if found is not None and found.is_Rational:
                    known[value] = found
                    return True
    return False
