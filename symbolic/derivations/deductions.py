"""Deductions, by the rules of the calculus, of inequalities for all pairs of laws."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from sympy import Basic, Expr, Gt, Lambda, Lt, S, Symbol, exp, log
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.derivations.statements import *
from lastiterate.symbolic.kernel.densities import *
from lastiterate.symbolic.kernel.integrals import EVENT, Calculus, Proposition, add_noise
from lastiterate.symbolic.notation import *
from lastiterate.symbolic.statement import *
from lastiterate.symbolic.vectors import Norm

Deduction = Callable[[Calculus], Proposition]
AtOrder = Callable[[Calculus, Expr], Proposition]
_Pair = tuple[Basic, Basic]


def derive_post_processing(
    rules: Calculus, order: Expr, how: Basic, first: Basic, second: Basic
) -> Proposition:
    """D(h(P) || h(Q)) <= D(P || Q), by Jensen's inequality given the image, and the tower property."""
    after = Image(how, first), Image(how, second)
    rest = points(first) | points(second) | points(how)
    (y,) = place(*after)
    start = sources(first, y)[: len(place(first, second))]  # on one space
    at_image = rules.jensen(order, [(S.One, density(first, *start), density(second, *start))], y, *rest)
    return rules.divergence(rules.mean(at_image, *rest), order, after, [(S.One, first, second)])


def derive_composition(
    rules: Calculus, order: Expr, laws: _Pair, kernels: _Pair, given_x: Proposition, ball: Boolean | None = None
) -> Proposition:
    """D(P K || Q K') <= D(P || Q) + B, if D(K(x) || K'(x)) <= B at every x, or on a ball."""
    rest, at = points(laws[0]) | points(laws[1]), place(*laws)
    whole = rules.times(rules.conditional(given_x, order, *rest, *at), power(*laws, order, *at))
    if ball is not None:
        whole = rules.restrict(whole, ball, laws[0])
    pair = Joint(laws[0], kernels[0]), Joint(laws[1], kernels[1])
    return rules.divergence(
        rules.mean(whole, *rest), order, pair, [(S.One, *laws)], (order - 1) * given_x.right
    )


def no_divergence(rules: Calculus, order: Expr, law: Basic) -> Proposition:
    """D(P || P) <= 0."""
    return rules.divergence(rules.reflexive(law, order), order, (law, law))


def mixtures(
    rules: Calculus, order: Expr, law: Basic, kernels: _Pair, given_x: Proposition, ball: Boolean
) -> Proposition:
    """D <= B for y drawn from K(x) or K'(x), with x drawn from R, if D(K(x) || K'(x)) <= B on a ball."""
    pair = Joint(law, kernels[0]), Joint(law, kernels[1])
    both = derive_composition(rules, order, (law, law), kernels, given_x, ball)
    return rules.chain(
        derive_post_processing(rules, order, LAST, *pair), both, no_divergence(rules, order, law)
    )


def every_order(rules: Calculus, order: Symbol, least: int, deduction: AtOrder) -> Proposition:
    """A deduction for all orders >= ``least``, from orders above 1, orders below 1 and limits."""
    above = deduction(rules.under(Gt(order, 1)), order)
    below = deduction(rules.under(Gt(order, 0), Lt(order, 1)), order)
    return rules.every_order(above, below, order, least)


def _orders(name: str, deduction: AtOrder, *least: int) -> dict[str, Deduction]:
    made: dict[str, Deduction] = {name: lambda rules: deduction(rules.under(alpha > 1), alpha)}
    letters = {0: ANY_ORDER, 1: alpha}
    for one in least:
        made[f"{name}/from {one}"] = partial(every_order, order=letters[one], least=one, deduction=deduction)
    return made


def _composition(rules: Calculus, order: Expr) -> Proposition:
    worst = rules.member(RenyiDivergence(order, At(KERNEL, POINT), At(KERNEL_2, POINT)), POINT)
    return derive_composition(rules, order, (FIRST, SECOND), (KERNEL, KERNEL_2), worst)


