"""Comparison of theorems that apply to a run: lower bound, our bound, the papers' theorems, and composition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nextafter
from typing import Any

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.bound import Bound, bound, candidates
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import renyi_order, teaches
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.record import USABLE, kind_of
from lastiterate.numeric.published.theorems import THEOREMS
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.numeric.run import NoisySGD, described_run


@dataclass(frozen=True)
class Row(Displayed):
    """Epsilon of a run by one theorem.

    Attributes:
        claim: key of the theorem's claim; empty for a lower bound.
        kind: "lower" for the lower bound, or as in `lastiterate.numeric.published.record.kind_of`.
        ratio: ratio of epsilon to the lower bound, rounded up; if below 1, epsilon is not a bound.
    """

    name: str
    title: str
    claim: str
    epsilon: float
    kind: str
    ratio: float

    @property
    def usable(self) -> bool:
        """Tell whether epsilon can be used as a bound: whether its claim is proved or supported."""
        return self.kind in USABLE

    def table(self) -> TextTable:
        epsilon = printed_down(self.epsilon) if self.kind == "lower" else printed_up(self.epsilon)
        cells = self.title, epsilon, self.kind, printed_up(self.ratio, 3)
        return TextTable("Rényi epsilon", ("theorem", "epsilon", "kind", "ratio to below"), (cells,))


@teaches()
@dataclass(frozen=True)
class Comparison(Displayed, Sequence[Row]):
    """Rows returned by `compare`, in order."""

    rows: tuple[Row, ...]
    order: float

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def table(self) -> TextTable:
        tables = [row.table() for row in self.rows]
        rows = tuple(table.rows[0] for table in tables)
        return TextTable(f"Rényi epsilon at order {self.order:g}", tables[0].columns, rows)

    def records(self) -> list[dict[str, Any]]:
        return [row.as_dict() | {"order": self.order} for row in self.rows]


@teaches(delta="theorems are compared by Renyi divergence, at an order; bound and lower_bound accept a delta.")
def compare(run: NoisySGD, assumption: Assumption, *, order: float) -> Comparison:
    """Compare a certified lower bound, our bound, the papers' theorems and trivial bounds at a Renyi order.

    In a row of kind "refuted" or "gap", epsilon is what a paper claims, not a bound. Most of the papers'
    theorems assume constant step size and noise.

    Raises:
        InputError: as in `lastiterate.numeric.bound.bound`.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> {row.name: round(row.epsilon, 4) for row in compare(run, Smooth(1), order=2)[1:3]}
    {'bound': 0.0142, 'output_perturbation': 1.0}
    """
    order = renyi_order(order)
    described_run("compare", run, groups=True)
    ours = bound(run, assumption, order=order)
    least = lower_bound(run, assumption, order=order)
    entries: list[_Entry] = [("lower", f"below: {least.witness}", "", least.value, "lower")]
    entries += [
        (theorem.name, theorem.title, theorem.claim, theorem.evaluate(run, assumption, order), theorem.kind)
        for theorem in THEOREMS.values()
        if not theorem.refusal(run, assumption)
    ]
    entries[1:1] = [("bound", f"ours, by {ours.route}", ours.claim, ours.epsilon, kind_of(ours.claim))]
    entries += [_entry(*one, order) for one in _routes(run, assumption, order, ours)]
    rows = tuple(Row(*row, ratio=_ratio(row[3], least.value)) for row in entries if isfinite(row[3]))
    return Comparison(rows, order)


_Entry = tuple[str, str, str, float, str]


def _entry(name: str, words: str, found: Candidate, order: float) -> _Entry:
    title = words if name in _TITLES else f"{words}, by {found.route}"
    return name, title, found.claim, found.value(order, None), kind_of(found.claim)


def _routes(
    run: NoisySGD, assumption: Assumption, order: float, ours: Bound
) -> Iterator[tuple[str, str, Candidate]]:
    """Our other routes and the trivial bounds: one last step, the worst case over batches, and composition."""
    found = candidates(run, assumption, order, None, every=True)
    if isinstance(ours.candidate, TableCandidate) and not run.scheme.random:
        yield "shifts", "shifts alone", ours.candidate.other
    if run.scheme.permuted:
        means = [one for one in found if one.claim == _MEAN]
        found = [one for one in found if one.claim == _WORST]
        for name, words, group in (
            ("mean", "the mean over orders", means),
            ("worst", "every order", found[::-1]),
        ):
            if group:  # there is no mean over orders for groups of samples
                yield name, words, min(group, key=lambda one: one.rdp(order))
    by_route = {
        one.route.partition(", mu times")[0]: one for one in reversed(found[1:] if run.scheme.fixed else found)
    }
    if run.scheme.random and ours.route == "window of shifts":
        del by_route[ours.route]
    for name, title in _TITLES.items():
        if one := by_route.get(name.replace("_", " ") if name != "last_step" else "one last step"):
            yield (
                name,
                f"{title}, with amplification" if run.scheme.random and name == "composition" else title,
                one,
            )


_MEAN, _WORST = "ours/shuffled/mean", "ours/shuffled/worst"
_TITLES = {
    "window_of_shifts": "a window of shifts",
    "worst_batches": "the worst case over batches",
    "last_step": "one last step from the domain",
    "composition": "composition of all steps",
}


def _ratio(value: float, least: float) -> float:
    if least == 0:
        return inf
    return value / least if value == least else nextafter(value / least, inf)
