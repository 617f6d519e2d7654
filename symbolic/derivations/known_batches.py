"""Batches in a known order, such as full batches: shifts that hide a distance; closed form for z -> c z + s.

The runs are at most D apart before a window of m steps. Step j of the window shifts the noise by

    a_j = lambda v / c^(j+1),      lambda = (D + V_m) / W_m,
    V_j = s (c^-1 + ... + c^-j),   W_j = v (c^-2 + ... + c^-2j),

so c^-j z_j = D + V_j - lambda W_j and z_m = 0, at the cost mu^2 = (D + V_m)^2 / W_m. All distances are
nonnegative if (D + V_j)/W_j decreases, that is, if s W_j <= v c^-(j+1) (D + V_j) for every j. This inequality
passes from j to j + 1 if c <= 1, so it always holds; if c > 1, it is enough that it holds for the last j.
"""

from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.formulas.shift_program import v_sum, w_sum
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, T, b, eta, n, s, sensitivity, sigma, t, tau, v, w, x, y

_r, _V, _W, _r_m, _V_m, _W_m, _slope = symbols("r V W r_m V_m W_m lambda", real=True)
_A, A = symbols("A_j A", real=True)
"""A is the sum of the squared shifts, each divided by the variance of its noise."""


def hide_distance(
    kernel: Kernel,
    run: Run,
    carried: Expansion,
    shift: tuple[Expr, Expr],
    step: Callable[[Kernel, Expr, Expr], Span],
    letters: tuple[Symbol, ...],
    laws: tuple[Boolean, ...],
    profile: Callable[[Expr], Profile],
    spent: Expr = S.Zero,
    names: str = "z_j z_next z_m A_j A",
) -> Span:
    """Steps tau, ..., tau + m - 1 that hide z_0 = ``start`` by any shifts, at ``profile``(A_m - A_0).

    ``step`` expands a distance by e_j = ``carried`` and has a ``shift`` a_j >= 0 of cost C_j: z_{j+1} >=
    max(e_j(z_j) - a_j, 0), z_m = 0 and A_{j+1} = A_j + C_j. ``names`` are for z_j, z_{j+1}, z_m, A_j and A_m.
    """
    (begins, start, m), (a, cost) = run, shift
    z, following, z_m, A_j, A_m = symbols(names, real=True)
    steps = StepInduction(
        kernel.under(Ge(start, 0), Ge(spent, 0), Ge(begins, 0)),
        j,
        m,
        (Sequence(z, start, following, z_m), Sequence(A_j, spent, A_j + cost, A_m)),
        keeps=(Ge(z, 0), Ge(A_j, 0)),
        letters=(following, *letters),
        laws=(Ge(following, 0), *laws, Ge(following, carried.at(z) - a)),
        ends=(Eq(z_m, 0),),
    )
    return steps.close(steps.span(begins, z, profile(A_j - spent), step, far=S.Zero))


def hide(
    kernel: Kernel,
    carried: Expansion,
    letters: tuple[Symbol, ...],
    laws: tuple[Boolean, ...],
    run: Run,
    cost: Expr = A,
    order: Order = Order.FIRST,
    revealed: tuple[Variable, ...] = (),
    spent: Expr = S.Zero,
    path: str = "",
) -> Span:
    """mu^2 = ``cost`` - A_0 for steps tau, ..., tau + m - 1 with shifts a_j >= 0 that hide z_0 = ``start``.

    See `hide_distance`; C_j is a_j^2 / v_j for noise of variance v_j. ``path`` is appended to the names of
    the letters.
    """
    a, v_j, A_m = symbols(f"a_j{path} v_j A{path}", real=True)
    names = " ".join(f"{name}{path}" for name in ("z_j", "z_next", "z_m", "A_j", "A"))
    step = each_step(run[0], carried, gaussian_shift(a, v_j), v_j, order=order, revealed=revealed)
    letters, laws = (a, v_j, *letters), (Ge(a, 0), Gt(v_j, 0), *laws)
    made = hide_distance(kernel, run, carried, (a, a**2 / v_j), step, letters, laws, Gauss, spent, names)
    return made if cost == A_m else kernel.specialise(made, {A_m: cost})


def any_steps(losses: Losses) -> tuple[Expansion, tuple[Symbol, ...], tuple[Boolean, ...]]:
    """Arguments of `hide` for a class of losses: step j has size eta_j and replaces k_j of b samples."""
    eta, k = symbols("eta_j k_j", real=True)
    return losses.other_data(eta, b, k), (eta, k), (Ge(eta, 0), Ge(k, 0), Le(k, b))


