"""Test of whether the checks of a claim imply its statement.

A statement that equals one of the checks needs no further proof. A bound on the divergence between the last
iterates follows from profiles or from bounds on this divergence. From profiles: the conditions of the statement
must imply the hypotheses of the derivations. A claimed minimum over ranges needs a derivation for every choice
in the ranges, and a minimum of several terms needs a derivation for each term. From bounds: letters that may be
chosen, such as the window of shifts, take values in the letters of the statement. At every point, some bound
must have all its premises met and be at most each alternative of the claimed bound.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, Implies

from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import decide_check, engine_of
from lastiterate.proofs_checks.engines.derivation import judgements, supposed_order, unmeetable
from lastiterate.proofs_checks.engines.side_conditions import prove, proves
from lastiterate.proofs_checks.engines.z3_answers import entails, impossible, relations
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Check,
    Derived,
    Engine,
    Inequality,
    IntervalInequality,
    RenyiBound,
    Sign,
    Tracked,
    UpperBound,
)
from lastiterate.symbolic.claim import Claim, derived
from lastiterate.symbolic.derivations import DERIVATIONS, OF_PACKAGE, TRACKED
from lastiterate.symbolic.derivations.losses import LOSSES, omega, replaced
from lastiterate.symbolic.derivations.noisy_sgd import DRAWN, EXCHANGED, REVEALED
from lastiterate.symbolic.kernel.judgement import End, Hypothesis, Law, Meaning, UnprovedError
from lastiterate.symbolic.kernel.lemmas import noise
from lastiterate.symbolic.kernel.profiles import Gauss, new_letter
from lastiterate.symbolic.kernel.renyi import Sampled, largest_order
from lastiterate.symbolic.kernel.substitution import declared
from lastiterate.symbolic.notation import (
    MEANING, D, K, L, T, alpha, b, beta, c, eta, lam, m, n, sensitivity, sigma, sigma_dp, t, tau, w,
)  # fmt: skip
from lastiterate.symbolic.statement import (
    OTHER, SAMPLES, BatchesOf, Clipped, Condition, Convex, CyclicBatches, Diameter, ForAll, FullBatches, Hides, Holder,
    Larger, LastIterate, LeastOver, Neighbours, OneMore, PoissonBatches, QuantityBase, RenyiDivergence, Smooth,
    StronglyConvex, free, letters, parts,
)  # fmt: skip

_z, _next, _a = sp.symbols("z_j z_next a_j", real=True)
"""Distances before and after a step of the window, and the shift."""
_j: Final = sp.Symbol("j", integer=True, nonnegative=True)
"""Index of a step in its window."""
_k, _v, _eta = sp.symbols("k_j v_j eta_j", real=True)
_FULL: Final = {b: n, _k: sp.S.One, _v: sigma**2, _eta: eta, w: T - tau, omega(_z): L * _z**lam}
"""Values of letters of derivations for full batches, equal steps and Hoelder continuous gradients."""

_NEIGHBOURS: Final = Neighbours(SAMPLES, OTHER)
_DRAWN: Final[set[sp.Basic]] = {_NEIGHBOURS, BatchesOf(b, n)}
_ADDED: Final[set[sp.Basic]] = {OneMore(SAMPLES, OTHER), BatchesOf(b, n)}
_CLASSES: Final[Mapping[str, set[sp.Basic]]] = {
    "clipped": {Clipped(K)},
    "smooth": {Smooth(L), Clipped(K)},
    "Hoelder": {Holder(L, lam), Clipped(K)},
    "modulus": {Holder(L, lam), Clipped(K)},
    "convex": {Convex(L, K)},
    "strongly convex": {StronglyConvex(m, L, K)},
}
_OF_CLASSES: Final = {
    Hypothesis(LOSSES[name].says, LOSSES[name].constants): _CLASSES[name] for name in _CLASSES
}
_granted_by: dict[Hypothesis, set[sp.Basic]] = {
    **_OF_CLASSES,
    noise(sigma**2): set(),
    noise(eta**2 * sigma_dp**2): set(),
    replaced(sp.S.One, n): {_NEIGHBOURS, FullBatches(n)},
    Hypothesis("after every step both runs are in one convex set of this diameter", (D,)): {Diameter(D)},
    Hypothesis("the maps of the two runs carry one point to points at most this far apart", (sensitivity(),)): (
        {_NEIGHBOURS, FullBatches(n), Clipped(K)}
    ),
    Hypothesis(
        "the batch without the sample that differs has one law in both runs and is independent of the state before"
    ): _DRAWN,
    Hypothesis(
        "one sample is replaced, in each batch with the first probability; means differ by at most the second",
        (b / n, sensitivity(b)),
    ): _DRAWN | {Clipped(K)},
    Hypothesis(f"{REVEALED} has one law in both runs and is independent of the state before"): _ADDED,
    EXCHANGED: _ADDED | {Clipped(K)},
    DRAWN: {OneMore(SAMPLES, OTHER), PoissonBatches(b, n), Clipped(K)},
    Hypothesis("step t takes b samples, from number t b on, modulo n; (b, n) is", (b, n)): (
        {_NEIGHBOURS, CyclicBatches(b, n)}
    ),
}
_GRANTS: Final = MappingProxyType({said: frozenset(needed) for said, needed in _granted_by.items()})
"""Hypothesis of a derivation -> conditions that imply it."""

_CHOSEN: Final = {w, tau, c, beta}
"""Letters for a window of steps, a bound on their expansion and a share of the noise, which do not describe a run."""


def left_open(claim: Claim) -> str:
    """Part of a claim's statement, in words, that its checks leave open, though they hold; "" for none."""
    return _not_supported(claim) or _not_implied(claim)


