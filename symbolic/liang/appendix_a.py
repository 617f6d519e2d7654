r"""Appendix A of Liang et al. 2026: facts about divergences, sampling and smooth losses that the proofs use.

Lemma A.1, (21): $D_\alpha^{(z+s)}(\phi\mu \| \phi'\nu) \le D_\alpha^{(z)}(\mu \| \nu)$ for contractions at most $s$
apart. Lemma A.13: $D_\alpha^{SGM}(q, \sigma) \le 2 \alpha q^2/\sigma^2$ for $q \le 1/5$, $\sigma > 4$ and
$$\alpha \le \tfrac12 \sigma^2 K - 2 \log\sigma, \quad
\alpha \le \frac{\sigma^2 K^2/2 - \log 5 - 2 \log\sigma}{K + \log(q\alpha) + 1/(2\sigma^2)}, \quad
K = \log\Bigl(1 + \frac{1}{q (\alpha - 1)}\Bigr). \tag{33}$$
Lemma A.14: $\|\nabla l\|^2 \le 2 L (l - l^*)$; A.15: $\tfrac\mu2 \|\theta - \theta^*\|^2 \le l - l^*$.

All hold; A.8 is cited.
"""

from lastiterate.symbolic import vector_steps
from lastiterate.symbolic.derivations.deductions import CLOSE, CONTRACTION
from lastiterate.symbolic.derivations.statements import APART, OTHER_MAP
from lastiterate.symbolic.kernel.densities import ANY_ORDER
from lastiterate.symbolic.liang.paper import *

_plain = Normal(0, sigma**2)
_mixed = (1 - q) * _plain + q * Normal(1, sigma**2)
_excess = log(1 + 1 / (q * (alpha - 1)))
_first = _excess * sigma**2 / 2 - 2 * log(sigma)
_least = _excess**2 * sigma**2 / 2 - log(5) - 2 * log(sigma)
_second = _least / (_excess + log(q * alpha) + 1 / (2 * sigma**2))
_orders = (q <= Rational(1, 5), sigma > 4, And(alpha > 1, alpha <= _first, alpha <= _second))
_edge = {q: Rational(1, 5), sigma: Integer(4)}


CLAIMS = (
    Claim(
        "liang/lemma_a_1",
        "(21): two contractions at most s apart lengthen a shift z to z + s, for every pair of laws",
        at("Lemma A.1", "(21)"),
        Deduced(
            statements.reduction(z + APART, OTHER_MAP, alpha > 1, CONTRACTION, CLOSE), "reduction/contractions"
        ),
    ),
    Claim(
        "liang/lemma_a_2",
        "(22): Markov's inequality, for every nonnegative random variable",
        at("Lemma A.2", "(22)"),
        Deduced(statements.markov_inequality(), "markov"),
    ),
    Claim(
        "liang/lemma_a_4",
        "(24), (25), (26): the three inequalities of two numbers",
        at("Lemma A.4", "(24)"),
        Inequality((xi + zeta) ** 2, "<= and attained", 2 * xi**2 + 2 * zeta**2, name="Lemma A.4"),
        Inequality(a, "<= and attained", a**2 / (2 * u) + u / 2, name="Lemma A.5"),
        Inequality(sqrt(x + y), "<= and attained", sqrt(x) + sqrt(y), name="Lemma A.6", attained=(Eq(y, 0),)),
    ),
    Claim(
        "liang/lemma_a_8",
        "Lemma A.8: W_infinity <= s, a coupling of points at most s apart, and a displacement by at most s",
        at("Lemma A.8"),
        Cited(
            Equivalent(Wasserstein(FIRST, SECOND) <= s, Coupled(FIRST, SECOND, s), Displaced(FIRST, SECOND, s)),
            Source(cited("Feldman et al. 2018"), "on W_infinity"),
        ),
        letters={FIRST: "a law", SECOND: "a law", s: "a distance"},
    ),
    Claim(
        "liang/lemma_a_9",
        "(28): post-processing, every map, random or not, every order alpha >= 0",
        at("Lemma A.9", "(28)"),
        Deduced(statements.post_processing(ANY_ORDER), "post_processing/from 0"),
    ),
    Claim(
        "liang/lemma_a_10",
        "(29): the divergence is convex in its second law, at every order alpha >= 0",
        at("Lemma A.10", "(29)"),
        Deduced(statements.second_law(), "second_law"),
    ),
    Claim(
        "liang/lemma_a_11",
        "(30): composition of two mechanisms, the second given what the first puts out",
        at("Lemma A.11", "(30)"),
        Deduced(statements.composition(alpha > 1), "composition"),
    ),
    Claim(
        "liang/lemma_a_13",
        "Lemma A.13: D^SGM(q, sigma) <= 2 alpha q^2/sigma^2 for q <= 1/5, sigma > 4 and orders with (33)",
        at("Lemma A.13"),
        Deduced(
            closed(RenyiDivergence(alpha, _plain, _mixed) <= 2 * alpha * q**2 / sigma**2, *_orders),
            "small_rate/back",
        ),
    ),
    Ours(
        "liang/lemma_a_13/orders",
        "(33) allows order 4 where q = 1/5 and sigma falls to 4, and not order 5",
        at("Lemma A.13", "(33)"),
        IntervalInequality(Integer(4), "<=", _first.subs({**_edge, alpha: 4}), {}, "first condition, order 4"),
        IntervalInequality(
            Integer(4), "<=", _second.subs({**_edge, alpha: 4}), {}, "second condition, order 4"
        ),
        IntervalInequality(_first.subs({**_edge, alpha: 5}), "<", Integer(5), {}, "first condition, order 5"),
    ),
    Claim(
        "liang/lemma_a_14",
        "Lemma A.14: L-smooth, below the parabola, and above the tangent by the gradients, each by the one before",
        at("Lemma A.14"),
        vector_steps.PARABOLA,
        vector_steps.COCOERCIVE,
        vector_steps.LIPSCHITZ,
        assumptions=(L > 0,),
    ),
    Claim(
        "liang/lemma_a_14/gradient",
        "The part of Lemma A.14 that C.1 uses: |grad l|^2 <= 2 L (l - l*), from the third item at the minimum",
        at("Lemma A.14"),
        vector_steps.GRADIENT,
    ),
    Claim(
        "liang/lemma_a_15",
        "Lemma A.15: strongly convex, above a parabola, and convex without m |x|^2/2",
        at("Lemma A.15"),
        vector_steps.CHORD,
        vector_steps.WITHOUT,
        vector_steps.TANGENT,
        assumptions=(c >= 0, c <= 1),
        letters={c: "weight of x in a point between x and y"},
    ),
    Claim(
        "liang/lemma_a_15/gap",
        "The part of Lemma A.15 that C.1 uses: |theta - theta*|^2 <= (2/m)(l - l*) and l - l* <= |grad l|^2/(2 m)",
        at("Lemma A.15"),
        vector_steps.DISTANCE,
        vector_steps.GAP,
    ),
)
