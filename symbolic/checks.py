"""Kinds of checks, each decided by one engine, and their mutants."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Context
from enum import StrEnum
from inspect import get_annotations
from itertools import takewhile
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Never, Self

from sympy import Abs, And, Basic, Eq, Expr, Function, Ge, Integer, Le, Lt, Rational, Subs, Symbol, nan, true
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanAtom, false

from lastiterate.symbolic.families import Sample
from lastiterate.symbolic.kernel.profiles import Profile
from lastiterate.symbolic.kernel.renyi import Sampled
from lastiterate.symbolic.notation import PREVIOUS, alpha, t, unit_text
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import *
from lastiterate.symbolic.vectors import Norm, Vector


class Relation(StrEnum):
    """The relation of the left side of a check to its right side."""

    EQUAL = "=="
    AT_MOST = "<="
    BELOW = "<"
    TIGHT = "<= and attained"
    UP_TO_CONSTANT = "<~"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        remedy = "swap the sides" if value in (">", ">=") else "use one of them"
        raise ValueError(f"A sign must be one of {', '.join(cls)}, got sign={value!r}; {remedy}.")


Sign = Literal["==", "<=", "<", "<= and attained", "<~"]
"""The sign of a `Relation` in a claim."""


class Engine(StrEnum):
    """The engine that decides a check."""

    IDENTITY = "identity"
    INEQUALITY = "inequality"
    ENCLOSURE = "enclosure"
    ATTACK = "attack"
    ASYMPTOTICS = "asymptotics"
    UNITS = "units"
    DERIVATION = "derivation"
    VECTORS = "vectors"
    GRAM = "gram"
    EXPECTATIONS = "expectations"
    CITATION = "citation"
    INDUCTION = "induction"


class _Named:
    name: str


@dataclass(frozen=True)
class Check(_Named):
    """A question to one engine, with mutants: wrong variants that this engine must refute.

    A kind of check defines `formula` or `says`, or has a field ``conclusion``. A kind with an engine of its
    own also has ``decide`` and ``near_misses`` (docs/extend/engine.md).
    """

    engine: ClassVar[str]
    mutants: tuple["Check", ...] = field(default=(), kw_only=True, repr=False)

    def __init_subclass__(cls) -> None:
        if "engine" in vars(cls):
            needs = () if cls.engine in set(Engine) else ("decide", "near_misses")
            kinds = takewhile(
                lambda one: one is cls or (one is not Check and "engine" not in vars(one)), cls.__mro__
            )
            own = [
                ({"says", "formula"} & vars(one).keys()) | ({"conclusion"} & {*get_annotations(one)})
                for one in kinds
            ]
            missing = [] if any(own) else ["says"]
            missing += [name for name in needs if name not in vars(cls)]
            if missing:
                answers, lacks = ", ".join(("says", *needs)), ", ".join(missing)
                raise TypeError(
                    f"A kind of check needs {answers}, got {cls.__name__} without {lacks}; define them."
                )
        engines = {vars(one).get("engine") for one in cls.__mro__}
        if engines & set(Engine) and not cls.__module__.startswith("lastiterate."):
            raise TypeError(
                f"Only the package's own checks may use its engines, got {cls.__name__}; inherit from Check or "
                "TwoSided and name an engine of your own."
            )

    @property
    def conditions(self) -> tuple[Basic, ...]:
        """The hypotheses ``supposed`` of this check, the ends of its box, and its premises."""
        fields: Any = vars(self)
        supposed, box = fields.get("supposed", ()), fields.get("box", {})
        return (*map(sentence, supposed), *inside(box), *fields.get("given", ()))

    @property
    def formula(self) -> Basic:
        """The formula that holds under the conditions."""
        conclusion: Basic = vars(self)["conclusion"]
        return conclusion

    @property
    def says(self) -> Statement:
        """The formula that the engine decides, for all values of its letters under the claim's assumptions."""
        return given(self.conditions, self.formula)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """Sentences about inputs of the engine other than the formula."""
        return ()

    def mutant(self, name: str, wrong: Self | None = None, /, **changes: Any) -> Self:
        """This check with an additional mutant: ``wrong``, of the same type, or this check with changed fields.

        Raises:
            TypeError: the mutant has another type, or a field does not exist.
            ValueError: the mutant is equal to this check.

        >>> from sympy import Integer
        >>> Identity(Integer(4), Integer(2) ** 2).mutant("cube", right=Integer(2) ** 3).mutants[0].right
        8
        """
        alone: dict[str, Any] = {"name": name, "mutants": ()}
        mutant = replace(wrong or self, **changes | alone)
        if type(mutant) is not type(self):
            raise TypeError(
                f"The mutant '{name}' must be of type {type(self).__name__}, got {type(mutant).__name__}."
            )
        if mutant == replace(self, **alone):
            raise ValueError(f"The mutant '{name}' must differ from the check '{self.name}'; change it.")
        return replace(self, mutants=(*self.mutants, mutant))


