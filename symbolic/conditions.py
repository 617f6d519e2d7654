"""Conditions in words about their arguments, for statements."""

from typing import Any

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
