"""The calculus of means and divergences: rules whose judgements hold for all laws, maps and numbers in them.

Means        For an order a > 0, a != 1, let s be the sign of a - 1 and phi(p, q) = s p^a q^(1-a) for p, q >= 0. Set p^a
             q^(1-a) = 0 if p = 0; if p > 0 and q = 0, set it to oo for a > 1 and to 0 for a < 1. For a < 1, phi is -oo
             if p or q is oo. Both sides of an inequality have a mean. For a > 1 they are in (-oo, oo], and their
             negative parts have finite means, because densities are finite; for a < 1 they are in [-oo, 0], or
             nonnegative. Inequalities hold almost surely.
Divergences  D_a(P || Q) = log E[p^a q^(1-a)] / (a - 1) for a > 0, a != 1. It is oo if a > 1 and P is not absolutely
             continuous with respect to Q. By Jensen's inequality 0 <= D_a <= oo.
Couplings    Within(P, P', z) says W_infinity(P, P') <= z. Then some coupling (X, X') has |X - X'| <= z almost
             surely: by Prokhorov's theorem, couplings within z + 1/k have a weak limit point, which by the
             portmanteau theorem has mass 1 on each closed set |x - x'| <= z + 1/k. All spaces are Euclidean, so X
             has a conditional law given X'. ShiftedDivergence(a, z, P, Q) is the infimum of D_a(P' || Q) over the
             laws P' within z of P.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from sympy import Max, Sum, cancel, exp, expand, expand_log, expand_mul, log, nan, oo, simplify, sqrt, true, zoo
from sympy.core import Add, Basic, Dummy, Eq, Expr, Function, Ge, Gt, Lambda, Le, Lt, Mul, Pow, S, Symbol, Tuple
from sympy.core.function import AppliedUndef
from sympy.core.traversal import preorder_traversal
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.densities import *
from lastiterate.symbolic.kernel.judgement import Ground, Judgement, UnprovedError, infer
from lastiterate.symbolic.kernel.renyi import LARGER
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.statement import *
from lastiterate.symbolic.vectors import Norm, Vector, inner

ATTAINED: Final = "W_infinity is attained by a coupling (Prokhorov, portmanteau)"
CONTINUOUS: Final = (
    "D_a is nondecreasing and continuous in a on [0, 1] (van Erven & Harremoes 2014, Theorems 3, 5 and 7)"
)
SMALL_RATES: Final = "ours/sampled/small_rates"
"""The claim that checks the steps of the proof of the rule `Calculus.sampled`."""
EVENT: Final = Function("1_S", nonnegative=True)


@dataclass(frozen=True, init=False, eq=False, slots=True)
class Proposition(Judgement):
    """An inequality between values in (-oo, oo], or another condition, that holds under ``given``."""

    says: Boolean

    @property
    def left(self) -> Expr:
        """The smaller side."""
        return self._sides()[0]

    @property
    def right(self) -> Expr:
        """The larger side."""
        return self._sides()[1]

    def _sides(self) -> tuple[Expr, Expr]:
        if not isinstance(self.says, Le):
            raise UnprovedError(f"An inequality is needed, got {self.says}.")
        return self.says.lhs, self.says.rhs

    def __str__(self) -> str:
        return str(self.says)


class Calculus(Ground):
    """Rules for means, divergences and couplings."""

    @rule
    def assume(self, condition: Boolean) -> Proposition:
        """Assume a condition. From a condition for every value of a letter, conclude the condition for one value."""
        says = condition.args[0] if isinstance(condition, Every) else condition
        return self._draw("assume", says, supposed=(condition,))

    def _draw(
        self,
        rule: str,
        says: Boolean | tuple[Expr, Expr],
        premises: tuple[Proposition, ...] = (),
        conditions: Iterable[Boolean] = (),
        **more: Any,
    ) -> Proposition:
        said = Le(*says, evaluate=False) if isinstance(says, tuple) else says
        if said.has(oo, -oo, zoo, nan):
            raise UnprovedError(f"The rule {rule} needs finite numbers, got {said}.")
        return infer(
            self, object.__new__(Proposition), rule, f"rule {rule}", premises, conditions, says=said, **more
        )

    def sign(self, order: Expr) -> Expr:
        """The sign of a - 1, if evident or given."""
        above, below = Gt(order, 1), Lt(order, 1)
        if above == true or above in self.given:
            return S.One
        if below == true or below in self.given:
            return S.NegativeOne
        raise UnprovedError(f"The order must be known to be above or below 1, got {order}.")

    @rule
    def jensen(
        self,
        order: Expr,
        pairs: Iterable[tuple[Expr, Expr, Expr]],
        *given: Point,
        limits: tuple[Symbol, Expr, Expr] | None = None,
    ) -> Proposition:
        """phi(sum w p, sum w q) <= sum w phi(p, q) for weights w >= 0, with conditional means of the sums.

        The sums are over the triples (w, p, q) of ``pairs``, or, with ``limits`` and a single triple, over
        the index of ``limits``. The order, the weights and the limits depend only on given points. f(x) = s
        x^a is convex on x >= 0, so it lies above its tangent at t > 0. At x = p/q, multiplied by q, this says
        s (a t^(a-1) p - (a-1) t^a q) <= phi(p, q). For q = 0 the left side is at most phi, and both are 0 if
        p = 0. The left side is linear in p and q, so at P = sum w p and Q = sum w q it is at most the right
        side R of the rule. The supremum of the left side over rational t is phi(P, Q): at t = P/Q by
        continuity, as t -> 0 if P = 0, and as t -> oo if Q = 0 < P (oo for a > 1, 0 for a < 1). For a > 1 the
        means P and Q of densities are finite. For a < 1 both sides are -oo if P or Q is infinite.
        """
        s, terms = self.sign(order), tuple(pairs)
        fixed = (order, *self.given)
        known = (*fixed, *(weight for weight, *_ in terms), *(limits or ()))
        kept = frozenset[Point]().union(*map(points, known)) - set(given)
        if kept:
            raise UnprovedError(
                f"A mean over {kept} needs conditions, weights and an order that do not contain these points."
            )
        if limits is not None:
            if len(terms) != 1 or limits[1] != 1:
                raise UnprovedError(f"A sum from 1 needs exactly one pair, got {terms} over {limits}.")
            _runs(limits[0], limits[2], fixed)

        def total(*parts: Expr) -> Expr:
            return Add(*(_summed(one, *limits[::2]) if limits else one for one in parts))

        p, q = (mean(total(*(one[0] * one[i] for one in terms)), *given) for i in (1, 2))
        right = total(*(w * mean(s * p_i**order * q_i ** (1 - order), *given) for w, p_i, q_i in terms))
        signs = [one for term in terms for part in term for one in nonnegative(part)]
        signs += [Gt(order, 0), *([Ge(limits[2], 0)] if limits else [])]
        return self._draw("jensen", (s * p**order * q ** (1 - order), right), (), signs)

    @rule
    def young(self, p: Expr, q: Expr, order: Expr) -> Proposition:
        """s (a p - (a-1) q) <= phi(p, q): the tangent at t = 1 in the proof of `jensen`."""
        s, conditions = self.sign(order), [*nonnegative(p), *nonnegative(q), Gt(order, 0)]
        return self._draw(
            "young", (s * (order * p - (order - 1) * q), s * p**order * q ** (1 - order)), (), conditions
        )

    @rule
    def mean(self, made: Proposition, *given: Expr) -> Proposition:
        """Take the conditional mean of both sides given some points; means are monotone."""
        kept = frozenset[Expr]().union(*(points(one) for one in made.given))
        if kept - set(given):
            raise UnprovedError(
                f"A mean over {kept} needs conditions that do not contain these points, got {made.given}."
            )
        return self._draw("mean", (mean(made.left, *given), mean(made.right, *given)), (made,))

    @rule
    def times(self, made: Proposition, factor: Expr) -> Proposition:
        """Multiply both sides by a nonnegative quantity. A factor that can be 0 must not occur in the sides."""
        inside = {one for one in gathered(factor).as_powers_dict() if not one.is_positive and not one.is_number}
        if any(made.says.has(one) for one in inside):
            raise UnprovedError(f"A factor that can be 0 must not occur in {made}, got {factor}.")
        return self._draw("times", (factor * made.left, factor * made.right), (made,), nonnegative(factor))

    @rule
    def total(self, made: Proposition, weight: Expr, index: Symbol, count: Expr) -> Proposition:
        """Sum an inequality that holds for every i over i = 1, ..., m, with nonnegative weights."""
        _runs(index, count, made.given)
        left, right = (_summed(weight * side, index, count) for side in (made.left, made.right))
        return self._draw("total", (left, right), (made,), (*nonnegative(weight), Ge(count, 0)))

    def chain(self, first: Proposition, *others: Proposition) -> Proposition:
        """From L <= c X + R, X <= Y and c >= 0: L <= c Y + R. X is the left side of the next inequality."""
        return reduce(self._linked, others, first)

    @rule
    def _linked(self, made: Proposition, other: Proposition) -> Proposition:
        if _same(made.right, other.left):
            return self._draw("chain", (made.left, other.right), (made, other))
        (number, term), link = other.left.as_coeff_Mul(), Dummy("X", real=True)
        terms = Add.make_args(expand_mul(made.right, deep=False).xreplace({term: link / number}))
        factor = Add(*(one / link for one in terms if one.has(link)))
        rest = Add(*(one for one in terms if not one.has(link)))
        if factor == 0 or factor.has(link):
            raise UnprovedError(f"A chain needs {other.left} in a linear term on the right, got {made.right}.")
        return self._draw("chain", (made.left, rest + factor * other.right), (made, other), nonnegative(factor))

    @rule
    def follow(self, made: Proposition, left: Expr, right: Expr) -> Proposition:
        """Conclude ``left <= right`` if algebra derives it from the premise for all finite values of the quantities.

        The sides contain only quantities of the premise. If the right side of the premise is oo, the new
        right side is oo too, because it has a positive multiple of the infinite term. No quantity is
        subtracted, so both sides are defined.
        """
        values = quantities(made.left, made.right)
        if not quantities(left, right).keys() <= values.keys():
            raise UnprovedError(f"{left} <= {right} contains quantities that do not occur in {made}.")
        there, asked = (Le(*(side.xreplace(values) for side in sides), evaluate=False)
                        for sides in ((made.left, made.right), (left, right)))  # fmt: skip
        for one, value in values.items():
            before, less, after = (side.diff(value) for side in (there.rhs, asked.lhs, asked.rhs))
            ratio = cancel(after / before) if before != 0 else after
            grows = (ratio.is_positive or before == ratio == 0) and not ratio.free_symbols & set(
                values.values()
            )
            if not grows or not (asked.lhs == there.lhs or less.is_nonnegative):
                raise UnprovedError(f"Where {one} is infinite, {right} is not shown to be infinite.")
        return self._draw("follow", (left, right), (made,), within=(there,), inner=(asked,))

    @rule
    def equal(self, made: Proposition, left: Expr, right: Expr) -> Proposition:
        """Rewrite both sides by the laws of exponentials and of powers of nonnegative quantities."""
        if not (_equal_powers(made.left, left) and _equal_powers(made.right, right)):
            raise UnprovedError(
                f"The sides must equal those of the premise, got {left} <= {right} from {made}."
            )
        bases = {one.base for side in (left, right, made.left, made.right) for one in side.atoms(Pow)}
        conditions = [condition for one in sorted(bases, key=str) for condition in nonnegative(one)]
        return self._draw("equal", (left, right), (made,), conditions)

    @rule
    def negate(self, made: Proposition) -> Proposition:
        """From -L <= -R: R <= L."""
        return self._draw("negate", (-made.right, -made.left), (made,))

    @rule
    def raised(self, made: Proposition, exponent: Expr) -> Proposition:
        """From 0 <= L <= R and r < 0: R^r <= L^r, with 0^r = oo, because t^r decreases in t."""
        sides = made.right**exponent, made.left**exponent
        return self._draw("raised", sides, (made,), (*nonnegative(made.left), Lt(exponent, 0)))

    @rule
    def exponential(self, made: Proposition, factor: Expr) -> Proposition:
        """From L <= R: exp(c L) <= exp(c R), for a number c > 0."""
        sides = exp(factor * made.left), exp(factor * made.right)
        return self._draw("exponential", sides, (made,), (Gt(factor, 0),))

    @rule
    def maximum(self, one: Expr, other: Expr) -> Proposition:
        """x <= max(x, y)."""
        return self._draw("maximum", (one, Max(one, other)))

    @rule
    def ends(self, made: Proposition, letter: Symbol, *values: Expr) -> Proposition:
        """Extend an inequality from an open range to ends at which both sides are equal, with 0 times oo = 0."""
        discharged, supposed = set[Boolean](), set[Boolean]()
        for value in values:
            sides = (made.left.subs(letter, value), made.right.subs(letter, value))
            totals = {one.lhs: one.rhs for one in made.given if isinstance(one, Eq)}
            if not _same(*(one.xreplace(totals) for one in sides)):
                raise UnprovedError(f"Both sides must be equal at {letter} = {value}, got {sides}.")
            strict = {one for one in made.given if one in (Gt(letter, value), Lt(letter, value))}
            weak = {Ge(letter, value) if isinstance(one, Gt) else Le(letter, value) for one in strict}
            discharged, supposed = discharged | strict, supposed | weak - {true}
        if any(letter in one.free_symbols for one in made.given - discharged):
            raise UnprovedError(f"No other condition on {letter} may remain, got {made.given - discharged}.")
        return self._draw("ends", made.says, (made,), supposed=supposed, discharged=discharged)

    @rule
    def excess(self, p: Expr, q: Expr, g: Expr, order: Expr) -> Proposition:
        """p <= g q + g^(1-a) p^a q^(1-a) for a > 1, g > 0.

        If p > g q, then p^a q^(1-a) = p (p/q)^(a-1) >= p g^(a-1), or q = 0 and p^a q^(1-a) = oo.
        """
        conditions = (*nonnegative(p), *nonnegative(q), Gt(g, 0), Gt(order, 1))
        return self._draw("excess", (p, g * q + g ** (1 - order) * p**order * q ** (1 - order)), (), conditions)

    @rule
    def indicator(self, x: Expr, level: Expr) -> Proposition:
        """a 1[x >= a] <= x for x >= 0 and a > 0."""
        return self._draw("indicator", (level * Indicator(x, level), x), (), (*nonnegative(x), Gt(level, 0)))

    @rule
    def reflexive(self, law: Basic, order: Expr) -> Proposition:
        """phi(p, p) = s p has mean s: s E[p^a p^(1-a)] <= s."""
        s = self.sign(order)
        return self._draw("total mass", (s * moment(law, law, order), s * S.One), supposed=_totals(law))

    @rule
    def divergence(
        self,
        made: Proposition,
        order: Expr,
        pair: tuple[Basic, Basic],
        bounds: Iterable[tuple[Expr, Basic, Basic]] = (),
        rest: Expr = S.Zero,
    ) -> Proposition:
        """From s M <= s M_1^b_1 ... M_k^b_k exp(r) for moments of pairs of laws: D <= b_1 D_1 + ... + r / (a - 1).

        The moment of a pair is E[p^a q^(1-a)] = exp((a-1) D), given all points on which a law depends. Take
        logarithms and divide by |a - 1| = (a - 1) / s. If M_i is oo (a > 1) or 0 (a < 1), then D_i and the
        bound are oo, since b_i > 0.
        """
        s, some = self.sign(order), tuple(bounds)
        given = frozenset[Point]().union(
            *map(points, pair), *(points(law) for _, *laws in some for law in laws)
        )
        bound = Mul(*(moment(one, other, order, *given) ** power for power, one, other in some), exp(rest))
        left = moment(*pair, order, *given)
        if not (_same_moments(made.left, s * left) and _same_moments(made.right, s * bound)):
            raise UnprovedError(f"Taking logarithms needs {s * left} <= {s * bound}, got {made}.")
        divergences = Add(*(power * RenyiDivergence(order, one, other) for power, one, other in some))
        says = RenyiDivergence(order, *pair), divergences + rest / (order - 1)
        return self._draw(
            "divergence", says, (made,), [Gt(power, 0) for power, *_ in some], supposed=_totals(*pair)
        )

    @rule
    def conditional(self, made: Proposition, order: Expr, *given: Point) -> Proposition:
        """From D(K(x) || K'(x)) <= B: s E[k^a k'^(1-a) | x] <= s exp((a-1) B), by the definition of D."""
        if not isinstance(made.left, RenyiDivergence) or made.left.args[0] != order:
            raise UnprovedError(f"A divergence of order {order} is needed on the left, got {made}.")
        s, (_, one, other) = self.sign(order), made.left.args
        says = s * moment(one, other, order, *given), s * exp((order - 1) * made.right)
        return self._draw("conditional", says, (made,))

    @rule
    def member(self, quantity: Expr, letter: Symbol) -> Proposition:
        """A quantity is at most its supremum."""
        return self._draw("member", (quantity, Supremum(quantity, letter)))

    @rule
    def restrict(self, made: Proposition, condition: Basic, law: Basic) -> Proposition:
        """Extend an inequality from a ball to all points, if both sides have a density on the ball as a factor."""
        if not isinstance(condition, Le) or not isinstance(condition.lhs, Norm):
            raise UnprovedError(f"A ball must be given by Norm(point) <= radius, got {condition}.")
        factor = density(law, *condition.lhs.args)
        if not all(gathered(one).as_powers_dict().get(factor) == 1 for one in (made.left, made.right)):
            raise UnprovedError(f"Extending from a ball needs the factor {factor} on both sides, got {made}.")
        on = OnBall(law, condition.rhs)
        return self._draw("restrict", made.says, (made,), supposed=(on,), discharged=(condition,))

    def event(self, law: Basic) -> Expr:
        """P(S) = E[p 1_S] for an event S."""
        (x,) = place(law)
        return mean(density(law, x) * EVENT(x))

    @rule
    def below_one(self, quantity: Expr, x: Point) -> Proposition:
        """E[f 1_S] <= E[f] for f >= 0."""
        sides = mean(quantity * EVENT(x)), mean(quantity)
        return self._draw("indicator of an event", sides, (), nonnegative(quantity))

    @rule
    def hockey_stick(self, made: Proposition, factor: Expr, first: Basic, second: Basic) -> Proposition:
        """From P(S) <= g Q(S) + r for every event S: the supremum of P(S) - g Q(S) is at most r."""
        place(first, second)  # on one space
        rest = made.right - factor * self.event(second)
        if not _same(made.left, self.event(first)) or any(
            one.has(EVENT) for one in (factor, rest, *made.given)
        ):
            raise UnprovedError(f"A hockey stick needs P(S) <= {factor} Q(S) + r, got {made}.")
        return self._draw("hockey stick", (HockeyStick(factor, first, second), rest), (made,))

    @rule
    def every_order(self, above: Proposition, below: Proposition, order: Symbol, least: int) -> Proposition:
        """Extend an inequality from orders a > 1 and 0 < a < 1 to all a >= 1, or to all a >= 0.

        The KL divergence D_1 is the limit of D_a as a increases to 1, D_0 = -log Q(p > 0) the limit as a
        decreases to 0. D_a and its suprema are nondecreasing in a, so at a = 1 a supremum is the supremum
        over a < 1. At 0 the limit passes through sums and maxima, but not through a supremum. Polynomials in
        a are continuous.
        """
        real = _ranges(order, positive=True) or _ranges(order, nonnegative=True)
        if not real or above.says != below.says or not _continuous(above, order):
            raise UnprovedError(
                f"Orders above and below 1 need the same inequality, continuous in the order, got {above} and {below}."
            )
        if least == 0 and above.says.has(Supremum):
            raise UnprovedError(f"An inequality at order 0 may not contain a supremum, got {above}.")
        ways = ({Gt(order, 1)}, {Gt(order, 0), Lt(order, 1)} - {true})
        if not all(way <= made.given for way, made in zip(ways, (above, below), strict=True)):
            raise UnprovedError(f"Orders above and below 1 must be given, got {above.given} and {below.given}.")
        rests = [made.given - way for way, made in zip(ways, (above, below), strict=True)]
        if any(order in one.free_symbols for rest in rests for one in rest):
            raise UnprovedError(f"No other condition on the order may remain, got {rests}.")
        known = {"supposed": {Ge(order, least)} - {true}, "discharged": set[Basic]().union(*ways)}
        return self._draw("every order", above.says, (above, below), cites=(CONTINUOUS,), **known)

    @rule
    def telescope(
        self, step: Proposition, base: Proposition, value: Expr, index: Symbol, count: Expr
    ) -> Proposition:
        """From f(j+1) <= f(j) + b(j) for j >= 0 and f(0) <= 0: f(k) <= b(0) + ... + b(k-1), by induction."""
        bound = step.right - value
        if not (_ranges(index, integer=True, nonnegative=True) and count.is_integer):
            raise UnprovedError(
                f"A sum needs an index over 0, 1, ... and an integer count, got {index}, {count}."
            )
        if not _same(step.left, value.subs(index, index + 1)) or any(
            index in one.free_symbols for one in step.given
        ):
            raise UnprovedError(f"A sum of steps needs f({index} + 1) <= f({index}) + b({index}), got {step}.")
        if not _same(base.left, value.subs(index, 0)) or base.right != 0:
            raise UnprovedError(f"A sum of steps needs {value.subs(index, 0)} <= 0 at the start, got {base}.")
        says = value.subs(index, count), Sum(bound.subs(index, index - 1), (index, 1, count))
        return self._draw("telescope", says, (step, base), (Ge(count, 0),))

    @rule
    def push(self, made: Proposition, maps: tuple[Basic, Basic], distance: Expr, *how: Boolean) -> Proposition:
        """From P and P' within z: h(P) and h'(P') are within ``distance`` >= e(z) + s.

        The conditions ``how`` say that |h(x) - h(y)| <= e(|x - y|) with e increasing, and that the coupled
        maps satisfy |h(x) - h'(x)| <= s for all x (s = 0 if h' is h). Draw (X, X') from a coupling, and the
        maps independently: |h(X) - h'(X')| <= |h(X) - h(X')| + |h(X') - h'(X')| <= e(z) + s.
        """
        (one, other), (first, second, z) = maps, self._within(made)
        far, apart = None, S.Zero if one == other else None
        signs: list[Boolean] = []
        for condition in how:
            if isinstance(condition, Lipschitz) and condition.args[0] == one:
                far = condition.args[1] * z
            elif isinstance(condition, HolderMove) and condition.args[0] == one:
                far = z + condition.args[1] * z ** condition.args[2]
                signs = [Ge(condition.args[1], 0), Gt(condition.args[2], 0)]  # it increases with z
            elif isinstance(condition, Close) and condition.args[:2] == (one, other):
                apart = condition.args[2]
        if far is None or apart is None:
            raise UnprovedError(f"Coupling {maps} needs conditions on how far they move points, got {how}.")
        says, enough = Within(Image(one, first), Image(other, second), distance), Ge(distance, far + apart)
        return self._draw("push", says, (made,), (enough, *signs), cites=(ATTAINED,), supposed=how)

    @rule
    def part(self, made: Proposition, kernel: Symbol, a: Expr, z: Expr, variance: Expr) -> Proposition:
        """From P, P' within b <= z + a: X + noise and X' - H + noise have laws within z, for |H| <= a.

        For a coupling (X, X') let H = (X' - X) min(1, a/|X' - X|). Then X' - H + noise and X + noise are |X'
        - X - H| = max(|X' - X| - a, 0) <= z apart. ``kernel`` is the law of -H given X'; the Gaussian noise
        is independent.
        """
        first, second, b = self._within(made)
        if not isinstance(kernel, Symbol):
            raise UnprovedError(f"A part needs a letter for its kernel, got {kernel}.")
        length = Dummy("h", nonnegative=True)
        says = Within(Noisy(first, variance), Image(SUM, Joint(second, add_noise(kernel, variance))), z)
        left, chosen = Le(Max(length - a, 0), z, evaluate=False), Parting(kernel, first, second, a)
        known = {"within": (Le(length, b),), "inner": (left,)}
        signs = (Ge(a, 0), Ge(z, 0))
        return self._draw("part", says, (made,), signs, cites=(ATTAINED,), supposed=(chosen,), **known)

    @rule
    def parted(self, made: Proposition, chosen: Boolean) -> Proposition:
        """Drop the hypothesis that the kernel of `part` is on the ball of radius a: `part` implies it."""
        kernel, *_, radius = chosen.args
        balls = {one for one in made.given if isinstance(one, OnBall) and isinstance(one.args[0], At)}
        balls = {one for one in balls if one.args[0].args[0] == kernel and one.args[1] == radius}
        if not isinstance(chosen, Parting) or len(balls) != 1:
            raise UnprovedError(f"{kernel} needs one condition OnBall of radius {radius}, got {made.given}.")
        return self._draw("parted", made.says, (made,), supposed=(chosen,), discharged=balls)

    @rule
    def forget(self, made: Proposition, chosen: Boolean) -> Proposition:
        """Drop the kernel of `part` if no term contains it. The kernel exists if the laws are within some distance."""
        kernel, first, second, radius = chosen.args
        within = any(isinstance(one, Within) and one.args[:2] == (first, second) for one in made.given)
        named = made.says.free_symbols.union(*(one.free_symbols for one in made.given - {chosen}))
        if not isinstance(chosen, Parting) or not within or not isinstance(kernel, Symbol) or kernel in named:
            raise UnprovedError(
                f"The kernel {kernel} may not occur in {made}, and its laws must be at most a given distance apart."
            )
        return self._draw("forget", made.says, (made,), (Ge(radius, 0),), discharged=(chosen,))

    @rule
    def competitor(self, made: Proposition, law: Basic, order: Expr) -> Proposition:
        """From P, P' within z: D^(z)(P || Q) <= D(P' || Q), by the definition."""
        first, second, z = self._within(made)
        says = ShiftedDivergence(order, z, first, law), RenyiDivergence(order, second, law)
        return self._draw("competitor", says, (made,))

    @rule
    def infimum(self, made: Proposition, within: Boolean) -> Proposition:
        """From L <= D(P' || Q) + r for every P' within z of P: L <= D^(z)(P || Q) + r. P' must be a letter."""
        first, letter, z = within.args
        divergences = [one for one in made.right.atoms(RenyiDivergence) if one.args[1] == letter]
        if not isinstance(within, Within) or within not in made.given or len(divergences) != 1:
            raise UnprovedError(f"An infimum needs {within} and one divergence of {letter}, got {made}.")
        (divergence,) = divergences
        rest = made.right - divergence
        named = (made.left, rest, first, z, divergence.args[2], *(made.given - {within}))
        if not isinstance(letter, Symbol) or any(letter in one.free_symbols for one in named):
            raise UnprovedError(f"An infimum needs {letter} to occur in one divergence only, got {made}.")
        bound = ShiftedDivergence(divergence.args[0], z, first, divergence.args[2])
        return self._draw("infimum", (made.left, bound + rest), (made,), discharged=(within,))

    @rule
    def gaussian(self, point: Point, radius: Expr, variance: Expr, order: Expr) -> Proposition:
        """D(N(h, v I) || N(0, v I)) <= a r^2 / (2 v) for |h| <= r, in every dimension.

        a |y-h|^2 + (1-a) |y|^2 = |y - a h|^2 + c |h|^2, and the code computes c = a (1-a). So p^a q^(1-a) is
        the density of N(a h, v I) times exp(-c |h|^2 / (2 v)), and D = -c |h|^2 / (2 v (a-1)).
        """
        y, h = Vector("y"), Vector("h")
        square = expand(
            order * inner(y - h, y - h) + (1 - order) * inner(y, y) - inner(y - order * h, y - order * h)
        )
        c = square.coeff(Norm(h), 2)
        if expand(square - c * Norm(h) ** 2) != 0:
            raise UnprovedError(f"Completing the square needs a multiple of |h|^2, got {square}.")
        cost = (-c / (2 * variance * (order - 1))).factor()
        says = RenyiDivergence(order, Gaussian(point, variance), Gaussian(S.Zero, variance)), cost * radius**2
        conditions = (Ge(cost, 0), Ge(radius, 0), Gt(variance, 0))
        return self._draw("gaussian", says, (), conditions, supposed=(Le(Norm(point), radius),))

    @rule
    def on_a_line(
        self, vector: Symbol, radius: Expr, variance: Expr, order: Expr, rate: Expr, *, back: bool
    ) -> Proposition:
        """D(N(0, v I) || (1-q) N(0, v I) + q N(h, v I)), |h| <= R, is at most its value on a line at h = R.

        The random map y -> y h + N(0, v (I - h h^T/R^2)) takes N(0, v/R^2) to N(0, v I) and N(1, v/R^2) to
        N(h, v I), since the covariances (v/R^2) h h^T and v (I - h h^T/R^2) add up to v I. This map takes
        mixtures to mixtures, and no map increases a divergence (`post_processing`). For the reverse
        (``back``) let |h| = R. The map y -> <y, h>/R^2 takes N(0, v I) and N(h, v I) to N(0, v/R^2) and N(1,
        v/R^2), because <h, h>/R^2 = 1 and the variance is v |h|^2/R^4 = v/R^2.
        """
        line = tuple(Normal(at, variance / radius**2) for at in (S.Zero, S.One))
        space = (
            Gaussian(S.Zero, variance),
            Noisy(Dirac(vector), variance) if back else Gaussian(vector, variance),
        )
        there, here = (
            RenyiDivergence(order, one, (1 - rate) * one + rate * other) for one, other in (space, line)
        )
        on = (Eq if back else Le)(Norm(vector), radius)
        signs = (Gt(radius, 0), Gt(variance, 0), Ge(rate, 0), Le(rate, 1), Gt(order, 0))
        return self._draw("on a line", (here, there) if back else (there, here), (), signs, supposed=(on,))

    @rule
    def sampled(self, order: Expr, rate: Expr, variance: Expr, *, back: bool, wide: bool) -> Proposition:
        """D(M || N) <= c a q^2/v for M = (1-q) N(0, v) + q N(1, v) and N = N(0, v), and D(N || M) if ``back``.

        c = 2 for q <= 1/5, v >= 16 and a <= v/2 log(1 + 1/(q (a-1))) - log v, and, if ``wide``, c = 3 for q
        <= 1/10, v >= 1 and a <= v/2 log(1/q). Proof: docs/proofs/divergences.md, "Small rates".
        """
        most = log(1 / rate) if wide else log(1 + 1 / (rate * (order - 1)))
        top = variance / 2 * most - (0 if wide else 2 * log(sqrt(variance)))
        small = Le(rate, S.One / (10 if wide else 5)), Ge(variance, 1 if wide else 16), Le(order, top)
        still, moved = Normal(S.Zero, variance), Normal(S.One, variance)
        laws = (1 - rate) * still + rate * moved, still
        says = (
            RenyiDivergence(order, *laws[:: -1 if back else 1]),
            (3 if wide else 2) * order * rate**2 / variance,
        )
        supposed = Gt(order, 1), Gt(rate, 0), Gt(variance, 0), *small
        return self._draw("sampled", says, supposed={*supposed} - {true}, cites=(SMALL_RATES, LARGER))

    @rule
    def rewrite(self, made: Proposition, old: Basic, new: Basic) -> Proposition:
        """Replace a term for a law with another that `densities.one_law` accepts."""
        if not (one_law(old, new) or one_law(new, old)):
            raise UnprovedError(f"Rewriting needs two names of the same law, got {old} and {new}.")
        if any(set(one.args[1:2]) & (old.free_symbols | new.free_symbols) for one in made.says.atoms(Supremum)):
            raise UnprovedError(f"Rewriting {old} needs letters that no supremum in {made} binds.")
        return self._draw("rewrite", made.says.xreplace({old: new}), (made,))

    @rule
    def extremum(self, upper: Proposition, lower: Proposition, ball: Boolean, vector: Symbol) -> Proposition:
        """From f(P) <= B for all laws P on a ball of radius R, and B <= f(v) for any v with |v| = R: sup f = B."""
        (letter, radius), there = ball.args, Eq(Norm(vector), ball.args[1])
        at_point = upper.left.xreplace({letter: Dirac(vector)})
        if not isinstance(ball, OnBall) or ball not in upper.given or there not in lower.given:
            raise UnprovedError(
                f"A supremum needs the conditions {ball} and {there}, got {upper.given} and {lower.given}."
            )
        rest = Tuple(upper.right, *(upper.given - {ball}), *(lower.given - {there}))
        if (lower.left, lower.right) != (upper.right, at_point) or rest.free_symbols & {letter, vector}:
            raise UnprovedError(f"A supremum needs {upper.right} <= {at_point}, got {lower}.")
        says = Eq(Supremum(upper.left, letter, ball), upper.right, evaluate=False)
        return self._draw("extremum", says, (upper, lower), (Gt(radius, 0),), discharged=(ball, there))

    @staticmethod
    def _within(made: Proposition) -> tuple[Basic, Basic, Expr]:
        if not isinstance(made.says, Within):
            raise UnprovedError(f"Laws within a given distance of each other are needed, got {made}.")
        first, second, z = made.says.args
        return first, second, z


def add_noise(kernel: Symbol, variance: Expr) -> Lambda:
    """The kernel that adds Gaussian noise to a draw from ``kernel``."""
    x = Point("x")
    return Lambda(x, Noisy(At(kernel, x), variance))


def nonnegative(term: Expr) -> tuple[Boolean, ...]:
    """The side condition that a term is nonnegative, or none if its form shows this, with 0 times oo = 0."""
    if isinstance(term, exp):
        return ()
    if isinstance(term, Add | Mul) and not any(nonnegative(part) for part in term.args):
        return ()
    if isinstance(term, Pow | Sum | ConditionalMean):
        return nonnegative(term.args[0])
    if Ge(term, 0) == true:
        return ()
    random = sorted(
        (one for one in term.atoms(AppliedUndef, ConditionalMean) if one != term and not nonnegative(one)),
        key=str,
    )
    return (Ge(term.xreplace({one: Symbol(f"_{i}", nonnegative=True) for i, one in enumerate(random)}), 0),)


def _same(one: Expr, other: Expr) -> bool:
    return bool(one == other or Add(*map(gathered, Add.make_args(expand_mul(one - other)))) == 0)


def _same_moments(one: Expr, other: Expr) -> bool:
    return _same(anonymous(one), anonymous(other))


def _equal_powers(one: Expr, other: Expr) -> bool:
    """Tell whether two terms are equal by laws of powers of nonnegative numbers, including 0 and oo."""
    if _same(one, other):
        return True
    return bool(simplify(expand(expand_log(log(one / other), force=True))) == 0)


def _ranges(letter: Basic | None, **signs: bool) -> bool:
    return isinstance(letter, Symbol) and letter.assumptions0 == Symbol("_", **signs).assumptions0


def _runs(index: Symbol, count: Expr, fixed: Iterable[Basic]) -> None:
    whole = _ranges(index, integer=True, positive=True) or _ranges(index, integer=True, nonnegative=True)
    if not whole or not count.is_integer or any(index in one.free_symbols for one in (count, *fixed)):
        raise UnprovedError(
            "A sum needs a nonnegative index that occurs in no fixed term, and an integer count, got "
            f"{index}, {fixed} and {count}."
        )


def quantities(*of: Basic) -> dict[Basic, Symbol]:
    """Assign a letter to every quantity and sum in the terms."""
    found: set[Basic] = set()
    for one in of:
        walk = preorder_traversal(one)
        for part in walk:
            if isinstance(part, QuantityBase | Sum):
                found.add(part)
                walk.skip()
    return {
        one: Dummy(f"M{i}", real=True, nonnegative=True if _counts(one) else None)
        for i, one in enumerate(sorted(found, key=str))
    }


def _counts(term: Basic) -> bool:
    if isinstance(term, ConditionalMean | Sum | Supremum):
        return _counts(term.args[0])
    if isinstance(term, Add | Mul):
        return all(map(_counts, term.args))
    if isinstance(term, RenyiDivergence | ShiftedDivergence):
        return bool(term.args[0].is_nonnegative)
    return nonnegative(term) == ()


def _summed(term: Expr, index: Symbol, count: Expr) -> Expr:
    parts = []
    for one in Add.make_args(expand_mul(term, deep=False)):
        front, inside = one.as_independent(index, as_Add=False)
        parts.append(front * Sum(inside, (index, 1, count)))
    return Add(*parts)


def _totals(*laws: Basic) -> set[Boolean]:
    mixtures = set[Basic]().union(*(law.atoms(Sum) for law in laws))
    return {Eq(Sum(weighted(one.function)[0], *one.limits), 1, evaluate=False) for one in mixtures}


def _continuous(made: Proposition, order: Symbol) -> bool:
    """Tell whether the order occurs only in divergences, their suprema and separate polynomial terms."""

    def hidden(part: Basic) -> bool:
        return isinstance(part, RenyiDivergence) and part.args[0] == order

    sides = (one.replace(hidden, lambda part: Dummy(str(part), real=True)) for one in (made.left, made.right))
    terms = [term for one in sides for term in Add.make_args(expand(one))]
    return all(one.is_polynomial(order) and not (one.has(order) and one.atoms(Dummy)) for one in terms)
