"""One step on a batch drawn without replacement, and the window of shifts behind it.

Repairs Chien & Li 2025, Theorem 3.12. What is revealed, a batch without i*, is the same for both runs; the profile of
one step is Balle, Barthe & Gaboardi 2018, Theorem 2; no law is conditioned on the future. The cost of the best shifts
is B^2 / X, X = x + (1 - beta) r linear in every share.
"""

from collections.abc import Iterator

from lastiterate.symbolic.chien_li.paper import COMMON, attacked, linear
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.derivations.losses import omega
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.prelude import *

_one, _off = Integer(1), Rational(97, 100)

# Two ways to spend X, which is x and (1 - beta) r; u stands for B^2.
_width = x + (1 - beta) * r


# A pair is a revealed batch, b of the n - 1 other samples, and a slot of it. Each batch with i* comes from equally many
# pairs, by symmetry.
_revealed, _with, _all = binomial(n - 1, b), binomial(n - 1, b - 1), binomial(n, b)
_pairs = b * _revealed
_swapped = q * (n - b) / _pairs
_without_it = Identity(put((1 - q) / _revealed, {q: b / n}), 1 / _all, "chance of a batch without i*")
_pairs_each = Identity(_pairs / _with, n - b, "pairs that one batch with i* comes from")
_with_it = Identity(put(_swapped, {q: b / n}), 1 / _all, "chance of a batch with i*")


# Densities gamma at x (shared), kappa at y, xi at y'; the level is t = 1 + q u, and 1 + u in units of q.
_level, _tau = 1 + q * u, 1 + u


_left = (1 - q) * gamma + q * kappa - _level * ((1 - q) * gamma + q * xi)


def _price(reach: Expr, share: Expr = beta, rest: Expr = 1 - beta) -> Profile:
    """The price of the coin at a share of the noise, and of a shift at the rest."""
    return Composed((SwapStep(q, sensitivity(b) ** 2 / (share * sigma**2)), Gauss(reach**2 / (rest * sigma**2))))


def _last_step() -> Iterator[Derived]:
    """By class of losses; D is the diameter, and e(D) what a step of one data set makes of it."""
    reached = {
        "modulus": update.same_batch(D, omega(D), eta, K),
        "convex": Max(1, eta * L - 1) * D,
        "strongly convex": Max(1 - eta * m, eta * L - 1) * D,
    }
    for losses, reach in reached.items():
        yield (
            Derived(f"without_replacement/last step, {losses}", _price(reach), losses)
            .mutant(f"{losses}: shares add up to more than one", profile=_price(reach, rest=1 - _off * beta))
            .mutant(f"{losses}: the coin at all of the noise", profile=_price(reach, share=_one))
        )


CLAIMS = (
    Ours(
        "ours/sampled/theorem",
        "Batches without replacement, any losses: in a window each step pays for its coin and for its shift",
        proof("without_replacement", "Windows"),
        attacked("shifts_without_replacement_convex", linear("without_replacement"), *COMMON[:2])
        .mutant("priced by S_down, as in the papers", bound="without_replacement_s_down")
        .mutant("half the rate", bound="half_the_rate"),
        *windows("without_replacement", "modulus"),
        *windows("without_replacement", "convex"),
        assumptions=(alpha > 1, q <= 1),
        repairs="chien_li/theorem_3_12",
    ),
    Ours(
        "ours/sampled/law",
        "Reveal b of the n - 1 others, put i* in a slot with chance b/n: every batch has the chance 1/binomial(n, b)",
        proof("without_replacement", "Reveal a batch, keep a coin hidden"),
        _without_it.mutant("three percent more swaps", left=put((1 - q) / _revealed, {q: Rational(103, 100) * b / n})),
        _pairs_each.mutant("a pair more", right=n - b + 1),
        _with_it.mutant("three percent more swaps, with i*", left=put(_swapped, {q: Rational(103, 100) * b / n})),
        assumptions=(b <= n - 1,),
    ),
    Ours(
        "ours/sampled/profile",
        "P - t P' = q (N(y) - tau ((1 - share) N(x) + share N(y'))), tau = 1 + (t - 1)/q, share = t/tau",
        proof("without_replacement", "The price of the coin"),
        Identity(_left, q * (kappa - _tau * ((1 - _level / _tau) * gamma + _level / _tau * xi)), "P - t P'"),
        Inequality(_level / _tau, "<=", _one, name="a share, at most one"),
        letters={
            gamma: "density at x, where both laws have mass",
            kappa: "density at y",
            xi: "density at y'",
            u: "level, in units of the rate, above 1",
        },
        assumptions=(q > 0, q < 1),
    ),
    Ours(
        "ours/sampled/step",
        "The last step, without replacement, pays for the change of the data at the share beta, for e(D) at 1 - beta",
        proof("without_replacement", "Windows"),
        *_last_step(),
        assumptions=(beta < 1, beta > 0, q <= 1, m <= L),
    ),
    Ours(
        "ours/sampled/shares",
        "Shares: what one costs the shifts of a straight window, convex in X; the best shift at a given pressure",
        proof("without_replacement", "Windows"),
        Identity(
            diff(alpha * u / (2 * _width), beta), alpha * u / (2 * _width**2) * r, "what a share costs the shifts"
        ),
        Inequality(
            u / (theta * p + (1 - theta) * q),
            "<= and attained",
            theta * u / p + (1 - theta) * u / q,
            (theta <= 1,),
            "the cost of the shifts is convex in X",
        ).mutant("three percent less", right=_off * (theta * u / p + (1 - theta) * u / q)),
        Inequality(
            -(lam**2) * v / (2 * alpha),
            "<= and attained",
            alpha * a**2 / (2 * v) - lam * a,
            name="the shift lam v / alpha costs least",
            attained=(Eq(a, lam * v / alpha),),
        ).mutant("three percent more", left=-_off * lam**2 * v / (2 * alpha)),
        letters={
            lam: "what a unit of distance costs later",
            r: "noise variance of the free steps",
            u: "square of the distance to hide",
            v: "noise variance of the shift",
            p: "an X",
            q: "another",
            theta: "any weight",
        },
        assumptions=(alpha > 1, beta < 1),
    ),
)
