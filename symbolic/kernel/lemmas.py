"""The parts of a step: the expansion of its update, and the profile of a shift of its noise or of a coin.

An `Expansion` is a lemma on every loss of a class, in every dimension; a `Shift` and a `Coin` are lemmas on
the noise. All name their sources, keys of claims or cited mathematics. A step supposes a part without a proof
(`owed`). Functions whose docstrings prove a part, or name a proof, return it `shown`.
"""

from copy import copy
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from sympy import Expr, Ge, Gt, Le, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import *
from lastiterate.symbolic.kernel.profiles import *
from lastiterate.symbolic.kernel.sealed import UnprovedError, genuine, rule

CITES = ("a standard Gaussian vector turned round is one again",)


class Guide(Enum):
    """The map of the third point: that of the other run, or the run's own map with the same coin."""

    OTHER = "other"
    OWN = "own"


@dataclass(frozen=True)
class Expansion:
    """Points at most z apart are at most e(z) = ``after`` apart after the maps of an update, e nondecreasing.

    The guide is the map of the second point; OTHER includes the differing sample. ``lemmas`` are keys of
    claims that show it for every loss of the class, under hypotheses and conditions.
    """

    z: Symbol
    after: Expr
    guide: Guide
    lemmas: tuple[str, ...]
    hypotheses: frozenset[Hypothesis] = frozenset()
    conditions: tuple[Boolean, ...] = ()
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The supposition of a step unless this is shown."""
        says = "points at most the first apart are at most the second apart after the maps of a step of both runs"
        return Hypothesis(says, (self.z, self.after), lemma=True, over=(self.z,))

    def at(self, distance: Expr) -> Expr:
        """e(distance)."""
        return self.after.subs(self.z, distance)


@dataclass(frozen=True)
class Shift:
    """A ``profile`` of E_g(h + xi || xi) in both orders, |h| <= ``length``, for noise xi of ``variance``."""

    length: Expr
    profile: Profile
    variance: Expr = S.Zero
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The supposition of a step unless this is shown."""
        says = "a shift of noise of the first variance by at most the second costs at most this"
        return Hypothesis(says, (self.variance, self.length), symmetric=False, lemma=True, bounds=(self.profile,))


