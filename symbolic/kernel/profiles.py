"""Profiles as terms: upper bounds on the hockey-stick divergence E_g(P || Q) = sup_A P(A) - g Q(A), g >= 0.

A profile f is convex and nonincreasing in g, f(0) = 1 and f(g) >= max(1 - g, 0). Then

    f(g) = f(oo) + integral of (y - g)_+ dm(y),

with m the second derivative of f: the law of y = dP/dQ under Q. Adaptive composition multiplies ratios:

    (f x J)(g) = J(oo) + f(oo) (1 - J(oo)) + double integral of (y y' - g)_+ dm_f(y) dm_J(y').

Composition is commutative, associative and monotone in f and J, and its neutral element is max(1 - g, 0).

Letters   g is the factor of the second law, and mu^2 (``square``) is |distance between two means|^2 / variance.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from string import Formatter
from typing import Any, ClassVar, Final

from sympy import Integral, Max, Sum, oo, sqrt, true
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core import Add, Basic, Eq, Expr, Function, Ge, Gt, Integer, Le, S, Symbol, Tuple
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.formulas import divergences as formulas
from lastiterate.symbolic.formulas.contraction import damped
from lastiterate.symbolic.kernel.sealed import UnprovedError
from lastiterate.symbolic.kernel.substitution import numbers, same, whichever


class Order(StrEnum):
    """The numerator P of E_g(P || Q): the law of run 1 or of run 2."""

    FIRST = "run 1 || run 2"
    SECOND = "run 2 || run 1"

    @property
    def other(self) -> "Order":
        """The order with the runs exchanged."""
        return Order.SECOND if self is Order.FIRST else Order.FIRST


class Profile:
    """A profile as a term. ``order`` is the only order that it bounds, or None if it bounds both."""

    order: Order | None
    text: ClassVar[str]
    """The name of the profile, with its attributes in braces."""

    def named(self) -> Iterator[str | Expr]:
        """The name of the profile, as strings and expressions."""
        for text, part, *_ in Formatter().parse(self.text):
            yield text
            if part is not None:
                own = getattr(self, part)
                yield from own.named() if isinstance(own, Profile) else (own,)

    def __str__(self) -> str:
        return "".join(map(str, self.named()))

    def subs(self, values: Mapping[Symbol, Expr]) -> "Profile":
        """Substitute values for symbols simultaneously; the index of the term stays."""
        own: Any = self  # every profile is a dataclass
        parts = {one.name: getattr(own, one.name) for one in fields(own)}
        index, inside = parts.pop("index", None), dict(values)
        outside = {name: put_values(parts.pop(name), values) for name in {"count", "base"} & parts.keys()}
        if index is not None:
            inside.pop(index, None)
            clash = any(index in value.free_symbols for value in inside.values())
            outside["index"] = new_letter(index, *inside.values(), _said(self)) if clash else index
            inside |= {index: outside["index"]} if clash else {}
        made: Profile = replace(
            own, **outside, **{name: put_values(part, inside) for name, part in parts.items()}
        )
        return made

    def at(self, g: Expr) -> Expr:
        """The value at a factor g > 0."""
        raise NotImplementedError


def new_letter(letter: Symbol, *said: Basic) -> Symbol:
    """The letter, with primes added until no letter of the terms has its name."""
    taken = {one.name for part in said for one in part.atoms(Symbol)}
    while letter.name in taken:
        letter = Symbol(f"{letter.name}'", **letter.assumptions0)
    return letter


def _said(thing: Any) -> Tuple:
    if isinstance(thing, Profile):
        own: Any = thing
        return Tuple(*(_said(getattr(own, one.name)) for one in fields(own)))
    if isinstance(thing, tuple):
        return Tuple(*map(_said, thing))
    return Tuple(thing) if isinstance(thing, Basic) else Tuple()


def put_values(thing: Any, values: Mapping[Symbol, Expr]) -> Any:
    """Substitute values simultaneously in a term, profile or tuple; bound letters stay and capture no other letters."""
    if isinstance(thing, tuple):
        return tuple(put_values(one, values) for one in thing)
    if isinstance(thing, Profile):
        return thing.subs(values)
    if not isinstance(thing, Basic):
        return thing
    if not thing.has(ExprWithLimits) and thing.atoms(Symbol) == thing.free_symbols:
        return thing.xreplace(values)
    if isinstance(thing, ExprWithLimits):
        return _put_inside(thing, values)
    bound = thing.atoms(Symbol) - thing.free_symbols
    if not thing.has(ExprWithLimits) and bound & set(values).union(
        *(one.free_symbols for one in values.values())
    ):
        raise UnprovedError(f"Values can neither replace nor contain letters that {thing} binds, got {values}.")
    return thing.func(*(put_values(one, values) for one in thing.args)) if thing.args else thing


def _put_inside(thing: ExprWithLimits, values: Mapping[Symbol, Expr]) -> Expr:
    named = set[Basic]().union(thing.function.free_symbols, *(one.free_symbols for one in thing.limits[:-1]))
    limits, inside = list[Tuple](), dict(values)
    for letter, *ends in reversed([limit.args for limit in thing.limits]):  # the last one is outermost
        ends = [put_values(end, inside) for end in ends]
        inside.pop(letter, None)
        clash = any(letter in value.free_symbols for one, value in inside.items() if one in named)
        fresh = new_letter(letter, thing, *inside.values()) if clash else letter
        if fresh != letter:
            inside[letter] = fresh
        limits.insert(0, Tuple(fresh, *ends))
    made: Expr = thing.func(put_values(thing.function, inside), *limits)
    return made


@dataclass(frozen=True)
class Equal(Profile):
    """max(1 - g, 0), the profile of two equal laws."""

    text = "the same law"
    order = None

    def at(self, g: Expr) -> Expr:
        return Max(1 - g, 0)


@dataclass(frozen=True)
class Gauss(Profile):
    """E_g(N(mu, 1) || N(0, 1)), the same in both orders."""

    text = "mu-GDP, mu^2 = {square}"
    order = None
    square: Expr

    def at(self, g: Expr) -> Expr:
        mu = sqrt(self.square)
        return Max(1 - g, 0) if self.square == 0 else formulas.hockey_stick(g, mu)


@dataclass(frozen=True)
class PoissonStep(Profile):
    """A step whose batch has an extra sample of run 1 with probability q; the sample moves the mean by mu.

    In order FIRST, with the sample in P, the profile is q theta((g - 1 + q)/q) for g > 1 - q and 1 - g for
    smaller g, with theta the profile `Gauss`. In order SECOND, it is E_g(Q || P) = 1 - g + g E_{1/g}(P || Q).
    Without an order the profile is the maximum of both.
    """

    text = "a sample added by a coin of probability {rate}, mu^2 = {square}"
    rate: Expr
    square: Expr
    order: Order | None = None

    def _with_the_sample(self, g: Expr) -> Expr:
        return formulas.sampled_hockey_stick(g, self.rate, Gauss(self.square).at)

    def at(self, g: Expr) -> Expr:
        both = {
            Order.FIRST: self._with_the_sample(g),
            Order.SECOND: formulas.exchanged(g, self._with_the_sample),
        }
        return Max(*both.values()) if self.order is None else both[self.order]


@dataclass(frozen=True)
class SwapStep(Profile):
    """A step in which a sample is replaced with probability q, with means at most mu apart.

    The profile is f(g) = q theta(1 + (g - 1)/q) for g >= 1, and 1 - g + g f(1/g) for g < 1.
    """

    text = "a sample replaced by a coin of probability {rate}, mu^2 = {square}"
    order = None
    rate: Expr
    square: Expr

    def at(self, g: Expr) -> Expr:
        return formulas.replaced_hockey_stick(g, self.rate, Gauss(self.square).at)


class _OfParts(Profile):
    """A profile with the order of its parts, or without an order if no part has one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", common(_inside(self)))


