r"""A.14 and A.15 of Chien & Li 2025: a non-smooth function with a Hoelder derivative, and large data sets.

$$f(x) = \mathrm{sign}(x) \tfrac34 |x|^{4/3}, \qquad
|f'(x) - f'(y)| \le 2^{2/3} |x - y|^{1/3} \tag{128-132}, \qquad \frac{|f'(x) - f'(0)|}{|x|} = |x|^{-2/3} \tag{133}$$
A.15: as $n \to \infty$ the bound goes to 0, but bounds of the form $(C_1 D + C_2)^2$, $C_1 > 1$, do not.

All hold, but case 3 is about (3/4) |x|^(4/3). In the code, the letters x, y and z stand for |x|^(1/3),
|y|^(1/3) and |x - y|^(1/3). In A.15 costs are in units of alpha / (2 sigma^2), and D^2 is not a valid bound
(`remarks_3_1/output_perturbation`).
"""

from lastiterate.symbolic.chien_li.paper import *

_third = Rational(1, 3)
_same = (y <= x, z**3 >= x**3 - y**3)
_from_zero = (Eq(y, 0), Eq(z, x))
_across = Abs(xi) ** _third + zeta**_third


def _f(point: Expr) -> Expr:
    return Rational(3, 4) * point ** Rational(4, 3)


def _odd(point: Expr) -> Expr:
    """The derivative of (3/4) |x|^(4/3)."""
    return sign(point) * _even(point)


def _even(point: Expr) -> Expr:
    """The derivative of sign(x) (3/4) |x|^(4/3)."""
    return Abs(point) ** _third


