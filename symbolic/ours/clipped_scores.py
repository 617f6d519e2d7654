"""Losses of a linear score stay convex and smooth under clipping, so that clipping may act.

gamma <= kappa are phi' at two scores xi <= zeta, times |x|; clipping cuts both to [-K, K] and keeps their direction.
The `Convex` assumption then holds for the losses whose gradients are taken. A weight decay inside the loss breaks this.
"""

from lastiterate.symbolic.prelude import *


def _cut(slope: Expr) -> Expr:
    return Max(-K, Min(K, slope))


_ordered = (gamma <= kappa,)


CLAIMS = (
    Ours(
        "ours/clipped_scores/convex",
        "Clipped gradients of a convex loss of a linear score are those of a convex, K-Lipschitz loss, no less smooth",
        proof("expansions", "Clipping that acts on convex losses"),
        Inequality(
            gamma * Min(1, K / Abs(gamma)), "==", _cut(gamma), (Ne(gamma, 0),), "clipping a gradient cuts its slope"
        ).mutant("K three percent less", right=_cut(gamma).subs(K, Rational(97, 100) * K)),
        Inequality(_cut(gamma), "<= and attained", _cut(kappa), _ordered, "the slope is nondecreasing").mutant(
            "without the order of the scores", given=()
        ),
        Inequality(Abs(_cut(kappa) - _cut(gamma)), "<= and attained", Abs(kappa - gamma), name="and no steeper").mutant(
            "three percent less steep", right=Rational(97, 100) * Abs(kappa - gamma)
        ),
        Inequality(Abs(_cut(kappa)), "<= and attained", K, name="and at most K, either way").mutant(
            "three percent less", right=Rational(97, 100) * K
        ),
        letters={gamma: "slope at a score, times |x|", kappa: "slope at a larger score, times |x|"},
    ),
)
