"""C.1 again: the lines between the cases, the sums over t, and the misprints that units show.

Statement    (58), (60), (64)-(66), (69)-(71), (74)-(79).
Assumptions  as appendix_c_1; r is a loss where it is named so.
Derivation   Expand, sum over t = 0, ..., T, divide by T + 1.
Source       Liang et al., C.1; earlier version (50)-(70).
Remark       G = sqrt(l - l*), g = |grad l|, x = |theta - theta*|; the paper's C is K, its mu is m.
"""

from sympy import Expr, Integer, Rational, sqrt

from lastiterate.symbolic.claim import Identity, Inequality, Simulated, Step, Units
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.notation import (
    D,
    G,
    K,
    L,
    P,
    T,
    c,
    dim,
    eta,
    g,
    gamma,
    m,
    rho,
    sigma_dp,
    sigma_sgd,
    x,
    xi,
    z,
)

_noise = {dim: 5, eta: Rational(1, 2), sigma_dp: Integer(2)}
_root_two = sqrt(Integer(2))


def _summed(slope: Expr) -> Expr:
    """The mean root over t where each step loses slope eta K G/sqrt(2 L): D^2 and the noise, over T + 1."""
    return sqrt(2 * L) / (slope * eta * K) * (D**2 / (T + 1) + dim * eta**2 * sigma_dp**2)


def _rate(first: Expr) -> Expr:
    return first / (eta * K * (T + 1)) + dim * eta * sigma_dp**2 * sqrt(L) / K


CLAIMS = (
    Step(
        "liang/appendix_c_1/expand",
        "(58), (67): |theta - eta g - theta*|^2 <= |theta - theta*|^2 - 2 eta g (theta - theta*) + eta^2 C^2",
        at("C.1", "(58)"),
        Inequality(
            (xi - eta * gamma) ** 2,
            "<= and attained",
            xi**2 - 2 * eta * gamma * xi + eta**2 * K**2,
            (gamma**2 <= K**2,),
            "theta* = 0",
        ),
        Units(xi**2 - eta * gamma * xi + eta**2 * K**2 + dim * eta**2 * sigma_dp**2, P, SMOOTH, "the terms add").mutant(
            "eta sigma_DP^2", left=xi**2 + dim * eta * sigma_dp**2
        ),
    ),
    Step(
        "liang/appendix_c_1/far_sample",
        "(60): 2 eta C |theta - theta*| <= 4 eta C G/sqrt(2 mu)",
        at("C.1", "(60)"),
        Inequality(2 * eta * K * x, "<= and attained", 4 * eta * K / sqrt(2 * m) * G, (m * x**2 / 2 <= G**2,), "A.15"),
    ),
    Step(
        "liang/appendix_c_1/decrease_1",
        "(64): -(12/25) eta C G/sqrt(2 L) is a squared length; the printed c is the clip norm C",
        at("C.1", "(64)"),
        Units(eta * K * G / sqrt(2 * L) + dim * eta**2 * sigma_dp**2, P, SMOOTH, "C for c").mutant(
            "without G", left=eta * K / sqrt(2 * L) + dim * eta**2 * sigma_dp**2
        ),
        misprint=Units(eta * c * G / sqrt(2 * L) + dim * eta**2 * sigma_dp**2, P, SMOOTH, "c, a number elsewhere"),
        remark="""(64) writes a lower-case c where (59), (62) and (63) have the clip norm C. Only C makes the line a
        squared length. The earlier version has the same letter in (56) and in (68).""",
    ),
    Step(
        "liang/appendix_c_1/sum_1",
        "(65): (64) summed is 25 sqrt(2)/12 times sqrt(L) D^2/(eta C (T + 1)) + d eta sigma_DP^2 sqrt(L)/C",
        at("C.1", "(65)"),
        Identity(_summed(Rational(12, 25)), 25 * _root_two / 12 * _rate(sqrt(L) * D**2), "the constant is 2.95"),
        Units(_rate(sqrt(L) * D**2), G, SMOOTH, "roots of a loss").mutant(
            "eta^2 in the noise", left=_rate(sqrt(L) * D**2) + dim * eta**2 * sigma_dp**2 * sqrt(L) / K
        ),
        assumptions=(L > 0,),
        misprint=Units(_rate(sqrt(L * D**2)), G, SMOOTH, "sqrt(L D^2), as printed"),
        remark="""Our copy of the later version has sqrt(L D^2) in (65) and (70), which is sqrt(L) D. Summing (64)
        gives sqrt(L) D^2, and so do (79) and the earlier version's (57) and (61). Only that is a root of a loss.""",
    ),
    Step(
        "liang/appendix_c_1/case_1_2",
        "(66): sqrt(l - l*) <= |grad l|/sqrt(2 mu) < 35/sqrt(2) L^(3/4)/mu^(5/4) sigma_SGD",
        at("C.1", "(66)"),
        Inequality(
            G,
            "<",
            35 / sqrt(2 * m) * rho**3 * sigma_sgd,
            (2 * m * G**2 <= g**2, g < 35 * sigma_sgd * rho**3),
            "rho^3 = (L/mu)^(3/4)",
        ).mutant("35/2", right=Rational(35, 2) / sqrt(2 * m) * rho**3 * sigma_sgd),
        Units(rho**3 * sigma_sgd / sqrt(m), G, SMOOTH, "a root of a loss"),
        assumptions=(rho >= 1,),
    ),
    Step(
        "liang/appendix_c_1/noise_of_d",
        "(69): the noise adds d eta^2 sigma_DP^2; its first line prints eta^2 sigma_DP^2",
        at("C.1", "(69)"),
        Identity(dim * (eta**2 * sigma_dp**2), dim * eta**2 * sigma_dp**2, "d coordinates"),
        Simulated("noise_energy", "==", dim * eta**2 * sigma_dp**2, _noise, Rational(1, 2), "d = 5").mutant(
            "d^2", value=dim**2 * eta**2 * sigma_dp**2, tolerance=Integer(0)
        ),
        misprint=Simulated("noise_energy", "==", eta**2 * sigma_dp**2, _noise, Rational(1, 2), "as printed"),
        remark="""The first line of (69) has eta^2 sigma_DP^2 for the noise and its second d eta^2 sigma_DP^2. The mean
        square of d coordinates is d eta^2 sigma_DP^2. The earlier version's (60) has the same slip.""",
    ),
    Step(
        "liang/appendix_c_1/sum_2",
        "(70): (69) summed is 5 sqrt(2) times the same rate as (65)",
        at("C.1", "(70)"),
        Identity(_summed(Rational(1, 5)), 5 * _root_two * _rate(sqrt(L) * D**2), "slope 1/5"),
        assumptions=(L > 0,),
    ),
    Step(
        "liang/appendix_c_1/near_sample",
        "(71), (72): a sample of norm above C is farther than C/2 from a mean gradient of norm at most C/2",
        at("C.1", "(71)"),
        Inequality(z, "<= and attained", x + K / 2, (z <= g + x, 2 * g <= K), "triangle"),
        Inequality(K / 2, "<", x, (z <= g + x, 2 * g <= K, z > K), "clipped only if far"),
    ),
)
