# ruff: noqa: E501
"""Claims of a second referee: rounded numbers, indices, derivatives, means below 0, and statements about other runs."""

import sympy as sp
from privacy import BY_KEY, COMPOSITION, CONVEX, STRONG, cited, follows, restated, says
from referee_letters import (
    ONE,
    ZERO,
    R,
    at_most,
    count,
    k,
    on,
    plain,
    plain2,
    pos,
    q,
    r,
    s,
    same,
    solves,
    time,
    u,
)

from lastiterate.symbolic.checks import Induction, UpperBound
from lastiterate.symbolic.notation import PREVIOUS, D, K, L, alpha, b, m, n
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Clipped,
    Convex,
    CyclicBatches,
    Diameter,
    Exists,
    Expectation,
    FullBatches,
    LastIterate,
    LeastOver,
    Neighbours,
    OneMore,
    PoissonBatches,
    RenyiDivergence,
    StronglyConvex,
    closed,
)

D_ = sp.Derivative
any_f, any_g = sp.Function("f", real=True), sp.Function("g", real=True)
BOTH = RenyiDivergence(alpha, LastIterate(SAMPLES), LastIterate(OTHER)) + RenyiDivergence(
    alpha, LastIterate(OTHER), LastIterate(SAMPLES)
)
MEAN = Expectation(r)


class Liar(sp.Symbol):
    """A letter that says of itself what it likes."""

    is_nonnegative = True


def from_below(letter, conclusion, *laws, first=()):
    return Induction(letter, conclusion, first, laws)


def composed(change):
    """Composition, with another body."""
    claim = BY_KEY[COMPOSITION]
    derived = [one for one in claim.checks if not isinstance(one, UpperBound)]
    return says(
        closed(change(claim.statement.body), *claim.statement.conditions), *derived, given=claim.assumptions
    )


FALSE = [
    # rounded numbers, and letters of a class of one's own
    ("a third as a rounded number", same(r / 3, sp.Float(1 / 3) * r), ()),
    ("a sum of tenths that is rounded", at_most(pos * sp.Float("0.3"), pos * (sp.Float("0.1") + sp.Float("0.2")) - pos * sp.Float("1e-17")), ()),
    ("a premise that is rounded", at_most(r, 1, sp.Float("1e17") + r <= sp.Float("1e17") + 1), ()),
    ("a letter that says that it is not negative", at_most(0, Liar("x", real=True)), ()),
    # indices that are more than whole numbers
    ("an index of any real number", from_below(r, sp.Le(r, r**2)), ()),
    ("an index of any real number, said", says(closed(sp.Le(r, r**2)), from_below(r, sp.Le(r, r**2))), ()),
    ("every whole number is its absolute value, said", says(closed(sp.Eq(sp.Abs(k), k)), from_below(k, sp.Eq(sp.Abs(k), k))), ()),
    ("an index of every whole number, said", says(closed(sp.Ge(k**3, k)), from_below(k, sp.Ge(k**3, k))), ()),
    # derivatives that do not exist
    ("any function has a derivative", same(D_(any_f(r) + any_g(r), r), D_(any_f(r), r) + D_(any_g(r), r)), ()),
    ("mixed derivatives of any function", same(D_(any_f(r, s), r, s), D_(any_f(r, s), s, r) + 0 * r), ()),
    ("a derivative of a floor", same(D_(sp.floor(r), r), ZERO), ()),
    ("a derivative of a length at 0", same(D_(sp.sqrt(r**2 + q**2), r), r / sp.sqrt(r**2 + q**2)), ()),
    # branches, jumps, single points
    ("a conjugate of a root on its cut", same(sp.conjugate(sp.sqrt(plain)), sp.sqrt(sp.conjugate(plain))), ()),
    ("arguments that add up", same(sp.arg(plain * plain2), sp.arg(plain) + sp.arg(plain2)), (sp.Ne(plain, 0), sp.Ne(plain2, 0))),
    ("a modulus of a complex power", same(sp.Abs(plain**plain2), sp.Abs(plain) ** plain2), (sp.Ne(plain, 0),)),
    ("one at a root that no sample meets", same(sp.Piecewise((1, sp.Eq(r**2, 2)), (0, True)), ZERO), ()),
    ("a step function to infinity", on({r: (0, sp.oo)}, r, sp.floor(r) + R(999, 1000)), ()),
    ("a number of cases that ends late", solves(time, ZERO, PREVIOUS + sp.Piecewise((1, time < 10**4), (0, True)), time), ()),
    ("a growing base", from_below(time, sp.Le((1 + 1 / (time + 1)) ** time, 2)), ()),
    ("what is kept is false", Induction(time, sp.Le(u(time), 1), (sp.Eq(u(0), 1),), (sp.Eq(u(time + 1), 2 * u(time)),), (sp.Le(u(time), 0),)), ()),
    # other runs, other quantifiers
    ("both directions at the price of one", composed(lambda body: sp.Le(BOTH, body.rhs)), ()),
    ("a divergence of twice the order", composed(lambda body: sp.Le(body.lhs.xreplace({alpha: 2 * alpha}), body.rhs)), ()),
    ("a bound of the square", composed(lambda body: sp.Le(body.lhs, body.rhs**2)), ()),
    ("for some run, for all", says(Exists(BY_KEY[CONVEX].statement.variables, (), BY_KEY[CONVEX].statement.body), *[one for one in BY_KEY[CONVEX].checks if not isinstance(one, UpperBound)], given=BY_KEY[CONVEX].assumptions), ()),
    ("orders from 0 on", restated(COMPOSITION, alpha > 0, drop=(alpha > 1,)), ()),
    ("one sample more for one replaced", restated(COMPOSITION, OneMore(SAMPLES, OTHER), drop=(Neighbours(SAMPLES, OTHER),)), ()),
    ("full batches of another number", restated(COMPOSITION, FullBatches(b), drop=(FullBatches(n),)), ()),
    ("cyclic batches for full ones", restated(CONVEX, CyclicBatches(b, n), drop=(FullBatches(n),)), ()),
    ("Poisson batches for full ones", restated(COMPOSITION, PoissonBatches(b, n), drop=(FullBatches(n),)), ()),
    ("clipped at twice the norm", restated(COMPOSITION, Clipped(2 * K), drop=(Clipped(K),)), ()),
    ("twice the domain", restated(CONVEX, Diameter(2 * D), drop=(Diameter(D),)), ()),
    ("smoothness and length exchanged", restated(CONVEX, Convex(K, L), drop=(Convex(L, K),)), ()),
    ("half of the strong convexity", restated(STRONG, StronglyConvex(m / 2, L, K), drop=(StronglyConvex(m, L, K),)), ()),
    # what may be minus infinity is not finite because it is bounded above
    ("a square of a mean that is bounded above", follows(sp.Ge(MEAN**2 + MEAN + 1, 0), cited(MEAN <= 1)), ()),
]  # fmt: skip

