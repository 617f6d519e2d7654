"""The check that takes a statement over from another work."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sympy import Basic, Expr, Symbol, true

from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import given


@dataclass(frozen=True)
class Cited(Check):
    """A result of another work: ``conclusion``, for all values of its letters that meet the premises. Engine: citation.

    Nothing is decided. Instances may stand beside it as further checks; one that is refuted refutes the claim, and none
    makes its verdict more than CITED.
    """

    engine = Engine.CITATION
    conclusion: Basic
    source: Source
    given: tuple[Basic, ...] = ()
    name: str = "cited"

    @property
    def says(self) -> Basic:
        return given(self.given, self.conclusion)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"It is taken from {self.source}"),)

    def at(self, values: Mapping[Symbol, Expr]) -> "Cited":
        """The result at values of its letters.

        >>> from sympy.abc import x, y
        >>> Cited(x < y, Source("A book", "Theorem 1"), (x < 1,)).at({x: y / 2}).given
        (y/2 < 1,)
        """
        put = [one.subs(values, simultaneous=True) for one in (self.conclusion, *self.given)]
        return replace(self, conclusion=put[0], given=tuple(one for one in put[1:] if one != true))
