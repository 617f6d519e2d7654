"""Numbers at the settings of figure 1, and what is said of small lambda and of the search.

Statement    K = 2, eta = 0.1, n = 5, D = 1, sigma = 1, L = m = 1: s = 0.08 and c = 1.1, 1, 0.9. As lambda -> 0 the
             bound becomes the Pareto frontier of composition and output perturbation.
Assumptions  costs in units of alpha / (2 sigma^2), so composition is T s^2 and output perturbation D^2.
Derivation   The closed forms of `symbolic.shift_program`, in exact rationals; unimodal in the window length by
             `theorem_3_1/window/unimodal`, so the best whole length is where both neighbours cost more.
Source       Chien & Li 2025, A.13, lines 750-760.
Remark       The search over tau is unimodal only once the tracked distance has reached D: at T = 60 and c = 1 it
             starts in a local minimum, composition. The paper says that its search may miss the optimum.
"""

from sympy import Expr, Integer, Min, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import (
    Claim,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Relation,
    Role,
    Value,
)
from lastiterate.symbolic.notation import Delta, K, L, a, beta, c, eta, lam, n, s, u, y, z
from lastiterate.symbolic.shift_program import best_window_cost, direct_cost, split_cost

_s, _one = Rational(2, 25), Integer(1)
_smooth, _convex, _strong = Rational(11, 10), _one, Rational(9, 10)
_sharp = _one + Rational(1, 10) * Rational(4, 5)
_clip = Rational(2, 5)
_small = Rational(1, 10) + _s  # eta L + s at L = 1


def _best(size: Expr, s_: Expr, start: Expr, steps: int, printed: str) -> tuple[Value | Holds, ...]:
    """The cost at the stated length, and both neighbours above it."""
    here = direct_cost(size, s_, start, steps)
    return (
        Value(here, printed, f"{steps} steps"),
        Holds(here, Relation.BELOW, direct_cost(size, s_, start, steps - 1), {}, "one step less"),
        Holds(here, Relation.BELOW, direct_cost(size, s_, start, steps + 1), {}, "one step more"),
    )


def _wrong(name: str, value: Expr, printed: str) -> Mutant:
    return Mutant(name, Value(value, printed, name), Engine.ENCLOSURE)


_binding = split_cost(_strong, _s, Rational(4, 5), 13)

