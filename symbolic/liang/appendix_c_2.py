r"""C.2 of Liang et al. 2026: the trade-off between privacy and utility without projection.

For $T$, $C$ and $\eta$ as in (83) and $X = d L \log(1/\delta)/(\epsilon n)^2$ the least mean square of the gradient is
$$O(X) \text{ where } \sigma_{SGD}^2 \le X \tag{87}, \qquad
O\bigl(\sigma_{SGD}^{4/3} X^{1/3}\bigr) \text{ else}, \tag{90}$$
at $C = \sqrt X$, $\eta = \Theta(b/L)$, $T = \Theta(\epsilon^2 n^2/(b d \log(1/\delta)))$ (88), or
$C = \sigma_{SGD}^{4/3}/X^{1/6}$, $\eta = \Theta(b X^{1/3}/(L \sigma_{SGD}^{2/3}))$ (91) and the T of (92).

If X includes the initial gap, the algebra and the rates hold. The conditions on the step size are not met,
and the T of (88) leaves too little noise if b < 64 d. chi = log(1/delta), u = sqrt(dim L chi), v = epsilon n;
in terms with roots, u^3 = sigma_SGD and v^3 = X.
"""

from lastiterate.symbolic.liang.paper import *

_third = Rational(1, 3)
_X = u**2 / v**2
_T = v / (eta * K * u)
_written: dict[Symbol, Expr] = {u: sqrt(dim * L * chi), v: epsilon * n}
_clip = sigma_sgd ** (4 * _third) * v**_third / u**_third
_eta = b / (L * sigma_sgd ** (2 * _third)) * _X**_third
_rate = sigma_sgd ** (4 * _third) * _X**_third
_positive = (L > 0, epsilon > 0)
_large = (v <= u**2,)
_excess = r * dim * L * chi / (epsilon * n) ** 2  # X with the gap
_variance = chi * T / (epsilon * n) ** 2
_T_88 = epsilon**2 * n**2 / (b * dim * chi)
_T_92 = (epsilon * n) ** (4 * _third) * L / (b * (dim * L * chi * sigma_sgd) ** (2 * _third))

