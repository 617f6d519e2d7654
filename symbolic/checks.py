"""The types of checks, each decided by one engine, and their mutants."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Context
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Self

from sympy import Abs, And, Basic, Eq, Expr, Function, Ge, Integer, Le, Lt, Rational, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.kernel.profiles import Profile
from lastiterate.symbolic.notation import PREVIOUS, unit_text
from lastiterate.symbolic.relations import Relation, Sign, Signed
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Constant,
    ForAll,
    LastIterate,
    Outgrows,
    SameUnit,
    Statement,
    Wasserstein,
    given,
)


class Engine(StrEnum):
    """The engine that decides a check."""

    IDENTITY = "identity"
    INEQUALITY = "inequality"
    ENCLOSURE = "enclosure"
    ATTACK = "attack"
    SAMPLING = "sampling"
    ASYMPTOTICS = "asymptotics"
    UNITS = "units"
    SIMULATION = "simulation"
    DERIVATION = "derivation"
    VECTORS = "vectors"
    GRAM = "gram"
    EXPECTATIONS = "expectations"
    CERTIFICATE = "certificate"
    RECOMPUTATION = "recomputation"
    CITATION = "citation"
    INDUCTION = "induction"


class _Named:
    """The name of a check in reports."""

    name: str


@dataclass(frozen=True)
class Check(_Named):
    """A question to one engine, with its mutants: wrong variants, each of which the same engine must refute."""

    engine: ClassVar[Engine]
    mutants: tuple["Check", ...] = field(default=(), kw_only=True, repr=False)

    def __init_subclass__(cls) -> None:
        """Refuse a kind of check that does not say what it decides."""
        if "engine" in vars(cls) and "says" not in vars(cls):
            raise TypeError(f"A kind of check needs a formula, got {cls.__name__} without; define its property says.")

    @property
    def says(self) -> Statement:
        """The formula that the engine decides, for all values of its letters that meet the claim's assumptions."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """Sentences about what the engine reads beside the formula."""
        return ()

    def mutant(self, name: str, wrong: Self | None = None, /, **changes: Any) -> Self:
        """This check with one more mutant.

        Args:
            name: what is wrong with it.
            wrong: the mutant, a check of the same type; by default this check.
            **changes: fields that the mutant has otherwise.

        Raises:
            TypeError: the mutant is of another type, or a field does not exist.
            ValueError: the mutant says what this check says.

        >>> from sympy import Integer
        >>> Identity(Integer(4), Integer(2) ** 2).mutant("cube", right=Integer(2) ** 3).mutants[0].right
        8
        """
        alone: dict[str, Any] = {"name": name, "mutants": ()}
        mutant = replace(wrong or self, **changes | alone)
        if type(mutant) is not type(self):
            raise TypeError(f"The mutant '{name}' of a check {type(self).__name__} is of type {type(mutant).__name__}.")
        if mutant == replace(self, **alone):
            raise ValueError(f"The mutant '{name}' needs to differ from the check '{self.name}'; change it.")
        return replace(self, mutants=(*self.mutants, mutant))


@dataclass(frozen=True)
class Comparison(Signed, Check):
    """Two sides with a sign between them."""

    left: Expr
    sign: Sign
    right: Expr

    @property
    def compared(self) -> Basic:
        """The relation between the sides."""
        kind = {Relation.EQUAL: Eq, Relation.BELOW: Lt}.get(self.relation, Le)
        return kind(self.left, self.right, evaluate=False)


@dataclass(frozen=True)
class Identity(Check):
    """``left == right`` for every value of the symbols that meets the assumptions. Engine: identity.

    ``given`` are premises of this check alone, such as ``x > 0`` where it divides by x.
    """

    engine = Engine.IDENTITY
    left: Expr
    right: Expr
    name: str = "identity"
    given: tuple[Boolean, ...] = ()

    @property
    def says(self) -> Basic:
        return given(self.given, Eq(self.left, self.right, evaluate=False))


@dataclass(frozen=True)
class Recursion(Check):
    """``closed_form`` solves ``u(start) = initial, u(index) = step(u(index - 1))``. Engine: identity.

    ``step`` is an expression in `notation.PREVIOUS` and, where needed, in ``index``. The engine checks the
    base case, the induction step, and agreement of the two at small exact rationals. ``given`` are premises of this
    check alone.
    """

    engine = Engine.IDENTITY
    index: Symbol
    initial: Expr
    step: Expr
    closed_form: Expr
    start: int = 0
    name: str = "recursion"
    given: tuple[Boolean, ...] = ()

    @property
    def says(self) -> Basic:
        here, index = self.closed_form, self.index
        base = Eq(here.subs(index, self.start), self.initial, evaluate=False)
        before = here.subs(index, index - 1)
        step = Eq(here, self.step.xreplace({PREVIOUS: before}), evaluate=False)
        later = given((Ge(index, self.start + 1, evaluate=False),), step)
        return given(self.given, And(base, later, evaluate=False))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        u, index = Function("u"), self.index
        start = Eq(u(self.start), self.initial, evaluate=False)
        step = Eq(u(index), self.step.xreplace({PREVIOUS: u(index - 1)}), evaluate=False)
        return (listed("It solves ", (start, step)),)


