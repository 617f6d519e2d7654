r"""A.13 of Chien & Li 2025: the best windows at the settings of figure 1, small $\lambda$, and the search for $\tau$.

"As $\lambda \to 0$ the bound (13) will become identical to" $\min\{T s^2, D^2\}$, and any feasible shifts and shares
give a valid bound.

The second statement holds; the first is refuted. K = 2, eta = 0.1, n = 5, D = 1, sigma = 1, L = m = 1: s =
0.08 and c = 1.1, 1, 0.9. Costs are in units of alpha / (2 sigma^2).
"""

from lastiterate.symbolic.chien_li.paper import *

_s = Rational(2, 25)
_smooth, _strong = Rational(11, 10), Rational(9, 10)
_cost_9, _cost_13 = direct_cost(_smooth, _s, S.One, 9), direct_cost(S.One, _s, S.One, 13)
_small = Rational(1, 10) + _s  # eta L + s at L = 1
_cost_6 = direct_cost(S.One, _small, S.One, 6)
_clip = Rational(2, 5)
_cost_25 = direct_cost(S.One, _clip, Integer(10), 25)


def _split(steps: int) -> Expr:
    """The bound (3) at c = 0.9, for a window that starts at the distance s / (1 - c) = 0.8."""
    return split_cost(_strong, _s, Rational(4, 5), steps)


def _best(s: Expr, start: Expr, steps: int) -> tuple[Inequality, Inequality]:
    cost, other = direct_cost(S.One, s, start, steps), (s * w + start) ** 2 / w
    return (
        Inequality(cost, "<", other, (w >= steps + 1,), "any longer window"),
        Inequality(cost, "<", other, (w <= steps - 1,), "any shorter window"),
    )


_drift = eta * L + s
_window = Symbol("k", integer=True, positive=True)
_reached, _squares, _paid, _power, _shift = (Function(name, nonnegative=True) for name in "RWCqa")

