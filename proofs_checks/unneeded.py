"""Assumptions and premises that no check needs: found once, kept beside the lock file, printed with their claims."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import write_whole
from lastiterate.symbolic.claim import Claim

FILE: Final = "unneeded.lock.json"

Unneeded = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Key of a claim -> `part` of it -> conditions without all of which it is shown as well."""


def location() -> Path:
    """The packaged file."""
    return Path(str(resources.files("lastiterate.proofs_checks") / FILE))


def read_unneeded() -> Unneeded:
    """The entries of the file by claim key.

    Raises:
        InputError: the file is missing or is no JSON.
    """
    return _read(location())


@cache
def _read(path: Path) -> Unneeded:
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


def write_unneeded(entries: Unneeded) -> None:
    """Write the file, sorted, whole or not at all; claims without such a condition are left out.

    Raises:
        InputError: the file cannot be written, as in an installed package.
    """
    data = {key: entries[key] for key in sorted(entries) if entries[key]}
    try:
        write_whole(location(), (json.dumps(data, indent=1) + "\n").encode())
    except OSError as error:
        raise InputError(
            f"The list of conditions that no check needs must be writable, got path={location()} ({error}); "
            "update it in a clone of the repository."
        ) from None
    _read.cache_clear()


def part(number: int) -> str:
    """The name in the file of the assumptions, for 0, or of a check by its number from 1 on."""
    return f"check {number}" if number else "assumptions"


def unneeded(claim: Claim, number: int = 0) -> tuple[Boolean, ...]:
    """The assumptions of a claim that no check of it needs, or the premises of its n-th check that this does not."""
    listed = read_unneeded().get(claim.key, {}).get(part(number), ())
    conditions: Iterable[Boolean] = getattr(claim.checks[number - 1], "given", ()) if number else claim.assumptions
    return tuple(one for one in conditions if str(one) in listed)
