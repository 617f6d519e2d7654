"""Reports kept between runs, addressed by everything that can change them.

The key of an entry is a hash of the claim's data, of what the modules say that decide it (`closure`), and of the
versions of Python and the solvers. Entries are written whole or not at all; one that cannot be read, or is of another
claim, is dropped and decided again. A checksum tells of damage, not of intent: who can write to the folder can have
any verdict printed, as who can write to the package can; ``--no-cache`` takes nothing from it.

While no file of the package changes, neither do the claims of the ledger: which reports are theirs is kept too, and
they need not be built, which takes seconds.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from hashlib import sha256
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

import sympy as sp
from sympy.core.function import UndefinedFunction
from sympy.printing.repr import ReprPrinter

from lastiterate.numeric.store import DamagedError, cache_folder, digest, read_sealed, seal, write_whole
from lastiterate.proofs_checks.closure import fingerprint
from lastiterate.proofs_checks.lock import FILE as LOCK
from lastiterate.proofs_checks.lock import Said
from lastiterate.proofs_checks.statement import in_a_line
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.checks import Engine
from lastiterate.symbolic.claim import Claim

_SOLVERS = ("sympy", "z3-solver", "python-flint", "mpmath", "numpy", "scipy", "clarabel")
PACKAGES = ("lastiterate.symbolic", "lastiterate.numeric", "lastiterate.proofs_checks")
"""What may decide a claim of a folder of one's own, whose modules may use anything of it."""

_KEPT = (LOCK, "unneeded.lock.json", "__pycache__")
"""Files of what was found."""

NUMBERS: Final = frozenset({Engine.ATTACK, Engine.CERTIFICATE, Engine.RECOMPUTATION})
"""Engines that run `bound`: the other ones need hardly anything of `numeric`, and no claim decided by them does."""


def deciding(engines: Iterable[str]) -> tuple[str, ...]:
    """Names of the modules from which what decides by these engines is found: see `closure.modules`."""
    return (
        "lastiterate.proofs_checks.decide",
        *(f"lastiterate.proofs_checks.engines.{engine.value}" for engine in Engine if engine in engines),
    )


@lru_cache(maxsize=2)
def _foundation(numbers: bool) -> str:
    """Hash of the sources that decide, with or without those of `bound`, and of the versions of what they use.

    To read them takes a second or two, so that it is kept for as long as no byte of the package changes.
    """
    kept = cache_folder("foundations") / f"{digest([everything(), numbers])[:33]}.txt"
    with suppress(OSError, DamagedError):
        return read_sealed(kept).decode()
    found = _hashed([("", fingerprint(deciding(set(Engine) if numbers else set(Engine) - NUMBERS)).encode())])
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, seal(found.encode()))
    return found


@lru_cache(maxsize=1)
def everything() -> str:
    """Hash of the whole package, claims and data included, and of the versions of Python and the solvers."""
    return _hashed(_files("*.*", frozenset(_KEPT)))


