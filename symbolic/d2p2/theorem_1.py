r"""Theorem 1 of Jiang et al. 2025: privacy of D2P2-SGD.

"There are constants $C_1, C_2$ so that for $\epsilon \le C_1 B^2 K/n^2$ D2P2-SGD is $(\epsilon, \delta)$-DP
for every $\delta > 0$ if $\sigma_\epsilon^2 \ge C_2\frac{B^2 K^2\ln(1/\delta)}{n^2\epsilon^2}$."

Checked: one step at $K = B = n = p = d = 1$, the projection $A$ known or not; the orders and the last line of
the proof; and what a projected step costs instead.
Fails: the statement. The noise is added after the random projection, whose length has no bound; for $|A| = x$ the
step is a Gaussian mechanism with $\mu = x/\sigma_\epsilon$. With $A$ hidden the iterate is $A^2 g + A e$,
$g = \pm1$, and the two densities have the ratio $e^{2\xi/\sigma_\epsilon^2}$. The Rényi divergence of the
projected step is finite only for small orders.
Letters: the paper's $B$, $K$, $\sigma_\epsilon$, $p$ and $d$ are b, T, nu, ell and dim in the code; $C_1$ is r,
and chi is $\ln(1/\delta)$.
"""

from lastiterate.symbolic.d2p2.paper import *

_stated = for_some(
    (C_2, r),
    closed(
        HockeyStick(exp(epsilon), LastIterate(SAMPLES), LastIterate(OTHER)) <= exp(-chi),
        Neighbours(SAMPLES, OTHER),
        nu**2 >= C_2 * b**2 * T**2 * chi / (n**2 * epsilon**2),
        epsilon <= r * b**2 * T / n**2,
    ),
)

_noise = sqrt(C_2 * chi)
_box = {C_2: (1, 2), chi: (10, 20)}
_event, _bell = 1 - exp(-epsilon), exp((1 - u) * (2 * y + 1 + u) / 2)
_first, _last = C_2 * b**2 * T**2 / n**2, C_2 * b**2 * T / n**2

_tilted = chi_square(x, ell) * exp(u * x / 2)
_scaled = projected_moment(u, S.One, ell) * (1 - u) * chi_square((1 - u) * x, ell)
_finite = (u < 1, x > 0)
_step = -ell / 2 * log(1 - alpha * (alpha - 1) * r)
_orders = (alpha * (alpha - 1) * r < 1,)
_limit = projected_order_limit(1 / (ell * nu**2))
_pair = ((xi, v), (S.Zero, v))


def _at_least(noise: Expr, length: Expr, budget: Expr = S.One) -> Expr:
    """A lower bound on the true delta at p = d = 1, from |A| >= length and the Gaussian mechanism."""
    return 2 * tail(length) * delta_of_gdp(budget, length / noise)


def _density(place: Expr, mean: Expr = S.Zero, variance: Expr = S.One) -> Expr:
    return exp(density_exponent(place, mean, variance))


