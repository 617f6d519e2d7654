"""Choosing claims of the ledger by name, with a hint where the name is not known."""

from collections.abc import Iterable, Sequence

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim


def papers(claims: Sequence[Claim]) -> tuple[str, ...]:
    """The papers of the claims, in their order: what stands before the first slash of a key."""
    return tuple(dict.fromkeys(claim.key.split("/")[0] for claim in claims))


def mending(claims: Iterable[Claim]) -> dict[str, tuple[Claim, ...]]:
    """For the key of a claim that fails, the claims that mend it."""
    mended: dict[str, tuple[Claim, ...]] = {}
    for claim in claims:
        if claim.repairs:
            mended[claim.repairs] = (*mended.get(claim.repairs, ()), claim)
    return mended


def _known(name: str, value: str, choices: Sequence[str]) -> None:
    if value in choices:
        return
    hint = suggestion(value, choices, "see `lastiterate list`.", cutoff=0.3)
    raise InputError(f"{name} needs a name from the ledger, got {name}={value}; {hint}")


def select(claims: Sequence[Claim], *, paper: str | None = None, keys: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The claims of a paper, or those with the given keys, or all, in the order of the ledger.

    Raises:
        InputError: there is no such paper or claim; the nearest name is suggested.
    """
    if paper is not None:
        _known("paper", paper, papers(claims))
    for key in keys:
        _known("claim", key, [claim.key for claim in claims])
    return tuple(
        claim
        for claim in claims
        if (paper is None or claim.key.split("/")[0] == paper) and (not keys or claim.key in keys)
    )


def of_ledger(*, paper: str | None = None, keys: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The claims of the ledger that are asked for; papers that are not named are not imported.

    Raises:
        InputError: as `select`.
    """
    named = {key.split("/")[0] for key in keys} or ({paper} if paper is not None else set())
    known = named if named <= ledger.ORDER.keys() else ()
    return select(ledger.claims(*(one for one in ledger.ORDER if one in known)), paper=paper, keys=keys)
