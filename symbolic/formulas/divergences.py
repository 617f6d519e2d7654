"""Divergences of Gaussians, and of one step with random batches or a random projection.

Names state the numerator law; otherwise the numerator comes first. The means of a step are 0 and mu, in units
of the noise.

Source   Balle, Barthe & Gaboardi 2018, Theorem 2 (advanced joint convexity); Dong, Roth & Su 2022 (trade-off of
         two Gaussians); the projected steps are ours (claims ours/projection/*).
"""

from collections.abc import Callable

from sympy import Expr, Function, Piecewise, Symbol, erfc, exp, gamma, log, sqrt, true
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.str import StrPrinter


def density_exponent(point: Expr, mean: Expr, variance: Expr) -> Expr:
    """The exponent of a Gaussian density."""
    return -((point - mean) ** 2) / (2 * variance)


def moment_exponent(point: Expr, first: tuple[Expr, Expr], second: tuple[Expr, Expr], order: Expr) -> Expr:
    """The exponent of first^order second^(1 - order) for Gaussians given as (mean, variance)."""
    return order * density_exponent(point, *first) + (1 - order) * density_exponent(point, *second)


def renyi(first: tuple[Expr, Expr], second: tuple[Expr, Expr], order: Expr) -> Expr:
    """D_order(first || second) for Gaussians given as (mean, variance). Exact.

    The divergence is assumed to be finite: order * variance_2 + (1 - order) * variance_1 > 0.
    """
    (m1, v1), (m2, v2) = first, second
    mixed = order * v2 + (1 - order) * v1
    widths = log(v1 * v2 / mixed) / 2 - order * log(v1) / 2 - (1 - order) * log(v2) / 2
    return order * (m1 - m2) ** 2 / (2 * mixed) + widths / (order - 1)


def tail(x: Expr) -> Expr:
    """P(N(0, 1) > x)."""
    return erfc(x / sqrt(2)) / 2


def cumulative(x: Expr) -> Expr:
    """P(N(0, 1) <= x)."""
    return tail(-x)


def delta_of_gdp(epsilon: Expr, mu: Expr) -> Expr:
    """The least delta for which mu-GDP implies (epsilon, delta)-DP, for either law as the numerator. Exact.

    Source: Dong, Roth & Su 2022, Corollary 2.13 (Balle & Wang 2018, Theorem 8).
    """
    return cumulative(mu / 2 - epsilon / mu) - exp(epsilon) * cumulative(-mu / 2 - epsilon / mu)


def hockey_stick(factor: Expr, mu: Expr) -> Expr:
    """E_g(N(mu, 1) || N(0, 1)) at g = ``factor`` > 0, for either law as the numerator; mu > 0. Exact."""
    return delta_of_gdp(log(factor), mu)


def sampled_hockey_stick(factor: Expr, rate: Expr, curve: Callable[[Expr], Expr]) -> Expr:
    """E_g((1 - q) R + q P || R) at g = ``factor``, if ``curve`` is g -> E_g(P || R). Exact.

    For g below 1 - q, the divergence is 1 - g.
    """
    return Piecewise((rate * curve((factor - 1 + rate) / rate), factor > 1 - rate), (1 - factor, true))


def replaced_hockey_stick(factor: Expr, rate: Expr, curve: Callable[[Expr], Expr]) -> Expr:
    """Upper bound on E_g((1 - q) R + q P || (1 - q) R + q P'); ``curve`` bounds E_g between any two of P, P', R.

    The bound is q E_tau with tau = 1 + (g - 1)/q for g >= 1; see `exchanged` for g < 1.
    """

    def above_one(g: Expr) -> Expr:
        return rate * curve(1 + (g - 1) / rate)

    return Piecewise((above_one(factor), factor >= 1), (exchanged(factor, above_one), true))


def exchanged(factor: Expr, curve: Callable[[Expr], Expr]) -> Expr:
    """E_g(Q || P) = 1 - g + g E_{1/g}(P || Q), if ``curve`` is g -> E_g(P || Q). Exact."""
    return 1 - factor + factor * curve(1 / factor)


def chi_square(x: Expr, degrees: Expr) -> Expr:
    """The chi-square density at x > 0 with ``degrees`` degrees of freedom."""
    return x ** (degrees / 2 - 1) * exp(-x / 2) / (2 ** (degrees / 2) * gamma(degrees / 2))


def projected_moment(load: Expr, ratio: Expr, dimension: Expr) -> Expr:
    """E exp(w R X / 2) = (1 - w R)^(-p/2), for X chi-square with p degrees of freedom; finite if w R < 1."""
    return (1 - load * ratio) ** (-dimension / 2)


def projected_step(order: Expr, ratio: Expr, dimension: Expr, rate: Expr) -> Expr:
    """D_order of one projected step with known A; the batch contains the differing sample with probability ``rate``."""
    return log(1 + rate * (projected_moment(order * (order - 1), ratio, dimension) - 1)) / (order - 1)


def projected_order_limit(ratio: Expr) -> Expr:
    """The order from which a projected step has infinite divergence: alpha (alpha - 1) R = 1."""
    return (1 + sqrt(1 + 4 / ratio)) / 2


class _OfSampling(Function):  # type: ignore[misc]
    nargs = (3,)
    direction: str

    def _written(self, head: str, show: Callable[[Expr], str]) -> str:
        rate, noise, order = map(show, self.args)
        return f"{head}({rate}, {noise}; {order})"

    def _sympystr(self, printer: StrPrinter) -> str:
        return self._written(f"S_{self.direction}", printer._print)

    def _latex(self, printer: LatexPrinter) -> str:
        return self._written(rf"S_{{\text{{{self.direction}}}}}", printer._print)

    def _pretty(self, printer: PrettyPrinter) -> prettyForm:
        return printer._print(Symbol(str(self)))


class SampledUp(_OfSampling):
    """D_order(M || N(0, s^2)), M = (1 - q) N(0, s^2) + q N(1, s^2); arguments (rate q, noise s, order).

    Rates are in (0, 1), noise is positive, and orders are above 1. `lastiterate.numeric.enclosure.tape`
    evaluates this.
    """

    direction = "up"


class SampledDown(_OfSampling):
    """D_order(N(0, s^2) || M), with arguments and M as in `SampledUp`: the base is the numerator.

    Source: Altschuler & Talwar 2022, Definition 2.10; Chien & Li 2025, Definition 3.11.
    """

    direction = "down"


def event(order: Expr, first: Expr, second: Expr) -> Expr:
    """A lower bound on D_order from the probabilities of one event under the ``first`` and the ``second`` law.

    The bound holds by data processing; the term of the complement is omitted.

        >>> from sympy import Rational
        >>> event(Rational(2), Rational(1, 2), Rational(1, 32)).simplify()
        log(8)
    """
    return (order * log(first) - (order - 1) * log(second)) / (order - 1)


def two_coins(first: Expr, second: Expr) -> Expr:
    """D_2(P || Q) for coins P and Q with probabilities ``first`` and ``second`` of heads."""
    return log(first**2 / second + (1 - first) ** 2 / (1 - second))
