"""Theorem 3.4 with longer windows and a share of noise for every step; D.1's Figure 1.

Statement    Figure 1's setting: (54) gives 1.684; windows of four steps with their own shares give 1.135, and as
             eta L -> 0 the bound grows linearly with D, where Remark 3.5 says that it must be quadratic.
Assumptions  as Theorem 3.4, forward order, D a true diameter.
Derivation   With its own share each step costs (s + x_j)^2, s^2 = A, and sum c^-j x_j = Delta: the program of
             direct shifts, (s V + Delta)^2/W while every x_j >= 0. At c = 1: (s w + Delta)^2/w.
Source       Liang et al., Remark 3.5 and D.1; ours for the window.
"""

from sympy import Expr, Integer, Rational, sqrt

from lastiterate.symbolic.claim import Identity, Inequality, IntervalInequality, Ours, Value
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import Delta, a, beta, r, s, u, v, w
from lastiterate.symbolic.shift_program import cost, sums

_c = Rational(6, 5)
_s = sqrt(2 * Rational(11, 10) * 4 / (8 * 2 * 16))
_Delta = sqrt(Rational(11, 10) / (2 * Rational(1, 25) * 16))
_share = (beta > 0, beta < 1)


def _window(steps: int) -> Expr:
    return cost(_s, _Delta, *sums(_c, steps))


_V4, _W4 = sums(_c, 4)
_last = (_s * _V4 + _Delta) / _W4 * _c**-4
_flat = (s * w + Delta) ** 2 / w

CLAIMS = (
    Ours(
        "liang/theorem_3_4/figure_1",
        "D.1: at Figure 1's setting (54) is 1.684; four steps with their own shares give 1.135",
        at("D.1", "Figure 1"),
        Value(_window(1), "1.684", "(54): the window of one step"),
        Value(_window(4), "1.135", "the window of four steps"),
        IntervalInequality(_s, "<", _last, {}, "all its shifts are positive"),
    ),
    Ours(
        "liang/theorem_3_4/own_shares",
        "The best share of each step: s^2/beta + a^2/(1 - beta) >= (s + a)^2",
        at("Theorem B.3", "(52)"),
        Inequality((s + a) ** 2, "<= and attained", s**2 / beta + a**2 / (1 - beta), _share, "one step"),
        Identity(cost(u, v, *sums(_c, 1)), (u + _c * v) ** 2, "a window of one step is (54)"),
    ),
    Ours(
        "liang/theorem_3_4/linear",
        "c = 1: the window of w steps costs (s w + Delta)^2/w, at least 4 s Delta, attained at w = Delta/s",
        at("Remark 3.5"),
        Inequality(4 * s * Delta, "<= and attained", _flat, name="least over the window"),
        Inequality(4 * s * Delta, "<", r * Delta**2, (r * Delta > 4 * s,), "no r serves Remark 3.5"),
        Identity(_flat.subs(Delta, s * w), 4 * s * (s * w), "attained at Delta = s w").mutant(
            "attained at one step", left=_flat.subs(w, Integer(1)), right=4 * s * Delta
        ),
        Inequality(
            _flat,
            "<",
            (s + Delta) ** 2,
            (w >= 2, Delta > s * 2, w * s <= Delta),
            "below (54) from D > 2 s",
        ).mutant("2 s Delta", sign="<=", right=2 * s * Delta, given=()),
    ),
)
