r"""Lemma 3.5 of Chien & Li 2025, forward tracking: full batches, $c$-Lipschitz updates, gradients clipped at $K$.

$$W_\infty(W_t, W_t') \le \min(D_t, D), \qquad
D_t = \min\Bigl(c D_{t-1} + \frac{2 \eta K}{n},\; D_{t-1} + 2 \eta K\Bigr), \quad D_0 = 0 \tag{7}$$

It holds, and the closed form of (3) is never smaller. First branch: n - 1 samples move both runs by the same
map, and one sample by two maps that differ by 2 eta K, (81)-(90). Second branch: two clipped means differ by
at most 2 K. Two sentences of the proof do not follow.
"""

from lastiterate.symbolic.chien_li.paper import *

_u, _v = Vector("u"), Vector("v")
_s, _cap = 2 * eta * K / n, 2 * eta * K
_first, _tracked = (Function(name, nonnegative=True) for name in "uz")
_projected = Abs(Max(-D / 2, Min(D / 2, xi)) - Max(-D / 2, Min(D / 2, zeta)))

CLAIMS = (
    Claim(
        "chien_li/lemma_3_5",
        "(7): W_inf(W_t, W_t') <= min(D_t, D), D_t = min(c D_{t-1} + 2 eta K/n, D_{t-1} + 2 eta K), full batches",
        at("Lemma 3.5", "(7)"),
        Tracked("Lipschitz maps", D_T, "D_t"),
        Tracked("domain", D, "D"),
        letters={D_T: "D_t after T steps"},
    ),
    Step(
        "chien_li/lemma_3_5/projection",
        "(81): the distance after the projection",
        at("A.7", "(81)"),
        Inequality(_projected, "<=", Abs(xi - zeta), name="at most"),
        misprint=Inequality(_projected, "==", Abs(xi - zeta), name="equal, as printed"),
    ),
    Claim(
        "chien_li/lemma_3_5/contraction_part",
        "n - 1 common samples and one that differs expand a distance x to c x + 2 eta K / n",
        at("Lemma 3.5", "(82)-(90)"),
        Identity((n - 1) / n * c * x + (c * x + _cap) / n, c * x + _s, "(85) and (89) add to (90)"),
        NormBound(_u - _v, 2 * K, (Norm(_u) <= K, Norm(_v) <= K), "two clipped gradients"),
        NormBound(_u - eta * _v, x + _cap, (Norm(_u) <= x, Norm(_v) <= 2 * K), "the sample that differs"),
        repairs="chien_li/lemma_3_5/randomness",
    ),
    Step(
        "chien_li/lemma_3_5/each_sample",
        "(84)-(85): where the mean update is c-Lipschitz, so is the update of each sample",
        at("A.7", "(85)"),
        Inequality(
            Abs(xi - eta * gamma),
            "<=",
            c * Abs(xi),
            (Abs(xi - eta * (gamma + kappa) / 2) <= c * Abs(xi),),
            "two samples, whose gradients differ by gamma and kappa over xi",
        ).mutant("up to a factor two", right=2 * c * Abs(xi)),
    ),
    Ours(
        "chien_li/lemma_3_5/through_one_map",
        "|psi(W) - psi'(W')| <= |psi(W) - psi(W')| + |psi(W') - psi'(W')| <= c |W - W'| + 2 eta K/n",
        at("A.7", "(85)"),
        NormBound(_u + _v, c * x + _s, (Norm(_u) <= c * x, Norm(_v) <= _s), "u and v the two differences"),
        repairs="chien_li/lemma_3_5/each_sample",
    ),
    Ours(
        "chien_li/lemma_3_5/sharper",
        "One update expands z to z + eta L (n - 1)/n z + 2 eta K / n, never more than c z + 2 eta K / n",
        at("Lemma 3.5", "(82)-(90)"),
        Identity(
            (n - 1) / n * (1 + eta * L) * z + (z + _cap) / n, z + eta * L * (n - 1) / n * z + _s, "n - 1 expand"
        ),
        Inequality(z + eta * L * (n - 1) / n * z + _s, "<=", (1 + eta * L) * z + _s, name="never larger"),
    ),
    Step(
        "chien_li/lemma_3_5/randomness",
        "Under the coupling G = G' the difference of the runs does not depend on the noise",
        at("A.7", "Under this coupling"),
        Identity(
            x + zeta - eta * (x + zeta) ** 2 - (xi + x - eta * (xi + x) ** 2),
            zeta - eta * zeta**2 - (xi - eta * xi**2),
            "second difference with noise x, and without",
        ),
        assumptions=(eta < 1,),
    ),
    Step(
        "chien_li/lemma_3_5/identification",
        "(90) with D_{t-1} = ess sup |W_{t-1} - W'_{t-1}| is the recursion (7)",
        at("A.7", "below (90)"),
        Identity(c * x + s, put(c * PREVIOUS + s, {PREVIOUS: x}), "D_{t-1} = x"),
        misprint=Identity(
            c * x + s, put(c * PREVIOUS + s, {PREVIOUS: c * x}), name="D_{t-1} = c x, as printed"
        ),
    ),
    Claim(
        "chien_li/lemma_3_5/first_branch",
        "For c <= 1 the minimum in (7) is the first branch",
        at("A.7", "Indeed, when c < 1"),
        Inequality(c * x + _s, "<=", x + _cap, (c <= 1, n >= 1), "c <= 1"),
    ),
    Claim(
        "chien_li/lemma_3_5/threshold",
        "The second branch is smaller exactly when (c - 1) D_{t-1} > 2 eta K (1 - 1/n)",
        at("A.7", "This happens whenever"),
        Inequality(x + _cap, "<", c * x + _s, ((c - 1) * x > _cap * (1 - 1 / n),), "if"),
        Inequality(_cap * (1 - 1 / n), "<", (c - 1) * x, (x + _cap < c * x + _s,), "only if"),
    ),
    Step(
        "chien_li/lemma_3_5/closed_forms",
        "The two branches alone: s (1 - c^t) / (1 - c) and 2 eta K t",
        at("Theorem 3.1", "(3)"),
        Recursion(t, S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c), name="c D + s"),
        Recursion(t, S.Zero, PREVIOUS + _cap, _cap * t, name="D + 2 eta K"),
        assumptions=(Ne(c, 1),),
    ),
    Step(
        "chien_li/lemma_3_5/closed_form_valid",
        "The closed form min(s sum c^t, 2 eta K t) of (3) is never below the recursion (7)",
        at("Theorem 3.1", "(3)"),
        Induction(
            t,
            Le(_tracked(t), Min(_first(t), _cap * t)),
            begin(_first, _tracked),
            (Eq(_tracked(t + 1), Min(c * _tracked(t) + s, _tracked(t) + _cap)), gains(_first, s * c**t)),
            keeps=(Eq(c * _first(t) + s, _first(t) + s * c**t), Le(_tracked(t), _first(t))),
        ),
    ),
)
