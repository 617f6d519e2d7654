"""Near misses of what is derived: a smaller bound or profile, and a premise or condition less."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, cast

from sympy import Add, Expr
from sympy.core.relational import Relational

from lastiterate.symbolic.claim import Consequence, Derived
from lastiterate.symbolic.kernel.blocks import Blocks, Contracted, Damped, Letter
from lastiterate.symbolic.kernel.profiles import Average, Composed, Equal, Mean, Profile, Recurring, Steps
from lastiterate.symbolic.kernel.projected import Projected
from lastiterate.symbolic.kernel.tables import Chords
from lastiterate.symbolic.statement import Constant


def near_derivations(check: Consequence | Derived, less: Expr) -> Iterator[Consequence | Derived]:
    """A smaller profile; or each term of a bound times a number below 1, and the check without each premise it uses."""
    if isinstance(check, Consequence):
        yield from _consequences(check, less)
    elif smaller := _lessened(check.profile, less):
        yield replace(check, name=f"a profile {100 - 100 * less} percent less", mutants=(), profile=smaller)


def _consequences(check: Consequence, factor: Expr) -> Iterator[Consequence]:
    """Each term of a bound up to a constant times a factor, and the check without each premise that is used."""
    for bound in check.conclusion.atoms(Constant):
        for term in Add.make_args(bound.args[0]):
            less = bound.func(bound.args[0] - (1 - factor) * term)
            yield replace(
                check,
                name=f"{term} times {factor}",
                mutants=(),
                conclusion=check.conclusion.xreplace({bound: less}),
            )
    used = {premise for one in check.cited for premise in one.given}
    for premise in check.given:
        if premise in used or isinstance(premise, Relational):
            fewer = tuple(one for one in check.given if one != premise)
            yield replace(check, name=f"without {premise}", mutants=(), given=fewer)


def _lessened(profile: Profile, factor: Expr) -> Profile | None:
    """A profile with one distance or one number of steps times a factor; None of one that has neither."""
    own: Any = profile
    if isinstance(profile, Letter):
        return Equal()
    if isinstance(profile, Composed | Mean):
        name, pairs = ("parts", own.parts) if isinstance(profile, Composed) else ("pairs", own.pairs)
        for i, pair in enumerate(pairs):
            less = _lessened(pair if name == "parts" else pair[1], factor)
            if less is not None:
                put = less if name == "parts" else (pair[0], less)
                return cast("Profile", replace(own, **{name: (*pairs[:i], put, *pairs[i + 1 :])}))
        return None
    kinds = {"far": Blocks | Contracted | Damped, "again": Recurring, "part": Steps | Average | Projected | Chords}
    for name, kind in kinds.items():
        if isinstance(profile, kind):
            less = _lessened(getattr(own, name), factor)
            return less and cast("Profile", replace(own, **{name: less}))
    field = next(iter({"square", "count"} & {one.name for one in fields(own)}), None)
    return cast("Profile", replace(own, **{field: factor * getattr(own, field)})) if field else None