@dataclass(frozen=True)
class Composed(_OfParts):
    """The composition of profiles that have one order."""

    parts: tuple[Profile, ...]

    def named(self) -> Iterator[str | Expr]:
        for i, part in enumerate(self.parts):
            yield from (" and " * (i > 0), *part.named())


@dataclass(frozen=True)
class Power(_OfParts):
    """The composition of ``count`` copies of a profile."""

    text = "{count} times {part}"
    part: Profile
    count: Expr


@dataclass(frozen=True)
class Steps(_OfParts):
    """The composition of ``part`` at ``index`` = 0, ..., ``count`` - 1."""

    text = "for every {index} < {count}: {part}"
    part: Profile
    index: Symbol
    count: Expr


@dataclass(frozen=True)
class MeanProfile(_OfParts):
    """The sum of w f over the pairs (w, f), plus ``failure``, the weight of profile 1; weights add up to 1."""

    pairs: tuple[tuple[Expr, Profile], ...]
    failure: Expr = S.Zero

    def named(self) -> Iterator[str | Expr]:
        yield "the mean of "
        for i, (weight, part) in enumerate(self.pairs):
            yield from (", " * (i > 0), weight, " of (", *part.named(), ")")
        if self.failure != 0:
            yield from (", ", self.failure, " of everything")

    def at(self, g: Expr) -> Expr:
        return self.failure + Add(*(weight * part.at(g) for weight, part in self.pairs))


