"""Lemmas that are derived once and serve derivations for any laws: Jensen, post-processing, composition, mixtures.

Each is a function of laws, so that it is proved for them anew, by the same rules.
"""

from sympy import Basic, Expr, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import At, Joint
from lastiterate.symbolic.integrals.laws import Laws
from lastiterate.symbolic.integrals.names import LAST
from lastiterate.symbolic.integrals.terms import Point, density, mean, place, points, power, sources
from lastiterate.symbolic.statement import Image, RenyiDivergence

T = Symbol("t", positive=True)


def jensen(rules: Laws, p: Expr, q: Expr, order: Expr, *given: Point) -> Judgement:
    """phi(E[p | y], E[q | y]) <= E[phi(p, q) | y]: the mean of all tangents, and their envelope."""
    lines = rules.mean(rules.tangent(p, q, T, order), *given)
    return rules.envelope(lines, mean(p, *given), mean(q, *given), T, order)


def post_processing(rules: Laws, order: Expr, how: Basic, first: Basic, second: Basic) -> Judgement:
    """D(h(P) || h(Q)) <= D(P || Q): Jensen given the image, and the tower."""
    after = Image(how, first), Image(how, second)
    rest = points(first) | points(second) | points(how)
    (y,) = place(*after)
    start = sources(first, y)[: len(place(first, second))]  # on one space
    at_image = jensen(rules, density(first, *start), density(second, *start), order, y, *rest)
    return rules.divergence(rules.mean(at_image, *rest), order, after, [(S.One, first, second)])


def composition(
    rules: Laws,
    order: Expr,
    laws: tuple[Basic, Basic],
    kernels: tuple[Basic, Basic],
    given_x: Judgement,
    ball: Boolean | None = None,
) -> Judgement:
    """D(P K || Q K') <= D(P || Q) + B, where D(K(x) || K'(x)) <= B at every x, or on a ball."""
    rest, at = points(laws[0]) | points(laws[1]), place(*laws)
    whole = rules.times(rules.conditional(given_x, order, *rest, *at), power(*laws, order, *at))
    if ball is not None:
        whole = rules.restrict(whole, ball, laws[0])
    pair = Joint(laws[0], kernels[0]), Joint(laws[1], kernels[1])
    return rules.divergence(rules.mean(whole, *rest), order, pair, [(S.One, *laws)], (order - 1) * given_x.right)


def nothing(rules: Laws, order: Expr, law: Basic) -> Judgement:
    """D(P || P) <= 0."""
    return rules.divergence(rules.reflexive(law, order), order, (law, law))


def mixtures(
    rules: Laws,
    order: Expr,
    law: Basic,
    kernels: tuple[Basic, Basic],
    given_x: Judgement,
    ball: Boolean | None = None,
) -> Judgement:
    """D(R K || R K') <= B on the laws of y, where D(K(x) || K'(x)) <= B at every x: forget x, which has one law."""
    pair = Joint(law, kernels[0]), Joint(law, kernels[1])
    both = composition(rules, order, (law, law), kernels, given_x, ball)
    return rules.chain(post_processing(rules, order, LAST, *pair), both, nothing(rules, order, law))


def everywhere(rules: Laws, order: Expr, kernels: tuple[Basic, Basic], x: Point) -> Judgement:
    """The divergence of two kernels at a point is at most the supremum over points."""
    return rules.member(RenyiDivergence(order, *(At(one, x) for one in kernels)), x)
