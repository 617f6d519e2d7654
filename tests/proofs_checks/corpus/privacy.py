# ruff: noqa: E501
"""Whole claims: statements that say more than what is derived, cited, followed or looked at, and some that say no more."""

from dataclasses import replace

import sympy as sp
from referee_letters import ONE, ZERO, R, at_most, count, k, on, pos, pos2, r, s, same
from sympy import And, Eq, Ge, Le, Lt

from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Cited,
    Consequence,
    Deduced,
    Derived,
    Induction,
    Tracked,
    UpperBound,
)
from lastiterate.symbolic.claim import Claim, Step
from lastiterate.symbolic.derivations import statements as st
from lastiterate.symbolic.kernel.densities import ANY_ORDER, Joint
from lastiterate.symbolic.kernel.densities import mean as expected
from lastiterate.symbolic.kernel.integrals import Indicator
from lastiterate.symbolic.kernel.profiles import Equal, Gauss
from lastiterate.symbolic.notation import (
    D,
    K,
    L,
    T,
    alpha,
    c,
    chi,
    epsilon,
    eta,
    m,
    n,
    p,
    sensitivity,
    sigma,
    t,
    u,
    v,
    w,
    x,
    y,
    z,
)
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import (
    FIRST,
    MAP,
    SECOND,
    Binomial,
    Clipped,
    Constant,
    Convex,
    Diameter,
    Exists,
    ForAll,
    FullBatches,
    HockeyStick,
    Image,
    LeastGradient,
    Lipschitz,
    Neighbours,
    Noisy,
    Probability,
    RenyiDivergence,
    ShiftedDivergence,
    Smooth,
    StronglyConvex,
    closed,
    private,
)

BOOK = Source("A book", "Theorem 1")
HALF, S = R(1, 2), sensitivity()
BY_KEY = {claim.key: claim for claim in ledger.claims()}
DIRECT, COMPOSITION = "chien_li/theorem_3_1/direct/", "chien_li/theorem_3_1/composition"
CONVEX, STRONG, SMOOTH, ANY = (DIRECT + kind for kind in ("convex", "strongly_convex", "smooth", "clipped"))
ZERO_CONCENTRATED = alpha * T * S**2 / (2 * sigma**2)


def says(statement, *checks, given=(), kind=Claim):
    """A claim with a statement of its own."""
    return kind("planted/claim", "a toy", BOOK, *checks, assumptions=given, statement=statement)


def restated(key, *more, drop=(), put=None, times=ONE):
    """A claim of the ledger whose statement has lost conditions, has more of them, or has another bound."""
    claim = BY_KEY[key]
    said = claim.statement
    body = said.body.func(said.body.lhs, times * said.body.rhs.xreplace(put or {}))
    kept = [one for one in said.conditions if one not in drop and type(one) not in drop]
    checks = (
        replace(check, mutants=(), **({"attacks": check.attacks[:1]} if isinstance(check, UpperBound) else {}))
        for check in claim.checks
    )
    found = closed(body, *kept, *more)
    assert found != said or not (drop or put or more or times != ONE)
    return says(found, *checks, given=claim.assumptions)


def without(key, *conditions):
    return restated(key, drop=conditions)


def deduced(statement, name):
    return Deduced(statement, name)


def cited(conclusion, *given):
    return Cited(conclusion, BOOK, given)


def follows(conclusion, *found, given=(), covers=()):
    return Consequence(conclusion, found, given, covers)


def divergence(one, other, order=alpha):
    return RenyiDivergence(order, one, other)


def noisy(law):
    return Noisy(law, sigma**2)


AFTER = divergence(Image(MAP, FIRST), Image(MAP, SECOND))
BEFORE = divergence(FIRST, SECOND)
PAIR = divergence(Joint(FIRST, st.KERNEL), Joint(SECOND, st.KERNEL_2))
SHIFTED = ShiftedDivergence(alpha, z, noisy(FIRST), noisy(SECOND))
PRICE = alpha * st.a**2 / (2 * sigma**2)
TAIL = Probability(x >= 1) <= HALF
LARGER = r**2 + s**2
MEANS = at_most(2 * r * s, LARGER)
f = sp.Function("f", real=True)

