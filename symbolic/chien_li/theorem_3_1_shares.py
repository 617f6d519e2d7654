"""The best shares beta of Theorem 3.1, in closed form, and why no split of the noise beats direct shifts.

s^2 / beta + a^2 / (1 - beta) is least at beta = s / (s + a), where it is (s + a)^2; what is left is the sum of (s +
a_j)^2 under sum c^-j a_j = Delta, a_j >= 0: water-filling. Windows of three steps; V and W are sums of c^-j, c^-2j.
"""

from sympy import Expr, Integer, diff

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Inequality, Ours
from lastiterate.symbolic.formulas.shift_program import best_shares, cost, sums
from lastiterate.symbolic.letters import a
from lastiterate.symbolic.notation import SHARES, Delta, beta, c, s

_V, _W = sums(c, 3)
_split = s**2 / beta + a**2 / (1 - beta)
_three = sum((s**2 / b for b in SHARES), Integer(0)) + Delta**2 / sum(
    ((1 - b) * c ** (-2 * j) for j, b in enumerate(SHARES, 1)), Integer(0)
)
_best = dict(zip(SHARES, best_shares(c, s, Delta, 3), strict=True))


def _binding(slack: Expr, position: int, *, contracting: bool) -> Inequality:
    """Beta at the position is at most one where the slack is nonnegative (multiplied by the level)."""
    given = (slack >= 0, c < 1 if contracting else c > 1)
    return Inequality(s * c**position * _W, "<=", s * _V + Delta, given=given, name="beta <= 1")


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/shares/no_gain",
        "Noise splitting is never better than a direct shift s + a: the difference is a square",
        at("Section 3.1", "(11)"),
        Identity(_split - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta)), "a square"),
        Inequality((s + a) ** 2, "<= and attained", _split, name="at least (s + a)^2"),
        Identity(_split.subs(beta, s / (s + a)), (s + a) ** 2, "equal at beta = s / (s + a)", (a > 0,)),
        assumptions=(beta > 0, beta < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/optimum",
        "(3) at beta_j = s c^j / level is (s V + Delta)^2 / W, and stationary there",
        at("Theorem 3.1", "(3)"),
        Identity(_three.subs(_best), cost(s, Delta, _V, _W), "value"),
        *(Identity(diff(_three, b).subs(_best), Integer(0), f"stationary in {b}") for b in SHARES),
        assumptions=(Delta > 0, *(b < 1 for b in SHARES)),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/slack",
        "beta <= 1 is slack iff s (c W - V) <= Delta for c < 1, s (c^w W - V) <= Delta for c > 1",
        at("Theorem 3.1", "(4)"),
        _binding(Delta - s * (c * _W - _V), 1, contracting=True),
        _binding(Delta - s * (c * _W - _V), 2, contracting=True),
        _binding(Delta - s * (c * _W - _V), 3, contracting=True)
        .mutant("first position for c > 1", _binding(Delta - s * (c * _W - _V), 3, contracting=False))
        .mutant("V for c W", _binding(Delta - s * (c * _V - _V), 3, contracting=False)),
        _binding(Delta - s * (c**3 * _W - _V), 1, contracting=False).mutant(
            "last position for c < 1", _binding(Delta - s * (c**3 * _W - _V), 1, contracting=True)
        ),
        _binding(Delta - s * (c**3 * _W - _V), 2, contracting=False),
        _binding(Delta - s * (c**3 * _W - _V), 3, contracting=False),
    ),
)
