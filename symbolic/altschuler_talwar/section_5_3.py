"""Step sizes that change: the choice of the shifts, (5.7), and Example 5.8.

x is a step size; w = T - tau - 1; costs in units of alpha/(2 sigma_1^2). In Example 5.8 x is D n T^c/K >= 1, w
the window, costs in units of alpha K^2/(n^2 sigma_DP^2).
"""

from sympy import Integer, Min, Rational, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.theorem_3_1 import LEAST, SEEN, claimed
from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, IntervalInequality, Ours, Step
from lastiterate.symbolic.derivations.checks import without_replacement
from lastiterate.symbolic.letters import a, r, x, y, z
from lastiterate.symbolic.notation import D, L, T, eta, growth, w
from lastiterate.symbolic.unevaluated import put

_one = Integer(1)


CLAIMS = (
    Step(
        "altschuler_talwar/section_5_3/value",
        "Shifts D eta_t/sum eta cost w D^2/(sum eta)^2",
        at("Section 5.3"),
        Identity(w * put(a**2 / x**2, {a: D * x / r}), w * D**2 / r**2, "w steps, r the sum of their sizes"),
        assumptions=(x > 0,),
    ),
    Claim(
        "altschuler_talwar/section_5_3/proper_choice",
        "Shifts in proportion to the step sizes, not uniform ones: they cost no more, w D^2/(sum eta)^2",
        at("Section 5.3"),
        Inequality(
            3 / z**2 - 2 * x / z**3, "<= and attained", 1 / x**2, (x > 0, z > 0), "summed up; z is the mean step size"
        ).mutant("z^2 for z^3", sign="<=", left=3 / z**2 - 2 / z**2 + x),
    ),
    Ours(
        "altschuler_talwar/section_5_3/best_choice",
        "In proportion to eta_t^2 the shifts cost least, D^2/sum eta_t^2, which is at most w D^2/(sum eta)^2",
        at("Section 5.3"),
        Inequality(
            2 * r * a - r**2 * x**2,
            "<= and attained",
            a**2 / x**2,
            (x > 0,),
            "summed up, r = D/sum eta^2: at least r D",
        ),
        Inequality(2 * x * z - z**2, "<= and attained", x**2, name="summed up: sum eta^2 is at least (sum eta)^2/w"),
    ),
    Step(
        "altschuler_talwar/section_5_3/bound",
        "(5.7) follows as (3.7) does: (T - tau) S + w alpha D^2/(2 sigma_1^2 (sum eta)^2), at any order and noise",
        at("Section 5.3", "(5.7)"),
        Identity(put(w * D**2 / r**2, {r: w * x}), D**2 / (x**2 * w), "equal step sizes: (3.7)", (x > 0,)),
        IntervalInequality(SEEN, "<=", claimed(log(Rational(10, 9))), {}, "the run that breaks (3.7)").mutant(
            "half", right=claimed(log(Rational(10, 9))) / 2
        ),
        IntervalInequality(SEEN, "<=", claimed(LEAST), {}, "the same, S enclosed"),
        remark="""(5.7) is (3.7) for step sizes that change, by the same argument. At equal step sizes the two agree,
        and what shows that (3.4) to (3.6) do not give (3.7) shows it here (proof_3_1/bound). With the price of a step
        between two mixtures for S it holds.""",
    ),
    Ours(
        "altschuler_talwar/section_5_3/bound_repaired",
        "(5.7) with the price of a step between two mixtures for S, any step sizes, splits of the noise and shifts",
        at("Section 5.3", "(5.7)"),
        Identity(put(w * D**2 / r**2, {r: w * x}), D**2 / (x**2 * w), "equal step sizes", (x > 0,)),
        *without_replacement("convex"),
        assumptions=(eta * L <= 2,),
        repairs="altschuler_talwar/section_5_3/bound",
    ),
    Claim(
        "altschuler_talwar/section_5_3/example_5_8",
        "Example 5.8: (5.7) gives alpha D K T^c/(n sigma_DP^2), and with (1.1) min{T, D n T^c/K}, D n T^c >= K",
        at("Example 5.8"),
        Inequality(1 / z, "<= and attained", 1 / y, (y > 0, y <= z), "the last w step sizes, z = T^c: at least w T^-c"),
        Asymptotic(
            1 + w + x**2 / w, x, Integer(4), given=(w < T, x >= 1), name="first display, a window of w < T"
        ).mutant("x >= 0", constant=None, path={w: _one, x: 1 / growth, T: growth}, given=()),
        Asymptotic(Min(T, 1 + w + x**2 / w), Min(T, x), Integer(4), given=(x >= 1,), name="last display"),
        assumptions=(x <= w, w <= x + 1),
    ),
)