CLAIMS = (
    Ours(
        "chien_li/appendix_a_13/smooth",
        "c = 1.1: the best window is 9 steps, cost 0.546343",
        at("A.13", "Figure 1 (a)"),
        Value(_cost_9, "0.546343", "9 steps"),
        Inequality(
            _cost_9,
            "<",
            window_cost(_smooth, _s, S.One, u),
            (u <= 1 / _smooth**10,),
            "longer windows, u = c^-w",
        ),
        Inequality(
            _cost_9, "<", window_cost(_smooth, _s, S.One, u), (u >= 1 / _smooth**8, u <= 1 / _smooth), "shorter"
        ),
    ),
    Ours(
        "chien_li/appendix_a_13/convex",
        "c = 1: the best window is 13 steps, cost 0.320123",
        at("A.13", "Figure 1 (a)"),
        Value(_cost_13, "0.320123", "13 steps"),
        *_best(_s, S.One, 13),
    ),
    Ours(
        "chien_li/appendix_a_13/strongly_convex",
        "c = 0.9, T without limit: direct shifts cost 0.1216; (3) costs 0.1333, its beta <= 1 binds",
        at("A.13", "Figure 1 (b)"),
        Value(_s**2 * (1 + _strong) / (1 - _strong), "0.1216", "limit"),
        Value(direct_cost(_strong, _s, S.One, 100), "0.1216", "100 steps from D"),
        Value(_split(13), "0.1333", "(3), 13 steps"),
        IntervalInequality(
            direct_cost(_strong, _s, Rational(4, 5), 13), "<", _split(13), {}, "if a share may exceed 1"
        ),
        *(
            IntervalInequality(_split(13), "<", _split(steps), {}, f"(3), {steps} steps")
            for steps in (*range(1, 13), *range(14, 21))
        ),
        Inequality(_split(13), "<", w * _s**2, (w >= 21,), "composition of more steps"),
    ),
    Ours(
        "chien_li/appendix_a_13/clipping_alone",
        "Clipping alone, D = 10: e(z) = z + 2 eta K, cost 16.0 at 25 steps, no smoothness at all",
        at("A.13", "lambda -> 0"),
        Value(_cost_25, "16.0", "25 steps"),
        *_best(_clip, Integer(10), 25),
    ),
    Claim(
        "chien_li/appendix_a_13/small_lambda",
        "As lambda -> 0 the bound (13) becomes identical to the Pareto frontier of composition and output perturbation",
        at("A.13", "the bound will become identical"),
        IntervalInequality(
            Min(200 * _s**2, S.One), "<=", _cost_6, {}, "T = 200, L = 1: e(z) = z + eta L + s, 6 steps"
        ).mutant("D = 10, L = 2 K, T = 10000", left=Min(10_000 * _s**2, Integer(100)), right=_cost_25),
        Inequality(
            Min(200 * _s**2, S.One),
            "<=",
            (6 * _small + 1) ** 2 / 6,
            name="the same path, its equal shifts added by hand",
        ),
        refutation=RefutingRun(
            fails=words(
                "A step moves the runs apart by at most {}, and equal shifts over {} steps hide that and the diameter "
                "for {}: the bound stays below both composition and output perturbation.",
                _drift,
                _window,
                (_window * _drift + D) ** 2 / _window,
            ),
            at={T: 200, eta: Rational(1, 10), L: 1, s: _s, D: 1},
            run="the best of windows of 1 to 12 steps with equal shifts",
            quantity=SHIFT_COST,
            claimed=Min(T * s**2, D**2),
            # any may be the least
            true=Min(*((k * _drift + D) ** 2 / k for k in range(1, 13)), evaluate=False),
            sign=">=",
            says=condition("Identical", "the bound (13) becomes {0} as the Hoelder order falls to 0")(
                Min(T * s**2, D**2)
            ),
        ),
    ),
    Ours(
        "chien_li/appendix_a_13/every_lambda",
        "On D <= 1 every lambda has e(z) <= z + eta L + s; at L = 1, D = 1 the cost is at most 0.7211, any T",
        at("A.13", "lambda -> 0"),
        Inequality(u**lam, "<=", S.One, (u > 0, u <= 1), "z^lambda <= 1, z > 0"),
        Inequality(z + eta * L * y + s, "<=", z + eta * L + s, (y <= 1,), "expansion; y = z^lambda"),
        Value(_cost_6, "0.7211", "6 steps"),
        *_best(_small, S.One, 6),
        Inequality(T * _s**2, "<=", _cost_6, (T <= 5,), "shorter runs"),
        repairs="chien_li/appendix_a_13/small_lambda",
    ),
    Claim(
        "chien_li/appendix_a_13/any_feasible",
        "Any feasible shifts and shares give at least the optimum, so a valid bound",
        at("A.13", "Computational complexity"),
        Inequality(
            (s + a) ** 2,
            "<= and attained",
            s**2 / beta + a**2 / (1 - beta),
            (beta > 0, beta < 1),
            "a step at any share",
        ),
        Induction(
            t,
            Le(_reached(t) ** 2, _squares(t) * _paid(t)),
            begin(_reached, _squares, _paid),
            (
                gains(_reached, _power(t) * (s + _shift(t))),
                gains(_squares, _power(t) ** 2),
                gains(_paid, (s + _shift(t)) ** 2),
            ),
            name="a window: the powers c^-j times s + a_j, the squares of the powers, what the steps cost",
        ),
        Inequality(
            z**2 / W, "<= and attained", y, (z <= x, x**2 <= W * y), "x reached, z = s V + Delta: no less"
        ).mutant("infeasible shifts too", sign="<=", given=(x**2 <= W * y,)),
    ),
    Ours(
        "chien_li/appendix_a_13/search_over_tau",
        "c = 1, T = 60: the bound over tau is not unimodal: 0.384 at 0, 0.48 at 12, 0.3201 at 47",
        at("A.13", "binary search"),
        Value(60 * _s**2, "0.384", "tau = 0, composition"),
        Value(direct_cost(S.One, _s, 12 * _s, 48), "0.48", "tau = 12, start 12 s"),
        Value(_cost_13, "0.3201", "tau = 47, start D"),
        IntervalInequality(60 * _s**2, "<", direct_cost(S.One, _s, _s, 59), {}, "a local minimum at tau = 0"),
    ),
)
