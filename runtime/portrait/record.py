"""Portrait of a network: plain data, and a page, a model card and a table made of them."""

import json
import webbrowser
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from importlib import metadata, resources
from math import inf, log10
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lastiterate.numeric.display import Displayed, TextTable, plain
from lastiterate.numeric.errors import InputError, teaches
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.numeric.store import write_whole, writing
from lastiterate.runtime.constants.record import words_found, words_upper
from lastiterate.runtime.trials import user_code

_FORMS: Final = {".html": "to_html", ".md": "to_markdown", ".json": "to_json"}


@teaches()
class Portrait(Displayed):
    """All that `look` measured of one network; ``data`` are what `to_json` writes (docs/measure.md)."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def as_dict(self) -> dict[str, Any]:
        return self.data

    def records(self) -> list[dict[str, Any]]:
        return list(self.data["curve"])

    def table(self) -> TextTable:
        cells = [(one["radius"], one["found"], one["certified"]) for one in self.data["curve"]]
        rows = tuple((f"{at:.3g}", words_found(found), words_upper(proved)) for at, found, proved in cells)
        title = f"{self.data['workload']}: change of a sample's gradient per distance on balls of radius R"
        return TextTable(title, ("R", "found", "proved"), rows, tuple(self.notes()))

    def notes(self) -> list[str]:
        """Sentences: radii at which proofs are useful and what ends this, privacy losses, and what is left out."""
        return _templates().get_template("notes.txt.j2").render(p=self.data).splitlines()

    def to_json(self) -> str:
        """Data as JSON text."""
        return json.dumps(plain(self.data), indent=2, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> "Portrait":
        """Portrait from the text that `to_json` wrote."""
        with user_code("from_json needs the text that to_json wrote", "from another text; pass that one."):
            return Portrait(json.loads(text.replace('"inf"', "Infinity").replace('"-inf"', "-Infinity")))

    def to_markdown(self) -> str:
        """Section of a model card, in Markdown."""
        return _templates().get_template("card.md.j2").render(p=self.data, notes=self.notes())

    def to_html(self) -> str:
        """Self-contained page with pictures."""
        return _templates().get_template("portrait.html.j2").render(p=self.data, notes=self.notes())

    def save(self, *paths: Path | str) -> None:
        """Write each file whole: a page (.html), a model card (.md) or the data (.json)."""
        check_forms(paths)
        for path in map(Path, paths):
            with writing("A portrait needs", f"path={path}"):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, getattr(self, _FORMS[path.suffix])().encode())

    def show(self) -> None:
        """Open the page in a browser."""
        path = Path(mkdtemp()) / "portrait.html"
        self.save(path)
        webbrowser.open(path.as_uri())

    def _repr_html_(self) -> str:
        return f'<iframe style="width:100%;height:40rem" srcdoc="{escape(self.to_html())}"></iframe>'


def check_forms(paths: Sequence[Path | str]) -> None:
    """Refuse paths that `Portrait.save` cannot write because of their endings."""
    for path in paths:
        if Path(path).suffix not in _FORMS:
            raise InputError(
                f"A portrait needs a file ending in {', '.join(_FORMS)}, got path={path}; rename it."
            )


@lru_cache(maxsize=1)
def _templates() -> Environment:
    folders = ("lastiterate.runtime.portrait", "lastiterate.proofs_checks.report")
    made = Environment(
        loader=ChoiceLoader([PackageLoader(folder, ".") for folder in folders]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    styles = [resources.files(folders[1]) / "style.css", resources.files(folders[0]) / "portrait.css"]
    made.filters |= {
        "round_up": printed_up,
        "round_down": printed_down,
        "found": words_found,
        "proved": words_upper,
    }
    made.globals |= {"log10": log10, "inf": inf, "version": metadata.version("lastiterate")}
    made.globals["style"] = Markup("".join(one.read_text(encoding="utf-8") for one in styles))  # noqa: S704
    return made
