"""Random batches with a hidden coin: composition of steps, and windows in which each step splits its noise.

In step j of a window, the coin uses the part u_j of the noise variance v_j at the cost mu^2 = p_j, and a
shift a_j uses the rest at the cost C_j. Both runs follow the same map with the same coin, so a distance
expands as for one data set: z_{j+1} is at least max(e_j(z_j) - a_j, 0).

Before the first shift a distance can be tracked at no cost. Then the coins are revealed and averaged over, so
both runs use the same batch, and a distance expands as for two data sets.
"""

from lastiterate.symbolic.derivations.known_batches import hide_distance
from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, Delta, K, T, b, beta, ell, eta, q, rho, sigma, sigma_A, t, tau, w

Inside = Callable[[Kernel, Losses, Order, Run, Variable], Span]
"""A function that returns steps that hide a distance if all batches are as assumed."""

i, k, _l, _h = (Symbol(name, integer=True, nonnegative=True) for name in "iklh")
_a, _u, _v = symbols("a_j u_j v_j", real=True)
_eta, _low, _high, _k = symbols("eta_j low_j high_j k_j", real=True)
_A, A = symbols("A_j A", real=True)
C, p, r, P = (Function(name, real=True) for name in ("C", "p", "r", "P"))
"""In step i, C is the cost of the shift, p and P are the costs of the coin with and without a shift, and r is
the probability of another batch size. A is the sum of C over the steps.
"""

lengths, costs = Function("w", integer=True, positive=True), Function("A", real=True)
chances, N = Function("probability", nonnegative=True), Symbol("N", integer=True, positive=True)
"""For the k-th of N ranges: the number of steps in the window, the cost of the shifts, and the probability."""

N_0, T_0 = (Symbol(name, integer=True, nonnegative=True) for name in ("N_0", "T_0"))
"""The numbers of tracked blocks and of steps before stretches."""

_ALL = Variable("the batches of all steps without the sample that differs", S.Zero)
_SIZES = Hypothesis(
    "a batch has at least k and at most l samples besides the one that differs; (k, l) is", (_low, _high)
)
_SIZE = Hypothesis("a batch has k samples besides the one that differs; (k) is", (_k,))
_product, _product_next, _product_w = _products = symbols("P_j P_next P_w", real=True)
"""Products of the contraction factors in a block."""


def _tracked(
    kernel: Kernel, later: Span, carried: Expansion, letters: tuple[Symbol, ...], *laws: Boolean
) -> Span:
    """Prepend tracked steps, t from the domain or all from 0, to ``later``: x_{j+1} >= max(e_j(x_j), 0)."""
    x, following, x_m = symbols("x_j x_next x_m", real=True)
    begins, count = (later.start - t, t) if later.start.has(t) else (S.Zero, later.start)
    steps = StepInduction(
        kernel,
        j,
        count,
        (Sequence(x, D if later.start.has(t) else S.Zero, following, x_m),),
        keeps=(Ge(x, 0),),
        letters=(following, _eta, _v, *letters),
        laws=(Ge(following, 0), Ge(_eta, 0), Ge(_v, 0), *laws, Ge(following, carried.at(x))),
        ends=(Le(x_m, later.near),),
    )

    step = _one_batch(later, begins, carried)
    before = steps.close(steps.span(begins, x, Equal(), step, far=later.near))
    return from_step_0(kernel, kernel.chain(before, later))