FALSE = [
    # a quantifier exchanged, or a statement that says more than its check
    ("for all for some", says(closed(r <= 1), at_most(r, 1)), ()),
    ("one bound above all numbers", says(Exists((s,), (), ForAll((r,), (), r <= s)), at_most(r, s, r <= s - 1)), ()),
    ("for every y some x, as some x for every y", says(Exists((s,), (), ForAll((r,), (), Ge(s, r**2))), at_most(r**2, r**2 + 1)), ()),
    ("a box for the line", says(closed(sp.exp(r) <= 1 + r + r**2), on({r: (0, 1)}, sp.exp(r), 1 + r + r**2)), ()),
    ("a number for a letter", says(closed(Le(r**2, r)), at_most(R(1, 4), HALF)), ()),
    ("the premise left out", says(closed(r <= r**2), at_most(r, r**2, r >= 1)), ()),
    ("the assumption left out", says(closed(r <= r**2), at_most(r, r**2), given=(r >= 1,)), ()),
    ("a strict sign for a weak one", says(closed(Lt(2 * r * s, LARGER)), MEANS), ()),
    ("the other direction", says(closed(Ge(2 * r * s, LARGER)), MEANS), ()),
    ("an equation for an inequality", says(closed(Eq(2 * r * s, LARGER)), MEANS), ()),
    ("one percent more", says(closed(Le(R(101, 50) * r * s, LARGER)), MEANS), ()),
    ("of two conclusions one is shown", says(closed(And(Le(2 * r * s, LARGER), Le(r, s))), MEANS), ()),
    ("whole numbers for real ones", says(closed(Le(r, r**2)), at_most(k, k**2)), ()),
    ("positive numbers for real ones", says(closed(Le(2 * r, r**2 * s + 1 / s), sp.Ne(s, 0)), at_most(2 * pos, pos**2 * pos2 + 1 / pos2)), ()),
    ("a first index for every index", says(closed(Le(f(t), t)), Induction(t, Le(f(t), t), (Eq(f(0), 0),), (Eq(f(t + 1), f(t) + 1),))), ()),
    ("for up to 6 terms, as for any number", says(closed(Le(2**count, 64)), on({count: (1, 6)}, 2**count, 64)), ()),
    ("hypotheses that contradict each other", says(closed(Le(r, s), r > s, r < s), at_most(r, s, r <= s)), ()),
    ("hypotheses that no number meets", says(closed(Le(r, -1), r**2 + s**2 <= r - 1), at_most(r, -1, r <= -1)), ()),
    ("a class that is empty: m > L", says(closed(Le(m, L), m > L), at_most(m, L, m <= L)), ()),
    # runs: a condition of the statement that the derivation supposes
    ("losses not said to be convex", without(CONVEX, Convex(L, K)), ()),
    ("convex losses, any step size", without(CONVEX, eta * L <= 2), ()),
    ("convex losses, steps up to 4/L", restated(CONVEX, eta * L <= 4, drop=(eta * L <= 2,)), ()),
    ("no domain", without(CONVEX, Diameter(D)), ()),
    ("batches of any size", without(CONVEX, FullBatches(n)), ()),
    ("any two data sets", without(CONVEX, Neighbours), ()),
    ("smooth losses without clipping", without(SMOOTH, Clipped(K)), ()),
    ("smooth losses, smoothness not said", without(SMOOTH, Smooth(L)), ()),
    ("strongly convex losses as convex ones", restated(STRONG, Convex(L, K), drop=(StronglyConvex,)), ()),
    ("strong convexity left out", without(STRONG, StronglyConvex), ()),
    ("a class that is empty", restated(STRONG, m > L), ()),
    ("conditions against each other, of a letter beside the bound", restated(STRONG, r > 1, r < 0), ()),
    ("composition of steps that are not clipped", without(COMPOSITION, Clipped(K)), ()),
    ("composition of any two data sets", without(COMPOSITION, Neighbours), ()),
    ("composition of batches", without(COMPOSITION, FullBatches(n)), ()),
    # runs: a bound that is too small
    ("composition, 1 % less", restated(COMPOSITION, times=R(99, 100)), ()),
    ("composition, one step less", restated(COMPOSITION, put={T: T - 1}), ()),
    ("composition, the root of the steps", restated(COMPOSITION, put={T: sp.sqrt(T)}), ()),
    ("composition, half the sensitivity", restated(COMPOSITION, put={K: K / 2}), ()),
    ("composition, twice the noise", restated(COMPOSITION, put={sigma: 2 * sigma}), ()),
    ("composition, the order less 1", restated(COMPOSITION, times=(alpha - 1) / alpha), ()),
    ("composition, no steps at all", restated(COMPOSITION, put={T: ZERO}), ()),
    ("composition, another letter for the noise", restated(COMPOSITION, put={sigma: x + 1}), ()),
    ("composition, a step size that is not the run's", restated(COMPOSITION, put={eta: y}), ()),
    ("windows of convex losses, 1 % less", restated(CONVEX, times=R(99, 100)), ()),
    ("windows of smooth losses, 2 n samples", restated(SMOOTH, put={n: 2 * n}), ()),
    ("windows of strongly convex losses, 4 m", restated(STRONG, put={m: 4 * m}), ()),
    ("windows of clipped losses, half the clip norm", restated(ANY, put={K: K / 2}), ()),
    ("a divergence of another order", says(private(ZERO_CONCENTRATED, Clipped(K), FullBatches(n)), Derived("full_batch/composition", Gauss(T * S**2 / (2 * sigma**2))), given=(alpha > 1,)), ()),
    # profiles that a derivation does not reach
    ("a window of convex losses, 1 % less", Derived("full_batch/convex", Gauss(R(99, 100) * (D + w * S) ** 2 / (w * sigma**2))), (eta * L <= 2,)),
    ("a window of convex losses, a step less of drift", Derived("full_batch/convex", Gauss((D + (w - 1) * S) ** 2 / (w * sigma**2))), (eta * L <= 2,)),
    ("a window of convex losses, a step more of noise", Derived("full_batch/convex", Gauss((D + w * S) ** 2 / ((w + 1) * sigma**2))), (eta * L <= 2,)),
    ("a window of convex losses, the radius", Derived("full_batch/convex", Gauss((D / 2 + w * S) ** 2 / (w * sigma**2))), (eta * L <= 2,)),
    ("a window of convex losses, steps up to 3/L", Derived("full_batch/convex", Gauss((D + w * S) ** 2 / (w * sigma**2))), (eta * L <= 3,)),
    ("a window of convex losses, no step size supposed", Derived("full_batch/convex", Gauss((D + w * S) ** 2 / (w * sigma**2))), ()),
    ("two runs that are the same", Derived("full_batch/convex", Equal()), (eta * L <= 2,)),
    ("composition, a hundredth", Derived("full_batch/composition", Gauss(T * S**2 / (100 * sigma**2))), ()),
    ("composition, T - 1 steps", Derived("full_batch/composition", Gauss((T - 1) * S**2 / sigma**2)), ()),
    ("composition, mu for its square", Derived("full_batch/composition", Gauss(sp.sqrt(T) * S / sigma)), ()),
    ("composition of no noise", Derived("full_batch/composition", Gauss(ZERO)), ()),
    ("a derivation that there is not", Derived("full_batch/nonconvex", Gauss(ONE)), ()),
    ("contraction with another factor", Derived("full_batch/strongly convex", Gauss((D + w * S) ** 2 / (2 * w * sigma**2))), (c < 1, c >= 1 - eta * m, c >= eta * L - 1, m <= L)),
    ("a step expands by 1 - eta m alone", Derived("full_batch/strongly convex", Gauss((D + w * S) ** 2 / (w * sigma**2))), (Eq(c, 1 - eta * m), m <= L)),
    ("a distance less s", Tracked("domain", D - S), ()),
    ("half the diameter", Tracked("domain", D / 2), ()),
    ("a run that stays together", Tracked("domain", ZERO), ()),
    ("a Renyi bound of a hundredth", replace(BY_KEY["altschuler_talwar/theorem_3_1"].checks[0], bound=alpha * T * S**2 / (200 * sigma**2), mutants=()), BY_KEY["altschuler_talwar/theorem_3_1"].assumptions),
    ("a Renyi bound of nothing", replace(BY_KEY["altschuler_talwar/theorem_3_1"].checks[0], bound=ZERO, mutants=()), BY_KEY["altschuler_talwar/theorem_3_1"].assumptions),
    ("the printed proof of Theorem 3.1 that conditions on shares", BY_KEY["chien_li/proof_3_1/conditioning"].checks[-1], ()),
    # the integral calculus: divergences of any laws
    ("post-processing turned round", deduced(closed(BEFORE <= AFTER, alpha > 1), "post_processing"), ()),
    ("post-processing, 1 % less", deduced(closed(R(99, 100) * BEFORE >= AFTER, alpha > 1), "post_processing"), ()),
    ("post-processing, strict", deduced(closed(Lt(AFTER, BEFORE), alpha > 1), "post_processing"), ()),
    ("post-processing with the laws exchanged", deduced(closed(divergence(SECOND, FIRST) >= AFTER, alpha > 1), "post_processing"), ()),
    ("post-processing, two maps", deduced(closed(divergence(Image(MAP, FIRST), Image(st.OTHER_MAP, SECOND)) <= BEFORE, alpha > 1), "post_processing"), ()),
    ("post-processing, another order", deduced(closed(divergence(FIRST, SECOND, alpha - HALF) >= AFTER, alpha > 2), "post_processing"), ()),
    ("post-processing, order 2 for every order", deduced(closed(divergence(FIRST, SECOND, sp.Integer(2)) >= AFTER, alpha > 1), "post_processing"), ()),
    ("post-processing costs nothing", deduced(closed(AFTER <= 0, alpha > 1), "post_processing"), ()),
    ("symmetry", deduced(closed(divergence(SECOND, FIRST) >= BEFORE, alpha > 1), "post_processing"), ()),
    ("composition with the best second step", deduced(closed(PAIR <= BEFORE, alpha > 1), "composition"), ()),
    ("composition, the second step alone", deduced(closed(st._given >= PAIR, alpha > 1), "composition"), ()),
    ("composition, the larger of two", deduced(closed(sp.Max(BEFORE, st._given) >= PAIR, alpha > 1), "composition"), ()),
    ("composition of budgets without the second", deduced(closed(PAIR <= st.EPSILON_1 + st.EPSILON_2, alpha >= 1, BEFORE <= st.EPSILON_1), "composition/budgets"), ()),
    ("composition of budgets: their maximum", deduced(closed(sp.Max(st.EPSILON_1, st.EPSILON_2) >= PAIR, alpha >= 1, BEFORE <= st.EPSILON_1, st._given <= st.EPSILON_2), "composition/budgets"), ()),
    ("k steps at the price of k - 1", deduced(replace(st.many_mechanisms(), body=st._sequence() <= sp.Sum(st.COST, (st.INDEX, 1, st.COUNT - 1))), "sequences/budgets"), ()),
    ("k steps at any prices", deduced(replace(st.many_mechanisms(), conditions=(alpha >= 1,)), "sequences/budgets"), ()),
    ("k steps at the largest price", deduced(closed(st._sequence() <= st.COST, alpha >= 1), "sequences/budgets"), ()),
    ("quasi-convexity with the smaller divergence", deduced(closed(st.quasi_convexity().body.lhs <= sp.Min(*st.quasi_convexity().body.rhs.args), *st.quasi_convexity().conditions), "quasi_convexity"), ()),
    ("quasi-convexity for weights above 1", deduced(closed(st.quasi_convexity().body, alpha >= 1), "quasi_convexity"), ()),
    ("joint convexity for weights of any sum", deduced(closed(st.joint_convexity().body, alpha >= 1), "joint_convexity"), ()),
    ("the mean of orders without a bound of each", deduced(closed(st.mean_of_orders().body, alpha > 1, Eq(sp.Sum(st.WEIGHT, (st.INDEX, 1, st.COUNT)), 1)), "mean_of_orders"), ()),
    ("the mean of orders as the mean of the bounds", deduced(closed(st.mean_of_orders().body.lhs <= sp.Sum(st.WEIGHT * st.COST, (st.INDEX, 1, st.COUNT)), *st.mean_of_orders().conditions), "mean_of_orders"), ()),
    ("convexity in the first law", deduced(closed(divergence((1 - st.MIX) * FIRST + st.MIX * st.THIRD, SECOND, ANY_ORDER) <= (1 - st.MIX) * divergence(FIRST, SECOND, ANY_ORDER) + st.MIX * divergence(st.THIRD, SECOND, ANY_ORDER), st.MIX <= 1), "second_law"), ()),
    ("conversion without log(1/delta)", deduced(closed(HockeyStick(sp.exp(epsilon), FIRST, SECOND) <= sp.exp(-chi), alpha > 1, epsilon >= BEFORE), "conversion"), ()),
    ("conversion with log(1/delta)/alpha", deduced(closed(HockeyStick(sp.exp(epsilon + chi / alpha), FIRST, SECOND) <= sp.exp(-chi), alpha > 1, epsilon >= BEFORE), "conversion"), ()),
    ("conversion without a divergence", deduced(closed(HockeyStick(sp.exp(epsilon + chi / (alpha - 1)), FIRST, SECOND) <= sp.exp(-chi), alpha > 1), "conversion"), ()),
    ("conversion of the other direction", deduced(closed(HockeyStick(sp.exp(epsilon + chi / (alpha - 1)), SECOND, FIRST) <= sp.exp(-chi), alpha > 1, epsilon >= BEFORE), "conversion"), ()),
    ("conversion at order 1", deduced(closed(HockeyStick(sp.exp(epsilon + chi / (alpha - 1)), FIRST, SECOND) <= sp.exp(-chi), alpha >= 1, epsilon >= BEFORE), "conversion"), ()),
    ("Markov turned round", deduced(closed(expected(st.VARIABLE) / st.LEVEL <= expected(Indicator(st.VARIABLE, st.LEVEL))), "markov"), ()),
    ("Markov with the square of the level", deduced(closed(expected(Indicator(st.VARIABLE, st.LEVEL)) <= expected(st.VARIABLE) / st.LEVEL**2), "markov"), ()),
    ("a shift for nothing", deduced(closed(ShiftedDivergence(alpha, z + st.a, FIRST, SECOND) >= SHIFTED, alpha > 1), "shift_reduction"), ()),
    ("a shift at half its price", deduced(closed(ShiftedDivergence(alpha, z + st.a, FIRST, SECOND) + PRICE / 2 >= SHIFTED, alpha > 1), "shift_reduction"), ()),
    ("a shift at (alpha - 1) a^2/2", deduced(closed(ShiftedDivergence(alpha, z + st.a, FIRST, SECOND) + (alpha - 1) * st.a**2 / (2 * sigma**2) >= SHIFTED, alpha > 1), "shift_reduction"), ()),
    ("a shift of twice the length", deduced(closed(ShiftedDivergence(alpha, z + 2 * st.a, FIRST, SECOND) + PRICE >= SHIFTED, alpha > 1), "shift_reduction"), ()),
    ("a map that is not said to be Lipschitz", deduced(st.reduction(st.FACTOR * z, MAP, alpha > 1), "reduction/lipschitz"), ()),
    ("a Lipschitz map taken for a contraction", deduced(st.reduction(z, MAP, alpha > 1, Lipschitz(MAP, st.FACTOR)), "reduction/lipschitz"), ()),
    ("two maps, of which none is said to be close", deduced(st.reduction(z + st.APART, st.OTHER_MAP, alpha > 1, Lipschitz(MAP, ONE)), "reduction/contractions"), ()),
    # what is cited, and what is said to follow
    ("a cited line that breaks at a point", cited(p**2 < p), ()),
    ("what follows from a false citation", follows(Le(p, 1), Cited(p**2 < p, BOOK)), ()),
    ("a cited inequality that is turned round", cited(sp.exp(r) <= 1 + r), ()),
    ("a tail that grows", follows(Probability(x >= 1) <= R(1, 4), cited(TAIL)), ()),
    ("a larger event", follows(Probability(x >= HALF) <= HALF, cited(TAIL)), ()),
    ("the other event", follows(Probability(x < 1) <= HALF, cited(TAIL)), ()),
    ("another letter", follows(Probability(y >= 1) <= HALF, cited(TAIL)), ()),
    ("strict", follows(Lt(Probability(x >= 1), HALF), cited(TAIL)), ()),
    ("independent events", follows(Probability(And(x >= 1, y >= 1)) <= R(1, 4), cited(TAIL), cited(Probability(y >= 1) <= HALF)), ()),
    ("two events at the price of one", follows(Probability(z < 2) >= HALF, cited(TAIL), cited(Probability(y >= 1) <= HALF), given=(z <= x + y,), covers=(x >= 1, y >= 1)), ()),
    ("events that do not cover", follows(Probability(z < 2) >= HALF, cited(TAIL), given=(z <= x + y,), covers=(x >= 1,)), ()),
    ("a premise that is not met", follows(Probability(x >= 1) <= v, cited(Probability(x >= 1) <= v, v >= 1)), ()),
    ("a premise of another law", follows(Probability(x >= 1) <= HALF, cited(TAIL, Binomial(x, T, HALF)), given=(Binomial(x, T, p),)), ()),
    ("a constant that is 1", follows(LeastGradient(u) <= v, cited(LeastGradient(u) <= Constant(v))), ()),
    ("a constant times less", follows(LeastGradient(u) <= Constant(v / (1 + v)), cited(LeastGradient(u) <= Constant(v))), ()),
    ("a rate for a smaller number of steps", follows(LeastGradient(u / 2) <= Constant(v), cited(LeastGradient(u) <= Constant(v))), ()),
    ("a divergence of larger order", follows(divergence(r, s, sp.Integer(3)) <= v, cited(divergence(r, s, sp.Integer(2)) <= v)), ()),
    ("the laws exchanged", follows(divergence(s, r) <= v, cited(divergence(r, s) <= v)), ()),
    ("a divergence less another, either infinite", follows(divergence(r, s) - divergence(s, r) <= 1, cited(divergence(r, s) <= divergence(s, r) + 1)), ()),
    ("an infinite divergence below its square", follows(Lt(divergence(r, s), divergence(r, s) ** 2 + 1), cited(TAIL)), ()),
    ("an infinite divergence on both sides", follows(divergence(r, s) <= 3, cited(divergence(r, s) <= 5), cited(divergence(r, s) + divergence(s, r) <= divergence(s, r) + 3)), ()),
    ("an infinite divergence less itself", follows(Ge(divergence(r, s) ** 2 - divergence(r, s) + 1, 0), cited(TAIL)), ()),
    ("nothing cited", follows(Le(u, 5), given=(u <= 4,)), ()),
    ("supposed, and concluded", follows(Le(v, u + 1), cited(TAIL), given=(v <= u + 1,)), ()),
    ("cited, and concluded word for word", follows(TAIL, cited(TAIL)), ()),
    ("a premise that no number meets", follows(LeastGradient(u) <= Constant(2 * v), cited(LeastGradient(u) <= Constant(v)), given=(And(y < 1, y > 2),)), ()),
    ("results that contradict each other", follows(Probability(x >= 1) <= R(3, 4), cited(TAIL), cited(Probability(y >= 1) <= R(1, 4)), cited(Probability(y >= 1) >= HALF)), ()),
    ("a number that is random", follows(Probability(x >= y / 2) <= 2 * sp.exp(-y), cited(Probability(x >= y / 2) <= sp.exp(-y), Binomial(x, T, HALF)), given=(Binomial(x, T, HALF), Binomial(y, T, HALF))), ()),
    ("an order with a pole", follows(divergence(r, s, 1 / (alpha - 1)) <= 2 * v, cited(divergence(r, s, 1 / (alpha - 1)) <= v)), ()),
    ("an event with a pole", follows(Probability(x >= 1 / (v - 1)) <= R(3, 4), cited(Probability(x >= 1 / (v - 1)) <= HALF), given=(v >= 1,)), ()),
    ("a cited root of any number", follows(Probability(x >= 1) <= r + R(1, 4), cited(Probability(x >= 1) <= sp.sqrt(r))), ()),
    ("events that are undefined for numbers below 0", follows(Probability(z < 2) >= HALF, cited(TAIL), given=(z <= x + y, y < R(3, 4) - r), covers=(x >= 1 + sp.sqrt(r),)), ()),
    ("constants that are taken for one", follows(LeastGradient(u) <= LeastGradient(v), cited(LeastGradient(u) <= Constant(v)), cited(LeastGradient(v) >= Constant(v)), cited(LeastGradient(v) <= 5)), ()),
    ("a constant times a difference", follows(LeastGradient(u) <= Constant(v - u), cited(LeastGradient(u) <= Constant(v))), ()),
    ("a constant times more, from below", follows(LeastGradient(u) >= Constant(v + 1), cited(LeastGradient(u) >= Constant(v))), ()),
    ("a tail of another letter", follows(Probability(y >= 1) >= HALF, cited(Probability(x >= 1) >= HALF)), ()),
    ("an event of another letter that never happens", follows(Probability(y >= 1) <= 0, cited(TAIL)), ()),
    ("a tail as likely as what it leaves", follows(Probability(x >= 2) >= HALF, cited(TAIL)), ()),
    ("a tail as unlikely as what it leaves", follows(Probability(x >= 2) <= HALF, cited(Probability(x >= 1) >= HALF)), ()),
    ("conditions that no numbers meet", deduced(closed(AFTER <= BEFORE, alpha > 1, p > 2, p < 1), "post_processing"), ()),
    ("a letter that no quantifier binds", deduced(replace(st.markov_inequality(), variables=()), "markov"), ()),
    ("two laws of one letter", follows(Probability(x >= 3) <= HALF, cited(Probability(x >= 2) <= HALF, Binomial(x, T, p)), given=(Binomial(x, T, p), Binomial(x, T, v))), ()),
    ("a premise that no law obeys at every outcome", follows(Probability(x >= 2) <= 0, cited(TAIL, Binomial(x, T, p)), given=(Binomial(x, T, p), x <= 1)), ()),
    ("two premises that no law obeys at every outcome", follows(Probability(x >= y) >= 1, cited(TAIL, Binomial(x, T, p)), given=(Binomial(x, T, p), Binomial(y, T, p), z <= x, z >= y)), ()),
    # attacks
    ("half the sensitivity, attacked", UpperBound("composition", ("linear",), {K: K / 2}), (alpha > 1,)),
    ("one step less, attacked", UpperBound("composition", ("linear",), {T: T - 1}), (alpha > 1,)),
    ("noise counted twice, attacked", UpperBound("composition", ("linear",), {sigma: 2 * sigma}), (alpha > 1,)),
    ("the radius, attacked", UpperBound("shifts_full_convex", ("clamped_linear",), {D: D / 2}), (alpha > 1, eta * L <= 2)),
    ("four times the strong convexity, attacked", UpperBound("shifts_full_strongly_convex", ("quadratic", "clamped_quadratic"), {m: 4 * m}), (alpha > 1, m <= L)),
    ("a bound that there is not", UpperBound("no_such_bound", ("linear",)), ()),
    ("runs that there are not", UpperBound("composition", ("no_such_run",)), ()),
]  # fmt: skip

