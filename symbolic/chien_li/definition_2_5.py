"""Hoelder continuity: the order one is Lipschitz, and on a bounded domain smaller orders are weaker.

Statement    omega(z) = L z^lambda; lambda = 1 gives L z.
Assumptions  0 < lambda <= 1, L >= 0; for the second claim a domain of diameter D.
Derivation   z = z^(1 - lambda) z^lambda <= D^(1 - lambda) z^lambda for z <= D.
Source       Chien & Li 2025, Definition 2.5 and the remark below it.
"""

from sympy import Integer, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours
from lastiterate.symbolic.notation import D, L, lam, u, z

_third = Rational(1, 3)
_modulus = L * z**lam
_unit = {u: (Rational(1, 1000), 1), lam: (Rational(1, 100), 1)}

CLAIMS = (
    Claim(
        "chien_li/definition_2_5/order_one",
        "(L, 1)-Hoelder continuous is L-Lipschitz",
        at("Definition 2.5"),
        Identity(_modulus.subs(lam, Integer(1)), L * z, "order one"),
    ),
    Ours(
        "chien_li/definition_2_5/bounded_domain",
        "On diameter D, L-smooth gradients are (L D^(1 - lambda), lambda)-Hoelder for every lambda",
        at("Definition 2.5"),
        Inequality(L * z, "<= and attained", L * D ** (1 - _third) * z**_third, (z <= D,), "lambda = 1/3"),
        IntervalInequality(u, "<=", u**lam, _unit, "every lambda, z = u D, divided by L D")
        .mutant("half the constant", right=u**lam / 2)
        .mutant("beyond the diameter", box={**_unit, u: (1, 2)}),
    ),
)