CLAIMS = (
    Claim(
        "chien_li/appendix_a_14/derivative",
        "f(x) = sign(x) (3/4) |x|^(4/3) has the derivative |x|^(1/3) everywhere",
        at("A.14"),
        Identity(Derivative(_f(xi), xi), xi**_third, "x > 0", (xi > 0,)),
        Identity(Derivative(-_f(-xi), xi), (-xi) ** _third, "x < 0: minus f, at -x", (xi < 0,)),
        Identity(
            put(_f(u) / u, {u: v**3}), 3 * v / 4, "x = 0: |f(h)/h| = 3 v/4 at |h| = v^3, as small as v is"
        ),
    ),
    Claim(
        "chien_li/appendix_a_14/powers",
        "(129): 1 <= v^s + (1 - v)^s for v in [0, 1], s in (0, 1] (a and b not both zero)",
        at("A.14", "(129)"),
        Inequality(lam * y, "<= and attained", y, (lam <= 1,), "v <= v^s at v = e^-y: the exponents"),
        Inequality(S.One, "<=", x + y, (z <= x, 1 - z <= y), "both added; x = z^s, y = (1 - z)^s, v is z"),
        letters={lam: "s"},
    ),
    Step(
        "chien_li/appendix_a_14/case_1",
        "(128), (130): x, y >= 0 have |G(x) - G(y)| <= 1 |x - y|^(1/3)",
        at("A.14", "(128)-(130)"),
        Inequality(x - y, "<= and attained", z, _same, "constant 1", _from_zero),
    ),
    Step(
        "chien_li/appendix_a_14/case_2",
        "Case 2: x, y <= 0 have |G(x) - G(y)| <= |x - y|^(1/3)",
        at("A.14", "Case 2"),
        Inequality(x - y, "<=", z, _same, "with the power 1/3"),
        misprint=Inequality(x - y, "<=", z**3, _same, "without it, as printed"),
    ),
    Step(
        "chien_li/appendix_a_14/case_3",
        "(131): for x < 0 < y the difference |G(x) - G(y)| is |x|^(1/3) + y^(1/3)",
        at("A.14", "(131)"),
        Identity(Abs(_odd(xi) - _odd(zeta)), _across, "G(x) = sign(x) |x|^(1/3)"),
        assumptions=(xi < 0, zeta > 0),
        misprint=Identity(
            Abs(_even(xi) - _even(zeta)), _across.subs(zeta, Abs(zeta)), name="G(x) = |x|^(1/3), as printed"
        ),
    ),
    Claim(
        "chien_li/appendix_a_14/constant",
        "(132): u^(1/3) + (1 - u)^(1/3) <= 2^(2/3) = 1.587, attained at u = 1/2",
        at("A.14", "(132)"),
        Inequality(
            (x + y) ** 3, "<= and attained", 4 * (x**3 + y**3), (), "opposite signs, cubed", (Eq(x, y),)
        ),
        Value(2 ** Rational(2, 3), "1.587", "printed value"),
    ),
    Ours(
        "chien_li/appendix_a_14/best_constant",
        "For the printed f the best constant is 1: | |x|^(1/3) - |y|^(1/3) | <= |x - y|^(1/3), equal at y = 0",
        at("A.14", "(2^(2/3), 1/3)-Hoelder"),
        Inequality(x - y, "<= and attained", z, (z**3 >= x**3 + y**3,), "opposite signs", _from_zero),
        Inequality(x - y, "<= and attained", z, _same, "same sign", _from_zero),
    ),
    Step(
        "chien_li/appendix_a_14/not_lipschitz",
        "(133): |G(x) - G(0)| / |x| = x^(-2/3) exceeds every r > 0 near zero",
        at("A.14", "(133)"),
        Identity(put(Abs(_even(x) - _even(xi)) / x, {xi: 0}), x ** Rational(-2, 3), "the quotient"),
        Inequality(r, "<", 1 / y**2, (y > 0, y**2 * r < 1), "above r; x = y^3"),
        assumptions=(x > 0,),
    ),
    Claim(
        "chien_li/appendix_a_15/large_n_convex",
        "Convex losses: as n -> infinity the loss goes to 0, at most 8 eta K D / n + s^2 for every T",
        at("A.15", "Behavior as dataset size n grows"),
        Inequality(
            (s * w + D) ** 2 / w, "<=", 4 * s * D + s**2, (w >= D / s, w <= D / s + 1), "about D/s steps"
        ),
        Inequality(T * s**2, "<=", 4 * s * D + s**2, (T * s <= D + s,), "shorter runs: composition"),
        Inequality(
            8 * eta * K * D / n + sensitivity() ** 2,
            "<=",
            y,
            (n * y >= 8 * eta * K * D + 4 * eta**2 * K**2,),
            "any y",
        ),
    ),
    Claim(
        "chien_li/appendix_a_15/large_n_smooth",
        "As n -> infinity the bound decays to 0, for any T, convex or not: it is at most T (2 eta K/n)^2",
        at("A.15", "significantly different from our bound"),
        Derived("full_batch/composition", Gauss(T * sensitivity() ** 2 / sigma**2)),
        Inequality(T * (2 * eta * K / n) ** 2, "<=", y, (n**2 * y >= 4 * T * eta**2 * K**2,), "below any y"),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "chien_li/appendix_a_15/kong_ribero",
        "A bound (C_1 D + C_2)^2 with C_1 > 1, C_2 > 0 is above output perturbation and does not decay as n grows",
        at("A.15", "Comparison to output perturbation"),
        Inequality(D**2, "<", (p * D + r) ** 2, (p > 1,), "C_1 = p, C_2 = r, for every n"),
    ),
    Ours(
        "chien_li/appendix_a_15/large_n_limit",
        "c > 1: every window from D costs more than (c^2 - 1) D^2, whatever n; so for T without limit nothing decays",
        at("A.15", "Behavior as dataset size n grows"),
        Identity(best_window_cost(c, s, D), (c**2 - 1) * D**2 + 2 * (c + 1) * s * D, "the best window"),
        Inequality((c**2 - 1) * D**2, "<", window_cost(c, s, D, u), (c > 1, u < 1), "every window, u = c^-w"),
        Inequality(s**2, "<=", s**2 / q + a**2 / (1 - q), (q < 1,), "and others s^2 a step or more"),
    ),
)
