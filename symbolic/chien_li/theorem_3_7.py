"""Theorem 3.7: privacy of noisy gradient descent with Hoelder continuous gradients, full batches.

As Theorem 3.1 with Lemma 3.8 for Lemma 3.3; the same step below (10) does not follow, and the same direct shifts mend
it. With u_t = s + a_t the backward A-program is the forward z-program of e(z) = g(z) + s, g(x) = x + eta L x^lambda.
"""

from lastiterate.symbolic.chien_li.paper import COMMON, FULL_BATCHES, HOLDER_RUNS, at, attacked, shift_bound
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.derivations.shared_noise import B
from lastiterate.symbolic.prelude import *

_shift = s + a

# D_t of (15) and its power lambda; 2 eta K is n s.
_tracked, _power, _cost, _length = (Function(name, nonnegative=True) for name in ("z", "y", "C", "a"))
_grown = _tracked(t) + eta * L * _power(t) + s
_tracking = (
    (Eq(_tracked(0), 0),),
    (Eq(_tracked(t + 1), Min(_grown, _tracked(t) + n * s, D)),),
)

CLAIMS = (
    Claim(
        "chien_li/theorem_3_7",
        "(13)-(15) bound the Renyi divergence for Hoelder continuous gradients",
        at("Theorem 3.7", "(13)-(15)"),
        attacked(
            "chien_li_3_7",
            HOLDER_RUNS,
            *COMMON,
            "a tenth of the diameter",
            "as if there were 2 n samples",
            name="Hoelder",
        ),
        Derived("shared_noise/modulus, 0", Gauss(B / sigma**2), "tracked from 0"),
        Derived("shared_noise/modulus, domain", Gauss(B / sigma**2), "tracked from the domain"),
        statement=private(
            shift_bound(z + eta * L * z**lam + sensitivity(), split=True, most=z + 2 * eta * K),
            *FULL_BATCHES,
            Holder(L, lam),
            lam <= 1,
        ),
        assumptions=(alpha > 1, lam <= 1),
    ),
    Claim(
        "chien_li/theorem_3_7/burn_in",
        "After a burn-in there is no further loss with Hoelder gradients: (13) is the same for all later T",
        at("Section 3.2", "above Theorem 3.7"),
        Induction(t, Le(_tracked(t), D), *_tracking, name="D_tau is at most D").mutant(
            "three percent less", conclusion=Le(_tracked(t), Rational(97, 100) * D)
        ),
        Induction(t, Ge(_tracked(t), Min(s * t, D)), *_tracking, name="and D from D/s steps on").mutant(
            "three percent sooner", conclusion=Ge(_tracked(t), Min(Rational(103, 100) * s * t, D))
        ),
        Inequality(
            (s + a) ** 2, "<= and attained", s**2 / beta + a**2 / (1 - beta), (beta > 0, beta < 1), "a step, any share"
        ),
        Induction(
            t,
            Ge(_cost(t), s**2 * t),
            begin(_cost),
            (gains(_cost, (s + _length(t)) ** 2),),
            name="a window costs s^2 a step or more",
        ).mutant("shifts taken off", laws=(gains(_cost, (s - _length(t)) ** 2),)),
        Inequality(
            D,
            "<= and attained",
            s * (T - w),
            given=(w * s**2 <= u, D / s + u / s**2 <= T),
            name="so from T = D/s + u/s^2 on all windows that cost u or less begin at D: the same ones for every T",
        ).mutant("from T = u/s^2 on", given=(w * s**2 <= u, u / s**2 <= T)),
        letters={u: "cost of some window that begins at D", w: "steps of another window"},
    ),
    Step(
        "chien_li/theorem_3_7/two_programs",
        "The A-program of (15) is the z-program of e(z) = g(z) + s, and the best beta leaves (s + a)^2",
        at("Theorem 3.7", "(15)"),
        Identity(put(expansion(z, L, lam, s) - u, {u: _shift}), hoelder_growth(z, L, lam) - a, "one step, u = s + a"),
        Identity(
            hoelder_growth(inverse_half(z, L), L, Rational(1, 2)), z, "A -> h(A + a) undoes z -> g(z) - a, lambda = 1/2"
        ),
        Inequality(_shift**2, "<= and attained", s**2 / beta + a**2 / (1 - beta), name="price of a step"),
        assumptions=(L > 0, z > 0, beta > 0, beta < 1),
    ),
    Ours(
        "chien_li/theorem_3_7/sharper",
        "Direct shifts with e(z) = z + eta (n - 1)/n min(L z^lambda, 2 K) + s bound the divergence",
        at("Theorem 3.7", "(13)-(15)"),
        attacked(
            "shifts_full_holder",
            HOLDER_RUNS,
            *COMMON,
            "radius for diameter",
            "a hundredth of the smoothness",
            name="direct shifts",
        ),
        *windows("known_batches", "modulus"),
        Inequality(
            z + eta * L * (n - 1) / n * x + 2 * eta * K / n,
            "<=",
            z + eta * L * x + 2 * eta * K / n,
            name="never above g(z) + s; x = z^lambda",
        ),
        statement=private(
            shift_bound(z + eta * (n - 1) / n * Min(L * z**lam, 2 * K) + sensitivity()),
            *FULL_BATCHES,
            Holder(L, lam),
            lam <= 1,
        ),
        assumptions=(alpha > 1, lam <= 1),
    ),
    Ours(
        "chien_li/theorem_3_7/last_step",
        "One last step from the whole domain: alpha (D + eta L D^lambda + s)^2 / (2 sigma^2)",
        at("Theorem 3.7", "(13)"),
        attacked("last_step_holder", HOLDER_RUNS, "noise counted twice", "alpha / 2 for alpha", name="one step"),
        Derived("last_step/Hoelder", Gauss((D + eta * L * D**lam + sensitivity()) ** 2 / sigma**2), "one step"),
        statement=private(
            alpha * (D + eta * L * D**lam + sensitivity()) ** 2 / (2 * sigma**2),
            *FULL_BATCHES,
            Holder(L, lam),
            lam <= 1,
        ),
        assumptions=(alpha > 1, lam <= 1),
    ),
)
