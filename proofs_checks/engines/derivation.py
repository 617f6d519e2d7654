"""Derivations by the kernel's rules, whose side conditions the proving engines show."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias, TypeVar

from sympy import Add, Basic, Dummy, Expr, Ge, Gt, Le, Lt, nan, oo, simplify, true, zoo
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.answers import (
    LESS,
    first_middle_last,
    held,
    lessened,
    refuted,
    terms,
    undecided,
    variant,
)
from lastiterate.proofs_checks.engines.citation import decide_consequence
from lastiterate.proofs_checks.engines.side_conditions import prove, replayed
from lastiterate.proofs_checks.engines.z3_answers import impossible, relations
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status, limit_by
from lastiterate.symbolic.checks import (
    Check,
    Consequence,
    Deduced,
    Derived,
    Engine,
    NormBound,
    Printed,
    RenyiBound,
    Tracked,
)
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.derivations import DERIVATIONS, OF_PACKAGE, TRACKED
from lastiterate.symbolic.derivations.deductions import DEDUCTIONS
from lastiterate.symbolic.derivations.printed import PRINTED
from lastiterate.symbolic.kernel.integrals import Calculus, Proposition, quantities
from lastiterate.symbolic.kernel.judgement import FalseLineError, Guarantee, Span, StepsBefore, UnprovedError
from lastiterate.symbolic.kernel.profiles import Equal, Letter, Power, Profile
from lastiterate.symbolic.kernel.renyi import Sampled, bound_renyi, largest_order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.notation import T, alpha
from lastiterate.symbolic.statement import Constant, ForAll, free

_Made = TypeVar("_Made")
_Ground = TypeVar("_Ground", Calculus, Kernel)
_Checks: TypeAlias = Consequence | Deduced | Derived | Printed | RenyiBound | Tracked


def _named(table: Mapping[str, _Made], name: str) -> _Made:
    if name not in table:
        raise InputError(
            f"derivation needs the name of a derivation, got derivation={name}; "
            + suggestion(name, table, "see `lastiterate.symbolic.derivations`.")
        )
    return table[name]


_OWN = MappingProxyType({**OF_PACKAGE, **PRINTED, **DEDUCTIONS})
_LATER = {"__slotnames__", "__annotations_cache__"}
"""Names that Python itself gives to classes later."""


@contextmanager
def unaltered() -> Iterator[None]:
    """Undo what code of a claim changes in the modules and classes of this package, and raise UnprovedError."""
    for engine in Engine:
        import_module(f"lastiterate.proofs_checks.engines.{engine}")
    modules = [module for name, module in [*sys.modules.items()] if name.startswith("lastiterate.")]
    kinds = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    owners: list[Any] = [*modules, *(one for one in kinds if str(one.__module__).startswith("lastiterate."))]
    names = ((owner, key, value) for owner in owners for key, value in vars(owner).items())
    before = {(owner, key): value for owner, key, value in names if key != "__builtins__"}
    own = ((one, kept) for one, kept in before.items() if kept is not sys.modules)  # which new imports change
    tables = [(one, kept, kept.copy()) for one, kept in own if type(kept) in {dict, set}]
    try:
        yield
    finally:
        altered = [(owner, key) for (owner, key), value in before.items() if vars(owner).get(key) is not value]
        later = [(kind, key) for kind in owners if isinstance(kind, type) for key in vars(kind).keys() - _LATER]
        added = [one for one in later if one not in before]
        for owner, key in added:
            delattr(owner, key)
        for owner, key in altered:  # `setattr` refuses names of the kernel's modules
            (type if isinstance(owner, type) else ModuleType).__setattr__(owner, key, before[owner, key])
        altered += [one for one, table, kept in tables if table != kept]
        for _, table, kept in tables:
            table.clear()
            table |= kept
        if changes := sorted(f"{owner.__name__}.{key}" for owner, key in (*added, *altered)):
            raise UnprovedError(f"A claim may not change this package, got changes to {', '.join(changes)}.")


def _made(table: Mapping[str, Callable[[_Ground], _Made]], name: str, ground: _Ground) -> _Made:
    function = _named(table, name)
    with nullcontext() if _OWN.get(name) is function else unaltered():
        return function(ground)


@cache
def deduce(name: str) -> Proposition:
    """Inequality obtained by the deduction ``name``; may raise UnprovedError."""
    made = _made(DEDUCTIONS, name, Calculus(prove))
    replayed(made)
    return made


@cache
def derive(name: str, given: frozenset[Boolean]) -> Guarantee:
    """The guarantee of derivation ``name`` under the conditions ``given`` on numbers; may raise UnprovedError."""
    return _both(_made(DERIVATIONS, name, Kernel(prove, given)))


@cache
def track(name: str, given: frozenset[Boolean]) -> Span:
    """Like `derive`, for a judgement about a distance."""
    made = _made(TRACKED, name, Kernel(prove, given))
    _replayed(made)
    return made


def judgements(check: Derived | RenyiBound | Tracked, assumptions: tuple[Boolean, ...]) -> tuple[Span, ...]:
    """Judgements obtained by the derivation of a check, as in `derive`."""
    given = (*assumptions, *check.given) if isinstance(check, RenyiBound) else assumptions
    numbers = frozenset(one for one in given if not one.has(largest_order))
    if isinstance(check, Tracked):
        return (track(check.derivation, numbers),)
    made = derive(check.derivation, numbers)
    return made.first, made.second


def _both(made: Guarantee) -> Guarantee:
    if type(made) is not Guarantee:
        raise UnprovedError(f"A derivation must return a Guarantee, got {type(made).__name__}.")
    _replayed(made.first, made.second)
    return Guarantee(made.first, made.second)


def _replayed(*ends: Span) -> None:
    replayed(*ends)
    if any(isinstance(one, StepsBefore) for end in ends for one in end.hypotheses):
        raise UnprovedError("The induction hypothesis about earlier steps must be discharged by the end.")


def decide(check: _Checks, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Follow the rules of the calculus or of the kernel, and compare the result with the check.

    Only a printed proof can be refuted, by its first false line. The scope is limited by cited claims and by
    lemmas not shown for vectors of every dimension.
    """
    if isinstance(check, Consequence):
        return decide_consequence(check, assumptions)
    given = frozenset((*assumptions, *check.given) if isinstance(check, RenyiBound) else assumptions)
    kernel = Kernel(prove, given)
    if isinstance(check, RenyiBound) and (why := unmeetable(given)):
        raise NoPointError(why)
    try:
        if isinstance(check, Deduced):
            made = conclude(deduce(check.derivation), check.statement)
            lines = list(made.lines())
            keys = dict.fromkeys(key for one in lines for key in one.cites if "/" in key)
            return _limited(held(check, Grade.PROVED, f"{len(lines)} rules"), *keys)
        if isinstance(check, Printed):
            both = _both(_made(PRINTED, check.derivation, kernel))
            found = _reached(check, both.first, both.second)
            return replace(found, detail=f"{found.detail}, for {both.first.profile}") if found.grade else found
        if isinstance(check, Tracked):
            return _reached(check, _tracked(check, kernel))
        if isinstance(check, RenyiBound):
            ends, cites = _bounded(check, given)
            return _reached(check, *ends, cites=cites)
        both = derive(check.derivation, given)
        for span in (both.first, both.second):
            _suppose(kernel, span)
            kernel.weaken(span, profile=check.profile)
        return _reached(check, both.first, both.second)
    except UnprovedError as error:
        if isinstance(check, Printed) and isinstance(error, FalseLineError):
            return refuted(check, None, ": ".join(("it stops", *getattr(error, "__notes__", ()), str(error))))
        return undecided(check, f"the derivation stops: {error}")