@dataclass(frozen=True)
class Average(_OfParts):
    """The sum of ``weight`` times ``part`` over ``index`` = 0, ..., ``count`` - 1. The weights add up to 1."""

    text = "the mean over {index} < {count} of ({part}), weights {weight}"
    weight: Expr
    part: Profile
    index: Symbol
    count: Expr

    def at(self, g: Expr) -> Expr:
        return Sum(self.weight * self.part.at(g), (self.index, 0, self.count - 1))


@dataclass(frozen=True)
class Recurring(_OfParts):
    """f_n with f_0 = ``base``, f_{j+1} = (1 - p) ``first`` + p (f_j x ``again``), p = ``chance``, n = ``count``."""

    text = "f_{count} of f_0: {base}, and of f_(j+1): {rest} of ({first}) and {chance} of (f_j and {again})"
    chance: Expr
    first: Profile
    again: Profile
    base: Profile
    count: Expr

    @property
    def rest(self) -> Expr:
        """1 - p."""
        return 1 - self.chance


@dataclass(frozen=True)
class Atoms(Profile):
    """f(oo) + sum of m (y - g)_+ over pairs (y, m): a table, or the exact profile of two finite laws."""

    pairs: tuple[tuple[Expr, Expr], ...]
    order: Order | None = None

    def named(self) -> Iterator[str | Expr]:
        yield f"a table of {len(self.pairs)} nodes" if self.pairs else "everything"

    @property
    def rest(self) -> Expr:
        """f(oo), the mass of P where Q has no mass."""
        return 1 - Add(*(y * m for y, m in self.pairs))

    def at(self, g: Expr) -> Expr:
        return self.rest + Add(*(m * Max(y - g, 0) for y, m in self.pairs))


EVERYTHING: Final = Atoms(())
"""The constant 1, a bound for any two laws."""


@dataclass(frozen=True)
class Chords(_OfParts):
    """A bound on ``part``: equal to ``part`` at 0 and the nodes, linear between them, and constant after the last."""

    text = "chords between the nodes {node} of ({part})"
    part: Profile
    node: Expr
    index: Symbol
    count: Expr


@dataclass(frozen=True)
class Letter(Profile):
    """An arbitrary profile for each order, denoted by a letter."""

    text = "{name}"
    order = None
    name: str

    def at(self, g: Expr) -> Expr:
        return Function(self.name, real=True)(g)


@dataclass(frozen=True)
class Contracted(_OfParts):
    """The greatest convex function below g -> inf int u N(g v/u) + A F(g B/A), A = int (p - u), B = int (q - v).

    The infimum is over 0 <= u <= p, 0 <= v <= q and all finite measures p and q with int p >= 1 >= int q and
    a profile of at least ``before``. So `Contracted` is monotone in ``before``, ``near`` (N) and ``far`` (F).
    """

    text = "({before}), then a block at ({near}) where both runs agree and ({far}) where not"
    before: Profile
    near: Profile
    far: Profile


@dataclass(frozen=True)
class ThreeLaws(_OfParts):
    """The greatest convex function below g -> inf sum w_i psi_i(c_i) over numbers with sum w_i c_i <= 0.

    psi_i is the greatest convex function of c with, for 0 <= t <= 1 and k > 0, and f, h, h' = ``known``, ``ahead``,
    ``back`` of ``index`` = i < ``count``, where 0 f(g/0) = 0,

        psi_i(c) <= t f(g/t) + (1 - t) h(c/(1 - t)) at c >= 0,    psi_i(-k) <= f(g t) + k h'(g (1 - t)/k).

    The ``weight`` is w; weights add up to 1.
    """

    text = (
        "cases {index} < {count}, weights {weight}, that stay hidden: known ({known}), against a third law ({ahead}), "
        "of it ({back})"
    )
    weight: Expr
    known: Profile
    ahead: Profile
    back: Profile
    index: Symbol
    count: Expr


