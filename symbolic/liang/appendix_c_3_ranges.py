"""C.3 again: its cases, what (101) leaves out, the ranges of its parameters, and its comparison.

rho = (L/m)^(1/4); x = T-bar, y = T-bar', and T-bar <= T-bar' since b <= n; Y = dim chi/(epsilon n)^2; r is the constant
of a Theta(); the paper's C is K.
"""

from sympy import Integer, Min, Rational, sqrt

from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, Ours, Step, Unbounded, Units
from lastiterate.symbolic.letters import G, r, rho, u, v, x, y, z
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.notation import D, K, L, T, b, chi, dim, epsilon, growth, m, n, sigma_sgd

_one = Integer(1)
_loss = G**2
_Y = dim * chi / (epsilon * n) ** 2
_first = D**2 * L * _Y
_second = sigma_sgd ** Rational(3, 2) * sqrt(D / m) * _Y ** Rational(1, 4)
_third = sigma_sgd * D * sqrt(dim * chi) / (sqrt(b) * epsilon)
_spread = rho**6  # L^(3/2)/m^(5/2) sigma^2 at m = sigma = 1
_within = (v**4 * rho**4 <= _spread,)
_edge = {rho: growth**2, v: growth}

CLAIMS = (
    Step(
        "liang/appendix_c_3/cases",
        "(103): in case (2) the minimum of (97) is T-bar', so the case is T >= T-bar', not T >= T-bar",
        at("C.3", "case (2)"),
        Inequality(Min(T, y), "==", y, (y <= T,), "T >= T-bar'").mutant("T >= T-bar'/2", given=(y <= 2 * T,)),
        assumptions=(x <= y,),
        misprint=Inequality(Min(T, y), "==", y, (x <= T,), "T >= T-bar, as printed"),
        remark="""The cases of C.3 compare T with T-bar = (1 + eta L)^2 n b D^2/(eta C)^2, but (97) has min{T, T-bar'}
        with n^2 for n b. Between the two, (103) puts T-bar' for T and is only an upper bound. With T-bar' in both
        headings the cases are those of (97).""",
    ),
    Claim(
        "liang/appendix_c_3/units",
        "(98), (99), (19): the rates are losses, the second without the L^(1/4) that is printed",
        at("Section 3.2", "(19)"),
        Units(K * D * sqrt(_Y) + _first, _loss, SMOOTH, "(98)").mutant("D for D^2", left=K * D * sqrt(_Y) + _first / D),
        Units(_first + _second + _third, _loss, SMOOTH, "(19) with the second rate of ours"),
        misprint=Units(_first + _second * L ** Rational(1, 4) + _third, _loss, SMOOTH, "(19), as printed"),
        remark="""The second rate of (19), (101) and (105) has L inside the bracket of power 1/4 and so is a loss times
        (gradient/length)^(1/4). Balancing gives it without L, see liang/appendix_c_3/large_noise_repaired. The units
        engine and the derivative agree on that reading.""",
    ),
    Step(
        "liang/appendix_c_3/left_out",
        "(101): in case (1.2) the term D^2 d L log(1/delta)/(epsilon n)^2 of (98) is at most r times the rate",
        at("C.3", "(101)"),
        Inequality(v**4 * rho**4, "<=", 1000 * rho * v, _within, "m = sigma = D = 1, v^4 = Y").mutant(
            "10^6", right=10**6 * rho * v
        ),
        Asymptotic(v**4 * rho**4, rho * v, path=_edge, given=_within, name="v^2 = rho"),
        assumptions=(rho >= 1,),
        remark="""Case (1.2) only says D^2 L Y <= L^(3/2)/mu^(5/2) sigma_SGD^2 with Y = d log(1/delta)/(epsilon n)^2,
        and (101) drops D^2 L Y. At the edge of the case it exceeds the printed rate by (L/mu)^(9/8): z3 refutes the
        constant 1000, the path L/mu = N^8 every constant. The maximum in (19) and (105) has the term; (101) alone does
        not bound the error.""",
    ),
    Ours(
        "liang/appendix_c_3/left_out_repaired",
        "The term over the rate without L is at most (L/mu)^(11/8) in the case, and attains it",
        at("C.3", "(101)"),
        Inequality(v**3 * rho**4, "<= and attained", rho ** Rational(11, 2), (v**2 <= rho,), "rho^(11/2)"),
        Unbounded(v**4 * rho**4, v, _edge, _within, "without limit").mutant(
            "Y falls faster", path={rho: growth**3, v: growth**-4}
        ),
        assumptions=(rho >= 1,),
        repairs="liang/appendix_c_3/left_out",
    ),
    Step(
        "liang/appendix_c_3/late_step_size",
        "Case (2): eta = r D sqrt(b d log(1/delta))/(epsilon sigma_SGD) meets eta <= 9/(20 L), for some r",
        at("C.3", "(104)"),
        Inequality(
            r * L * D * sqrt(b) * u / (epsilon * sigma_sgd),
            "<=",
            Rational(9, 20),
            (L > 0, epsilon > 0),
            "eta L, u^2 = d chi",
        ).mutant("b for its root", left=r * L * D * b * u / (epsilon * sigma_sgd)),
        Asymptotic(
            L * D * u / sigma_sgd,
            _one,
            path={L: growth, D: _one, u: _one, sigma_sgd: _one},
            name="eta L where b = epsilon = 1",
        ),
        remark="""(104) chooses eta without regard to Theorem 3.10's eta <= 9/(20 L). The choice is allowed only where
        epsilon sigma_SGD >= (20/9) r L D sqrt(b d log(1/delta)); z3 and the path L = N refute it otherwise. Where it
        is allowed, the third rate of (19) is at least (20/9) (d log(1/delta)/epsilon^2) L D^2, above the trivial 2 L
        D^2 of the ball for epsilon^2 <= d log(1/delta).""",
    ),
    Ours(
        "liang/appendix_c_3/late_step_size_repaired",
        "Where case (2)'s eta is allowed its rate is at least (20/9) (d chi/epsilon^2) L D^2",
        at("C.3", "(104)"),
        Inequality(
            Rational(20, 9) * (u / epsilon) ** 2 * L * D**2,
            "<= and attained",
            sigma_sgd * D * u / (z * epsilon),
            (20 * L * D * z * u <= 9 * epsilon * sigma_sgd, z > 0),
            "u^2 = d chi, z^2 = b",
        ),
        Inequality(2 * L * D**2, "<", Rational(20, 9) * L * D**2, name="the trivial bound of the ball"),
        assumptions=(L > 0, epsilon > 0),
        repairs="liang/appendix_c_3/late_step_size",
    ),
    Claim(
        "liang/remark_3_13",
        "A smaller diameter lowers each of the three rates of (19)",
        at("Remark 3.13"),
        Inequality(r * x**2, "<= and attained", r * D**2, (x <= D,), "first and, squared, second"),
        Inequality(r * x, "<= and attained", r * D, (x <= D,), "third"),
    ),
    Step(
        "liang/appendix_c_3/implications",
        "C.3: the bound D^2 d L log(1/delta)/(epsilon n)^2 matches the optimum, 1/mu for D^2, up to r",
        at("C.3", "Implications"),
        Units(_first, L * _Y / m, SMOOTH, "like things"),
        Asymptotic(D**2, 1 / m, path={D: growth, m: _one}, name="their ratio is mu D^2").mutant("D for D^2", left=D),
        remark="""The two rates differ by the factor mu D^2, which has a unit and no bound: the units engine refuses
        the comparison, and on the path D = N the ratio is N^2. They match where mu D^2 is held fixed, for example for
        losses of range mu D^2 = 1. The text's L cannot be both a smoothness and a Lipschitz constant.""",
    ),
    Ours(
        "liang/appendix_c_3/implications_repaired",
        "The bound over the quoted optimum is mu D^2, and equal to it where mu D^2 = 1",
        at("C.3", "Implications"),
        Identity(_first / (L * _Y / m), m * D**2, "ratio"),
        Identity(_first.subs(m, 1 / D**2), (L * _Y / m).subs(m, 1 / D**2), "at mu = 1/D^2"),
        assumptions=(L > 0, epsilon > 0),
        repairs="liang/appendix_c_3/implications",
    ),
)
