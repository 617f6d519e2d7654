"""The checks of what other code computes: runs that attack a bound, certificates, other routes, simulations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sympy import Expr, S, Symbol

from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.relations import Sign, Signed


@dataclass(frozen=True)
class UpperBound(Check):
    """A claimed bound of the Renyi divergence of the last iterate, of either law from the other. Engine: attack.

    ``bound`` names a target in `lastiterate.proofs_checks.attacks.targets.TARGETS`. ``attacks`` names the
    exactly solvable runs that meet the assumptions. ``altered`` replaces parameters before the evaluator
    sees them ({K: K / 2} drops a factor two): that is how mutants are written.
    """

    engine = Engine.ATTACK
    bound: str
    attacks: tuple[str, ...]
    altered: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "bound"


@dataclass(frozen=True)
class Certified(Check):
    """The independent checker accepts the certificates of what `bound` says. Engine: certificate.

    ``scheme`` and ``losses`` say of which runs, ``delta`` whether of an epsilon at a delta or of a Renyi divergence.
    ``altered`` replaces parameters before `bound` sees them, but not in the certificate: that is how mutants are
    written.
    """

    engine = Engine.CERTIFICATE
    scheme: str
    losses: str
    delta: bool = False
    altered: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "certificates"


@dataclass(frozen=True)
class Recomputed(Check):
    """Each number of the code that ``quantity`` names lies where another computation puts it. Engine: recomputation.

    ``quantity`` names an entry of `lastiterate.proofs_checks.recomputations.recomputations`. ``off`` is a share
    by which every number of the code is changed before it is looked at: that is how mutants are written.
    """

    engine = Engine.RECOMPUTATION
    quantity: str
    off: Expr = S.Zero
    name: str = "numbers"


@dataclass(frozen=True)
class Simulated(Signed, Check):
    """The mean of a simulated quantity stands in the relation to ``value``. Engine: simulation.

    ``quantity`` names an entry of `lastiterate.proofs_checks.experiments.EXPERIMENTS`, ``parameters`` are its
    numbers, and ``value`` may use them. With "==" the confidence interval must lie within
    ``tolerance`` of the value; with "<=" it may reach that far above.
    """

    engine = Engine.SIMULATION
    quantity: str
    sign: Sign
    value: Expr
    parameters: Mapping[Symbol, Expr | int]
    tolerance: Expr = S.Zero
    name: str = "simulation"