@dataclass(frozen=True)
class BlockChain(_OfParts):
    """Y_n for any profiles Y_0 >= ``base`` and Y_{j+1} >= Contracted(Y_j, ``near``, ``far``), n = ``count``.

    ``near`` and ``far`` can contain ``index`` = j. A table that is at least its own contraction gives such a
    sequence; so do tables through upper bounds at their nodes. Without an order there is one sequence for
    each order.
    """

    text = (
        "Y_{count} of Y_0: {base}, and of Y_({index}+1): Y_{index}, then a block {index} at ({near}) "
        "where both runs agree and ({far}) where not"
    )
    base: Profile
    near: Profile
    far: Profile
    index: Symbol
    count: Expr

    def then(self) -> Contracted:
        """Y_n followed by one more block, in terms of Y_n."""
        near, far = (part.subs({self.index: self.count}) for part in (self.near, self.far))
        return Contracted(self, near, far)


@dataclass(frozen=True)
class Damped(_OfParts):
    """f_n with f_0 = ``base`` and f_{j+1}(g) = f_j(g) F(1 + (g - 1)/f_j(g)), n = ``count``, F = ``far``.

    ``far`` can contain j. If F(r) = sup_b T(b) - r b, then f_{j+1}(g) = sup_b f_j(g) (T(b) - b) - (g - 1) b,
    which is a profile if f_j is a profile. This is a `Contracted` with u = min(p, g q), v = u/g, N = E_0, A =
    f_j(g) and B = (g - 1 + A)/g.
    """

    text = "f_{count} of f_0: {base}, and of f_({index}+1): f_{index} F(1 + (g - 1)/f_{index}), F: {far}"
    base: Profile
    far: Profile
    index: Symbol
    count: Expr

    def then(self) -> Contracted:
        """f_n followed by one more block, in terms of f_n."""
        return Contracted(self, Equal(), self.far.subs({self.index: self.count}))

    def at(self, g: Expr) -> Expr:
        value = self.base.at(g)
        for j in range(int(self.count)):
            value = damped(g, value, self.far.subs({self.index: Integer(j)}).at)
        return value


X = Symbol("X", positive=True)
"""A chi-square variable."""


@dataclass(frozen=True)
class Projected(_OfParts):
    """The mean of ``part`` over `X`, which is chi-square with ``dimension`` degrees of freedom."""

    text = "the mean over X, chi-square of {dimension} degrees of freedom, of ({part})"
    part: Profile
    dimension: Expr

    def subs(self, values: Mapping[Symbol, Expr]) -> Profile:
        if X in values or any(X in value.free_symbols for value in values.values()):
            raise UnprovedError(
                f"Values can neither replace nor contain {X}, which the mean binds, got {values}."
            )
        return super().subs(values)

    def at(self, g: Expr) -> Expr:
        return Integral(formulas.chi_square(X, self.dimension) * self.part.at(g), (X, 0, oo))


def common(profiles: Iterable[Profile]) -> Order | None:
    """The order that all profiles bound, or None if all bound both; an error if their orders differ."""
    orders = {profile.order for profile in profiles} - {None}
    if len(orders) > 1:
        raise UnprovedError("Profiles need the same order, got both orders; exchange the runs in one profile.")
    return next(iter(orders), None)


def compose(*profiles: Profile) -> Profile:
    """The profile of consecutive steps, each of which can depend on earlier steps."""
    gauss: list[Expr] = []
    atoms: list[Atoms] = []
    counts: dict[Profile, Expr] = {}
    for part in (part for one in profiles for part in (one.parts if isinstance(one, Composed) else (one,))):
        match part:
            case Equal():
                pass
            case Gauss():
                gauss.append(part.square)
            case Atoms():
                atoms.append(part)
            case Power():
                counts[part.part] = counts.get(part.part, S.Zero) + part.count
            case _:
                counts[part] = counts.get(part, S.Zero) + 1
    for steps in [part for part in counts if isinstance(part, Steps)]:  # the part after its last may be present
        following = steps.part.subs({steps.index: steps.count})
        if counts.get(steps) == counts.get(following) == 1:
            del counts[steps], counts[following]
            more = replace(steps, count=steps.count + 1)
            counts[more] = counts.get(more, S.Zero) + 1
    parts = [part if count == 1 else Power(part, count) for part, count in counts.items()]
    if gauss:  # orthogonal Gaussian shifts compose to one shift along the diagonal
        parts.append(Gauss(Add(*gauss)))
    if atoms:
        parts.append(Atoms(_products(atoms), common(atoms)))
    if len(parts) > 1:
        return Composed(tuple(parts))
    return parts[0] if parts else Equal()


