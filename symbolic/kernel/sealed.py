"""Only the rules of this package make judgements.

No importable name can change the record of judgements, which is a local variable of a function. Copies (also
by `dataclasses.replace`), unpickled objects and objects built by hand are not judgements. A rule refuses
objects of foreign classes, which could misreport themselves. Code that edits the memory of the process is not
excluded.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, partial, wraps
from operator import is_
from types import FunctionType, MethodType, ModuleType, NoneType
from typing import Any, Final, NoReturn, TypeVar
from weakref import WeakValueDictionary, finalize

from sympy import Basic, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction


class UnprovedError(Exception):
    """A side condition that is not shown, or a premise that does not fit."""


class Whichever(Symbol):  # type: ignore[misc]
    """A letter for any value of a bound letter, which the rules alone use; see `substitution.whichever`."""


_PACKAGE: Final = "lastiterate.symbolic."
_MODULES: Final = frozenset(
    {
        *(f"kernel.{name}" for name in ("rules", "induction", "lemmas", "integrals")),
        *(f"derivations.{name}" for name in ("iterations", "losses", "shared_noise")),
    }
)
"""The modules with the rules and with the lemmas on the parts of a step."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_FUNCTIONS: Final = frozenset({FunctionType, MethodType, partial, type(cache(len))})
_OF_TERMS: Final = (f"{_PACKAGE}kernel.", f"{_PACKAGE}derivations.")  # their dataclasses have terms as fields
_MANY: Final = 2**18


class _Fixed(ModuleType):
    def __setattr__(self, name: str, *_: object) -> NoReturn:
        raise AttributeError(f"{self.__name__}.{name} cannot be changed, because the rules rely on it.")

    __delattr__ = __setattr__


def fix(module: str) -> None:
    """Keep the names of a module, at the end of its import, from being assigned."""
    ModuleType.__setattr__(sys.modules[module], "__class__", _Fixed)


def _values(thing: Any) -> tuple[Any, ...]:
    return tuple(getattr(thing, one.name) for one in fields(thing))


def familiar(kind: type, own: Iterable[str]) -> bool:
    """Tell whether all methods of an object of a class, with attributes of its own, are Sympy's or this package's."""
    if any(callable(getattr(kind, name, None)) for name in own):
        return False
    if type(kind) is UndefinedFunction:
        hides = any(callable(one) or isinstance(one, property) for one in vars(kind).values())
        return kind.__bases__ == (AppliedUndef,) and not hides
    module = kind.__module__ or ""
    within = module.startswith(("sympy.", "lastiterate."))
    return within and getattr(sys.modules.get(module), kind.__qualname__, None) is kind


def _held(thing: Any) -> Any:
    """A copy of an argument that nobody else can change."""
    if isinstance(thing, Iterator | list):
        return tuple(thing)
    return frozenset(thing) if type(thing) is set else dict(thing) if type(thing) is dict else thing


def _sealed() -> tuple[Callable[[_Function], _Function], Callable[[object], bool], Callable[..., None]]:
    made: WeakValueDictionary[int, Any] = WeakValueDictionary()
    parts: dict[int, tuple[Any, ...]] = {}
    homes: dict[str, Any] = {}
    known: dict[bool, dict[int, Basic]] = {False: {}, True: {}}

    def genuine(thing: object) -> bool:
        """Tell whether a rule made this judgement, or a lemma made this part of a step."""
        if made.get(id(thing)) is not thing:
            return False
        held = _values(thing)  # a field that is overwritten makes it another judgement
        return len(held) == len(parts[id(thing)]) and all(map(is_, held, parts[id(thing)]))

    def admit(thing: Any, *, nameless: bool = False) -> None:
        """Raise an error for a judgement that no rule made, and for an object of a foreign class.

        Letters without a name, `Whichever`, are for side conditions only.
        """
        kind, seen = type(thing), known[nameless]
        if seen.get(id(thing)) is thing or kind in _FUNCTIONS:
            return
        if hasattr(kind, "premises"):
            if not genuine(thing):
                raise UnprovedError(f"A premise must be a judgement made by the rules, got {thing}.")
        elif kind in {tuple, frozenset}:
            for part in thing:
                admit(part, nameless=nameless)
        elif kind is dict:
            admit((*thing, *thing.values()))
        elif kind not in {str, bool, int, NoneType}:
            if not familiar(kind, getattr(thing, "__dict__", ())) or (kind is Whichever and not nameless):
                raise UnprovedError(
                    "A rule accepts only objects of Sympy or of this package, and tuples of such objects, got an "
                    f"object of type {kind.__name__}."
                )
            if is_dataclass(thing) and kind.__module__.startswith(_OF_TERMS):
                admit(_values(thing))
            elif isinstance(thing, Basic):
                admit(thing.args, nameless=nameless)
                if len(seen) > _MANY:
                    seen.clear()
                seen[id(thing)] = thing

    def rule(function: _Function) -> _Function:
        """Mark a function as a rule while its module is imported; its docstring proves the result or cites a proof.

        Raises:
            UnprovedError: the function is not in a module of rules, or it is applied to a judgement that no rule made.
        """
        module = sys.modules.get(function.__module__)
        starts = getattr(getattr(module, "__spec__", None), "_initializing", False)
        inside = function.__module__.removeprefix(_PACKAGE) in _MODULES and function.__globals__ is vars(module)
        if not (starts and inside and homes.setdefault(function.__module__, module) is module):
            raise UnprovedError(f"A rule must be in a module of rules, got {function.__qualname__}.")

        @wraps(function)
        def applied(*args: Any, **kwargs: Any) -> Any:
            own = tuple(map(_held, (*args, *kwargs.values())))
            admit(own)
            found = function(*own[: len(args)], **dict(zip(kwargs, own[len(args) :], strict=True)))
            if hasattr(type(found), "premises") or getattr(found, "is_shown", False):
                if made.get(id(found)) is not found:
                    finalize(found, parts.pop, id(found), None)
                made[id(found)], parts[id(found)] = found, _values(found)
            return found

        return applied  # type: ignore[return-value]

    return rule, genuine, admit


rule, genuine, admit = _sealed()
