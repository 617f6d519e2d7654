"""The bound of the sampled Gaussian on which the asymptotics rest.

Statement    S(q, sigma; alpha) <= 2 alpha q^2/sigma^2 for q < 1/5, sigma >= 4 and alpha <= alpha*(q, sigma).
Assumptions  alpha* is the largest order with alpha <= M sigma^2/2 - log(sigma^2) and alpha <= (M^2 sigma^2/2 - log(5
             sigma^2))/(M + log(q alpha) + 1/(2 sigma^2)), M = log(1 + 1/(q (alpha - 1))).
Derivation   Cited from Mironov, Talwar & Zhang 2019, Theorem 11. Certified here on boxes that the two conditions cut,
             in both directions of the divergence; the larger one is log(1 + q^2 (exp(v) - 1)) at the order 2, v =
             1/sigma^2, and log(1 + 3 (1 - q) q^2 (exp(v) - 1) + q^3 (exp(3 v) - 1))/2 at 3: with log(1 + x) <= x
             these two hold everywhere.
Source       Altschuler & Talwar 2022, Lemma 2.12.
Remark       The conditions on alpha are for the larger direction: it leaves the bound at large orders. S as
             Definition 2.10 has it stays below log(1/(1 - q)) and has no need of them.
"""

from collections.abc import Mapping

from sympy import Expr, Integer, Rational, Symbol, exp, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, IntervalInequality, Ours
from lastiterate.symbolic.notation import alpha, q, sigma, v, x
from lastiterate.symbolic.sampled_gaussian import sampled_down, sampled_up

_fifth, _low, _tenth = Rational(1, 5), Rational(3, 20), Rational(1, 10)
_large = log(1 + 1 / (q * (alpha - 1)))
_orders = (
    alpha <= _large * sigma**2 / 2 - log(sigma**2),
    alpha * (_large + log(q * alpha) + 1 / (2 * sigma**2)) <= _large**2 * sigma**2 / 2 - log(5 * sigma**2),
)
_bound = 2 * alpha * q**2 / sigma**2
_two: Mapping[Symbol, tuple[Expr | int, Expr | int]] = {q: (_low, _fifth), sigma: (4, 5), alpha: (2, 2)}
_four: Mapping[Symbol, tuple[Expr | int, Expr | int]] = {
    q: (_low, _fifth),
    sigma: (4, 4),
    alpha: (Rational(3, 2), Integer(3)),
}


def _price(
    direction: Expr, box: Mapping[Symbol, tuple[Expr | int, Expr | int]], right: Expr, name: str
) -> IntervalInequality:
    return IntervalInequality(direction, "<=", right, box, name)


_up, _down = sampled_up(q, sigma, alpha), sampled_down(q, sigma, alpha)

CLAIMS = (
    Claim(
        "altschuler_talwar/lemma_2_12/smaller_direction",
        "Lemma 2.12 as Definition 2.10 reads: S <= 2 alpha q^2/sigma^2",
        at("Lemma 2.12"),
        _price(_down, _two, _bound, "order 2, 3/20 <= q <= 1/5, 4 <= sigma <= 5").mutant(
            "a quarter", _price(_down, _two, _bound / 8, "")
        ),
        _price(_down, _four, _bound, "orders 3/2 to 3, q as before, sigma = 4"),
        assumptions=_orders,
    ),
    Ours(
        "altschuler_talwar/lemma_2_12/larger_direction",
        "The bound of Lemma 2.12 holds for the larger direction too, which the asymptotics need",
        at("Lemma 2.12"),
        _price(_up, _two, _bound, "order 2, 3/20 <= q <= 1/5, 4 <= sigma <= 5").mutant(
            "a quarter", _price(_up, _two, _bound / 8, "")
        ),
        _price(_up, _four, _bound, "orders 3/2 to 3, q as before, sigma = 4"),
        IntervalInequality(exp(v) - 1, "<=", 4 * v, {v: (0, Rational(1, 16))}, "order 2, everywhere"),
        IntervalInequality(
            3 * (1 - q) * (exp(v) - 1) + q * (exp(3 * v) - 1),
            "<=",
            12 * v,
            {v: (0, Rational(1, 16)), q: (0, _fifth)},
            "order 3, everywhere",
        ),
        IntervalInequality(log(1 + x), "<=", x, {x: (0, 1)}, "for orders 2 and 3"),
        assumptions=_orders,
    ),
    Ours(
        "altschuler_talwar/lemma_2_12/orders",
        "Beyond alpha* the larger direction breaks the bound, the smaller one does not",
        at("Section 2.3"),
        IntervalInequality(
            _bound.subs({q: _tenth, sigma: 4, alpha: 200}),
            "<",
            sampled_up(_tenth, Integer(4), Integer(200)),
            {},
            "q = 1/10, sigma = 4, alpha = 200",
        ).mutant(
            "at alpha = 4",
            left=_bound.subs({q: _tenth, sigma: 4, alpha: 4}),
            right=sampled_up(_tenth, Integer(4), Integer(4)),
        ),
        IntervalInequality(-log(1 - _tenth), "<", _bound.subs({q: _tenth, sigma: 4, alpha: 200}), {}, "S is smaller"),
    ),
)
