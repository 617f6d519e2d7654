"""The judgement behind every privacy theorem, with its hypotheses and premises.

For laws P, Q on a metric space let A^z be the set of points within z of A, and

    E^z_g(P || Q) = sup over compact A of P(A) - g Q(A^z).

`Span(order, s, t, z, z', f)` says: for every pair of runs that meets the hypotheses and all x, y at most z
apart, the laws K(x) and K'(y) of the states after steps s, ..., t - 1 of run 1 from x and of run 2 from y
satisfy, for every g > 0,

    E^{z'}_g(K(x) || K'(y)) <= f(g)    (order FIRST),    E^{z'}_g(K'(y) || K(x)) <= f(g)    (order SECOND).

The judgement holds in every dimension, for all adjacent data sets, losses of the class, common convex
constraint sets and values of the revealed random variables ``scope``. Kernels start at points; no law is
conditioned on a hidden state.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn, Self, TypeVar

from sympy import And, Basic, Expr, Function, Ge, I, Lt, Symbol, false, nan, oo, true, zoo
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.profiles import Order, Profile, put_values
from lastiterate.symbolic.kernel.sealed import UnprovedError as UnprovedError
from lastiterate.symbolic.kernel.sealed import Whichever, genuine
from lastiterate.symbolic.kernel.substitution import same


class FalseLineError(UnprovedError):
    """A side condition that is false at a point at which all given conditions hold."""


@contextmanager
def line(says: str) -> Iterator[None]:
    """Add a note to errors raised in the block."""
    try:
        yield
    except UnprovedError as error:
        if says:
            error.add_note(says)
        raise


Prover = Callable[[Boolean, frozenset[Boolean]], str]
"""A function that says in a few words how a condition follows from premises.

Raises:
    UnprovedError: the condition is not shown.
