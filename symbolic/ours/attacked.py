r"""The values of `bound`, for every scheme of batches and class of losses, tested in two ways.

An *attack* is the best run whose loss is known exactly:
$\varepsilon_{\text{attack}}(\alpha) \le \varepsilon_{\text{bound}}(\alpha)$, and likewise for $\varepsilon$
at a $\delta$. A *certificate* contains the choices behind a value, from which an independent checker
recomputes the value. These claims test the code and prove nothing.
"""

from collections.abc import Iterator

from lastiterate.symbolic.ours.paper import *

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
"""The classes with certificates for a Renyi divergence, and for an epsilon at a delta."""
_WRONG = {
    "clipped": ("gradients five percent shorter", {K: K * 100 / 105}),
    "holder": ("a step fewer", {T: T - 1}),
    "smooth": ("a hundredth of the smoothness", {L: L / 100}),
    "convex": ("a radius for the diameter", {D: D / 2}),
    "strongly_convex": ("another step size", {eta: eta * 100 / 105}),
}
_KINDS = (("Renyi", ""), ("epsilon at delta", "_dp"))


def _attacked(scheme: str) -> Iterator[UpperBound]:
    wrong = ("half the sensitivity", {K: K / 2}), ("twice the noise", {sigma: 2 * sigma})
    for (kind, end), (words, altered) in zip(_KINDS, wrong, strict=True):
        for losses in _CLASSES:
            bound, run = f"bound_{scheme}_{losses}{end}", f"solved_{scheme}{end}"
            check = UpperBound(bound, (run,), name=f"{losses}, {kind}")
            yield check.mutant(f"{losses}: {words}", altered=altered)


def _certified(scheme: str) -> Iterator[Certified]:
    noisier = ("one percent more noise", {sigma: sigma * Integer(101) / 100})
    for delta, (kind, _) in enumerate(_KINDS):
        for losses in _CERTIFIED[scheme][delta]:
            words, altered = noisier if delta else _WRONG[losses]
            check = Certified(scheme, losses, bool(delta), name=f"{losses}, {kind}")
            yield check.mutant(f"{losses}: {words}", altered=altered)


CLAIMS = tuple(
    CodeTest(
        f"ours/{folder}/{scheme}",
        title.format(words),
        proof("shift_program", "Theorem"),
        *checks(scheme),
        assumptions=(alpha > 1, m <= L),
    )
    for folder, title, checks in (
        (
            "attacked",
            "`bound` for {} is not below the best solved run, in Renyi divergence and at a delta",
            _attacked,
        ),
        (
            "recomputed",
            "`bound` by shifts or composition for {} says what an independent checker computes from its choices",
            _certified,
        ),
    )
    for scheme, words in _WORDS.items()
)
