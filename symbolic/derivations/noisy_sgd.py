"""Noisy-SGD with simple shifts: equal shifts, one shift at the end, or a shift for each visit of a sample.

v is the variance of the noise on the iterate; for random batches, the coin of a step uses v/2. The window is
the last w of tau + w steps, for any w.

If run 1 has n + 1 samples and run 2 has n of them, a batch of b is drawn as follows: reveal a batch of run 2
and one of its samples, which in run 1 is exchanged for the additional sample with probability b/(n + 1) <=
b/n (`ours/sampled/added`).
"""

from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.kernel.induction import Q, U, k, p, pay_in_cyclic_order, payments, u
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, L, T, b, beta, c, eta, n, sensitivity, sigma_dp, tau, w

_v = (eta * sigma_dp) ** 2
_r, _r_m = symbols("r_j r", real=True)
_COIN: Final = swap_coin(b / n, sensitivity(b), _v / 2)
REVEALED: Final = "the batch of the run with fewer samples, and which one is exchanged,"
"""The variable that is revealed if one run has one sample more."""


def _exchanged(order: Order, variance: Expr) -> Coin:
    return poisson_coin(b / (n + 1), sensitivity(b), variance, order)


def _added_sample(order: Order, variance: Expr) -> PoissonStep:
    return PoissonStep(b / n, sensitivity(b) ** 2 / variance, order)


def _drawn(order: Order, variance: Expr) -> Coin:
    """The coin if each batch has every sample with probability b/n."""
    return poisson_coin(b / n, update.moved(eta, K, b), variance, order)


(EXCHANGED,), (DRAWN,) = (coin(Order.FIRST, _v).hypotheses for coin in (_exchanged, _drawn))
"""The hypotheses of the two coins on the sample."""


@each_order
def _composed(coin: Callable[..., Coin], share: Expr, kernel: Kernel, order: Order) -> Span:
    """T steps of two runs of which one has one sample more, as if they had a share of the noise."""
    made = coins(kernel.under(Gt(_v, 0)), order, coin(order, _v), _v, T)
    return kernel.weaken(made, profile=Power(_added_sample(order, share * _v), T))


@each_order
def _last_step(kernel: Kernel, order: Order) -> Span:
    """The last of such steps: a share beta of the noise for the coin, and the rest hides (1 + eta L) D."""
    own, batch = LOSSES["smooth"].same_data(eta, eta), Variable(REVEALED, T - 1)
    carried = no_less(own, (1 + eta * L) * own.z)
    coin, shift = _exchanged(order, beta * _v), gaussian_shift(carried.at(D), (1 - beta) * _v)
    given = kernel.step(order, T - 1, (D, S.Zero), carried, shift, _v, coin, (batch,))
    made = from_step_0(kernel, kernel.mean(batch, ((S.One, given),)))
    return kernel.weaken(made, profile=compose(_added_sample(order, beta * _v), shift.profile))


def _steps(carried: Expansion, shift: Shift) -> Callable[[Kernel, Expr, Expr], Span]:
    """Steps of both runs on the same batch, except for one sample that a coin includes."""
    batch = Variable("the batch without the sample that differs", tau + j)
    return each_step(tau, carried, shift, _v, _COIN, drawn=batch)


def _convex(kernel: Kernel) -> Guarantee:
    """w coins and w shifts of length D/w, which hide the diameter because a step does not expand."""
    own = LOSSES["convex"].same_data(eta, eta)
    steps = StepInduction(kernel, j, w, ())
    step = _steps(no_less(own, own.z), gaussian_shift(D / w, _v / 2))
    cost = compose(Power(_COIN.profile, j), Gauss(j * 2 * (D / w) ** 2 / _v))
    return both_orders(kernel, from_step_0(kernel, steps.span(tau, D * (1 - j / w), cost, step, far=S.Zero)))


def _strongly_convex(kernel: Kernel) -> Guarantee:
    """w coins, and one shift of length c^w D at the end, because each step contracts by c."""
    own = LOSSES["strongly convex"].same_data(eta, eta)
    carried = no_less(own, c * own.z)
    steps = StepInduction(kernel, j, w - 1, (Sequence(_r, S.One, c * _r, _r_m, c**j),), (Gt(_r, 0),))

    before = steps.close(steps.span(tau, _r * D, Power(_COIN.profile, j), _steps(carried, no_shift())))
    shift, batch = (
        gaussian_shift(c**w * D, _v / 2),
        Variable("the batch without the sample that differs", tau + w - 1),
    )
    ends = c ** (w - 1) * D, S.Zero
    one = kernel.step(Order.FIRST, tau + w - 1, ends, carried, shift, _v, _COIN, (batch,))
    last = kernel.mean(batch, ((S.One, one),))
    made = kernel.weaken(kernel.chain(before, last), profile=compose(Power(_COIN.profile, w), shift.profile))
    return both_orders(kernel, from_step_0(kernel, made))


def _cyclic(begins: Expr, start: Expr, kernel: Kernel) -> Guarantee:
    """w shifts of length D/w + u_j s, s = 2 eta K/n: each visit adds s n/b, which the u_j hide."""
    s, share = sensitivity(), start / w
    own = LOSSES["convex"].other_data(eta, b, k)
    carried = no_less(own, own.z + k * sensitivity(b))
    steps = payments(kernel, j, w, n / b)
    step = each_step(begins, carried, gaussian_shift(share + s * u, _v), _v)
    cost = Gauss((j * share**2 + 2 * share * s * U + s**2 * Q) / _v)
    hidden = steps.span(begins, start * (1 - j / w) + s * p, cost, step, far=S.Zero)
    ordered = pay_in_cyclic_order(kernel, steps, steps.close(hidden), (b, n))
    return both_orders(kernel, from_step_0(kernel, ordered))


TABLE: Final[dict[str, Derivation]] = {
    "noisy_sgd/composition": lambda kernel: both_orders(
        kernel, coins(kernel.under(Gt(_v, 0)), Order.FIRST, _COIN, _v, T)
    ),
    "noisy_sgd/one more, composition": partial(_composed, _exchanged, S.One),
    "noisy_sgd/one more, share": partial(_composed, _exchanged, beta),
    "noisy_sgd/one more drawn, share": partial(_composed, _drawn, beta),
    "noisy_sgd/one more, last step": _last_step,
    "noisy_sgd/convex": _convex,
    "noisy_sgd/strongly convex": _strongly_convex,
    "noisy_sgd/cyclic, from 0": partial(_cyclic, S.Zero, S.Zero),
    "noisy_sgd/cyclic, from the domain": partial(_cyclic, tau, D),
}
