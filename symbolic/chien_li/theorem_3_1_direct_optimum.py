"""The cheapest direct shifts for e(z) = c z + s in closed form, and where that form may be used.

The least sum of squares on a plane, and the states of its path. Windows of three steps are written out; V and W are the
sums of c^-j and c^-2j.
"""

from sympy import Expr, Integer, Ne, Rational, expand, together
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.chien_li.paper import SMOOTH_RUNS, at, attacked
from lastiterate.symbolic.claim import Identity, Inequality, IntervalInequality, Ours, Recursion, Value
from lastiterate.symbolic.formulas.shift_program import feasibility, forward, sums, v_sum, w_sum, window_cost
from lastiterate.symbolic.notation import PREVIOUS, SHIFTS, Delta, alpha, c, s, w

_zero = Integer(0)
_V, _W = sums(c, 3)
_level = (s * _V + Delta) / _W
_squares = sum((shift**2 for shift in SHIFTS), _zero)
_covered = sum((c**-j * shift for j, shift in enumerate(SHIFTS, 1)), _zero)
_optimal = tuple(_level * c**-j for j in (1, 2, 3))


def _state(steps: int) -> Expr:
    """z after the first steps of the optimal path, times W c^7 > 0: a polynomial."""
    return expand(together(forward(c, s, Delta, _optimal[:steps]) * _W * c**7))


def _kept(steps: int, case: str, *given: Boolean) -> Inequality:
    return Inequality(_zero, "<=", _state(steps), given=given, name=f"{case}, after step {steps}")


# Any shifts against the optimal ones, where they cover Delta + s V.
_apart = sum(((shift - _level * c ** (-j)) ** 2 for j, shift in enumerate(SHIFTS, 1)), _zero)


def _geometric(ratio: Expr, closed: Expr, name: str) -> Recursion:
    return Recursion(w, _zero, PREVIOUS + ratio**-w, closed, name=name)


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/direct/optimum",
        "Least sum of squares under sum c^-j a_j = s V + Delta: (s V + Delta)^2 / W at a_j = level c^-j",
        at("Section 3.1", "(11)"),
        Identity(_squares - _level**2 * _W - _apart, 2 * _level * (_covered - _level * _W), "sum of squares"),
        Identity(forward(c, s, Delta, _optimal), _zero, "the path ends at zero"),
        Identity(forward(c, s, Delta, SHIFTS), c**3 * (Delta + s * _V - _covered), "where any shifts end"),
        _geometric(c, v_sum(c, w), "V as a geometric sum"),
        _geometric(c**2, w_sum(c, w), "W as a geometric sum"),
        assumptions=(c > 1,),
    ),
    Ours(
        "chien_li/theorem_3_1/direct/feasible",
        "The optimum keeps z >= 0 always for c <= 1; for c > 1 iff the last shift covers s",
        at("Section 3.1", "(11)"),
        Identity(
            (Delta + s * v_sum(c, w) - s * c**w * w_sum(c, w)) * (c**2 - 1),
            feasibility(c, s, Delta, w),
            "last shift at least s, in closed form",
            given=(Ne(c, 1),),
        ),
        _kept(1, "c <= 1", c <= 1),
        _kept(2, "c <= 1", c <= 1)
        .mutant("feasibility test forgotten", given=(c > 1,))
        .mutant("feasible from Delta = 0", right=feasibility(c, s, _zero, Integer(2)), given=(c > 1,)),
        _kept(1, "c > 1 with the test", c > 1, Delta + s * _V >= s * c**3 * _W),
        _kept(2, "c > 1 with the test", c > 1, Delta + s * _V >= s * c**3 * _W).mutant(
            "first shift covers s", given=(c > 1, Delta + s * _V >= s * c * _W)
        ),
        repairs="chien_li/theorem_3_1/direct/untested",
    ),
    Ours(
        "chien_li/theorem_3_1/direct/untested",
        "(s V + Delta)^2 / W bounds the divergence for c = 1 + eta L without any test of feasibility",
        at("Section 3.1", "(11)"),
        attacked(
            "affine_untested",
            SMOOTH_RUNS,
            "factor two dropped in 2 eta K / n",
            "noise counted twice",
            name="without the test",
        ),
        IntervalInequality(
            Integer(1000),
            "<=",
            window_cost(Rational(11, 10), Integer(1), _zero, Rational(11, 10) ** -1000),
            {},
            "c = 1.1, T = 1000, linear losses: T s^2 against the formula, in units of s^2",
        ),
        assumptions=(alpha > 1,),
        remark="""The closed form is the optimum over shifts of any sign of z; from Delta = 0 and c > 1 its path goes
        below zero, where a distance cannot be. At c = 1.1 and T = 1000 it gives 21 s^2, while linear losses, which are
        smooth, reach 1000 s^2. With the test the answer is composition, T s^2.""",
    ),
    Ours(
        "chien_li/theorem_3_1/direct/untested_numbers",
        "c = 1.1, Delta = 0, T = 1000: the untested formula says 21.00 s^2, infeasible from T = 2 on",
        at("Section 3.1", "(11)"),
        Value(window_cost(Rational(11, 10), Integer(1), _zero, Rational(11, 10) ** -1000), "21.00", "in units of s^2"),
        Inequality(feasibility(c, s, _zero, Integer(2)), "<", _zero, given=(c > 1,), name="two steps"),
    ),
)
