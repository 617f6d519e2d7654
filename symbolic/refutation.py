"""The counterexample that a reader of a refuted claim sees first, as data: a run, and two numbers side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Basic, Expr, Integer, Symbol

from lastiterate.symbolic.checks import IntervalInequality
from lastiterate.symbolic.statement import Statement

Words: TypeAlias = tuple[str, *tuple[Basic, ...]]
"""A sentence with a ``{}`` for each expression that follows it."""


def words(sentence: str, *parts: Basic) -> Words:
    """A sentence with expressions in it."""
    return sentence, *parts


@dataclass(frozen=True)
class Refutation:
    """One run, or one case, at which a statement fails.

    ``claimed`` and ``true`` are formulas in the letters of ``at``; the claim is REFUTED only where the enclosures of
    both, at these values, show that they are not related as the statement says.

    Attributes:
        fails: what fails, in one sentence.
        at: the parameters with their exact values.
        run: the losses and the batches, or the case, in words.
        quantity: what both numbers measure.
        claimed: what the statement says of it.
        true: what holds: the quantity itself, or the end of it that contradicts the statement.
        over: the letter of the horizontal axis of the picture, and the values that it takes there.
        sign: what the statement says stands between the truth and ``claimed``.
        exact: whether ``true`` is the quantity itself, and not a bound of it.
        says: the statement as printed, for a claim whose own `Statement` is None.
    """

    fails: Words
    at: Mapping[Symbol, Expr | int]
    run: str
    quantity: Words
    claimed: Expr
    true: Expr
    over: tuple[Symbol, tuple[Expr | int, ...]]
    sign: Literal["<=", "<", ">="] = "<="
    exact: bool = False
    says: Statement | None = None

    @property
    def check(self) -> IntervalInequality:
        """The relation that the statement says stands between the two numbers; it must be refuted."""
        values = {letter: Integer(value) if isinstance(value, int) else value for letter, value in self.at.items()}
        true, claimed = self.true.xreplace(values), self.claimed.xreplace(values)
        if self.sign == ">=":
            return IntervalInequality(claimed, "<=", true, {}, "claimed and true at the run of the page")
        return IntervalInequality(true, self.sign, claimed, {}, "true and claimed at the run of the page")