def _sequences(rules: Calculus, order: Expr) -> Proposition:
    laws = Prefix(FORMER, INDEX), Prefix(LATTER, INDEX)
    kernels = Next(FORMER, INDEX), Next(LATTER, INDEX)
    worst = rules.member(RenyiDivergence(order, *(At(one, POINT) for one in kernels)), POINT)
    step = derive_composition(rules, order, laws, kernels, worst)
    for law, kernel in zip(laws, kernels, strict=True):
        step = rules.rewrite(step, Joint(law, kernel), law.subs(INDEX, INDEX + 1))
    base = no_divergence(rules, order, Prefix(FORMER, S.Zero))
    return rules.telescope(step, base, RenyiDivergence(order, *laws), INDEX, COUNT)


def _budgets(rules: Calculus) -> Proposition:
    made = every_order(rules, alpha, 1, _composition)
    second, first = sorted(made.right.args, key=lambda one: isinstance(one, RenyiDivergence))
    return rules.chain(made, rules.assume(first <= EPSILON_1), rules.assume(second <= EPSILON_2))


def _steps(rules: Calculus) -> Proposition:
    made = every_order(rules, alpha, 1, _sequences)
    return rules.chain(made, rules.total(rules.assume(Every(STEP <= COST, INDEX)), S.One, INDEX, COUNT))


def _markov(rules: Calculus) -> Proposition:
    return rules.times(rules.mean(rules.indicator(VARIABLE, LEVEL)), 1 / LEVEL)


def derive_quasi_convexity(rules: Calculus, order: Expr) -> Proposition:
    """E[phi] of mixtures is at most the mean of both E[phi], each at most s exp((a-1) max(D_1, D_2))."""
    pairs = ((MIX, FIRST, SECOND), (1 - MIX, THIRD, FOURTH))
    rules = rules.under(MIX <= 1)
    first, other = (RenyiDivergence(order, *laws) for _, *laws in pairs)
    least = rules.maximum(first, other), rules.maximum(other, first)
    whole = rules.chain(_mixed(rules, order, *pairs), *(rules.conditional(one, order) for one in least))
    return rules.divergence(whole, order, MIXED, rest=(order - 1) * least[0].right)


def _mixed(rules: Calculus, order: Expr, *pairs: tuple[Expr, Basic, Basic], **limits: Any) -> Proposition:
    where = place(*(law for _, *laws in pairs for law in laws))
    terms = [(w, density(one, *where), density(other, *where)) for w, one, other in pairs]
    return rules.mean(rules.jensen(order, terms, *where, **limits))


def _mixture(rules: Calculus, each: Proposition) -> Proposition:
    """E[phi] of mixtures is at most the mean of all E[phi], each at most exp((a-1) e(i)). Take logarithms."""
    bounds = rules.total(rules.conditional(each, alpha), WEIGHT, INDEX, COUNT)
    whole = rules.chain(_mixed(rules, alpha, (WEIGHT, *EACH), limits=LIMITS), bounds)
    return rules.divergence(whole, alpha, MIXTURES, rest=log(bounds.right))


def _mean_of_orders(rules: Calculus) -> Proposition:
    rules = rules.under(alpha > 1)
    return _mixture(rules, rules.assume(Every(RenyiDivergence(alpha, *EACH) <= COST, INDEX)))


def _joint_convexity(rules: Calculus) -> Proposition:
    """Bound each divergence by itself; both sides are 1 at order 1."""
    above, own = rules.under(alpha > 1), RenyiDivergence(alpha, *EACH)
    return rules.ends(above.exponential(_mixture(above, above.maximum(own, own)), alpha - 1), alpha, S.One)


