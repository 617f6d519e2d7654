"""C.3 again: what its cases leave out, the step size of the last, and what is said of the rates.

chi = log(1/delta); u^2 = dim chi; rho = (L/m)^(1/4); Y = dim chi/(epsilon n)^2; r is the constant of a Theta().
"""

from lastiterate.symbolic.liang.appendix_c_3 import FIRST_RATE, SECOND_RATE, Y_RATE
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *

_one = Integer(1)
_spread = rho**6  # L^(3/2)/m^(5/2) sigma^2 at m = sigma = 1
_within = (v**4 * rho**4 <= _spread,)
_widest = L ** Rational(3, 2) / m ** Rational(5, 2) * sigma_sgd**2  # of FIRST_RATE in case (1.2)
_units = dict.fromkeys((D, m, sigma_sgd, dim, epsilon, n), _one)
_edge = {L: growth**8, chi: growth**4} | _units

CLAIMS = (
    Step(
        "liang/appendix_c_3/left_out",
        "(101): in case (1.2) the term D^2 d L log(1/delta)/(epsilon n)^2 of (98) is at most r times the rate",
        at("C.3", "(101)"),
        Inequality(v**4 * rho**4, "<=", 1000 * rho * v, _within, "m = sigma = D = 1, v^4 = Y").mutant(
            "10^6", right=10**6 * rho * v
        ),
        Asymptotic(
            FIRST_RATE,
            SECOND_RATE * L ** Rational(1, 4),
            path=_edge,
            given=(m <= L, epsilon > 0, _widest >= FIRST_RATE),
            name="at the edge",
        ),
        assumptions=(rho >= 1,),
        remark="""Case (1.2) only says D^2 L Y <= L^(3/2)/mu^(5/2) sigma_SGD^2 with Y = d log(1/delta)/(epsilon n)^2,
        and (101) drops D^2 L Y. At the edge of the case it exceeds the printed rate by (L/mu)^(9/8): z3 refutes the
        constant 1000, the path L/mu = N^8 every constant. The maximum in (19) and (105) has the term; (101) alone does
        not bound the error.""",
    ),
    Ours(
        "liang/appendix_c_3/left_out_repaired",
        "Case (1.2): D^2 d L log(1/delta)/(epsilon n)^2 is at most (L/mu)^(11/8) times the rate (101) without L, equal "
        "at the edge of the case, so that no constant serves",
        at("C.3", "(101)"),
        Identity(
            FIRST_RATE,
            SECOND_RATE * (L / m) ** Rational(11, 8) * (FIRST_RATE / _widest) ** Rational(3, 4),
            "by its share of the largest in the case",
        ),
        Inequality(
            x ** Rational(3, 4),
            "<= and attained",
            _one,
            (x <= 1,),
            "of which the power 3/4 is at most 1",
            attained=(Eq(x, 1),),
        ),
        Unbounded(FIRST_RATE, SECOND_RATE, _edge, (_widest >= FIRST_RATE,), "at the edge").mutant(
            "log(1/delta) smaller", path={L: growth**9, chi: growth**-12} | _units
        ),
        assumptions=(m <= L, epsilon > 0),
        letters={x: "share of the largest term in the case"},
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
        "A smaller D lowers the bound of privacy, (12), and the terms of (18) that have D",
        at("Remark 3.13"),
        Inequality(Min(T, r * x**2), "<= and attained", Min(T, r * D**2), name="(12), and the noise of (18)"),
        Inequality(Min(T, 1 + r * x**2), "<= and attained", Min(T, 1 + r * D**2), name="(12), mended"),
        Inequality(r * x**2 + u * x, "<= and attained", r * D**2 + u * D, name="first two terms of (18)"),
        Inequality(sqrt(Min(T, r * x**2)), "<= and attained", sqrt(Min(T, r * D**2)), name="last term"),
        assumptions=(x <= D,),
    ),
    Step(
        "liang/appendix_c_3/implications",
        "C.3: the bound D^2 d L log(1/delta)/(epsilon n)^2 matches the optimum, 1/mu for D^2, up to r",
        at("C.3", "Implications"),
        Units(FIRST_RATE, L * Y_RATE / m, SMOOTH, "like things"),
        Asymptotic(D**2, 1 / m, path={D: growth, m: _one}, name="their ratio is mu D^2").mutant("D for D^2", left=D),
        remark="""The two rates differ by the factor mu D^2, which has a unit and no bound: the units engine refuses
        the comparison, and on the path D = N the ratio is N^2. They match where mu D^2 is held fixed, for example for
        losses of range mu D^2 = 1. The text's L cannot be both a smoothness and a Lipschitz constant.""",
    ),
    Ours(
        "liang/appendix_c_3/implications_repaired",
        "The bound over the quoted optimum is mu D^2, and equal to it where mu D^2 = 1",
        at("C.3", "Implications"),
        Identity(put(x / y, {x: FIRST_RATE, y: L * Y_RATE / m}), m * D**2, "ratio"),
        Identity(FIRST_RATE, put(L * Y_RATE / m, {m: 1 / D**2}), "at mu = 1/D^2"),
        assumptions=(L > 0, epsilon > 0),
        repairs="liang/appendix_c_3/implications",
    ),
)
