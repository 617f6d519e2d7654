"""Attacks on the rules for any number of values or steps, each at a few of them, and on those without a profile."""

from collections.abc import Mapping
from fractions import Fraction
from random import Random

from finite_chains import (
    CLOSER,
    CONCLUSION,
    Chain,
    both_runs,
    envelope,
    exceeded,
    law,
    metric,
    mixed,
    near_pairs,
    pushed,
)
from rules_on_chains import Attacked, _end, _exact, _kernel, _order
from sympy import Integer, Min, Rational, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.induction import StepInduction
from lastiterate.symbolic.kernel.judgement import Span, Variable
from lastiterate.symbolic.kernel.profiles import Atoms, MeanProfile, Power, compose
from lastiterate.symbolic.kernel.rules import Kernel

_i = Symbol("i", integer=True, nonnegative=True)


def _still(k: int) -> Chain:
    return tuple(tuple(Fraction(x == y) for y in range(k)) for x in range(k))


def _identity(random: Random, fault: str) -> bool:
    k, z = random.randint(2, 4), random.randint(0, 3)
    d = metric(random, k)
    made = _kernel.identity(_order(random), S.Zero, Integer(z))
    truth = envelope(near_pairs(d, z, _still(k), _still(k)), d, _end(fault, z))
    return exceeded(truth, made.profile, [y for y, _ in truth.pairs] + [Rational(1, 2)])


def _domain(random: Random, fault: str) -> bool:
    k, z = random.randint(2, 4), random.randint(0, 3)
    d, (one, other) = metric(random, k), both_runs(random, k)
    wide = max(max(row) for row in d)
    made = _kernel.domain(_order(random), (S.Zero, S.One), Integer(z), Integer(wide))
    truth = envelope(near_pairs(d, z, one, other), d, _end(fault, wide))
    return exceeded(truth, made.profile, [y for y, _ in truth.pairs] + [Rational(1, 2)])


def _average(random: Random, fault: str) -> bool:
    """Two values, of which one judgement speaks: what it says is linear in the number of the value, up to 1."""
    k, far, z = random.randint(2, 4), random.randint(0, 2), random.randint(0, 2)
    d, order, weights = metric(random, k), _order(random), law(random, 2)
    chains = [both_runs(random, k) for _ in range(2)]
    tables = [envelope(near_pairs(d, z, *chain), d, far) for chain in chains]
    masses = [dict(table.pairs) for table in tables]
    nodes = sorted({*masses[0], *masses[1]})
    table = Atoms(tuple((y, _linear(*(mass.get(y, S.Zero) for mass in masses))) for y in nodes))
    variable = Variable("R", S.Zero)
    distances = (Integer(z), Integer(far))
    case = Kernel(_at_both).suppose(order, (S.Zero, S.One), distances, table, "case", (variable,))
    first, second = (Rational(w.numerator, w.denominator) for w in weights)
    said = (second, first) if fault == "other weights" else (first, second)
    made = Kernel(_at_both).mean(variable, ((S.One, case),), over=(_i, Integer(2), _linear(*said)))
    one, other = (
        tuple(mixed(weights, [chain[run][x] for chain in chains]) for x in range(k)) for run in range(2)
    )
    truth = envelope(near_pairs(d, z, one, other), d, _end(fault, far))
    values = {g: made.profile.at(g).doit() for g in {*nodes, *(y for y, _ in truth.pairs)}}
    share = Rational(1, 100) if fault == CONCLUSION else S.Zero
    return any(truth.at(g) > (1 - share) * value + share * max(1 - g, 0) for g, value in values.items())


def _linear(at_0: Rational, at_1: Rational) -> Rational:
    return at_0 + (at_1 - at_0) * Min(_i, 1)


def _at_both(condition: Boolean, given: frozenset[Boolean]) -> str:
    return "; ".join(_exact(condition.subs(_i, value), given) for value in (0, 1))


def _induct(random: Random, fault: str) -> bool:
    """Two or three steps that are alike, by induction."""
    k, z, steps = random.randint(2, 3), random.randint(0, 1), random.randint(2, 3)
    d, order, (one, other) = metric(random, k), _order(random), both_runs(random, k)
    table = envelope(near_pairs(d, z, one, other), d, z)
    part = MeanProfile(((S.One, table),))  # which the kernel counts, and does not multiply out

    def step(kernel: Kernel, near: Rational, far: Rational) -> Span:
        return kernel.suppose(order, (_i, _i + 1), (near, far), part, "a step")

    induction = StepInduction(_kernel, _i, Integer(steps), ())
    made = induction.span(S.Zero, Integer(z), Power(part, _i), step)
    assert made.profile == Power(part, Integer(steps))
    claimed = compose(*[table] * (steps - (fault == "a step fewer")))
    ends = [(one[x], other[y]) for x in range(k) for y in range(k) if d[x][y] <= z]
    for _ in range(steps - 1):
        ends = [(pushed(p, one), pushed(q, other)) for p, q in ends]
    return exceeded(envelope(ends, d, _end(fault, z)), claimed, fault=fault)


COUNTED: Mapping[str, Attacked] = {
    "identity": Attacked(_identity, (CLOSER,)),
    "domain": Attacked(_domain, (CLOSER,)),
    "a mean over values of any number": Attacked(_average, (CONCLUSION, CLOSER, "other weights")),
    "induct": Attacked(_induct, (CONCLUSION, CLOSER, "a step fewer")),
}
"""Further rules with the faults that their attacks must find."""
