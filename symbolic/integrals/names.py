"""Different names of one law."""

from collections.abc import Iterator
from typing import Final

from sympy import Add, Basic, Lambda, S, Symbol

from lastiterate.symbolic.integrals.language import Along, Dirac, Gaussian, Joint, Lift, Next, Prefix
from lastiterate.symbolic.integrals.terms import Point, constant, weighted
from lastiterate.symbolic.statement import Image, Noisy, Normal

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
        if not variance.has(h):
            yield mixture(start, Lambda(h, Gaussian(h, variance)))  # given X = h it is N(h, v)
        if isinstance(start, Dirac):
            yield Gaussian(start.args[0], variance)
    if isinstance(law, Image):
        yield from _images(*law.args)
    if isinstance(law, Joint) and isinstance(law.args[0], Prefix):
        sequence, count = law.args[0].args
        if law.args[1] == Next(sequence, count):
            yield Prefix(sequence, count + 1)  # the first j variables and the next


def _images(how: Basic, law: Basic) -> Iterator[Basic]:
    """Other names of the law of an image."""
    if isinstance(law, Add):
        yield Add(*(_linear(how, one) for one in law.args))  # the image of a mixture
    if how == LAST and isinstance(law, Joint) and isinstance(law.args[1], Lambda):
        first, kernel = law.args
        if kernel == constant(kernel.expr):
            yield kernel.expr  # a kernel that does not depend on its point
        if isinstance(kernel.expr, Add):  # a kernel of mixtures
            (at,) = kernel.variables
            if not any(weighted(one)[0].has(at) for one in kernel.expr.args):
                yield Add(*(_linear(LAST, one, first, at) for one in kernel.expr.args))
    if isinstance(how, Lift) and isinstance(law, Normal):
        v, radius, variance = how.args
        if law.args[1] == variance / radius**2:  # the covariances (s / R^2) v v^T and s (I - v v^T / R^2) add up to s I
            yield Gaussian(law.args[0] * v, variance)
    if isinstance(how, Along) and isinstance(law, Gaussian):
        v, radius = how.args
        if law.args[0] in {S.Zero, v}:  # <v, v> / R^2 = 1, and the variance is s |v|^2 / R^4
            yield Normal(S.One if law.args[0] == v else S.Zero, law.args[1] / radius**2)


def _linear(how: Basic, term: Basic, first: Basic | None = None, at: Basic | None = None) -> Basic:
    """The image of a law times a number, or of the mixture over a law of such a kernel."""
    weight, law = weighted(term)
    if first is not None:
        law = Joint(first, Lambda(at, law) if law.has(at) else constant(law))
    return weight * Image(how, law)
