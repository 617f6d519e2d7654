"""A share beta_j of the noise hides the differing sample, and the rest hides a shift, as in the papers.

A step pays for its share Z_j and then shifts given this share. The printed proofs pay for all shares first
and shift given all shares; with the variable ``shares`` the derivations try the same and fail.
"""

from lastiterate.symbolic.derivations.known_batches import hide_distance
from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, W, b, eta, n, s, sensitivity, sigma, t, tau, w

_v = sigma**2
_beta, _a, _z, _z_m, _z_tau, _following = symbols("beta_j a_j z_j z_m z_tau z_next", real=True)
_k, _p = symbols("k_j p_j", real=True)
_r, _r_m, _B, B, _W, _W_m, _slope = symbols("r r_m B_j B W_j W_m lambda", real=True)
"""Over the steps of a window, B is the sum of s^2 / beta_j, and W is the sum of (1 - beta_j) c^(-2 (j + 1))."""

_one_map = Hypothesis("given its share of the noise, a step has one map in both runs")


def all_shares(last: Expr) -> Variable:
    """The shares of all steps of run 2; a share has mean psi'(W') - psi(W'), with W' the state before the step."""
    return Variable("the shares Z' of the noise of all steps", last, follows=True)


def over_noise(square: Expr) -> Gauss:
    """The Gaussian profile for a squared distance."""
    return Gauss(square / _v)


def share_step(
    kernel: Kernel,
    step: Expr,
    ends: tuple[Expr, Expr],
    own: Expansion,
    shift: tuple[Expr, Expr],
    *given: Variable,
    coin: Coin | None = None,
) -> Span:
    """A step with the share beta_j of its noise; ``shift`` is a length a and a bound on a^2 / (1 - beta_j)."""
    length, square = shift
    left = gaussian_shift(length, (1 - _beta) * _v, square / _v)
    if given:
        return kernel.step(Order.FIRST, step, ends, _given_its_share(own), left, left.variance, revealed=given)
    return kernel.step(Order.FIRST, step, ends, own, left, _v, coin or _share(s**2, n, S.One, Gt(_beta, 0)))


@rule
def _given_its_share(own: Expansion) -> Expansion:
    """The same map for both runs, by a hypothesis."""
    same = replace(supposing(own, _one_map), guide=Guide.OTHER)
    return shown(same, own)


@rule
def _share(cost: Expr, b: Expr, k: Expr, *positive: Boolean) -> Coin:
    """A share beta_j hides k s, s >= 2 eta K/b, at mu^2 = ``cost`` / v with ``cost`` >= (k s)^2 / beta_j.

    If ``positive`` says that beta_j > 0, read ``cost`` / beta_j for ``cost``.
    """
    square = cost / _beta if positive else cost
    signs = (
        Ge(s, sensitivity(b)),
        *(positive or (Ge(_beta, 0),)),
        Ge(square, 0),
        Ge(square * _beta, (k * s) ** 2),
    )
    hidden, lemmas = frozenset({replaced(k, b)}), ("ours/expansions/sensitivity",)
    return shown(Coin(Gauss(square / _v), _beta * _v, hidden, signs, lemmas))


def _tracked(kernel: Kernel, expansion: Expansion, factor: Expr, offset: Expr) -> Span:
    closed = offset * j if factor == 1 else offset * (factor**j - 1) / (factor - 1)
    steps = StepInduction(
        kernel, j, tau, (Sequence(_z, S.Zero, factor * _z + offset, _z_m, closed),), (Ge(_z, 0),)
    )
    return steps.close(steps.span(S.Zero, _z, Equal(), each_step(S.Zero, expansion, no_shift(), _v)))


