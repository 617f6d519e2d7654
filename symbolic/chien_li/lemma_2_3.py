"""Post-processing, on finite distributions: merging two atoms never raises the divergence.

Statement    (p + q)^alpha (x + y)^(1 - alpha) <= p^alpha x^(1 - alpha) + q^alpha y^(1 - alpha).
Assumptions  alpha > 1; weights p, q > 0 of the first law, x, y > 0 of the second.
Derivation   With the ratios u = p/x and v = q/y it is Jensen's inequality for the convex t -> t^alpha.
Source       Chien & Li 2025, Lemma 2.3. Every map of finite sets is a chain of such mergers.
"""

# Sympy has no stubs; what pyright infers from its source is wider than what it documents.
# pyright: reportOperatorIssue=false

from sympy import Rational, diff

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, RandomPoints
from lastiterate.symbolic.notation import alpha, p, q, r, u, v
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, Image, RenyiDivergence, closed

# Second law: weights r and v. First law: weights p and q.
_merged = (p + q) ** alpha * (r + v) ** (1 - alpha)
_apart = p**alpha * r ** (1 - alpha) + q**alpha * v ** (1 - alpha)
_box = {p: (Rational(1, 10), 3), q: (Rational(1, 10), 3), r: (Rational(1, 10), 3), v: (Rational(1, 10), 3)}
_mean = q * u + (1 - q)
_jensen_box = {u: (2, 3), q: (Rational(1, 4), Rational(3, 4)), alpha: (2, 3)}

CLAIMS = (
    Claim(
        "chien_li/lemma_2_3",
        "Merging two atoms does not raise the Renyi divergence",
        at("Lemma 2.3"),
        Inequality(_merged.subs(alpha, 2), "<= and attained", _apart.subs(alpha, 2), name="alpha = 2").mutant(
            "divergence grows", left=_apart.subs(alpha, 2), right=_merged.subs(alpha, 2)
        ),
        Identity(diff(u**alpha, u, 2), alpha * (alpha - 1) * u ** (alpha - 2), "t^alpha is convex"),
        IntervalInequality(_mean**alpha, "<", q * u**alpha + 1 - q, _jensen_box, "Jensen, ratios apart").mutant(
            "Jensen turned round", left=q * u**alpha + 1 - q, sign="<=", right=_mean**alpha
        ),
        RandomPoints(_merged, "<=", _apart, {**_box, alpha: (Rational(11, 10), 20)}, "real alpha").mutant(
            "exponent 1 + alpha on the second law", right=p**alpha * r ** (1 + alpha) + q**alpha * v ** (1 - alpha)
        ),
        statement=closed(
            RenyiDivergence(alpha, Image(MAP, FIRST), Image(MAP, SECOND)) <= RenyiDivergence(alpha, FIRST, SECOND),
            alpha > 1,
        ),
        assumptions=(alpha > 1,),
    ),
)
