"""Inductions and recursions, proved by a base case and a step from each index to the next.

The engines for inequalities and identities prove base and step from the suppositions alone. A check is
refuted only by a run of the sequences at exact points, where each value follows from its law or is random. If
laws take roots, the random values have rational roots.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from math import lcm

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits_value, has_property
from lastiterate.proofs_checks.declared import conditions as signs_of
from lastiterate.proofs_checks.defined import defined_at, needs, unmet
from lastiterate.proofs_checks.engines.answers import LESS, MORE, held, refuted, undecided, variant
from lastiterate.proofs_checks.engines.side_conditions import lettered, prove, sign_facts
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, fraction, point_text, rational, truth_at
from lastiterate.proofs_checks.feasible_points import find_points, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Induction, Recursion
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import new_letter
from lastiterate.symbolic.notation import PREVIOUS

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
        """Tell whether the rules that determine values at the next index can hold there."""
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


_OTHER = ("algebraic", "noninteger", "irrational", "imaginary")
"""Declarations that `_exist` does not prove for a sequence; rational and integer sequences are algebraic."""


def _exist(check: Induction, run: SequenceRun) -> bool:
    """Tell whether sequences that start like a run, or with free values 0 or 1, provably obey all laws."""
    laws = [law.xreplace(run.point) for law in check.laws]
    values = {value for part in (*laws, *check.first) for value in part.atoms(AppliedUndef)}
    names = sorted({value.func for value in values}, key=str)
    shifts = {value.args[0] - check.index for law in laws for value in law.atoms(AppliedUndef)}
    if not shifts <= {sp.S.Zero, sp.S.One} or any(
        getattr(name(0), f"is_{kind}") for name in names for kind in _OTHER
    ):
        return False
    after, left = _definitions(laws, check.index)
    state = {name: sp.Dummy(str(name), **{"real": True, **sign_facts(name(0))}) for name in names}
    letters = {
        name(check.index + k): letter
        for name, letter in state.items()
        for k in (0, 1)
        if not k or name not in after
    }
    next_ = {name(check.index + 1): value for name, value in after.items()}
    every = [law.xreplace(next_).xreplace(letters) for law in left]
    every += [one for letter in state.values() for one in signs_of(letter)]
    steps = {state[name]: value.xreplace(letters) for name, value in after.items()}
    for constant in (None, sp.S.Zero, sp.S.One):
        first = dict(run.values)
        if constant is not None:
            first |= {name(check.start): constant for name in names if name not in after}
        begun = {state[name]: first[name(check.start)] for name in names}
        obeyed = all(truth_at(one.xreplace(run.point).xreplace(first), {}) for one in check.first)
        if obeyed and _goes_on(check, every, steps, begun):
            return True
    return False


def _definitions(
    laws: Sequence[Boolean], index: sp.Symbol
) -> tuple[dict[UndefinedFunction, sp.Expr], list[Boolean]]:
    """Next values that laws give to sequences, in terms of values at the index, and the remaining laws."""
    after: dict[UndefinedFunction, sp.Expr] = {}
    left = list[Boolean]()
    for law in laws:
        for one, other in (
            (law.args, law.args[::-1]) if isinstance(law, sp.Eq | sp.Le | sp.Lt | sp.Ge | sp.Gt) else ()
        ):
            given = isinstance(one, AppliedUndef) and one.args[0] == index + 1 and one.func not in after
            value = other.xreplace({name(index + 1): known for name, known in after.items()})
            if given and not any(later.args[0] == index + 1 for later in value.atoms(AppliedUndef)):
                strict = {sp.Lt: -1, sp.Gt: 1}.get(type(law), 0) * (1 if one == law.lhs else -1)
                after[one.func] = value + strict
                break
        else:
            left.append(law)
    return after, left


def _goes_on(
    check: Induction,
    every: Sequence[Boolean],
    steps: Mapping[sp.Symbol, sp.Expr],
    begun: Mapping[sp.Symbol, sp.Expr],
) -> bool:
    """Tell whether the conditions hold at the start and provably pass from each index to the next."""
    constants = {letter: number for letter, number in begun.items() if letter not in steps}
    here = {check.index: sp.Integer(check.start)}
    if not all(truth_at(one.xreplace(begun).xreplace(here), {}) for one in every):
        return False
    held = [one for one in (part.xreplace(constants) for part in every) if one != sp.true]
    moved = {letter: value.xreplace(constants) for letter, value in steps.items()}
    given = [*held, sp.Ge(check.index, check.start, evaluate=False)]
    later = [part.xreplace({**moved, check.index: check.index + 1}) for part in held]
    undefined = unmet((*moved.values(), *held, *later), given, entails)
    return not undefined and all(one == sp.true or entails(given, one) for one in later)


NOT_SHOWN = "assumes that sequences exist that obey the laws at every index"
"""Scope of an induction whose sequences are not shown to exist."""

_VALUE = "the value"
"""Name of the sequence of a recursion, distinct from the letters of claims, which contain no space."""

_LATE, _LAST = 10**6, 10**12
"""Offsets from the start at which the laws must not contradict the relations to be shown.

