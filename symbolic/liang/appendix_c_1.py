"""The case analysis of C.1 behind Theorem 3.10, with its constants.

Statement    Four cases by K against 10 sigma_SGD rho^2 and by |grad l| against 35 sigma_SGD rho^3 or K/2.
Assumptions  L-smooth and m-strongly convex population risk, rho = (L/m)^(1/4) >= 1, eta <= 9/(20 L).
Derivation   G = sqrt(l - l*), g = |grad l|, x = |theta - theta*|: g <= sqrt(2 L) G and x <= sqrt(2/m) G. Each
             display is compared after dividing by eta.
Source       Liang et al., C.1, (58)-(79).
Remark       The paper's C is K, its mu is m. In units where L = 1/2, sqrt(2 L) = 1 and sqrt(2/m) = 2 rho^2:
             used where said, without loss of generality.
"""

from sympy import Expr, Rational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.claim import Identity, Inequality, Ours, Step
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import G, K, eta, g, p, rho, sigma_sgd, x, z

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
            2 * sigma_sgd * rho / (7 * sigma_sgd * rho**3 - sigma_sgd * rho) * 2 * rho**2,
            4 / (7 - rho**-2),
            "fourth to fifth line, L = 1/2",
        ).mutant("rho^2 lost", left=2 * rho / (7 * rho**3 - rho) * 2),
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
        _square((*_case_1, eta <= 14 * rho / 10), 2 * K * G / 5, "L = 1/2")
        .mutant("1/5", _square((*_case_1, eta <= 14 * rho / 10), K * G / 5, ""))
        .mutant("twice the step", _square((*_case_1, eta <= 28 * rho / 10), 2 * K * G / 5, "")),
        Inequality(Rational(9, 10), "<=", 14 * rho / 10, (rho >= 1,), "met by eta <= 9/(20 L)"),
        Identity(_q(22, 25) - _q(2, 5), _q(12, 25), "(64)"),
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
        _square((2 * g > K, eta <= _q(1, 5)), 2 * K * G / 5, "L = 1/2").mutant(
            "eta <= 1/(9 L)", _square((2 * g > K, eta <= _q(2, 9)), 2 * K * G / 5, "")
        ),
        _square((2 * g > K, eta <= _q(9, 10)), 9 * K * G / 5, "what the paper's step size gives").mutant(
            "8/5", _square((2 * g > K, eta <= _q(9, 10)), 8 * K * G / 5, "")
        ),
        Identity(_q(3, 5) - _q(2, 5), _q(1, 5), "(69)"),
        repairs="liang/appendix_c_1/square_2",
    ),
    Step(
        "liang/appendix_c_1/large_threshold",
        "(68): 2 sigma_SGD sqrt(2/m) <= 2 K/(5 sqrt(2 L)) where K >= 10 sigma_SGD sqrt(L/m), so -3/5",
        at("C.1", "(68)"),
        Inequality(2 * sigma_sgd * 2 * rho**2, "<= and attained", 2 * K / 5, name="fifth step, L = 1/2"),
        Inequality(-K + 2 * K / 5, "<= and attained", -3 * K / 5, name="last step"),
        assumptions=_case_2,
    ),
)
