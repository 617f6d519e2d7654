"""Families of functions, convex sets and operators on R^d, evaluated at finitely many points.

Inequalities between any two samples, linear in inner products and function values, describe a family. Sources
of `exact`: Taylor, Hendrickx & Glineur 2017, Theorem 4, for functions; Kirszbraun, and maximal monotone
extensions (Ryu et al. 2020, Section 2), for operators.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final

from sympy import Eq, Expr, Function, S, Symbol, oo, sympify
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.statement import Condition, condition
from lastiterate.symbolic.vectors import Vector, inner


class FunctionValue(Symbol):  # type: ignore[misc]
    """The value of a function at a point, a real number."""

    def __new__(cls, name: str, **facts: bool) -> "FunctionValue":
        made: FunctionValue = super().__new__(cls, name, **{"real": True} | facts)
        return made


def _words(name: str, words: str) -> type[Condition]:
    return condition(name, words, __name__)


OnSpace: Final = _words("OnSpace", "{0} a function on R^d")
Convex: Final = _words("Convex", "{0} convex")
StronglyConvex: Final = _words("StronglyConvex", "{0} {1}-strongly convex")
Smooth: Final = _words("Smooth", "{0} {1}-smooth")
Steep: Final = _words("Steep", "{0} {1}-Lipschitz")
OfConvexSet: Final = _words("OfConvexSet", "P_{0} the projection onto a closed convex set {0}")
InSet: Final = _words("InSet", "{0} in {1}")
OfClipping: Final = _words("OfClipping", "{0} the projection onto the ball of radius {1}")
Operator: Final = _words("Operator", "{0} an operator on R^d")
LipschitzMap: Final = _words("LipschitzMap", "{0} {1}-Lipschitz")
Monotone: Final = _words("Monotone", "{0} monotone")
StronglyMonotone: Final = _words("StronglyMonotone", "{0} {1}-strongly monotone")
Cocoercive: Final = _words("Cocoercive", "{0} {1}-cocoercive")


@dataclass(frozen=True)
class Sample:
    """A point, which is a sum of letters for vectors, and a member of a family at this point.

    Attributes:
        image: the gradient, projection or image of the point: a letter, or a known expression.
        name: the point, as written in the names of hypotheses.
    """

    family: "Family"
    point: Expr
    image: Expr
    value: Expr = S.Zero
    name: str = ""

    @property
    def shown(self) -> dict[Expr, Expr]:
        """The meaning of the letters of the sample."""
        image = Function(self.family.image_name)(self.point)
        value = Function(self.family.name)(self.point)
        pairs = ((self.image, image), (self.value, value))
        return {letter: shown for letter, shown in pairs if letter.is_Symbol and letter != self.point}

    @property
    def known(self) -> Boolean | None:
        """The condition that the image is the known expression; None if it is a letter."""
        if self.image.is_Symbol and self.image != self.point:
            return None
        if isinstance(self.family, ConvexSet):
            return InSet(self.point, Symbol(self.family.name))
        return Eq(Function(self.family.image_name)(self.point), self.image, evaluate=False)


@dataclass(frozen=True)
class Family:
    """A family, with the name of a member."""

    name: str
    _image: ClassVar[str] = "{}"

    @property
    def image_name(self) -> str:
        """The name of the map from points to images."""
        return self._image.format(self.name)

    @property
    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that define the family."""

    def at(self, point: Expr) -> Sample:
        """The sample at a point."""
        value = FunctionValue(f"{self.name}({point})") if isinstance(self, Functions) else S.Zero
        return Sample(
            self, sympify(point, strict=True), Vector(f"{self.image_name}({point})"), value, str(point)
        )

    @abstractmethod
    def between(self, one: Sample, other: Sample) -> Iterator[Expr]:
        """Expressions that are at most 0 for every ordered pair of samples."""

    def alone(self, one: Sample) -> Iterator[Expr]:  # noqa: ARG002
        """Expressions that are at most 0 for every sample."""
        yield from ()

    @property
    def exact(self) -> bool:
        """True if samples that satisfy the inequalities always belong to a member on the whole of R^d."""
        return True


