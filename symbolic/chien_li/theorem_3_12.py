"""Batches drawn without replacement: the smaller direction of the sampled Gaussian prices a two-sided claim.

(64)-(69) bound D_alpha(W_T || W'_T) with the base N in the numerator. RDP asks for both orders; and of W, W' either may
be the run whose sample is in the batch. What holds is in `ours/sampled`. gamma and kappa are densities at one point, of
the base and of the moved Gaussian.
"""

from lastiterate.symbolic.chien_li.paper import at, sampled_bound
from lastiterate.symbolic.chien_li.refutations import RANDOM_BATCHES
from lastiterate.symbolic.prelude import *

_one, _two = Integer(1), Integer(2)
_tenth = Rational(1, 10)
_ceiling = log(1 / (1 - _tenth))
_run = "n = 10, b = eta = K = sigma = T = 1, alpha = 20, no projection"
_against_zero = SampledUp(_tenth, _one, Integer(20))
_against_all = SampledUp(_tenth, _one / 2, Integer(20))
_density = (1 - q) * gamma + q * kappa
_seen = (20 * log(tail(Integer(19)) / 10) - 19 * log(tail(Integer(20)))) / 19  # data processing, one event
_posterior = q * kappa / _density


CLAIMS = (
    Claim(
        "chien_li/theorem_3_12",
        "(19)-(21) bound the divergence in both orders for batches drawn without replacement; S_alpha prices a step",
        at("Theorem 3.12", "(19)"),
        IntervalInequality(_against_zero, "<=", _ceiling, {}, f"{_run}: gradients 0, replaced sample K or 0")
        .mutant("half", right=_ceiling / 2)
        .mutant("shift K", right=Rational(807336, 10**7)),
        IntervalInequality(_seen, "<=", _ceiling, {}, "the same on a domain of diameter 100: W_1 >= 20"),
        IntervalInequality(_against_all, "<=", _ceiling, {}, f"{_run}: gradients -K, replaced sample +-K"),
        statement=private(
            sampled_bound(SampledDown, z + eta * L * z**lam, z + eta * (b - 1) / b * L * z**lam + sensitivity(b)),
            Clipped(K),
            Diameter(D),
            BatchesOf(b, n),
            Holder(L, lam),
            lam <= 1,
        ),
        refutation=RANDOM_BATCHES,
        remark="""S_alpha has the base law in the numerator and never exceeds log(1/(1 - q)); with the mixture in the
        numerator it grows with alpha. At n = 10, b = eta = K = sigma = T = 1, alpha = 20 the claim is 0.0807, while
        linear losses of slope K or 0 beside zeros give 7.576, on a domain of diameter 100 still 7, and of slope +-K
        beside slopes -K 37.576. What is true has the price of both orders for every step: ours/sampled/theorem.
        One order stands for two in altschuler_talwar/appendix_b_2/bound and liang/lemma_3_2 too.""",
    ),
    Ours(
        "chien_li/theorem_3_12/ceiling",
        "S_alpha(q, sigma) <= log(1/(1 - q)) for every alpha and sigma",
        at("Definition 3.11", "(18)"),
        # The base over the mixture is at most 1 / weight.
        Inequality(
            gamma * (1 - q), "<=", (1 - q) * gamma + q * kappa, given=(gamma >= 0, kappa >= 0), name="densities"
        ),
        assumptions=(q < 1,),
    ),
    Ours(
        "chien_li/theorem_3_12/witness",
        "One step costs at least S_up at the shift 2 eta K/b: all others have gradient -K, the replaced one +-K",
        at("Theorem 3.12", "(19)"),
        Identity(-eta * (-K - (b - 1) * K) / b - eta * K, Integer(0), "a batch with -K is like all others"),
        Identity(
            -eta * (-K - (b - 1) * K) / b + eta * (K - (b - 1) * K) / b,
            _two * eta * K / b,
            "distance of the two batches",
        ),
        Value(_against_all, "37.576226", "D(.9 N(0) + .1 N(2) || N(0)) at alpha = 20"),
        Value(_against_zero, "7.5762263", "D(.9 N(0) + .1 N(1) || N(0)) at alpha = 20"),
    ),
    Step(
        "chien_li/theorem_3_12/share",
        "(19), (69) print beta_t sigma, less than the standard deviation sqrt(beta_t) sigma of Z_t",
        at("Theorem 3.12", "(19)"),
        Identity(put(z**2, {z: sqrt(beta) * sigma}), beta * sigma**2, "variance of Z_t, below (70)"),
        Inequality(beta, "<", p, given=(p**2 >= beta,), name="p = sqrt(beta) > beta: the less noise"),
        assumptions=(beta > 0, beta < 1),
    ),
    Step(
        "chien_li/theorem_3_12/conditioning",
        "(65): given Z = Z' = z the two runs draw the same batches, so the updates are identical",
        at("A.3", "(65)"),
        Inequality(_posterior, "==", q, name="chance that the batch holds i*, given Z'_t = z")
        .mutant("q/2", right=q / 2)
        .mutant("certain", right=_one),
        Printed("chien_li/theorem_3_12", "the printed proof"),
        Printed("chien_li/theorem_3_12, given the share of a step alone", "its last step alone"),
        assumptions=(q < 1, gamma > 0, kappa > 0),
        remark="""Z_t is independent of the batch; Z'_t is N(m_t, ..) where the batch holds i* and N(0, ..) elsewhere.
        So Z'_t = z tells about the batch, and the second term of (65) is no divergence of runs with one law of the
        batches. Revealing a common batch without i*, and swapping, avoids it: ours/sampled/step.""",
    ),
    Ours(
        "chien_li/theorem_3_12/posterior",
        "Given Z'_t = z the batch holds i* with chance q kappa/((1 - q) gamma + q kappa)",
        at("A.3", "(65)"),
        Identity(_posterior + (1 - q) * gamma / _density, _one, "Bayes: with the chance that it does not, 1"),
        Inequality(_posterior, "<", q, given=(kappa < gamma,), name="less where the moved law is rarer"),
        Inequality(_posterior.subs(kappa, gamma), "==", q, name="q where the densities agree"),
        assumptions=(q < 1, gamma > 0, kappa > 0),
        repairs="chien_li/theorem_3_12/conditioning",
    ),
)
