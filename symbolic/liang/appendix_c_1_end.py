"""C.1, from (74) to (79): the mean square, the sum of case 2.2, and the cases put together.

Statement    (74)-(78) and the last step, "summing up all the cases".
Assumptions  as appendix_c_1; r is a loss where it is named so.
Derivation   Sum over t = 0, ..., T, divide by T + 1; two paths and two times for the last step.
Source       Liang et al., C.1, (74)-(79); earlier version (65)-(70).
Remark       The paper's C is K, its mu is m.
"""

from sympy import Integer, Min, sqrt

from lastiterate.symbolic.claim import Asymptotic, Identity, Inequality, Ours, Step, Units
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.notation import (
    D,
    K,
    P,
    T,
    b,
    dim,
    eta,
    g,
    gamma,
    kappa,
    m,
    r,
    sigma_dp,
    sigma_sgd,
    u,
    v,
    x,
    xi,
    y,
    z,
)

_loss = {**SMOOTH, r: "gradient length"}
_per_step = 4 * eta * sigma_sgd**3 / (m * K) + 2 * eta**2 * sigma_sgd**2 / b + dim * eta**2 * sigma_dp**2
_root_two = sqrt(Integer(2))

CLAIMS = (
    Step(
        "liang/appendix_c_1/added_gradient",
        "(74): what is added and taken off is grad l; the printed l(theta_t) is a loss",
        at("C.1", "(74)"),
        Units(gamma - kappa + g, K, _loss, "gradients").mutant("a step", left=gamma - eta * kappa + g),
        misprint=Units(gamma - kappa + r, K, _loss, "a gradient and a loss, as printed"),
        remark="""The first line of (74) has g_xi - grad l + l, which adds a loss to gradients. The second line has
        grad l. Both versions print it, the earlier in (65).""",
    ),
    Step(
        "liang/appendix_c_1/clipped_spread",
        "(74), last step: clipping moves no sample away from a mean gradient of norm at most C/2",
        at("C.1", "(74)"),
        Inequality(
            (K - xi) ** 2, "<= and attained", (gamma - xi) ** 2, (gamma >= K, xi <= K / 2), "on the line"
        ).mutant("mean anywhere", sign="<=", given=(gamma >= K,)),
    ),
    Step(
        "liang/appendix_c_1/sum_3",
        "(76): (75) summed over t = 0, ..., T and divided by eta (T + 1)",
        at("C.1", "(76)"),
        Identity(
            (D**2 + (T + 1) * _per_step) / (eta * (T + 1)),
            D**2 / (eta * (T + 1)) + 4 * sigma_sgd**3 / (m * K) + 2 * eta * sigma_sgd**2 / b + dim * eta * sigma_dp**2,
            "(76)",
        ),
        Units(_per_step / eta + D**2 / eta, r, _loss, "losses").mutant(
            "bias without mu", left=_per_step + 4 * eta * sigma_sgd**3 / K, right=P
        ),
    ),
    Step(
        "liang/appendix_c_1/sum_3_rate",
        "(78): 25 times (77) is at most 50 times the rate",
        at("C.1", "(78)"),
        Asymptotic(25 * (x + 2 * y + _root_two * z + g), x + y + z + g, constant=Integer(50), name="(77) to (78)"),
        Inequality(25 * (x + 2 * y + _root_two * z + g), "<=", 50 * (x + y + z + g), name="the constant").mutant(
            "49", right=49 * (x + y + z + g)
        ),
    ),
    Step(
        "liang/appendix_c_1/random_cases",
        "(79): the cases depend on the random theta_t, and bound the least over t path by path, so its mean",
        at("C.1", "(79)"),
        Inequality(
            Min((x + y) / 2, (u + v) / 2),
            "<=",
            (Min(x, u) + Min(y, v)) / 2,
            name="two paths, two times: least mean by mean least",
        ).mutant("up to 100", right=100 * (Min(x, u) + Min(y, v)) / 2),
        remark="""(65), (66), (70) and (78) each assume one case for every t, but the case is decided by the random
        gradient at theta_t. Paths that pass through (1.2) or (2.2) bound the least of sqrt(l - l*) along the path;
        (79) is on the least over t of the mean, which may be larger. What follows from the cases is a bound of the
        mean of the least.""",
    ),
    Ours(
        "liang/appendix_c_1/random_cases_repaired",
        "The mean of the least is at most the least mean: the cases bound E min_t only",
        at("C.1", "(79)"),
        Inequality(
            (Min(x, u) + Min(y, v)) / 2, "<= and attained", Min((x + y) / 2, (u + v) / 2), name="two paths, two times"
        ),
        repairs="liang/appendix_c_1/random_cases",
    ),
)
