"""The judgement of the calculus: an inequality between quantities, for all laws, maps and numbers that it names.

A judgement holds for every value of its letters that meets what is given, and both its sides are defined there, in
(-oo, oo]. It is made by the rules of `rules`, `laws` and `couplings` alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sympy import Expr, Le, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import Ground, Shown, UnprovedError, line, show
from lastiterate.symbolic.kernel.sealed import rule


@dataclass(frozen=True, init=False, eq=False, slots=True, weakref_slot=True)
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


class Base(Ground):
    """The ground of every rule of the calculus."""

    @rule
    def assume(self, condition: Boolean) -> Judgement:
        """A condition that is supposed."""
        return apply(self, "assume", condition, supposed=(condition,))


def apply(
    ground: Base,
    rule: str,
    says: Boolean,
    premises: tuple[Judgement, ...] = (),
    conditions: Iterable[Boolean] = (),
    cites: tuple[str, ...] = (),
    supposed: Iterable[Boolean] = (),
    discharged: Iterable[Boolean] = (),
    within: Iterable[Boolean] = (),
    inner: Iterable[Boolean] = (),
) -> Judgement:
    """Draw the conclusion of a rule once its side conditions are shown: a draft, which the rule returns.

    Args:
        ground: the calculus.
        rule: its name.
        says: the conclusion.
        premises: the judgements that it is applied to.
        conditions: the side conditions.
        cites: what its proof rests on beside itself.
        supposed: what the conclusion supposes beside what the premises do.
        discharged: what it no longer supposes.
        within: what its proof knows beside that, of letters that are its own.
        inner: the side conditions that are shown from that, too.
    """
    if not isinstance(ground, Base):
        raise UnprovedError(f"A calculus is needed, got {type(ground).__name__}.")
    given = ground.given.union(supposed, *(premise.given for premise in premises)) - set(discharged)
    with line(f"rule {rule}"):
        shown = [show(ground, one, given) for one in dict.fromkeys(conditions) if one != true]
        shown += [show(ground, one, given.union(within)) for one in inner if one != true]
    made = object.__new__(Judgement)
    for name, value in (("says", says), ("given", given), ("rule", rule), ("premises", premises), ("cites", cites)):
        object.__setattr__(made, name, value)
    object.__setattr__(made, "shown", tuple(shown))
    return made
