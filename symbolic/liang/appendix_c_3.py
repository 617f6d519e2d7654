"""C.3, the trade-off of privacy and utility with projection: choose T, then K and eta, and put them in.

chi = log(1/delta); u^2 = dim chi and v = epsilon n, without the L that the paper carries along.
"""

from sympy import Integer, Rational, diff, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step
from lastiterate.symbolic.letters import r, rho, u, v
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import D, K, L, b, chi, dim, epsilon, eta, m, n, sigma_sgd

_steps = v * D / (eta * K * u)
_domain = (1 + eta * L) ** 2 * n**2 * D**2 / (eta**2 * K**2)
_small_clip, _small_eta = D * L * u / v, b * L ** Rational(3, 2) / m ** Rational(5, 2)
_small_count = _steps.subs(eta, _small_eta).subs(K, _small_clip)
_bias = sigma_sgd**3 / (m * K)
_best_clip = sigma_sgd ** Rational(3, 2) * sqrt(v / (m * D * u))
_printed_clip = _best_clip / L ** Rational(1, 4)
_X = u**2 * L / v**2
_printed_rate = sigma_sgd ** Rational(3, 2) * sqrt(D / m) * _X ** Rational(1, 4)
_rate = sigma_sgd ** Rational(3, 2) * sqrt(D / m) * sqrt(u / v)
_printed_eta = b * sqrt(D / (m * sigma_sgd)) * _X ** Rational(1, 3)
_eta = b * sqrt(D / (m * sigma_sgd)) * sqrt(u / v)
_printed_count = v ** Rational(7, 6) * m * D / (b * (u**2 * L) ** Rational(2, 3) * sigma_sgd)
_late_eta = D * sqrt(b) * u / (epsilon * sigma_sgd)
_positive = (L > 0, epsilon > 0)