def _tracked_blocks(kernel: Kernel, losses: Losses, later: Span) -> Span:
    """Prepend N_0 tracked blocks of w steps to ``later``, from 0 or the domain: X_{l+1} >= C_l X_l + w s.

    Within a block the distance is at most P_j X + j s, with P_j the product of the contraction factors.
    """
    s = Symbol("s", nonnegative=True)
    distance, following, last, contraction = symbols("X_l X_next X_m C_l", real=True)
    weight, moved, begins = _eta * _k / b, update.moved(_eta, K, b), later.start - N_0 * w
    carried = supposing(losses.one_more(weight, weight, moved), _SIZE)
    factor = losses.same_data(weight, weight)

    def block(outer: Kernel, near: Expr, far: Expr) -> Span:
        steps = StepInduction(
            outer,
            j,
            w,
            (Sequence(_product, S.One, _product_next, _product_w),),
            keeps=(Ge(_product, 0),),
            letters=(_product_next, _eta, _v, _k),
            laws=(
                *(Ge(one, 0) for one in (_eta, _v, _k, _product_next)),
                *(Ge(s, moved), Le(factor.at(S.One), 1), Ge(_product_next, factor.at(_product))),
            ),
            ends=(Le(_product_w, contraction), Ge(far, contraction * near + w * s)),
        )
        step = _one_batch(later, begins + _l * w, carried)
        return steps.close(steps.span(begins + _l * w, _product * near + j * s, Equal(), step, far=far))

    over = StepInduction(
        kernel,
        _l,
        N_0,
        (Sequence(distance, S.Zero if begins == 0 else D, following, last),),
        keeps=(Ge(distance, 0),),
        letters=(following, contraction, _product_w),
        laws=(Ge(following, 0), Ge(contraction, 0)),
        ends=(Le(last, later.near),),
    )
    before = over.close(over.span(begins, distance, Equal(), block, far=later.near, length=w))
    return from_step_0(kernel, kernel.chain(before, later))


def _one_batch(later: Span, start: Expr, carried: Expansion) -> Callable[[Kernel, Expr, Expr], Span]:
    """Steps of both runs on the same batch, averaged over the batch, or over the coin if ``later`` reveals batches."""
    coin = Variable(
        "the batch" if not later.scope else "whether the batch has the sample that differs", start + j
    )
    others = tuple(later.scope)
    return each_step(start, carried, no_shift(), _v, order=later.order, revealed=others, drawn=coin)


def poisson_sample(order: Order, variance: Expr, cost: Expr) -> Coin:
    """The coin of an additional sample in Poisson batches at rate q; the mean moves by eta_j K/b."""
    return poisson_coin(q, update.moved(_eta, K, b), variance, order, cost)


def replacement_coin(variance: Expr, cost: Expr) -> Coin:
    """The coin of a replaced sample in batches with probability q; the mean moves by 2 eta_j K/b."""
    return swap_coin(q, update.step_sensitivity(_eta, K, b), variance, cost)


def one_more(losses: Losses, k: Expr = S.One) -> Expansion:
    """The maps of two data sets if a batch has low_j to high_j samples besides k_j = 0 or 1 additional samples."""
    return supposing(losses.one_more(_eta * _low / b, _eta * _high / b, k * update.moved(_eta, K, b)), _SIZES)


def swap_composition(kernel: Kernel) -> Guarantee:
    """T steps without replacement, q = b/n, with a replaced sample that moves the mean by 2 eta K/b."""
    v = sigma**2
    coin = swap_coin(q, update.step_sensitivity(eta, K, b), v)
    return both_orders(kernel, coins(kernel.under(Gt(v, 0)), Order.FIRST, coin, v, T))


@each_order
def poisson_composition(kernel: Kernel, order: Order) -> Span:
    """T steps with Poisson batches at rate q; a sample added or removed moves the mean by eta K/b."""
    v = sigma**2
    return coins(kernel, order, poisson_coin(q, update.moved(eta, K, b), v, order), v, T)


