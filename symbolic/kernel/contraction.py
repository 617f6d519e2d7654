"""The contraction rule and its profile: a block that costs N where the runs are near and F where they are not."""

from dataclasses import dataclass

from sympy import Add, Expr, Ge, Le, S
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.composition import common
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError
from lastiterate.symbolic.kernel.profiles import Profile
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.tables import Atoms


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


def contract(
    kernel: Kernel, before: Span, near: Span, far: Span, diameter: Expr, split: tuple[tuple[Expr, Expr], ...]
) -> Span:
    """z -> z1 at X, then the same steps z1 -> z' at N and D -> z' at F, D the diameter: z -> z' at `Contracted`.

    k, k' and T_N as in `chain`; b* = inf k' and a* = T_F(b*) >= sup k, because F holds for all pairs of points.
    With h(b) = min(T_N(b), a*), the proof of `chain` gives for the pair (p, q) with profile X
    int k dP - g int k' dQ <= int w(p, q), w = sup_{b >= b*} p h(b) - g q b. For 0 <= u <= p and 0 <= v <= q
    w <= u N(g v/u) + (p - u) a* - g (q - v) b*: split p h - g q b into u h - g v b <= u T_N(b) - g v b and the
    rest, h <= a*, b >= b*. Integrate; a* - r b* <= F(r) for every r. F must start from all pairs of points: a
    distance that was tracked until then does not bound sup k.
    """
    if not isinstance(before.profile, Atoms) or near.scope != far.scope:
        raise UnprovedError("A contraction needs a table before it, and the same revealed variables near and far.")
    inside = Hypothesis("after every step both runs are in one convex set of this diameter", (diameter,))
    if not before.order is near.order is far.order:
        raise UnprovedError("A contraction needs one order in all three premises.")
    drawn = near.drawn | far.drawn
    shared = before.drawn & (drawn | near.scope) | before.scope & drawn
    if shared:
        raise UnprovedError(f"A variable is averaged over in one part and used in the other: {shared}.")
    conditions = [*kernel.same(before.end, near.start), *kernel.same(near.start, far.start)]
    conditions += [*kernel.same(near.end, far.end), *kernel.same(near.far, far.far), Le(before.far, near.near)]
    profile = Contracted(before.profile, near.profile, far.profile, split)
    conditions += [Ge(far.near, diameter), *profile.conditions()]
    ends, distances = (before.start, near.end), (before.near, near.far)
    return kernel.apply("contract", before.order, ends, distances, profile, conditions, (before, near, far), {inside})
