r"""Lemma 4 of Jiang et al. 2025 (D2P2-SGD): from the Rényi divergence to $(\epsilon, \delta)$-DP.

"$\mathcal M$ is $(\epsilon, \delta)$-DP if and only if
$\delta \ge \exp((\eta - 1)(D_\eta(\mathcal M(S) \| \mathcal M(S')) - \epsilon))$ for some order
$\eta > 1$."

Checked: each direction for the Gaussian mechanism, and (6)-(10) of the printed proof.
Fails: the condition is sufficient, not necessary; (6), (9) and (10) are misprints.
Letters: the paper's order $\eta$ is alpha in the code, and chi is $\log(1/\delta)$.
"""

from lastiterate.symbolic.d2p2.paper import *

_stated = closed(
    Exists((alpha,), (alpha > 1,), (alpha - 1) * (RenyiDivergence(alpha, FIRST, SECOND) - epsilon) <= -chi),
    HockeyStick(exp(epsilon), FIRST, SECOND) <= exp(-chi),
)

_bound = exp(-((epsilon - mu**2 / 2) ** 2) / (2 * mu**2))
_p, _q = (S.One, S.One), (S.Zero, S.One)
_moment = moment_exponent(xi, _p, _q, alpha)


def _under_q(power: Expr) -> Expr:
    """Exponent of the density of Q times exp(power L), L = log P/Q, P = N(1, 1), Q = N(0, 1)."""
    loss = density_exponent(xi, *_p) - density_exponent(xi, *_q)
    return density_exponent(xi, *_q) + power * loss


def _markov(right: Expr, name: str) -> Identity:
    return Identity(exp((alpha - 1) * xi) / exp((alpha - 1) * epsilon), exp((alpha - 1) * right), name)


CLAIMS = (
    Claim(
        "d2p2/lemma_4",
        "(epsilon, delta)-DP only if delta >= exp((alpha - 1)(D_alpha - epsilon)) for some alpha > 1",
        at("Lemma 4"),
        Inequality(u, "<=", S.Zero, name="a mechanism with delta = 0; u is the exponential").mutant(
            "twice the exponential", right=-u
        ),
        IntervalInequality(
            _bound.subs({epsilon: 1, mu: 1}),
            "<=",
            delta_of_gdp(S.One, S.One),
            {},
            "Gaussian mechanism, mu = epsilon = 1, the best alpha",
        ),
        statement=_stated,
        refutation=RefutingRun(
            fails=words(
                "The condition is sufficient, not necessary: the Gaussian mechanism meets it only from {} on, and is "
                "private with a far smaller delta.",
                _bound,
            ),
            at={mu: 1, epsilon: 1},
            run="the Gaussian mechanism, at the order that asks for the least",
            quantity=words("least delta at epsilon = {}", epsilon),
            claimed=_bound,
            true=delta_of_gdp(epsilon, mu),
            sign=">=",
        ),
    ),
    Ours(
        "d2p2/lemma_4/best_order",
        "For mu = 1 the exponent (alpha - 1)(alpha/2 - epsilon) is at least -(epsilon - 1/2)^2 / 2",
        at("Lemma 4"),
        Inequality(
            -((epsilon - S.Half) ** 2) / 2, "<= and attained", (alpha - 1) * (alpha / 2 - epsilon)
        ).mutant("half of it", left=-((epsilon - S.Half) ** 2) / 4, sign="<="),
        Value(delta_of_gdp(S.One, S.One), "0.1269", "the true delta at epsilon = 1"),
        Value(exp(-Rational(1, 8)), "0.8825", "the least of Lemma 4, of all orders"),
    ),
    Ours(
        "d2p2/lemma_4/sufficient",
        "The other direction: delta = exp((alpha - 1)(D_alpha - epsilon)) is enough, at any alpha > 1",
        at("Lemma 4"),
        Deduced(statements.conversion(epsilon), "conversion/loss"),
        statement=statements.conversion(epsilon),
        repairs="d2p2/lemma_4",
    ),
    Step(
        "d2p2/lemma_4/moment",
        "(8): the moment under Q is that of alpha L, exp((alpha - 1) D_alpha) = E_Q exp(alpha L)",
        at("A.3", "(6), (8), (10)"),
        Identity(_under_q(alpha), _moment, "(8)"),
        misprint=Identity(_under_q(alpha - 1), _moment, "(6) and (10), as printed"),
    ),
    Step(
        "d2p2/lemma_4/markov",
        "(9): Markov's inequality keeps the factor exp(-(alpha - 1) epsilon)",
        at("A.3", "(9)"),
        _markov(xi - epsilon, "D_alpha = xi"),
        misprint=_markov(xi, "(9), as printed"),
    ),
)
