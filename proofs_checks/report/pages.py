"""The ledger as self-contained pages, filled from templates.

A page shows a refuted claim in the letters of its paper, which ``printed.toml`` gives.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata, resources
from math import log10
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from sympy import Basic, Eq, Rational, Symbol

from lastiterate.numeric.store import write_whole, writing
from lastiterate.proofs_checks import refutations
from lastiterate.proofs_checks.describe import derivation, symbols
from lastiterate.proofs_checks.refutations import ends, run_parameters
from lastiterate.proofs_checks.report.formats import as_json, summary
from lastiterate.proofs_checks.report.formulas import as_html, inline, relation_sign, row, with_formulas
from lastiterate.proofs_checks.selection import counted, mending, owner, paper_title, papers
from lastiterate.proofs_checks.statement import Line, as_text, of_check, quantified
from lastiterate.proofs_checks.verdict import (
    STANDS,
    ClaimReport,
    Counterexample,
    Outcome,
    Verdict,
    tally,
    with_noun,
)
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.claim import Claim, RefutingRun
from lastiterate.symbolic.papers import PAPERS, Item, items
from lastiterate.symbolic.statement import OTHER, SAMPLES, letters


@dataclass(frozen=True)
class Entry:
    """A claim as the pages show it; if ``replayed``, with every line of its derivations."""

    claim: Claim
    report: ClaimReport
    instead: tuple[Claim, ...] = ()
    replayed: bool = False

    @property
    def paper(self) -> str:
        """The part of the key before its first slash."""
        return self.claim.key.split("/")[0]

    @property
    def uses(self) -> tuple[str, ...]:
        """Premises of its derivations, by the first word of each; some are keys of claims."""
        return tuple(one.split(" ")[0] for outcome in self.report.outcomes for one in outcome.premises)

    @property
    def engines(self) -> tuple[str, ...]:
        """Engines that decided a check or a mutant."""
        outcomes = [*self.report.outcomes, *self.report.tried]
        return tuple(dict.fromkeys(str(outcome.engine) for outcome in outcomes))


@dataclass(frozen=True)
class PaperCount:
    """Numbers of a paper's claims by verdict, and the number of their mutants and near misses."""

    paper: str
    title: str
    verdicts: Mapping[Verdict, int]
    rejected: int
    mutants: int
    claims: int


def entries(
    claims: Sequence[Claim], reports: Sequence[ClaimReport], *, replay: bool = False
) -> tuple[Entry, ...]:
    """Entries of claims; derivations are shown line by line for repairs or, with ``replay``, for all."""
    mended = mending(claims)
    return tuple(
        Entry(claim, report, mended.get(claim.key, ()), replay or bool(claim.repairs))
        for claim, report in zip(claims, reports, strict=True)
    )


def by_paper(shown: Sequence[Entry]) -> tuple[PaperCount, ...]:
    """Counts by paper, in the order of the ledger, ours separately."""
    rows = []
    for paper, counts in counted((entry.claim, entry.report.verdict) for entry in shown).items():
        own = [entry.report for entry in shown if owner(entry.claim) == paper]
        rejected, mutants = (
            sum(wrong.rejected for r in own for wrong in r.tried),
            sum(len(r.tried) for r in own),
        )
        verdicts = {verdict: counts[verdict] for verdict in Verdict}
        rows.append(PaperCount(paper, paper_title(paper), verdicts, rejected, mutants, len(own)))
    return tuple(rows)


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


HOME: Final = "index.html"
_ACTIVE: Final = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"})
"""Characters of Markdown's markup."""


def _asset(name: str) -> Markup:
    return Markup((resources.files("lastiterate.proofs_checks.report") / name).read_text(encoding="utf-8"))  # noqa: S704


CARD_STYLE: Final = _asset("refutation.css")


@lru_cache(maxsize=1)
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("lastiterate.proofs_checks.report", "."),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["words"] = lambda text: " ".join(text.split()).translate(_ACTIVE)
    made.globals.update(
        address=address,
        printed_of=PaperForm,
        log10=log10,
        quantified=lambda said: as_html(quantified(said)),
        worded=lambda line: next(as_html([line])),
        row=row,
        sentence=refutations.as_line,
        measured=refutations.measured_quantity,
        measured_text=lambda told: as_text([refutations.measured_quantity(told)]),
        parameters=refutations.run_parameters,
        shown=refutations.round_numbers,
        derivation=derivation,
        statement=lambda check: as_html(of_check(check)),
        inline=inline,
        sign=relation_sign,
        letter=lambda name: inline(Symbol({"lam": "lambda"}.get(name, name))),
        symbols=symbols,
        tally=tally,
        number=with_noun,
        refuted=find_refuted,
        style=_asset("style.css") + CARD_STYLE,
        script=_asset("script.js"),
        version=metadata.version("lastiterate"),
        verdicts=tuple(Verdict),
    )
    return made


def card(claim: Claim, instead: Sequence[Claim], home: str = "") -> Markup:
    """First screen of a refuted claim, with repairs; ``home`` is the address of the page of claims."""
    macros = _templates().get_template("refutation.html.j2").make_module(None)
    return Markup(macros.refutation(claim, instead, f"{home}#"))  # type: ignore[attr-defined]  # noqa: S704 - a template of ours


