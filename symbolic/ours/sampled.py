r"""Batches drawn without replacement (docs/proofs/without_replacement.md).

Reveal $b$ of the $n - 1$ common samples, $R$, and a slot of $R$; $i^*$ is in the slot with probability
$q = b/n$ (the coin). In both orders one step has the profile (Balle, Barthe & Gaboardi 2018, Theorem 2)
$$S(\gamma) = q\,\theta_{d/\sigma}\Big(1 + \frac{\gamma - 1}q\Big)\ (\gamma \ge 1),\quad
  S(\gamma) = 1 - \gamma + \gamma S(1/\gamma)\ (\gamma < 1),\quad d = \frac{2\eta K}b,$$
and a window whose coins use shares $\beta_t$ of the noise has $\bigotimes_t S_{\beta_t} \otimes \theta_\mu$,
$\mu^2 = \sum_t a_t^2/((1 - \beta_t)\sigma_t^2)$. No law is conditioned on the future.

Checked: the window is derived in both orders. The law of the batches, the
profile of a step, the last step and the shares have checks of their own.
Letters: i* is the sample in which the data sets differ, and $\theta_\mu$ the profile of mu-GDP.
"""

from lastiterate.symbolic.ours.paper import *

# A pair is a revealed batch and a slot of it. Each batch with i* comes from equally many pairs, by symmetry.
_revealed, _all = binomial(n - 1, b), binomial(n, b)
_pairs = b * _revealed
# Densities gamma at x (shared), kappa at y, xi at y'; the level is t = 1 + q u, and tau = 1 + u in units of q.
_level, _tau = 1 + q * u, 1 + u
_width = x + (1 - beta) * r  # X, linear in every share; u stands for B^2
# By class of losses; D is the diameter, and e(D) what a step of one data set makes of it.
i, k = (Symbol(name, integer=True, nonnegative=True) for name in "ik")
_sum, _power = (Function(name, real=True) for name in "Sp")
_order, _between = j + theta, theta * (1 - theta)
# Largest q and v, bounds on q exp(2 v alpha), (exp(v) - 1)/v and E_w Z^2, and the constant.
_REGIONS = (
    (Rational(1, 5), Rational(1, 16), Rational(7, 10), Rational(26, 25), Rational(47, 20), Integer(2)),
    (Rational(1, 10), S.One, S.One, Rational(1719, 1000), Rational(289, 100), Integer(3)),
)
_REACH = {
    "modulus": update.same_batch(D, omega(D), eta, K),
    "convex": Max(1, eta * L - 1) * D,
    "strongly convex": Max(1 - eta * m, eta * L - 1) * D,
}


def _weight(place: Expr, rest: Expr) -> Expr:
    return binomial(place + rest, place) * p**rest * q**place * u ** (place * (place - 1) / 2)


def _paid(reach: Expr, share: Expr = beta) -> Profile:
    return Composed(
        (SwapStep(q, sensitivity(b) ** 2 / (share * sigma**2)), Gauss(reach**2 / ((1 - beta) * sigma**2)))
    )


