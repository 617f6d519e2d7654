r"""Lemmas 3.8 to 3.10 of Chien & Li 2025: Hoelder reduction and tracking.

If $\phi$ is $(L, \lambda)$-Hoelder and $h$ inverts $x + L x^\lambda$,
$$D_\alpha^{(z)}((I + \phi)_\# \mu \| (I + \phi)_\# \nu) \le D_\alpha^{(h(z))}(\mu \| \nu) \tag{16}, \qquad
D_t = \min\{D_{t-1} + \eta L D_{t-1}^\lambda + s,\; D_{t-1} + 2 \eta K\} \tag{17}$$

Both hold, for every pair of laws and any modulus: on each path |X + phi(X) - Y - phi(Y)| <= |X - Y| + L |X -
Y|^lambda, which grows with |X - Y|. For (17), the two maps of an update differ by at most 2 eta K / n, and
two clipped means by at most 2 K.
"""

from lastiterate.symbolic.chien_li.paper import *

_g = hoelder_growth(x, L, lam)
_root = (-L + sqrt(L**2 + 4 * z)) / 2
_met = hoelder_growth(z, eta * L * (b - 1) / b, lam) + sensitivity(b)

CLAIMS = (
    Claim(
        "chien_li/lemma_3_8",
        "I + phi, phi (L, lambda)-Hoelder, brings a shift x = h(z) to x + L x^lambda = z, for every pair of laws",
        at("Lemma 3.8", "(16); (93)-(98)"),
        Deduced(statements.reduction(z + L * z**lam, MAP, alpha > 1, HOELDER), "reduction/hoelder"),
    ),
    Claim(
        "chien_li/lemma_3_9",
        "1)-3): g(0) = 0, g is continuous at 0, grows strictly and without limit, so h is increasing and bijective",
        at("Lemma 3.9", "1)-3)"),
        Identity(put(_g, {x: 0}), S.Zero, "g(0) = 0").mutant("L", right=L),
        Inequality(x + L * a, "<", y + L * d, (x < y, a <= d), "g grows; a = x^lambda, d = y^lambda"),
        Identity(put(x**lam, {x: r ** (1 / lam)}), r, "as small as r is at r^(1/lambda): g is continuous at 0"),
        Inequality(x, "<=", x + L * a, name="g(x) >= x: no limit; a = x^lambda"),
        letters={a: "x^lambda", d: "y^lambda, no less where x <= y"},
    ),
    Step(
        "chien_li/lemma_3_9/derivative",
        "The derivative of x + L x^lambda is 1 + L lambda x^(lambda - 1)",
        at("A.9", "above (103)"),
        Identity(diff(_g, x), 1 + L * lam * x ** (lam - 1), "derivative"),
        assumptions=(x > 0,),
        misprint=Identity(diff(_g, x), 1 + L * x ** (lam - 1), name="without lambda, as printed"),
    ),
    Claim(
        "chien_li/lemma_3_9/half",
        "4): lambda = 1/2, h(z) = ((-L + sqrt(L^2 + 4 z)) / 2)^2",
        at("Lemma 3.9", "4); (104)"),
        Identity(inverse_half(z, L) + L * _root, z, "h + L u = z, u^2 = h"),
        Inequality(S.Zero, "<=", _root, name="u >= 0, so sqrt(h) = u"),
    ),
    Claim(
        "chien_li/lemma_3_10",
        "(17): W_inf(W_t, W_t') <= min(D_t, D) of full batches, for any modulus such as L z^lambda",
        at("Lemma 3.10", "(17)"),
        Tracked("modulus", D_T, "D_t"),
        Tracked("domain", D, "D"),
        letters={D_T: "D_t after T steps"},
    ),
    Step(
        "chien_li/lemma_3_10/special_case",
        "(17) follows from the full-batch case of Lemma A.2, which is the smaller",
        at("A.10"),
        Identity(put(_met, {b: n}), z + eta * L * (n - 1) / n * z**lam + sensitivity(), "(29) at b = n"),
        Inequality(eta * L * (n - 1) / n * y, "<=", eta * L * y, name="never above (17)"),
        assumptions=(lam <= 1,),
    ),
)
