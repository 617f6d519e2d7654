"""Bok, Su & Altschuler 2024, closed forms for strongly convex losses.

Their gradients of two samples are at most L_sens apart, which is 2 K here, and their noise sigma is on the gradient,
eta sigma = ``noise_std``; c is the contraction of the step that is taken, max(|1 - eta m|, |1 - eta L|). One
participation's sensitivity over the noise is m_1 = 2 eta K / (b noise_std). No projection is used.

No seed of this package holds the paper; the ledger derives both values (`ours/cyclic/strongly_convex`, and the optimum
of direct shifts for full batches). Values are Renyi epsilons alpha mu^2 / 2, rounded up.
"""

from lastiterate.numeric.losses.assumptions import Assumption, StronglyConvex
from lastiterate.numeric.published.record import PublishedBound, claimed, contraction, whole_epochs
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated


def noisy_gd(run: NoisySGD, order: float, assumption: Assumption) -> float:
    """Full batches, constant steps: mu^2 = m_1^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T).

    >>> run = NoisySGD(steps=50, step_size=0.1, noise_std=1, clip_norm=1, dataset_size=5)
    >>> round(noisy_gd(run, 2.0, StronglyConvex(1.0, 1.0)), 6)
    0.030088
    """
    with precision():
        c = contraction(run, assumption)
        return claimed(stated.NOISY_GD, run, order, c=c) if c < 1 else claimed(stated.COMPOSITION, run, order)


def noisy_cgd(run: NoisySGD, order: float, assumption: Assumption) -> float:
    """NoisyCGD, l cyclic batches in E whole epochs of constant steps, for the worst position of the sample.

    mu^2 = m_1^2 (1 + c^(2l-2) (1 - c^2)/(1 - c^l)^2 (1 - c^(l(E-1)))/(1 + c^(l(E-1)))).

    >>> run = NoisySGD(20, 0.1, 1.0, 5.0, dataset_size=5, batch_size=1, sampling="cyclic")
    >>> round(noisy_cgd(run, 2.0, StronglyConvex(1.0, 1.0)), 5)  # one participation's sensitivity is the noise
    1.32117
    """
    with precision():
        c = contraction(run, assumption)
        return claimed(stated.NOISY_CGD if c < 1 else stated.NOISY_CGD_CONVEX, run, order, c=c)


THEOREMS = (
    PublishedBound(
        name="bok_su_altschuler",
        title="Bok, Su & Altschuler 2024, strongly convex",
        claim="chien_li/theorem_3_1/direct/strongly_convex",
        schemes=("full",),
        assumptions=(StronglyConvex,),
        statement=stated.NOISY_GD,
        evaluate=lambda run, assumption, order: noisy_gd(run, order, assumption),
        reading="L_sens = 2 clip_norm, sigma = noise_std / step_size; the projection is not used",
    ),
    PublishedBound(
        name="bok_su_altschuler_cyclic",
        title="Bok, Su & Altschuler 2024, NoisyCGD",
        claim="ours/cyclic/strongly_convex",
        schemes=("cyclic",),
        assumptions=(StronglyConvex,),
        statement=stated.NOISY_CGD,
        evaluate=lambda run, assumption, order: noisy_cgd(run, order, assumption),
        reading="as for full batches; the worst position of the sample",
        needs=whole_epochs,
    ),
)
