"""Claims of a folder or a file of one's own: modules with a tuple CLAIMS, and what their checks name.

A module may also hold ``DERIVATIONS`` (name -> derivation), ``TRACKED`` (the same for distances), ``ATTACKS`` (name ->
`proofs_checks.attacks.Attack`) and ``EXPERIMENTS`` (name -> `proofs_checks.experiments.Experiment`); its checks use
them by name, as those of the ledger use the package's own. Loading runs the Python of these modules and nothing else.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.symbolic.claim import Claim

LOCK: Final = "lastiterate.lock.json"
"""Name of the lock file, in the root of the repository."""

_ROOTS: Final = (LOCK, "pyproject.toml", "pytest.ini", ".git")
_OWNER: dict[tuple[str, str], str] = {}
"""The module of each name that was registered, by its kind and itself."""


@dataclass(frozen=True)
class ClaimFolder:
    """The claims of a folder or a file.

    Attributes:
        path: the folder or file.
        claims: those of all modules, in the order of their file names.
        lock: the file of the expected verdicts, there or not.
        digest: hash of the sources, which derivations, attacks and experiments may be part of.
    """

    path: Path
    claims: tuple[Claim, ...]
    lock: Path
    digest: str

    @property
    def cache(self) -> ReportCache:
        """Kept reports of these claims; a change of any module of the folder decides them anew."""
        return ReportCache(sources=self.digest)


def read_claims(path: Path) -> ClaimFolder:
    """Load the modules with claims: the one file, those of the folder's own folder ``claims``, or else of the folder.

    A file in which the word CLAIMS does not stand is not run.

    Raises:
        InputError: nothing is there, a module does not load or has no tuple of claims, or a key or name comes twice.
    """
    inside = path / "claims" if (path / "claims").is_dir() else path
    files = [path] if path.is_file() else [file for file in sorted(inside.glob("*.py")) if file.name != "__init__.py"]
    sources = [file for file in files if "CLAIMS" in file.read_text(encoding="utf-8")]
    if not sources:
        raise InputError(
            f"Claims need a folder or a file with a tuple CLAIMS, got path={path} without; "
            "write one with `lastiterate new-claim`."
        )
    _forget()
    claims: list[Claim] = []
    for file in sources:
        claims += claims_of(file, load(file), {claim.key for claim in claims})
    return ClaimFolder(path, tuple(claims), lock_of(path), sources_digest(sources))


def sources_digest(files: Iterable[Path]) -> str:
    """Hash of the modules' bytes."""
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def lock_of(path: Path) -> Path:
    """The lock file of the repository around a path: beside the nearest lock file, pyproject.toml or .git above it."""
    start = path.resolve() if path.is_dir() else path.resolve().parent
    above = (place for place in (start, *start.parents) if any((place / name).exists() for name in _ROOTS))
    alone = start.parent if start.name == "claims" else start
    return next(above, alone) / LOCK


def load(file: Path) -> ModuleType:
    """Run a module of claims and register what its checks may name.

    Raises:
        InputError: it does not load, or a name that it registers is taken.
    """
    name = f"lastiterate_claims_{sha256(str(file.resolve()).encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"A module of claims needs to be a Python file, got path={file}; give one.")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = next((f.lineno for f in reversed(extract_tb(error.__traceback__)) if f.filename == str(file)), 0)
        line = error.lineno or 0 if isinstance(error, SyntaxError) else line
        raise InputError(
            f"A module of claims needs to load, got {type(error).__name__}: {error} in line {line} of {file}; mend it."
        ) from error
    _register(name, file, module)
    return module


def claims_of(file: Path, module: ModuleType, known: set[str]) -> tuple[Claim, ...]:
    """The claims of a loaded module.

    Raises:
        InputError: it has no tuple of claims, or one of its keys is known already.
    """
    claims = getattr(module, "CLAIMS", None)
    if not isinstance(claims, tuple) or not all(isinstance(claim, Claim) for claim in claims):
        raise InputError(f"{file} needs a tuple CLAIMS of Claim records, got CLAIMS={claims!r}; write one.")
    keys = [claim.key for claim in claims]
    for place, key in enumerate(keys):
        if key in known or key in keys[:place]:
            raise InputError(f"Each claim needs its own key, got key={key} twice; rename one.")
    return claims


def _registries() -> dict[str, dict[str, Any]]:
    from lastiterate.proofs_checks.attacks import ATTACKS
    from lastiterate.proofs_checks.experiments import EXPERIMENTS
    from lastiterate.symbolic.derivations import DERIVATIONS, TRACKED
    from lastiterate.symbolic.ledger import OWN

    named = {"DERIVATIONS": DERIVATIONS, "TRACKED": TRACKED, "ATTACKS": ATTACKS, "EXPERIMENTS": EXPERIMENTS}
    return named | {"CLAIMS": OWN}


def _forget() -> None:
    """Take out what another folder has registered."""
    registries = _registries()
    for kind, entry in _OWNER:
        del registries[kind][entry]
    _OWNER.clear()


def _register(name: str, file: Path, module: ModuleType) -> None:
    from lastiterate.proofs_checks.engines import derivation

    for kind, known in _registries().items():
        given: Mapping[str, Any] = getattr(module, kind, {})
        if kind == "CLAIMS":
            given = {claim.key: claim for claim in given if isinstance(claim, Claim)}
        for entry, made in given.items():
            if entry in known and _OWNER.get((kind, entry)) != name:
                raise InputError(f"{kind} of {file} need names that are free, got {entry!r} again; rename it.")
            _OWNER[kind, entry] = name
            known[entry] = made
    derivation.derive.cache_clear()
    derivation.track.cache_clear()
