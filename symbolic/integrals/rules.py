"""The rules on means: each docstring is a lemma with its proof.

s is the sign of a - 1 for an order a > 0, a != 1, and phi(p, q) = s p^a q^(1-a) for p, q >= 0, where p^a q^(1-a) is 0
if p = 0, and for p > 0 = q it is oo if a > 1 and 0 if a < 1; and -oo is phi where a < 1 and p or q is oo. Sides are
random variables that have a mean: for a > 1 with values in (-oo, oo] and negative parts of finite mean, as densities
are finite, and for a < 1 with values in [-oo, 0], or nonnegative. Inequalities hold almost surely.
"""

from functools import reduce

from sympy import (
    Add,
    Basic,
    Dummy,
    Eq,
    Expr,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Mul,
    Pow,
    S,
    Sum,
    Symbol,
    cancel,
    exp,
    expand,
    expand_log,
    expand_mul,
    log,
    simplify,
    true,
)
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals.judgement import Base, Judgement, apply
from lastiterate.symbolic.integrals.language import Supremum
from lastiterate.symbolic.integrals.terms import Mean, gathered, mean, points
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.statement import QuantityBase, RenyiDivergence, ShiftedDivergence


def inequality(left: Expr, right: Expr) -> Le:
    """left <= right, as it stands."""
    return Le(left, right, evaluate=False)


def nonnegative(term: Expr) -> tuple[Boolean, ...]:
    """The side condition that a term is not negative, where it is not plain from how it is built.

    Products, sums, powers and means of nonnegative quantities are, oo included; 0 times oo is 0.
    """
    if isinstance(term, exp):
        return ()
    if isinstance(term, Add | Mul) and not any(nonnegative(part) for part in term.args):
        return ()
    if isinstance(term, Pow | Sum | Mean):
        return nonnegative(term.args[0])
    if Ge(term, 0) == true:
        return ()
    random = sorted((one for one in term.atoms(AppliedUndef, Mean) if one != term and not nonnegative(one)), key=str)
    return (Ge(term.xreplace({one: Symbol(f"_{i}", nonnegative=True) for i, one in enumerate(random)}), 0),)


def same(one: Expr, other: Expr) -> bool:
    """Tell whether two terms are one after expansion."""
    return bool(one == other or Add(*map(gathered, Add.make_args(expand_mul(one - other)))) == 0)


def ranges(letter: Basic, **signs: bool) -> bool:
    """Tell whether a letter stands for every number with these properties, and for no others."""
    return isinstance(letter, Symbol) and letter.assumptions0 == Symbol("_", **signs).assumptions0