TRUE = [
    ("a mean below 0", cited(Expectation(-pos) <= -pos), ()),
    ("a least value below 0", cited(LeastOver(r, sp.Tuple(r, -1, 1)) <= -1), ()),
    ("a mean that is larger by a little", follows(Expectation(r) <= pos + 1, cited(Expectation(r) <= pos)), ()),
    ("a whole index that may be negative, from 0 on", says(closed(sp.Implies(sp.Ge(k, 0, evaluate=False), sp.Ge(k**3, k), evaluate=False)), from_below(k, sp.Ge(k**3, k))), ()),
    ("roots of a square", same(sp.sqrt((r**2 + 1) ** 2), r**2 + 1), ()),
    ("Vandermonde", same(sp.Sum(sp.binomial(time, k) ** 2, (k, 0, time)), sp.binomial(2 * time, time)), ()),
    ("an alternating sum of binomials", same(sp.Sum((-1) ** k * sp.binomial(time, k), (k, 0, time)), 0**time), ()),
    ("Cardano", same((2 + sp.sqrt(5)) ** R(1, 3) - (sp.sqrt(5) - 2) ** R(1, 3), ONE), ()),
    ("Fibonacci below a power of 2", Induction(time, sp.Le(u(time), 2**time), (sp.Eq(u(0), 1), sp.Eq(any_g(0), 0)), (sp.Eq(u(time + 1), u(time) + any_g(time)), sp.Eq(any_g(time + 1), u(time))), (sp.Le(any_g(time), u(time)), sp.Ge(any_g(time), 0))), ()),
    ("a logistic map stays", Induction(time, sp.Le(u(time), 1), (sp.Le(u(0), 1), sp.Ge(u(0), 0)), (sp.Eq(u(time + 1), 4 * u(time) * (1 - u(time))),), (sp.Ge(u(time), 0),)), ()),
    ("a difference of roots", at_most(sp.sqrt(count + 1) - sp.sqrt(count), 1 / (2 * sp.sqrt(count))), ()),
    ("gradients that are no longer than the clip norm", restated(CONVEX, drop=(Clipped(K),)), ()),
]  # fmt: skip
