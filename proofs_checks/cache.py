"""Reports kept between runs, keyed by all data that can change them.

The key of an entry is a hash of the claim's data, of the modules that decide the claim (`find_modules`), and
of the versions of Python and the solvers. A checksum detects damage, not intent: a user who can write to the
folder or the package can forge any verdict.
"""

import ast
import json
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from hashlib import sha256
from importlib import import_module, metadata
from multiprocessing import get_context
from pathlib import Path
from re import compile as compile_
from threading import Lock
from typing import Any, Final

import sympy as sp
from sympy.core.function import UndefinedFunction
from sympy.printing.repr import ReprPrinter

from lastiterate.numeric.store import DamagedError, cache_folder, digest, read_sealed, seal, write_whole
from lastiterate.proofs_checks.lock import FILE as LOCK
from lastiterate.proofs_checks.lock import Said
from lastiterate.proofs_checks.statement import in_a_line
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Engine
from lastiterate.symbolic.claim import Claim

_SOLVERS = ("sympy", "z3-solver", "python-flint", "mpmath", "numpy", "scipy", "clarabel")
PACKAGES = ("lastiterate.symbolic", "lastiterate.numeric", "lastiterate.proofs_checks")
"""Packages that may decide a claim of a user's own folder."""

NUMBERS: Final = frozenset({Engine.ATTACK})
"""Engines that run `bound`; the other engines need little of `numeric`."""


def deciding(engines: Iterable[str]) -> tuple[str, ...]:
    """Root modules from which `find_modules` finds the code of these engines."""
    return (
        "lastiterate.proofs_checks.decide",
        *(f"lastiterate.proofs_checks.engines.{engine.value}" for engine in Engine if engine in engines),
    )


@lru_cache(maxsize=2)
def _foundation(numbers: bool) -> str:
    """Hash of the deciding sources (with ``numbers``, also `bound`) and of versions; stored for speed."""
    kept = cache_folder("foundations") / f"{digest([everything(), numbers])[:33]}.txt"
    with suppress(OSError, DamagedError):
        return read_sealed(kept).decode()
    found = _hashed([("", fingerprint(deciding(set(Engine) if numbers else set(Engine) - NUMBERS)).encode())])
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, seal(found.encode()))
    return found


def _prepare() -> None:
    for numbers in (False, True):
        _foundation(numbers)


@lru_cache(maxsize=1)
def everything() -> str:
    """Hash of the whole package, with claims and data, and of the versions of Python and the solvers."""
    return _hashed(_files())


def _hashed(files: Iterable[tuple[str, bytes]]) -> str:
    digest = sha256(sys.version.encode())
    for solver in _SOLVERS:
        digest.update(f"{solver}={metadata.version(solver)};".encode())
    for name, content in files:
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _files() -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        folder = Path(import_module(package).__path__[0])
        for path in sorted(folder.rglob("*.*")):
            inside = path.relative_to(folder)
            if not {LOCK, "__pycache__"} & set(inside.parts):
                yield f"{package}/{inside.as_posix()}", path.read_bytes()


class _Printer(ReprPrinter):  # type: ignore[misc]
    """Printer that sorts the declarations of a letter; Sympy prints them in the order of the first equal letter."""

    def __init__(self) -> None:
        super().__init__({"order": "none"})  # arguments are sorted already; sorting them again is slow

    def _print_Symbol(self, letter: sp.Symbol) -> str:  # noqa: N802
        return f"{type(letter).__name__}({letter.name!r}{_declared(letter._assumptions_orig)})"


class _Distinct(_Printer):
    """Printer that also declares functions, and that numbers dummies with one name."""

    def __init__(self) -> None:
        super().__init__()
        self._dummies: dict[str, list[sp.Dummy]] = {}

    def _print_Dummy(self, letter: sp.Dummy) -> str:  # noqa: N802
        said = self._print_Symbol(letter)
        same = self._dummies.setdefault(said, [])
        if letter not in same:
            same.append(letter)
        return f"{said}#{same.index(letter)}"

    def _print_UndefinedFunction(self, made: UndefinedFunction) -> str:  # noqa: N802
        return f"Function({made.__name__!r}{_declared(made._kwargs)})"


def _declared(facts: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value}" for name, value in sorted(facts.items()))


def _canonical(value: Any, printer: ReprPrinter | None = None) -> Any:
    printer = printer or _Distinct()
    if isinstance(value, sp.Basic):
        return printer.doprint(value)
    if isinstance(value, Enum):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = ([one.name, _canonical(getattr(value, one.name), printer)] for one in fields(value))
        return [type(value).__name__, *parts]
    if isinstance(value, Mapping):
        return sorted([_canonical(key, printer), _canonical(entry, printer)] for key, entry in value.items())
    if isinstance(value, tuple | list):
        return [_canonical(entry, printer) for entry in value]
    return repr(value)


def content(claim: Claim) -> str:
    """Hash of the checks, assumptions and statement of a claim."""
    return digest(_canonical([claim.checks, claim.assumptions, claim.statement], _Printer()))[:16]


def said_by(claim: Claim) -> Said:
    """Content and statement of a claim, for its entry of the lock file."""
    return Said(content(claim), in_a_line(claim))