CLAIMS = (
    Claim(
        key="chien_li/appendix_a_13/sensitivity",
        title="s = 2 eta K / n = 0.08 at the setting of figure 1",
        source=at(750, "A.13", "Numerical setting for Figure 1"),
        checks=(Identity((2 * eta * K / n).subs({eta: Rational(1, 10), K: 2, n: 5}), _s, "s"),),
        mutants=(
            Mutant(
                "factor two dropped",
                Identity((eta * K / n).subs({eta: Rational(1, 10), K: 2, n: 5}), _s),
                Engine.IDENTITY,
            ),
        ),
    ),
    Claim(
        key="chien_li/appendix_a_13/smooth",
        title="c = 1.1: the best window is 9 steps, cost 0.546343",
        source=at(750, "A.13", "Figure 1 (a)"),
        checks=(
            *_best(_smooth, _s, _one, 9, "0.546343"),
            Value(best_window_cost(_smooth, _s, _one), "0.546", "real length"),
        ),
        mutants=(
            _wrong("factor two dropped in s", direct_cost(_smooth, _s / 2, _one, 9), "0.546343"),
            _wrong("c and 1/c exchanged", direct_cost(1 / _smooth, _s, _one, 9), "0.546343"),
            _wrong("8 steps", direct_cost(_smooth, _s, _one, 8), "0.546343"),
            Mutant("10 steps are best", _best(_smooth, _s, _one, 10, "0.548773")[1], Engine.ENCLOSURE),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/appendix_a_13/convex",
        title="c = 1: the best window is 13 steps, cost 0.320123",
        source=at(750, "A.13", "Figure 1 (a)"),
        checks=(
            *_best(_convex, _s, _one, 13, "0.320123"),
            Value(best_window_cost(_convex, _s, _one), "0.32", "real length"),
        ),
        mutants=(
            _wrong("12 steps", direct_cost(_convex, _s, _one, 12), "0.320123"),
            _wrong("start D + s, as in (B.1)", direct_cost(_convex, _s, _one + _s, 13), "0.320123"),
            _wrong("factor two dropped in s", direct_cost(_convex, _s / 2, _one, 13), "0.320123"),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/appendix_a_13/strongly_convex",
        title="c = 0.9: direct shifts fall to 0.1216; (3) stops at 0.1333, its beta <= 1 binds",
        source=at(750, "A.13", "Figure 1 (b)"),
        checks=(
            Value(_s**2 * (1 + _strong) / (1 - _strong), "0.1216", "limit"),
            Value(direct_cost(_strong, _s, _one, 100), "0.1216", "100 steps from D"),
            Value(_binding, "0.1333", "(3), start s / (1 - c) = 0.8, 13 steps"),
            Holds(_binding, Relation.BELOW, split_cost(_strong, _s, Rational(4, 5), 12), {}, "(3), 12 steps"),
            Holds(_binding, Relation.BELOW, split_cost(_strong, _s, Rational(4, 5), 14), {}, "(3), 14 steps"),
        ),
        mutants=(
            _wrong("c and 1/c exchanged", _s**2 * (1 + 1 / _strong) / (1 / _strong - 1) / _strong, "0.1216"),
            _wrong("(3) reaches it", _binding, "0.1216"),
            _wrong("9 steps", direct_cost(_strong, _s, _one, 9), "0.1216"),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/appendix_a_13/sharper",
        title="c = 1 + eta L (n - 1)/n = 1.08: cost 0.4992 at 9 steps, against 0.5463",
        source=at(750, "A.13", "Figure 1 (a)"),
        checks=(
            *_best(_sharp, _s, _one, 9, "0.4992"),
            Value(best_window_cost(_sharp, _s, _one), "0.4992", "real length"),
        ),
        mutants=(
            _wrong("the share of all n samples", direct_cost(_smooth, _s, _one, 9), "0.4992"),
            _wrong("one step", direct_cost(_sharp, _s, _one, 1), "0.4992"),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/appendix_a_13/clipping_alone",
        title="Clipping alone, D = 10: e(z) = z + 2 eta K, cost 16.0 at 25 steps, no smoothness at all",
        source=at(754, "A.13", "lambda -> 0"),
        checks=_best(_one, _clip, Integer(10), 25, "16.0"),
        mutants=(
            _wrong("factor two dropped in 2 eta K", direct_cost(_one, _clip / 2, Integer(10), 25), "16.0"),
            _wrong("output perturbation", Integer(100), "16.0"),
            _wrong("one last step", direct_cost(_one, _clip, Integer(10), 1), "16.0"),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/appendix_a_13/small_lambda",
        title="As lambda -> 0 the bound becomes the Pareto frontier of composition and output perturbation",
        source=at(756, "A.13", "the bound will become identical"),
        checks=(
            Holds(
                Min(200 * _s**2, _one),
                Relation.AT_MOST,
                direct_cost(_one, _small, _one, 6),
                {},
                "T = 200, L = 1: e(z) = z + eta L + s, 6 steps",
            ),
            Inequality(
                Min(200 * _s**2, _one),
                Relation.AT_MOST,
                (6 * _small + 1) ** 2 / 6,
                name="the same path, its equal shifts added up by hand",
            ),
        ),
        mutants=(
            Mutant(
                "composition alone",
                Holds(200 * _s**2, Relation.AT_MOST, direct_cost(_one, _small, _one, 6), {}),
                Engine.ENCLOSURE,
            ),
            Mutant(
                "D = 10, L = 2 K, T = 10000",
                Holds(
                    Min(10_000 * _s**2, Integer(100)), Relation.AT_MOST, direct_cost(_one, _clip, Integer(10), 25), {}
                ),
                Engine.ENCLOSURE,
            ),
        ),
        remark=(
            "For lambda -> 0 the expansion is z + eta L + s, and the program still distributes D over many steps: its "
            "optimum is about 4 (eta L + s) D, here 0.7211, while composition over 200 steps is 1.28 and output "
            "perturbation D^2 = 1. At D = 10 clipping alone gives 16 against min(64, 100). And output perturbation is "
            "not a valid bound in the first place."
        ),
    ),
    Claim(
        key="chien_li/appendix_a_13/every_lambda",
        title="On D <= 1 every lambda has e(z) <= z + eta L + s; at L = 1, D = 1 the cost is at most 0.7211, any T",
        source=at(756, "A.13", "lambda -> 0"),
        checks=(
            Holds(
                u**lam,
                Relation.AT_MOST,
                _one,
                {u: (Rational(1, 1000), 1), lam: (Rational(1, 1000), 1)},
                "z^lambda <= 1",
            ),
            Inequality(
                z + eta * L * y + s, Relation.AT_MOST, z + eta * L + s, given=(y <= 1,), name="expansion; y = z^lambda"
            ),
            *_best(_one, _small, _one, 6, "0.7211"),
        ),
        mutants=(
            Mutant(
                "beyond 1",
                Holds(u**lam, Relation.AT_MOST, _one, {u: (1, 2), lam: (Rational(1, 1000), 1)}),
                Engine.ENCLOSURE,
            ),
            _wrong("eta L alone", direct_cost(_one, Rational(1, 10), _one, 6), "0.7211"),
            _wrong("one step", direct_cost(_one, _small, _one, 1), "0.7211"),
        ),
        role=Role.OURS,
        repairs="chien_li/appendix_a_13/small_lambda",
    ),
    Claim(
        key="chien_li/appendix_a_13/any_feasible",
        title="Any feasible shifts and shares give at least the optimum, so a valid bound",
        source=at(760, "A.13", "Computational complexity"),
        assumptions=(beta > 0, beta < 1),
        checks=(
            Inequality(
                (s + c * Delta) ** 2,
                Relation.TIGHT,
                s**2 / beta + a**2 / (1 - beta),
                given=(a >= c * Delta,),
                name="window of one step",
            ),
        ),
        mutants=(
            Mutant(
                "infeasible shifts too",
                Inequality((s + c * Delta) ** 2, Relation.AT_MOST, s**2 / beta + a**2 / (1 - beta)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "1/c for c",
                Inequality(
                    (s + c * Delta) ** 2, Relation.AT_MOST, s**2 / beta + a**2 / (1 - beta), given=(a >= Delta / c,)
                ),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/appendix_a_13/search_over_tau",
        title="c = 1, T = 60: the bound over tau is not unimodal: 0.384 at 0, 0.48 at 12, 0.3201 at 47",
        source=at(760, "A.13", "binary search"),
        checks=(
            Value(60 * _s**2, "0.384", "tau = 0, composition"),
            Value(direct_cost(_one, _s, 12 * _s, 48), "0.48", "tau = 12, start 12 s"),
            Value(direct_cost(_one, _s, _one, 13), "0.3201", "tau = 47, start D"),
            Holds(60 * _s**2, Relation.BELOW, direct_cost(_one, _s, _s, 59), {}, "a local minimum at tau = 0"),
        ),
        mutants=(
            Mutant(
                "no local minimum at tau = 0",
                Holds(direct_cost(_one, _s, _s, 59), Relation.AT_MOST, 60 * _s**2, {}),
                Engine.ENCLOSURE,
            ),
            _wrong("start D at tau = 12", direct_cost(_one, _s, _one, 48), "0.48"),
        ),
        role=Role.OURS,
    ),
)