def _second_law(rules: Calculus) -> Proposition:
    """Use Hoelder's inequality for orders above 1 and Jensen's for orders below 1, then add lam = 0 and lam = 1."""
    inside = rules.under(MIX > 0, MIX < 1)
    order, mixed = ANY_ORDER, (1 - MIX) * SECOND + MIX * THIRD
    bounds = [(1 - MIX, FIRST, SECOND), (MIX, FIRST, THIRD)]

    def hoelder(rules: Calculus) -> Proposition:
        """q >= q_2^lam q_1^(1-lam), so p^a q^(1-a) <= A_2^lam A_1^(1-lam), A_i = p^a q_i^(1-a); use Jensen."""
        (x,) = place(FIRST)
        p, one, other = (density(law, x) for law in (FIRST, SECOND, THIRD))
        raised = rules.times(rules.raised(rules.negate(rules.young(other, one, MIX)), 1 - order), p**order)
        powers = [power(FIRST, law, order, x) for law in (THIRD, SECOND)]
        bound = powers[0] ** MIX * powers[1] ** (1 - MIX)
        pointwise = rules.mean(rules.equal(raised, p**order * density(mixed, x) ** (1 - order), bound))
        return rules.chain(pointwise, rules.negate(rules.jensen(MIX, [(S.One, *powers)])))

    def jensen(rules: Calculus) -> Proposition:
        """-M <= -(lam M_2 + (1 - lam) M_1) <= -M_2^lam M_1^(1-lam)."""
        third, second = (moment(FIRST, law, order) for law in (THIRD, SECOND))
        return rules.chain(_mixed(rules, order, *bounds), rules.young(third, second, MIX))

    ways = (inside.under(order > 1), hoelder), (inside.under(order > 0, order < 1), jensen)
    above, below = (way.divergence(proof(way), order, (FIRST, mixed), bounds) for way, proof in ways)
    return rules.ends(rules.every_order(above, below, order, 0), MIX, S.Zero, S.One)


def _conversion(rules: Calculus, loss: Expr = epsilon + chi / (alpha - 1)) -> Proposition:
    """P(S) <= g Q(S) + g^(1-a) E[p^a q^(1-a)] at g = exp(loss)."""
    rules, factor = rules.under(alpha > 1), exp(loss)
    (x,) = place(FIRST)
    excess = rules.mean(
        rules.times(rules.excess(density(FIRST, x), density(SECOND, x), factor, alpha), EVENT(x))
    )
    whole = rules.below_one(power(FIRST, SECOND, alpha, x), x)
    bound = rules.conditional(
        rules.assume(RenyiDivergence(alpha, FIRST, SECOND) <= loss - chi / (alpha - 1)), alpha
    )
    made = rules.hockey_stick(rules.chain(excess, whole, bound), factor, FIRST, SECOND)
    return rules.equal(made, made.left, exp(-chi))


COMPETITOR: Final = Symbol("mu'")
_PART: Final = Symbol("H")
_CHOSEN: Final = Parting(_PART, FIRST, COMPETITOR, a)


def _shift_reduction(rules: Calculus) -> Proposition:
    """For X' with a law P' within z + a of P, bound the left side by D(X' - H + noise || Y + noise).

    H is a part of X' - X of length at most a, as in `Calculus.part`.
    """
    within, variance = Within(FIRST, COMPETITOR, z + a), sigma**2
    near = rules.part(rules.assume(within), _PART, a, z, variance)
    left = rules.competitor(near, Noisy(SECOND, variance), alpha)
    whole = rules.chain(left, every_order(rules, alpha, 1, _parted_noise))
    return rules.infimum(rules.forget(whole, _CHOSEN), within)


def _parted_noise(rules: Calculus, order: Expr) -> Proposition:
    """D(X' + noise - part || Y + noise) <= D(X' || Y) + a^2 order / (2 variance), for pairs and then their sums.

    Given X', noise plus a draw from the ball of radius a is a mixture of Gaussians with means at most a.
    """
    variance, law, h = sigma**2, At(_PART, POINT), Point("h")
    still, moved = Gaussian(S.Zero, variance), Lambda(h, Gaussian(h, variance))
    (y,) = place(law)
    shifted = rules.gaussian(y, a, variance, order)
    noise = mixtures(rules, order, law, (moved, constant_kernel(still)), shifted, Norm(y) <= a)
    _, first, second = noise.left.args
    noise = rules.rewrite(rules.rewrite(noise, first, Noisy(law, variance)), second, still)
    kernels = add_noise(_PART, variance), constant_kernel(still)
    both = derive_composition(rules, order, (COMPETITOR, SECOND), kernels, rules.parted(noise, _CHOSEN))
    after = derive_post_processing(rules, order, SUM, Joint(COMPETITOR, kernels[0]), Joint(SECOND, kernels[1]))
    return rules.rewrite(rules.chain(after, both), after.left.args[2], Noisy(SECOND, variance))


