r"""Theorem A.1 and Lemma A.2 of Chien & Li 2025: batches from a permutation, in a known order.

If the sample is met at times $t_e$,
$$D_\alpha(W_T \| W_T') \le \frac{\alpha}{2 \sigma^2} \min_{\tau, \beta, a} \sum_{e = j_\tau}^{E}
\frac{s^2}{\beta_{t_e}} + \frac{a_{t_e}^2}{1 - \beta_{t_e}} + \sum_{t \ne t_e} a_t^2,
\quad s = \frac{2 \eta K}{b} \tag{25}$$
$$D_{t+1} = \min\Bigl\{D_t + \eta L \frac{b - 1}{b} D_t^\lambda + s,\; D_t + 2 \eta K\Bigr\} \text{ at } t_e, \qquad
\min\{D_t + \eta L D_t^\lambda,\; D_t + 2 \eta K\} \text{ elsewhere} \tag{29}$$

Both hold by direct shifts. The step below (10) that does not follow is also used in (31)-(32). In counts of
epochs x is E - 1 and y is B; gamma stands for t_{-1}; in Lemma A.2 y stands for z^lambda.
"""

from lastiterate.symbolic.chien_li.paper import *

_u, _v = Vector("u"), Vector("v")
_s, _cap = 2 * eta * K / b, 2 * eta * K
_moved = Abs(xi - zeta - eta * (gamma - kappa) * (b - 1) / b) + _s
_given = (Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * y, Abs(gamma) <= K, Abs(kappa) <= K, b >= 2)
_sharper = z + eta * (b - 1) / b * Min(L * y, 2 * K) + _s


def _begins(start: int) -> Inequality:
    """tau = z >= 0 lies after t_{-1}, as the first interval (t_{-1}, t_0] requires."""
    return Inequality(gamma, "<", z, (gamma >= start, gamma <= start), f"tau > t_{{-1}} = {start}")


def _last(epoch: int) -> Inequality:
    """The encounter at place z of epoch E - 1 + epoch is a step of the run, T = (E - 1) B + r."""
    return Inequality((x + epoch) * y + z, "<", x * y + r, (z < r, r < y, y >= 1), "before the end")


CLAIMS = (
    Claim(
        "chien_li/theorem_a_1",
        "(25)-(27): a known order of the batches costs s^2/beta + a^2/(1 - beta) at encounters, a^2 elsewhere",
        at("Theorem A.1", "(25)-(27)"),
        Derived("shared_noise/batches, 0", Gauss(B / sigma**2), "A_tau >= D_tau"),
        Derived("shared_noise/batches, domain", Gauss(B / sigma**2), "A_tau >= D"),
        letters={B: "sum of the cost p_j of a share and a_j^2/(1 - beta_j)"},
    ),
    Step(
        "chien_li/theorem_a_1/first_interval",
        "Every tau from 0 on lies in an interval (t_{j-1}, t_j] that names j_tau",
        at("Theorem A.1", "(25), t_{-1} = 0"),
        _begins(-1),
        misprint=_begins(0),
    ),
    Step(
        "chien_li/theorem_a_1/last_epoch",
        "The last encounter, in epoch E - 1, is a step of the run",
        at("Theorem A.1", "(25), the sum up to E; A.2, above it"),
        _last(0),
        misprint=_last(1),
    ),
    Step(
        "chien_li/theorem_a_1/domain",
        "(27) asks for A_tau >= D_tau of (29); min(D_tau, D), which is enough by (59), is at most D_tau and D",
        at("Theorem A.1", "(27); (61)"),
        Inequality(Min(x, D), "<= and attained", D, name="the diameter"),
        Inequality(Min(x, D), "<= and attained", x, name="D_tau"),
        letters={x: "D_tau of (29)"},
    ),
    Ours(
        "chien_li/theorem_a_1/every_encounter",
        "At every beta an encounter from tau on costs s^2 or more",
        at("Theorem A.1", "(25)"),
        Inequality(s**2, "<=", s**2 / beta + a**2 / (1 - beta), (beta > 0, beta < 1), "beta in (0, 1)"),
    ),
    Claim(
        "chien_li/lemma_a_2",
        "(28)-(29): W_inf(W_t, W_t') <= min(D_t, D) along any batches, for any modulus such as L z^lambda",
        at("Lemma A.2", "(28), (29)"),
        Tracked("batches", D_T, "D_t"),
        Tracked("domain", D, "D"),
        letters={D_T: "D_t after T steps"},
    ),
    Claim(
        "chien_li/lemma_a_2/first_encounter",
        "(29), t = t_0 + 1: the first encounter moves equal iterates 2 eta K/b apart, the later case at 0",
        at("Lemma A.2", "(29); A.11, (110)-(112)"),
        NormBound(eta / b * (_u - _v), _s, (Norm(_u) <= K, Norm(_v) <= K), "two clipped gradients"),
        Identity(
            put(hoelder_growth(z, eta * L * (b - 1) / b, lam) + _s, {z: 0}), _s, "the later case at distance 0"
        ),
    ),
    Ours(
        "chien_li/lemma_a_2/sharper",
        "At an encounter z + eta (b - 1)/b min(L z^lambda, 2 K) + 2 eta K/b, never above (29)",
        at("Lemma A.2", "(29)"),
        Inequality(_moved, "<= and attained", _sharper, _given, "both at once"),
        Inequality(_sharper, "<=", Min(z + eta * L * (b - 1) / b * y + _s, z + _cap), name="never above (29)"),
    ),
)
