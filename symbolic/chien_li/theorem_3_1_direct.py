"""Theorem 3.1 without conditioning: shift the two different maps directly.

If nu is within z of W_t then psi nu' is within e(z) of psi W_t for the *other* map psi' too, so
D^(e(z) - a)(W_{t+1} || W'_{t+1}) <= D^(z)(W_t || W'_t) + alpha a^2 / (2 sigma^2): Lemma 3.2 after a reduction with two
maps. No share of the noise is set apart, and nothing is conditioned on.
"""

from sympy import Integer, Max, Min, Piecewise

from lastiterate.symbolic.chien_li.paper import (
    CLIPPED_RUNS,
    COMMON,
    CONVEX_RUNS,
    FULL_BATCHES,
    SMOOTH_RUNS,
    STRONG_RUNS,
    at,
    attacked,
    shift_bound,
)
from lastiterate.symbolic.claim import Identity, Inequality, Ours, Recursion
from lastiterate.symbolic.derivations.checks import known_batches
from lastiterate.symbolic.formulas.shift_program import cost, v_sum, w_sum
from lastiterate.symbolic.letters import a, p, q, x, z
from lastiterate.symbolic.notation import PREVIOUS, K, L, T, alpha, c, eta, m, n, s, sensitivity, sigma
from lastiterate.symbolic.statement import Convex, Smooth, StronglyConvex, private

_zero = Integer(0)


_contracting = s**2 * (1 + c) / (1 - c) * (1 - c**T) / (1 + c**T)
_gap_of_means = s * (1 - c**T) / (1 - c)
_variance = (1 - c ** (2 * T)) / (1 - c**2)
_ratio = (1 - c**T) / (1 + c**T)
_one_step = (1 - c) / (1 + c)
_next = (1 - c ** (T + 1)) / (1 + c ** (T + 1))
_ring = (c > 0, c < 1)


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/direct/smooth",
        "Direct shifts for smooth losses, e(z) = z + eta (n - 1)/n min(L z, 2 K) + s",
        at("Theorem 3.1", "(3)"),
        attacked(
            "bound_full_smooth",
            SMOOTH_RUNS,
            *COMMON,
            "as if there were 2 n samples",
            "radius for diameter",
            "a hundredth of the smoothness",
            "no smoothness at all",
            name="smooth",
        ),
        *known_batches("smooth"),
        statement=private(
            shift_bound(z + eta * (n - 1) / n * Min(L * z, 2 * K) + sensitivity()), *FULL_BATCHES, Smooth(L)
        ),
        assumptions=(alpha > 1,),
        repairs="chien_li/proof_3_1/conditioning",
    ),
    Ours(
        "chien_li/theorem_3_1/direct/convex",
        "Direct shifts bound the divergence for convex losses, e(z) = z + s",
        at("Theorem 3.1", "(3)"),
        attacked("bound_full_convex", CONVEX_RUNS, *COMMON, "radius for diameter", name="convex"),
        *known_batches("convex"),
        statement=private(shift_bound(z + sensitivity()), *FULL_BATCHES, Convex(L, K), eta * L <= 2),
        assumptions=(alpha > 1, eta * L <= 2),
    ),
    Ours(
        "chien_li/theorem_3_1/direct/strongly_convex",
        "Direct shifts bound the divergence for strongly convex losses, e(z) = c z + s",
        at("Theorem 3.1", "(3)"),
        attacked(
            "bound_full_strongly_convex",
            STRONG_RUNS,
            *COMMON,
            "four times the strong convexity",
            name="strongly convex",
        ),
        *known_batches("strongly convex"),
        statement=private(
            shift_bound(Max(1 - eta * m, eta * L - 1) * z + sensitivity()), *FULL_BATCHES, StronglyConvex(m, L, K)
        ),
        assumptions=(alpha > 1, m <= L, eta * L <= 2),
    ),
    Ours(
        "chien_li/theorem_3_1/direct/clipped",
        "Direct shifts bound the divergence under clipping alone, e(z) = z + 2 eta K for z > 0",
        at("Theorem 3.1", "(3)"),
        attacked("bound_full_clipped", CLIPPED_RUNS, *COMMON, "radius for diameter", name="clipped"),
        *known_batches("clipped"),
        statement=private(shift_bound(Piecewise((z + 2 * eta * K, z > 0), (sensitivity(), True))), *FULL_BATCHES),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "chien_li/theorem_3_1/direct/composition_forced",
        "Where e(z) >= z + s, no path from z = 0 costs less than composition, T s^2",
        at("Section 5", "Uniform strict improvement"),
        Inequality(
            s**2 + 2 * s * z,
            "<= and attained",
            a**2 + 2 * s * x,
            given=(x >= z + s - a,),
            name="one step: s^2 <= a^2 + 2 s (z' - z); the steps telescope",
        ).mutant("e(z) >= z only", sign="<=", given=(x >= z - a,)),
    ),
    Ours(
        "chien_li/theorem_3_1/direct/contraction",
        "c < 1, from z = 0: s^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T), attained by quadratics",
        at("Theorem 3.1", "strongly convex"),
        Identity(cost(s, _zero, v_sum(c, T), w_sum(c, T)), _contracting, "the optimum"),
        Identity(_gap_of_means**2 / _variance, _contracting, "two quadratics: squared gap over variance"),
        Recursion(T, _zero, c * PREVIOUS + s, _gap_of_means, name="gap of the means"),
        Recursion(T, _zero, c**2 * PREVIOUS + sigma**2, sigma**2 * _variance, name="variance"),
        assumptions=_ring,
    ),
    Ours(
        "chien_li/theorem_3_1/direct/below_composition",
        "c < 1: the optimum is strictly below composition for every T >= 2",
        at("Section 5", "Uniform strict improvement"),
        Identity((_ratio + _one_step) / (1 + _ratio * _one_step), _next, "addition law of (1 - c^T)/(1 + c^T)"),
        Inequality((p + q) / (1 + p * q), "<", p + q, name="so one more step adds less than one"),
        assumptions=_ring,
    ),
)
