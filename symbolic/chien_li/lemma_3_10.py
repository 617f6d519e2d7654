"""Forward tracking of W_infinity(W_t, W_t') for Hoelder continuous gradients.

Statement    D_t = min(g(D_{t-1}; eta L) + 2 eta K / n, D_{t-1} + 2 eta K), D_0 = 0; W_infinity <= min(D_t, D).
Assumptions  gradients (L, lambda)-Hoelder, 0 < lambda <= 1, clipped at K; full batches, same noise.
Derivation   Each update moves two points at most g(z; eta L) apart under one map, and the two maps differ by
             2 eta K / n; or two clipped means differ by 2 K.
Source       Chien & Li 2025, Lemma 3.10, (17), A.10.
Remark       A.10 calls it the full-batch case of Lemma A.2. That case is sharper: with b = n (29) has
             g(D_{t-1}; eta L (n - 1)/n), as the sample that differs is already paid for.
"""

from sympy import Abs, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step
from lastiterate.symbolic.holder import g
from lastiterate.symbolic.notation import K, L, eta, gamma, kappa, lam, n, xi, y, z, zeta

_s, _cap = 2 * eta * K / n, 2 * eta * K
_given = (Abs(gamma - kappa) <= L * y, Abs(xi - zeta) <= z, n >= 2)
_both = Abs(xi - zeta - eta * (gamma - kappa) * (n - 1) / n)
_next = g(z, eta * L, lam) + _s
_special = g(z, eta * L * (n - 1) / n, lam) + _s

CLAIMS = (
    Claim(
        "chien_li/lemma_3_10",
        "One step: the distance grows to at most min(g(z; eta L) + 2 eta K / n, z + 2 eta K)",
        at("Lemma 3.10", "(17)"),
        Inequality(
            _both + _s,
            "<=",
            z + eta * L * y + _s,
            given=_given,
            name="n - 1 common samples, y = z^lambda",
        )
        .mutant("drift of one sample", right=z + eta * L * y / n + _s)
        .mutant("eta forgotten", right=z + L * y + _s),
        Inequality(
            Abs(xi - zeta - eta * (gamma - kappa)),
            "<= and attained",
            z + _cap,
            given=(Abs(xi - zeta) <= z, Abs(gamma) <= K, Abs(kappa) <= K),
            name="clipping alone",
        ),
        Identity(_next.subs(lam, 1), (1 + eta * L) * z + _s, "lambda = 1 is (7)"),
        Identity(_next.subs(z, 0), _s, "D_1 = 2 eta K / n"),
        assumptions=(lam <= 1,),
    ),
    Step(
        "chien_li/lemma_3_10/special_case",
        "(17) follows from the full-batch case of Lemma A.2, which is the smaller",
        at("A.10"),
        Identity(_special, z + eta * L * (n - 1) / n * z**lam + _s, "(29) at b = n"),
        Inequality(z + eta * L * (n - 1) / n * y + _s, "<=", z + eta * L * y + _s, name="never above (17)").mutant(
            "never below (17)", left=z + eta * L * y + _s, right=z + eta * L * (n - 1) / n * y + _s
        ),
        assumptions=(lam <= 1,),
    ),
    Ours(
        "chien_li/lemma_3_10/sharper",
        "One step grows the distance to at most z + eta (n - 1)/n min(L z^lambda, 2 K) + 2 eta K / n",
        at("Lemma 3.10", "(17)"),
        Inequality(
            _both + _s,
            "<= and attained",
            z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
            given=(*_given, Abs(gamma) <= K, Abs(kappa) <= K),
            name="y = z^lambda",
        ),
        Inequality(
            z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
            "<=",
            Min(z + eta * L * y + _s, z + _cap),
            name="never above (17)",
        ).mutant("strictly below (17)", sign="<"),
    ),
)
