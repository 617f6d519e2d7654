"""Random batches with a hidden coin: composition of steps, and windows in which each step splits its noise.

In a window the coin takes the part u_j of the variance v_j of step j, at a cost p_j of squared distance over variance;
a shift a_j takes the rest at the cost C_j. Both runs follow one map with one coin, so that a distance grows as it does
for one data set: z_{j+1} is at least e_j(z_j) - a_j and 0.
"""

from sympy import Eq, Expr, Function, Ge, Gt, Le, S, Symbol, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.derivations.losses import Losses
from lastiterate.symbolic.derivations.parts import both_orders, from_equal_points, from_step_0
from lastiterate.symbolic.derivations.tracked import tracked, tracked_blocks
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.composition import compose
from lastiterate.symbolic.kernel.induction import Induction, Sequence
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis, Span, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Coin,
    Expansion,
    Guide,
    gaussian_shift,
    no_shift,
    poisson_coin,
    supposing,
    swap_coin,
)
from lastiterate.symbolic.kernel.profiles import Gauss, Mean, Order, Power, Profile, Steps
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, Delta, K, b, eta, rho, w

i, k, ell, _j = (Symbol(name, integer=True, nonnegative=True) for name in "iklj")
_z_j, _z_m, _next, _a, _u, _v = symbols("z_j z_m z_next a_j u_j v_j", real=True)
_eta, _low, _high = symbols("eta_j low_j high_j", real=True)
_A, A = symbols("A_j A", real=True)
C, p, r = (Function(name, real=True) for name in ("C", "p", "r"))
"""Of step i: C the cost of its shift, p that of its coin, r the chance of another size of its batch. A sums C."""

ALL = Variable("the batches of all steps without the sample that differs", S.Zero)
P = Function("P", real=True)
"""Of step i the cost of its coin where no shift takes a part of the noise."""

_drawn_letters = symbols("P_j P_next P_w k_j", real=True)
_drawn = set(_drawn_letters)
_sized = Hypothesis("a batch has, beside the sample that differs, so many samples", _drawn_letters[-1:])
"""Of the batches of a block: products of contractions, and the size of a batch."""


def swap_composition(kernel: Kernel, q: Expr, s: Expr, v: Expr, T: Expr) -> Guarantee:
    """T steps with batches without replacement, one sample replaced: q = b/n, and s = 2 eta K/b moves a mean."""
    return both_orders(kernel, coins(kernel.under(Gt(v, 0)), Order.FIRST, swap_coin(q, s, v), v, T))


def poisson_composition(kernel: Kernel, q: Expr, s: Expr, v: Expr, T: Expr) -> Guarantee:
    """T steps with Poisson batches at rate q, one sample added or removed: s = eta K/b moves a mean."""
    first, second = (coins(kernel, order, poisson_coin(q, s, v, order), v, T) for order in Order)
    return Guarantee(first, second)


