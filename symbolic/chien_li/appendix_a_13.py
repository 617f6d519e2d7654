"""Numbers at the settings of figure 1, and what is said of small lambda and of the search.

K = 2, eta = 0.1, n = 5, D = 1, sigma = 1, L = m = 1: s = 0.08 and c = 1.1, 1, 0.9. Costs in units of alpha / (2
sigma^2), in exact rationals.
"""

from collections.abc import Iterator

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.chien_li.refutations import SMALL_LAMBDA
from lastiterate.symbolic.prelude import *

_s, _one = Rational(2, 25), Integer(1)
_smooth, _convex, _strong = Rational(11, 10), _one, Rational(9, 10)
_clip = Rational(2, 5)
_small = Rational(1, 10) + _s  # eta L + s at L = 1


def _best(c: Expr, s: Expr, start: Expr, steps: int) -> Iterator[IntervalInequality]:
    """The cost at the stated length is below that of both neighbours."""
    for change, name in ((-1, "one step less"), (1, "one step more")):
        here, there = (direct_cost(c, s, start, length) for length in (steps, steps + change))
        yield IntervalInequality(here, "<", there, {}, name)


_reached, _squares, _paid, _power, _shift = (Function(k, nonnegative=True) for k in ("R", "W", "C", "q", "a"))
_binding = split_cost(_strong, _s, Rational(4, 5), 13)

CLAIMS = (
    Ours(
        "chien_li/appendix_a_13/smooth",
        "c = 1.1: the best window is 9 steps, cost 0.546343",
        at("A.13", "Figure 1 (a)"),
        Value(direct_cost(_smooth, _s, _one, 9), "0.546343", "9 steps"),
        *_best(_smooth, _s, _one, 9),
        Inequality(
            direct_cost(_smooth, _s, _one, 9),
            "<",
            window_cost(_smooth, _s, _one, u),
            given=(u <= 1 / _smooth**10,),
            name="any longer window, u = c^-w",
        ),
        Inequality(
            direct_cost(_smooth, _s, _one, 9),
            "<",
            window_cost(_smooth, _s, _one, u),
            given=(u >= 1 / _smooth**8, u <= 1 / _smooth),
            name="any shorter window",
        ),
        Value(best_window_cost(_smooth, _s, _one), "0.546", "real length"),
    ),
    Ours(
        "chien_li/appendix_a_13/convex",
        "c = 1: the best window is 13 steps, cost 0.320123",
        at("A.13", "Figure 1 (a)"),
        Value(direct_cost(_convex, _s, _one, 13), "0.320123", "13 steps"),
        *_best(_convex, _s, _one, 13),
        Inequality(direct_cost(_convex, _s, _one, 13), "<", (_s * w + 1) ** 2 / w, given=(w >= 14,), name="longer"),
        Inequality(direct_cost(_convex, _s, _one, 13), "<", (_s * w + 1) ** 2 / w, given=(w <= 12,), name="shorter"),
        Value(best_window_cost(_convex, _s, _one), "0.32", "real length"),
    ),
    Ours(
        "chien_li/appendix_a_13/strongly_convex",
        "c = 0.9, T without limit: direct shifts cost 0.1216; (3) costs 0.1333, its beta <= 1 binds",
        at("A.13", "Figure 1 (b)"),
        Value(_s**2 * (1 + _strong) / (1 - _strong), "0.1216", "limit"),
        Value(direct_cost(_strong, _s, _one, 100), "0.1216", "100 steps from D"),
        Value(_binding, "0.1333", "(3), start s / (1 - c) = 0.8, 13 steps"),
        IntervalInequality(
            direct_cost(_strong, _s, Rational(4, 5), 13), "<", _binding, {}, "less, if a share might be above 1"
        ),
        IntervalInequality(_binding, "<", split_cost(_strong, _s, Rational(4, 5), 12), {}, "(3), 12 steps"),
        IntervalInequality(_binding, "<", split_cost(_strong, _s, Rational(4, 5), 14), {}, "(3), 14 steps"),
        *(
            IntervalInequality(_binding, "<", split_cost(_strong, _s, Rational(4, 5), k), {}, f"(3), {k} steps")
            for k in (*range(1, 12), *range(15, 21))
        ),
        Inequality(_binding, "<", w * _s**2, given=(w >= 21,), name="composition of more steps"),
    ),
    Ours(
        "chien_li/appendix_a_13/clipping_alone",
        "Clipping alone, D = 10: e(z) = z + 2 eta K, cost 16.0 at 25 steps, no smoothness at all",
        at("A.13", "lambda -> 0"),
        Value(direct_cost(_one, _clip, Integer(10), 25), "16.0", "25 steps"),
        *_best(_one, _clip, Integer(10), 25),
    ),
    Claim(
        "chien_li/appendix_a_13/small_lambda",
        "As lambda -> 0 the bound (13) becomes identical to the Pareto frontier of composition and output perturbation",
        at("A.13", "the bound will become identical"),
        IntervalInequality(
            Min(200 * _s**2, _one),
            "<=",
            direct_cost(_one, _small, _one, 6),
            {},
            "T = 200, L = 1: e(z) = z + eta L + s, 6 steps",
        )
        .mutant("composition alone", left=200 * _s**2)
        .mutant(
            "D = 10, L = 2 K, T = 10000",
            left=Min(10_000 * _s**2, Integer(100)),
            right=direct_cost(_one, _clip, Integer(10), 25),
        ),
        Inequality(
            Min(200 * _s**2, _one),
            "<=",
            (6 * _small + 1) ** 2 / 6,
            name="the same path, its equal shifts added up by hand",
        ),
        refutation=SMALL_LAMBDA,
        remark="""For lambda -> 0 the expansion is z + eta L + s, and the program still distributes D over many steps:
        its optimum is about 4 (eta L + s) D, here 0.7211, while composition over 200 steps is 1.28 and output
        perturbation D^2 = 1. At D = 10 clipping alone gives 16 against min(64, 100). And output perturbation is not a
        valid bound in the first place.""",
    ),
    Ours(
        "chien_li/appendix_a_13/every_lambda",
        "On D <= 1 every lambda has e(z) <= z + eta L + s; at L = 1, D = 1 the cost is at most 0.7211, any T",
        at("A.13", "lambda -> 0"),
        Inequality(u**lam, "<=", _one, (u > 0, u <= 1), "z^lambda <= 1, z > 0").mutant("beyond 1", given=(u > 1,)),
        Inequality(z + eta * L * y + s, "<=", z + eta * L + s, given=(y <= 1,), name="expansion; y = z^lambda"),
        Value(direct_cost(_one, _small, _one, 6), "0.7211", "6 steps"),
        *_best(_one, _small, _one, 6),
        Inequality(T * _s**2, "<=", direct_cost(_one, _small, _one, 6), given=(T <= 5,), name="shorter runs"),
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
            (Eq(_reached(0), 0), Eq(_squares(0), 0), Eq(_paid(0), 0)),
            (
                Eq(_reached(t + 1), _reached(t) + _power(t) * (s + _shift(t))),
                Eq(_squares(t + 1), _squares(t) + _power(t) ** 2),
                Eq(_paid(t + 1), _paid(t) + (s + _shift(t)) ** 2),
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
        Value(direct_cost(_one, _s, 12 * _s, 48), "0.48", "tau = 12, start 12 s"),
        Value(direct_cost(_one, _s, _one, 13), "0.3201", "tau = 47, start D"),
        IntervalInequality(60 * _s**2, "<", direct_cost(_one, _s, _s, 59), {}, "a local minimum at tau = 0"),
    ),
)