CLAIMS = (
    Claim(
        "d2p2/theorem_1",
        "nu^2 >= C_2 B^2 K^2 ln(1/delta) / (n^2 epsilon^2) gives (epsilon, delta)-DP, at K = B = n = p = d = 1",
        at("Theorem 1"),
        IntervalInequality(_at_least(_noise, sqrt(_noise)), "<=", exp(-chi), _box, "epsilon = 1, A known"),
        IntervalInequality(
            2 * (1 - exp(-1)) * tail(sqrt(_noise)) ** 2, "<=", exp(-chi), _box, "epsilon = 1, A not known"
        ),
        Inequality(
            alpha * (alpha - 1),
            "<",
            ell * nu**2,
            (alpha <= nu**2, alpha > 1),
            "the orders of the proof, n >= 10 B",
        ),
        statement=_stated,
        refutation=RefutingRun(
            fails=words(
                "The noise is added after the random projection, whose length has no bound, and so the sensitivity "
                "has none: as {} grows the true delta is at least {} times a constant, where {} is claimed.",
                chi,
                exp(-chi / 2),
                exp(-chi),
            ),
            at={n: 1, b: 1, T: 1, ell: 1, dim: 1, epsilon: 1, C_2: 1, chi: 16},
            run="one step on one sample, normalised gradients arbitrarily near 1 or -1, the projection known; nu^2 = "
            "C_2 log(1/delta)",
            quantity=words("least delta at epsilon = 1"),
            claimed=exp(-chi),
            true=_at_least(_noise / epsilon, sqrt(_noise), epsilon),
        ),
    ),
    Ours(
        "d2p2/theorem_1/every_constant",
        "No C_1 and C_2 serve, A known or not: at K = B = n = p = d = 1, every eps and the least nu^2 the true delta "
        "is at least (1 - exp(-eps)) sqrt(delta)/pi where ln(1/delta) >= 64 C_2 and C_2 ln(1/delta) >= 1",
        at("Theorem 1"),
        Identity(
            _density(xi, x**2, nu**2 * x**2),
            exp(2 * xi / nu**2) * _density(xi, -(x**2), nu**2 * x**2),
            "ratio of the densities of the iterate at xi, the same for every A",
            (x > 0,),
        ),
        Inequality(
            _event * p,
            "<= and attained",
            p - exp(epsilon) * q,
            (q <= exp(-2 * epsilon) * p,),
            "so what the event xi >= eps nu^2 shows, of probabilities p and q",
            attained=(Eq(epsilon, 0), Eq(p, q)),
        ),
        Inequality(
            epsilon * nu**2,
            "<= and attained",
            x * z,
            (x >= y, z >= nu * y, Eq(y**2, epsilon * nu)),
            "it is met where A e > 0, |A| >= y and |e| >= nu y",
        ),
        Identity(Derivative(tail(y), y), -_density(y) / sqrt(2 * pi), "P(A > y) falls as the density"),
        Identity(_density(y + u), _bell * _density(y + 1), "the density there, from its least value on"),
        Inequality(S.One, "<= and attained", _bell, (u <= 1,), "which is at y + 1", attained=(Eq(u, 1),)),
        Identity(
            2 * _event * (_density(y + 1) / sqrt(2 * pi)) ** 2,
            _event * exp(-((y + 1) ** 2)) / pi,
            "both signs, A and e",
        ),
        Inequality(
            (y + 1) ** 2,
            "<= and attained",
            chi / 2,
            (Eq(y**4, C_2 * chi), chi >= 64 * C_2, C_2 * chi >= 1),
            "y^4 = eps^2 nu^2 = C_2 ln(1/delta)",
        ),
        Unbounded(exp(-chi / 2), exp(-chi), {chi: growth}, name="over delta").mutant(
            "its root", right=exp(-chi / 2)
        ),
        letters={
            x: "|A|",
            z: "|e|",
            xi: "iterate A^2 g + A e, g = 1 or -1",
            y: "sqrt(eps nu)",
            u: "between 0 and 1",
            p: "probability of the event where g = 1",
            q: "where g = -1",
        },
    ),
    Ours(
        "d2p2/theorem_1/small_batches",
        "Nor in the range B/n < 1/10 of A.3: at n = 11, K = B = p = d = 1, A known, gradients 1 and 0, every eps <= "
        "ln(12/11) and the least nu^2 the true delta is at least sqrt(delta)/(44 pi) where nu >= 1 and ln(1/delta) >= "
        "576 C_2/(11 eps)^2",
        at("Theorem 1"),
        Inequality(
            q * (p - 2 * v),
            "<= and attained",
            (1 - q) * v + q * p - u * v,
            (u <= 1 + q,),
            "what the event A >= y, |A e + g| >= y nu shows",
            attained=(Eq(u, 1 + q),),
        ),
        Inequality(q * p / 2, "<= and attained", q * (p - 2 * v), (p >= 4 * v,), "at least half of it"),
        Identity(
            _density(y - x),
            exp(x * y - x**2 / 2) * _density(y),
            "the density of e at x = y/nu nearer to the middle",
        ),
        Inequality(
            Rational(3, 2),
            "<= and attained",
            x * y - x**2 / 2,
            (Eq(x * nu, y), Eq(y**2, 3 * nu), nu >= 1),
            "exponent",
        ),
        IntervalInequality(Integer(4), "<=", exp(Rational(3, 2)), {}, "so the event is four times as probable"),
        Inequality(
            (y + 1) ** 2,
            "<=",
            chi / 2,
            (
                Eq(y**2, 3 * nu),
                nu >= 1,
                Eq((11 * epsilon * nu) ** 2, C_2 * chi),
                (11 * epsilon) ** 2 * chi >= 576 * C_2,
                epsilon > 0,
            ),
            "(1/22) P(A > y)^2 is at least exp(-(y + 1)^2)/(44 pi), as in every_constant",
        ),
        letters={
            q: "1/11, probability that the sample is drawn",
            p: "probability of the event if it is drawn",
            v: "if the gradient is 0",
            u: "exp(eps)",
            x: "y/nu",
            y: "sqrt(3 nu)",
        },
    ),
    Ours(
        "d2p2/theorem_1/projected_step",
        "A known: -p/(2(alpha-1)) log(1 - alpha(alpha-1) Delta^2 sigma_A^2/(p nu^2)), either way",
        at("Theorem 1"),
        Identity(renyi(*_pair, alpha), alpha * xi**2 / (2 * v), "two Gaussians, A fixed"),
        Identity(renyi(*_pair[::-1], alpha), alpha * xi**2 / (2 * v), "in the other order"),
        Identity(
            exp(alpha * (alpha - 1) * xi**2 / (2 * v)), exp((alpha - 1) * renyi(*_pair, alpha)), "its moment"
        ),
        Identity(x * chi_square(x, ell), ell * chi_square(x, ell + 2), "two degrees of freedom more", (x > 0,)),
        Identity(_tilted, _scaled, "the mean over A: chi-square, scaled", _finite),
        Identity(projected_moment(alpha * (alpha - 1), r, ell), exp(_step), "the step", _orders),
        Identity(
            exp((alpha - 1) * projected_step(alpha, r, ell, q)),
            1 - q + q * exp(_step),
            "with probability q",
            _orders,
        ),
        Identity(
            diff(-log(1 - u) - u, u), u / (1 - u), "what a projection costs on top grows from 0", (u < 1,)
        ),
        Inequality(S.Zero, "<", u / (1 - u), given=(u < 1,), name="costs more than no projection"),
        assumptions=(alpha > 1,),
        repairs="d2p2/theorem_1",
    ),
    Ours(
        "d2p2/theorem_1/projected_run",
        "The last iterate at d = 1, one noise in all steps: its moment given A has the exponent of T projected steps",
        at("Theorem 1"),
        # Given A the iterate is N(-g |A|^2/sqrt(p), nu^2 |A|^2), g = 1 or -1, and the log-ratio 2 x/(sqrt(p) nu^2).
        Identity(
            -u * x / sqrt(ell) + nu**2 * u**2 * x / 2,
            2 * alpha * (alpha - 1) * x / (ell * nu**2),
            "the exponent of the moment, x = |A|^2, u = 2 alpha/(sqrt(p) nu^2)",
            (Eq(u, 2 * alpha / (sqrt(ell) * nu**2)),),
        ),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "d2p2/section_4/dimension",
        "The loss of a step falls with p towards that without a projection: -p log(1 - x/p) is above x",
        at("Section 4", "Impact of p"),
        *(
            IntervalInequality(less, "<", more, {x: (Rational(1, 10), Rational(9, 10))}, name)
            for less, more, name in (
                (-2 * log(1 - x / 2), -log(1 - x), "p = 2 below 1"),
                (x, -2 * log(1 - x / 2), "no projection below p = 2"),
            )
        ),
    ),
    Ours(
        "d2p2/theorem_1/finite_orders",
        "The projected step is finite exactly while alpha (alpha - 1) Delta^2 sigma_A^2 < p nu^2 (sigma_A = 1)",
        at("Theorem 1"),
        Inequality(alpha, "<", _limit, (alpha * (alpha - 1) < ell * nu**2,), "in units of Delta"),
        Inequality(alpha * (alpha - 1), "<", ell * nu**2, (alpha < _limit,), "conversely"),
        Identity(_tilted, _scaled, "below it, u < 1: a density times a number", _finite),
        Identity(
            _tilted,
            chi_square(S.One, ell) * sqrt(exp(1)) * exp((u - 1) * x / 2) * x ** (ell / 2 - 1),
            "what is integrated, x = |A^T g|^2/sigma_A^2",
            (x > 0,),
        ),
        Inequality(
            S.One, "<= and attained", exp((u - 1) * x / 2), (u >= 1,), "from u = 1 on", attained=(Eq(u, 1),)
        ),
        Identity(Derivative(2 / ell * x ** (ell / 2), x), x ** (ell / 2 - 1), "its integral", (x > 0,)),
        Unbounded(2 * sqrt(x), S.One, {x: growth**2, alpha: 2 * S.One}, name="no bound at p = 1"),
        Inequality(y / 2, "<= and attained", ell * y / 2, (y >= 0,), "x^(p/2) is no less, y = log x"),
        assumptions=(alpha > 1,),
        letters={u: "alpha (alpha - 1) Delta^2 sigma_A^2/(p nu^2)"},
    ),
    Step(
        "d2p2/theorem_1/last_noise",
        "The last variance nu^2 / K is at least C_2 K B^2 (...) exactly where nu^2 is at least C_2 K^2 B^2 (...)",
        at("Section 3.2", "below Theorem 1"),
        Inequality(_last, "<= and attained", nu**2 / T, (nu**2 >= _first,), "if"),
        Inequality(_first, "<= and attained", nu**2, (nu**2 / T >= _last,), "only if"),
    ),
    Step(
        "d2p2/theorem_1/range",
        "The proof's epsilon = C_1 B^2 K^2 / n^2 meets the statement's epsilon <= C_1 B^2 K / n^2",
        at("A.3", "last line of the proof"),
        Inequality(_first, "<=", _last, name="same C_1, here C_2").mutant("K^3", left=_first * T),
        Asymptotic(T**2, T, path={T: growth}, name="in K, for any two constants"),
    ),
    Ours(
        "d2p2/theorem_1/range_one_step",
        "For K = 1 the two ranges of epsilon agree",
        at("A.3", "last line of the proof"),
        Identity(put(_first, {T: 1}), put(_last, {T: 1}), "K = 1"),
        repairs="d2p2/theorem_1/range",
    ),
)
