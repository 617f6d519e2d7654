"""The types of checks about vectors of every dimension."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sympy import Basic, Eq, Expr, Le
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Comparison, Engine
from lastiterate.symbolic.conditions import Condition
from lastiterate.symbolic.families import Sample
from lastiterate.symbolic.relations import Relation
from lastiterate.symbolic.statement import given
from lastiterate.symbolic.vectors import Norm, Vector


class Vectors(Condition):
    """Condition: vectors of R^d, for any d."""

    @property
    def words(self) -> str:  # type: ignore[override]
        """A place for every vector."""
        places = ", ".join(f"{{{i}}}" for i in range(len(self.args)))
        return f"{places} in R^d, for any d"


@dataclass(frozen=True)
class NormBound(Check):
    """The length of ``vector`` is at most ``bound``, for vectors of every dimension. Engine: vectors.

    ``vector`` is a sum of letters of `lastiterate.symbolic.vectors` with numbers before them; ``given`` are premises of
    this check alone, in which vectors stand as lengths and inner products.
    """

    engine = Engine.VECTORS
    vector: Expr
    bound: Expr
    given: tuple[Boolean, ...] = ()
    name: str = "length"

    @property
    def says(self) -> Basic:
        return given(self.given, Le(Norm(self.vector), self.bound, evaluate=False))


@dataclass(frozen=True)
class VectorInequality(Comparison):
    """``left sign right`` for all members of families, at all points of R^d, for every d. Engine: gram.

    The sides and the premises ``given`` are linear in inner products, squared lengths and values of functions; or each
    side is a length, or a number, times a number that is not negative. ``samples`` name what is known of the members:
    their gradients, values, projections or images at points. ``multipliers`` of the hypotheses, by name, are taken
    before any is searched for; they are verified like others. Hypotheses are named after points, such as "f(x, y)" for
    f(x) above the tangent at y, and premises "given 1" and so on.
    """

    engine = Engine.GRAM
    samples: tuple[Sample, ...] = ()
    given: tuple[Boolean, ...] = ()
    multipliers: Mapping[str, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "vectors"

    @property
    def conditions(self) -> tuple[Basic, ...]:
        """Conditions on members of families, on points and on numbers, under which the check concludes."""
        families = (one for sample in self.samples for one in sample.family.conditions)
        known = (one.known for one in self.samples if one.known is not None)
        found = tuple(dict.fromkeys((*families, *map(self._shown, (*known, *self.given)))))
        vectors = set[Vector]().union(*(one.atoms(Vector) for one in (*found, self.conclusion)))
        return (Vectors(*sorted(vectors, key=str)), *found) if vectors else found

    @property
    def says(self) -> Basic:
        return given(self.conditions, self.conclusion)

    @property
    def conclusion(self) -> Basic:
        """The sides, with gradients, projections, images and values as those of members at points."""
        kind = Eq if self.relation is Relation.EQUAL else Le
        return self._shown(kind(self.left, self.right, evaluate=False))

    def _shown(self, said: Basic) -> Basic:
        shown = {letter: by for one in self.samples for letter, by in one.shown.items()}
        for _ in self.samples:  # a point may be made of a gradient at another, but not at itself
            said = said.xreplace(shown)
        return said
