r"""Theorem 3.10, Propositions 3.12 and C.3 of Liang et al. 2026: utility with projection, strongly convex losses.

$$\min_t E \sqrt{l(\theta_t) - l^*} = O\Bigl(\frac{\sqrt L D^2}{\eta C T} + \frac{D}{\sqrt{\eta T}}
+ \min\Bigl\{\frac{L^{3/4}}{\mu^{5/4}} \sigma_{SGD}, \sqrt{\frac{\sigma_{SGD}^3}{\mu C}}\Bigr\}
+ \sqrt{\tfrac{\eta}{b}} \sigma_{SGD} + \tfrac{d \eta \sqrt L}{C} \sigma_{DP}^2
+ \sqrt{d \eta} \sigma_{DP}\Bigr) \tag{17}$$
$$\eta \le \frac{9}{20 L}, \qquad \sigma_{DP}^2 = O\Bigl(\frac{\alpha C^2}{\epsilon n b}
\min\Bigl\{T, \frac{(1 + \eta L)^2 n b D^2}{\eta^2 C^2}\Bigr\}\Bigr) \tag{3.12}$$

The proof, C.1, does not show (17): its cases bound the mean of the minimum along a path. A bound on that mean
is proved instead. x stands for min{T, T-bar}.
"""

from lastiterate.symbolic import families
from lastiterate.symbolic.liang.paper import *

_bias = Min(L ** Rational(3, 4) / m ** Rational(5, 4) * sigma_sgd, sqrt(sigma_sgd**3 / (m * K)))
_fifth, _sixth = dim * eta * sigma_dp**2 * sqrt(L) / K, sqrt(dim * eta) * sigma_dp
_first = sqrt(L) * D**2 / (eta * K * T) + D / sqrt(eta * T)
_rate = _first + _bias + sqrt(eta) * sigma_sgd / sqrt(b) + _fifth + _sixth

LEAST_MEAN = Inequality(
    Min((x + y) / 2, (u + v) / 2), "<=", (Min(x, u) + Min(y, v)) / 2, name="two paths, two times"
).mutant("up to 100", right=100 * (Min(x, u) + Min(y, v)) / 2)
"""The step of (79) that fails, for two paths that are good at different times."""

# Of all paths: E|theta_t - theta*|^2, the means of step t on paths of either kind, and their sums over the steps.
_distance, _one, _two, _ones, _twos = (Function(name, nonnegative=True) for name in ("e", "x", "y", "X", "Y"))
# Of one path: G at step t, whether it is of the first kind, and over the steps their numbers, the sums of G and of G^2.
_root, _kind, _number, _others, _roots, _squares = (
    Function(k, nonnegative=True) for k in ("G", "k", "N", "O", "S", "Q")
)
# Of the paths: probability, least, and the two parts that bound it; the means of these, and of the second's square.
_chance, _least, _part, _other, _chances, _least_mean, _part_mean, _other_mean, _other_square = (
    Function(name, nonnegative=True) for name in ("P", "m", "x", "z", "C", "M", "X", "Z", "R")
)


def _at(term: Expr, variance: Expr) -> Expr:
    return put(term, {sigma_dp: sqrt(variance)})


_later = alpha * K**2 / (epsilon * n * b) * x
_stronger = alpha * K**2 / (epsilon * n**2) * x
_chosen = _stronger.subs(alpha, 8 * chi / epsilon)
_hidden = (1 + eta * L) ** 2 * D**2 / eta**2 + K**2 / (n * b)
_earlier = alpha / epsilon * _hidden

