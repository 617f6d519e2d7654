"""Claims chosen by name and counted by paper and verdict."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim, Role
from lastiterate.symbolic.papers import PAPERS


def papers(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Papers of the claims, in order: parts of keys before the first slash."""
    return tuple(dict.fromkeys(claim.key.split("/")[0] for claim in claims))


def mending(claims: Iterable[Claim]) -> dict[str, tuple[Claim, ...]]:
    """Key of a claim that fails -> the claims that repair it."""
    mended: dict[str, tuple[Claim, ...]] = {}
    for claim in claims:
        if claim.repairs:
            mended[claim.repairs] = (*mended.get(claim.repairs, ()), claim)
    return mended


def _known(name: str, value: str, choices: Sequence[str], path: Path | None) -> None:
    if value in choices:
        return
    where, see = ("the ledger", "lastiterate list") if path is None else (path, f"lastiterate list {path}")
    near = 0.3 if value.split("/")[0] in {choice.split("/")[0] for choice in choices} else 0.6
    own = "" if path is not None else "for a claim of your own, give its folder after the key; for these, "
    hint = suggestion(value, choices, f"{own}see `{see}`.", cutoff=near)
    raise InputError(f"{name} needs a name from {where}, got {name}={value}; {hint}")


def select(
    claims: Sequence[Claim], *, paper: str | None = None, keys: Sequence[str] = (), path: Path | None = None
) -> tuple[Claim, ...]:
    """Claims of a paper, or with given keys, or all claims, in order; ``path``: their folder, None for the ledger.

    Raises:
        InputError: the paper or claim is unknown; the nearest name is suggested.
    """
    if paper is not None:
        _known("paper", paper, papers(claims), path)
    for key in keys:
        _known("claim", key, [claim.key for claim in claims], path)
    return tuple(
        claim
        for claim in claims
        if (paper is None or claim.key.split("/")[0] == paper) and (not keys or claim.key in keys)
    )


def of_ledger(*, paper: str | None = None, keys: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The chosen claims of the ledger; if papers are named, no other papers are imported."""
    near = ledger.naming(*keys) if paper is None else ()
    if keys and {claim.key for claim in near} >= set(keys):
        return select(near, keys=keys)
    named = {key.split("/")[0] for key in keys} or ({paper} if paper is not None else set())
    known = named if named <= ledger.ORDER.keys() else ()
    return select(ledger.claims(*(one for one in ledger.ORDER if one in known)), paper=paper, keys=keys)


OURS = "ours"


def owner(claim: Claim) -> str:
    """Paper whose statement or proof step a claim is; OURS for our results."""
    return OURS if claim.role is Role.OURS else claim.key.split("/")[0]


def paper_title(paper: str) -> str:
    """Title of a paper for readers; its name in keys if there is no title.

    >>> paper_title("chien_li"), paper_title("ours"), paper_title("toy")
    ('Chien & Li 2025', 'Ours', 'toy')
    """
    return "Ours" if paper == OURS else PAPERS[paper].short if paper in PAPERS else paper


def counted(found: Iterable[tuple[Claim, Verdict]]) -> dict[str, Counter[Verdict]]:
    """Paper -> number of claims by verdict, in order of appearance, ours last."""
    counts: dict[str, Counter[Verdict]] = {}
    for claim, verdict in found:
        counts.setdefault(owner(claim), Counter())[verdict] += 1
    ours = counts.pop(OURS, None)
    return counts | ({OURS: ours} if ours else {})
