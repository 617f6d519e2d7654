"""The one error a user's input can raise, the numbers that raise it, and what an interruption says."""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from difflib import SequenceMatcher, get_close_matches
from fractions import Fraction
from math import inf, isfinite, isnan, nan, nextafter
from numbers import Integral, Rational, Real
from typing import Any, Final

_MOST: Final = 10**15
"""The largest count of anything."""

_ITEM = r"""(?>'[^']*'|"[^"]*"|[\w.]*[\[({][^\[\](){}]*[\])}]|[-+\w.]*\d[-+\w.]*|True|False|None|-?inf|nan)"""
_SPELLED, _WORD = 0.8, 0.7
"""Two spellings of one name, or of one word of it, share at least so much, as `SequenceMatcher` counts it."""
_LISTED = re.compile(rf"([\[({{])\s*((?>(?:{_ITEM}:\s*)?{_ITEM}(?:,\s*|\s+)?){{8,}})([\])}}])")
"""A list, tuple, set, array or dictionary of eight entries or more, as Python writes it."""


class InputError(ValueError):
    r"""Bad input, in one sentence: what is needed, what was got as ``name=value``, what to do.

    The command line prints the sentence and exits with status 2. What a stranger's file puts into it is escaped, line
    breaks and what steers a terminal included. Of a long list it shows the first entries, and how many there are.

    >>> print(InputError("A name needs letters, got name=\x1b[2J\n; rename it."))
    A name needs letters, got name=\x1b[2J\n; rename it.
    >>> print(InputError(f"steps needs a number, got steps={list(range(500))}; write one."))
    steps needs a number, got steps=[0, 1, 2, ... 500 in all]; write one.
    """

    def __init__(self, sentence: str) -> None:
        short = _LISTED.sub(_shorten, sentence)
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in short))


def echo(value: object, most: int = 60) -> str:
    """A value as Python writes it, in so many letters at most; of a long list the beginning and the length.

    >>> echo([0.5] * 500), echo("a" * 500, 10)
    ('[0.5, 0.5, 0.5, ... 500 in all]', "'aaaaaa...")
    """
    text = _LISTED.sub(_shorten, repr(value))
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _shorten(listed: re.Match[str]) -> str:
    entries = re.findall(rf"(?:{_ITEM}:\s*)?{_ITEM}", listed[2])
    return f"{listed[1]}{', '.join(entries[:3])}, ... {len(entries)} in all{listed[3]}"


class Interrupted(Exception):  # noqa: N818  # not an error
    """Ctrl-C, with what is finished and kept as its message, the beginning of a sentence.

    The command line prints it, says that the same command goes on from there, and exits with status 130.
    """


def suggestion(
    got: object, known: Iterable[str], otherwise: str = "choose one of them.", *, cutoff: float = 0.6, prefix: str = ""
) -> str:
    """The end of an error about a name that is not known: the nearest one, whatever its case.

    Args:
        got: what was given.
        known: the names.
        otherwise: what to say if none is near.
        cutoff: how near is near, from 0 (all) to 1 (the same).
        prefix: what a user writes before the name.

    >>> suggestion("Poison", ["full", "poisson"]), suggestion("l", ["kind", "L"]), suggestion("x", ["kind"])
    ('did you mean poisson?', 'did you mean L?', 'choose one of them.')
    """
    names, asked = {name.casefold(): name for name in known}, str(got).casefold()
    near = (one for one in get_close_matches(asked, names, n=3, cutoff=cutoff) if _same_words(asked, one))
    return f"did you mean {prefix}{names[best]}?" if (best := next(near, None)) else otherwise


