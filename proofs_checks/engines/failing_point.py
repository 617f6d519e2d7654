"""A point of a box where a claim certainly fails, looked for before any box is split."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from math import inf, isnan

from flint import fmpq

from lastiterate.proofs_checks.declared import admits
from lastiterate.proofs_checks.defined import defined_at
from lastiterate.proofs_checks.engines.boxes import Problem, interval_of, rational, short_point, status, tape_of
from lastiterate.proofs_checks.exact_values import Point, sign_at, truth_at

_CLOSE = (fmpq(1, 10), fmpq(1, 100), fmpq(1, 1000), fmpq(1, 10**5))
SAMPLES = 64
"""Random points of the first box."""


def breaks(problem: Problem, corner: Sequence[fmpq]) -> Point | None:
    """The point, if it is admissible and the claim certainly fails there."""
    low, high = tape_of(problem.gap, problem.symbols).value([interval_of((v, v)) for v in corner])
    if low > 0 or (low >= 0 and not problem.strict):
        return None
    if not high < 0:
        if problem.zero_tests == 0:
            return None
        problem.zero_tests -= 1
    point: Point = {s: rational(v) for s, v in zip(problem.symbols, corner, strict=True)}
    sign = sign_at(problem.gap, point)
    fails = sign is not None and (sign < 0 or (sign == 0 and problem.strict))
    if not fails or not all(starmap(admits, point.items())) or not all(truth_at(c, point) for c in problem.conditions):
        return None
    return point if defined_at(problem.sides or (problem.gap,), point) else None


def corners(problem: Problem) -> Iterator[tuple[fmpq, ...]]:
    """Middle and some corners of the first box."""
    box = problem.root
    yield tuple(short_point(edge) for edge in box)
    for index in range(min(2 ** len(box), 32)):
        yield tuple(edge[(index >> k) & 1] for k, edge in enumerate(box))


def _samples(problem: Problem) -> Iterator[tuple[fmpq, ...]]:
    """Random points of the first box."""
    pick = problem.generator
    for _ in range(SAMPLES):
        yield tuple(_share(edge, fmpq(pick.randint(0, 64), 64), even=pick.random() < 0.5) for edge in problem.root)


def _share(edge: tuple[fmpq, fmpq], share: fmpq, *, even: bool) -> fmpq:
    """A point of the edge, evenly spread or denser towards its low end."""
    return edge[0] + (edge[1] - edge[0]) * (share if even else share**3)


def fails_at(problem: Problem, candidates: Iterable[tuple[fmpq, ...]]) -> Point | None:
    """The first of the points at which the claim certainly fails; the lowest of the others is noted."""
    for corner in candidates:
        point = breaks(problem, corner)
        if point is not None:
            return point
        problem.lowest = min(problem.lowest, (_height(problem, corner), corner))
    return None


def failing_point(problem: Problem) -> Point | None:
    """A failing point among random ones, by descent along the axes from the lowest that was tried, or near a corner."""
    found = fails_at(problem, _samples(problem))
    share = fmpq(1, 8)
    while found is None and problem.lowest[1] and share > fmpq(1, 2000):
        height = problem.lowest[0]
        found = fails_at(problem, _around(problem, problem.lowest[1], share))
        if problem.lowest[0] >= height:
            share /= 2
    return found or fails_at(problem, _near_corners(problem))


def _near_corners(problem: Problem) -> Iterator[tuple[fmpq, ...]]:
    """Points on the edges of the first box, close to corners: where both sides vanish, the gap is small."""
    for corner in list(corners(problem))[1:]:
        for index, (low, high) in enumerate(problem.root):
            step = (high - low) * (1 if corner[index] == low else -1)
            for share in _CLOSE:
                yield (*corner[:index], corner[index] + share * step, *corner[index + 1 :])


def _around(problem: Problem, corner: tuple[fmpq, ...], share: fmpq) -> Iterator[tuple[fmpq, ...]]:
    """The point moved along each axis by a share of the first box, either way."""
    for index, (low, high) in enumerate(problem.root):
        for step in (share, -share):
            moved = min(max(corner[index] + step * (high - low), low), high)
            yield (*corner[:index], moved, *corner[index + 1 :])


def _height(problem: Problem, corner: Sequence[fmpq]) -> float:
    """The gap at a point where the conditions hold, as a float; infinite elsewhere."""
    box = [interval_of((value, value)) for value in corner]
    if not all(status(condition, problem.symbols, box) for condition in problem.conditions):
        return inf
    value = float(tape_of(problem.gap, problem.symbols).value(box)[0])
    return inf if isnan(value) else value
