"""The profile of the contraction rule: a block that costs N where the runs are near and F where they are not."""

from dataclasses import dataclass

from sympy import Add, Expr, Ge, Le, S
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.composition import common
from lastiterate.symbolic.kernel.profiles import Atoms, Profile


@dataclass(frozen=True)
class Contracted(Profile):
    """int u N(g v/u) + A F(g B/A) with A = 1 - int u, B = 1 - int v.

    ``before`` is a pair (p, q) of finitely many atoms, p = y m and q = m, and the mass f(oo) where q = 0. ``split``
    holds the shares (u/p, v/q) of each atom, in its order, and at last (u/p, 0) of the mass where q = 0.
    """

    before: Atoms
    near: Profile
    far: Profile
    split: tuple[tuple[Expr, Expr], ...]

    def __post_init__(self) -> None:
        if len(self.split) != len(self.before.pairs) + 1:
            raise ValueError(
                "A contraction needs a pair of shares for each atom before it, and one for the mass beside."
            )
        object.__setattr__(self, "order", common((self.before, self.near, self.far)))

    def conditions(self) -> list[Boolean]:
        """The shares lie between 0 and 1."""
        return [one for pair in self.split for share in pair for one in (Ge(share, 0), Le(share, 1))]

    def at(self, g: Expr) -> Expr:
        *shares, (singular, _) = self.split
        parts = [(y * m * of_p, m * of_q) for (y, m), (of_p, of_q) in zip(self.before.pairs, shares, strict=True)]
        kept = singular * self.before.rest  # E_0 = 1
        left = 1 - kept - Add(*(u for u, _ in parts))
        right = 1 - Add(*(v for _, v in parts))
        value = kept + Add(*(u * self.near.at(g * v / u) for u, v in parts if u != 0))
        return value + (left * self.far.at(g * right / left) if left != 0 else S.Zero)
