"""The statement of a claim held against what its checks conclude, with all its quantifiers.

What the checks say by themselves needs no showing. A bound of the divergence of the last iterates follows from
derivations whose suppositions the conditions of the statement grant: a minimum is at most what a derivation reaches
where it holds for every choice in its ranges, and one for each alternative of a smaller of several terms is enough.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from sympy import Basic, Dummy, Eq, Expr, Ge, Gt, Le, Lt, Min, Pow, S, Sum, Symbol, Tuple, nan, oo, simplify, zoo
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.derivation import unmeetable
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.engines.z3_answers import relations
from lastiterate.proofs_checks.joined import join
from lastiterate.proofs_checks.listed import unlisted
from lastiterate.proofs_checks.theorems import AT_STEP, STEP, Theorem, needs, read
from lastiterate.symbolic.checks import Certified, Derived, Inequality, RenyiBound, Sign, Simulated, UpperBound
from lastiterate.symbolic.claim import Claim, derived
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.substitution import declared
from lastiterate.symbolic.kernel.term import new_letter
from lastiterate.symbolic.notation import D, T, alpha, c, t, tau, w
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Clipped,
    Condition,
    Convex,
    ForAll,
    Hides,
    LastIterate,
    Minimum,
    QuantityBase,
    RenyiDivergence,
    StronglyConvex,
    free,
    letters,
    parts,
)

_CURVED: Final = (Convex, StronglyConvex)
"""Classes whose last constant no gradient exceeds: clipping there changes nothing."""


_z, _next, _a = AT_STEP


def not_supported(claim: Claim) -> str:
    """Reason why the checks, though they hold, are nothing for the statement; "" where they may be.

    They speak of none of its letters and of no run, or it is an inequality between numbers that fails somewhere.
    """
    said = claim.statement
    if said is None:
        return unlisted(claim)
    runs = any(isinstance(check, Certified | Simulated | UpperBound) for check in claim.checks)
    if not runs and not letters(claim.checks) & letters(said):
        return "all of the statement: no check shares a letter with it"
    if isinstance(said, ForAll) and isinstance(said.body, Le | Lt | Ge | Gt) and not _beyond_numbers(said):
        sign: Sign = "<=" if isinstance(said.body, Le | Ge) else "<"
        outcome = decide_check(Inequality(said.body.lts, sign, said.body.gts, said.conditions), ())
        if outcome.counterexample is not None:
            at = ", ".join(f"{name} = {value}" for name, value in outcome.counterexample.at.items())
            return f"all of the statement, which fails at {at}"
    return ""


def _beyond_numbers(said: ForAll) -> bool:
    return any(part.has(QuantityBase, AppliedUndef, Condition) for part in parts(said))


def left_open(claim: Claim) -> str:
    """The part of the statement of a claim that its checks leave open, in words; "" where they conclude it."""
    said = claim.statement
    alone = {derived((check,), claim.assumptions) for check in claim.checks} | {
        derived(claim.checks, claim.assumptions)
    }
    if said is None or said in alone:
        return ""
    if not isinstance(said, ForAll) or not any(isinstance(check, Derived | RenyiBound) for check in claim.checks):
        return "what the checks say of the statement"
    try:
        _follows(said, claim)
    except UnprovedError as error:
        return f"what is derived: {error}"
    return ""


def _follows(said: ForAll, claim: Claim) -> None:
    """Raise an error unless the derivations together bound what the statement says.

    Raises:
        UnprovedError: they do not, or it is not seen.
    """
    if not isinstance(said.body, Le) or said.body.lhs.func is not RenyiDivergence:
        raise UnprovedError("a bound of a divergence is needed")
    order, *laws = said.body.lhs.args
    if order != alpha or set(laws) != {LastIterate(SAMPLES), LastIterate(OTHER)}:
        raise UnprovedError("a divergence of order alpha of the last iterates on two data sets is needed")
    if free(said):
        raise UnprovedError(f"{sorted(free(said), key=str)} need quantifiers")
    assumptions, checks = claim.assumptions, [one for one in claim.checks if isinstance(one, Derived)]
    supposed = frozenset(relations(said.conditions)) | _implied(said.conditions)
    why = unmeetable(supposed)
    if why:
        raise UnprovedError(why)
    if said.body.rhs.has(oo, nan, zoo):
        raise UnprovedError("a finite bound is needed")
    granted = {*said.conditions, *(Clipped(one.args[-1]) for one in said.conditions if isinstance(one, _CURVED))}
    if not checks:
        join(claim, said.body.rhs, said.variables, granted, supposed)
        return
    defined = [one for one in assumptions if isinstance(one, Eq) and one.lhs == c and not _has(said, c)]
    meant = {one.lhs: one.rhs for one in defined}
    signs = [condition for letter, value in meant.items() for condition in declared(letter, value)]
    for condition in (*assumptions, *signs):
        _show(condition.subs(meant), supposed)
    theorems = [read(check, assumptions, meant) for check in checks]
    for square, ranges in _alternatives(2 * said.body.rhs / alpha):
        _window(square, ranges, supposed)
        _reached(square.subs(w, T - tau), ranges, theorems, granted, supposed)


def _implied(conditions: tuple[Basic, ...]) -> frozenset[Boolean]:
    """The relations between the constants of a class of losses."""
    return frozenset(Le(one.args[0], one.args[1]) for one in conditions if isinstance(one, StronglyConvex))


def _has(said: ForAll, letter: Symbol) -> bool:
    return any(one.has(letter) for one in (said.body, *said.conditions))


def _alternatives(square: Expr) -> Iterator[tuple[Expr, tuple[Basic, ...]]]:
    """The terms of which the least is claimed, each for all choices in its ranges.

    Raises:
        UnprovedError: a letter of a range stands elsewhere, too, or a sum has a minimum for each of its terms.
    """
    for minimum in square.atoms(Minimum):
        first, *ranges = minimum.args
        letters = [one[0] for one in ranges if isinstance(one, Tuple)]
        rest = square.xreplace({minimum: Dummy()})
        if rest.has(*letters) or first.has(Minimum) or any(one.has(minimum) for one in square.atoms(Sum)):
            raise UnprovedError(f"one minimum over {letters} is needed")
        for one, more in _alternatives(square.xreplace({minimum: first})):
            yield one, (*ranges, *more)
        return
    yield square, ()


def _window(square: Expr, ranges: tuple[Basic, ...], supposed: frozenset[Boolean]) -> None:
    """Raise an error unless the window of a term begins at one of the steps 0, ..., T - 1, and nothing else is chosen.

    Raises:
        UnprovedError: it is not seen.
    """
    chosen = {one[0]: one[1:] for one in ranges if isinstance(one, Tuple) and one[0].args != (t,)}
    if chosen.keys() - {tau, w} or len(chosen) > 1 or (square.free_symbols & {tau, w}) - chosen.keys():
        raise UnprovedError(f"a choice of tau or of w is needed, got {sorted(chosen, key=str)}")
    for letter, (low, high) in chosen.items():
        least, most = (S.Zero, T - 1) if letter == tau else (S.One, T)
        _show(Ge(low, least), supposed)
        _show(Le(high, most), supposed)


def _reached(
    square: Expr,
    ranges: tuple[Basic, ...],
    theorems: Sequence[Theorem],
    conditions: set[Basic],
    supposed: frozenset[Boolean],
) -> None:
    """Raise an error unless a theorem reaches the term, or one reaches each of those that it is the least of."""
    known = set[Basic]().union(*(theorem.square.atoms(Min) for theorem in theorems))
    least = next((one for one in square.atoms(Min) - known if len(one.args) > 1), None)
    if least is not None:
        for one in least.args:
            _reached(square.xreplace({least: one}), ranges, theorems, conditions, supposed)
        return
    starts, why = set[Expr | None](), UnprovedError(f"no derivation reaches {square}")
    for theorem in theorems:
        try:
            _granted(theorem, ranges, conditions, supposed)
            _equal(square, theorem, supposed)
        except UnprovedError as error:
            why = error
        else:
            starts.add(theorem.start)
    if not starts or (any(isinstance(one, Hides) for one in ranges) and not {S.Zero, D} <= starts):
        raise why


def _equal(square: Expr, theorem: Theorem, supposed: frozenset[Boolean]) -> None:
    """Raise an error unless the square of a theorem is at most the term."""
    letters, names = dict[Symbol, Expr](), dict[Basic, Symbol]()
    laws = frozenset(law for _, law in theorem.laws)
    said = (square, theorem.square, *theorem.sums.values(), *supposed)
    terms = {one: _at_step(one.function) for one in square.atoms(Sum) if one.limits == (Tuple(t, tau, T - 1),)}
    for letter, summand in theorem.sums.items():
        ratios = ((one, _ratio(summand, term)) for one, term in terms.items())
        for one, ratio in ((one, ratio) for one, ratio in ratios if ratio is not None):
            _show(Ge(terms[one], 0), supposed | laws)
            letters[letter] = ratio * one
            names[one] = new_letter(Symbol(f"Sigma_{len(names)}", positive=True), *said)
    reached = theorem.square.subs(letters).xreplace(names)
    claimed = square.xreplace(names).doit()
    _show(Le(reached, claimed, evaluate=False), supposed | {Le(tau, T - 1)})


@cache
def _ratio(one: Expr, other: Expr) -> Expr | None:
    """The ratio of two summands that is the same at every step; None where it is not."""
    ratio = simplify(one / other)
    return None if any(letter == STEP or str(letter).endswith("_j") for letter in ratio.free_symbols) else ratio


def _at_step(summand: Expr) -> Expr:
    """A summand at step tau + j, in the letters of that step."""
    named = {one: _letter(one) for one in summand.atoms(AppliedUndef) if one.args == (t,)}
    return summand.xreplace(named).subs(t, tau + STEP)


def _granted(theorem: Theorem, ranges: tuple[Basic, ...], conditions: set[Basic], supposed: frozenset[Boolean]) -> None:
    """Raise an error unless the conditions of a statement grant what a theorem supposes.

    Of a share of the noise in [0, 1] a theorem may exclude the ends: there a price is infinite, or nothing is changed.
    """
    for hypothesis in theorem.hypotheses:
        if not needs(hypothesis) <= conditions:
            raise UnprovedError(f"the statement does not suppose that {hypothesis}")
    chosen = [one for one in ranges if isinstance(one, Tuple) and one[0].args == (t,)]
    inside = {relation for one, low, high in chosen for relation in (Gt(_letter(one), low), Lt(_letter(one), high))}
    given = frozenset({*supposed, *inside})
    for condition in theorem.given:
        _show(condition, supposed)
    hidden = next((one for one in ranges if isinstance(one, Hides)), None)
    if hidden is None and theorem.start is not None:
        raise UnprovedError("the statement does not say that what is left is hidden")
    for count, law in theorem.laws:
        if hidden is None or not law.free_symbols & {_z, _next, _a}:
            _show(law, given)
        elif law not in (Ge(_a, 0), Ge(_next, 0)):
            _hides(count, law, hidden, given | {Ge(_z, 0), Ge(_a, 0)})


def _hides(count: Expr, law: Relational, hidden: Basic, given: frozenset[Boolean]) -> None:
    """Raise an error unless distances and shifts, as the condition `Hides` has them, obey what a theorem supposes.

    What it supposes of all T steps holds before the window, too, without a shift.
    """
    shifts, expands, begins, tracked = hidden.args
    if law.gts != _next or begins != tau or getattr(shifts(t), "args", ()) != (t,) or _letter(shifts(t)) != _a:
        raise UnprovedError(f"it is not known whether {law}")
    shifted = law.lts + _a if _a in law.free_symbols else law.lts
    for after in {w: (expands,), tau: (tracked,), T: (expands, tracked)}[count]:
        sides = shifted, after(t, _z)
        powers = dict.fromkeys(one for side in sides for one in _powers(side))
        said = (*sides, *given)
        put = {one: new_letter(Symbol(f"power_{i}", nonnegative=True), *said) for i, one in enumerate(powers)}
        _show(Le(*(side.xreplace(put) for side in sides)), given)


def _show(condition: Boolean, given: frozenset[Boolean]) -> None:
    if condition != S.true:
        prove(condition, given)


def _powers(expression: Expr) -> dict[Expr, None]:
    """Powers with a letter for an exponent, which are no negative numbers."""
    return dict.fromkeys(one for one in expression.atoms(Pow) if not one.exp.is_number)


def _letter(value: Expr) -> Symbol:
    return Symbol(f"{value.func}_j", real=True)
