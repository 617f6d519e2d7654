"""The pages: templates filled in, each page one file that needs nothing else."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import metadata, resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from sympy import Symbol

from lastiterate.proofs_checks.describe import symbols
from lastiterate.proofs_checks.dominance import Pair
from lastiterate.proofs_checks.pages.charts import stacked_bars
from lastiterate.proofs_checks.pages.entries import Entry, by_engine, by_paper, paper_title
from lastiterate.proofs_checks.pages.mathml import as_html, inline, relation_sign
from lastiterate.proofs_checks.pages.plots import plot
from lastiterate.proofs_checks.report import summary
from lastiterate.proofs_checks.statement import of_check, quantified
from lastiterate.proofs_checks.verdict import Counterexample, Verdict
from lastiterate.symbolic.claim import Check, Claim, Role
from lastiterate.symbolic.items import Item
from lastiterate.symbolic.papers import PAPERS

__all__ = ["ledger_page", "mapping_page"]


@lru_cache(maxsize=1)
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("lastiterate.proofs_checks.pages", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        quantified=lambda said: as_html(quantified(said)),
        statement=lambda check: as_html(of_check(check)),
        inline=inline,
        sign=relation_sign,
        letter=_letter,
        symbols=symbols,
        illustration=_illustration,
        style=_asset("style.css"),
        script=_asset("script.js"),
        version=metadata.version("lastiterate"),
        verdicts=tuple(Verdict),
    )
    return made


def _asset(name: str) -> Markup:
    """A style sheet or script of ours, put into the page as it is."""
    return Markup((resources.files("lastiterate.proofs_checks.pages") / name).read_text(encoding="utf-8"))  # noqa: S704


def _letter(name: str) -> Markup:
    """A parameter of a counterexample, as its symbol is printed."""
    return inline(Symbol({"lam": "lambda"}.get(name, name)))


def _illustration(claim: Claim, check: Check, found: Counterexample) -> Markup:
    """The plot of a statement's counterexample; steps of a proof go without."""
    return plot(claim, check, found) if claim.role is not Role.STEP else Markup("")


def ledger_page(
    shown: Sequence[Entry],
    drifts: Sequence[str] = (),
    mapped: Mapping[str, str] | None = None,
    compared: Sequence[Pair] = (),
) -> str:
    """The page of all claims.

    Args:
        shown: the claims with their reports, in the order of the ledger.
        drifts: sentences about verdicts that are not those of the lock file.
        mapped: for each paper with a mapping page, the file beside this one.
        compared: which theorem claims less than which; the section is left out where there are none.

    Returns:
        HTML, complete: style, script and pictures are inside.
    """
    papers = by_paper(shown)
    bars = [(count.title, {str(v): n for v, n in count.verdicts.items()}) for count in papers]
    return (
        _templates()
        .get_template("ledger.html.j2")
        .render(
            summary=summary([entry.report for entry in shown]),
            papers=papers,
            engines=by_engine(shown),
            chart=stacked_bars(bars, "Claims by paper and verdict"),
            sections=[(count, [entry for entry in shown if entry.paper == count.paper]) for count in papers],
            grades=sorted({entry.report.grade.value for entry in shown if entry.report.grade}),
            drifts=drifts,
            mapped=mapped or {},
            compared=compared,
        )
    )


def mapping_page(paper: str, listed: Sequence[Item], shown: Sequence[Entry], home: str) -> str:
    """The page that leads from the lines of a paper to its claims.

    Args:
        paper: the paper's name in keys.
        listed: its numbered items.
        shown: claims with their reports; those of other papers are looked up too.
        home: file name of the page of all claims.
    """
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
