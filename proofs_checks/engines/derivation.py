"""Derivations: the kernel's rules, with the proving engines for their side conditions."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar, cast

from sympy import Add, Expr
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.proofs_checks.engines import consequence, decide_check, deduction
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided
from lastiterate.proofs_checks.engines.divergence import bounded, unmeetable
from lastiterate.proofs_checks.engines.side_conditions import prove, replayed
from lastiterate.proofs_checks.engines.variants import LESS, lessened, spread, terms, variant
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status, limit_by
from lastiterate.symbolic.checks import Check, Consequence, Deduced, Derived, NormBound, Printed, RenyiBound, Tracked
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.derivations import DERIVATIONS, TRACKED
from lastiterate.symbolic.derivations.printed import PRINTED
from lastiterate.symbolic.kernel.blocks import Blocks, Contracted, Damped, Letter
from lastiterate.symbolic.kernel.judgement import STEPS_BEFORE, FalseLineError, Guarantee, Span, UnprovedError
from lastiterate.symbolic.kernel.profiles import Average, Composed, Equal, Mean, Profile, Recurring, Steps
from lastiterate.symbolic.kernel.projected import Projected
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.tables import Chords
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.notation import T
from lastiterate.symbolic.statement import Constant

_Made = TypeVar("_Made")


def _named(table: Mapping[str, _Made], name: str) -> _Made:
    """An entry of a table of derivations."""
    if name not in table:
        raise InputError(
            f"derivation needs a name that the ledger knows, got derivation={name}; "
            + suggestion(name, table, "see `lastiterate.symbolic.derivations`.")
        )
    return table[name]


@cache
def derive(name: str, given: frozenset[Boolean]) -> Guarantee:
    """Both orders that a derivation reaches under these conditions on the numbers, by rules and the package's prover.

    Raises:
        UnprovedError: a side condition is not shown; the derivation stops there.
    """
    return _both(_named(DERIVATIONS, name)(Kernel(prove, given)))


def _both(made: Guarantee) -> Guarantee:
    """A guarantee, whoever put it together."""
    if type(made) is not Guarantee:
        raise UnprovedError(f"A derivation returns a Guarantee, got {type(made).__name__}.")
    _replayed(made.first, made.second)
    return Guarantee(made.first, made.second)


def _replayed(*ends: Span) -> None:
    replayed(*ends)
    if any(one.says == STEPS_BEFORE for end in ends for one in end.hypotheses):
        raise UnprovedError("What an induction supposes of the steps before is supposed of none in the end.")


@cache
def track(name: str, given: frozenset[Boolean]) -> Span:
    """The judgement about a distance that a derivation reaches under these conditions on the numbers.

    Raises:
        UnprovedError: a side condition is not shown; the derivation stops there.
    """
    made = _named(TRACKED, name)(Kernel(prove, given))
    _replayed(made)
    return made


def decide(
    check: Consequence | Deduced | Derived | Printed | RenyiBound | Tracked, assumptions: tuple[Boolean, ...]
) -> Outcome:
    """Follow the rules of the calculus or of the kernel, for a theorem or for a proof as it is printed."""
    if isinstance(check, Consequence):
        return consequence.decide(check, assumptions)
    if isinstance(check, Deduced):
        return deduction.decide(check)
    if isinstance(check, Printed):
        return _follow(check, Kernel(prove, frozenset(assumptions)))
    if isinstance(check, Tracked):
        return _track(check, Kernel(prove, frozenset(assumptions)))
    if isinstance(check, RenyiBound):
        return _bound(check, frozenset((*assumptions, *check.given)))
    return _replay(check, assumptions)


def _follow(check: Printed, kernel: Kernel) -> Outcome:
    """Follow a printed proof to its end, or to the first line that is false."""
    try:
        made = _both(_named(PRINTED, check.derivation)(kernel))
    except FalseLineError as error:
        return refuted(check, None, ": ".join(("it stops", *getattr(error, "__notes__", ()), str(error))))
    except UnprovedError as error:
        return undecided(check, f"the proof stops: {error}")
    spans = [*made.first.lines(), *made.second.lines()]
    return held(check, Grade.PROVED, f"{len(spans)} rules reach {made.first.profile}")


def _track(check: Tracked, kernel: Kernel) -> Outcome:
    """Hold the distance that a derivation reaches, at no cost and from equal starts, against the check."""
    try:
        made = track(check.derivation, kernel.given)
        for condition in made.given - kernel.given:
            kernel.how(condition, kernel.given)
        if made.scope or (made.start, made.end, made.near) != (0, T, 0) or made.profile != Equal():
            return undecided(check, f"a distance needs T steps from equal starts at no cost, got {made}")
        kernel.weaken(made, far=check.distance)
    except UnprovedError as error:
        return undecided(check, f"the derivation stops: {error}")
    return _reached(check, made)


def _bound(check: RenyiBound, given: frozenset[Boolean]) -> Outcome:
    """Hold the Renyi divergence of the profile that a derivation reaches against the check."""
    numbers = frozenset(one for one in given if not one.has(largest_order))
    why = unmeetable(given)
    if why:
        raise NoPointError(why)
    try:
        made = derive(check.derivation, numbers)
        for condition in (made.first.given | made.second.given) - numbers:
            prove(condition, numbers)
        cites = bounded(check, made, given)
    except UnprovedError as error:
        return undecided(check, f"the derivation stops: {error}")
    return _reached(check, made.first, made.second, cites=cites)


def _replay(check: Derived, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Replay the derivation and hold its end against the check; what does not follow is undecided, never refuted.

    A derivation that uses claims of the ledger proves no more than they do: what was not shown for vectors of every
    dimension is its scope.
    """
    given = frozenset(assumptions)
    kernel = Kernel(prove, given)
    try:
        made = derive(check.derivation, given)
        for span in (made.first, made.second):
            for condition in span.given - given:
                kernel.how(condition, given)
            kernel.weaken(span, profile=check.profile)
    except UnprovedError as error:
        return undecided(check, f"the derivation stops: {error}")
    return _reached(check, made.first, made.second)


