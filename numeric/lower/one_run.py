"""Audits in one training with many canaries: a fair coin for each, guesses at the coins, and their number.

m canaries, each in one of two ways by a coin of its own, take part in one run. An adversary who sees the released
model guesses r of the m coins and is right v times. Under (epsilon, delta)-DP towards a change of any one coin, at
least v guesses are right with probability at most

    beta + m delta beta (1 - beta) / (v b),   b = P(B = v),   beta = P(B >= v),

B binomial of r draws of e^epsilon / (1 + e^epsilon), and a mechanism reaches it. So doubt d refutes every delta below
(d - beta) / (1 - beta) * v b / (m beta), at all epsilon at once. The coins with the r / 2 greatest and the r / 2 least
scores are guessed, for r = m, m / 2, m / 4, m / 8 and m / 16, fixed before the run; each r has an equal part of the
doubt.

Source: docs/proofs/lower_bounds.md. The scheme is that of Steinke, Nasr & Jagielski 2023. Their term in delta
(Corollary 5.4, the code of appendix D) is another: more than twice as large where probabilities are small, and too
small for m = r = 2, v = 1. Dong, Roth & Su 2022 for mu.
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
"""How often the number of guesses is halved, and below which number it is not."""
_MARGIN: Final = 1e-10
_MARGIN_OF_GUESS: Final = 1e-14
"""Together, the second times the guesses, more than the rounding of scipy's binomial masses and tails, relative."""
_UNDERFLOW: Final = 1e-200
_POINTS: Final = 257
_HALVINGS: Final = 50
_LARGEST_MU: Final = 64.0


@dataclass(frozen=True)
class OneRun(Displayed):
    """The outcome of one training with canaries. Direction: lower bounds, all of them together at confidence ``level``.

    Attributes:
        epsilon, mu, gaussian_epsilon: lower confidence bounds, as in `Audit`.
        canaries: their number m.
        guesses: (coins guessed, guesses that are right), for each number of guesses.
        adjacency: what a coin decides: "replace", which of two samples takes part, or "add_remove", whether one does.
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
        """The lower limits, and how many guesses were right."""
        right = ", ".join(f"{right} of {guessed}" for guessed, right in self.guesses)
        return limits_table(self, {"canaries": str(self.canaries), "guesses that are right": right})

    def delta_at_least(self, epsilon: float) -> float:
        """Lower limit of the profile at ``epsilon`` >= 0, for all epsilon at once, at least 0."""
        epsilon = within("epsilon", epsilon, "a number of at least 0", lambda x: x >= 0, "take its size.")
        doubt, at = (1 - self.level) / len(self.guesses), np.array(epsilon)
        return max(float(_least_delta(self.canaries, *one, doubt, at)) for one in self.guesses)

    def refutes(self, bound: "PrivacyLoss") -> tuple[str, ...]:
        """The claims of a bound that are too small, named as by `Audit.refutes`; all holds at ``level`` together.

        Raises:
            InputError: the bound is at another delta, or about another adjacency than the coins.
        """
        if bound.run.adjacency != self.adjacency:
            raise InputError(
                f"refutes needs a bound for the adjacency of the coins, {self.adjacency}, got "
                f"adjacency={bound.run.adjacency} of sampling={bound.run.sampling}; audit that run instead."
            )
        return claims_refuted(self, bound, self.delta_at_least)


def one_run(
    scores: ArrayLike, coins: ArrayLike, *, delta: float, adjacency: str = "replace", level: float = 0.95
) -> OneRun:
    """The lower confidence bounds from the scores of the canaries of one training.

    Args:
        scores: one of each canary, shape (canaries,), from the released model by any rule that does not know the coins;
            large for heads.
        coins: the fair and independent coins that were thrown, True for heads, shape (canaries,).
        delta: in (0, 1).
        adjacency: what a coin decides, "replace" or "add_remove".
        level: confidence of all limits together.

    Raises:
        InputError: not a list of numbers, not a coin for each, no such adjacency, a delta or a level out of its range.

    >>> found = one_run(np.arange(1000.0), np.arange(1000) >= 500, delta=1e-5)
    >>> found.guesses
    ((1000, 1000), (500, 500), (250, 250), (124, 124), (62, 62))
    >>> round(found.epsilon, 2), round(found.mu, 2)
    (5.38, 1.74)
    """
    delta, level = chance("delta", delta), chance("level", level)
    if adjacency not in ("replace", "add_remove"):
        raise InputError(f"adjacency needs replace or add_remove, got adjacency={adjacency!r}; choose one of them.")
    known = score_list("scores", scores)
    heads = np.asarray(coins)
    if heads.dtype != bool or heads.shape != known.shape:
        raise InputError(
            f"coins needs True or False for each of the {len(known)} scores, got coins of shape {heads.shape} and type "
            f"{heads.dtype}; give those that were thrown."
        )
    ranked: NDArray[np.bool_] = heads[np.argsort(known, kind="stable")]
    halves = [half for k in range(_HALVED + 1) if (half := len(known) >> (k + 1)) and (not k or 2 * half >= _FEWEST)]
    guesses = tuple((2 * half, int((~ranked[:half]).sum() + ranked[-half:].sum())) for half in halves)
    if not guesses:
        raise InputError(f"An audit in one run needs at least 2 canaries, got canaries={len(known)}; plant more.")
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
    """Limits below which delta is refuted, at all epsilons together; shape of epsilon, rounded down."""
    if not right:
        return np.zeros_like(epsilon)
    margin, wrong = _MARGIN + _MARGIN_OF_GUESS * guessed, guessed - right
    tail = betainc(right, wrong + 1, expit(epsilon))
    mass = np.exp(-guessed * np.log1p(np.exp(-epsilon)) - wrong * epsilon - betaln(right + 1, wrong + 1)) / (
        guessed + 1
    )
    falling = np.maximum(1 - np.exp(np.minimum(epsilon, 700)) * wrong / (right + 1), 0)  # b / beta is at least that
    sound = (mass > _UNDERFLOW) & (tail >= mass)  # scipy's tail becomes 0 before the mass does
    part = np.where(sound, mass / np.where(sound, tail, 1), falling)
    left = np.maximum(doubt - tail * (1 + margin), 0) / np.where(tail < doubt, 1 - tail, 1)
    found: Array = left * right * part * (1 - 4 * margin) / canaries
    return found


@lru_cache(4096)
def _pure_epsilon(guessed: int, right: int, doubt: float) -> float:
    """The epsilon at which that many or more are right with probability ``doubt`` under pure DP; 0 where none is."""
    return max(float(logit(betaincinv(right, guessed - right + 1, doubt))), 0.0) if right and doubt < 1 else 0.0


@lru_cache(4096)
def _least_epsilon(canaries: int, guessed: int, right: int, doubt: float, delta: float) -> float:
    """The greatest epsilon at which ``delta`` is refuted, rounded down; what is refuted falls as epsilon rises."""
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
