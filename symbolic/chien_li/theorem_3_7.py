r"""Theorem 3.7 of Chien & Li 2025: full batches, with $(L, \lambda)$-Hoelder continuous gradients.

$$D_\alpha(W_T \| W_T') \le \frac{\alpha}{2 \sigma^2} \min_{\tau, \beta, a}
\sum_{t=\tau}^{T-1} \Bigl[\frac{s^2}{\beta_t} + \frac{a_t^2}{1 - \beta_t}\Bigr] \tag{13}$$
over shifts with $A_\tau \ge D_\tau$, where $A_{t-1} = h(A_t + a_t)$ undoes $g(x) = x + \eta L x^\lambda$ and
$$D_t = \min\{g(D_{t-1}) + s,\; D_{t-1} + 2 \eta K,\; D\}. \tag{14, 15}$$

It holds by direct shifts, which alone give a sharper bound; the step below (10) does not follow. With u_t = s
+ a_t the backward A-program is the forward z-program for e(z) = g(z) + s.
"""

from lastiterate.symbolic.chien_li.paper import *

_holder = (*FULL_BATCHES, Holder(L, lam), lam <= 1)
# D_t of (15) and its power lambda; 2 eta K is n s.
_tracked, _power, _cost, _length = (Function(name, nonnegative=True) for name in "zyCa")
_tracking = (
    (Eq(_tracked(0), 0),),
    (Eq(_tracked(t + 1), Min(_tracked(t) + eta * L * _power(t) + s, _tracked(t) + n * s, D)),),
)
_split = Inequality(
    (s + a) ** 2, "<= and attained", s**2 / beta + a**2 / (1 - beta), (beta > 0, beta < 1), "any share"
)

CLAIMS = (
    Claim(
        "chien_li/theorem_3_7",
        "(13)-(15) bound the Renyi divergence for Hoelder continuous gradients",
        at("Theorem 3.7", "(13)-(15)"),
        attacked(
            "chien_li_3_7", HOLDER_RUNS, *COMMON, "a tenth of the diameter", "as if there were 2 n samples"
        ),
        Derived("shared_noise/modulus, 0", Gauss(B / sigma**2), "tracked from 0"),
        Derived("shared_noise/modulus, domain", Gauss(B / sigma**2), "tracked from the domain"),
        statement=private(
            shift_bound(z + eta * L * z**lam + sensitivity(), split=True, most=z + 2 * eta * K), *_holder
        ),
        assumptions=(alpha > 1, lam <= 1),
    ),
    Claim(
        "chien_li/theorem_3_7/burn_in",
        "After a burn-in nothing more is lost with Hoelder gradients: (13) is the same for all later T",
        at("Section 3.2", "above Theorem 3.7"),
        Induction(t, Le(_tracked(t), D), *_tracking, name="D_tau is at most D"),
        Induction(t, Ge(_tracked(t), Min(s * t, D)), *_tracking, name="and D from D/s steps on"),
        _split,
        Induction(
            t,
            Ge(_cost(t), s**2 * t),
            begin(_cost),
            (gains(_cost, (s + _length(t)) ** 2),),
            name="s^2 a step or more",
        ),
        Inequality(
            D,
            "<= and attained",
            s * (T - w),
            (w * s**2 <= u, D / s + u / s**2 <= T),
            "so from T = D/s + u/s^2 on all windows that cost u or less begin at D: the same ones for every T",
        ),
        letters={u: "cost of some window that begins at D", w: "steps of another window"},
    ),
    Step(
        "chien_li/theorem_3_7/two_programs",
        "The A-program of (15) is the z-program of e(z) = g(z) + s, and the best beta leaves (s + a)^2",
        at("Theorem 3.7", "(15)"),
        Identity(
            put(expansion(z, L, lam, s) - u, {u: s + a}), hoelder_growth(z, L, lam) - a, "one step, u = s + a"
        ),
        Identity(hoelder_growth(inverse_half(z, L), L, Rational(1, 2)), z, "h undoes g at lambda = 1/2"),
        _split,
        assumptions=(L > 0, z > 0),
    ),
    Ours(
        "chien_li/theorem_3_7/sharper",
        "Direct shifts with e(z) = z + eta (n - 1)/n min(L z^lambda, 2 K) + s bound the divergence",
        at("Theorem 3.7", "(13)-(15)"),
        attacked(
            "shifts_full_holder", HOLDER_RUNS, *COMMON, "radius for diameter", "a hundredth of the smoothness"
        ),
        *windows("known_batches", "modulus"),
        Inequality(
            z + eta * L * (n - 1) / n * x + sensitivity(),
            "<=",
            z + eta * L * x + sensitivity(),
            name="never above g(z) + s",
        ),
        statement=private(
            shift_bound(z + eta * (n - 1) / n * Min(L * z**lam, 2 * K) + sensitivity()), *_holder
        ),
        assumptions=(alpha > 1, lam <= 1),
    ),
    Ours(
        "chien_li/theorem_3_7/last_step",
        "One last step from the whole domain: alpha (D + eta L D^lambda + s)^2 / (2 sigma^2)",
        at("Theorem 3.7", "(13)"),
        attacked("last_step_holder", HOLDER_RUNS, "noise counted twice", "alpha / 2 for alpha"),
        Derived("last_step/Hoelder", Gauss((D + eta * L * D**lam + sensitivity()) ** 2 / sigma**2), "one step"),
        statement=private(alpha * (D + eta * L * D**lam + sensitivity()) ** 2 / (2 * sigma**2), *_holder),
        assumptions=(alpha > 1, lam <= 1),
    ),
)
