r"""Contraction by blocks: what the noise on a bounded domain hides by itself (docs/proofs/contraction.md).

Theorem 1. Let a first part of the runs have a profile $X$, and let the kernels of the next part satisfy
$E_r(K(x) \| K'(y)) \le N(r)$ if $x = y$, and $\le F(r)$ for all points. Let $E_r(p \| q) \ge X(r)$,
$p(1) \ge 1 \ge q(1)$, $0 \le u \le p$, $0 \le v \le q$, $A = p(1) - u(1)$ and $B = q(1) - v(1)$. Then the two
parts together have the profile
$$\int u\,N(\gamma v/u) + A\,F(\gamma B/A).$$
Theorem 2. If $Y_{j+1} \ge \mathrm{Comb}[Y_j; N_j, F_j]$ for all blocks $j$, then $n$ blocks satisfy
$E_\gamma \le Y_n(\gamma)$.

Checked: the kernel derives both, and their costs for every scheme of batches and class of losses, with shifts in
blocks of $w$ steps.
Letters: g is $\gamma$, the level of $E_\gamma$; near and far are the costs $N$ and $F$ of a block.
"""

from lastiterate.symbolic.derivations import contraction as blocks
from lastiterate.symbolic.derivations import random_batches
from lastiterate.symbolic.derivations.contraction import M, N, chance, far, i, k, near
from lastiterate.symbolic.ours.paper import *

_CLASSES = ("modulus", "convex", "strongly convex", "steps")
_X, _N, _F = map(Letter, "XNF")
_z = Symbol("z", nonnegative=True)
_EACH = blocks.suppositions("XNF", at_every_block=True)
_known = Gauss(blocks.A_0), Gauss(near(k)), Gauss(far(k))
_mean = Average(chance(i), Gauss(near(k, i)), i, M), Average(chance(i), Gauss(far(k, i)), i, M)

# Of convex losses: sum of squared shifts, number of times that the sample was met, whether it is met now, distance.
_cost, _met, _coin, _left = (Function(name, real=True) for name in ("A", "H", "kappa", "z"))
# Of a range of sizes: the rise of the cost beyond it, the probability of leaving it, and the most that this is.
_inner, _outer, _leaves, _most, _rise = (
    Function(name, nonnegative=True) for name in ("U", "V", "x", "tau", "f")
)


def _chains(first: Profile, one: Profile, other: Profile) -> dict[str, Profile]:
    return {
        begin: BlockChain(base, one, other, k, N)
        for begin, base in zip(blocks.BEGINS, (first, EVERYTHING), strict=True)
    }


def _derived(
    scheme: str, bounds: dict[str, Profile], classes: tuple[str, ...] = _CLASSES
) -> tuple[Derived, ...]:
    return tuple(
        Derived(f"contraction/{scheme}/{losses}, {start}", profile, f"{losses}, {start}")
        for losses in classes
        for start, profile in bounds.items()
    )


def _closed(losses: str, factor: Expr) -> tuple[Derived, ...]:
    drift, noise = (w, w) if factor == 1 else (v_sum(factor, w), w_sum(factor, w))
    one, other = (Gauss(cost(sensitivity(), start, drift, noise) / sigma**2) for start in (S.Zero, D))
    if losses == "smooth":
        one = Gauss(w * sensitivity() ** 2 / sigma**2)
    return _derived("full_batch", _chains(Equal(), one, other), (losses,))


def _random(coin: Any) -> dict[str, Profile]:
    """Near costs with a hidden coin in every step, and far costs as means over revealed batches."""
    first = Steps(coin(q, random_batches.P(i)), i, blocks.T_0)
    return _chains(first, Steps(coin(q, random_batches.p(k, i)), i, w), _mean[1])


def _lattice() -> Profile:
    one, two, three = (
        Chords(letter, blocks.nodes(place, k), k, M) for place, letter in enumerate((_X, _N, _F))
    )
    return Chords(Contracted(one, two, three), blocks.nodes(3, k), k, M)


def _hidden_place(*, close: bool = False) -> Profile:
    """Blocks given the place: from X for both runs and for run 1 and the third, else from one law."""
    nears, fars = ((one, other, other if close else last) for one, other, last in (blocks.nears, blocks.fars))
    known, ahead, back = (
        BlockChain(begun, Gauss(one(k, i)), Gauss(other(k, i)), k, N)
        for begun, one, other in zip((_X, _X, Equal()), nears, fars, strict=True)
    )
    return ThreeLaws(chance(i), known, ahead, back, i, M)