def _not_supported(claim: Claim) -> str:
    """Reason why checks that hold cannot support the statement; "" if there is none.

    Either no check is about a run or shares a letter with the statement, or the statement is an inequality
    between numbers that fails at a point.
    """
    said = claim.statement
    if said is None:
        return _unlisted(claim, claim.checks)
    runs = any(isinstance(check, UpperBound) for check in claim.checks)
    if not runs and not letters(claim.checks) & letters(said):
        return "all of the statement: no check shares a letter with it"
    if (
        isinstance(said, ForAll)
        and isinstance(said.body, sp.Le | sp.Lt | sp.Ge | sp.Gt)
        and not any(part.has(QuantityBase, AppliedUndef, Condition) for part in parts(said))
    ):
        sign: Sign = "<=" if isinstance(said.body, sp.Le | sp.Ge) else "<"
        outcome = decide_check(Inequality(said.body.lts, sign, said.body.gts, said.conditions), ())
        if outcome.counterexample is not None:
            return f"all of the statement, which fails at {outcome.counterexample.point}"
    return ""


def _unlisted(claim: Claim, checks: Sequence[Check]) -> str:
    """Reason why a check shows less than it says; "" if there is none.

    A check must list the hypotheses of its derivation of T steps in ``supposed``, and these must be possible;
    the claim must have a statement. Claims of the ledger without a statement are exempt if the derivation is
    the package's: `lastiterate show` lists the hypotheses.
    """
    for check in checks:
        if not isinstance(check, Derived | RenyiBound | Tracked):
            continue
        table = TRACKED if isinstance(check, Tracked) else DERIVATIONS
        of_package = table.get(check.derivation) is OF_PACKAGE.get(check.derivation, claim)
        of_ledger = claim.key not in ledger.OWN and ledger.known(claim.key) == claim
        if claim.statement is None and of_package and of_ledger:
            continue
        if claim.statement is None:
            return f"all of it: what {check.derivation} derives needs a statement; write one, with all that it assumes"
        ends = judgements(check, claim.assumptions)
        if any(sp.simplify(end.end.subs(getattr(check, "at", {})) - T) != 0 for end in ends):
            return f"all of it: what {check.derivation} derives is about {ends[0].end} steps, and not about T"
        supposed = {one for end in ends for one in end.hypotheses}
        missing = sorted({str(one) for one in supposed}.difference(check.supposed))
        if missing:
            return f"all of it: its derivation assumes what its check omits; add supposed={tuple(missing)}"
        laws = {part for one in supposed if type(one) in {Law, End} for part in one.constants}
        why = unmeetable(frozenset(laws.union(claim.assumptions, getattr(check, "given", ()))))
        if why:
            return f"all of it: nothing meets what its derivation assumes, {why}"
    return ""


