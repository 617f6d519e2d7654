"""Forward tracking of W_infinity(W_t, W_t') for Hoelder continuous gradients, with h, the inverse of x + L x^lambda.

Each update moves two points at most g(z; eta L) apart under one map, and the two maps differ by 2 eta K / n; or two
clipped means differ by 2 K. The closed forms of h are triple-angle formulas, or two quadratics from a cubic.
"""

from sympy import Abs, Expr, Integer, Min, Rational, cos, diff, sqrt

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, RandomPoints, Step
from lastiterate.symbolic.holder import g, inverse, slope
from lastiterate.symbolic.letters import gamma, kappa, r, theta, u, v, x, xi, y, z, zeta
from lastiterate.symbolic.notation import K, L, eta, lam, n

_zero, _half = Integer(0), Rational(1, 2)
_box = {x: (Rational(1, 100), 4), L: (0, 4), lam: (Rational(1, 20), 1)}
_pair = {u: (Rational(1, 100), 2), lam: (Rational(1, 20), 1)}
_root = (-L + sqrt(L**2 + 4 * z)) / 2
_h = inverse(z, L, _half)

# lambda = 1/3: L = 3 r^2, so that sqrt(L / 3) = r; the root is 2 r sinh(theta) where z = 2 r^3 sinh(3 theta).
# The exponential e^theta is u.
_sinh_root, _sinh_three = r * (u - 1 / u), (u**3 - u**-3) / 2
# lambda = 2/3: L = 3 r; the root is r (2 cosh(theta) - 1) where z = 2 r^3 (1 + cosh(3 theta)); cos for small z.
_cosh_root, _cosh_three = r * (u + 1 / u - 1), (u**3 + u**-3) / 2
_cos_root = r * (2 * cos(theta) - 1)
# lambda = 1/4: u^4 + L u - z = (u^2 + a u + b)(u^2 - a u + d); with v = sqrt(2 L / a - a^2) the root is (v - a)/2.
_quartic_size, _quartic_root = u * (v**2 + u**2) / 2, (v - u) / 2
_quartic_z = (v**2 - u**2) * (v**2 + 3 * u**2) / 16


def _at_root(root: Expr, degree: int, power: int, size: Expr, value: Expr, name: str) -> Identity:
    """root^degree + L root^power = z."""
    return Identity(root**degree + size * root**power, value, name)


def _closed(order: Expr) -> RandomPoints:
    box = {z: (Rational(1, 20), 6), L: (Rational(1, 10), 3)}
    return RandomPoints(g(inverse(z, L, order), L, order), "==", z, box, f"as written, lambda = {order}")


_s, _cap = 2 * eta * K / n, 2 * eta * K
_given = (Abs(gamma - kappa) <= L * y, Abs(xi - zeta) <= z, n >= 2)
_both = Abs(xi - zeta - eta * (gamma - kappa) * (n - 1) / n)
_next = g(z, eta * L, lam) + _s
_special = g(z, eta * L * (n - 1) / n, lam) + _s

