"""Contraction by blocks: on a bounded domain a block of steps costs little on the common part of both laws.

T_0 steps and then N blocks of w steps have any step sizes and noise. The near cost of a block is its cost
from two equal points, and the far cost is its cost from any two points of the domain. The bound before the
first block is the cost of T_0 steps from equal points, or 1, which also holds for longer runs.
"""

from lastiterate.symbolic.derivations import known_batches as paths
from lastiterate.symbolic.derivations import random_batches as batches
from lastiterate.symbolic.derivations.known_batches import any_steps, hide, without_the_sample
from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.derivations.random_batches import P, coins, p
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, b, s, sensitivity, sigma, t, v, w

ell, i, k = (Symbol(name, integer=True, nonnegative=True) for name in "lik")
N, T_0 = (Symbol(name, integer=True, nonnegative=True) for name in ("N", "T_0"))
"""The numbers of blocks and of steps before the blocks."""

M = Symbol("M", integer=True, positive=True)
near, far, chance = (Function(name, real=True) for name in ("A_near", "A_far", "probability"))
"""For the i-th of M choices of the batches: mu^2 of a path in block l, from equal points and from the diameter,
and the probability of the choice.
"""

nears, fars = (
    tuple(Function(f"A_{kind}{mark}", real=True) for mark in ("", "'", "''")) for kind in ("near", "far")
)
"""The same for the pairs of runs of a hidden place: runs 1 and 2, and the first law or the second and a third run."""

ONE_RUN: Final = "before the epoch these two are one run"


def with_a_third_run() -> tuple[str, ...]:
    """The hypotheses on profiles of a hidden place, in the words of a check."""
    same = str(Hypothesis(ONE_RUN, (S.Zero, T_0, S.Zero, S.Zero), bounds=(Equal(),)))
    own = suppositions("X")
    return (
        *own,
        *(f"with the third run in place of run {run}, {one}" for run in (1, 2) for one in (*own, same)),
    )


A_0 = Symbol("A_0", real=True)
"""The cost of the steps before the first block."""

BEGINS = FROM_0, ABOVE = ("from 0", "from above")
"""The states before the first block: two equal points, or any two points."""

z = Symbol("z", nonnegative=True)
nodes = Function("y", positive=True)
SUPPOSED = {
    "X": "X bounds what was before the blocks",
    "N": "from points that are near, at first equal ones, a block costs N",
    "F": "from any two points of the domain a block costs F",
}
"""Hypotheses on profiles."""


def _where(start: Expr, z: Expr) -> dict[str, tuple[Expr, Expr, Expr, Expr]]:
    """The steps of each hypothesis, and the distances before and after them."""
    block = start, start + w
    return {"X": (S.Zero, T_0, S.Zero, z), "N": (*block, z, S.Zero), "F": (*block, D, S.Zero)}


def suppositions(letters: str, z: Expr = S.Zero, *, at_every_block: bool = False) -> tuple[str, ...]:
    """Hypotheses on profiles, in the words of a check; N and F are for one block or for all blocks."""
    start = T_0 + w * ell if at_every_block else T_0
    often, count = ((ell,), (N,)) if at_every_block else ((), ())
    made = []
    for letter in letters:
        every, constants = ((), ()) if letter == "X" else (often, count)
        where = (*constants, *_where(start, z)[letter])
        made.append(str(Hypothesis(SUPPOSED[letter], where, bounds=(Letter(letter),), every=every)))
    return tuple(made)


_eta, _v, _low, _high, _k = symbols("eta_j v_j low_j high_j k_j", real=True)

Block = Callable[[Kernel, Expr], tuple[Span, Span]]
"""A function from the first step of a block to the near and far judgements about the block."""


def _contracted(
    kernel: Kernel,
    begin: Span,
    profile: Callable[[Profile, Profile], Profile],
    block: Block,
    revealed: tuple[Variable, ...] = (),
) -> Span:
    """Contract every block; ``profile`` maps the near and far costs of block k to the conclusion."""
    start = begin.end + w * ell

    def extend(inner: Kernel, before: Span) -> Span:
        return contract(inner, before, *block(inner, start), D)

    inside = kernel.under(Ge(ell, 0), Le(ell, N - 1))
    costs = (one.profile.subs({ell: k}) for one in block(inside, start))
    return StepInduction(kernel, ell, N, ()).recur(
        begin, profile(*costs), extend, w, begin.far, revealed=frozenset(revealed)
    )