def _hashed(files: Iterable[tuple[str, bytes]]) -> str:
    digest = sha256(sys.version.encode())
    for solver in _SOLVERS:
        digest.update(f"{solver}={metadata.version(solver)};".encode())
    for name, content in files:
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _files(pattern: str, unwanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file of this pattern in whose path no unwanted name stands."""
    for package in PACKAGES:
        folder = Path(import_module(package).__path__[0])
        for path in sorted(folder.rglob(pattern)):
            inside = path.relative_to(folder)
            if not unwanted & set(inside.parts):
                yield f"{package}/{inside.as_posix()}", path.read_bytes()


class _Printer(ReprPrinter):  # type: ignore[misc]
    """Sympy's, with what is declared of a letter in one order: equal letters keep that of the first one made."""

    def __init__(self) -> None:
        super().__init__({"order": "none"})  # arguments stand in one order already; sorting them again is slow

    def _print_Symbol(self, letter: sp.Symbol) -> str:  # noqa: N802
        return f"{type(letter).__name__}({letter.name!r}{_declared(letter._assumptions_orig)})"


class _Distinct(_Printer):
    """The same with what is declared of a function, and letters of one name told apart."""

    def __init__(self) -> None:
        super().__init__()
        self._dummies: dict[str, list[sp.Dummy]] = {}

    def _print_Dummy(self, letter: sp.Dummy) -> str:  # noqa: N802
        said = self._print_Symbol(letter)
        alike = self._dummies.setdefault(said, [])
        if letter not in alike:
            alike.append(letter)
        return f"{said}#{alike.index(letter)}"

    def _print_UndefinedFunction(self, made: UndefinedFunction) -> str:  # noqa: N802
        return f"Function({made.__name__!r}{_declared(made._kwargs)})"


def _declared(facts: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value}" for name, value in sorted(facts.items()))


def _canonical(value: Any, printer: ReprPrinter | None = None) -> Any:
    """A claim's data as nested lists of text, the same for equal claims in every process."""
    return _plain(value, (printer or _Distinct()).doprint)


def _plain(value: Any, printed: Callable[[sp.Basic], str]) -> Any:
    if isinstance(value, sp.Basic):
        return printed(value)
    if isinstance(value, Enum):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *([f.name, _plain(getattr(value, f.name), printed)] for f in fields(value))]
    if isinstance(value, Mapping):
        return sorted([_plain(k, printed), _plain(v, printed)] for k, v in value.items())
    if isinstance(value, tuple | list):
        return [_plain(entry, printed) for entry in value]
    return repr(value)


def content(claim: Claim) -> str:
    """Hash of what a claim says and how it is checked; its words are no part of it."""
    return digest(_canonical([claim.checks, claim.assumptions, claim.statement], _Printer()))[:16]


def said(claim: Claim) -> Said:
    """Content and statement of a claim, for a lock file that tells what it said before."""
    return Said(content(claim), in_a_line(claim))


class ReportCache:
    """A folder of reports.

    Args:
        folder: where the entries lie, made on the first write; one in the user's cache folder if None.
        sources: hash of modules outside of the package that can change a report; "" for claims of the ledger.
    """

    def __init__(self, folder: Path | None = None, sources: str = "") -> None:
        self.sources = sources
        self.folder = folder or cache_folder("reports")

    def basis(self, claim: Claim) -> str:
        """Hash of everything but the claim that can change its report."""
        return everything() + self.sources if self.sources else _foundation(not NUMBERS.isdisjoint(claim.engines))

    def address(self, claim: Claim) -> Path:
        """The file of the report on a claim."""
        return self.folder / f"{digest([self.basis(claim), _canonical(claim)])[:40]}.json"

    def read(self, claim: Claim) -> ClaimReport | None:
        """The report kept on this claim; None where there is none, or where the entry is damaged."""
        return self._read(self.address(claim), claim.key)

    def _read(self, path: Path, key: str) -> ClaimReport | None:
        try:
            address, data = json.loads(read_sealed(path))
            report = ClaimReport.from_json(data)
            if (address, report.key) == (path.stem, key):
                return report
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError):  # damaged, or no report of this version
            pass
        path.unlink(missing_ok=True)
        return None

    def write(self, claim: Claim, report: ClaimReport) -> None:
        """Keep a report."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.address(claim)
        write_whole(path, seal(json.dumps([path.stem, report.to_json()]).encode() + b"\n"))

    def read_ledger(self) -> tuple[ClaimReport, ...] | None:
        """The reports of the whole ledger while nothing has changed; None where one is missing."""
        try:
            names: dict[str, str] = json.loads(read_sealed(self._contents()))
        except (OSError, DamagedError):
            return None
        reports = tuple(report for key, name in names.items() if (report := self._read(self.folder / name, key)))
        return reports if len(reports) == len(names) else None

    def write_ledger(self, claims: Iterable[Claim]) -> None:
        """Note which reports are those of the ledger, all of whose claims these are."""
        names = {claim.key: self.address(claim).name for claim in claims}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._contents(), seal(json.dumps(names).encode() + b"\n"))

    def _contents(self) -> Path:
        return self.folder / f"ledger-{everything()[:33]}.json"
