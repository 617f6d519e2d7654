"""The check of a statement that follows from results of other works."""

from dataclasses import dataclass

from sympy import Basic
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.citation import Cited


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