CLAIMS = (
    Claim(
        "chien_li/lemma_3_9/monotone",
        "1)-3): g(0) = 0, g grows strictly and without limit, so h is defined, increasing and bijective",
        at("Lemma 3.9", "1)-3)"),
        Identity(g(_zero, L, lam), _zero, "g(0) = 0").mutant("g(0) = L", right=L),
        IntervalInequality(_zero, "<", slope(x, L, lam), _box, "g' > 0")
        .mutant("g falls", left=slope(x, L, lam), sign="<=", right=_zero)
        .mutant("also for L <= -1", right=slope(x, -1 - L, lam)),
        Inequality(x, "<=", x + L * y, name="g(x) >= x: no limit; y = x^lambda"),
        assumptions=(lam <= 1,),
    ),
    Step(
        "chien_li/lemma_3_9/derivative",
        "The derivative of x + L x^lambda is 1 + L lambda x^(lambda - 1)",
        at("A.9", "above (103)"),
        Identity(diff(g(x, L, lam), x), slope(x, L, lam), "derivative"),
        assumptions=(x > 0,),
        misprint=Identity(diff(g(x, L, lam), x), 1 + L * x ** (lam - 1), name="without lambda, as printed"),
        remark="""The derivative is printed as 1 + L x^(lambda - 1), without the factor lambda. Only its sign is used,
        and that is the same. At x = 0 the derivative is infinite for lambda < 1, so 'for all x >= 0' means x > 0.""",
    ),
    Claim(
        "chien_li/lemma_3_9/half",
        "4): lambda = 1/2, h(z) = ((-L + sqrt(L^2 + 4 z)) / 2)^2",
        at("Lemma 3.9", "4); (104)"),
        Identity(_root**2 + L * _root, z, "u^2 + L u = z"),
        Identity(_h, _root**2, "h = u^2"),
        Inequality(_zero, "<=", _root, name="u >= 0, so sqrt(h) = u").mutant("u <= 0", left=_root, right=_zero),
    ),
    Ours(
        "chien_li/lemma_3_9/cubics",
        "Closed forms of h for lambda = 1, 1/3 (sinh) and 2/3 (cosh, or cos where 27 z < 4 L^3)",
        at("Lemma 3.9", "4)"),
        Identity(g(inverse(z, L, Integer(1)), L, Integer(1)), z, "lambda = 1"),
        _at_root(_sinh_root, 3, 1, 3 * r**2, 2 * r**3 * _sinh_three, "lambda = 1/3"),
        _at_root(_cosh_root, 3, 2, 3 * r, 2 * r**3 * (1 + _cosh_three), "lambda = 2/3, large z"),
        _at_root(_cos_root, 3, 2, 3 * r, 2 * r**3 * (1 + cos(3 * theta)), "lambda = 2/3, small z"),
        _closed(Rational(1, 3)),
        _closed(Rational(2, 3)),
        assumptions=(z > 0, L > 0),
    ),
    Ours(
        "chien_li/lemma_3_9/quartics",
        "Closed forms of h for lambda = 1/4 and 3/4, by two quadratics from a cubic",
        at("Lemma 3.9", "4)"),
        _at_root(_quartic_root, 4, 1, _quartic_size, _quartic_z, "lambda = 1/4"),
        Identity(u**6 + 4 * _quartic_z * u**2, _quartic_size**2, "its cubic: y^3 + 4 z y = L^2, y = a^2"),
        Identity(
            1 / x**4 + K / (z * x**3) - 1 / z,
            (z + K * x - x**4) / (z * x**4),
            "lambda = 3/4 by u = 1/x, L = K",
            given=(x > 0,),
        ),
        _closed(Rational(1, 4)),
        _closed(Rational(3, 4)),
        letters={K: "Hoelder constant, where lambda = 3/4"},
        assumptions=(z > 0, L > 0),
    ),
    Ours(
        "chien_li/lemma_3_9/shape",
        "g is concave and subadditive; so h is convex, superadditive, and h(z) <= z",
        at("Lemma 3.9"),
        Identity(diff(slope(x, L, lam), x), L * lam * (lam - 1) * x ** (lam - 2), "second derivative of g", (x > 0,)),
        Inequality(L * lam * (lam - 1), "<=", _zero, name="not positive").mutant(
            "convex", left=_zero, sign="<", right=L * lam * (lam - 1)
        ),
        IntervalInequality((1 + u) ** lam, "<=", 1 + u**lam, _pair, "subadditive: z^lambda, at z = x (1 + u)"),
        Inequality(_h, "<=", z, name="h(z) <= z, lambda = 1/2")
        .mutant("superadditive, lambda = 1/2", left=1 + sqrt(u), right=sqrt(1 + u))
        .mutant("h(z) >= z", left=z, right=_h),
        assumptions=(lam <= 1,),
    ),
    Claim(
        "chien_li/lemma_3_10",
        "One step: the distance grows to at most min(g(z; eta L) + 2 eta K / n, z + 2 eta K)",
        at("Lemma 3.10", "(17)"),
        Inequality(
            _both + _s,
            "<=",
            z + eta * L * y + _s,
            given=_given,
            name="n - 1 common samples, y = z^lambda",
        )
        .mutant("drift of one sample", right=z + eta * L * y / n + _s)
        .mutant("eta forgotten", right=z + L * y + _s),
        Inequality(
            Abs(xi - zeta - eta * (gamma - kappa)),
            "<= and attained",
            z + _cap,
            given=(Abs(xi - zeta) <= z, Abs(gamma) <= K, Abs(kappa) <= K),
            name="clipping alone",
        ),
        Identity(_next.subs(lam, 1), (1 + eta * L) * z + _s, "lambda = 1 is (7)"),
        Identity(_next.subs(z, 0), _s, "D_1 = 2 eta K / n"),
        assumptions=(lam <= 1,),
    ),
    Step(
        "chien_li/lemma_3_10/special_case",
        "(17) follows from the full-batch case of Lemma A.2, which is the smaller",
        at("A.10"),
        Identity(_special, z + eta * L * (n - 1) / n * z**lam + _s, "(29) at b = n"),
        Inequality(z + eta * L * (n - 1) / n * y + _s, "<=", z + eta * L * y + _s, name="never above (17)").mutant(
            "never below (17)", left=z + eta * L * y + _s, right=z + eta * L * (n - 1) / n * y + _s
        ),
        assumptions=(lam <= 1,),
    ),
    Ours(
        "chien_li/lemma_3_10/sharper",
        "One step grows the distance to at most z + eta (n - 1)/n min(L z^lambda, 2 K) + 2 eta K / n",
        at("Lemma 3.10", "(17)"),
        Inequality(
            _both + _s,
            "<= and attained",
            z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
            given=(*_given, Abs(gamma) <= K, Abs(kappa) <= K),
            name="y = z^lambda",
        ),
        Inequality(
            z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
            "<=",
            Min(z + eta * L * y + _s, z + _cap),
            name="never above (17)",
        ).mutant("strictly below (17)", sign="<"),
    ),
)
