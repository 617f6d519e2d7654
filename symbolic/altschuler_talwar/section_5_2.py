r"""Section 5.2 of Altschuler & Talwar 2022: cyclic batches, Theorem 5.6.

Theorem 5.6 (5.5): for convex losses, a domain of diameter $D$, batches of $b$ in a fixed order and
$\eta \le 2/M$
$$\varepsilon \lesssim \frac{\alpha L^2}{\sigma^2}\Big(\frac1{b^2}
  + \frac1{n^2}\min\Big\{T, \Big\lceil\frac{Dn}{L\eta}\Big\rceil\Big\}\Big).$$

It holds with the constant 8: the batches are fixed, so the proof conditions on nothing. (5.6) has shifts
$z/w$ throughout, $s$ more from the first visit of $i^*$ on, and another $s r/(r - j + 1)$ after the last
visit.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

# s = 2 eta K/n, r = n/b, j = ceil(i*/b) <= r; z = D + s r, the D tilde of the paper.
_here, _there = (convex("f", L).at(point) for point in (X, Y))
_last = r - j + 1  # steps from the last visit of i* on
_unit = alpha * K**2 / sigma_dp**2
_window = ceiling(D * n / (K * eta))


def _contraction(bound: Expr) -> Inequality:
    return Inequality(P - 2 * eta * Q + eta**2 * R, "<=", P, (R <= L * Q, eta * bound <= 2), "a gradient step")


def _earlier(steps: Expr) -> Expr:
    return _unit * (2 / b**2 + 4 / (b * n) + 2 * steps / n**2)


CLAIMS = (
    Claim(
        "altschuler_talwar/section_5_2/earlier_bound",
        "(5.4): without a diameter RDP with alpha K^2/sigma_DP^2 (2/b^2 + 4/(b n) + 2 T/n^2), for any T and b <= n",
        at("Section 5.2", "(5.4)"),
        RenyiBound("noisy_sgd/cyclic, from 0", _earlier(w), at={w: T}, name="all T steps"),
        assumptions=(alpha > 1, eta * L <= 2, b <= n),
        statement=private(_earlier(T), CyclicBatches(b, n), Convex(L, K), eta * L <= 2, b <= n),
    ),
    Claim(
        "altschuler_talwar/section_5_2/transient",
        "At first there is unavoidably a large loss: one step on the batch of i* costs 2 alpha K^2/(b^2 sigma_DP^2)",
        at("Section 1.2", "Cyclic batch updates; Section 5.2, substantially weaker"),
        Identity(
            renyi((2 * eta * K / b, (eta * sigma_dp) ** 2), (S.Zero, (eta * sigma_dp) ** 2), alpha),
            2 * alpha * K**2 / (b**2 * sigma_dp**2),
            "linear losses, gradients K and -K",
        ),
        Unbounded(1 / b**2, T / n**2, {b: S.One, T: S.One, n: growth, alpha: 2 * S.One}, name="against (1.2)"),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_5_2/theorem_5_6",
        "Theorem 5.6: RDP with 8 alpha K^2/sigma_DP^2 (1/b^2 + min{T, w}/n^2), w = ceil(D n/(K eta))",
        at("Theorem 5.6", "(5.5)"),
        RenyiBound(
            "noisy_sgd/cyclic, from 0", _unit * (6 / b**2 + 2 * w / n**2), at={w: T}, name="all T steps"
        ),
        RenyiBound(
            "noisy_sgd/cyclic, from the domain",
            _unit * (8 / b**2 + 9 * w / (2 * n**2)),
            (D * n <= K * eta * w,),
            at={w: _window, tau: T - _window},
            name="the last w <= T steps",
        ),
        assumptions=(alpha > 1, eta * L <= 2, b <= n),
        statement=private(
            8 * _unit * (1 / b**2 + Min(T, _window) / n**2),
            CyclicBatches(b, n),
            Diameter(D),
            Convex(L, K),
            eta * L <= 2,
            b <= n,
        ),
    ),
    Claim(
        "altschuler_talwar/section_5_2/step_size",
        "Theorem 5.6: the step size is at most 2 over the smoothness",
        at("Theorem 5.6"),
        _contraction(L),
        VectorInequality(
            Norm(_there.image - _here.image) ** 2,
            "<=",
            L * inner(_there.image - _here.image, _there.point - _here.point),
            (_here, _there),
            name="R <= L Q for convex, L-smooth losses on R^d",
        ),
        assumptions=(L > 0, theta > 0),
        letters={P: "|x - y|^2", Q: "<x - y, difference g of the gradients>", R: "|g|^2", theta: "beta"},
        misprint=_contraction(theta),
    ),
    Claim(
        "altschuler_talwar/section_5_2/observation_5_7",
        "Observation 5.7: the auxiliary sequences are at most D + 2 eta K/b apart",
        at("Observation 5.7"),
        replaced_sample(Integer(2)),
        assumptions=(eta * L <= 2,),
        letters=REPLACED_LETTERS,
    ),
    Step(
        "altschuler_talwar/section_5_2/shifts",
        "The shifts end at z_T = 0 and cover each visit of i* before the next",
        at("Section 5.2"),
        Identity(
            (j - 1) * z / w + (w - r) * (z / w + s) + _last * (z / w + s * r / _last), z + w * s, "z_T = 0"
        ),
        Identity(
            z - (j - 1) * z / w + y * s * r - ((y - 1) * r + x) * (z / w + s),
            z * (1 - (j - 1 + (y - 1) * r + x) / w) + s * (r - x),
            "distance x steps after visit y",
        ),
        Inequality(
            S.Zero, "<= and attained", z * (1 - theta / w) + s * (r - x), (theta <= w, x <= r), "not negative"
        ).mutant("a tenth of a step more", sign="<=", given=(10 * theta <= 10 * w + 1, x <= r)),
        Inequality(
            S.Zero,
            "<= and attained",
            z * (1 - theta / w) + s * r * (1 - x / _last),
            (theta <= w, x <= _last),
            "nor after the last visit",
        ),
        assumptions=(j <= r,),
        letters={theta: "steps so far", x: "steps since the last visit", y: "visits so far"},
    ),
    Step(
        "altschuler_talwar/section_5_2/bound",
        "(5.6): shifts that bring the distance from that of the window's start to 0 cost the sum of their squares",
        at("Theorem 5.6", "(5.6)"),
        *windows("known_batches", "convex"),
        assumptions=(eta * L <= 2,),
    ),
    Step(
        "altschuler_talwar/section_5_2/squares",
        "Below (5.6): the squares are at most 2 z^2/w + 2 s^2 (w + r^2)",
        at("Section 5.2"),
        Inequality((x + y) ** 2, "<= and attained", 2 * (x**2 + y**2), name="elementary bound"),
        Identity(
            (j - 1) * 2 * (z / w) ** 2
            + (w - r) * 2 * ((z / w) ** 2 + s**2)
            + _last * 2 * ((z / w) ** 2 + (s * r / _last) ** 2),
            2 * z**2 / w + 2 * s**2 * (w - r) + 2 * (s * r) ** 2 / _last,
            "collected",
        ),
        Asymptotic(2 * s**2 * (w - r) + 2 * (s * r) ** 2 / _last, s**2 * (w + r**2), Integer(2), name="rest"),
        assumptions=(j <= r, r <= w),
    ),
)
