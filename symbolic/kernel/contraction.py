"""The contraction rule: a block that costs N where the runs are near and F where they are not."""

from sympy import Expr, Ge, Le, S

from lastiterate.symbolic.kernel.applied import apply, separate
from lastiterate.symbolic.kernel.blocks import Contracted
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError
from lastiterate.symbolic.kernel.profiles import Order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.kernel.substitution import same
from lastiterate.symbolic.kernel.tables import EVERYTHING


@rule
def anything(kernel: Kernel, order: Order, ends: tuple[Expr, Expr]) -> Span:
    """Any steps: 0 -> 0 at 1, because P(A) - g Q(A) <= 1."""
    return apply(kernel, "anything", order, ends, (S.Zero, S.Zero), EVERYTHING, (Ge(ends[1] - ends[0], 0),))


@rule
def contract(kernel: Kernel, before: Span, near: Span, far: Span, diameter: Expr) -> Span:
    """z -> z1 at X, then the same steps z1 -> z' at N and D -> z' at F, D the diameter: z -> z' at `Contracted`.

    k, k' and T_N as in `chain`; b* = inf k' and a* = T_F(b*) >= sup k, because F holds for all pairs of points.
    With h(b) = min(T_N(b), a*), the proof of `chain` gives int k dP - g int k' dQ <= h(b*) - g b* +
    int_b*^1 h'(b) X(g/h'(b)) db. For finite measures p, q with E_r(p || q) >= X(r) and int p >= 1 >= int q that is at
    most int w(p, q), w = sup_{b >= b*} p h(b) - g q b. For 0 <= u <= p and 0 <= v <= q
    w <= u N(g v/u) + (p - u) a* - g (q - v) b*: split p h - g q b into u h - g v b <= u T_N(b) - g v b and the
    rest, h <= a*, b >= b*. Integrate; a* - r b* <= F(r) for every r. What it bounds is convex in g (F2). F must start
    from all pairs of points: a distance that was tracked until then does not bound sup k.
    """
    if near.scope != far.scope:
        raise UnprovedError("A contraction needs the same revealed variables near and far.")
    inside = Hypothesis("after every step both runs are in one convex set of this diameter", (diameter,))
    if not before.order is near.order is far.order:
        raise UnprovedError("A contraction needs one order in all three premises.")
    separate((before,), (near, far))
    conditions = [*same(before.end, near.start), *same(near.start, far.start)]
    conditions += [*same(near.end, far.end), *same(near.far, far.far), Le(before.far, near.near)]
    profile = Contracted(before.profile, near.profile, far.profile)
    conditions += [Ge(far.near, diameter), Le(before.near, diameter)]  # of no step before, the points are inside
    ends, distances = (before.start, near.end), (before.near, near.far)
    return apply(kernel, "contract", before.order, ends, distances, profile, conditions, (before, near, far), {inside})
