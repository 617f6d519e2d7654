r"""The printed proof of Theorem 3.1 of Altschuler & Talwar 2022, steps 1 to 4.

Steps 1 and 2: coupled runs with the noise split into $Y$ and $Z$, and auxiliary sequences
$V_{t+1} = \phi_t(V_t) + Y_{t+1}$ with contractions $\phi_t$. Step 3: (3.5) $Z$ against $Z'$ costs
$(T - \tau) S_\alpha(b/n, b\sigma_2/(2L))$; (3.6) given $Z$, the two runs apply the same maps. Step 4:
$$D_\alpha(W_T \| W'_T) \le (T - \tau) S
  + \frac{\alpha D^2}{2\eta^2\sigma_1^2 (T - \tau - 1)}. \qquad(3.7)$$

(3.6) is a gap, and (3.7) fails without a condition on order and noise. (3.7) holds if $S$ is the cost of a
step between two mixtures, at most twice the divergence of the sampled Gaussian in its larger direction
(`kernel.renyi`).
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

# gamma and kappa are the gradients of the two versions of i*, xi is W_t, x the sum of Z_tau..Z_(t-1), a is Y_t, z is
# Z_t; sigma is the noise sigma_2 of Z, r that of Y, on the gradient; w = T - tau - 1.
_u, _v = Vector("u"), Vector("v")
_chance = binomial(n - 1, b - 1) / binomial(n, b)
_auxiliary = xi - x + a  # V_t
_primitive = alpha * x * z ** (alpha - 1) - (alpha - 1) * z**alpha
_positive = (x > 0, z > 0)

# A run that violates (3.7): ten linear losses on [-2, 2], gradient 1 for all but i*, whose gradient is -1 or 1; one
# sample a step, eta = 1, sigma_DP = 1/10, from -2. A union bound over the last time at the lower end bounds the
# probability of the event in the other run by exp(-150)/(1 - exp(-50)).
_window, _order = Integer(175), Integer(2)
_hidden = alpha * D**2 / (2 * eta**2 * r**2 * w)
SEEN = event(_order, Rational(1, 20), exp(-150) / (1 - exp(-50)))
"""A lower bound on the divergence of order 2, from the event W_T >= -1."""
LEAST = SampledDown(Rational(1, 10), 1 / sqrt(Integer(800)), _order)
"""S for this run: q = 1/10, noise b sigma_2/(2 K) with sigma_2^2 = 1/200."""


def claimed(cost: Expr) -> Expr:
    """(3.7) for the run with this cost of a step, T - tau - 1 = 175 and the variance split evenly."""
    return (_window + 1) * cost + _hidden.subs(
        {alpha: _order, D: 4, eta: 1, r: 1 / sqrt(Integer(200)), w: _window}
    )


def _bias(change: Expr, name: str) -> Inequality:
    return Inequality(eta / b * Abs(change), "<=", 2 * eta * K / b, (Abs(gamma) <= K, Abs(kappa) <= K), name)


def _posterior(chance: Expr) -> Identity:
    there, not_there = q * exp(-((xi - d) ** 2) / (2 * v)), (1 - q) * exp(-(xi**2) / (2 * v))
    return Identity(there / (there + not_there), chance, "probability of i* in the batch, given Z'")


CLAIMS = (
    Claim(
        "altschuler_talwar/proof_3_1/probability",
        "(3.1): the bias is there with probability b/n",
        at("Step 1", "(3.1)"),
        Identity(_chance, b / n, "batches that hold i*"),
        assumptions=(b <= n,),
        misprint=Identity(_chance, 1 - b / n, "as printed before (3.1)"),
    ),
    Step(
        "altschuler_talwar/proof_3_1/coupling",
        "Gradients on the other data set plus the bias of Z' are the gradients on this one",
        at("Step 1"),
        Identity(-gamma / b + (gamma - kappa) / b, -kappa / b, "the sample i*, in units of eta"),
        Identity(v * x + v * (1 - x), v, "variances of Y and Z add to that of the noise"),
    ),
    Claim(
        "altschuler_talwar/proof_3_1/observation_3_3",
        "Observation 3.3: V_(t+1) = phi_t(V_t) + Y_(t+1)",
        at("Observation 3.3"),
        Identity(put(zeta + x - a, {zeta: _auxiliary}), xi, "the point where phi_t takes gradients is W_t"),
        Identity(put(zeta - y + (z + x), {zeta: _auxiliary}), xi - y + a + z, "what is projected"),
    ),
    Claim(
        "altschuler_talwar/proof_3_1/observation_3_4",
        "Observation 3.4: phi_t is a contraction where eta <= 2/L",
        at("Observation 3.4"),
        noisy_map(convex("f", L), S.One, eta),
        assumptions=(eta * L <= 2,),
        letters=MAP_LETTERS,
    ),
    Step(
        "altschuler_talwar/proof_3_1/independence",
        "V is a contractive noisy iteration: its maps are drawn independently of the state they act on",
        at("Step 2"),
        Identity(c**2 * (y + v) + (1 - c) ** 2 * v + v, c**2 * y + 2 * v, "variance of V_(t+1)"),
        assumptions=(c < 1,),
    ),
    Ours(
        "altschuler_talwar/proof_3_1/independence_repaired",
        "U_t = W_t - gradients + Y_t is one: U_(t+1) = psi(P(U_t + Z_t)) + Y_(t+1), and psi after P contracts in R^d",
        at("Step 2"),
        Identity(put(zeta + z, {zeta: xi - eta * gamma + a}), xi - eta * gamma + (a + z), "what is projected"),
        projected_map(convex("f", L), S.One, eta),
        Inequality(D**2 / (w + 1), "<", D**2 / w, name="steps tau..T-1, one more than in (3.6)"),
        assumptions=(eta * L <= 2,),
        letters=PROJECTED_LETTERS,
        repairs="altschuler_talwar/proof_3_1/independence",
    ),
    Step(
        "altschuler_talwar/proof_3_1/last_map",
        "Below (3.4): W_T = h(V_(T-1)), gradients taken at v + (Z_tau + ... + Z_(T-2)) - Y_(T-1)",
        at("Step 3"),
        Identity(put(zeta + x - a, {zeta: _auxiliary}), xi, "that point is W_(T-1)"),
        misprint=Identity(put(zeta + (x + z) - a, {zeta: _auxiliary}), xi, "the sum up to Z_(T-1), as printed"),
    ),
    Step(
        "altschuler_talwar/proof_3_1/noise",
        "(3.5): Z against Z' costs T - tau times S(b/n, b sigma_2/(2 K)), Z first",
        at("Step 3a", "(3.5)"),
        Identity(put(eta * sigma / z, {z: 2 * eta * K / b}), b * sigma / (2 * K), "noise over the bias"),
        _bias(gamma - kappa, "bias at most 2 eta K/b, on the line"),
        NormBound(eta / b * (_u - _v), 2 * eta * K / b, (Norm(_u) <= K, Norm(_v) <= K), "in R^d"),
        Deduced(statements.sequences(alpha >= 1), "sequences/from 1", "a sum over the steps, Lemma 2.9"),
        Deduced(statements.extremum(alpha >= 1), "extremum", "a step, Lemma 2.11"),
        misprint=_bias(gamma - eta * kappa, "with eta inside the bracket, as printed"),
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
    ),
    Step(
        "altschuler_talwar/proof_3_1/bound",
        "(3.7) follows from (3.4)-(3.6), at any order and noise: T - tau times S and alpha D^2/(2 eta^2 sigma_1^2 w)",
        at("Step 4", "(3.7)"),
        IntervalInequality(SEEN, "<=", claimed(LEAST), {}, "ten linear losses, any T >= 176, order 2"),
    ),
    Ours(
        "altschuler_talwar/proof_3_1/bound_repaired",
        "(3.7) with the cost of a step between two mixtures for S, at any order, noise and split of the noise",
        at("Step 4", "(3.7)"),
        IntervalInequality(SEEN, "<=", 2 * log(1 + Rational(1, 100) * (exp(800) - 1)), {}, "one step, order 2"),
        Inequality(j + 2, "<=", (j + 1) ** 2 / j, name="the union bound is a geometric sum"),
        IntervalInequality(Integer(144), "<", SEEN, {}, "what the run shows"),
        CONVEX,
        statement=any_order(CONVEX.bound, Convex(L, K), eta * L <= 2),
        repairs="altschuler_talwar/proof_3_1/bound",
    ),
    Ours(
        "altschuler_talwar/proof_3_1/swap",
        "One step between two mixtures costs at most twice the larger direction of the sampled Gaussian",
        at("Step 3b", "(3.6)"),
        Derived(
            "without_replacement/composition",
            Power(SwapStep(q, sensitivity(b) ** 2 / sigma**2), T),
            "both orders",
        ),
        Identity(
            Derivative(_primitive, z),
            alpha * (alpha - 1) * z ** (alpha - 2) * (x - z),
            "alpha (alpha - 1) z^(alpha - 2) (x - z) and its integral",
            _positive,
        ),
        Identity(
            put(_primitive, {z: x}) - put(_primitive, {z: 1}),
            x**alpha - 1 - alpha * (x - 1),
            "from 1 to the ratio x: what is left of its power",
            _positive,
        ),
        Identity(z ** (2 - alpha) / z**3, z ** (-alpha - 1), "the weights below 1, in z for 1/z", _positive),
        Inequality(
            (-alpha - 1) * x, "<=", (alpha - 2) * x, (alpha >= 1,), "weights of the hockey sticks at e^x"
        ),
        Inequality(1 + x + p, "<= and attained", 1 + 2 * (y - 1), (p <= x, 1 + x <= y), "the part p below 1"),
        Inequality(1 + 2 * (y - 1), "<= and attained", y**2, (y >= 1,), "log(1 + 2 (y - 1)) <= 2 log y"),
        assumptions=(q <= 1,),
        repairs="altschuler_talwar/proof_3_1/same_maps",
    ),
)
