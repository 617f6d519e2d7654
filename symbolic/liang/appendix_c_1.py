r"""C.1 of Liang et al. 2026: the proof of Theorem 3.10.

There are four cases, by $C$ versus $10 \sigma_{SGD} \rho^2$ and by $\|\nabla l\|$.
With $\rho = (L/\mu)^{1/4}$ and $G = \sqrt{l - l^*}$ a step loses, apart from the noise
$d \eta^2 \sigma_{DP}^2$,
$$\tfrac{12}{25} \tfrac{\eta C G}{\sqrt{2 L}} \ (1.1: \|\nabla l\| \ge 35 \sigma_{SGD} \rho^3), \quad
G < \tfrac{35}{\sqrt 2} \tfrac{L^{3/4}}{\mu^{5/4}} \sigma_{SGD}\ (1.2), \quad
\tfrac15 \tfrac{\eta C G}{\sqrt{2 L}} \ (2.1: \|\nabla l\| > \tfrac C2), \quad
\tfrac{1}{25} \eta G^2 - \tfrac{4 \eta \sigma_{SGD}^3}{\mu C} - \tfrac{2 \eta^2 \sigma_{SGD}^2}{b} \ (2.2),$$
and (79) collects the sums over $t = 0, \dots, T$ in the six terms of (17).

Gaps: (69), (73), (74) and (79), each with its repair. g = |grad l|, x = |theta - theta*|, g <= sqrt(2 L) G, x
<= sqrt(2/m) G; displays are divided by eta, in units with L = 1/2 if stated.
"""

from lastiterate.symbolic.liang.paper import *
from lastiterate.symbolic.liang.theorem_3_10 import LEAST_MEAN

_far, _near, _edge = 35 * sigma_sgd * rho**3, 5 * sigma_sgd * rho, 10 * sigma_sgd * rho**2
_case_1, _case_2 = (rho >= 1, _edge >= K, g >= _far), (rho >= 1, _edge <= K)
_sample = (*_case_1, z >= g - _near, z <= g + _near)  # z is the norm of a sample's gradient
_rare = (p <= x, 25 * x <= 1)
_slope, _fifth_part = g <= sqrt(2 * L) * G, 2 * K * G / (5 * sqrt(2 * L))
_x, _y = Vector("x"), Vector("y")
_noise = dim * eta**2 * sigma_dp**2
_Z = Symbol("Z")
_squared = gaussian_mean([Transposed(_Z), _Z], entries={_Z: (dim, S.One, eta**2 * sigma_dp**2)})
_third_line = 4 * eta * sigma_sgd**3 / (m * K) + 2 * eta**2 * sigma_sgd**2 / b + _noise
_mean = inner(TOTAL / b, TOTAL / b)
_spread = Norm(MEAN) ** 2 + (SQUARES - Norm(MEAN) ** 2) / b

_left, _roots, _root = (Function(name, nonnegative=True) for name in ("e", "S", "x"))
_chance, _chances, _least, _least_mean, _root_mean, _root_squares = (
    Function(name, nonnegative=True) for name in ("P", "p", "m", "M", "X", "R")
)


def _q(top: int, bottom: int) -> Expr:
    return Rational(top, bottom)


def _steps(lost: Expr, noise: Expr, name: str) -> Induction:
    """t steps, each of which loses ``lost`` times the root (or the square) of the gap, apart from the noise."""
    return Induction(
        t,
        Le(lost * _roots(t) + _left(t), D**2 + t * noise),
        (Le(_left(0), D**2), Eq(_roots(0), 0)),
        (Le(_left(t + 1), _left(t) - lost * _root(t) + noise), gains(_roots, _root(t))),
        name=name,
    )


def _rate(first: Expr) -> Expr:
    """(65) and (70) up to a constant."""
    return first / (eta * K * (T + 1)) + dim * eta * sigma_dp**2 * sqrt(L) / K


def _divided(slope: Expr, constant: Expr) -> Identity:
    """A bound on the mean of G over t, if a step loses ``slope`` eta K G/sqrt(2 L): ``constant`` times the rate."""
    summed = sqrt(2 * L) / (slope * eta * K) * (D**2 / (T + 1) + _noise)
    return Identity(summed, constant * _rate(sqrt(L) * D**2), "divided by the slope and by T + 1")


