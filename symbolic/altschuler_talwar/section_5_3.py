"""Step sizes that change: the choice of the shifts, (5.7), and Example 5.8.

x, y, z are three step sizes; w = T - tau - 1; costs in units of alpha/(2 sigma_1^2). In Example 5.8 x is D n T^c/K, w
the window, costs in units of alpha K^2/(n^2 sigma_DP^2).
"""

from sympy import Expr, Integer, Min, Rational, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.theorem_3_1 import LEAST, SEEN, claimed
from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, IntervalInequality, Ours, Step
from lastiterate.symbolic.letters import a, r, x, y, z
from lastiterate.symbolic.notation import SHIFTS, D, T, growth, w
from lastiterate.symbolic.unevaluated import put

_one = Integer(1)
_used = (x > 0, y > 0, z > 0)
_total = x + y + z


def _least(value: Expr) -> Inequality:
    """No shifts with this sum at two step sizes cost less, in units of D^2."""
    first = SHIFTS[0]
    rest = 1 - first
    return Inequality(
        value, "<= and attained", first**2 / x**2 + rest**2 / y**2, (x > 0, y > 0, first <= 1), "two steps, D = 1"
    )


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
        "The proper choice of the shifts is in proportion to the step sizes",
        at("Section 5.3"),
        _least(2 / (x + y) ** 2).mutant("uniform", _least((1 / x**2 + 1 / y**2) / 4)),
        IntervalInequality(Rational(2, 9), "<=", Rational(1, 5), {}, "step sizes 1 and 2, shifts 1/5 and 4/5"),
        remark="""a_t in proportion to eta_t is called the proper choice where noise grows with eta_t. It is not the
        one of least cost: the sum of a_t^2/eta_t^2 at a given sum of a_t is least in proportion to eta_t^2. (5.7) with
        D^2/sum eta_t^2 in place of w D^2/(sum eta_t)^2 is never larger, and smaller unless the step sizes agree.""",
    ),
    Ours(
        "altschuler_talwar/section_5_3/best_choice",
        "In proportion to eta_t^2 the shifts cost least, D^2/sum eta_t^2",
        at("Section 5.3"),
        _least(1 / (x**2 + y**2)),
        Inequality(
            1 / (x**2 + y**2 + z**2), "<= and attained", 3 / _total**2, _used, name="never above the printed value"
        ),
        repairs="altschuler_talwar/section_5_3/proper_choice",
    ),
    Claim(
        "altschuler_talwar/section_5_3/bound",
        "(5.7): Noisy-SGD satisfies RDP with (T - tau) S + w alpha D^2/(2 sigma_1^2 (sum eta)^2)",
        at("Section 5.3", "(5.7)"),
        Identity(put(w * D**2 / r**2, {r: w * x}), D**2 / (x**2 * w), "equal step sizes: (3.7)", (x > 0,)),
        IntervalInequality(SEEN, "<=", claimed(log(Rational(10, 9))), {}, "the run that breaks (3.7)").mutant(
            "half", right=claimed(log(Rational(10, 9))) / 2
        ),
        IntervalInequality(SEEN, "<=", claimed(LEAST), {}, "the same, S enclosed"),
        remark="""(5.7) is (3.7) for step sizes that change. At equal step sizes the two agree, and the ten linear
        losses that break (3.7) break it. With twice the larger direction in the place of S it holds.""",
    ),
    Ours(
        "altschuler_talwar/section_5_3/bound_repaired",
        "(5.7) reduces to (3.7) at equal step sizes, repaired there",
        at("Section 5.3", "(5.7)"),
        Identity(put(w * D**2 / r**2, {r: w * x}), D**2 / (x**2 * w), "equal step sizes", (x > 0,)),
        repairs="altschuler_talwar/section_5_3/bound",
    ),
    Claim(
        "altschuler_talwar/section_5_3/example_5_8",
        "Example 5.8: (5.7) gives alpha D K T^c/(n sigma_DP^2), and min{T, D n T^c/K}",
        at("Example 5.8"),
        Asymptotic(
            1 + w + x**2 / w, x, path={w: _one, x: 1 / growth}, given=(x <= w, w <= x + 1), name="first display"
        ).mutant("x^2", right=x**2),
        Asymptotic(
            Min(T, 1 + w + x**2 / w),
            Min(T, x),
            path={T: growth, w: _one, x: 1 / growth},
            given=(x <= w, w <= x + 1),
            name="last display",
        ),
        Inequality(1 + w + x**2 / w, "<=", 10**6 * x, (x <= w, w <= x + 1), "a million times"),
        remark="""(5.7) is said to give alpha D K T^c/(n sigma^2) up to a constant, which vanishes with D. (5.7) pays
        for at least one step whatever D is, as the 1/n^2 in step 4 of Theorem 3.1 and its ceiling do. With 1 + D n
        T^c/K for D n T^c/K both displays hold.""",
    ),
    Ours(
        "altschuler_talwar/section_5_3/example_5_8_repaired",
        "With 1 + D n T^c/K, or where D n T^c >= K, both displays hold",
        at("Example 5.8"),
        Asymptotic(1 + w + x**2 / w, 1 + x, Integer(2), name="with 1 added"),
        Asymptotic(1 + w + x**2 / w, x, Integer(4), given=(x >= 1,), name="where x >= 1").mutant(
            "x >= 0", constant=None, path={w: _one, x: 1 / growth}, given=()
        ),
        assumptions=(x <= w, w <= x + 1),
        repairs="altschuler_talwar/section_5_3/example_5_8",
    ),
)
