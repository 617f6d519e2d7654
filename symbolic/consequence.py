"""The check of a statement that follows from results of other works."""

from dataclasses import dataclass

from sympy import Basic
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Engine, listed
from lastiterate.symbolic.citation import Cited
from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.statement import given


@dataclass(frozen=True)
class Consequence(Check):
    """``conclusion`` follows, under ``given``, from cited results at values of their letters. Engine: derivation.

    Every premise of a result must be among those of the check, or follow from its relations. A bound by a universal
    constant times A gives one by the same constant times B, where A is at most B.

    ``covers`` are events of which one happens wherever that of the conclusion does not: its probability is at least 1
    less the sum of theirs (Boole). Relations between random letters among the premises hold at every outcome.
    """

    engine = Engine.DERIVATION
    conclusion: Relational
    cited: tuple[Cited, ...]
    given: tuple[Basic, ...] = ()
    covers: tuple[Boolean, ...] = ()
    name: str = "consequence"

    @property
    def says(self) -> Basic:
        return given(self.given, self.conclusion)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        notes = list[Sentence]()
        for one in self.cited:
            notes.append(sentence("It follows from ", one.conclusion, f", taken from {one.source}"))
            notes += [listed("which supposes ", one.given)] if one.given else []
        return (*notes, listed("Where it fails, one of ", self.covers)) if self.covers else tuple(notes)