class Means(Base):
    """Rules on densities and their means."""

    def sign(self, order: Expr) -> Expr:
        """The sign of a - 1, where it is plain from what is given."""
        above, below = Gt(order, 1), Lt(order, 1)
        if above == true or above in self.given:
            return S.One
        if below == true or below in self.given:
            return S.NegativeOne
        raise UnprovedError(f"An order above or below 1 is needed, got {order}.")

    @rule
    def tangent(self, p: Expr, q: Expr, t: Expr, order: Expr) -> Judgement:
        """s (a t^(a-1) p - (a-1) t^a q) <= phi(p, q) for every t > 0; equal where p = t q.

        f(x) = s x^a is convex on x >= 0, so it lies above its tangent at t: s (a t^(a-1) x - (a-1) t^a) <= f(x).
        Multiply by q > 0, with x = p/q. If q = 0 the left is s a t^(a-1) p: at most oo, and for p = 0 it is 0; for
        a < 1 it is at most 0, which phi is.
        """
        s, conditions = self.sign(order), [*nonnegative(p), *nonnegative(q), Gt(t, 0), Gt(order, 0)]
        left = s * (order * t ** (order - 1) * p - (order - 1) * t**order * q)
        return apply(self, "tangent", inequality(left, s * p**order * q ** (1 - order)), (), conditions)

    @rule
    def envelope(self, made: Judgement, p: Expr, q: Expr, t: Symbol, order: Expr) -> Judgement:
        """From s (a t^(a-1) P - (a-1) t^a Q) <= R for every t > 0, t not in P, Q, R: phi(P, Q) <= R.

        The least upper bound of the left over rational t > 0, countably many, is phi(P, Q): at t = P/Q, by continuity;
        as t -> 0 if P = 0; and for Q = 0 < P it is sup s a t^(a-1) P, oo for a > 1 and 0 for a < 1 (t -> oo). For
        a > 1 the means P and Q of densities are finite; for a < 1 all is -oo where one is not.
        """
        left = (s := self.sign(order)) * (order * t ** (order - 1) * p - (order - 1) * t**order * q)
        bound = set().union(*(one.free_symbols for one in (p, q, made.right, order, *made.given)))
        if not same(made.left, left) or t in bound or not ranges(t, positive=True):
            raise UnprovedError(f"An envelope over {t} needs {left} on the left and no {t} elsewhere, got {made}.")
        says, signs = inequality(s * p**order * q ** (1 - order), made.right), (*nonnegative(p), *nonnegative(q))
        return apply(self, "envelope", says, (made,), (*signs, Gt(order, 0)))

    @rule
    def mean(self, made: Judgement, *given: Expr) -> Judgement:
        """The conditional means of both sides, given some points: the mean is monotone; `terms.mean` simplifies."""
        kept = frozenset[Expr]().union(*(points(one) for one in made.given))
        if kept - set(given):
            raise UnprovedError(f"A mean over {kept} needs the inequality at every point, but {made.given} is given.")
        return apply(self, "mean", inequality(mean(made.left, *given), mean(made.right, *given)), (made,))

    @rule
    def times(self, made: Judgement, factor: Expr) -> Judgement:
        """Both sides times a quantity that is not negative. What may be 0 would cancel: it is not in them."""
        inside = {one for one in gathered(factor).as_powers_dict() if not one.is_positive and not one.is_number}
        if any(made.says.has(one) for one in inside):
            raise UnprovedError(f"To multiply by {factor} needs a quantity that {made} does not have.")
        return apply(self, "times", inequality(factor * made.left, factor * made.right), (made,), nonnegative(factor))

    @rule
    def add(self, *parts: tuple[Expr, Judgement]) -> Judgement:
        """The sum of inequalities, each times a number that is not negative; oo is not taken from oo."""
        for side in ("left", "right"):
            terms = [getattr(one, side) for _, one in parts]
            values = quantities(*terms)
            for quantity, value in values.items():
                slopes = [slope for one in terms if (slope := one.xreplace(values).diff(value)) != 0]
                if not all(cancel(slope / slopes[0]).is_positive for slope in slopes[1:]):
                    raise UnprovedError(f"Where {quantity} is infinite, the sum of {terms} is not seen to be defined.")
        says = inequality(*(Add(*(w * getattr(one, side) for w, one in parts)) for side in ("left", "right")))
        conditions = [one for weight, _ in parts for one in nonnegative(weight)]
        return apply(self, "add", says, tuple(one for _, one in parts), conditions)

    @rule
    def total(self, made: Judgement, weight: Expr, index: Symbol, count: Expr) -> Judgement:
        """The sum over i = 1, ..., m of an inequality that holds for every i, times weights that are not negative."""
        whole = ranges(index, integer=True, positive=True) or ranges(index, integer=True, nonnegative=True)
        if not whole or any(index in one.free_symbols for one in made.given):
            raise UnprovedError(f"A sum over {index} needs the inequality for every {index}, got {made.given}.")
        left, right = (_summed(weight * side, index, count) for side in (made.left, made.right))
        return apply(self, "total", inequality(left, right), (made,), nonnegative(weight))

    def chain(self, first: Judgement, *others: Judgement) -> Judgement:
        """From L <= c X + R and X <= Y, c >= 0: L <= c Y + R; X is the left of the next inequality."""
        return reduce(self._linked, others, first)

    @rule
    def _linked(self, made: Judgement, other: Judgement) -> Judgement:
        if same(made.right, other.left):
            return apply(self, "chain", inequality(made.left, other.right), (made, other))
        right = expand_mul(made.right, deep=False).xreplace({other.left: (link := Dummy("X", real=True))})
        rest = expand_mul(right - (factor := right.coeff(link)) * link, deep=False)
        if factor == 0 or rest.has(link) or factor.has(link):
            raise UnprovedError(f"A chain needs {other.left} as a term of {made.right}.")
        says = inequality(made.left, rest + factor * other.right)
        return apply(self, "chain", says, (made, other), nonnegative(factor))

    @rule
    def follow(self, made: Judgement, left: Expr, right: Expr) -> Judgement:
        """Another inequality that follows by algebra, whatever finite values the means and divergences have.

        It is about the same quantities. Where the bound of the premise is oo, so is the new one, which has the part
        that is infinite times a positive number; no quantity is subtracted, so that both sides are defined.
        """
        values = quantities(made.left, made.right)
        if not quantities(left, right).keys() <= values.keys():
            raise UnprovedError(f"{left} <= {right} is about other quantities than {made}.")
        there = inequality(made.left.xreplace(values), made.right.xreplace(values))
        asked = inequality(left.xreplace(values), right.xreplace(values))
        for one, value in values.items():
            before, less, after = (side.diff(value) for side in (there.rhs, asked.lhs, asked.rhs))
            ratio = cancel(after / before) if before != 0 else after
            grows = (ratio.is_positive or before == ratio == 0) and not ratio.free_symbols & set(values.values())
            if not grows or not (asked.lhs == there.lhs or less.is_nonnegative):
                raise UnprovedError(f"Where {one} is infinite, {right} is not seen to be.")
        return apply(self, "follow", inequality(left, right), (made,), within=(there,), inner=(asked,))

    @rule
    def equal(self, made: Judgement, left: Expr, right: Expr) -> Judgement:
        """The same sides written otherwise: products of powers of nonnegative quantities, and exponentials."""
        if not (alike(made.left, left) and alike(made.right, right)):
            raise UnprovedError(f"Equal sides are needed, got {left} <= {right} from {made}.")
        bases = {one.base for side in (left, right, made.left, made.right) for one in side.atoms(Pow)}
        conditions = [condition for one in sorted(bases, key=str) for condition in nonnegative(one)]
        return apply(self, "equal", inequality(left, right), (made,), conditions)

    @rule
    def negate(self, made: Judgement) -> Judgement:
        """From -L <= -R: R <= L."""
        return apply(self, "negate", inequality(-made.right, -made.left), (made,))

    @rule
    def raised(self, made: Judgement, exponent: Expr) -> Judgement:
        """From 0 <= L <= R and r < 0: R^r <= L^r, where 0^r is oo. t^r falls as t grows."""
        signs, says = nonnegative(made.left), inequality(made.right**exponent, made.left**exponent)
        return apply(self, "raised", says, (made,), (*signs, Lt(exponent, 0)))

    @rule
    def maximum(self, one: Expr, other: Expr) -> Judgement:
        """A number is at most the larger of two."""
        return apply(self, "maximum", inequality(one, Max(one, other)))

    @rule
    def ends(self, made: Judgement, letter: Symbol, *values: Expr) -> Judgement:
        """An inequality on an open range holds at an end of it where its sides are equal there; 0 times oo is 0."""
        discharged, supposed = set[Boolean](), set[Boolean]()
        for value in values:
            sides = (made.left.subs(letter, value), made.right.subs(letter, value))
            totals = {one.lhs: one.rhs for one in made.given if isinstance(one, Eq)}
            if not same(*(one.xreplace(totals) for one in sides)):
                raise UnprovedError(f"Equal sides are needed at {letter} = {value}, got {sides}.")
            strict = {one for one in made.given if one in (Gt(letter, value), Lt(letter, value))}
            weak = {Ge(letter, value) if isinstance(one, Gt) else Le(letter, value) for one in strict}
            discharged, supposed = discharged | strict, supposed | weak - {true}
        if any(letter in one.free_symbols for one in made.given - discharged):
            raise UnprovedError(f"A condition on {letter} is left: {made.given - discharged}.")
        return apply(self, "ends", made.says, (made,), (), (), supposed, discharged)

    @rule
    def excess(self, p: Expr, q: Expr, g: Expr, order: Expr) -> Judgement:
        """p <= g q + g^(1-a) p^a q^(1-a) for a > 1, g > 0.

        If p <= g q there is nothing to show. Else p^a q^(1-a) = p (p/q)^(a-1) >= p g^(a-1), or it is oo for q = 0.
        """
        conditions = (*nonnegative(p), *nonnegative(q), Gt(g, 0), Gt(order, 1))
        return apply(
            self, "excess", inequality(p, g * q + g ** (1 - order) * p**order * q ** (1 - order)), (), conditions
        )

    @rule
    def indicator(self, x: Expr, level: Expr) -> Judgement:
        """a 1[x >= a] <= x for x >= 0 and a > 0: the left is a or 0."""
        says = inequality(level * Indicator(x, level), x)
        return apply(self, "indicator", says, (), (*nonnegative(x), Gt(level, 0)))


