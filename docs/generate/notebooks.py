"""Pages of the executed notebooks in examples/: their text, their code, and what is stored as its output."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "examples/notebooks"


def notebook_pages() -> dict[str, str]:
    """Path of each page -> its Markdown."""
    return {f"notebooks/{path.stem}.md": _page(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def _page(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    where = f"*This page is the notebook `examples/notebooks/{path.name}`, as it was executed.*"
    return "\n\n".join([*(part for cell in cells for part in _parts(cell)), where, ""])


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """Text unchanged, code in a fence, and each output as HTML if it has that form."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source.replace("](../../docs/", "](../")
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        html, text = "".join(data.get("text/html", ())), "".join(data.get("text/plain", ()))
        yield html or f"```text\n{text.rstrip()}\n```"