def swap_window(kernel: Kernel, losses: Losses, q: Expr, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """Steps with batches without replacement, each at the price of its coin and of its shift; q = b/n."""
    coin = swap_coin(q, update.sensitivity(_eta, K, b), _u, p(_j))
    before = losses.in_any_batch(_eta, b) if start == Delta else None
    same = losses.same_data(_eta, _eta)
    return both_orders(kernel, window(kernel, Order.FIRST, coin, same, (tau, start, m), before=before))


def last_swap_step(kernel: Kernel, losses: Losses, q: Expr, share: Expr, v: Expr, T: Expr) -> Guarantee:
    """The last step, without replacement: the coin takes a share of the noise v, and a shift of e(D) takes the rest."""
    carried = losses.same_data(eta, eta)
    reach, batch = carried.at(D), Variable("the batch without the sample that differs", T - 1)
    coin, shift = swap_coin(q, update.sensitivity(eta, K, b), share * v), gaussian_shift(reach, (1 - share) * v)
    given = kernel.step(Order.FIRST, T - 1, (D, S.Zero), carried, shift, v, coin, (batch,))
    return both_orders(kernel, from_step_0(kernel, kernel.mean(batch, ((S.One, given),), S.Zero)))


def poisson_window(kernel: Kernel, losses: Losses, q: Expr, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """Steps with Poisson batches at rate q, each at the price of its coin, its shift and an unlikely size of its batch.

    Batch j has between low_j and high_j samples beside the one that differs, but with the chance r_j; its step is that
    many b-ths of eta_j long.
    """
    sizes = Hypothesis("a batch has, beside the sample that differs, so many to so many samples", (_low, _high))
    carried = losses.same_data(_eta * _low / b, _eta * _high / b)
    sized = supposing(carried, sizes)

    def side(order: Order) -> Span:
        coin = poisson_coin(q, update.moved(_eta, K, b), _u, order, p(_j))
        return window(kernel, order, coin, sized, (tau, start, m), (sizes,), (Ge(_low, 0), Le(_low, _high)))

    return Guarantee(side(Order.FIRST), side(Order.SECOND))


def sized_window(
    kernel: Kernel,
    losses: Losses,
    order: Order,
    q: Expr,
    run: tuple[Expr, Expr, Expr],
    batches: Variable,
    price: Expr | None = None,
) -> tuple[Span, frozenset[Hypothesis]]:
    """A window as in `poisson_window` where all sizes are as supposed, and that event; ``price`` is p_j unless said."""
    sizes = Hypothesis("a batch has, beside the sample that differs, so many to so many samples", (_low, _high))
    carried = losses.same_data(_eta * _low / b, _eta * _high / b)
    sized = supposing(carried, sizes)
    coin = poisson_coin(q, update.moved(_eta, K, b), _u, order, p(_j) if price is None else price)
    laws = (Ge(_low, 0), Le(_low, _high))
    before = losses.one_more(_eta * _low / b, _eta * _high / b, update.moved(_eta, K, b)) if run[1] == Delta else None
    supposed = None if before is None else supposing(before, sizes)
    inside = window(kernel, order, coin, sized, run, laws=laws, batch=batches, before=supposed)
    return inside, frozenset(one for one in inside.hypotheses if sizes.says in one.says)


def poisson_sizes(kernel: Kernel, losses: Losses, q: Expr, tau: Expr, start: Expr, m: Expr) -> Guarantee:
    """Poisson batches at rate q: as `poisson_window` where all sizes are as supposed, a composition where they are not.

    With the chance rho some batch has another size; a composition of all steps holds for every size.
    """
    run = tau, start, m
    return Guarantee(*(_with_fallback(kernel, q, *sized_window(kernel, losses, one, q, run, ALL)) for one in Order))


def contracting_blocks(
    kernel: Kernel, losses: Losses, order: Order, q: Expr, run: tuple[Expr, Expr, Expr], batches: Variable
) -> tuple[Span, frozenset[Hypothesis]]:
    """Blocks of w steps of which each contracts, see `poisson_blocks`, and that event; a run counts its blocks."""
    inside = _blocks(kernel, losses, order, run, q, batches)

    def drawn(one: Hypothesis) -> bool:
        return _sized.says in one.says or bool(_drawn & set().union(*(part.free_symbols for part in one.constants)))

    return inside, frozenset(filter(drawn, inside.hypotheses))


def poisson_blocks(kernel: Kernel, losses: Losses, q: Expr, tau: Expr, start: Expr, blocks: Expr) -> Guarantee:
    """Poisson batches at rate q and blocks of w steps of which each contracts, a composition where one does not.

    A block has batches of k_j samples beside the one that differs, which contract by factors whose products P_j from
    its beginning never rise and end at C_l at most. Y_l is the distance there, and y_j at least Y_l less the shifts, so
    P_j y_j stays above the distance; Y_{l+1} is at least C_l y_w. With the chance rho some block contracts less.
    """
    run = tau, start, blocks
    return Guarantee(
        *(_with_fallback(kernel, q, *contracting_blocks(kernel, losses, one, q, run, ALL)) for one in Order)
    )


def _blocks(
    kernel: Kernel, losses: Losses, order: Order, run: tuple[Expr, Expr, Expr], q: Expr, batches: Variable
) -> Span:
    tau, start, blocks = run
    product, product_next, product_w, number = _drawn_letters
    rest, following, left, contraction, spent = symbols("y_j y_next y_w C_l A_next", real=True)
    distance, distance_next, distance_m, cost = symbols("Y_l Y_next Y_m A_l", real=True)
    carried = losses.same_data(_eta * number / b, _eta * number / b)
    sized = supposing(carried, _sized)
    coin = poisson_coin(q, update.moved(_eta, K, b), _u, order, p(ell, _j))
    shift = gaussian_shift(_a, _v - _u, C(ell, _j))
    prices = (*coin.conditions, *shift.conditions, Ge(_eta, 0), Ge(number, 0))
    outer = kernel.under(Ge(start, 0), Ge(tau, 0))

    def block(inner: Kernel, near: Expr, far: Expr) -> Span:
        begins = tau + ell * w
        steps = Induction(
            inner,
            _j,
            w,
            (
                Sequence(product, S.One, product_next, product_w),
                Sequence(rest, near, following, left),
                Sequence(_A, cost, _A + C(ell, _j), spent),
            ),
            keeps=(Ge(product, 0), Le(product, 1), Ge(rest, 0), Ge(_A, cost)),
            letters=(product_next, following, _a, _u, _v, _eta, number),
            laws=(
                *prices,
                Ge(product_next, carried.at(product)),
                Ge(product_next, 0),
                Le(product_next, product),
                Ge(following, rest - _a),
                Ge(following, 0),
            ),
            ends=(Le(product_w, contraction), Ge(far, contraction * left)),
        )

        def step(within: Kernel, before: Expr, after: Expr) -> Span:
            return within.step(order, begins + _j, (before, after), sized, shift, _v, coin, (batches,))

        price = compose(_each(coin.profile), Gauss(_A - cost))
        return steps.close(steps.span(begins, product * rest, price, step, far=far))

    over = Induction(
        outer,
        ell,
        blocks,
        (Sequence(distance, start, distance_next, distance_m), Sequence(cost, S.Zero, spent, A)),
        keeps=(Ge(distance, 0), Ge(cost, 0)),
        letters=(distance_next, spent, left, contraction, product_w),
        laws=(Ge(distance_next, 0), Ge(spent, cost), Ge(left, 0), Ge(contraction, 0)),
        ends=(Eq(distance_m, 0),),
    )
    each = Steps(_each(coin.profile).subs({_j: w, ell: k}), k, ell, coin.profile.order)
    price = compose(each, Gauss(cost))
    hidden = over.close(over.span(tau, distance, price, block, far=S.Zero, length=w))
    if start != Delta:
        return from_step_0(outer, hidden)
    return tracked_blocks(outer, losses, hidden, _sized, number)


def _with_fallback(kernel: Kernel, q: Expr, inside: Span, event: frozenset[Hypothesis]) -> Span:
    """The mean over all batches: ``inside`` on an event, elsewhere a composition."""
    whole = kernel.under(Le(rho, 1))
    coin = poisson_coin(q, update.moved(_eta, K, b), _v, inside.order, P(_j))
    composed = coins(whole, inside.order, coin, _v, inside.end, ALL)
    return whole.mean(ALL, ((1 - rho, inside), (rho, composed)), events=(event, frozenset()))


def coins(
    kernel: Kernel, order: Order, coin: Coin, v: Expr, m: Expr, batches: Variable | None = None, start: Expr = S.Zero
) -> Span:
    """m steps, each at the price of its coin: of one size and noise, or of any where ``batches`` are those of all."""
    letters, laws = ((_eta, _v), (*coin.conditions, Ge(_eta, 0))) if _v == v else ((), ())
    steps = Induction(kernel, _j, m, (), letters=letters, laws=laws)
    revealed = (batches,) if batches else ()

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return inner.step(order, start + _j, (near, far), from_equal_points(Guide.OWN), no_shift(), v, coin, revealed)

    cost = _each(coin.profile) if letters else Power(coin.profile, _j, coin.profile.order)
    return steps.span(start, S.Zero, cost, step)


def window(
    kernel: Kernel,
    order: Order,
    coin: Coin,
    carried: Expansion,
    run: tuple[Expr, Expr, Expr],
    sizes: tuple[Hypothesis, ...] = (),
    laws: tuple[Boolean, ...] = (),
    batch: Variable | None = None,
    before: Expansion | None = None,
) -> Span:
    """Steps tau, ..., tau + m - 1 from the distance ``start``, 0 or the diameter of the domain, to none.

    With ``before``, the expansion of two data sets, the distance is one that is tracked until then at no price. A
    ``batch`` for all steps is left revealed; else every step has its own, which is averaged over.
    """
    tau, start, m = run
    outer = kernel.under(Ge(start, 0), Ge(tau, 0))
    shift = gaussian_shift(_a, _v - _u, C(_j))
    prices = (*coin.conditions, *shift.conditions, Ge(_eta, 0))
    chance = (Ge(r(_j), 0), Le(r(_j), 1)) if sizes else ()
    steps = Induction(
        outer,
        _j,
        m,
        (Sequence(_z_j, start, _next, _z_m), Sequence(_A, S.Zero, _A + C(_j), A)),
        keeps=(Ge(_z_j, 0), Ge(_A, 0)),
        letters=(_next, _a, _u, _v, _eta, *((_low, _high) if laws else ())),
        laws=(Ge(_next, 0), *prices, *chance, *laws, Ge(_next, carried.at(_z_j) - _a)),
        ends=(Eq(_z_m, 0),),
    )

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        own = batch or Variable("the batch without the sample that differs", tau + _j)
        made = inner.step(order, tau + _j, (near, far), carried, shift, _v, coin, (own,))
        if batch:
            return made
        cases = ((1 - r(_j) if sizes else S.One, made),)
        return inner.mean(own, cases, r(_j) if sizes else S.Zero, (frozenset(sizes),) if sizes else ())

    if sizes:
        inside = compose(coin.profile, shift.profile)
        cost: Profile = _each(Mean(((1 - r(_j), inside),), r(_j), inside.order))
    else:
        cost = compose(_each(coin.profile), Gauss(_A))
    hidden = steps.close(steps.span(tau, _z_j, cost, step, far=S.Zero))
    if before is None:
        return from_step_0(outer, hidden)
    return tracked(outer, hidden, before, (_low, _high) if batch else (), *laws)


def _each(cost: Profile) -> Steps:
    """The steps before j, at the cost of step j put for each."""
    return Steps(cost.subs({_j: i}), i, _j, cost.order)
