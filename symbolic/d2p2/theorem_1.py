"""Privacy of D2P2-SGD, refuted, and the divergence of the projected step that stands in its place.

At K = B = n = p = d = epsilon = 1 and |A| = x the step is a Gaussian mechanism of mu = x / nu: the true delta with A
known is at least P(|A| >= x) times that at x, and |A| is unbounded. With A hidden the iterate is A^2 g + A e, g = 1 or
-1, whose densities have the ratio exp(2 xi/nu^2), A known or not: delta is at least (1 - exp(-epsilon)) P(xi >= epsilon
nu^2), and A e >= epsilon nu^2 where A and e have one sign and |A| and |e|/nu are at least sqrt(epsilon nu).
`numeric.random_projection` has the exact account.
"""

from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.refutations import PRIVACY
from lastiterate.symbolic.prelude import *

_one, _zero = Integer(1), Integer(0)
_tenth_one = Rational(1, 10)
_classic = sqrt(2 * log(Rational(5, 4) * 10**5))


def _at_least(noise: Expr, length: Expr) -> Expr:
    """A lower bound of the true delta at epsilon = 1, p = d = 1: |A| >= length, and then the Gaussian mechanism."""
    return 2 * tail(length) * delta_of_gdp(_one, length / noise)


def _density(place: Expr, mean: Expr, variance: Expr) -> Expr:
    """A Gaussian density, without its normalising constant."""
    return exp(density_exponent(place, mean, variance))


def _below_truth(constant: int, minus_log: int) -> IntervalInequality:
    noise = sqrt(Integer(constant * minus_log))
    name = f"C_2 = {constant}, delta = exp(-{minus_log})"
    return IntervalInequality(exp(-Integer(minus_log)), "<", _at_least(noise, sqrt(noise)), {}, name)


def _hidden(budget: Expr, square: Expr) -> Expr:
    """The same with A hidden: nu^2 = ``square``/budget^2, |A| and |e|/nu both above the fourth root of ``square``."""
    return 2 * (1 - exp(-budget)) * tail(sqrt(sqrt(square))) ** 2


_noise = sqrt(C_2 * chi)
_box = {C_2: (1, 2), chi: (10, 20)}
_scaled = projected_moment(u, _one, ell) * (1 - u) * chi_square((1 - u) * x, ell)
_finite = (u < 1, x > 0)
_step = -ell / 2 * log(1 - alpha * (alpha - 1) * r)
_orders = (alpha * (alpha - 1) * r < 1,)
_pair = ((xi, v), (_zero, v))
_first, _last = C_2 * b**2 * T**2 / n**2, C_2 * b**2 * T / n**2
_limit = projected_order_limit(r)

