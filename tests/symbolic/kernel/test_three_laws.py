"""The rule that hides a variable through a third run: exact finite laws, mistakes, and premises that it refuses."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from finite_chains import Law, envelope, law, mixed
from rules_on_chains import _kernel
from sympy import Expr, Integer, Rational, S, Symbol

from lastiterate.symbolic.kernel.judgement import FalseLineError, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.profiles import Atoms, Equal, Gauss, Order, Profile, ThreeLaws, covers
from lastiterate.symbolic.kernel.rules import compare_with_third

_PLACE, _POINTS = Variable("the place", S.Zero), 3
_i = Symbol("i", integer=True, nonnegative=True)
_APART = tuple(tuple(int(x != y) for y in range(_POINTS)) for x in range(_POINTS))
_CASES = 3
_NUMBERS = tuple(Rational(c, 2) for c in (-2, -1, 0, 1, 2, 3))
_SHARES = (S.Zero, Rational(1, 2), Rational(3, 4), S.One)
Case = tuple[Atoms, Atoms, Atoms]
_OVER = (_i, Integer(_CASES), Rational(1, _CASES))


def _parts(*profiles: Profile, order: Order = Order.FIRST) -> tuple[Span, ...]:
    ends, still = (S.Zero, S.One), (S.Zero, S.Zero)
    names = ("known", "ahead", "back")
    return tuple(
        _kernel.suppose(order, ends, still, one, name, (_PLACE,))
        for one, name in zip(profiles, names, strict=True)
    )


def _value(profiles: Case, g: Rational, c: Rational, t: Rational) -> Expr:
    """A value of psi by the docstring of `ThreeLaws`."""
    f, h, back = (one.at for one in profiles)
    if c >= 0:
        one = t * f(g / t) if t else S.Zero
        return one + ((1 - t) * h(c / (1 - t)) if t < 1 else S.Zero)
    return f(g * t) - c * back(g * (1 - t) / -c)


def _exceeded(random: Random, fault: str) -> bool:
    """Check whether random exact laws violate the bound of the rule, which gets their exact profiles."""
    first, second = ([law(random, _POINTS) for _ in range(_CASES)] for _ in range(2))
    if random.random() < 0.6:
        second[1:] = first[1:] = [law(random, _POINTS)] * (_CASES - 1)  # hidden but in one case
    third: Law = random.choice([second[0], law(random, _POINTS)])
    pairs = [list(zip(first, second, strict=True)), [(p, third) for p in first], [(third, q) for q in second]]
    if fault == "the third run in the other order":
        pairs[1:] = [[(q, p) for p, q in each] for each in pairs[1:]]
    if fault == "the third run as close as run 2":
        pairs[1] = pairs[0]
    cases = list(zip(*([envelope([one], _APART, 0) for one in each] for each in pairs), strict=True))
    g = Rational(random.choice((2, 3, 4, 5, 8)), 4)
    least = [{c: min(_value(case, g, c, t) for t in _SHARES) for c in _NUMBERS} for case in cases]
    most = S.One if fault == "a sum above 0" else S.Zero
    bound = min(
        sum((known[c] for known, c in zip(least, each, strict=True)), S.Zero) / _CASES
        for each in product(_NUMBERS, repeat=_CASES)
        if sum(each) <= most
    )
    weights = [Fraction(1, _CASES)] * _CASES
    truth = envelope([(mixed(weights, first), mixed(weights, second))], _APART, 0)
    return bool(truth.at(g) > bound)


_FAULTS = ("a sum above 0", "the third run in the other order", "the third run as close as run 2")


def test_no_finite_laws_exceed_the_bound() -> None:
    random = Random(1)  # noqa: S311 no secret is drawn
    assert not any(_exceeded(random, "") for _ in range(100))


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_mistake_gives_a_false_bound(fault: str) -> None:
    random = Random(2)  # noqa: S311 no secret is drawn
    assert any(_exceeded(random, fault) for _ in range(300))


def test_what_the_conclusion_says() -> None:
    parts = _parts(Gauss(S.One), Gauss(Integer(2)), Equal())
    made = compare_with_third(_kernel, _PLACE, parts, _OVER)
    assert made.scope == frozenset()
    assert made.drawn == {_PLACE}
    said = {str(one) for one in made.hypotheses}
    assert "a third run, from the same point, has one law whatever the value of the place" in said
    assert any(one.startswith("with the third run in place of run 2, ahead") for one in said)
    assert any(one.startswith("with the third run in place of run 1, back") for one in said)
    assert not covers(made.profile, made.profile)
    assert covers(ThreeLaws(_OVER[2], Gauss(S.One), Gauss(Integer(3)), Equal(), *_OVER[:2]), made.profile)


def test_premises_that_are_refused() -> None:
    parts = _parts(Gauss(S.One), Gauss(Integer(2)), Equal())
    with pytest.raises(FalseLineError, match="at every state"):
        compare_with_third(_kernel, Variable("the place", S.Zero, follows=True), parts, _OVER)
    with pytest.raises(UnprovedError, match="revealed in all premises"):
        compare_with_third(_kernel, Variable("another", S.Zero), parts, _OVER)
    other = _parts(Gauss(S.One), Gauss(Integer(2)), Equal(), order=Order.SECOND)
    with pytest.raises(UnprovedError, match="same order"):
        compare_with_third(_kernel, _PLACE, (parts[0], *other[1:]), _OVER)
    with pytest.raises(UnprovedError, match="add up to 1"):
        compare_with_third(_kernel, _PLACE, parts, (_i, Integer(_CASES), Rational(1, 2)))
    wide = _kernel.suppose(Order.FIRST, (S.Zero, S.One), (S.One, S.Zero), Atoms(()), "wide", (_PLACE,))
    with pytest.raises(UnprovedError):
        compare_with_third(_kernel, _PLACE, (wide, wide, wide), _OVER)
    late = _kernel.suppose(
        Order.FIRST, (S.Zero, S.One), (S.Zero, S.Zero), Atoms(()), "late", (Variable("x", S.One),)
    )
    with pytest.raises(UnprovedError):
        compare_with_third(_kernel, Variable("x", S.One), (late, late, late), _OVER)
