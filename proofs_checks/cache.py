"""Reports kept between runs, addressed by everything that can change them.

The key of an entry is a hash of the claim's data, of the source of the engines and of the modules they use,
and of the versions of the solvers. Entries are written whole or not at all; one that cannot be read is
dropped and decided again.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import sympy as sp

from lastiterate.numeric.store import DamagedError, cache_folder, digest, read_sealed, seal, write_whole
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import PAPERS

_SOLVERS = ("sympy", "z3-solver", "python-flint", "mpmath", "numpy", "scipy")
_PACKAGES = ("lastiterate.symbolic", "lastiterate.numeric", "lastiterate.proofs_checks")
_UNRELATED = frozenset(
    {
        "cache.py",
        "runner.py",
        "lock.py",
        "recompute.py",
        "describe.py",
        "statement.py",
        "dominance.py",
        "selection.py",
        "figures",
        "ledger.py",
        "items.py",
        "report",
    }
)
"""Files and folders whose change cannot change a verdict."""

_CLAIMS = frozenset({*PAPERS, "ours"})


@lru_cache(maxsize=1)
def _foundation() -> str:
    """Hash of the sources of the engines and of what they use, and of the solvers' versions."""
    digest = hashlib.sha256()
    for solver in _SOLVERS:
        digest.update(f"{solver}={metadata.version(solver)};".encode())
    for package in _PACKAGES:
        for name, source in sorted(_sources(package)):
            digest.update(name.encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


def _sources(package: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each module that can change a verdict; claims are hashed by their data instead."""
    folder = Path(import_module(package).__path__[0])
    for path in folder.rglob("*.py"):
        inside = path.relative_to(folder)
        if not (_UNRELATED | _CLAIMS) & set(inside.parts):
            yield f"{package}/{inside.as_posix()}", path.read_bytes()


def _canonical(value: Any) -> Any:
    """A claim's data as nested lists of text, the same for equal claims in every process."""
    if isinstance(value, sp.Basic):
        return sp.srepr(value, order="none")  # the arguments stand in one order already; sorting them again is slow
    if isinstance(value, Enum):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *([f.name, _canonical(getattr(value, f.name))] for f in fields(value))]
    if isinstance(value, Mapping):
        return sorted([_canonical(k), _canonical(v)] for k, v in value.items())
    if isinstance(value, tuple | list):
        return [_canonical(entry) for entry in value]
    return repr(value)


class ReportCache:
    """A folder of reports.

    Args:
        folder: where the entries lie, made on the first write; the user's cache folder if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder("reports")

    def address(self, claim: Claim) -> Path:
        """The file of a claim's report."""
        return self.folder / f"{digest([_foundation(), _canonical(claim)])[:40]}.json"

    def read(self, claim: Claim) -> ClaimReport | None:
        """The report kept for this claim; None where there is none, or where the entry is damaged."""
        path = self.address(claim)
        try:
            report = ClaimReport.from_json(json.loads(read_sealed(path)))
            if report.key == claim.key:
                return report
        except FileNotFoundError:
            return None
        except (OSError, DamagedError):
            pass
        path.unlink(missing_ok=True)
        return None

    def write(self, claim: Claim, report: ClaimReport) -> None:
        """Keep a report."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.address(claim), seal(json.dumps(report.to_json()).encode() + b"\n"))