def listed(lead: str, rows: Iterable[Basic]) -> Sentence:
    """A sentence that lists conditions."""
    parts = tuple(part for one in rows for part in (", ", one))
    return sentence(lead, *parts[1:])


def inside(box: Mapping[Symbol, tuple[Expr | int, Expr | int]]) -> tuple[Basic, ...]:
    """The conditions that the letters lie in a box."""
    return tuple(end for letter, (low, high) in box.items() for end in (Le(low, letter), Le(letter, high)))


def _equal(values: Mapping[Symbol, Expr | int]) -> list[Basic]:
    return [Eq(letter, value, evaluate=False) for letter, value in values.items()]


_NONE: Final[Mapping[Any, Any]] = MappingProxyType({})


@dataclass(frozen=True)
class TwoSided(Check):
    """Two sides with a sign between them."""

    left: Expr
    sign: Sign
    right: Expr

    def __post_init__(self) -> None:
        self.relation  # noqa: B018  # raises an error for another sign

    @property
    def relation(self) -> Relation:
        """The sign as a member of `Relation`."""
        return Relation(self.sign)

    @property
    def formula(self) -> Basic:
        kind = {Relation.EQUAL: Eq, Relation.BELOW: Lt}.get(self.relation, Le)
        return kind(self.left, self.right, evaluate=False)


@dataclass(frozen=True)
class Identity(Check):
    """``left == right`` for all values of the symbols that meet the assumptions."""

    engine = Engine.IDENTITY
    left: Expr
    right: Expr
    name: str = "identity"
    given: tuple[Boolean, ...] = ()

    @property
    def formula(self) -> Basic:
        return Eq(self.left, self.right, evaluate=False)


@dataclass(frozen=True)
class Recursion(Check):
    """``closed_form`` solves ``u(start) = initial, u(index) = step(u(index - 1))``.

    ``step`` is an expression in `notation.PREVIOUS` and possibly ``index``. Conditions must not mention
    ``index``.
    """

    engine = Engine.INDUCTION
    index: Symbol
    initial: Expr
    step: Expr
    closed_form: Expr
    start: int = 0
    name: str = "recursion"
    given: tuple[Boolean, ...] = ()

    @property
    def formula(self) -> Basic:
        here, index = self.closed_form, self.index
        begun = here.subs(index, self.start)
        begun = Subs(here, index, self.start) if begun.has(nan) else begun  # Sympy refuses nan in a relation
        base = Eq(begun, self.initial, evaluate=False)
        before = here.subs(index, index - 1)
        step = Eq(here, self.step.xreplace({PREVIOUS: before}), evaluate=False)
        later = given((Ge(index, self.start + 1, evaluate=False),), step)
        return And(base, later, evaluate=False)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        u, index = Function("u"), self.index
        start = Eq(u(self.start), self.initial, evaluate=False)
        step = Eq(u(index), self.step.xreplace({PREVIOUS: u(index - 1)}), evaluate=False)
        return (listed("It solves ", (start, step)),)


