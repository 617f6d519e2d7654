"""Step sizes that change: the choice of the shifts, (5.7), and Example 5.8.

Statement    "The proper choice" is a_t = D eta_t/sum eta, at the cost w D^2/(sum eta)^2; (5.7) is its sum with the
             prices; for eta_t = t^-c it gives alpha D K T^c/(n sigma_DP^2), and min{T, (D n/K) T^c}.
Assumptions  x, y, z are three step sizes; w = T - tau - 1; costs in units of alpha/(2 sigma_1^2). In Example 5.8 x is
             D n T^c/K, w the window, costs in units of alpha K^2/(n^2 sigma_DP^2).
Derivation   Cauchy and Schwarz: the least sum of a_t^2/eta_t^2 with sum a_t = D is D^2/sum eta_t^2, at a_t in
             proportion to eta_t^2. One step is always paid for, so that no bound from (5.7) vanishes with D.
Source       Altschuler & Talwar 2022, section 5.3.
"""

from sympy import Expr, Integer, Min, Rational, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.proof_3_1_loss import LEAST, SEEN, claimed
from lastiterate.symbolic.claim import Asymptotic, Claim, Holds, Identity, Inequality, Relation, Role
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import SHIFTS, D, T, growth, u, v, w, x, y, z

_one, _zero = Integer(1), Integer(0)
_sizes = (x, y, z)
_used = (x > 0, y > 0, z > 0)
_total = x + y + z


def _cost(shifts: tuple[Expr, ...]) -> Expr:
    return sum((shift**2 / size**2 for shift, size in zip(shifts, _sizes, strict=True)), _zero)


def _least(value: Expr) -> Inequality:
    """No shifts with this sum at two step sizes cost less, in units of D^2."""
    first = SHIFTS[0]
    rest = 1 - first
    return Inequality(
        value, Relation.TIGHT, first**2 / x**2 + rest**2 / y**2, (x > 0, y > 0, first <= 1), "two steps, D = 1"
    )


