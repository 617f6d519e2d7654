"""Hoelder continuity: the order one is Lipschitz, and on a bounded domain smaller orders are weaker.

Statement    omega(z) = L z^lambda; lambda = 1 gives L z.
Assumptions  0 < lambda <= 1, L >= 0; for the second claim a domain of diameter D.
Derivation   z = z^(1 - lambda) z^lambda <= D^(1 - lambda) z^lambda for z <= D.
Source       Chien & Li 2025, Definition 2.5 and the remark below it.
"""

from sympy import Integer, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.notation import D, L, lam, u, z

_third = Rational(1, 3)
_modulus = L * z**lam
_unit = {u: (Rational(1, 1000), 1), lam: (Rational(1, 100), 1)}

CLAIMS = (
    Claim(
        key="chien_li/definition_2_5/order_one",
        title="(L, 1)-Hoelder continuous is L-Lipschitz",
        source=at(70, "Definition 2.5"),
        checks=(Identity(_modulus.subs(lam, Integer(1)), L * z, "order one"),),
        mutants=(
            Mutant("order one half", Identity(_modulus.subs(lam, Rational(1, 2)), L * z), Engine.IDENTITY),
            Mutant("order two", Identity(_modulus.subs(lam, Integer(2)), L * z), Engine.IDENTITY),
        ),
    ),
    Claim(
        key="chien_li/definition_2_5/bounded_domain",
        title="On diameter D, L-smooth gradients are (L D^(1 - lambda), lambda)-Hoelder for every lambda",
        source=at(70, "Definition 2.5"),
        checks=(
            Inequality(L * z, Relation.TIGHT, L * D ** (1 - _third) * z**_third, (z <= D,), "lambda = 1/3"),
            Holds(u, Relation.AT_MOST, u**lam, _unit, "every lambda, z = u D, divided by L D"),
        ),
        mutants=(
            Mutant(
                "D^lambda",
                Inequality(L * z, Relation.AT_MOST, L * D**_third * z**_third, (z <= D,)),
                Engine.INEQUALITY,
            ),
            Mutant("same constant", Inequality(L * z, Relation.AT_MOST, L * z**_third, (z <= D,)), Engine.INEQUALITY),
            Mutant("half the constant", Holds(u, Relation.AT_MOST, u**lam / 2, _unit), Engine.ENCLOSURE),
            Mutant("beyond the diameter", Holds(u, Relation.AT_MOST, u**lam, {**_unit, u: (1, 2)}), Engine.ENCLOSURE),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
)