def _not_implied(claim: Claim) -> str:
    """Part of the statement that does not follow from the checks; "" if there is none.

    The statement may be a bound that attacks do not refute, unless a check derives a bound.
    """
    said, derives = claim.statement, any(check.engine == Engine.DERIVATION for check in claim.checks)
    bounds = [check for check in claim.checks if isinstance(check, UpperBound)]
    if said is None or (not derives and any(engine_of(check).is_of(check, said) for check in bounds)):
        return ""
    for checks in (claim.checks, *zip(claim.checks)):
        carried = not derives or not any(isinstance(check, UpperBound) for check in checks)
        if carried and said == derived(checks, claim.assumptions):
            return _unlisted(claim, checks)
    if not isinstance(said, ForAll) or not any(
        isinstance(check, Derived | RenyiBound) for check in claim.checks
    ):
        return "whether the checks imply the statement"
    try:
        _follows(said, claim)
    except UnprovedError as error:
        return f"whether the derivations imply the statement ({error})"
    return ""


def _follows(said: ForAll, claim: Claim) -> None:
    if not isinstance(said.body, sp.Le) or said.body.lhs.func is not RenyiDivergence:
        raise UnprovedError("a bound on a divergence is needed")
    order, *laws = said.body.lhs.args
    if order != alpha or set(laws) != {LastIterate(SAMPLES), LastIterate(OTHER)}:
        raise UnprovedError("a divergence of order alpha between the last iterates on two data sets is needed")
    if free(said):
        raise UnprovedError(f"{sorted(free(said), key=str)} need quantifiers")
    classes = [one for one in said.conditions if isinstance(one, Convex | StronglyConvex)]
    constants = {sp.Le(one.args[0], one.args[1]) for one in classes if isinstance(one, StronglyConvex)}
    supposed = frozenset(relations(said.conditions)) | constants
    why = unmeetable(supposed)
    if why:
        raise UnprovedError(why)
    if said.body.rhs.has(sp.oo, sp.nan, sp.zoo):
        raise UnprovedError("a finite bound is needed")
    granted = {*said.conditions, *(Clipped(one.args[-1]) for one in classes)}  # and no gradient is longer
    if laws == [LastIterate(SAMPLES), LastIterate(OTHER)] and Larger(SAMPLES, OTHER) in granted:
        granted.add(OneMore(SAMPLES, OTHER))
    else:
        granted.discard(Larger(SAMPLES, OTHER))
    if any(isinstance(one, Derived) for one in claim.checks):
        _reach(said.body.rhs, claim, granted, supposed)
    else:
        _join(said.body.rhs, said.variables, claim, granted, supposed)


# From profiles: theorems about full batches and equal steps.


def _reach(bound: sp.Expr, claim: Claim, granted: set[sp.Basic], supposed: frozenset[Boolean]) -> None:
    has_c = any(one.has(c) for one in (bound, *granted))
    meant = {
        one.lhs: one.rhs for one in claim.assumptions if isinstance(one, sp.Eq) and one.lhs == c and not has_c
    }
    signs = [condition for letter, value in meant.items() for condition in declared(letter, value)]
    for condition in (*claim.assumptions, *signs):
        _show(condition.subs(meant), supposed)
    theorems = [_read(check, claim.assumptions, meant) for check in claim.checks if isinstance(check, Derived)]
    for square, ranges in _minima(2 * bound / alpha):
        _window(square, ranges, supposed)
        _reached(square.subs(w, T - tau), ranges, theorems, granted, supposed)


class _Theorem(NamedTuple):
    """Derived theorem about full batches and equal steps, in the letters of a statement.

    Attributes:
        square: upper bound on mu^2.
        sums: letters of ``square`` that stand for a sum over the steps of a window -> the summand at step j.
        laws: pairs of a number of steps (the window, the steps before it, or all T) and a law that each of
            these steps obeys.
        start: distance at the beginning of the window; None without shifts.
        hypotheses: other hypotheses about the runs.
        given: premises about numbers, of the theorem and of the claim.
    """

    square: sp.Expr
    sums: Mapping[sp.Symbol, sp.Expr]
    laws: tuple[tuple[sp.Expr, Relational], ...]
    start: sp.Expr | None
    hypotheses: tuple[Hypothesis, ...]
    given: frozenset[Boolean]


