"""Audits in one training run with many canaries: fair coins, guesses of the coins, and right guesses.

m canaries take part in one run, each in one of two ways decided by its own coin. An adversary who sees the
released model guesses r of the m coins and is right v times. Under (epsilon, delta)-DP for a change of any
one coin, at least v guesses are right with probability at most

    beta + m delta beta (1 - beta) / (v b),   b = P(B = v),   beta = P(B >= v),

where B is binomial with r draws of probability e^epsilon / (1 + e^epsilon). So every delta below (d - beta) /
(1 - beta) * v b / (m beta) is refuted with error probability d, for all epsilon at once. The coins with the r
/ 2 largest and the r / 2 smallest scores are guessed. The values m, m / 2, m / 4, m / 8 and m / 16 of r are
fixed before the run, and each gets an equal part of the error probability.

Source: docs/proofs/lower_bounds.md; Steinke, Nasr & Jagielski 2023 (the scheme); Dong, Roth & Su 2022 (mu).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln, expit, log_ndtr, logit, ndtr

from lastiterate.numeric.accounting.conversion import gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError, chance, within
from lastiterate.numeric.lower.audit import DOWN, claims_refuted, limits_table, score_list

if TYPE_CHECKING:
    from lastiterate.numeric.bound import PrivacyLoss

_HALVED: Final = 4
_FEWEST: Final = 8
"""Maximum number of times that the number of guesses is halved, and the smallest result of halving."""
_MARGIN: Final = 1e-10
_MARGIN_OF_GUESS: Final = 1e-14
"""`_MARGIN` plus this multiple of the guess count covers the relative rounding errors of scipy's binomial laws."""
_UNDERFLOW: Final = 1e-200
_POINTS: Final = 257
_HALVINGS: Final = 50
_LARGEST_MU: Final = 64.0


@dataclass(frozen=True)
class OneRun(Displayed):
    """Outcome of one training run with canaries: lower bounds, simultaneous at confidence ``level``.

    Attributes:
        epsilon, mu, gaussian_epsilon: as in `Audit`.
        canaries: the number m of canaries.
        guesses: a pair (coins guessed, right guesses) for each number of guesses.
        adjacency: a coin chooses one of two samples ("replace"), or whether to use a sample ("add_remove").
    """

    epsilon: float
    mu: float
    gaussian_epsilon: float
    canaries: int
    guesses: tuple[tuple[int, int], ...]
    adjacency: str
    delta: float
    level: float

    def table(self) -> TextTable:
        """Tabulate the lower limits and the numbers of right guesses."""
        right = ", ".join(f"{right} of {guessed}" for guessed, right in self.guesses)
        return limits_table(self, {"canaries": str(self.canaries), "correct guesses": right})

    def delta_at_least(self, epsilon: float) -> float:
        """Lower limit for the profile at ``epsilon`` >= 0, for all epsilon at once."""
        epsilon = within("epsilon", epsilon, "a number of at least 0", lambda x: x >= 0, "use |epsilon|.")
        doubt, at = (1 - self.level) / len(self.guesses), np.array(epsilon)
        return max(float(_least_delta(self.canaries, *one, doubt, at)) for one in self.guesses)

    def refutes(self, bound: "PrivacyLoss") -> tuple[str, ...]:
        """Claims of a bound that are too small, as in `Audit.refutes`.

        Raises:
            InputError: the bound's delta or adjacency does not match this audit.
        """
        if bound.run.adjacency != self.adjacency:
            raise InputError(
                f"refutes needs a bound for the adjacency of the coins, {self.adjacency}, got "
                f"adjacency={bound.run.adjacency} with sampling={bound.run.sampling}; bound the run that was audited."
            )
        return claims_refuted(self, bound, self.delta_at_least)


