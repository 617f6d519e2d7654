"""The check of a statement for every index, by induction."""

from dataclasses import dataclass
from typing import Any

from sympy import Basic, Eq, Expr, Ge, Le, Symbol
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Engine, listed
from lastiterate.symbolic.conditions import Sentence, sentence
from lastiterate.symbolic.notation import t
from lastiterate.symbolic.statement import EveryStep, given


@dataclass(frozen=True)
class Induction(Check):
    """``conclusion`` holds for every whole ``index`` from ``start`` on. Engine: induction.

    A sequence is a function of the index, ``u(t)``: ``first`` says what holds of it at the start, ``u(0)``, and
    ``laws`` what holds at every index, in ``u(t)`` and ``u(t + 1)``. ``keeps`` are conditions that hold at every index,
    too: they are shown in the same induction, each from those before it.
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
    def says(self) -> Basic:
        laws = (EveryStep(law) if law.has(self.index) else law for law in self.laws)
        known = self.start == 0 and self.index.is_nonnegative
        late = () if known else (Ge(self.index, self.start, evaluate=False),)
        return given((*self.first, *laws, *late), self.conclusion)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        by = sentence("By induction on ", self.index, f" from {self.start} on")
        return (by, listed("Shown on the way: ", self.keeps)) if self.keeps else (by,)


def begin(*sums: Any) -> tuple[Relational, ...]:
    """Sums of nothing: each is 0 at the start."""
    return tuple(Eq(one(0), 0) for one in sums)


def gains(total: Any, term: Expr) -> Relational:
    """A sum over t gains a term: total(t + 1) = total(t) + term."""
    return Eq(total(t + 1), total(t) + term, evaluate=False)


def mean_square(value: Any, chance: Any, mean: Any, squares: Any, chances: Any, *, name: str) -> Induction:
    """(sum p x)^2 <= (sum p) (sum p x^2), by Cauchy and Schwarz, for any number of values x with chances p.

    Args:
        value: x, a function of the number of a value.
        chance: p, likewise.
        mean: the sum of p x over so many values.
        squares: that of p x^2.
        chances: that of p.
        name: what is shown.
    """
    return Induction(
        t,
        Le(mean(t) ** 2, chances(t) * squares(t)),
        begin(mean, squares, chances),
        (
            gains(mean, chance(t) * value(t)),
            gains(squares, chance(t) * value(t) ** 2),
            gains(chances, chance(t)),
        ),
        name=name,
    )
