"""Sentences that rest on the clipping bias 2 sigma/sqrt(B) of Theorem 3, and the run that stalls at slope 56/9.

13 samples of slope 14 and 14 of slope -1, each as often as one likes, in full batches: the example of `theorem_3`.
"""

from sympy import Integer, Rational, log, sqrt

from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, IntervalInequality, Ours
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.refutations import COMPLEXITY
from lastiterate.symbolic.letters import theta, u
from lastiterate.symbolic.notation import T, b, growth, sigma_sgd
from lastiterate.symbolic.unevaluated import put

_slope, _variance, _twelfth = Rational(56, 9), Rational(182 * 225, 27**2), Rational(1, 12)

CLAIMS = (
    Claim(
        "d2p2/corollary_2/complexity",
        "With B = sigma^2/xi^2 and K B = O(1/xi^4) gradients |grad f| falls to the order of xi",
        at("Section 3.2", "below Corollary 2"),
        Asymptotic(_slope, 1 / u, path={u: growth}, name="xi = 1/u, the 27 samples again and again").mutant(
            "xi^2", right=1 / u**2
        ),
        IntervalInequality(_slope, "<=", Integer(1000) * Rational(1, 1000), {}, "xi = 1/1000, up to a constant 1000"),
        refutation=COMPLEXITY,
        remark="""It rests on the clipping bias 2 sigma/sqrt(B) of (3). The 27 samples of d2p2/theorem_3, each as often
        as one likes, have one sigma and stay at slope 6.22 for every B, K and step size. The bias is 2 sigma +
        gamma, and no batch makes it small.""",
    ),
    Ours(
        "d2p2/corollary_2/complexity_rightly",
        "K = 1/xi^2 steps bring all but the bias to the order of xi; K B is sigma^2/xi^4 for B = sigma^2/xi^2",
        at("Section 3.2", "below Corollary 2"),
        Identity(put(T * b, {T: 1 / u**2, b: sigma_sgd**2 / u**2}), sigma_sgd**2 / u**4, "u is xi"),
        Inequality(
            u + 2 * theta * u**3, "<=", 2 * u, (2 * theta * u**2 <= 1,), "1/sqrt(K) + ln K/K^1.5, theta = ln 1/u"
        ),
        repairs="d2p2/corollary_2/complexity",
    ),
    Claim(
        "d2p2/table_1/non_convex",
        "Table 1, beside the bias sigma + gamma: the rate for non-convex losses is 1/sqrt(K) + ln K/K^1.5",
        at("Table 1", "D2P2-SGD (Non-convex)"),
        IntervalInequality(
            _slope, "<", sqrt(_variance) + _twelfth, {}, "the slope of the 27 samples is within it"
        ).mutant("gamma alone", right=_twelfth),
        misprint=Asymptotic(
            _slope, 1 / sqrt(T) + log(T) / T ** Rational(3, 2), path={T: growth}, name="the 27 samples"
        ),
        remark="""The table leaves out the bias sigma + gamma that Corollary 2 has. The run of d2p2/theorem_3 stays at
        slope 6.22 for every K. By the same defect d2p2/corollary_1, the row for convex losses, fails.""",
    ),
)