def ledger_page(
    shown: Sequence[Entry],
    drifts: Sequence[str] = (),
    mapped: Mapping[str, str] | None = None,
    template: str = "ledger.html.j2",
    graphs: Mapping[str, str] | None = None,
) -> str:
    """Page of all claims.

    ``mapped`` maps each paper to the file of its mapping page; ``drifts`` are differences from the lock file;
    ``graphs`` maps each paper to its graph, if each claim has a page of its own.
    """
    groups = {
        paper: [entry for entry in shown if entry.paper == paper] for paper in papers([e.claim for e in shown])
    }
    return (
        _templates()
        .get_template(template)
        .render(
            summary=summary([entry.report for entry in shown]),
            papers=by_paper(shown),
            engines=sorted({name for entry in shown for name in entry.engines}),
            sections=[(paper, paper_title(paper), group) for paper, group in groups.items()],
            grades=sorted({entry.report.grade.value for entry in shown if entry.report.grade}),
            drifts=drifts,
            mapped=mapped or {},
            paged=graphs is not None,
            graphs=graphs or {},
            own=not any(entry.paper in PAPERS for entry in shown),
        )
    )


def address(key: str) -> str:
    """Name of the page of a claim.

    >>> address("toy/lemma_1")
    'toy.lemma_1.html'
    """
    return f"{key.replace('/', '.')}.html"


def claim_page(entry: Entry, home: str = "", to: str | None = None) -> str:
    """Page of one claim.

    Args:
        entry: the claim.
        home: the file of the page of all claims, "" if there is none.
        to: address of the page with other claims, before their keys; "page" if each has one, None if there is none.
    """
    return _templates().get_template("page.html.j2").render(entry=entry, home=home, to=to)


def graph(paper: str, nodes: Iterable[tuple[Claim, Verdict, Iterable[str]]], to: str = "page") -> Markup:
    """Graph of a paper as an SVG; a node is a claim, its verdict, and what it uses. ``to``: see `claim_page`."""
    groups, uses = dict[str, list[tuple[Claim, Verdict]]](), list[tuple[str, str]]()
    for claim, verdict, used in nodes:
        item = re.sub(r"(?<=\d)_(?=\d)", ".", claim.key.split("/")[1]).replace("_", " ").title()
        groups.setdefault(item, []).append((claim, verdict))
        uses += [(claim.key, one) for one in used if one != claim.key]
    for group in groups.values():
        group.sort(key=lambda one: one[0].key.count("/") > 1)
    repairs = [(one.key, one.repairs) for group in groups.values() for one, _ in group if one.repairs]
    macros = _templates().get_template("graph.html.j2").make_module(None)
    return Markup(macros.graph(paper_title(paper), groups, repairs, dict.fromkeys(uses), to))  # type: ignore[attr-defined]  # noqa: S704 - a template of ours


def mapping_page(paper: str, listed: Sequence[Item], shown: Sequence[Entry], home: str) -> str:
    """Page that maps the lines of a paper to its claims; ``home`` is the file of the page of all claims."""
    return (
        _templates()
        .get_template("mapping.html.j2")
        .render(
            title=paper_title(paper),
            works=[work for name, work in PAPERS.items() if name == paper or name.startswith(f"{paper}_")],
            listed=listed,
            entries={entry.claim.key: entry for entry in shown},
            home=home,
        )
    )


def files(
    claims: Sequence[Claim], reports: Sequence[ClaimReport], drifts: Sequence[str], *, own: bool = False
) -> dict[str, str]:
    """Pages and data files by name; for a user's ``own`` claims all derivations are shown."""
    shown = entries(claims, reports, replay=own)
    known = [paper for paper in dict.fromkeys(entry.paper for entry in shown) if paper in PAPERS]
    listed = {paper: found for paper in known if (found := items(paper))}
    mapped = {paper: f"{paper}.html" for paper in listed}
    graphs = {
        paper: graph(paper, [(e.claim, e.report.verdict, e.uses) for e in shown if e.paper == paper])
        for paper in papers(claims)
    }
    badge = _templates().get_template("badge.svg.j2")
    return {
        HOME: ledger_page(shown, drifts, mapped, graphs=graphs),
        **{f"graph.{paper}.svg": drawn for paper, drawn in graphs.items()},
        "badge.svg": badge.render(held=sum(one.verdict in STANDS for one in reports), total=len(reports)),
        **{f"claims/{address(entry.claim.key)}": claim_page(entry, f"../{HOME}", "page") for entry in shown},
        **{mapped[paper]: mapping_page(paper, found, shown, HOME) for paper, found in listed.items()},
        "ledger.md": ledger_page(shown, template="ledger.md.j2"),
        "ledger.json": as_json(reports, drifts) + "\n",
    }


def write_folder(folder: Path, contents: Mapping[str, str]) -> tuple[Path, ...]:
    """Write each file whole; create the folder if it does not exist.

    Raises:
        InputError: the folder is a file, or cannot be written.
    """
    with writing("The report needs", f"out={folder}"):
        for name, text in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, text.encode())
    return tuple(folder / name for name in contents)


def find_refuted(claim: Claim, report: ClaimReport) -> Iterator[tuple[Check, Outcome, Counterexample]]:
    """Checks with a counterexample, their outcomes and the counterexamples; the misprint is last."""
    pairs = [*zip(claim.checks, report.outcomes, strict=True)]
    if claim.misprint is not None and report.misprint is not None:
        pairs.append((claim.misprint, report.misprint))
    for check, outcome in pairs:
        if outcome.counterexample is not None:
            yield check, outcome, outcome.counterexample
