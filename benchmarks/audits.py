"""How much of mu an audit certifies: scores of Gaussian laws that are mu-GDP exactly, audited many times.

    python -m benchmarks.audits

Many runs: so many on each of the two data sets, all scores looked at. One training: so many canaries in it, in
orthogonal directions, each with this mu. A claim of less than the share is refuted in half of the audits.
"""

from collections.abc import Callable

import numpy as np
from one_run import one_run

from lastiterate.numeric.lower.audit import all_scores

__all__ = ["WORDS", "power", "table"]

_AUDITS = 40
_SIZES = (500, 4000, 20_000, 100_000)
_MUS = (0.5, 1.0, 2.0, 4.0)
WORDS = (
    "Median share of mu that is certified at confidence 0.95, of 40 audits of Gaussian scores with exactly this mu: a "
    "claim of mu-GDP below that share of the truth is refuted by every other audit. All scores have half of the "
    "doubt, as in an attack."
)


def power(certified: Callable[[float, int, np.random.Generator], float], mu: float, size: int) -> float:
    """Median share of mu over the audits, which have seeds of their own."""
    return float(np.median([certified(mu, size, np.random.default_rng(seed)) for seed in range(_AUDITS)])) / mu


def _many_runs(mu: float, runs: int, generator: np.random.Generator) -> float:
    return all_scores(generator.normal(mu, 1, runs), generator.normal(0, 1, runs), level=0.975).mu


def _one_training(mu: float, canaries: int, generator: np.random.Generator) -> float:
    coins = generator.random(canaries) < 0.5
    scores = generator.normal(np.where(coins, mu / 2, -mu / 2), 1)
    return one_run(scores, coins, delta=1e-5).mu


def table() -> str:
    """A row for each number of runs, or of canaries in one training."""
    lines = ["| audit | " + " | ".join(f"mu = {mu:g}" for mu in _MUS) + " |", "|---|" + "--:|" * len(_MUS)]
    for words, certified in (("runs a side", _many_runs), ("canaries in one training", _one_training)):
        for size in _SIZES:
            shares = " | ".join(f"{power(certified, mu, size):.3f}" for mu in _MUS)
            lines.append(f"| {size:,} {words} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"{WORDS}\n\n{table()}")
