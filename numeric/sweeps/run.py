"""Compute the rows of a sweep, in parallel, keeping each as soon as it is there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, plain_number
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Journal
from lastiterate.numeric.sweeps.plan import Plan, Scalar
from lastiterate.numeric.sweeps.table import Result, SweepTable, checked_format

BACKENDS = ("loky", "dask")


@teaches()
def sweep(
    run: NoisySGD,
    assumption: Assumption,
    grid: Mapping[str, Sequence[Scalar]],
    *,
    out: Path | str | None = None,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    on_row: Callable[[int, int], None] | None = None,
) -> SweepTable:
    """Bound the privacy loss at every point of a grid.

    Args:
        run: the run, for everything that does not vary.
        assumption: the assumption, for everything that does not vary.
        grid: name -> values; names are fields of the run, numbers of the assumption, and either "order" or "delta".
            The last axis varies fastest.
        out: a .csv or .parquet file for the table. Finished rows are kept beside it, in ``out`` + ".rows.jsonl", and
            the same call goes on from them.
        jobs: worker processes; -1 for one a core.
        backend: "loky" for this machine, "dask" for a cluster of dask.distributed.
        scheduler: address of the cluster's scheduler; None for the client that is active, or a cluster of its own
            on this machine.
        on_row: called with (rows done, rows in all), at the start and whenever a row is there.

    Returns:
        The table, in the order of the grid. A point that is no run, or that the assumption does not allow, has a
        sentence in the column ``error`` in place of numbers.

    Raises:
        InputError: the grid is not one (see `Plan`), ``out`` cannot be written or holds rows of another sweep, or the
            backend is not there.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=100, step_size=0.1, noise_std=1.0, clip_norm=1.0, dataset_size=5, diameter=1.0)
    >>> table = sweep(run, Convex(1.0), {"step_size": [0.1, 30.0], "order": [2, 4]})
    >>> for one in table.results[1:3]:
    ...     print(one.epsilon and round(one.epsilon, 4), one.error[:31] or "ok")
    0.0067 ok
    None A convex loss needs step_size <
    """
    plan = Plan(run, assumption, grid)
    jobs = plain_number("jobs", jobs)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0 or jobs < -1:
        raise InputError(f"jobs needs a number of at least 1, or -1 for one a core, got jobs={jobs!r}; try -1.")
    if backend not in BACKENDS:
        raise InputError(f"backend needs to be loky or dask, got backend={backend!r}; choose one of them.")
    if out is None:
        return SweepTable(plan, _all(plan, None, _open(jobs, backend, scheduler), on_row))
    path = Path(out)
    checked_format(path)
    with closing(Journal(path.with_name(f"{path.name}.rows.jsonl"), _header(plan))) as journal:
        table = SweepTable(plan, _all(plan, journal, _open(jobs, backend, scheduler), on_row))
    table.write(path)
    return table


def _header(plan: Plan) -> dict[str, Any]:
    """Everything that decides the rows of a sweep."""
    try:
        ours = version("lastiterate")
    except PackageNotFoundError:
        ours = "not installed"
    return {"run": asdict(plan.run), "assumption": repr(plan.assumption), "grid": dict(plan.axes), "version": ours}


def solved(plan: Plan, row: int) -> tuple[int, Result]:
    """The row and its bound, or the sentence that refuses it."""
    adjacency = ""
    try:
        run, assumption, target = plan.point(row)
        adjacency = run.adjacency
        found = bound(run, assumption, **target)
    except InputError as error:
        return row, Result(None, None, "", "", adjacency, str(error))
    epsilon = found.epsilon if target else None
    return row, Result(epsilon, found.mu, found.route, found.claim, adjacency, "")


_Pool = Callable[[Plan, Iterable[int]], Iterator[tuple[int, Result]]]


def _all(plan: Plan, journal: Journal | None, pool: _Pool, on_row: Callable[[int, int], None] | None) -> list[Result]:
    known = dict(_readable(journal.entries, plan.rows)) if journal else {}
    tell = on_row or (lambda _done, _rows: None)
    tell(len(known), plan.rows)
    for row, result in pool(plan, [row for row in range(plan.rows) if row not in known]):
        known[row] = result
        if journal:
            journal.append({"row": row} | result._asdict())
        tell(len(known), plan.rows)
    return [known[row] for row in range(plan.rows)]


def _readable(entries: Iterable[Mapping[str, Any]], rows: int) -> Iterator[tuple[int, Result]]:
    """Row and result of each entry that is of this grid."""
    for entry in entries:
        try:
            row, result = entry["row"], Result(*(entry[name] for name in Result._fields))
        except KeyError:
            continue
        number = result.epsilon is None or isinstance(result.epsilon, float)
        if isinstance(row, int) and 0 <= row < rows and number and (result.epsilon is None) == bool(result.error):
            yield row, result


def _open(jobs: int, backend: str, scheduler: str | None) -> _Pool:
    def pool(plan: Plan, rows: Iterable[int]) -> Iterator[tuple[int, Result]]:
        todo = list(rows)
        if backend == "loky" and (jobs == 1 or len(todo) <= 1):
            yield from (solved(plan, row) for row in todo)
            return
        with ExitStack() as stack:
            if backend == "dask":
                client = stack.enter_context(_client(jobs, scheduler))
                stack.enter_context(parallel_config(backend="dask", client=client))
            workers = Parallel(n_jobs=-1 if backend == "dask" else jobs, return_as="generator_unordered")
            yield from workers(delayed(solved)(plan, row) for row in todo)

    if backend == "dask" and find_spec("distributed") is None:
        raise InputError(
            "backend='dask' needs dask.distributed, got an installation without it; run pip install "
            "'lastiterate[sweep]', or leave the backend out."
        )
    return pool


@contextmanager
def _client(jobs: int, scheduler: str | None) -> Iterator[Any]:
    """The client of a cluster: at this address, the active one, or one of its own that ends with the block."""
    distributed = import_module("distributed")
    if scheduler is None:
        try:
            active = distributed.get_client()
        except ValueError:
            workers = None if jobs == -1 else jobs
            opened = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        else:
            opened = nullcontext(active)
    else:
        try:
            opened = distributed.Client(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            raise InputError(
                f"A cluster needs a scheduler that answers, got scheduler={scheduler!r} "
                f"({str(error).splitlines()[0]}); start one with dask scheduler."
            ) from None
    with opened as client:
        yield client