CLAIMS = (
    Claim(
        "d2p2/theorem_1",
        "nu^2 >= C_2 B^2 K^2 ln(1/delta) / (n^2 epsilon^2) gives (epsilon, delta)-DP, at K = B = n = p = d = 1",
        at("Theorem 1"),
        IntervalInequality(_at_least(_noise, sqrt(_noise)), "<=", exp(-chi), _box, "epsilon = 1, A known").mutant(
            "delta squared", right=exp(-2 * chi)
        ),
        IntervalInequality(_hidden(_one, C_2 * chi), "<=", exp(-chi), _box, "epsilon = 1, A not known").mutant(
            "delta squared, A not known", right=exp(-2 * chi)
        ),
        Inequality(
            alpha * (alpha - 1),
            "<",
            ell * nu**2,
            (alpha <= nu**2, alpha > 1),
            "n >= 10 B: the orders of the proof have a finite divergence",
        ),
        statement=for_some(
            (C_2, r),
            closed(
                HockeyStick(exp(epsilon), LastIterate(SAMPLES), LastIterate(OTHER)) <= exp(-chi),
                Neighbours(SAMPLES, OTHER),
                nu**2 >= C_2 * b**2 * T**2 * chi / (n**2 * epsilon**2),
                epsilon <= r * b**2 * T / n**2,
            ),
        ),
        refutation=PRIVACY,
        remark="""Theorem 1 calls the step post-processing of a Gaussian mechanism of bounded sensitivity. The noise is
        added after the random projection, so the sensitivity is |A^T (g - g')| / sqrt(p), which has no bound: at K = B
        = n = p = d = 1 the true delta is at least sqrt(delta) times a constant, from some delta down, for every C_1 and
        C_2, whether A is known or not (d2p2/theorem_1/every_constant). A normalised slope is below 1, and as near to 1
        as one likes. By z3 the orders of its proof reach where the
        divergence is infinite. What holds is the Renyi divergence d2p2/theorem_1/projected_step, finite for small
        orders only.""",
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
            (1 - exp(-epsilon)) * p,
            "<= and attained",
            p - exp(epsilon) * q,
            (q <= exp(-2 * epsilon) * p,),
            "so what the event xi >= eps nu^2 shows, of chances p and q",
            attained=(Eq(epsilon, 0), Eq(p, q)),
        ),
        Inequality(
            epsilon * nu**2,
            "<= and attained",
            x * z,
            (x >= y, z >= nu * y, Eq(y**2, epsilon * nu)),
            "it is met where A e > 0, |A| >= y and |e| >= nu y",
        ).mutant("|e| >= 0.97 nu y", sign="<=", given=(x >= y, 100 * z >= 97 * nu * y, Eq(y**2, epsilon * nu))),
        Identity(
            Derivative(tail(y), y),
            -_density(y, _zero, _one) / sqrt(2 * pi),
            "P(A > y) falls as the density of A: by the density between y and y + 1 up to there",
        ),
        Identity(
            _density(y + u, _zero, _one),
            exp((1 - u) * (2 * y + 1 + u) / 2) * _density(y + 1, _zero, _one),
            "the density there, from its least value on",
        ),
        Inequality(
            _one,
            "<= and attained",
            exp((1 - u) * (2 * y + 1 + u) / 2),
            (u <= 1,),
            "which is at y + 1",
            attained=(Eq(u, 1),),
        ),
        Identity(
            2 * (1 - exp(-epsilon)) * (_density(y + 1, _zero, _one) / sqrt(2 * pi)) ** 2,
            (1 - exp(-epsilon)) * exp(-((y + 1) ** 2)) / pi,
            "both signs, A and e",
        ),
        Inequality(
            (y + 1) ** 2,
            "<= and attained",
            chi / 2,
            (Eq(y**4, C_2 * chi), chi >= 64 * C_2, C_2 * chi >= 1),
            "y^4 = eps^2 nu^2 = C_2 ln(1/delta)",
        ).mutant("ln(1/delta) >= 62 C_2", sign="<=", given=(Eq(y**4, C_2 * chi), chi >= 62 * C_2, C_2 * chi >= 1)),
        Unbounded(exp(-chi / 2), exp(-chi), {chi: growth}, name="over delta").mutant(
            "over sqrt(delta)", right=exp(-chi / 2)
        ),
        *(_below_truth(constant, 16 * constant) for constant in (1, 10, 100)),
        _below_truth(1000, 16_000).mutant("delta not small", _below_truth(1000, 1)),
        Value(10**4 * _at_least(_classic, Integer(3)), "0.597", "a lower bound of delta, in 1e-4"),
        letters={
            x: "|A|",
            z: "|e|",
            xi: "iterate A^2 g + A e, g = 1 or -1",
            p: "chance of the event where g = 1",
            q: "where g = -1",
            y: "sqrt(eps nu)",
            u: "between 0 and 1",
        },
    ),
    Ours(
        "d2p2/theorem_1/projected_step",
        "A known: -p/(2(alpha-1)) log(1 - alpha(alpha-1) Delta^2 sigma_A^2/(p nu^2)), either way",
        at("Theorem 1"),
        Identity(renyi(*_pair, alpha), alpha * xi**2 / (2 * v), "two Gaussians, A fixed"),
        Identity(renyi(*_pair[::-1], alpha), alpha * xi**2 / (2 * v), "in the other order"),
        Identity(exp(alpha * (alpha - 1) * xi**2 / (2 * v)), exp((alpha - 1) * renyi(*_pair, alpha)), "its moment"),
        Identity(x * chi_square(x, ell), ell * chi_square(x, ell + 2), "two degrees of freedom more", (x > 0,)),
        Identity(chi_square(x, ell) * exp(u * x / 2), _scaled, "the mean over A: chi-square, scaled", _finite),
        Identity(projected_moment(alpha * (alpha - 1), r, ell), exp(_step), "the step", _orders),
        Identity(exp((alpha - 1) * projected_step(alpha, r, ell, q)), 1 - q + q * exp(_step), "with chance q", _orders),
        Identity(diff(-log(1 - u) - u, u), u / (1 - u), "what a projection costs on top grows from 0", (u < 1,)),
        Inequality(_zero, "<", u / (1 - u), given=(u < 1,), name="dearer than no projection"),
        assumptions=(alpha > 1,),
        repairs="d2p2/theorem_1",
    ),
    Ours(
        "d2p2/theorem_1/projected_run",
        "T steps cost T times projected_step at most; the last iterate alone attains it at d = 1, one noise",
        at("Theorem 1"),
        # Given A the iterate is N(-g |A|^2/sqrt(p), nu^2 |A|^2), g = 1 or -1, and the log-ratio 2 x/(sqrt(p) nu^2).
        Identity(
            -u * x / sqrt(ell) + nu**2 * u**2 * x / 2,
            2 * alpha * (alpha - 1) * x / (ell * nu**2),
            "the exponent of the moment, x = |A|^2, u = 2 alpha/(sqrt(p) nu^2)",
            (Eq(u, 2 * alpha / (sqrt(ell) * nu**2)),),
        ),
        UpperBound("projection", ("projected",), name="T steps, A not known").mutant(
            "one percent more noise", altered={sigma: sigma * 101 / 100}
        ),
        UpperBound("projection_dp", ("projected_dp",), name="at a delta").mutant(
            "a tenth more noise", altered={sigma: sigma * 11 / 10}
        ),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "d2p2/section_4/dimension",
        "The loss of a step falls with p towards that without a projection: -p log(1 - x/p) is above x",
        at("Section 4", "Impact of p"),
        IntervalInequality(-log(1 - x / 2) * 2, "<", -log(1 - x), {x: (_tenth_one, Rational(9, 10))}, "p = 2 below 1"),
        IntervalInequality(
            x, "<", -log(1 - x / 2) * 2, {x: (_tenth_one, Rational(9, 10))}, "no projection below p = 2"
        ),
    ),
    Ours(
        "d2p2/theorem_1/finite_orders",
        "The projected step is finite exactly while alpha (alpha - 1) Delta^2 sigma_A^2 < p nu^2 (sigma_A = 1)",
        at("Theorem 1"),
        Inequality(
            alpha,
            "<",
            projected_order_limit(1 / (ell * nu**2)),
            given=(alpha * (alpha - 1) < ell * nu**2,),
            name="in units of Delta",
        ).mutant("no condition", given=()),
        Inequality(
            alpha * (alpha - 1),
            "<",
            ell * nu**2,
            given=(alpha < projected_order_limit(1 / (ell * nu**2)),),
            name="conversely",
        ),
        Identity(_limit * (_limit - 1) * r, _one, "the largest order"),
        Identity(chi_square(x, ell) * exp(u * x / 2), _scaled, "below it, u < 1: a density times a number", _finite),
        Identity(
            chi_square(x, ell) * exp(u * x / 2),
            chi_square(_one, ell) * sqrt(exp(1)) * exp((u - 1) * x / 2) * x ** (ell / 2 - 1),
            "what is integrated, x = |A^T g|^2/sigma_A^2",
            (x > 0,),
        ),
        Inequality(_one, "<= and attained", exp((u - 1) * x / 2), (u >= 1,), "from u = 1 on", attained=(Eq(u, 1),)),
        Identity(Derivative(2 / ell * x ** (ell / 2), x), x ** (ell / 2 - 1), "its integral", (x > 0,)),
        Unbounded(2 * sqrt(x), _one, {x: growth**2, alpha: 2 * _one}, name="no bound at p = 1"),
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
        remark="""The proof ends with epsilon = C_1 B^2 K^2 / n^2, the theorem asks for epsilon <= C_1 B^2 K / n^2.
        From two steps on the first is greater by the factor K, which no constants cover. The two agree for one step
        only.""",
    ),
    Ours(
        "d2p2/theorem_1/range_one_step",
        "For K = 1 the two ranges of epsilon agree",
        at("A.3", "last line of the proof"),
        Identity(put(_first, {T: 1}), put(_last, {T: 1}), "K = 1"),
        repairs="d2p2/theorem_1/range",
    ),
)
