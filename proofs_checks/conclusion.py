"""The statement of a claim held against what its checks conclude, with all its quantifiers.

What the checks say by themselves needs no showing. A bound of the divergence of the last iterates follows from
derivations whose suppositions the conditions of the statement grant: a minimum is at most what a derivation reaches
where it holds for every choice in its ranges, and one for each alternative of a smaller of several terms is enough.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from sympy import Basic, Eq, Expr, Ge, Gt, Le, Lt, Min, Pow, S, Sum, Symbol, Tuple, simplify, symbols
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.claim import Claim, Derived
from lastiterate.symbolic.derivations.losses import LOSSES, omega, replaced
from lastiterate.symbolic.kernel.judgement import Hypothesis, UnprovedError
from lastiterate.symbolic.kernel.profiles import Gauss
from lastiterate.symbolic.notation import D, K, L, T, alpha, b, eta, lam, m, n, sensitivity, sigma, t, tau, w
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Clipped,
    Convex,
    Diameter,
    ForAll,
    FullBatches,
    Hides,
    Holder,
    LastIterate,
    Minimum,
    Neighbours,
    RenyiDivergence,
    Smooth,
    StronglyConvex,
    derived,
)

_EVERY: Final = "at every step j of the next number of steps "
_j = Symbol("j", integer=True, nonnegative=True)
_z, _next, _a, _k, _v, _eta = symbols("z_j z_next a_j k_j v_j eta_j", real=True)
_FULL: Final = {b: n, _k: S.One, _v: sigma**2, _eta: eta, w: T - tau, omega(_z): L * _z**lam}
"""Letters of derivations, for full batches, equal steps and Hoelder continuous gradients."""

_CLASSES: Final[Mapping[str, set[Basic]]] = {
    "clipped": {Clipped(K)},
    "smooth": {Smooth(L), Clipped(K)},
    "Hoelder": {Holder(L, lam), Clipped(K)},
    "modulus": {Holder(L, lam), Clipped(K)},
    "convex": {Convex(L, K)},
    "strongly convex": {StronglyConvex(m, L, K)},
}
"""The conditions of a statement that grant what a derivation supposes of its class of losses."""
_CURVED: Final = (Convex, StronglyConvex)
"""Classes whose last constant no gradient exceeds: clipping there changes nothing."""


class _Theorem(NamedTuple):
    """A derived theorem about full batches and equal steps, in the letters of a statement.

    Attributes:
        square: the bound of mu^2.
        sums: the letters in it that stand for a sum over the steps of a window, with the summand at step j.
        laws: what it supposes of every step.
        start: the distance at the beginning of its window, where it has shifts.
        hypotheses: what else it supposes of the runs.
        given: what it supposes of the numbers.
    """

    square: Expr
    sums: Mapping[Symbol, Expr]
    laws: tuple[Relational, ...]
    start: Expr | None
    hypotheses: tuple[Hypothesis, ...]
    given: frozenset[Boolean]


def left_open(claim: Claim) -> str:
    """The part of the statement of a claim that its checks leave open, in words; "" where they conclude it."""
    said = claim.statement
    alone = {derived((check,), claim.assumptions) for check in claim.checks} | {
        derived(claim.checks, claim.assumptions)
    }
    if said is None or said in alone:
        return ""
    theorems = tuple(check for check in claim.checks if isinstance(check, Derived))
    if not theorems or not isinstance(said, ForAll):
        return "what the checks say of the statement"
    try:
        _follows(said, theorems, claim.assumptions)
    except UnprovedError as error:
        return f"what is derived: {error}"
    return ""


def _follows(said: ForAll, checks: Sequence[Derived], assumptions: tuple[Boolean, ...]) -> None:
    """Raise an error unless the derivations together bound what the statement says.

    Raises:
        UnprovedError: they do not, or it is not seen.
    """
    if not isinstance(said.body, Le) or said.body.lhs.func is not RenyiDivergence:
        raise UnprovedError("a bound of a divergence is needed")
    order, *laws = said.body.lhs.args
    if order != alpha or any(law.func is not LastIterate for law in laws):
        raise UnprovedError("a divergence of order alpha of last iterates is needed")
    meant = {one.lhs: one.rhs for one in assumptions if isinstance(one, Eq) and one.lhs not in said.variables}
    supposed = frozenset(one for one in said.conditions if isinstance(one, Relational)) | _implied(said.conditions)
    for condition in assumptions:
        _show(condition.subs(meant), supposed)
    theorems = [_theorem(check, assumptions, meant) for check in checks]
    granted = {*said.conditions, *(Clipped(one.args[-1]) for one in said.conditions if isinstance(one, _CURVED))}
    for square, ranges in _alternatives(2 * said.body.rhs / alpha):
        _reached(square, ranges, theorems, granted, supposed)


def _implied(conditions: tuple[Basic, ...]) -> frozenset[Boolean]:
    """The relations between the constants of a class of losses."""
    return frozenset(Le(one.args[0], one.args[1]) for one in conditions if isinstance(one, StronglyConvex))


def _alternatives(square: Expr) -> Iterator[tuple[Expr, tuple[Basic, ...]]]:
    """The terms of which the least is claimed, each for all choices in its ranges."""
    for minimum in square.atoms(Minimum):
        first, *ranges = minimum.args
        for one, more in _alternatives(square.xreplace({minimum: first})):
            yield one, (*ranges, *more)
        return
    yield square.subs(w, T - tau), ()


def _reached(
    square: Expr,
    ranges: tuple[Basic, ...],
    theorems: Sequence[_Theorem],
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


def _equal(square: Expr, theorem: _Theorem, supposed: frozenset[Boolean]) -> None:
    """Raise an error unless the square of a theorem is at most the term."""
    letters = dict[Symbol, Expr]()
    terms = {one: _at_step(one.function) for one in square.atoms(Sum) if one.limits == (Tuple(t, tau, T - 1),)}
    for letter, summand in theorem.sums.items():
        ratios = ((one, _ratio(summand, term)) for one, term in terms.items())
        letters[letter] = next((ratio * one for one, ratio in ratios if ratio is not None), letter)
    names = {one: Symbol(f"Sigma_{i}", positive=True) for i, one in enumerate(terms)}
    reached = theorem.square.subs(letters).xreplace(names)
    claimed = square.xreplace(names).doit()
    _show(Le(reached, claimed), supposed | {Le(tau, T - 1)})


@cache
def _ratio(one: Expr, other: Expr) -> Expr | None:
    """The ratio of two summands that is the same at every step; None where it is not."""
    ratio = simplify(one / other)
    return None if any(letter == _j or str(letter).endswith("_j") for letter in ratio.free_symbols) else ratio


def _at_step(summand: Expr) -> Expr:
    """A summand at step tau + j, in the letters of that step."""
    named = {one: _letter(one) for one in summand.atoms(AppliedUndef) if one.args == (t,)}
    return summand.xreplace(named).subs(t, tau + _j)


def _theorem(check: Derived, assumptions: tuple[Boolean, ...], meant: Mapping[Basic, Expr]) -> _Theorem:
    """A derivation for full batches and equal steps, put into the letters of a statement."""
    if not isinstance(check.profile, Gauss):
        raise UnprovedError("a Gaussian profile is needed")
    made = derive(check.derivation, frozenset(assumptions)).first
    put = {**meant, **_FULL}
    distances, sums, laws, others = list[Expr](), dict[Symbol, Expr](), list[Relational](), list[Hypothesis]()
    for one in made.hypotheses:
        letter, told, _ = one.says.partition(", which begins at the first")
        if told:
            first, after, _, last = one.constants
            term = after - Symbol(letter, real=True)
            if first == 0 and Symbol(letter, real=True) not in term.free_symbols and letter[0] != "z":
                sums[last] = term.subs(put)
            elif "tau" not in str(first):
                distances.append(first)
        elif one.says.startswith(_EVERY) and one.says.endswith("this holds"):
            laws.append(one.constants[-1].subs(put))
        elif one.says != "this holds":
            says, constants = one.says.removeprefix(_EVERY), one.constants
            others.append(Hypothesis(says, constants[1:] if says != one.says else constants))
    square = check.profile.square
    start = distances[0] if distances else None
    classes = {(losses.says, losses.constants) for losses in LOSSES.values()}
    kept = tuple(
        one if (one.says, one.constants) in classes else Hypothesis(one.says, tuple(c.subs(put) for c in one.constants))
        for one in others
    )
    given = frozenset(condition.subs(meant) for condition in made.given)
    return _Theorem(square.subs(put), sums, tuple(laws), start, kept, given)


def _granted(
    theorem: _Theorem, ranges: tuple[Basic, ...], conditions: set[Basic], supposed: frozenset[Boolean]
) -> None:
    """Raise an error unless the conditions of a statement grant what a theorem supposes.

    Of a share of the noise in [0, 1] a theorem may exclude the ends: there a price is infinite, or nothing is changed.
    """
    for hypothesis in theorem.hypotheses:
        if not _needs(hypothesis) <= conditions:
            raise UnprovedError(f"the statement does not suppose that {hypothesis}")
    chosen = [one for one in ranges if isinstance(one, Tuple) and one[0].args == (t,)]
    inside = {relation for one, low, high in chosen for relation in (Gt(_letter(one), low), Lt(_letter(one), high))}
    given = frozenset({*supposed, *inside})
    for condition in theorem.given:
        _show(condition, supposed)
    hidden = next((one for one in ranges if isinstance(one, Hides)), None)
    for law in theorem.laws:
        if hidden is None or not law.free_symbols & {_z, _next, _a}:
            _show(law, given)
        elif law not in (Ge(_a, 0), Ge(_next, 0)):
            _hides(law, hidden, given | {Ge(_z, 0), Ge(_a, 0)})


def _hides(law: Relational, hidden: Basic, given: frozenset[Boolean]) -> None:
    """Raise an error unless distances and shifts, as the condition `Hides` has them, obey what a theorem supposes."""
    if law.gts != _next:
        raise UnprovedError(f"it is not known whether {law}")
    _, expands, _, tracked = hidden.args
    shifted = law.lts + _a if _a in law.free_symbols else law.lts
    after = (expands if _a in law.free_symbols else tracked)(t, _z)
    powers = {one: Symbol(f"power_{i}", nonnegative=True) for i, one in enumerate(_powers(shifted) | _powers(after))}
    _show(Le(shifted.xreplace(powers), after.xreplace(powers)), given)


def _show(condition: Boolean, given: frozenset[Boolean]) -> None:
    if condition != S.true:
        prove(condition, given)


def _powers(expression: Expr) -> dict[Expr, None]:
    """Powers with a letter for an exponent, which are no negative numbers."""
    return dict.fromkeys(one for one in expression.atoms(Pow) if not one.exp.is_number)


def _letter(value: Expr) -> Symbol:
    return Symbol(f"{value.func}_j", real=True)


def _needs(hypothesis: Hypothesis) -> set[Basic]:
    """The conditions of a statement that grant a hypothesis.

    Raises:
        UnprovedError: none is known to.
    """
    for classes, conditions in _CLASSES.items():
        losses = LOSSES[classes]
        if hypothesis == Hypothesis(losses.says, losses.constants):
            return conditions
    known = {
        Hypothesis("after every step both runs are in one convex set of this diameter", (D,)): {Diameter(D)},
        Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (sigma**2,)): set(),
        replaced(S.One, n): {Neighbours(SAMPLES, OTHER), FullBatches(n)},
        Hypothesis("the maps of the two runs carry one point to points at most this far apart", (sensitivity(),)): {
            Neighbours(SAMPLES, OTHER),
            FullBatches(n),
            Clipped(K),
        },
    }
    if hypothesis not in known:
        raise UnprovedError(f"it is not known which condition grants that {hypothesis}")
    return known[hypothesis]
