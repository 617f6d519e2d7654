"""Lines that several derivations share."""

from sympy import Eq, Expr, Piecewise, S, Symbol, oo

from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis, Span
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide
from lastiterate.symbolic.kernel.rules import Kernel

_z = Symbol("z", nonnegative=True)


def from_step_0(kernel: Kernel, later: Span) -> Span:
    """``later`` from step 0 on: where it begins from a distance, that is the diameter of the domain until then."""
    if later.near == 0:
        return later
    return kernel.chain(kernel.domain(later.order, (S.Zero, later.start), S.Zero, later.near), later)


def both_orders(kernel: Kernel, first: Span) -> Guarantee:
    """The guarantee of a derivation that supposes the same of both runs."""
    return Guarantee(first, kernel.exchange(first))


def from_equal_points(
    guide: Guide, after: Expr = S.Zero, lemmas: tuple[str, ...] = (), hypotheses: tuple[Hypothesis, ...] = ()
) -> Expansion:
    """An update at one point: 0 -> ``after``, whatever the losses are; of two points nothing is said."""
    return Expansion(_z, Piecewise((after, Eq(_z, 0)), (oo, True)), guide, lemmas, frozenset(hypotheses))
