"""Profiles in words and expressions, for statements."""

from collections.abc import Iterator
from typing import Any

from lastiterate.symbolic.kernel.blocks import Blocks, Contracted, Damped, Letter
from lastiterate.symbolic.kernel.profiles import (
    Average,
    Composed,
    Equal,
    Gauss,
    Mean,
    PoissonStep,
    Power,
    Profile,
    Recurring,
    Steps,
    SwapStep,
)
from lastiterate.symbolic.kernel.projected import Projected
from lastiterate.symbolic.kernel.tables import EVERYTHING, Chords


def profile_words(profile: Profile) -> Iterator[Any]:
    """Words and expressions that name a profile."""
    if isinstance(profile, Gauss):
        yield from ("a Gaussian of mu^2 = ", profile.square)
    elif isinstance(profile, SwapStep | PoissonStep):
        kind = "a replaced" if isinstance(profile, SwapStep) else "an added"
        yield from (f"{kind} sample that is in the batch with chance ", profile.rate)
        yield from (", at squared distance over variance ", profile.square)
    elif isinstance(profile, Chords):
        yield from (*profile_words(profile.part), ", by chords between nodes ", profile.node)
    elif isinstance(profile, Projected):
        yield from ("over X, chi-square of ", profile.dimension, " degrees of freedom, the mean of ")
        yield from profile_words(profile.part)
    elif isinstance(profile, Equal):
        yield "nothing"
    elif isinstance(profile, Power):
        yield from (profile.count, " times ", *profile_words(profile.part))
    elif isinstance(profile, Steps):
        yield from ("for every ", profile.index, " below ", profile.count, " ", *profile_words(profile.part))
    elif isinstance(profile, Average):
        yield from ("with chance ", profile.weight, ", for every ", profile.index, " below ", profile.count, ", ")
        yield from profile_words(profile.part)
    elif isinstance(profile, Composed):
        first, *others = profile.parts
        yield from profile_words(first)
        for other in others:
            yield from (" and ", *profile_words(other))
    elif isinstance(profile, Mean):
        for i, (weight, part) in enumerate(profile.pairs):
            yield from ((" and " if i else "") + "with chance ", weight, " ", *profile_words(part))
        if profile.failure != 0:
            yield from (", and with chance ", profile.failure, " everything is known")
    elif isinstance(profile, Recurring):
        yield from (
            *profile_words(profile.base),
            "; and then, ",
            profile.count,
            " times, with chance ",
            1 - profile.chance,
            " ",
        )
        yield from (*profile_words(profile.first), " instead, and else ", *profile_words(profile.again), " more")
    elif isinstance(profile, Letter):
        yield profile.name
    elif profile == EVERYTHING:
        yield "everything"
    elif isinstance(profile, Contracted):
        yield from (
            "after ",
            *profile_words(profile.before),
            " a block that contracts it, at ",
            *profile_words(profile.near),
        )
        yield from (" where the runs agree and ", *profile_words(profile.far), " where not")
    elif isinstance(profile, Blocks):
        yield from ("Y_", profile.count, ", of any profiles Y_0 no less than ", *profile_words(profile.base))
        yield from (" and, for every ", profile.index, " below ", profile.count, ", the next no less than after it")
        yield from (" a block that contracts it, at ", *profile_words(profile.near), " where the runs agree and ")
        yield from (*profile_words(profile.far), " where not")
    elif isinstance(profile, Damped):
        yield from ("f after ", profile.count, " blocks, f at first ", *profile_words(profile.base))
        yield from (" and f F(1 + (g - 1)/f) after block ", profile.index, ", at each g, F being ")
        yield from profile_words(profile.far)
    else:
        raise TypeError(f"no statement for a profile of type {type(profile).__name__}")