CLAIMS = (
    Step(
        "liang/appendix_c_1/expand",
        "(58), (67): |theta - eta g - theta*|^2 <= |theta - theta*|^2 - 2 eta g (theta - theta*) + eta^2 C^2",
        at("C.1", "(58)"),
        VectorInequality(
            Norm(_x - eta * _y) ** 2,
            "<=",
            Norm(_x) ** 2 - 2 * eta * inner(_y, _x) + eta**2 * K**2,
            (),
            (Norm(_y) <= K,),
            name="in R^d, theta* = 0",
        ),
    ),
    Step(
        "liang/appendix_c_1/clipping_factor",
        "Case 1.1: the clipping factor is at least 7 K/(8 g) and at most K/(35 .. - 5 ..)",
        at("C.1", "above (59)"),
        Inequality(7 * K * z, "<= and attained", 8 * g * K, _sample, "K/z >= 7 K/(8 g), z the sample's norm"),
        Inequality(7 * K, "<=", 8 * g, _sample, "1 >= 7 K/(8 g)"),
        Inequality(_far - _near, "<= and attained", z, _sample, "K/z at most"),
    ),
    Step(
        "liang/appendix_c_1/contraction",
        "(59): -7/4 + 4/(7 - sqrt(m/L)) <= -13/12, in units of eta K G/sqrt(2 L)",
        at("C.1", "(59)"),
        Identity(
            2
            * sigma_sgd
            * rho
            / (7 * sigma_sgd * rho**3 - sigma_sgd * rho)
            * sqrt(2 / m)
            * sqrt(2 * m * rho**4),
            4 / (7 - rho**-2),
            "fourth to fifth line, L = m rho^4",
        ),
        Inequality(_q(-7, 4) + 4 / (7 - rho**-2), "<= and attained", _q(-13, 12), name="last line"),
        assumptions=(rho >= 1,),
    ),
    Step(
        "liang/appendix_c_1/far_sample",
        "(60): 2 eta C |theta - theta*| <= 4 eta C G/sqrt(2 mu)",
        at("C.1", "(60)"),
        Inequality(
            2 * eta * K * x, "<= and attained", 4 * eta * K / sqrt(2 * m) * G, (m * x**2 / 2 <= G**2,), "A.15"
        ),
    ),
    Step(
        "liang/appendix_c_1/markov",
        "(61), (62): probability 1/25 sqrt(m/L) of a far sample leaves -22/25",
        at("C.1", "(62)"),
        Inequality(_q(24, 25), "<= and attained", 1 - p, _rare, "(61)"),
        Inequality(
            _q(-13, 12) * (1 - p) + 4 * x, "<= and attained", _q(-22, 25), _rare, "(62), x = p sqrt(L/m)"
        ),
    ),
    Step(
        "liang/appendix_c_1/square_1",
        "(63) in case 1.1: eta^2 K^2 <= (2/5) eta K G/sqrt(2 L) where eta <= 7 rho/(10 L)",
        at("C.1", "(63)"),
        Inequality(eta * K**2, "<=", _fifth_part, (*_case_1, _slope, 10 * eta * L <= 7 * rho, L > 0), "(63)"),
        Inequality(_q(9, 10), "<=", 14 * rho / 10, (rho >= 1,), "met by eta <= 9/(20 L)"),
    ),
    Step(
        "liang/appendix_c_1/decrease_1",
        "(64): -(12/25) eta C G/sqrt(2 L) is a squared length; the printed c is the clip norm C",
        at("C.1", "(64)"),
        Units(eta * K * G / sqrt(2 * L) + _noise, P, SMOOTH, "C for c"),
        misprint=Units(eta * c * G / sqrt(2 * L) + _noise, P, SMOOTH, "c, a number elsewhere"),
    ),
    Step(
        "liang/appendix_c_1/sum_1",
        "(65): (64) summed is 25 sqrt(2)/12 times sqrt(L) D^2/(eta C (T + 1)) + d eta sigma_DP^2 sqrt(L)/C",
        at("C.1", "(65)"),
        _steps((_q(22, 25) - _q(2, 5)) * eta * K / sqrt(2 * L), _noise, "(64) summed, 22/25 - 2/5"),
        _divided(_q(12, 25), 25 * sqrt(2) / 12),
        Units(_rate(sqrt(L) * D**2), G, SMOOTH, "roots of a loss"),
        assumptions=(L > 0,),
        misprint=Units(_rate(sqrt(L * D**2)), G, SMOOTH, "sqrt(L D^2), as printed"),
    ),
    Step(
        "liang/appendix_c_1/case_1_2",
        "(66): sqrt(l - l*) <= |grad l|/sqrt(2 mu) < 35/sqrt(2) L^(3/4)/mu^(5/4) sigma_SGD",
        at("C.1", "(66)"),
        Inequality(G, "<", _far / sqrt(2 * m), (2 * m * G**2 <= g**2, g < _far), "rho^3 = (L/mu)^(3/4)"),
        assumptions=(rho >= 1,),
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
        ),
    ),
    Step(
        "liang/appendix_c_1/noise_of_d",
        "(69): the noise adds d eta^2 sigma_DP^2; its first line prints eta^2 sigma_DP^2",
        at("C.1", "(69)"),
        Expected(_squared, "==", _noise, name="every d"),
        misprint=Expected(_squared, "==", eta**2 * sigma_dp**2, name="as printed"),
    ),
    Step(
        "liang/appendix_c_1/square_2",
        "(69), case 2.1: 'combined with (63)', eta^2 K^2 <= (2/5) eta K G/sqrt(2 L) at eta <= 9/(20 L)",
        at("C.1", "(69)"),
        Inequality(
            eta * K**2, "<=", 2 * K * G / 5, (g <= G, *_case_2, 2 * g > K, eta <= _q(9, 10)), "L = 1/2, g > K/2"
        ),
    ),
    Ours(
        "liang/appendix_c_1/square_2_repaired",
        "Case 2.1 with eta <= 1/(10 L): eta^2 K^2 <= (2/5) eta K G/sqrt(2 L); 9/5 at eta <= 9/(20 L)",
        at("C.1", "(69)"),
        Inequality(eta * K**2, "<=", _fifth_part, (2 * g > K, _slope, 10 * eta * L <= 1, L > 0), "(69)"),
        Inequality(
            eta * K**2, "<=", 9 * K * G / 5, (g <= G, 2 * g > K, eta <= _q(9, 10)), "at the paper's step size"
        ),
        repairs="liang/appendix_c_1/square_2",
    ),
    Step(
        "liang/appendix_c_1/sum_2",
        "(70): (69) summed is 5 sqrt(2) times the same rate as (65)",
        at("C.1", "(70)"),
        _steps((_q(3, 5) - _q(2, 5)) * eta * K / sqrt(2 * L), _noise, "(69) summed, 3/5 - 2/5"),
        _divided(_q(1, 5), 5 * sqrt(2)),
        assumptions=(L > 0,),
    ),
    Step(
        "liang/appendix_c_1/near_sample",
        "(71), (72): a sample of norm above C is farther than C/2 from a mean gradient of norm at most C/2",
        at("C.1", "(71)"),
        Inequality(K / 2, "<", x, (z <= g + x, 2 * g <= K, z > K), "by the triangle inequality"),
    ),
    Step(
        "liang/appendix_c_1/chebyshev",
        "(72): a sample is clipped with probability at most 4 sigma_SGD^2/K^2",
        at("C.1", "(72)"),
        Inequality(p, "<= and attained", 4 * sigma_sgd**2 / K**2, (p * K**2 / 4 <= sigma_sgd**2,), "Markov"),
        misprint=Inequality(p, "<=", 4 * sigma_sgd**2 / K, (p * K**2 / 4 <= sigma_sgd**2,), "as printed"),
    ),
    Step(
        "liang/appendix_c_1/clipping_bias",
        "(73), third step: |E[clip X - X]| <= E|clip X - X| Pr(clipped), 'law of total expectation'",
        at("C.1", "(73)"),
        Inequality(p * x, "<=", p * (p * x), (p < 1,), "excess x with probability p, else none"),
    ),
    Ours(
        "liang/appendix_c_1/clipping_bias_repaired",
        "Where g <= K/2 the excess of a sample at distance x from the mean is at most x^2/(2 K)",
        at("C.1", "(73)"),
        Inequality(z - K, "<= and attained", x**2 / (2 * K), (z <= g + x, 2 * g <= K), "norm z, one sample"),
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
            8 * sigma_sgd**3 / K**2 * x, "<= and attained", 4 * sigma_sgd**3 / (m * K), (m * x <= g, 2 * g <= K)
        ),
        Inequality(
            8 * sigma_sgd**2 / K**2 * g * x,
            "<= and attained",
            16 * sigma_sgd**2 / K**2 * rho**2 * G**2,
            (g <= u * G, u * x <= 2 * rho**2 * G),
            "second, u = sqrt(2 L)",
        ),
        Inequality(
            16 * sigma_sgd**2 / K**2 * rho**2 * G**2, "<= and attained", _q(4, 25) * G**2 / rho**2, name="so"
        ),
        Inequality(_q(46, 25), "<= and attained", 2 - _q(4, 25) * rho**-2, name="last line"),
        assumptions=_case_2,
    ),
    Step(
        "liang/appendix_c_1/added_gradient",
        "(74): what is added and taken off is grad l; the printed l(theta_t) is a loss",
        at("C.1", "(74)"),
        Units(gamma - kappa + g, K, WITH_GAP, "gradients"),
        misprint=Units(gamma - kappa + r, K, WITH_GAP, "a gradient and a loss, as printed"),
    ),
    Step(
        "liang/appendix_c_1/mean_square",
        "(74), first step: |g(theta)|^2 <= 1/b^2 sum of |g_xi|^2",
        at("C.1", "(74)"),
        Expected(batch_mean(_mean, "draws", b), "<=", SQUARES / b, (b >= 1,), "in the mean"),
        letters={SQUARES: "E|g_xi|^2"},
    ),
    Ours(
        "liang/appendix_c_1/mean_square_repaired",
        "b draws: E|mean|^2 = |E g|^2 + variance/b; 2 eta^2 g^2 <= (9/5) eta G^2 at eta <= 9/(20 L); -46/25 + 9/5",
        at("C.1", "(74), (75)"),
        Expected(batch_mean(_mean, "draws", b), "==", _spread, (b >= 1,), "E|g(theta)|^2 for b draws"),
        Expected(
            batch_mean(_mean, "fixed", b, n),
            "<=",
            _spread,
            (b <= n, n > 1, Norm(MEAN) ** 2 <= SQUARES),
            "not replaced",
        ),
        Inequality(
            2 * eta * g**2 - _q(46, 25) * G**2,
            "<= and attained",
            -(G**2) / 25,
            (g**2 <= 2 * L * G**2, 20 * L * eta <= 9),
            "last of (74) in (75)",
        ),
        letters={SQUARES: "E|g_xi|^2"},
        repairs="liang/appendix_c_1/mean_square",
    ),
    Step(
        "liang/appendix_c_1/clipped_spread",
        "(74), last step: clipping moves no sample away from a mean gradient of norm at most C/2",
        at("C.1", "(74)"),
        VectorInequality(
            Norm(CLIPPING.at(_x).image - _y),
            "<=",
            Norm(_x - _y),
            (CLIPPING.at(_x), CLIPPING.member(_y)),
            name="in R^d, away from any mean of norm at most C",
        ),
    ),
    Step(
        "liang/appendix_c_1/sum_3",
        "(76): (75) summed over t = 0, ..., T and divided by eta (T + 1)",
        at("C.1", "(76)"),
        _steps(eta / 25, _third_line, "(75) summed, a 25th of the squares on the left"),
        Identity(
            (D**2 + (T + 1) * _third_line) / (eta * (T + 1)),
            D**2 / (eta * (T + 1))
            + 4 * sigma_sgd**3 / (m * K)
            + 2 * eta * sigma_sgd**2 / b
            + dim * eta * sigma_dp**2,
            "(76)",
        ),
    ),
    Step(
        "liang/appendix_c_1/roots",
        "(77): by concavity a 25th of the mean root is at most the root; the root of a sum, term by term",
        at("C.1", "(77)"),
        mean_square(_root, _chance, _root_mean, _root_squares, _chances, name="Jensen, any number of values"),
        Inequality(x / 25, "<=", z, (x**2 / 25 <= z**2,), "from (76)"),
        Inequality(sqrt(u + v + x + y), "<=", sqrt(u) + sqrt(v) + sqrt(x) + sqrt(y), name="(26), four terms"),
    ),
    Step(
        "liang/appendix_c_1/sum_3_rate",
        "(78): 25 times (77) is at most 50 times the rate",
        at("C.1", "(78)"),
        Inequality(25 * (x + 2 * y + sqrt(2) * z + g), "<=", 50 * (x + y + z + g), name="the constant"),
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
    ),
    Ours(
        "liang/appendix_c_1/minimum_repaired",
        "Case 2: the second term is the smaller one; case 1: the gap of the squares is at most 10 (L/m)^2",
        at("C.1", "(79)"),
        Inequality(sigma_sgd**3 / K, "<=", rho**6 * sigma_sgd**2, (_edge <= K,), "case 2"),
        Inequality(
            rho**6 * sigma_sgd**2, "<= and attained", 10 * rho**8 * sigma_sgd**3 / K, (_edge >= K,), "case 1"
        ),
        Inequality(
            r * sigma_sgd**3 / K,
            "<",
            rho**6 * sigma_sgd**2,
            (rho >= r, r > 1, sigma_sgd <= K),
            "no r serves (79)",
        ),
        assumptions=(rho >= 1,),
        repairs="liang/appendix_c_1/minimum",
    ),
    Step(
        "liang/appendix_c_1/random_cases",
        "(79): the cases depend on the random theta_t, and bound the least over t path by path, so its mean",
        at("C.1", "(79)"),
        LEAST_MEAN,
    ),
    Ours(
        "liang/appendix_c_1/random_cases_repaired",
        "The mean of the least is at most the least mean: the cases bound E min_t only",
        at("C.1", "(79)"),
        Induction(
            t,
            Le(_least_mean(t), _root_mean(t)),
            begin(_least_mean, _root_mean),
            (
                gains(_least_mean, _chance(t) * _least(t)),
                gains(_root_mean, _chance(t) * _root(t)),
                Le(_least(t), _root(t)),
            ),
            name="any number of paths, each with its probability",
        ),
        repairs="liang/appendix_c_1/random_cases",
    ),
)
