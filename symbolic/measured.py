"""The checks of what other code computes: runs that attack a bound, certificates, other routes, simulations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sympy import Abs, Basic, Eq, Expr, Le, S, Symbol

from lastiterate.symbolic.checks import Check, Engine
from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.notation import alpha
from lastiterate.symbolic.relations import Relation, Sign, Signed
from lastiterate.symbolic.statement import Expectation, given


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

    @property
    def says(self) -> Basic:
        what = "The Rényi divergence of order ", alpha, " between the last iterates, either law first, is at most "
        return sentence(*what, self.bound)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (*_replaced(self.altered), sentence(f"Attacked by the runs {', '.join(self.attacks)}"))


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

    @property
    def says(self) -> Basic:
        what = "an epsilon at a delta" if self.delta else "a Rényi divergence"
        return sentence(f"The checker accepts each certificate of {what}: {self.scheme} batches, {self.losses} losses")

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return _replaced(self.altered)


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

    @property
    def says(self) -> Basic:
        off = (", changed by a share of ", self.off) if self.off else ()
        return sentence(f"Each number of {self.quantity}", *off, " lies where another computation puts it")


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

    @property
    def says(self) -> Basic:
        mean, at = Expectation(Symbol(self.quantity.replace("_", " "))), self.parameters.items()
        if self.relation is Relation.EQUAL:
            said = Le(Abs(mean - self.value), self.tolerance, evaluate=False)
        else:
            said = Le(mean, self.value + self.tolerance, evaluate=False)
        return given((Eq(letter, number, evaluate=False) for letter, number in at), said)


def _replaced(altered: Mapping[Symbol, Expr]) -> tuple[Sentence, ...]:
    rows = tuple(part for letter, by in altered.items() for part in (", ", letter, " by ", by))
    return (sentence("The bound sees other parameters than the run: it replaces ", *rows[1:]),) if rows else ()