def one_run(
    scores: ArrayLike, coins: ArrayLike, *, delta: float, adjacency: str = "replace", level: float = 0.95
) -> OneRun:
    """Lower confidence bounds from the scores of the canaries of one training run.

    Args:
        scores: one score per canary, shape (canaries,), from the released model; large for heads.
        coins: fair independent coins, True for heads, shape (canaries,).
        delta: in (0, 1).
        adjacency: what a coin decides, "replace" or "add_remove".
        level: simultaneous confidence of all limits.

    Raises:
        InputError: scores are not numbers, coins do not match scores, or adjacency, delta or level is
            invalid.

    >>> found = one_run(np.arange(1000.0), np.arange(1000) >= 500, delta=1e-5)
    >>> found.guesses
    ((1000, 1000), (500, 500), (250, 250), (124, 124), (62, 62))
    >>> round(found.epsilon, 2), round(found.mu, 2)
    (5.38, 1.74)
    """
    delta, level = chance("delta", delta), chance("level", level)
    if adjacency not in ("replace", "add_remove"):
        raise InputError(
            f"adjacency must be 'replace' or 'add_remove', got adjacency={adjacency!r}; choose one of them."
        )
    known = score_list("scores", scores)
    heads = np.asarray(coins)
    if heads.dtype != bool or heads.shape != known.shape:
        raise InputError(
            f"coins needs True or False for each of the {len(known)} scores, got coins of shape {heads.shape} and "
            f"type {heads.dtype}; give the coins that were tossed."
        )
    ranked: NDArray[np.bool_] = heads[np.argsort(known, kind="stable")]
    halves = [
        half for k in range(_HALVED + 1) if (half := len(known) >> (k + 1)) and (not k or 2 * half >= _FEWEST)
    ]
    guesses = tuple((2 * half, int((~ranked[:half]).sum() + ranked[-half:].sum())) for half in halves)
    if not guesses:
        raise InputError(
            f"An audit in one run needs at least 2 canaries, got canaries={len(known)}; plant more canaries."
        )
    doubt = (1 - level) / len(guesses)
    mu = max(_least_mu(len(known), *one, doubt) for one in guesses)
    return OneRun(
        epsilon=max(_least_epsilon(len(known), *one, doubt, delta) for one in guesses),
        mu=mu,
        gaussian_epsilon=gdp_epsilon_below(mu, delta),
        canaries=len(known),
        guesses=guesses,
        adjacency=adjacency,
        delta=delta,
        level=level,
    )


def _least_delta(canaries: int, guessed: int, right: int, doubt: float, epsilon: Array) -> Array:
    """Limits below which delta is refuted, for all epsilons at once; rounded down, shape of ``epsilon``."""
    if not right:
        return np.zeros_like(epsilon)
    margin, wrong = _MARGIN + _MARGIN_OF_GUESS * guessed, guessed - right
    tail = betainc(right, wrong + 1, expit(epsilon))
    mass = np.exp(-guessed * np.log1p(np.exp(-epsilon)) - wrong * epsilon - betaln(right + 1, wrong + 1)) / (
        guessed + 1
    )
    # lower bound of b / beta
    falling = np.maximum(1 - np.exp(np.minimum(epsilon, 700)) * wrong / (right + 1), 0)
    sound = (mass > _UNDERFLOW) & (tail >= mass)  # scipy's tail underflows before the mass does
    part = np.where(sound, mass / np.where(sound, tail, 1), falling)
    left = np.maximum(doubt - tail * (1 + margin), 0) / np.where(tail < doubt, 1 - tail, 1)
    found: Array = left * right * part * (1 - 4 * margin) / canaries
    return found


@lru_cache(4096)
def _pure_epsilon(guessed: int, right: int, doubt: float) -> float:
    """Epsilon of pure DP at which P(at least ``right`` right guesses) = ``doubt``; 0 if there is none."""
    return max(float(logit(betaincinv(right, guessed - right + 1, doubt))), 0.0) if right and doubt < 1 else 0.0


@lru_cache(4096)
def _least_epsilon(canaries: int, guessed: int, right: int, doubt: float, delta: float) -> float:
    """Largest epsilon at which ``delta`` is refuted, rounded down; `_least_delta` decreases as epsilon grows."""
    low, high = 0.0, _pure_epsilon(guessed, right, doubt)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = float(_least_delta(canaries, guessed, right, doubt, np.array(middle))) > delta
        low, high = (middle, high) if refuted else (low, middle)
    return low * DOWN


@lru_cache(4096)
def _least_mu(canaries: int, guessed: int, right: int, doubt: float) -> float:
    epsilon = np.linspace(0.0, _pure_epsilon(guessed, right, doubt), _POINTS)
    least = _least_delta(canaries, guessed, right, doubt, epsilon)
    low, high = np.zeros(_POINTS), np.full(_POINTS, _LARGEST_MU)
    for _ in range(_HALVINGS):
        mu = (low + high) / 2
        first = ndtr(mu / 2 - epsilon / mu)
        above = first - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)) + _MARGIN * first
        low, high = np.where(above < least, mu, low), np.where(above < least, high, mu)
    return float(low.max()) * DOWN