CLAIMS = (
    Step(
        "liang/appendix_c_3/steps",
        "(98): T = epsilon n D/(eta K sqrt(dim chi)) makes the terms of (97) equal in pairs",
        at("C.3", "(98)"),
        Identity(L * D**4 / (eta * K * _steps) ** 2, D**2 * L * u**2 / v**2, "first"),
        Identity(D**2 / (eta * _steps), K * D * u / v, "second"),
        Identity(L * u**4 * (eta * K * _steps) ** 2 / v**4, D**2 * L * u**2 / v**2, "fifth"),
        Identity(u**2 * eta * K**2 * _steps / v**2, K * D * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_3/small_noise_steps",
        "(100): T = epsilon^2 n^2 m^(5/2)/(b L^(5/2) dim chi) at the K and eta of case 1.1",
        at("C.3", "(100)"),
        Identity(_small_count, v**2 * m ** Rational(5, 2) / (b * L ** Rational(5, 2) * u**2), "K and eta put in"),
        Identity(_small_clip * D * u / v, D**2 * L * u**2 / v**2, "(99)"),
        assumptions=_positive,
        misprint=Identity(
            _small_count.subs({u: sqrt(dim * chi), v: epsilon * n}),
            epsilon**2 * n**2 * m ** Rational(5, 2) / (b * L ** Rational(3, 2) * chi),
            "as printed",
        ),
        remark="""(100) prints T = Theta(epsilon^2 n^2 mu^(5/2)/(b L^(3/2) log(1/delta))). The K and eta chosen above
        it give L^(5/2) for L^(3/2) and d log(1/delta) for log(1/delta). The number of steps so loses its dimension
        d.""",
    ),
    Step(
        "liang/appendix_c_3/step_size",
        "eta = Theta(b L^(3/2)/m^(5/2)) meets the precondition eta <= 9/(20 L) of Theorem 3.10",
        at("C.3", "case (1.1)"),
        Inequality(r * b * rho**10, "<=", Rational(9, 20), (r <= Rational(9, 20),), "eta L, rho^4 = L/m").mutant(
            "r = 1", left=b * rho**10, given=()
        ),
        assumptions=(rho >= 1,),
        remark="""C.3 sets eta = Theta(b L^(3/2)/mu^(5/2)), so eta L = r b (L/mu)^(5/2), where Theorem 3.10 needs at
        most 9/20. No constant r serves all condition numbers and batch sizes. With eta = 9/(20 L) the rate (99)
        stands, with more steps.""",
    ),
    Ours(
        "liang/appendix_c_3/step_size_repaired",
        "With eta = 9/(20 L) the sampling term stays below the bias term of case 1.1",
        at("C.3", "case (1.1)"),
        Inequality(Rational(9, 20), "<", r * b * rho**10, (r * b > 1,), "no r serves every b"),
        Inequality(
            9 * sigma_sgd**2 / (20 * b),
            "<=",
            rho**10 * sigma_sgd**2,
            name="times L; bias rho^6 sigma^2/m",
        ),
        assumptions=(rho >= 1,),
        repairs="liang/appendix_c_3/step_size",
    ),
    Step(
        "liang/appendix_c_3/large_noise",
        "(101), (19): the K of case 1.2 gives sigma^(3/2) D^(1/2)/m^(1/2) [dim L chi/(epsilon n)^2]^(1/4), up to r",
        at("C.3", "(101)"),
        Inequality(1 / rho + rho, "<=", r * rho, (r >= 2,), "over the L-free rate; rho here L^(1/4)").mutant(
            "r = 2", right=2 * rho, given=()
        ),
        assumptions=_positive,
        remark="""The K of case 1.2 and the second rate of (19) carry an L^(1/4) that balancing C D sqrt(d
        log)/(epsilon n) with sigma^3/(mu C) does not produce; with it the two terms differ by sqrt(L), a quantity with
        a unit. So the rate holds only where L is not small in the units chosen. Without L in K and in the rate it
        holds.""",
    ),
    Ours(
        "liang/appendix_c_3/large_noise_repaired",
        "K = sigma^(3/2) (epsilon n)^(1/2)/(m D)^(1/2)/(dim chi)^(1/4) balances, and the rate has no L",
        at("C.3", "case (1.2)"),
        Identity(diff(K * D * u / v + _bias, K).subs(K, _best_clip), Integer(0), "stationary").mutant(
            "the printed K", left=diff(K * D * u / v + _bias, K).subs(K, _printed_clip)
        ),
        Inequality(r * rho, "<", 1 / rho + rho, (r * rho**2 <= 1,), "no r serves (101), rho = L^(1/4)"),
        Identity(_best_clip * D * u / v, _rate, "first term"),
        Identity(_bias.subs(K, _best_clip), _rate, "second term"),
        Identity(_printed_clip * D * u / v, _rate / L ** Rational(1, 4), "with the printed K, first term"),
        Identity(_bias.subs(K, _printed_clip), _printed_rate, "and second term"),
        assumptions=_positive,
        repairs="liang/appendix_c_3/large_noise",
    ),
    Step(
        "liang/appendix_c_3/large_noise_step_size",
        "Case 1.2: eta has the power 1/4, so that eta sigma^2/b is the rate",
        at("C.3", "case (1.2)"),
        Identity(_eta * sigma_sgd**2 / b, _rate, "power 1/4"),
        assumptions=_positive,
        misprint=Identity(_printed_eta * sigma_sgd**2 / b, _printed_rate, "power 1/3, as printed"),
        remark="""The step size of case 1.2 has [d L log(1/delta)/(epsilon n)^2]^(1/3), copied from (91), where the
        sampling term eta sigma^2/b meets the rate (101) with the power 1/4. With 1/3 the sampling term exceeds the
        rate wherever that bracket is above 1.""",
    ),
    Step(
        "liang/appendix_c_3/large_noise_count",
        "(102): T at the printed K and eta has the power 7/12 of dim chi and no power of L but -1/12",
        at("C.3", "(102)"),
        Identity(
            _steps.subs(eta, _printed_eta).subs(K, _printed_clip),
            v ** Rational(7, 6) * m * D / (b * u ** Rational(7, 6) * L ** Rational(1, 12) * sigma_sgd),
            "K and eta put in",
        ),
        assumptions=_positive,
        misprint=Identity(_steps.subs(eta, _printed_eta).subs(K, _printed_clip), _printed_count, "as printed"),
        remark="""(102) prints [d L log(1/delta)]^(2/3) in the denominator of T, copied from (92). Putting in the
        printed K and eta gives (d log(1/delta))^(7/12) L^(1/12). The powers of epsilon n, mu, D, b and sigma agree.""",
    ),
    Step(
        "liang/appendix_c_3/late_terms",
        "(103): min{T, T'} = T' put into (97)",
        at("C.3", "(103)"),
        Identity(
            u**4 * L * eta**2 * K**2 * _domain**2 / (epsilon * n) ** 4,
            u**4 * L * (1 + eta * L) ** 4 * D**4 / (eta**2 * K**2 * epsilon**4),
            "fifth",
        ),
        Identity(
            u**2 * eta * K**2 * _domain / (epsilon * n) ** 2,
            u**2 * (1 + eta * L) ** 2 * D**2 / (eta * epsilon**2),
            "sixth",
        ),
        assumptions=_positive,
    ),
    Claim(
        "liang/appendix_c_3/late_rate",
        "(19), (105): eta = D sqrt(b dim chi)/(epsilon sigma) gives sigma D sqrt(dim chi)/(sqrt(b) epsilon)",
        at("C.3", "(104), (105)"),
        Identity(_late_eta * sigma_sgd**2 / b, sigma_sgd * D * u / (sqrt(b) * epsilon), "as in (19)"),
        Identity(u**2 * D**2 / (_late_eta * epsilon**2), sigma_sgd * D * u / (sqrt(b) * epsilon), "noise, eta L small"),
        assumptions=_positive,
        misprint=Identity(
            _late_eta * sigma_sgd**2 / b, sigma_sgd * D * u / sqrt(b * epsilon), "sqrt(b epsilon), as (104) prints"
        ),
        remark="""(104) and (105) have epsilon under the root with b, the text's (19) has it outside. The step size
        gives the form of (19). The two agree only at epsilon = 1.""",
    ),
)