def swap_window(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """Steps without replacement, q = b/n, each at the cost of its coin and its shift."""
    before = losses.in_any_batch(_eta, b) if start == Delta else None
    coin, same = replacement_coin(_u, p(j)), losses.same_data(_eta, _eta)
    return both_orders(kernel, split_window(kernel, Order.FIRST, coin, same, (tau, start, m), before=before))


def last_swap_step(losses: Losses, share: Expr, kernel: Kernel) -> Guarantee:
    """The last step, without replacement: the coin uses a share of the noise, and a shift of e(D) uses the rest."""
    carried, v = losses.same_data(eta, eta), sigma**2
    reach, batch = carried.at(D), Variable("the batch without the sample that differs", T - 1)
    coin, shift = (
        swap_coin(q, update.step_sensitivity(eta, K, b), share * v),
        gaussian_shift(reach, (1 - share) * v),
    )
    given = kernel.step(Order.FIRST, T - 1, (D, S.Zero), carried, shift, v, coin, (batch,))
    return both_orders(kernel, from_step_0(kernel, kernel.mean(batch, ((S.One, given),))))


def _sized(losses: Losses) -> Expansion:
    return supposing(losses.same_data(_eta * _low / b, _eta * _high / b), _SIZES)


RANGE = (Ge(_low, 0), Le(_low, _high))


@each_order
def poisson_window(kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr, order: Order) -> Span:
    """Steps with Poisson batches at rate q, at the costs of the coin, the shift and an unlikely batch size.

    Batch j, scaled by b, has low_j to high_j samples besides the differing sample, except with probability
    r_j.
    """
    coin = poisson_sample(order, _u, p(j))
    return split_window(kernel, order, coin, _sized(losses), (tau, start, m), (_SIZES,), RANGE)


def sized_window(
    kernel: Kernel, losses: Losses, order: Order, run: Run, batches: Variable, cost: Expr | None = None
) -> Span:
    """A window like `poisson_window` if all sizes are as assumed; ``cost`` is p_j by default."""
    before = one_more(losses) if run[1] == Delta else None
    coin = poisson_sample(order, _u, p(j) if cost is None else cost)
    return split_window(kernel, order, coin, _sized(losses), run, laws=RANGE, batch=batches, before=before)


def _unless(
    kernel: Kernel, batches: Variable, good: Span, beyond: Span, over: tuple[Symbol, Expr, Expr] | None = None
) -> Span:
    """``good`` if the batches are as assumed, otherwise, with probability rho, ``beyond``."""
    drawn = {*_products, _k}
    event = frozenset(
        one
        for one in good.hypotheses
        if any(size.says in one.says for size in (_SIZE, _SIZES))
        or drawn & set().union(*(part.free_symbols for part in one.constants))
    )
    return kernel.mean(batches, ((1 - rho, good), (rho, beyond)), events=(event, frozenset()), over=over)


@each_order
def poisson_or_composition(
    inside: Inside, kernel: Kernel, losses: Losses, tau: Expr, start: Expr, m: Expr, order: Order
) -> Span:
    """Poisson batches at rate q: ``inside`` if all are as assumed; otherwise, with probability rho, a composition."""
    good, whole = inside(kernel, losses, order, (tau, start, m), _ALL), kernel.under(Le(rho, 1))
    composed = coins(whole, order, poisson_sample(order, _v, P(j)), _v, good.end, _ALL)
    return _unless(whole, _ALL, good, composed)


def contracting_blocks(kernel: Kernel, losses: Losses, order: Order, run: Run, batches: Variable) -> Span:
    """Contracting blocks of w steps; ``run`` has the number of blocks in place of the number of steps.

    A batch of k_j samples contracts by a factor. In block l the products P_j of these factors never increase,
    and P_w <= C_l. The distance is at most P_j y_j, with y_0 = Y_l, y_{j+1} >= y_j - a_j and Y_{l+1} >= C_l
    y_w.
    """
    tau, start, blocks = run
    rest, following, left, contraction, spent = symbols("y_j y_next y_w C_l A_next", real=True)
    distance, distance_next, distance_m, cost = symbols("Y_l Y_next Y_m A_l", real=True)
    carried = supposing(losses.same_data(_eta * _k / b, _eta * _k / b), _SIZE)
    coin, shift = poisson_sample(order, _u, p(_l, j)), gaussian_shift(_a, _v - _u, C(_l, j))
    outer = kernel.under(Ge(start, 0), Ge(tau, 0))

    def block(inner: Kernel, near: Expr, far: Expr) -> Span:
        begins = tau + _l * w
        steps = StepInduction(
            inner,
            j,
            w,
            (
                Sequence(_product, S.One, _product_next, _product_w),
                Sequence(rest, near, following, left),
                Sequence(_A, cost, _A + C(_l, j), spent),
            ),
            keeps=(Ge(_product, 0), Le(_product, 1), Ge(rest, 0), Ge(_A, cost)),
            letters=(_product_next, following, _a, _u, _v, _eta, _k),
            laws=(
                *(*coin.conditions, *shift.conditions, Ge(_eta, 0), Ge(_k, 0)),
                *(Ge(_product_next, carried.at(_product)), Ge(_product_next, 0), Le(_product_next, _product)),
                *(Ge(following, rest - _a), Ge(following, 0)),
            ),
            ends=(Le(_product_w, contraction), Ge(far, contraction * left)),
        )
        step = each_step(begins, carried, shift, _v, coin, order=order, revealed=(batches,))
        price = compose(_each(coin.profile), Gauss(_A - cost))
        return steps.close(steps.span(begins, _product * rest, price, step, far=far))

    over = StepInduction(
        outer,
        _l,
        blocks,
        (Sequence(distance, start, distance_next, distance_m), Sequence(cost, S.Zero, spent, A)),
        keeps=(Ge(distance, 0), Ge(cost, 0)),
        letters=(distance_next, spent, left, contraction, _product_w),
        laws=(Ge(distance_next, 0), Ge(spent, cost), Ge(left, 0), Ge(contraction, 0)),
        ends=(Eq(distance_m, 0),),
    )
    each = Steps(_each(coin.profile).subs({j: w, _l: k}), k, _l)
    hidden = over.close(over.span(tau, distance, compose(each, Gauss(cost)), block, far=S.Zero, length=w))
    return _tracked_blocks(outer, losses, hidden) if start == Delta else from_step_0(outer, hidden)


def coins(
    kernel: Kernel,
    order: Order,
    coin: Coin,
    v: Expr,
    m: Expr,
    batches: Variable | None = None,
    start: Expr = S.Zero,
) -> Span:
    """m steps at the cost of their coins; sizes and noise are equal unless ``v`` is a letter of step j."""
    letters, laws = ((_eta, _v), (*coin.conditions, Ge(_eta, 0))) if _v == v else ((), ())
    steps = StepInduction(kernel, j, m, (), letters=letters, laws=laws)
    revealed = (batches,) if batches else ()
    step = each_step(start, from_equal_points(Guide.OWN), no_shift(), v, coin, order=order, revealed=revealed)
    cost = _each(coin.profile) if letters else Power(coin.profile, j)
    return steps.span(start, S.Zero, cost, step)


def split_window(
    kernel: Kernel,
    order: Order,
    coin: Coin,
    carried: Expansion,
    run: Run,
    sizes: tuple[Hypothesis, ...] = (),
    laws: tuple[Boolean, ...] = (),
    batch: Variable | None = None,
    before: Expansion | None = None,
) -> Span:
    """Steps tau, ..., tau + m - 1 from the distance ``start`` (0 or the diameter) to the distance 0.

    With ``before``, the expansion for two data sets, ``start`` is a tracked distance. A ``batch`` variable
    for all steps stays revealed; without it each step averages over its own batch.
    """
    shift, unlikely = gaussian_shift(_a, _v - _u, C(j)), r(j) if sizes else S.Zero
    supposed = (*coin.conditions, *shift.conditions, Ge(_eta, 0), Ge(unlikely, 0), Le(unlikely, 1), *laws)
    letters = (_a, _u, _v, _eta, *((_low, _high) if laws else ()))

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        own = batch or Variable("the batch without the sample that differs", run[0] + j)
        made = inner.step(order, run[0] + j, (near, far), carried, shift, _v, coin, (own,))
        events = (frozenset(sizes),) if sizes else ()
        return made if batch else inner.mean(own, ((1 - unlikely, made),), unlikely, events)

    def price(spent: Expr) -> Profile:
        if not sizes:
            return compose(_each(coin.profile), Gauss(spent))
        inside = compose(coin.profile, shift.profile)
        return _each(MeanProfile(((1 - unlikely, inside),), unlikely))

    hidden = hide_distance(kernel, run, carried, (_a, C(j)), step, letters, supposed, price)
    outer = kernel.under(Ge(run[1], 0), Ge(run[0], 0))
    if before is None:
        return from_step_0(outer, hidden)
    return _tracked(outer, hidden, before, (_low, _high) if batch else (), *laws)


def _each(cost: Profile) -> Steps:
    return Steps(cost.subs({j: i}), i, j)


@each_order
def poisson_ranges(kernel: Kernel, losses: Losses, order: Order) -> Span:
    """Poisson batches at rate q: a window of w_k steps for the k-th of N ranges of sizes, or a composition."""
    begins = T - lengths(k)
    outer = kernel.under(Ge(begins, 0))
    found = sized_window(outer, losses, order, (begins, D, lengths(k)), _ALL, p(k, j))
    inside = outer.specialise(found, {A: costs(k)})
    whole = coins(kernel, order, poisson_sample(order, _v, P(j)), _v, T, _ALL)
    return _unless(kernel.under(Le(rho, 1)), _ALL, inside, whole, over=(k, N, chances(k)))


def stretches(inside: Profile, step: Profile, length: Expr, count: Expr) -> Recurring:
    """The profile of ``count`` stretches: ``inside`` if the batches are as assumed, otherwise a composition."""
    return Recurring(rho, inside, Power(step, length), Power(step, T_0), count)


@each_order
def poisson_stretches(
    kernel: Kernel, losses: Losses, inside: Inside, count: Expr, length: Expr, order: Order
) -> Span:
    """Poisson batches in long runs: the last stretch whose batches are as assumed hides all earlier steps.

    N stretches of ``length`` steps (``count`` steps or blocks) follow T_0 steps. With probability rho a
    stretch does not hide the diameter and costs a composition after the preceding run.
    """
    v, outer = sigma**2, kernel.under(Gt(rho, 0), Le(rho, 1))
    coin = poisson_coin(q, update.moved(eta, K, b), v, order)
    first = inside(outer, losses, order, (T_0, D, count), Variable("the batches of a stretch", T_0))

    def extend(inner: Kernel, before: Span) -> Span:
        start = T_0 + length * _h
        batches = Variable("the batches of a stretch without the sample that differs", start)
        good = inside(inner, losses, order, (start, D, count), batches)
        return _unless(
            inner, batches, good, inner.chain(before, coins(inner, order, coin, v, length, batches, start))
        )

    begin = coins(outer, order, coin, v, T_0)
    profile = stretches(first.profile, coin.profile, length, _h)
    return StepInduction(outer, _h, N, ()).recur(begin, profile, extend, length)


def projected(
    rate: Expr, moved: Expr, laws: tuple[Boolean, ...], kernel: Kernel, *, hidden: bool = False
) -> Guarantee:
    """T steps whose gradients are projected at random before noise is added, at the cost of their outcomes.

    A sample is in a batch with probability ``rate`` and moves the sum by ``moved``, which can contain k_j
    under ``laws``. The sample is replaced and its coin is revealed, or additional and its coin is ``hidden``.
    """

    def side(order: Order) -> Span:
        coin = projected_sample(rate, moved, sigma_A, _v, ell, p(j), order if hidden else None)
        steps = StepInduction(kernel, j, T, (), letters=(_v, _k), laws=(*coin.conditions, *laws))
        return steps.span(S.Zero, S.Zero, _each(coin.profile), lambda inner, *_: observe(inner, order, j, coin))

    return each_order(side)() if hidden else both_orders(kernel, side(Order.FIRST))


_STRONG: Final = LOSSES["strongly convex"]
BLOCKS: Final = {
    "from 0": (S.Zero, S.Zero, T),
    "from the domain": (tau, D, T),
    "tracked from 0": (N_0 * w, Delta, T),
    "tracked from the domain": (tau + N_0 * w, Delta, T),
}

TABLE: Final[dict[str, Derivation]] = {
    **by_losses("without_replacement", swap_window, PARTS),
    "without_replacement/composition": swap_composition,
    **{
        f"without_replacement/last step, {losses}": partial(last_swap_step, LOSSES[losses], beta)
        for losses in (*GROWING, "Hoelder")
    },
    **by_losses("poisson", poisson_window, UNTRACKED),
    "poisson/composition": poisson_composition,
    **by_losses("poisson_sizes", partial(poisson_or_composition, sized_window), PARTS),
    **by_losses("poisson_ranges", poisson_ranges, {"": ()}, GROWING),
    **by_losses(
        "poisson_blocks", partial(poisson_or_composition, contracting_blocks), BLOCKS, ("strongly convex",)
    ),
    **by_losses("poisson_stretches", poisson_stretches, {"": (sized_window, w, w)}, GROWING),
    "poisson_stretches/blocks": lambda kernel: poisson_stretches(kernel, _STRONG, contracting_blocks, T, T * w),
    "projections/known_batches": partial(projected, S.One, 2 * _k / b, (Ge(_k, 0), Le(_k, 1))),
    "projections/revealed_coin": partial(projected, q, 2 / b, ()),
    "projections/hidden_coin": partial(projected, q, 1 / b, (), hidden=True),
}
