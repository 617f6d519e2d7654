"""Attacks whose batches are not full: linear losses, projected to an interval or not at all.

Without projection and without replacement all other samples have gradient -K, and so has the sample that differs on one
of the two data sets: a run that meets it is moved by 2 eta K / b against the other. That attains S_up at this shift.
"""

from fractions import Fraction
from functools import lru_cache

from lastiterate.numeric.lower.course import Course, course_masses
from lastiterate.numeric.lower.grid import Update
from lastiterate.numeric.lower.line import BinomialLaw, mixture_masses
from lastiterate.numeric.lower.masses import renyi_below
from lastiterate.numeric.lower.walk import Walk, last_masses
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.attacks.record import JUST_BELOW, Assumed, Attack, BothDirections, Setting

MAX_STEPS = 200


def _moves(run: NoisySGD) -> tuple[float, float]:
    """By how much a batch with the sample moves either run, next to one without it; lengths, rounded towards 0."""
    r = run.step_size_at(0) * run.clip_norm / run.batch * JUST_BELOW
    return (r, 0.0) if run.adjacency == "add_remove" else (r, -r)


@lru_cache(maxsize=4096)
def _on_the_line(run: NoisySGD, order: float) -> BothDirections | None:
    first, second = _moves(run)
    if run.scheme.fixed:
        with precision():
            gap = exact(first - second) * ((run.steps - 1) // run.batches + 1)
            value = lower(exact(order) * gap**2 / (2 * run.steps * exact(run.noise_std_at(0)) ** 2))
        return BothDirections(value * JUST_BELOW, value * JUST_BELOW)
    if run.steps > MAX_STEPS:
        return None
    rate = Fraction(run.batch, run.dataset_size)
    up, base = (BinomialLaw(run.steps, rate, move, run.noise_std_at(0)) for move in (first - second, 0.0))
    try:
        return BothDirections(*(renyi_below(order, *mixture_masses(order, *pair)) for pair in ((up, base), (base, up))))
    except ArithmeticError:  # too far apart for floats
        return None


@lru_cache(maxsize=4096)
def _on_an_interval(run: NoisySGD, order: float) -> BothDirections | None:
    noise, laws = run.noise_std_at(0), []
    for move in _moves(run):
        plain, met = (Update.affine(1.0, drift, run.diameter / 2) for drift in (0.0, move))
        if run.scheme.fixed:
            cycle = ((plain, noise),) * (run.batches - 1) + ((met, noise),)
            law = course_masses(Course(run.steps, cycle, run.diameter))
        else:
            chance = run.batch / run.dataset_size
            law = last_masses(Walk(run.steps, noise, run.diameter, ((1.0, plain),), ((1.0, met),), chance))
        if law is None:
            return None
        laws.append(law)
    return BothDirections(renyi_below(order, *laws) * JUST_BELOW, renyi_below(order, *laws[::-1]) * JUST_BELOW)


def _attack(sampling: str, *, bounded: bool) -> Attack:
    def attack(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
        if bounded and setting["T"] > MAX_STEPS:
            return None
        run = run_of(setting, sampling)
        return _on_an_interval(run, setting["alpha"]) if bounded else _on_the_line(run, setting["alpha"])

    return Attack(
        name=f"{'clamped' if bounded else 'linear'}_{sampling}",
        run=f"constant gradients, {sampling} batches of the largest proper divisor of n; the sample that differs "
        "pushes one run up",
        meets=frozenset(Assumed) - {Assumed.SENSITIVITY, Assumed.STRONGLY_CONVEX},
        bounded=bounded,
        maps=False,
        solve=attack,
    )


BATCHES = tuple(
    _attack(sampling, bounded=bounded)
    for sampling in ("without_replacement", "poisson", "cyclic")
    for bounded in (False, True)
)
"""One attack a scheme, with projection and without."""