def _read(check: Derived, assumptions: tuple[Boolean, ...], meant: Mapping[sp.Basic, sp.Expr]) -> _Theorem:
    if not isinstance(check.profile, Gauss):
        raise UnprovedError("a Gaussian profile is needed")
    made, other = judgements(check, assumptions)
    put = {**meant, **_FULL}
    if made.end.subs(w, T - tau) not in {T, T + t}:  # the domain is known from any step t on
        raise UnprovedError(f"laws after T steps are needed, got {made.end}")
    distances, sums, others = list[sp.Expr](), dict[sp.Symbol, sp.Expr](), list[Hypothesis]()
    laws, ends, hidden = list[tuple[sp.Expr, Relational]](), set[Boolean](), set[Boolean]()
    defined = set[sp.Basic]()
    for one in made.hypotheses | other.hypotheses:
        if type(one) is Meaning and isinstance(one.value, sp.Symbol) and len(one.constants) == 4:
            letter, (first, after, count, last) = one.value, one.constants
            if last in defined:
                raise UnprovedError(f"the derivation gives two meanings to {last}")
            defined.add(last)
            term = after - letter
            if first == 0 and letter not in term.free_symbols and letter != _z:
                if count == w or (count == T and term.subs(_a, 0) == 0):
                    sums[last] = term.subs(put)
            elif first in (sp.S.Zero, D):  # otherwise the distance is tracked before the window
                distances.append(first)
            if (letter, after) == (_z, _next):
                hidden.add(sp.Eq(last, 0))
        elif type(one) is Law and len(one.constants) == 2:
            laws.append((one.constants[0], one.constants[1].subs(put)))
        elif type(one) is End:
            ends.add(one.constants[0])
        elif type(one) is not Hypothesis or one.bounds or one.lemma:
            raise UnprovedError(f"no known kind of condition expresses {one}")
        else:
            constants = one.constants[1:] if one.every else one.constants
            here = Hypothesis(one.says, constants, one.symmetric, every=one.every[1:])
            values = {} if here in _OF_CLASSES else put
            others.append(replace(here, constants=tuple(part.subs(values) for part in here.constants)))
    if ends - hidden:  # the other ends are hidden by a path, as the statement says
        raise UnprovedError(f"no known kind of condition expresses {', '.join(sorted(map(str, ends)))}")
    given = frozenset(condition.subs(put) for condition in made.given.union(other.given, assumptions))
    start = distances[0] if distances else None
    return _Theorem(check.profile.square.subs(put), sums, tuple(laws), start, tuple(others), given)


def _minima(square: sp.Expr) -> Iterator[tuple[sp.Expr, tuple[sp.Basic, ...]]]:
    for minimum in square.atoms(LeastOver):
        first, *ranges = minimum.args
        letters = [one[0] for one in ranges if isinstance(one, sp.Tuple)]
        rest = square.xreplace({minimum: sp.Dummy()})
        if rest.has(*letters) or first.has(LeastOver) or any(one.has(minimum) for one in square.atoms(sp.Sum)):
            raise UnprovedError(f"one minimum over {letters} is needed")
        for one, more in _minima(square.xreplace({minimum: first})):
            yield one, (*ranges, *more)
        return
    yield square, ()


def _window(square: sp.Expr, ranges: tuple[sp.Basic, ...], supposed: frozenset[Boolean]) -> None:
    """Raise UnprovedError unless a term's window begins at a step in 0, ..., T - 1 and is the only choice."""
    chosen = {one[0]: one[1:] for one in ranges if isinstance(one, sp.Tuple) and one[0].args != (t,)}
    if chosen.keys() - {tau, w} or len(chosen) > 1 or (square.free_symbols & {tau, w}) - chosen.keys():
        raise UnprovedError(f"only tau or w may be chosen, and only one of them, got {sorted(chosen, key=str)}")
    for letter, (low, high) in chosen.items():
        least, most = (sp.S.Zero, T - 1) if letter == tau else (sp.S.One, T)
        _show(sp.Ge(low, least), supposed)
        _show(sp.Le(high, most), supposed)


