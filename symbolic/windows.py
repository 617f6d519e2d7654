"""Windows of any length as sequences: what inductions say of the state, the shifts and the sums after t of their steps.

V and W are the sums of c^-j and c^-2j over the steps j = 1..t. Shifts a_j cover R, the sum of c^-j a_j, and cost C,
the sum of their squares. The state goes from z to c z + s - a_j.

Steps that differ have contractions c_t and noise sigma_t: A is what their shifts hide and X their noise squared, both
carried to the end, and C the sum of a^2 / sigma^2.
"""

from typing import Any, Final

from sympy import Eq, Expr, Function, Le
from sympy.core.relational import Relational

from lastiterate.symbolic.checks import Induction, begin, gains
from lastiterate.symbolic.notation import Delta, c, r, s, t

V, W, R, C, shift = (Function(name, nonnegative=True) for name in ("V", "W", "R", "C", "a"))
_state: Any = Function("z", real=True)

POWER: Final = c ** -(t + 1)
"""c^-j at the step that is the (t + 1)st."""
V_GROWS, W_GROWS = gains(V, POWER), gains(W, POWER**2)


def _covers(one: Expr) -> Relational:
    return gains(R, POWER * one)


def _costs(one: Expr) -> Relational:
    return gains(C, one**2)


def leads(gain: Expr = s) -> Induction:
    """State that any shifts lead to from Delta, where each step adds ``gain``: c^t (Delta + gain V - R)."""
    return Induction(
        t,
        Eq(_state(t), c**t * (Delta + gain * V(t) - R(t))),
        (Eq(_state(0), Delta), *begin(V, R)),
        (Eq(_state(t + 1), c * _state(t) + gain - shift(t)), _covers(shift(t)), V_GROWS),
        name="where any shifts lead",
    )


ANY_SHIFTS: Final = Induction(
    t,
    Le(R(t) ** 2, C(t) * W(t)),
    begin(R, C, W),
    (_covers(shift(t)), _costs(shift(t)), W_GROWS),
    name="any shifts (Cauchy and Schwarz)",
)

_best = r * POWER
BEST_SHIFTS: Final = (
    Induction(t, Eq(R(t), r * W(t)), begin(R, W), (_covers(_best), W_GROWS), name="what shifts r c^-j cover"),
    Induction(t, Eq(C(t), r**2 * W(t)), begin(C, W), (_costs(_best), W_GROWS), name="what shifts r c^-j cost"),
)
"""Of the level r = (s V + Delta) / W they end at 0 and cost (s V + Delta)^2 / W."""

_A, _X, _k, _c = (Function(name, nonnegative=True) for name in ("A", "X", "k", "c"))
_sigma: Any = Function("sigma", positive=True)
_PRICED = gains(C, shift(t) ** 2 / _sigma(t) ** 2)
_HIDES = Eq(_A(t + 1), _c(t) * _A(t) + shift(t))

FREE_STEPS: Final = (
    Induction(
        t,
        Eq(_state(t), _k(t) * Delta - _A(t)),
        (Eq(_state(0), Delta), Eq(_k(0), 1), *begin(_A)),
        (Eq(_state(t + 1), _c(t) * _state(t) - shift(t)), Eq(_k(t + 1), _c(t) * _k(t)), _HIDES),
        name="steps without the sample are one, by which A is hidden",
    ),
    Induction(
        t,
        Le(_A(t) ** 2, C(t) * _X(t)),
        begin(_A, C, _X),
        (_HIDES, _PRICED, Eq(_X(t + 1), _c(t) ** 2 * _X(t) + _sigma(t) ** 2)),
        name="any shifts (Cauchy and Schwarz)",
    ),
)
"""They hide A at a cost of A^2 / X at least."""

_growth: Any = Function("k", positive=True)
_contraction: Any = Function("c", positive=True)
_in_proportion = r * _sigma(t) ** 2 / (_contraction(t) * _growth(t))
_GROWS = Eq(_growth(t + 1), _contraction(t) * _growth(t))
_WIDENS = Eq(_X(t + 1), _contraction(t) ** 2 * _X(t) + _sigma(t) ** 2)
IN_PROPORTION: Final = (
    Induction(
        t,
        Eq(_A(t) * _growth(t), r * _X(t)),
        (Eq(_growth(0), 1), *begin(_A, _X)),
        (_GROWS, Eq(_A(t + 1), _contraction(t) * _A(t) + _in_proportion), _WIDENS),
        name="what shifts in proportion to the noise over the growth hide",
    ),
    Induction(
        t,
        Eq(C(t) * _growth(t) ** 2, r**2 * _X(t)),
        (Eq(_growth(0), 1), *begin(C, _X)),
        (_GROWS, gains(C, _in_proportion**2 / _sigma(t) ** 2), _WIDENS),
        name="what they cost: C X = A^2",
    ),
)
"""Shifts a_t = r sigma_t^2 / (c_t k_t), k the growth so far, attain it: A k = r X and C k^2 = r^2 X."""
