"""Claims of a user's own folder or file: modules with a tuple CLAIMS, and the objects that their checks name.

The objects may be in ``DERIVATIONS`` (name -> derivation), ``TRACKED`` (name -> derivation of a distance)
and ``ATTACKS`` (name -> `proofs_checks.attacks.ExactRun`). Loading runs only the Python code of these modules.
"""

import sys
from ast import ImportFrom, Name, Store, parse, walk
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from re import compile as compile_
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final, NamedTuple

from sympy import Symbol

from lastiterate.numeric.errors import InputError, echo
from lastiterate.proofs_checks.attacks import ATTACKS
from lastiterate.proofs_checks.cache import PACKAGES, ReportCache, fingerprint
from lastiterate.proofs_checks.engines import derivation
from lastiterate.symbolic import ledger, notation
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.derivations import DERIVATIONS, TRACKED
from lastiterate.symbolic.notation import MEANING
from lastiterate.symbolic.papers import Source

LOCK: Final = "lastiterate.lock.json"
"""Name of the lock file, in the root of the repository."""

_ROOTS: Final = (LOCK, "pyproject.toml", "pytest.ini", ".git")
_KEY: Final = compile_(r"[a-z0-9_]+(/[a-z0-9_]+)+")
_REGISTRIES: Final[dict[str, dict[str, Any]]] = {
    "DERIVATIONS": DERIVATIONS,
    "TRACKED": TRACKED,
    "ATTACKS": ATTACKS,
    "CLAIMS": ledger.OWN,
}
_OWNER: dict[tuple[str, str], str] = {}
"""(kind, registered name) -> module that registers it."""


class ClaimFolder(NamedTuple):
    """Claims of a folder or file, their lock file (which may not exist), and the cache of their reports."""

    claims: tuple[Claim, ...]
    lock: Path
    cache: ReportCache


def read_claims(path: Path) -> ClaimFolder:
    """Load modules with the word CLAIMS: a file, or all files in a folder (in its subfolder ``claims``, if any).

    Raises:
        InputError: there are no modules, a module does not load or has no tuple of claims, or a key or name
            recurs.
    """
    inside = path / "claims" if (path / "claims").is_dir() else path
    files = (
        [path]
        if path.is_file()
        else [file for file in sorted(inside.glob("*.py")) if file.name != "__init__.py"]
    )
    sources = [file for file in files if b"CLAIMS" in file.read_bytes()]
    if not sources:
        raise InputError(
            f"Claims need a folder or a file with a tuple CLAIMS, got path={path} without one; "
            "write one with `lastiterate new-claim`."
        )
    for kind, entry in _OWNER:
        del _REGISTRIES[kind][entry]
    _OWNER.clear()
    claims: list[Claim] = []
    for file in sources:
        claims += claims_of(file, load(file), {claim.key for claim in claims})
    return ClaimFolder(tuple(claims), lock_of(path), ReportCache(sources=sources_digest(sources)))


def sources_digest(files: Iterable[Path]) -> str:
    """Hash of loaded modules and of their imports from their repository."""
    return fingerprint([file.resolve() for file in files], PACKAGES)


def lock_of(path: Path) -> Path:
    """Lock file of a path, in the nearest folder above with a lock, pyproject.toml, pytest.ini or .git."""
    start = path.resolve() if path.is_dir() else path.resolve().parent
    above = (place for place in (start, *start.parents) if any((place / name).exists() for name in _ROOTS))
    alone = start.parent if start.name == "claims" else start
    return next(above, alone) / LOCK


def load(file: Path) -> ModuleType:
    """Run a module of claims and register the objects that its checks may name.

    Raises:
        InputError: the module does not load, or a name that it registers is taken.
    """
    name = f"lastiterate_claims_{sha256(str(file.resolve()).encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"A module of claims must be a Python file, got path={file}; give a .py file.")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with derivation.unaltered():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an exit would end the check with status 0
        raise InputError(
            f"A module of claims must load without an error, got {_described(error, file)}; correct it."
        ) from error
    _register(name, file, module)
    return module


