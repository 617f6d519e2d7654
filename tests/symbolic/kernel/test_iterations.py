"""Distances and divergences of iterations: what is derived is concluded, and a little less is not."""

import pytest
from sympy import S, Symbol, sqrt

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Derived, RenyiBound, Tracked
from lastiterate.symbolic.derivations import iterations
from lastiterate.symbolic.derivations.iterations import D_T, A
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide
from lastiterate.symbolic.kernel.profiles import EVERYTHING, Composed, Equal, Gauss, Order, Power, SwapStep
from lastiterate.symbolic.kernel.renyi import SAMPLED, Sampled, bound_renyi, largest_order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, T, alpha, b, n, q, s, sigma_dp, tau

KERNEL = Kernel(prove)
x = Symbol("x", positive=True)
UNIT = alpha * K**2 / (n**2 * sigma_dp**2)


def test_laws_near_each_other_are_the_same_but_for_a_distance():
    made = KERNEL.apart(Order.FIRST, (S.Zero, tau), D)
    assert (made.near, made.far, made.profile) == (0, D, Equal())
    assert any("W_infinity" in one.says for one in made.hypotheses)
    with pytest.raises(UnprovedError):
        KERNEL.apart(Order.FIRST, (S.Zero, tau), -D)
    with pytest.raises(UnprovedError):
        KERNEL.weaken(made, far=D / 2)


def test_the_smaller_of_two_bounds_is_of_one_guide():
    other, own = (Expansion(s, s, guide, ()) for guide in Guide)
    with pytest.raises(UnprovedError, match="same guide"):
        iterations._least(other, own)


@pytest.mark.parametrize(
    ("check", "assumptions", "status"),
    [
        (Tracked("Lipschitz maps", D_T), (), Status.HELD),
        (Tracked("Lipschitz maps", D_T - s), (), Status.UNDECIDED),
        (Tracked("domain", D), (), Status.HELD),
        (Tracked("domain", D / 2), (), Status.UNDECIDED),
        (Derived("iterations/Lipschitz, apart", Gauss(A)), (), Status.HELD),
        (Derived("iterations/Lipschitz, apart", Gauss(A / 2)), (A > 0,), Status.UNDECIDED),
        (RenyiBound("noisy_sgd/composition", 100 * UNIT * T, (5 * b >= n,)), (alpha > 1, b <= n), Status.HELD),
        (
            RenyiBound("noisy_sgd/composition", 99 * UNIT * T, (5 * b >= n,)),
            (alpha > 1, b <= n),
            Status.UNDECIDED,
        ),
        (RenyiBound("noisy_sgd/composition", 100 * UNIT * T), (alpha > 1, b <= n), Status.UNDECIDED),
    ],
)
def test_what_is_reached(check, assumptions, status):
    assert decide_check(check, assumptions).status is status


def test_amplification_needs_the_conditions_of_the_lemma_and_rests_on_it():
    small = (b / n < S.One / 5, b <= n, alpha > 1, sigma_dp > 8 * sqrt(2) * K / b)
    order = alpha <= largest_order(b / n, b * sigma_dp / (2 * sqrt(2) * K))
    bound = RenyiBound("noisy_sgd/composition", 32 * UNIT * T, by=Sampled.TWICE)
    found = decide_check(bound, (*small, order))
    assert found.status is Status.HELD
    assert SAMPLED in found.premises
    assert found.grade is Grade.CERTIFIED
    assert decide_check(bound, small).status is Status.UNDECIDED
    assert decide_check(bound, (*small[:3], order)).status is Status.UNDECIDED


def test_divergences_add():
    made = bound_renyi(Composed((Power(SwapStep(q, x), T), Gauss(D))), alpha)
    assert made.value == alpha * T * x / 2 + alpha * D / 2
    assert made.conditions == (alpha > 1,)
    assert bound_renyi(SwapStep(q, x), alpha, Sampled.TWICE).value == 4 * alpha * q**2 * x
    with pytest.raises(UnprovedError, match="No rule"):
        bound_renyi(EVERYTHING, alpha)
