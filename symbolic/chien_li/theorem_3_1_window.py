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

from sympy import Expr, Integer, Ne, diff
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Inequality, Ours
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
    return Inequality(Integer(0), "<= and attained", gap, given=given, name=name)


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/window/unimodal",
        "The cost as a function of u = c^-w; its slope changes sign once, at u = s / (s + D (c - 1))",
        at("A.13", "binary search"),
        Identity(_cost.subs(u, c**-w), cost(s, D, v_sum(c, w), w_sum(c, w)), "u = c^-w"),
        Identity(diff(_cost, u), _slope, "slope in u"),
        Identity(diff(_cost, u).subs(u, _best), Integer(0), "stationary"),
        Inequality(
            _slope * (1 - u**2) ** 2 * (c - 1),
            "<=",
            Integer(0),
            given=(u <= _best,),
            name="longer windows cost more",
        ),
        Inequality(
            Integer(0),
            "<=",
            _slope * (1 - u**2) ** 2 * (c - 1),
            given=(u >= _best,),
            name="shorter windows cost more",
        ).mutant("falls all the way", given=(u <= _best,)),
        assumptions=(c > 1, u < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/window/length",
        "c^w* = 1 + D (c - 1)/s; for c < 1 it is c^-w* = 1 / (1 - D (1 - c)/s), and D/s at c = 1",
        at("A.13", "binary search"),
        Identity(c ** best_window(c, s, D), 1 / _best, "c^w*"),
        Identity(1 / _best, 1 - D * (1 - c) / s, "written for c < 1"),
        Identity(diff((s * r + D) ** 2 / r, r).subs(r, D / s), Integer(0), "c = 1: w* = D/s").mutant(
            "c = 1: w* = s/D", left=diff((s * r + D) ** 2 / r, r).subs(r, s / D)
        ),
        assumptions=(c > 1,),
    ),
    Ours(
        "chien_li/theorem_3_1/window/value",
        "No window costs less than (c + 1) D (2 s + (c - 1) D), which the best real length attains",
        at("Theorem 3.1", "(3)"),
        Identity(_cost.subs(u, _best), _value, "value at the best length", (Ne(c, 1), D * (1 - c) < s)),
        _least(_value, c > 1, u < 1, name="c > 1"),
        _least(_value, c < 1, u > 1, D * (1 - c) < s, name="c < 1"),
        Inequality(4 * s * D, "<= and attained", _flat, name="c = 1"),
        Identity(_flat, 4 * s * D + (s * w - D) ** 2 / w, "c = 1: the excess of a whole window"),
        Identity(_value.subs(c, 1), 4 * s * D, "4 s D at c = 1"),
        Identity((4 * s * D).subs(s, 2 * eta * K / n), 8 * eta * K * D / n, "8 eta K D / n"),
    ),
    Ours(
        "chien_li/theorem_3_1/window/last_shift",
        "The last shift of the best window is s (c + 1), so it is feasible for every c > 1",
        at("Section 3.1", "below (12)"),
        Identity((_level * u).subs(u, _best), s * (c + 1), "last shift").mutant("last shift 2 s", right=2 * s),
        Identity(
            feasibility(c, s, D, w).subs(D, s * (c**w - 1) / (c - 1)),
            s * (c**w - 1) * (c + c ** (1 - w)),
            "what the test leaves, at the best length",
        ),
        assumptions=(c > 1,),
    ),
    Ours(
        "chien_li/theorem_3_1/window/no_finite_optimum",
        "c < 1 and D (1 - c) >= s: longer windows always cost less, never below s^2 (1 + c)/(1 - c)",
        at("Theorem 3.1", "(3)"),
        Inequality(
            Integer(0),
            "<=",
            (c + 1) * _remaining * (u * (s + D * (c - 1)) - s),
            name="the slope in u is not positive, times (c - 1) / 2 < 0",
        ),
        Inequality(s**2 * (1 + c) * (u**2 - 1), "<=", (c + 1) * _remaining**2, name="limit, multiplied out")
        .mutant("rising", left=(c + 1) * _remaining * (u * (s + D * (c - 1)) - s), right=Integer(0))
        .mutant("twice the limit", left=2 * s**2 * (1 + c) * (u**2 - 1)),
        assumptions=(c > 0, c < 1, D * (1 - c) >= s, u > 1),
    ),
)