@dataclass(frozen=True)
class Inequality(TwoSided):
    """``left sign right``, polynomial or algebraic, under the assumptions.

    For "<= and attained", the sides are equal where ``attained`` holds; if it is empty, they are equal at a
    point where no letter is 0.
    """

    engine = Engine.INEQUALITY
    given: tuple[Boolean, ...] = ()
    name: str = "inequality"
    attained: tuple[Basic, ...] = ()  # pyright does not infer Boolean for Eq

    @property
    def notes(self) -> tuple[Sentence, ...]:
        if self.relation is not Relation.TIGHT:
            return ()
        where = listed("where ", self.attained) if self.attained else sentence("where no letter is 0")
        return (sentence("The sides are equal ", where),)


@dataclass(frozen=True)
class IntervalInequality(TwoSided):
    """``left sign right`` on a box, with transcendental functions.

    ``box`` gives each free symbol a closed interval (low, high) of reals or, for an integer symbol, of
    integers. Ends can be infinite or equal. The assumptions of the claim restrict the box further.
    """

    engine = Engine.ENCLOSURE
    box: Mapping[Symbol, tuple[Expr | int, Expr | int]]
    name: str = "enclosure"


@dataclass(frozen=True)
class Value(Check):
    """``expression`` equals the printed decimal number up to half a unit of its last digit."""

    engine = Engine.ENCLOSURE
    expression: Expr
    printed: str
    name: str = "value"

    @property
    def digits(self) -> tuple[Rational, Rational] | None:
        """The printed number and half a unit of its last digit; None unless its exponent is within +-1000."""
        number = Context(prec=2000, traps=[]).create_decimal(self.printed)
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > 1000:
            return None
        return Rational(*number.as_integer_ratio()), Rational(1, 2) * Integer(10) ** exponent

    @property
    def formula(self) -> Basic:
        if self.digits is None:
            return sentence(self.expression, f" is printed as {self.printed}")
        number, half = self.digits
        return Le(Abs(self.expression - number), half, evaluate=False)


@dataclass(frozen=True)
class Expected(TwoSided):
    """``left sign right`` with the means of `lastiterate.symbolic.expectations`.

    The assumptions and ``given`` must imply the `conditions` of these means.
    """

    engine = Engine.EXPECTATIONS
    given: tuple[Boolean, ...] = ()
    name: str = "mean"


@dataclass(frozen=True)
class _ByRules(Check):
    derivation: str

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"By the derivation {self.derivation}"),)


@dataclass(frozen=True)
class Derived(_ByRules):
    """The laws of the last iterate satisfy ``profile`` in both orders, by the kernel's rules.

    ``derivation`` names an entry of `symbolic.derivations.DERIVATIONS`. The assumptions must imply the
    derivation's conditions on numbers, and its profile must be at most ``profile``. ``supposed`` lists every
    judgement and lemma that is not derived, as `Hypothesis` prints it. For a derivation outside this package,
    it lists all hypotheses, unless the claim's statement lists them.
    """

    engine = Engine.DERIVATION
    profile: Profile
    name: str = "derivation"
    supposed: tuple[str, ...] = ()

    @property
    def formula(self) -> Basic:
        said = "The last iterates of the two runs cost no more, in either order, than "
        return sentence(said, *self.profile.named())


