"""Induction over the steps of a run, with sequences of numbers, and payments for cyclic batches."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

from sympy import Basic, Eq, Expr, Ge, Gt, Le, S, Symbol, symbols, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import *
from lastiterate.symbolic.kernel.profiles import *
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import UnprovedError, genuine, rule
from lastiterate.symbolic.kernel.substitution import *


@dataclass(frozen=True)
class Sequence:
    """A sequence with u_0 = ``first`` and u_{j+1} = ``after``, up to u_m.

    ``after`` is an expression in the values at j, or a letter if u is arbitrary. ``value`` is the letter for
    u_j, a real symbol without a declared sign, and ``last`` the letter for u_m. ``closed`` is u_j as an
    expression in the index, or None if u_m stays a letter.
    """

    value: Symbol
    first: Expr
    after: Expr
    last: Symbol
    closed: Expr | None = None


def own_letters(
    index: Symbol, sequences: Iterable[Sequence], letters: Iterable[Symbol], conditions: Iterable[Boolean]
) -> None:
    """Raise an error unless all letters are distinct and real, and no term contains a last value."""
    plain = Symbol("plain", real=True).assumptions0
    own = [*(letter for one in sequences for letter in (one.value, one.last)), *letters]
    declared = [letter for letter in own if letter.assumptions0 != plain]
    if declared:
        raise UnprovedError(f"Letters of an induction must be declared as real only, got {declared}.")
    terms = [part for one in sequences for part in (one.first, one.after, one.closed) if part is not None]
    named = set[Basic]().union(*(one.free_symbols for one in (*terms, *conditions)))
    if len({index, *own}) <= len(own) or named & {one.last for one in sequences}:
        raise UnprovedError(
            f"Each sequence needs its own letter and, for its last value, a letter that occurs in no term, got {own}."
        )


@rule
def steps_before(
    kernel: Kernel,
    order: Order,
    ends: tuple[Expr, Expr],
    distances: tuple[Expr, Expr],
    profile: Profile,
    index: Symbol,
    revealed: frozenset[Variable],
) -> Span:
    """The induction hypothesis: a judgement about the preceding steps, discharged later.

    `recur` shows that f(0) and f(j + 1) are profiles, because they are at least others.
    """
    own = StepsBefore("the steps before", symmetric=False, over=(index,))
    formed(profile)
    return apply(kernel, "induction hypothesis", order, ends, distances, profile, (), (), {own}, scope=revealed)


@final
@dataclass(frozen=True, eq=False)
class StepInduction:
    """Statements for every 0 <= j <= m = ``count`` about a run and its sequences.

    The constructor proves that the conditions ``keeps`` hold at 0, and at j + 1 if they hold at j.
    ``letters`` are other numbers of step j, known only through the ``laws``, which are assumed for 0 <= j <
    m. The conditions ``ends`` on the values at m are also assumed.
    """

    kernel: Kernel
    index: Symbol
    count: Expr
    sequences: tuple[Sequence, ...]
    keeps: tuple[Boolean, ...] = ()
    letters: tuple[Symbol, ...] = ()
    laws: tuple[Boolean, ...] = ()
    ends: tuple[Boolean, ...] = ()
    shown: tuple[Shown, ...] = field(default=(), init=False)
    _known: frozenset[Boolean] = field(default=frozenset(), init=False)
    is_shown: bool = field(default=True, init=False)

    @rule
    def __post_init__(self) -> Any:
        own_letters(self.index, self.sequences, self.letters, (*self.keeps, *self.laws))
        counts(self.index, self.count)
        given = self.kernel.given
        shown = self._show(given, Ge(self.count, 0))
        closed = {one.value: one.closed for one in self.sequences if one.closed is not None}
        for one in self.sequences:
            if one.closed is not None:
                shown += self._show(given, *same(one.closed.subs(self.index, 0), one.first))
                after = one.after.subs(closed, simultaneous=True)
                follows = same(one.closed.subs(self.index, self.index + 1), after)
                shown += self._show(given | {Ge(self.index, 0)}, *follows)
        here = given.union(self.keeps, self.laws, (Ge(self.index, 0), Le(self.index, self.count - 1))) - {true}
        shown += self._show(given, *put_values(self.keeps, self._first))
        shown += self._show(here, *put_values(self.keeps, self._after))
        return self._learn(here | self._kept, shown)

    @rule
    def falls(self, u: Expr, w: Expr) -> Self:
        """u_m w_j <= u_j w_m for every j <= m, if u_{j+1} w_j <= u_j w_{j+1}, w >= 0, and w > 0 from j = 1 on.

        By induction over m >= j: u_{m+1} w_j = (u_{m+1} w_m) w_j / w_m <= u_m w_{m+1} w_j / w_m <= u_j w_{m+1}.
        """
        self._own()
        self._of_values(u, w)
        known, (u_after, w_after) = self._known, put_values((u, w), self._after)
        shown = [*self.shown, *self._show(known, Ge(w, 0), Gt(w_after, 0), Le(u_after * w, u * w_after))]
        fact = Le(put_values(u, self._last) * w, u * put_values(w, self._last))
        return self._learn(known | {fact, put_values(fact, self._after)}, shown)

    @rule
    def returns(self, condition: Boolean) -> Self:
        """A condition holds for every 1 <= j <= m if it holds at m, and at j whenever it holds at j + 1."""
        self._own()
        self._of_values(condition)
        known, after = self._known, put_values(condition, self._after)
        shown = [*self.shown, *self._show(self.kernel.given | self._kept, put_values(condition, self._last))]
        shown += self._show(known | {after, Ge(self.index, 1)}, condition)
        return self._learn(known | {after}, shown)

    def span(
        self,
        start: Expr,
        distance: Expr,
        profile: Profile,
        step: Callable[[Kernel, Expr, Expr], Span],
        far: Expr | None = None,
        length: Expr = S.One,
    ) -> Span:
        """z(0) -> z(m) at f(m) in m steps, if step s + j is z(j) -> z(j + 1) at J with f(j) x J <= f(j + 1).

        This follows by `recur` and `chain`. ``step`` derives the judgement about one j, with a kernel that
        assumes what holds at j.
        """
        self._own()
        one = step(self.kernel.under(*self._known), distance, put_values(distance, self._after))
        begin = self.kernel.identity(one.order, start, put_values(distance, self._first))
        return self.recur(
            begin, profile, lambda inner, before: inner.chain(before, one), length, distance, far, one.scope
        )

    @rule
    def recur(
        self,
        begin: Span,
        profile: Profile,
        extend: Callable[[Kernel, Span], Span],
        length: Expr = S.One,
        distance: Expr = S.Zero,
        far: Expr | None = None,
        revealed: frozenset[Variable] = frozenset(),
    ) -> Span:
        """z -> z(m) at f(m), if ``begin`` has the profile f(0) and ``length`` more steps turn f(j) into f(j + 1).

        By induction over m: ``extend`` derives z -> z(j + 1) from the hypothesis z -> z(j), with z(j) =
        ``distance``. A ``far`` in place of z(m) is shown to be at least z(m).
        """
        self._own()
        self._of_values(profile, distance)
        if begin.scope or begin.drawn or not begin.given <= self.kernel.given:
            raise UnprovedError(
                "The first judgement may not have variables, and may assume only what the kernel assumes."
            )
        inner, near = self.kernel.under(*self._known), begin.near
        first = self.kernel.weaken(
            begin, near, put_values(distance, self._first), put_values(profile, self._first)
        )
        ends = (begin.start, begin.end + length * self.index)
        supposed = steps_before(inner, begin.order, ends, (near, distance), profile, self.index, revealed)
        one = extend(inner, supposed)
        if any(
            supposed.hypotheses & made.hypotheses and not made.premises and made is not supposed
            for made in one.lines()
        ):
            raise UnprovedError("The step may assume only the given judgement about the steps before it.")
        if one.scope != revealed or any(self.index in variable.step.free_symbols for variable in revealed):
            raise UnprovedError(
                "An induction must average over everything that is drawn in its steps, and over nothing else."
            )
        if one.order is not begin.order:
            raise UnprovedError(f"Both judgements need the same order, got {begin.order} and {one.order}.")
        there = (*same(one.start, begin.start), *same(one.end, begin.end + length * (self.index + 1)))
        drawn = (Ge(variable.step, begin.end + length * self.index) for variable in one.drawn)
        shown = [*self.shown, *self._show(inner.given, *there, *drawn)]
        after = inner.weaken(one, near, put_values(distance, self._after), put_values(profile, self._after))
        last = put_values(distance, self._last)
        if far is not None:
            shown += self._show(self.kernel.given.union(self._kept, self.ends), Ge(far, last))
        end, own = begin.end + length * self.count, one.hypotheses - supposed.hypotheses | begin.hypotheses
        hypotheses = self.supposed(*own)
        given = self.kernel.given | self._kept | self._of_all | one.given - inner.given
        if set(self._over) & set().union(*(said.free_symbols for said in (*given, begin.start, end, near))):
            raise UnprovedError(
                "What holds for all steps, such as the initial distance, may not contain the index or a step's letters."
            )
        self._own()
        made = {"rule": "induct", "premises": (first, after), "shown": tuple(shown), "cites": (), "near": near}
        return record(
            one, **made, start=begin.start, end=end, far=last if far is None else far, hypotheses=hypotheses,
            profile=put_values(profile, self._last), given=frozenset(given - {true}),
        )  # fmt: skip

    @rule
    def close(self, span: Span) -> Span:
        """Replace the letters for last values with the closed forms, which satisfy ``keeps``."""
        self._own()
        if not (self.supposed() <= span.hypotheses and self.kernel.given <= span.given):
            raise UnprovedError(f"close needs a judgement that this induction derived, got {span}.")
        known = [(one, one.closed) for one in self.sequences if one.closed is not None]
        closed = {one.last: put_values(form, {self.index: self.count}) for one, form in known}
        here = closed | {one.value: form for one, form in known}
        meant = span.hypotheses - {self._meant(one) for one, _ in known}
        given = frozenset(put_values(one, closed) for one in span.given - self._kept) - {true}
        own = {"rule": "close", "premises": (span,), "shown": (), "cites": (), "given": given}
        near, far, profile = put_values((span.near, span.far, span.profile), closed)
        hypotheses = frozenset(one.at(here) for one in meant)
        return record(span, near=near, far=far, profile=profile, hypotheses=hypotheses, **own)

    @property
    def _first(self) -> dict[Symbol, Expr]:
        return {one.value: one.first for one in self.sequences} | {self.index: S.Zero}

    @property
    def _after(self) -> dict[Symbol, Expr]:
        return {one.value: one.after for one in self.sequences} | {self.index: self.index + 1}

    @property
    def _last(self) -> dict[Symbol, Expr]:
        return {one.value: one.last for one in self.sequences} | {self.index: self.count}

    @property
    def _over(self) -> tuple[Symbol, ...]:
        return (self.index, *(one.value for one in self.sequences), *self.letters)

    @property
    def _of_all(self) -> frozenset[Boolean]:
        return frozenset(law for law in self.laws if not set(self._over) & law.free_symbols)

    @property
    def _kept(self) -> frozenset[Boolean]:
        return frozenset(put_values(condition, self._last) for condition in self.keeps)

    def supposed(self, *of_step: Hypothesis) -> frozenset[Hypothesis]:
        """Hypotheses for all steps: laws, ends, sequences and hypotheses on one step."""
        laws = (self._always(Law("this holds", (law,))) for law in self.laws if law not in self._of_all)
        ends = (End("this holds", (end,)) for end in self.ends if end != true)
        return frozenset((*laws, *ends, *map(self._meant, self.sequences), *map(self._always, of_step)))

    def _meant(self, one: Sequence) -> Hypothesis:
        goes = f"which begins at the first and goes at every step {self.index} to the second"
        says = f"{goes}, is after so many steps the last"
        return Meaning(says, (one.first, one.after, self.count, one.last), over=self._over, value=one.value)

    def _always(self, one: Hypothesis) -> Hypothesis:
        if one.at({letter: whichever(letter) for letter in self._over}) == one:
            return one
        return replace(
            one,
            every=(self.index, *one.every),
            constants=(self.count, *one.constants),
            over=tuple(dict.fromkeys((*one.over, *self._over))),
        )

    def _of_values(self, *said: Basic | Profile) -> None:
        if put_values(said, {one: whichever(one) for one in self.letters}) != said:
            raise UnprovedError(
                f"A term for many steps may contain values of sequences but no other letter of one step, got {said}."
            )

    def _own(self) -> None:
        if not genuine(self) or type(self.kernel) is not Kernel:
            raise UnprovedError("An induction must be made by the rules, with a Kernel.")

    def _learn(self, known: frozenset[Boolean], shown: Iterable[Shown]) -> Self:
        """Store known facts about a step, valid once a rule returns the induction."""
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "shown", tuple(shown))
        return self

    def _show(self, given: frozenset[Boolean], *conditions: Boolean) -> list[Shown]:
        return [show(self.kernel, one, given) for one in conditions if one != true]


p, _p_m, k, u, U, _U_m, Q, _Q_m = symbols("p_j p_m k_j u_j U_j U Q_j Q", real=True)
"""At step j: debt p, number k of replaced samples, payment u, and the sums of payments (U) and squares (Q)."""


def payments(kernel: Kernel, index: Symbol, count: Expr, visit: Expr) -> StepInduction:
    """An induction in which each replaced sample adds ``visit`` to a debt, which is paid off by the end."""
    left = p + k * visit - u
    return StepInduction(
        kernel,
        index,
        count,
        (
            Sequence(p, S.Zero, left, _p_m),
            Sequence(U, S.Zero, U + u, _U_m),
            Sequence(Q, S.Zero, Q + u**2, _Q_m),
        ),
        keeps=(Ge(p, 0), Ge(U, 0), Ge(Q, 0)),
        letters=(k, u),
        laws=(Ge(k, 0), Le(k, 1), Ge(u, 0), Ge(left, 0)),
        ends=(Eq(_p_m, 0),),
    )


@rule
def pay_in_cyclic_order(kernel: Kernel, steps: StepInduction, made: Span, batch: tuple[Expr, Expr]) -> Span:
    """U <= m + r and Q <= m + 2 r + r^2 for m steps in cyclic order, if each visit of a sample adds r = n/b.

    Step t takes the samples t b, ..., t b + b - 1 modulo n, b <= n. For sample i let x_j = i - t b modulo n,
    with t the j-th step. The batch contains i (k_j = 1) if x_j < b, and x_{j+1} = x_j - b + n k_j. If the
    debt is 0 at the end, U = r sum k_j = m + (x_m - x_0)/b <= m + r. Pay nothing before the first visit, and
    r - x_{j+1}/b at the first visit. This payment is in (0, 1], because n - b <= x_{j+1} < n, and leaves the
    debt p_{j+1} = x_{j+1}/b. Then pay 1 in each step, which keeps p = x/b >= 0. At the last visit pay the
    whole debt p + r, which is less than 1 + r because x < b. If the first visit is the last, pay r. So one
    payment is at most 1 + r, and all others are at most 1.
    """
    b, n = batch
    steps = payments(kernel, steps.index, steps.count, n / b)  # what it supposes, and nothing else, is met
    of_steps = {p, k, u, U, Q, _p_m, _U_m, _Q_m}
    meant = steps.supposed(Hypothesis("k of the b samples of a batch are replaced; (k, b) is", (k, b)))
    others = made.hypotheses - meant
    spoken = (*made.distances, *made.ends, *made.given, *(c for one in others for c in one.constants))
    if not (b.is_integer and n.is_integer):
        raise UnprovedError(f"Sizes of batches and of the data set must be integers, got {b} and {n}.")
    if not meant <= made.hypotheses or of_steps & set().union(*(one.free_symbols for one in spoken)):
        raise UnprovedError("Payments can be chosen only if they occur nowhere but in the profile.")
    r, m = n / b, steps.count
    most = {_U_m: m + r, _Q_m: m + 2 * r + r**2}
    within = kernel.under(*(Le(letter, bound) for letter, bound in most.items()), Ge(_U_m, 0), Ge(_Q_m, 0))
    less = within.weaken(made, profile=made.profile.subs(most))
    order = Hypothesis("step t takes b samples, from number t b on, modulo n; (b, n) is", (b, n))
    signs, given = (Gt(b, 0), Le(b, n)), kernel.given | made.given
    shown = apply(
        kernel, "cyclic", made.order, made.ends, made.distances, less.profile, signs, (), {*others, order}
    )
    return record(shown, premises=(less,), given=given, scope=made.scope, drawn=made.drawn)
