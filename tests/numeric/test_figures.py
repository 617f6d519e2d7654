import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastiterate.__main__ import main
from lastiterate.numeric import drawing
from lastiterate.numeric.drawing import Curve, Figure, Status, draw, table, write_figure
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.figures import figure_1a, figure_1b, spaced


@pytest.fixture(scope="module")
def curves_1a() -> dict[str, Curve]:
    return {curve.name: curve for curve in figure_1a(count=20).curves}


@pytest.fixture(scope="module")
def curves_1b() -> dict[str, Curve]:
    return {curve.name: curve for curve in figure_1b(count=20).curves}


def test_the_plateaus_of_figure_1a(curves_1a: dict[str, Curve]) -> None:
    last = {name: curve.epsilon[-1] for name, curve in curves_1a.items()}
    assert last["chien_li_3_1_smooth"] == pytest.approx(0.546343, abs=1e-6)
    assert last["chien_li_3_1_convex"] == pytest.approx(0.320123, abs=1e-6)
    assert last["shift_smooth"] == pytest.approx(0.4992, abs=1e-4)
    assert last["shift_strongly_convex"] == pytest.approx(0.1216, abs=1e-6)
    assert last["last_step_smooth"] == pytest.approx(1.16**2)
    assert last["composition"] == pytest.approx(6.4)


def test_ours_is_never_above_the_papers(curves_1a: dict[str, Curve]) -> None:
    for kind in ("smooth", "convex", "strongly_convex"):
        ours = np.array(curves_1a[f"shift_{kind}"].epsilon)
        assert (ours <= np.array(curves_1a[f"chien_li_3_1_{kind}"].epsilon) * (1 + 1e-11)).all()
        assert (np.diff(ours) >= -1e-12).all()


def test_figure_1b_orders_the_bounds(curves_1b: dict[str, Curve]) -> None:
    names = ("shift_strongly_convex", "chien_li_3_1_strongly_convex", "altschuler_talwar_b3", "chourasia_ye_shokri")
    rows = np.array([curves_1b[name].epsilon for name in names])
    assert (rows[0] <= rows[1] * (1 + 1e-11)).all()
    assert (rows[1] <= rows[2] * (1 + 1e-11)).all()
    assert (np.diff(rows[:, -1]) > 0.01).all()


def test_what_is_no_bound_says_so(curves_1a: dict[str, Curve], curves_1b: dict[str, Curve]) -> None:
    assert curves_1a["output_perturbation"].status is Status.NOT_VALID
    assert "not valid" in curves_1a["output_perturbation"].label
    assert curves_1b["chourasia_ye_shokri"].status is Status.SECOND_HAND


def small() -> Figure:
    curves = (
        Curve("low", "low", (1, 10, 100), (0.1, 0.2, 1 / 3)),
        Curve("high", "high", (1, 10, 100), (0.1, 0.9, 5.0), Status.ESTIMATE),
    )
    return Figure("title", "note", curves, order=2.0, top=1.0)


def test_the_csv_holds_every_digit_and_the_status() -> None:
    rows = list(csv.DictReader(io.StringIO(table(small()))))
    assert len(rows) == 6
    assert float(rows[2]["epsilon"]) == 1 / 3
    assert rows[2] | {"epsilon": ""} == {
        "curve": "low", "status": "upper bound", "order": "2", "steps": "100", "epsilon": "",
    }  # fmt: skip
    assert {row["status"] for row in rows if row["curve"] == "high"} == {"estimate"}


def test_every_curve_is_named_in_the_picture_and_no_text_leaves_it() -> None:
    for figure in (small(), figure_1a(count=8), figure_1b(count=8)):
        canvas = draw(figure)
        axes = canvas.axes[0]
        texts = {text.get_text(): text for text in axes.texts}
        assert {curve.label for curve in figure.curves} == set(texts)
        renderer = canvas.canvas.get_renderer()  # type: ignore[attr-defined]
        boxes = [text.get_window_extent(renderer) for text in [*axes.texts, *canvas.texts, axes.title]]
        for box in boxes:
            assert box.x0 >= 0
            assert box.x1 <= canvas.bbox.x1
            assert box.y0 >= 0
            assert box.y1 <= canvas.bbox.y1


def test_a_figure_is_written_as_png_and_csv(tmp_path: Path) -> None:
    png, data = write_figure(small(), tmp_path / "new", "small")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert data.read_text() == table(small())
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["small.csv", "small.png"]


def test_an_interrupted_figure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(drawing, "draw", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_figure(small(), tmp_path / "new", "small")
    assert not (tmp_path / "new").exists()


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_figure(small(), tmp_path, "small")
    before = (tmp_path / "small.csv").read_bytes()

    def stopped(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_figure(figure_1b(count=4), tmp_path, "small")
    assert (tmp_path / "small.csv").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="out="):
        write_figure(small(), tmp_path / "file" / "below", "small")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_labels_keep_their_order_and_their_distance(ends: list[float]) -> None:
    places = drawing._spread(ends)
    order = sorted(range(len(ends)), key=lambda i: (ends[i], places[i]))
    sorted_places = [places[i] for i in order]
    assert all(b - a >= drawing._GAP * (1 - 1e-9) for a, b in itertools.pairwise(sorted_places))
    assert sorted_places[0] >= -1e-9
    assert sorted_places[-1] <= 1 + 1e-9


def test_spaced_is_increasing_and_reaches_both_ends() -> None:
    steps = spaced(1000, 90)
    assert (steps[0], steps[-1]) == (1, 1000)
    assert all(a < b for a, b in itertools.pairwise(steps))


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", "chien_li/1b", "--out", str(tmp_path)])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"chien_li-1b.{end}") for end in ("png", "csv")]
    assert all((tmp_path / f"chien_li-1b.{end}").stat().st_size > 1000 for end in ("png", "csv"))


@pytest.mark.parametrize(
    ("name", "hint"), [("chien_li/1c", "did you mean chien_li/1"), ("x", "choose one of chien_li/1a")]
)
def test_a_wrong_name_is_one_sentence_and_writes_nothing(
    name: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", name, "--out", str(tmp_path / "new")])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"name={name}" in error
    assert hint in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()