@dataclass(frozen=True)
class Coin:
    """``profile`` bounds one step of both runs from one point, with a hidden coin that decides the batch.

    ``variance`` is that of the part of the noise that it uses. An ``observed`` coin is the outcome of a step,
    with its own noise, which its hypotheses name. No noise follows it.
    """

    profile: Profile
    variance: Expr = S.Zero
    hypotheses: frozenset[Hypothesis] = frozenset()
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()
    observed: bool = False
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The supposition of a step unless this is shown."""
        says = "with noise of this variance a step of run 1 and one of run 2 from one point differ by this"
        return Hypothesis(says, (self.variance,), symmetric=False, lemma=True, bounds=(self.profile,))


def noise(variance: Expr) -> Hypothesis:
    """The supposition that a step adds this noise."""
    return Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (variance,))


Part = TypeVar("Part", Expansion, Shift, Coin)


def shown(part: Part, *premises: Part) -> Part:
    """The part as shown if its premises are, once a lemma returns it, see `sealed.rule`."""
    made = copy(part)
    object.__setattr__(made, "is_shown", all(map(genuine, premises)))
    return made


@rule
def supposing(expansion: Expansion, *more: Hypothesis, lemmas: tuple[str, ...] = ()) -> Expansion:
    """An expansion with further hypotheses and sources, shown if it was."""
    made = replace(expansion, hypotheses=expansion.hypotheses.union(more), lemmas=(*expansion.lemmas, *lemmas))
    return shown(made, expansion)


@rule
def on_condition(coin: Coin, *more: Boolean) -> Coin:
    """A coin with further conditions, shown if it was."""
    return shown(replace(coin, conditions=(*coin.conditions, *more)), coin)


def owed(*parts: Expansion | Shift | Coin) -> frozenset[Hypothesis]:
    """The suppositions of a step, one for each part that is not shown."""
    return frozenset(part.owed for part in parts if not genuine(part))


@rule
def no_shift() -> Shift:
    """A shift of length 0 at no cost."""
    return shown(Shift(S.Zero, Equal()))


@rule
def gaussian_shift(length: Expr, variance: Expr, square: Expr | None = None) -> Shift:
    """E_g(N(h, v I) || N(0, v I)) = theta(|h|/sqrt(v)), increasing in |h|, by a rotation of h.

    ``square`` is a bound of the squared length over the variance, which may be 0 if the length is.
    """
    ratio, conditions = _ratio(length, variance, square)
    return shown(Shift(length, Gauss(ratio), variance, conditions, CITES))


@rule
def poisson_coin(rate: Expr, moved: Expr, variance: Expr, order: Order, square: Expr | None = None) -> Coin:
    """A sample of run 1 only is in each batch with probability q and moves the mean by at most ``moved``.

    If P is the law with the sample, P - g Q = q (N(h) - tau N(0)) with tau = (g - 1 + q)/q. The other order
    is E_g(Q || P) = 1 - g + g E_{1/g}(P || Q). ``square`` is as in `gaussian_shift`.
    """
    says = (
        "run 1 has one sample more, in each batch with the first chance, "
        "where it moves the mean by at most the second"
    )
    sampled, (ratio, signs) = Hypothesis(says, (rate, moved), symmetric=False), _ratio(moved, variance, square)
    return _coin(PoissonStep(rate, ratio, order), sampled, variance, signs)


@rule
def swap_coin(rate: Expr, moved: Expr, variance: Expr, square: Expr | None = None) -> Coin:
    """A sample in each batch with probability q is replaced; any two of three means are at most ``moved`` apart.

    P - g P' = q (N(y) - tau ((1 - w) N(x) + w N(y'))), tau = 1 + (g - 1)/q and w = g/tau <= 1 for g >= 1. By
    convexity in the second law the bound is q E_tau of two means ``moved`` apart. E_g(P' || P) is reflected
    below 1. ``square`` is as in `gaussian_shift`.
    """
    says = (
        "one sample is replaced, in each batch with the first chance; any two means are at most the second apart"
    )
    replaced, (ratio, signs) = Hypothesis(says, (rate, moved)), _ratio(moved, variance, square)
    return _coin(SwapStep(rate, ratio), replaced, variance, signs)


def _coin(
    profile: PoissonStep | SwapStep, sampled: Hypothesis, variance: Expr, signs: tuple[Boolean, ...]
) -> Coin:
    conditions = (Gt(profile.rate, 0), Le(profile.rate, 1), *signs)
    return shown(Coin(profile, variance, frozenset({sampled}), conditions, CITES))


def _ratio(length: Expr, variance: Expr, square: Expr | None) -> tuple[Expr, tuple[Boolean, ...]]:
    """A bound of the squared length over the variance, and its conditions."""
    if square is None:
        return length**2 / variance, (Ge(length, 0), Gt(variance, 0))
    return square, (Ge(length, 0), Ge(variance, 0), Ge(square, 0), Le(length**2, square * variance))


@rule
def projected_sample(
    rate: Expr,
    moved: Expr,
    spread: Expr,
    variance: Expr,
    dimension: Expr,
    load: Expr,
    hidden: Order | None = None,
) -> Coin:
    """The pair (A, A^T g / sqrt(p) + xi), if a sample moves g by a vector h of length at most ``moved``.

    A has p = ``dimension`` columns of independent N(0, ``spread``^2) entries and is independent of data and
    state; xi is N(0, ``variance`` I). Given A, two Gaussians are |A^T h| / sqrt(p) apart, |A^T h|^2 is |h|^2
    spread^2 X, and the profile is the mean over A (docs/proofs/random_projection.md). ``load`` is at least
    (moved spread)^2 / (p variance).

    The sample is in the batch with probability ``rate``, which is revealed unless ``hidden`` is set, the
    order of a sample that only run 1 has. Then the profile given A is a `PoissonStep`.
    """
    if any(X in one.free_symbols for one in (rate, moved, spread, variance, dimension, load)):
        raise UnprovedError(f"The mean over {X} needs parameters in which it does not occur.")
    signs = (Gt(rate, 0), Le(rate, 1), Ge(moved, 0), Ge(load, 0), Gt(variance, 0))
    enough = Ge(load * dimension * variance, (moved * spread) ** 2)
    what = "run 1 has one sample more" if hidden else "one sample differs"
    says = f"{what}: in each batch with the first chance, where it moves the sum by at most the second"
    drawn = Hypothesis(
        "matrices of this many columns and entries of this standard deviation are fresh in every step and drawn apart "
        "from the data, and Gaussian noise of this variance is added after them",
        (dimension, spread, variance),
    )
    differs = Hypothesis(says, (rate, moved), symmetric=hidden is None)
    if hidden:
        profile: Profile = Projected(PoissonStep(rate, load * X, hidden), dimension)
    else:
        there = Projected(Gauss(load * X), dimension)
        profile = there if rate == 1 else MeanProfile(((rate, there), (1 - rate, Equal())))
    supposed = frozenset({drawn, differs})
    return shown(Coin(profile, hypotheses=supposed, conditions=(*signs, enough), cites=CITES, observed=True))
