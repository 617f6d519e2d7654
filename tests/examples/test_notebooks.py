"""The notebooks of examples/ say what is stored when they are executed anew; run as a script this stores them."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed; it is in the dev extra")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; it is in the dev extra")
pytest.importorskip("ipykernel", reason="ipykernel is not installed; it is in the dev extra")
pytest.importorskip("pandas", reason="pandas is not installed; it is in the dev extra")
pytest.importorskip("torch")

NOTEBOOKS = Path(__file__).parents[2] / "examples/notebooks"
_KEPT = ("text/html", "text/plain")


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new kernel, which imports what the tests import."""
    book = nbformat.read(path, as_version=4)
    before = dict(os.environ)
    os.environ |= {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "130", "OMP_NUM_THREADS": "1"}
    try:
        nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    for cell in book.cells:
        cell.metadata = {}
    return book


def outputs(book: Any) -> list[tuple[str, str]]:
    """(source, what it printed and showed) of every cell of code, decimal numbers to four digits."""
    found = []
    for cell in book.cells:
        if cell.cell_type == "code":
            shown = (one.get("text") or next(one["data"][kind] for kind in _KEPT if kind in one["data"])
                     for one in cell.outputs)  # fmt: skip
            text = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.4g}", "".join(shown))
            found.append((cell.source, text))
    return found


@pytest.mark.parametrize(
    "path",
    [
        # Those take longest.
        pytest.param(
            path,
            id=path.stem,
            marks=[pytest.mark.nightly] * (path.stem in {"checkpoint", "network", "practice"}),
        )
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
    ],
)
def test_executed_anew_it_says_what_is_stored(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    assert all(cell.execution_count for cell in stored.cells if cell.cell_type == "code")
    assert [output.output_type for cell in stored.cells for output in cell.get("outputs", ())].count(
        "error"
    ) == 0
    assert outputs(executed(path)) == outputs(stored)


def test_there_is_one_for_each_reader() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {"theory", "practice", "checkpoint", "network"}


if __name__ == "__main__":
    for name in sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(executed(name), name)