def _products(atoms: Iterable[Atoms]) -> tuple[tuple[Expr, Expr], ...]:
    pairs = {S.One: S.One}
    for part in atoms:
        product: dict[Expr, Expr] = {}
        for y, m in pairs.items():
            for ratio, mass in part.pairs:
                product[y * ratio] = product.get(y * ratio, S.Zero) + m * mass
        pairs = product
    return tuple(sorted(pairs.items(), key=lambda pair: pair[0]))


def unfolded(profile: Recurring) -> MeanProfile:
    """f_n in terms of f_(n-1)."""
    before = replace(profile, count=profile.count - 1)
    return MeanProfile(((1 - profile.chance, profile.first), (profile.chance, compose(before, profile.again))))


def counts(index: Symbol, count: Expr) -> None:
    """Raise an error unless the index runs over all integers >= 0 and ``count`` is an integer free of the index."""
    if (
        not isinstance(index, Symbol)
        or index.assumptions0 != _INDEX
        or not count.is_integer
        or index in count.atoms()
    ):
        raise UnprovedError(
            f"An index runs over 0, 1, ...; its count must be an integer not containing it, got {index} and {count}."
        )


_INDEX: Final = Symbol("i", integer=True, nonnegative=True).assumptions0
_KNOWN: Final = (
    Equal, Letter, Gauss, PoissonStep, SwapStep, Composed, Power, Steps, Projected, MeanProfile, Average,
    Recurring, Atoms, Chords, Contracted, ThreeLaws, BlockChain, Damped,
)  # fmt: skip


def formed(profile: Profile) -> None:
    """Raise an error unless a profile has a known type, parts with its order and integer counts."""
    if type(profile) not in _KNOWN:
        raise UnprovedError(f"A kernel profile is needed, got an object of type {type(profile).__name__}.")
    inside = _inside(profile)
    for part in inside:
        formed(part)
        if part.order not in {None, profile.order}:
            raise UnprovedError(f"A profile needs the order of its parts, {part.order}, got {profile.order}.")
    if isinstance(profile, Steps | Average | Chords | ThreeLaws | BlockChain | Damped):
        counts(profile.index, profile.count)
    elif isinstance(profile, Power | Recurring) and not profile.count.is_integer:
        raise UnprovedError(f"A profile needs an integer count, got {profile}.")
    elif isinstance(profile, Composed | MeanProfile) and not inside:
        raise UnprovedError(f"A profile needs at least one part, got {profile}.")


def _inside(profile: Profile) -> list[Profile]:
    own: Any = profile
    return [part for one in fields(own) for part in _flat(getattr(own, one.name)) if isinstance(part, Profile)]


def _flat(thing: Any) -> list[Any]:
    return [part for one in thing for part in _flat(one)] if isinstance(thing, tuple) else [thing]


def sound(profile: Profile) -> list[Boolean]:
    """Conditions under which a term is a profile: convex, nonincreasing, 1 at 0 and at least max(1 - g, 0).

    A table with value 1 at 0 is a profile if f(oo) and the masses m are nonnegative and the masses add up to
    at most 1: the slope at 0 is minus their sum, and no profile decreases faster than 1 - g.
    """
    formed(profile)
    return list(dict.fromkeys(_sound(profile)))


