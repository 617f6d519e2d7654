"""Layer norm, group norm and RMS norm have bounded derivatives, because of eps.

As in `lastiterate.symbolic.formulas.networks`; xi stands for c, the inner product of u and n.
From three entries on there is a unit u without a mean for each c with c^2 <= |n|^2, so that the bounds are attained.
"""

from lastiterate.symbolic.formulas import networks as formulas
from lastiterate.symbolic.prelude import *

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


_across = (Eq(xi, 0),)
_slope = Inequality(_length(formulas.first(xi, _one)), "<= and attained", _one, _given, "|y'|^2 s^2", _across)
_bend = Inequality(
    _length(formulas.second(xi, _one, _one)), "<= and attained", formulas.greatest_bend() ** 2, _given,
    "|y''|^2 s^4 d", (Eq(xi, sqrt(3) / 3),),
)  # fmt: skip
_worst = Inequality(
    _length(formulas.second(xi, _one, _one)) * (1 - rho) ** 2, "<= and attained", formulas.worst_bend() ** 2, _given,
    "|y''|^2 eps^2 d", (Eq(xi, sqrt(5) / 5), Eq(rho, xi**2)),
)  # fmt: skip
_twist = Inequality(
    _length(formulas.third(xi, _one, _one)), "<= and attained", formulas.twist(_one, Integer(0), _one) ** 2, _given,
    "|y'''|^2 s^6 d^2", _across,
)  # fmt: skip

# The direction u as a vector; what is added on the left is 0, as |u| = 1.
_along, _n = Vector("e"), Vector("n")
_cosine, _short = inner(_along, _n), 1 - Norm(_along) ** 2
_on_the_line = VectorInequality(
    (Norm(sqrt(u) * v * _n + zeta * _along) ** 2 + zeta**2 * _short) / u + v**2 * (1 - Norm(_n) ** 2),
    "==",
    formulas.deviation(zeta, _cosine, v, u) ** 2,
    name="s^2 on the line, eps = s^2 (1 - |n|^2)",
)
_square = VectorInequality(
    Norm(gamma * _along + kappa * _n) ** 2 + gamma**2 * _short,
    "==",
    formulas.squared((gamma, kappa), _cosine, Norm(_n) ** 2),
    name="the square of a length",
)

CLAIMS = (
    Ours(
        "ours/certified/network/normalisation/derivatives",
        "The first three derivatives of z / sqrt(|z|^2 / d + eps) along a line",
        proof("network_constants", "Normalisation"),
        _on_the_line.mutant("1% off", right=_off * _on_the_line.right),
        *_derivatives(),
        letters={u: "number of entries", v: "s", xi: "u . n", zeta: "length along the line", _along: "u"},
    ),
    Ours(
        "ours/certified/network/normalisation/bounds",
        "Layer norm: |y'| <= 1/s, |y''| <= 2/(sqrt(3 d) s^2), 48/(25 sqrt(5 d) eps), |y'''| <= 3/(d s^3); attained",
        proof("network_constants", "Normalisation"),
        _square.mutant("1% off", right=_off * _square.right),
        _slope.mutant("Jacobian 3% smaller", right=Rational(97, 100)),
        _bend.mutant("second derivative 3% smaller", right=Rational(94, 100) * _bend.right),
        _worst.mutant("worst second derivative 3% smaller", right=Rational(94, 100) * _worst.right),
        _twist.mutant("third derivative 3% smaller", right=Rational(94, 100) * _twist.right),
        letters={xi: "u . n", rho: "|n|^2", gamma: "part along u", kappa: "part along n", _along: "u"},
    ),
)
