"""Bounds on runs by every route, between the losses of exact runs and recorded values."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np
from random_projection import RandomProjectionRun, projection_bound

from lastiterate.numeric.bound import bound, bound_by_shifts
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.certificates.description import from_dyadic
from lastiterate.numeric.forgetting import forgetting
from lastiterate.numeric.losses import assumptions as loss
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.participation import by_position, participation
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.proofs_checks.certificates.checker import accepted
from recomputations import profiles
from recomputations.record import (
    CLOSE,
    TABLE,
    Number,
    as_recorded,
    equals,
    lower_bound_of,
    upper_bound,
)

_CONVEX, _STRONG, _SMOOTH = loss.Convex(1.0), loss.StronglyConvex(1.0, 0.25), loss.Smooth(1.0)
_RENYI, _DP = {"order": 4.0}, {"delta": 1e-5}
_FALLING = (0.5, 0.4, 0.3, 0.2) * 2
_RANDOM = ("shuffled", "without_replacement", "poisson")
_TABLE = loss.Tabulated((0.1, 1.0), (0.2, 0.8))


def _run(
    steps: int, eta: Any, noise: Any, n: int = 12, b: int | None = 3, sampling: str = "cyclic", **more: Any
) -> NoisySGD:
    if sampling == "full":
        b = None
    return NoisySGD(steps, eta, noise, clip_norm=1.0, dataset_size=n, batch_size=b, sampling=sampling, **more)


def _full(steps: int, eta: Any, noise: Any, n: int = 3, **more: Any) -> NoisySGD:
    return _run(steps, eta, noise, n, sampling="full", **more)


def _number(
    name: str, run: NoisySGD, losses: loss.Assumption, target: dict[str, float], *, exact: bool = True
) -> Number:
    found = bound(run, losses, **target)
    least = lower_bound(run, losses, **target).value if exact else -inf
    share = TABLE if found.route == "contraction" else CLOSE
    return as_recorded(
        f"{name}, {', '.join(f'{k} {v:g}' for k, v in target.items())}", found.epsilon, share, least
    )


def recompute_contraction() -> Iterator[Number]:
    """Contraction bounds on runs with one, a few or many blocks, for fixed and random batches."""
    for steps in (12, 19, 26):  # blocks of 14 steps are best, so the last block is a partial one
        yield _number(f"{steps} full steps", _full(steps, 0.1, 0.3, 1, diameter=2.0), _CONVEX, _DP)
    cases: tuple[tuple[str, NoisySGD, loss.Assumption, dict[str, float]], ...] = (
        ("strongly convex, full", _full(19, 0.1, 0.3, 1, diameter=2.0), _STRONG, _RENYI),
        ("scheduled, full", _full(5, _FALLING[:5], 0.4, diameter=1.0), _CONVEX, _DP),
        ("decay, full", _full(12, 0.2, 0.3, diameter=1.5, weight_decay=0.5), _CONVEX, _DP),
        ("cyclic in parts of epochs", _run(9, 0.1, 0.1, diameter=0.25), _CONVEX, _RENYI),
        ("scheduled, cyclic", _run(6, _FALLING[:6], 0.26, 6, diameter=1.2), loss.Clipped(), _DP),
        ("without replacement", _run(8, 0.1, 0.1, sampling="without_replacement", diameter=0.2), _CONVEX, _DP),
        ("Poisson", _run(5, 0.1, 0.1, sampling="poisson", diameter=0.2), _CONVEX, _DP),
    )
    for name, run, losses, target in cases:
        yield _number(f"contraction, {name}", run, losses, target)
    sealed = bound(_run(24, 0.1, 0.1, diameter=0.25), _CONVEX, **_RENYI).certificate()
    accepted(sealed)
    yield as_recorded(
        "a certificate of an order by contraction", float(from_dyadic(sealed["claim"]["value"])), TABLE
    )


def recompute_classes() -> Iterator[Number]:
    """Bounds by shifts or composition for all classes of losses and schemes, with decay and schedules."""
    free, decayed = _run(8, 0.2, 0.5), _run(12, 0.2, 0.3, weight_decay=0.5)
    losses: dict[str, loss.Assumption] = {
        "smooth": _SMOOTH,
        "clipped": loss.Clipped(),
        "convex": _CONVEX,
        "strong": _STRONG,
        "tabulated": _TABLE,
    }
    for name, one in losses.items():
        narrow = bound_by_shifts(_full(80, 0.1, 0.05, 200, diameter=0.004), one, **_RENYI)
        yield as_recorded(f"full on a domain, {name}", narrow.epsilon)
        yield _number(f"full with a schedule, {name}", _full(8, _FALLING, 0.5), one, _RENYI)
        for sampling in _RANDOM:
            run = _run(5, 0.2, 0.5, sampling=sampling)
            yield _number(f"{sampling}, {name}", run, one, _RENYI, exact=False)
    losses |= {
        "Hoelder": loss.Holder(1.0, 0.5),
        "sum": loss.Sum(loss.Smooth(0.5), loss.Holder(0.3, 0.5)),
        "minimum": loss.Minimum(loss.Smooth(2.0), loss.Holder(0.5, 0.25)),
        "blocks": loss.Blocks(loss.Smooth(0.5), loss.Holder(0.3, 0.5)),
        "blocks in two groups": loss.Blocks(loss.Holder(1.0, 0.1), loss.Holder(1.0, 0.9)),
    }
    for name, one in losses.items():
        yield _number(f"cyclic, {name}", free, one, _RENYI, exact=False)
        yield _number(f"cyclic with decay, {name}", decayed, one, _RENYI, exact=False)
    for sampling in _RANDOM:
        run = _run(8, _FALLING, 0.5, sampling=sampling)
        yield _number(f"{sampling} with a schedule", run, _CONVEX, _RENYI, exact=False)
        yield _number(f"{sampling} at a delta", _run(6, 0.2, 0.5, sampling=sampling), _CONVEX, _DP)
    windowed = _run(1000, 0.05, 0.02, 1000, 50, "without_replacement", diameter=1.0)
    yield as_recorded("without_replacement in a window", bound_by_shifts(windowed, _STRONG, **_DP).epsilon)
    last = ShiftProgram(_full(30, (0.1,) * 10 + (0.2,) * 20, 0.3, diameter=1.0), _SMOOTH).tail(12)
    yield as_recorded("the last steps alone", float(optimum(last).cost))


def recompute_lower() -> Iterator[Number]:
    """Exact runs without a domain, by closed forms or quadrature, and on an interval, by recorded values."""
    order = 4.0
    for steps, assumed, c in ((8, _CONVEX, 1.0), (6, _STRONG, 1 - 0.2 * 0.25)):
        gap = 2 * 0.2 / 3 * sum(c**t for t in range(steps))
        variance = 0.5**2 * sum(c ** (2 * t) for t in range(steps))
        run = _full(steps, 0.2, 0.5)
        found = lower_bound(run, assumed, order=order).value
        yield lower_bound_of(f"a Gaussian run of {steps} steps", found, order * gap**2 / variance / 2)
        truth = profiles.gaussian_epsilon(gap / sqrt(variance), 1e-5)
        found = lower_bound(run, assumed, delta=1e-5).value
        yield lower_bound_of(f"the same at a delta, {steps}", found, truth)
    unit = 0.2 / 3 / 0.5 / sqrt(6)
    weights = np.array(profiles.binomial(6, 0.25))
    met = np.arange(7.0)[:, None]
    for sampling, moves in (("poisson", ((1, 0),)), ("without_replacement", ((2, 0), (1, -1)))):
        reached = []
        for pair in moves:
            p, q = (weights @ profiles.normal_density(profiles.LINE - met * unit * move) for move in pair)
            reached += [profiles.renyi_of_densities(p, q, order), profiles.renyi_of_densities(q, p, order)]
        value = lower_bound(_run(6, 0.2, 0.5, sampling=sampling), _CONVEX, order=order).value
        yield lower_bound_of(f"a mixture of {sampling} steps", value, max(reached) * (1 + 1e-9), 1e-3)
    falling = (0.4, 0.3, 0.2, 0.1)
    cases: tuple[tuple[str, NoisySGD, loss.Assumption, dict[str, float]], ...] = (
        ("full", _full(4, 0.5, 0.7, diameter=1.0), _CONVEX, _RENYI),
        ("full, quadratic", _full(4, 0.5, 0.7, diameter=1.0), _STRONG, _RENYI),
        ("cyclic", _run(6, 0.3, 0.5, diameter=1.0), _CONVEX, _DP),
        ("shuffled", _run(5, 0.3, 0.5, sampling="shuffled", diameter=1.0), _CONVEX, _RENYI),
        ("Poisson", _run(5, 0.3, 0.5, sampling="poisson", diameter=1.0), _CONVEX, _DP),
        ("shuffled without a domain", _run(6, 0.3, 0.5, sampling="shuffled"), _CONVEX, _DP),
        (
            "without replacement, scheduled",
            _run(4, falling, 0.5, sampling="without_replacement"),
            _CONVEX,
            _RENYI,
        ),
        ("cyclic, scheduled", _run(5, (*falling, 0.3), 0.5), _CONVEX, _RENYI),
    )
    for name, run, losses, target in cases:
        yield as_recorded(f"exact run, {name}", lower_bound(run, losses, **target).value)


def recompute_uses() -> Iterator[Number]:
    """Forgetting, participation, positions in an epoch, calibration, paths and profiles."""
    run = _full(2, 0.1, 0.3, 6, diameter=0.6)
    for steps, kind, target in ((3, "delta", 1e-5), (2, "order", 4.0)):
        found = forgetting(run, _CONVEX, steps, **{kind: target})
        name = f"after {steps} clean steps, {kind}"
        yield as_recorded(f"epsilon {name}", found.epsilon, TABLE)
        yield as_recorded(f"retrained {name}", found.retrained, TABLE)
        yield as_recorded(f"shifts {name}", found.shifts)
    cyclic = _run(11, 0.1, 0.2, 12, 4, diameter=0.5)
    ways: dict[str, dict[str, Any]] = {"position 1": {"position": 1}, "steps 3, 4 and 7": {"steps": [3, 4, 7]}}
    for name, asked in ways.items():
        used = participation(cyclic, _CONVEX, **asked, delta=1e-5)
        yield as_recorded(f"participation, {name}", used.epsilon, TABLE)
        yield as_recorded(f"participation by shifts, {name}", used.shifts)
    unbounded = participation(_run(20, 0.1, 0.2), _CONVEX, steps=[4], order=2.0).epsilon
    # One use in a convex run without a domain: its shift is spread over the last 16 steps (Feldman et al. 2018).
    yield upper_bound("one use without a domain", unbounded, (2 * 0.1 / 3 / 0.2) ** 2 / 16)
    placed = by_position(cyclic, _CONVEX, delta=1e-5)
    for name, value in (("worst", placed.worst), ("median", placed.median), ("best", min(placed.epsilons))):
        yield as_recorded(f"by position, {name}", value, TABLE)
    yield from (as_recorded(f"by position and shifts, {k}", value) for k, value in enumerate(placed.shifts))
    noisy = _full(20, 0.1, 1.0, 6)
    noise = calibrate(noisy, _CONVEX, epsilon=0.5, order=2.0).run.noise_std_at(0)
    yield equals("calibrated noise", noise, sqrt(20 / 0.5) * 2 * 0.1 / 6, 1e-8)
    steps = calibrate(replace(noisy, noise_std=0.1), _CONVEX, epsilon=1.95, order=2.0, vary="steps").run.steps
    yield equals("calibrated steps", steps, int(1.95 / (2 * 0.1 / 6 / 0.1) ** 2))
    size = calibrate(_run(9, 0.1, 0.1, 12), _CONVEX, epsilon=0.45, order=2.0, vary="batch_size").run.batch
    enough = (
        b for b in (1, 2, 3, 4, 6, 12) if bound(_run(9, 0.1, 0.1, 12, b), _CONVEX, order=2.0).epsilon <= 0.45
    )
    yield equals("calibrated batches", size, next(enough))
    path = bound(_full(5, 0.1, 0.2, 12, diameter=0.3), loss.Holder(1.0, 0.5), order=2.0)
    yield as_recorded("a Hoelder bound on a domain", path.epsilon, TABLE)
    plain = bound(_full(8, 0.2, 0.5), _CONVEX, delta=1e-5)
    mu = sqrt(8) * (2 * 0.2 / 3) / 0.5
    yield upper_bound("mu of composition", plain.mu or 0.0, mu)
    for epsilon in (0.5, 2.0):
        truth = profiles.gaussian_delta(mu, epsilon)
        yield upper_bound(f"profile of composition at {epsilon:g}", plain.profile()(epsilon), truth)
    yield upper_bound("order of composition", plain.rdp(3.0), 1.5 * mu**2)
    curved = bound(_run(12, 0.1, 0.3, diameter=0.6), _CONVEX, delta=1e-5)
    yield as_recorded("profile of contraction at half", curved.profile()(0.5), 2e-3)


def recompute_projections() -> Iterator[Number]:
    """Bounds on runs with random projections."""
    for sampling in ("full", "cyclic", "without_replacement", "poisson"):
        run = RandomProjectionRun(5, 0.2, 4.0, (3, 2), 12, None if sampling == "full" else 3, sampling=sampling)
        for target in ({"order": 4.0}, {"delta": 1e-5}):
            yield as_recorded(
                f"projections, {sampling}, {next(iter(target))}", projection_bound(run, **target).epsilon
            )
    run = RandomProjectionRun(5, 0.2, 4.0, (3, 2), 12, clip="after")
    truth = 4 / 2 * 5 * (2 / 12 / 4) ** 2
    yield upper_bound("projections, clipped after", projection_bound(run, order=4.0).epsilon, truth)
