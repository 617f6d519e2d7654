"""Judgements are made by the rules of this package, and by nobody else.

The table of all that the rules have made is a variable of a function: no name that can be imported adds to it. A copy
of a judgement, one that was pickled, one made of another by `dataclasses.replace` and one that was put together by hand
are none. Python keeps nobody out who edits the memory of the process.
"""

import sys
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from operator import is_
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary, finalize


class UnprovedError(Exception):
    """A side condition that is not shown, or a premise that does not fit: the derivation stops at this line."""


_PACKAGE: Final = "lastiterate.symbolic."
_MODULES: Final = frozenset(
    {
        *(f"kernel.{name}" for name in ("rules", "induction", "lemmas", "integrals")),
        *(f"derivations.{name}" for name in ("iterations", "losses", "shared_noise")),
    }
)
"""Where the rules stand, and the lemmas on the parts of a step."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _values(thing: Any) -> tuple[Any, ...]:
    held = fields(thing) if hasattr(type(thing), "premises") else ()
    return tuple(getattr(thing, one.name) for one in held)


def _sealed() -> tuple[Callable[[_Function], _Function], Callable[[object], bool]]:
    made: WeakValueDictionary[int, Any] = WeakValueDictionary()
    parts: dict[int, tuple[Any, ...]] = {}

    def genuine(thing: object) -> bool:
        """Tell whether a rule made a judgement, or a lemma a part of a step."""
        if made.get(id(thing)) is not thing:
            return False
        held = _values(thing)  # a field that is overwritten makes it another judgement
        return len(held) == len(parts[id(thing)]) and all(map(is_, held, parts[id(thing)]))

    def rule(function: _Function) -> _Function:
        """Mark a function whose docstring proves what it returns; only modules of rules may, while they are imported.

        Raises:
            UnprovedError: another function is marked; or the rule is applied to a judgement that no rule made.
        """
        module = sys.modules.get(function.__module__)
        starts = getattr(getattr(module, "__spec__", None), "_initializing", False)
        inside = function.__module__.removeprefix(_PACKAGE) in _MODULES and function.__globals__ is vars(module)
        if not (starts and inside):
            raise UnprovedError(f"The rules are those of the package, got {function.__qualname__}.")

        @wraps(function)
        def applied(*args: Any, **kwargs: Any) -> Any:
            for one in (*args, *kwargs.values()):
                if hasattr(type(one), "premises") and not genuine(one):
                    raise UnprovedError(f"A premise needs to be a judgement that the rules made, got {one}.")
            found = function(*args, **kwargs)
            if not all(map(genuine, getattr(found, "premises", ()))):
                raise UnprovedError(f"The premises of {found} need to be judgements that the rules made.")
            shown = hasattr(type(found), "premises") or getattr(found, "is_shown", False)
            if shown and made.get(id(found)) is not found:
                made[id(found)], parts[id(found)] = found, _values(found)
                finalize(found, parts.pop, id(found), None)
            return found

        return applied  # type: ignore[return-value]

    return rule, genuine


rule, genuine = _sealed()
