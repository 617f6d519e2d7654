"""Noisy-SGD with the shifts of bounds up to a constant: equal ones, one at the end, or one for each visit of a sample.

v is the variance of the noise on the iterate; half of it is left to the coin of a step where batches are random. The
bounds hold for every window of w of the tau + w steps.
"""

from functools import partial
from typing import Final

from sympy import Expr, Gt, S, Symbol, symbols

from lastiterate.symbolic.derivations.losses import LOSSES, Derivation, both_orders, from_step_0, no_less
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.kernel.composition import compose
from lastiterate.symbolic.kernel.induction import Q, Sequence, StepInduction, U, k, p, pay_in_cyclic_order, payments, u
from lastiterate.symbolic.kernel.judgement import Guarantee, Span, Variable
from lastiterate.symbolic.kernel.lemmas import Coin, Expansion, Shift, gaussian_shift, no_shift, swap_coin
from lastiterate.symbolic.kernel.profiles import Gauss, Order, Power
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, T, b, c, eta, n, sensitivity, sigma_dp, tau, w

_j = Symbol("j", integer=True, nonnegative=True)
_v = (eta * sigma_dp) ** 2
_r, _r_m = symbols("r_j r", real=True)


def _coin() -> Coin:
    """One of n samples is replaced, and a batch is any b of them; half of the noise."""
    return swap_coin(b / n, sensitivity(b), _v / 2)


def _composition(kernel: Kernel) -> Guarantee:
    """T steps, each at the price of its coin at half of the noise."""
    return both_orders(kernel, coins(kernel.under(Gt(_v, 0)), Order.FIRST, _coin(), _v, T))


def _step(kernel: Kernel, step: Expr, ends: tuple[Expr, Expr], carried: Expansion, shift: Shift) -> Span:
    """A step on a common batch but for one sample, which a coin puts in."""
    batch = Variable("the batch without the sample that differs", step)
    one = kernel.step(Order.FIRST, step, ends, carried, shift, _v, _coin(), (batch,))
    return kernel.mean(batch, ((S.One, one),))


def _convex(kernel: Kernel) -> Guarantee:
    """w coins and w shifts of length D/w, which hide the diameter: a step is no expansion."""
    own = LOSSES["convex"].same_data(eta, eta)
    carried, coin = no_less(own, own.z), _coin()
    steps = StepInduction(kernel, _j, w, ())

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return _step(inner, tau + _j, (near, far), carried, gaussian_shift(D / w, _v / 2))

    cost = compose(Power(coin.profile, _j), Gauss(_j * 2 * (D / w) ** 2 / _v))
    return both_orders(kernel, from_step_0(kernel, steps.span(tau, D * (1 - _j / w), cost, step, far=S.Zero)))


def _strongly_convex(kernel: Kernel) -> Guarantee:
    """w coins, and one shift of length c^w D at the end: a step contracts by c."""
    own, coin = LOSSES["strongly convex"].same_data(eta, eta), _coin()
    carried = no_less(own, c * own.z)
    steps = StepInduction(kernel, _j, w - 1, (Sequence(_r, S.One, c * _r, _r_m, c**_j),), (Gt(_r, 0),))

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return _step(inner, tau + _j, (near, far), carried, no_shift())

    before = steps.close(steps.span(tau, _r * D, Power(coin.profile, _j), step))
    shift = gaussian_shift(c**w * D, _v / 2)
    last = _step(kernel, tau + w - 1, (c ** (w - 1) * D, S.Zero), carried, shift)
    made = kernel.weaken(kernel.chain(before, last), profile=compose(Power(coin.profile, w), shift.profile))
    return both_orders(kernel, from_step_0(kernel, made))


def _cyclic(begins: Expr, start: Expr, kernel: Kernel) -> Guarantee:
    """w shifts of length D/w + u_j s, s = 2 eta K/n, where a visit moves n/b times s and u_j pays for visits."""
    s, share = sensitivity(), start / w
    own = LOSSES["convex"].other_data(eta, b, k)
    carried = no_less(own, own.z + k * sensitivity(b))
    steps = payments(kernel, _j, w, n / b)

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(Order.FIRST, begins + _j, (near, far), carried, gaussian_shift(share + s * u, _v), _v)

    cost = Gauss((_j * share**2 + 2 * share * s * U + s**2 * Q) / _v)
    hidden = steps.span(begins, start * (1 - _j / w) + s * p, cost, step, far=S.Zero)
    ordered = pay_in_cyclic_order(kernel, steps, steps.close(hidden), (b, n))
    return both_orders(kernel, from_step_0(kernel, ordered))


TABLE: Final[dict[str, Derivation]] = {
    "noisy_sgd/composition": _composition,
    "noisy_sgd/convex": _convex,
    "noisy_sgd/strongly convex": _strongly_convex,
    "noisy_sgd/cyclic, from 0": partial(_cyclic, S.Zero, S.Zero),
    "noisy_sgd/cyclic, from the domain": partial(_cyclic, tau, D),
}
