"""Runs beyond the reach of floats: which they are, and the refusal of what needs floats.

The searches for a cheap path run in floats, and their certificates count on relative errors of a few units in the
last place. Both end where products and squares leave the range of floats. `bound` answers for such a run all the
same (`plain_optimum`); what rests on floats throughout refuses it.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.moduli import Assumption
from lastiterate.numeric.run import NoisySGD

__all__ = ["extreme", "refuse_extreme"]

_LENGTH, _APART = 1e60, 1e30


def extreme(run: NoisySGD, assumption: Assumption) -> str:
    """The first number of the run or the assumption that the float searches cannot take, as ``name=value``; or ""."""
    for name, value in _described(run):
        if isfinite(value) and not 1 / _LENGTH <= value <= _LENGTH:
            return f"{name}={value:g}"
    for name, value in _constants(assumption):  # tiny ones do no harm, but for distances that are told apart
        if value > _LENGTH or (name.startswith("distances") and value < 1 / _LENGTH):
            return f"{name}={value:g}"
    steps = range(1 if run.constant else run.steps)
    etas = [run.step_size_at(t) for t in steps]
    noises = [run.noise_std_at(t) for t in steps]
    moves = [eta * run.clip_norm for eta in (min(etas), max(etas))]  # in range: each factor is
    lengths = {
        "step_size * clip_norm / batch_size": (moves[0] / run.batch, moves[1]),
        "noise_std": (min(noises), max(noises)),
        "diameter": (run.diameter, run.diameter) if isfinite(run.diameter) else (min(noises), min(noises)),
    }
    (least_name, least), (most_name, most) = (
        min(((name, low) for name, (low, _) in lengths.items()), key=lambda pair: pair[1]),
        max(((name, high) for name, (_, high) in lengths.items()), key=lambda pair: pair[1]),
    )
    if most > least * _APART:
        return f"{most_name}={most:g} beside {least_name}={least:g}"
    for name, value in _constants(assumption):
        if value * max(etas) > _APART:
            return f"{name}={value:g} with step_size={max(etas):g}"
    return ""


def refuse_extreme(what: str, run: NoisySGD, assumption: Assumption) -> None:
    """Raise an `InputError` where floats cannot search; ``what`` needs them to."""
    found = extreme(run, assumption)
    if found:
        raise InputError(
            f"{what} needs numbers between {1 / _LENGTH:g} and {_LENGTH:g}, lengths within a factor of {_APART:g} of "
            f"each other, got {found}; measure lengths in another unit, or call bound, which answers all the same."
        )


def _described(run: NoisySGD) -> Iterator[tuple[str, float]]:
    yield from (("clip_norm", run.clip_norm), ("diameter", run.diameter))
    for name, value in (("step_size", run.step_size), ("noise_std", run.noise_std)):
        if isinstance(value, tuple):
            yield from ((f"{name}[{t}]", entry) for t, entry in enumerate(value))
        else:
            yield name, value


def _constants(assumption: object, name: str = "assumption") -> Iterator[tuple[str, float]]:
    """Every number in an assumption, parts and tables included."""
    if isinstance(assumption, int | float):
        yield name, float(assumption)
    elif isinstance(assumption, tuple):
        for i, part in enumerate(assumption):
            yield from _constants(part, f"{name}[{i}]")
    elif is_dataclass(assumption):
        for one in fields(assumption):
            yield from _constants(getattr(assumption, one.name), one.name)
