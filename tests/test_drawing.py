"""The drawing of the imports: no circle, no arrow up, few floors, and few modules on the way of a run."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.drawing import CLAIMS, SCHEMES, TARGETS, Graph, draw, files, followed, passed, room, rooms

_FLOORS = {"symbolic": 9, "numeric": 8}
_ROOMS, _MODULES = 11, 28
"""The most rooms and modules of numeric/ that a run may pass, whatever its scheme: by shifts and by contraction."""


@pytest.mark.parametrize("folder", ["symbolic", "numeric", "runtime", "proofs_checks", ""])
def test_no_room_of_a_folder_imports_upwards(folder: str) -> None:
    assert rooms(folder).circles == rooms(folder).up == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert files().circles == []


@pytest.mark.parametrize("folder", _FLOORS)
def test_the_floors_are_few(folder: str) -> None:
    assert 1 + max(rooms(folder).floors.values()) <= _FLOORS[folder]


@pytest.mark.parametrize("key", CLAIMS)
def test_a_claim_passes_few_rooms_and_seldom_returns(key: str) -> None:
    way = followed(key)
    assert (way[0], way[-1]) == ("proofs_checks.decide", "proofs_checks.verdict")
    assert len(set(way)) <= 12, way
    assert len(way) - len(set(way)) <= 10, way


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: next(iter(target)))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_passes_few_rooms_and_modules(scheme: str, target: Mapping[str, float]) -> None:
    way = set(passed(scheme, target))
    assert {"numeric.bound", "numeric.run"} <= way
    assert len(way) <= _MODULES, sorted(way)
    assert len({room(name, "numeric") for name in way}) <= _ROOMS, sorted(way)


def test_what_imports_what_is_found() -> None:
    found = files().arrows
    assert "numeric.errors" in found["numeric.run"]
    assert "numeric.bound" in found["commands.runs"], "an import inside a function"
    assert (
        rooms("numeric").floors["bound"]
        > rooms("numeric").floors["run"]
        > rooms("numeric").floors["errors"]
        == 0
    )


def _graph(text: str) -> Graph:
    return Graph({name: frozenset(below) for name, _, below in (line.partition(":") for line in text.split())})


def test_floors_of_a_house_without_circles(tmp_path: Path) -> None:
    house = _graph("a:bcd b:c c:d d: e:")
    assert house.floors == {"a": 3, "b": 2, "c": 1, "d": 0, "e": 0}
    assert house.needed == {("a", "b"), ("b", "c"), ("c", "d")}
    assert house.circles == house.up == []
    draw(house, "a house", tmp_path / "house")
    assert "<svg" in (tmp_path / "house.svg").read_text()
    assert (tmp_path / "house.png").read_bytes().startswith(b"\x89PNG")


def test_circles_are_found_with_their_arrows() -> None:
    house = _graph("a:b b:c c:b d:a")
    assert house.circles == [["b", "c"]]
    assert house.floors == {"a": 1, "b": 0, "c": 0, "d": 2}
    assert sorted(house.up) == [("b", "c"), ("c", "b")]
