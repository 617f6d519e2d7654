"""Orders of the batches that stand for others: the last or a late place of the sample, and a mean over orders."""

from sympy import Eq, Expr, Function, Ge, Le, S, Symbol, symbols

from lastiterate.symbolic.derivations.known_batches import A, hidden, shifted
from lastiterate.symbolic.derivations.losses import Losses
from lastiterate.symbolic.derivations.parts import both_orders, from_step_0, unmoved
from lastiterate.symbolic.formulas.update import sensitivity
from lastiterate.symbolic.kernel.averages import average
from lastiterate.symbolic.kernel.induction import Induction, Sequence
from lastiterate.symbolic.kernel.judgement import Guarantee, Span, Variable
from lastiterate.symbolic.kernel.lemmas import gaussian_shift, no_shift
from lastiterate.symbolic.kernel.profiles import Equal, Gauss, Order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import K, b, eta, sigma

_j = Symbol("j", integer=True, nonnegative=True)
i, N = Symbol("i", integer=True, nonnegative=True), Symbol("N", integer=True, positive=True)
costs, chances = Function("A", real=True), Function("w", real=True)
"""Of order number i, of N: the cost of a path, and the chance."""

_orders = Variable("the order of the batches in all epochs", S.Zero)


def cyclic(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr, k: Expr) -> Guarantee:
    """A-GDP for a sample met k steps before the last one, by a path for a sample met in the last step.

    The path's last m steps come k steps earlier, when both runs are in the domain; k steps without the sample follow.
    """
    earlier = hidden(kernel, losses, (tau, start, m))
    return both_orders(kernel, kernel.chain(earlier, without_the_sample(kernel, tau + m, k)))


def cyclic_from_0(kernel: Kernel, losses: Losses, start: Expr, spent: Expr, m: Expr, k: Expr) -> Guarantee:
    """A-GDP as in `cyclic`, of a path that has more than m steps: the run begins where z is ``start`` after others.

    The two runs are 0 apart there, no more than on the path, which has paid ``spent`` by then.
    """
    outer = kernel.under(Ge(spent, 0))
    hidden = shifted(outer, losses, (S.Zero, start, m), spent=spent)
    earlier = outer.weaken(hidden, near=S.Zero, profile=Gauss(A))
    return both_orders(outer, outer.chain(earlier, without_the_sample(outer, m, k)))


def without_the_sample(kernel: Kernel, step: Expr, k: Expr, order: Order = Order.FIRST) -> Span:
    """k steps in which both runs have one map and one noise: what is 0 apart stays so, whatever the losses are."""
    v = Symbol("v_j", real=True)
    steps = Induction(kernel, _j, k, (), letters=(v,), laws=(Ge(v, 0),))
    same_point = unmoved(step + _j)

    def one(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(order, step + _j, (near, far), same_point, no_shift(), v)

    return steps.span(step, S.Zero, Equal(), one)


def late(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """A-GDP by a path for another order, in which the sample never comes earlier; constant steps of affine losses.

    It holds for every order that the run may have, and so for their mean.
    k_j and k'_j say whether step j of the run and of the path has the sample. h_j is at least the number of times that
    it has come in the run and not yet on the path: h_{j+1} is at least h_j + k_j - k'_j and 0, h_0 = 0 and h_m = 0.
    Then z_j is at most y_j + h_j s on the path's y_j, because no step without the sample expands.
    """
    y, y_m, after, h, h_m, next_h = symbols("y_j y_m y_next h_j h_m h_next", real=True)
    a, k, of_path, cost = symbols("a_j k_j k'_j A_j", real=True)
    s, v = sensitivity(eta, K, b), sigma**2
    carried = losses.other_data(eta, b, k)
    factor = losses.other_data(eta, b, S.Zero).at(S.One)
    outer = kernel.under(Ge(start, 0), Ge(tau, 0))
    path = (Ge(after, 0), Ge(after, factor * y + of_path * s - a), Ge(a, 0))
    ahead = (Ge(next_h, 0), Ge(next_h, h + k - of_path), Ge(k, 0), Le(k, 1))
    steps = Induction(
        outer,
        _j,
        m,
        (Sequence(y, start, after, y_m), Sequence(h, S.Zero, next_h, h_m), Sequence(cost, S.Zero, cost + a**2 / v, A)),
        keeps=(Ge(y, 0), Ge(h, 0), Ge(cost, 0)),
        letters=(after, next_h, a, k, of_path),
        laws=(*path, *ahead),
        ends=(Eq(y_m, 0), Eq(h_m, 0)),
    )

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(Order.FIRST, tau + _j, (near, far), carried, gaussian_shift(a, v), v, revealed=(_orders,))

    known = from_step_0(outer, steps.close(steps.span(tau, y + h * s, Gauss(cost), step, far=S.Zero)))
    return both_orders(outer, outer.mean(_orders, ((S.One, known),)))


def shuffled(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """The mean over N orders of the batches of all epochs: order number i has the chance w_i and a path of cost A_i."""
    known = kernel.specialise(hidden(kernel, losses, (tau, start, m), (_orders,)), {A: costs(i)})
    return both_orders(kernel, average(_orders, i, N, chances(i), known))
