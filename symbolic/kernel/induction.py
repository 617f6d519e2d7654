"""Induction over the steps of a run: one generic step, and sequences beside it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, final

from sympy import Basic, Eq, Expr, Ge, Gt, Le, S, Symbol, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.composition import counts
from lastiterate.symbolic.kernel.judgement import (
    End,
    Hypothesis,
    Law,
    Meaning,
    Shown,
    Span,
    UnprovedError,
    Variable,
    record,
    show,
)
from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import genuine, rule
from lastiterate.symbolic.kernel.sequences import Sequence as Sequence
from lastiterate.symbolic.kernel.sequences import own_letters, steps_before
from lastiterate.symbolic.kernel.substitution import whichever
from lastiterate.symbolic.kernel.term import put


@final
@dataclass(frozen=True, eq=False)
class Induction:
    """Statements for every 0 <= j <= m about a run and the sequences beside it.

    Attributes:
        kernel: what is supposed of the numbers.
        index, count: j and m.
        sequences: the sequences.
        keeps: conditions that hold at 0 and pass from j to j + 1; shown when the induction is made.
        letters: further numbers of step j, of which the laws are all that is known.
        laws: what is supposed of the values and the letters at every 0 <= j < m.
        ends: what is supposed of the values at m.
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

    def __init_subclass__(cls, **_: Any) -> NoReturn:
        raise TypeError("The rules of an induction are not to be changed; it has no subclass.")

    @rule
    def __post_init__(self) -> Any:
        own_letters(self.index, self.sequences, self.letters, (*self.keeps, *self.laws))
        counts(self.index, self.count)
        given = self.kernel.given
        self._show(Ge(self.count, 0), given)
        closed = {one.value: one.closed for one in self.sequences if one.closed is not None}
        for one in self.sequences:
            if one.closed is not None:
                self._same(one.closed.subs(self.index, 0), one.first, given)
                after = one.after.subs(closed, simultaneous=True)
                self._same(one.closed.subs(self.index, self.index + 1), after, given | {Ge(self.index, 0)})
        here = given.union(self.keeps, self.laws, (Ge(self.index, 0), Le(self.index, self.count - 1))) - {true}
        for condition in self.keeps:
            self._show(put(condition, self._first), given)
            self._show(put(condition, self._after), here)
        self._know(here | self._kept)
        return self

    def falls(self, u: Expr, w: Expr) -> None:
        """u_m w_j <= u_j w_m for every j <= m, where u_{j+1} w_j <= u_j w_{j+1}, w >= 0, and w > 0 from j = 1 on.

        By induction over m from m = j: u_{m+1} w_j = (u_{m+1} w_m) w_j / w_m <= u_m w_{m+1} w_j / w_m <= u_j w_{m+1}.
        """
        self._own()
        self._of_values(u, w)
        for condition in (
            Ge(w, 0),
            Gt(put(w, self._after), 0),
            Le(put(u, self._after) * w, u * put(w, self._after)),
        ):
            self._show(condition, self._known)
        fact = Le(put(u, self._last) * w, u * put(w, self._last))
        self._know({fact, put(fact, self._after)})

    def returns(self, condition: Boolean) -> None:
        """A condition that is given at m and passes back from j + 1 to j holds for every 1 <= j <= m."""
        self._own()
        self._of_values(condition)
        self._show(put(condition, self._last), self.kernel.given | self._kept)
        self._show(condition, self._known | {put(condition, self._after), Ge(self.index, 1)})
        self._know({put(condition, self._after)})

    @rule
    def span(
        self,
        start: Expr,
        distance: Expr,
        profile: Profile,
        step: Callable[[Kernel, Expr, Expr], Span],
        far: Expr | None = None,
        length: Expr = S.One,
    ) -> Span:
        """z(0) -> z(m) at f(m) in m steps, if step s + j goes z(j) -> z(j + 1) at J with f(j) x J <= f(j + 1).

        ``far`` is a distance that is shown to be at least z(m); ``length`` the steps of the run that make one of these.

        By induction over m: nothing is done in no steps (`identity`), and `chain` adds the step. ``step`` makes the
        judgement for one j from the kernel that knows what holds there.
        """
        self._own()
        inner = self.kernel.under(*self._known)
        one = step(inner, distance, put(distance, self._after))
        if any(self.index in variable.step.free_symbols for variable in one.scope) or any(
            self.index not in variable.step.free_symbols for variable in one.drawn
        ):
            raise UnprovedError(
                "What is drawn in one step of an induction is averaged over there, and what is not, not."
            )
        ends = (start, start + length * self.index)
        first = put(distance, self._first)
        begin = self.kernel.weaken(self.kernel.identity(one.order, start, first), profile=put(profile, self._first))
        before = self._before(inner, one.order, ends, distance, profile, one.scope)
        self._same(one.end, start + length * (self.index + 1), inner.given)
        joined = inner.weaken(
            inner.chain(before, one), far=put(distance, self._after), profile=put(profile, self._after)
        )
        last = put(distance, self._last)
        if far is not None:
            self._show(Ge(far, last), self.kernel.given.union(self._kept, self.ends))
        distances = (first, last if far is None else far)
        return self._induct(one, inner, (start, start + length * self.count), distances, profile, (begin, joined))

    @rule
    def recur(
        self, begin: Span, profile: Profile, extend: Callable[[Kernel, Span], Span], length: Expr = S.One
    ) -> Span:
        """0 -> 0 at f(m), if ``begin`` has f(0), and from f(j) before ``length`` more steps there follows f(j + 1).

        By induction over m. ``extend`` makes the judgement with the steps number j from the one before them.
        """
        self._own()
        if begin.scope or begin.drawn or not begin.given <= self.kernel.given:
            raise UnprovedError("An induction begins with no variable, and with no more than its kernel supposes.")
        inner, still = self.kernel.under(*self._known), (S.Zero, S.Zero)
        first = self.kernel.weaken(begin, S.Zero, S.Zero, put(profile, self._first))
        ends = (begin.start, begin.end + length * self.index)
        supposed = self._before(inner, begin.order, ends, S.Zero, profile)
        one = extend(inner, supposed)
        if any(
            supposed.hypotheses & made.hypotheses and not made.premises and made is not supposed for made in one.lines()
        ):
            raise UnprovedError("An induction supposes one judgement about the steps before.")
        if one.scope or any(self.index not in variable.step.free_symbols for variable in one.drawn):
            raise UnprovedError("What is drawn in the steps of an induction is averaged over there.")
        if one.order is not begin.order:
            raise UnprovedError(f"An induction needs one order, got {begin.order} and {one.order}.")
        self._same(one.start, begin.start, inner.given)
        self._same(one.end, begin.end + length * (self.index + 1), inner.given)
        after = inner.weaken(one, S.Zero, S.Zero, put(profile, self._after))
        own = record(one, hypotheses=one.hypotheses - supposed.hypotheses | begin.hypotheses)
        ends = (begin.start, begin.end + length * self.count)
        return self._induct(own, inner, ends, still, profile, (first, after))

    def _before(
        self,
        inner: Kernel,
        order: Order,
        ends: tuple[Expr, Expr],
        distance: Expr,
        profile: Profile,
        revealed: Iterable[Variable] = (),
    ) -> Span:
        """The judgement about the steps before, which this induction supposes and no other."""
        return steps_before(inner, order, ends, distance, profile, self.index, frozenset(revealed))

    def _induct(
        self,
        one: Span,
        inner: Kernel,
        ends: tuple[Expr, Expr],
        distances: tuple[Expr, Expr],
        profile: Profile,
        premises: tuple[Span, ...],
    ) -> Span:
        """The statement about all steps that follows from ``one``, made for every j under what holds there."""
        hypotheses = self.supposed(*one.hypotheses)
        given = self.kernel.given | self._kept | self._of_all | one.given - inner.given
        if set(self._over) & set().union(*(one.free_symbols for one in (*given, *ends))):
            raise UnprovedError("What an induction supposes of the numbers may not speak of its index.")
        return record(
            None,
            order=one.order, start=ends[0], end=ends[1], near=distances[0], far=distances[1],
            profile=put(profile, self._last), given=frozenset(given - {true}), hypotheses=hypotheses, scope=one.scope,
            drawn=one.drawn, rule="induct", premises=premises, shown=tuple(self.shown), cites=(),
        )  # fmt: skip

    @rule
    def close(self, span: Span) -> Span:
        """The closed forms for the letters of the last values, which obey what the sequences keep."""
        self._own()
        if not (self.supposed() <= span.hypotheses and self.kernel.given <= span.given):
            raise UnprovedError("What is closed was not reached by this induction.")
        known = [(one, one.closed) for one in self.sequences if one.closed is not None]
        closed = {one.last: put(form, {self.index: self.count}) for one, form in known}
        here = closed | {one.value: form for one, form in known}
        meant = span.hypotheses - {self._meant(one) for one, _ in known}
        given = frozenset(put(one, closed) for one in span.given - self._kept) - {true}
        return record(
            span,
            rule="close", premises=(span,), shown=(), cites=(),
            near=put(span.near, closed), far=put(span.far, closed),
            profile=put(span.profile, closed), given=given,
            hypotheses=frozenset(one.at(here) for one in meant),
        )  # fmt: skip

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
        """The letters of one step, of which the hypotheses speak for all of them."""
        return (self.index, *(one.value for one in self.sequences), *self.letters)

    @property
    def _of_all(self) -> frozenset[Boolean]:
        """The laws that name no letter of one step: conditions on the numbers, like others that are given."""
        return frozenset(law for law in self.laws if not set(self._over) & law.free_symbols)

    @property
    def _kept(self) -> frozenset[Boolean]:
        """The conditions that the sequences keep, at m."""
        return frozenset(put(condition, self._last) for condition in self.keeps)

    def supposed(self, *of_step: Hypothesis) -> frozenset[Hypothesis]:
        """Laws, ends and sequences, and what step j supposes, said of all steps."""
        laws = (self._always(Law("this holds", (law,))) for law in self.laws if law not in self._of_all)
        ends = (End("this holds", (end,)) for end in self.ends if end != true)
        return frozenset((*laws, *ends, *map(self._meant, self.sequences), *map(self._always, of_step)))

    def _meant(self, one: Sequence) -> Hypothesis:
        """Value that the letter for u_m stands for."""
        goes = f"which begins at the first and goes at every step {self.index} to the second"
        says = f"{one.value}, {goes}, is after so many steps the last"
        return Meaning(says, (one.first, one.after, self.count, one.last), over=self._over)

    def _always(self, one: Hypothesis) -> Hypothesis:
        """A hypothesis that speaks of step j, said of all steps."""
        if one.at({letter: whichever(letter) for letter in self._over}) == one:
            return one
        return replace(
            one,
            says=f"at every step {self.index} of the next number of steps {one.says}",
            constants=(self.count, *one.constants),
            over=tuple(dict.fromkeys((*one.over, *self._over))),
        )

    def _of_values(self, *said: Basic) -> None:
        """Raise where a letter of one step is carried to other steps, where it is another number."""
        if set(self.letters) & set().union(*(one.free_symbols for one in said)):
            raise UnprovedError(f"What holds over many steps names values of sequences alone, got {said}.")

    def _own(self) -> None:
        """Raise an error for a copy, and for what was put together by hand."""
        if not genuine(self) or type(self.kernel) is not Kernel:
            raise UnprovedError("An induction needs to be made as one, of a kernel: what it keeps was not shown.")

    def _know(self, facts: Iterable[Boolean]) -> None:
        object.__setattr__(self, "_known", self._known.union(facts))

    def _same(self, one: Expr, other: Expr, given: frozenset[Boolean]) -> None:
        if one != other:
            self._show(Eq(one, other, evaluate=False), given)

    def _show(self, condition: Boolean, given: frozenset[Boolean]) -> None:
        if condition != true:
            object.__setattr__(self, "shown", (*self.shown, show(self.kernel, condition, given)))