def _sound(profile: Profile) -> Iterator[Boolean]:
    match profile:
        case Equal() | Letter():
            return
        case Gauss():
            yield from (*numbers(profile.square), Ge(profile.square, 0))
            return
        case PoissonStep() | SwapStep():
            yield from (*numbers(profile.rate), *numbers(profile.square))
            yield from (Gt(profile.rate, 0), Le(profile.rate, 1), Ge(profile.square, 0))
            return
        case Power() | Steps() if profile.count == 0:
            return
        case Recurring() | BlockChain() | Damped() if profile.count == 0:
            yield from _sound(profile.base)
            return
        case Power() | Recurring() | Steps() | BlockChain() | Damped() | Chords():
            yield Ge(profile.count, 0)
        case Projected():
            yield from (*numbers(profile.dimension), Gt(profile.dimension, 0))
        case MeanProfile():
            total = Add(profile.failure, *(weight for weight, _ in profile.pairs))
            for weight in (profile.failure, *(weight for weight, _ in profile.pairs)):
                yield from (*numbers(weight), Ge(weight, 0))
            yield Eq(total, 1)
        case Atoms():
            for number in (number for pair in profile.pairs for number in pair):
                yield from (*numbers(number), Ge(number, 0))
            yield from (Ge(profile.rest, 0), Le(Add(*(m for _, m in profile.pairs)), 1))
        case Average() | ThreeLaws():
            raise UnprovedError(f"It is not known when the weights of {profile} add up to 1.")
    if isinstance(profile, Recurring):
        yield from (Ge(profile.chance, 0), Le(profile.chance, 1))
    if isinstance(profile, Chords):
        yield Ge(profile.node.xreplace({profile.index: whichever(profile.index)}), 0)
    bound = X if isinstance(profile, Projected) else getattr(profile, "index", None)
    for part in _inside(profile):
        yield from _sound(part if bound is None else _any(part, bound))


def _any(part: Profile, index: Symbol) -> Profile:
    return part.subs({index: whichever(index)})


def _rates(above: PoissonStep | SwapStep, below: PoissonStep | SwapStep) -> tuple[Boolean, ...]:
    return () if above.rate == below.rate else (below.rate <= above.rate, above.rate <= 1)


def _some(profile: Recurring | BlockChain | Damped) -> list[Boolean]:
    return [] if Ge(profile.count, 1) == true else [Ge(profile.count, 1)]


def covers(above: Profile, below: Profile) -> list[Boolean]:
    """Conditions under which ``above`` >= ``below`` at every g, by the monotonicity of the terms."""
    formed(above)
    match above, below:
        case _ if above == below:
            return []
        case _, Equal():  # the least profile
            return sound(above)
        case Gauss(), Gauss():
            return [below.square <= above.square]
        case PoissonStep(), PoissonStep() if above.order in {None, below.order}:
            return [*_rates(above, below), below.square <= above.square]
        case SwapStep(), SwapStep():
            return [*_rates(above, below), below.square <= above.square]
        case Power(), Power():
            return [*covers(above.part, below.part), below.count <= above.count]
        case _ if type(above) is type(below) and (found := _rises(above, below)) is not None:
            return found
        case Chords(), _:
            return [*sound(replace(above, part=Equal())), *covers(above.part, below)]
        case Recurring(), MeanProfile() if below == unfolded(above):
            return _some(above)
        case Recurring() | BlockChain() | Damped(), _ if above.count == 0:
            return covers(above.base, below)
        case BlockChain() | Damped(), Contracted():
            return [*_some(above), *covers(replace(above, count=above.count - 1).then(), below)]
        case Atoms(), Atoms():  # both are linear between the nodes of either, and both decrease to f(oo)
            nodes = sorted({y for one in (above, below) for y, _ in one.pairs}, key=str)
            less = [below.at(node) <= above.at(node) for node in nodes] + [below.rest <= above.rest]
            return [*sound(above), *less]
    raise UnprovedError(f"It is not known when {above} is at least {below}.")


_RISING: Final = (
    Steps,
    Average,
    Projected,
    Chords,
    Composed,
    MeanProfile,
    Recurring,
    Contracted,
    ThreeLaws,
    BlockChain,
    Damped,
)
"""Terms that increase with their parts, at every index, if all other fields are equal."""


def _rises(above: Any, below: Any) -> list[Boolean] | None:
    """Conditions under which ``above`` is at least ``below`` part by part; None if other fields differ."""
    if not isinstance(above, _RISING):
        return None
    bound = X if isinstance(above, Projected) else getattr(above, "index", None)
    found: list[Boolean] = []
    for name in (one.name for one in fields(above)):
        parts, others = (_flat(getattr(one, name)) for one in (above, below))
        if name == "failure":
            found += same(*parts, *others)
        elif len(parts) != len(others):
            return None
        else:
            for part, other in zip(parts, others, strict=True):
                if isinstance(part, Profile) and isinstance(other, Profile):
                    free = bound is None or name == "base"
                    found += covers(part, other) if free else covers(_any(part, bound), _any(other, bound))
                elif part != other:
                    return None
    return found
