"""A pytest plugin: the claims of any repository are collected as tests.

``pytest --lastiterate`` looks into the files named by the ini option ``lastiterate_claims`` (``claims/*.py`` unless
told otherwise), and into a file named on the command line, for a tuple ``CLAIMS`` of
`lastiterate.symbolic.claim.Claim`. Each claim is one test. It passes when its verdict is PROVED, SUPPORTED, CITED or
TESTED and every mutant is rejected; where there is a lock file (that of ``lastiterate check``, or the ini option
``lastiterate_lock``), when verdict, grade, checks and mutants are as locked, and a run of whole folders fails where a
locked claim is gone. ``--lastiterate-update-lock`` writes that file. Without the flag nothing is imported and nothing
runs.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lastiterate.proofs_checks.cache import ReportCache
    from lastiterate.symbolic.claim import Claim

_PROPERTY = "lastiterate"
_SEEN = pytest.StashKey[set[str]]()


class _ClaimFailure(Exception):  # noqa: N818 - pytest shows what it holds, never its name
    """Explain why a claim's test fails, in lines for the reader."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two flags and three ini options."""
    group = parser.getgroup("lastiterate", "claims of papers, decided by lastiterate")
    group.addoption("--lastiterate", action="store_true", help="collect the claims of this repository as tests")
    group.addoption(
        "--lastiterate-update-lock",
        action="store_true",
        help="write the verdicts to the lock file (with --lastiterate)",
    )
    parser.addini("lastiterate_claims", "files with a tuple CLAIMS, as patterns", "args", ["claims/*.py"])
    parser.addini("lastiterate_lock", "file of the expected verdicts", "string", "lastiterate.lock.json")
    parser.addini("lastiterate_time_limit", "seconds of computing after which a check has no answer", "string", "60")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to update a lock file in a run that decides nothing."""
    if config.getoption("lastiterate_update_lock") and not config.getoption("lastiterate"):
        raise pytest.UsageError("--lastiterate-update-lock needs the claims to be decided; give --lastiterate too.")
    if config.getoption("lastiterate") and not _time_limit(config) > 0:
        got = config.getini("lastiterate_time_limit")
        raise pytest.UsageError(
            f"lastiterate_time_limit needs a positive number of seconds, got {got!r}; leave it out for 60."
        )
    config.stash[_SEEN] = set()


def _time_limit(config: pytest.Config) -> float:
    try:
        return float(config.getini("lastiterate_time_limit"))
    except ValueError:
        return 0


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ClaimModule | None":
    """A file of claims, where the flag is given: its name matches, or it is named on the command line and no test."""
    if not parent.config.getoption("lastiterate") or not file_path.is_relative_to(parent.config.rootpath):
        return None
    inside = PurePosixPath(file_path.as_posix())  # also where pytest is run in the folder of the pattern itself
    named = parent.session.isinitpath(file_path) and not _matches(inside, parent.config.getini("python_files"))
    if file_path.name == "__init__.py" or not (
        (named and file_path.suffix == ".py") or _matches(inside, parent.config.getini("lastiterate_claims"))
    ):
        return None
    made: ClaimModule = ClaimModule.from_parent(parent, path=file_path)
    return made


def _matches(path: PurePosixPath, patterns: Sequence[str]) -> bool:
    return any(path.match(pattern) for pattern in patterns)


class ClaimModule(pytest.File):
    """A file with a tuple CLAIMS."""

    def collect(self) -> "Iterator[ClaimItem]":
        """One test for each claim.

        Raises:
            CollectError: the file has no tuple of claims, or one of its keys is there already.
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
    """One claim, decided."""

    def __init__(self, *, claim: "Claim", cache: "ReportCache", **rest: Any) -> None:
        super().__init__(**rest)
        self.claim = claim
        self.cache = cache

    def runtest(self) -> None:
        """Decide the claim, from the cache where it is known, and compare."""
        from lastiterate.proofs_checks.cache import said_by
        from lastiterate.proofs_checks.describe import evidence
        from lastiterate.proofs_checks.folder import written_in
        from lastiterate.proofs_checks.lock import LockedVerdict, drifts, failures, read_lock
        from lastiterate.proofs_checks.runner import run
        from lastiterate.proofs_checks.verdict import Verdict

        (report,) = run([self.claim], jobs=1, cache=self.cache, seconds=_time_limit(self.config))
        words = said_by(self.claim)
        own = LockedVerdict.of(report, words)
        counts = (own.checks, own.rejected, own.near_misses)
        texts = (own.says, own.statement, own.supposes)
        plain = [own.verdict.value, own.grade.value if own.grade else None, *counts, *texts]
        lock = lock_file(self.config, self.path)
        self.user_properties.append((_PROPERTY, {str(lock): {report.key: plain}}))  # xdist carries plain data alone
        update = self.config.getoption("lastiterate_update_lock")
        if update or lock.exists():
            expected = {report.key: own} if update else read_lock(lock)
            found = drifts([report], expected, complete=False, says={report.key: words})
        else:
            found = failures(report)
        if report.verdict is Verdict.UNDECIDED and not found:
            found = (f"{report.key} is UNDECIDED, which never passes.",)
        if found:
            raise _ClaimFailure("\n".join([f"{written_in(self.claim)}:", *found, *evidence(self.claim, report)]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The sentences of a failed claim; a traceback for anything else."""
        if isinstance(excinfo.value, _ClaimFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File, line and key, for the heading of a failure."""
        file, line = self.claim.place
        return self.path, line - 1 if Path(file).resolve() == self.path.resolve() else None, self.claim.key


class MissingItem(pytest.Item):
    """The locked claims that no file holds any more."""

    def __init__(self, *, missing: Sequence[str], lock: Path, **rest: Any) -> None:
        super().__init__(**rest)
        self.missing = missing
        self.lock = lock

    def runtest(self) -> None:
        """Fail, or have them taken out of the lock file."""
        self.user_properties.append((_PROPERTY, {str(self.lock): dict.fromkeys(self.missing)}))
        if not self.config.getoption("lastiterate_update_lock"):
            raise _ClaimFailure("\n".join(f"{key} is missing, and the lock file knows it." for key in self.missing))

    repr_failure = ClaimItem.repr_failure

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The lock file, for the heading of a failure."""
        return self.lock, None, self.name


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a run of whole folders, one more test for the locked claims that are gone."""
    folders = all((config.invocation_params.dir / argument).is_dir() for argument in config.args)
    if config.getoption("lastiterate") and folders:
        from lastiterate.proofs_checks.lock import read_lock

        seen: set[str] = config.stash[_SEEN]
        places = [config.invocation_params.dir / argument for argument in config.args]
        places += [item.path for item in items if isinstance(item, ClaimItem)]
        for lock in dict.fromkeys(lock_file(config, place) for place in places):
            gone = sorted(set(read_lock(lock)) - seen) if lock.exists() else []
            if gone:
                named = {"name": "claims of the lock file", "missing": gone, "lock": lock}
                item: MissingItem = MissingItem.from_parent(session, **named)
                items.append(item)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str:
    """Say where claims were looked for, where none was found."""
    if not config.getoption("lastiterate") or any(isinstance(item, ClaimItem) for item in items):
        return ""
    patterns = " ".join(config.getini("lastiterate_claims"))
    return f"lastiterate: no file here is called {patterns} and has claims; name one, or set lastiterate_claims."


def lock_file(config: pytest.Config, place: Path) -> Path:
    """Path of the expected verdicts of claims at a place: that of `lastiterate check` unless an option names one."""
    from lastiterate.proofs_checks.folder import LOCK, lock_of

    named = config.getini("lastiterate_lock")
    return lock_of(place) if named == LOCK else Path(config.rootpath / named)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Gather results in the process that writes the lock file: the only one, or xdist's controller."""
    if session.config.getoption("lastiterate_update_lock") and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Gatherer(session.config), "lastiterate-lock")


class _Gatherer:
    """Writes the lock file at the end of a run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.found: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a claim's test found; the properties travel with the report from xdist's workers."""
        if report.when == "call":
            for name, value in report.user_properties:
                if name == _PROPERTY and isinstance(value, dict):
                    for lock, found in value.items():
                        self.found.setdefault(lock, {}).update(found)

    def pytest_sessionfinish(self) -> None:
        """Write the entries of the claims that were decided; those that a whole run misses go, the others stay."""
        for lock, found in self.found.items():
            self._write(Path(lock), found)

    def _write(self, path: Path, decided: dict[str, Any]) -> None:
        from lastiterate.proofs_checks.lock import LockedVerdict, read_lock, write_lock
        from lastiterate.proofs_checks.verdict import Grade, Verdict, with_noun

        entries = read_lock(path) if path.exists() else {}
        for key, found in decided.items():
            if found is None:
                entries.pop(key, None)
            else:
                verdict, grade, *counts = found
                entries[key] = LockedVerdict(Verdict(verdict), None if grade is None else Grade(grade), *counts)
        if entries:
            write_lock(entries, path)
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            if terminal is not None:
                terminal.write_line(f"\nlocked {with_noun(len(decided), 'claim')} in {path}, which has {len(entries)}")
