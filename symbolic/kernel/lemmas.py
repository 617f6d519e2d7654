"""The parts of a step: the expansion of its update, and profiles for shifts of its noise and for coins.

An `Expansion` is a lemma on every loss of a class, in every dimension; a `Shift` and a `Coin` are lemmas on
the noise. Each part names its sources: keys of claims, or cited mathematics. A part without a proof becomes a
hypothesis of the step (`owed`). A function whose docstring proves a part, or names a proof, returns the part
as `shown`.
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
    """The map of the third point: the other run's map, or the run's own map with the same coin."""

    OTHER = "other"
    OWN = "own"


@dataclass(frozen=True)
class Expansion:
    """The maps of an update take points at most z apart to points at most e(z) = ``after`` apart.

    The function e is nondecreasing. ``guide`` is the map of the second point; OTHER includes the differing
    sample. The claims ``lemmas`` prove the expansion for every loss of the class, under the hypotheses and
    conditions, at every step or at one ``step`` only.
    """

    z: Symbol
    after: Expr
    guide: Guide
    lemmas: tuple[str, ...]
    hypotheses: frozenset[Hypothesis] = frozenset()
    conditions: tuple[Boolean, ...] = ()
    step: Expr | None = None
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The hypothesis that a step using this part has if the part is not proved."""
        says = (
            "points at most the first apart are at most the second apart after the maps of a step of both runs"
        )
        return Hypothesis(says, (self.z, self.after), lemma=True, over=(self.z,))

    def at(self, distance: Expr) -> Expr:
        """e(distance)."""
        return self.after.subs(self.z, distance)


@dataclass(frozen=True)
class Shift:
    """A bound ``profile`` on E_g(h + xi || xi), both orders, for |h| <= ``length`` and noise xi of ``variance``."""

    length: Expr
    profile: Profile
    variance: Expr = S.Zero
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()
    is_shown: bool = field(default=False, init=False)

    @property
    def owed(self) -> Hypothesis:
        """The hypothesis that a step using this part has if the part is not proved."""
        says = "a shift of noise of the first variance by at most the second costs at most this"
        return Hypothesis(
            says, (self.variance, self.length), symmetric=False, lemma=True, bounds=(self.profile,)
        )


