r"""Section 5.3 of Altschuler & Talwar 2022: step sizes that change.

(5.7): with $\tau < T - 1$, $w = T - \tau - 1$ and shifts in proportion to the step sizes
$$D_\alpha(W_T \| W'_T) \le (T - \tau) S + \frac{\alpha}{2\sigma_1^2}\,\frac{w D^2}{(\sum_t \eta_t)^2}.$$
Example 5.8: $\eta_t = t^{-c}$ gives
$\varepsilon \lesssim \frac{\alpha L^2}{n^2\sigma^2}\min\{T, \frac{Dn}{L} T^c\}$.

Like (3.7), (5.7) is a gap, and holds if $S$ is the cost of a step between two mixtures. Shifts in proportion
to the squares of the step sizes cost less.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *
from lastiterate.symbolic.altschuler_talwar.proof_3_1 import LEAST, SEEN, claimed

_size: Any = Function("eta", positive=True)
_shift, _covered = (Function(name, real=True) for name in ("a", "R"))
_cost, _sum, _squares, _inverse = (Function(name, nonnegative=True) for name in ("C", "S", "X", "Q"))


def _choice(name: str, says: Relational, shift: Expr) -> Induction:
    """Shifts in t steps with sum R and cost C; S, X and Q are the sums of eta, eta^2 and 1/eta^2."""
    terms = {
        _covered: shift,
        _cost: shift**2 / _size(t) ** 2,
        _sum: _size(t),
        _squares: _size(t) ** 2,
        _inverse: 1 / _size(t) ** 2,
    }
    used = {total: term for total, term in terms.items() if says.has(total)}
    return Induction(t, says, begin(*used), tuple(gains(*one) for one in used.items()), name=name)


_PROPORTIONAL = (
    _choice("shifts r eta_t: their sum", Eq(_covered(t), r * _sum(t)), r * _size(t)),
    _choice("what they cost", Eq(_cost(t), r**2 * t), r * _size(t)),
)
_equal_sizes = Identity(
    put(w * D**2 / r**2, {r: w * x}), D**2 / (x**2 * w), "equal step sizes: (3.7)", (x > 0,)
)

CLAIMS = (
    Step(
        "altschuler_talwar/section_5_3/value",
        "Shifts D eta_t/sum eta cost w D^2/(sum eta)^2",
        at("Section 5.3"),
        *_PROPORTIONAL,
        Identity(put(w * r**2, {r: D / x}), w * D**2 / x**2, "those that cover D, x = sum eta", (x > 0,)),
    ),
    Claim(
        "altschuler_talwar/section_5_3/proper_choice",
        "Over any w steps shifts D eta_t/sum eta cost w D^2/(sum eta)^2, never more than the uniform shifts D/w",
        at("Section 5.3"),
        *_PROPORTIONAL,
        _choice("uniform shifts r: their sum", Eq(_covered(t), r * t), r),
        _choice("what uniform shifts cost", Eq(_cost(t), r**2 * _inverse(t)), r),
        _choice("(sum eta)^2 sum 1/eta^2 >= w^3", Le(t**3, _sum(t) ** 2 * _inverse(t)), r),
        Inequality(
            w * D**2 / x**2,
            "<= and attained",
            z * D**2 / w**2,
            (x > 0, w**3 <= x**2 * z),
            "r = D/x against r = D/w, x = sum eta, z = sum 1/eta^2",
            (Eq(x, w), Eq(z, w)),
        ),
    ),
    Ours(
        "altschuler_talwar/section_5_3/best_choice",
        "Any w shifts cost D^2/sum eta_t^2 at least, those in proportion to eta_t^2 that: at most w D^2/(sum eta)^2",
        at("Section 5.3"),
        _choice("any shifts (Cauchy and Schwarz)", Le(_covered(t) ** 2, _cost(t) * _squares(t)), _shift(t)),
        Inequality(D**2 / x, "<= and attained", y, (x > 0, x * y >= D**2), "those that cover D, x = sum eta^2"),
        _choice("shifts r eta_t^2: their sum", Eq(_covered(t), r * _squares(t)), r * _size(t) ** 2),
        _choice("what they cost", Eq(_cost(t), r**2 * _squares(t)), r * _size(t) ** 2),
        Identity(put(r**2 * x, {r: D / x}), D**2 / x, "those that cover D", (x > 0,)),
        _choice("(sum eta)^2 <= w sum eta^2", Le(_sum(t) ** 2, t * _squares(t)), r),
        Inequality(D**2 / x, "<= and attained", w * D**2 / z**2, (z > 0, z**2 <= w * x), "z = sum eta"),
    ),
    Step(
        "altschuler_talwar/section_5_3/bound",
        "(5.7) follows as (3.7) does: (T - tau) S + w alpha D^2/(2 sigma_1^2 (sum eta)^2), at any order and noise",
        at("Section 5.3", "(5.7)"),
        _equal_sizes,
        IntervalInequality(SEEN, "<=", claimed(LEAST), {}, "the run that breaks (3.7), S enclosed"),
    ),
    Ours(
        "altschuler_talwar/section_5_3/bound_repaired",
        "(5.7) with the cost of a step between two mixtures for S, any step sizes, splits of the noise and shifts",
        at("Section 5.3", "(5.7)"),
        _equal_sizes,
        *windows("without_replacement", "convex"),
        assumptions=(q <= 1, eta * L <= 2),
        repairs="altschuler_talwar/section_5_3/bound",
    ),
    Claim(
        "altschuler_talwar/section_5_3/example_5_8",
        "Example 5.8: (5.7) gives alpha D K T^c/(n sigma_DP^2), and with (1.1) min{T, D n T^c/K}, D n T^c >= K",
        at("Example 5.8"),
        Inequality(
            1 / z, "<= and attained", 1 / y, (y > 0, y <= z), "step sizes up to T, z = T^c: T^-c or more"
        ),
        sum_induction(
            "the sum of any number t of them, r = T^-c", Le(r * t, _sum(t)), {_sum: _size(t)}, Le(r, _size(t))
        ),
        Asymptotic(1 + w + x**2 / w, x, Integer(4), given=(w < T, x >= 1), name="first display").mutant(
            "x >= 0", constant=None, path={w: S.One, x: 1 / growth, T: growth}, given=()
        ),
        Asymptotic(Min(T, 1 + w + x**2 / w), Min(T, x), Integer(4), given=(x >= 1,), name="last display"),
        assumptions=(x <= w, w <= x + 1),
        letters={x: "D n T^c/K", w: "window", y: "T^c at an earlier step"},
    ),
)
