"""Shifted divergences: noise pays for a shift, maps change it; and the extremum of the sampled Gaussian."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sympy import Basic, Expr, Lambda, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals import lemmas
from lastiterate.symbolic.integrals.couplings import Calculus, noisy
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import (
    Along,
    At,
    Close,
    Dirac,
    Gaussian,
    Joint,
    Lift,
    OnBall,
    Parting,
    Within,
)
from lastiterate.symbolic.integrals.names import SUM, mixture
from lastiterate.symbolic.integrals.orders import Deduction, every_order
from lastiterate.symbolic.integrals.statements import APART, FACTOR, OTHER_MAP, POINT, RADIUS, RATE
from lastiterate.symbolic.integrals.terms import Point, constant, place
from lastiterate.symbolic.notation import L, a, alpha, lam, sigma, z
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, HolderMove, Image, Lipschitz, Noisy, Normal
from lastiterate.symbolic.vectors import Norm

COMPETITOR: Final = Symbol("mu'")
PART: Final = Symbol("H")
CHOSEN: Final = Parting(PART, FIRST, COMPETITOR, a)


def _shift_reduction(rules: Calculus) -> Judgement:
    """For any P' on the right, and X' of it, the law of X' + noise - part of X' - X on the left."""
    within, variance = Within(FIRST, COMPETITOR, z + a), sigma**2
    near = rules.part(rules.assume(within), PART, a, z, variance)
    left = rules.competitor(near, Noisy(SECOND, variance), alpha)
    whole = rules.chain(left, every_order(rules, alpha, 1, _parted_noise))
    return rules.infimum(rules.forget(whole, CHOSEN), within)


def _parted_noise(rules: Calculus, order: Expr) -> Judgement:
    """D(X' + noise - part || Y + noise) <= D(X' || Y) + a^2 order / (2 variance): of the pairs, and their sums."""
    variance = sigma**2
    kernels = noisy(PART, variance), constant(Gaussian(S.Zero, variance))
    noise = rules.parted(_noise(rules, order, At(PART, POINT), variance), CHOSEN)
    both = lemmas.composition(rules, order, (COMPETITOR, SECOND), kernels, noise)
    after = lemmas.post_processing(rules, order, SUM, Joint(COMPETITOR, kernels[0]), Joint(SECOND, kernels[1]))
    return rules.rewrite(rules.chain(after, both), after.left.args[2], Noisy(SECOND, variance))


def _noise(rules: Calculus, order: Expr, law: Basic, variance: Expr) -> Judgement:
    """A law on the ball of radius a with noise, against noise: a mixture of Gaussians, each at most a away."""
    (y,) = place(law)
    still, h = Gaussian(S.Zero, variance), Point("h")
    kernels = Lambda(h, Gaussian(h, variance)), constant(still)
    made = lemmas.mixtures(rules, order, law, kernels, rules.gaussian(y, a, variance, order), Norm(y) <= a)
    _, first, second = made.left.args
    return rules.rewrite(rules.rewrite(made, first, Noisy(law, variance)), second, still)


def _reduction(rules: Calculus, *, distance: Expr, other: Basic, how: tuple[Boolean, ...]) -> Judgement:
    """For any P' on the right, its image under the second map on the left; post-processing by that map."""
    within = Within(FIRST, COMPETITOR, z)
    near = rules.push(rules.assume(within), (MAP, other), distance, *how)
    left = rules.competitor(near, Image(other, SECOND), alpha)
    after = partial(_image, how=other)
    whole = rules.chain(left, every_order(rules, alpha, 1, after))
    return rules.infimum(whole, within)


def _image(rules: Calculus, order: Expr, *, how: Basic) -> Judgement:
    return lemmas.post_processing(rules, order, how, COMPETITOR, SECOND)


def _extremum(rules: Calculus) -> Judgement:
    """A bound for every law on the ball, and a law that attains it."""
    rules = rules.under(RATE < 1)
    upper, lower = (every_order(rules, alpha, 1, one) for one in (_on_the_ball, _at_a_point))
    return rules.extremum(upper, lower, OnBall(FIRST, RADIUS), VECTOR)


def _on_the_ball(rules: Calculus, order: Expr) -> Judgement:
    """A lift of the line to each point of the ball, and the mean over its points."""
    (x,), h, variance = place(FIRST), Point("h"), sigma**2
    lift, still = Lift(x, RADIUS, variance), Gaussian(S.Zero, variance)
    made = lemmas.post_processing(rules, order, lift, LINE[0], _sampled(*LINE))
    made = rules.rewrite(made, Image(lift, _sampled(*LINE)), _sampled(*(Image(lift, one) for one in LINE)))
    made = rules.rewrite(made, Image(lift, LINE[0]), still)
    made = rules.rewrite(made, Image(lift, LINE[1]), Gaussian(x, variance))
    kernels = constant(still), Lambda(h, _sampled(still, Gaussian(h, variance)))
    made = lemmas.mixtures(rules, order, FIRST, kernels, made, Norm(x) <= RADIUS)
    parts = mixture(FIRST, kernels[0]), mixture(FIRST, Lambda(h, Gaussian(h, variance)))
    made = rules.rewrite(made, mixture(FIRST, kernels[1]), _sampled(*parts))
    return rules.rewrite(rules.rewrite(made, parts[0], still), parts[1], Noisy(FIRST, variance))


def _at_a_point(rules: Calculus, order: Expr) -> Judgement:
    """The component along a point of the sphere has the laws on the line."""
    variance, along = sigma**2, Along(VECTOR, RADIUS)
    laws = Gaussian(S.Zero, variance), Gaussian(VECTOR, variance)
    made = lemmas.post_processing(rules, order, along, laws[0], _sampled(*laws))
    made = rules.rewrite(made, Image(along, _sampled(*laws)), _sampled(*(Image(along, one) for one in laws)))
    for one, other in zip(laws, LINE, strict=True):
        made = rules.rewrite(made, Image(along, one), other)
    return rules.rewrite(made, laws[1], Noisy(Dirac(VECTOR), variance))


def _sampled(still: Basic, moved: Basic) -> Basic:
    """The first law, or the other one with chance q."""
    mixed: Basic = (1 - RATE) * still + RATE * moved
    return mixed


LINE: Final = tuple(Normal(mean, sigma**2 / RADIUS**2) for mean in (S.Zero, S.One))
VECTOR: Final = Symbol("v")
"""A vector of length R."""

LIPSCHITZ: Final = Lipschitz(MAP, FACTOR)
HOELDER: Final = HolderMove(MAP, L, lam)
CONTRACTION: Final = Lipschitz(MAP, S.One)
CLOSE: Final = Close(MAP, OTHER_MAP, APART)

_CASES: Final[Mapping[str, dict[str, Any]]] = {
    "lipschitz": {"distance": FACTOR * z, "other": MAP, "how": (LIPSCHITZ,)},
    "hoelder": {"distance": z + L * z**lam, "other": MAP, "how": (HOELDER,)},
    "contractions": {"distance": z + APART, "other": OTHER_MAP, "how": (CONTRACTION, CLOSE)},
    "close": {"distance": FACTOR * z + APART, "other": OTHER_MAP, "how": (LIPSCHITZ, CLOSE)},
}

DEDUCTIONS: Final[Mapping[str, Deduction]] = {
    "shift_reduction": _shift_reduction,
    "extremum": _extremum,
    **{f"reduction/{name}": partial(_reduction, **case) for name, case in _CASES.items()},
}
