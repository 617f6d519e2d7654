"""Our bounds for batches, and what they would be with one thing wrong, by name: for the ledger to attack.

A setting has no size of a batch. The largest proper divisor of n stands for it, so that a rate is one over a prime and
the fixed batches of an epoch come out even; n = 1 is a full batch.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.common import moved, rate

__all__ = ["BATCH_EVALUATORS", "batch_run"]

Setting = Mapping[str, float]

_WIDEST = 1e4
"""S_down is not enclosed where the move is more widths of the noise than this; it is at most log(1 / (1 - q))."""


def batch_run(setting: Setting, sampling: str) -> NoisySGD:
    """The run of a setting, with the largest proper divisor of n as the size of a batch.

    >>> setting = dict(T=3, n=10, eta=0.1, sigma=1.0, K=1.0, D=2.0)
    >>> batch_run(setting, "poisson").batch
    5
    """
    n = int(setting["n"])
    batch = next((n // p for p in range(2, n + 1) if n % p == 0), 1)
    return NoisySGD(
        int(setting["T"]),
        setting["eta"],
        setting["sigma"],
        setting["K"],
        dataset_size=n,
        batch_size=batch,
        sampling="full" if batch == n and sampling == "cyclic" else sampling,
        diameter=setting["D"],
    )


def _ours(sampling: str) -> Callable[[Setting], float]:
    return lambda setting: bound(batch_run(setting, sampling), Convex(setting["L"]), order=setting["alpha"]).epsilon


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


BATCH_EVALUATORS: Final[Mapping[str, Callable[[Setting], float]]] = MappingProxyType(
    {
        "without_replacement_convex": _ours("without_replacement"),
        "without_replacement_s_down_convex": _smaller_direction("without_replacement"),
        "without_replacement_half_the_rate_convex": _amplified_twice,
        "poisson_convex": _ours("poisson"),
        "poisson_s_down_convex": _smaller_direction("poisson"),
        "cyclic_convex": _ours("cyclic"),
        "cyclic_best_position_convex": _best_position,
    }
)
"""Name of a bound -> evaluator."""
