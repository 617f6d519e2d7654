"""Assumptions and premises that no check needs: found once, kept beside the lock file, printed with their claims."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from sympy.logic.boolalg import Boolean, true

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import write_whole
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Check, Derived, Engine
from lastiterate.symbolic.claim import Claim, Role

FILE: Final = "unneeded.lock.json"
SECONDS: Final = 5
"""Time for a check without one of its conditions; what takes longer counts as needed."""


@dataclass(frozen=True)
class UnneededConditions:
    """The conditions that a claim is shown without.

    Attributes:
        key: the claim's key.
        parts: name of a `part` of the claim -> conditions without all of which it is shown as well.
    """

    key: str
    parts: Mapping[str, tuple[str, ...]]


def find_unneeded(claim: Claim) -> UnneededConditions:
    """The conditions that a claim is shown without: all those of the assumptions, or of one check, at once.

    An attack beside a derivation does not count. Where other evidence is not a proof, no condition is found.
    """
    found = {} if claim.role is Role.CODE else dict(_found(claim))
    return UnneededConditions(claim.key, {name: conditions for name, conditions in found.items() if conditions})


def _found(claim: Claim) -> Iterator[tuple[str, tuple[str, ...]]]:
    derived = any(isinstance(check, Derived) for check in claim.checks)
    checks = {
        number: replace(check, mutants=())
        for number, check in enumerate(claim.checks, 1)
        if not (derived and check.engine == Engine.ATTACK)
    }

    def is_shown(check: Check, assumptions: tuple[Boolean, ...], **premises: Any) -> bool:
        outcome = decide_check(replace(check, **premises), assumptions, SECONDS)
        return outcome.status is Status.HELD and outcome.grade in (Grade.PROVED, Grade.CERTIFIED)

    if not all(is_shown(check, claim.assumptions) for check in checks.values()):
        return
    yield part(0), _drop(claim.assumptions, lambda rest: all(is_shown(check, rest) for check in checks.values()))
    for number, check in checks.items():
        shown = lambda rest, check=check: is_shown(check, claim.assumptions, given=rest)  # noqa: E731
        yield part(number), _drop(getattr(check, "given", ()), shown)


def _drop(conditions: tuple[Boolean, ...], shown: Callable[[tuple[Boolean, ...]], bool]) -> tuple[str, ...]:
    """Conditions that can go one after the other, the first of them first."""
    rest, dropped = conditions, []
    for one in conditions:
        fewer = tuple(other for other in rest if other is not one)
        if one != true and len(fewer) < len(rest) and shown(fewer):
            rest = fewer
            dropped.append(str(one))
    return tuple(dropped)


def part(number: int) -> str:
    """The name in the file of the assumptions, for 0, or of a check by its number from 1 on."""
    return f"check {number}" if number else "assumptions"


def unneeded(claim: Claim, number: int = 0) -> tuple[Boolean, ...]:
    """The assumptions of a claim that no check of it needs, or the premises of its n-th check that this does not."""
    listed = read_unneeded().get(claim.key, {}).get(part(number), ())
    conditions: Iterable[Boolean] = getattr(claim.checks[number - 1], "given", ()) if number else claim.assumptions
    return tuple(one for one in conditions if str(one) in listed)


def unneeded_path() -> Path:
    """The packaged file."""
    return Path(str(resources.files("lastiterate.proofs_checks") / FILE))


def read_unneeded() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The `parts` of every claim in the file, by key.

    Raises:
        InputError: the file is missing or is not JSON.
    """
    return _read(unneeded_path())


@cache
def _read(path: Path) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    try:
        return {
            key: {check: tuple(conditions) for check, conditions in entry.items()}
            for key, entry in json.loads(path.read_text(encoding="utf-8")).items()
        }
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(
            f"The list of conditions that no check needs must be readable JSON, got path={path} ({error}); "
            "restore it from the repository."
        ) from None


def update_unneeded(found: Sequence[UnneededConditions]) -> None:
    """Replace what was known of these claims, and forget claims that are not in the ledger.

    Raises:
        InputError: the file cannot be written, as in an installed package.
    """
    known = {claim.key for claim in ledger.claims()} - {one.key for one in found}
    entries = {key: entry for key, entry in read_unneeded().items() if key in known}
    entries |= {one.key: one.parts for one in found if one.parts}
    try:
        write_whole(unneeded_path(), (json.dumps(dict(sorted(entries.items())), indent=1) + "\n").encode())
    except OSError as error:
        raise InputError(
            f"The list of conditions that no check needs must be writable, got path={unneeded_path()} ({error}); "
            "update it in a clone of the repository."
        ) from None
    _read.cache_clear()
