"""The one error a user's input can raise, the numbers and arguments that raise it, and what an interruption says."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, signature
from math import inf, isnan
from numbers import Integral, Real
from typing import Any, Final, TypeVar, cast

_MOST: Final = 10**15
"""The largest count of anything."""


class InputError(ValueError):
    r"""Bad input, in one sentence: what is needed, what was got as ``name=value``, what to do.

    The command line prints the sentence and exits with status 2. What a stranger's file puts into it is escaped, line
    breaks and what steers a terminal included.

    >>> print(InputError("A name needs letters, got name=\x1b[2J\n; rename it."))
    A name needs letters, got name=\x1b[2J\n; rename it.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence))


class Interrupted(Exception):  # noqa: N818  # it is no error
    """Ctrl-C, with what is finished and kept as its message, the beginning of a sentence.

    The command line prints it, says that the same command goes on from there, and exits with status 130.
    """


def suggestion(
    got: object, known: Iterable[str], otherwise: str = "choose one of them.", *, cutoff: float = 0.6, prefix: str = ""
) -> str:
    """The end of an error about a name that is not known: the nearest one, upper and lower case alike.

    Args:
        got: what was given.
        known: the names.
        otherwise: what to say if none is near.
        cutoff: how near is near, from 0 (all) to 1 (the same).
        prefix: what a user writes before the name.

    >>> suggestion("Poison", ["full", "poisson"]), suggestion("l", ["kind", "L"]), suggestion("x", ["kind"])
    ('did you mean poisson?', 'did you mean L?', 'choose one of them.')
    """
    names = {name.casefold(): name for name in known}
    near = get_close_matches(str(got).casefold(), names, n=1, cutoff=cutoff)
    return f"did you mean {prefix}{names[near[0]]}?" if near else otherwise


def real(name: str, value: Any, need: str) -> float:
    """The value as a float, or an `InputError` that says what is needed."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write a number.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{name} needs {need}, got a {name} beyond every float; write a smaller number.") from None
    if isnan(number):
        raise InputError(f"{name} needs {need}, got {name}=nan; check where the value comes from.")
    return number


def within(name: str, value: Any, need: str, holds: Callable[[float], bool], remedy: str) -> float:
    """The value as a float for which something holds, or an `InputError` that says what is needed, and the remedy."""
    number = real(name, value, need)
    if not holds(number):
        raise InputError(f"{name} needs {need}, got {name}={number:g}; {remedy}")
    return number


def positive(name: str, value: Any, *, finite: bool = True) -> float:
    """The value as a float above zero."""
    need = "a positive number"
    return within(name, value, need, lambda x: x > 0 and (x < inf or not finite), "give a value above 0.")


def chance(name: str, value: Any) -> float:
    """The value as a float in (0, 1)."""
    return within(name, value, "a number in (0, 1)", lambda x: 0 < x < 1, "choose one between them.")


def portion(name: str, value: Any, need: str, remedy: str) -> float:
    """The value as a float in (0, 1]."""
    return within(name, value, need, lambda x: 0 < x <= 1, remedy)


def renyi_order(value: Any) -> float:
    """The order of a Renyi divergence: a finite float above 1."""
    return within("order", value, "a finite number above 1", lambda x: 1 < x < inf, "2 is customary.")


def count(name: str, value: Any, least: int = 1) -> int:
    """The value as an integer of at least ``least``."""
    need = f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write an integer.")
    number = int(value)
    if number > _MOST:  # it may have too many digits to be printed
        raise InputError(f"{name} needs a whole number of at most {_MOST:g}, got a larger {name}; lower it.")
    if number < least:
        raise InputError(f"{name} needs {need}, got {name}={max(number, -_MOST)}; give at least {least}.")
    return number


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
