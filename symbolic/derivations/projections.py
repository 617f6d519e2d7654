"""Gradients that are projected at random before noise is added: a composition of what the steps observe."""

from sympy import Expr, Function, Ge, Integer, Le, Symbol, symbols

from lastiterate.symbolic.derivations.parts import both_orders
from lastiterate.symbolic.kernel.induction import Induction
from lastiterate.symbolic.kernel.judgement import Guarantee, Span
from lastiterate.symbolic.kernel.lemmas import Coin
from lastiterate.symbolic.kernel.outcomes import observe, projected_sample
from lastiterate.symbolic.kernel.profiles import Order, Steps
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import b, ell, sigma_A

i, _j = (Symbol(name, integer=True, nonnegative=True) for name in "ij")
_v, _k = symbols("v_j k_j", real=True)
p = Function("p", real=True)
"""Of step i its load: the squared move of a coordinate over the variance of its noise."""


def known_batches(kernel: Kernel, T: Expr) -> Guarantee:
    """T steps with batches in a known order, one sample replaced: k_j of those of step j differ, one or none."""
    coin = projected_sample(Integer(1), 2 * _k / b, sigma_A, _v, ell, p(_j))
    return both_orders(kernel, _steps(kernel, Order.FIRST, coin, T, (Ge(_k, 0), Le(_k, 1))))


def revealed_coin(kernel: Kernel, q: Expr, T: Expr) -> Guarantee:
    """T steps, one sample replaced, of which it is told whether the batch has it."""
    coin = projected_sample(q, 2 / b, sigma_A, _v, ell, p(_j))
    return both_orders(kernel, _steps(kernel, Order.FIRST, coin, T))


def hidden_coin(kernel: Kernel, q: Expr, T: Expr) -> Guarantee:
    """T steps with Poisson batches at rate q, one sample added or removed."""
    coins = (projected_sample(q, 1 / b, sigma_A, _v, ell, p(_j), order) for order in Order)
    first, second = (_steps(kernel, order, coin, T) for order, coin in zip(Order, coins, strict=True))
    return Guarantee(first, second)


def _steps(kernel: Kernel, order: Order, coin: Coin, T: Expr, laws: tuple[Expr, ...] = ()) -> Span:
    """Every step at the price of what it observes."""
    steps = Induction(kernel, _j, T, (), letters=(_v, _k) if laws else (_v,), laws=(*coin.conditions, *laws))
    cost = Steps(coin.profile.subs({_j: i}), i, _j, coin.profile.order)
    return steps.span(Integer(0), Integer(0), cost, lambda inner, _near, _far: observe(inner, order, _j, coin))