def share_window(losses: str, factor: Expr, start: str, kernel: Kernel, *shares: Variable) -> Guarantee:
    """mu^2 <= (B + Z^2 / W) / sigma^2 if W > 0; the distance Z before the window is D, 2 eta K tau, or tracked."""
    outer = kernel.under(Eq(s, sensitivity()))
    one_class = LOSSES[losses]
    carried = one_class.same_data(eta, eta)
    own = no_less(carried, factor * carried.z)
    before = {
        "domain": lambda: outer.domain(Order.FIRST, (S.Zero, tau), S.Zero, D),
        "tracked": lambda: _tracked(outer, one_class.affine(factor), factor, s),
        "clipped": lambda: _tracked(outer, one_class.other_data(eta, n, S.One), S.One, 2 * eta * K),
    }[start]()
    distance = before.far
    shifted = outer.under(Eq(_slope * _W_m, distance), Ge(_slope, 0), Gt(_W_m, 0))
    part = _slope * _r / factor  # a_j = part (1 - beta_j)
    steps = StepInduction(
        shifted,
        j,
        w,
        (
            Sequence(_r, S.One, _r / factor, _r_m, factor**-j),
            Sequence(_B, S.Zero, _B + s**2 / _beta, B),
            Sequence(_W, S.Zero, _W + (1 - _beta) * (_r / factor) ** 2, _W_m),
        ),
        keeps=(Gt(_r, 0), Ge(_B, 0), Ge(_W, 0)),
        letters=(_beta,),
        laws=(Gt(_beta, 0), Le(_beta, 1)),
    )
    steps.falls(-_W, S.One)

    def one(inner: Kernel, near: Expr, far: Expr) -> Span:
        return share_step(
            inner, tau + j, (near, far), own, (part * (1 - _beta), part**2 * (1 - _beta)), *shares
        )

    hidden = steps.span(tau, (distance - _slope * _W) / _r, Gauss((_B + _slope**2 * _W) / _v), one, far=S.Zero)
    priced = outer.under(Gt(_W_m, 0)).specialise(steps.close(hidden), {_slope: distance / _W_m})
    return both_orders(kernel, kernel.specialise(outer.chain(before, priced), {s: sensitivity(), _W_m: W}))


def share_batches(start: str, kernel: Kernel, *shares: Variable, full: bool = False) -> Guarantee:
    """mu^2 <= C / sigma^2 for known batches of b samples, with (k_j = 1) or without (k_j = 0) the differing sample.

    In each of tau steps the distance z becomes at least min(z + eta (b - k_j)/b omega(z) + k_j s, z + 2 eta
    K), s = 2 eta K/b. In each of w more steps z becomes at least max(z + eta omega(z) - a_j, 0); at the end
    it is 0. A share beta_j of the noise hides k_j s at the cost p_j >= k_j^2 s^2 / beta_j, and C is the sum
    of p_j + a_j^2 / (1 - beta_j). ``full`` batches have b = n and p_j = s^2 / beta_j.
    """
    batch, counts = (n, ()) if full else (b, (Ge(_k, 0), Le(_k, 1)))
    outer, modulus, grown = kernel.under(Eq(s, sensitivity(batch))), LOSSES["modulus"], _z + eta * omega(_z)
    begin, since = (D, t) if start == "domain" else (S.Zero, S.Zero)
    own, other = modulus.same_data(eta, eta), modulus.other_data(eta, batch, S.One if full else _k)
    apart = _z + Min(eta * (b - _k) / b * omega(_z) + _k * s, 2 * eta * K)
    tracking = StepInduction(
        outer.under(Ge(begin, 0)),
        j,
        tau,
        (Sequence(_z, begin, _following, _z_tau),),
        keeps=(Ge(_z, 0),),
        letters=(_following, *(() if full else (_k,))),
        laws=(*counts, Ge(_following, Min(grown + s, _z + 2 * eta * K) if full else apart)),
    )
    tracked = tracking.span(since, _z, Equal(), each_step(since, other, no_shift(), _v))
    price_of_step, positive = (s**2 / _beta, Gt(_beta, 0)) if full else (_p, Ge(_beta, 0))

    def one(inner: Kernel, near: Expr, far: Expr) -> Span:
        coin = None if full else _share(_p, b, _k)
        return share_step(
            inner, since + tau + j, (near, far), own, (_a, _a**2 / (1 - _beta)), *shares, coin=coin
        )

    letters = (_beta, _a, *(() if full else (_k, _p)))
    laws = (positive, Lt(_beta, 1), Ge(_a, 0))
    laws += () if full else (*counts, Ge(_p, 0), Ge(_p * _beta, (_k * s) ** 2))
    run, gain, names = (since + tau, _z_tau, w), price_of_step + _a**2 / (1 - _beta), "z_j z_next z_m B_j B"
    carried = no_less(own, own.z + eta * omega(own.z))
    hidden = hide_distance(outer, run, carried, (_a, gain), one, letters, laws, over_noise, names=names)
    both = tracking.close(outer.chain(tracked, hidden))
    return both_orders(kernel, kernel.specialise(from_step_0(outer, both), {s: sensitivity(batch)}))


TABLE: Final[dict[str, Derivation]] = {
    **{
        f"shared_noise/{losses}, {start}": partial(share_window, losses, factor, start)
        for losses, factor in AFFINE.items()
        for start in ("domain", "tracked", "clipped")
    },
    **{
        f"shared_noise/{kind}, {start}": partial(share_batches, start, full=kind == "modulus")
        for kind in ("modulus", "batches")
        for start in ("0", "domain")
    },
}

fix(__name__)