def _reached(
    square: sp.Expr,
    ranges: tuple[sp.Basic, ...],
    theorems: Sequence[_Theorem],
    conditions: set[sp.Basic],
    supposed: frozenset[Boolean],
) -> None:
    """Raise UnprovedError unless theorems prove a term, or each alternative of its minimum."""
    known = set[sp.Basic]().union(*(theorem.square.atoms(sp.Min) for theorem in theorems))
    least = next((one for one in square.atoms(sp.Min) - known if len(one.args) > 1), None)
    if least is not None:
        for one in least.args:
            _reached(square.xreplace({least: one}), ranges, theorems, conditions, supposed)
        return
    starts, why = set[sp.Expr | None](), UnprovedError(f"no derivation proves the bound {square}")
    for theorem in theorems:
        try:
            _granted(theorem, ranges, conditions, supposed)
            _equal(square, theorem, supposed)
        except UnprovedError as error:
            why = error
        else:
            starts.add(theorem.start)
    if not starts or (any(isinstance(one, Hides) for one in ranges) and not {sp.S.Zero, D} <= starts):
        raise why


def _equal(square: sp.Expr, theorem: _Theorem, supposed: frozenset[Boolean]) -> None:
    letters, names = dict[sp.Symbol, sp.Expr](), dict[sp.Basic, sp.Symbol]()
    laws = frozenset(law for _, law in theorem.laws)
    said = (square, theorem.square, *theorem.sums.values(), *supposed)
    terms = dict[sp.Sum, sp.Expr]()
    for one in (one for one in square.atoms(sp.Sum) if one.limits == (sp.Tuple(t, tau, T - 1),)):
        named = {value: _letter(value) for value in one.function.atoms(AppliedUndef) if value.args == (t,)}
        terms[one] = one.function.xreplace(named).subs(t, tau + _j)
    for letter, summand in theorem.sums.items():
        ratios = ((one, _ratio(summand, term)) for one, term in terms.items())
        for one, ratio in ((one, ratio) for one, ratio in ratios if ratio is not None):
            _show(sp.Ge(terms[one], 0), supposed | laws)
            letters[letter] = ratio * one
            names[one] = new_letter(sp.Symbol(f"Sigma_{len(names)}", positive=True), *said)
    reached = theorem.square.subs(letters).xreplace(names)
    claimed = square.xreplace(names).doit()
    _show(sp.Le(reached, claimed, evaluate=False), supposed | {sp.Le(tau, T - 1)})


@cache
def _ratio(one: sp.Expr, other: sp.Expr) -> sp.Expr | None:
    """Ratio of two summands if it is the same at every step."""
    ratio = sp.simplify(one / other)
    return None if any(letter == _j or str(letter).endswith("_j") for letter in ratio.free_symbols) else ratio


def _granted(
    theorem: _Theorem, ranges: tuple[sp.Basic, ...], conditions: set[sp.Basic], supposed: frozenset[Boolean]
) -> None:
    """Raise UnprovedError unless the conditions of a statement imply the hypotheses of a theorem.

    A theorem may exclude the shares 0 and 1 of the noise, at which a cost is infinite or nothing changes.
    """
    for hypothesis in theorem.hypotheses:
        if not _is_granted(hypothesis, conditions):
            raise UnprovedError(f"the statement does not assume that {hypothesis}")
    chosen = [one for one in ranges if isinstance(one, sp.Tuple) and one[0].args == (t,)]
    inside = {
        relation
        for one, low, high in chosen
        for relation in (sp.Gt(_letter(one), low), sp.Lt(_letter(one), high))
    }
    given = frozenset({*supposed, *inside})
    for condition in theorem.given:
        _show(condition, supposed)
    hidden = next((one for one in ranges if isinstance(one, Hides)), None)
    if hidden is None and theorem.start is not None:
        raise UnprovedError(
            "the statement does not say that shifts hide the distance at the start of the window"
        )
    for count, law in theorem.laws:
        if hidden is None or not law.free_symbols & {_z, _next, _a}:
            _show(law, given)
        elif law not in (sp.Ge(_a, 0), sp.Ge(_next, 0)):
            _hides(count, law, hidden, given | {sp.Ge(_z, 0), sp.Ge(_a, 0)})


