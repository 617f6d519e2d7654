"""The error raised for invalid user input, and the validation of numbers and arguments."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import wraps
from importlib import resources
from inspect import Parameter, signature
from math import inf, isfinite, isnan, nan, nextafter
from numbers import Integral, Rational, Real
from typing import Any, Final, TypeVar, Unpack, cast, get_args, get_origin

_MOST: Final = 10**15
"""Largest accepted count."""

_ITEM = r"""(?>'[^']*'|"[^"]*"|[\w.]*[\[({][^\[\](){}]*[\])}]|[-+\w.]*\d[-+\w.]*|True|False|None|-?inf|nan)"""
_LISTED = re.compile(rf"([\[({{])\s*((?>(?:{_ITEM}:\s*)?{_ITEM}(?:,\s*|\s+)?){{8,}})([\])}}])")
"""Pattern of a printed list, tuple, set, array or dictionary with at least eight entries."""


class InputError(ValueError):
    r"""Invalid input; one sentence says what is needed, what was given as ``name=value``, and what to do.

    Line breaks and control characters are escaped. A long list is cut to its first entries.

    >>> print(InputError(f"steps needs a number, got steps={list(range(500))}; write\none."))
    steps needs a number, got steps=[0, 1, 2, ... 500 in all]; write\none.
    """

    def __init__(self, sentence: str) -> None:
        short = _LISTED.sub(_shorten, sentence)
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in short))


def echo(value: object, most: int = 60) -> str:
    """Representation in at most ``most`` characters; of a long list, the beginning and the length.

    >>> echo([0.5] * 500), echo("a" * 500, 10)
    ('[0.5, 0.5, 0.5, ... 500 in all]', "'aaaaaa...")
    """
    text = _LISTED.sub(_shorten, repr(value))
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _shorten(listed: re.Match[str]) -> str:
    entries = re.findall(rf"(?:{_ITEM}:\s*)?{_ITEM}", listed[2])
    return f"{listed[1]}{', '.join(entries[:3])}, ... {len(entries)} in all{listed[3]}"


class Interrupted(Exception):  # noqa: N818  # not an error
    """Interruption by Ctrl-C; the message states from which stored work the same command resumes."""


def suggestion(
    got: object,
    known: Iterable[str],
    otherwise: str = "choose one of them.",
    *,
    cutoff: float = 0.66,
    prefix: str = "",
) -> str:
    """End of a message about an unknown name: the nearest known name, ignoring case, or ``otherwise``.

    ``prefix`` is what a user writes before the name.

    >>> suggestion("Poison", ["full", "poisson"]), suggestion("l", ["kind", "L"]), suggestion("x", ["kind"])
    ('did you mean poisson?', 'did you mean L?', 'choose one of them.')
    """
    names = {name.casefold(): name for name in known}
    least = cutoff if len(str(got)) > 2 else 0.7  # one common letter of two is weak evidence
    asked = str(got).casefold()
    near = get_close_matches(asked, names, n=1, cutoff=least)
    if not near or (
        asked.count("_") > near[0].count("_") and len(asked) > len(near[0]) + 2
    ):  # max_steps is not steps
        return otherwise
    return f"did you mean {prefix}{names[near[0]]}?"


def _plain(value: Any) -> Any:
    """Convert a zero-dimensional array or tensor to a number, or to None if it holds a date or duration."""
    if getattr(value, "shape", None) != () or not hasattr(value, "tolist"):
        return value
    return None if getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M") else value.tolist()


def is_list(value: Any) -> bool:
    """Tell whether a value is a sequence or an array, and neither a number nor a string."""
    listed = isinstance(value, Sequence) or hasattr(value, "__array__")
    return listed and not isinstance(value, str | Real) and getattr(value, "shape", None) != ()


def plain_number(name: str, value: Any) -> Any:
    """Convert a number of any type to an integer or a float; return other values unchanged."""
    given = _plain(value)
    if isinstance(given, bool) or not isinstance(given, Real | Decimal):
        return given
    return int(given) if isinstance(given, Integral) else real(name, given, "a number")


