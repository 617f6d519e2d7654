"""Contraction by blocks: what the noise on a bounded domain hides by itself, without shifts over the whole run.

Blocks of w steps each. Where the laws of both runs agree a block costs N, the price of two equal points, and where they
do not F, that of any two points of the domain; so the bound of a run is a sequence of profiles Y_0, Y_1, ..., of which
each is no less than the one before it, contracted.
"""

from collections.abc import Iterator

from lastiterate.symbolic.derivations import random_batches
from lastiterate.symbolic.derivations.contraction import (
    A_0,
    BEGINS,
    FROM_0,
    SUPPOSED,
    T_0,
    M,
    N,
    chance,
    far,
    i,
    k,
    near,
    nodes,
    suppositions,
)
from lastiterate.symbolic.derivations.known_batches import feasible
from lastiterate.symbolic.kernel.judgement import Hypothesis
from lastiterate.symbolic.kernel.profiles import EVERYTHING, BlockChain, Chords, Contracted, Damped, Letter
from lastiterate.symbolic.prelude import *

_X, _N, _F = map(Letter, "XNF")
_z = Symbol("z", nonnegative=True)
_EACH = suppositions("XNF", at_every_block=True)
_GIVEN_ORDER = str(Hypothesis(SUPPOSED["Y_i"], (S.Zero, T_0 + w, S.Zero, S.Zero), bounds=(Letter("Y_i"),)))
_known = Gauss(near(k)), Gauss(far(k))
_drawn = (random_batches.P(i), T_0), (random_batches.p(k, i), w)
_mean = Average(chance(i), Gauss(near(k, i)), i, M), Average(chance(i), Gauss(far(k, i)), i, M)


_cost, _met, _coin, _left = (Function(name, real=True) for name in ("A", "H", "kappa", "z"))
"""Sum of squared shifts, the times that the sample was met, whether it is met now, the distance."""

_spent = Induction(
    k,
    Eq(_cost(k), k * a**2 + _met(k) * (2 * a * s + s**2)),
    (Eq(_cost(0), 0), Eq(_met(0), 0)),
    (
        Eq(_coin(k) ** 2, _coin(k)),
        Eq(_met(k + 1), _met(k) + _coin(k)),
        Eq(_cost(k + 1), _cost(k) + (a + s * _coin(k)) ** 2),
    ),
    name="the sum of squared shifts, H the times that the sample was met",
)
_off = Rational(97, 100)


def _begun(first: Profile, one: Profile, other: Profile) -> dict[str, Profile]:
    """The bounds after N blocks, from equal points and from above."""
    return {begin: BlockChain(base, one, other, k, N) for begin, base in zip(BEGINS, (first, EVERYTHING), strict=True)}


# Of a range of sizes: the rise of the price beyond it, the chance of leaving it, and the most that this is.
_inner, _outer, _leaves, _most, _rise = (Function(name, nonnegative=True) for name in ("U", "V", "x", "tau", "f"))


def _derived(scheme: str, bounds: dict[str, Profile]) -> Iterator[Derived]:
    for losses in ("modulus", "convex", "strongly convex"):
        for start, profile in bounds.items():
            yield Derived(f"contraction/{scheme}/{losses}, {start}", profile, f"{losses}, {start}")


def _straight(losses: str, factor: Expr) -> Iterator[Derived]:
    """The closed forms of both prices, from equal points and from the diameter."""
    drift, noise = (w, w) if factor == 1 else (v_sum(factor, w), w_sum(factor, w))
    one, other = (Gauss(cost(sensitivity(), start, drift, noise) / sigma**2) for start in (S.Zero, D))
    if losses == "smooth":
        one = Gauss(w * sensitivity() ** 2 / sigma**2)
    less = _begun(Equal(), Gauss(_off * one.square), other)
    for start, profile in _begun(Equal(), one, other).items():
        check = Derived(f"contraction/full_batch/{losses}, {start}", profile, start)
        yield check.mutant(f"three percent less near, {start}", profile=less[start])


def _lattice() -> Profile:
    one, two, three = (Chords(letter, nodes(place, k), k, M) for place, letter in enumerate((_X, _N, _F)))
    return Chords(Contracted(one, two, three), nodes(3, k), k, M)


_every_loss = (q <= 1, m <= L)

