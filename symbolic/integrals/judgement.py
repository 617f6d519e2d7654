"""The judgement of the calculus: an inequality between quantities, for all laws, maps and numbers that it names.

A judgement holds for every value of its letters that meets what is given, and both its sides are defined there, in
(-oo, oo]. It is made by the rules of `rules`, `laws` and `couplings` alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sympy import Expr, Le, false, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import FalseLineError, Prover, Shown, UnprovedError, line


@dataclass(frozen=True, init=False, eq=False)
class Judgement:
    """An inequality, or another condition, with its derivation.

    Attributes:
        says: what holds.
        given: what it supposes.
        rule: the rule that made it.
        premises: the judgements that the rule was applied to.
        shown: the side conditions of the rule.
        cites: the mathematics that the rule rests on, beside its proof.
    """

    says: Boolean
    given: frozenset[Boolean]
    rule: str
    premises: tuple["Judgement", ...]
    shown: tuple[Shown, ...]
    cites: tuple[str, ...]

    @property
    def left(self) -> Expr:
        """The side that is at most the other."""
        return self._sides()[0]

    @property
    def right(self) -> Expr:
        """The side that is at least the other."""
        return self._sides()[1]

    def _sides(self) -> tuple[Expr, Expr]:
        if not isinstance(self.says, Le):
            raise UnprovedError(f"An inequality is needed here, got {self.says}.")
        return self.says.lhs, self.says.rhs

    def lines(self) -> Iterator["Judgement"]:
        """Every judgement of the derivation, each after its premises and once."""
        seen: set[int] = set()
        stack: list[tuple[Judgement, bool]] = [(self, False)]
        while stack:
            made, ready = stack.pop()
            if ready:
                yield made
            elif id(made) not in seen:
                seen.add(id(made))
                stack.append((made, True))
                stack += [(premise, False) for premise in reversed(made.premises)]

    def cited(self) -> tuple[str, ...]:
        """The mathematics that the derivation rests on, each once."""
        return tuple(dict.fromkeys(one for made in self.lines() for one in made.cites))

    def __str__(self) -> str:
        """The judgement in one line."""
        return str(self.says)


def made_by(
    rule: str,
    says: Boolean,
    given: frozenset[Boolean],
    premises: tuple[Judgement, ...],
    shown: tuple[Shown, ...],
    cites: tuple[str, ...],
) -> Judgement:
    """A judgement with these attributes: the constructor, for `Calculus.apply` alone."""
    made = object.__new__(Judgement)
    vars(made).update(says=says, given=given, rule=rule, premises=premises, shown=shown, cites=cites)
    return made


@dataclass(frozen=True)
class Base:
    """The ground of every rule: a prover of side conditions, and what all judgements made here suppose."""

    prover: Prover
    given: frozenset[Boolean] = frozenset()

    def under(self, *conditions: Boolean) -> Any:
        """The same rules, supposing these conditions, too."""
        return replace(self, given=self.given | set(conditions) - {true})

    def apply(
        self,
        rule: str,
        says: Boolean,
        premises: tuple[Judgement, ...] = (),
        conditions: Iterable[Boolean] = (),
        cites: tuple[str, ...] = (),
        supposed: Iterable[Boolean] = (),
        discharged: Iterable[Boolean] = (),
    ) -> Judgement:
        """One application of a rule: its conclusion, once the side conditions are shown from what is given.

        Args:
            rule: its name.
            says: the conclusion.
            premises: the judgements that it is applied to.
            conditions: the side conditions.
            cites: what its proof rests on beside itself.
            supposed: what the conclusion supposes beside what the premises do.
            discharged: what it no longer supposes.
        """
        given = self.given.union(supposed, *(premise.given for premise in premises)) - set(discharged)
        with line(f"rule {rule}"):
            shown = tuple(Shown(one, given, self.how(one, given)) for one in dict.fromkeys(conditions) if one != true)
        return made_by(rule, says, given, premises, shown, cites)

    def assume(self, condition: Boolean) -> Judgement:
        """A condition that is supposed."""
        return self.apply("assume", condition, supposed=(condition,))

    def how(self, condition: Boolean, given: frozenset[Boolean]) -> str:
        """Show a side condition from what is given, and say how.

        Raises:
            UnprovedError: it is not shown.
        """
        if condition == false:
            raise FalseLineError("A side condition is false.")
        return "given" if condition in given else self.prover(condition, given)
