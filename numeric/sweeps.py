"""Sweeps: bounds over a grid of runs, in parallel and resumable, written as one CSV table."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass, replace
from importlib.metadata import version
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from lastiterate.numeric.bound import bound
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError, count, echo, is_list, plain_number, suggestion, teaches
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.run_file import described_tables, read_toml
from lastiterate.numeric.store import Store, write_whole, writing

Scalar = int | float | str

_MOST_ROWS: Final = 1_000_000
"""Maximum number of rows."""
_LARGEST = 2**63 - 1
"""Largest integer that a column of a table can hold."""
_ENDS = 20
"""Number of rows displayed at each end of a long table."""
_TARGETS = ("order", "delta")
_RUN_FIELDS = tuple(field.name for field in fields(NoisySGD))


@dataclass(frozen=True)
class SweepPlan:
    """A validated grid of bounds; the last of the ``axes`` varies fastest.

    The name of an axis is a field of the run, a parameter of the assumption, "order" or "delta"; exactly one
    of the last two is an axis. ``run`` and ``assumption`` give all other values.
    """

    run: NoisySGD
    assumption: Assumption
    axes: Mapping[str, Sequence[Scalar]]

    def __post_init__(self) -> None:
        described_run("sweep", self.run, groups=True, momentum=True)
        described_assumption(self.assumption)
        if not isinstance(self.axes, Mapping):
            raise InputError(
                f"The grid of a sweep needs a list for every name, got grid={self.axes!r}; write a table."
            )
        known = (*_RUN_FIELDS, *_numbers_of(self.assumption), *_TARGETS)
        for name in self.axes:
            if name not in known:
                hint = suggestion(name, known, f"the names are {', '.join(known)}.")
                raise InputError(f"An axis of a sweep needs a known name, got key={name!r}; {hint}")
        object.__setattr__(self, "axes", {name: _axis(name, listed) for name, listed in self.axes.items()})
        given = [name for name in _TARGETS if name in self.axes]
        if len(given) != 1:
            raise InputError(
                f"The grid of a sweep needs either order or delta, got {' and '.join(given) or 'neither'}; "
                "write for example order = [2]."
            )
        if self.rows > _MOST_ROWS:
            raise InputError(
                f"A sweep can have at most {_MOST_ROWS} rows, got rows={self.rows}; shorten a list or split the grid."
            )

    @property
    def rows(self) -> int:
        """Number of points of the grid."""
        return prod(len(values) for values in self.axes.values())

    def points(self) -> Iterator[dict[str, Scalar]]:
        """Values of the axes in every row."""
        return (dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values()))

    def solve(self, point: Mapping[str, Any]) -> "Result":
        """Compute the bound at a point, or the error message that rejects the point."""
        target = {name: value for name, value in point.items() if name in _TARGETS}
        changed = {name: value for name, value in point.items() if name in _RUN_FIELDS}
        rest: dict[str, Any] = {name: point[name] for name in point.keys() - target.keys() - changed.keys()}
        if "sampling" in changed:
            changed = {"adjacency": ""} | changed  # the default of the new sampling
        adjacency = ""
        try:
            run = replace(self.run, **changed)
            adjacency = run.adjacency
            losses = replace(self.assumption, **rest) if rest else self.assumption  # type: ignore[type-var]
            found = bound(run, losses, **target)
        except InputError as error:
            return Result(None, None, "", "", adjacency, str(error))
        return Result(found.epsilon, found.mu, found.route, found.claim, adjacency, "")


def load_sweep(path: Path) -> SweepPlan:
    """Read a sweep from a run file with a table [grid] of lists; raises `InputError` if it is invalid."""
    data, origin = read_toml(path), str(path)
    grid = data.pop("grid", None)
    if not isinstance(grid, dict):
        raise InputError(
            f"A sweep file needs a table [grid], got grid={grid!r} in {origin}; write [grid] with lists."
        )
    return SweepPlan(*described_tables(data, origin), grid)


def _numbers_of(assumption: Assumption) -> tuple[str, ...]:
    listed: tuple[Field[Any], ...] = fields(assumption) if is_dataclass(assumption) else ()
    required: list[str] = [field.name for field in listed if field.default is MISSING]
    return tuple(name for name in required if isinstance(getattr(assumption, name), float))


def _axis(name: str, listed: Any) -> tuple[Scalar, ...]:
    values = [plain_number(name, value) for value in listed] if is_list(listed) else []
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    one_kind = bool(values) and (all(numbers) or all(isinstance(value, str) for value in values))
    if (
        not one_kind
        or len(set(values)) != len(values)
        or any(isinstance(x, int) and abs(x) > _LARGEST for x in values)
    ):
        raise InputError(
            "An axis of a sweep needs a list of numbers or of strings, without repetitions and with integers of at "
            f"most 2^63 - 1, got {name}={echo(listed)}; put a schedule for all rows into [run]."
        )
    return (
        tuple(float(value) for value in values)
        if any(isinstance(value, float) for value in values)
        else (*values,)
    )


class Result(NamedTuple):
    """Bound at one point of a grid: epsilon and mu of mu-GDP, rounded up, or an error.

    ``epsilon`` is None if the point is rejected; otherwise ``error`` is "". ``mu`` is None for a bound that
    is not Gaussian.
    """

    epsilon: float | None
    mu: float | None
    route: str
    claim: str
    adjacency: str
    error: str


@dataclass(frozen=True)
class SweepTable(Displayed):
    """Rows of a sweep, in the order of its grid."""

    plan: SweepPlan
    results: Sequence[Result]

    @property
    def refused(self) -> int:
        """Number of rows with an error instead of a bound."""
        return sum(bool(one.error) for one in self.results)

    def records(self) -> list[dict[str, Any]]:
        """The axes of each row, then the fields of `Result`; None for no value."""
        return [point | one._asdict() for point, one in zip(self.plan.points(), self.results, strict=True)]

    def table(self) -> TextTable:
        names = (*self.plan.axes, "epsilon", "mu", "route", *(("error",) if self.refused else ()))
        records = self.records()
        left_out = max(len(records) - 2 * _ENDS, 0)
        notes = (f"{left_out} rows in the middle are left out.",) if left_out else ()
        shown = [*records[:_ENDS], *records[-_ENDS:]] if left_out else records
        rows = tuple(tuple(_cell(name, record[name]) for name in names) for record in shown)
        return TextTable(f"Bounds of {self.plan.rows} runs, rounded up", names, rows, notes)

    def write(self, path: Path) -> None:
        """Write the table as a .csv file; raises `InputError` if this is impossible."""
        out = io.StringIO()
        writer = csv.DictWriter(out, (*self.plan.axes, *Result._fields), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        with writing("A sweep needs", f"out={path}"):
            write_whole(path, out.getvalue().encode())


def _cell(name: str, value: Scalar | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return printed_up(value) if name in ("epsilon", "mu") else str(value)


@teaches()
def sweep(
    run: NoisySGD,
    assumption: Assumption,
    grid: Mapping[str, Sequence[Scalar]],
    *,
    out: Path | str | None = None,
    jobs: int = 1,
    on_row: Callable[[int, int], None] | None = None,
) -> SweepTable:
    """Bound the privacy loss at every point of a grid of runs and assumptions.

    Args:
        run: values that do not vary.
        assumption: values that do not vary.
        grid: name -> values, as in `SweepPlan`.
        out: .csv file for the table; a repeated call resumes from the rows in the folder ``out`` + ".rows".
        jobs: worker processes; -1 for one per core, or for all workers of the cluster if
            `joblib.parallel_config` names another backend, such as "dask".
        on_row: called with (finished rows, all rows), at the start and after every row.

    Raises:
        InputError: the grid is invalid, or ``out`` cannot be written.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=100, step_size=0.1, noise_std=1.0, clip_norm=1.0, dataset_size=5, diameter=1.0)
    >>> table = sweep(run, Convex(1.0), {"step_size": [0.1, 1e70], "order": [2, 4]})
    >>> [one.epsilon and round(one.epsilon, 4) or one.error[:31] for one in table.results[1:3]]
    [0.0067, 'bound needs numbers between 1e-']
    """
    plan = SweepPlan(run, assumption, grid)
    jobs = -1 if plain_number("jobs", jobs) == -1 else count("jobs", jobs)
    path, tell = None if out is None else Path(out), on_row or (lambda _done, _rows: None)
    if path is not None and (path.suffix.lower() != ".csv" or not path.parent.is_dir()):
        raise InputError(
            f"The table of a sweep needs a folder that exists and a name that ends in .csv, got out={path}; rename it."
        )
    store = Store(None if path is None else path.with_name(f"{path.name}.rows"), _header(plan))
    known = {row: found for row in range(plan.rows) if (found := _kept(store, row)) is not None}
    tell(len(known), plan.rows)
    left = [(row, point) for row, point in enumerate(plan.points()) if row not in known]
    workers = Parallel(n_jobs=jobs if len(left) > 1 else 1, return_as="generator_unordered")
    for row, result in workers(delayed(_numbered)(plan, *one) for one in left):
        known[row] = result
        numbers = [np.nan if number is None else number for number in result[:2]]
        store.save(str(row), {"numbers": numbers, "words": result[2:]})
        tell(len(known), plan.rows)
    table = SweepTable(plan, [known[row] for row in range(plan.rows)])
    if path is not None:
        table.write(path)
    return table


def _numbered(plan: SweepPlan, row: int, point: Mapping[str, Any]) -> tuple[int, Result]:
    return row, plan.solve(point)


def _header(plan: SweepPlan) -> dict[str, Any]:
    said = {"run": asdict(plan.run), "assumption": repr(plan.assumption), "grid": dict(plan.axes)}
    return said | {"version": version("lastiterate")}


def _kept(store: Store, row: int) -> Result | None:
    kept = store.load(str(row))
    if kept is None:
        return None
    epsilon, mu = (None if np.isnan(number) else number for number in kept["numbers"].tolist())
    return Result(epsilon, mu, *map(str, kept["words"]))
