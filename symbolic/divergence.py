"""The check of a Renyi divergence that follows from a derivation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sympy import Basic, Eq, Expr, Le, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Engine, listed
from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.statement import divergence, given


@dataclass(frozen=True)
class RenyiBound(Check):
    """The last iterates obey (alpha, bound)-RDP, in both orders, by the kernel's rules. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.derivations.DERIVATIONS`; `lastiterate.symbolic.kernel.renyi`
    bounds the divergence of the profile that it reaches, where batches are random by amplification or, if they are not
    ``amplified``, as if they were revealed. ``given`` are premises of this check alone. In the statement of the claim
    the letters that one may choose, the window among them, have the values ``at``. ``supposed`` is as in `Derived`.
    """

    engine = Engine.DERIVATION
    derivation: str
    bound: Expr
    given: tuple[Boolean, ...] = ()
    amplified: bool = False
    at: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "Renyi divergence"
    supposed: tuple[str, ...] = ()

    @property
    def says(self) -> Basic:
        return given((*map(sentence, self.supposed), *self.given), Le(divergence(), self.bound, evaluate=False))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        chosen = (Eq(letter, value, evaluate=False) for letter, value in self.at.items())
        by = sentence(f"By the derivation {self.derivation}")
        return (by, listed("In the statement ", chosen)) if self.at else (by,)
