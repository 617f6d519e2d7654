"""How long the window of shifts should be, and what the best length costs.

Statement    For a start Delta that does not depend on the window (Delta = D once the runs may have drifted that
             far): the cost is unimodal in w, least at w* = log(1 + D (c - 1)/s) / log c, and is
             (c + 1) D (2 s + (c - 1) D) there.
Assumptions  s > 0, D > 0; c > 1, or c < 1 with D (1 - c) < s; c = 1 is the limit w* = D/s, cost 4 s D.
Derivation   With u = c^-w the cost is (c + 1)/(c - 1) (s (1 - u) + (c - 1) D)^2 / (1 - u^2); the sign of its slope
             in u is that of u (s + (c - 1) D) - s.
Source       ours, for Chien & Li 2025, (3), where tau is found by search (A.13).
Remark       The last shift of the best window is s (c + 1) for every c. For c < 1 and D (1 - c) >= s the cost
             falls for ever, towards s^2 (1 + c)/(1 - c). At c = 1 the bound is about 8 eta K D / n.
"""

from sympy import Expr, Integer, diff, log
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.notation import D, K, c, eta, n, r, s, u, w
from lastiterate.symbolic.shift_program import (
    best_window,
    best_window_cost,
    cost,
    feasibility,
    v_sum,
    w_sum,
    window_cost,
)

_cost = window_cost(c, s, D, u)
_best = s / (s + D * (c - 1))
_remaining = s * (1 - u) + D * (c - 1)
_slope = 2 * (c + 1) / (c - 1) * _remaining * (u * (s + D * (c - 1)) - s) / (1 - u**2) ** 2
_flat = (s * w + D) ** 2 / w
_value = best_window_cost(c, s, D)
_level = (s * (1 - u) / (c - 1) + D) * (c**2 - 1) / (1 - u**2)


def _least(value: Expr, *given: Boolean, name: str) -> Inequality:
    """The value is at most the cost of any window, multiplied out; p = s (1 - u) + (c - 1) D."""
    gap = (c + 1) * _remaining**2 - value * (c - 1) * (1 - u**2)
    return Inequality(Integer(0), Relation.TIGHT, gap, given=given, name=name)


