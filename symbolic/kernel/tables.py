"""Tables: profiles that are linear between finitely many nodes."""

from dataclasses import dataclass
from typing import Final

from sympy import Add, Expr, Max, Symbol, oo

from lastiterate.symbolic.kernel.profiles import Order, Profile, Words


@dataclass(frozen=True)
class Atoms(Profile):
    """f(oo) + sum of m (y - g)_+ over finitely many pairs (y, m): a table, or the exact profile of a finite pair."""

    pairs: tuple[tuple[Expr, Expr], ...]
    order: Order | None = None

    def words(self) -> Words:
        return (f"a table of {len(self.pairs)} nodes" if self.pairs else "everything",)

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

    part: Profile
    node: Expr
    index: Symbol
    count: Expr
    order: Order | None = None

    def words(self) -> Words:
        return "chords between the nodes ", self.node, " of (", self.part, ")"
