"""The mean of a square of a random batch, by the chances of one sample, and of two, to be in it."""

import re
from typing import Any, Final

from sympy import Basic, Dummy, Expr, Ge, Gt, Le, Poly, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.expectations import Mean
from lastiterate.symbolic.vectors import Norm, Vector, inner

TOTAL: Final = Vector("S")
"""The sum over the batch of the vectors of its samples; in a batch of draws one may be there several times."""

MEAN: Final = Vector("M")
"""The mean of the vectors of all samples, or of the law that they are drawn from."""

SQUARES: Final = Symbol("A_2", nonnegative=True)
"""The mean of their squared lengths."""

_LAWS: Final = {"fixed": "{0} of {1}", "coins": "each of {1} with chance {0}/{1}", "draws": "{0} draws"}
"""How a batch is drawn, in words."""


class BatchMean(Mean):
    """E over a random batch of a square in `TOTAL` and `MEAN`, such as ``inner(TOTAL / b - MEAN, TOTAL / b - MEAN)``.

    Args: the square, the law of the batch, and b, with n where the law has it: ``fixed`` (b of n without replacement),
    ``coins`` (each of n with chance b/n, on its own) or ``draws`` (b independent draws, from n or from any law).

    Lemma. Let sample i be m_i times in the batch, S = sum m_i a_i. Then E|S|^2 = E m_1^2 sum |a_i|^2 + E m_1 m_2 sum
    over i != j of <a_i, a_j>, where the last sum is n^2 |M|^2 - n A_2, and E<S, M> = E m_1 n |M|^2 = b |M|^2. Both
    means of products are chances: for ``fixed`` b/n and b(b - 1)/(n(n - 1)), for ``coins`` b/n and b^2/n^2. For
    ``draws`` the b^2 pairs of draws give E|S|^2 = b A_2 + b(b - 1)|M|^2.

    >>> from sympy import symbols
    >>> b = symbols("b", positive=True)
    >>> batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b).value()
    (A_2*b + b*(b - 1)*|M|**2)/b**2
    """

    @property
    def free_symbols(self) -> set[Basic]:
        """The letters that are not random, with what the value speaks of."""
        square, _, *sizes = self.args
        return set(square.free_symbols - {TOTAL}).union({MEAN, SQUARES}, *(size.free_symbols for size in sizes))

    def random(self) -> set[Basic]:
        """The sum over the batch."""
        return {TOTAL}

    def sizes(self) -> tuple[Expr, ...]:
        """Sizes of batches that are fixed, and of the data."""
        _, law, *sizes = self.args
        return tuple(sizes[1:] if str(law) == "coins" else sizes)

    def parts(self) -> tuple[Expr, ...]:
        """The square, and the sizes."""
        square, _, *sizes = self.args
        return (square, *sizes)

    def conditions(self) -> tuple[Boolean, ...]:
        """A batch that is possible."""
        _, law, b, *n = self.args
        if str(law) == "draws":
            return (Ge(b, 1),)
        return (Ge(b, 0), Le(b, n[0]), Gt(n[0], 1))

    def value(self) -> Expr:
        """The mean, in `SQUARES` and the length of `MEAN`."""
        square, law, b, *size = self.args
        middle = Norm(MEAN) ** 2
        if str(law) == "draws":
            squares = b * SQUARES + b * (b - 1) * middle
        else:
            n = size[0]
            two = b * (b - 1) / (n * (n - 1)) if str(law) == "fixed" else b**2 / n**2
            squares = b * SQUARES + two * (n**2 * middle - n * SQUARES)
        total, across = Dummy(real=True), Dummy(real=True)
        value: Expr = square.xreplace({Norm(TOTAL) ** 2: total, inner(TOTAL, MEAN): across})
        linear = value.is_polynomial(total, across) and Poly(value, total, across).total_degree() <= 1
        if value.has(TOTAL) or not linear:
            raise ValueError(f"The mean over a batch needs |S|^2, <M, S> and numbers, got {square}.")
        return value.xreplace({total: squares, across: b * middle})

    def _sympystr(self, printer: Any) -> str:
        square, law, *sizes = self.args
        return f"E[{printer._print(square)}; {_LAWS[str(law)].format(*map(printer._print, sizes))}]"

    def _latex(self, printer: Any, exp: str = "") -> str:
        square, law, *sizes = self.args
        words = filter(None, re.split(r"(\{\d\})", _LAWS[str(law)]))  # MathML knows no formulas within a text
        said = "".join(
            rf"\text{{{word}}}" if word[:1] != "{" else printer._print(sizes[int(word[1])]) for word in words
        )
        return rf"\mathbb{{E}}_{{{said}}}[{printer._print(square)}]" + (f"^{{{exp}}}" if exp else "")


def batch_mean(square: Expr, law: str, b: Expr, n: Expr | None = None) -> BatchMean:
    """The mean of a square over batches of b; ``law`` is "fixed", "coins" or "draws".

    Raises:
        ValueError: there is no such law, or it needs n.
    """
    if law not in _LAWS or (n is None) != (law == "draws"):
        raise ValueError(f"batch_mean needs a law fixed or coins with n, or draws without, got law={law!r}, n={n}.")
    made: BatchMean = BatchMean(square, Symbol(law), b, *(() if n is None else (n,)))
    return made