CLAIMS = (
    Ours(
        "ours/contraction/block",
        "One block: near price where the laws agree, far price on what is left, for any split of the two laws",
        proof("contraction", "One block"),
        Derived("contraction/one block", Contracted(_X, _N, _F), supposed=suppositions("XNF", _z)).mutant(
            "far no dearer than near", profile=Contracted(_X, _N, _N)
        ),
    ),
    Ours(
        "ours/contraction/tables",
        "Chords in g through upper bounds at any nodes bound the contraction, before the block and after it",
        proof("contraction", "Tables"),
        Derived("contraction/lattice", _lattice(), supposed=suppositions("XNF")),
    ),
    Ours(
        "ours/contraction/chain",
        "Profiles, or one for all, each no less than the one before, contracted, bound any number of blocks",
        proof("contraction", "Many blocks"),
        Derived(f"contraction/any blocks, {FROM_0}", BlockChain(_X, _N, _F, k, N), supposed=_EACH),
    ),
    Ours(
        "ours/contraction/above",
        "From above: begun at 1 after any steps whatsoever, the profiles bound every longer run",
        proof("contraction", "Many blocks"),
        Derived(
            f"contraction/any blocks, {BEGINS[1]}",
            BlockChain(EVERYTHING, _N, _F, k, N),
            supposed=_EACH[1:],
        ).mutant("from equal points, whatever was before", profile=BlockChain(Equal(), _N, _F, k, N)),
    ),
    Ours(
        "ours/contraction/full",
        "Full batches, any step sizes and noise: blocks priced by shifts from equal points and from the diameter",
        proof("contraction", "Batches in a known order"),
        *_derived("known_batches", _begun(Gauss(A_0), *_known)),
        assumptions=(m <= L,),
    ),
    Ours(
        "ours/contraction/full_convex",
        "Convex losses, full batches, blocks of w steps: mu is sqrt(w) s near and (D + w s)/sqrt(w) far, over sigma",
        proof("contraction", "Batches in a known order"),
        *_straight("convex", S.One),
        assumptions=(eta * L <= 2,),
    ),
    Ours(
        "ours/contraction/full_strongly_convex",
        "Strongly convex losses, full batches, blocks of w steps: both prices in closed form",
        proof("contraction", "Batches in a known order"),
        *_straight("strongly convex", c),
        assumptions=(c < 1, c >= 1 - eta * m, c >= eta * L - 1, m <= L),
    ),
    Ours(
        "ours/contraction/full_smooth",
        "Smooth losses, full batches, blocks of w steps: near is composition, far the closed form where it is feasible",
        proof("contraction", "Batches in a known order"),
        *_straight("smooth", c),
        assumptions=(c > 1, Eq(c, 1 + eta * L * (n - 1) / n), feasible(c, sensitivity(), D, sigma**2, w)),
    ),
    Ours(
        "ours/contraction/cyclic",
        "Cyclic batches: blocks of any length, each priced by shifts; a bound for the last sample serves every other",
        proof("contraction", "Batches in a known order"),
        *_derived("cyclic", _begun(Gauss(A_0), *_known)),
        assumptions=(m <= L,),
    ),
    Ours(
        "ours/contraction/shuffled",
        "Shuffled batches: both prices of an epoch are means over its order; or blocks given it, and the mean after it",
        proof("contraction", "Shuffled batches"),
        *_derived("shuffled", _begun(Equal(), *_mean)),
        Derived("contraction/places", Average(chance(i), Letter("Y_i"), i, M), "given the order", (_GIVEN_ORDER,)),
        assumptions=(m <= L,),
    ),
    Ours(
        "ours/contraction/without_replacement",
        "Batches without replacement: near with the coin hidden in every step, far the mean over revealed batches",
        proof("contraction", "Random batches"),
        *_derived(
            "without_replacement",
            _begun(
                Steps(SwapStep(q, random_batches.P(i)), i, T_0),
                Steps(SwapStep(q, random_batches.p(k, i)), i, w),
                _mean[1],
            ),
        ),
        assumptions=_every_loss,
    ),
    Ours(
        "ours/contraction/poisson",
        "Poisson batches, each order by itself: near with the coin hidden, far the mean over revealed batches",
        proof("contraction", "Random batches"),
        *_derived(
            "poisson",
            _begun(
                Steps(PoissonStep(q, random_batches.P(i)), i, T_0),
                Steps(PoissonStep(q, random_batches.p(k, i)), i, w),
                _mean[1],
            ),
        ),
        assumptions=_every_loss,
    ),
    Ours(
        "ours/contraction/sizes",
        "Nested ranges of sizes, any number: a mean of prices that rise grows with the chance of leaving a range",
        proof("contraction", "Random batches"),
        Identity((x - y) * a + y * b, x * a + y * (b - a), name="by parts"),
        Inequality(u + x * (b - a), "<=", v + y * (b - a), given=(u <= v, x <= y, a <= b), name="larger chances"),
        Induction(
            t,
            Le(_inner(t), _outer(t)),
            (Eq(_inner(0), _outer(0)),),
            (gains(_inner, _leaves(t) * _rise(t)), gains(_outer, _most(t) * _rise(t)), Le(_leaves(t), _most(t))),
            name="any number of ranges",
        ),
        letters={a: "price in the range", b: "price beyond it", u: "mean over the ranges inside", v: "at least u"}
        | {x: "chance of leaving the range", y: "at least x"},
    ),
    Ours(
        "ours/contraction/met",
        "Convex losses: shifts of a in every step, and s more where the sample is met, cost k a^2 + H (2 a s + s^2)",
        proof("contraction", "Random batches"),
        _spent.mutant(
            "three percent less where it is met",
            conclusion=Eq(_cost(k), k * a**2 + _met(k) * (2 * a * s + _off * s**2)),
        ),
        Induction(
            k,
            Eq(_left(k), D - k * a),
            (Eq(_left(0), D),),
            (Eq(_left(k + 1), _left(k) + s * _coin(k) - (a + s * _coin(k))),),
            name="the distance that is left",
        ).mutant("three percent longer shifts", conclusion=Eq(_left(k), D - k * a / _off)),
        letters={k: "number of steps", a: "the diameter over the number of steps"},
    ),
    Ours(
        "ours/contraction/forgetting",
        "After the sample was deleted: a block takes E_g from A to A theta(1 + (g - 1)/A), at each g by itself",
        proof("contraction", "Forgetting"),
        *(
            Derived(f"contraction/forgetting/{losses}", Damped(_X, Gauss(far(k)), k, N), losses, suppositions("X"))
            for losses in ("modulus", "convex", "strongly convex")
        ),
        assumptions=(m <= L,),
    ),
)