CLAIMS = (
    Ours(
        "ours/contraction/block",
        "One block: near cost where the laws agree, far cost on what is left, for any split of the two laws",
        proof("contraction", "One block"),
        Derived(
            "contraction/one block", Contracted(_X, _N, _F), supposed=blocks.suppositions("XNF", _z)
        ).mutant("far no more than near", profile=Contracted(_X, _N, _N)),
    ),
    Ours(
        "ours/contraction/tables",
        "Chords in g through upper bounds at any nodes bound the contraction, before the block and after it",
        proof("contraction", "Tables"),
        Derived("contraction/lattice", _lattice(), supposed=blocks.suppositions("XNF")),
    ),
    Ours(
        "ours/contraction/chain",
        "Profiles, or one for all, each no less than the one before, contracted, bound any number of blocks",
        proof("contraction", "Many blocks"),
        Derived(f"contraction/any blocks, {blocks.FROM_0}", BlockChain(_X, _N, _F, k, N), supposed=_EACH),
    ),
    Ours(
        "ours/contraction/above",
        "From above: begun at 1 after any steps whatsoever, the profiles bound every longer run",
        proof("contraction", "Many blocks"),
        Derived(
            f"contraction/any blocks, {blocks.ABOVE}", BlockChain(EVERYTHING, _N, _F, k, N), supposed=_EACH[1:]
        ).mutant("from equal points, whatever was before", profile=BlockChain(Equal(), _N, _F, k, N)),
    ),
    Ours(
        "ours/contraction/full",
        "Full batches, any step sizes and noise: the costs of blocks by shifts from equal points and from the diameter",
        proof("contraction", "Batches in a known order"),
        *_derived("known_batches", _chains(*_known)),
        assumptions=(m <= L,),
    ),
    Ours(
        "ours/contraction/full_convex",
        "Convex losses, full batches, blocks of w steps: mu is sqrt(w) s near and (D + w s)/sqrt(w) far, over sigma",
        proof("contraction", "Batches in a known order"),
        *_closed("convex", S.One),
        assumptions=(eta * L <= 2,),
    ),
    Ours(
        "ours/contraction/full_strongly_convex",
        "Strongly convex losses, full batches, blocks of w steps: both costs in closed form",
        proof("contraction", "Batches in a known order"),
        *_closed("strongly convex", c),
        assumptions=(c < 1, c >= 1 - eta * m, c >= eta * L - 1, m <= L),
    ),
    Ours(
        "ours/contraction/full_smooth",
        "Smooth losses, full batches, blocks of w steps: near is composition, far the closed form where it is feasible",
        proof("contraction", "Batches in a known order"),
        *_closed("smooth", c),
        assumptions=(c > 1, Eq(c, 1 + eta * L * (n - 1) / n), feasible(c, sensitivity(), D, sigma**2, w)),
    ),
    Ours(
        "ours/contraction/cyclic",
        "Cyclic batches: blocks of any length, the cost of each by shifts; the bound of the last sample serves others",
        proof("contraction", "Batches in a known order"),
        *_derived("cyclic", _chains(*_known)),
        assumptions=(m <= L,),
    ),
    Ours(
        "ours/contraction/shuffled",
        "Shuffled batches: the place of the sample stays hidden, through a third run; or an epoch is one block",
        proof("hidden_places", "The theorem"),
        *(
            Derived(
                f"contraction/hidden_place/{losses}", _hidden_place(), losses, blocks.with_a_third_run()
            ).mutant(f"the third run no further, {losses}", profile=_hidden_place(close=True))
            for losses in _CLASSES
        ),
        *_derived("shuffled", _chains(Equal(), *_mean)),
        assumptions=(m <= L, N >= 1),
        letters={N: "number of blocks of an epoch"},
    ),
    Ours(
        "ours/contraction/without_replacement",
        "Batches without replacement: near with the coin hidden in every step, far the mean over revealed batches",
        proof("contraction", "Random batches"),
        *_derived("without_replacement", _random(SwapStep)),
        assumptions=(q <= 1, m <= L),
    ),
    Ours(
        "ours/contraction/poisson",
        "Poisson batches, each order by itself: near with the coin hidden, far the mean over revealed batches",
        proof("contraction", "Random batches"),
        *_derived("poisson", _random(PoissonStep)),
        assumptions=(q <= 1, m <= L),
    ),
    Ours(
        "ours/contraction/sizes",
        "Nested ranges of sizes, any number: a mean of costs that rise grows with the probability of leaving a range",
        proof("contraction", "Random batches"),
        Identity((x - y) * a + y * b, x * a + y * (b - a), name="by parts"),
        Inequality(u + x * (b - a), "<=", v + y * (b - a), (u <= v, x <= y, a <= b), "larger probabilities"),
        Induction(
            t,
            Le(_inner(t), _outer(t)),
            (Eq(_inner(0), _outer(0)),),
            (
                gains(_inner, _leaves(t) * _rise(t)),
                gains(_outer, _most(t) * _rise(t)),
                Le(_leaves(t), _most(t)),
            ),
            name="any number of ranges",
        ),
        letters={
            a: "cost in the range",
            b: "cost beyond it",
            u: "mean over the ranges inside",
            v: "at least u",
            x: "probability of leaving the range",
            y: "at least x",
        },
    ),
    Ours(
        "ours/contraction/met",
        "Convex losses: shifts of a in every step, and s more where the sample is met, cost k a^2 + H (2 a s + s^2)",
        proof("contraction", "Random batches"),
        sum_induction(
            "the sum of squared shifts, H the times that the sample was met",
            Eq(_cost(t), t * a**2 + _met(t) * (2 * a * s + s**2)),
            {_met: _coin(t), _cost: (a + s * _coin(t)) ** 2},
            Eq(_coin(t) ** 2, _coin(t)),
        ),
        Induction(
            t,
            Eq(_left(t), D - t * a),
            (Eq(_left(0), D),),
            (Eq(_left(t + 1), _left(t) + s * _coin(t) - (a + s * _coin(t))),),
            name="the distance that is left",
        ),
        letters={a: "the diameter over the number of steps"},
    ),
    Ours(
        "ours/contraction/forgetting",
        "After the sample was deleted: a block takes E_g from A to A theta(1 + (g - 1)/A), at each g by itself",
        proof("contraction", "Forgetting"),
        *(
            Derived(
                f"contraction/forgetting/{losses}",
                Damped(_X, Gauss(far(k)), k, N),
                losses,
                blocks.suppositions("X"),
            )
            for losses in _CLASSES
        ),
        assumptions=(m <= L,),
    ),
)
