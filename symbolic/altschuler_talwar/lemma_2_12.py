"""The bound of the sampled Gaussian on which the asymptotics rest.

Statement    S(q, sigma; alpha) <= 2 alpha q^2/sigma^2 for q < 1/5, sigma >= 4 and alpha <= alpha*(q, sigma).
Assumptions  alpha* is the largest order with alpha <= M sigma^2/2 - log(sigma^2) and alpha <= (M^2 sigma^2/2 - log(5
             sigma^2))/(M + log(q alpha) + 1/(2 sigma^2)), M = log(1 + 1/(q (alpha - 1))).
Derivation   Cited from Mironov, Talwar & Zhang 2019, Theorem 11. Certified here on boxes that the two conditions cut,
             in both directions of the divergence; at the order 2 the larger one is log(1 + q^2 (exp(1/sigma^2) - 1)).
Source       Altschuler & Talwar 2022, Lemma 2.12.
Remark       The conditions on alpha are for the larger direction: it leaves the bound at large orders. S as
             Definition 2.10 has it stays below log(1/(1 - q)) and has no need of them.
"""

from collections.abc import Mapping

from sympy import Expr, Integer, Rational, Symbol, exp, log

from lastiterate.symbolic.altschuler_talwar.paper import at, wrong
from lastiterate.symbolic.claim import Claim, Holds, Relation, Role
from lastiterate.symbolic.notation import alpha, q, sigma
from lastiterate.symbolic.sampled_gaussian import sampled_down, sampled_up

_fifth, _tenth = Rational(1, 5), Rational(1, 10)
_large = log(1 + 1 / (q * (alpha - 1)))
_orders = (
    alpha <= _large * sigma**2 / 2 - log(sigma**2),
    alpha * (_large + log(q * alpha) + 1 / (2 * sigma**2)) <= _large**2 * sigma**2 / 2 - log(5 * sigma**2),
)
_bound = 2 * alpha * q**2 / sigma**2
_two: Mapping[Symbol, tuple[Expr | int, Expr | int]] = {q: (_tenth, _fifth), sigma: (4, 8), alpha: (2, 2)}
_four: Mapping[Symbol, tuple[Expr | int, Expr | int]] = {
    q: (_tenth, _fifth),
    sigma: (4, 4),
    alpha: (Rational(3, 2), Integer(4)),
}


def _price(direction: Expr, box: Mapping[Symbol, tuple[Expr | int, Expr | int]], right: Expr, name: str) -> Holds:
    return Holds(direction, Relation.AT_MOST, right, box, name)


_up, _down = sampled_up(q, sigma, alpha), sampled_down(q, sigma, alpha)

CLAIMS = (
    Claim(
        key="altschuler_talwar/lemma_2_12/smaller_direction",
        title="Lemma 2.12 as Definition 2.10 reads: S <= 2 alpha q^2/sigma^2",
        source=at(275, "Lemma 2.12"),
        assumptions=_orders,
        checks=(
            _price(_down, _two, _bound, "order 2, 1/10 <= q <= 1/5, 4 <= sigma <= 8"),
            _price(_down, _four, _bound, "orders 3/2 to 4, sigma = 4"),
        ),
        mutants=(wrong("a quarter", _price(_down, _two, _bound / 8, "")),),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="altschuler_talwar/lemma_2_12/larger_direction",
        title="The bound of Lemma 2.12 holds for the larger direction too, which the asymptotics need",
        source=at(275, "Lemma 2.12"),
        assumptions=_orders,
        checks=(
            _price(_up, _two, _bound, "order 2, 1/10 <= q <= 1/5, 4 <= sigma <= 8"),
            _price(_up, _four, _bound, "orders 3/2 to 4, sigma = 4"),
            Holds(
                log(1 + q**2 * (exp(1 / sigma**2) - 1)),
                Relation.AT_MOST,
                4 * q**2 / sigma**2,
                {q: (Rational(1, 1000), _fifth), sigma: (4, 100)},
                "order 2, closed form",
            ),
        ),
        mutants=(wrong("a quarter", _price(_up, _two, _bound / 8, "")),),
        role=Role.OURS,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="altschuler_talwar/lemma_2_12/orders",
        title="Beyond alpha* the larger direction breaks the bound, the smaller one does not",
        source=at(273, "Section 2.3"),
        checks=(
            Holds(
                _bound.subs({q: _tenth, sigma: 4, alpha: 200}),
                Relation.BELOW,
                sampled_up(_tenth, Integer(4), Integer(200)),
                {},
                "q = 1/10, sigma = 4, alpha = 200",
            ),
            Holds(-log(1 - _tenth), Relation.BELOW, _bound.subs({q: _tenth, sigma: 4, alpha: 200}), {}, "S is smaller"),
        ),
        mutants=(
            wrong(
                "at alpha = 4",
                Holds(
                    _bound.subs({q: _tenth, sigma: 4, alpha: 4}),
                    Relation.BELOW,
                    sampled_up(_tenth, Integer(4), Integer(4)),
                    {},
                ),
            ),
        ),
        role=Role.OURS,
    ),
)