CLAIMS = (
    Ours(
        "ours/sampled/theorem",
        "Batches without replacement, any losses: in a window each step pays for its coin and for its shift",
        proof("without_replacement", "Windows"),
        *windows("without_replacement", "modulus", "convex", "steps"),
        assumptions=(alpha > 1, q <= 1),
        repairs="chien_li/theorem_3_12",
    ),
    Ours(
        "ours/sampled/law",
        "Reveal b of the n - 1 others, put i* in a slot with probability b/n: every batch has probability 1/C(n, b)",
        proof("without_replacement", "Reveal a batch, keep a coin hidden"),
        Identity(put((1 - q) / _revealed, {q: b / n}), 1 / _all, "probability of a batch without i*"),
        Identity(_pairs / binomial(n - 1, b - 1), n - b, "pairs that one batch with i* comes from"),
        Identity(put(q * (n - b) / _pairs, {q: b / n}), 1 / _all, "probability of a batch with i*"),
        assumptions=(b <= n - 1,),
    ),
    Ours(
        "ours/sampled/added",
        "If i* is added to n samples, put it in a slot of b of them with probability b/(n + 1): a batch, 1/C(n + 1, b)",
        proof("without_replacement", "Reveal a batch, keep a coin hidden"),
        Identity((1 - b / (n + 1)) / _all, 1 / binomial(n + 1, b), "probability of a batch without i*"),
        Identity((n - b + 1) / _all / (n + 1), 1 / binomial(n + 1, b), "with i*: from n - b + 1 pairs"),
        assumptions=(b <= n,),
    ),
    Ours(
        "ours/sampled/profile",
        "P - t P' = q (N(y) - tau ((1 - share) N(x) + share N(y'))), tau = 1 + (t - 1)/q, share = t/tau",
        proof("without_replacement", "The cost of the coin"),
        Identity(
            (1 - q) * gamma + q * kappa - _level * ((1 - q) * gamma + q * xi),
            q * (kappa - _tau * ((1 - _level / _tau) * gamma + _level / _tau * xi)),
            "P - t P'",
        ),
        Inequality(_level / _tau, "<=", S.One, name="a share, at most one"),
        letters={
            gamma: "density at x, where both laws have mass",
            kappa: "density at y",
            xi: "density at y'",
            u: "level, in units of the rate, above 1",
        },
        assumptions=(q > 0, q < 1),
    ),
    Ours(
        "ours/sampled/small_rates",
        "Steps of the proof that a sampled Gaussian costs 2 or 3 times alpha q^2/s^2 at small rates, 1/s^2 = v or v/16",
        proof("divergences", "Small rates"),
        Identity(
            _weight(i + 1, k) * (i + 1), _weight(i, k + 1) * (k + 1) * q / p * u**i, "a weight and the next"
        ),
        Induction(
            t,
            Le(_sum(t), (t + 1) * _power(t)),
            (Eq(_power(0), 1), Eq(_sum(0), 1)),
            (Eq(_power(t + 1), u * _power(t)), Eq(_sum(t + 1), _sum(t) + _power(t + 1)), u >= 1),
            (Ge(_power(t), 1),),
            name="the mean of the powers of u up to a power is at most that power",
        ),
        Inequality((t + 2) * x, "<=", (t + 1) * (x + u * y), (x <= (t + 1) * y, u >= 1), "so these means rise"),
        Induction(
            t,
            Le(2 * _sum(t), r * t * (t + 1)),
            begin(_sum),
            (Le(_sum(t + 1), _sum(t) + r * (t + 1)), r >= 0),
            name="the logarithm of F(t + 1)",
        ),
        Identity(
            (1 - theta) * j * (j - 1) + theta * j * (j + 1), _order * (_order - 1) + _between, "the chord"
        ),
        Inequality(13 * _between, "<=", _order * (_order - 1), (theta <= 1, j >= 2), "orders between"),
        Inequality(
            q + 1 / (alpha - 1), "<=", Rational(7, 10), (q <= Rational(1, 5), alpha >= 3), "orders from 3"
        ),
        *(
            check
            for rate, top, least, ratio, square, bound in _REGIONS
            for check in (
                IntervalInequality(
                    exp(top * v) - 1, "<=", ratio * top * v, {v: (0, 1)}, f"c = {bound}: exp(v) - 1"
                ),
                Inequality(
                    z**2, "<=", square, (z**2 <= 1 + x * z, x * (1 - q) <= least, q <= rate), "its mean square"
                ),
                Inequality(
                    Rational(14, 13) * ratio * square / (2 * (1 - q)), "<=", bound, (q <= rate,), "altogether"
                ),
            )
        ),
        letters={
            i: "place of a weight",
            k: "a whole number",
            u: "exp(v) or exp(2 v)",
            p: "1 - q",
            theta: "order between j and j + 1",
        },
        assumptions=(v <= 1,),
    ),
    Ours(
        "ours/sampled/step",
        "The last step, without replacement, pays for the change of the data at the share beta, for e(D) at 1 - beta",
        proof("without_replacement", "Windows"),
        *(
            Derived(f"without_replacement/last step, {losses}", _paid(reach), losses).mutant(
                f"{losses}: the coin at all of the noise", profile=_paid(reach, S.One)
            )
            for losses, reach in _REACH.items()
        ),
        assumptions=(beta < 1, beta > 0, q <= 1, m <= L),
    ),
    Ours(
        "ours/sampled/shares",
        "Shares: what one costs the shifts of a straight window, convex in X; the best shift at a given pressure",
        proof("without_replacement", "Windows"),
        Identity(diff(alpha * u / (2 * _width), beta), alpha * u / (2 * _width**2) * r, "what a share costs"),
        Inequality(
            u / (theta * p + (1 - theta) * q),
            "<= and attained",
            theta * u / p + (1 - theta) * u / q,
            (theta <= 1,),
            "the cost of the shifts is convex in X",
        ),
        Inequality(
            -(lam**2) * v / (2 * alpha),
            "<= and attained",
            alpha * a**2 / (2 * v) - lam * a,
            name="the shift lam v / alpha costs least",
            attained=(Eq(a, lam * v / alpha),),
        ),
        letters={
            lam: "what a unit of distance costs later",
            r: "noise variance of the free steps",
            p: "an X",
            u: "square of the distance to hide",
            v: "noise variance of the shift",
            q: "another X",
            theta: "any weight",
        },
        assumptions=(alpha > 1, beta < 1),
    ),
)
