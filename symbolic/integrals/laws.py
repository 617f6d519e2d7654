"""The rules that lead from means of densities to divergences of laws, and from one order to the next.

D_a(P || Q) = log E[p^a q^(1-a)] / (a - 1) for a > 0, a != 1: oo for a > 1 where P is not absolutely continuous with
respect to Q, since p^a q^(1-a) is oo where p > 0 = q; and 0 <= D_a <= oo, by Jensen's inequality.
"""

from collections.abc import Iterable
from typing import Final

from sympy import Add, Basic, Dummy, Eq, Expr, Function, Ge, Gt, Le, Lt, Mul, S, Sum, Symbol, exp, expand, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals.judgement import Judgement, apply
from lastiterate.symbolic.integrals.language import Every, OnBall, Supremum
from lastiterate.symbolic.integrals.rules import Means, inequality, nonnegative, ranges, same
from lastiterate.symbolic.integrals.terms import (
    Point,
    anonymous,
    density,
    gathered,
    mean,
    moment,
    place,
    points,
    weighted,
)
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.statement import HockeyStick, RenyiDivergence
from lastiterate.symbolic.vectors import Norm

CONTINUOUS: Final = "D_a is nondecreasing and continuous in a on [0, 1] (van Erven & Harremoes 2014, Theorems 3, 5, 7)"

EVENT: Final = Function("1_S", nonnegative=True)
"""The indicator of an event."""