def _suppose(kernel: Kernel, span: Span) -> None:
    for condition in span.given - kernel.given:
        kernel.how(condition, kernel.given)


def _tracked(check: Tracked, kernel: Kernel) -> Span:
    made = track(check.derivation, kernel.given)
    _suppose(kernel, made)
    if made.scope or (made.start, made.end, made.near) != (0, T, 0) or made.profile != Equal():
        raise UnprovedError(f"a tracked distance needs T steps, from equal starts and at no cost, got {made}")
    kernel.weaken(made, far=check.distance)
    return made


def _bounded(check: RenyiBound, given: frozenset[Boolean]) -> tuple[tuple[Span, Span], tuple[str, ...]]:
    """Judgements in both directions, with Renyi divergences proved to be at most the bound, and the claims cited.

    With `Sampled.SECOND`, only the order whose second law has the additional sample is bounded.
    """
    numbers = frozenset(one for one in given if not one.has(largest_order))
    made, cites = derive(check.derivation, numbers), dict[str, None]()
    for condition in (made.first.given | made.second.given) - numbers:
        prove(condition, numbers)
    if check.bound.has(oo, nan, zoo):
        raise UnprovedError(f"a finite bound is needed, got {check.bound}")
    for span in (made.second,) if check.by is Sampled.SECOND else (made.first, made.second):
        found = bound_renyi(span.profile, alpha, check.by)
        below = Le(found.value, check.bound, evaluate=False)
        for condition in (*(one for one in found.conditions if one != true), below):
            if condition in given or supposed_order(condition, given):
                continue
            if condition.has(largest_order):
                raise UnprovedError(f"{condition} is not among the premises")
            prove(condition, given)
        cites |= dict.fromkeys(found.cites)
    return (made.first, made.second), tuple(cites)


