"""Long runs with batches: a hundred thousand random ones, a million in epochs in a process of its own."""

from dataclasses import replace
from itertools import product
from time import perf_counter

from benchmarks.fresh import in_a_process
from benchmarks.table import Limit
from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Smooth, StronglyConvex
from lastiterate.numeric.lower.bounds import lower_bound
from lastiterate.numeric.run import NoisySGD

__all__ = ["hidden_places", "in_epochs", "without_replacement"]

_IN_EPOCHS = """
from time import perf_counter
from lastiterate.numeric.losses.assumptions import Convex, Smooth, StronglyConvex
from lastiterate.numeric.bound import bound
from lastiterate.numeric.run import NoisySGD
run = NoisySGD(steps=10**6, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=500, batch_size=5, diameter=1,
               sampling=sys.argv[2])
assumption = {"convex": Convex(1), "strongly convex": StronglyConvex(1, 0.1), "smooth": Smooth(1)}[sys.argv[1]]
start = perf_counter()
found = bound(run, assumption, order=2)
seconds = perf_counter() - start
found = {"seconds": seconds, "peak": peak() / 2**10, "epsilon": found.epsilon, "route": found.route}
"""

_DRAWN = NoisySGD(
    100_000, step_size=0.1, noise_std=0.05, clip_norm=1.0, dataset_size=50_000, batch_size=500,
    sampling="without_replacement", diameter=1.0,
)  # fmt: skip


def without_replacement() -> list[Limit]:
    """One `bound` of 100,000 steps without replacement, from scratch, at an order and at a delta."""
    rows = []
    kinds: list[tuple[str, Assumption]] = [
        ("convex", Convex(1.0)),
        ("strongly convex", StronglyConvex(1.0, 0.01)),
        ("smooth", Smooth(0.1)),
    ]
    for place, (name, assumption) in enumerate(kinds):
        for target, value in (("order", 2.0), ("delta", 1e-5)):
            # Prices of steps are kept between calls, so each call has noise of its own.
            run = replace(_DRAWN, noise_std=0.05 * (1 + 1e-3 * (2 * place + (target == "delta"))))
            start = perf_counter()
            found = bound(run, assumption, **{target: value})
            took = perf_counter() - start
            note = f"epsilon {found.epsilon:.4g} by {found.route}"
            rows.append(
                Limit(f"`bound`, 100,000 batches of 1%, {name}, {target} {value:g}", took, "s", 5.0, note)
            )
    return rows


def in_epochs() -> list[Limit]:
    """One `bound` of 1,000,000 cyclic or shuffled steps in a fresh process: seconds, and all the memory of it."""
    rows = []
    for name, sampling in product(("convex", "strongly convex", "smooth"), ("cyclic", "shuffled")):
        found = in_a_process(_IN_EPOCHS, name, sampling)
        note = f"epsilon {found['epsilon']:.4g} by {found['route']}"
        rows.append(Limit(f"`bound`, 1,000,000 {sampling} batches, {name}", found["seconds"], "s", 5.0, note))
        rows.append(Limit("resident memory of that process", found["peak"], "GiB", 1.0))
    return rows


def hidden_places() -> list[Limit]:
    """Shuffled batches that move an iterate by half the noise: seconds, and the bound over the lower bound."""
    rows = []
    for batches in (5, 10, 938):
        run = NoisySGD(
            10 * batches, 1.0, 1.0, 1.0, 4 * batches, batch_size=4, sampling="shuffled", diameter=1.0
        )
        start = perf_counter()
        found = bound(run, Convex(1.0), delta=1e-5)
        name = f"`bound`, 10 epochs of {batches} shuffled batches, delta 1e-05"
        rows.append(Limit(name, perf_counter() - start, "s", 5.0, f"epsilon {found.epsilon:.4g}"))
        below = lower_bound(run, Convex(1.0), delta=1e-5).value
        rows.append(Limit("over the lower bound", found.epsilon / below, "", 1.3, f"{below:.4g}"))
    return rows
