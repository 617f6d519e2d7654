"""The numbers that `bound` gives for every scheme of batches and class of losses, tested in two ways.

Nothing is proved here: what a number rests on is stated where it is proved, and this is about the code. An *attack* is
the best run whose loss is known exactly; a bound below it is wrong, whatever the theory. A *certificate* holds the
choices behind a number, from which an independent checker computes it anew; this notices what is a billionth too
small, but only what the checker's own rules say.
"""

from lastiterate.symbolic.prelude import *

_CLASSES = ("clipped", "holder", "smooth", "convex", "strongly_convex")
_WORDS = {
    "full": "full batches",
    "cyclic": "batches in a fixed order",
    "shuffled": "batches from a fresh permutation in every epoch",
    "without_replacement": "batches drawn without replacement",
    "poisson": "Poisson batches",
}
_CERTIFIED = {
    "full": (_CLASSES, _CLASSES),
    "cyclic": (_CLASSES, _CLASSES),
    "shuffled": (("clipped", "holder"), ("clipped", "convex", "strongly_convex")),
    "without_replacement": (_CLASSES, ()),
    "poisson": (_CLASSES, ()),
}
"""The classes whose bounds have certificates, of a Renyi divergence and of an epsilon at a delta."""
_WRONG = {
    "clipped": ("gradients five percent shorter", {K: K * 100 / 105}),
    "holder": ("a step fewer", {T: T - 1}),
    "smooth": ("a hundredth of the smoothness", {L: L / 100}),
    "convex": ("a radius for the diameter", {D: D / 2}),
    "strongly_convex": ("another step size", {eta: eta * 100 / 105}),
}
"""One for each class of losses."""


def _renyi(scheme: str, losses: str) -> UpperBound:
    check = UpperBound(f"bound_{scheme}_{losses}", (f"solved_{scheme}",), name=f"{losses}, Renyi")
    return check.mutant(f"{losses}: half the sensitivity", altered={K: K / 2})


def _dp(scheme: str, losses: str) -> UpperBound:
    check = UpperBound(f"bound_{scheme}_{losses}_dp", (f"solved_{scheme}_dp",), name=f"{losses}, epsilon at delta")
    return check.mutant(f"{losses}: twice the noise", altered={sigma: 2 * sigma})


def _certified(scheme: str, losses: str) -> Certified:
    words, altered = _WRONG[losses]
    return Certified(scheme, losses, name=f"{losses}, Renyi").mutant(f"{losses}: {words}", altered=altered)


def _certified_dp(scheme: str, losses: str) -> Certified:
    check = Certified(scheme, losses, delta=True, name=f"{losses}, epsilon at delta")
    return check.mutant(f"{losses}: one percent more noise", altered={sigma: sigma * Integer(101) / 100})


CLAIMS = (
    *(
        CodeTest(
            f"ours/attacked/{scheme}",
            f"`bound` for {words} is not below the best solved run, in Renyi divergence and at a delta",
            proof("shift_program", "Theorem"),
            *(_renyi(scheme, losses) for losses in _CLASSES),
            *(_dp(scheme, losses) for losses in _CLASSES),
            assumptions=(alpha > 1, m <= L),
        )
        for scheme, words in _WORDS.items()
    ),
    *(
        CodeTest(
            f"ours/recomputed/{scheme}",
            f"`bound` by shifts or composition for {words} says what an independent checker computes from its choices",
            proof("shift_program", "Theorem"),
            *(_certified(scheme, losses) for losses in _CERTIFIED[scheme][0]),
            *(_certified_dp(scheme, losses) for losses in _CERTIFIED[scheme][1]),
            assumptions=(alpha > 1, m <= L),
        )
        for scheme, words in _WORDS.items()
    ),
)
