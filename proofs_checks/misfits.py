"""Fields of a claim and of its checks held against their types, before an engine or a printer reads them."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from types import UnionType
from typing import Any, ClassVar, Final, Literal, NamedTuple, Union, Unpack, get_args, get_origin, get_type_hints

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic import statement
from lastiterate.symbolic.claim import Claim

_NEEDED: Final[Mapping[Any, str]] = {
    sp.Expr: "an expression of Sympy",
    sp.Basic: "an expression or a condition of Sympy",
    sp.Symbol: "a symbol of Sympy",
    Boolean: "a condition of Sympy",
    str: "a text",
    int: "a whole number",
    bool: "True or False",
}


def misfit(claim: Claim) -> str:
    """The first field that is not of its type, in a sentence; "" where all are.

    >>> from lastiterate.symbolic.claim import Identity, Source
    >>> misfit(Claim("toy/half", "Half", Source("toy", "(1)"), Identity(0.5, sp.Rational(1, 2))))
    "left of Identity needs an expression of Sympy, got 0.5; write Rational('0.5')."
    """
    odd = _field(claim)
    return "" if odd is None else f"{odd.place} needs {odd.needed}, got {_short(odd.value)}; {_advice(odd.value)}."


class _Odd(NamedTuple):
    """A part that is not of its type, what is needed, and the field where it stands."""

    value: Any
    needed: str
    place: str = ""


@lru_cache(maxsize=4096)
def _strange(value: sp.Basic) -> _Odd | None:
    """Find a rounded number, which Sympy equates with numbers near it, or a symbol of a user's own class."""
    for part in value.atoms(sp.Float, sp.Symbol):
        if part.is_Float:
            return _Odd(part, "exact numbers")
        if not str(type(part).__module__).startswith(("sympy.", "lastiterate.")):
            return _Odd(part, "letters of Sympy's classes")
    return None


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, localns=vars(statement))


def _field(owner: Any) -> _Odd | None:
    """The first part of a record that is not of its type."""
    for one in fields(owner):
        odd = _odd(getattr(owner, one.name, None), _hints(owner.__class__)[one.name])
        if odd is not None:
            return odd if odd.place else odd._replace(place=f"{one.name} of {type(owner).__name__}")
    return None


def _advice(value: Any) -> str:
    if isinstance(value, sp.Float):
        return f"write Rational('{value}') if that is what is meant"
    if isinstance(value, bool):
        return "write Eq(x, y) for x == y, and no condition for one that always holds"
    return f"write Rational('{value!r}')" if isinstance(value, float) else "write one"


def _short(value: Any) -> str:
    """A value in at most 60 characters."""
    return text if len(text := repr(value)) <= 60 else f"an object of type {type(value).__name__}"


def _odd(value: Any, kind: Any) -> _Odd | None:
    """The part of a value that is not of the kind; None where all is."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or origin is ClassVar:
        return None
    if origin in (Union, UnionType):
        found = [_odd(value, part) for part in parts]
        inner = [odd for odd in found if odd is not None]
        needed = " or ".join(dict.fromkeys(odd.needed for odd in inner))
        return None if None in found else next((odd for odd in inner if odd.place), _Odd(value, needed))
    if origin is Literal:
        return None if value in parts else _Odd(value, " or ".join(map(repr, parts)))
    if origin is tuple:
        if not isinstance(value, tuple):
            return _Odd(value, "a tuple")
        unpacked = get_origin(parts[-1]) is Unpack
        many = get_args(get_args(parts[-1])[0])[0] if unpacked else parts[0] if parts[-1] is ... else None
        first = parts if many is None else parts[:-1] if unpacked else ()
        if len(value) < len(first) or (many is None and len(value) > len(first)):
            return _Odd(value, f"a tuple of {len(first)}")
        kinds = (*first, *[many] * (len(value) - len(first)))
        return next(filter(None, map(_odd, value, kinds)), None)
    if isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, Mapping):
        return next(
            filter(None, (_odd(*pair) for item in value.items() for pair in zip(item, parts, strict=True))), None
        )
    known = origin or (type(None) if kind is None else kind)
    if not isinstance(known, type):
        return None
    letter = known is Boolean and isinstance(value, sp.Symbol)  # which is a condition to Sympy
    whole = isinstance(value, int) and not isinstance(value, bool)
    if (not isinstance(value, known) and not (known is sp.Expr and whole)) or (known is int and not whole) or letter:
        return _Odd(value, _NEEDED.get(known, f"a {known.__name__}"))
    if isinstance(value, sp.Basic):
        return _strange(value)
    return _field(value) if is_dataclass(value) and not isinstance(value, type) else None