def real(name: str, value: Any, need: str, toward: float | None = None) -> float:
    """Return the float nearest to a number of any type, or raise an `InputError` that says what is needed.

    Booleans and strings are rejected. If ``toward`` is -inf or inf, rational and decimal numbers are rounded
    in this direction.

    >>> real("L", Decimal("0.1"), "a number"), real("delta", Fraction(1, 10), "a number", toward=-inf)
    (0.1, 0.09999999999999999)
    """
    given = _plain(value)
    if isinstance(given, bool) or not isinstance(given, Real | Decimal):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write a number.")
    try:
        number = nan if isinstance(given, Decimal) and given.is_snan() else float(given)
        if abs(number) == inf and abs(given) != inf:  # a decimal
            raise OverflowError
    except OverflowError:
        raise InputError(
            f"{name} needs {need}, got a {name} too large for a float; write a smaller number."
        ) from None
    if isnan(number):
        raise InputError(f"{name} needs {need}, got {name}=nan; check where the value comes from.")
    if toward is None or not isfinite(number) or not isinstance(given, Rational | Decimal):
        return number
    exact = given if isinstance(given, Decimal) else Fraction(int(given.numerator), int(given.denominator))
    return nextafter(number, toward) if (number > exact if toward < 0 else number < exact) else number


def within(
    name: str,
    value: Any,
    need: str,
    holds: Callable[[float], bool],
    remedy: str,
    toward: float | None = None,
) -> float:
    """Return the value as a float; raise `InputError` unless ``holds`` is true for the float."""
    number = real(name, value, need, toward)
    if not holds(number):
        raise InputError(f"{name} needs {need}, got {name}={number:g}; {remedy}")
    return number


def positive(name: str, value: Any, *, finite: bool = True, toward: float | None = None) -> float:
    """Return the value as a float above zero."""
    need = "a positive number"
    return within(
        name, value, need, lambda x: x > 0 and (x < inf or not finite), "give a value above 0.", toward
    )


def chance(name: str, value: Any, toward: float | None = None) -> float:
    """Return the value as a float in (0, 1)."""
    return within(name, value, "a number in (0, 1)", lambda x: 0 < x < 1, "choose one in (0, 1).", toward)


def portion(name: str, value: Any, need: str, remedy: str) -> float:
    """Return the value as a float in (0, 1]."""
    return within(name, value, need, lambda x: 0 < x <= 1, remedy)


def renyi_order(value: Any, toward: float = inf) -> float:
    """Return the order of a Renyi divergence, a finite float above 1, rounded up."""
    return within("order", value, "a finite number above 1", lambda x: 1 < x < inf, "2 is customary.", toward)


def order_or_delta(
    what: str, order: Any, delta: Any, outwards: float = inf
) -> tuple[float | None, float | None]:
    """Return order and delta, one being None, rounded for upper bounds, or, if outwards < 0, for lower bounds."""
    if (order is None) == (delta is None):
        raise InputError(
            f"{what} needs an order or a delta, got order={order}, delta={delta}; pass exactly one."
        )
    return (
        None if order is None else renyi_order(order, outwards),
        None if delta is None else chance("delta", delta, -outwards),
    )


def count(name: str, value: Any, least: int = 1) -> int:
    """Return the value as an integer of at least ``least``."""
    need = f"a whole number of at least {least}"
    given = _plain(value)
    if isinstance(given, bool):
        given = None
    if (
        isinstance(given, Decimal)
        and given.is_finite()
        and abs(given) <= _MOST
        and given == given.to_integral_value()
    ):
        given = int(given)
    if isinstance(given, Rational) and given.denominator == 1:
        given = given.numerator
    if not isinstance(given, Integral):
        raise InputError(f"{name} needs {need}, got {name}={value!r}; write an integer.")
    number = int(given)
    if number > _MOST:  # it may have too many digits to be printed
        raise InputError(f"{name} needs a whole number of at most {_MOST:g}, got a larger {name}; lower it.")
    if number < least:
        raise InputError(f"{name} needs {need}, got {name}={max(number, -_MOST)}; give at least {least}.")
    return number


