"""Participation: exact chains that use a sample at listed steps stay below, and catch planted faults."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from schemas import schemas
from scipy.special import ndtr

from lastiterate.__main__ import main
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import bound
from lastiterate.numeric.contraction.table import Table
from lastiterate.numeric.contraction.uses import Clean, Used
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Smooth, StronglyConvex
from lastiterate.numeric.participation import by_position, participation
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD

_CELLS, _DELTA = 161, 1e-3


def _run(steps: int, batches: int, diameter: float, **more: object) -> NoisySGD:
    given = {"step_size": 0.25, "noise_std": 1.0, "clip_norm": 1.0, "sampling": "cyclic"} | more
    return NoisySGD(steps=steps, dataset_size=batches, batch_size=1, diameter=diameter, **given)  # type: ignore[arg-type]


def _kernel(means: Array, diameter: float, noise: float) -> Array:
    edges = np.linspace(-diameter / 2, diameter / 2, _CELLS + 1)[1:-1]
    below = np.pad(ndtr((edges - means[:, None]) / noise), ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    found: Array = np.diff(below, axis=1)
    return found


def _lost(
    run: NoisySGD, uses: Sequence[int], epsilon: float, *, slope: float = 1.0, sizes: Sequence[int] = ()
) -> float:
    """Delta at epsilon, the worse order, of runs that a sample pulls one way or the other wherever it is used."""
    size = dict(zip(uses, sizes or (1,) * len(uses), strict=True))
    edges = np.linspace(-run.diameter / 2, run.diameter / 2, _CELLS + 1)
    places = (edges[1:] + edges[:-1]) / 2
    p = q = np.eye(_CELLS)[_CELLS // 2]
    for t in range(run.steps):
        pull = run.step_size_at(t) * run.clip_norm / size[t] if t in uses else 0.0
        p = p @ _kernel(slope * places + pull, run.diameter, run.noise_std_at(t))
        q = q @ _kernel(slope * places - pull, run.diameter, run.noise_std_at(t))
    ratio = np.exp(epsilon)
    return float(max(np.maximum(p - ratio * q, 0).sum(), np.maximum(q - ratio * p, 0).sum()))


_LISTS = [(4,), (3, 9), (2, 5, 11), tuple(range(12))]


@pytest.mark.parametrize("uses", _LISTS, ids=str)
@pytest.mark.parametrize("diameter", [1.0, 4.0])
def test_exact_chains_stay_below(uses: tuple[int, ...], diameter: float) -> None:
    run = _run(12, 12, diameter)
    found = participation(run, Convex(1.0), steps=uses, delta=_DELTA)
    assert _lost(run, uses, found.epsilon) <= _DELTA * (1 + 1e-9)
    assert found.epsilon <= found.shifts


@pytest.mark.parametrize(
    ("assumption", "slope"), [(Smooth(1.0), 1.25), (StronglyConvex(1.0, 1.0), 0.75), (Clipped(), 1.0)], ids=str
)
def test_exact_chains_of_other_losses_and_schedules(assumption: Assumption, slope: float) -> None:
    run = _run(8, 8, 1.5)
    schedule = replace(run, noise_std=tuple(0.8 + 0.1 * t for t in range(8)))
    for each in (run, schedule):
        found = participation(each, assumption, steps=[1, 4, 5], delta=_DELTA)
        assert _lost(each, [1, 4, 5], found.epsilon, slope=slope) <= _DELTA * (1 + 1e-9)


def test_a_range_is_the_list_of_its_steps() -> None:
    run = _run(9, 9, np.inf)
    for listed in (range(2, 9, 3), range(8, 9), range(8, 7, -1)):
        found = participation(run, Convex(1.0), steps=listed, order=2.0)
        assert found.epsilon == participation(run, Convex(1.0), steps=list(listed), order=2.0).epsilon
    with pytest.raises(InputError, match="in increasing order"):
        participation(run, Convex(1.0), steps=range(8, 2, -1), order=2.0)


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        "[run]\nsteps = 12\nstep_size = 0.1\nnoise_std = 0.1\nclip_norm = 1\ndataset_size = 6\nbatch_size = 1\n"
        'sampling = "cyclic"\ndiameter = 0.5\n[assumption]\nkind = "convex"\nL = 1\n'
    )

    def told(*options: str, status: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["participation", str(path), "--delta", "1e-5", *options])
        assert ended.value.code == status
        return capsys.readouterr()

    everyone = json.loads(told("--json")[0])
    jsonschema.validate(everyone, schemas()["participation"])
    assert json.loads(told("--position", "2", "--json")[0])["epsilon"] == pytest.approx(everyone["epsilons"][2])
    assert f"({printed_up(everyone['worst'])}, 1e-05)-DP" in told()[0]
    assert "whole numbers separated by commas, got '3;4'" in told("--steps", "3;4", status=2)[1]


def test_planted_faults_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact chain loses more than delta where a step is put one too early, or clean steps are counted twice."""
    run = _run(12, 12, 1.0)
    early = participation(run, Convex(1.0), steps=[8], delta=_DELTA).epsilon
    assert _lost(run, [9], early) > _DELTA
    right, course = participation(run, Convex(1.0), steps=[7], delta=_DELTA).epsilon, Clean.course

    def twice(self: Clean, before: Table) -> list[Array]:
        known = course(self, before)
        return [known[min(2 * k, len(known) - 1)] for k in range(len(known))]

    monkeypatch.setattr(Clean, "course", twice)
    assert participation(run, Convex(1.0), steps=[7], delta=_DELTA).epsilon < right
    assert _lost(run, [7], participation(run, Convex(1.0), steps=[7], delta=_DELTA).epsilon) > _DELTA


