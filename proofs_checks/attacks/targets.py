"""Targets of the attacks: every bound that a claim may name, with its assumption and the settings it is asked at.

A target maps a setting to the number that is claimed there, rounded up. A name here is not a verdict: which of them
hold is decided by the ledger.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound, bound_by_shifts
from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.published.record import PublishedBound, run_of
from lastiterate.numeric.published.theorems import THEOREMS, TRIVIAL
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.attacks import repaired, wrong
from lastiterate.proofs_checks.attacks.record import Assumed, Setting, assumption_of
from lastiterate.proofs_checks.attacks.settings import tight


@dataclass(frozen=True)
class Target:
    """A bound under attack.

    Attributes:
        name: how claims refer to it.
        assumed: what it assumes of the losses.
        evaluate: the number that is claimed at a setting, rounded up.
        settings: those that it is asked at, bounded or not; None for the stream that all share.
        thin: it is asked at one in so many of these, where it takes long.
    """

    name: str
    assumed: Assumed
    evaluate: Callable[[Setting], float]
    settings: Callable[..., Iterable[Setting]] | None = None
    thin: int = 1


_ASSUMED: Final[Mapping[str, Assumed]] = {
    "Assumption": Assumed.CLIPPED,
    "Clipped": Assumed.CLIPPED,
    "Holder": Assumed.HOLDER,
    "Smooth": Assumed.SMOOTH,
    "Convex": Assumed.CONVEX,
    "StronglyConvex": Assumed.STRONGLY_CONVEX,
}
"""What each kind of losses in a record comes to."""


def _thin(scheme: str) -> int:
    """Share of the settings at which a bound is asked: those of random batches take long."""
    return 1 if SCHEMES[scheme].fixed else 10


def _published(theorem: PublishedBound, assumed: Assumed, name: str = "") -> Target:
    """A theorem at the weakest of its hypotheses, on the first scheme that it speaks of."""

    def evaluate(setting: Setting) -> float:
        run = run_of(setting, theorem.schemes[0])
        return theorem.epsilon(run, assumption_of(setting, assumed), setting["alpha"])

    return Target(name or theorem.name, assumed, evaluate, thin=_thin(theorem.schemes[0]))


def _shifts(scheme: str, assumed: Assumed) -> Target:
    """The least price over all shifts: what the theorems on them say, not the least of all routes."""

    def evaluate(setting: Setting) -> float:
        run = run_of(setting, scheme)
        return bound_by_shifts(run, assumption_of(setting, assumed), order=setting["alpha"]).epsilon

    return Target(f"shifts_{scheme}_{assumed}", assumed, evaluate, thin=_thin(scheme))


def _least(scheme: str, assumed: Assumed, *, dp: bool) -> Target:
    """`bound` itself, which takes longer: at few settings, of an order or of a delta."""

    def evaluate(setting: Setting) -> float:
        target = {"delta": setting["delta"]} if dp else {"order": setting["alpha"]}
        return bound(run_of(setting, scheme), assumption_of(setting, assumed), **target).epsilon

    return Target(f"bound_{scheme}_{assumed}{'_dp' * dp}", assumed, evaluate, _with_delta if dp else tight)


def _with_delta(*, bounded: bool) -> Iterator[Setting]:
    return (setting for setting in tight(bounded=bounded) if "delta" in setting)


_LOSSES = tuple(assumed for assumed in Assumed if assumed is not Assumed.SENSITIVITY)

_ALL = (
    _published(TRIVIAL["composition"], Assumed.SENSITIVITY),
    *(_published(TRIVIAL["last_step"], assumed, f"last_step_{assumed}") for assumed in _LOSSES),
    *(
        _published(one, _ASSUMED[one.assumptions[0].__name__])
        for one in THEOREMS.values()
        if one.schemes and not one.schedules
    ),
    *(
        target
        for scheme in SCHEMES
        for assumed in _LOSSES
        for target in (
            _shifts(scheme, assumed),
            _least(scheme, assumed, dp=False),
            _least(scheme, assumed, dp=True),
        )
    ),
    Target("liang_mended", Assumed.SMOOTH, repaired.liang, repaired.with_batches),
    Target("liang_mended_small_orders", Assumed.SMOOTH, partial(repaired.liang, small=True), repaired.with_batches),
    Target("projection", Assumed.CLIPPED, repaired.projection, repaired.with_projections),
    Target("projection_dp", Assumed.CLIPPED, repaired.projection, repaired.with_projections_and_delta),
    Target("affine_untested", Assumed.SMOOTH, wrong.affine_untested),
    Target("cyclic_best_position", Assumed.CONVEX, wrong.best_position),
    Target("half_the_rate", Assumed.CONVEX, wrong.amplified_twice, thin=10),
    Target("without_replacement_s_down", Assumed.CONVEX, wrong.smaller_direction("without_replacement")),
    Target("poisson_s_down", Assumed.CONVEX, wrong.smaller_direction("poisson")),
)

TARGETS: Final[Mapping[str, Target]] = MappingProxyType({target.name: target for target in _ALL})
"""Name -> target."""


def named(name: str) -> Target:
    """The target of this name.

    Raises:
        InputError: there is none.
    """
    if name not in TARGETS:
        raise InputError(f"bound needs the name of a target, got bound={name!r}; {suggestion(name, TARGETS)}")
    return TARGETS[name]
