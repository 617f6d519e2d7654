"""The rules of the calculus refuse what does not fit, and a statement must suppose all that its deduction does."""

from dataclasses import replace

import pytest
from sympy import Eq, Gt, Lt, Rational, S, Sum, Symbol

from lastiterate.proofs_checks.engines.deduction import conclude, deduce
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.integrals import lemmas, statements
from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.deductions import DEDUCTIONS
from lastiterate.symbolic.integrals.language import KERNEL, Joint, Parting, Within
from lastiterate.symbolic.integrals.lemmas import T
from lastiterate.symbolic.integrals.rules import quantities
from lastiterate.symbolic.integrals.shifts import CLOSE, LIPSCHITZ
from lastiterate.symbolic.integrals.statements import FACTOR, OTHER_MAP, THIRD
from lastiterate.symbolic.integrals.terms import Point, density, mean
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.letters import a, z
from lastiterate.symbolic.notation import alpha, sigma
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, RenyiDivergence

P, Q = density(FIRST), density(SECOND)
X, Y = Point("x"), Point("y")
RULES = Calculus(prove, frozenset({Gt(alpha, 1)}))


def test_means_are_linear_and_towers():
    assert mean(2 * P + mean(P * T, Y)) == 2 * mean(P) + T * mean(P)
    assert mean(mean(P, Y) * mean(Q, Y), Y) == mean(P, Y) * mean(Q, Y)
    assert mean(P * mean(Q, X, Y), X) == P * mean(Q, X)


def test_an_envelope_needs_every_tangent():
    lines = RULES.mean(RULES.tangent(P, Q, T, alpha), Y)
    assert RULES.envelope(lines, mean(P, Y), mean(Q, Y), T, alpha).right == lines.right
    for wrong in (T + 1, Symbol("t", positive=True, integer=True)):
        with pytest.raises(UnprovedError, match="envelope"):
            RULES.envelope(RULES.tangent(P, Q, wrong, alpha), P, Q, T, alpha)
    with pytest.raises(UnprovedError, match="envelope"):
        RULES.envelope(RULES.times(lines, T), mean(P, Y), mean(Q, Y), T, alpha)
    with pytest.raises(UnprovedError, match="envelope"):
        RULES.under(T < 1).envelope(RULES.under(T < 1).mean(lines, Y), mean(P, Y), mean(Q, Y), T, alpha)


def test_an_order_is_above_or_below_1():
    with pytest.raises(UnprovedError, match="order"):
        Calculus(prove).tangent(P, Q, T, alpha)
    below = Calculus(prove, frozenset({Lt(alpha, 1)})).tangent(P, Q, T, alpha)
    assert below.left == -RULES.tangent(P, Q, T, alpha).left


def test_a_factor_is_not_negative():
    lines = RULES.tangent(P, Q, T, alpha)
    with pytest.raises(UnprovedError):
        RULES.times(lines, 1 - T)
    with pytest.raises(UnprovedError):
        RULES.chain(RULES.times(lines, P), lines)


def test_a_mixture_has_weights_of_total_1():
    with pytest.raises(UnprovedError, match="add up to 1"):
        lemmas.nothing(RULES, alpha, FIRST + SECOND)
    with pytest.raises(UnprovedError, match="one space"):
        lemmas.post_processing(RULES, alpha, MAP, FIRST, Joint(FIRST, KERNEL))


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
    with pytest.raises(UnprovedError, match="still named"):
        RULES.forget(RULES.part(near, part, a, z, sigma**2), Parting(part, FIRST, SECOND, a))


def test_an_infimum_is_over_a_letter_that_stands_nowhere_else():
    within = Within(FIRST, SECOND, z)
    left = RULES.competitor(RULES.assume(within), SECOND, alpha)
    with pytest.raises(UnprovedError, match="nowhere else"):
        RULES.infimum(left, within)
    left = RULES.competitor(RULES.assume(within), THIRD, alpha)
    assert RULES.infimum(left, within).left == RULES.infimum(left, within).right


def test_a_sum_is_one_quantity():
    total = Sum(RenyiDivergence(alpha, FIRST, SECOND) * statements.INDEX, (statements.INDEX, 1, statements.COUNT))
    assert list(quantities(total)) == [total]


def test_what_is_infinite_stays_so():
    made = deduce("post_processing")
    assert RULES.follow(made, made.left, 2 * made.right)
    with pytest.raises(UnprovedError, match="infinite"):
        RULES.follow(made, made.left - made.right, S.Zero)


@pytest.mark.parametrize("name", DEDUCTIONS)
def test_a_statement_supposes_what_its_deduction_does(name):
    made = deduce(name)
    statement = statements.closed(made.says, *made.given)
    assert conclude(made, statement) is made
    with pytest.raises(UnprovedError, match="quantifier"):
        conclude(made, replace(statement, variables=statement.variables[1:]))
    for condition in made.given:
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