def _hides(count: sp.Expr, law: Relational, hidden: sp.Basic, given: frozenset[Boolean]) -> None:
    """Raise UnprovedError unless the distances and shifts of the condition `Hides` obey a theorem's law.

    A law of all T steps must also hold before the window, without a shift.
    """
    shifts, expands, begins, tracked = hidden.args
    if law.gts != _next or begins != tau or getattr(shifts(t), "args", ()) != (t,) or _letter(shifts(t)) != _a:
        raise UnprovedError(f"it is not shown that {law}")
    shifted = law.lts + _a if _a in law.free_symbols else law.lts
    for after in {w: (expands,), tau: (tracked,), T: (expands, tracked)}[count]:
        sides = shifted, after(t, _z)
        powers = dict.fromkeys(one for side in sides for one in side.atoms(sp.Pow) if not one.exp.is_number)
        said = (*sides, *given)
        put = {
            one: new_letter(sp.Symbol(f"power_{i}", nonnegative=True), *said) for i, one in enumerate(powers)
        }
        _show(sp.Le(*(side.xreplace(put) for side in sides)), given)


def _show(condition: Boolean, given: frozenset[Boolean]) -> None:
    if condition != sp.S.true:
        prove(condition, given)


def _letter(value: sp.Expr) -> sp.Symbol:
    return sp.Symbol(f"{value.func}_j", real=True)


def _is_granted(hypothesis: Hypothesis, conditions: Collection[sp.Basic]) -> bool:
    needed = _GRANTS.get(hypothesis)
    return needed is not None and needed <= set(conditions)


# From bounds on the divergence, each for a part of the statement's range.


def _join(
    bound: sp.Expr,
    letters: tuple[sp.Basic, ...],
    claim: Claim,
    granted: set[sp.Basic],
    supposed: frozenset[Boolean],
) -> None:
    """Raise UnprovedError unless the bounds of the checks together imply the bound of the statement."""
    numbers = frozenset(one for one in supposed if not one.has(largest_order))
    why = impossible(sorted(numbers, key=str))
    if why:
        raise UnprovedError(why)
    bounds = (check for check in claim.checks if isinstance(check, RenyiBound))
    cases = [_Case(claim, check, letters, granted, numbers) for check in bounds]
    known = numbers.union(*(case.given for case in cases))
    for claimed in _alternatives(bound):
        needs = [(*case.open, sp.Le(case.bound, claimed, evaluate=False)) for case in cases]
        undefined = unmet(
            [side for case in needs for one in case for side in one.args], tuple(numbers), entails
        )
        if undefined:
            raise UnprovedError(undefined)
        names = _names(*known, *(one for case in needs for one in case))
        lettered = [tuple(_signed(one.xreplace(names)) for one in case) for case in needs]
        _cover(lettered, frozenset(one.xreplace(names) for one in known))


class _Case:
    """Bound in a statement's letters; ``given``: premises that the statement implies; ``open``: the rest."""

    def __init__(
        self,
        claim: Claim,
        check: RenyiBound,
        letters: Collection[sp.Basic],
        granted: Collection[sp.Basic],
        numbers: frozenset[Boolean],
    ) -> None:
        self.values = {letter: sp.sympify(value, strict=True) for letter, value in check.at.items()}
        run = [one for one in self.values if one in letters or (one in MEANING and one not in _CHOSEN)]
        if run:
            raise UnprovedError(f"`at` may not give values to letters of the run, got {sorted(run, key=str)}")
        given = (*claim.assumptions, *check.given)
        if check.by is Sampled.SECOND and Larger(SAMPLES, OTHER) not in granted:
            raise UnprovedError(f"a bound in one order needs that {Larger(SAMPLES, OTHER)}, in this order")
        orders = [self._put(one) for one in given if one.has(largest_order)]
        if not all(supposed_order(one, granted) for one in orders):
            raise UnprovedError(f"the statement does not assume {orders}")
        made, other = judgements(check, claim.assumptions)
        if sp.simplify(self._put(made.end) - T) != 0:
            raise UnprovedError(f"laws after T steps are needed, got {self._put(made.end)}")
        for one in made.hypotheses | other.hypotheses:
            here = replace(one, constants=tuple(map(self._put, one.constants)))
            if not _is_granted(here, granted):
                raise UnprovedError(f"the statement does not assume that {here}")
        self.bound = self._put(check.bound)
        premises = [*map(self._put, given), *self._signs(self.values)]
        strange = (
            set().union(self.bound.free_symbols, *(one.free_symbols for one in premises)).difference(letters)
        )
        if strange:
            raise UnprovedError(
                f"{sorted(strange, key=str)} need values in terms of the letters of the statement"
            )
        known = numbers.union(self._facts(claim, letters, numbers))
        needed = [one for one in premises if not one.has(largest_order)]
        own = set(check.given)  # its own premises without a chosen letter distinguish the cases
        self.given = frozenset(one for one in needed if one not in own - known and _shown(one, known))
        self.open = [one for one in needed if one not in self.given]

    def _put(self, what: sp.Basic) -> sp.Basic:
        return what.subs(self.values, simultaneous=True)

    def _signs(self, letters: Collection[sp.Symbol]) -> list[Boolean]:
        return [
            one for letter in letters if letter in self.values for one in declared(letter, self.values[letter])
        ]

    def _facts(
        self, claim: Claim, letters: Collection[sp.Basic], numbers: frozenset[Boolean]
    ) -> Iterator[Boolean]:
        """Inequalities among the checks, at the chosen values, whose premises are met."""
        for check in claim.checks:
            if not isinstance(check, Inequality | IntervalInequality):
                continue
            one = derived((check,), claim.assumptions)
            premises, fact = one.body.args if isinstance(one.body, Implies) else (sp.S.true, one.body)
            conditions = [*map(self._put, (*one.conditions, premises)), *self._signs(one.variables)]
            orders = [condition for condition in conditions if condition.has(largest_order)]
            if (
                not orders
                and set() < self._put(fact).free_symbols <= set(letters)
                and all(_shown(x, numbers) for x in conditions)
            ):
                yield self._put(fact)


