"""Proof of Theorem 3.1, step 3: what Z and V cost, the bound (3.7), and a run that breaks it.

sigma is the noise sigma_2 of Z, r that of Y, on the gradient; w = T - tau - 1; xi is a value of Z'. The run: ten linear
losses on [-2, 2], gradient 1 for all but i*, whose gradient is -1 or 1; steps of one sample, eta = 1, sigma_DP = 1/10,
from -2. A union bound over the last time at the lower end gives the other run exp(-150)/(1 - exp(-50)).
"""

from sympy import Abs, Expr, Integer, Rational, exp, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at, event
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, Printed, Step
from lastiterate.symbolic.formulas.divergences import SampledDown
from lastiterate.symbolic.letters import d, gamma, j, kappa, q, r, v, x, xi, y
from lastiterate.symbolic.notation import D, K, alpha, b, eta, sigma, w

_window, _order = Integer(175), Integer(2)
_hidden = alpha * D**2 / (2 * eta**2 * r**2 * w)


def _bias(change: Expr, name: str) -> Inequality:
    """The mean m_t of the bias, in one dimension."""
    return Inequality(eta / b * Abs(change), "<=", 2 * eta * K / b, (Abs(gamma) <= K, Abs(kappa) <= K), name)


def _posterior(chance: Expr) -> Identity:
    """The chance that i* is in the batch, given that Z' has the value xi."""
    there, not_there = q * exp(-((xi - d) ** 2) / (2 * v)), (1 - q) * exp(-(xi**2) / (2 * v))
    return Identity(there / (there + not_there), chance, "chance of i* in the batch, given Z'")


def claimed(price: Expr) -> Expr:
    """The number of (3.7) for the run at this price of one step: T - tau - 1 = 175, the variance split evenly."""
    return (_window + 1) * price + _hidden.subs({alpha: _order, D: 4, eta: 1, r: 1 / sqrt(Integer(200)), w: _window})


SEEN = event(_order, Rational(1, 20), exp(-150) / (1 - exp(-50)))
"""What W_T >= -1 shows of the run at order 2."""

LEAST = SampledDown(Rational(1, 10), 1 / sqrt(Integer(800)), _order)
"""S for that run: q = 1/10, noise b sigma_2/(2 K) with sigma_2^2 = 1/200."""

CLAIMS = (
    Step(
        "altschuler_talwar/proof_3_1/noise",
        "(3.5): Z against Z' costs T - tau times S(b/n, b sigma_2/(2 K)), Z first",
        at("Step 3a", "(3.5)"),
        Identity(eta * sigma / (2 * eta * K / b), b * sigma / (2 * K), "noise over the bias"),
        _bias(gamma - kappa, "bias at most 2 eta K/b"),
        misprint=_bias(gamma - eta * kappa, "with eta inside the bracket, as printed"),
        remark="""m_t is printed as eta/b times grad f(x_i*) - eta grad f(x'_i*). Its size then exceeds 2 eta K/b for
        large eta. In step 1 the bias has no eta inside the bracket, and with that reading (3.5) holds in this one
        order.""",
    ),
    Step(
        "altschuler_talwar/proof_3_1/same_maps",
        "(3.6): given Z = Z' = z the two runs apply the same random maps",
        at("Step 3b", "(3.6)"),
        _posterior(q).mutant("half", _posterior(q / 2)),
        Printed("altschuler_talwar/theorem_3_1", "the printed proof"),
        Printed("altschuler_talwar/theorem_3_1, given the share of a step alone", "its last step alone"),
        Printed("altschuler_talwar/theorem_5_1", "the printed proof of Theorem 5.1"),
        assumptions=(q < 1, d > 0),
        remark="""Given Z = Z' = z the maps phi_t and phi'_t are said to be identical. In the first run the batch does
        not depend on Z; in the second the bias of Z' is there only when i* is in the batch, so that z tells of the
        batch, and the maps have different laws. Revealing a common batch without i* and swapping one element for i*
        needs no conditioning, and the price of a step is then one between two mixtures.""",
    ),
    Ours(
        "altschuler_talwar/proof_3_1/swap",
        "One step between two mixtures costs at most twice the larger direction of the sampled Gaussian",
        at("Step 3b", "(3.6)"),
        Inequality(1 + 2 * (y - 1), "<= and attained", y**2, (y >= 1,), "log(1 + 2 (y - 1)) <= 2 log y"),
        IntervalInequality(
            (1 + x) ** (-alpha - 1),
            "<=",
            (1 + x) ** (alpha - 2),
            {x: (0, 50), alpha: (1, 20)},
            "weights of the hockey sticks, t = 1 + x",
        ).mutant("orders below 1/2", box={x: (0, 50), alpha: (Rational(1, 5), Rational(2, 5))}),
        repairs="altschuler_talwar/proof_3_1/same_maps",
    ),
    Claim(
        "altschuler_talwar/proof_3_1/bound",
        "(3.7): Noisy-SGD satisfies RDP with T - tau prices S and alpha D^2/(2 eta^2 sigma_1^2 (T - tau - 1))",
        at("Step 4", "(3.7)"),
        IntervalInequality(SEEN, "<=", claimed(LEAST), {}, "ten linear losses, any T >= 176, order 2").mutant(
            "half", right=claimed(LEAST) / 2
        ),
        IntervalInequality(SEEN, "<=", claimed(log(Rational(10, 9))), {}, "with log(1/(1 - q)) for S"),
        remark="""(3.7) is claimed for every order and noise, at T - tau = 176 it is below 37 here. Ten linear losses
        on [-2, 2] give a last iterate whose two laws have D_2 above 144 for every T from 176 on, whether S is enclosed
        or bounded by log(1/(1 - q)). With twice the larger direction in the place of S it holds.""",
    ),
    Ours(
        "altschuler_talwar/proof_3_1/bound_repaired",
        "(3.7) with the larger direction survives the run that breaks it; the run's probabilities",
        at("Step 4", "(3.7)"),
        IntervalInequality(
            SEEN,
            "<=",
            2 * log(1 + Rational(1, 100) * (exp(800) - 1)),
            {},
            "one step at twice the larger direction, order 2, noise 1/sqrt(800)",
        ),
        Inequality(j + 2, "<=", (j + 1) ** 2 / j, name="the union bound is a geometric sum"),
        IntervalInequality(Integer(144), "<", SEEN, {}, "what the run shows"),
        repairs="altschuler_talwar/proof_3_1/bound",
    ),
)
