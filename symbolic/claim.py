"""The record of a claim: the statement of a paper, its assumptions, and the checks that decide the claim.

A claim is data: Sympy expressions and names. Each theorem or lemma has a module with a tuple ``CLAIMS`` (the
statement, important steps of the proof, results of ours), in the names of `lastiterate.symbolic.prelude`;
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
from lastiterate.symbolic.papers import Source, claim_remarks
from lastiterate.symbolic.statement import ForAll, Statement, closed, given

Words: TypeAlias = tuple[str, *tuple[Basic, ...]]
"""A sentence with a ``{}`` for each of the expressions that follow it."""


def words(sentence: str, *parts: Basic) -> Words:
    """A sentence that contains expressions."""
    return sentence, *parts


LAST_ITERATES: Final[Words] = words("Rényi divergence of order {} of the last iterates", alpha)
"""The ``quantity`` of a `RefutingRun` for a bound on the privacy loss."""


@dataclass(frozen=True)
class RefutingRun:
    """A run, or a case, in which a statement fails; ``fails`` says how, in one sentence.

    The claim is REFUTED only if enclosures of ``claimed`` and ``true`` contradict ``sign``.

    Attributes:
        at: the exact values of the parameters.
        run: the losses and the batches, or the case, in words.
        quantity: the meaning of ``claimed`` and ``true``.
        claimed: the formula of the statement for the quantity.
        true: the quantity itself, or a bound on it that contradicts the statement.
        sign: the relation of the true quantity to ``claimed`` in the statement.
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
        """The check that the relation of the statement holds at these values; it must be refuted."""
        values = {
            letter: Integer(value) if isinstance(value, int) else value for letter, value in self.at.items()
        }
        true, claimed = self.true.xreplace(values), self.claimed.xreplace(values)
        if self.sign == ">=":
            return IntervalInequality(claimed, "<=", true, {}, "claimed and true at the run of the page")
        return IntervalInequality(true, self.sign, claimed, {}, "true and claimed at the run of the page")


class Role(StrEnum):
    """A statement of the paper, a step of its proof, or a result of ours.

    A refuted statement is REFUTED, and a refuted step is a GAP (the statement can still hold).
    """

    STATEMENT = "statement"
    STEP = "step"
    OURS = "ours"


@dataclass(frozen=True, init=False)
class Claim:
    """A statement of a paper; `Step` is a step of its proof, and `Ours` a result of ours.

    >>> from sympy import Symbol
    >>> from lastiterate.symbolic.checks import Identity
    >>> x = Symbol("x")
    >>> square = Identity((x + 1) ** 2, x**2 + 2 * x + 1).mutant("cross term once", right=x**2 + x + 1)
    >>> (mutant,) = Claim("toy/square", "A square", Source("toy", "(1)"), square).mutants
    >>> mutant.name
    'cross term once'

    Attributes:
        key: ``paper/number`` for a statement, ``paper/number/step`` for a step of its proof; lower case.
        checks: all must hold, and all their mutants must be refuted.
        assumptions: Sympy conditions, which are premises of the engines. Conditions that follow from the
            declarations of their symbols are omitted.
        statement: the statement with its quantifiers; None if the checks make the statement.
        letters: meanings of letters that differ from `notation.MEANING`.
        misprint: the check as printed, if ``checks`` correct it; the verdict is TYPO if ``misprint`` is refuted.
        repairs: key of the claim that this claim corrects.
        refutation: the run on the page of a refuted statement; this run is decided with the checks.
        remark: for a verdict other than PROVED: what is claimed, what fails, and what is true instead; for claims of
            the ledger from ``remarks.toml`` in the folder of the paper.
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
            raise ValueError(
                f"The statement of {key} says nothing: {why}; write sides that Sympy leaves as they are."
            )
        conditions = assumptions if isinstance(assumptions, tuple) else (assumptions,)
        said = tuple(condition for condition in conditions if condition is not true)
        words, caller = " ".join(remark.split()), sys._getframe(1)
        if caller.f_globals.get("__name__", "").startswith("lastiterate.symbolic."):
            listed = claim_remarks(key.partition("/")[0]).get(key, "")
            if words and listed:
                raise ValueError(
                    f"A claim may have one remark, got one of {key} in remarks.toml, too; remove it."
                )
            words = words or listed
        vars(self).update(
            key=key, title=title, source=source, checks=checks, assumptions=said, statement=statement, letters=letters,
            misprint=misprint, repairs=repairs, refutation=refutation, remark=words,
            _place=(caller.f_code.co_filename, caller.f_lineno),
        )  # fmt: skip

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the claim."""
        found: tuple[str, int] = vars(self)["_place"]
        return found

    @property
    def stated(self) -> Statement:
        """The statement or, if it is None, the statement that the checks make."""
        return self.statement or derived(self.checks, self.assumptions)

    @property
    def mutants(self) -> tuple[Check, ...]:
        """The mutants of all checks."""
        return tuple(mutant for check in self.checks for mutant in check.mutants)

    @property
    def engines(self) -> frozenset[str]:
        """The engines that decide the checks."""
        beside = () if self.misprint is None else (self.misprint,)
        return frozenset(check.engine for check in (*self.checks, *self.mutants, *beside))


def derived(checks: tuple[Check, ...], assumptions: tuple[Boolean, ...]) -> ForAll:
    """The statement that checks make: only the cited results, if there are any, because other checks are instances."""
    if len(checks) == 1 and isinstance(checks[0], Deduced) and not assumptions:
        return checks[0].statement
    common: tuple[Basic, ...] = ()
    if len({one.conditions for one in checks}) == 1 and all(
        isinstance(one, VectorInequality) for one in checks
    ):
        said, common = [one.formula for one in checks], checks[0].conditions
    else:
        says = [one.says for one in [one for one in checks if isinstance(one, Cited)] or checks]
        said = [given(one.conditions, one.body) if isinstance(one, ForAll) else one for one in says]
    return closed(And(*said, evaluate=False) if len(said) > 1 else said[0], *common, *assumptions)


class Step(Claim):
    """A step of a proof."""

    role = Role.STEP


class Ours(Claim):
    """A result of ours that the paper does not state."""

    role = Role.OURS
