"""Proof of Theorem 3.1, steps 1 and 2: the coupled runs and the auxiliary sequences.

Statement    The sample i* is in a batch with probability b/n; the change of its gradient may be moved into the noise;
             V_t = W_t - (Z_tau + ... + Z_(t-1)) + Y_t is a contractive noisy iteration.
Assumptions  gamma and kappa are the gradients of the two versions of i*; xi is W_t, x the sum of Z_tau..Z_(t-1), a is
             Y_t, z is Z_t, y the gradients in the batch times eta/b, or the variance of W_t; v that of Y_t.
Derivation   Put in the definitions. For the law of V take equal quadratics without Z: W_(t+1) = c W_t + Y_t and
             V_(t+1) = phi_t(V_t) + Y_(t+1) with phi_t(V_t) = c V_t + (1 - c) Y_t, where V_t = W_t + Y_t holds Y_t.
Source       Altschuler & Talwar 2022, section 3.2, steps 1 and 2.
"""

from sympy import Abs, Expr, binomial

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step
from lastiterate.symbolic.letters import a, gamma, j, kappa, v, x, xi, y, z, zeta
from lastiterate.symbolic.notation import D, b, c, n, w

_chance = binomial(n - 1, b - 1) / binomial(n, b)
_auxiliary = xi - x + a  # V_t


def _projected(inside: Expr, left: Expr, name: str) -> Identity:
    """The arguments of the projection in W_(t+1) and in phi_t(V_t)."""
    return Identity(inside, left, name)


_next = xi - y + a + z  # inside the projection that gives W_(t+1)

CLAIMS = (
    Claim(
        "altschuler_talwar/proof_3_1/probability",
        "(3.1): the bias is there with probability b/n",
        at("Step 1", "(3.1)"),
        Identity(_chance, b / n, "batches that hold i*"),
        assumptions=(b <= n,),
        misprint=Identity(_chance, 1 - b / n, "as printed before (3.1)"),
        remark="""The bias of Z' is said to be realised only with probability 1 - b/n. It is there when i* is in the
        batch, which by (3.1) has probability b/n. The sentence gives (3.1) as its reason, and (3.5) uses b/n.""",
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
        Identity(_auxiliary + x - a, xi, "the point where phi_t takes gradients is W_t"),
        _projected(_auxiliary - y + (z + x), _next, "what is projected"),
    ),
    Claim(
        "altschuler_talwar/proof_3_1/observation_3_4",
        "Observation 3.4: phi_t is a contraction, as the mean of contractions is",
        at("Observation 3.4"),
        Inequality(Abs(xi + zeta) / 2, "<= and attained", z, (Abs(xi) <= z, Abs(zeta) <= z), "a batch of two"),
        Inequality(j * z / b, "<=", z, (j <= b,), "b maps, each divided by b").mutant(
            "2 b maps", given=(j <= 2 * b, z > 0)
        ),
    ),
    Step(
        "altschuler_talwar/proof_3_1/independence",
        "V is a contractive noisy iteration: its maps are drawn apart from the state they act on",
        at("Step 2"),
        Identity(c**2 * (y + v) + (1 - c) ** 2 * v + v, c**2 * y + 2 * v, "variance of V_(t+1)").mutant(
            "offset Y_t", left=c**2 * (y + v) + v + v
        ),
        assumptions=(c < 1,),
        remark="""Observations 3.3 and 3.4 are said to make V a contractive noisy iteration. Its map phi_t takes
        gradients at V_t + sum Z - Y_t, and V_t itself contains Y_t: map and state are dependent, as the variance for
        quadratics shows, and Lemmas 2.15 and 2.16 do not apply. The sequence U_t = W_t - gradients + Y_t, taken before
        projection, has maps free of the noise, and one more step of it.""",
    ),
    Ours(
        "altschuler_talwar/proof_3_1/independence_repaired",
        "U_t = W_t - gradients + Y_t is one: U_(t+1) = psi(projected U_t + Z_t) + Y_(t+1), Y_(t+1) new",
        at("Step 2"),
        Identity(c**2 * (c**2 * y + v) + v, c**4 * y + c**2 * v + v, "variance of U_(t+1), either way").mutant(
            "variance of V", right=c**2 * y + 2 * v
        ),
        Inequality(D**2 / (w + 1), "<", D**2 / w, name="steps tau..T-1, one more than in (3.6)").mutant(
            "one step less", left=D**2 / (w - 1), given=(w > 1,)
        ),
        assumptions=(c < 1,),
        repairs="altschuler_talwar/proof_3_1/independence",
    ),
    Step(
        "altschuler_talwar/proof_3_1/last_map",
        "Below (3.4): W_T = h(V_(T-1)), gradients taken at v + (Z_tau + ... + Z_(T-2)) - Y_(T-1)",
        at("Step 3"),
        Identity(_auxiliary + x - a, xi, "that point is W_(T-1)"),
        misprint=Identity(_auxiliary + (x + z) - a, xi, "the sum up to Z_(T-1), as printed"),
        remark="""In the map h the gradients are taken where the sum runs up to z_(T-1). They are taken at W_(T-1),
        which does not contain Z_(T-1). The sum in the gradient ends at T - 2; the one outside is right.""",
    ),
)
