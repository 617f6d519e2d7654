"""Conditions in words about their arguments, for statements."""

from typing import Any

from sympy import Basic
from sympy.core.symbol import Str
from sympy.logic.boolalg import BooleanFunction


class Condition(BooleanFunction):  # type: ignore[misc]
    """A condition on data, losses, batches or the domain, in words about its arguments."""

    words = ""

    def __str__(self) -> str:
        return self.words.format(*self.args)

    def _sympystr(self, printer: Any) -> str:
        return self.words.format(*map(printer.doprint, self.args))


def condition(name: str, words: str, module: str = "lastiterate.symbolic.statement") -> type[Condition]:
    """The type of a condition, of a name in a module."""
    return type(name, (Condition,), {"words": words, "__module__": module, "__doc__": f"Condition: {words}."})


class Sentence(Condition):
    """A condition that is written out: its words, then what stands in the places {1}, {2} and so on."""

    @property
    def words(self) -> str:  # type: ignore[override]
        """The words, with a place for every other argument."""
        return str(self.args[0].name)


def sentence(*parts: str | Basic) -> Sentence:
    """The condition that texts and expressions make, written one after the other.

    >>> from sympy.abc import x
    >>> print(sentence("the mean of ", x, " is odd"))
    the mean of x is odd
    """
    places = iter(range(1, len(parts) + 1))
    braces = str.maketrans({"{": "{{", "}": "}}"})
    words = (part.translate(braces) if isinstance(part, str) else f"{{{next(places)}}}" for part in parts)
    return Sentence(Str("".join(words)), *(part for part in parts if not isinstance(part, str)))
