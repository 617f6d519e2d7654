"""Contraction tables in certificates: masses on a lattice of ratios, and thresholds, all chosen freely."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf, isfinite

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.certificates.description import Node, UncertifiedError, dyadic
from lastiterate.numeric.certificates.paths import Paths
from lastiterate.numeric.contraction.block import Block, DiscretePair
from lastiterate.numeric.contraction.chain import Goal, resample
from lastiterate.numeric.contraction.table import CUTS, Table, gaussian_table, unknown
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram

_COARSE, _FINE, _EACH = 60, (160, 100, 70, 50, 40), 100
"""Numbers of nodes of a first table, of one table for all rounds (tried in turn), and of each of many tables."""
_LENGTHS, _CLEAN = (2.8, 2.2, 3.4), 2.4
"""Approximate ratios of diameter / sqrt(w) to the noise, for blocks of w steps."""
_CLOSE, _ROUNDS, _BLOCKS = 1e-4, 400, 24
"""Relative decrease below which a table is final, and maximum numbers of rounds and of blocks from the start."""
_LIFTS = (0.0, 1e-8, 1e-6, 1e-4)
"""Amounts, relative to delta or to the table, by which a table is lifted until a round decreases it."""
_LIFT = 1e-9
"""Relative lift of tables per block, well above rounding errors."""


@dataclass(frozen=True, eq=False)
class _Stage:
    times: int
    near: Table | None
    far: Table
    proofs: Node


@dataclass(frozen=True, eq=False)
class Tabled:
    """A table, its proof, and its masses at ratios from 1 on."""

    table: Table
    proof: Node
    ratios: list[arb]
    masses: list[arb]


class Contraction:
    """Contraction proofs for a run with equal full or cyclic steps; other runs raise `UncertifiedError`."""

    def __init__(self, run: NoisySGD, assumption: Assumption, goal: Goal) -> None:
        if run.scheme.name not in ("full", "cyclic") or not run.constant:
            raise UncertifiedError(
                "A certificate by contraction needs full or cyclic batches and equal steps, got "
                f"sampling={run.sampling!r}; use another route."
            )
        self.run, self.assumption, self.goal = run, assumption, goal

    def best(self) -> Tabled:
        """The better proof: by one table for all rounds or, if blocks are few, by one table per block."""
        patterns = list(self._patterns())
        number, pattern = min(
            ((self._settled(one, _COARSE, inf)[0], one) for one in patterns), key=lambda two: two[0]
        )
        ways = [
            next((one for count in _FINE if (one := self._round(pattern, number, count)) is not None), None)
        ]
        steps = sum(stage.proofs["steps"] * stage.times for stage in pattern)
        if -(-self.run.steps // steps) * len(pattern) <= _BLOCKS:
            ways.append(self._chain(pattern, steps, number))
        found = [one for one in ways if one is not None]
        if not found:
            raise UncertifiedError(
                "A certificate by contraction needs a table whose values decrease, got none; use another route."
            )
        return min(found, key=lambda one: self.goal.value(one.table))

    def _patterns(self) -> Iterator[list[_Stage]]:
        """Cycles of blocks; the last block ends with a step that uses the sample."""
        apart = self.run.diameter / self.run.noise_std_at(0)
        if self.run.period == 1:
            for w in dict.fromkeys(min(max(round((apart / m) ** 2), 1), self.run.steps) for m in _LENGTHS):
                yield [self._stage(w, met=True)]
            return
        every, clean = self.run.period, max(round((apart / _CLEAN) ** 2), 1)
        *lengths, last = (len(one) for one in np.array_split(np.arange(every), max(round(every / clean), 1)))
        stages = [self._stage(steps, len(list(some)), met=False) for steps, some in groupby(lengths)]
        yield [*stages, self._stage(last, met=True)]

    def _stage(self, steps: int, times: int = 1, *, met: bool) -> _Stage:
        far, priced = self._price(steps, self.run.diameter, met=met)
        near, proof = self._price(steps, 0.0, met=met) if met else (None, None)
        return _Stage(times, near, far, {"steps": steps, "times": times, "near": proof, "far": priced})

    def _price(self, steps: int, apart: float, *, met: bool) -> tuple[Table, Node]:
        part = replace(self.run, steps=steps)
        place = (steps - 1) % part.period if met else part.period - 1
        best = optimum(ShiftProgram(part, self.assumption, place, initial=apart))
        if not best.cost.is_finite():
            raise UncertifiedError(
                f"A certificate needs finite costs, got inf for {steps} steps; use another route."
            )
        node, cost = Paths(part, self.assumption).explicit(best)
        return gaussian_table(upper(exact(cost).sqrt())), node

    def _lattice(self, number: float, count: int) -> tuple[float, NDArray[np.int64]]:
        """Spacing of logarithms of ratios, and its multiples at nodes, for an approximate epsilon."""
        logs = np.log(self.goal.nodes(number, count))
        return float(logs[1]), np.unique(np.round(logs / logs[1])).astype(np.int64)

    def _settled(self, pattern: Sequence[_Stage], count: int, number: float) -> tuple[float, "_Tables"]:
        """Epsilon once a round no longer lowers the table, and the tables of this round."""
        number = min(number, self.goal.known, 10.0)
        for _ in range(3):
            tables, last = _Tables(*self._lattice(number, count), pattern), inf
            before = unknown(tables.g)
            for _ in range(_ROUNDS):
                tables.follow(before)
                found, before = self.goal.value(tables.after[-1]), tables.after[-1]
                if isfinite(found) and last - found <= _CLOSE * found:
                    break
                last = found
            if not number > 2 * found > 0:
                break
            number = found
        return found, tables

    def _round(self, pattern: Sequence[_Stage], number: float, count: int) -> Tabled | None:
        _, tables = self._settled(pattern, count, number)
        settled = tables.after[-1].ahead
        for lift in _LIFTS:  # by contraction, a lifted table decreases by a share of the lift
            lifted = settled * (1 + lift) if self.goal.delta is None else settled + lift * self.goal.delta
            tables.follow(Table(tables.g, lifted, lifted))
            if tables.falls:
                break
        else:
            return None
        tables.after[-1] = tables.before
        proofs: Node = {"rule": "contract", "round": True, "rest": None}
        steps = sum(stage.proofs["steps"] * stage.times for stage in pattern)
        if self.run.period == 1 and self.run.steps % steps:
            proofs["rest"] = self._price(self.run.steps % steps, 0.0, met=True)[1]
        return tables.written(proofs)

    def _chain(self, pattern: Sequence[_Stage], steps: int, number: float) -> Tabled | None:
        rounds, rest = divmod(self.run.steps, steps)
        first = self._stage(rest or steps, met=True)
        stages = [first, *(stage for _ in range(rounds - (rest == 0)) for stage in pattern)]
        for _ in range(2):
            tables = _Tables(*self._lattice(number, _EACH), stages)
            tables.follow(None)
            number = self.goal.value(tables.after[-1])
        return tables.written({"rule": "contract", "round": False, "rest": None})


class _Tables:
    def __init__(self, spacing: float, places: NDArray[np.int64], stages: Sequence[_Stage]) -> None:
        self.spacing, self.places, self.stages = spacing, places, stages
        self.g = np.exp(spacing * places)
        self.before, self.after = unknown(self.g), list[Table]()
        self.thresholds: list[list[list[int]] | None] = []
        self.convex = True

    def follow(self, before: Table | None) -> None:
        """Pass through all stages, starting from a table or, if it is None, from equal points."""
        known = dict[tuple[int, int], Block]()
        self.after, self.thresholds, self.before, self.convex = [], [], before or self.before, True
        for stage in self.stages:
            block = known.setdefault((id(stage.near), id(stage.far)), Block(self.g, stage.near, stage.far))
            found = None
            if before is None:
                assert stage.near is not None  # noqa: S101
                before = resample(stage.near, self.g)
            else:
                for _ in range(stage.times):
                    before = block.after(before)
                if True in block.thresholds:
                    found = [
                        [int(low) + 1, int(high) + 1] for low, high in zip(*block.thresholds[True], strict=True)
                    ]
            hull = before.hull()
            self.convex = self.convex and before.ahead[0] <= hull.ahead[0] * (1 + _LIFT / 10)
            before = hull
            self.after.append(before)
            self.thresholds.append(found)

    @property
    def falls(self) -> bool:
        """Tell whether the last table is at most the first table at each vertex of the first table."""
        kinks = np.append(True, DiscretePair.of(self.before).q[len(self.g) :] > 0)
        return bool(np.all(self.after[-1].ahead[kinks] <= self.before.ahead[kinks]))

    def written(self, proof: Node) -> Tabled | None:
        """The last table and its proof, with each table lifted; None if 1 would not be a vertex."""
        blocks, rising = list[Node](), not proof["round"]
        for k, (stage, table, thresholds) in enumerate(
            zip(self.stages, self.after, self.thresholds, strict=True)
        ):
            atoms, lift = DiscretePair.of(table), 1 + _LIFT * (k + 1 if rising else 1)
            masses = [float(mass) * lift for mass in (*atoms.q[len(self.g) :], atoms.only_p)]
            over = sum(mass * (1 + g) for mass, g in zip(masses, [*self.g[1:], 0.0], strict=True)) - 1 + _LIFT
            masses[0] -= max(over, 0.0) / (1 + self.g[1])  # hardly changes the total variation
            if masses[0] < 0 or not self.convex:
                return None
            listed = {"nodes": self.places[1:].tolist(), "masses": [dyadic(mass) for mass in masses]}
            blocks.append(stage.proofs | {"table": listed, "thresholds": thresholds})
        values = self.after[-1].ahead * (lift + _LIFT)
        ratios = [(exact(self.spacing) * int(k)).exp() for k in self.places]
        spacing = {"spacing": dyadic(self.spacing), "blocks": blocks}
        return Tabled(
            Table(self.g, values, values), {**proof, **spacing}, ratios, [exact(one) for one in masses]
        )


def table_moments(found: Tabled, order: float, bounds: Mapping[float, float]) -> tuple[float, float, Node]:
    """RDP epsilon from a table and a bound at a larger order, the larger order, and the choices made."""
    a, g, (*masses, only) = exact(order), found.ratios, found.masses
    # Masses q at ratios g have mirror images p = q g at 1/g below 1.
    low = sum((q * x ** (1 - a) for q, x in zip(masses, g[1:], strict=True)), arb(0))
    mirrored = sum((q * x for q, x in zip(masses, g[1:], strict=True)), only)
    total, sums = low + 1 - mirrored - sum(masses, arb(0)), list[arb]()
    for q, x in zip([arb(0), *masses], g, strict=True):
        sums.append(total)
        total += q * x**a
    best, chosen = inf, (0.0, 0)
    for cut in sorted({int(k) for k in np.linspace(len(g) // 4, len(g) - 1, CUTS)}):
        beyond = sum(masses[cut:], arb(0))
        excess = sum((q * (x - g[cut]) for q, x in zip(masses[cut:], g[cut + 1 :], strict=True)), only)
        part = sums[cut] + (beyond + masses[cut - 1]) * g[cut] ** a + a * g[cut] ** (a - 1) * excess
        for b, known in ((exact(one), exact(rho)) for one, rho in bounds.items()):
            tail = ((b - 1) * (known + (b - 1).log()) - b * b.log()).exp() * g[cut] ** (a - b)
            value = upper((part + a * (a - 1) / (b - a) * tail).log() / (a - 1))
            if value < best:
                best, chosen = value, (float(b), cut)
    return best, chosen[0], {"order": dyadic(chosen[0]), "cut": len(g) - 1 + chosen[1]}
