"""Vectors of any dimension: letters, and inner products of sums of letters as numbers."""

from typing import Any

from sympy import Expr, Function, Symbol, expand, latex
from sympy.printing.pretty.stringpict import prettyForm


class Vector(Symbol):  # type: ignore[misc]
    """A letter for a vector, declared real for its coefficients."""

    def __new__(cls, name: str, **facts: Any) -> "Vector":
        made: Vector = super().__new__(cls, name, **{"real": True} | facts)
        return made


class Norm(Function):  # type: ignore[misc]
    """The length of a vector."""

    nargs = 1
    is_real = True
    is_nonnegative = True

    def _sympystr(self, printer: Any) -> str:
        return f"|{printer._print(self.args[0])}|"

    def _pretty(self, printer: Any) -> prettyForm:
        return prettyForm(*printer._print(self.args[0]).parens("|", "|"))

    def _latex(self, printer: Any, exp: str = "") -> str:  # noqa: ARG002 as Sympy calls it
        length = rf"\lVert {latex(self.args[0])} \rVert"
        return f"{length}^{{{exp}}}" if exp else length


class Inner(Function):  # type: ignore[misc]
    """The inner product of the vectors of two letters, in the order of their names."""

    nargs = 2
    is_real = True

    def _sympystr(self, printer: Any) -> str:
        return f"<{', '.join(map(printer._print, self.args))}>"

    def _pretty(self, printer: Any) -> prettyForm:  # noqa: ARG002 as Sympy calls it
        return prettyForm(f"⟨{self.args[0]}, {self.args[1]}⟩")

    def _latex(self, printer: Any, exp: str = "") -> str:  # noqa: ARG002 as Sympy calls it
        product = rf"\langle {', '.join(map(latex, self.args))} \rangle"
        return f"{product}^{{{exp}}}" if exp else product


def coefficients(vector: Expr) -> dict[Vector, Expr]:
    """The coefficients of the letters of a vector; a ValueError unless it is a linear combination."""
    found = {letter: vector.diff(letter) for letter in sorted(vector.atoms(Vector), key=str)}
    rest = expand(vector - sum(number * letter for letter, number in found.items()))
    if rest != 0 or any(number.atoms(Vector) for number in found.values()):
        raise ValueError(f"A vector must be a linear combination of letters that denote vectors, got {vector}.")
    return found


def inner(one: Expr, other: Expr) -> Expr:
    """The inner product, expanded bilinearly; a vector's product with itself is its squared length.

    >>> d, g = Vector("d"), Vector("g")
    >>> inner(d - 2 * g, d) == Norm(d) ** 2 - 2 * Inner(d, g)
    True
    """

    def product(u: Vector, v: Vector) -> Expr:
        return Norm(u) ** 2 if u == v else Inner(*sorted((u, v), key=str))

    pairs = ((u, a, v, b) for u, a in coefficients(one).items() for v, b in coefficients(other).items())
    total: Expr = sum((a * b * product(u, v) for u, a, v, b in pairs), start=one * 0)
    return total
