"""Profiles as terms: bounds of a hockey-stick divergence E_g(P || Q) = sup_A P(A) - g Q(A) for every g >= 0 at once.

A profile f is convex and nonincreasing in g with f(0) = 1 and f(g) >= max(1 - g, 0). It is

    f(g) = f(oo) + integral of (y - g)_+ dm(y),

m the second derivative of f: the law of the likelihood ratio y = dP/dQ under Q. Adaptive composition multiplies ratios,

    (f x J)(g) = J(oo) + f(oo) (1 - J(oo)) + double integral of (y y' - g)_+ dm_f(y) dm_J(y'),

which is commutative, associative and monotone in both, and leaves f alone where J = max(1 - g, 0).

Letters   g the factor of the second law; mu^2 (``square``) the squared distance of two means over the variance.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from string import Formatter
from typing import Any, ClassVar, Final

from sympy import (
    Add,
    Basic,
    Expr,
    Function,
    Ge,
    Integer,
    Integral,
    Le,
    Max,
    Min,
    Mul,
    Piecewise,
    Product,
    S,
    Sum,
    Symbol,
    Tuple,
    exp,
    oo,
    sqrt,
    true,
)
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.formulas.accounting import recurring
from lastiterate.symbolic.formulas.contraction import block, damped
from lastiterate.symbolic.formulas.divergences import (
    chi_square,
    exchanged,
    hockey_stick,
    projected_moment,
    replaced_hockey_stick,
    sampled_hockey_stick,
    sampled_moment,
)
from lastiterate.symbolic.kernel.sealed import UnprovedError


class Order(StrEnum):
    """The numerator P of E_g(P || Q): the law of run 1 or that of run 2."""

    FIRST = "run 1 || run 2"
    SECOND = "run 2 || run 1"

    @property
    def other(self) -> "Order":
        """The order with the runs exchanged."""
        return Order.SECOND if self is Order.FIRST else Order.FIRST


class Profile:
    """A profile as a term; ``order`` is the one order that it bounds, None where it bounds both."""

    order: Order | None
    text: ClassVar[str]
    """Its name, with its attributes in braces."""

    def named(self) -> Iterator[str | Expr]:
        """Its name, in texts and expressions."""
        for text, part, *_ in Formatter().parse(self.text):
            yield text
            if part is not None:
                own = getattr(self, part)
                yield from own.named() if isinstance(own, Profile) else (own,)

    def __str__(self) -> str:
        return "".join(map(str, self.named()))

    def subs(self, values: Mapping[Symbol, Expr]) -> "Profile":
        """The term with values for symbols, all at once; an index that it ranges over is no such symbol."""
        own: Any = self  # every profile is a dataclass
        parts = {one.name: getattr(own, one.name) for one in fields(own)}
        index = parts.pop("index", None)
        inside: Mapping[Symbol, Expr] = values
        if index is not None:
            inside = {letter: value for letter, value in values.items() if letter != index}
            clash = any(index in value.free_symbols for value in inside.values())
            fresh = new_letter(index, *inside.values(), *map(_said, parts.values())) if clash else index
            inside |= {} if fresh == index else {index: fresh}
            parts |= {"index": fresh}
        outside = {"index", "count", "base"}
        changed = {name: put_values(part, values if name in outside else inside) for name, part in parts.items()}
        made: Profile = replace(own, **changed | ({} if index is None else {"index": fresh}))
        return made

    def at(self, g: Expr) -> Expr:
        """The value at a factor g > 0."""
        raise NotImplementedError

    def moment(self, alpha: Expr) -> Expr:
        """The integral of y^alpha dm(y) = exp((alpha - 1) D_alpha), alpha > 1; infinite where f(oo) > 0."""
        raise NotImplementedError


def _joined(joint: str, parts: Iterable[Profile]) -> Iterator[str | Expr]:
    for i, part in enumerate(parts):
        yield from (joint * (i > 0), *part.named())


def new_letter(letter: Symbol, *said: Basic) -> Symbol:
    """The letter, primed until no letter of the terms, free or bound, has its name."""
    taken = {one.name for part in said for one in part.atoms(Symbol)}
    while letter.name in taken:
        letter = Symbol(f"{letter.name}'", **letter.assumptions0)
    return letter


def _said(thing: Any) -> Tuple:
    """The terms in a part of a profile."""
    if isinstance(thing, Profile):
        own: Any = thing
        return Tuple(*(_said(getattr(own, one.name)) for one in fields(own)))
    if isinstance(thing, tuple):
        return Tuple(*map(_said, thing))
    return Tuple(thing) if isinstance(thing, Basic) else Tuple()


def put_values(thing: Any, values: Mapping[Symbol, Expr]) -> Any:
    """A term, or many, with values for symbols, all at once; a letter that is bound stays, and captures none of them.

    Raises:
        UnprovedError: a value names a letter that the term binds, other than the index of a sum or a product.
    """
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
    if not thing.has(ExprWithLimits) and bound & set(values).union(*(one.free_symbols for one in values.values())):
        raise UnprovedError(f"No value is put for, or made of, a letter that {thing} binds, got {values}.")
    return thing.func(*(put_values(one, values) for one in thing.args)) if thing.args else thing


def _put_inside(thing: ExprWithLimits, values: Mapping[Symbol, Expr]) -> Expr:
    """A sum or a product with values for its free letters; an index that a value names gets another name."""
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
    """max(1 - g, 0): the two laws are the same."""

    text = "the same law"
    order = None

    def at(self, g: Expr) -> Expr:
        return Max(1 - g, 0)

    def moment(self, alpha: Expr) -> Expr:  # noqa: ARG002 a law has the same moments as itself, at every order
        return S.One


@dataclass(frozen=True)
class Gauss(Profile):
    """E_g(N(mu, 1) || N(0, 1)), the same in both orders."""

    text = "mu-GDP, mu^2 = {square}"
    order = None
    square: Expr

    def at(self, g: Expr) -> Expr:
        mu = sqrt(self.square)
        return Max(1 - g, 0) if self.square == 0 else hockey_stick(g, mu)

    def moment(self, alpha: Expr) -> Expr:
        return exp(alpha * (alpha - 1) * self.square / 2)


@dataclass(frozen=True)
class PoissonStep(Profile):
    """A step that a sample of run 1 enters by a coin of chance q, whose mean it then moves by mu.

    Order FIRST has the law with the sample as P: q theta((g - 1 + q)/q) for g > 1 - q, and 1 - g below. Order SECOND is
    E_g(Q || P) = 1 - g + g E_{1/g}(P || Q). Without an order it is the larger of both.
    """

    text = "a sample added by a coin of probability {rate}, mu^2 = {square}"
    rate: Expr
    square: Expr
    order: Order | None = None

    def _with_the_sample(self, g: Expr) -> Expr:
        return sampled_hockey_stick(g, self.rate, Gauss(self.square).at)

    def at(self, g: Expr) -> Expr:
        both = {Order.FIRST: self._with_the_sample(g), Order.SECOND: exchanged(g, self._with_the_sample)}
        return Max(*both.values()) if self.order is None else both[self.order]

    def moment(self, alpha: Expr) -> Expr:
        """Of a whole order. The law with the sample as P has the larger one (claim ours/poisson/larger_order)."""
        if self.order is Order.SECOND or not alpha.is_integer:
            raise NotImplementedError(f"a moment of whole order of the law with the sample, not {alpha}, {self.order}")
        return sampled_moment(self.rate, self.square, alpha)


@dataclass(frozen=True)
class SwapStep(Profile):
    """A step that replaces one sample of the batch by a coin of chance q; three means, any two at most mu apart.

    q theta(1 + (g - 1)/q) for g >= 1, and reflected below; both orders.
    """

    text = "a sample replaced by a coin of probability {rate}, mu^2 = {square}"
    order = None
    rate: Expr
    square: Expr

    def at(self, g: Expr) -> Expr:
        return replaced_hockey_stick(g, self.rate, Gauss(self.square).at)


@dataclass(frozen=True)
class Composed(Profile):
    """The composition of several profiles of one order."""

    parts: tuple[Profile, ...]
    order: Order | None = None

    def named(self) -> Iterator[str | Expr]:
        return _joined(" and ", self.parts)

    def moment(self, alpha: Expr) -> Expr:
        return Mul(*(part.moment(alpha) for part in self.parts))


@dataclass(frozen=True)
class Power(Profile):
    """A profile composed with itself ``count`` times."""

    text = "{count} times {part}"
    part: Profile
    count: Expr
    order: Order | None = None

    def moment(self, alpha: Expr) -> Expr:
        return self.part.moment(alpha) ** self.count


@dataclass(frozen=True)
class Steps(Profile):
    """The composition of ``part`` at ``index`` = 0, ..., ``count`` - 1."""

    text = "for every {index} < {count}: {part}"
    part: Profile
    index: Symbol
    count: Expr
    order: Order | None = None

    def moment(self, alpha: Expr) -> Expr:
        return Product(self.part.moment(alpha), (self.index, 0, self.count - 1))


@dataclass(frozen=True)
class MeanProfile(Profile):
    """sum of w f over pairs (w, f), weights that add to 1, and 1 in place of f on an event of chance ``failure``."""

    pairs: tuple[tuple[Expr, Profile], ...]
    failure: Expr = S.Zero
    order: Order | None = None

    def named(self) -> Iterator[str | Expr]:
        yield "the mean of "
        for i, (weight, part) in enumerate(self.pairs):
            yield from (", " * (i > 0), weight, " of (", *part.named(), ")")
        if self.failure != 0:
            yield from (", ", self.failure, " of everything")

    def at(self, g: Expr) -> Expr:
        return self.failure + Add(*(weight * part.at(g) for weight, part in self.pairs))

    def moment(self, alpha: Expr) -> Expr:
        return oo if self.failure != 0 else Add(*(weight * part.moment(alpha) for weight, part in self.pairs))


@dataclass(frozen=True)
class Average(Profile):
    """The sum over ``index`` = 0, ..., ``count`` - 1 of weight times part, weights that add to 1."""

    text = "the mean over {index} < {count} of ({part}), weights {weight}"
    weight: Expr
    part: Profile
    index: Symbol
    count: Expr
    order: Order | None = None

    def at(self, g: Expr) -> Expr:
        return Sum(self.weight * self.part.at(g), (self.index, 0, self.count - 1))

    def moment(self, alpha: Expr) -> Expr:
        return Sum(self.weight * self.part.moment(alpha), (self.index, 0, self.count - 1))


@dataclass(frozen=True)
class Recurring(Profile):
    """f_n of f_0 = ``base`` and f_{j+1} = (1 - p) ``first`` + p (f_j composed with ``again``), n = ``count``."""

    text = "f_{count} of f_0: {base}, and of f_(j+1): {rest} of ({first}) and {chance} of (f_j and {again})"
    chance: Expr
    first: Profile
    again: Profile
    base: Profile
    count: Expr
    order: Order | None = None

    @property
    def rest(self) -> Expr:
        """1 - p."""
        return 1 - self.chance

    def moment(self, alpha: Expr) -> Expr:
        first, again, base = (part.moment(alpha) for part in (self.first, self.again, self.base))
        return recurring(first, self.chance, again, base, self.count)


@dataclass(frozen=True)
class Hull(Profile):
    """The greatest convex function below several profiles; ``at`` gives the least of them, which is no smaller."""

    parts: tuple[Profile, ...]
    order: Order | None = None

    def named(self) -> Iterator[str | Expr]:
        yield from ("the convex hull of the least of ", *_joined(", ", self.parts))

    def at(self, g: Expr) -> Expr:
        return Min(*(part.at(g) for part in self.parts))


@dataclass(frozen=True)
class Atoms(Profile):
    """f(oo) + sum of m (y - g)_+ over finitely many pairs (y, m): a table, or the exact profile of a finite pair."""

    pairs: tuple[tuple[Expr, Expr], ...]
    order: Order | None = None

    def named(self) -> Iterator[str | Expr]:
        yield f"a table of {len(self.pairs)} nodes" if self.pairs else "everything"

    @property
    def rest(self) -> Expr:
        """f(oo), the mass of P where Q has none."""
        return 1 - Add(*(y * m for y, m in self.pairs))

    def at(self, g: Expr) -> Expr:
        return self.rest + Add(*(m * Max(y - g, 0) for y, m in self.pairs))

    def moment(self, alpha: Expr) -> Expr:
        return oo if self.rest != 0 else Add(*(m * y**alpha for y, m in self.pairs))


EVERYTHING: Final = Atoms(())
"""The constant 1: the two laws may be apart."""


@dataclass(frozen=True)
class Chords(Profile):
    """``part`` on a lattice: equal to it at 0 and at every ``node``, ``index`` = 0, ..., ``count`` - 1, else linear.

    Beyond the last node it is constant. A chord of a convex function lies above it.
    """

    text = "chords between the nodes {node} of ({part})"
    part: Profile
    node: Expr
    index: Symbol
    count: Expr
    order: Order | None = None


def _in_one_order(profile: Profile, *parts: Profile) -> None:
    """Give a profile the order of its parts, each order its own where they have none."""
    orders = {part.order for part in parts} - {None}
    if len(orders) > 1:
        raise ValueError("Profiles of one order are needed, got both; exchange the runs in one of them.")
    object.__setattr__(profile, "order", next(iter(orders), None))


@dataclass(frozen=True)
class Letter(Profile):
    """Any profile, by its letter: one for each order, that of the judgement in which it stands."""

    text = "{name}"
    order = None
    name: str

    def at(self, g: Expr) -> Expr:
        return Function(self.name, real=True)(g)


@dataclass(frozen=True)
class Contracted(Profile):
    """The greatest convex function below g -> inf int u N(g v/u) + A F(g B/A), A = int (p - u) and B = int (q - v).

    The infimum is over 0 <= u <= p, 0 <= v <= q and over all finite measures p and q whose profile is at least
    ``before`` with int p >= 1 >= int q; so it rises with ``before``, ``near`` and ``far``.
    """

    text = "({before}), then a block at ({near}) where both runs agree and ({far}) where not"
    before: Profile
    near: Profile
    far: Profile

    def __post_init__(self) -> None:
        _in_one_order(self, self.before, self.near, self.far)


@dataclass(frozen=True)
class Split(Profile):
    """int u N(g v/u) + A F(g B/A) for one choice of u and v: no less than `Contracted`.

    ``before`` is a pair (p, q) of finitely many atoms, p = y m and q = m, and the mass f(oo) where q = 0. ``shares``
    holds (u/p, v/q) of each atom, in its order, and at last (u/p, 0) of the mass where q = 0.
    """

    text = "({before}), then a block at ({near}) and ({far}), split by its shares"
    before: Atoms
    near: Profile
    far: Profile
    shares: tuple[tuple[Expr, Expr], ...]

    def __post_init__(self) -> None:
        _in_one_order(self, self.before, self.near, self.far)
        if len(self.shares) != len(self.before.pairs) + 1:
            raise ValueError("A block needs a pair of shares for each atom before it, and one for the mass beside.")

    def conditions(self) -> list[Boolean]:
        """The shares lie between 0 and 1."""
        return [one for pair in self.shares for share in pair for one in (Ge(share, 0), Le(share, 1))]

    def at(self, g: Expr) -> Expr:
        *shares, (singular, _) = self.shares
        parts = [(y * m * of_p, m * of_q) for (y, m), (of_p, of_q) in zip(self.before.pairs, shares, strict=True)]
        return block(g, parts, singular * self.before.rest, self.near.at, self.far.at)


@dataclass(frozen=True)
class BlockChain(Profile):
    """Y_n of any profiles Y_0 >= ``base`` and Y_{j+1} >= Contracted(Y_j, ``near``, ``far``), n = ``count``.

    ``near`` and ``far`` may name ``index`` = j. One table Y that is no less than its own contraction is such a
    sequence, and so are tables through upper bounds at their nodes. Without an order each order has its own.
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

    def __post_init__(self) -> None:
        _in_one_order(self, self.base, self.near, self.far)

    def then(self) -> Contracted:
        """Y_n and one block more, in the words of Y_n."""
        near, far = (part.subs({self.index: self.count}) for part in (self.near, self.far))
        return Contracted(self, near, far)


