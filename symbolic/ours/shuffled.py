"""Batches from a permutation: later encounters, pooled orders, and the value iteration over epochs.

z' = c z - a without the sample, z' = c z + s - a with it. The order is independent of the data and the same for both
runs. t^alpha u^(1 - alpha) is jointly convex, being the perspective of t^alpha: Jensen with weights u and v. Corollary
A.3 of Chien & Li 2025 asks for the mean.
"""

from sympy import Expr, Function, Le, Max, Min, Rational

from lastiterate.symbolic.claim import Deduced, Identity, Induction, Inequality, Ours
from lastiterate.symbolic.derivations.checks import late, shuffled
from lastiterate.symbolic.inductive import begin, gains
from lastiterate.symbolic.integrals import statements
from lastiterate.symbolic.letters import a, p, q, u, v, x, xi, y, z, zeta
from lastiterate.symbolic.notation import K, L, alpha, b, c, eta, m, s, sigma, t
from lastiterate.symbolic.papers import proof
from lastiterate.symbolic.windows import FREE_STEPS, IN_PROPORTION


def _positive(at: Expr) -> Expr:
    return Max(at, 0) ** 2


_cost_midpoint = Inequality(
    _positive((xi + zeta) / 2),
    "<=",
    (_positive(xi) + _positive(zeta)) / 2,
    name="cost of a shift, convex in state and target",
)


def _shifted_after(more: Expr) -> Expr:
    """The state z after a step without the sample and the encounter, which adds ``more``; then a shift each."""
    return Max(q * Max(c * z - a, 0) + more - x, 0)


_encounter_first = Inequality(
    Max(c * Max(q * z + s - a, 0) - x, 0), "<= and attained", _shifted_after(c * s), given=(q <= c,), name="two steps"
)
_spent = (s + a) ** 2
_both, _one, _other, _weight, _x, _y = (Function(name, nonnegative=True) for name in ("R", "A", "B", "p", "x", "y"))

CLAIMS = (
    Ours(
        "ours/shuffled/worst",
        "Without expansion, z' = c z (+ s) - a: shifts for the sample last in every epoch serve every order",
        proof("shuffled", "The worst order is late"),
        *late("convex"),
        *late("strongly convex"),
        assumptions=(alpha > 1, eta * L <= 2, m <= L),
    ),
    Ours(
        "ours/shuffled/late",
        "Steps expand by c, the encounter by d <= c: a step later, with sensitivity c s, the same shifts leave no less",
        proof("shuffled", "The worst order is late"),
        _encounter_first.mutant("an encounter that expands more", given=()).mutant(
            "c s three percent less", right=_shifted_after(Rational(97, 100) * c * s)
        ),
        letters={
            c: "factor of a step without the sample",
            q: "d, that of the encounter",
            a: "first shift",
            x: "second",
        },
    ),
    Ours(
        "ours/shuffled/mean",
        "The mean over orders of what a path for each of them costs: exp((alpha - 1) D_alpha) is jointly convex",
        proof("shuffled", "Shuffled batches"),
        *shuffled("modulus"),
        Deduced(statements.joint_convexity(), "joint_convexity", "joint convexity"),
        Deduced(statements.mean_of_orders(), "mean_of_orders", "divergences given an order"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "ours/shuffled/convex",
        "Pooled costs-to-go are convex in the distance: chords between nodes are upper bounds",
        proof("shuffled", "The mean over orders: value iteration over epochs"),
        _cost_midpoint,
        Inequality(
            (p * x * y + q * u * v) ** 2,
            "<= and attained",
            (p * x**2 + q * u**2) * (p * y**2 + q * v**2),
            name="exp at a midpoint x y, u v: log mean exp of two orders is midpoint convex",
        ),
        Induction(
            t,
            Le(_both(t) ** 2, _one(t) * _other(t)),
            begin(_both, _one, _other),
            (
                gains(_both, _weight(t) * _x(t) * _y(t)),
                gains(_one, _weight(t) * _x(t) ** 2),
                gains(_other, _weight(t) * _y(t) ** 2),
            ),
            name="of any number of orders",
        ),
        Inequality(Max((x + u) / 2, (y + v) / 2), "<=", (Max(x, y) + Max(u, v)) / 2, name="the greatest"),
    ),
    Ours(
        "ours/shuffled/merged",
        "Free steps merge: hiding A over them costs A^2 / X at least, attained, X their noise carried to the end",
        proof("shuffled", "The mean over orders: value iteration over epochs"),
        *FREE_STEPS,
        *IN_PROPORTION,
    ),
    Ours(
        "ours/shuffled/oblivious",
        "Shifts blind to the order: an encounter spends s + a, which adds s^2 + 2 s a and leaves the state",
        proof("shuffled", "Shifts that do not look at the order"),
        Identity(_spent / sigma**2, (a**2 + (s**2 + 2 * s * a)) / sigma**2, "cost"),
        Inequality(
            z + eta * (b - 1) / b * Min(L * x, 2 * K) + s,
            "<=",
            z + eta * Min(L * x, 2 * K) + s,
            given=(b >= 1,),
            name="with the sample at most s more than without",
        ),
    ),
)