def _alternatives(bound: sp.Expr) -> Iterator[sp.Expr]:
    choices = sorted(bound.atoms(sp.Min), key=str)
    for chosen in product(*(one.args for one in choices)):
        yield bound.xreplace(dict(zip(choices, chosen, strict=True)))


def _names(*conditions: Boolean) -> dict[sp.Expr, sp.Dummy]:
    """Letters for function values and maxima, declared with their known signs and integrality."""
    values = set().union(*(one.atoms(sp.Function, sp.Max) for one in conditions))
    facts = ("integer", "positive", "nonnegative")
    known = {one: {fact: True for fact in facts if getattr(one, f"is_{fact}")} for one in values}
    return {one: sp.Dummy(str(one), **({"real": True} | known[one])) for one in values}


def _signed(condition: Boolean) -> Boolean:
    if not isinstance(condition, sp.Le):
        return condition
    gap = sp.factor(condition.lhs - condition.rhs)
    return sp.Le(sp.Mul(*(one for one in sp.Mul.make_args(gap) if not one.is_positive)), 0)


def _cover(cases: Sequence[Sequence[Boolean]], known: frozenset[Boolean]) -> None:
    """Raise UnprovedError unless, at every point, some case has all needs met; split on undecided needs."""
    if entails(sorted(known, key=str), sp.false):
        return
    left = sorted((tuple(one for one in case if not _shown(one, known)) for case in cases), key=len)
    if left and not left[0]:
        return
    undecided = next(
        (one for case in left for one in case if isinstance(one, Relational) and not isinstance(one, sp.Eq)),
        None,
    )
    if undecided is None:
        raise UnprovedError(f"no bound is shown to be sufficient if {', '.join(sorted(map(str, known)))}")
    _cover(left, known | {undecided})
    _cover([case for case in left if undecided not in case], known | {sp.Not(undecided)})


@cache
def _shown(condition: Boolean, known: frozenset[Boolean]) -> bool:
    """Tell whether a condition, or the same relation between the logarithms of positive sides, follows."""
    if condition == sp.S.true or condition in known:
        return True
    return any(proves(one, known) for one in dict.fromkeys((_logarithms(condition), condition)))


def _logarithms(condition: Boolean) -> Boolean:
    """Take expanded logarithms of the positive sides of an inequality with exp; keep any other condition."""
    if not isinstance(condition, sp.Ge | sp.Gt | sp.Le | sp.Lt) or not condition.has(sp.exp):
        return condition
    if not all(side.is_positive for side in condition.args):
        return condition
    sides = (sp.log(side).replace(sp.log, lambda x: sp.expand_log(sp.log(x))) for side in condition.args)
    return condition.func(*sides)