CLAIMS = (
    Step(
        "liang/theorem_3_10",
        "(17): the least mean root of the gap, by cases that bound the mean of the least along a path",
        at("Theorem 3.10", "(17)"),
        LEAST_MEAN,
        statement=closed(
            LeastOver(Expectation(sqrt(Function("gap")(t))), Tuple(t, 0, T)) <= Constant(_rate),
            Smooth(L),
            families.StronglyConvex(Symbol("l"), m),
            Variance(sigma_sgd**2),
            Clipped(K),
            Diameter(D),
            InSet(Symbol("theta*"), Symbol("int X")),
            20 * eta * L <= 9,
        ),
        letters={Symbol("l"): "the population risk", Symbol("theta*"): "its minimiser"},
    ),
    Claim(
        "liang/theorem_3_10/units",
        "(17), (79): the six terms add, and are roots of a loss",
        at("Theorem 3.10", "(17)"),
        Units(_rate, G, SMOOTH, "six terms"),
    ),
    Ours(
        "liang/theorem_3_10/repaired",
        "Steps that lower E|theta - theta*|^2 by u E G on some paths and by v E G^2 on the others, but for z: as in "
        "C.1, E min_t G is at most h/u + sqrt(h/v), h = D^2/(T + 1) + z; h/u + d if paths stop at the first G <= d",
        at("Theorem 3.10", "(17)"),
        Induction(
            t,
            Le(_distance(t) + u * _ones(t) + v * _twos(t), D**2 + t * z),
            (Le(_distance(0), D**2), *begin(_ones, _twos)),
            (
                Le(_distance(t + 1), _distance(t) - u * _one(t) - v * _two(t) + z),
                gains(_ones, _one(t)),
                gains(_twos, _two(t)),
            ),
            name="the steps summed; case 1 has no second kind",
        ),
        Induction(
            t,
            Le(g**2 * _others(t), _squares(t)),
            begin(_number, _others, _roots, _squares),
            (
                Le(_kind(t), 1),
                Le(g, _root(t)),
                gains(_number, _kind(t)),
                gains(_others, 1 - _kind(t)),
                gains(_roots, _kind(t) * _root(t)),
                gains(_squares, (1 - _kind(t)) * _root(t) ** 2),
            ),
            (Eq(_number(t) + _others(t), t), Le(g * _number(t), _roots(t))),
            name="a path of steps of either kind, g the least G",
        ),
        Inequality(
            g,
            "<= and attained",
            x + sqrt(y),
            (a * g <= (T + 1) * x, (T + 1 - a) * g**2 <= (T + 1) * y),
            "its least, from the sums over T + 1, a steps of the first kind",
            attained=(Eq(a, T + 1), Eq(g, x), Eq(y, 0)),
        ),
        Inequality(
            g,
            "<= and attained",
            x + d,
            (Or(g <= x, g <= d),),
            "stopped at G <= d",
            attained=(Eq(g, x), Eq(d, 0)),
        ),
        Induction(
            t,
            Le(_least_mean(t), _part_mean(t) + _other_mean(t)),
            begin(_least_mean, _part_mean, _other_mean),
            (
                Le(_least(t), _part(t) + _other(t)),
                gains(_least_mean, _chance(t) * _least(t)),
                gains(_part_mean, _chance(t) * _part(t)),
                gains(_other_mean, _chance(t) * _other(t)),
            ),
            name="any number of paths, each with its probability",
        ),
        mean_square(_other, _chance, _other_mean, _other_square, _chances, name="the mean of a root"),
        Inequality(
            g, "<=", h / u + sqrt(h / v), (g <= x + P, y >= P**2, u * x + v * y <= h), "mean over all paths"
        ),
        Inequality(g, "<= and attained", h / u + d, (g <= x + d, u * x <= h), "and of stopped paths"),
        letters={
            g: "least G, or its mean",
            x: "mean of G over steps of the first kind, or its mean",
            y: "mean of G^2 over steps of the second kind, or its mean",
            P: "E sqrt(y)",
            h: "D^2/(T + 1) + z",
            z: "what the noise of a step adds",
            d: "bound of G in case 1.2",
            a: "number of steps of the first kind",
        },
        repairs="liang/theorem_3_10",
    ),
    Claim(
        "liang/proposition_3_12",
        "(18), (94): sigma_DP^2 = alpha C^2 min{T, T-bar}/(epsilon n b) put into the last two terms of (17)",
        at("Proposition 3.12", "(18)"),
        Identity(_at(_fifth, _later), alpha * dim * eta * K * sqrt(L) / (epsilon * n * b) * x, "fifth term"),
        Identity(_at(_sixth, _later), sqrt(alpha * dim * eta / (epsilon * n * b) * x) * K, "sixth, C outside"),
        assumptions=(L > 0, epsilon > 0),
        misprint=Identity(
            _at(_sixth, _later), sqrt(alpha * dim * eta / (epsilon * n * b) * x * K), "C under the root"
        ),
    ),
    Claim(
        "liang/proposition_3_12/earlier",
        "(22), (23): sigma_DP^2 = alpha/epsilon ((1 + eta L)^2 D^2/eta^2 + C^2/(n b)), or n^2, put into (19)",
        earlier("Corollary 3.12", "(22), (23)"),
        Identity(
            _at(_fifth, _earlier), dim * alpha * eta * sqrt(L) / (epsilon * K) * _hidden, "fifth; (23) is b = n"
        ),
        Identity(_at(_sixth, _earlier), sqrt(dim * alpha * eta / epsilon * _hidden), "sixth"),
        Identity(_earlier, alpha * K**2 / (epsilon * n * b) * (1 + REACH), "1 + T-bar times the rate"),
        assumptions=(L > 0, epsilon > 0),
    ),
    Ours(
        "liang/proposition_3_12/versions",
        "The noise of the later Proposition 3.12 vanishes with D; that of the earlier Corollary 3.12 does not",
        at("Proposition 3.12"),
        Unbounded(1 + y, Min(T, y), {y: 1 / growth, T: S.One}, (y > 0,), "earlier over later, small domains"),
        Inequality(Min(T, 1 + y), "==", 1 + y, (1 + y <= T,), "min{T, 1 + T-bar} late"),
        letters={y: "T-bar; the noise in units of alpha C^2/(epsilon n b)"},
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
    Claim(
        "liang/proposition_c_3",
        "(95), (97): the last two terms of (17) at n^2 for n b, and their squares at alpha/epsilon = 8 chi/epsilon^2",
        at("Proposition C.3", "(95), (97)"),
        Identity(
            _at(_fifth, _stronger), alpha * dim * eta * K * sqrt(L) / (epsilon * n**2) * x, "fifth of (95)"
        ),
        Identity(_at(_sixth, _stronger), sqrt(alpha * dim * eta / epsilon * x) * K / n, "sixth of (95)"),
        Identity(
            _at(_fifth**2, _chosen),
            64 * dim**2 * L * eta**2 * K**2 * chi**2 / (epsilon**4 * n**4) * x**2,
            "fifth, squared",
        ),
        Identity(
            _at(_sixth**2, _chosen), 8 * dim * eta * chi * K**2 / (epsilon**2 * n**2) * x, "sixth of (97)"
        ),
        assumptions=(L > 0, epsilon > 0),
    ),
)
