"""Poisson batches: ranges of their sizes, of which each has a window of its own."""

from sympy import Expr, Function, Ge, Le, Symbol, symbols

from lastiterate.symbolic.derivations.losses import Losses
from lastiterate.symbolic.derivations.random_batches import ALL, A, P, coins, k, p, sized_window
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.averages import average_or
from lastiterate.symbolic.kernel.judgement import Guarantee, Span
from lastiterate.symbolic.kernel.lemmas import poisson_coin
from lastiterate.symbolic.kernel.profiles import Order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, b, rho

_j = Symbol("j", integer=True, nonnegative=True)
_eta, _v = symbols("eta_j v_j", real=True)
lengths, costs = Function("w", integer=True, positive=True), Function("A", real=True)
chances, N = Function("chance", real=True), Symbol("N", integer=True, positive=True)
"""Of range number k of N: steps of its window, the cost of its shifts, and its chance among all ranges."""


def poisson_ranges(kernel: Kernel, losses: Losses, q: Expr, steps: Expr) -> Guarantee:
    """Poisson batches at rate q: N ranges of sizes, each with a window of its own, and a composition beyond them all.

    A run is counted to the first range that holds all sizes of its batches. Window number k has w_k of the last steps.
    """
    return Guarantee(*(_ranges(kernel, losses, q, steps, order) for order in Order))


def _ranges(kernel: Kernel, losses: Losses, q: Expr, steps: Expr, order: Order) -> Span:
    begins = steps - lengths(k)
    outer = kernel.under(Ge(begins, 0))
    found, event = sized_window(outer, losses, order, q, (begins, D, lengths(k)), ALL, p(k, _j))
    inside = outer.specialise(found, {A: costs(k)})
    events = frozenset(one for one in inside.hypotheses if any(one.says == other.says for other in event))
    whole = coins(kernel, order, poisson_coin(q, update.moved(_eta, K, b), _v, order, P(_j)), _v, steps, ALL)
    return average_or(kernel.under(Le(rho, 1)), ALL, k, N, chances(k), inside, events, rho, whole)
