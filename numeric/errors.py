"""The one error a user's input can raise, the numbers and arguments that raise it, and what an interruption says."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher, get_close_matches
from fractions import Fraction
from functools import wraps
from inspect import Parameter, signature
from math import inf, isfinite, isnan, nan, nextafter
from numbers import Integral, Rational, Real
from typing import Any, Final, TypeVar, Unpack, cast, get_args, get_origin

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


_RENAMED: Final = {
    "max_grad_norm": "clip_norm",
    "l2_norm_clip": "clip_norm",
    "lr": "step_size",
    "learning_rate": "step_size",
    "expected_batch_size": "batch_size",
}
"""What other programs call the numbers of a run."""

_GROUP: Final = (
    ("run", "clip_norm"),
    (
        "for k samples that differ at once multiply clip_norm by k, which holds for full batches, and for cyclic ones "
        "that hold the k in one batch; elsewhere (epsilon, delta) for one sample is "
        "(k epsilon, k exp((k - 1) epsilon) delta) for k."
    ),
)
_CUT: Final = (
    ("batch_size",),
    (
        "batches that are cut at a largest size have a bound by composition in dp_accounting "
        "(TruncatedSubsampledGaussianDpEvent); for one here leave no sample out: add up a large batch in parts."
    ),
)
_PLAIN: Final = (
    ("step_size",),
    (
        "these bounds are of plain SGD; composition, as dp_accounting counts to_dp_event(run) of the run without it, "
        "holds for every optimiser of the noisy gradients."
    ),
)
_ELSEWHERE: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "noise_multiplier": (("noise_std",), "noise_std is step_size * noise_multiplier * clip_norm / batch_size."),
    "radius": (("diameter",), "diameter is twice the radius."),
    "grid": (("run",), "lastiterate sweep takes a grid of runs."),
    "epochs": (("steps",), "steps counts updates: epochs * dataset_size / batch_size."),
    **dict.fromkeys(("group", "group_size", "groups", "k"), _GROUP),
    **dict.fromkeys(("max_batch_size", "truncated_batch_size", "physical_batch_size"), _CUT),
    **dict.fromkeys(("momentum", "nesterov", "betas", "optimizer", "optimiser"), _PLAIN),
}
"""Names that ask for something else, and what to say of them where one of some names is taken."""

Taught = TypeVar("Taught", bound=Callable[..., object])


def explain_unknown(
    key: str, known: Iterable[str], otherwise: str = "leave it out.", hints: Mapping[str, str] | None = None
) -> str:
    """The end of an error about a name that is not taken: a hint for it, its name here, or a near one.

    >>> explain_unknown("lr", ["step_size"]), explain_unknown("lr", ["L"])
    ('it is called step_size here.', 'leave it out.')
    """
    names = list(known)
    needs, words = _ELSEWHERE.get(key, ((), ""))
    if hints and key in hints:
        return hints[key]
    if (own := _RENAMED.get(key)) in names:
        return f"it is called {own} here."
    return words if any(name in names for name in needs) else suggestion(key, names, otherwise)


def teaches(**hints: str) -> Callable[[Taught], Taught]:
    """Make a function, a method or a class refuse wrong arguments with an `InputError`; hints say what to do instead.

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
            except TypeError:  # of this call, or from within
                name = type(given[0]).__name__ if made else what.__name__
                _refuse(name, known, given[method:], named, hints)
                raise

        if not made:
            return cast("Taught", checked)
        setattr(what, "__init__", checked)  # noqa: B010  # mypy would have none of the assignment
        return what

    return taught


def _parameters(what: Callable[..., object]) -> list[Parameter]:
    """The parameters of a call, without the object itself; those that a class hands on are those of its base.

    Keywords that a typed dictionary describes (``**settings: Unpack[Settings]``) are parameters, too.
    """
    own = [one for one in signature(what).parameters.values() if one.name not in ("self", "cls")]
    if own and get_origin(own[-1].annotation) is Unpack:
        (described,) = get_args(own.pop().annotation)
        own += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in described.__annotations__]
    if isinstance(what, type) and own and own[-1].kind is Parameter.VAR_KEYWORD:
        base = _parameters(what.__mro__[1])
        return own[:-1] + [one for one in base if one.kind is Parameter.KEYWORD_ONLY]
    return own


def _refuse(
    name: str, takes: list[Parameter], given: tuple[Any, ...], named: Mapping[str, Any], hints: Mapping[str, str]
) -> None:
    """Raise where the arguments do not fit; return where they do.

    Raises:
        InputError: there is one that is not taken, one too many or one too few.
    """
    kinds = {one.kind for one in takes}
    every, takes = takes, [one for one in takes if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
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
            f"{name} takes {', '.join(in_order) or 'nothing'} without a name, got {len(given)} arguments; "
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
