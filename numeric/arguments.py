"""Calls with arguments that a function does not take: one sentence that says what it takes, and what others call it."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Final, TypeVar, cast

from lastiterate.numeric.errors import InputError, suggestion

ELSEWHERE: Final = {
    "noise_multiplier": "noise_std is step_size * noise_multiplier * clip_norm / batch_size.",
    "max_grad_norm": "it is called clip_norm here.",
    "lr": "it is called step_size here.",
    "radius": "diameter is twice the radius.",
    "grid": "lastiterate sweep takes a grid of runs.",
}
"""Names that other programs know, and what to write instead."""

Taught = TypeVar("Taught", bound=Callable[..., object])


def teaches(**hints: str) -> Callable[[Taught], Taught]:
    """Make a function or a class refuse wrong arguments with an `InputError`.

    Args:
        **hints: what to do instead of an argument that it does not take.

    >>> @teaches(radius="double it.")
    ... def ball(diameter: float) -> float:
    ...     return diameter
    >>> ball(radius=1.0)
    Traceback (most recent call last):
        ...
    lastiterate.numeric.errors.InputError: ball takes diameter, got radius=1.0; double it.
    """

    def taught(what: Taught) -> Taught:
        made = isinstance(what, type)
        inner = cast("Callable[..., object]", what.__init__ if made else what)
        known = signature(what)

        @wraps(inner)
        def checked(*given: Any, **named: Any) -> object:
            try:
                return inner(*given, **named)
            except TypeError:  # of this call, or from within
                _refuse(what.__name__, known, given[made:], named, ELSEWHERE | hints)
                raise

        if not made:
            return cast("Taught", checked)
        setattr(what, "__init__", checked)  # noqa: B010  # mypy would have none of the assignment
        return what

    return taught


def _refuse(
    name: str, known: Signature, given: tuple[Any, ...], named: Mapping[str, Any], hints: Mapping[str, str]
) -> None:
    """Raise where the arguments do not fit; return where they do.

    Raises:
        InputError: there is one that is not taken, one too many or one too few.
    """
    takes = list(known.parameters.values())
    words = ", ".join(one.name for one in takes) or "nothing"
    for key, value in named.items():
        if key not in known.parameters:
            hint = hints.get(key) or suggestion(key, known.parameters, "leave it out.")
            raise InputError(f"{name} takes {words}, got {key}={value!r:.60}; {hint}")
    in_order = [one.name for one in takes if one.kind is not Parameter.KEYWORD_ONLY]
    if len(given) > len(in_order):
        by_name = ", ".join(f"{one.name}=..." for one in takes if one.kind is Parameter.KEYWORD_ONLY)
        raise InputError(
            f"{name} takes {', '.join(in_order) or 'nothing'} without a name, got {len(given)} arguments; "
            f"{f'write {by_name}' if by_name else 'leave the others out'}."
        )
    filled = {*in_order[: len(given)], *named}
    missing = [one.name for one in takes if one.default is Parameter.empty and one.name not in filled]
    if missing:
        raise InputError(
            f"{name} needs {', '.join(missing)}, got {', '.join(one for one in words.split(', ') if one in filled)}"
            f"{'nothing' if not filled else ''}; write {name}(..., {', '.join(f'{one}=...' for one in missing)})."
        )
