"""The oracle: 24-point Gauss-Legendre panels in mpmath, where the package has balls, sums and the trapezoid rule."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

from mpmath import exp, expm1, log, log10, mp, mpf, npdf, quad, sqrt
from mpmath.calculus.quadrature import GaussLegendre

__all__ = ["hockey_stick", "law", "renyi", "sampled"]

Law = list[tuple[mpf, mpf]]
"""Weights and means of components with standard deviation 1."""

DIGITS = 25


def law(weight: float, first: float, second: float) -> Law:
    with mp.workdps(200):
        return [(w, mpf(m)) for w, m in ((1 - mpf(weight), first), (mpf(weight), second)) if w]


@cache
def _rule(digits: int) -> list[tuple[mpf, mpf]]:
    return list(GaussLegendre(mp).calc_nodes(4, int(digits * 3.33) + 10))  # nodes and weights on [-1, 1]


def _panels(height: Callable[[mpf], mpf], left: mpf, right: mpf, width: mpf, digits: int) -> mpf:
    """The integral of exp(height), panels that cannot matter left out."""
    edges = [left + width * k for k in range(int((right - left) / width) + 2)]
    levels = [height(x) for x in edges]
    deep = max(levels) - (digits + 5) * log(10)
    total, half = mpf(0), width / 2
    for (a, level), (_, other) in pairwise(zip(edges, levels, strict=True)):
        if max(level, other) > deep:
            total += half * sum(weight * exp(height(a + half * (1 + node))) for node, weight in _rule(digits))
    return total


def renyi(p: Law, q: Law, alpha: float, lost: int = 0) -> mpf:
    """D_alpha(p || q) to at least 22 digits; ``lost`` says how many digits go where the moment is near 1."""
    digits = DIGITS + 12 + lost
    with mp.workdps(digits):
        a = mpf(alpha)

        def logarithm(parts: Law, x: mpf) -> mpf:
            lines = [(w, m * x - m * m / 2) for w, m in parts]
            top = max(line for _, line in lines)
            return top + log(sum(w if line == top else w * exp(line - top) for w, line in lines))

        def height(x: mpf) -> mpf:
            return a * logarithm(p, x) + (1 - a) * logarithm(q, x) - x * x / 2

        centres = [a * b - (a - 1) * c for _, b in p for _, c in q]
        means = [mean for _, mean in p + q]
        reach = sqrt(2 * digits * log(10)) + 2 * sqrt(-log(min(w for w, _ in p + q)))
        spread = max(means) - min(means)
        width = 4 / (1 + spread * (mpf(1) / 2 + sqrt(a) / 2))
        total = _panels(height, min(centres) - reach, max(centres) + reach, width, digits) / sqrt(2 * mp.pi)
        return log(total) / (a - 1)


def sampled(q: float, noise: float, alpha: float, *, up: bool) -> mpf:
    """S_up or S_down; digits to spare are found from a first guess of the moment's distance from 1."""
    with mp.workdps(200):
        chi = min(mpf(q) ** 2 * expm1(1 / mpf(noise) ** 2), mpf(q), mpf(1)) * mpf(alpha) * (mpf(alpha) - 1) / 2
        lost = max(0, int(-log10(min(chi, mpf(1)))) + 2)
        mixture, base = law(q, 0.0, 1.0), law(0.0, 0.0, 1.0)
        mixture, base = ([(w, m / mpf(noise)) for w, m in either] for either in (mixture, base))
    return renyi(mixture, base, alpha, lost) if up else renyi(base, mixture, alpha, lost)


def hockey_stick(p: Law, q: Law, t: float) -> mpf:
    """The integral of max(p - t q, 0), cut where a scan sees the sign change."""
    with mp.workdps(DIGITS):

        def gap(x: mpf) -> mpf:
            return sum(w * npdf(x, m) for w, m in p) - mpf(t) * sum(w * npdf(x, m) for w, m in q)

        means = [mean for _, mean in p + q]
        low, high = min(means) - mpf("12.03"), max(means) + 12  # no grid point on a symmetric zero
        grid = [low + (high - low) * k / 300 for k in range(301)]
        cuts = [low]
        for left, right in pairwise(grid):
            if gap(left) * gap(right) < 0:
                cuts.append(
                    mp.findroot(gap, (left, right), solver="anderson", tol=mpf(10) ** -60, verify=False)
                )
        cuts.append(high)
        total = mpf(0)
        for left, right in pairwise(cuts):
            if gap((left + right) / 2) > 0:
                panels = max(1, int((right - left) / 3))
                edges = [left + (right - left) * k / panels for k in range(panels + 1)]
                total += quad(gap, edges, method="gauss-legendre")
        return total
