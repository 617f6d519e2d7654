"""Lemmas of first-order convex optimisation, for all functions of a class on R^d and every dimension d.

Nesterov, Lectures on Convex Optimization, 2018; Bauschke and Combettes, Convex Analysis and Monotone Operator Theory,
2017; Lieder, On the convergence rate of the Halpern iteration, 2021.
"""

from dataclasses import replace

from sympy import Rational, Symbol

from lastiterate.symbolic.checks import VectorInequality
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.families import ConvexSet, Operators, convex, smooth, strongly_convex
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.vectors import Norm, Vector, inner

NESTEROV, BAUSCHKE, LIEDER = "Nesterov 2018", "Bauschke and Combettes 2017", "Lieder 2021"

eta, L, m, a = (Symbol(name, positive=True) for name in ("eta", "L", "m", "a"))
x, y, z, p, q, best = map(Vector, ("x", "y", "z", "p", "q", "x*"))

f = convex("f", L)
fx, fy, lowest = f.at(x), f.at(y), f.minimum(best)
apart, turned = x - y, fx.image - fy.image

strong = strongly_convex("f", m, L)
sx, sy, strong_lowest = strong.at(x), strong.at(y), strong.minimum(best)
bent = sx.image - sy.image

steep = convex("f")  # no smoothness: the image is a subgradient
at_p, at_q, steep_lowest = steep.at(p), steep.at(q), steep.minimum(best)
before_p, before_q = p + eta * at_p.image, q + eta * at_q.image  # p is the proximal point of before_p

X = ConvexSet("X")
anything = smooth("f", L)
ax = anything.at(x)
projected = X.at(x - eta * ax.image)
after = anything.at(projected.image)

T = Operators("T", lipschitz=Rational(1))
tx = T.at(x)
fixed = replace(T.at(best), image=best)
halfway = T.at((x + tx.image) / 2)

CLAIMS = (
    Claim(
        "convex/cocoercivity",
        "The gradient of a convex, L-smooth function is 1/L-cocoercive",
        Source(NESTEROV, "Theorem 2.1.5", "(2.1.11)"),
        VectorInequality(Norm(turned) ** 2 / L, "<=", inner(turned, apart), (fx, fy)),
    ),
    Claim(
        "convex/strong_monotonicity",
        "Strong monotonicity and cocoercivity together",
        Source(NESTEROV, "Theorem 2.1.12"),
        VectorInequality(
            (m * L * Norm(apart) ** 2 + Norm(bent) ** 2) / (m + L), "<=", inner(bent, apart), (sx, sy)
        ),
    ),
    Claim(
        "convex/gradient_step",
        "A gradient step of length 1/L pays for the gap with the distance to a minimum",
        Source(NESTEROV, "Corollary 2.1.2"),
        VectorInequality(
            2 / L * (f.at(x - fx.image / L).value - lowest.value),
            "<=",
            Norm(x - best) ** 2 - Norm(x - fx.image / L - best) ** 2,
            (fx, f.at(x - fx.image / L), lowest),
        ),
    ),
    Claim(
        "convex/linear_rate",
        "With strong convexity a step contracts the distance to the minimum by 1 - eta m",
        Source(NESTEROV, "Theorem 2.1.15"),
        VectorInequality(
            Norm(x - eta * sx.image - best), "<=", (1 - eta * m) * Norm(x - best), (sx, strong_lowest)
        ),
        assumptions=(eta * (L + m) <= 2,),
    ),
    Claim(
        "convex/subgradient_step",
        "A subgradient step",
        Source(NESTEROV, "Theorem 3.2.2"),
        VectorInequality(
            Norm(p - eta * at_p.image - best) ** 2,
            "<=",
            Norm(p - best) ** 2 - 2 * eta * (at_p.value - steep_lowest.value) + eta**2 * Norm(at_p.image) ** 2,
            (at_p, steep_lowest),
        ),
    ),
    Claim(
        "convex/proximal_step",
        "A proximal step",
        Source(BAUSCHKE, "Proposition 12.26"),
        VectorInequality(
            Norm(p - best) ** 2,
            "<=",
            Norm(before_p - best) ** 2 - 2 * eta * (at_p.value - steep_lowest.value) - Norm(before_p - p) ** 2,
            (at_p, steep_lowest),
        ),
    ),
    Claim(
        "convex/proximal_map",
        "The proximal map is firmly nonexpansive",
        Source(BAUSCHKE, "Proposition 12.28"),
        VectorInequality(Norm(p - q) ** 2, "<=", inner(p - q, before_p - before_q), (at_p, at_q)),
    ),
    Claim(
        "convex/projected_step",
        "A projected step lowers a smooth function, convex or not",
        Source(NESTEROV, "Theorem 2.2.13"),
        VectorInequality(
            after.value + (1 / eta - L / 2) * Norm(x - projected.image) ** 2,
            "<=",
            ax.value,
            (ax, after, projected, X.member(x)),
        ),
        assumptions=(eta * L <= 2,),
    ),
    Claim(
        "convex/averaged_step",
        "A step of an averaged operator brings a fixed point nearer",
        Source(BAUSCHKE, "Proposition 4.35"),
        VectorInequality(
            Norm((1 - a) * x + a * tx.image - best) ** 2,
            "<=",
            Norm(x - best) ** 2 - a * (1 - a) * Norm(x - tx.image) ** 2,
            (tx, fixed),
        ),
        assumptions=(a <= 1,),
    ),
    Claim(
        "convex/halpern_step",
        "After the first step of Halpern's iteration the residual is at most the distance to a fixed point",
        Source(LIEDER, "Theorem 2.1"),
        VectorInequality(Norm(halfway.point - halfway.image), "<=", Norm(x - best), (tx, halfway, fixed)),
    ),
    Claim(
        "convex/three_points",
        "The identity of three points",
        Source(NESTEROV, "Section 2.1"),
        VectorInequality(Norm(x - z) ** 2, "==", Norm(x - y) ** 2 + Norm(y - z) ** 2 + 2 * inner(x - y, y - z)),
    ),
)
