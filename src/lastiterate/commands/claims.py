"""The claims of the ledger, or of a user's own folder."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click

from lastiterate.proofs_checks import lock
from lastiterate.proofs_checks.cache import ReportCache, said_by
from lastiterate.proofs_checks.lock import failures
from lastiterate.proofs_checks.selection import of_ledger, select
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim


def checked_jobs(_: click.Context, __: click.Parameter, jobs: int) -> int:
    """Number of worker processes; refuses 0 and numbers below -1."""
    if jobs == 0 or jobs < -1:
        raise click.BadParameter(f"jobs needs a number of at least 1, or -1 for all cores, got jobs={jobs}.")
    return jobs


@dataclass(frozen=True)
class Book:
    """Claims with their lock file and their cache.

    Attributes:
        choose: function that returns the claims of a paper, or the claims with given keys, in order.
        file: the lock file; None for the package's lock file.
        places: file and line of each claim, by key.
    """

    choose: Callable[..., tuple[Claim, ...]] = of_ledger
    file: Path | None = None
    cache: ReportCache = field(default_factory=ReportCache)
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def locked(self) -> bool:
        """Tell whether there is a lock file."""
        return self.file is None or self.file.exists()

    def expected(self) -> dict[str, lock.LockedVerdict]:
        """The entries of the lock file, if it exists."""
        return lock.read_lock(self.file) if self.locked else {}

    def drifts(
        self, reports: Sequence[ClaimReport], expected: Mapping[str, lock.LockedVerdict], *, complete: bool
    ) -> tuple[str, ...]:
        """Sentences, with places, about differences from the lock file or, without one, about failures."""
        if self.locked:
            # Other versions of Sympy print the ledger differently.
            says = self._says(reports) if self.file else {}
            found = lock.drifts(reports, expected, complete=complete, says=says)
        else:
            found = tuple(sentence for report in reports for sentence in failures(report))
        places = (self.places.get(sentence.split(" ")[0], "") for sentence in found)
        return tuple(f"{one} [{place}]" if place else one for one, place in zip(found, places, strict=True))

    def jobs(self, wanted: int) -> int:
        """Number of processes; 1 if a new process would lack the objects that a user's folder registered."""
        return wanted if sys.platform == "linux" or not self.file else 1

    def entries(self, reports: Sequence[ClaimReport]) -> dict[str, lock.LockedVerdict]:
        """Lock-file entries of reports."""
        says = self._says(reports)
        return {report.key: lock.LockedVerdict.of(report, says[report.key]) for report in reports}

    def _says(self, reports: Sequence[ClaimReport]) -> dict[str, lock.Said]:
        keys = [report.key for report in reports]
        return {claim.key: said_by(claim) for claim in self.choose(keys=keys)} if keys else {}


def book(path: Path | None) -> Book:
    """The ledger, or the claims under a path.

    Raises:
        InputError: no claims are found, or they do not load.
    """
    if path is None:
        return Book()
    from lastiterate.proofs_checks.folder import read_claims, written_in

    found = read_claims(path)
    places = {claim.key: written_in(claim) for claim in found.claims}
    return Book(partial(select, found.claims, path=path), found.lock, found.cache, places)
