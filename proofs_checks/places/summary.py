"""The share of live places by paper and by kind, and the reasons of those that are not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lastiterate.proofs_checks.places.occurrences import Kind
from lastiterate.proofs_checks.places.planted import Fate, Planted
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried

LEAST: Final = 0.95
"""Share of the live numbers and symbols that are to be noticed."""

CONDITIONS: Final = (Kind.PREMISE, Kind.ASSUMPTION)

REASONS: Final = {
    State.ROOM: "the claim is shown to hold there, too",
    State.UNUSED: "the claim is shown without it",
    State.IDLE: "nothing that was tried is noticed",
    State.UNDECIDED: "the engine neither shows nor refutes it",
}


def share(reports: Iterable[PlacesReport]) -> float:
    """Share of the live numbers and symbols of checks that are noticed; 1 where there are none.

    A place is live where the claim is true as it stands and false one percent off. Where an engine proves it with the
    place off, both ways, and refutes it further off, the place is not. All others count, noticed or not.
    """
    noticed = _noticed(Counter(place.state for of in reports for place in of.places if place.kind not in CONDITIONS))
    return 1.0 if noticed is None else noticed


def _noticed(counts: Counter[State]) -> float | None:
    may_be_live = counts[State.LIVE] + counts[State.IDLE] + counts[State.UNDECIDED]
    return counts[State.LIVE] / may_be_live if may_be_live else None


def table(reports: Sequence[PlacesReport]) -> Iterator[tuple[str, ...]]:
    """A heading, a row for each paper and for each kind, and one for all that stands in checks."""
    places = [(report.key.partition("/")[0], place) for report in reports for place in report.places]
    yield "places of", *(state.value for state in State), "all", "noticed of live"
    papers = dict.fromkeys(paper for paper, place in places if place.kind not in CONDITIONS)
    for paper in papers:
        yield _row(paper, (p for of, p in places if of == paper and p.kind not in CONDITIONS))
    for kind in Kind:
        if any(place.kind is kind for _, place in places):
            yield _row(kind.value, (place for _, place in places if place.kind is kind))
    yield _row("all checks", (place for _, place in places if place.kind not in CONDITIONS))


def _row(name: str, places: Iterable[Tried]) -> tuple[str, ...]:
    counts = Counter(place.state for place in places)
    noticed = _noticed(counts)
    ratio = "-" if noticed is None else f"{noticed:.1%}"
    return name, *(str(counts[state]) for state in State), str(counts.total()), ratio


def dead(reports: Iterable[PlacesReport]) -> Iterator[str]:
    """A line for each place that is not live, with the reason."""
    for report in reports:
        for place in report.places:
            if place.state is not State.LIVE:
                where = f"'{place.check}', " if place.check else ""
                yield f"{report.key}: {where}{place.kind} {place.words}: {reason(place)}."


def reason(place: Tried) -> str:
    """The reason why a place is not live, or not noticed."""
    return f"{REASONS[place.state]}{f' ({place.detail})' if place.detail else ''}"


def as_text(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows in columns for a terminal.

    >>> list(as_text([("kind", "live"), ("coefficient", "7")]))
    ['kind         live', 'coefficient     7']
    """
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    for name, *cells in every:
        rest = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join((name.ljust(widths[0]), *rest))


def by_module(planted: Sequence[Planted]) -> Iterator[tuple[str, ...]]:
    """A heading, a row for each module with faults, and one for all; the share is of those that claims see."""
    yield "faults in", *(fate.value for fate in Fate), "noticed of what is seen"
    for module in dict.fromkeys(one.place.partition(":")[0] for one in planted):
        yield _fates(module, [one for one in planted if one.place.partition(":")[0] == module])
    yield _fates("all", planted)


def _fates(name: str, planted: Sequence[Planted]) -> tuple[str, ...]:
    counts = Counter(one.fate for one in planted)
    seen = counts[Fate.NOTICED] + counts[Fate.OPEN] + counts[Fate.KEPT]
    return name, *(str(counts[fate]) for fate in Fate), f"{counts[Fate.NOTICED] / seen:.1%}" if seen else "-"


def survivors(planted: Iterable[Planted]) -> Iterator[str]:
    """A line for each fault that is not noticed, with the reason."""
    return (f"{one.place}: {one.fate}, {one.by}." for one in planted if one.fate is not Fate.NOTICED)