def _same_words(got: str, name: str) -> bool:
    """Tell whether a name is another spelling, and not another thing by a word that is more or another one.

    >>> [_same_words(got, "step_size") for got in ("stepsize", "step_sice", "group_size", "max_step_size")]
    [True, True, False, False]
    """
    words, mine = re.findall(r"[^\W_]+", got), re.findall(r"[^\W_]+", name)
    if len(words) == len(mine) == 1:
        return got == name or len(name) > 1
    one, other = "".join(words), "".join(mine)
    if abs(len(one) - len(other)) <= 2 and SequenceMatcher(None, one, other).ratio() >= _SPELLED:
        return True
    return len(words) <= len(mine) and all(get_close_matches(word, mine, n=1, cutoff=_WORD) for word in words)


def _plain(value: Any) -> Any:
    """The number in an array or a tensor without dimensions, or what was given; None of a date or a duration."""
    if getattr(value, "shape", None) != () or not hasattr(value, "tolist"):
        return value
    return None if getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M") else value.tolist()


def is_list(value: Any) -> bool:
    """Tell whether a value is a list of numbers, of whatever type, and no number."""
    listed = isinstance(value, Sequence) or hasattr(value, "__array__")
    return listed and not isinstance(value, str | Real) and getattr(value, "shape", None) != ()


def plain_number(name: str, value: Any) -> Any:
    """The whole number or the float that a value is, of whatever type; anything else as it was given."""
    given = _plain(value)
    if isinstance(given, bool) or not isinstance(given, Real | Decimal):
        return given
    return int(given) if isinstance(given, Integral) else real(name, given, "a number")


def real(name: str, value: Any, need: str, toward: float | None = None) -> float:
    """The one place that reads a number: the float nearest to the value, or an `InputError` that says what is needed.

    Numbers of Python, NumPy and torch, fractions, decimals, and arrays and tensors without dimensions are numbers; a
    truth value and a text are not.

    Args:
        name: of the argument.
        value: what was given.
        need: what is needed, in words.
        toward: where to round a number that is not a float, instead of to the nearest: -inf or inf.

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
        raise InputError(f"{name} needs {need}, got a {name} beyond every float; write a smaller number.") from None
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
    """The value as a float for which something holds, or an `InputError` that says what is needed, and the remedy."""
    number = real(name, value, need, toward)
    if not holds(number):
        raise InputError(f"{name} needs {need}, got {name}={number:g}; {remedy}")
    return number


def positive(name: str, value: Any, *, finite: bool = True, toward: float | None = None) -> float:
    """The value as a float above zero."""
    need = "a positive number"
    return within(name, value, need, lambda x: x > 0 and (x < inf or not finite), "give a value above 0.", toward)


def chance(name: str, value: Any, toward: float | None = None) -> float:
    """The value as a float in (0, 1)."""
    return within(name, value, "a number in (0, 1)", lambda x: 0 < x < 1, "choose one between them.", toward)


def portion(name: str, value: Any, need: str, remedy: str) -> float:
    """The value as a float in (0, 1]."""
    return within(name, value, need, lambda x: 0 < x <= 1, remedy)


def renyi_order(value: Any, toward: float = inf) -> float:
    """The order of a Renyi divergence: a finite float above 1, rounded up."""
    return within("order", value, "a finite number above 1", lambda x: 1 < x < inf, "2 is customary.", toward)


def order_or_delta(what: str, order: Any, delta: Any, outwards: float = inf) -> tuple[float | None, float | None]:
    """The order and the delta as floats, exactly one of which is given; ``what`` needs it.

    A fraction is rounded so that an upper bound at the float holds at the number given, with ``outwards`` -inf a lower
    one.
    """
    if (order is None) == (delta is None):
        raise InputError(f"{what} needs an order or a delta, got order={order}, delta={delta}; pass exactly one.")
    return (
        None if order is None else renyi_order(order, outwards),
        None if delta is None else chance("delta", delta, -outwards),
    )


def count(name: str, value: Any, least: int = 1) -> int:
    """The value as an integer of at least ``least``."""
    need = f"a whole number of at least {least}"
    given = _plain(value)
    if isinstance(given, bool):
        given = None
    if isinstance(given, Decimal) and given.is_finite() and abs(given) <= _MOST and given == given.to_integral_value():
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
