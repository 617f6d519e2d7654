"""The judgement that every privacy theorem is made of, and what it may rest on.

For laws P, Q on a metric space let A^z be the set of points within z of A, and

    E^z_g(P || Q) = sup over compact A of P(A) - g Q(A^z).

`Span(order, s, t, z, z', f)` says: for every pair of runs that meets the hypotheses and all x, y at most z apart, the
laws K(x) and K'(y) of the states after steps s, ..., t - 1 of run 1 from x and of run 2 from y obey, for every g > 0,

    E^{z'}_g(K(x) || K'(y)) <= f(g)      (order FIRST),      E^{z'}_g(K'(y) || K(x)) <= f(g)      (order SECOND).

It holds in every dimension, for every pair of adjacent data sets, every loss of the class and every common convex
constraint set, and for every value of the random variables in ``scope``, which are revealed. A supremum over sets has
no hidden state: statements are about kernels at points, and nothing is conditioned or selected.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from sympy import Basic, Expr, Symbol, false, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.sealed import UnprovedError as UnprovedError
from lastiterate.symbolic.kernel.sealed import genuine
from lastiterate.symbolic.kernel.substitution import Whichever
from lastiterate.symbolic.kernel.term import put


class FalseLineError(UnprovedError):
    """A side condition that is false at a point where all holds that is given: the line does not follow."""


@contextmanager
def line(says: str) -> Iterator[None]:
    """A note in an error that arises here: the rule that is applied, and where."""
    try:
        yield
    except UnprovedError as error:
        if says:
            error.add_note(says)
        raise


Prover = Callable[[Boolean, frozenset[Boolean]], str]
"""How a condition follows from premises, in a few words.

Raises:
    UnprovedError: it is not shown.