@dataclass(frozen=True)
class Inequality(Comparison):
    """``left sign right``, polynomial or algebraic, under the assumptions. Engine: inequality (z3).

    ``given`` are premises of this check alone (a proof step: premises imply conclusion). Where the sign is
    "<= and attained", the sides are equal wherever ``attained`` holds; where that is empty, at some point at which no
    symbol is zero.
    """

    engine = Engine.INEQUALITY
    given: tuple[Boolean, ...] = ()
    name: str = "inequality"
    attained: tuple[Basic, ...] = ()  # what pyright infers of Eq is no Boolean

    @property
    def says(self) -> Basic:
        return given(self.given, self.compared)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        if self.relation is not Relation.TIGHT:
            return ()
        where = listed("where ", self.attained) if self.attained else sentence("where no letter is 0")
        return (sentence("The sides are equal ", where),)


@dataclass(frozen=True)
class IntervalInequality(Comparison):
    """``left sign right`` on a box, transcendental functions allowed. Engine: enclosure (balls).

    ``box`` gives each free symbol a closed interval (low, high), either end of which may be infinite, or one value
    where low == high; a symbol declared integer runs over the integers of its interval. The assumptions of the claim
    cut the box.
    """

    engine = Engine.ENCLOSURE
    box: Mapping[Symbol, tuple[Expr | int, Expr | int]]
    name: str = "enclosure"

    @property
    def says(self) -> Basic:
        return given(inside(self.box), self.compared)


@dataclass(frozen=True)
class Value(Check):
    """``expression`` is the decimal number printed, up to half a unit of its last digit. Engine: enclosure."""

    engine = Engine.ENCLOSURE
    expression: Expr
    printed: str
    name: str = "value"

    @property
    def digits(self) -> tuple[Rational, Rational] | None:
        """The printed number and half a unit of its last digit; None unless it is a decimal number of usual length."""
        number = Context(prec=2000, traps=[]).create_decimal(self.printed)
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > 1000:
            return None
        return Rational(*number.as_integer_ratio()), Rational(1, 2) * Integer(10) ** exponent

    @property
    def says(self) -> Basic:
        if self.digits is None:
            return sentence(self.expression, f" is printed as {self.printed}")
        number, half = self.digits
        return Le(Abs(self.expression - number), half, evaluate=False)


@dataclass(frozen=True)
class Expected(Comparison):
    """``left sign right`` with means, as `lastiterate.symbolic.expectations` has them. Engine: expectations.

    The rule of each mean gives its value, and the rest is an `Identity` or an `Inequality` under the assumptions and
    the premises ``given``. What the rules suppose of sizes must follow from those.
    """

    engine = Engine.EXPECTATIONS
    given: tuple[Boolean, ...] = ()
    name: str = "mean"

    @property
    def says(self) -> Basic:
        return given(self.given, self.compared)


@dataclass(frozen=True)
class RandomPoints(Comparison):
    """``left sign right`` at random points of a box, 50 digits each. Engine: sampling.

    The weakest evidence: used where no other engine decides. Same fields as `IntervalInequality`.
    """

    engine = Engine.SAMPLING
    box: Mapping[Symbol, tuple[Expr | int, Expr | int]]
    name: str = "sample"

    @property
    def says(self) -> Basic:
        return given(inside(self.box), self.compared)


@dataclass(frozen=True)
class Derived(Check):
    """The laws of the last iterate obey ``profile`` in both orders, by the kernel's rules. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.derivations.DERIVATIONS`. What it supposes of the numbers
    must follow from the assumptions, and the profile that it reaches must be no larger than this one. ``supposed``
    lists what it supposes, as `Hypothesis` prints it: every judgement and every lemma that is not derived. Of a
    derivation that is not of this package it lists all, if the claim has no statement that does.
    """

    engine = Engine.DERIVATION
    derivation: str
    profile: Profile
    name: str = "derivation"
    supposed: tuple[str, ...] = ()

    @property
    def says(self) -> Basic:
        words = ("The last iterates of the two runs cost no more, in either order, than ", *self.profile.named())
        return given(map(sentence, self.supposed), sentence(*words))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"By the derivation {self.derivation}"),)


