"""The record of a claim: what a paper says, under which assumptions, and how it is to be decided.

A claim is data. It holds Sympy expressions and names, never logic; the engines in
`lastiterate.proofs_checks` read it. One theorem or lemma is one module with a tuple ``CLAIMS`` (the
statement first, then the proof steps that carry weight), written in the names of `lastiterate.symbolic.prelude`;
``papers.toml`` lists the modules in the order of the paper.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final, Literal, TypeAlias

from sympy import And, Basic, Expr, Integer, Symbol
from sympy.logic.boolalg import Boolean, true

from lastiterate.symbolic.checks import Check, Cited, Deduced, IntervalInequality, VectorInequality, constant
from lastiterate.symbolic.notation import alpha
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import ForAll, Statement, closed, given

Words: TypeAlias = tuple[str, *tuple[Basic, ...]]
"""A sentence with a ``{}`` for each expression that follows it."""


def words(sentence: str, *parts: Basic) -> Words:
    """A sentence with expressions in it."""
    return sentence, *parts


LAST_ITERATES: Final[Words] = words("Rényi divergence of order {} of the last iterates", alpha)
"""The quantity of a run that refutes a bound of the privacy loss."""


@dataclass(frozen=True)
class RefutingRun:
    """One run, or one case, at which a statement fails: ``fails``, in one sentence.

    The claim is REFUTED only where enclosures of both formulas at these values contradict the ``sign``.

    Attributes:
        at: the parameters with their exact values.
        run: the losses and the batches, or the case, in words.
        quantity: the meaning of both numbers.
        claimed: the formula of the statement for it.
        true: the quantity itself, or the end of it that contradicts the statement.
        sign: the relation of the truth to ``claimed`` in the statement.
        says: the statement as printed, for a claim whose own `Statement` is None.
    """

    fails: Words
    at: Mapping[Symbol, Expr | int]
    run: str
    quantity: Words
    claimed: Expr
    true: Expr
    sign: Literal["<=", "<", ">="] = "<="
    says: Statement | None = None

    @property
    def check(self) -> IntervalInequality:
        """The relation that the statement says stands between the two numbers; it must be refuted."""
        values = {letter: Integer(value) if isinstance(value, int) else value for letter, value in self.at.items()}
        true, claimed = self.true.xreplace(values), self.claimed.xreplace(values)
        if self.sign == ">=":
            return IntervalInequality(claimed, "<=", true, {}, "claimed and true at the run of the page")
        return IntervalInequality(true, self.sign, claimed, {}, "true and claimed at the run of the page")


class Role(StrEnum):
    """A statement of the paper, a step of its proof, a result of ours beside it, or a test of the code.

    A refuted statement is REFUTED; a refuted step is a GAP: what it serves may still hold. A test of the code states
    nothing, and is TESTED at best.
    """

    STATEMENT = "statement"
    STEP = "step"
    OURS = "ours"
    CODE = "code"


@dataclass(frozen=True, init=False)
class Claim:
    """A statement of a paper; `Step` is a step of its proof, and `Ours` a result of ours beside it.

    >>> from sympy import Symbol
    >>> from lastiterate.symbolic.checks import Identity
    >>> x = Symbol("x")
    >>> square = Identity((x + 1) ** 2, x**2 + 2 * x + 1).mutant("cross term once", right=x**2 + x + 1)
    >>> (mutant,) = Claim("toy/square", "A square", Source("toy", "(1)"), square).mutants
    >>> mutant.name
    'cross term once'

    Attributes:
        key: ``paper/number`` for a statement, ``paper/number/step`` below it, lower case.
        title: one line.
        checks: all must hold, and the mutants of all must be refuted.
        assumptions: a Sympy condition or several, premises of the engines. One that the declarations of its symbols
            make true is left out.
        statement: with its quantifiers; None where it says no more than the checks.
        letters: meanings of letters in this claim, where they differ from `notation.MEANING`.
        misprint: the check as printed, where ``checks`` hold its evident reading; if refuted, the verdict is TYPO.
        repairs: key of the claim that this one mends.
        refutation: the run that the page of a refuted statement shows; it is decided with the checks.
        remark: on a verdict other than PROVED: what is claimed, what fails, what is true instead.
    """

    key: str
    title: str
    source: Source
    checks: tuple[Check, ...]
    assumptions: tuple[Boolean, ...]
    statement: Statement | None
    letters: Mapping[Symbol, str]
    misprint: Check | None
    repairs: str
    refutation: RefutingRun | None
    remark: str
    role: ClassVar[Role] = Role.STATEMENT

    def __init__(
        self,
        key: str,
        title: str,
        source: Source,
        *checks: Check,
        assumptions: tuple[Boolean, ...] | Boolean = (),
        statement: Statement | None = None,
        letters: Mapping[Symbol, str] = MappingProxyType({}),
        misprint: Check | None = None,
        repairs: str = "",
        refutation: RefutingRun | None = None,
        remark: str = "",
    ) -> None:
        if statement is not None and (why := constant(statement)):
            raise ValueError(f"The statement of {key} says nothing: {why}; write sides that Sympy leaves as they are.")
        conditions = assumptions if isinstance(assumptions, tuple) else (assumptions,)
        said = tuple(condition for condition in conditions if condition is not true)
        words = " ".join(remark.split())
        caller = sys._getframe(1)
        vars(self).update(
            key=key, title=title, source=source, checks=checks, assumptions=said, statement=statement, letters=letters,
            misprint=misprint, repairs=repairs, refutation=refutation, remark=words,
            _place=(caller.f_code.co_filename, caller.f_lineno),
        )  # fmt: skip

    @property
    def place(self) -> tuple[str, int]:
        """File and line where the claim is written."""
        found: tuple[str, int] = vars(self)["_place"]
        return found

    @property
    def stated(self) -> Statement:
        """The statement, or else what its checks say."""
        return self.statement or derived(self.checks, self.assumptions)

    @property
    def mutants(self) -> tuple[Check, ...]:
        """The wrong variants of all checks; the engine of each must refute it."""
        return tuple(mutant for check in self.checks for mutant in check.mutants)

    @property
    def engines(self) -> frozenset[str]:
        """The engines that decide its checks."""
        beside = () if self.misprint is None else (self.misprint,)
        return frozenset(check.engine for check in (*self.checks, *self.mutants, *beside))


def derived(checks: tuple[Check, ...], assumptions: tuple[Boolean, ...]) -> ForAll:
    """The statement that checks make; beside what is cited, other checks are instances of it."""
    if len(checks) == 1 and isinstance(checks[0], Deduced) and not assumptions:
        return checks[0].statement
    common: tuple[Basic, ...] = ()
    if len({one.conditions for one in checks}) == 1 and all(isinstance(one, VectorInequality) for one in checks):
        said, common = [one.formula for one in checks], checks[0].conditions
    else:
        said = [_formula(one) for one in [one for one in checks if isinstance(one, Cited)] or checks]
    return closed(And(*said, evaluate=False) if len(said) > 1 else said[0], *common, *assumptions)


def _formula(check: Check) -> Basic:
    """The formula of a check; the letters of a deduction are free, and bound with all others."""
    says = check.says
    return given(says.conditions, says.body) if isinstance(says, ForAll) else says


class Step(Claim):
    """A step of a proof: it is a GAP where it fails, and the statement that it serves may still hold."""

    role = Role.STEP


class Ours(Claim):
    """A result of ours beside what the paper says."""

    role = Role.OURS


class CodeTest(Claim):
    """A test of the code behind our numbers: it states nothing, and its result is measured."""

    role = Role.CODE
