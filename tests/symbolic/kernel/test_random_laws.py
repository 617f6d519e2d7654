"""Every line of the deductions survives random laws and kernels, and variants of what they conclude do not."""

from random import Random

import pytest
from random_laws import Instance
from sympy import Expr, Le, Rational, Symbol
from sympy.core.relational import Relational

from lastiterate.proofs_checks.engines.derivation import deduce
from lastiterate.symbolic.derivations.statements import COUNT, INDEX, LEVEL, MIX
from lastiterate.symbolic.kernel.densities import ANY_ORDER, ConditionalMean
from lastiterate.symbolic.kernel.integrals import quantities
from lastiterate.symbolic.notation import alpha, chi, epsilon
from lastiterate.symbolic.statement import RenyiDivergence

FINITE = (
    "post_processing",
    "composition",
    "markov",
    "quasi_convexity",
    "joint_convexity",
    "second_law",
    "conversion",
)


def instance(random: Random, orders: tuple[float, ...], order: Symbol) -> Instance:
    numbers = {order: random.choice(orders), MIX: random.choice((0.25, 0.5, 0.9))}
    numbers |= {
        COUNT: 2,
        LEVEL: random.choice((0.5, 1.0)),
        chi: 1.5,
        epsilon: random.choice((0.1, 1.0)),
        INDEX: 1,
    }
    made = Instance(random, numbers)
    made.drawn |= {("p", 1.0): numbers[MIX], ("p", 2.0): 1 - numbers[MIX]}
    return made


def lines(name: str) -> list[tuple[Le, Symbol, bool]]:
    """Inequalities between means, or between divergences, with their order and whether that is below 1."""
    found = []
    for one in deduce(name).lines():
        order = ANY_ORDER if ANY_ORDER in one.says.free_symbols else alpha
        mixed = one.says.has(ConditionalMean) and one.says.has(RenyiDivergence)
        supposed = any(isinstance(each, Relational) and quantities(each) for each in one.given)
        if isinstance(one.says, Le) and not mixed and not supposed and one.rule != "total mass":
            found.append((one.says, order, (order < 1) in one.given))
    return found


def violations(says: Le, order: Symbol, count: int, seed: int, *, below: bool = False) -> int:
    random = Random(seed)  # noqa: S311 no secret is drawn
    return sum(
        instance(random, (0.5, 0.75) if below else (1.5, 2, 4), order).violates(says) for _ in range(count)
    )


@pytest.mark.parametrize(
    "name", [*FINITE, "post_processing/from 1", "composition/from 1", "quasi_convexity/from 1"]
)
def test_every_line_survives_random_laws(name):
    assert [
        str(says) for says, order, below in lines(name) if violations(says, order, 25, 1, below=below)
    ] == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", FINITE)
def test_every_line_survives_ten_thousand(name):
    assert [
        str(says) for says, order, below in lines(name) if violations(says, order, 10_000, 7, below=below)
    ] == []


def swapped(term: Expr) -> Expr:
    """Divergences with their laws in the other order."""
    return term.replace(RenyiDivergence, lambda a, p, q: RenyiDivergence(a, q, p))


def of_lower_order(term: Expr) -> Expr:
    """Divergences of a lower order."""
    return term.replace(RenyiDivergence, lambda a, p, q: RenyiDivergence((1 + a) / 2, p, q))


FAULTS = {
    "a hundredth less": lambda term: term * Rational(99, 100),
    "swapped": swapped,
    "a lower order": of_lower_order,
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "name", ["post_processing", "composition", "quasi_convexity", "joint_convexity", "second_law"]
)
def test_a_planted_fault_is_found(name, fault):
    made = deduce(name)
    order = ANY_ORDER if name == "second_law" else alpha
    wrong = Le(made.left, FAULTS[fault](made.right), evaluate=False)
    assert any(violations(wrong, order, 20, seed) for seed in range(100))


@pytest.mark.parametrize("name", ["post_processing", "second_law"])
def test_a_fault_in_a_line_is_found(name):
    for says, order, below in lines(name):
        if says.has(ConditionalMean) or not says.has(RenyiDivergence):
            off = [Le(says.lhs, says.rhs * Rational(n, 100), evaluate=False) for n in (99, 101)]  # either sign
            assert any(
                violations(wrong, order, 20, seed, below=below) for seed in range(100) for wrong in off
            ), says
