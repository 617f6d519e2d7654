"""Sequences that obey the laws of an induction: some are constant, the others defined by recursion from these.

A law that has the next value of a sequence alone on one side defines it. What is left of the laws, and what the
sequences are declared to be, is shown at the start by exact numbers, and from each index to the next by z3.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, truth_at
from lastiterate.symbolic.checks import Induction

_TRIES = 60
"""Choices of constants."""

_SIGNS: Mapping[str, type[Relational]] = {
    "zero": sp.Eq, "positive": sp.Gt, "negative": sp.Lt, "nonnegative": sp.Ge, "nonpositive": sp.Le, "nonzero": sp.Ne,
}  # fmt: skip
_OTHER = ("algebraic", "noninteger", "irrational", "imaginary")
"""Declarations that are not shown of a sequence here; what is rational, or whole, is algebraic."""


def sequences_exist(check: Induction, points: Sequence[Point]) -> bool:
    """Tell whether sequences that obey the laws for ever are found at one of the points."""
    return any(_at(check, point) for point in points)


def _at(check: Induction, point: Point) -> bool:
    laws = [law.xreplace(point) for law in check.laws]
    first = [one.xreplace(point) for one in check.first]
    values = {value for part in (*laws, *first) for value in part.atoms(AppliedUndef)}
    names = sorted({value.func for value in values}, key=str)
    shifts = {value.args[0] - check.index for law in laws for value in law.atoms(AppliedUndef)}
    if not shifts <= {sp.S.Zero, sp.S.One} or any(getattr(name(0), f"is_{kind}") for name in names for kind in _OTHER):
        return False
    after, left = _definitions(laws, check.index)
    state = {name: sp.Dummy(str(name), real=True) for name in names}
    letters = {
        name(check.index + k): letter for name, letter in state.items() for k in (0, 1) if not k or name not in after
    }
    signs = [relation(letter, 0) for name, letter in state.items() for relation in _declared(name(0))]
    next_ = {name(check.index + 1): value for name, value in after.items()}
    every = [*signs, *(law.xreplace(next_).xreplace(letters) for law in left)]
    steps = {state[name]: value.xreplace(letters) for name, value in after.items()}
    return any(_goes_on(check, every, steps, begun) for begun in _starts(check, first, state, point))


def _declared(value: AppliedUndef) -> list[type[Relational]]:
    return [relation for name, relation in _SIGNS.items() if getattr(value, f"is_{name}")][:1]


def _definitions(laws: Sequence[Boolean], index: sp.Symbol) -> tuple[dict[UndefinedFunction, sp.Expr], list[Boolean]]:
    """The next value of each sequence that a law gives, in values at the index, and the other laws."""
    after: dict[UndefinedFunction, sp.Expr] = {}
    left = list[Boolean]()
    for law in laws:
        for one, other in (law.args, law.args[::-1]) if isinstance(law, sp.Eq | sp.Le | sp.Lt | sp.Ge | sp.Gt) else ():
            given = isinstance(one, AppliedUndef) and one.args[0] == index + 1 and one.func not in after
            value = other.xreplace({name(index + 1): known for name, known in after.items()})
            if given and not any(later.args[0] == index + 1 for later in value.atoms(AppliedUndef)):
                strict = {sp.Lt: -1, sp.Gt: 1}.get(type(law), 0) * (1 if one == law.lhs else -1)
                after[one.func] = value + strict
                break
        else:
            left.append(law)
    return after, left


def _starts(
    check: Induction, first: Sequence[Boolean], state: Mapping[UndefinedFunction, sp.Symbol], point: Point
) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Values at the start that obey what is said of it: constants where nothing is."""
    generator = random.Random(5)  # noqa: S311
    some = [sp.S.Zero, sp.S.One, sp.S.Half, *islice(point.values(), 6)]
    for trial in range(_TRIES):
        drawn = {name: some[trial] if trial < 2 else generator.choice(some) for name in state}
        given: dict[sp.Expr, sp.Expr] = {}
        for one in first:
            for value, other in (one.args, one.args[::-1]) if isinstance(one, Relational) else ():
                if isinstance(value, AppliedUndef) and value not in given:
                    rest = {part: given.get(part, drawn[part.func]) for part in other.atoms(AppliedUndef)}
                    given[value] = other.xreplace(given | rest)
                    given |= {part: number for part, number in rest.items() if part not in given}
                    break
        begun = {name(check.start): given.get(name(check.start), drawn[name]) for name in state}
        if all(truth_at(one.xreplace(begun), {}) for one in first):
            yield {state[value.func]: number for value, number in begun.items()}


def _goes_on(
    check: Induction,
    every: Sequence[Boolean],
    steps: Mapping[sp.Symbol, sp.Expr],
    begun: Mapping[sp.Symbol, sp.Expr],
) -> bool:
    """Tell whether what holds at every index holds at the start, and passes from each index to the next."""
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
