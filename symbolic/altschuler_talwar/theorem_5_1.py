r"""Theorem 5.1 of Altschuler & Talwar 2022: strongly convex losses.

Like Theorem 3.1, for $m$-strongly convex losses, $\kappa = M/m$ and $\eta = 2/(M + m)$:
$$\varepsilon \lesssim \frac{\alpha L^2}{n^2\sigma^2}\min\{T, \bar T\},\quad
  \bar T = \tilde O(\kappa) = \lceil\kappa\rceil\max\{1, \lceil\log_3(Dn/(L\eta))\rceil\}. \qquad(5.1)$$

It holds with the constant 101, by composition or by a window. The rate below (5.3) is checked at
$\lceil\kappa y/2\rceil$ steps.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_unit = alpha * K**2 / (n**2 * sigma_dp**2)
_whole = ceiling(L / m)
_steps = _whole * Max(1, ceiling(log(D * n / (K * eta)) / log(3)))
_chosen = {w: _steps, tau: T - _steps, c: exp(-2 / _whole), y: 1 / _whole}
_long = (c * (L + m) >= L - m, c**w * D * n <= K * eta)
_window = (y >= 1, 2 * w <= r * y + 2, q <= 1)  # of w = ceil(r y/2)

_noise, _ones, _far, _sum = Symbol("Z"), Vector("1"), Vector("g"), Vector("z")
_drift = Function("x", nonnegative=True)  # length of the sum of the gradient steps so far


def _moment(power: int) -> Expr:
    return gaussian_mean(*([[Transposed(_noise), _noise]] * power), entries={_noise: (dim, S.One, sigma_dp**2)})


CLAIMS = (
    Claim(
        "altschuler_talwar/section_5_1/theorem_5_1",
        "Theorem 5.1: RDP, 101 alpha K^2/(n sigma_DP)^2 min{T, w}, w = ceil(kappa) max(1, ceil(log_3(D n/(K eta))))",
        at("Theorem 5.1", "(5.1)"),
        RenyiBound("noisy_sgd/composition", 32 * _unit * T, SMALL, by=Sampled.TWICE, name="any T, b < n/5"),
        RenyiBound(
            "noisy_sgd/strongly convex",
            33 * _unit * w,
            (*SMALL, *_long),
            by=Sampled.TWICE,
            at=_chosen,
            name="w <= T, b < n/5",
        ),
        RenyiBound("noisy_sgd/composition", 100 * _unit * T, (5 * b >= n,), name="any T, b >= n/5"),
        RenyiBound(
            "noisy_sgd/strongly convex",
            101 * _unit * w,
            (5 * b >= n, *_long),
            at=_chosen,
            name="w <= T, b >= n/5",
        ),
        IntervalInequality(1 - y, "<=", exp(-2 * y) * (1 + y), {y: (0, oo)}, "factor of a step"),
        letters={w: "a window of at most T steps with c^w D n <= K eta", y: "1/ceil(kappa)"},
        assumptions=(alpha > 1, b <= n, m <= L, Eq(eta, 2 / (L + m)), sigma_dp > 8 * sqrt(2) * K / b),
        statement=private(
            101 * _unit * Min(T, _steps), *PRINTED, StronglyConvex(m, L, K), Eq(eta, 2 / (L + m))
        ),
    ),
    Step(
        "altschuler_talwar/section_5_1/effective_diameter",
        "Without a domain the iterates move by O(T eta (K + sigma_DP)) with high probability",
        at("Section 5.1"),
        Expected(_moment(2) - _moment(1) ** 2, "==", 2 * dim * sigma_dp**4, name="variance of |Z|^2, one step"),
        Identity(
            put(x / y**2, {x: 2 * dim * sigma_dp**4, y: dim * sigma_dp**2 / 2}),
            8 / dim,
            "Chebyshev: probability that |Z|^2 is at most half its mean",
        ),
        Asymptotic(
            sqrt(dim / 2) * sigma_dp,
            T * (K + sigma_dp),
            path={T: S.One, dim: growth, K: S.One, sigma_dp: S.One},
            name="that length, T = 1",
        ).mutant("T^2", right=T**2 * (K + sigma_dp)),
    ),
    Ours(
        "altschuler_talwar/section_5_1/effective_diameter_repaired",
        "Without a domain T steps move the iterate by T eta (K + sigma_DP sqrt(d)) at most in the root mean square",
        at("Section 5.1"),
        Induction(
            t,
            Le(_drift(t), t * eta * K),
            begin(_drift),
            (Le(_drift(t + 1), _drift(t) + eta * K),),
            name="drift",
        ),
        Expected(
            gaussian_mean(
                [Transposed(_ones), _noise, Transposed(_noise), _ones], entries={_noise: (T, dim, r**2)}
            ),
            "==",
            dim * r**2 * T,
            (Eq(Norm(_ones) ** 2, T),),
            name="mean square of the sum of T noises, each N(0, r^2) in d coordinates; r = eta sigma_DP",
        ),
        NormBound(
            _far + _sum,
            T * eta * (K + sigma_dp * sqrt(dim)),
            (Norm(_far) <= T * eta * K, Norm(_sum) <= eta * sigma_dp * sqrt(dim * T)),
            "drift and noise",
        ),
        repairs="altschuler_talwar/section_5_1/effective_diameter",
        letters={
            _ones: "T ones, so that its square is T",
            _far: "sum of gradient steps",
            _sum: "sum of the noises",
        },
    ),
    Step(
        "altschuler_talwar/section_5_1/rate",
        "Below (5.3): at ceil(kappa y/2) < T it is <= 5/2 S kappa y, y = log(alpha D^2/(eta^2 sigma_1^2 S kappa)) >= 1",
        at("Section 5.1"),
        Inequality((r - 1) / (r + 1), "<= and attained", 1 - 1 / r, name="c <= 1 - 1/kappa"),
        IntervalInequality(1 - z, "<=", exp(-z), {z: (0, 1)}, "1 - 1/kappa <= exp(-1/kappa), z = 1/kappa"),
        Inequality(
            2 * w * xi + y, "<=", S.Zero, (xi <= -1 / r, 2 * w >= r * y), "c^(2 w) e^y <= 1, xi = log c"
        ),
        Identity(
            put(p * alpha * D**2 / (2 * eta**2 * sigma**2 * v), {alpha: u * eta**2 * sigma**2 * v * r / D**2}),
            p * u * r / 2,
            "last term of (5.3) over S = v, p = c^(2 w), y = log u",
        ),
        Inequality(
            w + 1 + q * r / 2, "<= and attained", Rational(5, 2) * r * y, _window, "(5.3) over S, q = p u"
        ),
        assumptions=(r >= 1, z <= 1),
        letters={r: "condition number kappa", w: "window, T - tau - 1"},
    ),
)
