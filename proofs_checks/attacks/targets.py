"""Targets of the attacks: every bound that a claim may name, with its assumption and its settings.

The ledger decides which targets hold. Some targets replace refuted bounds of Liang et al.: A and A' are costs
of a step and B is the cost of the domain, as in `lastiterate.numeric.published.closed_forms`; the constant
beta < 1 is set to its limit 1 or its best value. Their settings have a batch size b. Other targets are wrong
in one respect, and the ledger refutes them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf, isfinite
from types import MappingProxyType
from typing import Final

from sympy import sqrt

from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.altschuler_talwar import order_is_small
from lastiterate.numeric.published.record import PublishedBound, run_of, statement_value
from lastiterate.numeric.published.theorems import THEOREMS, TRIVIAL
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.numeric.shift_program.optimum import untested_window
from lastiterate.proofs_checks.attacks.record import LOSSES, Assumed, Setting, assumption_at, settings
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T

_SEED, _MANY = 2027, 10
"""Seed and number of the random settings with batches."""


@dataclass(frozen=True)
class AttackedBound:
    """Bound under attack.

    Attributes:
        evaluate: bound claimed at a setting, rounded up.
        settings: settings of this target, for a bounded domain or for none; None for the stream that all
            targets share.
        thin: one in ``thin`` of the shared settings is used; more than 1 for slow targets.
    """

    name: str
    assumed: Assumed
    evaluate: Callable[[Setting], float]
    settings: Callable[..., Iterable[Setting]] | None = None
    thin: int = 1


def _published(theorem: PublishedBound, assumed: Assumed, name: str = "") -> AttackedBound:
    """Target for a theorem under the weakest of its hypotheses and with the first of its schemes."""

    def evaluate(setting: Setting) -> float:
        run = run_of(setting, theorem.schemes[0])
        return theorem.epsilon(run, assumption_at(setting, assumed), setting["alpha"])

    return AttackedBound(
        name or theorem.name, assumed, evaluate, thin=1 if SCHEMES[theorem.schemes[0]].fixed else 10
    )


def _ours(assumed: Assumed) -> AttackedBound:
    def evaluate(setting: Setting) -> float:
        return bound_by_shifts(run_of(setting), assumption_at(setting, assumed), order=setting["alpha"]).epsilon

    return AttackedBound(f"shifts_full_{assumed}", assumed, evaluate)


def repaired_liang(setting: Setting, *, small: bool = False) -> float:
    """Evaluate min{A T, (sqrt A + sqrt B)^2}; ``small`` replaces A by A' if the conditions of A' hold."""
    run, order = replace(run_of(setting, "poisson"), batch_size=int(setting["b"])), setting["alpha"]
    cost = stated.LIANG_SMALL_ORDER if small else stated.LIANG_STEP
    statements = {T * cost: 1.0}
    if isfinite(run.diameter):
        step, hidden = (statement_value(one, run, order, L=setting["L"]) for one in (cost, stated.LIANG_DOMAIN))
        statements[(sqrt(cost) + sqrt(stated.LIANG_DOMAIN)) ** 2] = step**0.5 / (step**0.5 + hidden**0.5)
    allowed = (one for one, share in statements.items() if not small or _small(run, order, share))
    return min((statement_value(one, run, order, L=setting["L"]) for one in allowed), default=inf)


def _small(run: NoisySGD, order: float, share: float) -> bool:
    """Tell whether b <= n/5, sigma_DP > 8 K/(b sqrt(beta)) and alpha <= alpha* for beta = ``share``."""
    multiplier = run.batch * share**0.5 * run.noise_std_at(0) / (run.step_size_at(0) * 2 * run.clip_norm)
    rate = run.batch / run.dataset_size
    return 5 * run.batch <= run.dataset_size and multiplier > 4 and order_is_small(rate, multiplier, order)


def with_batches(*, bounded: bool) -> Iterator[Setting]:
    """Settings: first full batches, at which a step attains the claimed cost, then low rates with large noise."""
    diameter = 60.0 if bounded else inf
    base = {"eta": 0.1, "sigma": 1.0, "L": 0.1, "lam": 1.0, "m": 0.0, "D": diameter}
    for steps, n, gap in ((1.0, 2000.0, 1.0), (1.0, 2000.0, 0.5), (2.0, 4000.0, 0.7), (3.0, 500.0, 0.2)):
        yield {**base, "T": steps, "n": n, "b": n, "K": gap * n / (2 * base["eta"]), "alpha": 2.0}
    # a domain small compared with a step, and losses so steep that other samples push the runs apart
    if bounded:
        yield {**base, "T": 60.0, "n": 20.0, "b": 20.0, "K": 25.0, "D": 0.01, "L": 4e3, "alpha": 2.0}
    for steps, n, b in ((1.0, 5.0, 1.0), (40.0, 20.0, 2.0), (8.0, 100.0, 20.0)):
        for order in (1.5, 4.0):
            yield {**base, "T": steps, "n": n, "b": b, "K": b * 1.2, "alpha": order}
            yield {
                **base,
                "T": steps,
                "n": n,
                "b": b,
                "K": b * 1.2,
                "alpha": order,
                "L": 1e3,
                "D": diameter / 1e4,
            }
    for setting in islice(settings(_SEED, bounded=bounded), _MANY):
        n = int(setting["n"])
        yield from ({**setting, "b": float(b)} for b in {n, max(n // 7, 1)})


def _affine_untested(setting: Setting) -> float:
    """Least cost of `untested_window` over all windows, with c = 1 + eta L."""
    T = int(setting["T"])
    with precision():
        eta, noise = exact(setting["eta"]), exact(setting["sigma"])
        c, s = 1 + eta * exact(setting["L"]), 2 * eta * exact(setting["K"]) / exact(setting["n"])
        starts = [(0.0, T)] + ([(setting["D"], w) for w in range(1, T + 1)] if isfinite(setting["D"]) else [])
        least = min(upper(untested_window(c, s, exact(d), w).cost) for d, w in starts)
        return upper(exact(setting["alpha"]) / 2 * exact(least) / noise**2)


_ASSUMED = {losses: assumed for assumed, (losses, _) in LOSSES.items()} | {Assumption: Assumed.CLIPPED}

_ALL = (
    _published(TRIVIAL["composition"], Assumed.SENSITIVITY),
    *(_published(TRIVIAL["last_step"], assumed, f"last_step_{assumed}") for assumed in LOSSES),
    *(_published(one, _ASSUMED[one.assumptions[0]]) for one in THEOREMS.values() if one.schemes),
    *map(_ours, LOSSES),
    AttackedBound("liang_mended", Assumed.SMOOTH, repaired_liang, with_batches),
    AttackedBound(
        "liang_mended_small_orders", Assumed.SMOOTH, partial(repaired_liang, small=True), with_batches
    ),
    AttackedBound("affine_untested", Assumed.SMOOTH, _affine_untested),
)

TARGETS: Final[Mapping[str, AttackedBound]] = MappingProxyType({target.name: target for target in _ALL})


def find_target(name: str) -> AttackedBound:
    """Target of this name; raises InputError if there is none."""
    if name not in TARGETS:
        raise InputError(f"bound needs the name of a target, got bound={name!r}; {suggestion(name, TARGETS)}")
    return TARGETS[name]
