r"""The best window of Theorem 3.1 of Chien & Li 2025: its length $w$ from a start $D$, and its cost, also as GDP.

$$\text{cost}(u) = \frac{c + 1}{c - 1} \frac{(s (1 - u) + (c - 1) D)^2}{1 - u^2}, \quad u = c^{-w}; \qquad
\min_u \text{cost}(u) = (c + 1) D (2 s + (c - 1) D) \text{ at } u = \frac{s}{s + (c - 1) D}$$

The slope of the cost has the sign of u (s + (c - 1) D) - s. For GDP, a third process moves from W' by a share
of e(z), at the cost of one Gaussian step, and stays at the distance (1 - share) e(z) from W (shifted
interpolation, Bok, Su & Altschuler 2024); the mu^2 of the steps add up.
"""

from lastiterate.symbolic.chien_li.paper import *

_cost = window_cost(c, s, D, u)
_best = s / (s + D * (c - 1))
_remaining = s * (1 - u) + D * (c - 1)
_slope = 2 * (c + 1) / (c - 1) * _remaining * (u * (s + D * (c - 1)) - s) / (1 - u**2) ** 2
_flat = (s * w + D) ** 2 / w
_value = best_window_cost(c, s, D)
_excess = (c + 1) * _remaining**2 - _value * (c - 1) * (1 - u**2)  # of the cost over the value, multiplied out
_level = (s * (1 - u) / (c - 1) + D) * (c**2 - 1) / (1 - u**2)

_grown = expansion(z, L, lam, s)
_delta = delta_of_gdp(epsilon, mu)
_threshold = mu / 2 + epsilon / mu
_turned = sqrt(mu**2 + s**2)
_along, _across = (mu * xi + s * zeta) / _turned, (s * xi - mu * zeta) / _turned

CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/window/unimodal",
        "c > 1: the cost as a function of u = c^-w; its slope changes sign once, at u = s / (s + D (c - 1))",
        at("A.13", "binary search"),
        Identity(diff(_cost, u), _slope, "slope in u"),
        Inequality(_slope * (1 - u**2) ** 2 * (c - 1), "<=", S.Zero, (u <= _best,), "longer windows cost more"),
        Inequality(
            S.Zero, "<=", _slope * (1 - u**2) ** 2 * (c - 1), (u >= _best,), "shorter windows cost more"
        ),
        assumptions=(c > 1, u < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/window/value",
        "No window costs less than (c + 1) D (2 s + (c - 1) D), which a real length attains (c < 1: if D (1 - c) < s)",
        at("Theorem 3.1", "(3)"),
        Identity(_cost.subs(u, _best), _value, "value at the best length", (Ne(c, 1), D * (1 - c) < s)),
        Inequality(S.Zero, "<= and attained", _excess, (c > 1, u < 1), "c > 1"),
        Inequality(S.Zero, "<= and attained", _excess, (c < 1, u > 1, D * (1 - c) < s), "c < 1"),
        Identity(_flat, 4 * s * D + (s * w - D) ** 2 / w, "c = 1: the excess of a whole window"),
    ),
    Ours(
        "chien_li/theorem_3_1/window/last_shift",
        "The last shift of the best window is s (c + 1), so it is feasible for every c > 1",
        at("Section 3.1", "below (12)"),
        Identity((_level * u).subs(u, _best), s * (c + 1), "last shift"),
        Identity(
            feasibility(c, s, D, w).subs(D, s * (c**w - 1) / (c - 1)),
            s * (c**w - 1) * (c + c ** (1 - w)),
            "what the test leaves, at the best length",
        ),
        Inequality(
            s, "<=", _level * u, (c * u <= 1, c * u * (s + D * (c - 1)) >= s), "less than one step longer"
        ),
        assumptions=(c > 1,),
    ),
    Ours(
        "chien_li/theorem_3_1/window/no_finite_optimum",
        "c < 1 and D (1 - c) >= s: longer windows always cost less, never below s^2 (1 + c)/(1 - c)",
        at("Theorem 3.1", "(3)"),
        Identity(diff(_cost, u), _slope, "slope in u"),
        Inequality(
            S.Zero,
            "<=",
            (c + 1) * _remaining * (u * (s + D * (c - 1)) - s),
            name="its sign, times (c - 1)/2 < 0",
        ),
        Inequality(s**2 * (1 + c) * (u**2 - 1), "<=", (c + 1) * _remaining**2, name="limit, multiplied out"),
        assumptions=(c > 0, c < 1, D * (1 - c) >= s, u > 1),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/one_step",
        "One interpolated step: the shift share e(z) and what is left, (1 - share) e(z), make e(z)",
        at("Section 3.1", "(8)"),
        Identity((1 - beta) * _grown, _grown - beta * _grown, "the state update z' = e(z) - a"),
        Identity(put(_grown - beta * _grown, {beta: 1}), S.Zero, "share 1 ends at z = 0"),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/composition",
        "Two Gaussian steps are one: a rotation turns the means (mu, s) into sqrt(mu^2 + s^2)",
        at("Lemma 2.4"),
        Identity(
            density_exponent(xi, mu, S.One) + density_exponent(zeta, s, S.One),
            density_exponent(_along, _turned, S.One) + density_exponent(_across, S.Zero, S.One),
            "rotated",
        ),
    ),
    Ours(
        "chien_li/theorem_3_1/gdp/delta",
        "delta(epsilon) of mu-GDP: the tails past mu/2 + epsilon/mu, exact",
        at("Section 4", "RDP-DP conversion"),
        # log dN(mu, 1) / dN(0, 1) at the point.
        Identity(
            density_exponent(_threshold, mu, S.One) - density_exponent(_threshold, S.Zero, S.One),
            epsilon,
            "the likelihood ratio is e^epsilon at mu/2 + epsilon/mu",
        ),
        Identity(diff(_delta, epsilon), -exp(epsilon) * cumulative(-mu / 2 - epsilon / mu), "slope in epsilon"),
        Identity(
            diff(_delta, mu), exp(-((mu / 2 - epsilon / mu) ** 2) / 2) / sqrt(2 * pi), "slope in mu, positive"
        ),
        Value(delta_of_gdp(S.One, S.One), "0.126937", "epsilon = 1, mu = 1"),
    ),
)