class Laws(Means):
    """Rules on divergences."""

    @rule
    def reflexive(self, law: Basic, order: Expr) -> Judgement:
        """phi(p, p) = s p has the mean s: s E[p^a p^(1-a)] <= s."""
        s = self.sign(order)
        return apply(self, "total mass", inequality(s * moment(law, law, order), s * S.One), supposed=_totals(law))

    @rule
    def divergence(
        self,
        made: Judgement,
        order: Expr,
        pair: tuple[Basic, Basic],
        bounds: Iterable[tuple[Expr, Basic, Basic]] = (),
        rest: Expr = S.Zero,
    ) -> Judgement:
        """From s M <= s M_1^b_1 ... M_k^b_k exp(r) on moments of pairs of laws: D <= b_1 D_1 + ... + r / (a - 1).

        A moment of a pair is E[p^a q^(1-a)] = exp((a-1) D), given all points that a law depends on. Logarithms
        increase; divide by |a - 1|: s / |a - 1| = 1 / (a - 1). Where M_i is oo or 0 the divergence on its side is oo;
        b_i > 0.
        """
        s, some = self.sign(order), tuple(bounds)
        given = frozenset[Point]().union(*map(points, pair), *(points(law) for _, *laws in some for law in laws))
        bound = Mul(*(moment(one, other, order, *given) ** power for power, one, other in some), exp(rest))
        left = moment(*pair, order, *given)
        if not (_same(made.left, s * left) and _same(made.right, s * bound)):
            raise UnprovedError(f"Logarithms need {s * left} <= {s * bound}, got {made}.")
        divergences = Add(*(power * RenyiDivergence(order, one, other) for power, one, other in some))
        says = inequality(RenyiDivergence(order, *pair), divergences + rest / (order - 1))
        return apply(self, "divergence", says, (made,), [Gt(power, 0) for power, *_ in some], supposed=_totals(*pair))

    @rule
    def powers(
        self,
        made: Judgement,
        order: Expr,
        pair: tuple[Basic, Basic],
        terms: tuple[Expr, Basic, Basic],
        limits: tuple[Symbol, Expr, Expr],
    ) -> Judgement:
        """A moment E[p^a q^(1-a)] written as exp((a-1) D), on the left and in a sum over i with weights of total 1."""
        s, (weight, one, other) = self.sign(order), terms
        there = s * Sum(weight * moment(one, other, order), limits)
        if not (_same(made.left, s * moment(*pair, order)) and _same(made.right, there)):
            raise UnprovedError(f"Powers need {s * moment(*pair, order)} <= {there}, got {made}.")
        left, right = (exp((order - 1) * RenyiDivergence(order, *laws)) for laws in (pair, (one, other)))
        total = Eq(Sum(weight, limits), 1, evaluate=False)  # a mixture is a law
        return apply(self, "powers", inequality(s * left, s * Sum(weight * right, limits)), (made,), supposed=(total,))

    @rule
    def conditional(self, made: Judgement, order: Expr, *given: Point) -> Judgement:
        """From D(K(x) || K'(x)) <= B: s E[k^a k'^(1-a) | x] <= s exp((a-1) B). The definition of D."""
        if not isinstance(made.left, RenyiDivergence) or made.left.args[0] != order:
            raise UnprovedError(f"A divergence of order {order} is needed, got {made}.")
        s, (_, one, other) = self.sign(order), made.left.args
        return apply(
            self,
            "conditional",
            inequality(s * moment(one, other, order, *given), s * exp((order - 1) * made.right)),
            (made,),
        )

    @rule
    def each(self, condition: Boolean) -> Judgement:
        """A condition that is supposed for every i, for one i."""
        if not isinstance(condition, Every):
            raise UnprovedError(f"A condition for every value of a letter is needed, got {condition}.")
        return apply(self, "each", condition.args[0], supposed=(condition,))

    @rule
    def member(self, quantity: Expr, letter: Symbol) -> Judgement:
        """A quantity is at most its supremum."""
        return apply(self, "member", inequality(quantity, Supremum(quantity, letter)))

    @rule
    def restrict(self, made: Judgement, condition: Basic, law: Basic) -> Judgement:
        """An inequality at the points x of a ball, times the density of a law on the ball: it holds at every x.

        Outside of the ball the density is 0 and so are both sides.
        """
        if not isinstance(condition, Le) or not isinstance(condition.lhs, Norm):
            raise UnprovedError(f"A ball is given by the length of a point, got {condition}.")
        factor = density(law, *condition.lhs.args)
        if not all(gathered(one).as_powers_dict().get(factor) == 1 for one in (made.left, made.right)):
            raise UnprovedError(f"To restrict to a ball needs the factor {factor} on both sides, got {made}.")
        on = OnBall(law, condition.rhs)
        return apply(self, "restrict", made.says, (made,), (), supposed=(on,), discharged=(condition,))

    def event(self, law: Basic) -> Expr:
        """P(S) = E[p 1_S] for an event S."""
        (x,) = place(law)
        return mean(density(law, x) * EVENT(x))

    @rule
    def below_one(self, quantity: Expr, x: Point) -> Judgement:
        """E[f 1_S] <= E[f] for f >= 0: an indicator is at most 1."""
        says = inequality(mean(quantity * EVENT(x)), mean(quantity))
        return apply(self, "indicator of an event", says, (), nonnegative(quantity))

    @rule
    def hockey_stick(self, made: Judgement, factor: Expr, first: Basic, second: Basic) -> Judgement:
        """From P(S) <= g Q(S) + r for every event S: the supremum of P(S) - g Q(S) is at most r."""
        place(first, second)  # on one space
        rest = made.right - factor * self.event(second)
        if not same(made.left, self.event(first)) or any(one.has(EVENT) for one in (factor, rest, *made.given)):
            raise UnprovedError(f"An event needs P(S) <= {factor} Q(S) + r, got {made}.")
        return apply(self, "hockey stick", inequality(HockeyStick(factor, first, second), rest), (made,))

    @rule
    def every_order(self, above: Judgement, below: Judgement, order: Symbol, least: int) -> Judgement:
        """From a > 1 and from 0 < a < 1 to all orders a >= 1, or to all a >= 0.

        D_1, the KL divergence, is the limit of D_a as a increases to 1, and D_0 = -log Q(p > 0) that as a falls to 0.
        D_a is nondecreasing in a and so is its supremum, which is then the supremum over a < 1 at a = 1. At 0 a limit
        passes through sums and maxima, not through a supremum. Polynomials in a are continuous.
        """
        real = ranges(order, positive=True) or ranges(order, nonnegative=True)
        if not real or above.says != below.says or not _continuous(above, order):
            raise UnprovedError(f"One inequality at all orders is needed, got {above} and {below}.")
        if least == 0 and above.says.has(Supremum):
            raise UnprovedError("At order 0 a limit does not pass through a supremum.")
        ways = ({Gt(order, 1)}, {Gt(order, 0), Lt(order, 1)} - {true})
        if not all(way <= made.given for way, made in zip(ways, (above, below), strict=True)):
            raise UnprovedError(f"Orders above 1 and below 1 are needed, got {above.given} and {below.given}.")
        rests = [made.given - way for way, made in zip(ways, (above, below), strict=True)]
        if any(order in one.free_symbols for rest in rests for one in rest):
            raise UnprovedError(f"A condition on the order is left: {rests}.")
        cites = (
            "D_a is nondecreasing and continuous in a on [0, 1] (van Erven & Harremoes 2014, Theorems 3, 5 and 7)",
        )
        return apply(
            self,
            "every order",
            above.says,
            (above, below),
            (),
            cites,
            {Ge(order, least)} - {true},
            set[Basic]().union(*ways),
        )

    @rule
    def telescope(self, step: Judgement, base: Judgement, value: Expr, index: Symbol, count: Expr) -> Judgement:
        """From f(j+1) <= f(j) + b(j) for every j >= 0 and f(0) <= 0: f(k) <= b(0) + ... + b(k-1). Induction on k."""
        bound = step.right - value
        if not (ranges(index, integer=True, nonnegative=True) and count.is_integer):
            raise UnprovedError(f"Induction needs an index that runs over 0, 1, 2, ..., got {index}.")
        if not same(step.left, value.subs(index, index + 1)) or any(index in one.free_symbols for one in step.given):
            raise UnprovedError(f"A sum of steps needs f({index} + 1) <= f({index}) + b({index}), got {step}.")
        if not same(base.left, value.subs(index, 0)) or base.right != 0:
            raise UnprovedError(f"A sum of steps starts from {value.subs(index, 0)} <= 0, got {base}.")
        says = inequality(value.subs(index, count), Sum(bound.subs(index, index - 1), (index, 1, count)))
        return apply(self, "telescope", says, (step, base), (Ge(count, 0),))


def _totals(*laws: Basic) -> set[Boolean]:
    """The weights of a mixture that is a law add up to 1."""
    mixtures = set[Basic]().union(*(law.atoms(Sum) for law in laws))
    return {Eq(Sum(weighted(one.function)[0], *one.limits), 1, evaluate=False) for one in mixtures}


def _same(one: Expr, other: Expr) -> bool:
    return same(anonymous(one), anonymous(other))


def _continuous(made: Judgement, order: Symbol) -> bool:
    """Tell whether the order stands in divergences and their suprema, or in polynomials in terms of their own."""

    def hidden(part: Basic) -> bool:
        return isinstance(part, RenyiDivergence) and part.args[0] == order

    sides = (one.replace(hidden, lambda part: Dummy(str(part), real=True)) for one in (made.left, made.right))
    terms = [term for one in sides for term in Add.make_args(expand(one))]
    return all(one.is_polynomial(order) and not (one.has(order) and one.atoms(Dummy)) for one in terms)