def known_path(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """mu^2 = A for batches in a known order (`any_steps`); the distance is 0 or D when the shifts begin."""
    return both_orders(kernel, from_step_0(kernel, hide(kernel, *any_steps(losses), (tau, start, m))))


def compose_steps(kernel: Kernel, s: Expr, v: Expr, T: Expr) -> Guarantee:
    """mu^2 = T s^2 / v for T steps, by `hide_each_step`."""
    return both_orders(kernel, hide_each_step(kernel, moved_apart(s), s, v, S.Zero, T))


def hide_each_step(kernel: Kernel, carried: Expansion, s: Expr, v: Expr, tau: Expr, m: Expr) -> Span:
    """mu^2 = m s^2 / v for steps tau, ..., tau + m - 1, each of which creates and hides the distance s."""
    outer = kernel.under(Ge(s, 0), Gt(v, 0))
    steps = StepInduction(outer, j, m, (Sequence(_A, S.Zero, _A + s**2 / v, A, j * s**2 / v),), (Ge(_A, 0),))
    return steps.close(steps.span(tau, S.Zero, Gauss(_A), each_step(tau, carried, gaussian_shift(s, v), v)))


def hide_in_last_step(kernel: Kernel, losses: Losses, v: Expr, T: Expr) -> Guarantee:
    """mu^2 = e(D)^2 / v for full batches: the last step hides e(D), with D the diameter."""
    expansion = losses.other_data(eta, n, S.One)
    reach = expansion.at(D)
    outer = kernel.under(Ge(reach, 0))
    last = outer.step(Order.FIRST, T - 1, (D, S.Zero), expansion, gaussian_shift(reach, v), v)
    return both_orders(outer, from_step_0(outer, last))


def feasible(c: Expr, s: Expr, D: Expr, v: Expr, m: Expr) -> Boolean:
    """v c^-m (D + V_{m-1}) >= s W_{m-1}, the condition on a window of m steps if c > 1."""
    V, W = s * v_sum(c, m), v * w_sum(c, m)
    return Ge(v * c**-m * (D + V - s * c**-m), s * (W - v * c ** (-2 * m)))


def hide_in_window(
    kernel: Kernel, expansion: Expansion, c: Expr, s: Expr, D: Expr, v: Expr, T: Expr, m: Expr
) -> Guarantee:
    """mu^2 = (D + V_m)^2 / W_m for a window of the last m of T steps, 1 <= m <= T; see `hide_straight`."""
    outer = kernel.under(Ge(s, 0), Ge(D, 0), Le(m, T))
    return both_orders(outer, from_step_0(outer, hide_straight(outer, expansion, c, s, D, v, T - m, m)))


def hide_straight(
    kernel: Kernel, expansion: Expansion, c: Expr, s: Expr, D: Expr, v: Expr, tau: Expr, m: Expr
) -> Span:
    """mu^2 = (D + V_m)^2 / W_m for steps tau, ..., tau + m - 1, m >= 1, from the distance D.

    The ``expansion`` takes z to c z + s; v is the variance of the noise. For c > 1 the window is assumed to
    be `feasible`.
    """
    grows = Gt(c, 1) in kernel.given
    outer = kernel.under(Gt(c, 0), Gt(v, 0), Ge(s, 0), Ge(D, 0), Ge(m, 1))
    shares = (s * j, v * j) if c == 1 else (s * v_sum(c, j), v * w_sum(c, j))
    sequences = (
        Sequence(_r, S.One, _r / c, _r_m, c**-j),
        Sequence(_V, S.Zero, _V + s * _r / c, _V_m, shares[0]),
        Sequence(_W, S.Zero, _W + v * (_r / c) ** 2, _W_m, shares[1]),
    )
    test = Ge(v * _r_m * (D + _V_m - s * _r_m), s * (_W_m - v * _r_m**2))
    shifted = outer.under(Eq(_slope * _W_m, D + _V_m), Ge(_slope, 0), Gt(_W_m, 0), *((test,) if grows else ()))
    kept = Ge(v * _r / c * (D + _V), s * _W)
    steps = StepInduction(
        shifted, j, m, sequences, (Gt(_r, 0), Ge(_V, 0), Ge(_W, 0), *(() if grows else (kept,)))
    )
    if grows:
        steps.returns(Ge(v * _r * (D + _V - s * _r), s * (_W - v * _r**2)))
    steps.falls(D + _V, _W)
    step = each_step(tau, expansion, gaussian_shift(_slope * v * _r / c, v), v)
    hidden = steps.span(tau, (D + _V - _slope * _W) / _r, Gauss(_slope**2 * _W), step, far=S.Zero)
    V, W = (share.subs(j, m) for share in shares)
    tested = (feasible(c, s, D, v, m),) if grows else ()
    return outer.under(*tested).specialise(steps.close(hidden), {_slope: (D + V) / W})


i, N = Symbol("i", integer=True, nonnegative=True), Symbol("N", integer=True, positive=True)
costs, chances = Function("A", real=True), Function("w", real=True)
"""The cost of a path for the i-th of N orders, and the probability of this order."""

_orders = Variable("the order of the batches in all epochs", S.Zero)


def known_cyclic(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr, k: Expr) -> Guarantee:
    """mu^2 = A by a path that ends with the last visit of the sample, k steps before the end of the run."""
    earlier = from_step_0(kernel, hide(kernel, *any_steps(losses), (tau, start, m)))
    return both_orders(kernel, kernel.chain(earlier, without_the_sample(kernel, tau + m, k)))


def known_cyclic_from_0(
    kernel: Kernel, losses: Losses, start: Expr, spent: Expr, m: Expr, k: Expr
) -> Guarantee:
    """mu^2 = A like `known_cyclic`, by a longer path, with distance ``start`` and cost ``spent`` at step 0."""
    outer = kernel.under(Ge(spent, 0))
    made = hide(outer, *any_steps(losses), (S.Zero, start, m), spent=spent)
    earlier = outer.weaken(made, near=S.Zero, profile=Gauss(A))
    return both_orders(outer, outer.chain(earlier, without_the_sample(outer, m, k)))


def without_the_sample(kernel: Kernel, step: Expr, k: Expr, order: Order = Order.FIRST) -> Span:
    """k steps with the same map and noise in both runs: equal points stay equal, for all losses."""
    v = Symbol("v_j", real=True)
    steps = StepInduction(kernel, j, k, (), letters=(v,), laws=(Ge(v, 0),))
    return steps.span(step, S.Zero, Equal(), each_step(step, unmoved(step + j), no_shift(), v, order=order))


def _late(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """mu^2 = A for equal steps, by a path on which each visit of the sample is as late as in the run, or later.

    Step j of the run or of the path has k_j or k'_j of the samples that differ. h_j is at least the number of
    visits in the run that are still missing on the path: h_{j+1} >= max(h_j + k_j - k'_j, 0), h_0 = 0 and h_m
    = 0. Then z_j <= y_j + h_j s, with y_j the distance on the path, because no step without the
    sample expands.
    """
    y, y_m, after, h, h_m, next_h = symbols("y_j y_m y_next h_j h_m h_next", real=True)
    a, k, of_path, cost = symbols("a_j k_j k'_j A_j", real=True)
    s, v = sensitivity(b), sigma**2
    carried = losses.other_data(eta, b, k)
    factor = losses.other_data(eta, b, S.Zero).at(S.One)
    outer = kernel.under(Ge(start, 0), Ge(tau, 0))
    path = (Ge(after, 0), Ge(after, factor * y + of_path * s - a), Ge(a, 0))
    ahead = (Ge(next_h, 0), Ge(next_h, h + k - of_path), Ge(k, 0), Le(k, b))
    steps = StepInduction(
        outer,
        j,
        m,
        (
            Sequence(y, start, after, y_m),
            Sequence(h, S.Zero, next_h, h_m),
            Sequence(cost, S.Zero, cost + a**2 / v, A),
        ),
        keeps=(Ge(y, 0), Ge(h, 0), Ge(cost, 0)),
        letters=(after, next_h, a, k, of_path),
        laws=(*path, *ahead),
        ends=(Eq(y_m, 0), Eq(h_m, 0)),
    )
    step = each_step(tau, carried, gaussian_shift(a, v), v, revealed=(_orders,))
    known = from_step_0(outer, steps.close(steps.span(tau, y + h * s, Gauss(cost), step, far=S.Zero)))
    return both_orders(outer, outer.mean(_orders, ((S.One, known),)))


def _shuffled(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """The mean over N orders of all batches; order i has probability w_i and a path of cost A_i."""
    hidden = from_step_0(kernel, hide(kernel, *any_steps(losses), (tau, start, m), revealed=(_orders,)))
    known = kernel.specialise(hidden, {A: costs(i)})
    return both_orders(kernel, kernel.mean(_orders, ((S.One, known),), over=(i, N, chances(i))))


def _full_batches(losses: str, factor: Expr, kernel: Kernel) -> Guarantee:
    """One of n samples is replaced, z goes to at most c z + s, and the last w of tau + w steps are shifted."""
    outer, values = kernel.under(Eq(s, sensitivity())), {s: sensitivity(), v: sigma**2}
    made = hide_in_window(outer, LOSSES[losses].affine(factor), factor, s, D, v, tau + w, w)
    return Guarantee(kernel.specialise(made.first, values), kernel.specialise(made.second, values))


TABLE: Final[dict[str, Derivation]] = {
    **by_losses("known_batches", known_path, UNTRACKED),
    "full_batch/composition": lambda kernel: compose_steps(kernel, sensitivity(), sigma**2, T),
    **{f"full_batch/{losses}": partial(_full_batches, losses, factor) for losses, factor in AFFINE.items()},
    **by_losses("cyclic", known_cyclic, {"from the domain": (tau, D, w, t)}),
    **by_losses("cyclic", known_cyclic_from_0, {"from 0": (x, y, w, t)}),
    **by_losses("last_step", hide_in_last_step, {"": (sigma**2, T)}),
    **by_losses("shuffled", _shuffled, UNTRACKED),
    **by_losses("late", _late, UNTRACKED, ("convex", "strongly convex")),
}
