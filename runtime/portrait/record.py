"""Portrait of a network as a page, a model card, JSON and a table."""

import json
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from html import escape
from importlib import metadata, resources
from math import inf, isfinite, log10
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lastiterate.numeric.bound import PrivacyLoss
from lastiterate.numeric.display import Displayed, TextTable, plain
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Tabulated
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole, writing
from lastiterate.runtime.constants.record import WorstCaseConstants, words_found, words_upper

FORMS: Final = {".html": "to_html", ".md": "to_markdown", ".json": "to_json"}
"""Endings of the files that `Portrait.save` writes, and the methods that give their text."""

_USEFUL: Final = 10.0
_USELESS: Final = 1000.0
"""Ratios of certified to found constants up to which a certified constant is useful, and above which it is not."""


@dataclass(frozen=True)
class AtRadius:
    """Smoothness on a ball around the initial parameters.

    Attributes:
        radius: radius of the ball, a length.
        found: largest constant found, gradient / length. A lower estimate; 0 if no pair could be trusted.
        certified: proved constant, possibly infinite; None if unknown. An upper bound.
        why: reason why no finite constant is proved, or empty.
    """

    radius: float
    found: float
    certified: float | None
    why: str = ""

    @property
    def pair_found(self) -> tuple[float, float]:
        """Point of the curve of found constants."""
        return self.radius, self.found

    @property
    def pair_proved(self) -> tuple[float, float]:
        """Point of the curve of proved constants, at inf without one."""
        return self.radius, inf if self.certified is None else self.certified


