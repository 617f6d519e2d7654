"""Faults planted in the text of numeric/, the engines and the kernel: each is noticed by what its table names."""

from pathlib import Path

import planting
import pytest
from planting import Fault

HERE = Path(__file__).parent
TABLES = {name: planting.read(HERE / f"faults_{name}.toml") for name in ("numeric", "engines", "kernel")}
FAULTS = [(name, place) for name, faults in TABLES.items() for place in range(len(faults))]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, in which one fault after the other is planted."""
    return planting.copy(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize(("name", "place"), FAULTS)
@pytest.mark.sweep(3)
def test_a_planted_fault_is_noticed(tree: Path, name: str, place: int) -> None:
    planting.meet(tree, TABLES[name][place])


@pytest.mark.nightly
def test_without_a_fault_nothing_is_noticed(tree: Path) -> None:
    """Else a claim or a test would notice every fault, for example because the copy lacks a file."""
    witnesses = sorted({fault.by for faults in TABLES.values() for fault in faults})
    for tests in (False, True):
        assert planting.notice(tree, *(one for one in witnesses if one.startswith("tests/") == tests)) == ""


def test_every_fault_is_an_edit_of_the_text_as_it_is() -> None:
    for faults in TABLES.values():
        assert [fault.path for fault in faults if not fault.edited()] == []


def test_a_fault_whose_text_is_gone_is_told() -> None:
    with pytest.raises(
        AssertionError, match=r"needs the text 'no such text' once, got 0 times; plant the fault anew"
    ):
        Fault("numeric/rounding.py", "no such text", "", "chien_li/lemma_3_5").edited()


def test_what_nobody_notices_is_told_and_the_copy_is_as_it_was(tree: Path) -> None:
    harmless = Fault(
        "numeric/rounding.py",
        '"""Conversions between balls',
        '"""Changes between balls',
        "tests/numeric/test_recomputations.py",
    )
    with pytest.raises(pytest.fail.Exception, match=r"test_recomputations\.py does not notice"):
        planting.meet(tree, harmless)
    assert (tree / harmless.path).read_text() == (planting.ROOT / harmless.path).read_text()
