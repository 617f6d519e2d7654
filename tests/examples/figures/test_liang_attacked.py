from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import liang_2_3
import liang_4
import numpy as np
import pytest
from figure_cache import FigureCache
from liang_attacked import attacked, doublings
from pictures import assert_inside
from plotting import Curve, CurveKind, Figure

from lastiterate.numeric.lower.audit import Audit, audit
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.workloads import loading
from lastiterate.runtime.workloads.workload import Workload

pytestmark = pytest.mark.nightly  # a figure of a paper, drawn by a script

RATES = (0.03, 0.1)


def by_name(figure: Figure) -> dict[str, Curve]:
    return {curve.name: curve for curve in figure.curves}


@pytest.fixture(scope="module", autouse=True)
def _few_digits() -> Iterator[None]:
    """A third of the digits, which train as well."""
    of_name = loading.load_workload

    def few(name: str) -> Workload:
        whole = of_name(name)
        return replace(whole, inputs=whole.inputs[:600], targets=whole.targets[:600])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            loading, "load_workload", lambda name: (few if name == "builtin:digits-cnn" else of_name)(name)
        )
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def second(folder: Path) -> Figure:
    return liang_2_3.figure_2(last=2, runs=12, folder=folder)


@pytest.fixture(scope="module")
def third(folder: Path) -> Figure:
    return liang_2_3.figure_3(last=4, attacked_until=1, runs=20, folder=folder)


@pytest.fixture(scope="module")
def fourth(folder: Path) -> Figure:
    return liang_4.figure_4(epochs=1, trials=2, rates=RATES, folder=folder)


def attacks_and_bounds(figure: Figure) -> Iterator[tuple[Curve, Curve, Curve]]:
    """Attack, certified lower and upper bound of the same runs: those of one panel and one member."""
    for panel in figure.panels:
        for attack in (curve for curve in panel.curves if curve.status is CurveKind.ATTACK):
            same = [curve for curve in panel.curves if curve.of == attack.of]
            low, high = (next(c for c in same if c.status is s) for s in (CurveKind.LOWER, CurveKind.BOUND))
            yield attack, low, high


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("which", "attacks"), [("second", 6), ("third", 6)])
def test_no_attack_is_above_the_certified_bound(
    which: str, attacks: int, request: pytest.FixtureRequest
) -> None:
    found = list(attacks_and_bounds(request.getfixturevalue(which)))
    assert len(found) == attacks
    for attack, low, high in found:
        above = dict(zip(high.x, high.y, strict=True))
        assert all(y <= above[x] for x, y in zip(attack.x, attack.y, strict=True))
        assert all(y <= above[x] for x, y in zip(low.x, low.y, strict=True))
        assert attack.low == attack.y
        assert all(np.isfinite(attack.high))


def test_a_canary_is_seen_where_there_is_next_to_no_noise(folder: Path) -> None:
    def run_of(epochs: int) -> NoisySGD:
        return replace(liang_2_3.run_2(70, epochs), noise_std=1e-4)

    keep = FigureCache("test", 1, folder)
    found = attacked(keep, "canary", (16,), run_of, runs=40)
    assert found.y[0] > 1.0
    assert found.low[0] <= found.high[0]


def test_larger_batches_hide_more_and_epochs_hide_less(second: Figure) -> None:
    curves = by_name(second)
    for name in ("bound", "lower"):
        by_batch = np.array([curves[f"{name} b={batch}"].y for batch in liang_2_3.BATCHES_2])
        assert (np.diff(by_batch, axis=0) < 0).all()
        assert (np.diff(by_batch, axis=1) > 0).all()


def test_smaller_domains_hide_more_and_convexity_helps(third: Figure) -> None:
    curves = by_name(third)
    words = [f"D = {diameter:g}" for diameter in liang_2_3.DIAMETERS]
    ours = np.array([curves[f"bound convex b=14 {word}"].y for word in words])
    assert (np.diff(ours, axis=0) >= -1e-9).all()
    for word in words:
        convex, smooth = (
            np.array(curves[f"bound {kind} b=14 order {word}"].y) for kind in ("convex", "smooth")
        )
        assert (convex <= smooth * (1 + 1e-9)).all()


def test_theorems_3_3_and_3_4_are_called_refuted(second: Figure, third: Figure) -> None:
    for figure, name, count in ((second, "liang_3_3", 3), (third, "liang_3_4", 3)):
        theirs = [curve for curve in figure.curves if curve.name.startswith(name)]
        assert len(theirs) == count
        assert {curve.status for curve in theirs} == {CurveKind.REFUTED}


def test_training_loss_falls_and_lies_in_its_band(fourth: Figure) -> None:
    assert {curve.status for curve in fourth.curves} == {CurveKind.MEASURED}
    assert len(fourth.curves) == len(RATES)
    for curve in fourth.curves:
        assert len(curve.x) == 2
        assert all(low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True))
    small, large = fourth.curves[0], fourth.curves[-1]
    assert small.y[-1] < small.y[0]
    assert small.y[-1] < large.y[-1]  # more steps an epoch


@pytest.mark.parametrize("which", ["second", "third", "fourth"])
def test_nothing_leaves_the_picture(which: str, request: pytest.FixtureRequest) -> None:
    assert_inside(request.getfixturevalue(which))


def test_what_was_measured_is_found_again(
    fourth: Figure, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured_again(*_arguments: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(liang_4, "_train", measured_again)
    assert liang_4.figure_4(epochs=1, trials=2, rates=RATES, folder=folder) == fourth
    with pytest.raises(AssertionError, match="measured again"):
        liang_4.figure_4(epochs=1, trials=3, rates=RATES, folder=folder)


def test_an_attack_is_found_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(_workload: Any, _run: Any, _kind: Any, *, delta: float, runs: int) -> Audit:
        calls.append(runs)
        return audit(false_positives=1, negatives=runs, false_negatives=1, positives=runs, delta=delta)

    monkeypatch.setattr("lastiterate.runtime.attacks.attack.attack", counted)
    for runs, all_calls in ((30, 2), (30, 2), (31, 4)):
        keep = FigureCache("again", 2, folder)
        found = attacked(keep, "canary", (1, 4), lambda epochs: liang_2_3.run_2(70, epochs), runs)
        assert len(calls) == all_calls
        assert found.y[0] < found.high[0]


def test_an_interrupted_figure_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []

    def stopping(after: int) -> Callable[..., Any]:
        def train(run: NoisySGD, seed: int) -> dict[str, Any]:
            if len(trained) == after:
                raise KeyboardInterrupt
            trained.append(run.batch)
            return {"loss": [2.0, 1.0 + seed]}

        return train

    monkeypatch.setattr(liang_4, "_train", stopping(3))
    with pytest.raises(KeyboardInterrupt):
        liang_4.figure_4(epochs=1, trials=2, rates=RATES, folder=tmp_path)
    monkeypatch.setattr(liang_4, "_train", stopping(99))
    figure = liang_4.figure_4(epochs=1, trials=2, rates=RATES, folder=tmp_path)
    assert len(trained) == 4
    assert [curve.of for curve in figure.curves] == [f"b = {batch}" for batch in trained[::2]]
    assert [curve.y for curve in figure.curves] == [(2.0, 1.5)] * 2


def test_doublings_end_where_they_are_told() -> None:
    assert doublings(1) == (1,)
    assert doublings(100, every=3) == (1, 8, 64)
