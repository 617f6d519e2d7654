"""Forward tracking of W_infinity(W_t, W_t') for Hoelder continuous gradients.

Statement    D_t = min(g(D_{t-1}; eta L) + 2 eta K / n, D_{t-1} + 2 eta K), D_0 = 0; W_infinity <= min(D_t, D).
Assumptions  gradients (L, lambda)-Hoelder, 0 < lambda <= 1, clipped at K; full batches, same noise.
Derivation   Each update moves two points at most g(z; eta L) apart under one map, and the two maps differ by
             2 eta K / n; or two clipped means differ by 2 K.
Source       Chien & Li 2025, Lemma 3.10, (17), A.10.
Remark       A.10 calls it the full-batch case of Lemma A.2. That case is sharper: with b = n (29) has
             g(D_{t-1}; eta L (n - 1)/n), as the sample that differs is already paid for.
"""

from sympy import Abs, Integer, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.holder import g
from lastiterate.symbolic.notation import K, L, eta, gamma, kappa, lam, n, xi, y, z, zeta

_s, _cap = 2 * eta * K / n, 2 * eta * K
_given = (Abs(gamma - kappa) <= L * y, Abs(xi - zeta) <= z, n >= 2)
_both = Abs(xi - zeta - eta * (gamma - kappa) * (n - 1) / n)
_next = g(z, eta * L, lam) + _s
_special = g(z, eta * L * (n - 1) / n, lam) + _s

CLAIMS = (
    Claim(
        key="chien_li/lemma_3_10",
        title="One step: the distance grows to at most min(g(z; eta L) + 2 eta K / n, z + 2 eta K)",
        source=at(189, "Lemma 3.10", "(17)"),
        assumptions=(lam <= 1,),
        checks=(
            Inequality(
                _both + _s,
                Relation.AT_MOST,
                z + eta * L * y + _s,
                given=_given,
                name="n - 1 common samples, y = z^lambda",
            ),
            Inequality(
                Abs(xi - zeta - eta * (gamma - kappa)),
                Relation.AT_MOST,
                z + _cap,
                given=(Abs(xi - zeta) <= z, Abs(gamma) <= K, Abs(kappa) <= K),
                name="clipping alone",
            ),
            Identity(_next.subs(lam, 1), (1 + eta * L) * z + _s, "lambda = 1 is (7)"),
            Identity(_next.subs(z, 0), _s, "D_1 = 2 eta K / n"),
        ),
        mutants=(
            Mutant(
                "drift of one sample",
                Inequality(_both + _s, Relation.AT_MOST, z + eta * L * y / n + _s, given=_given),
                Engine.INEQUALITY,
            ),
            Mutant(
                "eta forgotten",
                Inequality(_both + _s, Relation.AT_MOST, z + L * y + _s, given=_given),
                Engine.INEQUALITY,
            ),
            Mutant(
                "factor two dropped in the cap",
                Inequality(
                    Abs(xi - zeta - eta * (gamma - kappa)),
                    Relation.AT_MOST,
                    z + eta * K,
                    given=(Abs(xi - zeta) <= z, Abs(gamma) <= K, Abs(kappa) <= K),
                ),
                Engine.INEQUALITY,
            ),
            Mutant("D_1 = 0", Identity(_next.subs(z, 0), Integer(0)), Engine.IDENTITY),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/lemma_3_10/special_case",
        title="(17) follows from the full-batch case of Lemma A.2, which is the smaller",
        source=at(656, "A.10"),
        assumptions=(lam <= 1,),
        checks=(
            Identity(_special, z + eta * L * (n - 1) / n * z**lam + _s, "(29) at b = n"),
            Inequality(
                z + eta * L * (n - 1) / n * y + _s, Relation.AT_MOST, z + eta * L * y + _s, name="never above (17)"
            ),
        ),
        mutants=(
            Mutant("the same recursion", Identity(_special, _next), Engine.IDENTITY),
            Mutant(
                "never below (17)",
                Inequality(z + eta * L * y + _s, Relation.AT_MOST, z + eta * L * (n - 1) / n * y + _s),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/lemma_3_10/sharper",
        title="One step grows the distance to at most z + eta (n - 1)/n min(L z^lambda, 2 K) + 2 eta K / n",
        source=at(189, "Lemma 3.10", "(17)"),
        checks=(
            Inequality(
                _both + _s,
                Relation.TIGHT,
                z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
                given=(*_given, Abs(gamma) <= K, Abs(kappa) <= K),
                name="y = z^lambda",
            ),
            Inequality(
                z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
                Relation.AT_MOST,
                Min(z + eta * L * y + _s, z + _cap),
                name="never above (17)",
            ),
        ),
        mutants=(
            Mutant(
                "cap K",
                Inequality(
                    _both + _s,
                    Relation.AT_MOST,
                    z + eta * (n - 1) / n * Min(L * y, K) + _s,
                    given=(*_given, Abs(gamma) <= K, Abs(kappa) <= K),
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "strictly below (17)",
                Inequality(
                    z + eta * (n - 1) / n * Min(L * y, 2 * K) + _s,
                    Relation.BELOW,
                    Min(z + eta * L * y + _s, z + _cap),
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
)
