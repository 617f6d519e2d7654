"""Different names of one law."""

from collections.abc import Iterator
from typing import Final

from sympy import Basic, Lambda, S, Symbol

from lastiterate.symbolic.integrals.language import Gaussian, Joint, Next, Prefix
from lastiterate.symbolic.integrals.terms import Point, constant
from lastiterate.symbolic.statement import Image, Noisy

SUM: Final = Symbol("sum")
"""The map (x, y) -> x + y."""

LAST: Final = Symbol("last")
"""The map (x, y) -> y."""


def mixture(law: Basic, kernel: Basic) -> Image:
    """The law of y, where y is drawn from the kernel at x, and x from the law."""
    return Image(LAST, Joint(law, kernel))


def one_law(one: Basic, other: Basic) -> bool:
    """Tell whether two names are of one law, as `_names` has them; the facts are plain from the definitions."""
    return other in _names(one)


def _names(law: Basic) -> Iterator[Basic]:
    """Other names of a law."""
    if isinstance(law, Noisy):
        start, variance = law.args
        h = Point("h")
        yield Image(SUM, Joint(start, constant(Gaussian(S.Zero, variance))))  # X + N with N independent
        yield mixture(start, Lambda(h, Gaussian(h, variance)))  # given X = h it is N(h, v)
    if isinstance(law, Image) and law.args[0] == LAST and isinstance(law.args[1], Joint):
        kernel = law.args[1].args[1]
        if isinstance(kernel, Lambda) and kernel == constant(kernel.expr):
            yield kernel.expr  # a kernel that does not depend on its point
    if isinstance(law, Joint) and isinstance(law.args[0], Prefix):
        sequence, count = law.args[0].args
        if law.args[1] == Next(sequence, count):
            yield Prefix(sequence, count + 1)  # the first j variables and the next
