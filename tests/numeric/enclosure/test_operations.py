"""The sampled Gaussian inside enclosures: against the certified quadrature, over boxes, and out of its domain."""

import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.divergences import s_down, s_up
from lastiterate.numeric.enclosure.interval import WHOLE
from lastiterate.numeric.enclosure.tape import Tape, enclose
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.enclosure import prove_on_box
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import IntervalInequality
from lastiterate.symbolic.formulas.divergences import SampledDown, SampledUp
from lastiterate.symbolic.notation import alpha, q, sigma

BOTH = [(SampledUp, s_up), (SampledDown, s_down)]
POINT = (q, sigma, alpha)
rates = st.integers(1, 60).map(lambda k: k / 64)
noises = st.integers(2, 40).map(lambda k: k / 8)
orders = st.integers(9, 80).map(lambda k: k / 8)


def pair(values):
    return st.tuples(values, values).map(lambda ends: tuple(sorted(ends)))


@pytest.mark.parametrize(("function", "oracle"), BOTH)
@settings(max_examples=25)
@given(rate=rates, noise=noises, order=orders)
def test_a_point_is_the_certified_value(function, oracle, rate, noise, order):
    ball = enclose(function(*POINT), {q: arb(rate), sigma: arb(noise), alpha: arb(order)})
    assert float(ball.mid()) == pytest.approx(oracle(rate, noise, alpha=order).middle, rel=1e-9)
    assert ball.rel_accuracy_bits() > 40


@pytest.mark.parametrize(("function", "oracle"), BOTH)
@settings(max_examples=25)
@given(rate=pair(rates), noise=pair(noises), order=pair(orders), data=st.data())
def test_a_box_holds_the_values_inside_it(function, oracle, rate, noise, order, data):
    low, high = Tape(function(*POINT), POINT).value([(arb(a), arb(b)) for a, b in (rate, noise, order)])
    inside = [data.draw(st.sampled_from([a, (a + b) / 2, b])) for a, b in (rate, noise, order)]
    value = oracle(*inside[:2], alpha=inside[2])
    assert low <= value.upper
    assert high >= value.lower


@pytest.mark.parametrize(("function", "oracle"), BOTH)
def test_the_signs_of_the_slopes_are_those_of_differences(function, oracle):
    _, slopes = Tape(function(*POINT), POINT).gradient([(arb(a), arb(a)) for a in (0.25, 2.0, 3.0)])
    here = oracle(0.25, 2.0, alpha=3.0).middle
    moved = [oracle(0.3, 2.0, alpha=3.0), oracle(0.25, 2.2, alpha=3.0), oracle(0.25, 2.0, alpha=3.3)]
    for (low, high), there in zip(slopes, moved, strict=True):
        assert low <= there.middle - here <= high


@pytest.mark.parametrize(
    "point", [(0.0, 1.0, 2.0), (1.0, 1.0, 2.0), (0.5, 1e-4, 2.0), (0.5, 1.0, 1.0), (0.5, 0.0, 2.0)]
)
def test_nothing_is_known_out_of_the_domain(point):
    assert Tape(SampledUp(*POINT), POINT).value([(arb(v), arb(v)) for v in point]) == WHOLE


def test_false_claims_on_a_box_are_refuted_and_true_ones_certified():
    box = {q: (sp.Rational(1, 10), sp.Rational(1, 5)), sigma: (4, 8), alpha: (2, 2)}
    small = IntervalInequality(SampledUp(*POINT), "<=", alpha * q**2 / sigma**2 / 10, box)
    assert decide_check(small, ()).status is Status.REFUTED
    right = IntervalInequality(SampledUp(*POINT), "<=", 2 * alpha * q**2 / sigma**2, box)
    assert decide_check(right, ()).grade is Grade.CERTIFIED


def test_a_box_that_leaves_the_domain_is_never_passed():
    answer = prove_on_box(
        10 - SampledUp(q, sp.Integer(4), sp.Integer(2)), (q,), ((fmpq(0), fmpq(1)),), budget=40
    )
    assert not answer.held
    assert answer.witness is None
