"""The rules of the calculus refuse what does not fit, and a statement must suppose all that its deduction does."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Eq, Function, Gt, Lambda, Le, Lt, Rational, S, Sum, Symbol, exp, oo

from lastiterate.proofs_checks.engines.derivation import conclude, deduce
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.derivations import deductions, statements
from lastiterate.symbolic.derivations.deductions import CLOSE, DEDUCTIONS, LIPSCHITZ
from lastiterate.symbolic.derivations.statements import FACTOR, MIX, OTHER_MAP, THIRD
from lastiterate.symbolic.kernel.densities import (
    KERNEL,
    At,
    Close,
    Dirac,
    Joint,
    OnBall,
    Parting,
    Point,
    Within,
    constant_kernel,
    density,
    mean,
    mixture,
    one_law,
    place,
    sources,
)
from lastiterate.symbolic.kernel.integrals import Calculus, Proposition, quantities
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.notation import a, alpha, sigma, z
from lastiterate.symbolic.statement import (
    FIRST,
    MAP,
    SECOND,
    Expectation,
    HolderMove,
    Image,
    LeastOver,
    Lipschitz,
    RenyiDivergence,
)
from lastiterate.symbolic.vectors import Norm

P, Q = density(FIRST), density(SECOND)
X, Y = Point("x"), Point("y")
RULES = Calculus(prove, frozenset({Gt(alpha, 1)}))


def test_means_are_linear_and_towers():
    assert mean(2 * P + mean(P * z, Y)) == 2 * mean(P) + z * mean(P)
    assert mean(mean(P, Y) * mean(Q, Y), Y) == mean(P, Y) * mean(Q, Y)
    assert mean(P * mean(Q, X, Y), X) == P * mean(Q, X)


def test_jensens_inequality_is_for_every_point():
    made = RULES.jensen(alpha, [(S.One, density(FIRST, X), density(SECOND, X))], Y)
    assert made.left == mean(density(FIRST, X), Y) ** alpha * mean(density(SECOND, X), Y) ** (1 - alpha)
    with pytest.raises(UnprovedError, match="that do not contain these points"):
        RULES.under(Le(density(FIRST, X), 1)).jensen(alpha, [(S.One, P, Q)])
    for weight in (-S.One, z - a):
        with pytest.raises(UnprovedError):
            RULES.jensen(alpha, [(weight, P, Q)])


def test_jensens_inequality_has_one_order_and_known_weights():
    """Else E[X] <= X would hold at every point, and (E[p])^A <= E[p^A] for a random order A."""
    at_point, limits = Function("X", nonnegative=True)(Y), (statements.INDEX, S.One, statements.COUNT)
    p, each = Function("p", nonnegative=True)(Y), Function("p", nonnegative=True)(statements.INDEX)
    number = Point("N", integer=True, nonnegative=True)
    assert RULES.jensen(alpha, [(at_point, S.One, S.One)], Y)
    _refused("weights and an order", RULES.jensen, alpha, [(at_point, S.One, S.One)])
    _refused("weights and an order", RULES.jensen, 2 + at_point, [(S.One, p, S.One)])
    assert RULES.jensen(S(2), [(S.One, each, S.One)], limits=limits)
    for order, count in ((2 + limits[0], limits[2]), (S(2), z), (S(2), -1 - limits[2]), (S(2), number)):
        with pytest.raises(UnprovedError):
            RULES.jensen(order, [(S.One, each, S.One)], limits=(*limits[:2], count))
    total = Sum(each, (*limits[:2], number))
    assert mean(total) != Sum(each, (*limits[:2], number))
    assert mean(total, number) == total
    _refused("A sum needs", RULES.total, RULES.maximum(each, p), S.One, limits[0], z)


def test_a_mixture_on_a_line_has_a_rate_of_at_most_1():
    vector, radius, rate = Symbol("v"), statements.RADIUS, statements.RATE
    for back, there in ((True, Eq), (False, Le)):
        made = RULES.under(rate <= 1).on_a_line(vector, radius, sigma**2, alpha, rate, back=back)
        assert there(Norm(vector), radius) in made.given
        with pytest.raises(UnprovedError):
            RULES.on_a_line(vector, radius, sigma**2, alpha, rate, back=back)


def test_an_order_is_above_or_below_1():
    with pytest.raises(UnprovedError, match="order"):
        Calculus(prove).young(P, Q, alpha)
    below = Calculus(prove, frozenset({Lt(alpha, 1)})).young(P, Q, alpha)
    assert below.left == -RULES.young(P, Q, alpha).left


def test_a_factor_is_not_negative():
    lines = RULES.young(P, Q, alpha)
    with pytest.raises(UnprovedError):
        RULES.times(lines, 1 - z)
    with pytest.raises(UnprovedError):
        RULES.chain(RULES.times(lines, density(THIRD)), lines)


def test_a_mixture_has_weights_of_total_1():
    with pytest.raises(UnprovedError, match="add up to 1"):
        deductions.no_divergence(RULES, alpha, FIRST + SECOND)
    with pytest.raises(UnprovedError, match="same space"):
        deductions.derive_post_processing(RULES, alpha, MAP, FIRST, Joint(FIRST, KERNEL))


def test_maps_lead_no_nearer_than_they_move():
    near = RULES.assume(Within(FIRST, SECOND, z))
    assert RULES.push(near, (MAP, MAP), FACTOR * z, LIPSCHITZ)
    for distance, other, how in (
        (FACTOR * z * Rational(99, 100), MAP, (LIPSCHITZ,)),
        (FACTOR * z, OTHER_MAP, (LIPSCHITZ, CLOSE)),
        (FACTOR * z, OTHER_MAP, (LIPSCHITZ,)),
        (FACTOR * z, MAP, ()),
    ):
        with pytest.raises(UnprovedError):
            RULES.push(near, (MAP, other), distance, *how)


def test_noise_hides_no_more_than_its_part():
    near, part = RULES.assume(Within(FIRST, SECOND, z + a)), Symbol("H")
    assert RULES.part(near, part, a, z, sigma**2)
    with pytest.raises(UnprovedError):
        RULES.part(near, part, a * Rational(99, 100), z, sigma**2)
    with pytest.raises(UnprovedError, match="may not occur in"):
        RULES.forget(RULES.part(near, part, a, z, sigma**2), Parting(part, FIRST, SECOND, a))


def test_an_infimum_is_over_a_letter_that_stands_nowhere_else():
    within = Within(FIRST, SECOND, z)
    left = RULES.competitor(RULES.assume(within), SECOND, alpha)
    with pytest.raises(UnprovedError, match="one divergence only"):
        RULES.infimum(left, within)
    left = RULES.competitor(RULES.assume(within), THIRD, alpha)
    assert RULES.infimum(left, within).left == RULES.infimum(left, within).right


def test_a_sum_is_one_quantity():
    total = Sum(
        RenyiDivergence(alpha, FIRST, SECOND) * statements.INDEX, (statements.INDEX, 1, statements.COUNT)
    )
    assert list(quantities(total)) == [total]


def test_what_is_infinite_stays_so():
    made = deduce("post_processing")
    assert RULES.follow(made, made.left, 2 * made.right)
    with pytest.raises(UnprovedError, match="infinite"):
        RULES.follow(made, made.left - made.right, S.Zero)


def test_no_quantity_is_subtracted_and_none_comes_in():
    made, other = deduce("post_processing"), RenyiDivergence(alpha, FIRST, THIRD)
    with pytest.raises(UnprovedError, match="infinite"):
        RULES.follow(made, made.left / 2 - made.right / 2, made.right / 2)
    for extra in (other, LeastOver(-1), Expectation(SECOND)):
        with pytest.raises(UnprovedError, match="do not occur in"):
            RULES.follow(made, made.left, made.right + extra)
    bounded = made.right / (1 + made.right)
    with pytest.raises(UnprovedError, match="infinite"):
        RULES.follow(made, made.left / (1 + made.left), bounded)


def test_a_factor_that_may_be_0_does_not_cancel():
    line = RULES.jensen(alpha, [(S.One, P, Q)], Y)
    with pytest.raises(UnprovedError, match="can be 0"):
        RULES.times(line, mean(P, Y) ** -alpha)  # E[q]^(1 - a) <= E[phi] E[p]^(-a) is false where p is 0


def test_a_root_of_a_square_is_no_negative_number():
    x, power = Symbol("x", real=True), Symbol("c", positive=True)
    made = RULES.maximum(((x - 5) ** 2) ** power, S.Zero)
    with pytest.raises(UnprovedError):
        RULES.equal(made, (x - 5) ** (2 * power), made.right)


def test_images_under_two_maps_are_not_compared():
    assert deductions.derive_post_processing(RULES, alpha, MAP, FIRST, SECOND)
    (y,) = place(Image(MAP, FIRST), Image(MAP, SECOND))
    start = sources(FIRST, y)
    made = RULES.mean(RULES.jensen(alpha, [(S.One, density(FIRST, *start), density(SECOND, *start))], y))
    pairs = [(Image(MAP, FIRST), Image(OTHER_MAP, SECOND)), (Image(MAP, FIRST), Joint(FIRST, KERNEL))]
    for pair in pairs:
        with pytest.raises(UnprovedError, match="same space"):
            RULES.divergence(made, alpha, pair, [(S.One, FIRST, SECOND)])
    nested = [Image(MAP, Image(how, FIRST)) for how in (MAP, OTHER_MAP)]
    with pytest.raises(UnprovedError, match="images under the same map"):
        place(*nested)


def test_a_law_has_total_mass_1():
    with pytest.raises(UnprovedError, match="add up"):
        RULES.reflexive(2 * FIRST, alpha)
    mixture = Sum(statements.WEIGHT * At(KERNEL, statements.INDEX), (statements.INDEX, 1, statements.COUNT))
    total = Eq(Sum(statements.WEIGHT, (statements.INDEX, 1, statements.COUNT)), 1)
    assert total in RULES.reflexive(mixture, alpha).given


def test_a_letter_ranges_over_all_its_values():
    limits = statements.INDEX, S.One, statements.COUNT
    assert RULES.jensen(alpha, [(S.One, P, Q)], limits=limits)
    even = Symbol("i", even=True, nonnegative=True)
    with pytest.raises(UnprovedError, match="sum"):
        RULES.total(RULES.maximum(P, Q), S.One, even, statements.COUNT)
    inside = RULES.under(Le(statements.INDEX, 3))
    for rules, wrong in (
        (RULES, (even, *limits[1:])),
        (RULES, (limits[0], S.Zero, limits[2])),
        (inside, limits),
    ):
        with pytest.raises(UnprovedError, match="sum"):
            rules.jensen(alpha, [(S.One, P, Q)], limits=wrong)


def test_a_hockey_stick_is_over_every_event():
    p, q = RULES.event(FIRST), RULES.event(SECOND)
    one = RULES.assume(Le(p, 2 * q + z))
    with pytest.raises(UnprovedError, match="hockey stick"):
        RULES.hockey_stick(one, S(2), FIRST, SECOND)


def test_a_name_of_a_law_captures_no_letter():
    inside = At(KERNEL, Point("o"))
    with pytest.raises(UnprovedError, match="same"):
        constant_kernel(inside)
    h, weight = Point("h"), Function("c", nonnegative=True)(Point("h"))
    kernel = Lambda(h, weight * At(KERNEL, h) + (1 - weight) * FIRST)
    apart = weight * mixture(SECOND, Lambda(h, At(KERNEL, h))) + (1 - weight) * mixture(
        SECOND, constant_kernel(FIRST)
    )
    assert not one_law(mixture(SECOND, kernel), apart)


@pytest.mark.parametrize("name", DEDUCTIONS)
def test_a_statement_supposes_what_its_deduction_does(name):
    made = deduce(name)
    statement = statements.closed(made.says, *made.given)
    assert conclude(made, statement) is made
    with pytest.raises(UnprovedError, match="quantifier"):
        conclude(made, replace(statement, variables=statement.variables[1:]))
    inside = (
        {alpha > 1} if made.says.has(RenyiDivergence) and "log(1 + 1/(q*(alpha" in str(made.given) else set()
    )
    for condition in made.given - inside:  # the largest order is defined only above order 1
        fewer = replace(statement, conditions=tuple(made.given - {condition}))
        with pytest.raises(UnprovedError):
            conclude(made, fewer)
    if isinstance(made.says, Eq):
        return
    for factor in (Rational(99, 100), Rational(101, 100)):
        scaled = replace(statement, body=made.left <= factor * made.right)
        if factor > 1 or made.right == 0:
            assert conclude(made, scaled)
        else:
            with pytest.raises(UnprovedError):
                conclude(made, scaled)


def test_a_part_is_forgotten_by_its_letter():
    """Else laws z + a apart would be z apart once both have noise, with no shift of it."""
    within, still = Within(FIRST, SECOND, z + a), constant_kernel(Dirac(S.Zero))
    with pytest.raises(UnprovedError, match="letter"):
        RULES.part(RULES.assume(within), still, a, z, S.One)
    letter = Symbol("H")
    for chosen in (Parting(still, FIRST, SECOND, a), Parting(letter, FIRST, SECOND, -a - 1)):
        with pytest.raises(UnprovedError):
            RULES.forget(RULES.under(chosen, within).maximum(z, a), chosen)


def test_infinite_quantities_do_not_cancel():
    """D <= D/2 holds where D is infinite, and then D <= 0 does not."""
    divergence = RenyiDivergence(alpha, FIRST, SECOND)
    half, whole = (RULES.assume(Le(divergence, divergence / by, evaluate=False)) for by in (2, 1))
    with pytest.raises(UnprovedError, match="infinite"):
        RULES.follow(half, divergence, S.Zero)
    assert RULES.follow(whole, 2 * divergence, 2 * divergence).left == 2 * divergence


def _refused(match: str, rule: Callable[..., Proposition], *args: object) -> None:
    with pytest.raises(UnprovedError, match=match):
        rule(*args)


def test_a_mean_and_a_sum_need_the_inequality_everywhere():
    at_point = RULES.assume(Le(density(FIRST, X), 2 * density(SECOND, X)))
    assert RULES.mean(at_point, X).left == density(FIRST, X)
    _refused("that do not contain these points", RULES.mean, at_point)
    at_index = RULES.assume(Le(statements.INDEX * P, Q))
    assert RULES.total(RULES.maximum(P, Q), S.One, statements.INDEX, statements.COUNT)
    _refused("A sum needs", RULES.total, at_index, S.One, statements.INDEX, statements.COUNT)


def test_a_chain_needs_a_term_of_its_own():
    link = RULES.assume(Le(Q, z))
    for right in (Q + Q**2, Q * exp(Q)):
        _refused("in a linear term", RULES.chain, RULES.assume(Le(P, right)), link)


def test_what_follows_is_infinite_as_a_term_of_its_own():
    """R^2 - R + 1 is at least R, and at an infinite R it is not defined."""
    made = deduce("post_processing")
    _refused("infinite", RULES.follow, made, made.left, made.right**2 - made.right + 1)


def test_equal_sides_are_equal():
    made = RULES.maximum(P, Q)
    assert RULES.equal(made, P, made.right)
    for sides in ((2 * P, made.right), (P, 2 * made.right)):
        _refused("must equal those of the premise", RULES.equal, made, *sides)


def test_an_end_is_reached_where_sides_are_equal_and_nothing_else_is_supposed():
    inside = Calculus(prove, frozenset({MIX > 0}))
    made = inside.times(inside.maximum(P, Q), MIX)
    assert inside.ends(made, MIX, S.Zero).given == frozenset()
    _refused("Both sides must be equal", inside.ends, inside.maximum(MIX * P, Q), MIX, S.Zero)
    below = inside.under(MIX < 1)
    _refused("No other condition", below.ends, below.times(below.maximum(P, Q), MIX), MIX, S.Zero)


def test_a_map_moves_by_what_is_said_of_it():
    near = RULES.assume(Within(FIRST, SECOND, z))
    for how in ((Lipschitz(OTHER_MAP, FACTOR),), (HolderMove(OTHER_MAP, FACTOR, S.One),)):
        _refused("how far", RULES.push, near, (MAP, MAP), 9 * (1 + FACTOR) * z, *how)
    _refused("how far", RULES.push, near, (MAP, OTHER_MAP), 9 * FACTOR * z, LIPSCHITZ, Close(OTHER_MAP, MAP, z))


def test_a_part_is_on_the_ball_of_its_own_radius():
    letter, law = Symbol("H"), At(Symbol("H"), X)
    for kernel, radius in ((Symbol("G"), a), (letter, 2 * a)):
        made = RULES.assume(OnBall(At(kernel, X), radius))
        _refused("needs one condition OnBall", RULES.parted, made, Parting(letter, FIRST, SECOND, a))
    assert RULES.parted(RULES.assume(OnBall(law, a)), Parting(letter, FIRST, SECOND, a))


def test_a_hockey_stick_has_a_factor_for_every_event():
    p, q = RULES.event(FIRST), RULES.event(SECOND)
    made = RULES.maximum(p, q * q)
    _refused("hockey stick", RULES.hockey_stick, made, made.right / q, FIRST, SECOND)


def test_an_infimum_has_one_divergence_of_one_letter():
    letter = Symbol("nu")
    apart, other = (RenyiDivergence(alpha, letter, law) for law in (THIRD, SECOND))
    within = RULES.under(Within(FIRST, letter, z))
    (given,) = within.given - RULES.given
    _refused("and one divergence of nu", RULES.infimum, RULES.assume(Le(a, apart)), given)
    _refused("and one divergence of nu", within.infimum, within.assume(Le(a, apart + other)), given)
    _refused("nu to occur in one divergence only", within.infimum, within.assume(Le(a, apart)), given)


def test_a_name_is_that_of_the_same_law():
    _refused("the same law", RULES.rewrite, RULES.maximum(P, Q), FIRST, SECOND)


def test_numbers_of_the_calculus_are_finite():
    less = RULES.assume(Le(z, sigma))
    for of in (
        lambda: RULES.exponential(less, oo),
        lambda: RULES.raised(less, -oo),
        lambda: RULES.times(less, oo),
        lambda: RULES.young(z, sigma, oo),
        lambda: RULES.indicator(z, oo),
    ):
        with pytest.raises(UnprovedError, match="finite numbers"):
            of()
