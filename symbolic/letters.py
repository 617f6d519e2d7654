"""The letters that stand for any number of their kind until a claim says for what."""

from typing import Final

from sympy import Expr, Symbol, sqrt

from lastiterate.symbolic.notation import GRADIENT, LENGTH, NUMBER

a: Final = Symbol("a", nonnegative=True)
d: Final = Symbol("d", nonnegative=True)
g: Final = Symbol("g", nonnegative=True)
u: Final = Symbol("u", positive=True)
v: Final = Symbol("v", positive=True)
x: Final = Symbol("x", nonnegative=True)
y: Final = Symbol("y", nonnegative=True)
z: Final = Symbol("z", nonnegative=True)
r: Final = Symbol("r", positive=True)
j: Final = Symbol("j", integer=True, positive=True)
theta: Final = Symbol("theta", positive=True)
rho: Final = Symbol("rho", positive=True)
G: Final = Symbol("G", nonnegative=True)

# Numbers of any sign: often two points of the real line with the gradients there, and a curvature between them.
xi: Final = Symbol("xi", real=True)
zeta: Final = Symbol("zeta", real=True)
gamma: Final = Symbol("gamma", real=True)
kappa: Final = Symbol("kappa", real=True)
h: Final = Symbol("h", real=True)

# Often the inner products of x - y and of the difference of the gradients of two points.
P: Final = Symbol("P", nonnegative=True)
Q: Final = Symbol("Q", real=True)
R: Final = Symbol("R", nonnegative=True)

# Weights of finite distributions.
p: Final = Symbol("p", positive=True)
q: Final = Symbol("q", positive=True)

UNITS: Final[dict[Symbol, Expr]] = {
    **dict.fromkeys((a, x, y, z, d, xi, zeta), LENGTH),
    **dict.fromkeys((u, theta, p, q, j, rho), NUMBER),
    **dict.fromkeys((v, P), LENGTH**2),
    **dict.fromkeys((gamma, kappa, g), GRADIENT),
    h: GRADIENT / LENGTH,
    G: sqrt(GRADIENT * LENGTH),
    Q: LENGTH * GRADIENT,
    R: GRADIENT**2,
}
"""Units, unless the check says otherwise; of a letter that is not here the claim says it."""