class ReportCache:
    """A folder of reports.

    Args:
        folder: created on the first write; None for a folder in the user's cache.
        sources: hash of modules outside the package that can change a report; "" for claims of the ledger.
    """

    def __init__(self, folder: Path | None = None, sources: str = "") -> None:
        self.sources = sources
        self.folder = folder or cache_folder("reports")

    def prepare(self) -> None:
        """Hash the deciding sources in another process, which takes as long as building the claims."""
        if not self.sources and sys.platform == "linux":
            get_context("fork").Process(target=_prepare, daemon=True).start()

    def basis(self, claim: Claim) -> str:
        """Hash of all other data that can change the report on a claim."""
        return (
            everything() + self.sources if self.sources else _foundation(not NUMBERS.isdisjoint(claim.engines))
        )

    def address(self, claim: Claim) -> Path:
        """File of the report on a claim."""
        return self.folder / f"{digest([self.basis(claim), _canonical(claim)])[:40]}.json"

    def read(self, claim: Claim) -> ClaimReport | None:
        """Stored report on a claim; None if missing or damaged."""
        return self._read(self.address(claim), claim.key)

    def _read(self, path: Path, key: str) -> ClaimReport | None:
        try:
            address, data = json.loads(read_sealed(path))
            report = ClaimReport.from_json(data)
            if (address, report.key) == (path.stem, key):
                return report
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError):  # damaged, or of another version
            pass
        path.unlink(missing_ok=True)
        return None

    def write(self, claim: Claim, report: ClaimReport) -> None:
        """Store a report."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.address(claim)
        write_whole(path, seal(json.dumps([path.stem, report.to_json()]).encode() + b"\n"))

    def read_ledger(self) -> tuple[ClaimReport, ...]:
        """Stored reports on all claims of the ledger, without building the claims; () if a report is missing."""
        names = dict[str, str]()
        with suppress(OSError, DamagedError):
            names = json.loads(read_sealed(self._ledger()))
        reports = tuple(
            report for key, name in names.items() if (report := self._read(self.folder / name, key))
        )
        return reports if len(reports) == len(names) else ()

    def write_ledger(self, claims: Iterable[Claim]) -> None:
        """Record the report files of all claims of the ledger."""
        names = {claim.key: self.address(claim).name for claim in claims}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._ledger(), seal(json.dumps(names).encode() + b"\n"))

    def _ledger(self) -> Path:
        return self.folder / f"ledger-{everything()[:33]}.json"


_PACKAGE: Final = "lastiterate"
_CITING: Final = tuple([_PACKAGE, "symbolic", folder] for folder in ("derivations", "kernel"))
"""Packages whose derivations rest on claims cited by key; keys elsewhere are references for readers."""
_KEY: Final = compile_(r"[a-z0-9_]+(/[a-z0-9_]+)+")
_DATA: Final = compile_(r"[\w-]+(\.[\w-]+)*\.(toml|json|csv|txt|npy|npz)")
_LIBRARIES: Final = tuple(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


_PARSES: Final = Lock()
"""Held while a tree is built, since Python 3.11 can raise SystemError if two threads build trees at once."""


@dataclass(frozen=True)
class _Text:
    digest: str
    imports: frozenset[str]
    strings: frozenset[str]


@lru_cache(maxsize=4096)
def _read(text: bytes) -> _Text:
    with _PARSES:
        tree = ast.parse(text)
    imports, strings, entries = set[str](), set[str](), set[object]()
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [  # type: ignore[attr-defined]  # without docstrings, and strings below a constant
                one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ]
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Dict):
            entries |= {key.value for key in node.keys if isinstance(key, ast.Constant)}  # names of definitions
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    keys = {one for one in strings if _KEY.fullmatch(one) and one.partition("/")[0] in ledger.ORDER}
    named = frozenset(one for one in strings - entries if _DATA.fullmatch(one) or one in keys)
    return _Text(sha256(ast.dump(tree).encode()).hexdigest(), frozenset(imports), named)


def find_modules(roots: Iterable[str | Path], without: Collection[str] = ()) -> dict[str, Path]:
    """Files of the root modules and of all their imports; packages in ``without`` are not followed."""
    found: dict[str, Path] = {}
    ahead = [*roots]
    while ahead:
        root = ahead.pop()
        path = root if isinstance(root, Path) else _file(root)
        if path is None or str(root) in found or f"{root}.".startswith(tuple(f"{name}." for name in without)):
            continue
        found[str(root)] = path
        said = _read(path.read_bytes())
        parts = str(root).split(".") if isinstance(root, str) else []
        ahead += [*said.imports, *(".".join(parts[:length]) for length in range(1, len(parts)))]
        if parts[:3] in _CITING:
            ahead += [f"{_PACKAGE}.symbolic.{paper}.{module}" for paper, module in ledger.places(*said.strings)]
    return found


def _file(name: str) -> Path | None:
    """File of a module of the package or of a user's repository; None for other modules."""
    first, *rest = name.split(".")
    if first == _PACKAGE:
        bases = [Path(folder).joinpath(*rest) for folder in import_module(_PACKAGE).__path__]
        tried = (path for base in bases for path in (base / "__init__.py", base.with_suffix(".py")))
        return next((path for path in tried if path.is_file()), None)
    path = Path(getattr(sys.modules.get(name), "__file__", None) or "")
    return (
        path if path.suffix == ".py" and not any(path.is_relative_to(folder) for folder in _LIBRARIES) else None
    )


def fingerprint(roots: Iterable[str | Path], without: Collection[str] = ()) -> str:
    """Hash of the modules that `find_modules` finds from the same arguments, and of their data files."""
    found = sha256()
    for name, path in sorted(find_modules(roots, without).items()):
        said = _read(path.read_bytes())
        found.update(f"{name}={said.digest};".encode())
        for file in sorted(path.parent / one for one in said.strings if _DATA.fullmatch(one)):
            if file.is_file():
                found.update(file.read_bytes() + b"\0")
    return found.hexdigest()
