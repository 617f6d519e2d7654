"""The greatest certified lower bound that the exactly solvable runs give for a described run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, sqrt

from flint import arb
from scipy.special import ndtr

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower.line import (
    BinomialLaw,
    affine_law,
    component_below,
    gaussian_epsilon_below,
    mixture_masses,
    one_step_below,
)
from lastiterate.numeric.lower.losses import admits_constant, admits_curvature, least_curvature, steepest_push
from lastiterate.numeric.lower.masses import Masses, epsilon_below, renyi_below
from lastiterate.numeric.lower.walk import WIDEST, Update, Walk, last_masses
from lastiterate.numeric.rounding import exact, geometric_sum, lower, precision
from lastiterate.numeric.run import NoisySGD, chance, described_run, refuse_extreme, within

_JUST_BELOW = 1 - 1e-13
_LONG = 200_000
_HIGHEST = 1e9
_OUTLIERS = 9.0
_NARROW = 50.0
_SHORT = 600


@dataclass(frozen=True)
class LowerBound:
    """A certified lower bound, and the run that attains it.

    Attributes:
        value: Renyi divergence at the order, or epsilon at the delta, rounded down; of either law from the other.
        witness: the losses, in a few words.
        description: what the run is, and how its last iterate is known.
    """

    value: float
    witness: str
    description: str


@dataclass(frozen=True)
class _Target:
    """The quantity that is bounded from below."""

    order: float | None
    delta: float | None

    def gaussian(self, squared: arb) -> float:
        """For N(mu, 1) and N(0, 1) with mu^2 = ``squared``."""
        if self.order is not None:
            return lower(exact(self.order) * squared / 2)
        return gaussian_epsilon_below(squared.sqrt(), float(self.delta or 0))

    def masses(self, first: Masses, second: Masses) -> float:
        """For two laws that are known by the masses of cells: the greater of both orders."""
        pairs = ((first, second), (second, first))
        if self.order is not None:
            return max(renyi_below(self.order, *pair) for pair in pairs)
        return max(epsilon_below(float(self.delta or 0), *pair) for pair in pairs)


def lower_bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> LowerBound:
    """A lower bound of the privacy loss of the last iterate of some run that meets the assumption.

    No valid upper bound for the described run can be below it. Strongly convex losses on an unbounded domain have no
    bounded gradients; there the witness is a pair of update maps with the contraction and the sensitivity that bounds
    use, which its description says.

    Args:
        run: the run.
        assumption: what is assumed of the losses.
        order: alpha > 1, for the Renyi divergence; or
        delta: in (0, 1), for the epsilon of (epsilon, delta)-DP. Exactly one of the two.

    Returns:
        The greatest found, rounded down; 0 where no witness speaks.

    Raises:
        InputError: an argument is out of range, or the assumption does not fit the run, or its numbers are
            beyond floats.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
    >>> round(lower_bound(run, Smooth(1.0), order=20.0).value, 6)
    37.576226
    """
    nothing = LowerBound(0.0, "no witness", "no exactly solvable run speaks of this one")
    return max((nothing, *lower_bounds(run, assumption, order=order, delta=delta)), key=lambda one: one.value)


def lower_bounds(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> list[LowerBound]:
    """Every witness that speaks of the run; arguments, errors and units as `lower_bound`."""
    if (order is None) == (delta is None):
        raise InputError(f"A lower bound needs an order or a delta, got order={order}, delta={delta}; pass one.")
    described_run("A lower bound", run)
    described_assumption(assumption)
    delta = None if delta is None else chance("delta", delta)
    if order is not None:
        need = f"a number above 1 and below {_HIGHEST:g}"
        order = within("order", order, need, lambda x: 1 < x < _HIGHEST, "2 is customary.")
    target = _Target(order, delta)
    refuse_extreme("A lower bound", run, assumption)
    widest = max(range(run.steps), key=run.step_size_at) if not run.constant else 0
    assumption.expansion(run, widest, differs=True)  # refuses a step size that the assumption forbids
    with precision():
        if isfinite(run.diameter):
            return list(_on_an_interval(run, assumption, target))
        return list(_on_the_line(run, assumption, target))


def _on_the_line(run: NoisySGD, assumption: Assumption, target: _Target) -> Iterator[LowerBound]:
    m = least_curvature(assumption)
    if m and not admits_curvature(assumption, m, run.diameter):
        return
    if run.scheme.fixed:
        gap, variance = _fixed(run, m)
        losses = f"quadratics of curvature {m:g}" if m else "linear losses"
        text = "as update maps: a quadratic has no bounded gradient here" if m else "constant gradients"
        yield LowerBound(
            target.gaussian(gap**2 / variance),
            f"{losses}, +K against -K",
            f"no projection; {text}; the last iterates are Gaussians of one variance",
        )
        return
    if m and run.steps > 1:
        if run.constant:
            yield from _contracting(run, assumption, target)
        return
    if run.constant:
        for moves, words in _moves(run):
            yield LowerBound(
                _mixed(run, target, moves),
                f"linear losses, {words}",
                "no projection; the last iterates are mixtures of Gaussians over how often the sample was met",
            )


def _moves(run: NoisySGD) -> Iterator[tuple[tuple[float, float], str]]:
    """By how much a step that meets the sample moves the two runs, beyond one that does not; lengths."""
    r = run.step_size_at(0) * run.clip_norm / run.batch * _JUST_BELOW
    if run.adjacency == "add_remove":
        yield (r, 0.0), "the sample at K, all others at 0"
        return
    yield (2 * r, 0.0), "+K against -K, all others at -K"
    yield (r, -r), "+K against -K, all others at 0"


def _mixed(run: NoisySGD, target: _Target, moves: tuple[float, float]) -> float:
    noise, rate = run.noise_std_at(0), lower(arb(run.batch) / run.dataset_size)
    if run.steps == 1 and target.order is not None:
        pairs = (moves, (moves[1], moves[0]))
        return max(one_step_below(target.order, rate, one, other, noise) for one, other in pairs)
    width, found = noise * sqrt(run.steps), []
    for pair in (moves, moves[::-1]):
        if run.scheme.permuted:  # once in every whole epoch, and perhaps in the last one
            epochs, part = divmod(run.steps, run.batches)
            laws = [BinomialLaw(1, Fraction(part, run.batches), move, width) for move in pair]
            offsets = (epochs * pair[0], epochs * pair[1])
        else:
            rates = Fraction(run.batch, run.dataset_size)
            laws, offsets = [BinomialLaw(run.steps, rates, move, noise) for move in pair], (0.0, 0.0)
        if pair[1] == 0:
            found.append(component_below(target.order, target.delta, laws[0], offsets[0]))
        try:
            found.append(target.masses(*mixture_masses(target.order, laws[0], laws[1], offsets)))
        except ArithmeticError:  # too far apart for floats
            found.append(0.0)
    return max(found) * _JUST_BELOW


def _fixed(run: NoisySGD, m: float) -> tuple[arb, arb]:
    """Gap of the means and variance of the last iterates for gradients m x +- K, at the batch of the last step."""
    c, batches = 1 - exact(run.step_size_at(0)) * exact(m), run.batches
    s, sigma = 2 * exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch, exact(run.noise_std_at(0))
    if run.constant and batches == 1:
        return affine_law(c, run.steps, s, sigma)
    if run.constant:
        met = -(-run.steps // batches) if not m else (run.steps - 1) // batches + 1
        return s * (1 + geometric_sum(c**batches, met - 1)), sigma**2 * (1 + geometric_sum(c * c, run.steps - 1))
    gap, variance = arb(0), arb(0)
    if run.steps > _LONG:
        return gap, arb(1)
    for t in range(run.steps):
        eta = exact(run.step_size_at(t))
        c = 1 - eta * exact(m)
        differs = (run.steps - 1 - t) % batches == 0
        gap = c * gap + (2 * eta * exact(run.clip_norm) / run.batch if differs else 0)
        variance = c**2 * variance + exact(run.noise_std_at(t)) ** 2
    return gap, variance


def _on_an_interval(run: NoisySGD, assumption: Assumption, target: _Target) -> Iterator[LowerBound]:
    """Walks on [-D'/2, D'/2], the first coordinate of a box of diameter D, D' <= D."""
    if not run.constant and run.steps > 1:
        return
    eta, K, b = run.step_size_at(0), run.clip_norm * _JUST_BELOW, run.batch
    width, m = min(run.diameter, _widest(run) * run.noise_std_at(0)), least_curvature(assumption)
    tilt = K - m * run.diameter / 2
    if tilt > 0 and admits_curvature(assumption, m, run.diameter) and (run.scheme.fixed_size or not m):
        words = f"clamped quadratics of curvature {m:g}" if m else "clamped linear losses"
        c, r = 1 - eta * m, eta * tilt / b
        yield from _pair(run, target, width, words, Update(c, 0.0), (r, 0.0 if run.adjacency == "add_remove" else -r))
        if run.scheme.fixed_size and not run.scheme.fixed:
            others = Update(c, -eta * tilt)
            yield from _pair(run, target, width, f"{words}, all others pull one way", others, (2 * r, 0.0))
    constant = run.scheme.fixed_size and admits_constant(assumption)
    kappa = steepest_push(assumption, run) if constant else 0.0
    if kappa > 0:
        plain = Update(1.0, 0.0, eta * K, K / kappa)
        r = eta * K / b
        yield from _pair(run, target, width, "gradients that push outwards as hard as they may", plain, (r, -r))


