"""The case analysis of C.1 behind Theorem 3.10, with its constants, to the minimum of (79).

Four cases by K against 10 sigma_SGD rho^2 and by |grad l| against 35 sigma_SGD rho^3 or K/2, rho = (L/m)^(1/4) >= 1.
G = sqrt(l - l*), g = |grad l|, x = |theta - theta*|: g <= sqrt(2 L) G and x <= sqrt(2/m) G. Each display is compared
after dividing by eta, in units where L = 1/2 where said. The paper's C is K, its mu is m.
"""

from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.prelude import *

_far = 35 * sigma_sgd * rho**3
_near = 5 * sigma_sgd * rho
_edge = 10 * sigma_sgd * rho**2
_case_1 = (rho >= 1, _edge >= K, g >= _far)
_sample = (*_case_1, z >= g - _near, z <= g + _near)
_rare = (p <= x, 25 * x <= 1)
_case_2 = (rho >= 1, _edge <= K)


def _q(top: int, bottom: int) -> Expr:
    return Rational(top, bottom)


def _square(given: tuple[Boolean, ...], bound: Expr, name: str) -> Inequality:
    """(63) divided by eta, with L = 1/2 and g <= G: eta K^2 <= K (2/5) G."""
    return Inequality(eta * K**2, "<=", bound, (g <= G, *given), name)


def _left(slope: Expr, square: Expr, left: Expr, name: str) -> Identity:
    """The decrease of a step with its square in it, in units of z: eta K G/sqrt(2 L), or eta G^2."""
    return Identity(put(x - slope * z, {x: square * z}), -left * z, name)


_mean, _squares, _chances, _chance, _root = (Function(name, nonnegative=True) for name in ("M", "S", "P", "p", "x"))
_edge, _far = 10 * sigma_sgd * rho**2, 35 * sigma_sgd * rho**3

