"""Profiles of steps one after the other, and when one profile is above another."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Final

from sympy import Add, Eq, Expr, Ge, Gt, Le, S, Symbol, default_sort_key, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.profiles import (
    Atoms,
    Average,
    BlockChain,
    Chords,
    Composed,
    Contracted,
    Damped,
    Equal,
    Gauss,
    Hull,
    Letter,
    MeanProfile,
    Order,
    PoissonStep,
    Power,
    Profile,
    Projected,
    Recurring,
    Split,
    Steps,
    SwapStep,
    X,
)
from lastiterate.symbolic.kernel.sealed import UnprovedError
from lastiterate.symbolic.kernel.substitution import numbers, same, whichever


def common(profiles: Iterable[Profile]) -> Order | None:
    """The one order that all of them bound.

    Raises:
        UnprovedError: one bounds E_g(P || Q) and another E_g(Q || P) alone.
    """
    orders = {profile.order for profile in profiles} - {None}
    if len(orders) > 1:
        raise UnprovedError("Profiles of one order are needed, got both; exchange the runs in one of them.")
    return next(iter(orders), None)


def compose(*profiles: Profile) -> Profile:
    """The profile of steps one after the other, whoever chooses the second after seeing the first."""
    gauss: list[Expr] = []
    atoms: list[Atoms] = []
    counts: dict[Profile, Expr] = {}
    for part in (part for one in profiles for part in (one.parts if isinstance(one, Composed) else (one,))):
        match part:
            case Equal():
                pass
            case Gauss():
                gauss.append(part.square)
            case Atoms():
                atoms.append(part)
            case Power():
                counts[part.part] = counts.get(part.part, S.Zero) + part.count
            case _:
                counts[part] = counts.get(part, S.Zero) + 1
    for steps in [part for part in counts if isinstance(part, Steps)]:  # of which the next one may be there
        following = steps.part.subs({steps.index: steps.count})
        if counts.get(steps) == counts.get(following) == 1:
            del counts[steps], counts[following]
            more = replace(steps, count=steps.count + 1)
            counts[more] = counts.get(more, S.Zero) + 1
    parts = [part if count == 1 else Power(part, count, part.order) for part, count in counts.items()]
    if gauss:  # two Gaussian shifts at right angles are one, along the diagonal
        parts.append(Gauss(Add(*gauss)))
    if atoms:
        parts.append(Atoms(_products(atoms), common(atoms)))
    if len(parts) > 1:
        return Composed(tuple(parts), common(parts))
    return parts[0] if parts else Equal()


def _products(atoms: Iterable[Atoms]) -> tuple[tuple[Expr, Expr], ...]:
    pairs = {S.One: S.One}
    for part in atoms:
        product: dict[Expr, Expr] = {}
        for y, m in pairs.items():
            for ratio, mass in part.pairs:
                product[y * ratio] = product.get(y * ratio, S.Zero) + m * mass
        pairs = product
    return tuple(sorted(pairs.items(), key=lambda pair: pair[0]))


def unfolded(profile: Recurring) -> MeanProfile:
    """f_n in the words of f_(n-1)."""
    before = replace(profile, count=profile.count - 1)
    pairs = ((1 - profile.chance, profile.first), (profile.chance, compose(before, profile.again)))
    return MeanProfile(pairs, order=profile.order)


def counts(index: Symbol, count: Expr) -> None:
    """Raise an error unless an index stands for every whole number from 0 on, and it runs over so many.

    Raises:
        UnprovedError: they do not.
    """
    if not isinstance(index, Symbol) or index.assumptions0 != _INDEX or not count.is_integer or index in count.atoms():
        raise UnprovedError(f"An index needs to run over 0, 1, 2, ..., so many whole numbers, got {index}, {count}.")


_INDEX: Final = Symbol("i", integer=True, nonnegative=True).assumptions0
_KNOWN: Final = (
    Equal, Letter, Gauss, PoissonStep, SwapStep, Composed, Hull, Power, Steps, Projected, MeanProfile, Average,
    Recurring, Atoms, Chords, Contracted, Split, BlockChain, Damped,
)  # fmt: skip


def formed(profile: Profile) -> None:
    """Raise an error unless a term is made as its class says: of profiles of its own order, and of whole counts.

    Raises:
        UnprovedError: it is not, or its class is none of those that the rules speak of.
    """
    if type(profile) not in _KNOWN:
        raise UnprovedError(f"A profile of the kernel is needed, got one of type {type(profile).__name__}.")
    inside = _inside(profile)
    for part in inside:
        formed(part)
        if part.order not in {None, profile.order}:
            raise UnprovedError(f"A profile of parts of the order {part.order} is of that order, got {profile.order}.")
    if isinstance(profile, Steps | Average | Chords | BlockChain | Damped):
        counts(profile.index, profile.count)
    elif isinstance(profile, Power | Recurring) and not profile.count.is_integer:
        raise UnprovedError(f"A profile of whole counts is needed, got {profile}.")
    elif isinstance(profile, Composed | Hull | MeanProfile) and not inside:
        raise UnprovedError(f"A profile of some parts is needed, got {profile}.")


def _inside(profile: Profile) -> list[Profile]:
    """The profiles that one is made of."""
    own: Any = profile
    return [part for one in fields(own) for part in _flat(getattr(own, one.name)) if isinstance(part, Profile)]


def _flat(thing: Any) -> list[Any]:
    return [part for one in thing for part in _flat(one)] if isinstance(thing, tuple) else [thing]


def sound(profile: Profile) -> list[Boolean]:
    """Conditions under which a term is a profile: convex, nonincreasing, 1 at 0 and at least max(1 - g, 0).

    That of a table with 1 at 0 is that its masses are nonnegative, the rest of P too, and that they, the masses of Q,
    add up to at most 1: its slope at 0 is that sum, and no profile falls faster than 1 - g.

    Raises:
        UnprovedError: no such conditions are known.
    """
    formed(profile)
    return list(dict.fromkeys(_sound(profile)))


def _sound(profile: Profile) -> Iterator[Boolean]:
    match profile:
        case Equal() | Letter():
            return
        case Gauss():
            yield from (*numbers(profile.square), Ge(profile.square, 0))
            return
        case PoissonStep() | SwapStep():
            yield from (*numbers(profile.rate), *numbers(profile.square))
            yield from (Gt(profile.rate, 0), Le(profile.rate, 1), Ge(profile.square, 0))
            return
        case Power() | Steps() if profile.count == 0:
            return
        case Recurring() | BlockChain() | Damped() if profile.count == 0:
            yield from _sound(profile.base)
            return
        case Power() | Recurring() | Steps() | BlockChain() | Damped() | Chords():
            yield Ge(profile.count, 0)
        case Projected():
            yield from (*numbers(profile.dimension), Gt(profile.dimension, 0))
        case MeanProfile():
            total = Add(profile.failure, *(weight for weight, _ in profile.pairs))
            for weight in (profile.failure, *(weight for weight, _ in profile.pairs)):
                yield from (*numbers(weight), Ge(weight, 0))
            yield Eq(total, 1)
        case Atoms():
            for number in (number for pair in profile.pairs for number in pair):
                yield from (*numbers(number), Ge(number, 0))
            yield from (Ge(profile.rest, 0), Le(Add(*(m for _, m in profile.pairs)), 1))
        case Split():
            yield from profile.conditions()
        case Average():
            raise UnprovedError(f"It is not known when the weights of {profile} add up to 1.")
    if isinstance(profile, Recurring):
        yield from (Ge(profile.chance, 0), Le(profile.chance, 1))
    if isinstance(profile, Chords):
        yield Ge(profile.node.xreplace({profile.index: whichever(profile.index)}), 0)
    bound = X if isinstance(profile, Projected) else getattr(profile, "index", None)
    for part in _inside(profile):
        yield from _sound(part if bound is None else _any(part, bound))


def _any(part: Profile, index: Symbol) -> Profile:
    """The part for any value of its index, of which nothing else speaks."""
    return part.subs({index: whichever(index)})


def _rates(above: PoissonStep | SwapStep, below: PoissonStep | SwapStep) -> tuple[Boolean, ...]:
    """Conditions under which the rate of a profile is a chance, and no less than that of one that is a profile."""
    return () if above.rate == below.rate else (below.rate <= above.rate, above.rate <= 1)


def _some(profile: Recurring | BlockChain | Damped) -> Iterator[Boolean]:
    """The condition that there is a step, where it is not plain."""
    if Ge(profile.count, 1) != true:
        yield Ge(profile.count, 1)


def covers(above: Profile, below: Profile) -> list[Boolean]:
    """Conditions under which ``above`` is at least ``below`` at every g, by the monotonicity of their terms.

    Raises:
        UnprovedError: no such conditions are known.
    """
    formed(above)
    match above, below:
        case _ if above == below:
            return []
        case _, Equal():  # the least profile of all
            return sound(above)
        case Gauss(), Gauss():
            return [below.square <= above.square]
        case PoissonStep(), PoissonStep() if above.order in {None, below.order}:
            return [*_rates(above, below), below.square <= above.square]
        case SwapStep(), SwapStep():
            return [*_rates(above, below), below.square <= above.square]
        case Power(), Power():
            return [*covers(above.part, below.part), below.count <= above.count]
        case _ if type(above) is type(below) and (found := _rises(above, below)) is not None:
            return found
        case Chords(), _:
            return [*sound(replace(above, part=Equal(), order=None)), *covers(above.part, below)]
        case Recurring(), MeanProfile() if below == unfolded(above):
            return [*_some(above)]
        case Split(), Contracted():
            inner = covers(Contracted(above.before, above.near, above.far), below)
            return [*above.conditions(), *sound(above.before), *inner]
        case Recurring() | BlockChain() | Damped(), _ if above.count == 0:
            return covers(above.base, below)
        case BlockChain() | Damped(), Contracted():
            return [*_some(above), *covers(replace(above, count=above.count - 1).then(), below)]
        case Atoms(), Atoms():  # both are linear between the nodes of either, and both fall to f(oo)
            nodes = sorted({y for one in (above, below) for y, _ in one.pairs}, key=default_sort_key)
            less = [below.at(node) <= above.at(node) for node in nodes] + [below.rest <= above.rest]
            return [*sound(above), *less]
    raise UnprovedError(f"It is not known when {above} is at least {below}.")


_RISING: Final = (Steps, Average, Projected, Chords, Composed, MeanProfile, Recurring, Contracted, BlockChain, Damped)
"""Terms that are no less where their parts are no less, at every index, and all else is the same."""


def _rises(above: Any, below: Any) -> list[Boolean] | None:
    """Conditions under which a term is no less than another, part by part; None where more than parts is different."""
    if not isinstance(above, _RISING):
        return None
    bound = X if isinstance(above, Projected) else getattr(above, "index", None)
    found: list[Boolean] = []
    for name in (one.name for one in fields(above) if one.name != "order"):
        parts, others = (_flat(getattr(one, name)) for one in (above, below))
        if name == "failure":
            found += same(*parts, *others)
        elif len(parts) != len(others):
            return None
        else:
            for part, other in zip(parts, others, strict=True):
                if isinstance(part, Profile) and isinstance(other, Profile):
                    free = bound is None or name == "base"
                    found += covers(part, other) if free else covers(_any(part, bound), _any(other, bound))
                elif part != other:
                    return None
    return found
