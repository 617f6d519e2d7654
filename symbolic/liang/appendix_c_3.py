r"""C.3 of Liang et al. 2026: the trade-off between privacy and utility with projection.

For $T$, $C$ and $\eta$ as in (97),
$$E[l - l^*] = O\Bigl(\max\Bigl\{\frac{D^2 d L \log(1/\delta)}{\epsilon^2 n^2},\;
\frac{\sigma_{SGD}^{3/2} D^{1/2}}{\mu^{1/2}} \Bigl[\frac{d L \log(1/\delta)}{\epsilon^2 n^2}\Bigr]^{1/4},\;
\frac{\sigma_{SGD} D \sqrt{d \log(1/\delta)}}{\sqrt b\, \epsilon}\Bigr\}\Bigr) \tag{19}$$
in the cases (1.1), (1.2) of $T \le (1 + \eta L)^2 n b D^2/(\eta C)^2$ and small or large $\sigma_{SGD}$, and (2).

The first and third rates are right; the second rate has a factor L^(1/4) that balancing does not give, and
the conditions on the step size are not met. chi = log(1/delta), u^2 = dim chi, v = epsilon n; rho =
(L/m)^(1/4); y = T-bar', with n^2 for n b, and x = T-bar <= y; r is the constant in a Theta().
"""

from lastiterate.symbolic.liang.paper import *

_T = v * D / (eta * K * u)
_X = u**2 * L / v**2
_first, _bias, _sampling = K * D * u / v, sigma_sgd**3 / (m * K), eta * sigma_sgd**2 / b
_small = {eta: b * L ** Rational(3, 2) / m ** Rational(5, 2), K: D * L * u / v}
_small_steps = v**2 * m ** Rational(5, 2) / (b * L ** Rational(5, 2) * u**2)
_large = sigma_sgd ** Rational(3, 2) * sqrt(D / m)
_clip = sigma_sgd ** Rational(3, 2) * sqrt(v / (m * D * u))
_printed_clip = _clip / L ** Rational(1, 4)
_eta = b * sqrt(D / (m * sigma_sgd))
_printed_eta = _eta * _X ** Rational(1, 3)
_late_eta = D * sqrt(b) * u / (epsilon * sigma_sgd)
_positive = (L > 0, epsilon > 0)

_Y = dim * chi / (epsilon * n) ** 2
_rate_1, _rate_2 = D**2 * L * _Y, _large * _Y ** Rational(1, 4)
_rate_3 = sigma_sgd * D * sqrt(dim * chi) / (sqrt(b) * epsilon)
_widest = L ** Rational(3, 2) / m ** Rational(5, 2) * sigma_sgd**2  # of the first rate in case (1.2)
_edge = {L: growth**8, chi: growth**4} | dict.fromkeys((D, m, sigma_sgd, dim, epsilon, n), S.One)