def conclude(made: Proposition, statement: ForAll) -> Proposition:
    """Derive a statement from a deduced inequality; NoPointError if no numbers meet its conditions."""
    body, conditions = statement.body, frozenset(And.make_args(And(*statement.conditions)))
    if free(statement):
        raise UnprovedError(f"Each letter of the statement needs a quantifier, got none for {free(statement)}.")
    numbers = frozenset(one for one in conditions if isinstance(one, Relational) and not quantities(one))
    for _ in find_points(free_symbols(*numbers), tuple(numbers), 1):
        break
    rules = Calculus(prove, conditions)
    for condition in made.given - conditions:
        if not isinstance(condition, Relational) or quantities(condition):
            raise UnprovedError(f"The deduction assumes {condition}, but the statement does not.")
        rules.how(condition, numbers)
    if body == made.says:
        return made
    if not isinstance(body, Le):
        raise UnprovedError(f"The statement must be an inequality, got {body}.")
    return Calculus(prove, numbers).follow(made, body.lhs, body.rhs)


def supposed_order(condition: Basic, given: Iterable[Basic]) -> bool:
    """Tell whether a condition that bounds the order by alpha* is given."""
    if not condition.has(largest_order):
        return False
    for one in given:
        if not isinstance(one, Le | Lt | Ge | Gt):
            continue
        if one.has(largest_order) and one.lts == condition.lts and one.gts.func == condition.gts.func:
            pairs = zip(one.gts.args, condition.gts.args, strict=True)
            if all(simplify(left - right) == 0 for left, right in pairs):
                return True
    return False


@lru_cache(maxsize=1024)  # near misses and mutants share the premises of their check
def unmeetable(given: frozenset[Basic]) -> str:
    """Reason why relations cannot be met, "" if they can; alpha* may be any positive number."""
    said = list(relations(given))
    orders = sorted(
        {one for part in said for one in part.atoms(AppliedUndef) if one.func == largest_order}, key=str
    )
    letters = {order: Dummy(str(order.func), positive=True) for order in orders}
    named = (one.xreplace(letters) for one in said)
    return impossible(sorted((one for one in named if not one.atoms(AppliedUndef)), key=str))


def _reached(
    check: Derived | Printed | RenyiBound | Tracked, *ends: Span, cites: tuple[str, ...] = ()
) -> Outcome:
    spans = [span for end in ends for span in end.lines()]
    taken = {str(one) for end in ends for one in end.hypotheses if one.lemma or one.bounds}
    supposed = sorted(taken.difference(getattr(check, "supposed", ())))
    if supposed:
        return undecided(check, f"the derivation assumes what it does not derive: {supposed[0]}")
    shown = sum(len(span.shown) for span in spans)
    lemmas = tuple(dict.fromkeys(one for span in spans for one in span.cites if "/" in one))
    found = held(check, Grade.PROVED, f"{len(spans)} rules, {shown} side conditions shown")
    found = _limited(found, *lemmas, *cites)
    limited = [key for key in lemmas if not any(isinstance(one, NormBound) for one in _claim(key).checks)]
    scopes = (found.scope, f"derived from {', '.join(limited)}" if limited else "")
    supposes = sorted({str(one) for end in ends for one in (*end.hypotheses, *end.given)})
    return replace(found, scope="; ".join(filter(None, scopes)), premises=(*supposes, *lemmas, *cites))


