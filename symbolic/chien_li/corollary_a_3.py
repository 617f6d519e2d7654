r"""Corollary A.3 of Chien & Li 2025: shuffled batches.

If $\epsilon(i)$ is a bound for the run given the order $i$ of the batches,
$$D_\alpha(W_T \| W_T') \le \frac{1}{\alpha - 1} \log E_i\, e^{(\alpha - 1) \epsilon(i)} \tag{62}$$
Lemma A.4: for laws on a ball of radius $R$ the sampled Gaussian costs at most $S_\alpha(q, \sigma/R)$. Lemma
A.5: for mixtures of pairs with the same weights $e^{(\alpha - 1) D_\alpha}$ is at most its mean over the
pairs.

All hold, but A.12 calls the divergence jointly convex; only p^alpha q^(1 - alpha) is.
"""

from lastiterate.symbolic.chien_li.paper import *

_rare = Rational(1, 100)
# exp(D_2) of (1/2, 1/2) from (rare/2, 1 - rare/2): the mixture of (1, 0), (rare, 1 - rare) and of (0, 1) twice.
_power = 1 / (2 * _rare) + 1 / (4 * (1 - _rare / 2))
_sum, _left, _weights, _weight, _ratio = (Function(name, nonnegative=True) for name in "ESPpu")
_grows = gains(_left, _weight(t) * _ratio(t))

CLAIMS = (
    Claim(
        "chien_li/corollary_a_3",
        "(62): the mean over orders of exp((alpha - 1) epsilon) bounds the run, where e(i) bounds it given order i",
        at("Corollary A.3", "(62)"),
        Deduced(statements.mean_of_orders(), "mean_of_orders"),
    ),
    Claim(
        "chien_li/lemma_a_4",
        "Over laws on a ball of radius R the sampled Gaussian costs S(q, sigma/R) at most, and attains it, in R^d",
        at("Lemma A.4", "(63)"),
        Deduced(statements.extremum(alpha > 1), "extremum"),
    ),
    Claim(
        "chien_li/lemma_a_5",
        "exp((alpha - 1) D_alpha) of m pairs of laws, mixed with the same weights, is at most its mean, alpha >= 1",
        at("Lemma A.5", "(126)-(127)"),
        Deduced(statements.joint_convexity(), "joint_convexity"),
    ),
    Step(
        "chien_li/corollary_a_3/which_convexity",
        "What is jointly convex is exp((alpha - 1) D_alpha), as (126)-(127) have it",
        at("A.12", "joint convexity of KL divergence"),
        IntervalInequality(_power, "<=", (1 / _rare + 1) / 2, {}, "alpha = 2, two points"),
        misprint=IntervalInequality(log(_power), "<=", log(1 / _rare) / 2, {}, "D_2 itself"),
    ),
    Ours(
        "chien_li/corollary_a_3/stable",
        "log E exp without overflow: the greatest exponent goes in front, the others are at most 1",
        at("Section 5", "cannot be computed in a numerically stable way"),
        Identity(p * exp(x) + q * exp(y), exp(x) * (p + q * exp(y - x)), "the greatest in front, two orders"),
        Induction(
            t,
            Eq(_sum(t), r * _left(t)),
            begin(_sum, _left),
            (gains(_sum, _weight(t) * r * _ratio(t)), _grows),
            name="the greatest exponential r in front of any number, u the others over it",
        ),
        Induction(
            t,
            Le(_left(t), _weights(t)),
            begin(_left, _weights),
            (_grows, gains(_weights, _weight(t)), Le(_ratio(t), 1)),
            name="what is left of any number",
        ),
    ),
)
