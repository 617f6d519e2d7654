"""State of the accountant in a checkpoint: plain numbers, validated when read back."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count, positive, real
from lastiterate.runtime.opacus.description import Description

_KEYS = {"history", "mechanism", "step_sizes", "projected", "description"}


class State(NamedTuple):
    """Steps counted, and the description of the training, so far.

    Attributes:
        history: (noise multiplier, sampling rate, number of steps) of runs of equal steps.
        step_sizes: (step size, number of steps) of runs of equal steps; 0 where it is not known.
        projected: after how many steps there was a projection.
        description: of the training; None if there is none.
    """

    history: list[tuple[float, float, int]]
    step_sizes: list[tuple[float, int]]
    projected: int
    description: Description | None

    def plainly(self, mechanism: str) -> "OrderedDict[str, Any]":
        """Numbers, texts and lists of them; shares nothing with this."""
        return OrderedDict(
            history=list(self.history),
            mechanism=mechanism,
            step_sizes=list(self.step_sizes),
            projected=self.projected,
            description=None if self.description is None else asdict(self.description),
        )


def loaded(state: Mapping[str, Any], mechanism: str) -> State:
    """Read back the state that `State.plainly` wrote.

    Raises:
        InputError: keys are missing or unknown, or a value is not what `State.plainly` writes.
    """
    if not isinstance(state, Mapping):
        raise InputError(f"The state needs to be a mapping, got state={type(state).__name__}; load a state_dict.")
    keys = set(state)
    if "mechanism" in keys and state["mechanism"] != mechanism:
        raise InputError(
            f"The state needs mechanism={mechanism!r}, got mechanism={state['mechanism']!r}; "
            "load it into the accountant that wrote it."
        )
    if keys != _KEYS:
        raise InputError(
            f"The state needs the keys {', '.join(sorted(_KEYS))}, got missing={sorted(_KEYS - keys)} and "
            f"unknown={sorted(map(str, keys - _KEYS))}; load a state of this accountant."
        )
    history = [
        (positive("noise_multiplier", a), positive("sample_rate", b), count("steps", c))
        for a, b, c in _rows(state["history"], 3)
    ]
    sizes = [
        (real("step_size", a, "a number of at least 0"), count("steps", b)) for a, b in _rows(state["step_sizes"], 2)
    ]
    told = state["description"]
    if told is not None and (not isinstance(told, Mapping) or set(told) != {one.name for one in fields(Description)}):
        raise InputError(f"The state needs a whole description, got description={told!r}; load an intact one.")
    if sum(times for *_, times in history) != sum(times for _, times in sizes):
        raise InputError("The state needs a step size for every step, got lists of other lengths; load another.")
    return State(history, sizes, _steps("projected", state["projected"]), None if told is None else Description(**told))


def _steps(name: str, value: Any) -> int:
    return 0 if value == 0 else count(name, value)


def _rows(value: Any, width: int) -> list[Any]:
    if not isinstance(value, list) or any(not isinstance(row, list | tuple) or len(row) != width for row in value):
        raise InputError(f"The state needs rows of {width} numbers, got {value!r}; load an intact one.")
    return value