CLAIMS = (
    Claim(
        "liang/appendix_c_3/units",
        "(98), (99), (19): the rates are losses, the second without the L^(1/4) that is printed",
        at("Section 3.2", "(19)"),
        Units(_rate_1 + _rate_2 + _rate_3, G**2, SMOOTH, "(19) with the second rate of ours"),
        misprint=Units(_rate_1 + _rate_2 * L ** Rational(1, 4) + _rate_3, G**2, SMOOTH, "(19), as printed"),
    ),
    Step(
        "liang/appendix_c_3/steps",
        "(98): T = epsilon n D/(eta K sqrt(dim chi)) makes the terms of (97) equal in pairs",
        at("C.3", "(98)"),
        Identity(put(L * D**4 / (eta * K * T) ** 2, {T: _T}), D**2 * L * u**2 / v**2, "first"),
        Identity(put(D**2 / (eta * T), {T: _T}), K * D * u / v, "second"),
        Identity(put(L * u**4 * (eta * K * T) ** 2 / v**4, {T: _T}), D**2 * L * u**2 / v**2, "fifth"),
        Identity(put(u**2 * eta * K**2 * T / v**2, {T: _T}), K * D * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_3/step_size",
        "eta = Theta(b L^(3/2)/m^(5/2)) meets the precondition eta <= 9/(20 L) of Theorem 3.10",
        at("C.3", "case (1.1)"),
        Inequality(
            r * b * rho**10, "<=", Rational(9, 20), (r <= Rational(9, 20),), "eta L, rho^4 = L/m"
        ).mutant("r = 1", left=b * rho**10, given=()),
        assumptions=(rho >= 1,),
    ),
    Ours(
        "liang/appendix_c_3/step_size_repaired",
        "With eta = 9/(20 L) the sampling term stays below the bias term of case 1.1",
        at("C.3", "case (1.1)"),
        Inequality(Rational(9, 20), "<", r * b * rho**10, (r * b > 1,), "no r serves every b"),
        Inequality(
            9 * sigma_sgd**2 / (20 * b), "<=", rho**10 * sigma_sgd**2, name="times L; bias rho^6 sigma^2/m"
        ),
        assumptions=(rho >= 1,),
        repairs="liang/appendix_c_3/step_size",
    ),
    Step(
        "liang/appendix_c_3/small_noise_steps",
        "(100): T = epsilon^2 n^2 m^(5/2)/(b L^(5/2) dim chi) at the K and eta of case 1.1",
        at("C.3", "(100)"),
        Identity(put(_T, _small), _small_steps, "K and eta put in"),
        Identity(put(_first, {K: D * L * u / v}), D**2 * L * u**2 / v**2, "(99)"),
        assumptions=_positive,
        misprint=Identity(
            put(_small_steps, {u: sqrt(dim * chi), v: epsilon * n}),
            epsilon**2 * n**2 * m ** Rational(5, 2) / (b * L ** Rational(3, 2) * chi),
            "as printed",
        ),
    ),
    Step(
        "liang/appendix_c_3/large_noise",
        "(101), (19): the K of case 1.2 gives sigma^(3/2) D^(1/2)/m^(1/2) [dim L chi/(epsilon n)^2]^(1/4), up to r",
        at("C.3", "(101)"),
        Inequality(1 / rho + rho, "<=", r * rho, (r >= 2,), "over the L-free rate; rho here L^(1/4)").mutant(
            "r = 2", right=2 * rho, given=()
        ),
        assumptions=_positive,
    ),
    Ours(
        "liang/appendix_c_3/large_noise_repaired",
        "K = sigma^(3/2) (epsilon n)^(1/2)/(m D)^(1/2)/(dim chi)^(1/4) balances, and the rate has no L",
        at("C.3", "case (1.2)"),
        Identity(put(_first, {K: _clip}), _large * sqrt(u / v), "first term"),
        Identity(put(_bias, {K: _clip}), _large * sqrt(u / v), "second term"),
        Identity(
            put(_first, {K: _printed_clip}), _large * sqrt(u / v) / L ** Rational(1, 4), "printed K, first"
        ),
        Identity(put(_bias, {K: _printed_clip}), _large * _X ** Rational(1, 4), "and second term"),
        Inequality(r * rho, "<", 1 / rho + rho, (r * rho**2 <= 1,), "no r serves (101), rho = L^(1/4)"),
        assumptions=_positive,
        repairs="liang/appendix_c_3/large_noise",
    ),
    Step(
        "liang/appendix_c_3/left_out",
        "(101): in case (1.2) the term D^2 d L log(1/delta)/(epsilon n)^2 of (98) is at most r times the rate",
        at("C.3", "(101)"),
        Asymptotic(
            _rate_1,
            _rate_2 * L ** Rational(1, 4),
            path=_edge,
            given=(m <= L, epsilon > 0, _widest >= _rate_1),
            name="at the edge of the case, L/mu = N^8",
        ).mutant("its root", left=sqrt(_rate_1)),
    ),
    Ours(
        "liang/appendix_c_3/left_out_repaired",
        "Case (1.2): D^2 d L log(1/delta)/(epsilon n)^2 is at most (L/mu)^(11/8) times the rate (101) without L, equal "
        "at the edge of the case, so that no constant serves",
        at("C.3", "(101)"),
        Identity(
            _rate_1,
            _rate_2 * (L / m) ** Rational(11, 8) * (_rate_1 / _widest) ** Rational(3, 4),
            "its share of the largest",
        ),
        Inequality(x ** Rational(3, 4), "<= and attained", S.One, (x <= 1,), "the share", attained=(Eq(x, 1),)),
        Unbounded(_rate_1, _rate_2, _edge, (_widest >= _rate_1,), "at the edge").mutant(
            "log(1/delta) smaller", path=_edge | {L: growth**9, chi: growth**-12}
        ),
        assumptions=(m <= L, epsilon > 0),
        letters={x: "share of the largest term in the case"},
        repairs="liang/appendix_c_3/left_out",
    ),
    Step(
        "liang/appendix_c_3/large_noise_step_size",
        "Case 1.2: eta has the power 1/4, so that eta sigma^2/b is the rate",
        at("C.3", "case (1.2)"),
        Identity(put(_sampling, {eta: _eta * sqrt(u / v)}), _large * sqrt(u / v), "power 1/4"),
        assumptions=_positive,
        misprint=Identity(
            put(_sampling, {eta: _printed_eta}), _large * _X ** Rational(1, 4), "power 1/3, as printed"
        ),
    ),
    Step(
        "liang/appendix_c_3/large_noise_count",
        "(102): T at the printed K and eta has the power 7/12 of dim chi and no power of L but -1/12",
        at("C.3", "(102)"),
        Identity(
            put(_T, {eta: _printed_eta, K: _printed_clip}),
            v ** Rational(7, 6) * m * D / (b * u ** Rational(7, 6) * L ** Rational(1, 12) * sigma_sgd),
            "K and eta put in",
        ),
        assumptions=_positive,
        misprint=Identity(
            put(_T, {eta: _printed_eta, K: _printed_clip}),
            v ** Rational(7, 6) * m * D / (b * (u**2 * L) ** Rational(2, 3) * sigma_sgd),
            "as printed",
        ),
    ),
    Step(
        "liang/appendix_c_3/cases",
        "(103): in case (2) the minimum of (97) is T-bar', so the case is T >= T-bar', not T >= T-bar",
        at("C.3", "case (2)"),
        Inequality(Min(T, y), "==", y, (y <= T,), "T >= T-bar'"),
        assumptions=(x <= y,),
        misprint=Inequality(Min(T, y), "==", y, (x <= T,), "T >= T-bar, as printed"),
    ),
    Step(
        "liang/appendix_c_3/late_terms",
        "(103): min{T, T'} = T' put into (97)",
        at("C.3", "(103)"),
        Identity(
            put(u**4 * L * eta**2 * K**2 * y**2 / (epsilon * n) ** 4, {y: REACH * n / b}),
            u**4 * L * (1 + eta * L) ** 4 * D**4 / (eta**2 * K**2 * epsilon**4),
            "fifth",
        ),
        Identity(
            put(u**2 * eta * K**2 * y / (epsilon * n) ** 2, {y: REACH * n / b}),
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
            "eta L small",
        ),
        assumptions=_positive,
        misprint=Identity(
            put(_sampling, {eta: _late_eta}), sigma_sgd * D * u / sqrt(b * epsilon), "as (104) prints"
        ),
    ),
    Step(
        "liang/appendix_c_3/late_step_size",
        "Case (2): eta = r D sqrt(b d log(1/delta))/(epsilon sigma_SGD) meets eta <= 9/(20 L), for some r",
        at("C.3", "(104)"),
        Asymptotic(
            L * _late_eta,
            S.One,
            path={L: growth} | dict.fromkeys((D, b, u, epsilon, sigma_sgd), S.One),
            given=(epsilon > 0,),
            name="eta L, u^2 = d chi",
        ).mutant("its root", left=sqrt(L * _late_eta)),
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
        assumptions=_positive,
        repairs="liang/appendix_c_3/late_step_size",
    ),
    Step(
        "liang/appendix_c_3/implications",
        "C.3: the bound D^2 d L log(1/delta)/(epsilon n)^2 matches the optimum, 1/mu for D^2, up to r",
        at("C.3", "Implications"),
        Units(_rate_1, L * _Y / m, SMOOTH, "like things"),
        Asymptotic(D**2, 1 / m, path={D: growth, m: S.One}, name="their ratio is mu D^2").mutant("D", left=D),
    ),
    Ours(
        "liang/appendix_c_3/implications_repaired",
        "The bound over the quoted optimum is mu D^2, and equal to it where mu D^2 = 1",
        at("C.3", "Implications"),
        Identity(put(x / y, {x: _rate_1, y: L * _Y / m}), m * D**2, "ratio"),
        Identity(_rate_1, put(L * _Y / m, {m: 1 / D**2}), "at mu = 1/D^2"),
        assumptions=_positive,
        repairs="liang/appendix_c_3/implications",
    ),
)
