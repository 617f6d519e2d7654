"""Noisy-SGD with the shifts of bounds up to a constant: equal ones, one at the end, or one for each visit of a sample.

v is the variance of the noise on the iterate; half of it is left to the coin of a step where batches are random. The
bounds hold for every window of w of the tau + w steps.
"""

from sympy import Eq, Expr, Ge, Gt, Le, S, Symbol, symbols

from lastiterate.symbolic.derivations.losses import LOSSES, no_less
from lastiterate.symbolic.derivations.parts import both_orders, from_step_0
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.kernel.composition import compose
from lastiterate.symbolic.kernel.induction import Induction, Sequence
from lastiterate.symbolic.kernel.judgement import Guarantee, Span, Variable
from lastiterate.symbolic.kernel.lemmas import Coin, Expansion, Shift, gaussian_shift, no_shift, swap_coin
from lastiterate.symbolic.kernel.profiles import Gauss, Order, Power
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, T, b, c, eta, n, sensitivity, sigma_dp, tau, w

_j = Symbol("j", integer=True, nonnegative=True)
_v = (eta * sigma_dp) ** 2
_r, reach = symbols("r_j r", real=True)
_p, _p_m, _k, _u, _U, spent, _Q, squares = symbols("p_j p_m k_j u_j U_j U Q_j Q", real=True)
"""``reach`` is c^(w - 1); ``spent`` sums what each step pays for visits, in units of s, and ``squares`` its squares."""


def _coin() -> Coin:
    """One of n samples is replaced, and a batch is any b of them; half of the noise."""
    return swap_coin(b / n, sensitivity(b), _v / 2)


def composition(kernel: Kernel) -> Guarantee:
    """T steps, each at the price of its coin at half of the noise."""
    return both_orders(kernel, coins(kernel.under(Gt(_v, 0)), Order.FIRST, _coin(), _v, T))


def _step(kernel: Kernel, step: Expr, ends: tuple[Expr, Expr], carried: Expansion, shift: Shift) -> Span:
    """A step on a common batch but for one sample, which a coin puts in."""
    batch = Variable("the batch without the sample that differs", step)
    one = kernel.step(Order.FIRST, step, ends, carried, shift, _v, _coin(), (batch,))
    return kernel.mean(batch, ((S.One, one),))


def convex(kernel: Kernel) -> Guarantee:
    """w coins and w shifts of length D/w, which hide the diameter: a step is no expansion."""
    own = LOSSES["convex"].same_data(eta, eta)
    carried, coin = no_less(own, own.z), _coin()
    steps = Induction(kernel, _j, w, ())

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return _step(inner, tau + _j, (near, far), carried, gaussian_shift(D / w, _v / 2))

    cost = compose(Power(coin.profile, _j), Gauss(_j * 2 * (D / w) ** 2 / _v))
    return both_orders(kernel, from_step_0(kernel, steps.span(tau, D * (1 - _j / w), cost, step, far=S.Zero)))


def strongly_convex(kernel: Kernel) -> Guarantee:
    """w coins, and one shift of length c^w D at the end: a step contracts by c; r = c^(w - 1)."""
    own, coin = LOSSES["strongly convex"].same_data(eta, eta), _coin()
    carried = no_less(own, c * own.z)
    steps = Induction(kernel, _j, w - 1, (Sequence(_r, S.One, c * _r, reach),), (Ge(_r, 0),))

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return _step(inner, tau + _j, (near, far), carried, no_shift())

    before = steps.close(steps.span(tau, _r * D, Power(coin.profile, _j), step))
    outer = kernel.under(Ge(reach, 0))
    shift = gaussian_shift(c * reach * D, _v / 2)
    last = _step(outer, tau + w - 1, (reach * D, S.Zero), carried, shift)
    made = outer.weaken(outer.chain(before, last), profile=compose(Power(coin.profile, w), shift.profile))
    return both_orders(outer, from_step_0(outer, made))


def visits(begins: Expr, start: Expr, kernel: Kernel) -> Guarantee:
    """w shifts of length D/w + u_j s, s = 2 eta K/n, where a visit moves n/b times s, and p_j s of it is not paid yet.

    p_{j+1} = p_j + k_j n/b - u_j, k_j = 1 where the sample that differs is in the batch, and else 0. In cyclic order
    one pays u_j = 1 from each visit to the next, and n/b at once at the last: ``spent`` is at most w + n/b then, and
    ``squares`` at most w + (n/b)^2.
    """
    s, share = sensitivity(), start / w
    own = LOSSES["convex"].other_data(eta, b, _k)
    carried = no_less(own, own.z + _k * sensitivity(b))
    left = _p + _k * n / b - _u
    steps = Induction(
        kernel,
        _j,
        w,
        (
            Sequence(_p, S.Zero, left, _p_m),
            Sequence(_U, S.Zero, _U + _u, spent),
            Sequence(_Q, S.Zero, _Q + _u**2, squares),
        ),
        keeps=(Ge(_p, 0), Ge(_U, 0), Ge(_Q, 0)),
        letters=(_k, _u),
        laws=(Ge(_k, 0), Le(_k, 1), Ge(_u, 0), Ge(left, 0)),
        ends=(Eq(_p_m, 0),),
    )

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(Order.FIRST, begins + _j, (near, far), carried, gaussian_shift(share + s * _u, _v), _v)

    cost = Gauss((_j * share**2 + 2 * share * s * _U + s**2 * _Q) / _v)
    hidden = steps.span(begins, start * (1 - _j / w) + s * _p, cost, step, far=S.Zero)
    return both_orders(kernel, from_step_0(kernel, steps.close(hidden)))
