"""Random quantities of the papers' algorithms, drawn by the simulation engine, and facts about them.

An experiment draws independent copies of one quantity; a known fact makes the interval for its mean valid.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import within

Parameters = Mapping[str, float]
"""Name of a symbol of the notation -> its value."""

Drawing = Callable[[np.random.Generator, int, Parameters], Array]
"""Function that draws copies, of shape (copies,), from a generator, their number and the parameters."""


@dataclass(frozen=True)
class EventIndicator:
    """Fact that the quantity is 0 or 1; the interval is exact (Clopper & Pearson 1934)."""


@dataclass(frozen=True)
class ValueRange:
    """Fact that the quantity lies in [low, high]; the interval is Hoeffding's."""

    low: Callable[[Parameters], float]
    high: Callable[[Parameters], float]


@dataclass(frozen=True)
class Moment:
    """Fact that the mean of the square is at most ``second``; the interval uses the median of means."""

    second: Callable[[Parameters], float]


@dataclass(frozen=True)
class Experiment:
    """A quantity that can be drawn."""

    needs: frozenset[str]
    copies: int
    draw: Drawing
    known: EventIndicator | ValueRange | Moment


EXPERIMENTS: Final[dict[str, Experiment]] = {}
"""Name of the drawing function, used in claims -> experiment."""


def _experiment(
    needs: str, known: EventIndicator | ValueRange | Moment, copies: int = 200_000
) -> Callable[[Drawing], Drawing]:
    def registered(draw: Drawing) -> Drawing:
        EXPERIMENTS[draw.__name__.strip("_")] = Experiment(frozenset(needs.split()), copies, draw, known)
        return draw

    return registered


def _whole(at: Parameters, name: str) -> int:
    need = "a whole number of at least 1"
    return int(within(name, at[name], need, lambda x: x >= 1 and x.is_integer(), "write one."))


def _probability(name: str, value: float) -> float:
    return within(name, value, "a probability, from 0 to 1", lambda x: 0 <= x <= 1, "write one.")


@_experiment(
    "dim eta sigma_DP",
    Moment(
        lambda at: at["dim"] * (at["dim"] + 2) * (at["eta"] * at["sigma_DP"]) ** 4
    ),  # the square of a chi-squared
)
def _noise_energy(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Squared length |zeta|^2 of the noise eta N(0, sigma_DP^2 I_d)."""
    noise = draw.normal(0.0, at["eta"] * at["sigma_DP"], (copies, _whole(at, "dim")))
    return np.asarray((noise**2).sum(axis=1))


def _normalised(gradient: Array, stab: float) -> Array:
    return np.asarray(gradient / (np.abs(gradient) + stab))


@_experiment("stab", ValueRange(lambda _: -1.0, lambda _: 1.0))
def _normalised_gradient(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Gradient 5, -1 or -1, with equal probability, divided by its size plus stab."""
    return _normalised(draw.choice(np.array([5.0, -1.0, -1.0]), copies), at["stab"])


@_experiment("T eta nu stab", ValueRange(lambda _: 0.0, lambda _: 168 / 27), copies=2_000)
def _stalled_gradient(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Least gradient along D2P2-SGD, d = p = sigma_A = 1, on 13 samples of slope 14 and 14 of slope -1.

    The slopes apply at x >= 0 and shrink to 0 at x = -1. Runs start at 1. The mean of the least gradient is at
    most the least mean gradient.
    """
    x = np.ones(copies)
    lowest = x
    for k in range(1, _whole(at, "T") + 1):
        shape = np.clip(1.0 + x, 0.0, 1.0)
        step = (13 * _normalised(14 * shape, at["stab"]) + 14 * _normalised(-shape, at["stab"])) / 27
        projection = draw.normal(0.0, 1.0, copies)
        noise = draw.normal(0.0, at["nu"] / np.sqrt(k), copies)
        lowest = np.minimum(lowest, x)
        x = x - at["eta"] * projection * (projection * step + noise)
    return np.asarray((13 * 14 - 14) / 27 * np.clip(1.0 + lowest, 0.0, 1.0))


@_experiment("T eta sigma_DP K D", EventIndicator())
def _positive_end(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Indicator that the last iterate of DPSGD-DC is above 0, for one sample of slope -K and radius D."""
    theta = np.zeros(copies)
    for _ in range(_whole(at, "T")):
        noise = draw.normal(0.0, at["sigma_DP"], copies)
        theta = np.clip(theta - at["eta"] * (-at["K"] + noise), -at["D"], at["D"])
    return np.asarray(theta > 0, dtype=np.float64)


@_experiment("n b eta L", EventIndicator())
def _poisson_expansion(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Indicator that an update on a Poisson batch of n losses -L x^2/2 expands beyond 1 + eta L."""
    size = draw.binomial(_whole(at, "n"), _probability("b/n", at["b"] / at["n"]), copies)
    factor = 1 + at["eta"] / at["b"] * size * at["L"]
    return np.asarray(factor > (1 + at["eta"] * at["L"]) * (1 + 1e-12), dtype=np.float64)


@_experiment("p K", ValueRange(lambda _: 0.0, lambda at: at["K"]))
def _clipping_excess(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Part that clipping to K removes from a gradient that is 2 K with probability p, and otherwise 0."""
    gradient = np.where(draw.random(copies) < _probability("p", at["p"]), 2 * at["K"], 0.0)
    return np.asarray(gradient - np.minimum(gradient, at["K"]))


@_experiment("b K", ValueRange(lambda _: 0.0, lambda at: at["K"] ** 2))
def _batch_energy(draw: np.random.Generator, copies: int, at: Parameters) -> Array:
    """Squared length of the mean of b gradients, each of which is K or 0 with equal probability."""
    gradients = at["K"] * draw.integers(0, 2, (copies, _whole(at, "b")))
    return np.asarray(gradients.mean(axis=1) ** 2)
