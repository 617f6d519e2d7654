"""The expressions that a record holds, and their letters."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sympy import Basic, Symbol


def parts(value: Any) -> Iterator[Basic]:
    """The expressions and conditions of a check or a statement, at any depth; its mutants are no part of it.

    >>> from sympy.abc import x, y
    >>> from lastiterate.symbolic.statement import closed
    >>> list(parts(closed(x < 1, y < x)))
    [x, y, y < x, x < 1]
    """
    if isinstance(value, Basic):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            if one.name != "mutants":
                yield from parts(getattr(value, one.name))
    elif isinstance(value, Mapping):
        yield from parts((*value, *value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from parts(one)


def letters(value: Any) -> set[Symbol]:
    """The symbols of all of its parts."""
    return set[Symbol]().union(*(part.free_symbols for part in parts(value)))