def chain_of_blocks(kernel: Kernel, begin: Span, block: Block, revealed: tuple[Variable, ...] = ()) -> Span:
    """Y_N for any profiles Y_0, Y_1, ..., each at least the contraction of the previous one."""

    def chain(one: Profile, other: Profile) -> Profile:
        return BlockChain(begin.profile, one, other, k, ell)

    return _contracted(kernel, begin, chain, block, revealed)


def _supposed(kernel: Kernel, order: Order, start: Expr, z: Expr = S.Zero) -> tuple[Span, Span, Span]:
    said = ((at[:2], at[2:], Letter(letter), SUPPOSED[letter]) for letter, at in _where(start, z).items())
    before, near, far = (kernel.suppose(order, *one) for one in said)
    return before, near, far


@each_order
def _one_block(kernel: Kernel, order: Order) -> Span:
    """One block: X bounds the steps before the block, N the block from points z apart, and F from any two points."""
    return contract(kernel, *_supposed(kernel, order, T_0, z), D)


@each_order
def _lattice(kernel: Kernel, order: Order) -> Span:
    """A block with tables: chords through any nodes replace the three profiles and the bound after the block."""

    def put_on(span: Span, index: int) -> Span:
        return kernel.weaken(span, profile=Chords(span.profile, nodes(index, k), k, M))

    one, two, three = (put_on(span, place) for place, span in enumerate(_supposed(kernel, order, T_0)))
    return put_on(contract(kernel, one, two, three, D), 3)


def _mean(kernel: Kernel, start: Expr, span: Callable[[tuple[Variable]], Span]) -> Span:
    drawn = Variable("which samples the batches of the block have", start)
    return kernel.mean(drawn, ((S.One, span((drawn,))),), over=(i, M, chance(i)))


@each_order
def _hidden_place(kernel: Kernel, losses: Losses, order: Order) -> Span:
    """An epoch of N blocks after T_0 steps at X, both runs with the sample in batch number i, which stays hidden.

    Given the batches with the sample in one place, the pivot, and one sample of every batch, place number i is
    made by exchanging the sample with that of batch i. The third run has the data of the second law and the
    sample at the pivot, so two of the runs have the same data but one sample in each of at most two batches.
    Before the epoch it is the run of the second law.
    """
    place = Variable("the place of the sample", T_0)
    others = Variable("the batches with the sample at the pivot, and which sample of each it may replace", T_0)
    revealed, outer = (place, others), kernel.under(Ge(N, 1))
    before = _supposed(outer, order, T_0)[0]
    same = outer.suppose(order, before.ends, before.distances, Equal(), ONE_RUN)

    def given_place(number: int, begin: Span) -> Span:
        def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
            one, other = (
                hide(
                    inner,
                    *any_steps(losses),
                    (start, distance, w),
                    cost(ell, i),
                    order,
                    revealed,
                    path="'" * (2 * number + mark),
                )
                for mark, (distance, cost) in enumerate(((S.Zero, nears[number]), (D, fars[number])))
            )
            return one, other

        return chain_of_blocks(outer, begin, block, revealed)

    parts = given_place(0, before), given_place(1, before), given_place(2, same)
    hidden = compare_with_third(outer, place, parts, (i, M, chance(i)))
    return kernel.mean(others, ((S.One, hidden),))


def _first(kernel: Kernel, begin: str, steps: Callable[[], Span], order: Order = Order.FIRST) -> Span:
    return anything(kernel, order, (S.Zero, T_0)) if begin == ABOVE else steps()


@each_order
def _any_blocks(begin: str, kernel: Kernel, order: Order) -> Span:
    """Any blocks of w steps: N bounds block l from equal points, and F from any two points of the domain."""
    first = _first(kernel, begin, lambda: _supposed(kernel, order, T_0)[0], order)
    return chain_of_blocks(kernel, first, lambda inner, start: _supposed(inner, order, start)[1:])


