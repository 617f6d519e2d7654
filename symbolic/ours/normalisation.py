"""Layer norm, group norm and RMS norm have bounded derivatives, because of eps.

As in `lastiterate.symbolic.formulas.networks`; xi stands for c, the inner product of u and n.
"""

from sympy import Derivative, Expr, Integer, Rational, Subs

from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.formulas import networks as formulas
from lastiterate.symbolic.letters import rho, u, v, xi, zeta
from lastiterate.symbolic.papers import proof

_one = Integer(1)
_off = Rational(101, 100)
_given = (xi**2 <= rho, rho <= 1)


def _derivatives() -> tuple[Identity, ...]:
    """The first three derivatives of y along z + t u at t = 0, in u and in n."""
    line = formulas.along(zeta, xi, v, u)
    stated = formulas.first(xi, v), formulas.second(xi, v, u), formulas.third(xi, v, u)
    found = []
    for order, pair in enumerate(stated, start=1):
        for part, vector in enumerate("un"):
            left = Subs(Derivative(line[part], (zeta, order)), zeta, 0)
            check = Identity(left, pair[part], f"derivative {order}, its part along {vector}")
            found.append(check.mutant(f"1% off, {order} {vector}", right=_off * pair[part]))
    return tuple(found)


def _length(pair: tuple[Expr, Expr]) -> Expr:
    return formulas.squared(pair, xi, rho)


_bend = Inequality(
    _length(formulas.second(xi, _one, _one)), "<= and attained", formulas.greatest_bend() ** 2, given=_given,
    name="|y''|^2 s^4 d",
)  # fmt: skip
_worst = Inequality(
    _length(formulas.second(xi, _one, _one)) * (1 - rho) ** 2, "<= and attained", formulas.worst_bend() ** 2,
    given=_given, name="|y''|^2 eps^2 d",
)  # fmt: skip
_twist = Inequality(
    _length(formulas.third(xi, _one, _one)), "<=", formulas.twist(_one, Integer(0), _one) ** 2, given=_given,
    name="|y'''|^2 s^6 d^2",
)  # fmt: skip
_slope = Inequality(_length(formulas.first(xi, _one)), "<=", _one, given=_given, name="|y'|^2 s^2")

CLAIMS = (
    Ours(
        "ours/certified/network/normalisation/derivatives",
        "The first three derivatives of z / sqrt(|z|^2 / d + eps) along a line",
        proof("network_constants", "Normalisation"),
        *_derivatives(),
        letters={u: "number of entries", v: "s", xi: "u . n", zeta: "length along the line"},
    ),
    Ours(
        "ours/certified/network/normalisation/bounds",
        "Layer norm's Jacobian is at most 1/s, its second and third derivatives 2 / (sqrt(3 d) s^2) and 3 / (d s^3)",
        proof("network_constants", "Normalisation"),
        _slope.mutant("Jacobian 3% smaller", right=Rational(97, 100)),
        _bend.mutant("second derivative 3% smaller", right=Rational(94, 100) * _bend.right),
        _worst.mutant("worst second derivative 3% smaller", right=Rational(94, 100) * _worst.right),
        _twist.mutant("third derivative 3% smaller", right=Rational(94, 100) * _twist.right),
        letters={xi: "u . n", rho: "|n|^2"},
    ),
)
