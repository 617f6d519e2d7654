"""Profiles: bounds of a hockey-stick divergence E_g(P || Q) = sup_A P(A) - g Q(A) for every g >= 0 at once.

A profile f is convex and nonincreasing in g with f(0) = 1 and f(g) >= max(1 - g, 0). It is

    f(g) = f(oo) + integral of (y - g)_+ dm(y),

m the second derivative of f: the law of the likelihood ratio y = dP/dQ under Q. Adaptive composition multiplies ratios,

    (f x J)(g) = J(oo) + f(oo) (1 - J(oo)) + double integral of (y y' - g)_+ dm_f(y) dm_J(y'),

which is commutative, associative and monotone in both, and leaves f alone where J = max(1 - g, 0).

Letters   g the factor of the second law; mu^2 (``square``) the squared distance of two means over the variance.
"""

from dataclasses import dataclass

from sympy import Add, Expr, Max, Min, Mul, Product, S, Sum, Symbol, exp, oo, sqrt

from lastiterate.symbolic.formulas.accounting import recurring
from lastiterate.symbolic.formulas.divergences import (
    exchanged,
    hockey_stick,
    replaced_hockey_stick,
    sampled_hockey_stick,
    sampled_moment,
)
from lastiterate.symbolic.kernel.term import Order as Order
from lastiterate.symbolic.kernel.term import Profile as Profile
from lastiterate.symbolic.kernel.term import Words as Words


@dataclass(frozen=True)
class Equal(Profile):
    """max(1 - g, 0): the two laws are the same."""

    order = None

    def words(self) -> Words:
        return ("the same law",)

    def at(self, g: Expr) -> Expr:
        return Max(1 - g, 0)

    def moment(self, alpha: Expr) -> Expr:  # noqa: ARG002 a law has the same moments as itself, at every order
        return S.One


@dataclass(frozen=True)
class Gauss(Profile):
    """E_g(N(mu, 1) || N(0, 1)), the same in both orders."""

    order = None
    square: Expr

    def words(self) -> Words:
        return "mu-GDP, mu^2 = ", self.square

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

    rate: Expr
    square: Expr
    order: Order | None = None

    def words(self) -> Words:
        return "a sample added by a coin of probability ", self.rate, ", mu^2 = ", self.square

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

    order = None
    rate: Expr
    square: Expr

    def words(self) -> Words:
        return "a sample replaced by a coin of probability ", self.rate, ", mu^2 = ", self.square

    def at(self, g: Expr) -> Expr:
        return replaced_hockey_stick(g, self.rate, Gauss(self.square).at)


@dataclass(frozen=True)
class Composed(Profile):
    """The composition of several profiles of one order."""

    parts: tuple[Profile, ...]
    order: Order | None = None

    def words(self) -> Words:
        return tuple(word for part in self.parts for word in (" and ", part))[1:]

    def moment(self, alpha: Expr) -> Expr:
        return Mul(*(part.moment(alpha) for part in self.parts))


@dataclass(frozen=True)
class Power(Profile):
    """A profile composed with itself ``count`` times."""

    part: Profile
    count: Expr
    order: Order | None = None

    def words(self) -> Words:
        return self.count, " times ", self.part

    def moment(self, alpha: Expr) -> Expr:
        return self.part.moment(alpha) ** self.count


@dataclass(frozen=True)
class Steps(Profile):
    """The composition of ``part`` at ``index`` = 0, ..., ``count`` - 1."""

    part: Profile
    index: Symbol
    count: Expr
    order: Order | None = None

    def words(self) -> Words:
        return "for every ", self.index, " < ", self.count, ": ", self.part

    def moment(self, alpha: Expr) -> Expr:
        return Product(self.part.moment(alpha), (self.index, 0, self.count - 1))


@dataclass(frozen=True)
class Mean(Profile):
    """sum of w f over pairs (w, f), weights that add to 1, and 1 in place of f on an event of chance ``failure``."""

    pairs: tuple[tuple[Expr, Profile], ...]
    failure: Expr = S.Zero
    order: Order | None = None

    def words(self) -> Words:
        parts = tuple(word for weight, part in self.pairs for word in (", ", weight, " of (", part, ")"))
        return "the mean of ", *parts[1:], *((", ", self.failure, " of everything") if self.failure != 0 else ())

    def at(self, g: Expr) -> Expr:
        return self.failure + Add(*(weight * part.at(g) for weight, part in self.pairs))

    def moment(self, alpha: Expr) -> Expr:
        return oo if self.failure != 0 else Add(*(weight * part.moment(alpha) for weight, part in self.pairs))


@dataclass(frozen=True)
class Average(Profile):
    """The sum over ``index`` = 0, ..., ``count`` - 1 of weight times part, weights that add to 1."""

    weight: Expr
    part: Profile
    index: Symbol
    count: Expr
    order: Order | None = None

    def words(self) -> Words:
        return "the mean over ", self.index, " < ", self.count, " of (", self.part, "), weights ", self.weight

    def at(self, g: Expr) -> Expr:
        return Sum(self.weight * self.part.at(g), (self.index, 0, self.count - 1))

    def moment(self, alpha: Expr) -> Expr:
        return Sum(self.weight * self.part.moment(alpha), (self.index, 0, self.count - 1))


@dataclass(frozen=True)
class Recurring(Profile):
    """f_n of f_0 = ``base`` and f_{j+1} = (1 - p) ``first`` + p (f_j composed with ``again``), n = ``count``."""

    chance: Expr
    first: Profile
    again: Profile
    base: Profile
    count: Expr
    order: Order | None = None

    def words(self) -> Words:
        ways = (1 - self.chance, " of (", self.first, ") and ", self.chance, " of (f_j and ", self.again, ")")
        return "f_", self.count, " of f_0: ", self.base, ", and of f_(j+1): ", *ways

    def moment(self, alpha: Expr) -> Expr:
        first, again, base = (part.moment(alpha) for part in (self.first, self.again, self.base))
        return recurring(first, self.chance, again, base, self.count)


@dataclass(frozen=True)
class Hull(Profile):
    """The greatest convex function below several profiles; ``at`` gives the least of them, which is no smaller."""

    parts: tuple[Profile, ...]
    order: Order | None = None

    def words(self) -> Words:
        return "the convex hull of the least of ", *tuple(word for part in self.parts for word in (", ", part))[1:]

    def at(self, g: Expr) -> Expr:
        return Min(*(part.at(g) for part in self.parts))
