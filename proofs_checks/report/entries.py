"""Claims as the pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lastiterate.proofs_checks.selection import counted, mending, owner, paper_title
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.symbolic.claim import Claim


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
    """Numbers of a paper's claims by verdict, and of their mutants and near misses together."""

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
