"""Forward tracking of W_infinity(W_t, W_t') for batches in a known order.

Statement    W_infinity <= min(D_t, D), D_t = 0 up to the first encounter, s = 2 eta K/b after it, then
             min(g(D; eta L (b - 1)/b) + s, D + 2 eta K) at an encounter and min(g(D; eta L), D + 2 eta K) elsewhere.
Assumptions  gradients (L, lambda)-Hoelder, 0 < lambda <= 1, clipped at K; the same batches and the same noise.
Derivation   At an encounter b - 1 samples drift by their Hoelder constant or by 2 K, and the one that differs adds at
             most 2 K; elsewhere all b samples drift. (29) with b = n and an encounter in every step is (17), sharper.
Source       Chien & Li 2025, Lemma A.2, (28)-(29), and A.11, (105)-(125).
Remark       y stands for z^lambda. (105) prints the noise G'_t in both iterates; that is the coupling chosen at (108).
"""

from sympy import Abs, Expr, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours
from lastiterate.symbolic.holder import g
from lastiterate.symbolic.notation import K, L, b, eta, gamma, kappa, lam, n, xi, y, z, zeta

_s, _cap = 2 * eta * K / b, 2 * eta * K
_apart, _drift, _clipped = Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * y, (Abs(gamma) <= K, Abs(kappa) <= K)
_others = Abs(xi - zeta - eta * (gamma - kappa) * (b - 1) / b)
_all = Abs(xi - zeta - eta * (gamma - kappa))
_met = g(z, eta * L * (b - 1) / b, lam) + _s


def _met_by(bound: Expr, *, clipped: bool = False) -> Inequality:
    given = (_apart, b >= 2, *(_clipped if clipped else (_drift,)))
    return Inequality(
        _others + _s, "<=", bound, given=given, name="clipping" if clipped else "Hoelder"
    )  # fmt: skip


CLAIMS = (
    Claim(
        "chien_li/lemma_a_2",
        "(29), a later encounter: min(z + eta L (b - 1)/b z^lambda + 2 eta K/b, z + 2 eta K)",
        at("Lemma A.2", "(29); A.11, (113)-(125)"),
        _met_by(z + eta * L * (b - 1) / b * y + _s).mutant("drift of one sample", _met_by(z + eta * L * y / b + _s)),
        _met_by(z + _cap, clipped=True).mutant("clipping: eta K", _met_by(z + eta * K, clipped=True)),
        Identity((b - 1) / b * _cap + _s, _cap, "2 K for each of b samples"),
        assumptions=(lam <= 1,),
    ),
    Claim(
        "chien_li/lemma_a_2/not_met",
        "(29), a step that does not meet the sample: min(z + eta L z^lambda, z + 2 eta K)",
        at("Lemma A.2", "(29), otherwise; line 732"),
        Inequality(_all, "<= and attained", z + eta * L * y, given=(_apart, _drift), name="Hoelder").mutant(
            "with (b - 1)/b here too", right=z + eta * L * (b - 1) / b * y, given=(_apart, _drift, b >= 2)
        ),
        Inequality(_all, "<=", z + _cap, given=(_apart, *_clipped), name="clipping"),
    ),
    Claim(
        "chien_li/lemma_a_2/first_encounter",
        "(29), t = t_0 + 1: the first encounter moves equal iterates 2 eta K/b apart, the later case at 0",
        at("Lemma A.2", "(29); A.11, (110)-(112)"),
        Inequality(
            Abs(eta * (gamma - kappa) / b),
            "<= and attained",
            _s,
            given=(*_clipped, b >= 1),
            name="two clipped gradients",
        ),
        Identity(_met.subs(z, 0), _s, "the later case at distance 0").mutant("2 eta K / n", right=2 * eta * K / n),
    ),
    Ours(
        "chien_li/lemma_a_2/sharper",
        "At an encounter z + eta (b - 1)/b min(L z^lambda, 2 K) + 2 eta K/b, never above (29)",
        at("Lemma A.2", "(29)"),
        Inequality(
            _others + _s,
            "<= and attained",
            z + eta * (b - 1) / b * Min(L * y, 2 * K) + _s,
            given=(_apart, _drift, *_clipped, b >= 2),
            name="both at once",
        ),
        Inequality(
            z + eta * (b - 1) / b * Min(L * y, 2 * K) + _s,
            "<=",
            Min(z + eta * L * (b - 1) / b * y + _s, z + _cap),
            name="never above (29)",
        ).mutant("strictly below (29)", sign="<"),
    ),
)
