"""Poisson batches in long runs: the last stretch of steps whose batches are as supposed hides all that was before it.

A run has N stretches of steps after T_0 others, all alike. But with a chance of rho, the batches of a stretch are such
that it hides the diameter of the domain, whatever happened before. Where they are not, the stretch costs a composition,
and the same is said of the run before it.
"""

from collections.abc import Callable

from sympy import Expr, Gt, Le, Symbol

from lastiterate.symbolic.derivations.losses import Losses
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.induction import Induction
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis, Span, Variable
from lastiterate.symbolic.kernel.lemmas import poisson_coin
from lastiterate.symbolic.kernel.profiles import Order, Power, Profile, Recurring
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, b, eta, rho, sigma

_h = Symbol("h", integer=True, nonnegative=True)
N, T_0 = Symbol("N", integer=True, positive=True), Symbol("T_0", integer=True, nonnegative=True)
"""Number of stretches, and of the steps before them."""

Inside = Callable[[Kernel, Losses, Order, Expr, tuple[Expr, Expr, Expr], Variable], tuple[Span, frozenset[Hypothesis]]]


def recurring(inside: Profile, step: Profile, length: Expr, count: Expr) -> Recurring:
    """The profile of ``count`` stretches: ``inside`` where the batches are as supposed, else a composition."""
    return Recurring(rho, inside, Power(step, length, step.order), Power(step, T_0, step.order), count, step.order)


def poisson_stretches(kernel: Kernel, losses: Losses, q: Expr, inside: Inside, count: Expr, length: Expr) -> Guarantee:
    """Poisson batches at rate q: stretches of ``length`` steps, each ``count`` steps or blocks from the diameter."""
    return Guarantee(*(_side(kernel, losses, q, inside, count, length, order) for order in Order))


def _side(kernel: Kernel, losses: Losses, q: Expr, inside: Inside, count: Expr, length: Expr, order: Order) -> Span:
    v = sigma**2
    outer = kernel.under(Gt(rho, 0), Le(rho, 1))
    coin = poisson_coin(q, update.moved(eta, K, b), v, order)
    first, _ = inside(outer, losses, order, q, (T_0, D, count), Variable("the batches of a stretch", T_0))

    def extend(inner: Kernel, before: Span) -> Span:
        start = T_0 + length * _h
        batches = Variable("the batches of a stretch without the sample that differs", start)
        good, event = inside(inner, losses, order, q, (start, D, count), batches)
        bad = inner.chain(before, coins(inner, order, coin, v, length, batches, start))
        return inner.mean(batches, ((1 - rho, good), (rho, bad)), events=(event, frozenset()))

    over = Induction(outer, _h, N, ())
    begin = coins(outer, order, coin, v, T_0)
    return over.recur(begin, recurring(first.profile, coin.profile, length, _h), extend, length)