def _limited(found: Outcome, *keys: str) -> Outcome:
    """Restrict an outcome to what the cited claims support; UnprovedError if one of them does not hold."""
    for key in keys:
        found = limit_by(found, key, used(key))
        if found.status is not Status.HELD:
            raise UnprovedError(f"it rests on a claim that does not hold: {key}")
    return found


def _claim(key: str) -> Claim:
    claim = known(key)
    if claim is None:
        raise InputError(f"A lemma of a derivation must be the key of a claim, got lemma={key}; name a claim.")
    return claim


@cache
def used(key: str) -> tuple[Outcome, ...]:
    """Outcomes of the checks of a claim."""
    claim = _claim(key)
    return tuple(decide_check(check, claim.assumptions) for check in claim.checks)


def near_misses(
    check: _Checks,
    assumptions: tuple[Boolean, ...],  # noqa: ARG001
    room: Expr,
) -> tuple[Check, ...]:
    """Checks with a bound or profile reduced by 3 %; consequences or deductions without one premise."""
    if isinstance(check, RenyiBound):
        return lessened(check, "bound", "a bound", room)
    if isinstance(check, Tracked):
        return lessened(check, "distance", "a distance", room)
    if isinstance(check, Deduced):
        return tuple(_weakened(check))
    if isinstance(check, Consequence):
        return tuple(_consequences(check, LESS * (1 - room)))
    less = LESS * (1 - room)
    smaller = _lessened(check.profile, less) if isinstance(check, Derived) else None
    return (variant(check, f"a profile {100 - 100 * less} percent less", profile=smaller),) if smaller else ()


def _weakened(check: Deduced) -> Iterator[Deduced]:
    said = check.statement
    body: Any = said.body
    for place in first_middle_last([one for one in terms("right", body.rhs, lambda new: new) if one.term != 0]):
        less = replace(said, body=type(body)(body.lhs, place.side(LESS * place.term), evaluate=False))
        yield variant(check, f"{place.term} times {LESS} on the right", statement=less)
    for i, condition in enumerate(said.conditions):
        fewer = replace(said, conditions=(*said.conditions[:i], *said.conditions[i + 1 :]))
        yield variant(check, f"without {condition}", statement=fewer)


def _consequences(check: Consequence, factor: Expr) -> Iterator[Consequence]:
    for bound in check.conclusion.atoms(Constant):
        for term in Add.make_args(bound.args[0]):
            less = bound.func(bound.args[0] - (1 - factor) * term)
            yield variant(check, f"{term} times {factor}", conclusion=check.conclusion.xreplace({bound: less}))
    used = {premise for one in check.cited for premise in one.given}
    for premise in check.given:
        if premise in used or isinstance(premise, Relational):
            fewer = tuple(one for one in check.given if one != premise)
            yield variant(check, f"without {premise}", given=fewer)


def _lessened(own: Any, factor: Expr) -> Any:
    """Scale one distance or number of steps in a profile or tuple of parts; None if it has neither."""
    if isinstance(own, Letter):
        return Equal()
    if isinstance(own, tuple):
        found = ((i, _lessened(part, factor)) for i, part in enumerate(own))
        return next(((*own[:i], less, *own[i + 1 :]) for i, less in found if less is not None), None)
    if isinstance(own, Power):
        return replace(own, count=factor * own.count)
    is_profile = isinstance(own, Profile)  # profiles are dataclasses, which mypy does not know
    for name in ("parts", "pairs", "far", "again", "part", "back"):
        if is_profile and hasattr(own, name):
            less = _lessened(getattr(own, name), factor)
            return less and replace(own, **{name: less})
    return replace(own, square=factor * own.square) if is_profile and hasattr(own, "square") else None
