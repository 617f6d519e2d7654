"""Judgements of the calculus at random: laws and kernels on three points, and random variables on a few outcomes.

Half of what is drawn is extreme: one point, two points, equal laws, kernels that forget or keep their point. Powers
follow the conventions of the rules: 0 times oo is 0, and 0 to a negative power is oo.
"""

from collections.abc import Mapping
from math import exp, inf, log
from random import Random

from sympy import Add, Basic, Lambda, Le, Max, Mul, Pow, Sum, Symbol
from sympy import exp as exponential
from sympy import log as logarithm
from sympy.core.function import AppliedUndef

from lastiterate.symbolic.kernel.densities import LAST, At, ConditionalMean, Joint, Point, Supremum
from lastiterate.symbolic.kernel.integrals import EVENT, Indicator
from lastiterate.symbolic.statement import HockeyStick, Image, RenyiDivergence

POINTS = 3
OUTCOMES = 6
Law = tuple[float, ...]


def draw(random: Random, size: int = POINTS) -> Law:
    """A random law, often on one point or two."""
    kind = random.random()
    spikes = [0] * size
    for _ in range(1 if kind < 0.3 else 2 if kind < 0.6 else 2 * size):
        spikes[random.randrange(size)] += random.choice((1, 1, 2, 5))
    return tuple(one / sum(spikes) for one in spikes)


class Instance:
    """Values of all letters, drawn when they are met."""

    def __init__(self, random: Random, numbers: Mapping[Basic, float]) -> None:
        self.random, self.drawn = random, dict[object, object](numbers)
        weights, places = draw(random, OUTCOMES), range(OUTCOMES)
        self.outcomes = [(weights[i], i) for i in places if weights[i] > 0]

    def once(self, key: object, made: object) -> object:
        return self.drawn.setdefault(key, made)

    def law(self, law: Basic, at: Mapping[Basic, float]) -> Law:
        """The masses of a law; of (x, y) in the order of x."""
        if isinstance(law, Add):
            return tuple(map(sum, zip(*(self.law(one, at) for one in law.args), strict=True)))
        if isinstance(law, Sum):
            (index, low, high), values = law.limits[0], law.function
            terms = [
                self.law(values, {**at, index: i}) for i in range(int(low), int(self.number(high, at)) + 1)
            ]
            return tuple(map(sum, zip(*terms, strict=True)))
        if isinstance(law, Mul):
            weight = self.number(Mul(*(one for one in law.args if one.is_real)), at)
            (other,) = (one for one in law.args if not one.is_real)
            return tuple(weight * one for one in self.law(other, at))
        if isinstance(law, At):
            return self.row(law.args[0], int(self.number(law.args[1], at)))
        if isinstance(law, Joint):
            first = self.law(law.args[0], at)
            return tuple(p * k for x, p in enumerate(first) for k in self.row(law.args[1], x))
        if isinstance(law, Image):
            how, start = law.args[0], self.law(law.args[1], at)
            if how == LAST:
                return tuple(sum(start[y::POINTS]) for y in range(POINTS))
            rows = [self.row(how, x) for x in range(len(start))]
            return tuple(sum(p * row[y] for p, row in zip(start, rows, strict=True)) for y in range(POINTS))
        return self.once(law, draw(self.random))  # type: ignore[return-value]

    def row(self, kernel: Basic, x: int) -> Law:
        if isinstance(kernel, Lambda):
            return self.law(kernel.expr, {kernel.variables[0]: x})
        kind = self.once((kernel, "kind"), self.random.random())
        law = draw(self.random)
        if kind < 0.15:
            law = tuple(float(y == x % POINTS) for y in range(POINTS))
        return self.once((kernel, 0 if 0.15 <= kind < 0.3 else x), law)  # type: ignore[operator,return-value]

    def number(self, term: Basic, at: Mapping[Basic, float]) -> float:
        """The value of a term, at values of points and indices; None of the points stands for an outcome."""
        if term.is_Number:
            return float(term)
        if term in at:
            return at[term]
        if isinstance(term, Point):
            return self.once((term, at[OUTCOME]), self.random.randrange(2))  # type: ignore[return-value]
        if isinstance(term, Symbol):
            return self.drawn[term]  # type: ignore[return-value]
        if isinstance(term, AppliedUndef):
            key = (str(term.func), *(self.number(one, at) for one in term.args))
            values = (0.0, 1.0) if term.func == EVENT else (0.0, 0.0, 1.0, 1.0, 2.0, 0.5)
            return self.once(key, self.random.choice(values))  # type: ignore[return-value]
        if isinstance(term, Add):
            return sum(self.number(one, at) for one in term.args)
        if isinstance(term, Mul):
            factors = [self.number(one, at) for one in term.args]
            return 0.0 if 0.0 in factors else _product(factors)
        if isinstance(term, Pow):
            base, power = (self.number(one, at) for one in term.args)
            return (inf if power < 0 else float(power == 0)) if base == 0 else base**power
        if isinstance(term, exponential):
            return exp(min(self.number(term.args[0], at), 700))
        if isinstance(term, logarithm):
            return log(self.number(term.args[0], at))
        if isinstance(term, Max):
            return max(self.number(one, at) for one in term.args)
        if isinstance(term, Sum):
            index, low, high = term.limits[0]
            places = range(int(low), int(self.number(high, at)) + 1)
            return sum(self.number(term.function, {**at, index: i}) for i in places)
        if isinstance(term, ConditionalMean):
            return self._mean(term, at)
        if isinstance(term, Indicator):
            x, level = (self.number(one, at) for one in term.args)
            return float(x >= level)
        if isinstance(term, Supremum):
            return max(self.number(term.args[0], {**at, term.args[1]: x}) for x in range(POINTS))
        if isinstance(term, RenyiDivergence):
            return divergence(self.number(term.args[0], at), *(self.law(one, at) for one in term.args[1:]))
        if isinstance(term, HockeyStick):
            p, q = (self.law(one, at) for one in term.args[1:])
            factor = self.number(term.args[0], at)
            return sum(max(a - factor * b, 0) for a, b in zip(p, q, strict=True))
        raise TypeError(type(term).__name__)

    def _mean(self, term: ConditionalMean, at: Mapping[Basic, float]) -> float:
        of, given = term.args
        known = [self.number(one, at) for one in given]
        total = mass = 0.0
        for weight, outcome in self.outcomes:
            there = {
                **{key: value for key, value in at.items() if not isinstance(key, Point)},
                OUTCOME: outcome,
            }
            if [self.number(one, there) for one in given] == known:
                value = self.number(of, there)
                total, mass = total + weight * value, mass + weight
        return total / mass

    def violates(self, says: Le) -> bool:
        """Tell whether the inequality fails at some outcome."""
        for _, outcome in self.outcomes:
            left, right = (self.number(one, {OUTCOME: outcome}) for one in (says.lhs, says.rhs))
            if left > right + 1e-9 * (1 + abs(left) + abs(right) if right < inf else 0):
                return True
        return False


OUTCOME = Symbol("outcome")


def _product(factors: list[float]) -> float:
    made = 1.0
    for one in factors:
        made *= one
    return made


def divergence(order: float, p: Law, q: Law) -> float:
    """D_order(p || q), exactly 0 or oo where it is."""
    if order > 1 and any(a > 0 == b for a, b in zip(p, q, strict=True)):
        return inf
    moment = sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a > 0 and b > 0)
    if abs(order - 1) < 1e-12:
        return sum(a * log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    return inf if moment == 0 else log(moment) / (order - 1)