def _described(error: BaseException, file: Path) -> str:
    said = f"{type(error).__name__}: {str(error).rstrip('.')}"
    if "truth value of Relational" in str(error):
        said = "conditions joined by Python's `and` or `or`, or a chain such as 1 < p < q; write a tuple (p > 1, q > 1)"
    own = [
        one.lineno for one in extract_tb(error.__traceback__) if Path(one.filename).resolve() == file.resolve()
    ]
    line = error.lineno if isinstance(error, SyntaxError) else next(reversed(own), None)
    return f"{said} in {file}" if line is None else f"{said} in line {line} of {file}"


def _strange_letters(file: Path) -> Iterator[Symbol]:
    """Letters of `notation` that a module does not import, and that have no meaning in its claims."""
    nodes = list(walk(parse(file.read_bytes())))
    imports = [one for one in nodes if isinstance(one, ImportFrom)]
    ours = [one for one in imports if (one.module or "").startswith("lastiterate.")]
    own = {one.id for one in nodes if isinstance(one, Name) and isinstance(one.ctx, Store)}
    own |= {name.asname or name.name for one in imports if one not in ours for name in one.names}
    taken = {name.name for one in ours for name in one.names}
    papers = {part for one in ours for part in str(one.module).split(".")} & ledger.ORDER.keys()
    known = vars(notation).keys() if papers or taken & {"*", "notation"} else taken
    named = {
        letter for name, letter in vars(notation).items() if name in known - own and isinstance(letter, Symbol)
    }
    yield from (letter for letter in MEANING if letter not in named)


def written_in(claim: Claim) -> str:
    """Place of a claim as ``file:line``, relative to the working folder if the file is in it."""
    file, line = claim.place
    path, here = Path(file).resolve(), Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line}"


def claims_of(file: Path, module: ModuleType, known: set[str]) -> tuple[Claim, ...]:
    """Claims of a loaded module.

    Letters that the module itself declares have only the meanings in a claim's ``letters``.
    `notation.MEANING` applies to letters imported from `notation`; Sympy cannot distinguish the two if their
    names agree.

    Raises:
        InputError: the module has no tuple or list of claims, or a claim has no key of its own or no source.
    """
    claims = getattr(module, "CLAIMS", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(claim, Claim) for claim in claims):
        got = (
            f"{type(claims).__name__}(...); add a comma"
            if isinstance(claims, Claim)
            else f"{echo(claims)}; write one"
        )
        raise InputError(f"{file} needs a tuple CLAIMS of Claim records, got CLAIMS={got}.")
    given = dict.fromkeys(_strange_letters(file), "")
    for claim in claims:
        if isinstance(claim.letters, Mapping):  # otherwise `misfit` refuses this claim alone
            object.__setattr__(claim, "letters", given | dict(claim.letters))
    keys = set(known)
    for claim in claims:
        key, where = claim.key, f"in {written_in(claim)}"
        if not (isinstance(key, str) and _KEY.fullmatch(key)):
            raise InputError(
                f"A key must have the form paper/number, in a-z, 0-9 and _, got key={key!r} {where}; rename it."
            )
        if key in keys:
            raise InputError(f"Each claim needs its own key, got key={key} twice, {where}; rename one.")
        if (paper := key.split("/")[0]) in ledger.ORDER and key in {one.key for one in ledger.claims(paper)}:
            raise InputError(f"A key must not already be in the ledger, got key={key} {where}; rename it.")
        if not isinstance(claim.source, Source):
            raise InputError(f"source needs a Source, got source={claim.source!r} {where}; write Source(...).")
        keys.add(key)
    return tuple(claims)


def _register(name: str, file: Path, module: ModuleType) -> None:
    for kind, known in _REGISTRIES.items():
        given: Any = getattr(module, kind, {})
        if kind == "CLAIMS":  # `claims_of` reports what is wrong with these
            own = [one for one in given if isinstance(one, Claim)] if isinstance(given, tuple | list) else ()
            named = {claim.key: claim for claim in own if isinstance(claim.key, str)}
            given = {key: claim for key, claim in named.items() if _OWNER.get((kind, key), name) == name}
        if not isinstance(given, Mapping):
            raise InputError(f"{kind} of {file} needs a mapping from names, got {echo(given)}; write a dict.")
        for entry, made in given.items():
            if entry in known and _OWNER.get((kind, entry)) != name:
                raise InputError(
                    f"{kind} of {file} need unused names, got {entry!r}, which is taken; rename it."
                )
            _OWNER[kind, entry] = name
            known[entry] = made
    derivation.derive.cache_clear()
    derivation.track.cache_clear()
    derivation.used.cache_clear()
