"""C.3, the trade-off of privacy and utility with projection: choose T, then K and eta, and put them in.

chi = log(1/delta); u^2 = dim chi and v = epsilon n, without the L that the paper carries along. rho = (L/m)^(1/4); x =
T-bar, y = T-bar', and T-bar <= T-bar' since b <= n; r is the constant of a Theta(); the paper's C is K. What the cases
leave out is in `appendix_c_3_cases`.
"""

from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *

_steps = v * D / (eta * K * u)
_domain = (1 + eta * L) ** 2 * n**2 * D**2 / (eta**2 * K**2)
_small_clip, _small_eta = D * L * u / v, b * L ** Rational(3, 2) / m ** Rational(5, 2)
_small_count = v**2 * m ** Rational(5, 2) / (b * L ** Rational(5, 2) * u**2)
_first, _bias = K * D * u / v, sigma_sgd**3 / (m * K)
_sampling = eta * sigma_sgd**2 / b
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

_loss = G**2
Y_RATE = dim * chi / (epsilon * n) ** 2
FIRST_RATE = D**2 * L * Y_RATE
SECOND_RATE = sigma_sgd ** Rational(3, 2) * sqrt(D / m) * Y_RATE ** Rational(1, 4)
_third_rate = sigma_sgd * D * sqrt(dim * chi) / (sqrt(b) * epsilon)

