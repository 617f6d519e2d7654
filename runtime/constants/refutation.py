"""Refutation of assumptions by two points at which the clipped gradients of a sample violate them.

Gradients are clipped as in the run. Clipping is a projection onto a ball and does not enlarge changes, so a
pair that refutes a constant L also refutes L without clipping. Clipped gradients of convex losses need not be
gradients of a convex loss (as for softmax with a small clip norm); the assumption excludes such clipping.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from math import inf, isfinite
from typing import Final

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError, count, teaches
from lastiterate.numeric.explain import UNTRIED
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    ClippedConvex,
    Convex,
    Holder,
    Minimum,
    StronglyConvex,
    described_assumption,
)
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.constants.pairs import ball_points
from lastiterate.runtime.constants.record import best_end
from lastiterate.runtime.constants.sampling import Draw
from lastiterate.runtime.constants.search import Changes, Search, unit_vectors
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import project_onto_ball
from lastiterate.runtime.workloads.workload import Workload, described_workload

TRIED: Final = (Holder, Convex, ClippedConvex, StronglyConvex)
"""Assumptions that two points and two gradients of a sample can refute."""

_REFUTING: Final = 2**49
"""Purpose of the stream that draws points and samples."""

_STARTS: Final = 32
_ITERATIONS: Final = 40
_NUMBERS: Final = 2**20
"""Number of pairs and of steps in a search for a refutation, and upper limit on pairs times dimension."""

_SINGLE: Final = 1 + 2.0**-20
"""Factor by which a constant may be exceeded, since rows may be normalised in single precision."""

_CLOSE: Final = 1e-3
"""Distance between two points along a direction of negative curvature, as a fraction of the radius."""


@teaches()
@dataclass(frozen=True)
class Refutation:
    """Two points and a sample whose gradients contradict an assumption.

    Attributes:
        assumption: the refuted part of the assumption.
        distance: |x - y|, a length.
        change: |g(x) - g(y)| of the clipped gradients, a gradient.
        sample: index of the sample.
        along: <g(x) - g(y), x - y> / |x - y|^2, which is at least 0 for convex losses, gradient / length.
        constant: smallest L of this order that admits the pair, gradient / length^lambda.
    """

    assumption: Assumption
    distance: float
    change: float
    sample: int
    along: float
    constant: float
    words: str

    def __str__(self) -> str:
        return self.words


@teaches()
def refute(workload: Workload, run: NoisySGD, assumption: Assumption, *, seed: int = 0) -> Refutation | None:
    """Search for a pair that refutes an assumption for the samples of a workload; None if the search fails.

    Only Hölder, smoothness and convexity claims are tested, alone or as parts of a `Minimum`, on the domain
    of the run around the initial parameters or, if it is unbounded, on a ball around them. All constants are
    reduced by the assumed rounding error of float64. ``seed`` determines the initial parameters and the
    search.

    Raises:
        InputError: an invalid workload, run or assumption, or gradients that are not finite.
    """
    described_workload("refute", workload)
    described_run("refute", run, momentum=True)
    described_assumption(assumption)
    gradients = Gradients(workload, workload.initial(count("seed", seed, least=0)))
    start = gradients.start
    diameter = run.diameter if isfinite(run.diameter) else 2 * max(1.0, float(start.norm()))
    for part in conjuncts(assumption):
        if not isinstance(part, TRIED):
            continue
        lam = float(part.lam) if isinstance(part, Holder) else 1.0
        found = _too_steep(gradients, part, part.L, lam, diameter, run.clip_norm, seed)
        if found is None and not isinstance(part, Holder):
            acts = isinstance(part, ClippedConvex)  # then only gradients without clipping are monotone
            clip_norm = inf if acts else run.clip_norm
            found = _bent(gradients, part, getattr(part, "m", 0.0), diameter, clip_norm, seed)
        if found is not None:
            return found
    return None


def check_not_refuted(name: str, workload: Workload, run: NoisySGD, assumption: Assumption) -> str:
    """Refuse an assumption if `refute` finds a pair; otherwise return a description of the test."""
    if not any(isinstance(part, TRIED) for part in conjuncts(assumption)):
        return "" if isinstance(assumption, Clipped) else UNTRIED
    found = refute(workload, run, assumption)
    if found is not None:
        raise InputError(
            f"{name} needs an assumption that the losses meet, got assumption={found.assumption!r}, but {found}; "
            "choose an assumption that holds, scale the rows by a bound that does not depend on the data (a "
            "bias counts as one more feature), or use Clipped()."
        )
    return f"tested on {workload.samples} rows of the data, not refuted"


def conjuncts(assumption: Assumption) -> list[Assumption]:
    """Parts of a `Minimum`, or the assumption itself."""
    if isinstance(assumption, Minimum):
        return list(chain.from_iterable(map(conjuncts, assumption.parts)))
    return [assumption]


def _too_steep(
    gradients: Gradients,
    part: Assumption,
    most: float,
    lam: float,
    diameter: float,
    clip_norm: float,
    seed: int,
) -> Refutation | None:
    starts = min(_STARTS, max(1, _NUMBERS // gradients.dimension))
    search = Search(gradients, gradients.start, diameter, (lam,), clip_norm, seed=seed)
    found = search.climb(starts, _ITERATIONS)
    place, constant = best_end(found, lam)
    if not constant > most * _SINGLE:
        return None
    distance, change = float(found["distances"][place]), float(found["changes"][place] - found["floors"][place])
    x, y = (torch.as_tensor(found[name][place : place + 1]).to(gradients.start) for name in "xy")
    sample = int(found["samples"][place])
    along, _ = _along(Changes(gradients, *_rows_of(gradients, [sample]), clip_norm), x, y)
    order = "" if lam == 1 else f" of order {lam:g}"
    words = (
        f"at two points {distance:.3g} apart the clipped gradients of sample {sample} differ by {change:.4g}: "
        f"L{order} is at least {constant:.4g}"
    )
    return Refutation(part, distance, change, sample, float(along), constant, words)


@torch.no_grad()
def _bent(
    gradients: Gradients, part: Assumption, least: float, diameter: float, clip_norm: float, seed: int
) -> Refutation | None:
    """Search along the directions of most negative curvature for a pair whose slope is below ``least``."""
    generator = stream(seed, purpose=_REFUTING)
    many = min(4 * _STARTS, max(1, _NUMBERS // gradients.dimension))
    drawn, vectors = (
        ball_points(many, diameter / 2, Draw.UNIFORM, generator, gradients.start) for _ in range(2)
    )
    at = gradients.start + drawn
    samples = generator.integers(gradients.samples, many, at.device)
    middle = project_onto_ball(at, gradients.start, diameter * (1 - 2 * _CLOSE))
    changes, reach = Changes(gradients, *_rows_of(gradients, samples), clip_norm), _CLOSE * diameter / 4

    def product(vectors: Tensor) -> Tensor:
        """Symmetric parts of the Jacobians of clipped gradients, by differences, times the vectors."""
        forward, _ = changes.between(middle + reach * vectors, middle - reach * vectors)
        return (forward / (2 * reach) + changes.pulled(middle, vectors)) / 2

    along = _most_negative(product, vectors)
    x, y = (middle + sign * reach * along for sign in (1, -1))
    slopes, change = _along(changes, x, y)
    worst = int(slopes.argmin())
    slope, distance = float(slopes[worst]), float((x - y)[worst].norm())
    if not slope < least:
        return None
    sample = int(samples[worst])
    clipped, also = ("", "") if clip_norm == inf else ("clipped ", ", or clipping acts")
    claim = "losses are not convex" if least == 0 else f"m is at most {slope:.4g}"
    words = (
        f"at two points {distance:.3g} apart the {clipped}gradients of sample {sample} differ along the line between "
        f"them by {slope:.4g} times that distance: {claim}{also}"
    )
    return Refutation(
        part, distance, float(change[worst]), sample, slope, float(change[worst]) / distance, words
    )


def _most_negative(product: Callable[[Tensor], Tensor], vectors: Tensor) -> Tensor:
    """Unit vectors that nearly minimise the quadratic forms of symmetric matrices, by power iteration."""
    vectors = start = unit_vectors(vectors)
    for _ in range(_ITERATIONS // 4):
        pushed = product(vectors)
        top, vectors = torch.linalg.vector_norm(pushed, dim=1, keepdim=True), unit_vectors(pushed)
    for _ in range(_ITERATIONS):
        start = unit_vectors(1.5 * top * start - product(start))  # the shifted matrix is not zero
    return start


def _rows_of(gradients: Gradients, samples: Tensor | list[int]) -> tuple[Tensor, Tensor]:
    inputs, targets = (rows[torch.as_tensor(samples)] for rows in gradients.rows())
    return inputs, targets


def _along(changes: Changes, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """<g(x) - g(y), x - y> / |x - y|^2 plus its rounding (an upper bound), and |g(x) - g(y)|; (pairs,)."""
    change, scale = changes.between(x, y)
    distance = torch.linalg.vector_norm(x - y, dim=1)
    inner = ((change * (x - y)).sum(dim=1) / distance + changes.rounding * scale) / distance
    return inner.nan_to_num(float("inf")), torch.linalg.vector_norm(change, dim=1)
