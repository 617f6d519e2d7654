"""C.1 again: the lines between the cases, the sums over t = 0, ..., T, the misprints that units show, and (74) to (79).

Letters as in `appendix_c_1`; r is a loss where it is named so.
"""

from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import CLIPPING

_noise = {dim: 5, eta: Rational(1, 2), sigma_dp: Integer(2)}
_root_two = sqrt(Integer(2))


def _summed(slope: Expr) -> Expr:
    """The mean root over t where each step loses slope eta K G/sqrt(2 L): D^2 and the noise, over T + 1."""
    return sqrt(2 * L) / (slope * eta * K) * (D**2 / (T + 1) + dim * eta**2 * sigma_dp**2)


def _rate(first: Expr) -> Expr:
    return first / (eta * K * (T + 1)) + dim * eta * sigma_dp**2 * sqrt(L) / K


_loss = {**SMOOTH, r: GRADIENT * LENGTH}
_per_step = 4 * eta * sigma_sgd**3 / (m * K) + 2 * eta**2 * sigma_sgd**2 / b + dim * eta**2 * sigma_dp**2

LEAST_MEAN = Inequality(
    Min((x + y) / 2, (u + v) / 2),
    "<=",
    (Min(x, u) + Min(y, v)) / 2,
    name="two paths, two times: least mean by mean least",
).mutant("up to 100", right=100 * (Min(x, u) + Min(y, v)) / 2)
"""What (79) takes for granted: it fails at two paths that are good at different times."""

# Of a path: its chance, the least on it, and what it has at a time; the means of the two.
_chance, _least, _at_a_time, _least_mean, _mean = (
    Function(name, nonnegative=True) for name in ("P", "m", "x", "M", "X")
)


def mean_of_least(most: Expr, counted: Expr | None = None) -> Induction:
    """Any number of paths, each with its chance and a least of at most ``most``: the mean of least and most."""
    laws = (
        gains(_least_mean, _chance(t) * _least(t)),
        gains(_mean, _chance(t) * (most if counted is None else counted)),
        Le(_least(t), most),
    )
    name = "any number of paths, each with its chance"
    return Induction(t, Le(_least_mean(t), _mean(t)), begin(_least_mean, _mean), laws, name=name)


_left, _roots, _root = (Function(name, nonnegative=True) for name in ("e", "S", "x"))
_at_x, _moves = Vector("x"), Vector("y")


def _steps(slope: Expr, name: str, noise: Expr = dim * eta**2 * sigma_dp**2) -> Induction:
    """The roots over t steps, each of which loses slope eta K G/sqrt(2 L) but for the noise of d coordinates."""
    lost = slope * eta * K / sqrt(2 * L)
    return Induction(
        t,
        Le(lost * _roots(t) + _left(t), D**2 + t * noise),
        (Le(_left(0), D**2), Eq(_roots(0), 0)),
        (Le(_left(t + 1), _left(t) - lost * _root(t) + dim * eta**2 * sigma_dp**2), gains(_roots, _root(t))),
        name=name,
    )


