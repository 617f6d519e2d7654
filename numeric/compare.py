"""Every theorem that applies to a run, side by side: below, ours, the papers', composition."""

from dataclasses import dataclass, replace
from math import inf, isfinite, nextafter

from lastiterate.numeric.accounting.rdp import composed_rdp
from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.registry import THEOREMS
from lastiterate.numeric.results import Bound, RenyiBound, rdp_epsilon
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shuffling.shuffled import mean_routes, worst_routes
from lastiterate.numeric.subsampling.without_replacement import sampled_routes

__all__ = ["Row", "compare"]


@dataclass(frozen=True)
class Row:
    """One theorem's number for a run.

    Attributes:
        name: the theorem in `lastiterate.numeric.published.registry`, or "lower", "bound", "composition", "last_step".
        title: the theorem, as a reader knows it.
        claim: its key in the ledger, where its verdict stands; empty for a lower bound, which is certified by itself,
            and for a conjecture, which has none.
        epsilon: Renyi epsilon at the order asked for; inf where the theorem says nothing.
        kind: "lower" (no bound can be below it), "bound", "conjecture" (what our bound would be if one step without
            replacement cost no more than its worst known example), or of a paper's claim that does not hold
            "refuted" or "gap".
        ratio: epsilon over the lower bound, rounded up; inf where the lower bound is 0. Below 1 the
            number is too small for some run that meets the assumptions.
    """

    name: str
    title: str
    claim: str
    epsilon: float
    kind: str
    ratio: float

    @property
    def usable(self) -> bool:
        """Whether the number is a bound, proved here."""
        return self.kind == "bound"


def compare(run: NoisySGD, assumption: Assumption, *, order: float) -> tuple[Row, ...]:
    """A certified lower bound, ours, the papers' theorems that apply, and the trivial bounds, at one order.

    Args:
        run: the run; most of the papers' theorems are for constant step size and noise.
        assumption: what is assumed of the losses.
        order: alpha > 1.

    Returns:
        Rows in that order. The epsilon of a row of kind "refuted" or "gap" is a claim of a paper, not a bound.

    Raises:
        InputError: as `lastiterate.numeric.bound.bound`.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> [(row.name, round(row.epsilon, 4)) for row in compare(run, Smooth(1), order=2)][1:3]
    [('bound', 0.4992), ('output_perturbation', 1.0)]
    """
    ours = bound(run, assumption, order=order)
    least = lower_bound(run, assumption, order=order)
    rows: list[_Entry] = [
        ("lower", f"below: {least.witness}", "", least.value, "lower"),
        ("bound", f"ours, by {ours.route}", ours.theorem, ours.epsilon, "bound"),
    ]
    rows += [
        (theorem.name, theorem.title, theorem.claim, theorem.evaluate(run, assumption, order), theorem.kind)
        for theorem in THEOREMS.values()
        if not theorem.refusal(run, assumption)
    ]
    rows += _conjecture(run, order, ours)
    rows += _trivial(run, assumption, order, ours)
    return tuple(Row(*row, ratio=_ratio(row[3], least.value)) for row in rows if isfinite(row[3]))


_Entry = tuple[str, str, str, float, str]


def _conjecture(run: NoisySGD, order: float, ours: Bound | RenyiBound) -> list[_Entry]:
    """Our bound with S_up at shift 2 eta K / b as the price of a step without replacement: attained, not proved."""
    if run.adjacency != "replace" or not isinstance(ours, RenyiBound) or not ours.composed.steps:
        return []
    steps = tuple(replace(step, adjacency="add_remove") for step in ours.composed.steps)
    epsilon = composed_rdp(replace(ours.composed, steps=steps), order)
    return [("conjecture", "conjecture: a step costs S_up at shift 2 eta K/b", "", epsilon, "conjecture")]


def _trivial(run: NoisySGD, assumption: Assumption, order: float, ours: Bound | RenyiBound) -> list[_Entry]:
    """What needs no theorem: one last step, the worst case over batches, composition."""
    if run.sampling == "shuffled" and run.batches > 1:
        return _orders(run, assumption, order)
    if isinstance(ours, RenyiBound):
        return [
            (one.route.replace(" ", "_"), _ROUTES[one.route], ours.theorem, one.epsilon, "bound")
            for one in sorted(sampled_routes(run, assumption, order), key=lambda one: list(_ROUTES).index(one.route))
            if one.route != "window of shifts" or one.route != ours.route
        ]
    program = ShiftProgram(run, assumption, ours.position)
    with precision():
        last, all_steps = upper(program.last_step()), upper(program.composition())
    return [
        ("last_step", "one last step from the domain", _LAST_STEP, rdp_epsilon(last, order), "bound"),
        ("composition", _ALL, _COMPOSITION, rdp_epsilon(all_steps, order), "bound"),
    ]


def _orders(run: NoisySGD, assumption: Assumption, order: float) -> list[_Entry]:
    """Shuffled batches: the best for the mean over orders and for every order, one last step, composition."""
    with precision():
        always = {one.route: rdp_epsilon(upper(one.cost), order) for one in reversed(worst_routes(run, assumption))}
    mean = min(mean_routes(run, assumption, order), key=lambda one: one.epsilon)
    worst = min(always, key=lambda route: always[route])
    claim = "ours/shuffled/worst"
    rows: list[_Entry] = [
        ("mean", f"the mean over orders, by {mean.route}", "ours/shuffled/mean", mean.epsilon, "bound"),
        ("worst", f"every order, by {worst}", claim, always[worst], "bound"),
    ]
    known = (("last_step", "one last step from the domain", "one last step"), ("composition", _ALL, "composition"))
    return rows + [(name, title, claim, always[route], "bound") for name, title, route in known if route in always]


_LAST_STEP, _COMPOSITION = "chien_li/remarks_3_1/last_step", "chien_li/theorem_3_1/composition"

_ROUTES = {
    "window of shifts": "a window of shifts",
    "worst batches": "the worst case over batches",
    "composition": "composition of all steps, with amplification",
}
_ALL = "composition of all steps"


def _ratio(value: float, least: float) -> float:
    if least == 0:
        return inf
    return value / least if value == least else nextafter(value / least, inf)
