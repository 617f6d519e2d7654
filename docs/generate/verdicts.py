"""The page of verdicts: every claim of the ledger with what the lock file says, by paper, what fails first."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.theorems import THEOREMS
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.report.pages import CARD_STYLE, Entry, address, card, claim_page, graph
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.selection import counted, mending, paper_title
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim, Role

CLAIMS = ledger.claims()

__all__ = ["claim_pages", "counts_table", "graphs", "printed_table", "used_table", "verdict_page"]

_LEAD = """# Every verdict

This page is generated from the ledger and its lock file, which `lastiterate check` compares with the results of the
engines. `lastiterate show KEY` prints the evidence for one claim; `lastiterate report --out report` puts it on a page.

| Verdict | Meaning |
|---|---|
| PROVED | the statement of the claim follows, with all its quantifiers |
| SUPPORTED | every check holds on the scope that is printed with it: a box, a sample or settings of an attack |
| CITED | taken from another work, which is named, or derived from it; no solver finds a point at which it fails |
| UNDECIDED | neither shown nor refuted, with the reason; a statement that the checks do not imply is never supported |
| TYPO | the formula as printed fails; its evident reading holds |
| GAP | a step of a proof does not follow as written; the theorem may still hold |
| REFUTED | there is a counterexample |

Each claim states the strength of its evidence: *proved* by computer algebra or z3, *certified* by ball arithmetic on a
box, *not refuted* by attacks with runs whose law is known exactly, *cited*. A verdict is never stronger than the claims
it rests on: the limits of a claim that a derivation uses (a citation, a scope) also limit the derived claim, and are
printed with its verdict.
"""
_PAGE = "verdicts.md"
"""Where this page lies, seen from the others at its height."""

_SOUND = {
    Verdict.PROVED: "that are proved",
    Verdict.SUPPORTED: "that are supported",
    Verdict.CITED: "that are cited",
}
_FAULTY = (Verdict.REFUTED, Verdict.GAP, Verdict.TYPO, Verdict.UNDECIDED)


def verdict_page() -> str:
    """The page as Markdown, with tables in HTML."""
    parts = [_LEAD, counts_table(), f"<style>{CARD_STYLE}</style>\n".replace("\n\n", "\n")]
    for paper, group in groupby(CLAIMS, key=_paper):
        parts.append(f"## {paper_title(paper)}\n")
        drawn = f"graphs/{paper}.svg"
        parts.append(f"[![Claims of {paper_title(paper)} by item and verdict]({drawn})]({drawn})\n")
        parts += _sections(list(group))
    return "\n".join(parts)


def _paper(claim: Claim) -> str:
    """The paper of a claim; what is ours beside a paper stands with that paper, for it is what holds instead."""
    return claim.key.split("/")[0]


def counts_table() -> str:
    """Counts of the verdicts for each paper, and separately for the claims that are ours."""
    locked = read_lock()
    found = counted((claim, locked[claim.key].verdict) for claim in CLAIMS)
    shown = [verdict for verdict in Verdict if any(counts[verdict] for counts in found.values())]
    rows = [f"| | {' | '.join(shown)} |", f"|---|{'---:|' * len(shown)}"]
    for paper, counts in found.items():
        rows.append(f"| {paper_title(paper)} | {' | '.join(str(counts[verdict]) for verdict in shown)} |")
    return "\n".join(rows) + "\n"


def _sections(claims: list[Claim]) -> list[str]:
    locked = read_lock()
    repairs = mending(CLAIMS)
    parts: list[str] = []
    for verdict in _FAULTY:
        faulty = [claim for claim in claims if locked[claim.key].verdict is verdict]
        if faulty and verdict is Verdict.REFUTED:
            parts.append(f"### {verdict} {{ #{_paper(claims[0])}-{verdict.lower()} }}\n")
            parts += [_refuted(claim, repairs.get(claim.key, ())) for claim in faulty]
        elif faulty:
            rows = "".join(_faulty(claim, repairs.get(claim.key, ())) for claim in faulty)
            head = "<tr><th>Claim</th><th>Why</th><th>What holds instead</th></tr>"
            parts.append(f"### {verdict} {{ #{_paper(claims[0])}-{verdict.lower()} }}\n")
            parts.append(_table(head, rows))
    for verdict, words in _SOUND.items():
        sound = [claim for claim in claims if locked[claim.key].verdict is verdict]
        if sound:
            rows = "".join(_sound(claim, locked[claim.key].grade) for claim in sound)
            head = "<tr><th>Claim</th><th>Evidence</th></tr>"
            parts.append(f"<details><summary>{len(sound)} {words}</summary>{_table(head, rows)}</details>\n")
    return parts


def _mends(claims: Sequence[Claim], page: str = "") -> str:
    return _links([claim.key for claim in claims], page)


def _links(keys: Sequence[str], page: str = "") -> str:
    return "<br>".join(f'<a href="{page}#{key}"><code>{key}</code></a>' for key in keys)


def _table(head: str, rows: str) -> str:
    return f'<div class="verdicts"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>\n'


def _name(claim: Claim) -> str:
    ours = " (ours)" if claim.role is Role.OURS and _paper(claim) != "ours" else ""
    return f'<td>{_words(claim.title)}{ours}<br><code id="{claim.key}">{claim.key}</code></td>'


def _faulty(claim: Claim, instead: Sequence[Claim]) -> str:
    return f"<tr>{_name(claim)}<td>{_words(claim.remark)}</td><td>{_mends(instead)}</td></tr>\n"


def _refuted(claim: Claim, instead: Sequence[Claim]) -> str:
    """The refutation that opens the report of this claim, as a block that Markdown leaves unchanged."""
    where = (
        f'<a href="{claim.source.url}">{_words(str(claim.source))}</a>' if claim.source.url else claim.source
    )
    shown = "".join(line.strip() for line in card(claim, instead).splitlines())
    why = f"<details><summary>Why</summary><p>{_words(claim.remark)}</p></details>"
    page = f'<a href="claims/{address(claim.key)}">The page of this claim</a>, with the evidence.'
    head = f"<h4>{_words(claim.title)}</h4><p>{where}. {page}</p>"
    return f'<div class="refuted" id="{claim.key}">{head}{shown}{why}</div>\n'


def graphs() -> dict[str, str]:
    """Path -> graph of each paper, without what the derivations use, which the lock file does not hold."""
    locked = read_lock()
    return {
        f"graphs/{paper}.svg": graph(
            paper, [(one, locked[one.key].verdict, ()) for one in group], "../verdicts/#"
        )
        for paper, group in groupby(CLAIMS, key=_paper)
    }


def claim_pages() -> dict[str, str]:
    """Path -> page of each refuted claim, as `lastiterate report` writes it."""
    locked, repairs = read_lock(), mending(CLAIMS)
    chosen = [claim for claim in CLAIMS if locked[claim.key].verdict is Verdict.REFUTED]
    to = "../verdicts/#"
    return {
        f"claims/{address(claim.key)}": claim_page(
            Entry(claim, report, repairs.get(claim.key, ())), to[:-1], to
        )
        for claim, report in zip(chosen, run(chosen, jobs=1, cache=ReportCache()), strict=True)
    }


def _sound(claim: Claim, grade: str | None) -> str:
    return f"<tr>{_name(claim)}<td>{escape(grade or '')}</td></tr>\n"


def _words(text: str) -> str:
    """Text of a claim as HTML; Markdown must find no mark-up in it."""
    return escape(text).replace("$", "&#36;")


def printed_table() -> str:
    """The printed theorems about a run, with their verdicts and the correct statements."""
    locked, repairs = read_lock(), mending(CLAIMS)
    rows = []
    for theorem in THEOREMS.values():
        kinds = ", ".join(kind.__name__ for kind in theorem.assumptions)
        speaks = (
            f"{', '.join(theorem.schemes)}; {kinds}".replace("_", " ")
            if theorem.schemes
            else "another algorithm"
        )
        instead = _mends(repairs.get(theorem.claim, ()), _PAGE)
        rows.append(
            f"<tr><td>{_words(theorem.title)}<br><code>{theorem.name}</code></td>"
            f"<td>{speaks}</td>"
            f'<td><a href="{_PAGE}#{theorem.claim}">{locked[theorem.claim].verdict}</a></td><td>{instead}</td></tr>\n'
        )
    head = "<tr><th>Theorem</th><th>Applies to</th><th>Verdict</th><th>What holds instead</th></tr>"
    return _table(head, "".join(rows))


def used_table() -> str:
    """The claim behind `bound` for every scheme and assumption, on a run to which all of them apply."""
    assumptions = (Clipped(), Holder(1.0, 0.5), Smooth(1.0), Convex(1.0), StronglyConvex(1.0, 0.5))
    rows = []
    for sampling in ("full", "cyclic", "shuffled", "without_replacement", "poisson"):
        batch = None if sampling == "full" else 10
        run = NoisySGD(6, 0.1, 1.0, 1.0, 20, batch_size=batch, sampling=sampling, diameter=1.0)
        claims: dict[str, list[str]] = {}
        for assumption in assumptions:
            claims.setdefault(bound(run, assumption, order=2).claim, []).append(type(assumption).__name__)
        for claim, names in claims.items():
            whom = "any assumption" if len(names) == len(assumptions) else ", ".join(names)
            rows.append(
                f"<tr><td>{sampling.replace('_', ' ')}</td><td>{whom}</td><td>{_links([claim], _PAGE)}</td></tr>\n"
            )
    head = "<tr><th>Batches</th><th>Assumption</th><th>Claim</th></tr>"
    return _table(head, "".join(rows))
