"""State of the accountant in a checkpoint: plain numbers, validated when read back."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from lastiterate.numeric.errors import InputError, echo
from lastiterate.runtime.opacus.description import Description

_Positive = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
_AtLeastZero = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
_Count = Annotated[int, Field(gt=0, strict=True)]


class State(BaseModel, extra="forbid"):
    """Steps counted, and the description of the training, so far.

    Attributes:
        mechanism: name of the accountant.
        history: (noise multiplier, sampling rate, number of steps) of runs of equal steps.
        step_sizes: (step size, number of steps) of runs of equal steps; 0 where it is not known.
        projected: after how many steps there was a projection.
        description: of the training; None if there is none.
        parameters: a fingerprint of what the last step left; empty where that is not known.
    """

    mechanism: str
    history: list[tuple[_Positive, _Positive, _Count]]
    step_sizes: list[tuple[_AtLeastZero, _Count]]
    projected: Annotated[int, Field(ge=0, strict=True)]
    description: Description | None
    parameters: str = ""


def one_more(runs: list[Any], kind: tuple[float, ...]) -> None:
    """One more of a kind at the end of a list of (*kind, number)."""
    times = runs.pop()[-1] if runs and runs[-1][:-1] == kind else 0
    runs.append((*kind, times + 1))


def loaded(state: Mapping[str, Any], mechanism: str) -> State:
    """Read back what `State.model_dump` gave.

    Raises:
        InputError: keys are missing or unknown, or a value is not what was written.
    """
    try:
        found = TypeAdapter(State).validate_python(state)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "state"
        raise InputError(
            f"The state needs to be as state_dict wrote it, got {place}={echo(first['input'], 80)} ({first['msg']}); "
            "load an intact one."
        ) from None
    if found.mechanism != mechanism:
        raise InputError(
            f"The state needs mechanism={mechanism!r}, got mechanism={found.mechanism!r}; load it into the accountant "
            "that wrote it."
        )
    if sum(times for *_, times in found.history) != sum(times for _, times in found.step_sizes):
        raise InputError("The state needs a step size for every step, got lists of other lengths; load another.")
    return found
