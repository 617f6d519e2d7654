"""Our bounds with one thing wrong each, by name: the attacks must refute them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.published.evaluators import Setting, batch_run, empty_is_private
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.shift_program.affine import untested
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.without_replacement import moved, rate

__all__ = ["WRONG_BOUNDS"]

_WIDEST = 1e4
"""S_down is not enclosed where the move is more widths of the noise than this; it is at most log(1 / (1 - q))."""


def _affine_untested(setting: Setting) -> float:
    """The closed form (s V + Delta)^2 / W over all windows, its feasibility test forgotten; c = 1 + eta L."""
    T = int(setting["T"])
    with precision():
        eta = exact(setting["eta"])
        c, s = 1 + eta * exact(setting["L"]), 2 * eta * exact(setting["K"]) / exact(setting["n"])
        starts = [(0.0, T)] + ([(setting["D"], w) for w in range(1, T + 1)] if isfinite(setting["D"]) else [])
        costs = [untested(c, s, exact(d), w).cost / exact(setting["sigma"]) ** 2 for d, w in starts]
        return upper(exact(setting["alpha"]) * exact(min(map(upper, costs))) / 2)


def _smaller_direction(sampling: str) -> Callable[[Setting], float]:
    """Composition at the price of S_down, the base as the numerator, which the papers take for both orders."""

    def evaluate(setting: Setting) -> float:
        run = batch_run(setting, sampling)
        with precision():
            multiplier = float(exact(run.noise_std_at(0)) / (exact(run.step_size_at(0)) * exact(moved(run))))
            if multiplier < 1 / _WIDEST:
                return upper(-run.steps * (1 - exact(rate(run))).log()) if rate(run) < 1 else float("inf")
            return upper(run.steps * exact(s_down(rate(run), multiplier, alpha=setting["alpha"]).upper))

    return evaluate


def _best_position(setting: Setting) -> float:
    """The batch of an epoch in which a sample that differs costs least, where the worst is asked for."""
    run, assumption = batch_run(setting, "cyclic"), Convex(setting["L"])
    with precision():
        costs = [upper(optimum(ShiftProgram(run, assumption, place)).cost) for place in {0, (run.steps % run.batches)}]
        return upper(exact(setting["alpha"]) * exact(min(costs)) / 2)


def _amplified_twice(setting: Setting) -> float:
    """The rate b / n of a fresh batch, priced for one of half the size."""
    run = batch_run(setting, "without_replacement")
    return bound(replace(run, dataset_size=2 * run.dataset_size), Convex(setting["L"]), order=setting["alpha"]).epsilon


WRONG_BOUNDS: Final[Mapping[str, Callable[[Setting], float]]] = MappingProxyType(
    {
        name: empty_is_private(evaluate)
        for name, evaluate in {
            "affine_untested": _affine_untested,
            "without_replacement_s_down_convex": _smaller_direction("without_replacement"),
            "without_replacement_half_the_rate_convex": _amplified_twice,
            "poisson_s_down_convex": _smaller_direction("poisson"),
            "cyclic_best_position_convex": _best_position,
        }.items()
    }
)
"""Name of a wrong bound -> evaluator."""