@dataclass(frozen=True)
class Coin:
    """A bound ``profile`` for a step of both runs from the same point, with a hidden coin that decides the batch.

    ``variance`` is the variance of the noise that the coin uses. An ``observed`` coin is the outcome of a
    step; its hypotheses name its own noise, and no noise is added later.
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
        """The hypothesis that a step using this part has if the part is not proved."""
        says = "with noise of this variance a step of run 1 and one of run 2 from one point differ by this"
        return Hypothesis(says, (self.variance,), symmetric=False, lemma=True, bounds=(self.profile,))


def noise(variance: Expr) -> Hypothesis:
    """The hypothesis that a step adds noise of this variance."""
    return Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (variance,))


Part = TypeVar("Part", Expansion, Shift, Coin)


def shown(part: Part, *premises: Part) -> Part:
    """Mark a part as shown if the premises are shown and a lemma returns the part (`sealed.rule`)."""
    made = copy(part)
    object.__setattr__(made, "is_shown", all(map(genuine, premises)))
    return made


@rule
def supposing(expansion: Expansion, *more: Hypothesis, lemmas: tuple[str, ...] = ()) -> Expansion:
    """Add hypotheses and sources to an expansion; the result is shown if ``expansion`` is shown."""
    made = replace(expansion, hypotheses=expansion.hypotheses.union(more), lemmas=(*expansion.lemmas, *lemmas))
    return shown(made, expansion)


@rule
def on_condition(coin: Coin, *more: Boolean) -> Coin:
    """Add conditions to a coin; the result is shown if ``coin`` is shown."""
    return shown(replace(coin, conditions=(*coin.conditions, *more)), coin)


def previous(distance: Expr) -> Hypothesis:
    """The hypothesis on the previous points, by which a step with momentum moves its points."""
    return Hypothesis("the previous points of the two runs are at most this far apart", (distance,))


@rule
def with_momentum(expansion: Expansion, beta: Expr, before: Expr, *, ahead: bool) -> Expansion:
    """The map (1 + beta) phi(x) - beta p: z -> (1 + beta) e(z) + beta y, with previous points p at most y apart.

    If gradients are taken ``ahead``, the map phi(x + beta (x - p)): z -> e((1 + beta) z + beta y), because phi starts
    at points at most (1 + beta) z + beta y apart.
    """
    moved, words = (
        beta * before,
        "that map of x + beta (x - p)" if ahead else "1 + beta times that map, minus beta p",
    )
    momentum = Hypothesis(f"an update takes a point x with the previous point p to {words}; beta is", (beta,))
    z, e = expansion.z, expansion.at
    after = e((1 + beta) * z + moved) if ahead else (1 + beta) * e(z) + moved
    hypotheses = expansion.hypotheses | {previous(before), momentum}
    conditions = (*expansion.conditions, Ge(beta, 0), Ge(before, 0))
    return shown(replace(expansion, after=after, hypotheses=hypotheses, conditions=conditions), expansion)


def owed(*parts: Expansion | Shift | Coin) -> frozenset[Hypothesis]:
    """The hypotheses of a step, one for each part that is not proved."""
    return frozenset(part.owed for part in parts if not genuine(part))


@rule
def no_shift() -> Shift:
    """A shift of length 0 at no cost."""
    return shown(Shift(S.Zero, Equal()))


@rule
def gaussian_shift(length: Expr, variance: Expr, square: Expr | None = None) -> Shift:
    """By a rotation of h, E_g(N(h, v I) || N(0, v I)) is `Gauss` at mu = |h|/sqrt(v), which increases with mu.

    ``square`` is a bound on length^2 / variance; the variance can be 0 if the length is 0.
    """
    ratio, conditions = _ratio(length, variance, square)
    return shown(Shift(length, Gauss(ratio), variance, conditions, CITES))


@rule
def poisson_coin(rate: Expr, moved: Expr, variance: Expr, order: Order, square: Expr | None = None) -> Coin:
    """A sample that only run 1 has is in each batch with probability q and moves the mean by at most ``moved``.

    If P is the law with the sample, P - g Q = q (N(h) - tau N(0)) with tau = (g - 1 + q)/q. The other order
    is E_g(Q || P) = 1 - g + g E_{1/g}(P || Q). ``square`` is as in `gaussian_shift`.
    """
    says = (
        "run 1 has one sample more, in each batch with the first probability, "
        "where it moves the mean by at most the second"
    )
    sampled, (ratio, signs) = Hypothesis(says, (rate, moved), symmetric=False), _ratio(moved, variance, square)
    return _coin(PoissonStep(rate, ratio, order), sampled, variance, signs)


@rule
def swap_coin(rate: Expr, moved: Expr, variance: Expr, square: Expr | None = None) -> Coin:
    """A sample that is in each batch with probability q is replaced; three means are at most ``moved`` apart.

    The mean is x without the sample, and y or y' with the sample in run 1 or 2. For g >= 1, tau = 1 + (g -
    1)/q and w = g/tau <= 1, P - g P' = q (N(y) - tau ((1 - w) N(x) + w N(y'))). By convexity in the second
    law, a bound is q E_tau for two means ``moved`` apart. For g < 1 use E_g(P || P') = 1 - g + g E_{1/g}(P'
    || P). ``square`` is as in `gaussian_shift`.
    """
    says = (
        "one sample is replaced, in each batch with the first probability; means differ by at most the second"
    )
    replaced, (ratio, signs) = Hypothesis(says, (rate, moved)), _ratio(moved, variance, square)
    return _coin(SwapStep(rate, ratio), replaced, variance, signs)


def _coin(
    profile: PoissonStep | SwapStep, sampled: Hypothesis, variance: Expr, signs: tuple[Boolean, ...]
) -> Coin:
    conditions = (Gt(profile.rate, 0), Le(profile.rate, 1), *signs)
    return shown(Coin(profile, variance, frozenset({sampled}), conditions, CITES))


def _ratio(length: Expr, variance: Expr, square: Expr | None) -> tuple[Expr, tuple[Boolean, ...]]:
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
    """The outcome (A, A^T g / sqrt(p) + xi) of a step in which a sample moves g by h, |h| <= ``moved``.

    A has p = ``dimension`` columns of independent N(0, ``spread``^2) entries and is independent of data and
    state; xi is N(0, ``variance`` I). Given A, the means of two Gaussians are |A^T h| / sqrt(p) apart. Since
    |A^T h|^2 has the law of |h|^2 spread^2 X, the profile is a mean over X
    (docs/proofs/random_projection.md). ``load`` is at least (moved spread)^2 / (p variance).

    The sample is in the batch with probability ``rate``. Its presence is revealed unless ``hidden`` gives the
    order, for a sample that only run 1 has; then the profile given A is a `PoissonStep`.
    """
    if any(X in one.free_symbols for one in (rate, moved, spread, variance, dimension, load)):
        raise UnprovedError(f"The mean over {X} needs parameters in which it does not occur.")
    signs = (Gt(rate, 0), Le(rate, 1), Ge(moved, 0), Ge(load, 0), Gt(variance, 0))
    enough = Ge(load * dimension * variance, (moved * spread) ** 2)
    what = "run 1 has one sample more" if hidden else "one sample differs"
    says = f"{what}: in each batch with the first probability, where it moves the sum by at most the second"
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
