"""Results as tables: every public result shows in a notebook and converts, rounded in its own direction."""

import builtins
import copy
import pickle
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

import pytest
from one_run import one_run
from random_projection import RandomProjectionRun, projection_bound

import lastiterate as li
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.lower.audit import audit
from lastiterate.numeric.rounding import printed_up

pandas = pytest.importorskip("pandas")

_RUN = li.NoisySGD(steps=60, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=6, diameter=1.0)
_ENDLESS = replace(_RUN, diameter=inf)
"""Without contraction a bound takes a millisecond."""
_CYCLIC = li.NoisySGD(60, 0.1, 1.0, 2.0, dataset_size=6, batch_size=2, sampling="cyclic", diameter=1.0)
_CONVEX = li.Convex(1.0)
_MEASURED = li.Measured(li.Smooth(1.0), "the constant <1> being true")
_PROJECTED = RandomProjectionRun.d2p2(steps=10, step_size=0.01, noise_std=3.0, ranks=[40, 8], dataset_size=50)

_RESULTS = {
    "bound": lambda: li.bound(_RUN, _CONVEX, delta=1e-5),
    "estimate": lambda: li.estimate(_RUN, _MEASURED, order=2),
    "calibrate": lambda: li.calibrate(_ENDLESS, _CONVEX, epsilon=1.0, order=2.0),
    "compare": lambda: li.compare(_RUN, _CONVEX, order=2),
    "row": lambda: _result("compare")[1],
    "sweep": lambda: li.sweep(_RUN, _CONVEX, {"step_size": [0.1, 30.0], "order": [2, 4]}),
    "participation": lambda: li.participation(_CYCLIC, _CONVEX, position=0, delta=1e-5),
    "by_position": lambda: li.by_position(_CYCLIC, _CONVEX, delta=1e-5),
    "forgetting": lambda: li.forgetting(_RUN, _CONVEX, 8, delta=1e-5),
    "lower_bound": lambda: li.lower_bound(_RUN, _CONVEX, order=2),
    "projection": lambda: projection_bound(_PROJECTED, delta=1e-5),
    "audit": lambda: audit(false_positives=1, negatives=100, false_negatives=30, positives=100, delta=1e-5),
    "one run": lambda: one_run(list(range(40)), [k >= 20 for k in range(40)], adjacency="replace", delta=1e-5),
}


@cache
def _result(name: str) -> Any:
    return _RESULTS[name]()


@pytest.mark.parametrize("name", _RESULTS)
def test_every_result_shows_and_converts(name: str) -> None:
    found = _result(name)
    assert isinstance(found, Displayed)
    page, table = found._repr_html_(), found.table()
    assert page.count("<tr>") == len(table.rows) + any(table.columns)
    frame = found.to_pandas()
    assert len(frame) == len(found.records()) > 0
    if "epsilon" in frame:  # as they are, not as they are displayed
        exact = [row["epsilon"] for row in found.records()]
        assert [None if pandas.isna(one) else one for one in frame["epsilon"]] == exact


def test_an_estimate_says_so_in_every_form() -> None:
    found = _result("estimate")
    for text in (str(found), str(found.table()), found._repr_html_()):
        assert "estimate, not a bound" in text
        assert "conditional on" in text
    assert "&lt;1&gt;" in found._repr_html_()
    (row,) = found.to_pandas().to_dict("records")
    assert row["kind"] == "estimate"
    assert row["conditional_on"] == _MEASURED.conditional_on


def test_numbers_are_rounded_outwards() -> None:
    rows = _result("compare")
    for row, shown in zip(rows, rows.table().rows, strict=True):
        below = row.kind == "lower"
        assert (float(shown[1]) <= row.epsilon) if below else (float(shown[1]) >= row.epsilon)
        assert float(shown[3]) >= row.ratio
    assert any(float(shown[1]) != row.epsilon for row, shown in zip(rows, rows.table().rows, strict=True))
    table = _result("sweep")
    assert [row[2] for row in table.table().rows] == [
        "" if one.epsilon is None else printed_up(one.epsilon) for one in table.results
    ]


def test_a_comparison_is_a_sequence_and_prints_as_a_table() -> None:
    rows = _result("compare")
    assert len(rows) == len(list(rows)) == len(rows[:])
    assert rows[0].kind == "lower"
    assert rows[1] in rows
    assert rows.index(rows[1]) == 1
    assert all(row.title in str(rows) for row in rows)
    assert pickle.loads(pickle.dumps(rows)) == copy.copy(rows) == rows  # noqa: S301 - made here


def test_calibrate_says_what_it_found() -> None:
    found = _result("calibrate")
    assert f"noise_std = {found.run.noise_std!r} (noise multiplier " in str(found)
    assert f"(2, {printed_up(found.epsilon)})-RDP" in str(found)
    assert f"by {found.route}; the target is at most 1" in str(found)
    assert found.as_dict()["kind"] == "bound"


def test_a_long_table_is_cut_in_the_middle() -> None:
    table = li.sweep(_ENDLESS, li.Clipped(), {"noise_std": [1.0 + k for k in range(50)], "order": [2]})
    assert "10 rows in the middle are left out." in str(table)
    assert len(table.to_pandas()) == 50


def test_texts_are_texts() -> None:
    table = TextTable("a <b>", ("[red]", "n"), (("[bold]&", "1"),), ("<i>",))
    assert "[bold]&" in str(table)
    assert "[red]" in str(table)
    for part in ("a &lt;b&gt;", "[bold]&amp;", "&lt;i&gt;"):
        assert part in table.html()


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def refused(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refused)
    with pytest.raises(ImportError, match=r"needs pandas, .* pip install 'lastiterate\[pandas\]'"):
        li.bound(_RUN, _CONVEX, order=2).to_pandas()
