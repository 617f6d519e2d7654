"""The best shares beta of Theorem 3.1, in closed form, and why no split of the noise beats direct shifts.

s^2 / beta + a^2 / (1 - beta) is least at beta = s / (s + a), where it is (s + a)^2; what is left is the sum of (s +
a_j)^2 under sum c^-j a_j = Delta, a_j >= 0: water-filling. Windows of three steps; V and W are sums of c^-j, c^-2j.
"""

from sympy import Expr, Integer, Rational, diff

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Inequality, Ours, Value
from lastiterate.symbolic.letters import a, y
from lastiterate.symbolic.notation import SHARES, SHIFTS, Delta, beta, c, s
from lastiterate.symbolic.shift_program import best_shares, cost, direct_cost, split_cost, sums

_V, _W = sums(c, 3)
_split = s**2 / beta + a**2 / (1 - beta)
_three = sum((s**2 / b for b in SHARES), Integer(0)) + Delta**2 / sum(
    ((1 - b) * c ** (-2 * j) for j, b in enumerate(SHARES, 1)), Integer(0)
)
_best = dict(zip(SHARES, best_shares(c, s, Delta, 3), strict=True))
_setting = (Rational(9, 10), Rational(2, 25), Integer(1), 20)


def _binding(slack: Expr, position: int, *, contracting: bool) -> Inequality:
    """Beta at the position is at most one where the slack is nonnegative (multiplied by the level)."""
    given = (slack >= 0, c < 1 if contracting else c > 1)
    return Inequality(s * c**position * _W, "<=", s * _V + Delta, given=given, name="beta <= 1")


_paid = sum(((s + shift) ** 2 for shift in SHIFTS[:2]), Integer(0))
_all_paid = _paid + (s + SHIFTS[2]) ** 2
_covered = sum((c**-j * shift for j, shift in enumerate(SHIFTS, 1)), Integer(0))
_gap = (
    sum(
        (((s + SHIFTS[i]) * c ** -(k + 1) - (s + SHIFTS[k]) * c ** -(i + 1)) ** 2 for i, k in ((0, 1), (0, 2), (1, 2))),
        Integer(0),
    )
    / _W
)
_covers = SHIFTS[0] / c + SHIFTS[1] / c**2 >= Delta

CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/shares/no_gain",
        "Noise splitting is never better than a direct shift s + a: the difference is a square",
        at("Section 3.1", "(11)"),
        Identity(_split - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta)), "a square"),
        Inequality((s + a) ** 2, "<= and attained", _split, name="at least (s + a)^2")
        .mutant("splitting is better", left=_split, sign="<=", right=(s + a) ** 2)
        .mutant("the mixed term forgotten", left=_split, sign="<=", right=s**2 + a**2),
        Identity(_split.subs(beta, s / (s + a)), (s + a) ** 2, "equal at beta = s / (s + a)", (a > 0,)).mutant(
            "shares exchanged", left=_split.subs(beta, a / (s + a))
        ),
        assumptions=(beta > 0, beta < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/optimum",
        "(3) at beta_j = s c^j / level is (s V + Delta)^2 / W, and stationary there",
        at("Theorem 3.1", "(3)"),
        Identity(_three.subs(_best), cost(s, Delta, _V, _W), "value").mutant(
            "equal shares", left=_three.subs(dict.fromkeys(SHARES, s * _W / (s * _V + Delta)))
        ),
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
        Identity((c * _W - _V).subs(c, 1), Integer(0), "never binds at c = 1"),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/dominated",
        "Whatever the shifts of (3), s + a_j summed in squares is at least (s V + Delta)^2 / W",
        at("Section 3.1", "(11)"),
        Identity(_all_paid - cost(s, _covered, _V, _W), _gap, "the gap is a sum of squares"),
        Inequality(cost(s, Delta, _V, _W), "<=", cost(s, y, _V, _W), given=(y >= Delta,), name="covering more")
        .mutant("at most", left=_paid, right=cost(s, Delta, *sums(c, 2)), given=(_covers,))
        .mutant("window counted one step short", left=cost(s, Delta, *sums(c, 1)), right=_paid, given=(_covers,)),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/binding_example",
        "c = 0.9, s = 0.08, Delta = 1, 20 steps: (3) costs 0.1549, direct shifts 0.1310",
        at("Theorem 3.1", "(3)"),
        Value(split_cost(*_setting), "0.1549", "(3) at its best beta"),
        Value(direct_cost(*_setting), "0.1310", "direct shifts"),
    ),
)
