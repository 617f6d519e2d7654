"""Blocks of a gradient, for example one a layer: their moduli combine, and when the combination is concave.

x and y are the changes of two blocks, z and d their moduli. W = a r^(2 gamma) + v r^(2 kappa) is the square of the root
for two blocks of any orders gamma and kappa, and m, R the means of the order and of its square with weights in
proportion to the terms of W; each order lies in [p, q], so that R <= (p + q) m - p q. Chien & Li 2025, section 5, leave
this open.
"""

from lastiterate.symbolic.prelude import *

_half = Rational(1, 2)


_first, _second = a * r ** (2 * gamma), v * r ** (2 * kappa)
_sum = _first + _second


# R and m cleared of their denominator: W R = a r^(2 gamma) gamma^2 + ..., W m = a r^(2 gamma) gamma + ...
_mean = _first * gamma + _second * kappa
_square = _first * gamma**2 + _second * kappa**2
_left = r**2 * (2 * _sum * diff(_sum, r, 2) - diff(_sum, r) ** 2)


def _between(low: Expr) -> Inequality:
    """(q - lambda)(lambda - p) >= 0, in the form that is averaged."""
    given = (lam >= low, lam <= q)
    return Inequality(lam**2, "<=", (p + q) * lam - p * q, given=given, name="orders lie between p and q")


def _concave(*given: Boolean, name: str) -> Inequality:
    premises = ((p + q) * m - p * q >= R, p <= m, m <= q, *given)
    return Inequality(2 * R - m**2 - m, "<=", Integer(0), given=premises, name=name)


# Of any number of blocks: weights w, orders l; the sums W, M and R of w, w l and w l^2.
_W, _w = (Function(name, nonnegative=True) for name in ("W", "w"))
_M, _R, _order = (Function(name, real=True) for name in ("M", "R", "l"))
_laws = (gains(_W, _w(t)), gains(_M, _w(t) * _order(t)), gains(_R, _w(t) * _order(t) ** 2), Le(p, _order(t)))
_means = tuple(
    Induction(t, said, begin(_W, _M, _R), (*_laws, Le(_order(t), q)), name=name)
    for said, name in (
        (Le(_R(t), (p + q) * _M(t) - p * q * _W(t)), "so does the mean of any number"),
        (Le(p * _W(t), _M(t)), "which is at least p"),
        (Le(_M(t), q * _W(t)), "and at most q"),
    )
)

# Of a block: the change of its gradient, and its modulus; the sums of their squares.
_change, _modulus, _changes, _moduli = (Function(name, nonnegative=True) for name in ("x", "y", "X", "Y"))

CLAIMS = (
    Ours(
        "ours/layers/combined",
        "The moduli of the blocks of a gradient combine by the root of the sum of squares",
        proof("expansions", "Blocks of a gradient"),
        Induction(
            t,
            Le(_changes(t), _moduli(t)),
            begin(_changes, _moduli),
            (
                gains(_changes, _change(t) ** 2),
                gains(_moduli, _modulus(t) ** 2),
                Le(_change(t), _modulus(t)),
            ),
            name="any number of blocks",
        ),
    ),
    Ours(
        "ours/layers/concave",
        "Orders up to 1/2, from 1/2 on, or with 8 p q >= (2 p + 2 q - 1)^2: the root of two terms' sum is concave",
        proof("expansions", "Blocks of a gradient"),
        Identity(_left, 4 * (2 * _sum * _square - _mean**2 - _sum * _mean), name="the second derivative"),
        _between(p),
        *_means,
        _concave(q <= _half, name="orders up to 1/2"),
        _concave(p >= _half, name="orders from 1/2 on"),
        _concave(8 * p * q >= (2 * p + 2 * q - 1) ** 2, name="orders close enough"),
        letters={
            m: "mean of the order",
            R: "mean of its square",
            p: "least order",
            q: "greatest order",
            lam: "an order",
            gamma: "order of one block",
            kappa: "order of the other",
        },
        assumptions=(q <= 1,),
    ),
)