def _reduction(rules: Calculus, *, distance: Expr, other: Basic, how: tuple[Boolean, ...]) -> Proposition:
    """For any P' on the right, take its image under the second map on the left; use post-processing."""

    def image(rules: Calculus, order: Expr) -> Proposition:
        return derive_post_processing(rules, order, other, COMPETITOR, SECOND)

    within = Within(FIRST, COMPETITOR, z)
    near = rules.push(rules.assume(within), (MAP, other), distance, *how)
    left = rules.competitor(near, Image(other, SECOND), alpha)
    return rules.infimum(rules.chain(left, every_order(rules, alpha, 1, image)), within)


def _noisy_reduction(rules: Calculus, most: Expr, factor: Expr = 1 + eta * L) -> Proposition:
    """For any P' within z of P, couple h(P) and h(P'), and compare h(P') and h'(Q) by composition."""
    within, rules = Within(FIRST, COMPETITOR, z), rules.under(alpha > 1)
    near = rules.push(rules.assume(within), (MAP, MAP), factor * z, Lipschitz(MAP, factor))
    laws, maps = (COMPETITOR, SECOND), (MAP, OTHER_MAP)
    both = derive_composition(rules, alpha, laws, maps, rules.assume(apart(most)))
    made = rules.chain(derive_post_processing(rules, alpha, LAST, *map(Joint, laws, maps)), both)
    for law, one in zip(laws, maps, strict=True):
        made = rules.rewrite(made, mixture(law, one), Image(one, law))
    return rules.infimum(rules.chain(rules.competitor(near, Image(OTHER_MAP, SECOND), alpha), made), within)


def _extremum(rules: Calculus) -> Proposition:
    """A bound for every law on the ball, as a mean over points, and a point that attains the bound."""
    rules, variance, vector = rules.under(RATE < 1), sigma**2, Symbol("v")
    upper = every_order(rules, alpha, 1, _on_the_ball)
    lower = rules.on_a_line(vector, RADIUS, variance, alpha, RATE, back=True)
    return rules.extremum(upper, lower, OnBall(FIRST, RADIUS), vector)


def _on_the_ball(rules: Calculus, order: Expr) -> Proposition:
    (x,), h, variance = place(FIRST), Point("h"), sigma**2
    still, moved = Gaussian(S.Zero, variance), Gaussian(h, variance)

    def sampled(one: Basic, other: Basic) -> Basic:
        return (1 - RATE) * one + RATE * other

    made = rules.on_a_line(x, RADIUS, variance, order, RATE, back=False)
    kernels = constant_kernel(still), Lambda(h, sampled(still, moved))
    made = mixtures(rules, order, FIRST, kernels, made, Norm(x) <= RADIUS)
    parts = mixture(FIRST, kernels[0]), mixture(FIRST, Lambda(h, moved))
    made = rules.rewrite(made, mixture(FIRST, kernels[1]), sampled(*parts))
    return rules.rewrite(rules.rewrite(made, parts[0], still), parts[1], Noisy(FIRST, variance))


def _small_rate(
    rules: Calculus, rate: Expr = q, noise: Expr = sigma, *, back: bool = False, wide: bool = False
) -> Proposition:
    return rules.sampled(alpha, rate, noise**2, back=back, wide=wide)


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
    **_orders("post_processing", partial(derive_post_processing, how=MAP, first=FIRST, second=SECOND), 0, 1),
    **_orders("composition", _composition, 1),
    "composition/budgets": _budgets,
    **_orders("sequences", _sequences, 1),
    "sequences/budgets": _steps,
    "markov": _markov,
    **_orders("quasi_convexity", derive_quasi_convexity, 1),
    "joint_convexity": _joint_convexity,
    "mean_of_orders": _mean_of_orders,
    "second_law": _second_law,
    "conversion": _conversion,
    "conversion/loss": partial(_conversion, loss=epsilon),
    "shift_reduction": _shift_reduction,
    "extremum": _extremum,
    "small_rate": _small_rate,
    "small_rate/back": partial(_small_rate, back=True),
    "small_rate/wide": partial(_small_rate, rate=b / n, noise=nu, wide=True),
    "small_rate/wide, back": partial(_small_rate, rate=b / n, noise=nu, back=True, wide=True),
    "reduction/noisy": partial(_noisy_reduction, most=2 * alpha * K**2 / (beta * n * b * sigma_dp**2)),
    "reduction/noisy, both orders": partial(_noisy_reduction, most=mixed_step(beta)),
    **{f"reduction/{name}": partial(_reduction, **case) for name, case in _CASES.items()},
}
"""The deductions by the names that claims use."""