"""


@dataclass(frozen=True)
class Hypothesis:
    """An assumption about the runs: a sentence, its constants and laws, and its profiles ``bounds``.

    A ``symmetric`` hypothesis still holds if the runs are exchanged. A theorem that assumes a ``lemma`` is
    proved only if it lists the lemma as a premise. Values must not be substituted for the letters ``over``. For each
    index in ``every`` the sentence holds at every step of as many steps as a constant says, the first constants.
    """

    says: str
    constants: tuple[Basic, ...] = ()
    symmetric: bool = True
    lemma: bool = False
    over: tuple[Symbol, ...] = ()
    bounds: tuple[Profile, ...] = ()
    every: tuple[Symbol, ...] = ()

    @property
    def sentence(self) -> str:
        """The sentence with the steps at which it holds."""
        return "".join(f"at every step {one} of the next number of steps " for one in self.every) + self.says

    def __str__(self) -> str:
        named = f"{self.sentence} ({', '.join(map(str, self.constants))})" if self.constants else self.sentence
        return (
            f"{named}, so that the profile is at most {', '.join(map(str, self.bounds))}"
            if self.bounds
            else named
        )

    def at(self, values: Mapping[Symbol, Expr]) -> "Hypothesis":
        """The hypothesis with values for letters other than ``over``."""
        return replace(
            self, constants=put_values(self.constants, values), bounds=put_values(self.bounds, values)
        )


@dataclass(frozen=True)
class Law(Hypothesis):
    """A condition on letters of one step, at every step. Constants: number of steps, condition."""


@dataclass(frozen=True)
class End(Hypothesis):
    """A condition on the last values of sequences. The condition is the only constant."""


@dataclass(frozen=True)
class Meaning(Hypothesis):
    """The letter for the last of the values ``value``. Constants: first and next value, number of steps, letter."""

    value: Symbol | None = None

    @property
    def sentence(self) -> str:
        """The sentence, which begins with the letter that is read."""
        return Hypothesis(f"{self.value}, {self.says}", every=self.every).sentence


@dataclass(frozen=True)
class StepsBefore(Hypothesis):
    """The hypothesis of an induction, on the steps before."""


def of_event(says: str, constants: tuple[Basic, ...], parts: Sequence[Hypothesis], *over: Symbol) -> Hypothesis:
    """The hypothesis that all ``parts`` hold: one-sided if a part is one-sided, a lemma if a part is a lemma."""
    return Hypothesis(
        says,
        (*constants, *(constant for one in parts for constant in one.constants)),
        symmetric=all(one.symmetric for one in parts),
        lemma=any(one.lemma for one in parts),
        over=tuple(dict.fromkeys((*over, *(letter for one in parts for letter in one.over)))),
        bounds=tuple(bound for one in parts for bound in one.bounds),
    )


@dataclass(frozen=True)
class Variable:
    """A random variable of a run other than the noise, such as a batch, and the last step that it concerns.

    If it ``follows``, its law depends on the states up to that step; otherwise its law is always the same.
    """

    name: str
    step: Expr
    follows: bool = False


class Both(Function):  # type: ignore[misc]
    """Distances of the present and of the previous points of two runs, as the distance of two states with both points.

    The set A^z is then the set of states of which both points are within these distances of those of a state in A.
    """

    nargs = 2


def each_distance(condition: Boolean) -> Boolean:
    """A condition on pairs of distances, for each of the two; a pair is at least 0, or is compared with a pair."""
    sides = [condition.lhs, condition.rhs] if isinstance(condition, Relational) else [condition]
    if isinstance(condition, Ge) and sides[1] == 0:
        sides[1] = Both(0, 0)
    if any(not isinstance(side, Both) or any(part.has(Both) for part in side.args) for side in sides):
        raise UnprovedError(f"A pair of distances can be compared only with a pair, got {condition}.")
    return And(*(condition.func(*parts) for parts in zip(*(side.args for side in sides), strict=True)))


@dataclass(frozen=True)
class Shown:
    """A side condition, the conditions from which it was shown, and the reason."""

    condition: Boolean
    given: frozenset[Boolean]
    how: str


@dataclass(frozen=True)
class Ground:
    """A prover of side conditions, and the conditions on numbers that all judgements assume."""

    prover: Prover
    given: frozenset[Boolean] = frozenset()

    def under(self, *conditions: Boolean) -> Self:
        """The same rules under additional conditions."""
        return replace(self, given=self.given | set(conditions) - {true})

    def how(self, condition: Boolean, given: frozenset[Boolean]) -> str:
        """Say how a side condition follows from the given conditions."""
        return show(self, condition, given).how


def show(ground: Ground, condition: Boolean, given: frozenset[Boolean]) -> Shown:
    """Prove a side condition from given conditions, which must not contain letters that stand for any value."""
    if not isinstance(ground, Ground):
        raise UnprovedError(f"A kernel or a calculus is needed, got {type(ground).__name__}.")
    condition = each_distance(condition) if condition.has(Both) else condition
    if condition == false:
        raise FalseLineError("A side condition is false.")
    if any(one.atoms(Whichever) for one in given):
        raise UnprovedError("A given condition may not contain a letter that stands for an arbitrary value.")
    return Shown(condition, given, "given" if condition in {true, *given} else ground.prover(condition, given))


@dataclass(frozen=True, init=False, eq=False, slots=True, weakref_slot=True)
class Judgement:
    """The conclusion of a rule with its derivation. Rules and checks refuse a draft that no rule returned.

    ``given`` are conditions on numbers, ``premises`` the judgements used by the rule, ``shown`` the side
    conditions, and ``cites`` lemmas and mathematics that the rule uses.
    """

    given: frozenset[Boolean]
    rule: str
    premises: tuple[Self, ...]
    shown: tuple[Shown, ...]
    cites: tuple[str, ...]

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("A judgement cannot be copied or pickled: only a rule can make one.")

    def lines(self) -> Iterator[Self]:
        """Every judgement of the derivation once, premises first."""
        seen: set[int] = set()
        stack: list[tuple[Self, bool]] = [(self, False)]
        while stack:
            made, ready = stack.pop()
            if ready:
                yield made
            elif id(made) not in seen:
                seen.add(id(made))
                stack.append((made, True))
                stack += [(premise, False) for premise in reversed(made.premises)]

    def cited(self) -> tuple[str, ...]:
        """The lemmas and the mathematics that the derivation uses."""
        return tuple(dict.fromkeys(one for made in self.lines() for one in made.cites))


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Span(Judgement):
    """A judgement about two runs: s = ``start``, t = ``end``, z = ``near``, z' = ``far``, f = ``profile``.

    Variables in ``scope`` are revealed. Variables in ``drawn`` were averaged over, and no other part of a
    chain may use them.
    """

    order: Order
    start: Expr
    end: Expr
    near: Expr
    far: Expr
    profile: Profile
    hypotheses: frozenset[Hypothesis]
    scope: frozenset[Variable]
    drawn: frozenset[Variable]

    @property
    def ends(self) -> tuple[Expr, Expr]:
        """The first step and the step after the last."""
        return self.start, self.end

    @property
    def distances(self) -> tuple[Expr, Expr]:
        """The distances before and after the steps."""
        return self.near, self.far

    def __str__(self) -> str:
        return f"{self.order}, steps {self.start}..{self.end}, {self.near} -> {self.far}: {self.profile}"


_Judgement = TypeVar("_Judgement", bound=Judgement)


def record(of: _Judgement, **changes: Any) -> _Judgement:
    """A draft with these attributes, which is a judgement once a rule returns it (`sealed.rule`)."""
    made = object.__new__(type(of))
    for one in fields(of):
        object.__setattr__(made, one.name, changes[one.name] if one.name in changes else getattr(of, one.name))
    return made


def infer(
    ground: Ground,
    draft: _Judgement,
    rule: str,
    where: str,
    premises: tuple[_Judgement, ...],
    conditions: Iterable[Boolean],
    *,
    supposed: Iterable[Boolean] = (),
    discharged: Iterable[Boolean] = (),
    within: Iterable[Boolean] = (),
    inner: Iterable[Boolean] = (),
    cites: tuple[str, ...] = (),
    **own: Any,
) -> _Judgement:
    """Draw the conclusion of a rule after showing its side conditions; the rule returns this draft.

    ``draft`` is an empty judgement, and ``where`` is a note for errors. The conclusion assumes ``supposed``
    and the assumptions of the premises, except ``discharged``. The proofs of ``inner`` can also use
    ``within``, conditions on letters of the rule.
    """
    if not isinstance(ground, Ground):
        raise UnprovedError(f"A kernel or a calculus is needed, got {type(ground).__name__}.")
    given = ground.given.union(supposed, *(premise.given for premise in premises)) - set(discharged)
    with line(where):
        shown = [show(ground, one, given) for one in dict.fromkeys(conditions) if one != true]
        shown += [show(ground, one, given.union(within)) for one in inner if one != true]
    return record(draft, given=given, rule=rule, premises=premises, shown=tuple(shown), cites=cites, **own)


def apply(
    kernel: Ground,
    rule: str,
    order: Order,
    ends: tuple[Expr, Expr],
    distances: tuple[Expr, Expr],
    profile: Profile,
    conditions: Iterable[Boolean],
    premises: tuple[Span, ...] = (),
    hypotheses: Iterable[Hypothesis] = (),
    **changes: Any,
) -> Span:
    """Draw a judgement about two runs by `infer`, with the hypotheses and variables of its premises."""
    said = (*ends, *distances)
    if any(one.has(oo, -oo, nan, zoo, I) or not all(part.is_real for part in one.free_symbols) for one in said):
        raise UnprovedError(f"Steps and distances must be finite real numbers, got {said}.")
    compared = (*distances, *(one for premise in premises for one in premise.distances))
    if len({isinstance(one, Both) for one in compared}) > 1:
        raise UnprovedError(f"States with a previous point need pairs of distances throughout, got {compared}.")
    if profile.order not in {None, order}:
        raise UnprovedError(f"A judgement of order {order} needs a profile of that order, got {profile.order}.")
    own = {
        "hypotheses": frozenset(hypotheses).union(*(premise.hypotheses for premise in premises)),
        "scope": frozenset[Variable]().union(*(premise.scope for premise in premises)),
        "drawn": frozenset[Variable]().union(*(premise.drawn for premise in premises)),
    }
    return infer(
        kernel, object.__new__(Span), rule, f"rule {rule}, step {ends[0]}", premises, conditions, order=order,
        start=ends[0], end=ends[1], near=distances[0], far=distances[1], profile=profile, **own | changes,
    )  # fmt: skip


def alike(one: Span, other: Span) -> list[Boolean]:
    """Conditions under which two judgements have the same steps, order and distances."""
    if one.order is not other.order:
        raise UnprovedError(f"Judgements of the same order are needed, got {one.order} and {other.order}.")
    pairs = zip(one.ends + one.distances, other.ends + other.distances, strict=True)
    return [condition for pair in pairs for condition in same(*pair)]


def separate(one: Span, *others: Span) -> Iterator[Boolean]:
    """Conditions under which later parts use no variable that ``one`` averages over, nor the other way round.

    What a part averages over belongs to its own steps (`Kernel.mean`), so that only variables in ``scope`` could be
    shared. Variables of one name differ if their steps do.
    """
    for other in others:
        drawn, later = ({each.name for each in part.drawn} for part in (one, other))
        yield from (Ge(each.step, one.end) for each in other.scope if each.name in drawn)
        yield from (Lt(each.step, other.start) for each in one.scope if each.name in later)


@dataclass(frozen=True)
class Guarantee:
    """Bounds E_g <= f on the released state in both orders, run 1 || run 2 and run 2 || run 1."""

    first: Span
    second: Span

    def __post_init__(self) -> None:
        for span, order in ((self.first, Order.FIRST), (self.second, Order.SECOND)):
            if not genuine(span):
                raise UnprovedError(
                    f"A guarantee needs judgements made by the rules, got {type(span).__name__}."
                )
            if span.order is not order or span.near != 0 or span.far != 0 or span.start != 0 or span.scope:
                raise UnprovedError(
                    f"A guarantee needs {order} from step 0, zero distances and nothing revealed, got {span}."
                )
        if self.first.end != self.second.end:
            raise UnprovedError(
                f"Both orders need the same last step, got {self.first.end} and {self.second.end}."
            )
