"""Reports kept between runs, addressed by everything that can change them.

The key of an entry is a hash of the claim's data, of the source of the engines and of the modules they use,
and of the versions of the solvers. Entries are written whole or not at all; one that cannot be read is
dropped and decided again.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

import sympy as sp
from platformdirs import user_cache_path

from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim

__all__ = ["ENVIRONMENT", "ReportCache", "default_folder"]

ENVIRONMENT: Final = "LASTITERATE_CACHE_DIR"
"""Names a folder that replaces the user's cache folder."""

_SOLVERS = ("sympy", "z3-solver", "python-flint", "mpmath", "numpy", "scipy")
_PACKAGES = ("lastiterate.symbolic", "lastiterate.numeric", "lastiterate.proofs_checks")
_UNRELATED = frozenset(
    {
        "cache.py",
        "runner.py",
        "lock.py",
        "recompute.py",
        "report.py",
        "describe.py",
        "dominance.py",
        "selection.py",
        "figures",
        "drawing.py",
        "canvas.py",
        "ledger.py",
        "items.py",
        "pages",
    }
)
"""Files and folders whose change cannot change a verdict."""


def default_folder() -> Path:
    """The folder named by the environment, or the user's cache folder."""
    named = os.environ.get(ENVIRONMENT)
    return Path(named) if named else user_cache_path("lastiterate") / "reports"


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
        claims = package.endswith("symbolic") and len(inside.parts) > 1
        if not _UNRELATED & set(inside.parts) and not claims:
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
        folder: where the entries lie; made on the first write.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def address(self, claim: Claim) -> Path:
        """The file of a claim's report."""
        text = json.dumps([_foundation(), _canonical(claim)])
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"

    def read(self, claim: Claim) -> ClaimReport | None:
        """The report kept for this claim; None where there is none, or where the entry is broken."""
        path = self.address(claim)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            body = json.dumps(data["report"], sort_keys=True)
            if data["checksum"] != hashlib.sha256(body.encode()).hexdigest():
                raise ValueError("checksum")
            report = ClaimReport.from_json(data["report"])
            if report.key != claim.key:
                raise ValueError("key")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            path.unlink(missing_ok=True)
            return None
        return report

    def write(self, claim: Claim, report: ClaimReport) -> None:
        """Keep a report: a temporary file beside the entry, then one atomic rename."""
        self.folder.mkdir(parents=True, exist_ok=True)
        body = json.loads(json.dumps(report.to_json()))
        checksum = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"checksum": checksum, "report": body}, file)
            Path(name).replace(self.address(claim))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