@dataclass(frozen=True)
class Damped(Profile):
    """f_n of f_0 = ``base`` and f_{j+1}(g) = f_j(g) F(1 + (g - 1)/f_j(g)), n = ``count``; ``far`` may name j.

    With F(r) = sup_b T(b) - r b it is sup_b f_j(g) (T(b) - b) - (g - 1) b, so it is a profile if f_j is one. It is the
    block of u = min(p, g q) and v = u/g with N = E_0: int u N(g v/u) = 0, A = f_j(g) and B = (g - 1 + A)/g.
    """

    text = "f_{count} of f_0: {base}, and of f_({index}+1): f_{index} F(1 + (g - 1)/f_{index}), F: {far}"
    base: Profile
    far: Profile
    index: Symbol
    count: Expr

    def __post_init__(self) -> None:
        _in_one_order(self, self.base, self.far)

    def then(self) -> Contracted:
        """f_n and one block more, in the words of f_n."""
        return Contracted(self, Equal(), self.far.subs({self.index: self.count}))

    def at(self, g: Expr) -> Expr:
        """The value after a known number of blocks."""
        value = self.base.at(g)
        for j in range(int(self.count)):
            value = damped(g, value, self.far.subs({self.index: Integer(j)}).at)
        return value


X = Symbol("X", positive=True)
"""A chi-square variable."""


@dataclass(frozen=True)
class Projected(Profile):
    """The mean of ``part`` over `X` of ``dimension`` degrees of freedom."""

    text = "the mean over X, chi-square of {dimension} degrees of freedom, of ({part})"
    part: Profile
    dimension: Expr
    order: Order | None = None

    def subs(self, values: Mapping[Symbol, Expr]) -> Profile:
        """As for every profile; `X` is bound, so no value is substituted for it or contains it."""
        if X in values or any(X in value.free_symbols for value in values.values()):
            raise UnprovedError(f"The mean over {X} leaves no {X} to put a value for, or to make one of, got {values}.")
        return super().subs(values)

    def at(self, g: Expr) -> Expr:
        return Integral(chi_square(X, self.dimension) * self.part.at(g), (X, 0, oo))

    def moment(self, alpha: Expr) -> Expr:
        """A sum of terms exp(w X / 2), of which the mean is finite for w < 1."""

        def mean(term: exp) -> Expr:
            w = 2 * term.args[0] / X
            return Piecewise((projected_moment(w, S.One, self.dimension), w < 1), (oo, true))

        return self.part.moment(alpha).replace(lambda term: isinstance(term, exp), mean)