CLAIMS = (
    Step(
        "liang/appendix_c_1/clipping_factor",
        "Case 1.1: the clipping factor is at least 7 K/(8 g) and at most K/(35 .. - 5 ..)",
        at("C.1", "above (59)"),
        Inequality(7 * K * z, "<= and attained", 8 * g * K, _sample, "K/z >= 7 K/(8 g), z the sample's norm"),
        Inequality(7 * K, "<=", 8 * g, _sample, "1 >= 7 K/(8 g)").mutant("8/9", left=8 * K * z, right=8 * g * K),
        Inequality(_far - _near, "<= and attained", z, _sample, "K/z at most"),
    ),
    Step(
        "liang/appendix_c_1/contraction",
        "(59): -7/4 + 4/(7 - sqrt(m/L)) <= -13/12, in units of eta K G/sqrt(2 L)",
        at("C.1", "(59)"),
        Identity(
            2 * sigma_sgd * rho / (7 * sigma_sgd * rho**3 - sigma_sgd * rho) * sqrt(2 / m) * sqrt(2 * m * rho**4),
            4 / (7 - rho**-2),
            "fourth to fifth line, L = m rho^4",
        ),
        Inequality(_q(-7, 4) + 4 / (7 - rho**-2), "<= and attained", _q(-13, 12), name="last line"),
        assumptions=(rho >= 1,),
    ),
    Step(
        "liang/appendix_c_1/markov",
        "(61), (62): probability 1/25 sqrt(m/L) of a far sample leaves -22/25",
        at("C.1", "(62)"),
        Inequality(_q(24, 25), "<= and attained", 1 - p, _rare, "(61)"),
        Inequality(_q(-13, 12) * (1 - p) + 4 * x, "<= and attained", _q(-22, 25), _rare, "(62), x = p sqrt(L/m)"),
    ),
    Step(
        "liang/appendix_c_1/square_1",
        "(63) in case 1.1: eta^2 K^2 <= (2/5) eta K G/sqrt(2 L) where eta <= 7 rho/(10 L)",
        at("C.1", "(63)"),
        Inequality(
            eta * K**2,
            "<=",
            2 * K * G / (5 * sqrt(2 * L)),
            (rho >= 1, _edge >= K, g >= _far, g <= sqrt(2 * L) * G, 10 * eta * L <= 7 * rho, L > 0),
            "(63)",
        ),
        Inequality(Rational(9, 10), "<=", 14 * rho / 10, (rho >= 1,), "met by eta <= 9/(20 L)"),
        _left(_q(22, 25), _q(2, 5), _q(12, 25), "(64)"),
    ),
    Step(
        "liang/appendix_c_1/square_2",
        "(69), case 2.1: 'combined with (63)', eta^2 K^2 <= (2/5) eta K G/sqrt(2 L) at eta <= 9/(20 L)",
        at("C.1", "(69)"),
        _square((*_case_2, 2 * g > K, eta <= _q(9, 10)), 2 * K * G / 5, "L = 1/2, g > K/2").mutant(
            "1/10", _square((*_case_2, 2 * g > K, eta <= _q(9, 10)), K * G / 10, "")
        ),
        remark="""(69) uses (63) in case 2.1, but (63) was derived from K <= 10 sigma_SGD rho^2 and g >= 35 sigma_SGD
        rho^3, which are case 1.1. From g > K/2 and eta <= 9/(20 L) only 9/5 follows for 2/5, and -3/5 + 9/5 is no
        decrease at all. With eta <= 1/(10 L) the step and -1/5 hold.""",
    ),
    Ours(
        "liang/appendix_c_1/square_2_repaired",
        "Case 2.1 with eta <= 1/(10 L): eta^2 K^2 <= (2/5) eta K G/sqrt(2 L); 9/5 at eta <= 9/(20 L)",
        at("C.1", "(69)"),
        Inequality(
            eta * K**2,
            "<=",
            2 * K * G / (5 * sqrt(2 * L)),
            (2 * g > K, g <= sqrt(2 * L) * G, 10 * eta * L <= 1, L > 0),
            "(69)",
        ),
        _square((2 * g > K, eta <= _q(9, 10)), 9 * K * G / 5, "what the paper's step size gives"),
        _left(_q(3, 5), _q(2, 5), _q(1, 5), "(69)"),
        repairs="liang/appendix_c_1/square_2",
    ),
    Step(
        "liang/appendix_c_1/large_threshold",
        "(68): 2 sigma_SGD sqrt(2/m) <= 2 K/(5 sqrt(2 L)) where K >= 10 sigma_SGD sqrt(L/m), so -3/5",
        at("C.1", "(68)"),
        Inequality(
            2 * sigma_sgd * sqrt(2 / m),
            "<= and attained",
            2 * K / (5 * sqrt(2 * L)),
            (10 * sigma_sgd * sqrt(L / m) <= K, L > 0),
            "fifth step",
        ),
    ),
    Step(
        "liang/appendix_c_1/chebyshev",
        "(72): a sample is clipped with probability at most 4 sigma_SGD^2/K^2",
        at("C.1", "(72)"),
        Inequality(p, "<= and attained", 4 * sigma_sgd**2 / K**2, (p * K**2 / 4 <= sigma_sgd**2,), "Markov"),
        misprint=Inequality(p, "<=", 4 * sigma_sgd**2 / K, (p * K**2 / 4 <= sigma_sgd**2,), "as printed"),
        remark="""(72) prints 4 sigma_SGD^2/C for a probability, which has the unit of a gradient and is exceeded for C
        < 1. Markov's inequality gives 4 sigma_SGD^2/C^2, and (73) uses that.""",
    ),
    Step(
        "liang/appendix_c_1/clipping_bias",
        "(73), third step: |E[clip X - X]| <= E|clip X - X| Pr(clipped), 'law of total expectation'",
        at("C.1", "(73)"),
        Inequality(p * x, "<=", p * (p * x), (p < 1,), "excess x with probability p, else none").mutant(
            "half of it", right=p * (p * x) / 2
        ),
        Simulated("clipping_excess", "<=", K * p**2, {p: _q(1, 4), K: 1}, name="a quarter of 2 K"),
        remark="""(73) multiplies the mean excess E|clip X - X| by the probability of clipping, though the excess is
        zero wherever nothing is clipped. The law of total expectation has the mean *given* clipping there. A right
        bound is |E[clip X - X]| <= sigma_SGD^2/(2 K), from (d - K/2)^+ <= d^2/(2 K).""",
    ),
    Ours(
        "liang/appendix_c_1/clipping_bias_repaired",
        "Where g <= K/2 the excess of a sample at distance x from the mean is at most x^2/(2 K)",
        at("C.1", "(73)"),
        Inequality(
            z - K, "<= and attained", x**2 / (2 * K), (z <= g + x, 2 * g <= K), "norm z; the mean over samples follows"
        ).mutant("g <= 3 K/4", sign="<=", given=(z <= g + x, 4 * g <= 3 * K)),
        Inequality(
            2 * sigma_sgd**2 / (2 * K) * 2 * rho**2 * G,
            "<=",
            sigma_sgd**3 * 4 * rho**4 / K + G**2 / 25,
            (rho >= 1, _edge <= K),
            "so (73) keeps its form: sigma_SGD^3/(m K), and little of G^2; L = 1/2, 1/m = 2 rho^4",
        ),
        repairs="liang/appendix_c_1/clipping_bias",
    ),
    Step(
        "liang/appendix_c_1/case_2_2",
        "(73): 8 sigma^2/K^2 (sigma + g) x <= 4 sigma^3/(m K) + (4/25) sqrt(m/L) G^2, and 2 - 4/25 >= 46/25",
        at("C.1", "(73)"),
        Inequality(
            8 * sigma_sgd**3 / K**2 * x,
            "<= and attained",
            4 * sigma_sgd**3 / (m * K),
            (m * x <= g, 2 * g <= K),
            "first",
        ),
        Inequality(
            8 * sigma_sgd**2 / K**2 * g * x,
            "<= and attained",
            16 * sigma_sgd**2 / K**2 * rho**2 * G**2,
            (g <= u * G, u * x <= 2 * rho**2 * G),
            "second, u = sqrt(2 L)",
        ),
        Inequality(
            16 * sigma_sgd**2 / K**2 * rho**2 * G**2, "<= and attained", _q(4, 25) * G**2 / rho**2, name="which is that"
        ),
        Inequality(_q(46, 25), "<= and attained", 2 - _q(4, 25) * rho**-2, name="last line"),
        assumptions=_case_2,
    ),
    Step(
        "liang/appendix_c_1/mean_square",
        "(74), first step: |g(theta)|^2 <= 1/b^2 sum of |g_xi|^2",
        at("C.1", "(74)"),
        Expected(
            batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b), "<=", SQUARES / b, (b >= 1,), "in the mean"
        ).mutant("1/b^2", right=SQUARES / b**2),
        Simulated("batch_energy", "<=", K**2 / (2 * b), {b: 4, K: 1}, name="gradients K or 0, b = 4"),
        letters={SQUARES: "E|g_xi|^2"},
        remark="""(74) bounds the square of a mean of b vectors by 1/b^2 times the sum of their squares, which fails
        for any b >= 2 equal vectors. Convexity gives 1/b; the variance alone falls with 1/b, not the squared mean. The
        last line of (74) needs the clipping bias beside 2 eta^2 sigma_SGD^2/b.""",
    ),
    Ours(
        "liang/appendix_c_1/mean_square_repaired",
        "b draws: E|mean|^2 = |E g|^2 + variance/b; 2 eta^2 g^2 <= (9/5) eta G^2 at eta <= 9/(20 L); -46/25 + 9/5",
        at("C.1", "(74), (75)"),
        Expected(
            batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b),
            "==",
            Norm(MEAN) ** 2 + (SQUARES - Norm(MEAN) ** 2) / b,
            (b >= 1,),
            "E|g(theta)|^2 for b draws",
        ),
        Expected(batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b), "<=", SQUARES, (b >= 1,), "so at most E|g_xi|^2"),
        Expected(
            batch_mean(inner(TOTAL / b, TOTAL / b), "fixed", b, n),
            "<=",
            Norm(MEAN) ** 2 + (SQUARES - Norm(MEAN) ** 2) / b,
            (b <= n, n > 1, Norm(MEAN) ** 2 <= SQUARES),
            "without replacement no more",
        ),
        Inequality(
            2 * eta * g**2,
            "<= and attained",
            _q(9, 5) * G**2,
            (g**2 <= 2 * L * G**2, 20 * L * eta <= 9),
            "last of (74)",
        ).mutant("eta <= 1/(2 L)", sign="<=", given=(g**2 <= 2 * L * G**2, 2 * L * eta <= 1)),
        _left(_q(46, 25), _q(9, 5), _q(1, 25), "(75)"),
        letters={SQUARES: "E|g_xi|^2"},
        repairs="liang/appendix_c_1/mean_square",
    ),
    Step(
        "liang/appendix_c_1/minimum",
        "(79), (17): over the cases of K the error is r min{rho^3 sigma/sqrt(m), sqrt(sigma^3/(m K))}",
        at("C.1", "(79)"),
        Inequality(
            rho**6 * sigma_sgd**2,
            "<=",
            r * Min(rho**6 * sigma_sgd**2, sigma_sgd**3 / K),
            (rho >= 1, _edge >= K),
            "squares times m; case 1 has the first term",
        ).mutant("r = 100", right=100 * Min(rho**6 * sigma_sgd**2, sigma_sgd**3 / K)),
        remark="""Case 1 proves the first of the two terms and case 2 the second; (79) claims the smaller one
        throughout. In case 1 near K = 10 sigma_SGD sqrt(L/m) the second is smaller by sqrt(10) L/m, which no constant
        covers. What is proved is the first for K <= 10 sigma_SGD sqrt(L/m) and the second above, so the larger
        always.""",
    ),
    Ours(
        "liang/appendix_c_1/minimum_repaired",
        "Case 2: the second term is the smaller one; case 1: the gap of the squares is at most 10 (L/m)^2",
        at("C.1", "(79)"),
        Inequality(sigma_sgd**3 / K, "<=", rho**6 * sigma_sgd**2, (_edge <= K,), "case 2"),
        Inequality(rho**6 * sigma_sgd**2, "<= and attained", 10 * rho**8 * sigma_sgd**3 / K, (_edge >= K,), "case 1"),
        Inequality(
            r * sigma_sgd**3 / K,
            "<",
            rho**6 * sigma_sgd**2,
            (rho >= r, r > 1, sigma_sgd <= K),
            "no r serves (79): K = sigma_SGD is case 1",
        ),
        assumptions=(rho >= 1,),
        repairs="liang/appendix_c_1/minimum",
    ),
    Step(
        "liang/appendix_c_1/roots",
        "(77): by concavity a 25th of the mean root is at most the root; the root of a sum, term by term",
        at("C.1", "(77)"),
        mean_square(_root, _chance, _mean, _squares, _chances, name="Jensen, any number of values"),
        Inequality(x / 25, "<=", z, (x**2 / 25 <= z**2,), "from (76)"),
        Inequality(sqrt(u + v + x + y), "<=", sqrt(u) + sqrt(v) + sqrt(x) + sqrt(y), name="(26), four terms"),
        Identity(put(sqrt(u), {u: 4 * sigma_sgd**3 / (m * K)}), 2 * sigma_sgd ** _q(3, 2) / sqrt(m * K), "second term"),
    ),
)
