"""The rules, which alone make judgements. Each docstring is a lemma with its proof or the page of its proof.

Notation  K(x) and K'(y) are the laws at step t of run 1 from x and of run 2 from y. The proofs are for order FIRST;
          exchange the runs for order SECOND. A^z is the set of points within z of A, and E^z_g is as in `judgement`. "A
          judgement z -> z' at f" means one with the distances z (near) and z' (far) and the profile f.
Facts     F1 to F4 are the four facts of docs/proofs/enlarged_sets.md. F2: E^z_g is convex and nonincreasing in g,
          and nonincreasing in z. F4: E^z_g is jointly convex in (P, Q).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import final

from sympy import Add, Expr, Ge, Le, Lt, S, Symbol, simplify
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import *
from lastiterate.symbolic.kernel.lemmas import *
from lastiterate.symbolic.kernel.profiles import *
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.kernel.substitution import *

_DISTANCE = Symbol("z", nonnegative=True).assumptions0


@final
@dataclass(frozen=True)
class Kernel(Ground):
    """The rules, with a prover for their side conditions."""

    @rule
    def identity(self, order: Order, step: Expr, distance: Expr) -> Span:
        """No step: z -> z at E_0 = max(1 - g, 0).

        Let d(x, y) <= z. If P(A) = 1, then x is in A and y is in A^z, so P(A) - g Q(A^z) = 1 - g.
        """
        return apply(self, "identity", order, (step, step), (distance, distance), Equal(), (Ge(distance, 0),))

    @rule
    def suppose(
        self,
        order: Order,
        ends: tuple[Expr, Expr],
        distances: tuple[Expr, Expr],
        profile: Profile,
        says: str,
        revealed: Iterable[Variable] = (),
        hypotheses: Iterable[Hypothesis] = (),
    ) -> Span:
        """A judgement assumed without a derivation; it becomes a hypothesis of every conclusion drawn from it."""
        # For this order only.
        supposed = Hypothesis(says, (*ends, *distances), symmetric=False, bounds=(profile,))
        conditions = (*sound(profile), *(Ge(one, 0) for one in distances))
        every, scope = {supposed, *hypotheses}, frozenset(revealed)
        return apply(self, "suppose", order, ends, distances, profile, conditions, (), every, scope=scope)

    @rule
    def domain(self, order: Order, span: tuple[Expr, Expr], near: Expr, diameter: Expr) -> Span:
        """Steps that end with a projection to a set of diameter D: z -> D at E_0.

        If A is nonempty, A^D is the whole set, so P(A) - g Q(A^D) <= 1 - g. Without a step, equal points stay
        equal. States with a previous point need two steps, or equal states.
        """
        inside = Hypothesis("after every step both runs are in one convex set of this diameter", (diameter,))
        fewest = 0 if near in {S.Zero, Both(S.Zero, S.Zero)} else 1 + isinstance(near, Both)
        signs = (Ge(near, 0), Ge(diameter, 0), Ge(span[1] - span[0], fewest))
        far = _wide(diameter, near)
        return apply(self, "domain", order, span, (near, far), Equal(), signs, hypotheses={inside})

    @rule
    def apart(self, order: Order, span: tuple[Expr, Expr], distance: Expr) -> Span:
        """0 -> z at E_0, if the laws after the steps, from equal points, are within z of each other in W_infinity.

        For every e > 0 the points of some coupling are at most z + e apart, so P(A) <= Q(A^(z + e)). For
        compact A these sets shrink to A^z as e decreases to 0. So P(A) - g Q(A^z) <= (1 - g) P(A).
        """
        if span[0] != 0:
            raise UnprovedError(f"The laws of the two runs must start at step 0, got {span}.")
        near = Hypothesis(
            "W_infinity of the laws of the two runs after so many steps is at most this", (*span, distance)
        )
        conditions = (Ge(distance, 0), Ge(span[1] - span[0], 0))
        return apply(self, "apart", order, span, (S.Zero, distance), Equal(), conditions, hypotheses={near})

    @rule
    def weaken(
        self, span: Span, near: Expr | None = None, far: Expr | None = None, profile: Profile | None = None
    ) -> Span:
        """Decrease the distance before the steps, or increase the profile or the distance after the steps."""
        less, more = span.near if near is None else near, span.far if far is None else far
        above = span.profile if profile is None else profile
        conditions = (Ge(less, 0), Le(less, span.near), Ge(more, span.far), *covers(above, span.profile))
        return apply(self, "weaken", span.order, span.ends, (less, more), above, conditions, (span,))

    @rule
    def exchange(self, span: Span) -> Span:
        """The judgement in the other order, if its hypotheses are symmetric in the runs."""
        one_sided = [one.sentence for one in span.hypotheses if not one.symmetric]
        if one_sided or span.profile.order is not None:
            raise FalseLineError(
                f"Exchanging the runs needs symmetric hypotheses and profiles, got {one_sided or span.profile}."
            )
        return apply(self, "exchange", span.order.other, span.ends, span.distances, span.profile, (), (span,))

    def chain(self, first: Span, *others: Span) -> Span:
        """From z -> z' at f and then z' -> z'' at J: z -> z'' at the composition f x J.

        This is Theorem 1 of docs/proofs/enlarged_sets.md. J holds at every pair of points, so the second part
        can depend on the state after the first.
        """
        return reduce(self._linked, others, first)

    @rule
    def _linked(self, made: Span, other: Span) -> Span:
        if made.order is not other.order:
            raise UnprovedError(f"A chain needs the same order, got {made.order} and {other.order}.")
        conditions = (*same(made.end, other.start), Le(made.far, other.near), *separate(made, other))
        profile = compose(made.profile, other.profile)
        ends, distances = (made.start, other.end), (made.near, other.far)
        return apply(self, "chain", made.order, ends, distances, profile, conditions, (made, other))

    @rule
    def mean(
        self,
        variable: Variable,
        cases: Iterable[tuple[Expr, Span]],
        failure: Expr = S.Zero,
        events: tuple[frozenset[Hypothesis], ...] = (),
        over: tuple[Symbol, Expr, Expr] | None = None,
    ) -> Span:
        """Average over a revealed variable: the mean of the profiles, plus ``failure``, the weight outside the cases.

        The variable has the same law in both runs and is independent of the earlier state, so both laws are
        mixtures with the same weights (F4). A case holds for every value, or on an event that some of its
        hypotheses describe and that is at least as probable as the weight of the case. An extra coin makes
        this probability equal to the weight; the rest goes to cases that hold for every value and to failure,
        with a profile of at most 1. With ``over`` = (index, count, share), the first case stands for
        ``count`` cases, one for each value or disjoint event; its weight is split by the shares, which add up
        to 1. Conditions given for one of these cases are assumed for each.
        """
        pairs = tuple(cases)
        weights, spans = tuple(weight for weight, _ in pairs), tuple(span for _, span in pairs)
        head, *rest = spans
        if variable.follows:
            raise FalseLineError(
                f"A mean over {variable.name} needs it to have the same law in both runs and at every state."
            )
        named = {one for span in spans for one in span.scope if one.name == variable.name}
        if (
            any(variable not in span.scope for span in spans)
            or len(named) > 1
            or len(events) not in {0, len(spans)}
        ):
            raise UnprovedError(
                f"A mean needs {variable} to be the only revealed variable of that name, and events for all cases or "
                "for none."
            )
        on = events or (frozenset[Hypothesis](),) * len(spans)
        if over is not None and any(on) and not on[0]:
            raise UnprovedError(
                f"A mean over all values of {variable} may not have cases on events, which can contain several values."
            )
        supposed = [span.hypotheses - event for span, event in zip(spans, on, strict=True)]
        profiles, given = [span.profile for span in spans], frozenset[Boolean]()
        several = () if over is None else (Ge(over[1], 1),)
        if over is not None:
            index, count, share = over
            _shares(index, count, share, of_events=bool(on[0]))
            at = (one.step for span in spans for one in span.scope | span.drawn)
            _unnamed(index, (*weights, failure, *head.ends, *head.distances, *at), rest)
            given = frozenset(one for one in head.given if index in one.free_symbols)
            says = f"for every {index} below the first this holds"
            supposed[0] = _over(index, supposed[0]).union(
                Hypothesis(says, (count, one), over=(index,)) for one in given
            )
            profiles[0] = Average(share, head.profile, index, count)
        conditions = [Ge(weight, 0) for weight in (*weights, failure)] + [*same(Add(failure, *weights), S.One)]
        conditions += [one for span in rest for one in alike(head, span)]
        conditions += [Ge(variable.step, head.start), Lt(variable.step, head.end), *several]
        mixed = MeanProfile(tuple(zip(weights, profiles, strict=True)), failure)
        profile = profiles[0] if weights == (S.One,) else mixed
        made = apply(self, "mean", head.order, head.ends, head.distances, profile, conditions, spans)
        hypotheses = _law(variable, weights, on, over).union(*supposed)
        scope, drawn = made.scope - {variable}, made.drawn | {variable}
        return record(made, given=made.given - given, hypotheses=hypotheses, scope=scope, drawn=drawn)

    @rule
    def step(
        self,
        order: Order,
        step: Expr,
        distances: tuple[Expr, Expr],
        expansion: Expansion,
        shift: Shift,
        variance: Expr,
        coin: Coin | None = None,
        revealed: Iterable[Variable] = (),
    ) -> Span:
        """One noisy update given ``revealed`` variables: z -> z' at S x p_a for every z' >= max(e(z) - a, 0).

        The noise xi = xi1 + xi2 is independent of coins and earlier states, and of revealed variables, except
        those that depend on later states. K(x) and K'(y) are the laws of Pi(phi_c(x) + xi) and Pi(phi'_c'(y)
        + xi), with hidden coins c and c' and a 1-Lipschitz map Pi. A third map chi is phi' (without a coin,
        and S = E_0) or phi with the same coin, and |phi_c(x) - chi_c(y)| <= e(z). S is a profile for chi_c(y)
        + xi1 and phi'_c'(y) + xi1, and p_a is a profile for shifts of xi2 by at most a. With a coin, the
        third point can also be phi' at x, with the same S and e.

        The proof of Theorem 3 in docs/proofs/enlarged_sets.md holds with p_a in place of the Gaussian
        profile.
        """
        if (expansion.guide is Guide.OTHER) != (coin is None) or (coin is not None and coin.observed):
            raise UnprovedError("A step needs a hidden coin if and only if its guide is the run's own map.")
        if any(expansion.z in one.free_symbols for one in self.given) or expansion.z.assumptions0 != _DISTANCE:
            raise UnprovedError(
                f"The distance {expansion.z} must be declared nonnegative and free of conditions, got {self.given}."
            )
        hidden, scope, (near, far) = coin or Coin(Equal()), frozenset(revealed), distances
        if isinstance(near, Both) or isinstance(far, Both):
            raise UnprovedError("A step takes points to points; `remember` adds the previous point.")
        conditions = [Ge(near, 0), Ge(far, 0), Ge(far, expansion.at(near) - shift.length), Ge(shift.length, 0)]
        conditions += [Le(shift.variance + hidden.variance, variance), *expansion.conditions]
        conditions += [
            Ge(shift.variance, 0),
            Ge(hidden.variance, 0),
            *sound(shift.profile),
            *sound(hidden.profile),
        ]
        conditions += [*shift.conditions, *hidden.conditions]
        conditions += () if expansion.step is None else same(step, expansion.step)
        conditions += [Le(one.step, step) for one in scope if one.follows]
        parts = (expansion, shift, coin) if coin else (expansion, shift)
        hypotheses = expansion.hypotheses | hidden.hypotheses | owed(*parts) | {noise(variance)}
        profile = compose(shift.profile, hidden.profile)
        later = sorted(one.name for one in scope if one.follows and one.step != step)
        with line(f"given {' and '.join(later)}" if later else ""):
            ends, cites = (step, step + 1), (*expansion.lemmas, *shift.cites, *hidden.cites)
            more = {"scope": scope, "cites": cites}
            return apply(self, "step", order, ends, distances, profile, conditions, (), hypotheses, **more)

    @rule
    def specialise(self, span: Span, values: Mapping[Symbol, Expr]) -> Span:
        """Substitute values that satisfy the given conditions on the symbols and their declared properties."""
        at = partial(put_values, values=values)
        over = set[Symbol]().union(*(one.over for one in span.hypotheses))
        # An induction binds all letters of its hypothesis.
        inside = any(isinstance(one, StepsBefore) for one in span.hypotheses)
        if inside or over & set(values).union(*(value.free_symbols for value in values.values())):
            raise UnprovedError(f"Values can neither replace nor contain bound letters, got {values}.")
        conditions = [one for symbol, value in values.items() for one in declared(symbol, value)]
        changed = values.keys() & set().union(*(condition.free_symbols for condition in span.given))
        conditions += [at(one) for one in span.given if one not in self.given or changed & one.free_symbols]
        scope, drawn = (
            frozenset(replace(one, step=at(one.step)) for one in each) for each in (span.scope, span.drawn)
        )
        made = apply(
            self, "specialise", span.order, at(span.ends), at(span.distances), at(span.profile), conditions
        )
        hypotheses = frozenset(one.at(values) for one in span.hypotheses)
        return record(made, premises=(span,), hypotheses=hypotheses, scope=scope, drawn=drawn)


def _wide(diameter: Expr, like: Expr) -> Expr:
    """The diameter of the states in a set, with or without the previous points."""
    return Both(diameter, diameter) if isinstance(like, Both) else diameter


@rule
def remember(kernel: Kernel, span: Span, before: Expr) -> Span:
    """A step z -> z', with previous points at most y = ``before`` apart: (z, y) -> (z', z) for states of two points.

    The states after the step are (x', x) and (y', y), with points x and y at most z apart. Let A be a compact set of
    states and B the set of points x' with (x', x) in A, which is compact. If y' is in B^z', then (y', y) is in the set
    of states of which both points are within z' and z of those of a state in A. So the difference for A is at most
    P(B) - g Q(B^z').
    """
    apart = previous(before)
    if span.rule != "step" or apart not in span.hypotheses:
        raise UnprovedError(f"A step with previous points at most {before} apart is needed, got {span}.")
    distances, hypotheses = (Both(span.near, before), Both(span.far, span.near)), span.hypotheses - {apart}
    made = apply(kernel, "remember", span.order, span.ends, distances, span.profile, (Ge(before, 0),))
    own = {"given": made.given | span.given, "hypotheses": hypotheses, "scope": span.scope}
    return record(made, premises=(span,), **own, drawn=span.drawn)


@rule
def present(kernel: Kernel, span: Span) -> Span:
    """From equal states (0, 0) -> (z, y) for states of two points: 0 -> z for the present point alone.

    A set A of present points is the set A' of states (x, p) with x in A, and states within z and y of A' have their
    present point in A^z; the difference for A' obeys the bound, by fact F1 also if A' is not bounded.
    """
    if span.near != Both(S.Zero, S.Zero) or not isinstance(span.far, Both):
        raise UnprovedError(f"Equal states with a previous point are needed, got {span}.")
    first = Hypothesis("the previous point of the first point is the first point")
    made = apply(kernel, "present", span.order, span.ends, (S.Zero, span.far.args[0]), span.profile, ())
    own = {"given": made.given | span.given, "hypotheses": span.hypotheses | {first}, "scope": span.scope}
    return record(made, premises=(span,), **own, drawn=span.drawn)


@rule
def anything(kernel: Kernel, order: Order, ends: tuple[Expr, Expr], distance: Expr = S.Zero) -> Span:
    """Any steps: z -> z at 1, because P(A) - g Q(A^z) <= 1."""
    conditions = (Ge(ends[1] - ends[0], 0), Ge(distance, 0))
    return apply(kernel, "anything", order, ends, (distance, distance), EVERYTHING, conditions)


@rule
def contract(kernel: Kernel, before: Span, near: Span, far: Span, diameter: Expr) -> Span:
    """From z -> z1 at X, then z1 -> z' at N and, for the diameter D, D -> z' at F: z -> z' at `Contracted`.

    Theorem 1 in docs/proofs/contraction.md bounds the divergence, which is convex in g (F2), for all measures
    and their parts. F must hold for all pairs of points.
    """
    if near.scope != far.scope:
        raise UnprovedError("A contraction needs the same revealed variables in its near and far premises.")
    inside = Hypothesis("after every step both runs are in one convex set of this diameter", (diameter,))
    if not before.order is near.order is far.order:
        raise UnprovedError("A contraction needs the same order in all three premises.")
    conditions = [*separate(before, near, far), *same(before.end, near.start), *same(near.start, far.start)]
    conditions += [*same(near.end, far.end), *same(near.far, far.far), Le(before.far, near.near)]
    profile = Contracted(before.profile, near.profile, far.profile)
    # Without a step before, the points are inside.
    wide = _wide(diameter, far.near)
    conditions += [Ge(far.near, wide), Le(before.near, wide)]
    ends, distances = (before.start, near.end), (before.near, near.far)
    return apply(
        kernel, "contract", before.order, ends, distances, profile, conditions, (before, near, far), {inside}
    )


@rule
def compare_with_third(
    kernel: Kernel,
    variable: Variable,
    parts: tuple[Span, Span, Span],
    over: tuple[Symbol, Expr, Expr],
) -> Span:
    """Hide a variable that is drawn from one law: 0 -> 0 at `ThreeLaws`, with a third run.

    In case i the runs have the laws P_i and Q_i, and the third run has the law R in all cases. The ``parts`` are
    judgements of P_i against Q_i at f, of P_i against R at h, and of R against Q_i at h'. If sum w_i c_i <= 0, then

        sum w_i (P_i - g Q_i)(A) <= sum w_i (P_i - g Q_i - c_i R)(A).

    For c >= 0, P - g Q - c R = [t P - g Q] + [(1 - t) P - c R], at most t f(g/t) + (1 - t) h(c/(1 - t)). For
    c = -k, it is [P - g t Q] + [k R - g (1 - t) Q], at most f(g t) + k h'(g (1 - t)/k). The greatest value over A
    is convex in c, and the divergence of the mixtures is convex in g (F2).
    """
    index, count, share = over
    (known, ahead, back), order = parts, parts[0].order
    if variable.follows:
        raise FalseLineError(f"{variable.name} needs the same law in both runs and at every state.")
    if any(variable not in one.scope or one.scope != known.scope for one in parts):
        raise UnprovedError(
            f"Three laws need {variable} and the same other variables revealed in all premises."
        )
    if len({one.name for one in known.scope}) < len(known.scope):
        raise UnprovedError("Three laws need revealed variables of different names.")
    _shares(index, count, share, of_events=False)
    at = (one.step for span in parts for one in span.scope | span.drawn)
    _unnamed(index, (*known.ends, *at), ())
    given = frozenset(one for span in parts for one in span.given if index in one.free_symbols)
    says = f"for every {index} below the first this holds"
    hypotheses = {Hypothesis(says, (count, one), over=(index,)) for one in given}
    hypotheses |= {
        Hypothesis(
            f"{variable.name} has one law in both runs, given all else that is revealed and any state before; its "
            f"value number {index}, of this many, has this probability",
            (count, share),
            over=(index,),
        ),
        Hypothesis(f"a third run, from the same point, has one law whatever the value of {variable.name}"),
    }
    first, second = ("1", "2") if order is Order.FIRST else ("2", "1")
    for span, instead in ((ahead, second), (back, first)):
        for one in span.hypotheses:
            third = f"with the third run in place of run {instead}, {one.says}"
            hypotheses |= _over(index, {replace(one, says=third, symmetric=False)})
    conditions = [one for span in (ahead, back) for one in alike(known, span)]
    conditions += [*same(known.near, S.Zero), *same(known.far, S.Zero), Ge(count, 1)]
    conditions += [Ge(variable.step, known.start), Lt(variable.step, known.end)]
    profile = ThreeLaws(share, known.profile, ahead.profile, back.profile, index, count)
    made = apply(
        kernel, "three laws", order, known.ends, known.distances, profile, conditions, parts, hypotheses
    )
    hypotheses |= _over(index, known.hypotheses)
    scope, drawn = made.scope - {variable}, made.drawn | {variable}
    return record(made, given=made.given - given, hypotheses=frozenset(hypotheses), scope=scope, drawn=drawn)


def _law(
    variable: Variable,
    weights: tuple[Expr, ...],
    events: tuple[frozenset[Hypothesis], ...],
    over: tuple[Symbol, Expr, Expr] | None,
) -> frozenset[Hypothesis]:
    one_law = f"{variable.name} has one law in both runs and is independent of the state before"
    found = set[Hypothesis]() if over else {Hypothesis(one_law)}
    for place, (weight, event) in enumerate(zip(weights, events, strict=True)):
        parts = sorted(event, key=str)
        words = "; ".join(one.sentence for one in parts)
        if over is None or place > 0:
            says = f"an event disjoint from others, of at least this probability: {words}"
            found |= {of_event(says, (weight,), parts)} if parts else set()
            continue
        index, count, share = over
        if parts:
            number = f"event number {index}, disjoint from others, of this many"
            says = f"{one_law}; it is in {number}, with at least this probability: {words}"
            found |= {of_event(says, (count, weight * share), parts, index)}
            says = f"the second, over {index} below the first, adds up to 1"
        else:
            says = f"{one_law}; its value number {index}, of this many, has this probability"
        found |= {Hypothesis(says, (count, share), over=(index,))}
    return frozenset(found)


def _unnamed(index: Symbol, fixed: Iterable[Expr], others: Iterable[Span]) -> None:
    for span in others:
        fixed = (*fixed, *span.given, *(one for each in span.hypotheses for one in each.constants))
    named = [one for one in fixed if index in one.free_symbols]
    named += [
        one.profile for one in others if put_values(one.profile, {index: whichever(index)}) != one.profile
    ]
    if named:
        raise UnprovedError(
            f"A mean over {index} needs {', '.join(map(str, named))} to be the same for every {index}."
        )


def _shares(index: Symbol, count: Expr, weight: Expr, *, of_events: bool) -> None:
    """Raise an error unless shares add up to 1, or are unknown functions, which the hypotheses restrict.

    Shares of events must be nonnegative: the hypotheses bound the probabilities only from below.
    """
    counts(index, count)
    if weight.atoms(AppliedUndef):
        if of_events and not weight.is_nonnegative:
            raise UnprovedError(f"Shares of events must be declared nonnegative, got {weight}.")
        return
    some = [weight.subs(index, i) for i in range(int(count))] if count.is_Integer and weight.has(index) else ()
    of_all = all(one.is_nonnegative for one in some) and simplify(Add(*some) - 1) == 0 if some else None
    if not (simplify(weight * count - 1) == 0 if of_all is None and not weight.has(index) else of_all):
        raise UnprovedError(f"Weights must be nonnegative and add up to 1, got {weight} for each of {count}.")


def _over(index: Symbol, hypotheses: Iterable[Hypothesis]) -> frozenset[Hypothesis]:
    def names(one: Hypothesis) -> bool:
        return any(index in constant.free_symbols for constant in one.constants)

    return frozenset(replace(one, over=(*one.over, index)) if names(one) else one for one in hypotheses)


@rule
def observe(kernel: Kernel, order: Order, step: Expr, outcome: Coin, revealed: Iterable[Variable] = ()) -> Span:
    """One update that is a function of the state and of an outcome: 0 -> 0 at the profile S of the outcome.

    Let O, O' be the laws of the outcome at x, and B the set of outcomes that the update from x maps into A.
    Then K(x)(A) = O(B), K'(x)(A) = O'(B) and O(B) - g O'(B) <= E_g(O || O') <= S(g).
    """
    function = Hypothesis(
        "a state is a function, one for both runs, of the state before and of what the step observes"
    )
    ends, still = (step, step + 1), (S.Zero, S.Zero)
    noisy = frozenset() if outcome.observed else {noise(outcome.variance)}
    hypotheses = outcome.hypotheses | owed(outcome) | {function} | noisy
    conditions = (*sound(outcome.profile), *outcome.conditions)
    more = {"scope": frozenset(revealed), "cites": outcome.cites}
    return apply(kernel, "observe", order, ends, still, outcome.profile, conditions, (), hypotheses, **more)
