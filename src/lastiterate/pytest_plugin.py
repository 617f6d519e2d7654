"""Pytest plugin that collects the claims of any repository as tests.

``pytest --lastiterate`` searches the files named by the ini option ``lastiterate_claims`` (``claims/*.py`` by
default), and files named as arguments, for a tuple ``CLAIMS`` of `lastiterate.symbolic.claim.Claim`. Each
claim is one test. It passes if the verdict is PROVED, SUPPORTED or CITED and every mutant is
rejected. With a lock file from ``lastiterate check --update-lock``, it passes if verdict, grade, checks and
mutants are as locked, and a run of whole folders fails if a locked claim is missing. Without the flag, no
file is imported or run.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lastiterate.proofs_checks.cache import ReportCache
    from lastiterate.symbolic.claim import Claim

_SEEN = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add a flag and an ini option."""
    group = parser.getgroup("lastiterate", "claims of papers, decided by lastiterate")
    group.addoption("--lastiterate", action="store_true", help="collect the claims of this repository as tests")
    parser.addini("lastiterate_claims", "glob patterns of files with a tuple CLAIMS", "args", ["claims/*.py"])


def pytest_configure(config: pytest.Config) -> None:
    """Initialise the set of claim keys seen."""
    config.stash[_SEEN] = set()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ClaimModule | None":
    """With the flag, collect a file that matches a pattern, or an argument that is not a test file."""
    if not parent.config.getoption("lastiterate") or not file_path.is_relative_to(parent.config.rootpath):
        return None
    inside = PurePosixPath(file_path.as_posix())  # also if pytest is run in the folder of the pattern itself

    def matches(option: str) -> bool:
        return any(inside.match(pattern) for pattern in parent.config.getini(option))

    named = file_path.suffix == ".py" and parent.session.isinitpath(file_path) and not matches("python_files")
    if file_path.name == "__init__.py" or not (named or matches("lastiterate_claims")):
        return None
    module: ClaimModule = ClaimModule.from_parent(parent, path=file_path)
    return module


class ClaimModule(pytest.File):
    """A file with a tuple CLAIMS."""

    def collect(self) -> "Iterator[ClaimItem]":
        """One test for each claim.

        Raises:
            CollectError: the file has no tuple of claims, or one of its keys is taken.
        """
        from lastiterate.numeric.errors import InputError
        from lastiterate.proofs_checks.cache import ReportCache
        from lastiterate.proofs_checks.folder import claims_of, load, sources_digest

        seen = self.config.stash[_SEEN]
        try:
            claims = claims_of(self.path, load(self.path), seen)
        except InputError as error:
            raise self.CollectError(str(error)) from None
        cache = ReportCache(sources=sources_digest([self.path]))
        for claim in claims:
            seen.add(claim.key)
            yield ClaimItem.from_parent(self, name=claim.key, claim=claim, cache=cache)


class ClaimItem(pytest.Item):
    """Test of one claim."""

    def __init__(self, *, claim: "Claim", cache: "ReportCache", **rest: Any) -> None:
        super().__init__(**rest)
        self.claim = claim
        self.cache = cache

    def runtest(self) -> None:
        """Decide the claim, or read its cached report, and compare it with the lock file."""
        from lastiterate.commands.claims import Book
        from lastiterate.proofs_checks.describe import evidence
        from lastiterate.proofs_checks.folder import lock_of, written_in
        from lastiterate.proofs_checks.runner import run
        from lastiterate.proofs_checks.verdict import Verdict

        (report,) = run([self.claim], jobs=1, cache=self.cache)
        book = Book(lambda **_: (self.claim,), lock_of(self.path))
        found = book.drifts([report], book.expected(), complete=False)
        if report.verdict is Verdict.UNDECIDED and not found:
            found = (f"{report.key} is UNDECIDED, which never passes.",)
        if found:
            told = [f"{written_in(self.claim)}:", *found, *evidence(self.claim, report)]
            pytest.fail("\n".join(told), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File, line and key."""
        file, line = self.claim.place
        return self.path, line - 1 if Path(file).resolve() == self.path.resolve() else None, self.claim.key


class MissingItem(pytest.Item):
    """Test that fails because locked claims are missing."""

    def __init__(self, *, missing: Sequence[str], **rest: Any) -> None:
        super().__init__(**rest)
        self.missing = missing

    def runtest(self) -> None:
        """Fail, naming the missing claims."""
        told = [f"{key} is missing, but the lock file has it." for key in self.missing]
        pytest.fail("\n".join(told), pytrace=False)


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """In a run of whole folders, add a failing test for missing locked claims."""
    places = [config.invocation_params.dir / argument for argument in config.args]
    if config.getoption("lastiterate") and all(place.is_dir() for place in places):
        from lastiterate.proofs_checks.folder import lock_of
        from lastiterate.proofs_checks.lock import read_lock

        seen: set[str] = config.stash[_SEEN]
        places += [item.path for item in items if isinstance(item, ClaimItem)]
        for lock in dict.fromkeys(map(lock_of, places)):
            gone = sorted(read_lock(lock).keys() - seen) if lock.exists() else []
            if gone:
                items.append(MissingItem.from_parent(session, name="claims of the lock file", missing=gone))


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str:
    """Name the places searched, if no claim was found."""
    if not config.getoption("lastiterate") or any(isinstance(item, ClaimItem) for item in items):
        return ""
    patterns = " ".join(config.getini("lastiterate_claims"))
    return f"lastiterate: no file that matches {patterns} has claims; name one, or set lastiterate_claims."