_NAMES: Final = tomllib.loads((resources.files(__package__) / "names.toml").read_text("utf-8"))
"""Names of a run's fields in other programs, and of related settings with a hint."""

Taught = TypeVar("Taught", bound=Callable[..., object])


def explain_unknown(
    key: str, known: Iterable[str], otherwise: str = "leave it out.", hints: Mapping[str, str] | None = None
) -> str:
    """End of a message about an unknown keyword: a hint, its name in this package, or a similar name.

    >>> explain_unknown("lr", ["step_size"]), explain_unknown("lr", ["L"])
    ('it is called step_size here.', 'leave it out.')
    """
    names = list(known)
    beside, words = _NAMES["elsewhere"].get(key, ("", ""))
    if hints and key in hints:
        return hints[key]
    if (own := _NAMES["renamed"].get(key)) in names:
        return f"it is called {own} here."
    return words if beside in names else suggestion(key, names, otherwise)


def teaches(**hints: str) -> Callable[[Taught], Taught]:
    """Make a function, method or class reject wrong arguments with `InputError`; ``hints`` name remedies.

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
        known, method = _parameters(what), next(iter(signature(inner).parameters), "") in ("self", "cls")

        @wraps(inner)
        def checked(*given: Any, **named: Any) -> object:
            try:
                return inner(*given, **named)
            except TypeError:  # raised by this call or inside it
                name = type(given[0]).__name__ if made else what.__name__
                _refuse(name, known, given[method:], named, hints)
                raise

        if not made:
            return cast("Taught", checked)
        setattr(what, "__init__", checked)  # noqa: B010  # mypy rejects the assignment
        return what

    return taught


def _parameters(what: Callable[..., object]) -> list[Parameter]:
    """Parameters of a call except self; base classes and unpacked typed dictionaries are included."""
    own = [one for one in signature(what).parameters.values() if one.name not in ("self", "cls")]
    if own and get_origin(own[-1].annotation) is Unpack:
        (described,) = get_args(own.pop().annotation)
        own += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in described.__annotations__]
    if isinstance(what, type) and own and own[-1].kind is Parameter.VAR_KEYWORD:
        base = _parameters(what.__mro__[1])
        return own[:-1] + [one for one in base if one.kind is Parameter.KEYWORD_ONLY]
    return own


def _refuse(
    name: str,
    takes: list[Parameter],
    given: tuple[Any, ...],
    named: Mapping[str, Any],
    hints: Mapping[str, str],
) -> None:
    kinds = {one.kind for one in takes}
    every, takes = (
        takes,
        [one for one in takes if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)],
    )
    names = [one.name for one in takes]
    words = ", ".join(f"*{one.name}" if one.kind is Parameter.VAR_POSITIONAL else one.name for one in every)
    for key, value in named.items() if Parameter.VAR_KEYWORD not in kinds else ():
        if key not in names:
            hint = explain_unknown(key, names, hints=hints)
            raise InputError(f"{name} takes {words or 'nothing'}, got {key}={echo(value)}; {hint}")
    in_order = [one.name for one in takes if one.kind is not Parameter.KEYWORD_ONLY]
    if len(given) > len(in_order) and Parameter.VAR_POSITIONAL not in kinds:
        by_name = ", ".join(f"{one.name}=..." for one in takes if one.kind is Parameter.KEYWORD_ONLY)
        raise InputError(
            f"{name} takes {', '.join(in_order) or 'nothing'} by position, got {len(given)} arguments; "
            f"{f'write {by_name}' if by_name else 'leave the others out'}."
        )
    filled = {*in_order[: len(given)], *named}
    missing = [one.name for one in takes if one.default is Parameter.empty and one.name not in filled]
    if missing:
        raise InputError(
            f"{name} needs {', '.join(missing)}, got {', '.join(one for one in names if one in filled) or 'nothing'}; "
            f"write {name}(..., {', '.join(f'{one}=...' for one in missing)})."
        )


teaches()(InputError)