"""


@dataclass(frozen=True)
class Hypothesis:
    """A supposition about the runs, beside conditions on numbers: a sentence, and the constants and laws that it names.

    ``symmetric`` says that it still holds when the two runs exchange their names, ``lemma`` that a proof of it is owed:
    a theorem that does not name it among its premises is not proved. It ranges over the values of the letters ``over``,
    for which no value may be put. ``bounds`` are the profiles that it speaks of.
    """

    says: str
    constants: tuple[Basic, ...] = ()
    symmetric: bool = True
    lemma: bool = False
    over: tuple[Symbol, ...] = ()
    bounds: tuple[Profile, ...] = ()

    def __str__(self) -> str:
        """The sentence, its constants in brackets, and the profiles that are supposed, not derived."""
        named = f"{self.says} ({', '.join(map(str, self.constants))})" if self.constants else self.says
        return f"{named}, so that the profile is at most {', '.join(map(str, self.bounds))}" if self.bounds else named

    def at(self, values: Mapping[Symbol, Expr]) -> "Hypothesis":
        """The same at values of its letters, of which none is one that it ranges over."""
        return replace(self, constants=put(self.constants, values), bounds=put(self.bounds, values))


@dataclass(frozen=True)
class Law(Hypothesis):
    """A condition on letters of one step, the last constant, at every step; the first is the number of steps."""


@dataclass(frozen=True)
class End(Hypothesis):
    """A condition on the last values of sequences, the constant."""


@dataclass(frozen=True)
class Meaning(Hypothesis):
    """The value that a letter stands for: of a sequence, its first value, the next one, their number, its last."""


def of_event(says: str, constants: tuple[Basic, ...], parts: Sequence[Hypothesis], *over: Symbol) -> Hypothesis:
    """Name the event that all of some hypotheses hold: it is no less one-sided or owed than they are."""
    return Hypothesis(
        says,
        (*constants, *(constant for one in parts for constant in one.constants)),
        symmetric=all(one.symmetric for one in parts),
        lemma=any(one.lemma for one in parts),
        over=tuple(dict.fromkeys((*over, *(letter for one in parts for letter in one.over)))),
        bounds=tuple(bound for one in parts for bound in one.bounds),
    )


STEPS_BEFORE: Final = "the steps before"
"""What an induction supposes."""


@dataclass(frozen=True)
class Variable:
    """A random variable of a run besides its noise, such as the batch of a step.

    Attributes:
        name: in words.
        step: the step that it belongs to, the last one where it belongs to several.
        follows: its law depends on the states up to that step; else it is independent of them, of one law in both runs.
    """

    name: str
    step: Expr
    follows: bool = False


@dataclass(frozen=True)
class Shown:
    """A side condition, the premises that it was shown from, and how."""

    condition: Boolean
    given: frozenset[Boolean]
    how: str


@dataclass(frozen=True)
class Ground:
    """The ground that rules stand on.

    Attributes:
        prover: shows side conditions: an engine for symbols, ball arithmetic for numbers.
        given: conditions on the numbers that all judgements made here suppose.
    """

    prover: Prover
    given: frozenset[Boolean] = frozenset()

    def __init_subclass__(cls, **_: Any) -> None:
        if cls.__module__ not in _OF_RULES:
            raise TypeError("The rules are not to be changed; a kernel or a calculus has no subclass.")

    def under(self, *conditions: Boolean) -> Self:
        """The same rules, supposing these conditions, too."""
        return replace(self, given=self.given | set(conditions) - {true})

    def how(self, condition: Boolean, given: frozenset[Boolean]) -> str:
        """Show a side condition from what is given, and say how.

        Raises:
            UnprovedError: it is not shown.
        """
        return show(self, condition, given).how


_OF_RULES: Final = {"lastiterate.symbolic.kernel.rules"} | {
    f"lastiterate.symbolic.integrals.{name}" for name in ("judgement", "rules", "laws", "couplings")
}


def show(ground: Ground, condition: Boolean, given: frozenset[Boolean]) -> Shown:
    """Show a side condition from what is given.

    Raises:
        UnprovedError: it is not shown, or something is given of a letter that stands for any value.
    """
    if not isinstance(ground, Ground):
        raise UnprovedError(f"A kernel or a calculus is needed, got {type(ground).__name__}.")
    if condition == false:
        raise FalseLineError("A side condition is false.")
    if any(one.atoms(Whichever) for one in given):
        raise UnprovedError("Nothing may be given of a letter that stands for any value.")
    return Shown(condition, given, "given" if condition in given else ground.prover(condition, given))


@dataclass(frozen=True, init=False, eq=False, slots=True, weakref_slot=True)
class Span:
    """A judgement with its derivation; what no rule returned is a draft, which every rule and every check refuses.

    Attributes:
        order: which run's law is the numerator.
        start, end: the steps s, ..., t - 1 that it spans.
        near, far: the distances z before and z' after them.
        profile: f.
        given: conditions on the numbers under which it holds.
        hypotheses: what it supposes of the runs.
        scope: the random variables that are revealed.
        drawn: those that were averaged over, which no other part of a chain may share.
        rule: the rule that made it.
        premises: the judgements that the rule was applied to.
        shown: the side conditions of the rule.
        cites: the lemmas and the mathematics that the rule itself rests on.
    """

    order: Order
    start: Expr
    end: Expr
    near: Expr
    far: Expr
    profile: Profile
    given: frozenset[Boolean]
    hypotheses: frozenset[Hypothesis]
    scope: frozenset[Variable]
    drawn: frozenset[Variable]
    rule: str
    premises: tuple["Span", ...]
    shown: tuple[Shown, ...]
    cites: tuple[str, ...]

    def lines(self) -> Iterator["Span"]:
        """Every judgement of the derivation, each after its premises and once."""
        seen: set[int] = set()
        stack: list[tuple[Span, bool]] = [(self, False)]
        while stack:
            span, ready = stack.pop()
            if ready:
                yield span
            elif id(span) not in seen:
                seen.add(id(span))
                stack.append((span, True))
                stack += [(premise, False) for premise in reversed(span.premises)]

    def cited(self) -> tuple[str, ...]:
        """The lemmas and the mathematics that the derivation rests on, each once."""
        return tuple(dict.fromkeys(one for span in self.lines() for one in span.cites))

    def __str__(self) -> str:
        """The judgement in one line."""
        return f"{self.order}, steps {self.start}..{self.end}, {self.near} -> {self.far}: {self.profile}"


def record(span: Span | None, **changes: Any) -> Span:
    """A draft with these attributes: a judgement only once a rule returns it, see `sealed.rule`."""
    made = object.__new__(Span)
    for name in Span.__slots__:
        if name != "__weakref__":
            object.__setattr__(made, name, changes[name] if name in changes else getattr(span, name))
    return made


@dataclass(frozen=True)
class Guarantee:
    """Both orders of the released state: E_g <= f for run 1 || run 2 and for run 2 || run 1."""

    first: Span
    second: Span

    def __post_init__(self) -> None:
        for span, order in ((self.first, Order.FIRST), (self.second, Order.SECOND)):
            if not genuine(span):
                raise UnprovedError(f"A guarantee needs judgements that the rules made, got {type(span).__name__}.")
            if span.order is not order or span.near != 0 or span.far != 0 or span.start != 0 or span.scope:
                raise UnprovedError(f"A guarantee needs a judgement from step 0, from 0 to 0, {order}, got {span}.")
        if self.first.end != self.second.end:
            raise UnprovedError(f"Both orders need the same last step, got {self.first.end} and {self.second.end}.")
