"""Contraction by blocks survives random finite chains, and every mistake that is known of it gives a false bound."""

from random import Random

import pytest
from contraction_on_chains import CONTRACTED, POWER, table
from sympy import Integer, Rational, S, Symbol

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    Atoms,
    BlockChain,
    Contracted,
    Damped,
    Equal,
    Gauss,
    Letter,
    Order,
    PoissonStep,
    covers,
)
from lastiterate.symbolic.kernel.rules import Kernel, anything

_FAULTS = [(rule, fault) for rule, attacked in CONTRACTED.items() for fault in attacked.faults]
_X, _Y, _N, _F = map(Letter, "XYNF")
k, n = Symbol("k", integer=True, nonnegative=True), Symbol("n", integer=True, positive=True)


@pytest.mark.parametrize("rule", CONTRACTED)
def test_no_instance_violates_a_bound_of_blocks(rule: str) -> None:
    random = Random(1)  # noqa: S311 no secret is drawn
    assert not any(CONTRACTED[rule].violated(random, "") for _ in range(30))


@pytest.mark.nightly
@pytest.mark.parametrize("rule", CONTRACTED)
def test_no_instance_of_three_thousand_violates_a_bound_of_blocks(rule: str) -> None:
    random = Random(7)  # noqa: S311 no secret is drawn
    assert not any(CONTRACTED[rule].violated(random, "") for _ in range(3000))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("rule", "fault"), _FAULTS, ids=[f"{rule}: {fault}" for rule, fault in _FAULTS])
def test_a_mistake_about_blocks_gives_a_false_bound(rule: str, fault: str) -> None:
    random = Random(1)  # noqa: S311 no secret is drawn
    assert any(CONTRACTED[rule].violated(random, fault) for _ in range(1000))


@pytest.mark.nightly
@pytest.mark.parametrize(("rule", "fault"), _FAULTS, ids=[f"{rule}: {fault}" for rule, fault in _FAULTS])
def test_a_mistake_is_seen_as_often_as_measured(rule: str, fault: str) -> None:
    random = Random(3)  # noqa: S311 no secret is drawn
    seen = sum(CONTRACTED[rule].violated(random, fault) for _ in range(1000))
    assert seen >= POWER[rule][fault] / 2


def test_blocks_are_above_what_follows_by_the_rule_and_nothing_less() -> None:
    blocks = BlockChain(_X, _N, _F, k, n)
    assert covers(blocks, Contracted(BlockChain(_X, _N, _F, k, n - 1), _N, _F)) == []
    assert covers(BlockChain(_X, _N, _F, k, S.Zero), _X) == []
    assert covers(BlockChain(_X, _N, _F, k, S.One), Contracted(_X, _N, _F)) == []
    assert covers(Damped(_X, _F, k, Integer(2)), Contracted(Damped(_X, _F, k, S.One), Equal(), _F)) == []
    cheaper = (
        (blocks, Contracted(blocks, _N, _F)),
        (blocks, Contracted(BlockChain(_X, _N, _F, k, n - 1), _Y, _F)),
        (BlockChain(_X, _N, _F, k, S.One), Contracted(_Y, _N, _F)),
        (Damped(_X, _F, k, S.One), Contracted(_X, _N, _F)),
        (Contracted(_X, _N, _N), Contracted(_X, _N, _F)),
        (BlockChain(Equal(), _N, _F, k, S.Zero), EVERYTHING),
    )
    for above, below in cheaper:
        with pytest.raises(UnprovedError):
            covers(above, below)


def test_a_block_has_one_order() -> None:
    both = PoissonStep(Rational(1, 2), S.One, Order.FIRST), PoissonStep(Rational(1, 2), S.One, Order.SECOND)
    with pytest.raises(UnprovedError, match="the same order"):
        Contracted(Equal(), *both)
    assert BlockChain(Equal(), both[0], Gauss(S.One), k, n).order is Order.FIRST


def test_any_steps_cost_at_most_everything() -> None:
    made = anything(Kernel(prove), Order.FIRST, (S.Zero, n))
    assert (made.profile, made.profile.at(Integer(3)), made.near, made.far) == (EVERYTHING, 1, 0, 0)
    with pytest.raises(UnprovedError):
        anything(Kernel(prove), Order.FIRST, (n, S.Zero))


def test_a_table_through_upper_bounds() -> None:
    made = table({Rational(1, 2): Rational(3, 4), S.One: Rational(2, 3), Integer(2): Rational(1, 4)})
    assert made == Atoms(((Rational(1, 2), Rational(1, 6)), (Integer(2), Rational(1, 3))))
    at = {S.Zero: S.One, S.One: Rational(7, 12), Integer(2): Rational(1, 4), Integer(9): Rational(1, 4)}
    assert {g: made.at(g) for g in at} == at
