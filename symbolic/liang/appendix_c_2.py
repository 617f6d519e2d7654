"""C.2, the trade-off of privacy and utility without projection, and the ranges of the parameters that it chooses.

Choose T, then K and eta, put them in, and look at what the conditions then say. chi = log(1/delta); x = sqrt(dim L chi)
and y = epsilon n, so that X = x^2/y^2; u^3 = sigma_SGD and v^3 = X where roots are needed; r is the constant of a
Theta().
"""

from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.prelude import *

_third = Rational(1, 3)
_steps = v / (eta * K * u)
_X = u**2 / v**2
_small_clip = u / v
_written: dict[Symbol, Expr] = {u: sqrt(dim * L * chi), v: epsilon * n}
_large_clip = sigma_sgd ** (4 * _third) * v**_third / u**_third
_slope = Derivative(K * u / v + sigma_sgd**4 / K**2, K)
_large_eta = b / (L * sigma_sgd ** (2 * _third)) * _X**_third
_positive = (L > 0, epsilon > 0)


def _count(clip: Expr, step: Expr) -> Expr:
    return put(_steps, {eta: step, K: clip})


_gap = {**SMOOTH, r: GRADIENT * LENGTH}
_privacy_price = dim * L * chi / (epsilon * n) ** 2
_large = (v <= u**2,)
_count_1 = epsilon**2 * n**2 / (b * dim * chi)
_variance = chi * T / (epsilon * n) ** 2
_count_2 = (epsilon * n) ** Rational(4, 3) * L / (b * (dim * L * chi) ** Rational(2, 3) * sigma_sgd ** Rational(2, 3))
_crowd = {dim: growth**2, b: growth}

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
            "rate",
        ),
        assumptions=(epsilon > 0,),
    ),
    Step(
        "liang/appendix_c_2/steps",
        "(85): T = epsilon n/(eta K sqrt(dim L chi)) makes the terms of (84) equal in pairs",
        at("C.2", "(85)"),
        Identity(put(1 / (eta * K * T) ** 2, {T: _steps}), _X, "first"),
        Identity(put(1 / (eta * T), {T: _steps}), K * u / v, "second"),
        Identity(put(u**4 * (eta * K * T) ** 2 / v**4, {T: _steps}), _X, "fifth"),
        Identity(put(u**2 * eta * T * K**2 / v**2, {T: _steps}), K * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_2/small_noise",
        "(87), (88): K = sqrt(dim L chi)/(epsilon n), eta = b/L give X and T = epsilon^2 n^2/(b dim chi)",
        at("C.2", "(88)"),
        Identity(put(K * u / v, {K: _small_clip}), _X, "(87)"),
        Identity(
            put(_steps, {eta: b / L, K: _small_clip.xreplace(_written), **_written}),
            epsilon**2 * n**2 / (b * dim * chi),
            "(88)",
        ),
        assumptions=_positive,
    ),
    Step(
        "liang/appendix_c_2/step_size",
        "eta = Theta(b/L) meets the precondition eta <= 1/(9 L) of Lemma 3.7, for some constant and every b",
        at("C.2", "below (86)"),
        Inequality(r * b / L, "<=", 1 / (9 * L), (r <= Rational(1, 9),), "constant r <= 1/9").mutant(
            "r = 1", left=b / L, given=()
        ),
        assumptions=(L > 0,),
        remark="""C.2 sets eta = Theta(b/L) after a bound that needs eta <= 1/(9 L). A constant r that serves all batch
        sizes would have to be at most 1/(9 b); r = 1/9 fails already at b = 2. With eta = 1/(9 L) the trade-off
        stands, since eta L sigma^2/b only falls, at b times the steps of (88).""",
    ),
    Ours(
        "liang/appendix_c_2/step_size_repaired",
        "eta = 1/(9 L) meets the precondition, keeps the sampling term below that of b/L, and "
        "takes 9 b times the steps",
        at("C.2", "below (86)"),
        Inequality(sigma_sgd**2 / (9 * b), "<=", sigma_sgd**2, name="eta L sigma^2/b"),
        Inequality(1 / (9 * L), "<", r * b / L, (9 * r * b > 1,), "no r serves every b"),
        Identity(put(_steps, {eta: 1 / (9 * L)}), 9 * b * put(_steps, {eta: b / L}), "steps"),
        assumptions=(L > 0,),
        repairs="liang/appendix_c_2/step_size",
    ),
    Step(
        "liang/appendix_c_2/large_noise",
        "(90)-(92): the best K, and with K of its order the rate sigma^(4/3) X^(1/3), eta and T",
        at("C.2", "(90)"),
        Identity(put(_slope, {K: 2**_third * _large_clip}), Integer(0), "g'(K) = 0").mutant(
            "K itself stationary", left=put(_slope, {K: _large_clip})
        ),
        Inequality(
            3 * z * u / (2 * v),
            "<= and attained",
            K * u / v + sigma_sgd**4 / K**2,
            (z > 0, Eq(u * z**3, 2 * sigma_sgd**4 * v)),
            "no K gives less than that at z",
        ),
        Identity(put(K * u / v, {K: _large_clip}), sigma_sgd ** (4 * _third) * _X**_third, "(90), first term"),
        Identity(put(sigma_sgd**4 / K**2, {K: _large_clip}), sigma_sgd ** (4 * _third) * _X**_third, "(90), second"),
        Identity(put(eta * L * sigma_sgd**2 / b, {eta: _large_eta}), sigma_sgd ** (4 * _third) * _X**_third, "(91)"),
        Identity(
            _count(_large_clip, _large_eta),
            v ** (4 * _third) * L / (b * u ** (4 * _third) * sigma_sgd ** (2 * _third)),
            "(92)",
        ),
        assumptions=_positive,
    ),
    Step(
        "liang/appendix_c_2/squares",
        "(84): the square of (83) is at most six times the sum of the squares of its six terms",
        at("C.2", "(84)"),
        Inequality(
            (x + y + z + u + v + r) ** 2,
            "<= and attained",
            6 * (x**2 + y**2 + z**2 + u**2 + v**2 + r**2),
            name="Cauchy & Schwarz",
        ),
    ),
    Step(
        "liang/appendix_c_2/small_noise_case",
        "(86), (87): where sigma_SGD^2 <= X, the bias and eta L sigma_SGD^2/b at eta L <= b are at most X",
        at("C.2", "(86)"),
        Inequality(
            Min(sigma_sgd**2, sigma_sgd**4 / K**2),
            "<= and attained",
            x,
            (sigma_sgd**2 <= x,),
            "bias, and X in its place",
        ).mutant("97 percent of X", sign="<=", right=Rational(97, 100) * x),
        Inequality(
            eta * L * sigma_sgd**2 / b, "<= and attained", x, (sigma_sgd**2 <= x, eta * L <= b), "sampling"
        ).mutant("eta L <= 2 b", sign="<=", given=(sigma_sgd**2 <= x, eta * L <= 2 * b)),
    ),
    Step(
        "liang/appendix_c_2/large_noise_case",
        "(89), (90): where X <= sigma_SGD^2, X is at most sigma_SGD^(4/3) X^(1/3) and may be left out",
        at("C.2", "(89)"),
        Inequality(v**3, "<= and attained", u**4 * v, _large, "u^3 = sigma_SGD, v^3 = X"),
    ),
    Step(
        "liang/appendix_c_2/large_noise_step_size",
        "(91): eta = r b X^(1/3)/(L sigma_SGD^(2/3)) meets eta <= 1/(9 L), some r, every b",
        at("C.2", "(91)"),
        Inequality(r * b * v / u**2, "<=", Rational(1, 9), _large, "eta L").mutant("b^2", left=r * b**2 * v / u**2),
        Asymptotic(b * v / u**2, Integer(1), path={b: growth, u: Integer(1), v: Integer(1)}, given=_large),
        remark="""(91) makes eta L of the order b (X/sigma_SGD^2)^(1/3), which is b at the edge of the case, while
        Lemma 3.7 needs eta L <= 1/9. z3 finds a point for every constant and the path b = N shows that none serves.
        With the smaller of (91) and 1/(9 L) the rate (90) stands, with more steps than (92).""",
    ),
    Ours(
        "liang/appendix_c_2/large_noise_step_size_repaired",
        "The smaller of (91) and 1/(9 L) keeps the sampling term at most the rate (90)",
        at("C.2", "(91)"),
        Inequality(
            eta * L * u**6 / b, "<= and attained", u**4 * v, (eta * L <= b * v / u**2,), "u^3 = sigma_SGD, v^3 = X"
        ),
        Unbounded(
            b * v / u**2, Integer(1), {b: growth, u: Integer(1), v: Integer(1)}, _large, "(91) is unbounded"
        ).mutant("b bounded", left=v / u**2, path={u: growth, v: Integer(1)}),
        repairs="liang/appendix_c_2/large_noise_step_size",
    ),
    Step(
        "liang/appendix_c_2/privacy_range",
        "(88): at this T the noise meets sigma_DP > 8 C/(b sqrt(beta)), which (81) assumes, for some constant",
        at("C.2", "(88)"),
        Inequality(64 / b**2, "<", r / (b * dim), name="beta <= 1, sigma_DP^2/C^2 = r/(b d)").mutant(
            "1/(b^2 d)", right=r / (b**2 * dim)
        ),
        Asymptotic(64 / b**2, 1 / (b * dim), path=_crowd, name="d = N^2, b = N"),
        remark="""C.2 starts from (81), which assumes sigma_DP > 8 C/(b sqrt(beta)). With T of (88) the noise
        sigma_DP^2/C^2 is of the order 1/(b d), so the assumption says that b is above 64 d times a constant; in high
        dimension it fails. z3 gives a point for each constant, and the path d = b^2 = N^2 refutes all of them. With b
        of the order d the choice is consistent; else only (80), with n b for n^2, may be used.""",
    ),
    Ours(
        "liang/appendix_c_2/privacy_range_repaired",
        "sigma_DP^2/C^2 = chi T/(epsilon n)^2 is 1/(b d) at (88), and above 64/b^2 where b > 64 d",
        at("C.2", "(88)"),
        Identity(put(_variance, {T: _count_1}), 1 / (b * dim), "the noise at (88)"),
        Inequality(64 / b**2, "<", 1 / (b * dim), (b > 64 * dim,), "enough"),
        Identity(
            put(_variance, {T: _count_2}),
            (L * chi / (dim * epsilon * n * sigma_sgd) ** 2) ** _third / b,
            "and at (92)",
        ),
        assumptions=_positive,
        repairs="liang/appendix_c_2/privacy_range",
    ),
    Claim(
        "liang/appendix_c_2/units",
        "(87), (90): with the initial gap in X, X and sigma_SGD^(4/3) X^(1/3) are squares of gradients",
        at("C.2", "(87), (90)"),
        Units(r * _privacy_price, g**2, _gap, "(87) with the gap r"),
        Units(sigma_sgd ** Rational(4, 3) * (r * _privacy_price) ** _third, g**2, _gap, "(90)"),
        Units(b / (L * sigma_sgd ** Rational(2, 3)) * (r * _privacy_price) ** _third, eta, _gap, "(91)"),
        Units(_count_2 * r**_third, Integer(1), _gap, "(92)"),
        Units(_count_1, Integer(1), _gap, "(88)"),
        misprint=Units(_privacy_price, g**2, _gap, "as printed, without the gap"),
        remark="""As (14) leaves out the initial gap, all of C.2 is in units where it is 1: X = d L
        log(1/delta)/(epsilon n)^2 is no square of a gradient. With the gap F_0 in X every rate and choice of C.2 adds
        up. The rates grow with F_0, which the paper does not show.""",
    ),
    Step(
        "liang/appendix_c_2/implications",
        "C.2: the bound X of the small-noise case is of higher order, slightly worse than the optimal sqrt(X)",
        at("C.2", "Implications"),
        Inequality(sqrt(x), "<=", x, (x < 1, x > 0), "where the bound says something").mutant("up to 10", right=10 * x),
        Asymptotic(sqrt(x), x, path={x: 1 / growth**2}, given=(x < 1,), name="many samples, X = 1/N^2"),
        remark="""X = d L log(1/delta)/(epsilon n)^2 is the square of the quoted sqrt(d L log(1/delta))/(epsilon n), so
        for X < 1 it is smaller, not worse. It bounds the square of a gradient norm, the other an excess risk; the two
        cannot be put in order. z3 and the path X = 1/N^2 both refute the order as written.""",
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