At `_LAST`, letters take values from the runs, because a law such as k <= n fails for every fixed n at large
k.
"""


def decide(check: Induction | Recursion, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Induction` or `Recursion`."""
    if isinstance(check, Recursion):
        outcome = decide(*_of_recursion(check, (*assumptions, *check.given)))
        point = outcome.counterexample
        if point is not None:
            at = {name: number for name, number in point.at.items() if not name.startswith(f"{_VALUE}(")}
            point = replace(point, at=at, note="closed form, recursion")
        return replace(outcome, counterexample=point, scope="")  # the closed form obeys the law for ever
    _written_out(check, assumptions)
    seen, longest = 0, check.start
    begun = list[SequenceRun]()
    for run in sequence_runs(check, assumptions):
        begun += [run] if run.index == check.start else []
        if run.holds is False:
            at = point_text(run.point) | {str(check.index): str(run.index)}
            at |= {str(value): str(number) for value, number in run.values.items()}
            sides = str(run.left), check.conclusion.rel_op, str(run.right)
            found = Counterexample(at, *sides, "left, right")
            return refuted(check, found, f"fails in a run at {check.index} = {run.index}")
        seen, longest = seen + (run.index > check.start), max(longest, run.index)
    if longest < check.start + LONGEST - 1:
        return undecided(check, "no run of the sequences was found that obeys the laws and assumptions")
    if {check.conclusion, check.conclusion.reversed} & {*check.laws, *assumptions}:
        return undecided(check, "it assumes what it concludes")
    tried = [run.point for run in begun]
    why = _undefined(check, assumptions) or _contradicted(check, assumptions, tried)
    if why:
        return undecided(check, why)
    for part, show in (("base", _base), ("step", _step)):
        try:
            show(check, assumptions)
        except UnprovedError as error:
            return undecided(check, f"{part} of {check.index}: {error}")
    detail = f"base and step in {2 * len(_all(check))} conditions; it holds in runs at {seen} exact points"
    return held(check, Grade.PROVED, detail, "" if any(_exist(check, run) for run in begun) else NOT_SHOWN)


def _of_recursion(check: Recursion, assumptions: tuple[Boolean, ...]) -> tuple[Induction, tuple[Boolean, ...]]:
    begin = check.start
    if not isinstance(begin, int) or not all(
        admits_value(check.index, sp.Integer(begin + k)) for k in range(1, 5)
    ):
        raise InputError(
            "A recursion needs a whole number as its start, and an index that can take every later whole number, got "
            f"start={begin!r} and index={check.index}; declare the index an integer of at least the start."
        )
    if PREVIOUS in check.initial.free_symbols | check.closed_form.free_symbols | {check.index}:
        raise InputError(
            f"Only the step of a recursion may contain PREVIOUS, got initial={check.initial}, "
            f"closed_form={check.closed_form} and index={check.index}; write them without it."
        )
    value = sp.Function(_VALUE, real=True)
    parts = check.initial, check.step, check.closed_form, *assumptions
    index = sp.Symbol(check.index.name, integer=True, nonnegative=begin >= 0 or None)
    # A sum may bind the name of the index.
    index = new_letter(index, *(one.xreplace({check.index: PREVIOUS}) for one in parts))
    first, *known = (
        one.xreplace({check.index: index}) for one in (sp.Eq(value(begin), check.initial), *assumptions)
    )
    law = sp.Eq(value(index + 1), check.step.xreplace({PREVIOUS: value(index), check.index: index + 1}))
    closed = sp.Eq(check.closed_form.xreplace({check.index: index}), value(index))
    return Induction(index, closed, (first,), (law,), start=begin, name=check.name), tuple(known)


