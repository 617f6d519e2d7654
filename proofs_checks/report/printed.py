"""Refuted claims in the letters of their papers, and the points of their pictures, from ``printed.toml``."""

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

from markupsafe import Markup
from sympy import Basic, Eq, Rational, Symbol

from lastiterate.proofs_checks.describe import symbols
from lastiterate.proofs_checks.refutations import ends, run_parameters
from lastiterate.proofs_checks.report.formulas import inline, with_formulas
from lastiterate.proofs_checks.statement import Line
from lastiterate.symbolic.claim import Claim, RefutingRun
from lastiterate.symbolic.statement import OTHER, SAMPLES, letters

_DATA: Final = tomllib.loads(
    (resources.files("lastiterate.proofs_checks.report") / "printed.toml").read_text(encoding="utf-8")
)


class PaperForm:
    """A refuted claim in the letters of its paper, as its page shows it first."""

    def __init__(self, claim: Claim, told: RefutingRun) -> None:
        self._claim, self._told = claim, told
        kept: dict[str, Any] = _DATA["claims"].get(claim.key, {})
        self.says = with_formulas(kept["says"]) if "says" in kept else None
        self.run = str(kept.get("run", told.run))
        self._places = [Rational(place) for place in kept.get("at", ())]
        self.over = next((one for one in told.at if one.name == kept.get("over")), None)
        names = _DATA["letters"].get(claim.key.split("/")[0], {}) | kept.get("letters", {})
        self._words = _DATA["meanings"] | kept.get("meanings", {})
        self._new = {
            one: Symbol(names[one.name], **one._assumptions_orig) for one in letters(claim) if one.name in names
        }

    def letter(self, part: Any) -> Any:
        """An expression in the letters of the paper."""
        return part.xreplace(self._new) if isinstance(part, Basic) else part

    def renamed(self, line: Line) -> Line:
        """A line in the letters of the paper."""
        return line._replace(parts=tuple(map(self.letter, line.parts)))

    @property
    def parameters(self) -> Iterator[Markup]:
        """Equation for each parameter of the run."""
        for letter, value in run_parameters(self._told):
            yield inline(Eq(self.letter(letter), value, evaluate=False))

    @property
    def meanings(self) -> Iterator[tuple[Symbol, str]]:
        """Letters of what is shown, with their meanings."""
        shown = letters((self._claim.statement, self._told.says, self._told.at, self._told.fails))
        for letter, meaning, _ in symbols(self._claim):
            if letter in shown - {SAMPLES, OTHER}:
                yield self.letter(letter), self._words.get(letter.name, meaning)

    @property
    def points(self) -> list[tuple[float, float, float, bool]]:
        """Points of the picture: value of ``over``, claimed and true number, and whether the run has this value."""
        at = dict(self._told.at)
        runs = ((place, {**at, self.over: place}) for place in self._places)
        return [
            (float(place), *map(float, ends(self._told, run)), at[self.over] == place) for place, run in runs
        ]
