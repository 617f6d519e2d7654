r"""Section 1 and Table 1 of Chien & Li 2025: (3) without convexity, and without a domain under strong convexity.

"Outperforms the Pareto frontier": $(3) < \frac{\alpha}{2 \sigma^2} \min\{T s^2, D^2\}$, of composition and output
perturbation. Table 1, note *: for strongly convex losses $(3) \le \frac{\alpha}{2 \sigma^2} (\frac{s}{1 - c})^2$.

Both hold, the first at c = 1.1, s = 0.08, D = 1 and T = 100 of figure 1, where a window of 9 steps with the
same share beta costs 9 s^2 / beta + D^2 / ((1 - beta) sum c^-2j). Costs are in units of alpha / (2 sigma^2).
"""

from lastiterate.symbolic.chien_li.paper import *

_s, _c, _share = Rational(2, 25), Rational(11, 10), Rational(8, 25)
_window = 9 * _s**2 / _share + 1 / ((1 - _share) * sums(_c, 9)[1])

CLAIMS = (
    Claim(
        "chien_li/section_1/pareto",
        "Without convexity (3) can be below composition and output perturbation: figure 1, c = 1.1, T = 100, tau = 91",
        at("Section 1", "outperforms the Pareto frontier; Section 5; A.15"),
        IntervalInequality(_window, "<", Min(100 * _s**2, S.One), {}, "T s^2 = 0.64, D^2 = 1"),
    ),
    Claim(
        "chien_li/section_1/structure",
        "The more structure the losses have, the smaller c and (3): 1 - eta m, 1, 1 + eta L",
        at("Section 3.1", "above Theorem 3.1"),
        Inequality(c * x + s, "<=", r * y + s, (c <= r, x <= y), "the tracked distance, c <= r"),
        Inequality(y / r**2, "<=", x / c**2, (c <= r, y <= x), "the powers c^-2j below it"),
    ),
    Claim(
        "chien_li/section_1/no_domain",
        "For strongly convex losses the domain may be left out of (3): it is at most (s/(1 - c))^2 for every T",
        at("Table 1", "note *"),
        Inequality(c * x + s, "<= and attained", s / (1 - c), (x * (1 - c) <= s,), "the tracked distance"),
        Identity(put(s**2 / beta + p**2 / (1 - beta), {beta: s / (s + p)}), (s + p) ** 2, "one step, p = c x"),
        assumptions=(c < 1,),
    ),
)
