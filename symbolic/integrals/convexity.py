"""Mixtures of laws, the convexity of divergences, and what a divergence says of events."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sympy import Basic, Expr, S, Sum, exp, log

from lastiterate.symbolic.integrals import lemmas
from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import ANY_ORDER, KERNEL, KERNEL_2, At, Every
from lastiterate.symbolic.integrals.laws import EVENT
from lastiterate.symbolic.integrals.orders import Deduction, orders
from lastiterate.symbolic.integrals.statements import COST, COUNT, FOURTH, INDEX, MIX, THIRD, WEIGHT
from lastiterate.symbolic.integrals.terms import density, moment, place, power
from lastiterate.symbolic.notation import alpha, chi, epsilon
from lastiterate.symbolic.statement import FIRST, SECOND, RenyiDivergence

_Pairs = Iterable[tuple[Any, ...]]


def quasi_convexity(rules: Calculus, order: Expr) -> Judgement:
    """E[phi] of mixed laws is at most the mean of E[phi], and either at most s exp((a-1) max(D_1, D_2))."""
    pairs = ((MIX, FIRST, SECOND), (1 - MIX, THIRD, FOURTH))
    mixed = MIX * FIRST + (1 - MIX) * THIRD, MIX * SECOND + (1 - MIX) * FOURTH
    rules = rules.under(MIX <= 1)
    first, other = (RenyiDivergence(order, *laws) for _, *laws in pairs)
    least = rules.maximum(first, other), rules.maximum(other, first)
    most = rules.add(*((w, rules.conditional(one, order)) for (w, *_), one in zip(pairs, least, strict=True)))
    whole = rules.chain(_mixed(rules, order, mixed, pairs), most)
    return rules.divergence(whole, order, mixed, rest=(order - 1) * least[0].right)


def _mixed(rules: Calculus, order: Expr, mixed: tuple[Basic, Basic], pairs: _Pairs) -> Judgement:
    """E[phi] of mixed laws is at most the mean of E[phi]: the sum of tangents, their envelope, and means."""
    where = place(*mixed)
    lines = [
        (w, rules.tangent(density(one, *where), density(other, *where), lemmas.T, order)) for w, one, other in pairs
    ]
    p, q = (density(law, *where) for law in mixed)
    return rules.mean(rules.envelope(rules.add(*lines), p, q, lemmas.T, order))


def _joint_convexity(rules: Calculus) -> Judgement:
    """Moments of mixed laws are at most the mean of moments; both sides are 1 at order 1."""
    above = rules.under(alpha > 1)
    pair = At(KERNEL, INDEX), At(KERNEL_2, INDEX)
    made = above.powers(_many_mixed(above, pair), alpha, _many(pair), (WEIGHT, *pair), (INDEX, 1, COUNT))
    return rules.ends(made, alpha, S.One)


def _orders(rules: Calculus) -> Judgement:
    """E[phi] of mixed laws is at most the mean of E[phi], and each at most exp((a-1) e(i)): logarithms."""
    rules = rules.under(alpha > 1)
    pair = At(KERNEL, INDEX), At(KERNEL_2, INDEX)
    each = rules.each(Every(RenyiDivergence(alpha, *pair) <= COST, INDEX))
    bounds = rules.total(rules.conditional(each, alpha), WEIGHT, INDEX, COUNT)
    whole = rules.chain(_many_mixed(rules, pair), bounds)
    return rules.divergence(whole, alpha, _many(pair), rest=log(bounds.right))


def _many(pair: tuple[Basic, Basic]) -> tuple[Basic, Basic]:
    first, second = (Sum(WEIGHT * law, (INDEX, 1, COUNT)) for law in pair)
    return first, second


def _many_mixed(rules: Calculus, pair: tuple[Basic, Basic]) -> Judgement:
    """The sum of the tangents of m pairs, their envelope, and means."""
    where = place(*pair)
    p, q = (density(law, *where) for law in pair)
    lines = rules.total(rules.tangent(p, q, lemmas.T, alpha), WEIGHT, INDEX, COUNT)
    mixed = _many(pair)
    whole = rules.envelope(lines, density(mixed[0], *where), density(mixed[1], *where), lemmas.T, alpha)
    return rules.mean(whole)


def _second_law(rules: Calculus) -> Judgement:
    """Above order 1 by Hoelder's inequality, below it by Jensen's, for 0 < lam < 1; then the ends."""
    inside = rules.under(MIX > 0, MIX < 1)
    order, mixed = ANY_ORDER, (1 - MIX) * SECOND + MIX * THIRD
    above, below = inside.under(order > 1), inside.under(order > 0, order < 1)
    bounds = [(1 - MIX, FIRST, SECOND), (MIX, FIRST, THIRD)]
    made = (
        above.divergence(_hoelder(above, order, mixed), order, (FIRST, mixed), bounds),
        below.divergence(_jensen(below, order, mixed), order, (FIRST, mixed), bounds),
    )
    return rules.ends(rules.every_order(*made, order, 0), MIX, S.Zero, S.One)


def _hoelder(rules: Calculus, order: Expr, mixed: Expr) -> Judgement:
    """q >= q_2^lam q_1^(1-lam), so p^a q^(1-a) <= A_2^lam A_1^(1-lam), A_i = p^a q_i^(1-a); the mean by Jensen."""
    (x,) = place(FIRST)
    p, one, other = (density(law, x) for law in (FIRST, SECOND, THIRD))
    less = rules.negate(rules.tangent(other, one, S.One, MIX))
    raised = rules.times(rules.raised(less, 1 - order), p**order)
    powers = [power(FIRST, law, order, x) for law in (THIRD, SECOND)]
    bound = powers[0] ** MIX * powers[1] ** (1 - MIX)
    pointwise = rules.mean(rules.equal(raised, p**order * density(mixed, x) ** (1 - order), bound))
    return rules.chain(pointwise, rules.negate(lemmas.jensen(rules, *powers, MIX)))


def _jensen(rules: Calculus, order: Expr, mixed: Expr) -> Judgement:
    """-M <= -(lam M_2 + (1 - lam) M_1) <= -M_2^lam M_1^(1-lam)."""
    pairs = ((1 - MIX, FIRST, SECOND), (MIX, FIRST, THIRD))
    jensen = _mixed(rules, order, ((1 - MIX) * FIRST + MIX * FIRST, mixed), pairs)
    return rules.chain(jensen, rules.tangent(moment(FIRST, THIRD, order), moment(FIRST, SECOND, order), S.One, MIX))


def _conversion(rules: Calculus) -> Judgement:
    """P(S) <= g Q(S) + g^(1-a) E[p^a q^(1-a)] at g = exp(epsilon + chi/(a-1))."""
    rules, factor = rules.under(alpha > 1), exp(epsilon + chi / (alpha - 1))
    (x,) = place(FIRST)
    excess = rules.mean(rules.times(rules.excess(density(FIRST, x), density(SECOND, x), factor, alpha), EVENT(x)))
    whole = rules.below_one(power(FIRST, SECOND, alpha, x), x)
    bound = rules.conditional(rules.assume(RenyiDivergence(alpha, FIRST, SECOND) <= epsilon), alpha)
    made = rules.hockey_stick(rules.chain(excess, whole, bound), factor, FIRST, SECOND)
    return rules.equal(made, made.left, exp(-chi))


DEDUCTIONS: Final[Mapping[str, Deduction]] = {
    **orders("quasi_convexity", quasi_convexity, 1),
    "joint_convexity": _joint_convexity,
    "mean_of_orders": _orders,
    "second_law": _second_law,
    "conversion": _conversion,
}
