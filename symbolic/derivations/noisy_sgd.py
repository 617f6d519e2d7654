"""Noisy-SGD with simple shifts: equal shifts, one shift at the end, or a shift for each visit of a sample.

v is the variance of the noise on the iterate; for random batches, the coin of a step uses a share of it, by
default one half. The window is the last w of tau + w steps, for any w.

If run 1 has n + 1 samples and run 2 has n of them, a batch of b is drawn as follows: reveal a batch of run 2
and one of its samples, which in run 1 is exchanged for the additional sample with probability b/(n + 1) <=
b/n (`ours/sampled/added`).
"""

from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.formulas.shift_program import w_sum
from lastiterate.symbolic.kernel.induction import Q, U, k, p, pay_in_cyclic_order, payments, u
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, L, T, b, beta, c, eta, n, sensitivity, sigma_dp, tau, w

_v = (eta * sigma_dp) ** 2
_r, _r_m, _W, _W_m, _slope = symbols("r_j r W_j W_m lambda", real=True)

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
def _last_step(losses: str, factor: Expr, kernel: Kernel, order: Order) -> Span:
    """The last of such steps: a share beta of the noise for the coin, and the rest hides a multiple of D."""
    own, batch = LOSSES[losses].same_data(eta, eta), Variable(REVEALED, T - 1)
    carried = no_less(own, factor * own.z)
    coin, shift = _exchanged(order, beta * _v), gaussian_shift(carried.at(D), (1 - beta) * _v)
    given = kernel.step(order, T - 1, (D, S.Zero), carried, shift, _v, coin, (batch,))
    made = from_step_0(kernel, kernel.mean(batch, ((S.One, given),)))
    return kernel.weaken(made, profile=compose(_added_sample(order, beta * _v), shift.profile))


def _coin(share: Expr) -> Coin:
    return swap_coin(b / n, sensitivity(b), share * _v)


def _steps(carried: Expansion, shift: Shift, share: Expr) -> Callable[[Kernel, Expr, Expr], Span]:
    """Steps of both runs on the same batch, except for one sample that a coin includes."""
    batch = Variable("the batch without the sample that differs", tau + j)
    return each_step(tau, carried, shift, _v, _coin(share), drawn=batch)


def _convex(share: Expr, kernel: Kernel) -> Guarantee:
    """w coins and w shifts of length D/w, which hide the diameter because a step does not expand."""
    own, rest = LOSSES["convex"].same_data(eta, eta), (1 - share) * _v
    steps = StepInduction(kernel, j, w, ())
    step = _steps(no_less(own, own.z), gaussian_shift(D / w, rest), share)
    cost = compose(Power(_coin(share).profile, j), Gauss(j * (D / w) ** 2 / rest))
    return both_orders(kernel, from_step_0(kernel, steps.span(tau, D * (1 - j / w), cost, step, far=S.Zero)))


def _strongly_convex(share: Expr, kernel: Kernel) -> Guarantee:
    """w coins, and one shift of length c^w D at the end, because each step contracts by c."""
    own, coin = LOSSES["strongly convex"].same_data(eta, eta), _coin(share)
    carried = no_less(own, c * own.z)
    steps = StepInduction(kernel, j, w - 1, (Sequence(_r, S.One, c * _r, _r_m, c**j),), (Gt(_r, 0),))
    before = steps.close(steps.span(tau, _r * D, Power(coin.profile, j), _steps(carried, no_shift(), share)))
    shift = gaussian_shift(c**w * D, (1 - share) * _v)
    batch, ends = (
        Variable("the batch without the sample that differs", tau + w - 1),
        (c ** (w - 1) * D, S.Zero),
    )
    one = kernel.step(Order.FIRST, tau + w - 1, ends, carried, shift, _v, coin, (batch,))
    last = kernel.mean(batch, ((S.One, one),))
    made = kernel.weaken(kernel.chain(before, last), profile=compose(Power(coin.profile, w), shift.profile))
    return both_orders(kernel, from_step_0(kernel, made))


def _contracting(kernel: Kernel) -> Guarantee:
    """w coins, and shifts in proportion to c^-1, ..., c^-w, at the cost D^2 over the sum of the squares of these."""
    own, rest = LOSSES["strongly convex"].same_data(eta, eta), (1 - beta) * _v
    sequences = (
        Sequence(_r, S.One, _r / c, _r_m, c**-j),
        Sequence(_W, S.Zero, _W + (_r / c) ** 2, _W_m, w_sum(c, j)),
    )
    outer = kernel.under(Eq(_slope * _W_m, D), Ge(_slope, 0), Gt(_W_m, 0))
    steps = StepInduction(outer, j, w, sequences, (Gt(_r, 0), Ge(_W, 0)))
    steps.falls(D, _W)
    step = _steps(no_less(own, c * own.z), gaussian_shift(_slope * _r / c, rest), beta)
    cost = compose(Power(_coin(beta).profile, j), Gauss(_slope**2 * _W / rest))
    hidden = steps.span(tau, (D - _slope * _W) / _r, cost, step, far=S.Zero)
    made = kernel.specialise(steps.close(hidden), {_slope: D / w_sum(c, w)})
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
        kernel, coins(kernel.under(Gt(_v, 0)), Order.FIRST, _coin(S.Half), _v, T)
    ),
    "noisy_sgd/composition, all noise": lambda kernel: both_orders(
        kernel, coins(kernel.under(Gt(_v, 0)), Order.FIRST, _coin(S.One), _v, T)
    ),
    "noisy_sgd/one more, composition": partial(_composed, _exchanged, S.One),
    "noisy_sgd/one more, share": partial(_composed, _exchanged, beta),
    "noisy_sgd/one more drawn, share": partial(_composed, _drawn, beta),
    "noisy_sgd/one more, last step": partial(_last_step, "smooth", 1 + eta * L),
    "noisy_sgd/one more, last step, convex": partial(_last_step, "convex", S.One),
    "noisy_sgd/convex": partial(_convex, S.Half),
    "noisy_sgd/convex, share": partial(_convex, beta),
    "noisy_sgd/strongly convex": partial(_strongly_convex, S.Half),
    "noisy_sgd/strongly convex, share": partial(_strongly_convex, beta),
    "noisy_sgd/strongly convex, shares": _contracting,
    "noisy_sgd/cyclic, from 0": partial(_cyclic, S.Zero, S.Zero),
    "noisy_sgd/cyclic, from the domain": partial(_cyclic, tau, D),
}
