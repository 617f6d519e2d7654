"""Forward tracking of W_infinity(W_t, W_t') for a Lipschitz update.

Statement    W_infinity(W_t, W_t') <= min(D_t, D), D_t = min(c D_{t-1} + 2 eta K / n, D_{t-1} + 2 eta K), D_0 = 0.
Assumptions  per-sample updates c-Lipschitz; gradients clipped at K; same noise in both runs.
Derivation   n - 1 samples move both runs by the same map, one by two maps that differ by 2 eta K, (81)-(90);
             or no map at all: two clipped means differ by 2 K.
Source       Chien & Li 2025, Lemma 3.5, (7), A.7.
Remark       Theorem 3.1 uses a closed form instead: `lemma_3_5_closed_form`. Sharper than the recursion: the sample
             that differs is paid with 2 eta K / n alone, so its share of the expansion need not be paid again
             (`sharper`).
"""

from sympy import Abs, Max, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.notation import PREVIOUS, D, K, L, c, eta, gamma, kappa, n, s, x, xi, z, zeta

_s = 2 * eta * K / n
_cap = 2 * eta * K
_clipped = (Abs(gamma) <= K, Abs(kappa) <= K)

CLAIMS = (
    Claim(
        key="chien_li/lemma_3_5/contraction_part",
        title="n - 1 common samples and one that differs expand a distance x to c x + 2 eta K / n",
        source=at(600, "Lemma 3.5", "(82)-(90)"),
        checks=(
            Identity((n - 1) / n * c * x + (c * x + _cap) / n, c * x + _s, "(85) and (89) add to (90)"),
            Inequality(
                Abs(xi - zeta - eta * (gamma - kappa)),
                Relation.AT_MOST,
                Abs(xi - zeta) + _cap,
                given=_clipped,
                name="the sample that differs",
            ),
        ),
        mutants=(
            Mutant(
                "the sample that differs not averaged",
                Identity((n - 1) / n * c * x + c * x + _cap / n, c * x + _s),
                Engine.IDENTITY,
            ),
            Mutant(
                "factor two dropped",
                Inequality(
                    Abs(xi - zeta - eta * (gamma - kappa)),
                    Relation.AT_MOST,
                    Abs(xi - zeta) + eta * K,
                    given=_clipped,
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "its expansion forgotten",
                Identity((n - 1) / n * c * x + _cap / n, c * x + _s),
                Engine.IDENTITY,
            ),
        ),
        relation=Relation.AT_MOST,
        repairs="chien_li/lemma_3_5/randomness",
    ),
    Claim(
        key="chien_li/lemma_3_5/projection",
        title="(81): the distance after the projection",
        source=at(569, "A.7", "(81)"),
        checks=(
            Inequality(
                Abs(Max(-D / 2, Min(D / 2, xi)) - Max(-D / 2, Min(D / 2, zeta))),
                Relation.AT_MOST,
                Abs(xi - zeta),
                name="at most",
            ),
        ),
        misprint=Inequality(
            Abs(Max(-D / 2, Min(D / 2, xi)) - Max(-D / 2, Min(D / 2, zeta))),
            Relation.EQUAL,
            Abs(xi - zeta),
            name="equal, as printed",
        ),
        mutants=(
            Mutant(
                "never shorter",
                Inequality(
                    Abs(xi - zeta),
                    Relation.AT_MOST,
                    Abs(Max(-D / 2, Min(D / 2, xi)) - Max(-D / 2, Min(D / 2, zeta))),
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The first line of the proof sets the distance of the iterates equal to that before the projection. "
            "Two points outside the domain may project to one, so the two are not equal. The projection is "
            "1-Lipschitz, so 'at most' is meant and suffices."
        ),
    ),
    Claim(
        key="chien_li/lemma_3_5/randomness",
        title="Under the coupling G = G' the difference of the runs does not depend on the noise",
        source=at(567, "A.7", "Under this coupling"),
        assumptions=(eta < 1,),
        checks=(
            Identity(
                x + zeta - eta * (x + zeta) ** 2 - (xi + x - eta * (xi + x) ** 2),
                zeta - eta * zeta**2 - (xi - eta * xi**2),
                "second difference with noise x, and without",
            ),
        ),
        mutants=(
            Mutant(
                "noise counted once",
                Identity(x + zeta - eta * (x + zeta) ** 2 - (xi - eta * xi**2), zeta - xi),
                Engine.IDENTITY,
            ),
        ),
        role=Role.STEP,
        remark=(
            "The proof says that the only randomness left is the initialization. With the curved loss x^3/3 the "
            "next difference depends on the noise that both runs share. Nothing breaks: the essential supremum "
            "is to be taken over the noise too, and (90) bounds it path by path."
        ),
    ),
    Claim(
        key="chien_li/lemma_3_5/identification",
        title="(90) with D_{t-1} = ess sup |W_{t-1} - W'_{t-1}| is the recursion (7)",
        source=at(602, "A.7", "below (90)"),
        checks=(Identity(c * x + s, (c * PREVIOUS + s).subs(PREVIOUS, x), "D_{t-1} = x"),),
        misprint=Identity(c * x + s, (c * PREVIOUS + s).subs(PREVIOUS, c * x), name="D_{t-1} = c x, as printed"),
        mutants=(Mutant("no expansion", Identity(c * x + s, (PREVIOUS + s).subs(PREVIOUS, x)), Engine.IDENTITY),),
        role=Role.STEP,
        remark=(
            "D_{t-1} is printed as ess sup c |W_{t-1} - W'_{t-1}|, but D_t as ess sup |W_t - W'_t|. With a "
            "factor c inside, (90) reads D_t = D_{t-1} + s, which is not (7) and depends on the index. The c "
            "belongs to the recursion, not to the definition."
        ),
    ),
    Claim(
        key="chien_li/lemma_3_5/sharper",
        title="One update expands z to z + eta L (n - 1)/n z + 2 eta K / n, less than c z + 2 eta K / n",
        source=at(602, "Lemma 3.5", "(82)-(90)"),
        checks=(
            Identity(
                (n - 1) / n * (1 + eta * L) * z + (z + _cap) / n,
                z + eta * L * (n - 1) / n * z + _s,
                "only n - 1 samples expand",
            ),
            Inequality(
                z + eta * L * (n - 1) / n * z + _s, Relation.AT_MOST, (1 + eta * L) * z + _s, name="never larger"
            ),
        ),
        mutants=(
            Mutant(
                "nothing expands",
                Identity((n - 1) / n * (1 + eta * L) * z + (z + _cap) / n, z + _s),
                Engine.IDENTITY,
            ),
            Mutant(
                "one sample expands",
                Identity((n - 1) / n * (1 + eta * L) * z + (z + _cap) / n, z + eta * L * z / n + _s),
                Engine.IDENTITY,
            ),
            Mutant(
                "never smaller",
                Inequality((1 + eta * L) * z + _s, Relation.AT_MOST, z + eta * L * (n - 1) / n * z + _s),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.AT_MOST,
    ),
)