def _of_batches(kind: str, kernel: Kernel, losses: Losses, begin: str, after: Expr = S.Zero) -> Guarantee:
    """Batches in a known order, shuffled (a block per epoch), or without replacement (q = b/n).

    Without replacement, the coin is hidden in near blocks and revealed in far blocks. In cyclic order each
    block ends with the sample, and t steps without the sample follow the blocks (``after``).
    """

    def path(inner: Kernel, start: Expr, distance: Expr, cost: Callable[..., Expr], mark: str = "") -> Span:
        own = partial(hide, inner, *any_steps(losses), (start, distance, w), path=mark)
        if kind == "known_batches":
            return own(cost(ell))
        return _mean(inner, start, lambda known: own(cost(ell, i), revealed=known))

    def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
        if kind == "without_replacement":
            hidden = coins(inner, Order.FIRST, batches.replacement_coin(_v, p(ell, j)), _v, w, start=start)
            return hidden, path(inner, start, D, far)
        return path(inner, start, S.Zero, near, "'"), path(inner, start, D, far)

    before: dict[str, Callable[[], Span]] = {
        "known_batches": lambda: hide(kernel, *any_steps(losses), (S.Zero, S.Zero, T_0), A_0, path="''"),
        "shuffled": lambda: kernel.identity(Order.FIRST, S.Zero, S.Zero),
        "without_replacement": lambda: coins(kernel, Order.FIRST, batches.replacement_coin(_v, P(j)), _v, T_0),
    }
    made = chain_of_blocks(kernel, _first(kernel, begin, before[kind]), block)
    if after != 0:
        made = kernel.chain(made, without_the_sample(kernel, made.end, after))
    return both_orders(kernel, made)


def _straight(losses: str, c: Expr, begin: str, kernel: Kernel) -> Guarantee:
    """Full batches and equal steps that take each distance z to at most c z + s: both costs in closed form.

    For c > 1 no window of two or more steps is feasible from 0; the near cost is the cost of composition.
    """
    outer, carried = kernel.under(Eq(s, sensitivity())), LOSSES[losses].affine(c)

    def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
        other = paths.hide_straight(inner, carried, c, s, D, v, start, w)
        if Gt(c, 1) in kernel.given:
            return paths.hide_each_step(inner, carried, s, v, start, w), other
        return paths.hide_straight(inner, carried, c, s, S.Zero, v, start, w), other

    first = _first(outer, begin, lambda: outer.identity(Order.FIRST, S.Zero, S.Zero))
    return both_orders(
        kernel, kernel.specialise(chain_of_blocks(outer, first, block), {s: sensitivity(), v: sigma**2})
    )


@each_order
def _poisson(kernel: Kernel, losses: Losses, begin: str, order: Order) -> Span:
    """Poisson batches at rate q: near costs with hidden coins, and far costs with revealed batches."""
    carried, letters = batches.one_more(losses, _k), (_eta, _low, _high, _k)
    laws, coin = (Ge(_eta, 0), *batches.RANGE, Ge(_k, 0), Le(_k, 1)), partial(batches.poisson_sample, order, _v)

    def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
        hidden = partial(hide, inner, carried, letters, laws, (start, D, w), far(ell, i), order)
        other = _mean(inner, start, lambda known: hidden(revealed=known))
        return coins(inner, order, coin(p(ell, j)), _v, w, start=start), other

    first = _first(kernel, begin, lambda: coins(kernel, order, coin(P(j)), _v, T_0), order)
    return chain_of_blocks(kernel, first, block)


@each_order
def _forgetting(kernel: Kernel, losses: Losses, order: Order) -> Span:
    """T_0 steps with any profile X, then blocks without the sample, which multiply the bound by factors."""
    same = losses.other_data(_eta, b, S.Zero)

    def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
        other = hide(inner, same, (_eta,), (Ge(_eta, 0),), (start, D, w), far(ell), order)
        return without_the_sample(inner, start, w, order), other

    trained = _supposed(kernel, order, T_0)[0]
    return _contracted(kernel, trained, lambda _, other: Damped(trained.profile, other, k, ell), block)


_BEGIN: Final = {begin: (begin,) for begin in BEGINS}

TABLE: Final[dict[str, Derivation]] = {
    "contraction/one block": _one_block,
    "contraction/lattice": _lattice,
    **{f"contraction/any blocks, {begin}": partial(_any_blocks, begin) for begin in BEGINS},
    **by_losses("contraction/known_batches", partial(_of_batches, "known_batches"), _BEGIN),
    **by_losses("contraction/shuffled", partial(_of_batches, "shuffled"), _BEGIN),
    **by_losses("contraction/hidden_place", _hidden_place, {"": ()}),
    **by_losses("contraction/without_replacement", partial(_of_batches, "without_replacement"), _BEGIN),
    **by_losses("contraction/cyclic", partial(_of_batches, "known_batches", after=t), _BEGIN),
    **{
        f"contraction/full_batch/{losses}, {begin}": partial(_straight, losses, factor, begin)
        for losses, factor in AFFINE.items()
        for begin in BEGINS
    },
    **by_losses("contraction/poisson", _poisson, _BEGIN),
    **by_losses("contraction/forgetting", _forgetting, {"": ()}),
}
