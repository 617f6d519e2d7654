"""The check of a Renyi divergence that follows from a derivation."""

from dataclasses import dataclass

from sympy import Expr
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Engine


@dataclass(frozen=True)
class RenyiBound(Check):
    """The last iterates obey (alpha, bound)-RDP, in both orders, by the kernel's rules. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.derivations.DERIVATIONS`; `lastiterate.symbolic.kernel.renyi`
    bounds the divergence of the profile that it reaches, where batches are random by amplification or, if they are not
    ``amplified``, as if they were revealed. ``given`` are premises of this check alone.
    """

    engine = Engine.DERIVATION
    derivation: str
    bound: Expr
    given: tuple[Boolean, ...] = ()
    amplified: bool = False
    name: str = "Renyi divergence"
