"""The parts of a step: the expansion of its update, and the cost of a shift of its noise or of a coin.

An `Expansion` is a lemma about every loss of a class, in every dimension; a `Shift` and a `Coin` are lemmas about the
noise. All name their sources: keys of claims, or cited mathematics. Without a proof it is not a lemma, and a step then
supposes what it says (`owed`). Functions whose docstrings prove it, or name a proof, return it `shown`.
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
    """The map that carries the third point: that of the other run, or that of the run itself, with the same coin."""

    OTHER = "other"
    OWN = "own"


@dataclass(frozen=True)
class Expansion:
    """Two points at most z apart are at most e(z) = ``after`` apart after the maps of an update, e nondecreasing in z.

    The guide is the map of the second point; OTHER includes the sample in which the two data sets differ. ``lemmas``
    are keys of claims that show it for every loss of the class, under the hypotheses and the conditions on numbers.
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
        """The supposition of a step where nothing shows this."""
        says = "points at most the first apart are at most the second apart after the maps of a step of both runs"
        return Hypothesis(says, (self.z, self.after), lemma=True, over=(self.z,))

    def at(self, distance: Expr) -> Expr:
        """e at a distance."""
        return self.after.subs(self.z, distance)


@dataclass(frozen=True)
class Shift:
    """``profile`` bounds E_g(h + xi || xi), for every vector h of at most this length and in both orders.

    ``variance`` is that of xi, the part of the noise of the step that it takes.
    """

    length: Expr
    profile: Profile
    variance: Expr = S.Zero
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The supposition of a step where nothing shows this."""
        says = "a shift of noise of the first variance by at most the second costs at most this"
        return Hypothesis(says, (self.variance, self.length), symmetric=False, lemma=True, bounds=(self.profile,))


@dataclass(frozen=True)
class Coin:
    """``profile`` bounds the step of run 1 or 2 from one point, a hidden coin deciding who is in the batch.

    ``variance`` is that of the part of the noise that it takes. An ``observed`` map has noise of its own, which its
    hypotheses name: it is the outcome of a step, and no noise follows it.
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
        """The supposition of a step where nothing shows this."""
        says = "with noise of this variance a step of run 1 and one of run 2 from one point differ by this"
        return Hypothesis(says, (self.variance,), symmetric=False, lemma=True, bounds=(self.profile,))


def noise(variance: Expr) -> Hypothesis:
    """The supposition that there is noise."""
    return Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (variance,))


Part = TypeVar("Part", Expansion, Shift, Coin)


def shown(part: Part, *premises: Part) -> Part:
    """A part of a step as shown, if its premises are, once a lemma of the package returns it, see `sealed.rule`."""
    made = copy(part)
    object.__setattr__(made, "is_shown", all(map(genuine, premises)))
    return made


@rule
def supposing(expansion: Expansion, *more: Hypothesis, lemmas: tuple[str, ...] = ()) -> Expansion:
    """An expansion with further hypotheses and sources, which is still true: shown where it was."""
    made = replace(expansion, hypotheses=expansion.hypotheses.union(more), lemmas=(*expansion.lemmas, *lemmas))
    return shown(made, expansion)


@rule
def on_condition(coin: Coin, *more: Boolean) -> Coin:
    """A coin on further conditions, which is still true: shown where it was."""
    return shown(replace(coin, conditions=(*coin.conditions, *more)), coin)


def owed(*parts: Expansion | Shift | Coin) -> frozenset[Hypothesis]:
    """The suppositions of a step: what those of its parts say that are not shown."""
    return frozenset(part.owed for part in parts if not genuine(part))


@rule
def no_shift() -> Shift:
    """The shift by nothing, at no cost."""
    return shown(Shift(S.Zero, Equal()))


