"""Composition of steps with hidden batches: the released state costs no more than all states together."""

from sympy import Eq, Expr, Gt, Piecewise, S, Symbol, oo

from lastiterate.symbolic.kernel.induction import Induction
from lastiterate.symbolic.kernel.judgement import Guarantee, Span
from lastiterate.symbolic.kernel.lemmas import Coin, Expansion, Guide, no_shift, poisson_coin, swap_coin
from lastiterate.symbolic.kernel.profiles import Order, Power
from lastiterate.symbolic.kernel.rules import Kernel

__all__ = ["poisson_composition", "swap_composition"]

_j = Symbol("j", integer=True, nonnegative=True)
_z = Symbol("z", nonnegative=True)
_still = Expansion(_z, Piecewise((S.Zero, Eq(_z, 0)), (oo, True)), Guide.OWN, ())
"""One map and one coin leave two equal points equal, whatever the losses are."""


def _composed(kernel: Kernel, order: Order, coin: Coin, v: Expr, T: Expr) -> Span:
    steps = Induction(kernel, _j, T, ())

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(order, _j, (near, far), _still, no_shift(), v, coin)

    return steps.span(S.Zero, S.Zero, Power(coin.profile, _j, coin.profile.order), step)


def swap_composition(kernel: Kernel, q: Expr, s: Expr, v: Expr, T: Expr) -> Guarantee:
    """T steps with batches without replacement, one sample replaced: q = b/n, and s = 2 eta K/b moves a mean."""
    first = _composed(kernel.under(Gt(v, 0)), Order.FIRST, swap_coin(q, s, v), v, T)
    return Guarantee(first, kernel.exchange(first))


def poisson_composition(kernel: Kernel, q: Expr, s: Expr, v: Expr, T: Expr) -> Guarantee:
    """T steps with Poisson batches at rate q, one sample added or removed: s = eta K/b moves a mean."""
    first, second = (_composed(kernel, order, poisson_coin(q, s, v, order), v, T) for order in Order)
    return Guarantee(first, second)
