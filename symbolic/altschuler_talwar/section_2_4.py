"""Privacy amplification by sampling and by iteration: Lemmas 2.12, 2.15 and 2.16, Propositions 2.17 and 3.2.

Lemma 2.12 is Theorem 11 of Mironov, Talwar & Zhang 2019, about the larger direction, hence about both; certified
here on boxes that the conditions on alpha cut. In 2.4 sigma is the noise on the iterate, v its
variance, w = T - tau steps: by Cauchy and Schwarz equal shifts are best, and two Gaussian walks attain the value.
"""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.deductions import CLOSE, CONTRACTION
from lastiterate.symbolic.derivations.iterations import A
from lastiterate.symbolic.derivations.statements import APART, OTHER_MAP
from lastiterate.symbolic.prelude import *

THEOREM_11: Final = Source(cited("Mironov, Talwar & Zhang 2019"), "Theorem 11")
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


_up, _down = SampledUp(q, sigma, alpha), SampledDown(q, sigma, alpha)

_zero = Integer(0)
_plain = Normal(0, sigma**2)
_mixed = (1 - q) * _plain + q * Normal(1, sigma**2)


def _differ(other: Expr) -> Inequality:
    """xi is phi_T(x), gamma phi'_T(x), zeta phi'_T(y) and kappa phi'_(T-1)(y), where |x - y| <= z."""
    given = (Abs(xi - gamma) <= s, Abs(gamma - zeta) <= z)
    return Inequality(Abs(xi - other), "<= and attained", z + s, given, "points z apart end z + s_T apart")


_covered, _squares, _shift = (Function(name, nonnegative=True) for name in ("R", "C", "a"))

CLAIMS = (
    Claim(
        "altschuler_talwar/lemma_2_12",
        "Lemma 2.12, S as Definition 2.10 reads: S <= 2 alpha q^2/sigma^2 for q < 1/5, sigma >= 4, alpha <= alpha*",
        at("Lemma 2.12"),
        Cited(RenyiDivergence(alpha, _plain, _mixed) <= _bound, THEOREM_11, (q < _fifth, sigma >= 4, alpha > 1)),
        IntervalInequality(_down, "<=", _bound, _two, "order 2, 3/20 <= q <= 1/5, 4 <= sigma <= 5"),
        IntervalInequality(_down, "<=", _bound, _four, "orders 3/2 to 3, q as before, sigma = 4"),
        assumptions=_orders,
    ),
    Ours(
        "altschuler_talwar/lemma_2_12/larger_direction",
        "The bound of Lemma 2.12 holds for the larger direction too, which the asymptotics need",
        at("Lemma 2.12"),
        Cited(RenyiDivergence(alpha, _mixed, _plain) <= _bound, THEOREM_11, (q < _fifth, sigma >= 4, alpha > 1)),
        IntervalInequality(_up, "<=", _bound, _two, "order 2, 3/20 <= q <= 1/5, 4 <= sigma <= 5"),
        IntervalInequality(_up, "<=", _bound, _four, "orders 3/2 to 3, q as before, sigma = 4"),
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
        "q = 1/10, sigma = 4, alpha = 200: the larger direction breaks the bound, the smaller does not; alpha* < 6.02",
        at("Section 2.3"),
        IntervalInequality(
            _bound.subs({q: _tenth, sigma: 4, alpha: 200}),
            "<",
            SampledUp(_tenth, Integer(4), Integer(200)),
            {},
            "q = 1/10, sigma = 4, alpha = 200",
        ),
        IntervalInequality(
            SampledDown(_tenth, Integer(4), Integer(200)),
            "<",
            _bound.subs({q: _tenth, sigma: 4, alpha: 200}),
            {},
            "S there",
        ),
        IntervalInequality(
            log(1 + 10 / (Rational(502, 100) + x)) * 8 - log(16),
            "<",
            Rational(602, 100) + x,
            {x: (0, oo)},
            "no order 6.02 + x meets the first condition of alpha*",
        ),
    ),
    Claim(
        "altschuler_talwar/section_2_4/lemma_2_15",
        "Lemma 2.15: a Gaussian step hides a shift a at the price alpha a^2/(2 sigma^2)",
        at("Lemma 2.15"),
        Deduced(statements.shift_reduction(alpha >= 1), "shift_reduction"),
    ),
    Claim(
        "altschuler_talwar/section_2_4/lemma_2_16",
        "Lemma 2.16 and (A.1): random contractions that are coupled within s lengthen a shift z to z + s",
        at("Lemma 2.16", "(A.1)"),
        Deduced(statements.reduction(z + APART, OTHER_MAP, alpha >= 1, CONTRACTION, CLOSE), "reduction/contractions"),
    ),
    Claim(
        "altschuler_talwar/section_2_4/proposition_2_17",
        "Proposition 2.17: contractions s_t apart, reals a_t with z_t = z_{t-1} + s_t - a_t >= 0, z_0 = z_T = 0",
        at("Proposition 2.17"),
        Derived("iterations/contractions", Gauss(A)),
        letters={A: "sum of a_t^2/sigma_t^2"},
    ),
    Claim(
        "altschuler_talwar/section_2_4/proposition_3_2",
        "Proposition 3.2: the same after time tau, where the laws are at most D apart in W_inf, from z_tau = D",
        at("Proposition 3.2"),
        Derived("iterations/contractions, apart", Gauss(A)),
        letters={A: "sum of a_t^2/sigma_t^2"},
    ),
    Ours(
        "altschuler_talwar/section_2_4/proposition_3_2_attained",
        "Equal shifts D/w + s over w steps: two Gaussian walks attain Proposition 3.2",
        at("Proposition 3.2"),
        Identity(put(D + w * (s - a), {a: D / w + s}), _zero, "equal shifts D/w + s end at 0").mutant(
            "shifts D/w", left=put(D + w * (s - a), {a: D / w})
        ),
        Identity(
            renyi((D + w * s, w * v), (_zero, w * v), alpha), alpha / 2 * w * (D / w + s) ** 2 / v, "attained by walks"
        ),
        assumptions=(alpha > 1,),
    ),
    Step(
        "altschuler_talwar/section_2_4/proposition_3_2_maps",
        "In the same round both runs apply their maps of time T, which differ by s_T",
        at("Proposition 3.2"),
        _differ(zeta),
        misprint=_differ(kappa),
        remark="""The display gives the second run the map phi'_(T-1) beside phi_T in the first. s_T is the distance of
        phi_T and phi'_T, and Definition 2.13 has X_T from X_(T-1) by the map of time T. The reading phi'_T holds.""",
    ),
    Step(
        "altschuler_talwar/section_2_4/equal_shifts",
        "With equal noise and s = 0, equal shifts are best: D^2/w",
        at("Step 3b"),
        Induction(
            t,
            Le(_covered(t) ** 2, t * _squares(t)),
            begin(_covered, _squares),
            (
                gains(_covered, _shift(t)),
                gains(_squares, _shift(t) ** 2),
            ),
            name="any shifts (Cauchy and Schwarz)",
        ).mutant("a tenth of a step less", conclusion=Le(_covered(t) ** 2, (t - _tenth) * _squares(t))),
        Inequality(D**2 / w, "<=", x, given=(w * x >= D**2,), name="so those that cover D cost D^2/w at least"),
        Identity(put(w * x**2, {x: D / w}), D**2 / w, "equal shifts cost that"),
    ),
)
