"""What `lastiterate.numeric` computes, stated in Sympy: formulas that no claim speaks of, for `test_one_formula`.

Source   Mironov 2017 (composition, Gaussian); Mironov, Talwar & Zhang 2019, sections 3.1 to 3.3 (sampled Gaussian of
         whole orders); Popoviciu 1935 for the variance of a bounded variable; the pages of docs/proofs.
"""

from sympy import (
    Dummy,
    Expr,
    Integer,
    Integral,
    Max,
    Min,
    Piecewise,
    Rational,
    S,
    Sum,
    Symbol,
    binomial,
    exp,
    log,
    oo,
    pi,
    sqrt,
)

from lastiterate.symbolic.formulas.update import moved, step_sensitivity


def release(distance: Expr, noise: Expr) -> Expr:
    """(a / sigma)^2, the cost (mu^2) of hiding a distance in one step."""
    return (distance / noise) ** 2


def gdp_rdp(cost: Expr, order: Expr) -> Expr:
    """Epsilon of (order, epsilon)-RDP of mu-GDP with mu^2 = cost, of either law from the other."""
    return order * cost / 2


def amplified_rdp(cost: Expr, order: Expr, count: Expr, step: Expr) -> Expr:
    """Epsilon of a Gaussian of mu^2 = cost composed with ``count`` steps of Renyi divergence ``step`` each."""
    return gdp_rdp(cost, order) + count * step


def event_mixture(inside: Expr, failure: Expr, outside: Expr, order: Expr) -> Expr:
    """log((1 - p) e^((a-1) G) + p e^((a-1) F)) / (a - 1): G holds outside an event of chance p, F always."""
    mean = (1 - failure) * exp((order - 1) * inside) + failure * exp((order - 1) * outside)
    return log(mean) / (order - 1)


def log_mean(costs: tuple[Expr, ...], order: Expr) -> Expr:
    """The cost of a mean over equally likely orders: log mean exp(kappa x) / kappa, kappa = a (a - 1)/2.

    By joint convexity of exp((a - 1) D_a), whichever law is the numerator. Source: Chien & Li 2025, (62).
    """
    kappa = order * (order - 1) / 2
    return log(sum((exp(kappa * cost) for cost in costs), start=costs[0] * 0) / len(costs)) / kappa


def binomial_tail(n: Expr, q: Expr, k: Expr) -> Expr:
    """P(X = k) / (1 - r), at least P(X >= k) for X ~ Binomial(n, q), r = P(X = k + 1) / P(X = k) < 1."""
    ratio = (n - k) / (k + 1) * q / (1 - q)
    return binomial(n, k) * q**k * (1 - q) ** (n - k) / (1 - ratio)


def sampled_moment(rate: Expr, square: Expr, order: Expr) -> Expr:
    """exp((a - 1) D_a((1 - q) N(0, 1) + q N(mu, 1) || N(0, 1))) of a whole order a, mu^2 = ``square``."""
    j = Symbol("j_drawn", integer=True, nonnegative=True)
    term = binomial(order, j) * (1 - rate) ** (order - j) * rate**j * exp(j * (j - 1) * square / 2)
    return Sum(term, (j, 0, order))


def up_sum(q: Expr, gap: Expr, order: int) -> Expr:
    """D_order((1 - q) N(0, 1) + q N(gap, 1) || N(0, 1)) at a whole order: the mixture is the numerator."""
    return log(sampled_moment(q, gap**2, Integer(order)).doit()) / (order - 1)


def _ratio(x: Expr, q: Expr, gap: Expr) -> Expr:
    return 1 - q + q * exp(gap * x - gap**2 / 2)


def down_integral(q: Expr, gap: Expr, order: Expr) -> Expr:
    """D_order(N(0, 1) || (1 - q) N(0, 1) + q N(gap, 1)) by its integral: the base is the numerator."""
    x = Dummy("x", real=True)
    moment = Integral(exp(-(x**2) / 2) / sqrt(2 * pi) * _ratio(x, q, gap) ** (1 - order), (x, -oo, oo))
    return log(moment) / (order - 1)


def replacement_bound(q: Expr, gap: Expr, order: Expr) -> Expr:
    """At least D_order of one step without replacement in both directions, outcomes at most ``gap`` apart.

    log(1 + integral from gap/2 of phi (r^a - 1)(1 - r^(1-a))) / (a - 1), r the ratio of the mixture to its base.
    """
    x = Dummy("x", real=True)
    r = _ratio(x, q, gap)
    integrand = exp(-(x**2) / 2) / sqrt(2 * pi) * (r**order - 1) * (1 - r ** (1 - order))
    return log(1 + Integral(integrand, (x, gap / 2, oo))) / (order - 1)


