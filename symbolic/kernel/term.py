"""Profiles as terms, and values for the letters of terms."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeAlias

from sympy import Basic, Expr, Symbol, Tuple
from sympy.concrete.expr_with_limits import ExprWithLimits

from lastiterate.symbolic.kernel.sealed import UnprovedError


class Order(StrEnum):
    """The numerator P of E_g(P || Q): the law of run 1 or that of run 2."""

    FIRST = "run 1 || run 2"
    SECOND = "run 2 || run 1"

    @property
    def other(self) -> "Order":
        """The order with the runs exchanged."""
        return Order.SECOND if self is Order.FIRST else Order.FIRST


class Profile:
    """A profile as a term; ``order`` is the one order that it bounds, None where it bounds both."""

    order: Order | None

    def words(self) -> "Words":
        """Its name, in texts, expressions and other profiles."""
        raise NotImplementedError

    def named(self) -> Iterator[str | Expr]:
        """Its name, in texts and expressions."""
        for part in self.words():
            if isinstance(part, Profile):
                yield from part.named()
            else:
                yield part

    def __str__(self) -> str:
        return "".join(map(str, self.named()))

    def subs(self, values: Mapping[Symbol, Expr]) -> "Profile":
        """The term with values for symbols, all at once; an index that it ranges over is no such symbol."""
        own: Any = self  # every profile is a dataclass
        parts = {one.name: getattr(own, one.name) for one in fields(own)}
        index = parts.pop("index", None)
        inside: Mapping[Symbol, Expr] = values
        if index is not None:
            inside = {letter: value for letter, value in values.items() if letter != index}
            clash = any(index in value.free_symbols for value in inside.values())
            fresh = new_letter(index, *inside.values(), *map(_said, parts.values())) if clash else index
            inside |= {} if fresh == index else {index: fresh}
            parts |= {"index": fresh}
        outside = {"index", "count", "base"}
        changed = {name: put(part, values if name in outside else inside) for name, part in parts.items()}
        made: Profile = replace(own, **changed | ({} if index is None else {"index": fresh}))
        return made

    def at(self, g: Expr) -> Expr:
        """The value at a factor g > 0."""
        raise NotImplementedError

    def moment(self, alpha: Expr) -> Expr:
        """The integral of y^alpha dm(y) = exp((alpha - 1) D_alpha), alpha > 1; infinite where f(oo) > 0."""
        raise NotImplementedError


Words: TypeAlias = tuple[str | Expr | Profile, ...]
"""A name of a profile: texts, expressions and other profiles, which are written one after the other."""


def new_letter(letter: Symbol, *said: Basic) -> Symbol:
    """The letter, primed until no letter of the terms, free or bound, has its name."""
    taken = {one.name for part in said for one in part.atoms(Symbol)}
    while letter.name in taken:
        letter = Symbol(f"{letter.name}'", **letter.assumptions0)
    return letter


def _said(thing: Any) -> Tuple:
    """The terms in a part of a profile."""
    if isinstance(thing, Profile):
        own: Any = thing
        return Tuple(*(_said(getattr(own, one.name)) for one in fields(own)))
    if isinstance(thing, tuple):
        return Tuple(*map(_said, thing))
    return Tuple(thing) if isinstance(thing, Basic) else Tuple()


def put(thing: Any, values: Mapping[Symbol, Expr]) -> Any:
    """A term, or many, with values for symbols, all at once; a letter that is bound stays, and captures none of them.

    Raises:
        UnprovedError: a value names a letter that the term binds, other than the index of a sum or a product.
    """
    if isinstance(thing, tuple):
        return tuple(put(one, values) for one in thing)
    if isinstance(thing, Profile):
        return thing.subs(values)
    if not isinstance(thing, Basic):
        return thing
    if not thing.has(ExprWithLimits) and thing.atoms(Symbol) == thing.free_symbols:
        return thing.xreplace(values)
    if isinstance(thing, ExprWithLimits):
        return _put_inside(thing, values)
    bound = thing.atoms(Symbol) - thing.free_symbols
    if not thing.has(ExprWithLimits) and bound & set(values).union(*(one.free_symbols for one in values.values())):
        raise UnprovedError(f"No value is put for, or made of, a letter that {thing} binds, got {values}.")
    return thing.func(*(put(one, values) for one in thing.args)) if thing.args else thing


def _put_inside(thing: ExprWithLimits, values: Mapping[Symbol, Expr]) -> Expr:
    """A sum or a product with values for its free letters; an index that a value names gets another name."""
    named = set[Basic]().union(thing.function.free_symbols, *(one.free_symbols for one in thing.limits[:-1]))
    limits, inside = list[Tuple](), dict(values)
    for letter, *ends in reversed([limit.args for limit in thing.limits]):  # the last one is outermost
        ends = [put(end, inside) for end in ends]
        inside.pop(letter, None)
        clash = any(letter in value.free_symbols for one, value in inside.items() if one in named)
        fresh = new_letter(letter, thing, *inside.values()) if clash else letter
        if fresh != letter:
            inside[letter] = fresh
        limits.insert(0, Tuple(fresh, *ends))
    made: Expr = thing.func(put(thing.function, inside), *limits)
    return made
