"""The check that takes a statement over from another work."""

from dataclasses import dataclass

from sympy import Basic

from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.papers import Source


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
