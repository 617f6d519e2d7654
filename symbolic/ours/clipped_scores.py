"""Losses of a linear score stay convex and smooth under clipping, so that clipping may act.

Statement    Let f(W) = phi(<x, W>) with phi convex and phi' L-Lipschitz. The gradient of f clipped to norm K is the
             gradient of another loss, which is convex, L |x|^2-smooth and K-Lipschitz. For logistic losses L = 1/4.
Assumptions  gamma <= kappa: phi' at two scores xi <= zeta, times |x|; clipping cuts both to [-K, K].
Derivation   The gradient is phi'(<x, W>) x: clipping keeps its direction and cuts phi' |x| to [-K, K]. What is cut is
             nondecreasing and no steeper than before, so it is the slope of a convex function of the score.
Source       docs/proofs/expansions.md. Convex losses are asked to be K-Lipschitz, since in two dimensions a clipped
             step of a convex loss can expand. Here the gradients of a sample lie on one line, and it cannot.
Remark       The `Convex` assumption then holds for the losses whose gradients are taken, and those are never clipped.
             A weight decay inside the loss breaks the argument: the gradient leaves the line.
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
        Inequality(_cut(gamma), "<=", _cut(kappa), _ordered, "the slope is nondecreasing").mutant(
            "nonincreasing", left=_cut(kappa), right=_cut(gamma)
        ),
        Inequality(_cut(kappa) - _cut(gamma), "<=", kappa - gamma, _ordered, "and no steeper")
        .mutant("half as steep", right=(kappa - gamma) / 2)
        .mutant("without the order of the scores", given=()),
        Inequality(_cut(kappa), "<=", K, name="and at most K"),
        Inequality(p * (1 - p), "<= and attained", Rational(1, 4), _logistic, "curvature of logistic losses"),
    ),
)