CLAIMS = (
    Claim(
        key="chien_li/theorem_3_1/window/unimodal",
        title="The cost as a function of u = c^-w; its slope changes sign once, at u = s / (s + D (c - 1))",
        source=at(760, "A.13", "binary search"),
        assumptions=(c > 1, u < 1),
        checks=(
            Identity(_cost.subs(u, c**-w), cost(s, D, v_sum(c, w), w_sum(c, w)), "u = c^-w"),
            Identity(diff(_cost, u), _slope, "slope in u"),
            Identity(diff(_cost, u).subs(u, _best), Integer(0), "stationary"),
            Inequality(
                _slope * (1 - u**2) ** 2 * (c - 1),
                Relation.AT_MOST,
                Integer(0),
                given=(u <= _best,),
                name="longer windows cost more",
            ),
            Inequality(
                Integer(0),
                Relation.AT_MOST,
                _slope * (1 - u**2) ** 2 * (c - 1),
                given=(u >= _best,),
                name="shorter windows cost more",
            ),
        ),
        mutants=(
            Mutant(
                "stationary at s / (s + D)", Identity(diff(_cost, u).subs(u, s / (s + D)), Integer(0)), Engine.IDENTITY
            ),
            Mutant("slope of the wrong sign", Identity(diff(_cost, u), -_slope), Engine.IDENTITY),
            Mutant("u = c^w", Identity(_cost.subs(u, c**w), cost(s, D, v_sum(c, w), w_sum(c, w))), Engine.IDENTITY),
            Mutant(
                "falls all the way",
                Inequality(
                    Integer(0),
                    Relation.AT_MOST,
                    _slope * (1 - u**2) ** 2 * (c - 1),
                    given=(u <= _best,),
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/theorem_3_1/window/length",
        title="c^w* = 1 + D (c - 1)/s; for c < 1 it is c^-w* = 1 / (1 - D (1 - c)/s), and D/s at c = 1",
        source=at(760, "A.13", "binary search"),
        assumptions=(c > 1,),
        checks=(
            Identity(c ** best_window(c, s, D), 1 / _best, "c^w*"),
            Identity(1 / _best, 1 - D * (1 - c) / s, "written for c < 1"),
            Identity(diff((s * r + D) ** 2 / r, r).subs(r, D / s), Integer(0), "c = 1: w* = D/s"),
        ),
        mutants=(
            Mutant("D for D (c - 1)", Identity(c ** (log(1 + D / s) / log(c)), 1 / _best), Engine.IDENTITY),
            Mutant("w* inverted", Identity(c ** -best_window(c, s, D), 1 / _best), Engine.IDENTITY),
            Mutant(
                "c = 1: w* = s/D", Identity(diff((s * r + D) ** 2 / r, r).subs(r, s / D), Integer(0)), Engine.IDENTITY
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/theorem_3_1/window/value",
        title="No window costs less than (c + 1) D (2 s + (c - 1) D), which the best real length attains",
        source=at(94, "Theorem 3.1", "(3)"),
        checks=(
            Identity(_cost.subs(u, _best), _value, "value at the best length"),
            _least(_value, c > 1, u < 1, name="c > 1"),
            _least(_value, c < 1, u > 1, D * (1 - c) < s, name="c < 1"),
            Inequality(4 * s * D, Relation.TIGHT, _flat, name="c = 1"),
            Identity(_flat, 4 * s * D + (s * w - D) ** 2 / w, "c = 1: the excess of a whole window"),
            Identity(_value.subs(c, 1), 4 * s * D, "4 s D at c = 1"),
            Identity((4 * s * D).subs(s, 2 * eta * K / n), 8 * eta * K * D / n, "8 eta K D / n"),
        ),
        mutants=(
            Mutant("factor two dropped", _least(2 * _value, c > 1, u < 1, name="doubled"), Engine.INEQUALITY),
            Mutant(
                "c and 1/c exchanged",
                Identity(_cost.subs(u, _best), best_window_cost(1 / c, s, D)),
                Engine.IDENTITY,
            ),
            Mutant("c = 1: 8 s D", Inequality(8 * s * D, Relation.AT_MOST, _flat), Engine.INEQUALITY),
            Mutant("D^2 for the start", Identity(_cost.subs(u, _best), _value * D), Engine.IDENTITY),
            Mutant(
                "4 eta K D / n",
                Identity((4 * s * D).subs(s, 2 * eta * K / n), 4 * eta * K * D / n),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/theorem_3_1/window/last_shift",
        title="The last shift of the best window is s (c + 1), so it is feasible for every c > 1",
        source=at(155, "Section 3.1", "below (12)"),
        checks=(
            Identity((_level * u).subs(u, _best), s * (c + 1), "last shift"),
            Identity(
                feasibility(c, s, D, w).subs(D, s * (c**w - 1) / (c - 1)),
                s * (c**w - 1) * (c + c ** (1 - w)),
                "what the test leaves, at the best length",
            ),
        ),
        assumptions=(c > 1,),
        mutants=(
            Mutant("last shift s", Identity((_level * u).subs(u, _best), s), Engine.IDENTITY),
            Mutant("last shift 2 s", Identity((_level * u).subs(u, _best), 2 * s), Engine.IDENTITY),
            Mutant(
                "infeasible",
                Identity(
                    feasibility(c, s, D, w).subs(D, s * (c**w - 1) / (c - 1)), s * (c**w - 1) * (c - c ** (1 - w))
                ),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/theorem_3_1/window/no_finite_optimum",
        title="c < 1 and D (1 - c) >= s: longer windows always cost less, never below s^2 (1 + c)/(1 - c)",
        source=at(94, "Theorem 3.1", "(3)"),
        assumptions=(c > 0, c < 1, D * (1 - c) >= s, u > 1),
        checks=(
            Inequality(
                Integer(0),
                Relation.AT_MOST,
                (c + 1) * _remaining * (u * (s + D * (c - 1)) - s),
                name="the slope in u is not positive, times (c - 1) / 2 < 0",
            ),
            Inequality(
                s**2 * (1 + c) * (u**2 - 1), Relation.AT_MOST, (c + 1) * _remaining**2, name="limit, multiplied out"
            ),
        ),
        mutants=(
            Mutant(
                "rising",
                Inequality((c + 1) * _remaining * (u * (s + D * (c - 1)) - s), Relation.AT_MOST, Integer(0)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "twice the limit",
                Inequality(2 * s**2 * (1 + c) * (u**2 - 1), Relation.AT_MOST, (c + 1) * _remaining**2),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
    ),
)
