"""Figures 1 (a) and 1 (b) of Chien & Li 2025: plateaus, the order of the bounds, and names of all curves."""

import numpy as np
import pytest
from chien_li_1 import figure_1a, figure_1b
from plotting import Curve, CurveKind, Figure, draw


@pytest.fixture(scope="module")
def drawn_1a() -> Figure:
    return figure_1a(count=10)


@pytest.fixture(scope="module")
def drawn_1b() -> Figure:
    return figure_1b(count=10)


@pytest.fixture(scope="module")
def curves_1a(drawn_1a: Figure) -> dict[str, Curve]:
    return {curve.name: curve for curve in drawn_1a.curves}


@pytest.fixture(scope="module")
def curves_1b(drawn_1b: Figure) -> dict[str, Curve]:
    return {curve.name: curve for curve in drawn_1b.curves}


def test_the_plateaus_of_figure_1a(curves_1a: dict[str, Curve]) -> None:
    last = {name: curve.y[-1] for name, curve in curves_1a.items()}
    assert last["chien_li_3_1_smooth"] == pytest.approx(0.546343, abs=1e-6)
    assert last["chien_li_3_1_convex"] == pytest.approx(0.320123, abs=1e-6)
    assert last["ours_smooth"] == pytest.approx(0.01417, rel=1e-3)
    assert last["ours_strongly_convex"] == pytest.approx(0.01248, rel=1e-3)
    assert last["last_step"] == pytest.approx(1.16**2)
    assert last["composition"] == pytest.approx(6.4)


def test_ours_is_never_above_the_papers(curves_1a: dict[str, Curve]) -> None:
    for kind in ("smooth", "convex", "strongly_convex"):
        ours = np.array(curves_1a[f"ours_{kind}"].y)
        assert (ours <= np.array(curves_1a[f"chien_li_3_1_{kind}"].y) * (1 + 1e-11)).all()
        assert (np.diff(ours) >= -1e-3 * ours[1:]).all()


def test_figure_1b_orders_the_bounds(curves_1b: dict[str, Curve]) -> None:
    names = (
        "ours_strongly_convex",
        "chien_li_3_1_strongly_convex",
        "altschuler_talwar_b3_full",
        "chourasia_ye_shokri",
    )
    rows = np.array([curves_1b[name].y for name in names])
    assert (rows[0] <= rows[1] * (1 + 1e-11)).all()
    assert (rows[1] <= rows[2] * (1 + 1e-11)).all()
    assert (np.diff(rows[:, -1]) > 0.01).all()


def test_what_is_no_bound_says_so(curves_1a: dict[str, Curve], curves_1b: dict[str, Curve]) -> None:
    assert curves_1a["output_perturbation"].status is CurveKind.REFUTED
    assert curves_1b["chourasia_ye_shokri"].status is CurveKind.SECOND_HAND


def test_every_curve_is_named_in_the_picture(drawn_1a: Figure, drawn_1b: Figure) -> None:
    for figure in (drawn_1a, drawn_1b):
        picture = draw(figure)
        picture.canvas.draw()
        texts = [*picture.texts, *picture.legends[0].get_texts()]
        assert all(text.get_window_extent().x1 <= picture.bbox.x1 for text in texts)
        words = {text.get_text().replace("\n", " ") for text in texts}
        assert {f"{curve.label} ({curve.status})" for curve in figure.curves} <= words
