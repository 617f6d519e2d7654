"""Theorem 3.1 without conditioning: shift the two different maps directly.

Statement    epsilon = alpha / (2 sigma^2) times the least sum of a_t^2 over paths z_{t+1} = e(z_t) - a_t >= 0 that
             start at z_0 = 0, or at any tau from the tracked distance min(D_tau, D), and end at z_T = 0.
Assumptions  |psi(x) - psi'(y)| <= e(|x - y|) for the updates on the two data sets, e nondecreasing; full batches.
Derivation   If nu is within z of W_t then psi nu' is within e(z) of psi W_t for the *other* map psi' too, so
             D^(e(z) - a)(W_{t+1} || W'_{t+1}) <= D^(z)(W_t || W'_t) + alpha a^2 / (2 sigma^2): Lemma 3.2 after a
             reduction with two maps. No share of the noise is set apart, and nothing is conditioned on.
Source       ours, beside Chien & Li 2025, Theorem 3.1; Lemma 3.5 for e.
Remark       For e(z) = c z + s the optimum is (s V + Delta)^2 / W, but only where it keeps z >= 0: always for
             c <= 1; for c > 1 iff Delta (c^2 - 1) >= s (c^w - 1)(1 - c^(1 - w)). Without that test the formula
             claims 21 s^2 for c = 1.1, Delta = 0, T = 1000, where linear losses have 1000 s^2.
"""

from sympy import Expr, Integer, Rational, expand, together

from lastiterate.symbolic.chien_li.paper import (
    CLIPPED_RUNS,
    CONVEX_RUNS,
    SMOOTH_RUNS,
    STRONG_RUNS,
    altered,
    at,
)
from lastiterate.symbolic.claim import (
    Claim,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Recursion,
    Relation,
    Role,
    UpperBound,
    Value,
)
from lastiterate.symbolic.notation import (
    PREVIOUS,
    SHIFTS,
    Delta,
    L,
    T,
    a,
    alpha,
    c,
    eta,
    m,
    p,
    q,
    s,
    sigma,
    w,
    x,
    z,
)
from lastiterate.symbolic.shift_program import cost, feasibility, forward, sums, v_sum, w_sum, window_cost

_TWO, _STEP, _NOISE = "factor two dropped in 2 eta K / n", "T - 1 for T", "noise counted twice"
_zero = Integer(0)
_V, _W = sums(c, 3)
_level = (s * _V + Delta) / _W
_squares = sum((shift**2 for shift in SHIFTS), _zero)
_covered = sum((c**-j * shift for j, shift in enumerate(SHIFTS, 1)), _zero)
_optimal = tuple(_level * c**-j for j in (1, 2, 3))


def _state(steps: int) -> Expr:
    """z after the first steps of the optimal path, times W c^7 > 0: a polynomial."""
    return expand(together(forward(c, s, Delta, _optimal[:steps]) * _W * c**7))


def _gap(level: Expr) -> Identity:
    """Any shifts against the optimal ones, where they cover Delta + s V."""
    apart = sum(((shift - level * c**-j) ** 2 for j, shift in enumerate(SHIFTS, 1)), _zero)
    return Identity(_squares - level**2 * _W - apart, 2 * level * (_covered - level * _W), "sum of squares")


def _geometric(ratio: Expr, closed: Expr, name: str) -> Recursion:
    return Recursion(w, _zero, PREVIOUS + ratio**-w, closed, name=name)


_contracting = s**2 * (1 + c) / (1 - c) * (1 - c**T) / (1 + c**T)
_gap_of_means = s * (1 - c**T) / (1 - c)
_variance = (1 - c ** (2 * T)) / (1 - c**2)
_ratio = (1 - c**T) / (1 + c**T)
_one_step = (1 - c) / (1 + c)
_next = (1 - c ** (T + 1)) / (1 + c ** (T + 1))
_ring = (c > 0, c < 1)