CLAIMS = (
    Step(
        "liang/appendix_c_3/steps",
        "(98): T = epsilon n D/(eta K sqrt(dim chi)) makes the terms of (97) equal in pairs",
        at("C.3", "(98)"),
        Identity(put(L * D**4 / (eta * K * T) ** 2, {T: _steps}), D**2 * L * u**2 / v**2, "first"),
        Identity(put(D**2 / (eta * T), {T: _steps}), K * D * u / v, "second"),
        Identity(put(L * u**4 * (eta * K * T) ** 2 / v**4, {T: _steps}), D**2 * L * u**2 / v**2, "fifth"),
        Identity(put(u**2 * eta * K**2 * T / v**2, {T: _steps}), K * D * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_3/small_noise_steps",
        "(100): T = epsilon^2 n^2 m^(5/2)/(b L^(5/2) dim chi) at the K and eta of case 1.1",
        at("C.3", "(100)"),
        Identity(put(_steps, {eta: _small_eta, K: _small_clip}), _small_count, "K and eta put in"),
        Identity(put(_first, {K: _small_clip}), D**2 * L * u**2 / v**2, "(99)"),
        assumptions=_positive,
        misprint=Identity(
            put(_small_count, {u: sqrt(dim * chi), v: epsilon * n}),
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
        Identity(put(Derivative(_first + _bias, K), {K: _best_clip}), Integer(0), "stationary").mutant(
            "the printed K", left=put(Derivative(_first + _bias, K), {K: _printed_clip})
        ),
        Inequality(r * rho, "<", 1 / rho + rho, (r * rho**2 <= 1,), "no r serves (101), rho = L^(1/4)"),
        Identity(put(_first, {K: _best_clip}), _rate, "first term"),
        Identity(put(_bias, {K: _best_clip}), _rate, "second term"),
        Identity(put(_first, {K: _printed_clip}), _rate / L ** Rational(1, 4), "with the printed K, first term"),
        Identity(put(_bias, {K: _printed_clip}), _printed_rate, "and second term"),
        assumptions=_positive,
        repairs="liang/appendix_c_3/large_noise",
    ),
    Step(
        "liang/appendix_c_3/large_noise_step_size",
        "Case 1.2: eta has the power 1/4, so that eta sigma^2/b is the rate",
        at("C.3", "case (1.2)"),
        Identity(put(_sampling, {eta: _eta}), _rate, "power 1/4"),
        assumptions=_positive,
        misprint=Identity(put(_sampling, {eta: _printed_eta}), _printed_rate, "power 1/3, as printed"),
        remark="""The step size of case 1.2 has [d L log(1/delta)/(epsilon n)^2]^(1/3), copied from (91), where the
        sampling term eta sigma^2/b meets the rate (101) with the power 1/4. With 1/3 the sampling term exceeds the
        rate wherever that bracket is above 1.""",
    ),
    Step(
        "liang/appendix_c_3/large_noise_count",
        "(102): T at the printed K and eta has the power 7/12 of dim chi and no power of L but -1/12",
        at("C.3", "(102)"),
        Identity(
            put(_steps, {eta: _printed_eta, K: _printed_clip}),
            v ** Rational(7, 6) * m * D / (b * u ** Rational(7, 6) * L ** Rational(1, 12) * sigma_sgd),
            "K and eta put in",
        ),
        assumptions=_positive,
        misprint=Identity(put(_steps, {eta: _printed_eta, K: _printed_clip}), _printed_count, "as printed"),
        remark="""(102) prints [d L log(1/delta)]^(2/3) in the denominator of T, copied from (92). Putting in the
        printed K and eta gives (d log(1/delta))^(7/12) L^(1/12). The powers of epsilon n, mu, D, b and sigma agree.""",
    ),
    Step(
        "liang/appendix_c_3/late_terms",
        "(103): min{T, T'} = T' put into (97)",
        at("C.3", "(103)"),
        Identity(
            put(u**4 * L * eta**2 * K**2 * y**2 / (epsilon * n) ** 4, {y: _domain}),
            u**4 * L * (1 + eta * L) ** 4 * D**4 / (eta**2 * K**2 * epsilon**4),
            "fifth",
        ),
        Identity(
            put(u**2 * eta * K**2 * y / (epsilon * n) ** 2, {y: _domain}),
            u**2 * (1 + eta * L) ** 2 * D**2 / (eta * epsilon**2),
            "sixth",
        ),
        assumptions=_positive,
    ),
    Claim(
        "liang/appendix_c_3/late_rate",
        "(19), (105): eta = D sqrt(b dim chi)/(epsilon sigma) gives sigma D sqrt(dim chi)/(sqrt(b) epsilon)",
        at("C.3", "(104), (105)"),
        Identity(put(_sampling, {eta: _late_eta}), sigma_sgd * D * u / (sqrt(b) * epsilon), "as in (19)"),
        Identity(
            put(u**2 * D**2 / (eta * epsilon**2), {eta: _late_eta}),
            sigma_sgd * D * u / (sqrt(b) * epsilon),
            "noise, eta L small",
        ),
        assumptions=_positive,
        misprint=Identity(
            put(_sampling, {eta: _late_eta}), sigma_sgd * D * u / sqrt(b * epsilon), "sqrt(b epsilon), as (104) prints"
        ),
        remark="""(104) and (105) have epsilon under the root with b, the text's (19) has it outside. The step size
        gives the form of (19). The two agree only at epsilon = 1.""",
    ),
    Step(
        "liang/appendix_c_3/cases",
        "(103): in case (2) the minimum of (97) is T-bar', so the case is T >= T-bar', not T >= T-bar",
        at("C.3", "case (2)"),
        Inequality(Min(T, y), "==", y, (y <= T,), "T >= T-bar'"),
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
        Units(K * D * sqrt(Y_RATE) + FIRST_RATE, _loss, SMOOTH, "(98)"),
        Units(FIRST_RATE + SECOND_RATE + _third_rate, _loss, SMOOTH, "(19) with the second rate of ours"),
        misprint=Units(FIRST_RATE + SECOND_RATE * L ** Rational(1, 4) + _third_rate, _loss, SMOOTH, "(19), as printed"),
        remark="""The second rate of (19), (101) and (105) has L inside the bracket of power 1/4 and so is a loss times
        (gradient/length)^(1/4). Balancing gives it without L, see liang/appendix_c_3/large_noise_repaired. The units
        engine and the derivative agree on that reading.""",
    ),
)
