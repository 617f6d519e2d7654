"""Windows of any length as sequences: inductions on the state, the shifts and the sums after t steps.

V and W are the sums of c^-j and c^-2j over steps j = 1..t; with shifts a_j, R and the cost C are the sums of
c^-j a_j and a_j^2. A step takes the state from z to c z + s - a_j.

Unequal steps have contractions c_t and noise sigma_t. Then A is the distance that the shifts hide and X is
the variance of the noise, both carried to the end, and C is the sum of a^2 / sigma^2.
"""

from typing import Any, Final

from sympy import Eq, Expr, Function, Le
from sympy.core.relational import Relational

from lastiterate.symbolic.checks import Induction, begin, gains, sum_induction
from lastiterate.symbolic.notation import Delta, c, r, s, t

V, W, R, C, shift = (Function(name, nonnegative=True) for name in ("V", "W", "R", "C", "a"))
_state: Any = Function("z", real=True)

POWER: Final = c ** -(t + 1)
"""c^-j for step j = t + 1."""
V_GROWS = gains(V, POWER)


def _sums(name: str, says: Relational, one: Expr) -> Induction:
    terms = {R: POWER * one, C: one**2, W: POWER**2}
    return sum_induction(name, says, {total: term for total, term in terms.items() if says.has(total)})


def leads(gain: Expr = s) -> Induction:
    """The state after any shifts from Delta if each step adds ``gain``: c^t (Delta + gain V - R)."""
    return Induction(
        t,
        Eq(_state(t), c**t * (Delta + gain * V(t) - R(t))),
        (Eq(_state(0), Delta), *begin(V, R)),
        (Eq(_state(t + 1), c * _state(t) + gain - shift(t)), gains(R, POWER * shift(t)), V_GROWS),
        name="where any shifts lead",
    )


ANY_SHIFTS: Final = _sums("any shifts (Cauchy and Schwarz)", Le(R(t) ** 2, C(t) * W(t)), shift(t))
BEST_SHIFTS: Final = (
    _sums("what shifts r c^-j cover", Eq(R(t), r * W(t)), r * POWER),
    _sums("what shifts r c^-j cost", Eq(C(t), r**2 * W(t)), r * POWER),
)
"""With the level r = (s V + Delta) / W, these shifts lead to 0 and cost (s V + Delta)^2 / W."""

_A, _X, _k, _c = (Function(name, nonnegative=True) for name in ("A", "X", "k", "c"))
_sigma: Any = Function("sigma", positive=True)


def _carried(factor: Any, one: Expr) -> tuple[Relational, Relational]:
    hides = Eq(_A(t + 1), factor(t) * _A(t) + one)
    return hides, Eq(_X(t + 1), factor(t) ** 2 * _X(t) + _sigma(t) ** 2)


_HIDES, _WIDENS = _carried(_c, shift(t))
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
        (_HIDES, gains(C, shift(t) ** 2 / _sigma(t) ** 2), _WIDENS),
        name="any shifts (Cauchy and Schwarz)",
    ),
)
"""Shifts that hide A cost at least A^2 / X."""

_growth, _factor = (Function(name, positive=True) for name in "kc")
_in_proportion = r * _sigma(t) ** 2 / (_factor(t) * _growth(t))
_GROWS = Eq(_growth(t + 1), _factor(t) * _growth(t))
_HIDDEN, _WIDER = _carried(_factor, _in_proportion)
IN_PROPORTION: Final = (
    Induction(
        t,
        Eq(_A(t) * _growth(t), r * _X(t)),
        (Eq(_growth(0), 1), *begin(_A, _X)),
        (_GROWS, _HIDDEN, _WIDER),
        name="what shifts in proportion to the noise over the growth hide",
    ),
    Induction(
        t,
        Eq(C(t) * _growth(t) ** 2, r**2 * _X(t)),
        (Eq(_growth(0), 1), *begin(C, _X)),
        (_GROWS, gains(C, _in_proportion**2 / _sigma(t) ** 2), _WIDER),
        name="what they cost: C X = A^2",
    ),
)
"""Shifts a_t = r sigma_t^2 / (c_t k_t), with k the growth so far, attain the bound: A k = r X and C k^2 = r^2 X."""