CLAIMS = (
    Claim(
        key="chien_li/theorem_3_1/direct/smooth",
        title="Direct shifts for smooth losses, e(z) = z + eta (n - 1)/n min(L z, 2 K) + s",
        source=at(94, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1,),
        checks=(UpperBound("shift_smooth", SMOOTH_RUNS, name="smooth"),),
        mutants=altered(
            "shift_smooth",
            SMOOTH_RUNS,
            _TWO,
            _STEP,
            _NOISE,
            "as if there were 2 n samples",
            "a tenth of the diameter",
        ),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        repairs="chien_li/proof_3_1/conditioning",
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/convex",
        title="Direct shifts bound the divergence for convex losses, e(z) = z + s",
        source=at(99, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1, eta * L <= 2),
        checks=(UpperBound("shift_convex", CONVEX_RUNS, name="convex"),),
        mutants=altered("shift_convex", CONVEX_RUNS, _TWO, _STEP, _NOISE, "alpha / 2 for alpha"),
        role=Role.OURS,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/strongly_convex",
        title="Direct shifts bound the divergence for strongly convex losses, e(z) = c z + s, and are attained",
        source=at(99, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1, m <= L, eta * L <= 2),
        checks=(UpperBound("shift_strongly_convex", STRONG_RUNS, name="strongly convex"),),
        mutants=altered("shift_strongly_convex", STRONG_RUNS, _TWO, _STEP, _NOISE, "four times the strong convexity"),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/clipped",
        title="Direct shifts bound the divergence under clipping alone, e(z) = z + 2 eta K for z > 0",
        source=at(94, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1,),
        checks=(UpperBound("shift_clipped", CLIPPED_RUNS, name="clipped"),),
        mutants=altered("shift_clipped", CLIPPED_RUNS, _TWO, _STEP, _NOISE, "as if there were 2 n samples"),
        role=Role.OURS,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/optimum",
        title="Least sum of squares under sum c^-j a_j = s V + Delta: (s V + Delta)^2 / W at a_j = level c^-j",
        source=at(149, "Section 3.1", "(11)"),
        checks=(
            _gap(_level),
            Identity(_level**2 * _W, cost(s, Delta, _V, _W), "value"),
            Identity(forward(c, s, Delta, _optimal), _zero, "the path ends at zero"),
            Identity(forward(c, s, Delta, SHIFTS), c**3 * (Delta + s * _V - _covered), "where any shifts end"),
            _geometric(c, v_sum(c, w), "V as a geometric sum"),
            _geometric(c**2, w_sum(c, w), "W as a geometric sum"),
        ),
        assumptions=(c > 1,),
        mutants=(
            Mutant("wrong base case", _geometric(c, (c - c**-w) / (c - 1), "V"), Engine.IDENTITY),
            Mutant("c and 1/c exchanged", _geometric(c, (c ** (w + 1) - c) / (c - 1), "V"), Engine.IDENTITY),
            Mutant(
                "shifts that grow with c^j",
                Identity(forward(c, s, Delta, tuple(_level * c**j for j in (1, 2, 3))), _zero),
                Engine.IDENTITY,
            ),
            Mutant(
                "the start not expanded",
                Identity(forward(c, s, Delta, SHIFTS), Delta + c**3 * (s * _V - _covered)),
                Engine.IDENTITY,
            ),
            Mutant("V^2 for W", Identity(_level**2 * _W, cost(s, Delta, _V, _V**2)), Engine.IDENTITY),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/feasible",
        title="The optimum keeps z >= 0 always for c <= 1; for c > 1 iff the last shift covers s",
        source=at(149, "Section 3.1", "(11)"),
        checks=(
            Identity(
                (Delta + s * v_sum(c, w) - s * c**w * w_sum(c, w)) * (c**2 - 1),
                feasibility(c, s, Delta, w),
                "last shift at least s, in closed form",
            ),
            *(
                Inequality(
                    _zero,
                    Relation.AT_MOST,
                    _state(steps),
                    given=(c <= 1,),
                    name=f"c <= 1, after step {steps}",
                )
                for steps in (1, 2)
            ),
            *(
                Inequality(
                    _zero,
                    Relation.AT_MOST,
                    _state(steps),
                    given=(c > 1, Delta + s * _V >= s * c**3 * _W),
                    name=f"c > 1 with the test, after step {steps}",
                )
                for steps in (1, 2)
            ),
            Identity(feasibility(c, s, Delta, Integer(1)), Delta * (c**2 - 1), "one step is always feasible"),
        ),
        mutants=(
            Mutant(
                "feasibility test forgotten",
                Inequality(_zero, Relation.AT_MOST, _state(2), given=(c > 1,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "feasible from Delta = 0",
                Inequality(_zero, Relation.AT_MOST, feasibility(c, s, _zero, Integer(2)), given=(c > 1,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "first shift covers s",
                Inequality(
                    _zero,
                    Relation.AT_MOST,
                    _state(2),
                    given=(c > 1, Delta + s * _V >= s * c * _W),
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "c^w for c^(1 - w)",
                Identity(
                    (Delta + s * v_sum(c, w) - s * c**w * w_sum(c, w)) * (c**2 - 1),
                    Delta * (c**2 - 1) - s * (c**w - 1) * (1 - c**w),
                ),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
        repairs="chien_li/theorem_3_1/direct/untested",
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/untested",
        title="(s V + Delta)^2 / W bounds the divergence for c = 1 + eta L without any test of feasibility",
        source=at(149, "Section 3.1", "(11)"),
        assumptions=(alpha > 1,),
        checks=(
            UpperBound("affine_untested", SMOOTH_RUNS, name="without the test"),
            Holds(
                Integer(1000),
                Relation.AT_MOST,
                window_cost(Rational(11, 10), Integer(1), _zero, Rational(11, 10) ** -1000),
                {},
                "c = 1.1, T = 1000, linear losses: T s^2 against the formula, in units of s^2",
            ),
        ),
        mutants=altered("affine_untested", SMOOTH_RUNS, _TWO, _NOISE),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        remark=(
            "The closed form is the optimum over shifts of any sign of z; from Delta = 0 and c > 1 its path goes "
            "below zero, where a distance cannot be. At c = 1.1 and T = 1000 it gives 21 s^2, while linear losses, "
            "which are smooth, reach 1000 s^2. With the test the answer is composition, T s^2."
        ),
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/untested_numbers",
        title="c = 1.1, Delta = 0, T = 1000: the untested formula says 21.00 s^2, infeasible from T = 2 on",
        source=at(149, "Section 3.1", "(11)"),
        checks=(
            Value(
                window_cost(Rational(11, 10), Integer(1), _zero, Rational(11, 10) ** -1000), "21.00", "in units of s^2"
            ),
            Inequality(feasibility(c, s, _zero, Integer(2)), Relation.BELOW, _zero, given=(c > 1,), name="two steps"),
        ),
        mutants=(
            Mutant(
                "composition instead",
                Value(window_cost(Rational(11, 10), Integer(1), _zero, Rational(11, 10) ** -1000), "1000.00"),
                Engine.ENCLOSURE,
            ),
            Mutant(
                "feasible at c = 1.1",
                Inequality(_zero, Relation.AT_MOST, feasibility(c, s, _zero, Integer(2)), given=(c > 1,)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/composition_forced",
        title="Where e(z) >= z + s, no path from z = 0 costs less than composition, T s^2",
        source=at(242, "Section 5", "Uniform strict improvement"),
        checks=(
            Inequality(
                s**2 + 2 * s * z,
                Relation.TIGHT,
                a**2 + 2 * s * x,
                given=(x >= z + s - a,),
                name="one step: s^2 <= a^2 + 2 s (z' - z); the steps telescope",
            ),
        ),
        mutants=(
            Mutant(
                "e(z) >= z only",
                Inequality(s**2 + 2 * s * z, Relation.AT_MOST, a**2 + 2 * s * x, given=(x >= z - a,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "potential halved",
                Inequality(s**2 + s * z, Relation.AT_MOST, a**2 + s * x, given=(x >= z + s - a,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "twice the composition",
                Inequality(2 * s**2 + 2 * s * z, Relation.AT_MOST, a**2 + 2 * s * x, given=(x >= z + s - a,)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/contraction",
        title="c < 1, from z = 0: s^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T), attained by quadratics",
        source=at(101, "Theorem 3.1", "strongly convex"),
        assumptions=_ring,
        checks=(
            Identity(cost(s, _zero, v_sum(c, T), w_sum(c, T)), _contracting, "the optimum"),
            Identity(_gap_of_means**2 / _variance, _contracting, "two quadratics: squared gap over variance"),
            Recursion(T, _zero, c * PREVIOUS + s, _gap_of_means, name="gap of the means"),
            Recursion(T, _zero, c**2 * PREVIOUS + sigma**2, sigma**2 * _variance, name="variance"),
        ),
        mutants=(
            Mutant("T - 1 for T", Identity(_gap_of_means**2 / _variance, _contracting.subs(T, T - 1)), Engine.IDENTITY),
            Mutant(
                "variance of one step",
                Identity(_gap_of_means**2, _contracting),
                Engine.IDENTITY,
            ),
            Mutant(
                "stationary from the start",
                Identity(_gap_of_means**2 / _variance, s**2 * (1 + c) / (1 - c)),
                Engine.IDENTITY,
            ),
            Mutant(
                "variance with c for c^2",
                Recursion(T, _zero, c**2 * PREVIOUS + sigma**2, sigma**2 * (1 - c**T) / (1 - c)),
                Engine.IDENTITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/theorem_3_1/direct/below_composition",
        title="c < 1: the optimum is strictly below composition for every T >= 2",
        source=at(242, "Section 5", "Uniform strict improvement"),
        assumptions=_ring,
        checks=(
            Identity((_ratio + _one_step) / (1 + _ratio * _one_step), _next, "addition law of (1 - c^T)/(1 + c^T)"),
            Inequality((p + q) / (1 + p * q), Relation.BELOW, p + q, name="so one more step adds less than one"),
            Identity(_contracting.subs(T, Integer(1)), s**2, "equal at T = 1"),
        ),
        mutants=(
            Mutant(
                "below composition at T = 1",
                Inequality(_contracting.subs(T, Integer(1)), Relation.BELOW, s**2),
                Engine.INEQUALITY,
            ),
            Mutant(
                "addition law of the tangent",
                Identity((_ratio + _one_step) / (1 - _ratio * _one_step), _next),
                Engine.IDENTITY,
            ),
            Mutant(
                "each step adds as much",
                Inequality(p + q, Relation.AT_MOST, (p + q) / (1 + p * q)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
    ),
)