CLAIMS = (
    Step(
        "liang/appendix_c_1/expand",
        "(58), (67): |theta - eta g - theta*|^2 <= |theta - theta*|^2 - 2 eta g (theta - theta*) + eta^2 C^2",
        at("C.1", "(58)"),
        VectorInequality(
            Norm(_at_x - eta * _moves) ** 2,
            "<=",
            Norm(_at_x) ** 2 - 2 * eta * inner(_moves, _at_x) + eta**2 * K**2,
            (),
            (Norm(_moves) <= K,),
            name="in R^d, theta* = 0",
        ),
        Inequality(
            (xi - eta * gamma) ** 2,
            "<= and attained",
            xi**2 - 2 * eta * gamma * xi + eta**2 * K**2,
            (gamma**2 <= K**2,),
            "theta* = 0",
        ),
        Units(xi**2 - eta * gamma * xi + eta**2 * K**2 + dim * eta**2 * sigma_dp**2, P, SMOOTH, "the terms add"),
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
        Units(eta * K * G / sqrt(2 * L) + dim * eta**2 * sigma_dp**2, P, SMOOTH, "C for c"),
        misprint=Units(eta * c * G / sqrt(2 * L) + dim * eta**2 * sigma_dp**2, P, SMOOTH, "c, a number elsewhere"),
        remark="""(64) writes a lower-case c where (59), (62) and (63) have the clip norm C. Only C makes the line a
        squared length. The earlier version has the same letter in (56) and in (68).""",
    ),
    Step(
        "liang/appendix_c_1/sum_1",
        "(65): (64) summed is 25 sqrt(2)/12 times sqrt(L) D^2/(eta C (T + 1)) + d eta sigma_DP^2 sqrt(L)/C",
        at("C.1", "(65)"),
        _steps(Rational(12, 25), "(64) summed").mutant(
            "the noise of one coordinate", _steps(Rational(12, 25), "", noise=eta**2 * sigma_dp**2)
        ),
        Identity(_summed(Rational(12, 25)), 25 * _root_two / 12 * _rate(sqrt(L) * D**2), "the constant is 2.95"),
        Units(_rate(sqrt(L) * D**2), G, SMOOTH, "roots of a loss"),
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
        ),
        Units(rho**3 * sigma_sgd / sqrt(m), G, SMOOTH, "a root of a loss"),
        assumptions=(rho >= 1,),
    ),
    Step(
        "liang/appendix_c_1/noise_of_d",
        "(69): the noise adds d eta^2 sigma_DP^2; its first line prints eta^2 sigma_DP^2",
        at("C.1", "(69)"),
        Identity(Sum(eta**2 * sigma_dp**2, (j, 1, dim)), dim * eta**2 * sigma_dp**2, "d coordinates"),
        Simulated("noise_energy", "==", dim * eta**2 * sigma_dp**2, _noise, Rational(1, 2), "d = 5"),
        misprint=Simulated("noise_energy", "==", eta**2 * sigma_dp**2, _noise, Rational(1, 2), "as printed"),
        remark="""The first line of (69) has eta^2 sigma_DP^2 for the noise and its second d eta^2 sigma_DP^2. The mean
        square of d coordinates is d eta^2 sigma_DP^2. The earlier version's (60) has the same slip.""",
    ),
    Step(
        "liang/appendix_c_1/sum_2",
        "(70): (69) summed is 5 sqrt(2) times the same rate as (65)",
        at("C.1", "(70)"),
        _steps(Rational(1, 5), "(69) summed"),
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
    Step(
        "liang/appendix_c_1/added_gradient",
        "(74): what is added and taken off is grad l; the printed l(theta_t) is a loss",
        at("C.1", "(74)"),
        Units(gamma - kappa + g, K, _loss, "gradients"),
        misprint=Units(gamma - kappa + r, K, _loss, "a gradient and a loss, as printed"),
        remark="""The first line of (74) has g_xi - grad l + l, which adds a loss to gradients. The second line has
        grad l. Both versions print it, the earlier in (65).""",
    ),
    Step(
        "liang/appendix_c_1/clipped_spread",
        "(74), last step: clipping moves no sample away from a mean gradient of norm at most C/2",
        at("C.1", "(74)"),
        VectorInequality(
            Norm(CLIPPING.at(_at_x).image - _moves),
            "<=",
            Norm(_at_x - _moves),
            (CLIPPING.at(_at_x), CLIPPING.member(_moves)),
            name="in R^d, away from any mean of norm at most C",
        ),
        Inequality(
            (K - xi) ** 2, "<= and attained", (gamma - xi) ** 2, (gamma >= K, xi <= K / 2), "on the line"
        ).mutant("mean anywhere", sign="<=", given=(gamma >= K,)),
    ),
    Step(
        "liang/appendix_c_1/sum_3",
        "(76): (75) summed over t = 0, ..., T and divided by eta (T + 1)",
        at("C.1", "(76)"),
        Induction(
            t,
            Le(eta * _roots(t) / 25 + _left(t), D**2 + t * _per_step),
            (Le(_left(0), D**2), Eq(_roots(0), 0)),
            (Le(_left(t + 1), _left(t) - eta * _root(t) / 25 + _per_step), gains(_roots, _root(t))),
            name="(75) summed, a 25th of the squares on the left",
        ),
        Identity(
            (D**2 + (T + 1) * _per_step) / (eta * (T + 1)),
            D**2 / (eta * (T + 1)) + 4 * sigma_sgd**3 / (m * K) + 2 * eta * sigma_sgd**2 / b + dim * eta * sigma_dp**2,
            "(76)",
        ),
        Units(_per_step / eta + D**2 / eta, r, _loss, "losses"),
    ),
    Step(
        "liang/appendix_c_1/sum_3_rate",
        "(78): 25 times (77) is at most 50 times the rate",
        at("C.1", "(78)"),
        Asymptotic(25 * (x + 2 * y + _root_two * z + g), x + y + z + g, constant=Integer(50), name="(77) to (78)"),
        Inequality(25 * (x + 2 * y + _root_two * z + g), "<=", 50 * (x + y + z + g), name="the constant"),
    ),
    Step(
        "liang/appendix_c_1/random_cases",
        "(79): the cases depend on the random theta_t, and bound the least over t path by path, so its mean",
        at("C.1", "(79)"),
        LEAST_MEAN,
        remark="""(65), (66), (70) and (78) each assume one case for every t, but the case is decided by the random
        gradient at theta_t. Paths that pass through (1.2) or (2.2) bound the least of sqrt(l - l*) along the path;
        (79) is on the least over t of the mean, which may be larger. What follows from the cases is a bound of the
        mean of the least.""",
    ),
    Ours(
        "liang/appendix_c_1/random_cases_repaired",
        "The mean of the least is at most the least mean: the cases bound E min_t only",
        at("C.1", "(79)"),
        mean_of_least(_at_a_time(t)).mutant("half of it", mean_of_least(_at_a_time(t), _at_a_time(t) / 2)),
        repairs="liang/appendix_c_1/random_cases",
    ),
)