@dataclass(frozen=True)
class Functions(Family):
    """Functions f with convex f - low |x|^2 / 2 and high |x|^2 / 2 - f, and gradients of length <= ``steep``."""

    low: Expr = S.Zero
    high: Expr = oo
    steep: Expr = oo
    _image = "{}'"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        f, low, high = Symbol(self.name), self.low, self.high
        curved = [Convex(f)] if low == 0 else [] if low == -high else [StronglyConvex(f, low)]
        smooth = [] if high == oo else [Smooth(f, high)]
        return (OnSpace(f), *curved, *smooth, *([] if self.steep == oo else [Steep(f, self.steep)]))

    def minimum(self, point: Expr) -> Sample:
        """The sample at a point where the gradient is 0."""
        return replace(self.at(point), image=S.Zero)

    def between(self, one: Sample, other: Sample) -> Iterator[Expr]:
        apart, turned = one.point - other.point, one.image - other.image
        above = one.value - other.value - inner(other.image, apart)
        curved = inner(apart, apart) * self.low
        if self.high == oo:
            yield curved / 2 - above
        else:
            bent = inner(turned, turned) - 2 * self.low * inner(turned, apart) + self.high * curved
            yield bent / (2 * (self.high - self.low)) - above

    def alone(self, one: Sample) -> Iterator[Expr]:
        if self.steep != oo:
            yield inner(one.image, one.image) - self.steep**2

    @property
    def exact(self) -> bool:
        # bounds on gradients are exact for convex functions, whose gradients are means of gradients at the
        # samples
        return bool(self.steep == oo or self.low == 0)


@dataclass(frozen=True)
class ConvexSet(Family):
    """Nonempty closed convex sets; the image is the projection of the point."""

    _image = "P_{}"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (OfConvexSet(Symbol(self.name)),)

    def member(self, point: Expr) -> Sample:
        """A point of the set, which is its own projection."""
        return Sample(self, sympify(point, strict=True), sympify(point, strict=True), name=str(point))

    def between(self, one: Sample, other: Sample) -> Iterator[Expr]:
        yield inner(other.point - other.image, one.image - other.image)


@dataclass(frozen=True)
class Clipping(ConvexSet):
    """Balls around 0, onto which clipping projects."""

    radius: Expr = S.One
    _image = "{}"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (OfClipping(Symbol(self.name), self.radius),)

    def alone(self, one: Sample) -> Iterator[Expr]:
        yield inner(one.image, one.image) - self.radius**2
        yield inner(one.image, one.image) - inner(one.image, one.point)

    @property
    def exact(self) -> bool:
        return False  # the inequalities do not imply that the set is a ball


@dataclass(frozen=True)
class Operators(Family):
    """Operators T that are ``lipschitz``-Lipschitz, or monotone (the default).

    Monotone operators satisfy <T(x) - T(y), x - y> >= strong |x - y|^2 + cocoercive |T(x) - T(y)|^2.
    """

    lipschitz: Expr = oo
    strong: Expr = S.Zero
    cocoercive: Expr = S.Zero

    @property
    def conditions(self) -> tuple[Condition, ...]:
        t = Symbol(self.name)
        lipschitz = [] if self.lipschitz == oo else [LipschitzMap(t, self.lipschitz)]
        strong = [StronglyMonotone(t, self.strong)] if self.strong != 0 else []
        coco = [Cocoercive(t, self.cocoercive)] if self.cocoercive != 0 else []
        return (Operator(t), *(lipschitz + strong + coco or [Monotone(t)]))

    def between(self, one: Sample, other: Sample) -> Iterator[Expr]:
        apart, moved = one.point - other.point, one.image - other.image
        if one.name > other.name:
            return
        if self.lipschitz == oo or self.strong != 0 or self.cocoercive != 0:
            monotone = inner(moved, apart)
            yield self.strong * inner(apart, apart) + self.cocoercive * inner(moved, moved) - monotone
        if self.lipschitz != oo:
            yield inner(moved, moved) - self.lipschitz**2 * inner(apart, apart)

    @property
    def exact(self) -> bool:  # for one property at most
        return sum(map(bool, (self.lipschitz != oo, self.strong != 0, self.cocoercive != 0))) <= 1


def convex(name: str, smooth: Expr = oo, steep: Expr = oo) -> Functions:
    """Convex functions, ``smooth``-smooth, with (sub)gradients of length at most ``steep``."""
    return Functions(name, S.Zero, smooth, steep)


def strongly_convex(name: str, least: Expr, smooth: Expr = oo) -> Functions:
    """``least``-strongly convex functions, ``smooth``-smooth."""
    return Functions(name, least, smooth)


def smooth(name: str, constant: Expr) -> Functions:
    """Functions with ``constant``-Lipschitz gradients, convex or not."""
    return Functions(name, -constant, constant)


@lru_cache(maxsize=1024)  # near misses have the samples of their check
def inequalities(samples: tuple[Sample, ...]) -> Mapping[str, Expr]:
    """All expressions that are at most 0 for the samples, by the names of the member and the points."""
    found = {}
    for one in samples:
        for i, expression in enumerate(one.family.alone(one)):
            found[f"{one.family.name}({one.name}){'*' * i}"] = expression
        for other in samples:
            if one != other and one.family == other.family:
                for i, expression in enumerate(one.family.between(one, other)):
                    found[f"{one.family.name}({one.name}, {other.name}){'*' * i}"] = expression
    return {name: expression for name, expression in found.items() if expression != 0}
