"""The numbers that `bound` gives for every scheme of batches and class of losses, held against solved runs.

Nothing is proved here. The best exactly solvable run of each scheme is close to the bound at these settings, so that a
number in the code that is too small by a factor of two turns the verdict.
"""

from lastiterate.symbolic.claim import Ours, UpperBound
from lastiterate.symbolic.notation import K, L, alpha, eta, m, sigma
from lastiterate.symbolic.papers import proof

_CLASSES = ("clipped", "holder", "smooth", "convex", "strongly_convex")
_WORDS = {
    "full": "full batches",
    "cyclic": "batches in a fixed order",
    "shuffled": "batches from a fresh permutation in every epoch",
    "without_replacement": "batches drawn without replacement",
    "poisson": "Poisson batches",
}


def _renyi(scheme: str, losses: str) -> UpperBound:
    check = UpperBound(f"bound_{scheme}_{losses}_few", (f"solved_{scheme}",), name=f"{losses}, Renyi")
    return check.mutant(f"{losses}: half the sensitivity", altered={K: K / 2})


def _dp(scheme: str, losses: str) -> UpperBound:
    check = UpperBound(f"bound_{scheme}_{losses}_dp", (f"solved_{scheme}_dp",), name=f"{losses}, epsilon at delta")
    return check.mutant(f"{losses}: twice the noise", altered={sigma: 2 * sigma})


CLAIMS = tuple(
    Ours(
        f"ours/attacked/{scheme}",
        f"`bound` for {words} is not below the best solved run, in Renyi divergence and at a delta",
        proof("shift_program", "Theorem"),
        *(_renyi(scheme, losses) for losses in _CLASSES),
        *(_dp(scheme, losses) for losses in ("smooth", "strongly_convex")),
        assumptions=(alpha > 1, eta * L <= 2, m <= L),
    )
    for scheme, words in _WORDS.items()
)
