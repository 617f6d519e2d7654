"""Sentences that rest on the clipping bias 2 sigma/sqrt(B) of Theorem 3, and runs that stay where they are.

Full batches: four samples (x - a)^2/2 at a point x whose normalised gradients cancel, for any gamma; and the example of
`theorem_3`, 13 samples of slope 14 and 14 of slope -1, which stalls at slope 56/9.
"""

from lastiterate.symbolic.d2p2.corollary_1 import PULLED, reached
from lastiterate.symbolic.d2p2.corollary_2 import CLAIMS as CLAIMS_OF_COROLLARY_2
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.refutations import COMPLEXITY
from lastiterate.symbolic.prelude import *

(_COROLLARY_2,) = CLAIMS_OF_COROLLARY_2
_stays = 2 + stab - sqrt(4 + 2 * stab + stab**2)
_slope, _variance, _twelfth = Rational(56, 9), Rational(182 * 225, 27**2), Rational(1, 12)

CLAIMS = (
    Claim(
        "d2p2/corollary_2/complexity",
        "With B = sigma^2/xi^2, gamma = O(1/sqrt(K)) and K B = O(1/xi^4) gradients |grad f| falls to the order of xi",
        at("Section 3.2", "below Corollary 2"),
        Identity(put(PULLED, {x: _stays}), Integer(0), "of samples 0, 0, 0, 4 the normalised gradients cancel there"),
        Inequality(1 - stab / 2, "<", 1 - _stays, name="|grad f| there").mutant(
            "0.49 gamma", left=1 - stab * Rational(49, 100)
        ),
        Asymptotic(1 - _stays, stab, path={stab: 1 / growth}, name="xi = gamma").mutant("square of xi", right=stab**2),
        IntervalInequality(
            1 - _stays,
            "<=",
            1000 * stab,
            {stab: (Rational(1, 10**4), Rational(1, 10**4))},
            "xi = gamma = 1/10000, up to a constant 1000",
        ),
        assumptions=(stab > 0,),
        refutation=COMPLEXITY,
        remark="""It rests on the clipping bias 2 sigma/sqrt(B) of (3). Four losses (x - a)^2/2, a = 0, 0, 0 and 4,
        each as often as one likes, in full batches without noise: for every gamma the normalised gradients
        cancel at a point of at most gamma/2, and a run from there stays there for every B, K and step size. So with
        sigma = sqrt(3) and gamma = xi the gradient is never below 1 - xi/2. The bias is 2 sigma + gamma, and no batch
        makes it small.""",
    ),
    Ours(
        "d2p2/corollary_2/complexity_rightly",
        "From K = 1/xi^2 on 1/sqrt(K) + ln K/K^1.5, all but the bias, is at most 2 xi; K B is sigma^2/xi^4 for B = "
        "sigma^2/xi^2 and K = 1/xi^2",
        at("Section 3.2", "below Corollary 2"),
        Identity(put(T * b, {T: 1 / xi**2, b: sigma_sgd**2 / xi**2}), sigma_sgd**2 / xi**4, "gradients", (xi > 0,)),
        reached(xi),
        letters={xi: "accuracy"},
        repairs="d2p2/corollary_2/complexity",
    ),
    Claim(
        "d2p2/table_1/non_convex",
        "Table 1, beside the bias sigma + gamma: the rate for non-convex losses is 1/sqrt(K) + ln K/K^1.5",
        at("Table 1", "D2P2-SGD (Non-convex)"),
        *_COROLLARY_2.checks,
        IntervalInequality(
            _slope, "<", sqrt(_variance) + _twelfth, {}, "the slope of the 27 samples is within it"
        ).mutant("gamma alone", right=_twelfth),
        misprint=Asymptotic(
            _slope, 1 / sqrt(T) + log(T) / T ** Rational(3, 2), path={T: growth, stab: _twelfth}, name="the 27 samples"
        ),
        statement=_COROLLARY_2.statement,
        assumptions=_COROLLARY_2.assumptions,
        letters=_COROLLARY_2.letters,
        remark="""The table leaves out the bias sigma + gamma that Corollary 2 has. The run of d2p2/theorem_3 stays at
        slope 6.22 for every K. By the same defect d2p2/corollary_1, the row for convex losses, fails.""",
    ),
)
