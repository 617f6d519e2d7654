"""Privacy amplification by iteration: Lemmas 2.15 and 2.16, Propositions 2.17 and 3.2.

Statement    Shifted divergences: a Gaussian step turns a shift a into alpha a^2/(2 sigma^2); contractions that differ
             by s lengthen a shift z to z + s; hence alpha/2 times the sum of a_t^2/sigma_t^2, from z_0 = 0 or from
             z_tau = D.
Assumptions  sigma is the noise of the iteration, on the iterate; v its variance; w = T - tau steps.
Derivation   Two points x apart have shifted divergence 0 within x and infinity below; the triangle inequality is
             (A.1); z_t is a recursion; by Cauchy and Schwarz equal shifts are best, and two Gaussian walks attain the
             value.
Source       Altschuler & Talwar 2022, section 2.4, Proposition 3.2 and appendix A.3.
"""

from sympy import Abs, Expr, Integer, Max, Rational

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Recursion, Relation, Role
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import (
    PREVIOUS,
    SHIFTS,
    D,
    T,
    a,
    alpha,
    gamma,
    s,
    sigma,
    t,
    v,
    w,
    x,
    xi,
    z,
    zeta,
)

_zero = Integer(0)


def _two_points(right: Expr) -> Inequality:
    """N(x, sigma^2) may be moved by z, the points themselves by z + a."""
    left = alpha * Max(x - z, _zero) ** 2 / (2 * sigma**2)
    return Inequality(left, Relation.TIGHT, right, (x <= z + a,), "two points")


def _moved(right: Expr) -> Inequality:
    """xi = phi(x), zeta = phi(y) and gamma = phi'(y), where |x - y| <= z."""
    return Inequality(
        Abs(gamma - xi), Relation.TIGHT, right, (Abs(gamma - zeta) <= s, Abs(zeta - xi) <= z), "(A.1), one dimension"
    )


def _walks(gap: Expr, shifts: Expr) -> Identity:
    """Two walks of w Gaussian steps whose means end at this gap, against alpha/2 times w shifts squared over v."""
    return Identity(renyi((gap, w * v), (_zero, w * v), alpha), alpha / 2 * w * shifts**2 / v, "attained by walks")


def _differ(other: Expr) -> Inequality:
    """xi is phi_T(x), gamma phi'_T(x), zeta phi'_(T-1)(x)."""
    return Inequality(Abs(xi - other), Relation.AT_MOST, s, (Abs(xi - gamma) <= s,), "maps differ by s_T")


_squares = sum((shift**2 for shift in SHIFTS), _zero)

CLAIMS = (
    Claim(
        key="altschuler_talwar/section_2_4/lemma_2_15",
        title="Lemma 2.15: a Gaussian step hides a shift a at the price alpha a^2/(2 sigma^2); two points attain it",
        source=at(299, "Lemma 2.15"),
        assumptions=(alpha > 1,),
        checks=(_two_points(alpha * a**2 / (2 * sigma**2)),),
        mutants=(
            wrong("half", _two_points(alpha * a**2 / (4 * sigma**2))),
            wrong("alpha^1 a^1", _two_points(alpha * a / (2 * sigma**2))),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="altschuler_talwar/section_2_4/lemma_2_16",
        title="Lemma 2.16 and (A.1): maps that differ by s lengthen a shift z to z + s",
        source=at(675, "Lemma 2.16", "(A.1)"),
        checks=(_moved(s + z),),
        mutants=(wrong("the larger of the two", _moved(Max(s, z))),),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="altschuler_talwar/section_2_4/proposition_2_17",
        title="Proposition 2.17: z_t is the sum of s_i - a_i, and equal shifts s cost alpha T s^2/(2 sigma^2)",
        source=at(315, "Proposition 2.17"),
        assumptions=(alpha > 1,),
        checks=(
            Recursion(t, _zero, PREVIOUS + s - a, t * (s - a), name="z_t"),
            Identity(renyi((T * s, T * v), (_zero, T * v), alpha), alpha / 2 * T * s**2 / v, "attained by walks"),
        ),
        mutants=(
            wrong("no s", Recursion(t, _zero, PREVIOUS + s - a, -t * a)),
            wrong("alpha for alpha/2", Identity(renyi((T * s, T * v), (_zero, T * v), alpha), alpha * T * s**2 / v)),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="altschuler_talwar/section_2_4/proposition_3_2",
        title="Proposition 3.2: from a distance D at time tau, with shifts that bring z_t from D to 0",
        source=at(335, "Proposition 3.2"),
        assumptions=(alpha > 1,),
        checks=(
            Recursion(t, D, PREVIOUS + s - a, D + t * (s - a), name="z_t after t steps"),
            Identity(D + w * (s - (D / w + s)), _zero, "equal shifts D/w + s end at 0"),
            _walks(D + w * s, D / w + s),
        ),
        mutants=(
            wrong("from 0", Recursion(t, _zero, PREVIOUS + s - a, D + t * (s - a))),
            wrong("shifts D/w", Identity(D + w * (s - D / w), _zero)),
            wrong("D at each step", _walks(D, D)),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="altschuler_talwar/section_2_4/proposition_3_2_step",
        title="One round of the proof: z_T = z_(T-1) + s_T - a_T",
        source=at(343, "Proposition 3.2"),
        checks=(Identity((D + (t + 1) * (s - a)) - (D + t * (s - a)), s - a, "z_(t+1) - z_t"),),
        mutants=(wrong("s + a", Identity((D + (t + 1) * (s - a)) - (D + t * (s - a)), s + a)),),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/section_2_4/proposition_3_2_maps",
        title="In the same round both runs apply their maps of time T, which differ by s_T",
        source=at(345, "Proposition 3.2"),
        checks=(_differ(gamma),),
        misprint=_differ(zeta),
        mutants=(wrong("half of s_T", Inequality(Abs(xi - gamma), Relation.AT_MOST, s / 2, (Abs(xi - gamma) <= s,))),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The display gives the second run the map phi'_(T-1) beside phi_T in the first. s_T is the distance of "
            "phi_T and phi'_T, and Definition 2.13 has X_T from X_(T-1) by the map of time T. The reading phi'_T "
            "holds."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_2_4/equal_shifts",
        title="With equal noise and s = 0, equal shifts are best: D^2/w",
        source=at(440, "Step 3b"),
        checks=(
            Inequality(sum(SHIFTS, _zero) ** 2 / 3, Relation.TIGHT, _squares, name="three steps"),
            Identity(w * (D / w) ** 2, D**2 / w, "w equal shifts"),
        ),
        mutants=(
            wrong("half", Inequality(sum(SHIFTS, _zero) ** 2 * Rational(1, 2), Relation.TIGHT, _squares)),
            wrong("D^2", Identity(w * (D / w) ** 2, D**2)),
        ),
        role=Role.STEP,
    ),
)
