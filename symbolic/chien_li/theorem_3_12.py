r"""Theorem 3.12 of Chien & Li 2025: batches of $b$ without replacement, $(L, \lambda)$-Hoelder continuous gradients.

$$D_\alpha(W_T \| W_T'),\, D_\alpha(W_T' \| W_T) \le \min_{\tau, \beta, a} \sum_{t=\tau}^{T-1}
\Bigl[S_\alpha\Bigl(\frac bn, \frac{\beta_t \sigma b}{2 \eta K}\Bigr)
+ \frac{\alpha a_t^2}{2 (1 - \beta_t) \sigma^2}\Bigr] \tag{19}$$
over shifts as in Theorem 3.7, where, (18),
$S_\alpha(q, \sigma) = D_\alpha(N(0, \sigma^2) \| (1 - q) N(0, \sigma^2) + q N(1, \sigma^2))$.

Checked: (19) against one step whose law is known, the noise of $S_\alpha$ in (19), and (65) of the proof.
Fails: the statement. (64)-(69) bound only one order of the two data sets; `ours/sampled` has a correct bound.
(19) prints beta_t sigma for sqrt(beta_t) sigma.
Letters: gamma and kappa are the densities of the base and the moved Gaussian at a point.
"""

from functools import partial

from lastiterate.symbolic.chien_li.paper import *
from lastiterate.symbolic.derivations import statements

_stated = private(
    sampled_bound(SampledDown, z + eta * L * z**lam, z + eta * (b - 1) / b * L * z**lam + sensitivity(b)),
    Clipped(K),
    Diameter(D),
    BatchesOf(b, n),
    Holder(L, lam),
    lam <= 1,
)

_reach = D + eta * L * D**lam  # before the last step
_hidden = alpha * _reach**2 / (2 * (1 - beta) * sigma**2)
_coin = partial(statements.mixed_step, variance=sigma**2)
_possible, _share = (alpha > 1, q <= 1), (beta > 0, beta < 1)
_tenth = Rational(1, 10)
_ceiling = log(1 / (1 - _tenth))
_against_zero = SampledUp(_tenth, S.One, Integer(20))
_event = event(Integer(20), tail(Integer(19)) / 10, tail(Integer(20)))
_noise = sigma / sensitivity(b)
_posterior = q * kappa / ((1 - q) * gamma + q * kappa)
_densities = (q < 1, gamma > 0, kappa > 0)

CLAIMS = (
    Claim(
        "chien_li/theorem_3_12",
        "(19)-(21) bound the divergence in both orders for batches drawn without replacement, S_alpha for each step",
        at("Theorem 3.12", "(19)"),
        IntervalInequality(
            _against_zero,
            "<=",
            _ceiling,
            {},
            "n = 10, b = eta = K = sigma = T = 1, alpha = 20, no projection: gradients 0, replaced sample K or 0",
        ),
        IntervalInequality(_event, "<=", _ceiling, {}, "the same on a domain of diameter 100: W_1 >= 20"),
        statement=_stated,
        refutation=RefutingRun(
            fails=words(
                "A step is charged {}, which has the law without the sample first and never exceeds {}; with that law "
                "second the same step costs {}, which grows with {} without limit.",
                SampledDown(b / n, _noise, alpha),
                log(n / (n - b)),
                SampledUp(b / n, _noise, alpha),
                alpha,
            ),
            at={n: 10, b: 1, eta: 1, K: 1, sigma: 1, T: 1, alpha: 20},
            run="one step without projection; all gradients are -K, the one of the replaced sample is K or -K",
            quantity=LAST_ITERATES,
            claimed=T * SampledDown(b / n, _noise, alpha),
            true=SampledUp(b / n, _noise, alpha),
        ),
    ),
    Ours(
        "chien_li/theorem_3_12/both_orders",
        "(19) for windows of T steps and of one step, if a step costs log(1 + b/n (e^x - 1))/(alpha - 1), x = 2 alpha "
        "(alpha - 1) (eta K)^2/(beta b^2 sigma^2)",
        at("Theorem 3.12", "(19)"),
        RenyiBound(
            "without_replacement/composition", T * _coin(rate=q), _possible, by=Sampled.MIXED, at={q: b / n}
        ),
        RenyiBound(
            "without_replacement/last step, Hoelder",
            _coin(beta, rate=q) + _hidden,
            (*_possible, *_share),
            by=Sampled.MIXED,
            at={q: b / n},
        ),
        statement=private(
            Min(T * _coin(), _coin(beta) + _hidden),
            Clipped(K),
            Diameter(D),
            BatchesOf(b, n),
            b <= n,
            Holder(L, lam),
            *_share,
        ),
        repairs="chien_li/theorem_3_12",
    ),
    Ours(
        "chien_li/theorem_3_12/ceiling",
        "S_alpha(q, sigma) <= log(1/(1 - q)) for every alpha and sigma",
        at("Definition 3.11", "(18)"),
        # The base over the mixture is at most 1 / weight.
        Inequality(gamma * (1 - q), "<=", (1 - q) * gamma + q * kappa, (gamma >= 0, kappa >= 0), "densities"),
        assumptions=(q < 1,),
    ),
    Ours(
        "chien_li/theorem_3_12/witness",
        "One step costs at least S_up at the shift 2 eta K/b: all others have gradient -K, the replaced one +-K",
        at("Theorem 3.12", "(19)"),
        Identity(
            -eta * (-K - (b - 1) * K) / b + eta * (K - (b - 1) * K) / b, 2 * eta * K / b, "their distance"
        ),
        Value(
            SampledUp(_tenth, S.One / 2, Integer(20)), "37.576226", "D(.9 N(0) + .1 N(2) || N(0)) at alpha = 20"
        ),
        Value(_against_zero, "7.5762263", "D(.9 N(0) + .1 N(1) || N(0)) at alpha = 20"),
    ),
    Step(
        "chien_li/theorem_3_12/share",
        "(19), (69) print beta_t sigma, less than the standard deviation sqrt(beta_t) sigma of Z_t",
        at("Theorem 3.12", "(19)"),
        Identity(put(z**2, {z: sqrt(beta) * sigma}), beta * sigma**2, "variance of Z_t, below (70)"),
        Inequality(beta, "<", p, (p**2 >= beta,), "p = sqrt(beta) > beta: the less noise"),
        assumptions=(beta > 0, beta < 1),
    ),
    Step(
        "chien_li/theorem_3_12/conditioning",
        "(65): given Z = Z' = z the two runs draw the same batches, so the updates are identical",
        at("A.3", "(65)"),
        Inequality(_posterior, "==", q, name="probability that the batch holds i*, given Z'_t = z"),
        Printed("chien_li/theorem_3_12", "the printed proof"),
        Printed("chien_li/theorem_3_12, given the share of a step alone", "its last step alone"),
        assumptions=_densities,
    ),
    Ours(
        "chien_li/theorem_3_12/posterior",
        "Given Z'_t = z the batch holds i* with probability q kappa/((1 - q) gamma + q kappa)",
        at("A.3", "(65)"),
        Identity(
            _posterior + (1 - q) * gamma / ((1 - q) * gamma + q * kappa), S.One, "Bayes: with the complement, 1"
        ),
        Inequality(_posterior, "<", q, (kappa < gamma,), "less where the moved law is rarer"),
        Inequality(_posterior.subs(kappa, gamma), "==", q, name="q where the densities agree"),
        assumptions=_densities,
        repairs="chien_li/theorem_3_12/conditioning",
    ),
)
