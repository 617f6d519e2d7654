"""Faults of one percent planted in source, each tried in a process of its own, kept, and resumed."""

import json
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from multiprocessing.pool import Pool
from typing import Any, Final

import sympy as sp
from joblib import cpu_count

from lastiterate.numeric.store import cache_folder
from lastiterate.proofs_checks.cache import everything
from lastiterate.proofs_checks.places.source import SourcePlace

_SHARES: Final = (sp.Rational(-1, 100), sp.Rational(1, 100))


class Fate(StrEnum):
    """State of a fault in source.

    NOTICED: a claim that holds is refuted with it. OPEN: one is no longer shown. KEPT: all that see it hold.
    UNUSED: none sees it. BROKEN: the claims cannot be built, or the code does not run.
    """

    NOTICED = "noticed"
    OPEN = "open"
    KEPT = "kept"
    UNUSED = "unused"
    BROKEN = "broken"


@dataclass(frozen=True)
class Planted:
    """A fault and what became of it.

    Attributes:
        place: where it was planted.
        fate: what became of it.
        by: the claim that notices it, or why none does.
    """

    place: str
    fate: Fate
    by: str

    @property
    def kept(self) -> bool:
        """Tell whether claims that see the fault all hold with it."""
        return self.fate is Fate.KEPT

    def to_json(self) -> dict[str, Any]:
        """The fault as plain data."""
        return asdict(self)


_AGAIN: Final = (Fate.OPEN, Fate.KEPT, Fate.BROKEN)
_RANK: Final = tuple(Fate)
"""The states from the best on."""

Try = Callable[[SourcePlace, sp.Rational], Planted]


def plant(
    attempt: Try,
    places: Sequence[SourcePlace],
    *,
    jobs: int = -1,
    on_place: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[Planted, ...]:
    """Every place one percent less, and one percent more where that is not noticed.

    Args:
        attempt: plants a fault in its process for good, and tells what becomes of it.
        places: where.
        jobs: processes side by side; -1 for one a core.
        on_place: called with (finished, all) places.

    Returns:
        One for each place, in their order; they are kept, and found again while no file of the package changes.
    """
    kept = cache_folder("planted") / f"{everything()[:33]}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows = map(json.loads, kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ())
    known = {row["place"]: Planted(row["place"], Fate(row["fate"]), row["by"]) for row in rows}
    for share in _SHARES:
        rest = [place for place in places if share > 0 or str(place) not in known]
        rest = [place for place in rest if share < 0 or known[str(place)].fate in _AGAIN]
        on_place(len(places) - len(rest), len(places))
        with _pool(jobs) as pool, kept.open("a", encoding="utf-8") as file:
            found = pool.imap_unordered(partial(_one, attempt, share=share), rest)
            for count, planted in enumerate(found, len(places) - len(rest) + 1):
                if share < 0 or _RANK.index(planted.fate) < _RANK.index(known[planted.place].fate):
                    known[planted.place] = planted
                    file.write(json.dumps(asdict(planted)) + "\n")
                    file.flush()
                on_place(count, len(places))
    return tuple(known[str(place)] for place in places)


def _pool(jobs: int) -> Pool:
    """Processes that each begin as this one is now, and end after one place."""
    return multiprocessing.get_context("fork").Pool(cpu_count() if jobs < 0 else jobs, maxtasksperchild=1)


def _one(attempt: Try, place: SourcePlace, share: sp.Rational) -> Planted:
    try:
        return attempt(place, share)
    except Exception as error:
        return Planted(str(place), Fate.BROKEN, f"{type(error).__name__}: {error}"[:200])
