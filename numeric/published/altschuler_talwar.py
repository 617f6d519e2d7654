"""Altschuler & Talwar 2022, as printed: the theorems as records, and those for full and fixed batches.

Their run adds noise of standard deviation sigma to the averaged gradient, eta sigma = ``noise_std`` here; their L is
the clip norm K, and D is a diameter. Random batches are in `altschuler_talwar_sampled`.

Source: Altschuler & Talwar 2022, section 5 and appendix B.
"""

from math import ceil, isfinite

from lastiterate.numeric.losses.assumptions import Convex, StronglyConvex
from lastiterate.numeric.published.altschuler_talwar_sampled import (
    around,
    equation_3_7,
    equation_5_3,
    equation_5_7,
    equation_b_2,
    equation_b_3,
)
from lastiterate.numeric.published.record import PublishedBound, bounded, claimed, one_gradient_noise
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated


def theorem_5_6(run: NoisySGD, order: float) -> float:
    """Theorem 5.6 with the constants of its proof: alpha / (2 eta^2 sigma^2) times the sum of a_t^2 of (5.6).

    The theorem is stated up to a constant. For T > Tbar = ceil(D n / (L eta)) this is (5.6) with the shifts printed
    above it, at the worst position of the sample, D~ = D + 2 eta L / b and Tbar a multiple of n/b; for T <= Tbar it is
    the argument that is cited for (5.4), which starts at 0. Steps past whole epochs count as an epoch.

    Source: Theorem 5.6, and its proof.
    """
    with precision():
        batches = run.batches
        short = claimed(stated.EQUATION_5_6_SHORT, run, order, T=batches * -(-run.steps // batches))
        if not isfinite(run.diameter):
            return short
        reach = exact(run.diameter) * run.dataset_size / (exact(run.step_size_at(0)) * exact(run.clip_norm))
        horizon = batches * ceil(ceil(float(reach.upper())) / batches)
        if run.steps <= horizon:
            return short
        return claimed(stated.EQUATION_5_6_LONG, run, order, w=horizon)


def equation_b_1(run: NoisySGD, order: float) -> float:
    """alpha / (2 eta^2 sigma^2) min{T s^2, min over w of w (D~ / w + s)^2}, s = 2 eta L / n, D~ = D + s.

    Source: (B.1).
    """
    best = claimed(stated.COMPOSITION, run, order)
    if not isfinite(run.diameter):
        return best
    s = 2 * run.step_size_at(0) * run.clip_norm / run.dataset_size
    windows = around(run.diameter / s + 1, 1, run.steps)
    return min(best, *(claimed(stated.EQUATION_B_1, run, order, w=w) for w in windows))


_READING = "sigma = noise_std / step_size, L = clip_norm, D a diameter"
_CONVEX, _STRONG = (Convex, StronglyConvex), (StronglyConvex,)

THEOREMS = (
    PublishedBound(
        name="altschuler_talwar_b1",
        title="Altschuler & Talwar 2022, (B.1)",
        claim="altschuler_talwar/appendix_b_1/bound",
        schemes=("full",),
        assumptions=_CONVEX,
        statement=stated.EQUATION_B_1,
        evaluate=lambda run, _assumption, order: equation_b_1(run, order),
        reading=_READING,
    ),
    PublishedBound(
        name="altschuler_talwar_3_7",
        title="Altschuler & Talwar 2022, (3.7)",
        claim="altschuler_talwar/proof_3_1/bound",
        schemes=("without_replacement",),
        assumptions=_CONVEX,
        statement=stated.EQUATION_3_7,
        evaluate=lambda run, _assumption, order: equation_3_7(run, order),
        reading=f"{_READING}; sigma_1 = sigma_2",
        needs=bounded,
    ),
    PublishedBound(
        name="altschuler_talwar_5_3",
        title="Altschuler & Talwar 2022, (5.3)",
        claim="altschuler_talwar/section_5_1/bound",
        schemes=("without_replacement",),
        assumptions=_STRONG,
        statement=stated.EQUATION_5_3,
        evaluate=lambda run, assumption, order: equation_5_3(run, order, assumption),
        reading=f"{_READING}; sigma_1 = sigma_2, c of the step that is taken",
        needs=bounded,
    ),
    PublishedBound(
        name="altschuler_talwar_5_7",
        title="Altschuler & Talwar 2022, (5.7)",
        claim="altschuler_talwar/section_5_3/bound",
        schemes=("without_replacement",),
        assumptions=_CONVEX,
        statement=stated.EQUATION_5_7,
        evaluate=lambda run, _assumption, order: equation_5_7(run, order),
        reading=f"{_READING}; sigma_1 = sigma_2",
        needs=lambda run, assumption: bounded(run, assumption) or one_gradient_noise(run, assumption),
        schedules=True,
    ),
    PublishedBound(
        name="altschuler_talwar_5_6",
        title="Altschuler & Talwar 2022, Theorem 5.6",
        claim="altschuler_talwar/section_5_2/theorem_5_6",
        schemes=("cyclic",),
        assumptions=_CONVEX,
        statement=stated.EQUATION_5_6_LONG,
        evaluate=lambda run, _assumption, order: theorem_5_6(run, order),
        reading=f"{_READING}; with the constants of its proof, at the worst position of the sample",
    ),
    PublishedBound(
        name="altschuler_talwar_b2",
        title="Altschuler & Talwar 2022, (B.2)",
        claim="altschuler_talwar/appendix_b_2/bound",
        schemes=("without_replacement",),
        assumptions=_CONVEX,
        statement=stated.EQUATION_3_7,
        evaluate=lambda run, _assumption, order: equation_b_2(run, order),
        reading=f"{_READING}; at the best split of the noise",
    ),
    *(
        PublishedBound(
            name=f"altschuler_talwar_b3{name}",
            title=f"Altschuler & Talwar 2022, (B.3){title}",
            claim=claim,
            schemes=(scheme,),
            assumptions=_STRONG,
            statement=stated.EQUATION_B_3,
            evaluate=lambda run, assumption, order: equation_b_3(run, order, assumption),
            reading=f"{_READING}; {reading} c of the step that is taken",
        )
        for name, title, claim, scheme, reading in (
            ("", "", "altschuler_talwar/appendix_b_3/bound", "without_replacement", "at the best split of the noise,"),
            (
                "_full",
                ", full batches",
                "chien_li/remarks_3_1/strict_with_window",
                "full",
                "at b = n the sampled Gaussian has one direction;",
            ),
        )
    ),
)