def _written_out(check: Induction, assumptions: tuple[Boolean, ...]) -> None:
    """Raise InputError unless the index takes every integer from the start on and only laws restrict it."""
    if not isinstance(check.start, int):
        raise InputError(
            f"An induction needs a whole number as its start, got start={check.start!r}; write one."
        )
    if not isinstance(check.conclusion, Relational):
        raise InputError(
            f"conclusion needs an equation or an inequality, got the constant {check.conclusion}, which says nothing; "
            "write sides that Sympy leaves as they are."
        )
    if not check.index.is_integer or not all(
        admits_value(check.index, sp.Integer(check.start + k)) for k in range(4)
    ):
        raise InputError(
            f"index must be declared so that it can take every whole number from start={check.start} on, "
            f"got index={check.index}; declare it an integer of at least the start."
        )
    spoken = [one for one in (*assumptions, *check.first) if check.index in one.free_symbols]
    if spoken:
        raise InputError(
            f"The assumptions and the conditions in first may not contain the index, got {spoken[0]}; put it into laws."
        )
    values = {value for part in (*check.laws, *check.first, *_all(check)) for value in part.atoms(AppliedUndef)}
    for value in sorted(values, key=str):
        if len(value.args) != 1:
            raise InputError(
                f"A sequence may have only the index as its argument, got {value}; write separate sequences."
            )
        if not (value.args[0] - check.start).is_nonpositive and any(part.has(value) for part in check.first):
            raise InputError(
                f"first may contain only values up to the start, {check.start}, got {value}; put it into laws."
            )


def _undefined(check: Induction, assumptions: tuple[Boolean, ...]) -> str:
    """Reason why some supposition is not shown to be defined; "" if all are defined."""
    total = tuple(law for law in check.laws if not needs(law))
    known = (*assumptions, sp.Ge(check.index, check.start, evaluate=False), *_all(check), *total)
    letters = lettered(*known, *check.first, *check.laws)
    first, laws, given, before = (
        tuple(one.xreplace(letters) for one in some if one != sp.true)
        for some in (check.first, check.laws, known, assumptions)
    )
    return unmet(first, before, entails, "at the start") or unmet(laws, given, entails, "at every index")


def _contradicted(check: Induction, assumptions: tuple[Boolean, ...], tried: Sequence[Point]) -> str:
    """Reason why laws contradict the relations to be shown at a late index; "" if no contradiction is found.

    In this case, no sequence obeys the laws. Laws with a power to the index are left out, because z3 would
    expand the power.
    """
    every = [law for law in (*check.laws, *_all(check)) if not _steps(law, check.index)]
    powers = {power for law in every for power in law.atoms(sp.Pow) if check.index in power.exp.free_symbols}
    laws = [law for law in every if not powers & law.atoms(sp.Pow)]
    plain = [law for law in laws if not any(check.index in one.free_symbols for one in _functions(law))]
    for late, some in ((check.start + FAR[-1], laws), (check.start + _LATE, plain)):
        if some and _false((*assumptions, *(law.subs(check.index, late) for law in some))):
            return f"no sequence obeys the laws at {check.index} = {late}"
    last = [law.subs(check.index, check.start + _LAST) for law in plain]
    if last and all(_false([law.xreplace(point) for law in last]) for point in tried):
        at = ", ".join(f"{letter} = {number}" for letter, number in sorted(point_text(tried[0]).items()))
        return "no sequence is known to obey the laws at every index" + (f", for example at {at}" if at else "")
    return ""


def _false(said: Sequence[Boolean]) -> bool:
    letters = lettered(*said)
    return entails([one.xreplace(letters) for one in said if one != sp.true], sp.false)


def _functions(law: Boolean) -> set[sp.Function]:
    """Functions other than sequences, which Sympy would evaluate at a large index."""
    return {one for one in law.atoms(sp.Function) if not isinstance(one, AppliedUndef)}


def _base(check: Induction, assumptions: tuple[Boolean, ...]) -> None:
    """Prove the kept relations and the conclusion at the start; powers stay letters, so no pole cancels."""
    powers, start = _powers(check), sp.Integer(check.start)
    given = [*assumptions, *check.first, *(law.subs(check.index, start) for law in check.laws)]
    here = (*given, sp.Eq(check.index, start, evaluate=False))
    for one in _all(check):  # before the start is substituted, because this cancels poles
        _defined(
            one.xreplace({value: value.subs(check.index, start) for value in one.atoms(AppliedUndef)}), here
        )
    given += [sp.Eq(letter, base**start, evaluate=False) for base, letter in powers.items()]
    _show([_lettered(one, check.index, powers).subs(check.index, start) for one in _all(check)], given)


def _step(check: Induction, assumptions: tuple[Boolean, ...]) -> None:
    powers, index = _powers(check), check.index
    given = [*assumptions, sp.Ge(index, check.start, evaluate=False)]
    given += [_lettered(law, index, powers) for law in (*check.laws, *_all(check))]
    given += [
        _lettered(law.subs(index, index + 1), index, powers) for law in check.laws if not _steps(law, index)
    ]
    _show([_lettered(one.subs(index, index + 1), index, powers) for one in _all(check)], given)


def _steps(law: Boolean, index: sp.Symbol) -> bool:
    """Tell whether a law mentions the next index; if so, it is not repeated at that index."""
    return any(index + 1 in value.args for value in law.atoms(AppliedUndef))


