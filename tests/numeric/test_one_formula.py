"""One formula, two texts: what `symbolic.formulas` states is what `numeric` computes, at random exact rationals.

Each row of the table names a function of `lastiterate.numeric`, the Sympy statement, and how to ask both at a point.
The letters are dyadic rationals, so that floats hold them exactly. A ball must hold the exact value and be tiny; a
float must be above it (or below, for a lower bound), by no more than rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from random import Random

import numpy as np
import pytest
import random_projection as projection
import statements
from exact_points import Point, value
from flint import arb
from sympy import Expr, Integer, Min, Rational, S, Symbol, ceiling, diff, exp, log

from lastiterate.numeric import rounding
from lastiterate.numeric.accounting import conversion
from lastiterate.numeric.accounting.batches import least_range, outcome_distance, rate, tail_from
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.divergences import renyi_gaussian, replacement_step, s_down, s_up, sampled
from lastiterate.numeric.losses import certified
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    ClippedConvex,
    Convex,
    Holder,
    Sized,
    Smooth,
    StronglyConvex,
    Sum,
)
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shuffling.epoch_value_iteration import pool
from lastiterate.numeric.shuffling.shuffled import View
from lastiterate.numeric.subsampling import poisson
from lastiterate.numeric.subsampling.poisson import ContractingBlock
from lastiterate.symbolic.formulas import accounting, divergences, networks, shift_program, update
from lastiterate.symbolic.kernel.profiles import X as X_SQUARE

POINTS = 6
BALL = 1e-25
FLOAT = 1e-12
QUADRATURE = 1e-9
X = Symbol("X", positive=True)
"""The variable in which a moment is differentiated."""

Value = arb | float
Ask = Callable[[Point], Expr]


@dataclass(frozen=True)
class Pair:
    """One formula in its two texts.

    Attributes:
        function: what evaluates it in `lastiterate.numeric`.
        stated: the Sympy statement at a point.
        computed: what numeric says there: a ball, or a float on the safe side.
        within: relative width that is rounding.
        wants: which points it speaks of.
        side: 1 where a float is above the value, -1 where it is below, 0 for plain floats.
    """

    function: str
    stated: Ask
    computed: Callable[[Point], Value]
    within: float = FLOAT
    wants: Callable[[Point], bool] = lambda p: True  # noqa: ARG005
    side: int = 1


def run(p: Point, sampling: str = "full", diameter: str = "") -> NoisySGD:
    n = p.b if sampling == "full" else p.n
    far = p(diameter) if diameter else inf
    return NoisySGD(
        int(p.T), p("eta"), p("sigma"), p("K"), int(n), batch_size=int(p.b), sampling=sampling, diameter=far
    )


def grows(
    assumption: Callable[[Point], Assumption], *, differs: bool, decay: str = ""
) -> Callable[[Point], Value]:
    def value(p: Point) -> Value:
        described = replace(run(p), weight_decay=p(decay) if decay else 0.0)
        return assumption(p).expansion(described, 0, differs=differs).ball(exact(p("z")))

    return value


def over(assumption: Callable[[Point], Assumption]) -> Callable[[Point], Value]:
    """The expansion over batches of 1 to 2 b samples, between the distances z and 0: the slope without its clip."""
    return lambda p: assumption(p).over_sizes(run(p), 0, 1, int(2 * p.b)).ball(exact(p("z")))


def hoelder(p: Point) -> Holder:
    return Holder(p("L"), p("lam"))


def two(p: Point) -> Sum:
    return Sum(Holder(p("L"), p("lam")), Holder(p("m"), 0.5))


def root(p: Point) -> Blocks:
    return Blocks(Smooth(p("L")), Smooth(p("m")))


def clipped(p: Point, line: Expr) -> Expr:
    """A line through 0, or a long step of size 2 eta."""
    return statements.convex_step(p.z, 2 * p.eta, p.L, p.K) if line > 1 else line * p.z


def omega(p: Point) -> Expr:
    return p.L * p.z**p.lam


def composed(p: Point) -> DominatingPair:
    step = SampledSteps(p("q"), p("sigma"), "add_remove", int(p.w))
    return DominatingPair(p("D"), (step,))


def block(p: Point) -> ContractingBlock | None:
    a_run = NoisySGD(4, p("eta"), 1.0, p("K"), 40, batch_size=20, sampling="poisson")
    return poisson._block(a_run, StronglyConvex(p("L"), p("m")), 3, -3.0)


def block_low() -> int:
    return least_range(3 * 39, Fraction(1, 2), -3.0 - float(log(2)), both=True)[0]


def short(p: Point) -> bool:
    """Short enough steps, at which a block contracts."""
    return p.eta * p.L <= 1 and block(p) is not None


def sums(p: Point) -> tuple[Expr, Expr]:
    return shift_program.sums(p.c, int(p.w))


def ratio(p: Point) -> Expr:
    return p.x**2 * p.y**2 / (p.sigma**2 * p.b)


def least(p: Point) -> Expr:
    """A number of samples above the mean of 2 w draws at rate q."""
    return ceiling(2 * p.w * p.q) + 1


def projected(p: Point, kind: str, order: float) -> float:
    return projection.projection_rdp(
        order,
        sensitivity=p("x"),
        noise_std=p("sigma"),
        dimension=int(p.b),
        entry_std=p("y"),
        rate=p("q"),
        adjacency=kind,
    )


def finite_step(p: Point) -> bool:
    return bool(p.alpha * (p.alpha - 1) * ratio(p) < Rational(9, 10))


def finite_whole_step(p: Point) -> bool:
    return bool(p.whole * (p.whole - 1) * ratio(p) < Rational(9, 10))


def hidden_step(p: Point) -> Expr:
    """As the kernel has it: the mean over the matrix of a step with a hidden coin, or with a revealed one."""
    revealed = divergences.projected_step(p.whole, ratio(p), p.b, p.q)

    def mean(term: Expr) -> Expr:  # over the chi-square variable of exp(w X / 2)
        return divergences.projected_moment(2 * term.args[0] / X_SQUARE, S.One, p.b)

    given = statements.sampled_moment(p.q, ratio(p) * X_SQUARE, p.whole)
    hidden = given.doit().replace(lambda term: isinstance(term, exp), mean)
    return Min(revealed, log(hidden) / (p.whole - 1))


PAIRS = (
    # One update.
    Pair("losses.expansion.ModulusExpansion.ball", lambda p: update.modulus(p.z, omega(p), p.eta, p.K, p.b),
         grows(hoelder, differs=True), BALL),
    Pair("losses.expansion.ModulusExpansion.ball (same batch)",
         lambda p: update.same_batch(p.z, omega(p), p.eta, p.K),
         grows(hoelder, differs=False), BALL),
    Pair("losses.expansion.ModulusExpansion.ball (weight decay)",
         lambda p: update.modulus(p.z, omega(p), p.eta, p.K, p.b, 1 - p.eta * p.q),
         grows(hoelder, differs=True, decay="q"), BALL, wants=lambda p: p.eta * p.q <= 1),
    Pair("losses.assumptions.Sum.ball",
         lambda p: update.modulus(p.z, omega(p) + p.m * p.z ** Rational(1, 2), p.eta, p.K, p.b),
         grows(two, differs=True), BALL),
    Pair("losses.assumptions.Blocks.ball",
         lambda p: update.modulus(p.z, statements.blocks(p.L * p.z, p.m * p.z), p.eta, p.K, p.b),
         grows(root, differs=True), BALL),
    Pair("losses.assumptions.Convex.expansion", lambda p: statements.strongly_convex(p.z, p.eta, p.K, p.b, p.L, S.Zero),
         grows(lambda p: Convex(p("L")), differs=True), BALL, wants=lambda p: p.eta * p.L <= 2),
    Pair("losses.assumptions.Convex.expansion (long step)",
         lambda p: statements.convex_step(p.z, p.eta * (p.b - 1) / p.b, 32 * p.L, p.K)
         + update.step_sensitivity(p.eta, p.K, p.b),
         grows(lambda p: Convex(32 * p("L")), differs=True), BALL, wants=lambda p: p.eta * p.L > Rational(1, 16)),
    Pair("losses.assumptions.Convex.expansion (long step, weight decay)",
         lambda p: statements.convex_step(p.z, p.eta, 32 * p.L, p.K, 1 - p.eta * p.q),
         grows(lambda p: Convex(32 * p("L")), differs=False, decay="q"), BALL,
         wants=lambda p: p.eta * (32 * p.L + p.q) > 2 and p.eta * p.q <= 1),
    *(
        Pair(f"losses.assumptions.ClippedConvex.expansion ({times} L)",
             lambda p, times=times: Min(
                 statements.clipped_convex_factor(times * p.eta * p.L / (1 - p.eta * p.q)) * (1 - p.eta * p.q) * p.z,
                 statements.clipped_step(p.z, p.eta, p.K, 1 - p.eta * p.q)),
             grows(lambda p, times=times: ClippedConvex(times * p("L")), differs=False, decay="q"), BALL,
             wants=lambda p: p.eta * p.q < 1)
        for times in (1, 8)
    ),
    Pair("losses.assumptions.StronglyConvex.expansion",
         lambda p: statements.strongly_convex(p.z, p.eta, p.K, p.b, p.L, p.m),
         grows(lambda p: StronglyConvex(p("L"), p("m")), differs=True), BALL, wants=lambda p: p.eta * p.L <= 2),
    Pair("losses.assumptions.StronglyConvex.expansion (weight decay)",
         lambda p: update.strongly_convex_over_sizes(p.eta, p.L, p.m, p.b, p.b, p.b, 1 - p.eta * p.q) * p.z
         + update.step_sensitivity(p.eta, p.K, p.b),
         grows(lambda p: StronglyConvex(p("L"), p("m")), differs=True, decay="q"), BALL,
         wants=lambda p: p.eta * (p.L + p.q) <= 2 and p.eta * p.q <= 1),
    Pair("losses.assumptions.StronglyConvex.expansion (same batch)",
         lambda p: statements.strongly_convex(p.z, p.eta, S.Zero, p.b, p.L, p.m),
         grows(lambda p: StronglyConvex(p("L"), p("m")), differs=False), BALL, wants=lambda p: p.eta * p.L <= 2),
    Pair("losses.assumptions.Modulus.over_sizes",
         lambda p: statements.modulus_over_sizes(p.z, omega(p), p.eta, p.K, p.b, 2 * p.b), over(hoelder), FLOAT),
    Pair("losses.assumptions.Convex.over_sizes",
         lambda p: clipped(p, statements.convex_over_sizes(p.eta, p.L, p.b, 2 * p.b)),
         over(lambda p: Convex(p("L"))), FLOAT),
    Pair("losses.assumptions.StronglyConvex.over_sizes",
         lambda p: clipped(p, update.strongly_convex_over_sizes(p.eta, p.L, p.m, p.b, S.One, 2 * p.b)),
         over(lambda p: StronglyConvex(p("L"), p("m"))), FLOAT),
    Pair("losses.assumptions.Sized.expansion", lambda p: p.z + update.moved(p.eta, p.K, p.b),
         lambda p: Sized(Convex(p("L")), 0, int(p.b)).expansion(run(p), 0, differs=True).ball(exact(p("z"))),
         BALL, wants=lambda p: p.eta * p.L <= 2),
    Pair("subsampling.noise_split.moved", lambda p: update.moved(S.One, p.K, p.b),
         lambda p: outcome_distance(run(p, "poisson"))),
    Pair("subsampling.noise_split.moved (replace)", lambda p: update.step_sensitivity(S.One, p.K, p.b),
         lambda p: outcome_distance(run(p, "without_replacement"))),
    Pair("subsampling.without_replacement.rate", lambda p: p.b / p.n, lambda p: rate(run(p, "poisson"))),
    Pair("subsampling.poisson_blocks.block",
         lambda p: statements.block_contraction(p.eta, p.m, Integer(20), Integer(block_low()), Integer(3)),
         lambda p: block(p).contraction, wants=short),
    Pair("subsampling.poisson_blocks.block (reach)",
         lambda p: statements.block_reach(p.eta, p.K, Integer(20), Rational(block(p).contraction), Integer(3)),
         lambda p: block(p).reach, wants=short),
    Pair("shift_program.program.ShiftProgram.reach",
         lambda p: statements.tracked(1 - p.eta * p.m, update.step_sensitivity(p.eta, p.K, p.b), p.T - 1),
         lambda p: ShiftProgram(run(p), StronglyConvex(p("L"), p("m"))).reach(int(p.T) - 1),
         wants=lambda p: p.T > 1 and p.eta * (p.L + p.m) <= 2),
    # Constants of losses.
    *(
        Pair(f"losses.certified.{name} ({what})", lambda p, i=i, stated=stated: stated(p.x, p.y, p.m, p.D)[i],
             lambda p, what=what, ask=ask: getattr(ask(p("x"), scale=p("y"), l2=p("m"), parameter_norm=p("D")), what))
        for name, stated, ask in (("logistic_regression", statements.logistic, certified.logistic_regression),
                                  ("softmax_regression", statements.softmax, certified.softmax_regression))
        for i, what in enumerate(("lipschitz", "smoothness"))
    ),
    *(
        Pair(f"losses.certified.two_layer ({what})",
             lambda p, i=i: statements.two_layer(p.x, p.z, p.D, min(p.w, (p.y * p.x) ** 2), S.One,
                                             networks.largest_tanh_curvature())[i],
             lambda p, what=what: getattr(
                 certified.two_layer(p("x"), first_norm=p("y"), second_norm=p("z"), radius=1.0, hidden=int(p.w),
                                     activation="tanh", scale=p("D")), what))
        for i, what in enumerate(("lipschitz", "smoothness"))
    ),
    # The shift program.
    Pair("rounding.geometric_sum", lambda p: sums(p)[0],
         lambda p: rounding.geometric_sum(1 / exact(p("c")), int(p.w)), BALL),
    Pair("shift_program.optimum.untested", lambda p: shift_program.cost(p.s, p.D, *sums(p)),
         lambda p: optimum.untested_window(exact(p("c")), exact(p("s")), exact(p("D")), int(p.w)).cost, BALL),
    Pair("shift_program.optimum.untested (geometric sums)",
         lambda p: shift_program.cost(p.s, p.D, shift_program.v_sum(p.c, p.w), shift_program.w_sum(p.c, p.w)),
         lambda p: optimum.untested_window(exact(p("c")), exact(p("s")), exact(p("D")), int(p.w)).cost, BALL,
         wants=lambda p: p.c != 1),
    Pair("shift_program.optimum.untested (lam)", lambda p: (p.s * sums(p)[0] + p.D) / sums(p)[1],
         lambda p: optimum.untested_window(exact(p("c")), exact(p("s")), exact(p("D")), int(p.w)).lam, BALL),
    Pair("shift_program.optimum.window (feasible)",
         lambda p: S.One if shift_program.feasibility(p.c, p.s, p.D, p.w) >= 0 else S.Zero,
         lambda p: float(optimum.affine_window(exact(p("c")), exact(p("s")), exact(p("D")), int(p.w)) is not None),
         wants=lambda p: p.c > 1),
    Pair("shift_program.optimum.best_window",
         lambda p: min(shift_program.direct_cost(p.c, p.s, p.D, w) for w in range(1, 31)
                       if p.c <= 1 or shift_program.feasibility(p.c, p.s, p.D, Integer(w)) >= 0),
         lambda p: optimum.best_window(exact(p("c")), exact(p("s")), p("D"), 30).cost, BALL),
    Pair("shift_program.program.ShiftProgram.composition",
         lambda p: p.T * statements.release(update.step_sensitivity(p.eta, p.K, p.b), p.sigma),
         lambda p: ShiftProgram(run(p), hoelder(p)).composition(), BALL),
    Pair("shift_program.program.ShiftProgram.last_step",
         lambda p: statements.release(update.modulus(p.D, p.L * p.D**p.lam, p.eta, p.K, p.b), p.sigma),
         lambda p: ShiftProgram(run(p, diameter="D"), hoelder(p)).last_step(), BALL),
    # Divergences; the name says which law is the numerator.
    Pair("divergences.sampled.renyi_gaussian",
         lambda p: divergences.renyi((p.x, p.sigma**2), (S.Zero, p.sigma**2), p.alpha),
         lambda p: renyi_gaussian(p("x"), p("sigma"), alpha=p("alpha")).upper),
    Pair("divergences.sampled.s_up", lambda p: statements.up_sum(p.q, p.x / p.sigma, int(p.whole)),
         lambda p: s_up(p("q"), p("sigma"), alpha=int(p.whole), shift=p("x")).upper, QUADRATURE),
    Pair("divergences.sampled.s_down", lambda p: statements.down_integral(p.q, p.x / 2, p.alpha),
         lambda p: s_down(p("q"), 2.0, alpha=p("alpha"), shift=p("x")).upper, QUADRATURE),
    Pair("divergences.sampled.replacement_step", lambda p: statements.replacement_bound(p.q, p.x / 2, p.alpha),
         lambda p: replacement_step(p("q"), 2.0, alpha=p("alpha"), shift=p("x")).upper, QUADRATURE),
    Pair("divergences.sampled.gaussian_profile", lambda p: divergences.delta_of_gdp(p.y, p.x),
         lambda p: sampled.gaussian_profile(exact(p("x")), exact(p("y"))), BALL),
    Pair("random_projection.projection_rdp",
         lambda p: divergences.projected_step(p.alpha, ratio(p), p.b, p.q),
         lambda p: projected(p, "replace", p("alpha")),
         wants=finite_step),
    Pair("random_projection.projection_rdp, hidden", hidden_step,
         lambda p: projected(p, "add_remove", float(p.whole)), wants=finite_whole_step),
    Pair("random_projection.order_limit", lambda p: divergences.projected_order_limit(ratio(p)),
         lambda p: projection.order_limit(
             sensitivity=p("x"), noise_std=p("sigma"), dimension=int(p.b), entry_std=p("y")), side=-1),
    # Accounting.
    Pair("accounting.dominating.DominatingPair.rdp", lambda p: statements.gdp_rdp(p.D, p.alpha),
         lambda p: DominatingPair(p("D")).rdp(p("alpha"))),
    Pair("accounting.dominating.step_rdp",
         lambda p: statements.amplified_rdp(p.D, p.whole, p.w, statements.up_sum(p.q, 1 / p.sigma, int(p.whole))),
         lambda p: composed(p).rdp(float(p.whole)), QUADRATURE),
    Pair("accounting.conversion.gdp_delta", lambda p: divergences.delta_of_gdp(p.y, p.x),
         lambda p: conversion.gdp_delta(p("x"), p("y"))),
    Pair("accounting.conversion.gdp_epsilon", lambda p: p.d,
         lambda p: -conversion.gdp_delta(p("x"), conversion.gdp_epsilon(p("x"), p("d"))) + 2 * p("d"),
         wants=lambda p: conversion.gdp_epsilon(p("x"), p("d")) > 0),
    Pair("accounting.conversion.quick_rdp_to_dp", lambda p: accounting.quick_dp(p.alpha, p.x, p.d),
         lambda p: conversion.quick_rdp_to_dp(p("alpha"), p("x"), p("d")),
         wants=lambda p: accounting.quick_dp(p.alpha, p.x, p.d) > 0),
    Pair("accounting.conversion._value_and_slope", lambda p: accounting.two_point_moment(p.q, p.alpha, p.x, p.d / 8),
         lambda p: conversion._value_and_slope(p("alpha"), p("d") / 8, p("x"), p("q"))[0], BALL),
    Pair("accounting.conversion._value_and_slope (slope)",
         lambda p: diff(accounting.two_point_moment(X, p.alpha, p.x, p.d / 8), X).subs(X, p.q),
         lambda p: conversion._value_and_slope(p("alpha"), p("d") / 8, p("x"), p("q"))[1], BALL),
    Pair("accounting.conversion.mixed_rdp", lambda p: statements.event_mixture(p.x, p.d, p.x + p.y, p.alpha),
         lambda p: conversion.mixed_rdp(p("x"), p("d"), p("x") + p("y"), p("alpha"))),
    Pair("accounting.batches.tail_from", lambda p: statements.binomial_tail(2 * p.w, p.q, least(p)),
         lambda p: tail_from(int(2 * p.w), Fraction(p.q.p, p.q.q), int(least(p))),
         wants=lambda p: least(p) <= 2 * p.w and statements.binomial_tail(2 * p.w, p.q, least(p)) < 1),
    Pair("shuffling.epoch_value_iteration.pool", lambda p: statements.log_mean((p.x, p.y, p.D), p.alpha),
         lambda p: float(pool(np.array([p("x"), p("y"), p("D")]), float(p.alpha * (p.alpha - 1) / 2))), FLOAT),
    Pair("shuffling.shuffled.View.composition",
         lambda p: -(-p.T // (p.n // p.b)) * statements.release(update.step_sensitivity(p.eta, p.K, p.b), p.sigma),
         lambda p: View(run(p, "shuffled"), hoelder(p)).composition(), BALL, wants=lambda p: p.T > 1),
)  # fmt: skip


def agrees(pair: Pair, stated: arb, computed: Value) -> bool:
    """Whether the computed number is the stated one, up to rounding on the safe side."""
    slack = abs(stated) * pair.within
    if isinstance(computed, arb):
        return bool(computed.overlaps(stated) and computed.rad() <= slack)
    gap = pair.side * (exact(computed) - stated)
    return bool(gap >= -abs(stated) * 1e-14 - 2 * stated.rad() and gap <= slack + 2 * stated.rad())


def asked(pair: Pair) -> list[Point]:
    """Points of which the pair speaks."""
    generator, found = Random(pair.function), []  # noqa: S311
    for _ in range(400):
        point = Point(generator)
        if point.eta * point.L <= 2 and pair.wants(point):
            found.append(point)
        if len(found) == (2 if pair.within == QUADRATURE else POINTS):
            return found
    raise AssertionError(f"{pair.function} speaks of no point")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.function)
def test_two_texts_of_a_formula_agree(pair: Pair) -> None:
    """And a text that is off by 2%, by a factor of two or by its sign does not."""
    wrong = {1.02: False, 2: False, -1: False}
    with precision():
        for point in asked(pair):
            stated, computed = value(pair.stated(point)), pair.computed(point)
            assert agrees(pair, stated, computed), (dict(point), stated, computed)
            for factor in wrong:
                wrong[factor] |= not agrees(pair, stated * exact(factor), computed)
    assert all(wrong.values())
