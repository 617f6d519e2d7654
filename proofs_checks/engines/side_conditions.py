"""Side conditions of derivations, shown by the proving engines."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache

from sympy import Basic, Derivative, Dummy, Eq, Float, Ge, Gt, Lambda, Le, Lt, Ne, Subs, Symbol, true
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean

from lastiterate.proofs_checks.declared import says_nothing
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.checks import Identity, Inequality
from lastiterate.symbolic.kernel.integrals import Proposition
from lastiterate.symbolic.kernel.judgement import FalseLineError, Span, UnprovedError
from lastiterate.symbolic.kernel.profiles import new_letter
from lastiterate.symbolic.kernel.sealed import admit, fix, genuine


def _is_bound(condition: Boolean) -> bool:
    """Tell whether a function occurs under a binder, so that its values are not written out."""
    binding = condition.atoms(ExprWithLimits, Derivative, Subs, Lambda)
    return any(one.atoms(AppliedUndef) for one in binding)


def sign_facts(value: AppliedUndef) -> dict[str, bool]:
    """Declared sign of a function's values, as assumptions for a letter."""
    signs = ("real", "zero", "positive", "negative", "nonnegative", "nonpositive", "nonzero")
    return {name: True for name in signs if getattr(value, f"is_{name}")}


def lettered(*conditions: Boolean) -> dict[AppliedUndef, Symbol]:
    """New letter with a new name for each value of a function."""
    values = sorted(set().union(*(one.atoms(AppliedUndef) for one in conditions)), key=str)
    letters = (Symbol(f"{one.func}_{i}", **sign_facts(one)) for i, one in enumerate(values))
    return {one: new_letter(letter, *conditions) for one, letter in zip(values, letters, strict=True)}


_printed = lru_cache(maxsize=2**16)(str)


def prove(condition: Boolean, given: frozenset[Boolean]) -> str:
    """Prove a condition from the premises, for all values that the declarations of the symbols allow.

    Raises FalseLineError if the condition is false at a point that meets the premises, UnprovedError if no
    engine proves it or a term is of a foreign class.
    """
    admit((condition, given), nameless=True)
    return _prove(condition, given)


def proves(condition: Boolean, given: frozenset[Boolean]) -> bool:
    """Tell whether `prove` proves a condition."""
    try:
        prove(condition, given)
    except UnprovedError:
        return False
    return True


class _ErrorOutcome(Exception):  # noqa: N818
    """An outcome that is not kept, because a lack of time may be temporary."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


@lru_cache(maxsize=2**14)  # premises differ more often than the few of them that concern a condition
def _outcome(condition: Relational, near: tuple[Boolean, ...], *, few: bool) -> Outcome | str:
    """Outcome of a condition under premises, or why it needs no engine; ``few``: more premises are known.

    Then a counterexample, which takes long, is not searched for.
    """
    check = as_check(condition, near)
    if says_nothing(check, ()):
        return "it is one of the premises"
    outcome = decide_check(check, (), refute=not few)
    if outcome.status is Status.ERROR:
        raise _ErrorOutcome(outcome)
    return outcome


@cache
def _prove(condition: Boolean, given: frozenset[Boolean]) -> str:
    if isinstance(condition, And):
        return "; ".join(prove(part, given) for part in condition.args)
    if not isinstance(condition, Relational) or isinstance(condition, Ne):
        raise UnprovedError(f"No engine proves {condition}.")
    if _is_bound(condition):
        raise UnprovedError(
            f"No engine proves {condition}, which contains a function under a sum, an integral or a derivative."
        )
    given = frozenset(one for one in given if not _is_bound(one))
    values = lettered(condition, *given)
    condition = condition.func(*(side.xreplace(values) for side in condition.args), evaluate=False)
    premises = sorted((premise.xreplace(values) for premise in given), key=_printed)
    foreign = {one: len(one.free_symbols - condition.free_symbols) for one in premises}
    some = [tuple(one for one in premises if foreign[one] <= most) for most in (0, 1, 2)]
    for near in dict.fromkeys([*some, tuple(premises)]):  # premises with few further letters often suffice
        try:
            found = _outcome(condition, near, few=near != tuple(premises))
        except _ErrorOutcome as error:
            found = error.outcome
        if isinstance(found, str):
            return found
        outcome = found
        if outcome.status is Status.HELD and outcome.grade is Grade.PROVED:
            return f"{outcome.engine}: {outcome.detail}"
    why = outcome.detail or outcome.counterexample
    if outcome.status is Status.REFUTED and outcome.counterexample and len(values) <= 1:
        # the last outcome used all premises, and a function with one value here may be constant
        named = {str(one) for one in condition.free_symbols}
        at = [f"{name} = {value}" for name, value in outcome.counterexample.at.items() if name in named]
        raise FalseLineError(f"{condition} is false at {', '.join(at)}")
    raise UnprovedError(f"{condition} is not proved from {', '.join(map(str, premises)) or 'nothing'}: {why}.")


def replayed(*ends: Span | Proposition) -> None:
    """Raise UnprovedError unless rules made all lines, `prove` shows all conditions, and names differ."""
    letters = dict[str, Symbol]()
    terms = set[Basic]()
    for one in dict.fromkeys(one for end in ends for one in end.lines()):
        if not genuine(one):
            raise UnprovedError(f"Each line must be made by a rule, got {one}.")
        for needed in one.shown:
            if needed.condition not in {true, *needed.given}:
                prove(needed.condition, needed.given)
        for term in _said(one):
            _spoken(term, terms, letters)


def _said(thing: object) -> Iterator[Basic]:
    if isinstance(thing, Basic):
        yield thing
    elif isinstance(thing, tuple | frozenset):
        for part in thing:
            yield from _said(part)
    elif is_dataclass(thing):
        for name in (one.name for one in fields(thing) if one.name != "premises"):
            yield from _said(getattr(thing, name))


def _spoken(term: Basic, known: set[Basic], letters: dict[str, Symbol]) -> None:
    if term in known:
        return
    known.add(term)
    if isinstance(term, Float):
        raise UnprovedError(
            f"Numbers must be exact, got {term}: Sympy equates rounded numbers with others nearby."
        )
    if isinstance(term, Symbol) and not isinstance(term, Dummy) and letters.setdefault(term.name, term) != term:
        raise UnprovedError(f"Each letter needs its own name, got {term.name} for two letters; rename one.")
    for part in term.args:
        _spoken(part, known, letters)


def as_check(condition: Relational, given: tuple[Boolean, ...]) -> Identity | Inequality:
    """Relation between numbers under premises, as a check."""
    if isinstance(condition, Eq):
        return Identity(condition.lhs, condition.rhs, given=given)
    less, more = (condition.lts, condition.gts) if isinstance(condition, Le | Lt | Ge | Gt) else condition.args
    return Inequality(less, "<" if isinstance(condition, Lt | Gt) else "<=", more, given=given)


fix(__name__)