CLAIMS = (
    Claim(
        key="altschuler_talwar/section_5_3/value",
        title="Shifts D eta_t/sum eta cost w D^2/(sum eta)^2",
        source=at(625, "Section 5.3"),
        assumptions=_used,
        checks=(
            Identity(_cost((D * x / _total, D * y / _total, D * z / _total)), 3 * D**2 / _total**2, "three steps"),
        ),
        mutants=(wrong("uniform shifts", Identity(_cost((D / 3, D / 3, D / 3)), 3 * D**2 / _total**2)),),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/section_5_3/proper_choice",
        title="The proper choice of the shifts is in proportion to the step sizes",
        source=at(627, "Section 5.3"),
        checks=(
            _least(2 / (x + y) ** 2),
            Holds(Rational(2, 9), Relation.AT_MOST, Rational(1, 5), {}, "step sizes 1 and 2, shifts 1/5 and 4/5"),
        ),
        mutants=(wrong("uniform", _least((1 / x**2 + 1 / y**2) / 4)),),
        relation=Relation.TIGHT,
        remark=(
            "a_t in proportion to eta_t is called the proper choice where noise grows with eta_t. It is not the one "
            "of least cost: the sum of a_t^2/eta_t^2 at a given sum of a_t is least in proportion to eta_t^2. (5.7) "
            "with D^2/sum eta_t^2 in place of w D^2/(sum eta_t)^2 is never larger, and smaller unless the step sizes "
            "agree."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_5_3/best_choice",
        title="In proportion to eta_t^2 the shifts cost least, D^2/sum eta_t^2",
        source=at(627, "Section 5.3"),
        checks=(
            _least(1 / (x**2 + y**2)),
            Inequality(
                1 / (x**2 + y**2 + z**2), Relation.TIGHT, 3 / _total**2, _used, name="never above the printed value"
            ),
        ),
        mutants=(wrong("half more", _least(Rational(3, 2) / (x**2 + y**2))),),
        role=Role.OURS,
        relation=Relation.TIGHT,
        repairs="altschuler_talwar/section_5_3/proper_choice",
    ),
    Claim(
        key="altschuler_talwar/section_5_3/bound",
        title="(5.7): Noisy-SGD satisfies RDP with (T - tau) S + w alpha D^2/(2 sigma_1^2 (sum eta)^2)",
        source=at(629, "Section 5.3", "(5.7)"),
        checks=(
            Identity(w * D**2 / (w * x) ** 2, D**2 / (x**2 * w), "equal step sizes: (3.7)"),
            Holds(SEEN, Relation.AT_MOST, claimed(log(Rational(10, 9))), {}, "the run that breaks (3.7)"),
            Holds(SEEN, Relation.AT_MOST, claimed(LEAST), {}, "the same, S enclosed"),
        ),
        mutants=(wrong("half", Holds(SEEN, Relation.AT_MOST, claimed(log(Rational(10, 9))) / 2, {})),),
        relation=Relation.AT_MOST,
        remark=(
            "(5.7) is (3.7) for step sizes that change. At equal step sizes the two agree, and the ten linear losses "
            "that break (3.7) break it. With twice the larger direction in the place of S it holds."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_5_3/bound_repaired",
        title="(5.7) reduces to (3.7) at equal step sizes, repaired there",
        source=at(629, "Section 5.3", "(5.7)"),
        checks=(Identity(w * D**2 / (w * x) ** 2, D**2 / (x**2 * w), "equal step sizes"),),
        mutants=(wrong("w^2", Identity(w**2 * D**2 / (w * x) ** 2, D**2 / (x**2 * w))),),
        role=Role.OURS,
        repairs="altschuler_talwar/section_5_3/bound",
    ),
    Claim(
        key="altschuler_talwar/section_5_3/best_window",
        title="Example 5.8: the window D T^c/sigma_1 sqrt(alpha/(2 S)) balances price and shifts",
        source=at(639, "Example 5.8"),
        checks=(
            Identity((u * w + v / w).diff(w).subs(w, (v / u) ** Rational(1, 2)), _zero, "stationary at sqrt(v/u)"),
            Inequality(2 * (u * v) ** Rational(1, 2), Relation.TIGHT, u * y + v / y, (y > 0,), "no window is better"),
        ),
        mutants=(
            wrong("v/u", Identity((u * w + v / w).diff(w).subs(w, v / u), _zero)),
            wrong("3 for 2", Inequality(3 * (u * v) ** Rational(1, 2), Relation.AT_MOST, u * y + v / y, (y > 0,))),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/section_5_3/example_5_8",
        title="Example 5.8: (5.7) gives alpha D K T^c/(n sigma_DP^2), and min{T, D n T^c/K}",
        source=at(637, "Example 5.8"),
        checks=(
            Asymptotic(
                1 + w + x**2 / w, x, path={w: _one, x: 1 / growth}, given=(x <= w, w <= x + 1), name="first display"
            ),
            Asymptotic(
                Min(T, 1 + w + x**2 / w),
                Min(T, x),
                path={T: growth, w: _one, x: 1 / growth},
                given=(x <= w, w <= x + 1),
                name="last display",
            ),
            Inequality(1 + w + x**2 / w, Relation.AT_MOST, 10**6 * x, (x <= w, w <= x + 1), "a million times"),
        ),
        mutants=(
            wrong(
                "x^2",
                Asymptotic(1 + w + x**2 / w, x**2, path={w: _one, x: 1 / growth}, given=(x <= w, w <= x + 1)),
            ),
        ),
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "(5.7) is said to give alpha D K T^c/(n sigma^2) up to a constant, which vanishes with D. (5.7) pays for "
            "at least one step whatever D is, as the 1/n^2 in step 4 of Theorem 3.1 and its ceiling do. With 1 + D n "
            "T^c/K for D n T^c/K both displays hold."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_5_3/example_5_8_repaired",
        title="With 1 + D n T^c/K, or where D n T^c >= K, both displays hold",
        source=at(637, "Example 5.8"),
        assumptions=(x <= w, w <= x + 1),
        checks=(
            Asymptotic(1 + w + x**2 / w, 1 + x, Integer(2), name="with 1 added"),
            Asymptotic(1 + w + x**2 / w, x, Integer(4), given=(x >= 1,), name="where x >= 1"),
        ),
        mutants=(wrong("x >= 0", Asymptotic(1 + w + x**2 / w, x, path={w: _one, x: 1 / growth})),),
        role=Role.OURS,
        relation=Relation.UP_TO_CONSTANT,
        repairs="altschuler_talwar/section_5_3/example_5_8",
    ),
)
