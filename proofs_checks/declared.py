"""Validation of claims: the types of their fields and the declarations of their symbols.

Every engine honours each declared fact of a symbol, or the symbol is refused. A symbol that may be complex or
infinite is refused in an order relation. Assumptions such as ``x >= 0``, and boxes, make plain symbols real.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.symbolic import statement
from lastiterate.symbolic.checks import Check, Cited, Deduced, Engine, Units
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.families import Family, Sample
from lastiterate.symbolic.kernel.sealed import familiar
from lastiterate.symbolic.notation import MEANING

_OPEN: Mapping[str, str] = {
    "commutative": "it does not commute",
    "finite": "it can be infinite",
    "rational": "it has no rational value, and only rational values are tried",
    "algebraic": "it has no rational value, and only rational values are tried",
}
"""Facts that a symbol must not be declared to lack -> what their lack would mean."""


_OF_RATIONALS: Final[Mapping[str, Callable[[sp.Rational], bool]]] = {
    "real": lambda _: True,
    "zero": lambda x: x.p == 0,
    "nonzero": lambda x: x.p != 0,
    "positive": lambda x: x.p > 0,
    "negative": lambda x: x.p < 0,
    "nonnegative": lambda x: x.p >= 0,
    "nonpositive": lambda x: x.p <= 0,
    "integer": lambda x: x.q == 1,
}
"""Properties that are read off a fraction; Sympy deduces all of its properties, which takes a hundred times as long."""


def has_property(number: sp.Expr, name: str) -> bool | None:
    """Tell whether a number has a property that Sympy knows, such as "positive"; None if unclear."""
    read = _OF_RATIONALS.get(name) if number.is_Rational else None
    found: bool | None = read(number) if read else getattr(number, f"is_{name}")
    return found


@lru_cache(maxsize=4096)
def admits_value(symbol: sp.Symbol, value: sp.Expr) -> bool:
    """Tell whether a number has all declared properties of a symbol."""
    return all(has_property(value, name) is wanted for name, wanted in symbol._assumptions_orig.items())


def conditions(symbol: sp.Symbol) -> tuple[Boolean, ...]:
    """The declared sign of a symbol, as unevaluated relations."""
    signs = (
        ("zero", sp.Eq),
        ("positive", sp.Gt),
        ("negative", sp.Lt),
        ("nonnegative", sp.Ge),
        ("nonpositive", sp.Le),
    )
    found = next((relation for fact, relation in signs if getattr(symbol, f"is_{fact}")), None)
    if found is None and symbol.is_nonzero:
        found = sp.Ne
    return () if found is None else (found(symbol, sp.S.Zero, evaluate=False),)


def is_scattered(symbol: sp.Symbol) -> bool:
    """Tell whether a declaration excludes numbers that no inequality excludes (as "prime" excludes 9)."""
    kinds = ("even", "odd", "prime", "composite", "noninteger")
    whole = symbol.is_integer is True
    return any(getattr(symbol, f"is_{kind}") for kind in kinds) or bool(symbol.is_rational and not whole)


def allows_interval(symbol: sp.Symbol, low: sp.Rational, high: sp.Rational) -> bool:
    """Tell whether the declared sign allows the inside of an interval, and at least one of its ends."""
    ends = [sp.Rational(low + (high - low) * share / 4) for share in (0, 1, 3, 4)]
    allowed = [
        all(condition.xreplace({symbol: end}) == sp.true for condition in conditions(symbol)) for end in ends
    ]
    return allowed[1] and allowed[2] and (low == high or allowed[0] or allowed[3])


@lru_cache(maxsize=4096)
def _refusal(symbol: sp.Symbol, *, plain: bool) -> str:
    """Reason why a symbol is refused, else ""; if ``plain``, the symbol may be complex."""
    facts = symbol.assumptions0
    why = next((words for fact, words in _OPEN.items() if facts.get(fact) is False), "")
    extended = any(fact.startswith("extended_") for fact in facts)
    odd = extended or any(facts.get(name) for name in ("imaginary", "hermitian", "antihermitian"))
    if not why and (symbol.is_real is False or (symbol.is_real is None and (odd or not plain))):
        why = "it can be infinite" if extended else "it can be a complex number"
    return (
        f"The symbol {symbol} cannot be used as declared: {why}; declare it real, or positive, or integer."
        * bool(why)
    )


def renamed(value: Any, names: Mapping[sp.Expr, sp.Expr]) -> Any:
    """Replace expressions in a value, also in its samples and families."""
    if isinstance(value, sp.Basic):
        return value.xreplace(names)
    if isinstance(value, Mapping):
        return {renamed(key, names): renamed(entry, names) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return tuple(renamed(entry, names) for entry in value)
    if isinstance(value, Cited | Family | Sample):
        return replace(value, **{name: renamed(part, names) for name, part in vars(value).items()})
    return value


def prepared(check: Check, assumptions: tuple[Boolean, ...]) -> tuple[Check, tuple[Boolean, ...]]:
    """Check and assumptions with distinct names, plain symbols made real if ordered, and no mutants.

    Raises:
        UnsupportedError: a declaration cannot be honoured.
    """
    numbers = {one.name: sp.Integer(v) for one in fields(check) if type(v := getattr(check, one.name)) is int}
    numbers.pop("start", None)
    check = replace(check, mutants=(), **numbers)
    parts = list(statement.parts((check, assumptions)))
    symbols = sorted({s for part in parts for s in part.free_symbols}, key=place_in_order)
    for letter in (
        s for part in parts for one in part.atoms(sp.Derivative) for s in one.variables if s.is_integer
    ):
        raise UnsupportedError(f"A derivative needs a real letter, got the integer {letter}; declare it real.")
    bound = {letter for part in parts for one in part.atoms(ExprWithLimits) for letter in one.variables}
    for letter in bound.intersection(symbols):  # their values and premises would be confused
        raise UnsupportedError(f"A letter of a sum or integral may not also be free, got {letter}; rename one.")
    boxed = set(getattr(check, "box", {})) | set(getattr(check, "parameters", {}))
    premises = (one for one in (*assumptions, *getattr(check, "given", ())) if isinstance(one, Relational))
    orders = (one for one in premises if not isinstance(one, sp.Eq | sp.Ne))
    real = boxed.union(side for one in orders for side in one.args if side.is_Symbol)
    plain = isinstance(check, Cited | Deduced)
    names: dict[sp.Symbol, sp.Symbol] = {}
    taken: set[str] = set()
    for symbol in symbols:
        needed = symbol in real and symbol.is_real is None and not _refusal(symbol, plain=True)
        sentence = "" if needed or isinstance(check, Units) else _refusal(symbol, plain=plain)
        if sentence:
            raise UnsupportedError(sentence)
        name = next(n for n in (symbol.name, *(f"{symbol.name}_{k}" for k in range(2, 99))) if n not in taken)
        taken.add(name)
        if needed or name != symbol.name or isinstance(symbol, sp.Dummy):
            facts = symbol.assumptions0 | ({"real": True} if needed else {})
            names[symbol] = (sp.Symbol if isinstance(symbol, sp.Dummy) else symbol.func)(name, **facts)
    if not names:
        return check, assumptions
    changed = {field.name: renamed(getattr(check, field.name), names) for field in fields(check)}
    return replace(check, **changed), renamed(assumptions, names)


@lru_cache(maxsize=4096)
def place_in_order(symbol: sp.Symbol) -> tuple[str, bool, str]:
    """Sort key of symbols: the name, then whether the symbol is of the notation."""
    return symbol.name, symbol not in MEANING, sp.srepr(symbol)


_NEEDED: Final[Mapping[Any, str]] = {
    sp.Expr: "a Sympy expression",
    sp.Basic: "a Sympy expression or condition",
    sp.Symbol: "a Sympy symbol",
    Boolean: "a Sympy condition",
    str: "a string",
    int: "a whole number",
    bool: "True or False",
}


def misfit(claim: Claim) -> str:
    """Sentence about the first field of a wrong type; "" if there is none.

    >>> from lastiterate.symbolic.prelude import Claim, Identity, Source
    >>> misfit(Claim("toy/half", "Half", Source("toy", "(1)"), Identity(0.5, sp.Rational(1, 2))))
    "left of Identity needs a Sympy expression, got 0.5; write Rational('0.5')."
    """
    odd = _odd(claim, Claim)
    if odd is None:
        return ""
    got = text if len(text := repr(odd.value)) <= 60 else f"an object of type {type(odd.value).__name__}"
    return f"{odd.place or 'CLAIMS'} needs {odd.needed}, got {got}; {_advice(odd.value)}."


class _Odd(NamedTuple):
    value: Any
    needed: str
    place: str = ""


@lru_cache(maxsize=4096)
def _strange(value: sp.Basic) -> _Odd | None:
    """Rounded number, which Sympy equates with nearby numbers, or symbol of a user's own class."""
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
    for one in fields(owner):
        odd = _odd(getattr(owner, one.name, None), _hints(owner.__class__)[one.name])
        if odd is not None:
            return odd if odd.place else odd._replace(place=f"{one.name} of {type(owner).__name__}")
    return None


