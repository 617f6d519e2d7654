"""The record of a claim: what a paper says, under which assumptions, and how it is to be decided.

A claim is data. It holds Sympy expressions and names, never logic; the engines in
`lastiterate.proofs_checks` read it. One theorem or lemma is one module with a tuple ``CLAIMS`` (the
statement first, then the proof steps that carry weight), and `lastiterate.symbolic.ledger` lists the
modules in the order of the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from sympy import Basic, Expr, S, Symbol
from sympy.logic.boolalg import Boolean

__all__ = [
    "Asymptotic",
    "Check",
    "Claim",
    "Engine",
    "Holds",
    "Identity",
    "Inequality",
    "Mutant",
    "Recursion",
    "Relation",
    "Role",
    "Sampled",
    "Simulated",
    "Source",
    "Unbounded",
    "Units",
    "UpperBound",
    "Value",
]


class Relation(StrEnum):
    """How the left side of a claim stands to its right side."""

    EQUAL = "=="
    AT_MOST = "<="
    BELOW = "<"
    TIGHT = "<= and attained"
    UP_TO_CONSTANT = "<~"


class Engine(StrEnum):
    """Who decides a check."""

    IDENTITY = "identity"
    INEQUALITY = "inequality"
    ENCLOSURE = "enclosure"
    WITNESS = "witness"
    SAMPLING = "sampling"
    ASYMPTOTICS = "asymptotics"
    UNITS = "units"
    SIMULATION = "simulation"


class Role(StrEnum):
    """A statement of the paper, a step of its proof, or a result of ours beside it.

    A refuted statement is REFUTED; a refuted step is a GAP: what it serves may still hold.
    """

    STATEMENT = "statement"
    STEP = "step"
    OURS = "ours"


@dataclass(frozen=True)
class Source:
    """Where a second reader finds the line: file in shared/seeds, line number there, number in the paper."""

    file: str
    line: int
    number: str
    equation: str = ""


@dataclass(frozen=True)
class Identity:
    """``left == right`` for every value of the symbols that meets the assumptions. Engine: identity."""

    left: Expr
    right: Expr
    name: str = "identity"


@dataclass(frozen=True)
class Recursion:
    """``closed_form`` solves ``u(start) = initial, u(index) = step(u(index - 1))``. Engine: identity.

    ``step`` is an expression in `notation.PREVIOUS` and, where needed, in ``index``. The engine checks the
    base case, the induction step, and agreement of the two at small exact rationals.
    """

    index: Symbol
    initial: Expr
    step: Expr
    closed_form: Expr
    start: int = 0
    name: str = "recursion"


@dataclass(frozen=True)
class Inequality:
    """``left relation right``, polynomial or algebraic, under the assumptions. Engine: inequality (z3).

    ``given`` are premises of this check alone (a proof step: premises imply conclusion). With `Relation.TIGHT` the
    sides are equal wherever ``attained`` holds; where that is empty, at some point at which no symbol is zero.
    """

    left: Expr
    relation: Relation
    right: Expr
    given: tuple[Boolean, ...] = ()
    name: str = "inequality"
    attained: tuple[Basic, ...] = ()  # what pyright infers of Eq is no Boolean


@dataclass(frozen=True)
class Holds:
    """``left relation right`` on a box, transcendental functions allowed. Engine: enclosure (balls).

    ``box`` gives each free symbol a closed interval (low, high), or one value where low == high; a symbol
    declared integer runs over the integers of its interval. The assumptions of the claim cut the box.
    """

    left: Expr
    relation: Relation
    right: Expr
    box: Mapping[Symbol, tuple[Expr | int, Expr | int]]
    name: str = "enclosure"


@dataclass(frozen=True)
class Value:
    """``expression`` is the decimal number printed, up to half a unit of its last digit. Engine: enclosure."""

    expression: Expr
    printed: str
    name: str = "value"


@dataclass(frozen=True)
class Sampled:
    """``left relation right`` at random points of a box, 50 digits each. Engine: sampling.

    The weakest evidence: used where no other engine decides. Same fields as `Holds`.
    """

    left: Expr
    relation: Relation
    right: Expr
    box: Mapping[Symbol, tuple[Expr | int, Expr | int]]
    name: str = "sample"


@dataclass(frozen=True)
class UpperBound:
    """A claimed bound of the Renyi divergence of the last iterate, of either law from the other. Engine: witness.

    ``bound`` names an evaluator in `lastiterate.numeric.published.evaluators.EVALUATORS`. ``witnesses`` names the
    exactly solvable runs that meet the assumptions. ``altered`` replaces parameters before the evaluator
    sees them ({K: K / 2} drops a factor two): that is how mutants are written.
    """

    bound: str
    witnesses: tuple[str, ...]
    altered: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "bound"


@dataclass(frozen=True)
class Asymptotic:
    """One constant times ``right`` is at least ``left``, wherever the assumptions hold. Engine: asymptotics.

    ``constant`` is one that serves, for z3 to prove. ``path`` is what refutes: it gives each symbol as an
    expression in `notation.growth`, and no constant serves when the path stays within the assumptions while
    left / right tends to infinity on it. A constant that fails, or a path on which the ratio stays bounded,
    decides nothing.
    """

    left: Expr
    right: Expr
    constant: Expr | None = None
    path: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    given: tuple[Boolean, ...] = ()
    name: str = "up to a constant"


@dataclass(frozen=True)
class Unbounded:
    """``left / right`` tends to infinity on the path, which stays within the assumptions. Engine: asymptotics.

    The path is as in `Asymptotic`: this check holds where it refutes that one.
    """

    left: Expr
    right: Expr
    path: Mapping[Symbol, Expr]
    given: tuple[Boolean, ...] = ()
    name: str = "unbounded"


@dataclass(frozen=True)
class Units:
    """Every sum in ``left`` and ``right`` adds like things, and the two have the same unit. Engine: units.

    The units are those of `notation.MEANING`; ``units`` gives the unit of a symbol for which that table says "as
    there", or which the claim lets stand for something else.
    """

    left: Expr
    right: Expr
    units: Mapping[Symbol, str] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "units"


@dataclass(frozen=True)
class Simulated:
    """The mean of a simulated quantity stands in the relation to ``value``. Engine: simulation.

    ``quantity`` names an entry of `lastiterate.proofs_checks.experiments.EXPERIMENTS`, ``parameters`` are its
    numbers, and ``value`` may use them. With `Relation.EQUAL` the confidence interval must lie within
    ``tolerance`` of the value; with `Relation.AT_MOST` it may reach that far above.
    """

    quantity: str
    relation: Relation
    value: Expr
    parameters: Mapping[Symbol, Expr | int]
    tolerance: Expr = S.Zero
    name: str = "simulation"


Check = (
    Identity
    | Recursion
    | Inequality
    | Holds
    | Value
    | Sampled
    | UpperBound
    | Asymptotic
    | Unbounded
    | Units
    | Simulated
)


@dataclass(frozen=True)
class Mutant:
    """A wrong variant of one check, which ``caught_by`` must refute (raising, or not deciding, is not enough)."""

    name: str
    check: Check
    caught_by: Engine


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, or of ours beside it.

    Attributes:
        key: ``paper/number`` for a statement, ``paper/number/step`` below it, lower case.
        title: what the claim says, in one line.
        source: where it stands.
        assumptions: Sympy conditions; printed, sampled from, and handed to the engines as premises.
        checks: all must hold.
        mutants: all must be refuted.
        role: statement of the paper, step of its proof, or a result of ours.
        relation: how the claim's sides stand to each other, for the reader and for the tests.
        misprint: the check as printed, where ``checks`` hold its evident reading; it must be refuted,
            and the verdict is then TYPO.
        repairs: key of the claim that this one mends.
        remark: for a reader of a verdict other than HOLDS: what is claimed, what fails, what is true instead.
    """

    key: str
    title: str
    source: Source
    checks: tuple[Check, ...]
    mutants: tuple[Mutant, ...]
    assumptions: tuple[Boolean, ...] = ()
    role: Role = Role.STATEMENT
    relation: Relation = Relation.EQUAL
    misprint: Check | None = None
    repairs: str = ""
    remark: str = ""
