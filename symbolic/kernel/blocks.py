"""Profiles of blocks of steps that are cheap where the laws of both runs agree, N, and dear where they do not, F."""

from dataclasses import dataclass

from sympy import Expr, Function, Ge, Integer, Le, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.formulas.contraction import block, damped
from lastiterate.symbolic.kernel.profiles import Equal, Profile, Words
from lastiterate.symbolic.kernel.tables import Atoms


def _in_one_order(profile: Profile, *parts: Profile) -> None:
    """Give a profile the order of its parts, each order its own where they have none."""
    orders = {part.order for part in parts} - {None}
    if len(orders) > 1:
        raise ValueError("Profiles of one order are needed, got both; exchange the runs in one of them.")
    object.__setattr__(profile, "order", next(iter(orders), None))


@dataclass(frozen=True)
class Letter(Profile):
    """Any profile, by its letter: one for each order, that of the judgement in which it stands."""

    order = None
    name: str

    def words(self) -> Words:
        return (self.name,)

    def at(self, g: Expr) -> Expr:
        return Function(self.name, real=True)(g)


@dataclass(frozen=True)
class Contracted(Profile):
    """The greatest convex function below g -> inf int u N(g v/u) + A F(g B/A), A = int (p - u) and B = int (q - v).

    The infimum is over 0 <= u <= p, 0 <= v <= q and over all finite measures p and q whose profile is at least
    ``before`` with int p >= 1 >= int q; so it rises with ``before``, ``near`` and ``far``.
    """

    before: Profile
    near: Profile
    far: Profile

    def __post_init__(self) -> None:
        _in_one_order(self, self.before, self.near, self.far)

    def words(self) -> Words:
        return (
            "(",
            self.before,
            "), then a block at (",
            self.near,
            ") where both runs agree and (",
            self.far,
            ") where not",
        )


@dataclass(frozen=True)
class Split(Profile):
    """int u N(g v/u) + A F(g B/A) for one choice of u and v: no less than `Contracted`.

    ``before`` is a pair (p, q) of finitely many atoms, p = y m and q = m, and the mass f(oo) where q = 0. ``shares``
    holds (u/p, v/q) of each atom, in its order, and at last (u/p, 0) of the mass where q = 0.
    """

    before: Atoms
    near: Profile
    far: Profile
    shares: tuple[tuple[Expr, Expr], ...]

    def __post_init__(self) -> None:
        _in_one_order(self, self.before, self.near, self.far)
        if len(self.shares) != len(self.before.pairs) + 1:
            raise ValueError("A block needs a pair of shares for each atom before it, and one for the mass beside.")

    def words(self) -> Words:
        return "(", self.before, "), then a block at (", self.near, ") and (", self.far, "), split by its shares"

    def conditions(self) -> list[Boolean]:
        """The shares lie between 0 and 1."""
        return [one for pair in self.shares for share in pair for one in (Ge(share, 0), Le(share, 1))]

    def at(self, g: Expr) -> Expr:
        *shares, (singular, _) = self.shares
        parts = [(y * m * of_p, m * of_q) for (y, m), (of_p, of_q) in zip(self.before.pairs, shares, strict=True)]
        return block(g, parts, singular * self.before.rest, self.near.at, self.far.at)


@dataclass(frozen=True)
class Blocks(Profile):
    """Y_n of any profiles Y_0 >= ``base`` and Y_{j+1} >= Contracted(Y_j, ``near``, ``far``), n = ``count``.

    ``near`` and ``far`` may name ``index`` = j. One table Y that is no less than its own contraction is such a
    sequence, and so are tables through upper bounds at their nodes. Without an order each order has its own.
    """

    base: Profile
    near: Profile
    far: Profile
    index: Symbol
    count: Expr

    def __post_init__(self) -> None:
        _in_one_order(self, self.base, self.near, self.far)

    def words(self) -> Words:
        after = (", and of Y_(", self.index, "+1): Y_", self.index, ", then a block ", self.index)
        where = (" at (", self.near, ") where both runs agree and (", self.far, ") where not")
        return "Y_", self.count, " of Y_0: ", self.base, *after, *where

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

    base: Profile
    far: Profile
    index: Symbol
    count: Expr

    def __post_init__(self) -> None:
        _in_one_order(self, self.base, self.far)

    def words(self) -> Words:
        after = (", and of f_(", self.index, "+1): f_", self.index, " F(1 + (g - 1)/f_", self.index, "), F: ", self.far)
        return "f_", self.count, " of f_0: ", self.base, *after

    def then(self) -> Contracted:
        """f_n and one block more, in the words of f_n."""
        return Contracted(self, Equal(), self.far.subs({self.index: self.count}))

    def at(self, g: Expr) -> Expr:
        """The value after a known number of blocks."""
        value = self.base.at(g)
        for j in range(int(self.count)):
            value = damped(g, value, self.far.subs({self.index: Integer(j)}).at)
        return value