class Indicator(QuantityBase):
    """1 where x >= a and 0 elsewhere, of (x, a)."""

    is_nonnegative = True


def alike(one: Expr, other: Expr) -> bool:
    """Tell whether two terms are one, by the laws of powers of nonnegative numbers, 0 and oo with their conventions."""
    if same(one, other):
        return True
    return bool(simplify(expand(expand_log(log(one / other), force=True))) == 0)


def quantities(*of: Basic) -> dict[Basic, Symbol]:
    """A letter for every mean, divergence and other quantity that numbers are made of, and for every sum of them."""
    found: set[Basic] = set()
    for one in of:
        _outermost(one, found)
    return {
        one: Dummy(f"M{i}", real=True, nonnegative=True if _counts(one) else None)
        for i, one in enumerate(sorted(found, key=str))
    }


def _outermost(term: Basic, found: set[Basic]) -> None:
    if isinstance(term, QuantityBase | Sum):
        found.add(term)
        return
    for part in term.args:
        _outermost(part, found)


def _counts(term: Basic) -> bool:
    """Tell whether a quantity is plainly not negative: a divergence is, and a mean or a sum of what is."""
    if isinstance(term, Mean | Sum | Supremum):
        return _counts(term.args[0])
    if isinstance(term, Add | Mul):
        return all(map(_counts, term.args))
    if isinstance(term, RenyiDivergence | ShiftedDivergence):
        return bool(term.args[0].is_nonnegative)
    return nonnegative(term) == ()


def _summed(term: Expr, index: Symbol, count: Expr) -> Expr:
    """The sum over i = 1, ..., m of every term, with what does not depend on i in front."""
    parts = []
    for one in Add.make_args(expand_mul(term, deep=False)):
        front, inside = one.as_independent(index, as_Add=False)
        parts.append(front * Sum(inside, (index, 1, count)))
    return Add(*parts)
