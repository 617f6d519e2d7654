r"""Section 5.1 of Altschuler & Talwar 2022: strongly convex losses, Propositions 5.4 and 5.5, and the bound (5.3).

Lemma 5.3: $\mathrm{Id} - \eta\nabla f$ contracts by $c = (\kappa - 1)/(\kappa + 1)$ for $\eta = 2/(M + m)$,
$\kappa = M/m$.
Proposition 5.4: Proposition 3.2 for $c$-Lipschitz maps, $z_t = c z_{t - 1} + s_t - a_t$.
(5.3): $D_\alpha(W_T \| W'_T)
\le \min_{\tau < T}\ (T - \tau) S + c^{2(T - \tau - 1)}\frac{\alpha D^2}{2\eta^2\sigma_1^2}$.

(5.3) is a gap, and holds if $S$ is the cost of a step between two mixtures.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_losses, _size, _factor = strongly_convex("f", m, L), 2 / (L + m), (L / m - 1) / (L / m + 1)

SEEN = event(Integer(2), Rational(1, 20), tail(Integer(20)))
"""A lower bound on the divergence of order 2, from the event w_T >= 1.

Ten losses (x - p)^2/2 on [-2, 2], p = -1 for all but i*, whose p is 1 or -1; L = m = eta = b = 1 and sigma_DP
= 1/10, so w_(t+1) is p plus noise. The event has probability 1/10 times 1/2 in one run and is 20 standard
deviations away in the other run.
"""
_last_shift = mixed_window("strongly convex, share", c ** (2 * w) * HALVES, *CONTRACTS)

CLAIMS = (
    Claim(
        "altschuler_talwar/section_5_1/lemma_5_3",
        "Lemma 5.3: a step of size 2/(L + m) contracts by (kappa - 1)/(kappa + 1)",
        at("Lemma 5.3"),
        step(_losses, _factor, _size),
        assumptions=(L > 0, m > 0),
    ),
    Claim(
        "altschuler_talwar/section_5_1/observation_5_2",
        "Observation 5.2: phi_t contracts by (kappa - 1)/(kappa + 1) where eta = 2/(L + m)",
        at("Observation 5.2"),
        noisy_map(_losses, _factor, _size),
        assumptions=(L > 0, m > 0),
        letters=MAP_LETTERS,
    ),
    Ours(
        "altschuler_talwar/section_5_1/best_step",
        "No step size contracts every loss by a factor below (L - m)/(L + m), that of 2/(L + m), as B.3 says",
        at("B.3", "when the stepsize is 2/(M + m)"),
        Identity(
            (xi - eta * theta * xi - (zeta - eta * theta * zeta)) ** 2,
            Abs(1 - eta * theta) ** 2 * (xi - zeta) ** 2,
            "theta x^2/2, theta = m or L: the squared distance of two points after a step",
        ),
        Inequality(
            (L - m) / (L + m),
            "<= and attained",
            Max(Abs(1 - eta * m), Abs(1 - eta * L)),
            name="the worse of the two, least at 2/(L + m)",
            attained=(Eq(eta, _size),),
        ),
        step(_losses, (L - m) / (L + m), _size),
        assumptions=(m <= L, L > 0),
    ),
    Claim(
        "altschuler_talwar/section_5_1/proposition_5_4",
        "Proposition 5.4: as Proposition 3.2 for c-Lipschitz maps, z_t = c z_{t-1} + s_t - a_t >= 0, z_T = 0",
        at("Proposition 5.4"),
        Derived("iterations/Lipschitz, apart", Gauss(A)),
        letters={A: "sum of a_t^2/sigma_t^2"},
    ),
    Claim(
        "altschuler_talwar/section_5_1/lemma_5_5",
        "Lemma 5.5, set up as Lemma 2.16: random c-contractions coupled within s lengthen a shift z to c z + s",
        at("Lemma 5.5"),
        Deduced(
            statements.reduction(FACTOR * z + APART, OTHER_MAP, alpha >= 1, LIPSCHITZ, CLOSE), "reduction/close"
        ),
    ),
    Step(
        "altschuler_talwar/section_5_1/last_shift",
        "(5.2): with s = 0 one last shift c^(T - tau - 1) D costs its square at sigma_1",
        at("Section 5.1", "(5.2)"),
        Identity(
            put(alpha * z**2 / (2 * eta**2 * sigma**2), {z: c**w * D}),
            c ** (2 * w) * alpha * D**2 / (2 * eta**2 * sigma**2),
            "its cost",
        ),
        Recursion(t, D, c * PREVIOUS, c**t * D, name="z_t without shifts"),
        assumptions=(c < 1,),
    ),
    Step(
        "altschuler_talwar/section_5_1/no_steps",
        "(5.3) at tau = T - 1: shifts at no step at all bring the distance from D to 0",
        at("Section 5.1", "(5.3)"),
        Identity(c**0 * D, S.Zero, "z_(T-1) with tau = T - 1"),
    ),
    Ours(
        "altschuler_talwar/section_5_1/no_steps_repaired",
        "With one more step of noise the last shift is c^(T - tau) D, at most that of (5.2)",
        at("Section 5.1", "(5.3)"),
        Recursion(t, D, c * PREVIOUS, c**t * D, name="T - tau contractions"),
        Inequality((c * x) ** 2, "<=", x**2, name="one contraction more"),
        assumptions=(c < 1,),
        repairs="altschuler_talwar/section_5_1/no_steps",
    ),
    Step(
        "altschuler_talwar/section_5_1/bound",
        "(5.3) follows as (3.7), at any order and noise: (T - tau) S + c^(2 w) alpha D^2/(2 eta^2 sigma_1^2)",
        at("Section 5.1", "(5.3)"),
        IntervalInequality(
            SEEN, "<=", 2 * log(Rational(10, 9)), {}, "tau = T - 2, c = 0: twice log(1/(1 - q))"
        ),
    ),
    Ours(
        "altschuler_talwar/section_5_1/bound_repaired",
        "(5.3) with the cost of a step between two mixtures for S, at any order, noise and split of the noise",
        at("Section 5.1", "(5.3)"),
        IntervalInequality(
            SEEN, "<=", 4 * log(1 + Rational(1, 100) * (exp(7200) - 1)), {}, "order 2, two steps"
        ),
        IntervalInequality(Integer(190), "<", SEEN, {}, "what the run shows"),
        _last_shift.mutant("one step more", bound=w * mixed_step(beta) + c ** (2 * w + 2) * HALVES),
        statement=any_order(_last_shift.bound, StronglyConvex(m, L, K), *CONTRACTS),
        repairs="altschuler_talwar/section_5_1/bound",
    ),
)