def _reached(check: Derived | RenyiBound | Tracked, *ends: Span, cites: tuple[str, ...] = ()) -> Outcome:
    """The outcome of a derivation that gets there, no stronger than the claims that it uses."""
    spans = [span for end in ends for span in end.lines()]
    taken = {str(one) for end in ends for one in end.hypotheses if one.lemma or one.bounds}
    supposed = sorted(taken.difference(check.supposed))
    if supposed:
        return undecided(check, f"the derivation supposes what it does not derive: {supposed[0]}")
    shown = sum(len(span.shown) for span in spans)
    lemmas = tuple(dict.fromkeys(one for span in spans for one in span.cites if "/" in one))
    found = held(check, Grade.PROVED, f"{len(spans)} rules, {shown} side conditions shown")
    for key in (*lemmas, *cites):
        found = limit_by(found, key, used(key))
        if found.status is not Status.HELD:
            return undecided(check, f"the derivation rests on a claim that does not hold: {key}")
    limited = [key for key in lemmas if not any(isinstance(one, NormBound) for one in _claim(key).checks)]
    scopes = (found.scope, f"derived from {', '.join(limited)}" if limited else "")
    supposes = sorted({str(one) for end in ends for one in (*end.hypotheses, *end.given)})
    return replace(found, scope="; ".join(filter(None, scopes)), premises=(*supposes, *lemmas, *cites))


def _claim(key: str) -> Claim:
    claim = known(key)
    if claim is None:
        raise InputError(f"A lemma of a derivation needs to be the key of a claim, got lemma={key}; name one.")
    return claim


@cache
def used(key: str) -> tuple[Outcome, ...]:
    """The outcomes of the checks of a claim that a derivation uses.

    Raises:
        InputError: no claim has this key.
    """
    claim = _claim(key)
    return tuple(decide_check(check, claim.assumptions) for check in claim.checks)


def near_misses(
    check: Consequence | Deduced | Derived | Printed | RenyiBound | Tracked,
    assumptions: tuple[Boolean, ...],  # noqa: ARG001
    room: Expr,
) -> tuple[Check, ...]:
    """A bound or a profile three percent less, and a consequence or a deduction without a premise."""
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
    """The bound with a term three percent less, and the statement without one of its conditions."""
    said = check.statement
    body: Any = said.body
    for place in spread([one for one in terms("right", body.rhs, lambda new: new) if one.term != 0]):
        less = replace(said, body=type(body)(body.lhs, place.side(LESS * place.term), evaluate=False))
        yield variant(check, f"{place.term} times {LESS} on the right", statement=less)
    for i, condition in enumerate(said.conditions):
        fewer = replace(said, conditions=(*said.conditions[:i], *said.conditions[i + 1 :]))
        yield variant(check, f"without {condition}", statement=fewer)


def _consequences(check: Consequence, factor: Expr) -> Iterator[Consequence]:
    """Each term of a bound up to a constant times a factor, and the check without each premise that is used."""
    for bound in check.conclusion.atoms(Constant):
        for term in Add.make_args(bound.args[0]):
            less = bound.func(bound.args[0] - (1 - factor) * term)
            yield replace(
                check,
                name=f"{term} times {factor}",
                mutants=(),
                conclusion=check.conclusion.xreplace({bound: less}),
            )
    used = {premise for one in check.cited for premise in one.given}
    for premise in check.given:
        if premise in used or isinstance(premise, Relational):
            fewer = tuple(one for one in check.given if one != premise)
            yield variant(check, f"without {premise}", given=fewer)


def _lessened(profile: Profile, factor: Expr) -> Profile | None:
    """A profile with one distance or one number of steps times a factor; None of one that has neither."""
    own: Any = profile
    if isinstance(profile, Letter):
        return Equal()
    if isinstance(profile, Composed | Mean):
        name, pairs = ("parts", own.parts) if isinstance(profile, Composed) else ("pairs", own.pairs)
        for i, pair in enumerate(pairs):
            less = _lessened(pair if name == "parts" else pair[1], factor)
            if less is not None:
                put = less if name == "parts" else (pair[0], less)
                return cast("Profile", replace(own, **{name: (*pairs[:i], put, *pairs[i + 1 :])}))
        return None
    kinds = {"far": Blocks | Contracted | Damped, "again": Recurring, "part": Steps | Average | Projected | Chords}
    for name, kind in kinds.items():
        if isinstance(profile, kind):
            less = _lessened(getattr(own, name), factor)
            return less and cast("Profile", replace(own, **{name: less}))
    field = next(iter({"square", "count"} & {one.name for one in fields(own)}), None)
    return cast("Profile", replace(own, **{field: factor * getattr(own, field)})) if field else None