@dataclass(frozen=True)
class Deduced(Check):
    """The statement follows by the rules of the integral calculus. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.integrals.deductions.DEDUCTIONS`. The statement must have all
    that it supposes among its conditions, and its inequality must follow from the one that it reaches.
    """

    engine = Engine.DERIVATION
    statement: ForAll
    derivation: str
    name: str = "deduction"

    @property
    def says(self) -> ForAll:
        return self.statement

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"By the deduction {self.derivation} in the calculus of integrals"),)


@dataclass(frozen=True)
class Tracked(Check):
    """W_infinity of the two last iterates is at most ``distance``, by the kernel's rules. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.derivations.TRACKED`, a judgement that the laws are the same
    but for a distance: P(A) <= Q(A^z) for compact A, which is W_infinity <= z (Strassen 1965). ``supposed`` is as in
    `Derived`.
    """

    engine = Engine.DERIVATION
    derivation: str
    distance: Expr
    name: str = "distance"
    supposed: tuple[str, ...] = ()

    @property
    def says(self) -> Basic:
        apart = Wasserstein(LastIterate(SAMPLES), LastIterate(OTHER))
        return given(map(sentence, self.supposed), Le(apart, self.distance, evaluate=False))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"By the derivation {self.derivation}"),)


@dataclass(frozen=True)
class Printed(Check):
    """The proof that a paper prints is a derivation: each line follows by a rule of the kernel. Engine: derivation.

    ``derivation`` names an entry of `lastiterate.symbolic.derivations.printed.PRINTED`; a false line refutes the check.
    """

    engine = Engine.DERIVATION
    derivation: str
    name: str = "the printed proof"

    @property
    def says(self) -> Basic:
        return sentence(f"Every line of the printed proof of {self.derivation} follows by a rule of the kernel")


@dataclass(frozen=True)
class Asymptotic(Check):
    """One constant times ``right`` is at least ``left``, wherever the assumptions hold. Engine: asymptotics.

    ``constant`` is one that serves, for z3 to prove. ``path`` is what refutes: it gives each symbol as an
    expression in `notation.growth`, and no constant serves when the path stays within the assumptions while
    left / right tends to infinity on it. A constant that fails, or a path on which the ratio stays bounded,
    decides nothing.
    """

    engine = Engine.ASYMPTOTICS
    left: Expr
    right: Expr
    constant: Expr | None = None
    path: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    given: tuple[Boolean, ...] = ()
    name: str = "up to a constant"

    @property
    def says(self) -> Basic:
        return given(self.given, Le(self.left, Constant(self.right), evaluate=False))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        serves = () if self.constant is None else (sentence("With the constant ", self.constant),)
        return (*serves, listed("Tried on the path ", _equal(self.path))) if self.path else serves


@dataclass(frozen=True)
class Unbounded(Check):
    """``left / right`` tends to infinity on the path, which stays within the assumptions. Engine: asymptotics.

    The path is as in `Asymptotic`: this check holds where it refutes that one.
    """

    engine = Engine.ASYMPTOTICS
    left: Expr
    right: Expr
    path: Mapping[Symbol, Expr]
    given: tuple[Boolean, ...] = ()
    name: str = "unbounded"

    @property
    def says(self) -> Basic:
        return given(self.given, Outgrows(self.left, self.right))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (listed("No constant serves on the path ", _equal(self.path)),)


@dataclass(frozen=True)
class Units(Check):
    """Every sum in ``left`` and ``right`` adds like things, and the two have the same unit. Engine: units.

    The units are those of `notation.MEANING` and `letters.UNITS`; ``units`` gives the unit of a symbol that has none
    there, or that the claim lets stand for something else.
    """

    engine = Engine.UNITS
    left: Expr
    right: Expr
    units: Mapping[Symbol, Expr] = field(default_factory=lambda: MappingProxyType({}))
    name: str = "units"

    @property
    def says(self) -> Basic:
        return SameUnit(self.left, self.right)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        rows = tuple(part for letter, unit in self.units.items() for part in (", ", letter, f" in [{unit_text(unit)}]"))
        return (sentence("Here ", *rows[1:]),) if rows else ()


def listed(lead: str, rows: Iterable[Basic]) -> Sentence:
    """A sentence that lists conditions."""
    parts = tuple(part for one in rows for part in (", ", one))
    return sentence(lead, *parts[1:])


def _equal(values: Mapping[Symbol, Expr]) -> Iterator[Basic]:
    return (Eq(letter, value, evaluate=False) for letter, value in values.items())


def inside(box: Mapping[Symbol, tuple[Expr | int, Expr | int]]) -> tuple[Basic, ...]:
    """The conditions that a box makes."""
    return tuple(end for letter, (low, high) in box.items() for end in (Le(low, letter), Le(letter, high)))
