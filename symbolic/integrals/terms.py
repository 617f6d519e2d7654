"""Terms of the calculus: points of a probability space, conditional means, laws and their densities.

All random quantities of a judgement live on one space with a probability law, of which nothing is supposed, and the
laws that are compared have densities with respect to it: half of their sum does for two. A density p(x) is a
nonnegative function of a point x, and E[f | y] is the mean of f given the point y. The law of y = h(x), h random or
not, has the density E[p(x) | y] with respect to the law of y, because E[p(x) g(y)] = E[E[p(x) | y] g(y)] for g >= 0.
"""

from functools import cache
from typing import Any

from sympy import Add, Basic, Expr, Function, Lambda, Mul, Sum, Symbol, Tuple, expand_mul, expand_power_base

from lastiterate.symbolic.integrals.language import At, Joint
from lastiterate.symbolic.statement import Image, QuantityBase


class Point(Symbol):  # type: ignore[misc]
    """A point of the space, or a coordinate of it."""


def points(of: Basic) -> frozenset[Point]:
    """The points that a term depends on."""
    return frozenset(one for one in of.free_symbols if isinstance(one, Point))


class Mean(QuantityBase):
    """E[f | points] of (f, points); made by `mean`."""

    @property
    def free_symbols(self) -> set[Basic]:
        """The points that are given, and the letters for numbers."""
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
    """E[of | given], with what is known in front, sums apart, and an inner mean given more replaced by what it is of.

    These are the linearity of the mean, E[a f | y] = a E[f | y] where a is a function of y, and the tower
    E[a E[f | x, y] | y] = E[a f | y] where a is a function of x and y.

    >>> x, y = Point("x"), Point("y")
    >>> p = Function("p", nonnegative=True)(x)
    >>> mean(mean(3 * p, y))
    3*E[p(x)]
    """
    return Add(*(_mean_of_term(term, frozenset(given)) for term in Add.make_args(expand_mul(of))))


def _mean_of_term(term: Expr, given: frozenset[Point]) -> Expr:
    factors = Mul.make_args(term)
    known = [one for one in factors if points(one) <= given]
    rest = [one for one in factors if not points(one) <= given]
    if not rest:
        return term
    for inner in rest:
        others = [one for one in rest if one is not inner]
        if isinstance(inner, Sum) and not others:
            return Mul(*known, Sum(mean(inner.function, *given), *inner.limits))
        if isinstance(inner, Mean):
            of, more = inner.args
            if given <= set(more) and all(points(one) <= set(more) for one in others):
                return Mul(*known, mean(Mul(of, *others), *given))
    return Mul(*known, Mean(Mul(*rest), Tuple(*sorted(given, key=str))))


@cache
def density(law: Basic) -> Expr:
    """The density of a law at a point of its own, `home` of the law, given the points that the law depends on.

    A combination of laws has the combination of their densities; the law of (x, y) has p(x) k(x, y), where K(x) has
    the density k(x, .) given x; an image has the conditional mean. Of another law no more is known than its name.
    """
    if isinstance(law, Add):
        return Add(*map(density, law.args))
    if isinstance(law, Sum):
        return Sum(density(law.function), *law.limits)
    if isinstance(law, Mul):
        weights = [one for one in law.args if one.is_real]
        (other,) = (one for one in law.args if not one.is_real)
        return Mul(*weights, density(other))
    if isinstance(law, Image):
        return mean(density(law.args[1]), *home(law), *points(law))
    if isinstance(law, Joint):
        first, kernel = law.args
        (x,) = home(first)
        return density(first) * density(At(kernel, x))
    letters = sorted(law.free_symbols - {law} if not isinstance(law, Symbol) else (), key=str)
    depends = [one for one in letters if isinstance(one, Point) or one.is_integer]
    made: Expr = Function(f"density of {law}", nonnegative=True)(*depends, *home(law))
    return made


@cache
def home(law: Basic) -> tuple[Point, ...]:
    """The points at which the density of a law is taken, besides those that the law depends on.

    Laws that are combined or compared are on one space, so that it is one point for all of them.
    """
    if isinstance(law, Add | Mul):
        return home(next(one for one in law.args if not one.is_real))
    if isinstance(law, Sum):
        return home(law.function)
    if isinstance(law, Image):
        return (Point(f"{law.args[0]}({', '.join(map(str, home(law.args[1])))})"),)
    if isinstance(law, Joint):
        first, kernel = law.args
        (x,) = home(first)
        return x, *home(At(kernel, x))
    depth = len(points(law))
    return (Point("x" if not depth else "y" if depth == 1 else f"y{depth}"),)


def moment(one: Basic, other: Basic, order: Expr) -> Expr:
    """E[p^a q^(1-a)] given the points that the laws depend on, p and q their densities and a the order."""
    power = density(one) ** order * density(other) ** (1 - order)
    return mean(expand_power_base(power), *(points(one) | points(other)))


def constant(law: Basic) -> Lambda:
    """The kernel that has this law at every point."""
    return Lambda(Point("o"), law)
