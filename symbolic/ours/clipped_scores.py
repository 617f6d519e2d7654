"""Losses of a linear score stay convex and smooth under clipping, so that clipping may act.

gamma <= kappa are phi' at two scores xi <= zeta, times |x|; clipping cuts both to [-K, K] and keeps their direction.
The `Convex` assumption then holds for the losses whose gradients are taken. A weight decay inside the loss breaks this.
"""

from sympy import Expr, Max, Min, Rational

from lastiterate.symbolic.claim import Inequality, Ours
from lastiterate.symbolic.letters import gamma, kappa, p
from lastiterate.symbolic.notation import K
from lastiterate.symbolic.papers import proof


def _cut(slope: Expr) -> Expr:
    return Max(-K, Min(K, slope))


_ordered = (gamma <= kappa,)
_logistic = (p < 1,)


CLAIMS = (
    Ours(
        "ours/clipped_scores/convex",
        "Clipping the gradient of a convex loss of a linear score gives that of a convex loss, no less smooth",
        proof("expansions", "Clipping that acts on convex losses"),
        Inequality(_cut(gamma), "<=", _cut(kappa), _ordered, "the slope is nondecreasing"),
        Inequality(_cut(kappa) - _cut(gamma), "<=", kappa - gamma, _ordered, "and no steeper").mutant(
            "without the order of the scores", given=()
        ),
        Inequality(_cut(kappa), "<=", K, name="and at most K"),
        Inequality(p * (1 - p), "<= and attained", Rational(1, 4), _logistic, "curvature of logistic losses"),
    ),
)