@dataclass(frozen=True)
class Deduced(Check):
    """The statement follows by the rules of the integral calculus.

    ``derivation`` names an entry of `deductions.DEDUCTIONS`, whose hypotheses must be conditions of the
    statement.
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
class Tracked(_ByRules):
    """W_infinity between the two last iterates is at most ``distance``, by the kernel's rules.

    ``derivation`` names an entry of `symbolic.derivations.TRACKED`. The derivation shows P(A) <= Q(A^z) for
    compact A with z-neighbourhood A^z, that is, W_infinity <= z (Strassen 1965). ``supposed`` is as in
    `Derived`.
    """

    engine = Engine.DERIVATION
    distance: Expr
    name: str = "distance"
    supposed: tuple[str, ...] = ()

    @property
    def formula(self) -> Basic:
        return Le(Wasserstein(LastIterate(SAMPLES), LastIterate(OTHER)), self.distance, evaluate=False)


@dataclass(frozen=True)
class Printed(Check):
    """Each line of a paper's printed proof follows by a rule of the kernel.

    ``derivation`` names an entry of `symbolic.derivations.printed.PRINTED`. A false line refutes the check.
    """

    engine = Engine.DERIVATION
    derivation: str
    name: str = "the printed proof"

    @property
    def formula(self) -> Basic:
        return sentence(f"Every line of the printed proof of {self.derivation} follows by a rule of the kernel")


@dataclass(frozen=True)
class Asymptotic(Check):
    """A constant times ``right`` is at least ``left`` under the assumptions.

    z3 proves that ``constant`` suffices. ``path`` gives symbols as expressions in `notation.growth`. A path
    that meets the assumptions and on which left / right tends to infinity refutes the check.
    """

    engine = Engine.ASYMPTOTICS
    left: Expr
    right: Expr
    constant: Expr | None = None
    path: Mapping[Symbol, Expr] = field(default_factory=lambda: _NONE)
    given: tuple[Boolean, ...] = ()
    name: str = "up to a constant"

    @property
    def formula(self) -> Basic:
        return Le(self.left, Constant(self.right), evaluate=False)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        serves = () if self.constant is None else (sentence("With the constant ", self.constant),)
        return (*serves, listed("Tried on the path ", _equal(self.path))) if self.path else serves


@dataclass(frozen=True)
class Unbounded(Check):
    """``left / right`` tends to infinity on a ``path``, as in `Asymptotic`."""

    engine = Engine.ASYMPTOTICS
    left: Expr
    right: Expr
    path: Mapping[Symbol, Expr]
    given: tuple[Boolean, ...] = ()
    name: str = "unbounded"

    @property
    def formula(self) -> Basic:
        return Outgrows(self.left, self.right)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (listed("No constant serves on the path ", _equal(self.path)),)


@dataclass(frozen=True)
class Units(Check):
    """The sides have the same unit, and all terms of a sum have the same unit.

    ``units`` overrides `notation.MEANING` and `notation.UNITS`.
    """

    engine = Engine.UNITS
    left: Expr
    right: Expr
    units: Mapping[Symbol, Expr] = field(default_factory=lambda: _NONE)
    name: str = "units"

    @property
    def formula(self) -> Basic:
        return SameUnit(self.left, self.right)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        rows = tuple(
            part for letter, unit in self.units.items() for part in (", ", letter, f" in [{unit_text(unit)}]")
        )
        return (sentence("Here ", *rows[1:]),) if rows else ()


@dataclass(frozen=True)
class UpperBound(Check):
    """A claimed upper bound on the Renyi divergence between the last iterates, in both directions.

    ``bound`` names a target in `proofs_checks.attacks.targets.TARGETS`, and ``attacks`` name exactly solvable
    runs that meet the assumptions. In mutants, the evaluator gets the changed parameters ``altered``.
    """

    engine = Engine.ATTACK
    bound: str
    attacks: tuple[str, ...]
    altered: Mapping[Symbol, Expr] = field(default_factory=lambda: _NONE)
    name: str = "bound"

    @property
    def formula(self) -> Basic:
        what = (
            "The Rényi divergence of order ",
            alpha,
            " between the last iterates, either law first, is at most ",
        )
        return sentence(*what, self.bound)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        rows = tuple(part for letter, by in self.altered.items() for part in (", ", letter, " by ", by))
        says = "The bound sees other parameters than the run: it replaces "
        runs = sentence(f"Attacked by the runs {', '.join(self.attacks)}")
        return (sentence(says, *rows[1:]), runs) if rows else (runs,)


@dataclass(frozen=True)
class Cited(Check):
    """A result of another work: ``conclusion``, for all values of letters that satisfy ``given``.

    Nothing is decided. A refuted instance among the checks refutes the claim; otherwise the claim is CITED.
    """

    engine = Engine.CITATION
    conclusion: Basic
    source: Source
    given: tuple[Basic, ...] = ()
    name: str = "cited"

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return (sentence(f"It is taken from {self.source}"),)

    def at(self, values: Mapping[Symbol, Expr]) -> "Cited":
        """The result with values for its letters."""
        put = [one.subs(values, simultaneous=True) for one in (self.conclusion, *self.given)]
        return replace(self, conclusion=put[0], given=tuple(one for one in put[1:] if one != true))


@dataclass(frozen=True)
class Consequence(Check):
    """``conclusion`` follows, under ``given``, from cited results at values of their letters.

    Every premise of a result must be a premise of the check or follow from the check's relations. If A <= B,
    a bound by a universal constant times A implies a bound by this constant times B. ``covers`` are events,
    at least one of which occurs whenever the event of the conclusion does not; so the probability of that
    event is at least 1 minus the sum of the probabilities of ``covers`` (Boole). Premises that relate random
    letters hold for every outcome.
    """

    engine = Engine.DERIVATION
    conclusion: Relational
    cited: tuple[Cited, ...]
    given: tuple[Basic, ...] = ()
    covers: tuple[Boolean, ...] = ()
    name: str = "consequence"

    @property
    def notes(self) -> tuple[Sentence, ...]:
        notes = list[Sentence]()
        for one in self.cited:
            notes.append(sentence("It follows from ", one.conclusion, f", taken from {one.source}"))
            notes += [listed("which supposes ", one.given)] if one.given else []
        return (*notes, listed("Where it fails, one of ", self.covers)) if self.covers else tuple(notes)


@dataclass(frozen=True)
class RenyiBound(_ByRules):
    """The last iterates satisfy (alpha, bound)-RDP, in both orders, by the kernel's rules.

    `kernel.renyi` uses the profile of ``derivation`` to bound the divergence, with random batches treated
    ``by`` one of its rules. `Sampled.SECOND` bounds one order only, where the second of the two data sets has
    one sample more. ``at`` gives values of letters that the claim's statement leaves open. ``supposed`` is as
    in `Derived`.
    """

    engine = Engine.DERIVATION
    bound: Expr
    given: tuple[Boolean, ...] = ()
    by: Sampled = Sampled.ALWAYS
    at: Mapping[Symbol, Expr] = field(default_factory=lambda: _NONE)
    name: str = "Renyi divergence"
    supposed: tuple[str, ...] = ()

    @property
    def formula(self) -> Basic:
        return Le(divergence(), self.bound, evaluate=False)

    @property
    def conditions(self) -> tuple[Basic, ...]:
        return (*super().conditions, *([Larger(SAMPLES, OTHER)] if self.by is Sampled.SECOND else ()))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        steps = (
            [sentence(f"A step with a random batch is bounded {self.by}")]
            if self.by is not Sampled.ALWAYS
            else []
        )
        return (*super().notes, *steps, *([listed("In the statement ", _equal(self.at))] if self.at else ()))


@dataclass(frozen=True)
class Induction(Check):
    """``conclusion`` holds for every integer ``index`` from ``start`` on.

    A sequence is a function of the index, ``u(t)``. ``first`` are conditions on ``u(0)``, and ``laws`` are
    conditions on ``u(t)`` and ``u(t + 1)`` at every index. The conditions ``keeps`` are proved in the same
    induction, each from the preceding ones.
    """

    engine = Engine.INDUCTION
    index: Symbol
    conclusion: Relational
    first: tuple[Boolean, ...] = ()
    laws: tuple[Boolean, ...] = ()
    keeps: tuple[Boolean, ...] = ()
    start: int = 0
    name: str = "induction"

    @property
    def conditions(self) -> tuple[Basic, ...]:
        laws = (EveryStep(law) if law.has(self.index) else law for law in self.laws)
        known = self.start == 0 and self.index.is_nonnegative
        return (*self.first, *laws, *(() if known else (Ge(self.index, self.start, evaluate=False),)))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        by = sentence("By induction on ", self.index, f" from {self.start} on")
        return (by, listed("Shown on the way: ", self.keeps)) if self.keeps else (by,)


def begin(*sums: Any) -> tuple[Relational, ...]:
    """The conditions that the sums are 0 at index 0."""
    return tuple(Eq(one(0), 0) for one in sums)


def gains(total: Any, term: Expr) -> Relational:
    """The condition total(t + 1) = total(t) + term."""
    return Eq(total(t + 1), total(t) + term, evaluate=False)


def sum_induction(name: str, conclusion: Relational, terms: Mapping[Any, Expr], *laws: Boolean) -> Induction:
    """An induction on the sums of the ``terms`` over t = 0, 1, ...; the ``laws`` hold at every t."""
    return Induction(t, conclusion, begin(*terms), (*map(gains, terms, terms.values()), *laws), name=name)


def mean_square(value: Any, chance: Any, mean: Any, squares: Any, chances: Any, *, name: str) -> Induction:
    """(sum p x)^2 <= (sum p) (sum p x^2) (Cauchy and Schwarz), with sums over t of x, p x, p x^2 and p."""
    terms = {mean: chance(t) * value(t), squares: chance(t) * value(t) ** 2, chances: chance(t)}
    return sum_induction(name, Le(mean(t) ** 2, chances(t) * squares(t)), terms)


class Vectors(Condition):
    """Condition: vectors of R^d, for any d."""

    @property
    def words(self) -> str:  # type: ignore[override]
        places = ", ".join(f"{{{i}}}" for i in range(len(self.args)))
        return f"{places} in R^d, for any d"


@dataclass(frozen=True)
class NormBound(Check):
    """The length of ``vector`` is at most ``bound``, for vectors of every dimension.

    ``vector`` is a linear combination of letters. In ``given``, vectors occur only in lengths and inner
    products.
    """

    engine = Engine.VECTORS
    vector: Expr
    bound: Expr
    given: tuple[Boolean, ...] = ()
    name: str = "length"

    @property
    def formula(self) -> Basic:
        return Le(Norm(self.vector), self.bound, evaluate=False)


@dataclass(frozen=True)
class VectorInequality(TwoSided):
    """``left sign right`` for all members of the families, at all points of R^d, for every d.

    In the inequality and in each premise of ``given``, the sides are linear in inner products, squared
    lengths and values of functions, or each side is a nonnegative number, possibly times a length.
    ``samples`` name gradients, values, projections or images at points. ``multipliers`` of the hypotheses are
    tried before any search and are verified like all others. A hypothesis is named like "f(x, y)" (f(x) is
    above the tangent at y), a premise like "given 1".
    """

    engine = Engine.GRAM
    samples: tuple[Sample, ...] = ()
    given: tuple[Boolean, ...] = ()
    multipliers: Mapping[str, Expr] = field(default_factory=lambda: _NONE)
    name: str = "vectors"

    @property
    def conditions(self) -> tuple[Basic, ...]:
        families = (one for sample in self.samples for one in sample.family.conditions)
        known = (one.known for one in self.samples if one.known is not None)
        found = tuple(dict.fromkeys((*families, *map(self._shown, (*known, *self.given)))))
        vectors = set[Vector]().union(*(one.atoms(Vector) for one in (*found, self.formula)))
        return (Vectors(*sorted(vectors, key=str)), *found) if vectors else found

    @property
    def formula(self) -> Basic:
        kind = Eq if self.relation is Relation.EQUAL else Le
        return self._shown(kind(self.left, self.right, evaluate=False))

    def _shown(self, said: Basic) -> Basic:
        shown = {letter: by for one in self.samples for letter, by in one.shown.items()}
        for _ in self.samples:  # a point may contain a gradient at another point, but not at itself
            said = said.xreplace(shown)
        return said


def constant(statement: Statement) -> str:
    """The reason why a statement is trivial (a constant, or a condition that is False); otherwise "".

    >>> from sympy.abc import mu
    >>> constant(ForAll((), (), mu**0 < 1)), constant(ForAll((mu,), (), mu < 1))
    ('its body is the constant False', '')
    """
    if not isinstance(statement, ForAll | Exists):
        return f"its body is the constant {statement}" if isinstance(statement, BooleanAtom) else ""
    return (
        "one of its conditions is the constant False"
        if false in statement.conditions
        else constant(statement.body)
    )
