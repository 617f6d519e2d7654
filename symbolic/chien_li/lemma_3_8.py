"""Hoelder reduction and forward tracking: I + phi brings a distance z to at most z + L z^lambda.

Path by path |X + phi(X) - Y - phi(Y)| <= |X - Y| + L |X - Y|^lambda, then the essential suprema of the two terms, which
lose nothing: both grow with |X - Y|. Each update moves two points at most g(z; eta L) apart under one map, and the two
maps differ by 2 eta K / n; or two clipped means differ by 2 K. h is the inverse of x + L x^lambda.
"""

from sympy import Abs, Integer, Rational, diff, sqrt

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Step
from lastiterate.symbolic.formulas.update import g, inverse_half, slope
from lastiterate.symbolic.letters import gamma, kappa, x, xi, y, z, zeta
from lastiterate.symbolic.notation import K, L, alpha, b, eta, lam, n, sensitivity
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, HolderMove, Image, ShiftedDivergence, closed
from lastiterate.symbolic.unevaluated import put

_moved = Abs(xi + gamma - zeta - kappa)
# lambda = 1/2 with |xi - zeta| <= z^2: no roots are needed.
_holder_half = (Abs(xi - zeta) <= z**2, Abs(gamma - kappa) <= L * z)
_lipschitz = (Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * z)

_zero = Integer(0)
_box = {x: (Rational(1, 100), 4), L: (0, 4), lam: (Rational(1, 20), 1)}
_root = (-L + sqrt(L**2 + 4 * z)) / 2
_h = inverse_half(z, L)
_s, _cap = 2 * eta * K / n, 2 * eta * K
_given = (Abs(gamma - kappa) <= L * y, Abs(xi - zeta) <= z, n >= 2)
_both = Abs(xi - zeta - eta * (gamma - kappa) * (n - 1) / n)
_next = g(z, eta * L, lam) + _s
_met = g(z, eta * L * (b - 1) / b, lam) + sensitivity(b)


CLAIMS = (
    Claim(
        "chien_li/lemma_3_8",
        "(92)-(98): two points z apart are z + L z^lambda apart after I + phi, at most and attained",
        at("Lemma 3.8", "(16); (93)-(98)"),
        Inequality(_moved, "<= and attained", z**2 + L * z, given=_holder_half, name="lambda = 1/2, distance z^2"),
        Inequality(_moved, "<= and attained", (1 + L) * z, given=_lipschitz, name="lambda = 1"),
        statement=closed(
            ShiftedDivergence(alpha, z + L * z**lam, Image(MAP, FIRST), Image(MAP, SECOND))
            <= ShiftedDivergence(alpha, z, FIRST, SECOND),
            HolderMove(MAP, L, lam),
            lam <= 1,
            alpha > 1,
        ),
    ),
    Claim(
        "chien_li/lemma_3_9/monotone",
        "1)-3): g(0) = 0, g grows strictly and without limit, so h is defined, increasing and bijective",
        at("Lemma 3.9", "1)-3)"),
        Identity(put(g(x, L, lam), {x: 0}), _zero, "g(0) = 0").mutant("g(0) = L", right=L),
        IntervalInequality(_zero, "<", slope(x, L, lam), _box, "g' > 0"),
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
        Identity(_h + L * _root, z, "h + L u = z, u^2 = h"),
        Inequality(_zero, "<=", _root, name="u >= 0, so sqrt(h) = u"),
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
        ),
        Inequality(
            Abs(xi - zeta - eta * (gamma - kappa)),
            "<= and attained",
            z + _cap,
            given=(Abs(xi - zeta) <= z, Abs(gamma) <= K, Abs(kappa) <= K),
            name="clipping alone",
        ),
        Identity(_next.subs(lam, 1), (1 + eta * L) * z + _s, "lambda = 1 is (7)"),
        assumptions=(lam <= 1,),
    ),
    Step(
        "chien_li/lemma_3_10/special_case",
        "(17) follows from the full-batch case of Lemma A.2, which is the smaller",
        at("A.10"),
        Identity(put(_met, {b: n}), z + eta * L * (n - 1) / n * z**lam + _s, "(29) at b = n"),
        Inequality(z + eta * L * (n - 1) / n * y + _s, "<=", z + eta * L * y + _s, name="never above (17)"),
        assumptions=(lam <= 1,),
    ),
)
