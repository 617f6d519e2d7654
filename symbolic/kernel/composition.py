"""Profiles of steps one after the other, and when one profile is above another."""

from collections.abc import Iterable
from dataclasses import replace

from sympy import Add, Expr, S
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.blocks import Blocks, Contracted, Damped, Split
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import (
    Average,
    Composed,
    Equal,
    Gauss,
    Mean,
    Order,
    PoissonStep,
    Power,
    Profile,
    Recurring,
    Steps,
    SwapStep,
)
from lastiterate.symbolic.kernel.projected import Projected
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


def covers(above: Profile, below: Profile) -> list[Boolean]:
    """Conditions under which ``above`` is at least ``below`` at every g, by the monotonicity of their terms.

    Raises:
        UnprovedError: no such conditions are known.
    """
    match above, below:
        case _ if above == below or isinstance(below, Equal):
            return []
        case Gauss(), Gauss():
            return [below.square <= above.square]
        case PoissonStep(), PoissonStep() if above.order in {None, below.order}:
            return [below.rate <= above.rate, below.square <= above.square]
        case SwapStep(), SwapStep():
            return [below.rate <= above.rate, below.square <= above.square]
        case Power(), Power():
            return [*covers(above.part, below.part), below.count <= above.count]
        case Steps(), Steps() if replace(above, part=below.part, order=below.order) == below:
            return covers(above.part, below.part)  # for every value of the index
        case Average(), Average() if replace(above, part=below.part, order=below.order) == below:
            return covers(above.part, below.part)  # likewise
        case Projected(), Projected() if above.dimension == below.dimension:
            return covers(above.part, below.part)  # for every value of X
        case Chords(), Chords() if replace(above, part=below.part, order=below.order) == below:
            return covers(above.part, below.part)  # at every node
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
                *covers(above.near, below.near),
                *covers(above.far, below.far),
            ]
        case Blocks(), Contracted() if above.count != 0:
            return covers(replace(above, count=above.count - 1).then(), below)
        case Blocks(), _ if above.count == 0:
            return covers(above.base, below)
        case Damped(), Damped() if (above.index, above.count) == (below.index, below.count):
            return [*covers(above.base, below.base), *covers(above.far, below.far)]
        case Damped(), Contracted() if above.count != 0:
            return covers(replace(above, count=above.count - 1).then(), below)
        case Damped(), _ if above.count == 0:
            return covers(above.base, below)
        case Atoms(), Atoms():  # both are linear between the nodes of either, and both fall to f(oo)
            nodes = sorted({y for one in (above, below) for y, _ in one.pairs})
            return [below.at(node) <= above.at(node) for node in nodes] + [below.rest <= above.rest]
    raise UnprovedError(f"It is not known when {above} is at least {below}.")
