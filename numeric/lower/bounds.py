"""Largest certified lower bound for a run, from exactly solvable runs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum, inf, isfinite, sqrt

from flint import arb
from scipy.special import ndtr

from lastiterate.numeric.display import Displayed, TextTable, facts
from lastiterate.numeric.errors import order_or_delta, teaches
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower.gradients import admits_curvature, least_curvature
from lastiterate.numeric.lower.line import (
    MOST,
    Kinds,
    Move,
    affine_law,
    binomial_mixture,
    component_below,
    decayed,
    kinds_of_steps,
    mixture_loss,
    one_step_below,
)
from lastiterate.numeric.lower.masses import Target
from lastiterate.numeric.lower.search import interval_witnesses, widest
from lastiterate.numeric.lower.walk import Update, Walk, WalkStep, last_masses
from lastiterate.numeric.lower.witness import Witness
from lastiterate.numeric.rounding import exact, lower, precision, printed_down
from lastiterate.numeric.run import NoisySGD, described_run, extreme

_JUST_BELOW = 1 - 1e-13
_LONG = 200_000
_HIGHEST = 9.9e8
_OUTLIERS = 9.0


@teaches()
@dataclass(frozen=True)
class LowerBound(Displayed):
    """A certified lower bound and the run that attains it.

    Attributes:
        value: Renyi divergence at the order, or epsilon at the delta, in the worse direction; rounded down.
        witness: short description of the losses.
        description: the run, and how the law of its last iterate is known.
        losses: argument for `replay`, if the run is on an interval.
    """

    value: float
    witness: str
    description: str
    losses: Witness | None = None

    def table(self) -> TextTable:
        """Tabulate the value and its witness."""
        values = {
            "no bound is below": printed_down(self.value),
            "witness": self.witness,
            "run": self.description,
        }
        return facts("A certified lower bound, rounded down", values)


@teaches()
def lower_bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> LowerBound:
    """A lower bound on the privacy loss of the last iterate for some losses that satisfy the assumption.

    No valid upper bound for the described run can be smaller. Strongly convex losses on an unbounded domain
    have unbounded gradients, so the witness is a pair of update maps with the contraction and the sensitivity
    that the bounds use. Give either ``order``, above 1, for the Renyi divergence, or ``delta``, in (0, 1),
    for the epsilon of (epsilon, delta)-DP.

    Returns:
        The largest bound found, rounded down; 0 with the reason if no witness applies.

    Raises:
        InputError: an argument is out of range, or the assumption does not fit the run.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
    >>> round(lower_bound(run, Smooth(1.0), order=20.0).value, 6)
    37.576226
    """
    found = lower_bounds(run, assumption, order=order, delta=delta)
    nothing = LowerBound(
        0.0, "no witness", f"no exactly solvable run is known here: {_silence(run, assumption)}"
    )
    return max((nothing, *found), key=lambda one: one.value)


def _silence(run: NoisySGD, assumption: Assumption) -> str:
    if beyond := extreme(run, assumption):
        return f"{beyond} is beyond what floats can handle"
    kinds = {
        "a schedule": not run.constant,
        "weight decay": run.weight_decay,
        "a domain": isfinite(run.diameter),
    }
    more = "".join(f", {words}" for words, present in kinds.items() if present)
    return (
        f"with {run.scheme.name.replace('_', ' ')} batches{more} and such losses, no known run has a last iterate "
        "that can be computed and distinguishes the two data sets"
    )


def lower_bounds(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> list[LowerBound]:
    """Bounds from all witnesses that apply; arguments and errors are as in `lower_bound`."""
    order, delta = order_or_delta("A lower bound", order, delta, -inf)
    known, k = described_run("A lower bound", run, groups=True), run.group
    run = replace(known, group=1)
    if k > 1 and known.scheme.fixed and not known.batch % k:  # batches hold k copies of their samples
        run = replace(run, dataset_size=known.dataset_size // k, batch_size=known.batch // k)
    described_assumption(assumption)
    target = Target(None if order is None else min(order, _HIGHEST), delta)  # nondecreasing in the order
    largest = max(range(run.steps), key=run.step_size_at) if not run.constant else 0
    assumption.expansion(run, largest, differs=True)  # refuses a step size that the assumption forbids
    if extreme(run, assumption):
        return []
    with precision():
        return list((_on_an_interval if isfinite(run.diameter) else _on_the_line)(run, assumption, target))


def _on_the_line(run: NoisySGD, assumption: Assumption, target: Target) -> Iterator[LowerBound]:
    m = least_curvature(assumption)
    if m and not admits_curvature(assumption, m, run.diameter):
        return
    if run.scheme.fixed:
        gap, variance = _fixed(run, m)  # weight decay adds curvature only to the update
        text = "as update maps, because a quadratic has no bounded gradient here" if m else "constant gradients"
        yield LowerBound(
            target.gaussian(gap**2 / variance),
            f"{_losses(m)}, +K against -K",
            f"no projection; {text}; the last iterates are Gaussians of one variance",
        )
        return
    if (m or run.weight_decay) and run.steps > 1:
        if run.constant:
            yield from _contracting(run, assumption, target)
        if run.constant and not (m or run.scheme.permuted) and run.step_size_at(0) * run.weight_decay <= 1:
            for value, words in decayed(run, target, _moves(run)):
                text = (
                    "no projection; the last iterates are Gaussian mixtures over the steps that use the sample"
                )
                yield LowerBound(value * _JUST_BELOW, f"linear losses, {words}", text)
        return
    text = "no projection; the last iterates are Gaussian mixtures over the number of uses of the sample"
    kinds = kinds_of_steps(run)
    for pair, words in _units(run.adjacency) if kinds else ():
        yield LowerBound(_mixed(run, target, kinds, pair) * _JUST_BELOW, f"linear losses, {words}", text)


def _losses(m: float) -> str:
    return f"quadratics of curvature {m:g}" if m else "linear losses"


def _moves(run: NoisySGD) -> Iterator[Move]:
    r = run.step_size_at(0) * run.clip_norm / run.batch
    for (first, second), words in _units(run.adjacency):
        yield (first * r, second * r), words


def _units(adjacency: str) -> Iterator[Move]:
    """The moves in units of step size * clip norm / batch size, slightly reduced."""
    r = _JUST_BELOW
    if adjacency == "add_remove":
        yield (r, 0.0), "the sample at K, all others at 0"
        return
    yield (2 * r, 0.0), "+K against -K, all others at -K"
    yield (r, -r), "+K against -K, all others at 0"


@lru_cache(maxsize=1024)  # independent of the assumption
def _mixed(run: NoisySGD, target: Target, kinds: Kinds, units: tuple[float, float]) -> float:
    noise = run.noise_std_at(0)
    if run.steps == 1 and target.order is not None:
        rate, moves = lower(arb(run.batch) / run.dataset_size), [one * kinds[-1][2] for one in units]
        pairs = zip(moves, moves[::-1], strict=True)
        return max(one_step_below(target.order, rate, first, second, noise) for first, second in pairs)
    std = (
        noise * sqrt(run.steps)
        if run.constant
        else sqrt(fsum(run.noise_std_at(t) ** 2 for t in range(run.steps)))
    )
    laws = [binomial_mixture([(T, q, unit * move) for T, q, move in kinds], std) for unit in units]
    if not run.constant and max(len(law.places) for law in laws) > MOST:
        return 0.0
    found = mixture_loss(target, *laws)
    if run.constant and units[1] == 0:
        steps, q, move = kinds[-1]
        offset = sum((times * exact(units[0] * each) for times, _, each in kinds[:-1]), arb(0))
        alone = component_below(target, steps, q, units[0] * move, offset, run.steps * exact(noise) ** 2)
        found = max(found, alone)
    return found


def _fixed(run: NoisySGD, m: float) -> tuple[arb, arb]:
    """Gap between the means, and variance, of last iterates if a sample of the last batch has gradients m x +- K."""
    pull = exact(m) + exact(run.weight_decay)
    c, batches = 1 - exact(run.step_size_at(0)) * pull, run.batches
    s, sigma = 2 * exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch, exact(run.noise_std_at(0))
    if run.constant:
        met = (run.steps - 1) // batches + 1
        return affine_law(c**batches, met, s, sigma)[0], affine_law(c, run.steps, s, sigma)[1]
    gap, variance = arb(0), arb(0)
    if run.steps > _LONG:
        return gap, arb(1)
    for t in range(run.steps):
        eta = exact(run.step_size_at(t))
        c = 1 - eta * pull
        differs = (run.steps - 1 - t) % batches == 0
        gap = c * gap + (2 * eta * exact(run.clip_norm) / run.batch if differs else 0)
        variance = c**2 * variance + exact(run.noise_std_at(t)) ** 2
    return gap, variance


def _on_an_interval(run: NoisySGD, assumption: Assumption, target: Target) -> Iterator[LowerBound]:
    t = run.steps - 1
    step_size, noise, size = run.step_size_at(t), run.noise_std_at(t), run.batch_at(t)
    last = replace(run, steps=1, diameter=inf, step_size=step_size, noise_std=noise, batch_size=size)
    bend = least_curvature(assumption) * run.diameter / 2  # gradient along the domain
    left = sqrt(max(run.clip_norm**2 - bend**2, 0.0)) * _JUST_BELOW if bend else run.clip_norm
    for one in _on_the_line(replace(last, clip_norm=left), assumption, target) if left else ():
        words = "in a ball of many dimensions and very small radius, where only the last step counts"
        yield replace(one, description=words)
    # Walks with both weight decay and a projection, or with several batch sizes, are not supported.
    followed = not run.weight_decay and len(run.batch_sizes) == 1
    for words, witness in interval_witnesses(run, assumption, target) if followed else ():
        place = f"a capsule around an interval of length {2 * witness.half:.6g}; certified propagation of the density"
        yield LowerBound(witness.value, words, place, witness)


def _contracting(run: NoisySGD, assumption: Assumption, target: Target) -> Iterator[LowerBound]:
    """Quadratics without projection, as walks on an interval; the probability of leaving it is added to the error."""
    eta, noise, h = run.step_size_at(0), run.noise_std_at(0), least_curvature(assumption)
    extra = 4 * run.steps * float(ndtr(-_OUTLIERS)) * 1.01
    while (
        run.scheme.fixed_size
        and eta * (h + run.weight_decay) <= 1
        and admits_curvature(assumption, h, run.diameter)
    ):
        c = 1 - eta * (h + run.weight_decay)
        halves = {
            words: abs(moves[0]) / (1 - c) + _OUTLIERS * noise / sqrt(1 - c * c) if c < 1 else inf
            for moves, words in _moves(run)
        }
        if 2 * max(halves.values()) <= widest(run) * noise:
            for moves, words in _moves(run):
                first, second = (last_masses(_walk(run, halves[words], c, move), extra=extra) for move in moves)
                if first is not None and second is not None:
                    yield LowerBound(
                        target.of_masses(first, second) * _JUST_BELOW,
                        f"{_losses(h)}, {words}",
                        "as update maps on the line, where iterates hardly ever leave an interval of length "
                        f"{2 * halves[words]:g}; certified propagation of the density",
                    )
            return
        if not h:
            return
        h *= 1.5


def _walk(run: NoisySGD, half: float, slope: float, move: float) -> Walk:
    plain, met = (((1.0, Update.affine(slope, drift, half)),) for drift in (0.0, move))
    epoch = run.batches if run.scheme.permuted else 1
    step = WalkStep(run.noise_std_at(0), plain, met, run.batch / run.dataset_size if epoch == 1 else 0.0)
    return Walk(run.steps, 2 * half, (step,), epoch)