@rule
def gaussian_shift(length: Expr, variance: Expr, square: Expr | None = None) -> Shift:
    """E_g(N(h, v I) || N(0, v I)) = theta(|h|/sqrt(v)): turn h to the first axis; it grows with |h|.

    ``square`` is at least the squared length over the variance, which may then be zero if the length is.
    """
    ratio, conditions = _ratio(length, variance, square)
    return shown(Shift(length, Gauss(ratio), variance, conditions, CITES))


@rule
def poisson_coin(rate: Expr, moved: Expr, variance: Expr, order: Order, square: Expr | None = None) -> Coin:
    """A sample of run 1 alone is in each batch with probability q and moves the mean by at most ``moved``.

    P - g Q = q (N(h) - tau N(0)) with tau = (g - 1 + q)/q, where the law with the sample is P; E_g(Q || P) =
    1 - g + g E_{1/g}(P || Q) gives the other order. ``square`` as in `gaussian_shift`.
    """
    says = (
        "run 1 has one sample more, in each batch with the first chance, where it moves the mean by at most the second"
    )
    sampled, (ratio, signs) = Hypothesis(says, (rate, moved), symmetric=False), _ratio(moved, variance, square)
    return _coin(PoissonStep(rate, ratio, order), sampled, variance, signs)


@rule
def swap_coin(rate: Expr, moved: Expr, variance: Expr, square: Expr | None = None) -> Coin:
    """One sample is replaced, in each batch with probability q; any two of three means differ by at most ``moved``.

    P - g P' = q (N(y) - tau ((1 - w) N(x) + w N(y'))), tau = 1 + (g - 1)/q and w = g/tau <= 1 for g >= 1; convexity in
    the second law leaves q E_tau of two means ``moved`` apart. E_g(P' || P) is reflected below 1. ``square`` as in
    `gaussian_shift`.
    """
    says = "one sample is replaced, in each batch with the first chance; any two means are at most the second apart"
    replaced, (ratio, signs) = Hypothesis(says, (rate, moved)), _ratio(moved, variance, square)
    return _coin(SwapStep(rate, ratio), replaced, variance, signs)


def _coin(profile: PoissonStep | SwapStep, sampled: Hypothesis, variance: Expr, signs: tuple[Boolean, ...]) -> Coin:
    conditions = (Gt(profile.rate, 0), Le(profile.rate, 1), *signs)
    return shown(Coin(profile, variance, frozenset({sampled}), conditions, CITES))


def _ratio(length: Expr, variance: Expr, square: Expr | None) -> tuple[Expr, tuple[Boolean, ...]]:
    """The squared length over the variance, and the conditions under which it is no more than this."""
    if square is None:
        return length**2 / variance, (Ge(length, 0), Gt(variance, 0))
    return square, (Ge(length, 0), Ge(variance, 0), Ge(square, 0), Le(length**2, square * variance))


@rule
def projected_sample(
    rate: Expr, moved: Expr, spread: Expr, variance: Expr, dimension: Expr, load: Expr, hidden: Order | None = None
) -> Coin:
    """The pair (A, A^T g / sqrt(p) + xi): a sample that differs moves g by a vector h of length ``moved`` at most.

    A has p = ``dimension`` columns of independent N(0, ``spread``^2) entries and is drawn apart from data and state; xi
    is N(0, ``variance`` I). Given A two Gaussians are |A^T h| / sqrt(p) apart, and the columns of A have independent
    Gaussian products with h, so |A^T h|^2 is |h|^2 spread^2 X. A is part of the outcome, so that its cost is the mean
    over A of the cost given A, which grows with |h|. ``load`` is at least (moved spread)^2 / (p variance).

    The sample is in the batch with probability ``rate``. It is revealed, unless this is the order, ``hidden``, of a
    sample that run 1 has and run 2 lacks: then the cost given A is that of a `PoissonStep`.
    """
    if any(X in one.free_symbols for one in (rate, moved, spread, variance, dimension, load)):
        raise UnprovedError(f"The mean over {X} needs numbers that do not name it.")
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
