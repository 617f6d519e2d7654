import csv
import io
from dataclasses import replace
from pathlib import Path

import plotting
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from plotting import Curve, CurveKind, Figure, Panel, draw, figure_csv, write_figure

from lastiterate.numeric.errors import InputError


def small() -> Figure:
    curves = (
        Curve("low", "low", (1, 10, 100), (0.1, 0.2, 1 / 3)),
        Curve("high", "high", (1, 10, 100), (0.1, 0.9, 5.0), CurveKind.ESTIMATE),
    )
    return Figure("title", "note", (Panel(curves, order=2.0, top=1.0),))


def test_the_csv_holds_every_digit_and_the_status() -> None:
    rows = list(csv.DictReader(io.StringIO(figure_csv(small()))))
    assert len(rows) == 6
    assert float(rows[2]["y"]) == 1 / 3
    assert rows[2] | {"y": ""} == {
        "panel": "1", "curve": "low", "of": "", "status": "upper bound", "order": "2", "x": "100", "y": "",
        "low": "", "high": "",
    }  # fmt: skip
    assert {row["status"] for row in rows if row["curve"] == "high"} == {"estimate"}


def _inside(picture: Canvas) -> list[Text]:
    """The texts of a picture and of its legend, each of them inside."""
    picture.canvas.draw()
    texts = [*picture.texts, *picture.legends[0].get_texts()]
    boxes = [text.get_window_extent() for text in (*texts, *(axes.yaxis.label for axes in picture.axes))]
    assert min(min(box.x0, box.y0) for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= picture.bbox.x1
    assert max(box.y1 for box in boxes) <= picture.bbox.y1
    return texts


def test_every_curve_is_named_in_the_picture_and_no_text_leaves_it() -> None:
    words = {text.get_text().replace("\n", " ") for text in _inside(draw(small()))}
    assert {f"{curve.label} ({curve.status})" for curve in small().curves} <= words


def test_a_figure_is_written_in_three_formats_with_its_csv(tmp_path: Path) -> None:
    data, png, svg, pdf = write_figure(small(), tmp_path / "new", "small")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()
    assert pdf.read_bytes().startswith(b"%PDF")
    assert data.read_text() == figure_csv(small())
    assert sorted((tmp_path / "new").iterdir()) == sorted((data, png, svg, pdf))


@pytest.mark.parametrize(
    ("status", "values", "drawn"),
    [
        (CurveKind.BOUND, (1.0, 2.0, 3.0), "steps-pre"),
        (CurveKind.BOUND, (3.0, 2.0, 1.0), "steps-post"),
        (CurveKind.LOWER, (1.0, 2.0, 3.0), "steps-post"),
        (CurveKind.LOWER, (3.0, 2.0, 1.0), "steps-pre"),
        (CurveKind.MEASURED, (1.0, 2.0, 3.0), "default"),
    ],
)
def test_no_drawn_line_is_stronger_than_a_bound(
    status: CurveKind, values: tuple[float, ...], drawn: str
) -> None:
    """Between two points a rising upper bound has the value of the later one, and a falling one of the earlier one."""
    curve = Curve("one", "one", (1, 2, 3), values, status)
    (line,) = draw(Figure("title", "note", (Panel((curve,), 4.0),))).axes[0].lines[:1]
    assert line.get_drawstyle() == drawn
    hill = replace(curve, y=(1.0, 3.0, 2.0), status=CurveKind.BOUND)
    assert draw(Figure("title", "note", (Panel((hill,), 4.0),))).axes[0].lines[0].get_linestyle() == "None"


def test_an_interrupted_figure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plotting, "draw", stopped)
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
        write_figure(family(), tmp_path, "small")
    assert (tmp_path / "small.csv").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="out="):
        write_figure(small(), tmp_path / "file" / "below", "small")


def family() -> Figure:
    bounds = tuple(
        Curve(f"bound {b}", "certified", (1, 10), (0.1 * b, 0.2 * b), color=color, of=f"b = {b}")
        for b, color in ((1, "#0072B2"), (2, "#D55E00"))
    )
    seen = Curve(
        "seen",
        "attack",
        (1, 10),
        (0.01, 0.02),
        CurveKind.ATTACK,
        low=(0.005, 0.01),
        high=(0.02, 0.04),
        marker="o",
    )
    return Figure("title", "note " * 60, (Panel((*bounds, seen), 1.0, 2.0), Panel((seen,), 0.1, title="alone")))


def test_a_legend_names_every_curve_once_beside_the_axes() -> None:
    picture = draw(family())
    wanted = [f"certified, b = {b} ({CurveKind.BOUND})" for b in (1, 2)] + [f"attack ({CurveKind.ATTACK})"]
    named = [text for text in _inside(picture) if text.get_text().replace("\n", " ") in wanted]
    assert [text.get_text().replace("\n", " ") for text in named] == wanted
    right = picture.axes[-1].get_window_extent().x1
    assert min(text.get_window_extent().x0 for text in named) > right


def test_a_band_is_in_the_csv_and_the_panels_are_counted() -> None:
    rows = list(csv.DictReader(io.StringIO(figure_csv(family()))))
    assert [row["panel"] for row in rows] == ["1"] * 6 + ["2"] * 2
    assert (rows[-1]["low"], rows[-1]["y"], rows[-1]["high"], rows[-1]["order"]) == ("0.01", "0.02", "0.04", "")
    assert rows[0]["of"] == "b = 1"


@pytest.mark.parametrize("logarithmic", [True, False])
def test_markers_at_the_ends_are_whole_and_have_bars_where_no_line_is_drawn(logarithmic: bool) -> None:
    ends = {"low": (0.5, 1.0), "high": (1.5, 2.0)}
    dots = Curve("dots", "dots", (1, 100), (1.0, 1.5), CurveKind.ATTACK, marker="o", line="", **ends)
    band = replace(dots, name="band", label="band", marker="", line="-")
    pictures = [
        draw(Figure("title", "note", (Panel((one,), 2.5, logarithmic=logarithmic),))) for one in (dots, band)
    ]
    (left, right), whole = pictures[0].axes[0].get_xlim(), pictures[1].axes[0].get_xlim()
    assert whole == pytest.approx((1, 100))
    if logarithmic:
        assert (left, right) == pytest.approx((1 / 100**0.025, 100 * 100**0.025))
    else:
        assert (left, right) == pytest.approx((1 - 0.025 * 99, 100 + 0.025 * 99))
    kinds = [[type(one).__name__ for one in picture.axes[0].collections] for picture in pictures]
    assert kinds[0] == ["LineCollection"]
    assert "LineCollection" not in kinds[1]
    assert len(kinds[1]) == 1
    assert [[point[1] for point in bar] for bar in pictures[0].axes[0].collections[0].get_segments()] == [
        [0.5, 1.5],
        [1.0, 2.0],
    ]