def _defined(condition: Boolean, given: Iterable[Boolean]) -> None:
    said = tuple(one for one in given if one != sp.true)
    letters = lettered(condition, *said)
    why = unmet(condition.xreplace(letters).args, tuple(one.xreplace(letters) for one in said), entails)
    if why:
        raise UnprovedError(why)


def _show(wanted: Sequence[Boolean], given: Sequence[Boolean]) -> None:
    known = frozenset(one for one in given if one != sp.true)
    for condition in (one for one in wanted if one != sp.true):
        if isinstance(condition, sp.Eq):
            _defined(condition, known)  # before values are put in
        prove(*_put_in(condition, known))
        known |= {condition}


def _put_in(condition: Boolean, known: frozenset[Boolean]) -> tuple[Boolean, frozenset[Boolean]]:
    """Substitute into an equality the values that premises give to sequences, and drop these premises.

    Then no point has to satisfy these premises. If a value is nonnegative, a premise states that its
    replacement is, too.
    """
    if not isinstance(condition, sp.Eq):
        return condition, known
    while found := next(filter(None, map(_solved, sorted(known, key=str))), None):
        rule, value, put = found
        condition = sp.Eq(*(side.xreplace({value: put}) for side in condition.args), evaluate=False)
        signs = [sp.Ge(put, 0)] if value.is_nonnegative else []
        known = frozenset({*signs, *(one.xreplace({value: put}) for one in known - {rule})}) - {sp.true}
    return condition, known


def _solved(rule: Boolean) -> tuple[Boolean, AppliedUndef, sp.Expr] | None:
    """(rule, value, expression) if a rule is an equation for a value of a sequence; else None."""
    sides = (rule.args, rule.args[::-1]) if isinstance(rule, sp.Eq) else ()
    return next(
        ((rule, one, other) for one, other in sides if isinstance(one, AppliedUndef) and not other.has(one)),
        None,
    )


def _all(check: Induction) -> tuple[Boolean, ...]:
    return (*check.keeps, check.conclusion)


def _multiple(exponent: sp.Expr, index: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
    """Whole numbers m and k with exponent = m index + k, m nonzero; else None."""
    m = sp.expand(exponent).coeff(index)
    k = sp.expand(exponent - m * index)
    return (m, k) if m.is_Integer and k.is_Integer and m != 0 else None


def _powers(check: Induction) -> dict[sp.Expr, sp.Symbol]:
    """Letter for the power of each base to the index; the letter has the sign of the base."""
    found = {power for part in (*_all(check), *check.laws) for power in part.atoms(sp.Pow)}
    bases = sorted({p.base for p in found if _multiple(p.exp, check.index)}, key=str)
    signs = [
        {k: True for k in ("positive", "nonnegative", "real") if getattr(base, f"is_{k}")} for base in bases
    ]
    return {
        base: sp.Dummy(f"power {i}", **sign) for i, (base, sign) in enumerate(zip(bases, signs, strict=True))
    }


def _lettered(part: Boolean, index: sp.Symbol, powers: Mapping[sp.Expr, sp.Symbol]) -> Boolean:
    values = {}
    for power in part.atoms(sp.Pow):
        found = _multiple(power.exp, index) if power.base in powers else None
        if found:
            values[power] = powers[power.base] ** found[0] * power.base ** found[1]
    return part.xreplace(values)


def near_misses(
    check: Induction | Recursion,
    assumptions: tuple[Boolean, ...],
    room: sp.Expr,  # noqa: ARG001
) -> tuple[Check, ...]:
    """Larger side reduced by 3 % or by more than its least room in a run, or parts of a recursion 3 % larger."""
    if isinstance(check, Recursion):
        wrong = {name: MORE * getattr(check, name) or sp.S.One for name in ("closed_form", "step", "initial")}
        return tuple(variant(check, f"{name} {side}", **{name: side}) for name, side in wrong.items())
    if isinstance(check.conclusion, sp.Equality):
        left, right = check.conclusion.args
        unequal = sp.Eq(left, LESS * right or sp.S.One)
        return (variant(check, "the right side, reduced by 3/100 of it", conclusion=unequal),)
    less, more = check.conclusion.lts, check.conclusion.gts
    order = 1 if check.conclusion.args[0] == less else -1
    sides = [(run.left, run.right)[::order] for run in sequence_runs(check, assumptions)]
    rooms = [((b - a) / (abs(a) + abs(b)), (b - a) / b) for a, b in sides if b != 0]
    if not rooms:
        return ()
    share = max(sp.Rational(3, 100), sp.Rational(103, 100) * min(rooms)[1])
    stronger = check.conclusion.func(*(less, (1 - share) * more)[::order])
    return (variant(check, f"the larger side, reduced by {share} of it", conclusion=stronger),)