CLAIMS = (
    Claim(
        "liang/appendix_c_2/conversion",
        "(83): alpha = 1 + 2 chi/eps at RDP eps/2 is (eps, delta)-DP; where eps <= 2 chi, alpha/(eps/2) <= 8 chi/eps^2",
        at("C.2", "above (83)"),
        Identity(put(epsilon / 2 + chi / (alpha - 1), {alpha: 1 + 2 * chi / epsilon}), epsilon, "Lemma 2.4"),
        Inequality(
            (1 + 2 * chi / epsilon) / (epsilon / 2),
            "<= and attained",
            8 * chi / epsilon**2,
            (epsilon <= 2 * chi,),
        ),
        assumptions=(epsilon > 0,),
    ),
    Step(
        "liang/appendix_c_2/squares",
        "(84): the square of (83) is at most six times the sum of the squares of its six terms",
        at("C.2", "(84)"),
        Inequality(
            (x + y + z + u + v + r) ** 2, "<= and attained", 6 * (x**2 + y**2 + z**2 + u**2 + v**2 + r**2)
        ),
    ),
    Step(
        "liang/appendix_c_2/steps",
        "(85): T = epsilon n/(eta K sqrt(dim L chi)) makes the terms of (84) equal in pairs",
        at("C.2", "(85)"),
        Identity(put(1 / (eta * K * T) ** 2, {T: _T}), _X, "first"),
        Identity(put(1 / (eta * T), {T: _T}), K * u / v, "second"),
        Identity(put(u**4 * (eta * K * T) ** 2 / v**4, {T: _T}), _X, "fifth"),
        Identity(put(u**2 * eta * T * K**2 / v**2, {T: _T}), K * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_2/small_noise_case",
        "(86), (87): where sigma_SGD^2 <= X, the bias and eta L sigma_SGD^2/b at eta L <= b are at most X",
        at("C.2", "(86)"),
        Inequality(
            Min(sigma_sgd**2, sigma_sgd**4 / K**2), "<= and attained", x, (sigma_sgd**2 <= x,), "bias, x = X"
        ),
        Inequality(
            eta * L * sigma_sgd**2 / b, "<= and attained", x, (sigma_sgd**2 <= x, eta * L <= b), "sampling"
        ),
    ),
    Step(
        "liang/appendix_c_2/step_size",
        "eta = Theta(b/L) meets the precondition eta <= 1/(9 L) of Lemma 3.7, for some constant and every b",
        at("C.2", "below (86)"),
        Inequality(r * b / L, "<=", 1 / (9 * L), (r <= Rational(1, 9),), "constant r <= 1/9").mutant(
            "r = 1", left=b / L, given=()
        ),
        assumptions=(L > 0,),
    ),
    Ours(
        "liang/appendix_c_2/step_size_repaired",
        "eta = 1/(9 L) meets the precondition, keeps the sampling term below that of b/L, and "
        "takes 9 b times the steps",
        at("C.2", "below (86)"),
        Inequality(sigma_sgd**2 / (9 * b), "<=", sigma_sgd**2, name="eta L sigma^2/b"),
        Inequality(1 / (9 * L), "<", r * b / L, (9 * r * b > 1,), "no r serves every b"),
        Identity(put(_T, {eta: 1 / (9 * L)}), 9 * b * put(_T, {eta: b / L}), "steps"),
        assumptions=(L > 0,),
        repairs="liang/appendix_c_2/step_size",
    ),
    Step(
        "liang/appendix_c_2/small_noise",
        "(87), (88): K = sqrt(dim L chi)/(epsilon n), eta = b/L give X and T = epsilon^2 n^2/(b dim chi)",
        at("C.2", "(88)"),
        Identity(put(K * u / v, {K: u / v}), _X, "(87)"),
        Identity(put(_T, {eta: b / L, K: (u / v).xreplace(_written), **_written}), _T_88, "(88)"),
        assumptions=_positive,
    ),
    Step(
        "liang/appendix_c_2/privacy_range",
        "(88): at this T the noise meets sigma_DP > 8 C/(b sqrt(beta)), which (81) assumes, for some constant",
        at("C.2", "(88)"),
        Asymptotic(64 / b**2, 1 / (b * dim), path={dim: growth**2, b: growth}, name="beta <= 1, noise r/(b d)"),
    ),
    Ours(
        "liang/appendix_c_2/privacy_range_repaired",
        "sigma_DP^2/C^2 = chi T/(epsilon n)^2 is 1/(b d) at (88), and above 64/b^2 where b > 64 d",
        at("C.2", "(88)"),
        Identity(put(_variance, {T: _T_88}), 1 / (b * dim), "the noise at (88)"),
        Inequality(64 / b**2, "<", 1 / (b * dim), (b > 64 * dim,), "enough"),
        Inequality(r / (b * dim), "<", 64 / b**2, (r * b < 64 * dim,), "and no r serves"),
        Identity(
            put(_variance, {T: _T_92}), (L * chi / (dim * epsilon * n * sigma_sgd) ** 2) ** _third / b, "(92)"
        ),
        assumptions=_positive,
        repairs="liang/appendix_c_2/privacy_range",
    ),
    Step(
        "liang/appendix_c_2/large_noise_case",
        "(89), (90): where X <= sigma_SGD^2, X is at most sigma_SGD^(4/3) X^(1/3) and may be left out",
        at("C.2", "(89)"),
        Inequality(v**3, "<= and attained", u**4 * v, _large, "u^3 = sigma_SGD, v^3 = X"),
    ),
    Step(
        "liang/appendix_c_2/large_noise",
        "(90)-(92): the best K, and with K of its order the rate sigma^(4/3) X^(1/3), eta and T",
        at("C.2", "(90)"),
        Inequality(
            3 * z * u / (2 * v),
            "<= and attained",
            K * u / v + sigma_sgd**4 / K**2,
            (z > 0, Eq(u * z**3, 2 * sigma_sgd**4 * v)),
            "no K gives less than that at z",
        ),
        Identity(put(K * u / v, {K: _clip}), _rate, "(90), first term"),
        Identity(put(sigma_sgd**4 / K**2, {K: _clip}), _rate, "(90), second"),
        Identity(put(eta * L * sigma_sgd**2 / b, {eta: _eta}), _rate, "(91)"),
        Identity(
            put(_T, {eta: _eta, K: _clip}),
            L * (v / u) ** (4 * _third) / (b * sigma_sgd ** (2 * _third)),
            "(92)",
        ),
        assumptions=_positive,
    ),
    Step(
        "liang/appendix_c_2/large_noise_step_size",
        "(91): eta = r b X^(1/3)/(L sigma_SGD^(2/3)) meets eta <= 1/(9 L), some r, every b",
        at("C.2", "(91)"),
        Asymptotic(
            b * v / u**2, S.One, path={b: growth, u: S.One, v: S.One}, given=_large, name="eta L"
        ).mutant("b^2", left=b**2 * v / u**2),
    ),
    Ours(
        "liang/appendix_c_2/large_noise_step_size_repaired",
        "The smaller of (91) and 1/(9 L) keeps the sampling term at most the rate (90)",
        at("C.2", "(91)"),
        Inequality(eta * L * u**6 / b, "<= and attained", u**4 * v, (eta * L <= b * v / u**2,), "the terms"),
        Inequality(Rational(1, 9), "<", r * b * v / u**2, (9 * r * b > 1, Eq(v, u**2)), "no r serves (91)"),
        repairs="liang/appendix_c_2/large_noise_step_size",
    ),
    Claim(
        "liang/appendix_c_2/units",
        "(87), (90): with the initial gap in X, X and sigma_SGD^(4/3) X^(1/3) are squares of gradients",
        at("C.2", "(87), (90)"),
        Units(_excess, g**2, WITH_GAP, "(87) with the gap r"),
        Units(sigma_sgd ** (4 * _third) * _excess**_third, g**2, WITH_GAP, "(90)"),
        misprint=Units(_excess / r, g**2, WITH_GAP, "as printed, without the gap"),
    ),
    Step(
        "liang/appendix_c_2/implications",
        "C.2: the bound X of the small-noise case is of higher order, slightly worse than the optimal sqrt(X)",
        at("C.2", "Implications"),
        Asymptotic(sqrt(x), x, path={x: 1 / growth**2}, given=(x < 1,), name="many samples, X = 1/N^2").mutant(
            "X^(3/4) for its root", left=x ** Rational(3, 4)
        ),
    ),
    Ours(
        "liang/appendix_c_2/implications_repaired",
        "X is below its root for X < 1 and at least it from 1 on",
        at("C.2", "Implications"),
        Inequality(x, "<", sqrt(x), (x < 1, x > 0), "X < 1"),
        Inequality(sqrt(x), "<= and attained", x, (x >= 1,), "X >= 1"),
        repairs="liang/appendix_c_2/implications",
    ),
)