def logistic(r: Expr, scale: Expr, l2: Expr, reach: Expr) -> tuple[Expr, Expr]:
    """Lipschitz constant and smoothness of scale log(1 + exp(-y w.x)) + l2/2 |w|^2 over |w| <= reach."""
    return scale * r + l2 * reach, scale * r**2 / 4 + l2


def softmax(r: Expr, scale: Expr, l2: Expr, reach: Expr) -> tuple[Expr, Expr]:
    """As `logistic`, of the cross-entropy of the logits W x."""
    return scale * sqrt(Integer(2)) * r + l2 * reach, scale * r**2 * Rational(1, 2) + l2


def two_layer(
    r: Expr, second: Expr, scale: Expr, outputs: Expr, slope: Expr, curvature: Expr
) -> tuple[Expr, Expr]:
    """As `logistic`, of the logits W2 phi(W1 x + b1) + b2 without regulariser.

    |W2| <= second, |phi|^2 <= outputs summed over the hidden units, |phi'| <= slope, |phi''| <= curvature.
    """
    jacobian = outputs + 1 + (slope * second * r) ** 2
    bent, mixed = curvature * second * r**2, slope * r
    hessian = (bent + sqrt(bent**2 + 4 * mixed**2)) / 2
    return scale * sqrt(2 * jacobian), scale * (jacobian / 2 + sqrt(Integer(2)) * hessian)


def modulus_over_sizes(z: Expr, omega: Expr, eta: Expr, K: Expr, b: Expr, high: Expr) -> Expr:
    """As `same_batch` for at most ``high`` samples whose sum of gradients is divided by b."""
    return z + eta * high / b * Min(omega, 2 * K)


def contraction(eta: Expr, L: Expr, m: Expr) -> Expr:
    """max(1 - eta m, eta L - 1), the greatest |1 - eta h| over curvatures h in [m, L], for eta <= 2/L."""
    return Max(1 - eta * m, eta * L - 1)


def strongly_convex(z: Expr, eta: Expr, K: Expr, b: Expr, L: Expr, m: Expr) -> Expr:
    """c z + 2 eta K / b with the contraction c; m = 0 is a convex loss."""
    return contraction(eta, L, m) * z + step_sensitivity(eta, K, b)


def convex_over_sizes(eta: Expr, L: Expr, b: Expr, high: Expr) -> Expr:
    """max(1, h L - 1), h = eta high / b: a large batch takes a step beyond 2/L."""
    return Max(1, eta * high / b * L - 1)


def block_contraction(eta: Expr, m: Expr, b: Expr, low: Expr, steps: Expr) -> Expr:
    """(1 - eta m S / (b w))^w for w steps whose batches have at least S = ``low`` samples between them."""
    return (1 - eta * m * low / (b * steps)) ** steps


def block_reach(eta: Expr, K: Expr, b: Expr, contraction: Expr, steps: Expr) -> Expr:
    """w eta K / b / (1 - C), a distance that holds whenever a block that contracts by C begins."""
    return steps * moved(eta, K, b) / (1 - contraction)


def tracked(c: Expr, s: Expr, t: Expr) -> Expr:
    """s (1 - c^t) / (1 - c), the distance after t updates z -> c z + s from 0; c is not 1."""
    return s * (1 - c**t) / (1 - c)


def blocks(*moduli: Expr) -> Expr:
    """The modulus of a gradient from those of its blocks: the root of the sum of squares."""
    return sqrt(sum((omega**2 for omega in moduli), start=moduli[0] * 0))


def convex_step(z: Expr, h: Expr, L: Expr, K: Expr, k: Expr = S.One) -> Expr:
    """The root of k^2 z^2 + h max(h - 2 k / L, 0) min(2 K, L z)^2: convex losses, a step of any size h."""
    return sqrt(k**2 * z**2 + h * Max(h - 2 * k / L, 0) * Min(2 * K, L * z) ** 2)


def clipped_convex_factor(a: Expr) -> Expr:
    """2 / (4 - a)^(1/2), and a - 1 from a = 3 on: a step of size a / L along clipped gradients of convex losses."""
    return Piecewise((2 / sqrt(4 - a), a <= 3), (a - 1, True))


def clipped_step(z: Expr, h: Expr, K: Expr, k: Expr = S.One) -> Expr:
    """h K + (k^2 z^2 + h^2 K^2)^(1/2): a step of size h along clipped gradients of convex losses, smooth or not."""
    return h * K + sqrt(k**2 * z**2 + h**2 * K**2)
