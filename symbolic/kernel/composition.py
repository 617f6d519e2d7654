"""Profiles of steps one after the other, and when one profile is above another."""

from collections.abc import Iterable
from dataclasses import replace

from sympy import Add, Eq, Expr, Ge, Gt, Le, S, Symbol, default_sort_key
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.blocks import Blocks, Contracted, Damped, Letter, Split
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import (
    Average,
    Composed,
    Equal,
    Gauss,
    Hull,
    Mean,
    Order,
    PoissonStep,
    Power,
    Profile,
    Recurring,
    Steps,
    SwapStep,
)
from lastiterate.symbolic.kernel.projected import Projected, X
from lastiterate.symbolic.kernel.tables import Atoms, Chords


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


def unfolded(profile: Recurring) -> Mean:
    """f_n in the words of f_(n-1)."""
    before = replace(profile, count=profile.count - 1)
    pairs = ((1 - profile.chance, profile.first), (profile.chance, compose(before, profile.again)))
    return Mean(pairs, order=profile.order)


def sound(profile: Profile) -> list[Boolean]:
    """Conditions under which a term is a profile: convex, nonincreasing, 1 at 0 and at least max(1 - g, 0).

    Raises:
        UnprovedError: no such conditions are known.
    """
    match profile:
        case Equal() | Letter():
            return []
        case Gauss():
            return [Ge(profile.square, 0)]
        case PoissonStep() | SwapStep():
            return [Gt(profile.rate, 0), Le(profile.rate, 1), Ge(profile.square, 0)]
        case Composed() | Hull() if profile.parts:
            return [one for part in profile.parts for one in sound(part)]
        case Power() | Steps() if profile.count == 0:
            return []
        case Recurring() | Blocks() | Damped() if profile.count == 0:
            return sound(profile.base)
        case Power():
            return [Ge(profile.count, 0), *sound(profile.part)]
        case Steps():
            return [Ge(profile.count, 0), *sound(_any(profile.part, profile.index))]
        case Projected():
            return [Gt(profile.dimension, 0), *sound(_any(profile.part, X))]
        case Mean() if profile.pairs:
            total = Add(profile.failure, *(weight for weight, _ in profile.pairs))
            signs = [Ge(weight, 0) for weight, _ in profile.pairs] + [Ge(profile.failure, 0)]
            return [*signs, Eq(total, 1), *(one for _, part in profile.pairs for one in sound(part))]
        case Recurring():
            parts = (profile.first, profile.again, profile.base)
            signs = [Ge(profile.chance, 0), Le(profile.chance, 1), Ge(profile.count, 0)]
            return [*signs, *(one for part in parts for one in sound(part))]
        case Atoms():
            signs = [Ge(number, 0) for pair in profile.pairs for number in pair]
            return [*signs, Ge(profile.rest, 0)]
        case Blocks():
            each = [_any(one, profile.index) for one in (profile.near, profile.far)]
            return [Ge(profile.count, 0), *sound(profile.base), *(one for part in each for one in sound(part))]
        case Damped():
            return [Ge(profile.count, 0), *sound(profile.base), *sound(_any(profile.far, profile.index))]
    raise UnprovedError(f"It is not known when {profile} is a profile.")


def _any(part: Profile, index: Symbol) -> Profile:
    """The part for any value of its index, of which nothing else speaks."""
    return part.subs({index: Symbol(f"any {index.name}", **index.assumptions0)})


def covers(above: Profile, below: Profile) -> list[Boolean]:
    """Conditions under which ``above`` is at least ``below`` at every g, by the monotonicity of their terms.

    Raises:
        UnprovedError: no such conditions are known.
    """
    match above, below:
        case _ if above == below:
            return []
        case _, Equal():  # the least profile of all
            return sound(above)
        case Gauss(), Gauss():
            return [below.square <= above.square]
        case PoissonStep(), PoissonStep() if above.order in {None, below.order}:
            return [below.rate <= above.rate, below.square <= above.square]
        case SwapStep(), SwapStep():
            return [below.rate <= above.rate, below.square <= above.square]
        case Power(), Power():
            return [*covers(above.part, below.part), below.count <= above.count]
        case Steps(), Steps() if replace(above, part=below.part, order=below.order) == below:
            return covers(_any(above.part, above.index), _any(below.part, above.index))
        case Average(), Average() if replace(above, part=below.part, order=below.order) == below:
            return covers(_any(above.part, above.index), _any(below.part, above.index))
        case Projected(), Projected() if above.dimension == below.dimension:
            return covers(_any(above.part, X), _any(below.part, X))
        case Chords(), Chords() if replace(above, part=below.part, order=below.order) == below:
            return covers(_any(above.part, above.index), _any(below.part, above.index))  # at every node
        case Chords(), _:
            return covers(above.part, below)
        case Composed(), Composed() if len(above.parts) == len(below.parts):
            return [one for pair in zip(above.parts, below.parts, strict=True) for one in covers(*pair)]
        case Mean(), Mean() if [w for w, _ in above.pairs] == [w for w, _ in below.pairs]:
            pairs = zip(above.pairs, below.pairs, strict=True)
            return [below.failure <= above.failure, *(one for (_, f), (_, h) in pairs for one in covers(f, h))]
        case Recurring(), Recurring() if (above.chance, above.count) == (below.chance, below.count):
            return [
                *covers(above.first, below.first),
                *covers(above.again, below.again),
                *covers(above.base, below.base),
            ]
        case Recurring(), Mean() if below == unfolded(above):
            return []
        case Recurring(), _ if above.count == 0:
            return covers(above.base, below)
        case Split(), Contracted():
            return [*above.conditions(), *covers(Contracted(above.before, above.near, above.far), below)]
        case Contracted(), Contracted():
            return [
                *covers(above.before, below.before),
                *covers(above.near, below.near),
                *covers(above.far, below.far),
            ]
        case Blocks(), Blocks() if (above.index, above.count) == (below.index, below.count):
            return [
                *covers(above.base, below.base),
                *covers(_any(above.near, above.index), _any(below.near, above.index)),
                *covers(_any(above.far, above.index), _any(below.far, above.index)),
            ]
        case Blocks(), Contracted() if above.count != 0:
            return covers(replace(above, count=above.count - 1).then(), below)
        case Blocks(), _ if above.count == 0:
            return covers(above.base, below)
        case Damped(), Damped() if (above.index, above.count) == (below.index, below.count):
            far = (_any(one.far, above.index) for one in (above, below))
            return [*covers(above.base, below.base), *covers(*far)]
        case Damped(), Contracted() if above.count != 0:
            return covers(replace(above, count=above.count - 1).then(), below)
        case Damped(), _ if above.count == 0:
            return covers(above.base, below)
        case Atoms(), Atoms():  # both are linear between the nodes of either, and both fall to f(oo)
            nodes = sorted({y for one in (above, below) for y, _ in one.pairs}, key=default_sort_key)
            less = [below.at(node) <= above.at(node) for node in nodes] + [below.rest <= above.rest]
            return [*sound(above), *less]
    raise UnprovedError(f"It is not known when {above} is at least {below}.")