@dataclass(frozen=True)
class LayerPortrait:
    """A layer of the network.

    Attributes:
        size: number of trained parameters.
        found: largest change of this layer's block of a gradient per distance, over the worst pairs. A lower
            estimate.
        worst: sample with this change.
        share: share of this layer in the squared length of the top eigenvector; None if not computed.
        alone: smoothness on the domain if only this layer is trained; None if not computed.
    """

    name: str
    size: int
    found: float
    worst: int
    share: float | None = None
    alone: AtRadius | None = None


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a Hessian, in gradient / length.

    Attributes:
        of: the loss and the point.
        least: smallest eigenvalue.
        greatest: largest eigenvalue.
        trace: trace, or its estimate from random vectors.
        error: standard error of the trace; 0 if it is computed from all diagonal entries.
    """

    of: str
    least: float
    greatest: float
    trace: float
    error: float


@dataclass(frozen=True)
class Portrait(Displayed):
    """All that was measured of one network. Constants that were found are lower estimates.

    Attributes:
        given: whether the run is the user's; otherwise it is that of appendix A.13 of Chien & Li.
        facts: what was measured, in words.
        constants: constants of every order on the domain of the run.
        curve: smoothness on balls of increasing radius; ``found`` and ``certified`` never decrease.
        modulus: largest change of a gradient found at each distance. Lower estimates.
        numbers: privacy losses of the run at ``delta``, each with what it rests on.
        repeat: how to compute the portrait again.
        seconds: time of each part.
        skipped: reason for each part that is missing.
    """

    workload: str
    run: NoisySGD
    given: bool
    delta: float
    facts: dict[str, str]
    constants: WorstCaseConstants
    numbers: tuple[tuple[str, PrivacyLoss], ...]
    curve: tuple[AtRadius, ...] = ()
    modulus: Tabulated | None = None
    layers: tuple[LayerPortrait, ...] = ()
    spectra: tuple[Spectrum, ...] = ()
    repeat: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def table(self) -> TextTable:
        rows = tuple(
            (f"{one.radius:.3g}", words_found(one.found), words_upper(one.certified)) for one in self.curve
        )
        notes = (*self.reach(), *(f"{name}: {number}" for name, number in self.numbers))
        return TextTable(
            f"{self.workload}: smoothness L on balls of radius R", ("R", "found", "certified"), rows, notes
        )

    def records(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.curve]

    def reach(self) -> tuple[str, ...]:
        """Sentences about the radii up to which the certified constants are useful, and what ends this."""
        curve = [(one, inf if one.certified is None else one.certified) for one in self.curve if one.found]
        useful = [one.radius for one, proved in curve if proved <= _USEFUL * one.found]
        lost = next((one for one, proved in curve if not proved < _USELESS * one.found), None)
        said = [
            f"Up to R = {one:.3g}, the proved constant is at most 10 times the one found."
            for one in useful[-1:]
        ]
        if lost is not None:
            why = lost.why or f"the proof multiplies norms of layers{self._widest()}"
            said.append(f"At R = {lost.radius:.3g}, no useful constant is proved: {why.rstrip('.')}.")
        return tuple(said)

    def _widest(self) -> str:
        alone = [(one.alone.certified, one.name) for one in self.layers if one.alone and one.alone.certified]
        return f"; of the layers trained alone, {max(alone)[1]} has the largest constant" if alone else ""

    def as_dict(self) -> dict[str, Any]:
        """All results as plain data for JSON."""
        names = ["workload", "delta", "facts", "repeat", "seconds", "skipped"]
        numbers = [{"under": name} | number.as_dict() for name, number in self.numbers]
        lists = {name: [asdict(one) for one in getattr(self, name)] for name in ("curve", "layers", "spectra")}
        said = {name: getattr(self, name) for name in names} | lists
        said |= {"run": asdict(self.run), "constants": self.constants.as_dict(), "numbers": numbers}
        return said | {"modulus": None if self.modulus is None else asdict(self.modulus)}

    def to_json(self) -> str:
        """All results as JSON text."""
        return json.dumps(plain(self.as_dict()), indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """Section of a model card, in Markdown."""
        return _templates().get_template("card.md.j2").render(p=self)

    def to_html(self) -> str:
        """Self-contained page with pictures."""
        return _templates().get_template("portrait.html.j2").render(p=self)

    def save(self, *paths: Path | str) -> None:
        """Write each file whole: a page (.html), a model card (.md) or all results (.json)."""
        for path in check_forms(paths):
            with writing("A portrait needs", f"path={path}"):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, getattr(self, FORMS[path.suffix])().encode())

    def show(self) -> None:
        """Open the page in a browser."""
        path = Path(mkdtemp()) / "portrait.html"
        self.save(path)
        webbrowser.open(path.as_uri())

    def _repr_html_(self) -> str:
        frame = "width:100%;height:40rem;border:1px solid"
        return f'<iframe style="{frame}" srcdoc="{escape(self.to_html())}"></iframe>'


def check_forms(paths: Sequence[Path | str]) -> list[Path]:
    """Paths that `Portrait.save` can write; an `InputError` for one with another ending."""
    for path in map(Path, paths):
        if path.suffix not in FORMS:
            raise InputError(
                f"A portrait is written as {', '.join(FORMS)}, got path={path}; name a file with such an ending."
            )
    return [Path(path) for path in paths]


@lru_cache(maxsize=1)
def _templates() -> Environment:
    shared = "lastiterate.proofs_checks.report"
    made = Environment(
        loader=ChoiceLoader([PackageLoader("lastiterate.runtime.portrait", "."), PackageLoader(shared, ".")]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    styles = (resources.files(shared) / "style.css", resources.files(__package__ or "") / "portrait.css")
    made.filters |= {"up": printed_up, "down": printed_down, "found": words_found, "upper": words_upper}
    made.filters |= {"upper_case": str.upper, "zip": lambda one, other: list(zip(one, other, strict=True))}
    made.globals |= {
        "log10": log10,
        "isfinite": isfinite,
        "style": Markup("".join(one.read_text(encoding="utf-8") for one in styles)),  # noqa: S704
        "version": metadata.version("lastiterate"),
    }
    return made
