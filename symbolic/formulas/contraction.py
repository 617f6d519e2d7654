"""A block of steps on a bounded domain, with two laws split into common parts and rests; and moments.

Letters   g is the factor of the second law; u and v are parts of the laws p and q before the block, and A and B are the
          masses of the rests; N(r) bounds E_r from two equal points, and F(r) from any two points of the domain. M(f) =
          a (a - 1) int_0^oo g^(a - 2) f(g) dg for a table f is exp((a - 1) D_a); G is the last node.
Source    ours (claims ours/contraction/*).
"""

from collections.abc import Callable, Iterable

from sympy import Add, Expr, Min, S, exp, log

from lastiterate.symbolic.formulas.divergences import cumulative

Curve = Callable[[Expr], Expr]


def block(g: Expr, parts: Iterable[tuple[Expr, Expr]], singular: Expr, near: Curve, far: Curve) -> Expr:
    """int u N(g v/u) + A F(g B/A) for pairs (u, v) of masses; ``singular`` is the part with v = 0, where N(0) = 1."""
    pairs = tuple(parts)
    left = 1 - singular - Add(*(u for u, _ in pairs))
    right = 1 - Add(*(v for _, v in pairs))
    value = singular + Add(*(u * near(g * v / u) for u, v in pairs if u != 0))
    return value + (left * far(g * right / left) if left != 0 else S.Zero)


def shares(ratio: Expr, low: Expr, high: Expr) -> tuple[Expr, Expr]:
    """(u/p, v/q) at p/q = ``ratio``, u = min(p, g1 q), v = min(q, p/g0), g0 = ``low`` and g1 = ``high``."""
    return Min(1, high / ratio), Min(1, ratio / low)


def damped(g: Expr, value: Expr, far: Curve) -> Expr:
    """A F(1 + (g - 1)/A), A = E_g before: the block with u = min(p, g q), v = u/g, if equal points stay equal."""
    return value * far(1 + (g - 1) / value) if value != 0 else S.Zero


def moment_up_to(alpha: Expr, ratio: Expr, last: Expr) -> Expr:
    """a (a - 1) int g^(a - 2) (y - g) dg over g from G to y = ``ratio`` >= G; it is y^a if G = 0."""
    return ratio**alpha - alpha * ratio * last ** (alpha - 1) + (alpha - 1) * last**alpha


def constant_moment(alpha: Expr, last: Expr, value: Expr) -> Expr:
    """a (a - 1) int_0^G g^(a - 2) f(G) dg: the last value of a table adds this to the sum of q y^a over its atoms."""
    return alpha * last ** (alpha - 1) * value


def gaussian_rest(alpha: Expr, last: Expr, mu: Expr) -> Expr:
    """E_Q[y^a; y > G] for the ratio y of N(mu, 1) to Q = N(0, 1), an upper bound on the part of M over g > G."""
    return exp(alpha * (alpha - 1) * mu**2 / 2) * cumulative((alpha - S.Half) * mu - log(last) / mu)


def markov(g: Expr, beta: Expr, moment: Expr) -> Expr:
    """E_g <= M_b g^(1 - b) (b - 1)^(b - 1) / b^b for b > 1, since y - g is at most this with M_b = y^b."""
    return moment * g ** (1 - beta) * (beta - 1) ** (beta - 1) / beta**beta


def markov_rest(alpha: Expr, beta: Expr, moment: Expr, last: Expr) -> Expr:
    """a (a - 1) int_G^oo g^(a - 2) markov(g) dg, for b > a."""
    return alpha * (alpha - 1) * markov(last, beta, moment) * last ** (alpha - 1) / (beta - alpha)
