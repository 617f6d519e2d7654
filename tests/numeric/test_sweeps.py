"""Sweeps: every row is what `bound` says, an interrupted one goes on, and the table holds it all."""

import csv
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import pytest
from joblib import parallel_config

from lastiterate.numeric import sweeps
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Smooth, Sum
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.sweeps import SweepPlan, load_sweep, sweep

_RUN = NoisySGD(steps=50, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=6)
_GRID = {"noise_std": [0.5, 1.0], "L": [1.0, 3.0, 1e70], "order": [2, 4]}
_FILE = """
[run]
steps = 50
step_size = 0.1
noise_std = 1.0
clip_norm = 2.0
dataset_size = 6
[assumption]
kind = "convex"
L = 1.0
[grid]
noise_std = [0.5, 1.0]
L = [1.0, 3.0, 1e70]
order = [2, 4]
"""


def test_every_row_is_the_bound_of_its_point() -> None:
    run = replace(_RUN, diameter=1.0)
    table = sweep(run, Convex(1.0), _GRID)
    points = list(product(*_GRID.values()))
    assert [tuple(row[name] for name in _GRID) for row in table.records()] == points
    for (noise, L, order), found in zip(points, table.results, strict=True):
        if L == 1e70:
            assert found.epsilon is None
            assert "needs numbers between" in found.error
        else:
            ours = bound(replace(run, noise_std=noise), Convex(L), order=order)
            assert (found.epsilon, found.mu, found.claim, found.error) == (
                ours.epsilon,
                ours.mu,
                ours.claim,
                "",
            )
    assert table.refused == 4


def test_delta_random_batches_and_adjacency() -> None:
    grid = {"sampling": ["full", "cyclic", "without_replacement"], "batch_size": [2], "delta": [1e-5]}
    full, cyclic, drawn = sweep(_RUN, Convex(1.0), grid).results
    assert "batch_size" in full.error
    run = replace(_RUN, batch_size=2, sampling="cyclic")
    assert cyclic.epsilon == bound(run, Convex(1.0), delta=1e-5).epsilon
    drawn_run = replace(run, sampling="without_replacement")
    assert drawn.epsilon == bound(drawn_run, Convex(1.0), delta=1e-5).epsilon
    assert drawn.mu is None
    assert (cyclic.adjacency, drawn.adjacency) == ("replace", "replace")


def test_workers_give_the_same_table() -> None:
    assert sweep(_RUN, Smooth(1.0), _GRID, jobs=2) == sweep(_RUN, Smooth(1.0), _GRID)


def test_a_dask_cluster_gives_the_same_table() -> None:
    distributed = pytest.importorskip("distributed")
    alone = sweep(_RUN, Smooth(1.0), _GRID)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client, parallel_config(backend="dask"):
        with distributed.get_task_stream(client) as computed:
            assert sweep(_RUN, Smooth(1.0), _GRID, jobs=-1) == alone
        assert computed.data


def _interrupt(monkeypatch: pytest.MonkeyPatch, after: int) -> list[int]:
    """Let ``after`` rows be solved and then interrupt; the list holds the rows that were asked for."""
    asked: list[int] = []
    numbered = sweeps._numbered

    def stopping(plan: SweepPlan, row: int, point: dict[str, object]) -> object:
        if len(asked) == after:
            raise KeyboardInterrupt
        asked.append(row)
        return numbered(plan, row, point)

    monkeypatch.setattr(sweeps, "_numbered", stopping)
    return asked


def test_an_interrupted_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, whole = tmp_path / "out.csv", sweep(_RUN, Convex(1.0), _GRID)
    with monkeypatch.context() as patch:
        asked = _interrupt(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            sweep(_RUN, Convex(1.0), _GRID, out=out)
    assert asked == [0, 1, 2, 3, 4]
    assert not out.exists()
    (kept,) = (tmp_path / "out.csv.rows").iterdir()
    last = kept / "4.npz"
    last.write_bytes(last.read_bytes()[:-7])
    with monkeypatch.context() as patch:
        asked = _interrupt(patch, 99)
        told: list[tuple[int, int]] = []
        assert sweep(_RUN, Convex(1.0), _GRID, out=out, on_row=lambda *both: told.append(both)) == whole
    assert asked == [4, 5, 6, 7, 8, 9, 10, 11]
    assert (told[0], told[-1]) == ((4, 12), (12, 12))
    with monkeypatch.context() as patch:
        asked = _interrupt(patch, 0)
        assert sweep(_RUN, Convex(1.0), _GRID, out=out) == whole
    assert asked == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.rows"]


@pytest.mark.parametrize(
    ("run", "assumption", "grid"),
    [
        (replace(_RUN, steps=51), Convex(1.0), _GRID),
        (_RUN, Convex(2.0), _GRID),
        (_RUN, Convex(1.0), _GRID | {"order": [2]}),
        (_RUN, Convex(1.0), _GRID | {"diameter": [inf, 1.0]}),
    ],
)
def test_a_changed_sweep_is_computed_again(
    run: NoisySGD, assumption: Convex, grid: dict[str, list[float]], tmp_path: Path
) -> None:
    first = sweep(_RUN, Convex(1.0), _GRID, out=tmp_path / "out.csv")
    assert sweep(run, assumption, grid, out=tmp_path / "out.csv") == sweep(run, assumption, grid)
    assert sweep(_RUN, Convex(1.0), _GRID, out=tmp_path / "out.csv") == first
    assert len(list((tmp_path / "out.csv.rows").iterdir())) == 2


def test_csv(tmp_path: Path) -> None:
    table = sweep(_RUN, Convex(1.0), _GRID | {"noise_std": [0.5, 1]}, out=tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["epsilon"]) for row in rows if row["epsilon"]] == [
        one.epsilon for one in table.results if one.epsilon is not None
    ]
    assert [row["noise_std"] for row in rows[::6]] == ["0.5", "1.0"]
    assert rows[4]["epsilon"] == ""
    assert rows[4]["error"] == table.results[4].error != ""


