"""Bounds that are wrong in one thing, for the ledger to refute."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite

from lastiterate.numeric.bound import bound
from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.shift_program.optimum import optimum, untested_window
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import outcome_distance, rate
from lastiterate.proofs_checks.attacks.record import Setting

_WIDEST = 1e4
"""S_down is not enclosed where the move is more widths of the noise than this; it is at most log(1 / (1 - q))."""


def affine_untested(setting: Setting) -> float:
    """The closed form (s V + Delta)^2 / W over all windows, its feasibility test forgotten; c = 1 + eta L."""
    T = int(setting["T"])
    with precision():
        eta, noise = exact(setting["eta"]), exact(setting["sigma"])
        c, s = 1 + eta * exact(setting["L"]), 2 * eta * exact(setting["K"]) / exact(setting["n"])
        starts = [(0.0, T)] + ([(setting["D"], w) for w in range(1, T + 1)] if isfinite(setting["D"]) else [])
        least = min(upper(untested_window(c, s, exact(d), w).cost) for d, w in starts)
        return upper(exact(setting["alpha"]) / 2 * exact(least) / noise**2)


def smaller_direction(sampling: str) -> Callable[[Setting], float]:
    """Composition at the cost of S_down, the base as the numerator, which the papers take for both orders."""

    def evaluate(setting: Setting) -> float:
        run = run_of(setting, sampling)
        with precision():
            multiplier = float(exact(run.noise_std_at(0)) / (exact(run.step_size_at(0)) * exact(outcome_distance(run))))
            if multiplier < 1 / _WIDEST:
                return upper(-run.steps * (1 - exact(rate(run))).log()) if rate(run) < 1 else inf
            return upper(run.steps * exact(s_down(rate(run), multiplier, alpha=setting["alpha"]).upper))

    return evaluate


def best_position(setting: Setting) -> float:
    """The batch of an epoch in which a sample that differs costs least, where the worst is asked for."""
    run, assumption = run_of(setting, "cyclic"), Convex(setting["L"])
    with precision():
        costs = [upper(optimum(ShiftProgram(run, assumption, place)).cost) for place in {0, (run.steps % run.batches)}]
        return upper(exact(setting["alpha"]) * exact(min(costs)) / 2)


def amplified_twice(setting: Setting) -> float:
    """The rate b / n of a fresh batch, priced for one of half the size."""
    run = run_of(setting, "without_replacement")
    return bound(replace(run, dataset_size=2 * run.dataset_size), Convex(setting["L"]), order=setting["alpha"]).epsilon
