"""The papers' own proofs, each up to the first line that no rule of the kernel proves.

Chien & Li 2025 and Altschuler & Talwar 2022 reveal the shares Z' of all steps, each with mean psi'(W') -
psi(W'), and then shift the rest of the noise. Given the shares of later steps, the rest of the noise is not
independent of the state. Given the share of its own step, a batch has different laws in the two runs.
docs/proofs/kernel.md covers the other proofs.
"""

from lastiterate.symbolic.derivations import shared_noise
from lastiterate.symbolic.derivations.known_batches import N, hide_distance, i
from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.derivations.random_batches import coins
from lastiterate.symbolic.derivations.shared_noise import all_shares, over_noise, share_step
from lastiterate.symbolic.formulas.update import step_sensitivity
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, L, T, b, beta, c, eta, m, q, r, s, sigma, t, tau, w

_k = Symbol("k", integer=True, nonnegative=True)
_a, _beta = symbols("a_j beta_j", real=True)
_orders = Variable("the order of the batches in all epochs", S.Zero)


def _shifts(
    kernel: Kernel, losses: Losses, shares: Variable, drawn: bool = False, revealed: tuple[Variable, ...] = ()
) -> Span:
    """Shifts over the last w steps from the diameter D, given the shares up to the step of ``shares``."""
    carried = losses.same_data(eta, eta)
    outer = kernel.under(Eq(s, step_sensitivity(eta, K, b)))

    def one(inner: Kernel, near: Expr, far: Expr) -> Span:
        batch = Variable("the batch of the step, given its share", tau + j, follows=True)
        given = (shares, *revealed, *((batch,) if drawn else ()))
        made = share_step(inner, tau + j, (near, far), carried, (_a, _a**2 / (1 - _beta)), *given)
        return inner.mean(batch, ((S.One, made),)) if drawn else made

    laws, shift = (Gt(_beta, 0), Lt(_beta, 1), Ge(_a, 0)), (_a, _a**2 / (1 - _beta))
    return from_step_0(
        outer, hide_distance(outer, (tau, D, w), carried, shift, one, (_beta, _a), laws, over_noise)
    )


def _known(last: Expr, kernel: Kernel, mean: bool = False) -> Guarantee:
    """Chien & Li, Theorem A.1, with the last visit of the sample in step ``last``; with ``mean``, Corollary A.3."""
    made = _shifts(kernel, LOSSES["modulus"], all_shares(last), revealed=(_orders,) if mean else ())
    return both_orders(kernel, kernel.mean(_orders, ((S.One, made),), over=(i, N, 1 / N)) if mean else made)


def _drawn(losses: str, last: Expr, kernel: Kernel) -> Guarantee:
    """Random batches: windows in Chien & Li, Theorem 3.12, and Altschuler & Talwar, Theorems 3.1 and 5.1."""
    return both_orders(kernel, _shifts(kernel.under(m <= L), LOSSES[losses], all_shares(last), drawn=True))


def _added(kernel: Kernel, order: Order = Order.SECOND) -> Guarantee:
    """Theorem 3.3 of Liang et al.: T steps at the cost of a sample that only run 1 has, in one order."""
    coin = poisson_coin(q, step_sensitivity(eta, K, b), beta * sigma**2, order)
    one = coins(kernel.under(Gt(beta, 0), Le(beta, 1), Le(q, 1)), order, coin, sigma**2, T)
    other = kernel.exchange(one)
    return Guarantee(one, other) if order is Order.FIRST else Guarantee(other, one)


def _hidden_at_once(kernel: Kernel, most: Expr = oo) -> Guarantee:
    """Theorem 3.4 of Liang et al.: step t hides (1 + eta L) D, with a batch of k <= ``most`` samples."""
    outer = kernel.under(Gt(beta, 0), Lt(beta, 1), Le(q, 1), Ge(L, 0), Le(_k, most))
    coin = poisson_coin(q, step_sensitivity(eta, K, b), beta * sigma**2, Order.SECOND)
    smooth = LOSSES["smooth"].same_data(eta * _k / b, eta * _k / b)
    unclipped = no_less(smooth, (1 + eta * L * _k / b) * smooth.z)
    hide = gaussian_shift((1 + eta * L) * D, (1 - beta) * sigma**2)
    second = outer.step(Order.SECOND, t, (D, S.Zero), unclipped, hide, sigma**2, coin)
    whole = from_step_0(outer, second)
    return Guarantee(outer.exchange(whole), whole)


def _projected(kernel: Kernel) -> Guarantee:
    """Theorem 1 of D2P2-SGD: a projection scales a gradient by r, which the cost of the step ignores."""
    outer = kernel.under(Ge(r, 0), Ge(s, 0), Le(q, 1))
    coin = swap_coin(q, s, sigma**2)
    reached = on_condition(coin, Le(r * s, s))
    one_point, nowhere = from_equal_points(Guide.OWN), (S.Zero, S.Zero)
    return both_orders(
        outer, outer.step(Order.FIRST, S.Zero, nowhere, one_point, no_shift(), sigma**2, reached)
    )


def _full_batch(losses: str, factor: Expr, given: tuple[Boolean, ...], kernel: Kernel) -> Guarantee:
    return shared_noise.share_window(losses, factor, "domain", kernel.under(*given), all_shares(tau + w - 1))


PRINTED: Final[Mapping[str, Callable[[Kernel], Guarantee]]] = MappingProxyType(
    {
        "chien_li/theorem_3_1, convex": partial(_full_batch, "convex", S.One, (eta * L <= 2,)),
        "chien_li/theorem_3_1, strongly convex": partial(
            _full_batch, "strongly convex", c, (Eq(c, 1 - eta * m), c > 0, m <= L, eta * L <= 1)
        ),
        "chien_li/theorem_3_1, smooth": partial(_full_batch, "smooth", c, (Eq(c, 1 + eta * L),)),
        "chien_li/theorem_3_7": lambda kernel: shared_noise.share_batches(
            "domain", kernel, all_shares(t + tau + w - 1), full=True
        ),
        "chien_li/theorem_3_12": partial(_drawn, "modulus", tau + w - 1),
        "chien_li/theorem_3_12, given the share of a step alone": partial(_drawn, "modulus", tau),
        "chien_li/theorem_a_1": partial(_known, t),
        "chien_li/corollary_a_3": partial(_known, t, mean=True),
        "altschuler_talwar/theorem_3_1": partial(_drawn, "convex", tau + w - 1),
        "altschuler_talwar/theorem_3_1, given the share of a step alone": partial(_drawn, "convex", tau),
        "altschuler_talwar/theorem_5_1": partial(_drawn, "strongly convex", tau + w - 1),
        "liang/theorem_3_3": _added,
        "liang/theorem_3_3, from the other order": partial(_added, order=Order.FIRST),
        "liang/theorem_3_4": _hidden_at_once,
        "liang/theorem_3_4, batches of b samples": partial(_hidden_at_once, most=b),
        "d2p2/theorem_1": _projected,
    }
)
"""The printed proofs by the names that claims use."""