def test_bad_grids(subtests: pytest.Subtests) -> None:
    for grid, said in [
        ({"noise": [1.0], "order": [2]}, "did you mean noise_std"),
        ({"m": [1.0], "order": [2]}, "key='m'"),
        ({"noise_std": [], "order": [2]}, "noise_std=[]"),
        ({"noise_std": 1.0, "order": [2]}, "noise_std=1.0"),
        ({"sampling": "full", "order": [2]}, "sampling='full'"),
        ({"noise_std": [1.0, "a"], "order": [2]}, "numbers or of strings"),
        ({"noise_std": [[1.0, 2.0]], "order": [2]}, "numbers or of strings"),
        ({"noise_std": [True], "order": [2]}, "numbers or of strings"),
        ({"noise_std": [1.0, 2.0, 1], "order": [2]}, "noise_std=[1.0, 2.0, 1]"),
        ({"steps": [2**63], "order": [2]}, "2^63 - 1"),
        ({"noise_std": [1.0]}, "got neither"),
        ({"order": [2], "delta": [0.1]}, "got order and delta"),
        ({"steps": list(range(1, 1002)), "order": list(range(2, 1002))}, "rows=1001000"),
        ([1.0], "grid=[1.0]"),
    ]:
        with subtests.test(grid=grid, said=said):
            with pytest.raises(InputError) as caught:
                sweep(_RUN, Convex(1.0), grid)
            assert said in str(caught.value)


def test_a_grid_may_have_so_many_rows_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_MOST_ROWS", 6)
    assert SweepPlan(_RUN, Convex(1.0), {"noise_std": [1.0, 2.0], "order": [2, 3, 4]}).rows == 6
    with pytest.raises(InputError, match=r"^A sweep can have at most 6 rows, got rows=8; shorten a list or "):
        SweepPlan(_RUN, Convex(1.0), {"noise_std": [1.0, 2.0], "order": [2, 3, 4, 5]})


@pytest.mark.parametrize(("run", "assumption"), [("run", Convex(1.0)), (_RUN, "convex")])
def test_a_sweep_is_of_a_run_and_an_assumption(run: object, assumption: object) -> None:
    with pytest.raises(InputError, match=r"^sweep needs a NoisySGD|^assumption needs one of"):
        SweepPlan(run, assumption, {"order": [2]})  # type: ignore[arg-type]


def test_only_plain_numbers_of_an_assumption_vary() -> None:
    for assumption, name in ((Smooth(1.0), "lam"), (Sum(Smooth(1.0), Clipped()), "parts"), (Clipped(), "L")):
        with pytest.raises(InputError, match=f"key='{name}'"):
            sweep(_RUN, assumption, {name: [0.5], "order": [2]})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"jobs": 0}, "jobs=0"),
        ({"jobs": 1.5}, "jobs=1.5"),
        ({"out": "results.xlsx"}, "results.xlsx"),
        ({"out": "results.parquet"}, "ends in .csv"),
        ({"out": "/nowhere/at/all.csv"}, "/nowhere/at"),
    ],
)
def test_bad_options(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        sweep(_RUN, Convex(1.0), _GRID, **options)
    assert said in str(caught.value)


def test_a_file_is_the_same_sweep(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(_FILE)
    plan = load_sweep(tmp_path / "sweep.toml")
    assert plan == SweepPlan(_RUN, Convex(1.0), {name: tuple(values) for name, values in _GRID.items()})
    (tmp_path / "sweep.toml").write_text(_FILE.replace("[grid]", "[gird]"))
    with pytest.raises(InputError, match="grid=None"):
        load_sweep(tmp_path / "sweep.toml")
