"""Curves that several figures have: a theorem as printed, our upper bound, and certified lower bounds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from plotting import Curve, CurveKind

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption, Clipped
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.record import Setting, run_of
from lastiterate.numeric.published.theorems import TRIVIAL, theorem_named
from lastiterate.numeric.run import NoisySGD

RunOf = Callable[[Any], NoisySGD]
"""From a place on the horizontal axis to the run."""
Target = dict[str, float]
"""{"order": alpha} or {"delta": delta}."""


def spaced(last: int, count: int) -> tuple[int, ...]:
    """About ``count`` whole numbers from 1 to ``last``, evenly on a logarithmic axis, without repetition."""
    return tuple(np.unique(np.geomspace(1, last, count).round().astype(int)).tolist())


def claimed_at(name: str, setting: Setting, assumption: Assumption | None = None) -> float:
    """The claim of a theorem, "composition" or "last_step" for the full-batch run of a setting; clipping by default."""
    asked = TRIVIAL.get(name) or theorem_named(name)
    return asked.epsilon(run_of(setting), assumption or Clipped(), setting["alpha"])


def printed(
    theorem: str, x: Sequence[int], run_of: RunOf, assumption: Assumption, order: float, **look: Any
) -> Curve:
    """A theorem of a paper as printed, with the status that its verdict gives it."""
    found = theorem_named(theorem)
    status = CurveKind.BOUND if found.usable else CurveKind.REFUTED
    values = tuple(found.epsilon(run_of(place), assumption, order) for place in x)
    return Curve(theorem, found.title, tuple(x), values, status, line=":", **look)


def bounded(
    name: str,
    label: str,
    x: Sequence[float],
    run_of: RunOf,
    assumption: Assumption,
    target: Target,
    **look: Any,
) -> Curve:
    """Our upper bound at a target."""
    values = tuple(bound(run_of(place), assumption, **target).epsilon for place in x)
    return Curve(name, label, tuple(x), values, CurveKind.BOUND, **look)


def lowest(
    name: str,
    label: str,
    x: Sequence[float],
    run_of: RunOf,
    assumption: Assumption,
    target: Target,
    **look: Any,
) -> Curve:
    """Certified lower bounds, as `bounded`: no bound under the assumption can be below them."""
    values = tuple(lower_bound(run_of(place), assumption, **target).value for place in x)
    return Curve(name, label, tuple(x), values, CurveKind.LOWER, line="--", **look)


def paler(color: str) -> str:
    """Half way to white.

    >>> paler("#0072B2")
    '#7fb8d8'
    """
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)
