"""Paths of shifts in certificates: start, initial distance and lengths of shifts."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from lastiterate.numeric.accounting.batches import tail_from
from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.certificates.description import Node, UncertifiedError, dyadic, run_lengths
from lastiterate.numeric.losses.assumptions import Assumption, Sized
from lastiterate.numeric.losses.expansion import Affine
from lastiterate.numeric.rounding import exact, geometric_sum, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.positions import move_path
from lastiterate.numeric.shift_program.program import Path, ShiftProgram, run_forward
from lastiterate.numeric.shuffling.shuffled import View

_LONGEST = 2_000_000
_ROWS = 100_000
"""Maximum number of rows of equal shifts."""
_PIECES = 1000
"""Maximum number of stretches of equal steps in a longer path."""
_CLOSE = 1e-9
"""Maximum relative excess of the cost of a path, written step by step, over the cost in closed form."""


class Paths:
    """Paths of one run under one assumption."""

    def __init__(self, run: NoisySGD, assumption: Assumption) -> None:
        self.run, self.assumption = run, assumption

    def sized(self, node: Node, program: ShiftProgram | None, window: Node) -> Node:
        """Add to a node for Poisson batches a range of sizes and the probability of a size outside it."""
        if self.run.scheme.name != "poisson":
            return node
        law, others = Fraction(self.run.batch, self.run.dataset_size), self.run.dataset_size - 1
        sized = None if program is None else program.assumption
        low, high = 0 if law < 1 else others, others
        if isinstance(sized, Sized) and isinstance(sized.low, int) and isinstance(sized.high, int):
            low, high = sized.low, sized.high  # a schedule has no certificate
        tail = exact(tail_from(others, law, high + 1)) + exact(tail_from(others, 1 - law, others - low + 1))
        chance = upper((self.run.steps - window.get("since", 0)) * tail)
        return node | {"sizes": {"low": low, "high": high}, "chance": dyadic(chance)}

    def begun(self, program: ShiftProgram | None, start: int, distance: float) -> Node:
        """The start of a window, and the step from which its initial distance is tracked."""
        if start == 0 or distance >= self.run.diameter:
            return {"start": start, "since": start}
        return {
            "start": start,
            "since": 0 if program is None else program.skipped + self.run.steps - program.run.steps,
        }

    def gaussian(self, found: Candidate) -> tuple[Node, float]:
        """The proof that the last iterates are mu-GDP, and mu^2."""
        run: NoisySGD = self.run
        best: Any = found.optimum
        match run.scheme.name:
            case "full":
                return self.explicit(best) if best is not None else _both(found.pair.cost)
            case "cyclic" if run.constant:
                of, cost = self.explicit(best) if best is not None else _both(found.pair.cost)
                return {"rule": "positions", "of": [of]}, cost
            case "cyclic":
                return self.positions(found)
            case "shuffled" if found.route == "composition" and found.renyi is None and run.constant:
                return {"rule": "late order", "of": _composed(found.pair.cost)}, found.pair.cost
            case "shuffled" if found.route == "one last step":
                last = self.path(None, Path(run.steps - 1, run.diameter, np.zeros(1)), found.pair.cost)
                return {"rule": "worst batches", "of": last}, found.pair.cost
            case "shuffled" if found.route == "in every batch":
                every = replace(run, sampling="without_replacement")
                best = optimum(ShiftProgram(every, self.assumption))
            case "shuffled" if found.route.startswith("taut string"):
                return self.late(found)
            case "shuffled":
                raise UncertifiedError(
                    f"A certificate cannot pool the orders of shuffled batches, got route={found.route}; use another."
                )
        of, cost = self.explicit(best)
        return self.sized({"rule": "worst batches", "of": of}, best.program, of), cost

    def explicit(self, best: Any) -> tuple[Node, float]:
        """A path and its cost, in closed form if known, else step by step."""
        cost, path = upper(best.cost), best.path
        if best.route == "composition" and not (best.program is not None and best.program.initial):
            return _composed(cost), cost
        offset = 0 if best.program is None else self.run.steps - best.program.steps
        start = offset + path.start
        where = self.begun(best.program, start, path.distance)
        if best.route == "closed form" and self.run.steps - start > 1:
            return {"rule": "straight", **where, "ends": [], "cost": dyadic(cost)}, cost
        if self.run.steps - start > _ROWS and self.run.scheme.name == "full":
            pieces = self.pieces(best, where)
            if pieces is not None:
                return pieces
        _need_at_most(_LONGEST, "steps", self.run.steps - start)
        shifts = path.shifts if self.run.steps - start > 1 else np.zeros(1)
        if best.program is not None:
            cost = max(cost, upper(best.program.cost(Path(path.start, path.distance, shifts))))
            if not cost <= upper(best.cost) * (1 + _CLOSE):  # expanding updates amplify rounding errors
                shifts = shifts * (1 + 1e-12)
                cost = upper(best.program.cost(Path(path.start, path.distance, shifts)))
        return {"rule": "path", **where, "shifts": self.rows(shifts), "cost": dyadic(cost)}, cost

    def pieces(self, best: Any, where: Node) -> tuple[Node, float] | None:
        """Distances at changes of step size or noise, or None without a closed form between them."""
        start, shifts, z = where["start"], best.path.shifts, best.path.distance
        sizes = np.broadcast_to(self.run.step_size, self.run.steps)
        noise = np.broadcast_to(self.run.noise_std, self.run.steps)
        changed = np.flatnonzero((np.diff(sizes) != 0) | (np.diff(noise) != 0)) + 1
        stops = [start, *changed[changed > start].tolist(), self.run.steps]
        if len(stops) > _PIECES:
            return None
        ends, total, known = [], arb(0), exact(z)
        for first, end in pairwise(stops):
            line = best.program.expansion(first).affine_on(z)
            if line is None or not 0 < line[0] <= 1:
                return None
            c, s = line
            for a in shifts[first - start : end - start].tolist():
                z = max(float(c) * z + float(s) - a, 0.0)
            z = z if end < self.run.steps else 0.0
            V, W = geometric_sum(1 / c, end - first), geometric_sum(1 / c**2, end - first)
            lam = (s * V + known - exact(z) * c ** (first - end)) / W
            total += lam**2 * W / exact(float(noise[first])) ** 2
            known = exact(z)
            ends.append(dyadic(z))
        return {"rule": "straight", **where, "ends": ends[:-1], "cost": dyadic(upper(total))}, upper(total)

    def late(self, found: Candidate) -> tuple[Node, float]:
        """Path for the order with every participation last in its epoch, with the larger slope throughout."""
        view = View(self.run, self.assumption)
        late = view.late
        best: Any = found.optimum
        assert late is not None  # noqa: S101
        path, steps, clean = best.path, self.run.steps, Affine(late.c, exact(0.0))
        _need_at_most(_LONGEST, "steps", steps - path.start)
        met = Affine(late.c, late.s)

        def expansion(k: int) -> Affine:
            t = path.start + k
            return met if (t + 1) % view.batches == 0 or t == steps - 1 else clean

        cost = upper(run_forward(expansion, lambda _: late.noise, path.distance, path.shifts))
        return {"rule": "late order", "of": self.path(None, path, cost)}, max(cost, found.pair.cost)

    def rows(self, shifts: Array) -> list[list[int]]:
        """All shifts except the last; raises `UncertifiedError` if there are too many."""
        rows = run_lengths(shifts[:-1].tolist())
        _need_at_most(_ROWS, "shifts that differ", len(rows))
        return rows

    def path(self, program: ShiftProgram | None, path: Path, cost: float) -> Node:
        """A path step by step."""
        where = self.begun(program, path.start, path.distance)
        return {"rule": "path", **where, "shifts": self.rows(path.shifts), "cost": dyadic(cost)}

    def positions(self, found: Candidate) -> tuple[Node, float]:
        """Paths for the batches of an epoch: composition, the worst batch's moved path, or the best path."""
        run, most = self.run, found.pair.cost
        worst: Any = found.optimum
        count = min(run.batches, run.steps)
        _need_at_most(_LONGEST, "steps", 2 * count * run.steps)
        programs = [ShiftProgram(run, self.assumption, place) for place in range(count)]
        nodes = []
        for place, program in enumerate(programs):
            composed = upper(program.composition())
            if composed <= most:
                nodes.append(_both(composed))
            elif place == found.position:
                nodes.append(self.explicit(worst))
            else:
                path = move_path(programs, found.position or 0, place, worst.path)
                cost = upper(program.cost(path))
                nodes.append(
                    self.explicit(optimum(program)) if cost > most else (self.path(program, path, cost), cost)
                )
        return {"rule": "positions", "of": [node for node, _ in nodes]}, max(cost for _, cost in nodes)


def _need_at_most(most: int, what: str, got: int) -> None:
    if got > most:
        raise UncertifiedError(
            f"A certificate of a path can have at most {most} {what}, got {got}; certify a shorter run, or one whose "
            "steps are all equal."
        )


def _both(cost: float) -> tuple[Node, float]:
    return _composed(cost), cost


def _composed(cost: float) -> Node:
    return {"rule": "composition", "cost": dyadic(cost)}