def _advice(value: Any) -> str:
    if isinstance(value, sp.Float):
        return f"write Rational('{value}') if this number is meant"
    if isinstance(value, bool):
        return "write Eq(x, y) for x == y, and leave out a condition that always holds"
    return f"write Rational('{value!r}')" if isinstance(value, float) else "write one"


def _odd(value: Any, kind: Any) -> _Odd | None:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or origin is ClassVar:
        return None
    plain = next((one for one in (str, int, tuple, dict) if isinstance(value, one)), None)
    known_class = familiar(type(value), getattr(value, "__dict__", ()))
    if plain is not None and type(value) not in (plain, bool) and not known_class:
        return _Odd(value, f"a {plain.__name__} of Python's own class")
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
            return _Odd(value, f"a tuple of length {len(first)}")
        kinds = (*first, *[many] * (len(value) - len(first)))
        return next(filter(None, map(_odd, value, kinds)), None)
    if isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, Mapping):
        return next(
            filter(None, (_odd(*pair) for item in value.items() for pair in zip(item, parts, strict=True))),
            None,
        )
    known = origin or (type(None) if kind is None else kind)
    if not isinstance(known, type):
        return None
    letter = known is Boolean and isinstance(value, sp.Symbol)  # Sympy takes a symbol as a condition
    whole = isinstance(value, int) and not isinstance(value, bool)
    if (
        (not isinstance(value, known) and not (known is sp.Expr and whole))
        or (known is int and not whole)
        or letter
    ):
        return _Odd(value, _NEEDED.get(known, f"a {known.__name__}"))
    if isinstance(value, sp.Basic):
        return _strange(value)
    if not is_dataclass(value) or isinstance(value, type):
        return None
    own = isinstance(value, Check) and str(value.engine) not in set(Engine)  # a kind of check of the user's
    return _field(value) if own or known_class else _Odd(value, "objects of this package's classes")


def says_nothing(check: Check, assumptions: tuple[Boolean, ...]) -> str:
    """Sentence that says why a check is vacuous under the assumptions; "" if it is not vacuous.

    >>> from sympy.abc import x
    >>> from lastiterate.symbolic.checks import Identity
    >>> says_nothing(Identity(x + x, 2 * x), ())
    'Both sides are the same expression, so the check says nothing.'
    """
    said, premises = check.says, assumptions
    if isinstance(said, sp.Implies):
        said, premises = said.args[1], (*assumptions, said.args[0])
    if not isinstance(said, Relational):
        return ""
    if said.lhs == said.rhs and not isinstance(said, sp.Lt):
        return "Both sides are the same expression, so the check says nothing."
    stronger = (
        [kind(*said.args, evaluate=False) for kind in (sp.Eq, sp.Lt, sp.Le)]
        if isinstance(said, sp.Le)
        else [said]
    )
    supposed = [part for one in premises for part in sp.And.make_args(one)]
    if any(premise in (one, one.reversed) for one in stronger for premise in supposed):
        return "The conclusion is one of the premises, so the check says nothing."
    return ""
