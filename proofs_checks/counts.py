"""Claims counted by paper and verdict, ours apart: one count for `list`, the README, the report and the site."""

from collections import Counter
from collections.abc import Iterable

from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic.claim import Claim, Role
from lastiterate.symbolic.papers import PAPERS

OURS = "ours"


def owner(claim: Claim) -> str:
    """The paper of which a claim is a statement or a step; OURS for results and tests of ours, also beside a paper."""
    return OURS if claim.role in (Role.OURS, Role.CODE) else claim.key.split("/")[0]


def paper_title(paper: str) -> str:
    """Name of a paper for readers; its name in keys where nothing else is known.

    >>> paper_title("chien_li"), paper_title("ours"), paper_title("toy")
    ('Chien & Li 2025', 'Ours', 'toy')
    """
    return "Ours" if paper == OURS else PAPERS[paper].short if paper in PAPERS else paper


def counted(found: Iterable[tuple[Claim, Verdict]]) -> dict[str, Counter[Verdict]]:
    """The number of claims of every paper with each verdict, in the order in which they come, ours last."""
    counts: dict[str, Counter[Verdict]] = {}
    for claim, verdict in found:
        counts.setdefault(owner(claim), Counter())[verdict] += 1
    ours = counts.pop(OURS, None)
    return counts | ({OURS: ours} if ours else {})