def test_windows_cut_the_run() -> None:
    used = Used(_run(300, 300, 9.0), Convex(1.0), (0, 3, 50, 52, 53, 299))
    for lag in (0, 3, 20):
        for end in (300, 180, 54):
            windows = used.windows(end, lag, 2.4)
            assert windows[-1][0] + windows[-1][1] == end
            assert all(a + n == b for (a, n), (b, _) in pairwise(windows))
            assert windows[0][0] <= 0
            assert all(n >= 1 for _, n in windows)


def test_without_a_domain_a_single_pass_is_feldman_et_al() -> None:
    run = _run(20, 20, np.inf)
    found = by_position(run, Convex(1.0), order=3)
    assert found.epsilons == pytest.approx([3 / 2 * 0.5**2 / (20 - t) for t in range(20)], rel=1e-9)
    assert found.worst == pytest.approx(bound(run, Convex(1.0), order=3).epsilon, rel=1e-9)
    assert found.quantile(0.05) == found.epsilons[0]
    assert found.median == found.epsilons[9]


def test_positions_are_participations_and_the_worst_is_the_bound() -> None:
    steps = 43
    run = _run(steps, 10, 2.0)
    found = by_position(run, Convex(1.0), delta=1e-5)
    known = bound(run, Convex(1.0), delta=1e-5).epsilon
    assert found.worst <= known * 1.02
    for place in (2, 9):
        one = participation(run, Convex(1.0), position=place, delta=1e-5)
        listed = participation(run, Convex(1.0), steps=list(range(place, steps, 10)), delta=1e-5)
        assert listed.epsilon == one.epsilon
        assert one.epsilon == pytest.approx(found.epsilons[place], rel=0.02)
        assert one.shifts == pytest.approx(found.shifts[place], rel=1e-9)
    order = np.argsort([(steps - 1 - place) % 10 for place in range(10)])
    assert np.all(np.diff(np.array(found.epsilons)[order]) <= 0)


def test_long_epochs_are_looked_at_in_places() -> None:
    run = _run(500, 500, np.inf)
    found = by_position(run, Convex(1.0), order=2)
    exact = [0.5**2 / (500 - t) for t in range(500)]
    assert all(a >= b * (1 - 1e-12) for a, b in zip(found.epsilons, exact, strict=True))
    assert found.median <= 1.16 * sorted(exact)[249]


def test_batches_that_are_never_met_lose_nothing() -> None:
    found = by_position(_run(3, 10, 2.0), Convex(1.0), delta=1e-5)
    assert found.epsilons[3:] == (0.0,) * 7
    assert min(found.epsilons[:3]) > 0
    assert participation(_run(3, 10, 2.0), Convex(1.0), position=5, delta=1e-5).epsilon == 0


def test_steps_differ() -> None:
    run = _run(12, 4, 2.0, noise_std=tuple(1 + 0.1 * (t % 5) for t in range(12)))
    found = by_position(run, Convex(1.0), delta=_DELTA)
    assert found.epsilons[1] == participation(run, Convex(1.0), steps=[1, 5, 9], delta=_DELTA).epsilon


@pytest.mark.parametrize(
    ("changes", "asked", "told"),
    [
        ({}, {"steps": []}, "steps needs"),
        ({}, {"steps": [3, 3]}, "steps needs"),
        ({}, {"steps": [12]}, "steps needs"),
        ({}, {"steps": [-1]}, "steps"),
        ({}, {}, "either steps or position"),
        ({}, {"steps": [1], "position": 1}, "either steps or position"),
        ({}, {"position": 12}, "position must"),
        ({"sampling": "shuffled"}, {"steps": [1]}, "known order"),
        ({"noise_std": 1e-70}, {"steps": [1]}, "participation needs numbers between"),
    ],
)
def test_bad_input(changes: dict[str, object], asked: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        participation(_run(12, 12, 1.0, **changes), Convex(1.0), delta=1e-5, **asked)  # type: ignore[arg-type]


def test_other_bad_input() -> None:
    run = _run(12, 12, 1.0)
    with pytest.raises(InputError, match="order or a delta"):
        participation(run, Convex(1.0), steps=[1])
    with pytest.raises(InputError, match="at most 64 batches"):
        by_position(_run(90, 90, 1.0, noise_std=tuple(1.0 + t for t in range(90))), Convex(1.0), delta=1e-5)
