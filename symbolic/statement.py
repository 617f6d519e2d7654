"""Statements of claims with their quantifiers, separate from the checks that decide them.

A body is a Sympy condition or another statement. In every divergence the numerator comes first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeAlias

from sympy import And, Basic, Expr, Function, Implies, Symbol, Tuple
from sympy.core.symbol import Str
from sympy.logic.boolalg import BooleanFunction

from lastiterate.symbolic.notation import alpha


class Condition(BooleanFunction):  # type: ignore[misc]
    """A condition on data, losses, batches or the domain, in words with places for its arguments."""

    words = ""

    def _sympystr(self, printer: Any) -> str:
        return self.words.format(*map(printer.doprint, self.args))


def condition(name: str, words: str, module: str = "lastiterate.symbolic.statement") -> type[Condition]:
    """Make a type of conditions with this name, in a module."""
    return type(name, (Condition,), {"words": words, "__module__": module, "__doc__": f"Condition: {words}."})


class Sentence(Condition):
    """A condition in words, followed by the expressions for its places {1}, {2} and so on."""

    @property
    def words(self) -> str:  # type: ignore[override]
        return str(self.args[0].name)


def sentence(*parts: str | Basic) -> Sentence:
    """The condition that consists of strings and expressions in this order.

    >>> from sympy.abc import x
    >>> print(sentence("the mean of ", x, " is odd"))
    the mean of x is odd
    """
    places = iter(range(1, len(parts) + 1))
    braces = str.maketrans({"{": "{{", "}": "}}"})
    words = (part.translate(braces) if isinstance(part, str) else f"{{{next(places)}}}" for part in parts)
    return Sentence(Str("".join(words)), *(part for part in parts if not isinstance(part, str)))


@dataclass(frozen=True)
class ForAll:
    """For all values of the variables that meet the conditions, the body holds."""

    variables: tuple[Basic, ...]
    conditions: tuple[Basic, ...]
    body: "Statement"


@dataclass(frozen=True)
class Exists:
    """For some values of the variables that meet the conditions, the body holds."""

    variables: tuple[Basic, ...]
    conditions: tuple[Basic, ...]
    body: "Statement"


Statement: TypeAlias = ForAll | Exists | Basic


class QuantityBase(Function):  # type: ignore[misc]
    """A quantity that Sympy lacks."""

    is_commutative = True
    is_signed = False
    """True if the quantity can be negative."""


class RenyiDivergence(QuantityBase):
    """D_order(numerator || denominator); arguments (order, numerator, denominator)."""


class HockeyStick(QuantityBase):
    """The supremum over events A of P(A) - factor Q(A); arguments (factor, P, Q)."""


class LastIterate(QuantityBase):
    """The law of the iterate after T steps on a data set."""


class ShiftedDivergence(QuantityBase):
    """The infimum of D_order(P' || Q) over P' within a W_infinity distance of P; arguments (order, distance, P, Q)."""


class Noisy(QuantityBase):
    """A law with independent Gaussian noise added; arguments (law, variance)."""


class Image(QuantityBase):
    """The law of the image of a random point; arguments (map, law). A random map is independent of the point."""


class Normal(QuantityBase):
    """The Gaussian law on the line; arguments (mean, variance)."""


class Wasserstein(QuantityBase):
    """W_infinity between two laws: the infimum over couplings of the essential supremum of the distance."""


class LeastGradient(QuantityBase):
    """The least mean gradient norm of the population risk over a number of steps."""


class Constant(QuantityBase):
    """O(argument): a universal constant times the argument."""


class Probability(QuantityBase):
    """The probability of an event, a condition on random letters."""

    is_real = True


class Expectation(QuantityBase):
    """The mean of a quantity of the run."""

    is_signed = True


class LeastOver(QuantityBase):
    """The minimum of an expression over letters with ranges (letter, low, high), under conditions."""

    is_signed = True

    @property
    def free_symbols(self) -> set[Basic]:
        ranges = [part for part in self.args if isinstance(part, Tuple)]
        rest = [part for part in self.args if not isinstance(part, Tuple)]
        ends = [end for _, *both in ranges for end in both]
        return set().union(*(part.free_symbols for part in (*rest, *ends))) - {letter for letter, *_ in ranges}


Neighbours: Final = condition("Neighbours", "{0} and {1} differ in one sample")
OneMore: Final = condition("OneMore", "one of {0}, {1} has one sample more than the other")
Larger: Final = condition("Larger", "{1} has one sample more than {0}")
Clipped: Final = condition("Clipped", "gradients clipped at {0}")
Smooth: Final = condition("Smooth", "losses {0}-smooth")
ConvexSmooth: Final = condition("ConvexSmooth", "losses convex and {0}-smooth")
Convex: Final = condition("Convex", "losses convex, {0}-smooth and {1}-Lipschitz")
StronglyConvex: Final = condition("StronglyConvex", "losses {0}-strongly convex, {1}-smooth and {2}-Lipschitz")
Holder: Final = condition("Holder", "gradients ({0}, {1})-Hoelder")
Diameter: Final = condition("Diameter", "domain of diameter {0}")
Lipschitz: Final = condition("Lipschitz", "{0} {1}-Lipschitz")
HolderMove: Final = condition("HolderMove", "{0} moves points by a ({1}, {2})-Hoelder map")
EveryStep: Final = condition("EveryStep", "{0} in every step")
Coupled: Final = condition("Coupled", "some u of law {0} and v of law {1} are at most {2} apart almost surely")
Displaced: Final = condition(
    "Displaced", "some u of law {0} and w, no longer than {2} almost surely, have u + w of law {1}"
)
ClippedSteps: Final = condition(
    "ClippedSteps",
    "every step is {0} times the mean of {1} gradients of random samples, each clipped at {2}, and noise of "
    "deviation {3} in each of {4} coordinates, without a projection",
)
Outgrows: Final = condition("Outgrows", "no constant times {1} is at least {0} everywhere")
SameUnit: Final = condition("SameUnit", "{0} and {1} have one unit, and every sum in them adds like things")
Variance: Final = condition("Variance", "sample gradients of variance at most {0} about their mean")
Binomial: Final = condition("Binomial", "{0} successes of {1} independent trials with success probability {2}")
Walk: Final = condition("Walk", "{0} the largest sum of some first ones of {1} independent N(0, {2})")
Projectable: Final = condition(
    "Projectable",
    "for every {0} points of R^{1} a linear map to R^{2} keeps squared distances within 1 - {3} and 1 + {3} times them",
)
Hides: Final = condition(
    "Hides", "shifts {0} lead from the distance tracked under {3} up to {2}, or the diameter, to 0 under {1}"
)
FullBatches: Final = condition("FullBatches", "full batches of {0}")
BatchesOf: Final = condition("BatchesOf", "batches of {0} out of {1} samples, drawn without replacement")
CyclicBatches: Final = condition("CyclicBatches", "batches of {0} out of {1} samples, in cyclic order")
PoissonBatches: Final = condition(
    "PoissonBatches", "batches of {0} out of {1} samples in the mean, each sample drawn by itself"
)

SAMPLES: Final = Symbol("S")
OTHER: Final = Symbol("S'")
"""Two data sets."""

FIRST: Final = Symbol("mu_1")
SECOND: Final = Symbol("mu_2")
MAP: Final = Symbol("psi")
"""Two laws on a space, and a map on this space."""


def divergence() -> RenyiDivergence:
    """The divergence of order alpha between the last iterates on two data sets."""
    return RenyiDivergence(alpha, LastIterate(SAMPLES), LastIterate(OTHER))


def private(bound: Expr, *conditions: Basic, adjacency: type[Condition] = Neighbours) -> ForAll:
    """(order, bound)-RDP of the last iterate under the conditions, in both directions."""
    return closed(divergence() <= bound, adjacency(SAMPLES, OTHER), alpha > 1, *conditions)


def free(statement: Statement) -> set[Basic]:
    """The letters that no quantifier binds."""
    if isinstance(statement, ForAll | Exists):
        inside = free(statement.body).union(*map(free, statement.conditions))
        return inside - set(statement.variables)
    return set(statement.free_symbols)


def closed(body: Statement, *conditions: Basic) -> ForAll:
    """The body for all values of its letters that meet the conditions.

    >>> from sympy.abc import x, y
    >>> closed(x < y + 1, x < y).variables
    (x, y)
    """
    letters = free(body).union(*map(free, conditions))
    return ForAll(tuple(sorted(letters, key=str)), conditions, body)


def for_some(letters: tuple[Symbol, ...], statement: ForAll) -> Exists:
    """The statement that for some values of ``letters``, ``statement`` holds for all values of its other letters."""
    others = tuple(letter for letter in statement.variables if letter not in letters)
    return Exists(letters, (), replace(statement, variables=others))


def given(premises: Iterable[Basic], said: Basic) -> Basic:
    """The condition that the premises imply ``said``."""
    supposed = tuple(premises)
    return Implies(And(*supposed), said, evaluate=False) if supposed else said


def parts(value: Any) -> Iterator[Basic]:
    """The expressions and conditions in a check or a statement, at any depth, without mutants.

    >>> from sympy.abc import x, y
    >>> list(parts(closed(x < 1, y < x)))
    [x, y, y < x, x < 1]
    """
    if isinstance(value, Basic):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            if one.name != "mutants":
                yield from parts(getattr(value, one.name))
    elif isinstance(value, Mapping):
        yield from parts((*value, *value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from parts(one)


def letters(value: Any) -> set[Symbol]:
    """The symbols of all parts of a check or a statement."""
    return set[Symbol]().union(*(part.free_symbols for part in parts(value)))
