"""Laws and their densities, conditional means, kernels, sequences and suprema: the terms of the calculus.

All random quantities of a judgement are on one arbitrary probability space. The compared laws have densities
with respect to a common law, such as half the sum of two laws. A density p(x) is a nonnegative function of a
point x, and E[f | y] is the mean of f given the point y. For a fixed or random map h, the law of y = h(x) has
the density E[p(x) | y] with respect to the law of y, because E[p(x) g(y)] = E[E[p(x) | y] g(y)] for g >= 0.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

from sympy import Sum, expand, expand_mul, expand_power_base, factor_terms
from sympy.core import Add, Basic, Expr, Function, Lambda, Mul, Pow, S, Symbol, Tuple

from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.statement import Condition, Image, Noisy, QuantityBase, condition


class Gaussian(QuantityBase):
    """The law N(mean, variance I). Arguments: mean, variance."""


class Dirac(QuantityBase):
    """The point mass at a point."""


class At(QuantityBase):
    """The law of a kernel at a point. Arguments: kernel, point."""

    @classmethod
    def eval(cls, kernel: Basic, point: Expr) -> Basic | None:
        return kernel(point) if isinstance(kernel, Lambda) else None

    def _sympystr(self, printer: Any) -> str:
        return f"{printer._print(self.args[0])}({printer._print(self.args[1])})"


class Joint(QuantityBase):
    """The law of (x, y) with y drawn from a kernel at x. Arguments: law of x, kernel."""


class Prefix(QuantityBase):
    """The law of the first n variables of a sequence; the same for all sequences if n = 0. Arguments: sequence, n."""

    @classmethod
    def eval(cls, _: Basic, count: Expr) -> Basic | None:
        return Symbol("nothing") if count == 0 else None


class Next(QuantityBase):
    """The law of variable n + 1 of a sequence given the first n. Arguments: sequence, n."""


class Supremum(QuantityBase):
    """The supremum of a quantity over a letter. Arguments: quantity, letter and, optionally, condition."""

    @property
    def free_symbols(self) -> set[Basic]:
        return set().union(*(part.free_symbols for part in self.args)) - {self.args[1]}


class Indicator(QuantityBase):
    """1 if x >= a, otherwise 0. Arguments: x, a."""

    is_nonnegative = True


class Every(Condition):
    """The statement that a condition holds for every value of a letter. Arguments: condition, letter."""

    words = "{0} for every {1}"

    @property
    def free_symbols(self) -> set[Basic]:
        condition, letter = self.args
        return set(condition.free_symbols) - {letter}


OnBall: Final = condition("OnBall", "{0} on the ball of radius {1}", __name__)
Within: Final = condition("Within", "{0} and {1} at most {2} apart in W_infinity", __name__)
Parting: Final = condition(
    "Parting", "{0} has the part of length at most {3} of the step from {2} to {1}", __name__
)
Close: Final = condition(
    "Close", "{0} and {1} coupled so that they move no point more than {2} apart", __name__
)

FORMER: Final = Symbol("X")
LATTER: Final = Symbol("Y")
KERNEL: Final = Symbol("K")
KERNEL_2: Final = Symbol("K'")
"""Two sequences of random variables, and two kernels."""

ANY_ORDER: Final = Symbol("alpha", nonnegative=True)


class Point(Symbol):  # type: ignore[misc]
    """A point of a space, or a component of a point."""


def points(of: Basic) -> frozenset[Point]:
    """The points on which a term depends."""
    return frozenset(one for one in of.free_symbols if isinstance(one, Point))


class ConditionalMean(QuantityBase):
    """E[f | points], constructed by `mean`. Arguments: f, points."""

    @property
    def free_symbols(self) -> set[Basic]:
        of, given = self.args
        found: set[Basic] = {one for one in of.free_symbols if not isinstance(one, Point)} | given.free_symbols
        return found

    def _eval_is_nonnegative(self) -> bool | None:
        sign: bool | None = self.args[0].is_nonnegative
        return sign

    def _sympystr(self, printer: Any) -> str:
        of, given = self.args
        return f"E[{printer._print(of)}{' | ' if given else ''}{', '.join(map(str, given))}]"


def mean(of: Expr, *given: Point) -> Expr:
    """Construct E[of | given]: take out known factors, split sums, eliminate inner means given more points.

    E[a f | y] = a E[f | y] for a function a of y, by linearity, and E[a E[f | x, y] | y] = E[a f | y] for a
    function a of x and y, by the tower property.

    >>> x, y = Point("x"), Point("y")
    >>> p = Function("p", nonnegative=True)(x)
    >>> mean(mean(3 * p, y))
    3*E[p(x)]
    """
    return Add(*(_mean_of_term(term, frozenset(given)) for term in Add.make_args(expand_mul(of))))


def _mean_of_term(term: Expr, given: frozenset[Point]) -> Expr:
    factors = Mul.make_args(gathered(term))
    known = [one for one in factors if points(one) <= given]
    rest = [one for one in factors if not points(one) <= given]
    if not rest:
        return term
    for inner in rest:
        others = [one for one in rest if one is not inner]
        if isinstance(inner, Sum) and not others and points(Tuple(*inner.limits)) <= given:
            return Mul(*known, Sum(mean(inner.function, *given), *inner.limits))
        if isinstance(inner, ConditionalMean):
            of, more = inner.args
            if given <= set(more) and all(points(one) <= set(more) for one in others):
                return Mul(*known, mean(of * Mul(*others), *given))
    return Mul(*known, ConditionalMean(Mul(*rest), Tuple(*sorted(given, key=str))))


def gathered(term: Expr) -> Expr:
    """Collect the powers of each base in a product, and split powers of products of nonnegative factors.

    >>> a, p, q = Symbol("a"), *(Function(name, nonnegative=True)(Point("x")) for name in "pq")
    >>> gathered((p * q) ** a * p ** (1 - a))
    p(x)*q(x)**a
    """
    powers: dict[Expr, Expr] = {}
    for factor in Mul.make_args(expand_power_base(term.replace(_sum_to_a_power, _common_factor))):
        base, exponent = factor.as_base_exp()
        powers[base] = powers.get(base, S.Zero) + exponent
    return Mul(*(base ** expand(exponent) for base, exponent in powers.items()))


def _sum_to_a_power(term: Basic) -> bool:
    return isinstance(term, Pow) and isinstance(term.base, Add) and bool(points(term.base))


def _common_factor(term: Pow) -> Expr:
    return factor_terms(expand_mul(term.base)) ** term.exp


def dimension(law: Basic) -> int:
    """The number of points in one draw from a law."""
    if isinstance(law, Add | Mul):
        return dimension(_parts(law)[0][1])
    return dimension(law.args[0]) + 1 if isinstance(law, Joint) else 1


def weighted(term: Basic) -> tuple[Expr, Basic]:
    """The weight and the law in a term of a mixture."""
    (law,) = (one for one in Mul.make_args(term) if not one.is_real)
    return Mul(*(one for one in Mul.make_args(term) if one.is_real)), law


def _parts(mixture: Basic) -> list[tuple[Expr, Basic]]:
    parts = [weighted(one) for one in Add.make_args(mixture)]
    if expand(Add(*(weight for weight, _ in parts))) != 1:
        raise UnprovedError(f"The weights of a mixture must add up to 1, got {mixture}.")
    return parts


def _maps(law: Basic, level: str = "") -> set[tuple[str, Basic]]:
    if isinstance(law, Add | Mul):
        return set[tuple[str, Basic]]().union(*(_maps(one, level) for _, one in _parts(law)))
    if isinstance(law, Sum):
        return _maps(weighted(law.function)[1], level)
    if isinstance(law, Image):
        return {(level, law.args[0]), *_maps(law.args[1], level + "i")}
    if isinstance(law, Joint):
        kernel = law.args[1]
        after = _maps(kernel.expr, level + "k") if isinstance(kernel, Lambda) else set[tuple[str, Basic]]()
        return _maps(law.args[0], level + "j") | after
    return set()


def place(*laws: Basic, given: Iterable[Point] = ()) -> tuple[Point, ...]:
    """Points for a draw from laws on one space, distinct from the given points and from the points in the laws."""
    maps = set[tuple[str, Basic]]().union(*map(_maps, laws))
    if len({dimension(law) for law in laws}) > 1 or len({level for level, _ in maps}) < len(maps):
        raise UnprovedError(
            f"The laws must be on the same space, and their images under the same map, got {laws}."
        )
    taken = frozenset(given).union(*map(points, laws))
    free = (one for one in map(Point, ("x", "y", "ya", "yb", "yc", "yd")) if one not in taken)
    return tuple(islice(free, dimension(laws[0])))


def sources(law: Basic, *where: Point) -> tuple[Point, ...]:
    """Points that a map takes to the given point."""
    return tuple(Point(f"{where[0]}{i}") for i in range(1, dimension(law) + 1))


@cache
def _named(name: str) -> list[Basic]:  # noqa: ARG001
    """The laws whose density is just a function of this name, which must be equal."""
    return []


@cache
def density(law: Basic, *where: Point) -> Expr:
    """The density of a law at a point, given the points on which the law depends.

    The density of a mixture is the mixture of the densities. The density of (x, y) is p(x) k(x, y), if k(x,
    .) is the density of K(x). The density of an image is a conditional mean. Other laws have named functions.
    """
    if isinstance(law, Add | Mul):
        return Add(*(weight * density(one, *where) for weight, one in _parts(law)))
    if isinstance(law, Sum):
        weight, one = weighted(law.function)
        return Sum(weight * density(one, *where), *law.limits)
    if isinstance(law, Image):
        start = law.args[1]
        return mean(density(start, *sources(start, *where)), *where, *points(law))
    if isinstance(law, Joint):
        first, kernel = law.args
        *before, last = where
        return density(first, *before) * density(At(kernel, *before), last)
    letters = sorted((one for one in law.free_symbols if isinstance(one, Point) or one.is_integer), key=str)
    named = law.xreplace({one: Symbol("." * i) for i, one in enumerate(letters, 1)})
    same = _named(str(named))
    same.append(named)
    if same[0] != named:
        raise UnprovedError(f"Two laws need different names, got {law} for both.")
    made: Expr = Function(f"density of {named}", nonnegative=True)(*letters, *where)
    return made


def power(one: Basic, other: Basic, order: Expr, *where: Point) -> Expr:
    """p^a q^(1-a), for the densities p and q of two laws and the order a."""
    return gathered(density(one, *where) ** order * density(other, *where) ** (1 - order))


def moment(one: Basic, other: Basic, order: Expr, *given: Point) -> Expr:
    """E[p^a q^(1-a)], given some points and the points on which the laws depend."""
    known = points(one) | points(other) | set(given)
    return mean(power(one, other, order, *place(one, other, given=known)), *known)


def anonymous(term: Expr) -> Expr:
    """Rename the points over which means are taken; no moment depends on these names."""
    if isinstance(term, ConditionalMean):
        of, given = term.args
        bound = sorted(points(of) - set(given), key=str)
        renamed = of.xreplace({one: Point(f"_{i}") for i, one in enumerate(bound)})
        return ConditionalMean(anonymous(renamed), given)
    return term.func(*map(anonymous, term.args)) if term.args and term.has(ConditionalMean) else term


def constant_kernel(law: Basic) -> Lambda:
    """The kernel that is this law at every point."""
    if Point("o") in law.free_symbols:
        raise UnprovedError(f"A kernel that is the same at every point may not contain the point o, got {law}.")
    return Lambda(Point("o"), law)


SUM: Final = Symbol("sum")
"""The map (x, y) -> x + y."""

LAST: Final = Symbol("last")
"""The map (x, y) -> y."""


def mixture(law: Basic, kernel: Basic) -> Image:
    """The law of y, for x drawn from ``law`` and y from the kernel at x."""
    return Image(LAST, Joint(law, kernel))


def one_law(one: Basic, other: Basic) -> bool:
    """Tell whether two terms denote the same law, by facts that follow from the definitions."""
    return other in _names(one)


def _names(law: Basic) -> Iterator[Basic]:
    if isinstance(law, Noisy):
        start, variance = law.args
        h = Point("h")
        yield Image(SUM, Joint(start, constant_kernel(Gaussian(S.Zero, variance))))  # X + N with N independent
        if not variance.has(h):
            yield mixture(start, Lambda(h, Gaussian(h, variance)))  # given X = h it is N(h, v)
        if isinstance(start, Dirac):
            yield Gaussian(start.args[0], variance)
    if isinstance(law, Image):
        yield from _images(*law.args)
    if isinstance(law, Joint) and isinstance(law.args[0], Prefix):
        sequence, count = law.args[0].args
        if law.args[1] == Next(sequence, count):
            yield Prefix(sequence, count + 1)  # the first j variables and the next


def _images(how: Basic, law: Basic) -> Iterator[Basic]:
    if isinstance(how, Symbol) and how not in {SUM, LAST}:
        yield mixture(law, how)  # a random map, which is independent of the point, as a kernel
    if isinstance(law, Add):
        yield Add(*(_linear(how, one) for one in law.args))  # the image of a mixture
    if how == LAST and isinstance(law, Joint) and isinstance(law.args[1], Lambda):
        first, kernel = law.args
        if kernel == constant_kernel(kernel.expr):
            yield kernel.expr  # a kernel that does not depend on its point
        if isinstance(kernel.expr, Add):  # a kernel of mixtures
            (at,) = kernel.variables
            if not any(weighted(one)[0].has(at) for one in kernel.expr.args):
                yield Add(*(_linear(LAST, one, first, at) for one in kernel.expr.args))


def _linear(how: Basic, term: Basic, first: Basic | None = None, at: Basic | None = None) -> Basic:
    weight, law = weighted(term)
    if first is not None:
        law = Joint(first, Lambda(at, law) if law.has(at) else constant_kernel(law))
    return weight * Image(how, law)