def _widest(run: NoisySGD) -> float:
    """Length of an interval in units of the noise; the epochs of long shuffled runs cost many products of kernels."""
    return _NARROW if run.scheme.permuted and run.steps > _SHORT else WIDEST


def _pair(
    run: NoisySGD,
    target: _Target,
    width: float,
    words: str,
    plain: Update,
    moves: tuple[float, float],
    extra: float = 0.0,
) -> Iterator[LowerBound]:
    """The two walks in which the sample moves an update by one or the other length."""
    share = (run.batch - 1) / run.batch
    met = [replace(plain, drift=plain.drift + move, push=plain.push * share) for move in moves]
    laws: list[Masses] = []
    for update in met:
        mirrored = laws and plain.drift == 0 and moves[0] == -moves[1]
        law = laws[0] if mirrored else last_masses(_walk(run, width, plain, update), extra)
        if law is None:
            return
        laws.append(Masses(law.low[::-1], law.high[::-1]) if mirrored else law)
    place = f"on an interval of length {width:g}, from its middle"
    if extra:
        place = f"as update maps on the line, of which an interval of length {width:g} is hardly ever left"
    text = f"{place}; certified propagation of the density"
    yield LowerBound(target.masses(*laws) * _JUST_BELOW, words, text)


def _walk(run: NoisySGD, width: float, plain: Update, met: Update) -> Walk:
    walk = Walk(run.steps, run.noise_std_at(0), width, plain, met)
    if run.batch == run.dataset_size:
        return walk
    if run.scheme.random:
        return replace(walk, chance=run.batch / run.dataset_size)
    position = (run.steps - 1) % run.batches if run.scheme.fixed else None
    return replace(walk, epoch=run.batches, position=position)


def _contracting(run: NoisySGD, assumption: Assumption, target: _Target) -> Iterator[LowerBound]:
    """Quadratics without projection: a walk on an interval that is hardly ever left; leaving it is an error.

    The curvature is the least that the assumption asks for, or the least multiple for which the interval is narrow
    enough to be resolved.
    """
    eta, noise, h = run.step_size_at(0), run.noise_std_at(0), least_curvature(assumption)
    extra = 4 * run.steps * float(ndtr(-_OUTLIERS)) * 1.01
    while run.scheme.fixed_size and eta * h <= 1 and admits_curvature(assumption, h, run.diameter):
        c = 1 - eta * h
        halves = {
            words: abs(moves[0]) / (1 - c) + _OUTLIERS * noise / sqrt(1 - c * c) if c < 1 else inf
            for moves, words in _moves(run)
        }
        if 2 * max(halves.values()) <= _widest(run) * noise:
            for moves, words in _moves(run):
                losses = f"quadratics of curvature {h:g}, {words}"
                yield from _pair(run, target, 2 * halves[words], losses, Update(c, 0.0), moves, extra)
            return
        h *= 1.5
