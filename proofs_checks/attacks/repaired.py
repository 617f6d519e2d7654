"""Bounds in place of refuted privacy bounds of Liang et al. and of D2P2-SGD, and the settings of their attacks.

A and A' are the prices of a step, B that of the domain, as in `numeric.published.closed_forms`; beta, a constant
below 1, is taken up to 1 or to its best. A setting has a size b of the batches, or a dimension p that is projected to.
"""

from collections.abc import Iterator
from itertools import islice
from math import inf, isfinite

from sympy import sqrt

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.published.altschuler_talwar import order_is_small
from lastiterate.numeric.published.record import statement_value
from lastiterate.numeric.random_projection import RandomProjectionRun, projection_bound
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.attacks.record import Setting
from lastiterate.proofs_checks.attacks.settings import settings
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T

_SEED = 2027
_MANY = 10


def _run(setting: Setting) -> NoisySGD:
    """The numbers of a setting; how batches are drawn is the attack's."""
    return NoisySGD(
        int(setting["T"]),
        setting["eta"],
        setting["sigma"],
        setting["K"],
        dataset_size=int(setting["n"]),
        batch_size=int(setting["b"]),
        sampling="poisson",
        diameter=setting["D"],
    )


def liang(setting: Setting, *, small: bool = False) -> float:
    """min{A T, (sqrt A + sqrt B)^2}; A' for A where its conditions hold, else infinite, if ``small``."""
    run, order = _run(setting), setting["alpha"]
    price = stated.LIANG_SMALL_ORDER if small else stated.LIANG_STEP
    step = statement_value(price, run, order)
    found = [statement_value(T * price, run, order)] if not small or _small(run, order, 1.0) else []
    if isfinite(run.diameter):
        hidden = statement_value(stated.LIANG_DOMAIN, run, order, L=setting["L"])
        share = step**0.5 / (step**0.5 + hidden**0.5)
        if not small or _small(run, order, share):
            found.append(statement_value((sqrt(price) + sqrt(stated.LIANG_DOMAIN)) ** 2, run, order, L=setting["L"]))
    return min(found, default=inf)


def _small(run: NoisySGD, order: float, share: float) -> bool:
    """b <= n/5, sigma_DP > 8 K/(b sqrt(beta)) and alpha <= alpha*, at beta = ``share``."""
    multiplier = run.batch * share**0.5 * run.noise_std_at(0) / (run.step_size_at(0) * 2 * run.clip_norm)
    rate = run.batch / run.dataset_size
    return 5 * run.batch <= run.dataset_size and multiplier > 4 and order_is_small(rate, multiplier, order)


def with_batches(*, bounded: bool) -> Iterator[Setting]:
    """Full batches of many samples first, where a step costs as much as is claimed; then small rates and wide noise."""
    diameter = 60.0 if bounded else inf
    base = {"eta": 0.1, "sigma": 1.0, "L": 0.1, "lam": 1.0, "m": 0.0, "D": diameter}
    for steps, n, gap in ((1.0, 2000.0, 1.0), (1.0, 2000.0, 0.5), (2.0, 4000.0, 0.7), (3.0, 500.0, 0.2)):
        yield {**base, "T": steps, "n": n, "b": n, "K": gap * n / (2 * base["eta"]), "alpha": 2.0}
    if bounded:  # small against a step, and so steep that others push the runs apart
        yield {**base, "T": 60.0, "n": 20.0, "b": 20.0, "K": 25.0, "D": 0.01, "L": 4e3, "alpha": 2.0}
    for steps, n, b in ((1.0, 5.0, 1.0), (40.0, 20.0, 2.0), (8.0, 100.0, 20.0)):
        for order in (1.5, 4.0):
            yield {**base, "T": steps, "n": n, "b": b, "K": b * 1.2, "alpha": order}
            yield {**base, "T": steps, "n": n, "b": b, "K": b * 1.2, "alpha": order, "L": 1e3, "D": diameter / 1e4}
    for setting in islice(settings(_SEED, bounded=bounded), _MANY):
        n = int(setting["n"])
        yield from ({**setting, "b": float(b)} for b in {n, max(n // 7, 1)})


def projection(setting: Setting) -> float:
    """`projection_bound`; infinite where the divergence is."""
    run = RandomProjectionRun(
        steps=int(setting["T"]),
        step_size=setting["eta"],
        noise_std=setting["sigma"],
        ranks=(int(setting["p"]),),
        dataset_size=int(setting["n"]),
    )
    target = {"delta": setting["delta"]} if "delta" in setting else {"order": setting["alpha"]}
    try:
        return projection_bound(run, **target).epsilon
    except InputError:
        return inf


def with_projections(*, bounded: bool) -> Iterator[Setting]:
    """Ranks from 1 to 50, noise from little more than the divergence needs to be finite."""
    base = {"eta": 0.1, "K": 1.0, "D": inf, "L": 1.0, "lam": 1.0, "m": 0.0}
    for p, noise, steps in ((1.0, 3.0, 1.0), (2.0, 2.5, 3.0), (7.0, 4.0, 10.0), (50.0, 1.0, 5.0)) * (not bounded):
        for n, order in ((1.0, 1.1), (1.0, 2.0), (4.0, 2.0), (4.0, 6.0)):
            yield {**base, "T": steps, "n": n, "p": p, "sigma": noise, "alpha": order}


def with_projections_and_delta(*, bounded: bool) -> Iterator[Setting]:
    """Some of these at a delta."""
    for setting in with_projections(bounded=bounded):
        if setting["alpha"] == 2:
            yield {**setting, "delta": 1e-5 if setting["n"] == 1 else 1e-2}