TRUE = [
    ("means, with its quantifiers", says(closed(Le(2 * r * s, LARGER)), MEANS), ()),
    ("under its premise", says(closed(sp.Implies(r >= 1, Le(r, r**2))), at_most(r, r**2, r >= 1)), ()),
    ("a step of a proof", says(closed(Le(r, r**2), r >= 1), at_most(r, r**2), given=(r >= 1,), kind=Step), ()),
    ("an identity, said", says(closed(Eq((r + s) ** 2, r**2 + 2 * r * s + s**2)), same((r + s) ** 2, r**2 + 2 * r * s + s**2)), ()),
    ("composition", restated(COMPOSITION), ()),
    ("composition of a hundredth more", restated(COMPOSITION, times=R(101, 100)), ()),
    ("windows of convex losses", restated(CONVEX), ()),
    ("windows of convex losses, steps up to 1/L", restated(CONVEX, eta * L <= 1), ()),
    ("windows of strongly convex losses", restated(STRONG), ()),
    ("windows of smooth losses", restated(SMOOTH), ()),
    ("windows of clipped losses", restated(ANY), ()),
    ("Lemma 3.5, the domain", Tracked("domain", D), ()),
    ("post-processing", deduced(st.post_processing(alpha, alpha > 1), "post_processing"), ()),
    ("post-processing of every order", deduced(st.post_processing(ANY_ORDER), "post_processing/from 0"), ()),
    ("composition of two mechanisms", deduced(st.two_mechanisms(), "composition/budgets"), ()),
    ("composition of many", deduced(st.many_mechanisms(), "sequences/budgets"), ()),
    ("quasi-convexity", deduced(st.quasi_convexity(), "quasi_convexity/from 1"), ()),
    ("joint convexity", deduced(st.joint_convexity(), "joint_convexity"), ()),
    ("the mean of orders", deduced(st.mean_of_orders(), "mean_of_orders"), ()),
    ("convexity in the second law", deduced(st.second_law(), "second_law"), ()),
    ("conversion", deduced(st.conversion(), "conversion"), ()),
    ("Markov", deduced(st.markov_inequality(), "markov"), ()),
    ("shift reduction", deduced(st.shift_reduction(alpha > 1), "shift_reduction"), ()),
    ("Lipschitz maps", deduced(st.reduction(st.FACTOR * z, MAP, alpha > 1, Lipschitz(MAP, st.FACTOR)), "reduction/lipschitz"), ()),
    ("a tail that falls", follows(Probability(x >= 2) <= HALF, cited(TAIL)), ()),
    ("a larger bound", follows(Probability(x >= 1) <= R(3, 4), cited(TAIL)), ()),
    ("the complement", follows(Probability(x < 1) >= HALF, cited(TAIL)), ()),
    ("Boole for two", follows(Probability(z < 2) >= R(1, 4), cited(Probability(x >= 1) <= R(3, 8)), cited(Probability(y >= 1) <= R(3, 8)), given=(z <= x + y,), covers=(x >= 1, y >= 1)), ()),
    ("a larger rate", follows(LeastGradient(u) <= Constant(v + 1), cited(LeastGradient(u) <= Constant(v))), ()),
    ("a cited tangent", cited(1 + r <= sp.exp(r)), ()),
    ("composition, attacked", UpperBound("composition", ("linear",)), (alpha > 1,)),
]  # fmt: skip
