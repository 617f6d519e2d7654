"""Means of random quantities, by seeded simulation with a stated confidence.

The interval for the mean is valid for every law that the experiment's facts allow (exact binomial, Hoeffding,
median of means). The interval fails with probability at most `FAILURE` over the generator's numbers, which
are assumed to be independent.
"""

from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Final
from zlib import crc32

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits_value
from lastiterate.proofs_checks.defined import defined_at
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided, variant
from lastiterate.proofs_checks.engines.z3_answers import impossible
from lastiterate.proofs_checks.exact_values import point_text, truth_at
from lastiterate.proofs_checks.experiments import EXPERIMENTS, EventIndicator, Experiment, Moment
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Relation, Simulated

FAILURE: Final = 1e-9
"""Probability, over the generator's numbers, that an interval misses the mean on one side or the other."""

GROUPS: Final = 151
"""Number of groups of the median of means; exp(-GROUPS KL(1/2 | 1/4)) is below `FAILURE`.

A group's mean is off by two of its standard deviations with probability at most 1/4 (Chebyshev). The median
is off by as much only if half of the means are (Chernoff).
"""

SLACK: Final = 1e-9
"""Relative widening that covers the rounding of the arithmetic."""


def _proportion(successes: int, copies: int) -> tuple[float, float]:
    """Exact interval of Clopper & Pearson (1934)."""
    from scipy.special import betainccinv, betaincinv

    half = FAILURE / 2
    low = float(betaincinv(successes, copies - successes + 1, half)) if successes else 0.0
    high = float(betainccinv(successes + 1, copies - successes, half)) if successes < copies else 1.0
    return low, high


def _median_of_means(draws: NDArray[np.float64], second: float) -> tuple[float, float]:
    size = draws.size // GROUPS
    means = draws[: size * GROUPS].reshape(GROUPS, size).mean(axis=1)
    middle, radius = float(np.median(means)), 2 * sqrt(second / size)
    return middle - radius, middle + radius


def interval(
    experiment: Experiment, draws: NDArray[np.float64], parameters: Mapping[str, float]
) -> tuple[float, float]:
    """Interval for the mean of ``draws``, of shape (copies,); fails with probability at most `FAILURE`."""
    known = experiment.known
    if isinstance(known, Moment):
        low, high = _median_of_means(draws, known.second(parameters))
        return low - SLACK * abs(low), high + SLACK * abs(high)
    least, most = (
        (0.0, 1.0) if isinstance(known, EventIndicator) else (known.low(parameters), known.high(parameters))
    )
    if draws.min() < least - SLACK * abs(least) or draws.max() > most + SLACK * abs(most):
        raise InputError(
            f"draws must lie in [{least}, {most}], got draws from {draws.min()} to {draws.max()}; "
            "correct the experiment."
        )
    if isinstance(known, EventIndicator):
        low, high = _proportion(round(float(draws.sum())), draws.size)
    else:
        middle = float(draws.mean())
        radius = (most - least) * sqrt(log(2 / FAILURE) / (2 * draws.size))
        low, high = middle - radius, middle + radius
    return max(least, low - SLACK * abs(low)), min(most, high + SLACK * abs(high))


def decide(check: Simulated, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide a `Simulated` check, with grade SIMULATED at best."""
    if check.relation not in (Relation.EQUAL, Relation.AT_MOST):
        raise InputError(
            f"relation must be == or <= for a simulation, got relation={check.relation}; use one of them."
        )
    experiment = EXPERIMENTS.get(check.quantity)
    if experiment is None:
        raise InputError(
            f"quantity must be one of {', '.join(EXPERIMENTS)}, got quantity={check.quantity}; choose one."
        )
    point = {symbol: sp.sympify(value, strict=True) for symbol, value in check.parameters.items()}
    if not all(value.is_number and admits_value(symbol, value) for symbol, value in point.items()):
        raise NoPointError("the parameters of the simulation contradict the declarations of their symbols.")
    if not all(truth_at(a, point) for a in assumptions if a.free_symbols <= point.keys()):
        raise NoPointError("the parameters of the simulation do not satisfy the assumptions.")
    left = [a.xreplace(point) for a in assumptions if not a.free_symbols <= point.keys()]
    why = impossible(sorted((one for one in left if one != sp.true), key=str))
    if why:
        raise NoPointError(f"{why} The parameters of the simulation are already substituted.")
    numbers = {symbol.name: float(value) for symbol, value in point.items()}
    if set(numbers) != experiment.needs:
        raise InputError(
            f"parameters must be {', '.join(sorted(experiment.needs))} for quantity={check.quantity}, "
            f"got parameters={', '.join(sorted(numbers))}; give each a number."
        )
    stated = check.value.xreplace(point)
    known = check.value.free_symbols <= point.keys() and defined_at((check.value,), point)
    finite = known and all(number.is_finite and number.is_real for number in (stated, check.tolerance))
    if not finite or check.tolerance < 0 or abs(value := float(stated)) == inf:
        raise InputError(
            "value and tolerance must be finite real numbers at the parameters, and tolerance nonnegative, got "
            f"value={stated} and tolerance={check.tolerance}; correct them."
        )
    tolerance = float(check.tolerance)
    seed = crc32(f"{check.quantity} {sorted(numbers.items())}".encode())
    draws = experiment.draw(np.random.default_rng(seed), experiment.copies, numbers)
    if not np.isfinite(draws).all():
        raise InputError(
            f"draws must be finite, got inf or nan for quantity={check.quantity}; correct the experiment."
        )
    low, high = interval(experiment, draws, numbers)
    words = f"mean in [{low:.6g}, {high:.6g}] at confidence 1 - {FAILURE:g}, {draws.size} copies, seed {seed}"
    equal = check.relation is Relation.EQUAL
    if low > value or (equal and high < value):
        found = Counterexample(
            point_text(point), f"[{low:.9g}, {high:.9g}]", check.relation, f"{value:.9g}", words
        )
        return refuted(check, found)
    if high > value + tolerance or (equal and low < value - tolerance):
        return undecided(check, words)
    at = ", ".join(f"{symbol} = {number}" for symbol, number in point.items())
    return held(check, Grade.SIMULATED, words, f"{draws.size} simulated copies at {at}")


def near_misses(check: Simulated, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Check with a mean beyond the tolerance."""
    if check.relation is not Relation.EQUAL or not check.tolerance:
        return ()
    wider = check.value + sp.Rational(21, 10) * check.tolerance
    return (variant(check, "more by 2.1 tolerances", value=wider),)
