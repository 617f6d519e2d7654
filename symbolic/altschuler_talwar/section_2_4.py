r"""Sections 2.3 and 2.4 of Altschuler & Talwar 2022: privacy amplification by sampling and by iteration.

Lemma 2.12: $S_\alpha(q, \sigma) \le 2\alpha q^2/\sigma^2$ for $q < 1/5$, $\sigma \ge 4$ and
$1 < \alpha \le \alpha^*(q, \sigma)$.
Lemma 2.15: $D_\alpha^{(z)}(P * N(0, \sigma^2) \| Q * N(0, \sigma^2))
\le D_\alpha^{(z + a)}(P \| Q) + \alpha a^2/(2\sigma^2)$.
Lemma 2.16: $D_\alpha^{(z + s)}(\phi(X) \| \phi'(X')) \le D_\alpha^{(z)}(X \| X')$ for contractions at most
$s$ apart.
Propositions 2.17 and 3.2: $D_\alpha(X_T \| X'_T) \le \frac\alpha2 \sum_t a_t^2/\sigma_t^2$ where
$z_t = z_{t - 1} + s_t - a_t \ge 0$ and $z_T = 0$, from $z_0 = 0$ or from $z_\tau = D$.

All hold, Lemma 2.12 in both directions.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_tenth = Rational(1, 10)
_large = log(1 + 1 / (q * (alpha - 1)))
_orders = And(
    alpha > 1,
    alpha <= _large * sigma**2 / 2 - 2 * log(sigma),
    alpha * (_large + log(q * alpha) + 1 / (2 * sigma**2)) <= _large**2 * sigma**2 / 2 - log(5 * sigma**2),
)
_bound = 2 * alpha * q**2 / sigma**2
_at_200 = _bound.subs({q: _tenth, sigma: 4, alpha: 200})
_plain = Normal(0, sigma**2)
_mixed = (1 - q) * _plain + q * Normal(1, sigma**2)
_covered, _squares, _shift = (Function(name, nonnegative=True) for name in ("R", "C", "a"))


def _lemma_2_12(*laws: Expr) -> ForAll:
    return closed(RenyiDivergence(alpha, *laws) <= _bound, q < Rational(1, 5), sigma >= 4, _orders)


def _differ(other: Expr) -> Inequality:
    """xi, gamma, zeta and kappa are phi_T(x), phi'_T(x), phi'_T(y) and phi'_(T-1)(y), for |x - y| <= z."""
    given = (Abs(xi - gamma) <= s, Abs(gamma - zeta) <= z)
    return Inequality(Abs(xi - other), "<= and attained", z + s, given, "points z apart end z + s_T apart")


CLAIMS = (
    Claim(
        "altschuler_talwar/lemma_2_12",
        "Lemma 2.12, S as Definition 2.10 reads: S <= 2 alpha q^2/sigma^2 for q < 1/5, sigma >= 4, alpha <= alpha*",
        at("Lemma 2.12"),
        Deduced(_lemma_2_12(_plain, _mixed), "small_rate/back"),
    ),
    Ours(
        "altschuler_talwar/lemma_2_12/larger_direction",
        "The bound of Lemma 2.12 holds for the larger direction too, which the asymptotics need",
        at("Lemma 2.12"),
        Deduced(_lemma_2_12(_mixed, _plain), "small_rate"),
    ),
    Ours(
        "altschuler_talwar/lemma_2_12/orders",
        "q = 1/10, sigma = 4, alpha = 200: the larger direction breaks the bound, the smaller does not; alpha* < 6.02",
        at("Section 2.3"),
        IntervalInequality(_at_200, "<", SampledUp(_tenth, Integer(4), Integer(200)), {}, "larger direction"),
        IntervalInequality(SampledDown(_tenth, Integer(4), Integer(200)), "<", _at_200, {}, "S there"),
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
        "Lemma 2.15: a Gaussian step hides a shift a at the cost alpha a^2/(2 sigma^2)",
        at("Lemma 2.15"),
        Deduced(statements.shift_reduction(alpha >= 1), "shift_reduction"),
    ),
    Claim(
        "altschuler_talwar/section_2_4/lemma_2_16",
        "Lemma 2.16 and (A.1): random contractions that are coupled within s lengthen a shift z to z + s",
        at("Lemma 2.16", "(A.1)"),
        Deduced(
            statements.reduction(z + APART, OTHER_MAP, alpha >= 1, CONTRACTION, CLOSE), "reduction/contractions"
        ),
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
        Identity(put(D + w * (s - a), {a: D / w + s}), S.Zero, "equal shifts D/w + s end at 0"),
        Identity(
            renyi((D + w * s, w * v), (S.Zero, w * v), alpha), alpha / 2 * w * (D / w + s) ** 2 / v, "attained"
        ),
        assumptions=(alpha > 1,),
    ),
    Step(
        "altschuler_talwar/section_2_4/proposition_3_2_maps",
        "In the same round both runs apply their maps of time T, which differ by s_T",
        at("Proposition 3.2"),
        _differ(zeta),
        misprint=_differ(kappa),
    ),
    Step(
        "altschuler_talwar/section_2_4/equal_shifts",
        "With equal noise and s = 0, equal shifts are best: D^2/w",
        at("Step 3b"),
        sum_induction(
            "any shifts (Cauchy and Schwarz)",
            Le(_covered(t) ** 2, t * _squares(t)),
            {_covered: _shift(t), _squares: _shift(t) ** 2},
        ),
        Inequality(D**2 / w, "<=", x, given=(w * x >= D**2,), name="so those that cover D cost D^2/w at least"),
        Identity(put(w * x**2, {x: D / w}), D**2 / w, "equal shifts cost that"),
    ),
)
