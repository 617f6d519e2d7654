r"""The values of `bound`, for every scheme of batches and class of losses, tested by attacks.

An *attack* is the best run whose loss is known exactly:
$\varepsilon_{\text{attack}}(\alpha) \le \varepsilon_{\text{bound}}(\alpha)$, and likewise for $\varepsilon$
at a $\delta$. These claims test the code and prove nothing.
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
_KINDS = (("Renyi", ""), ("epsilon at delta", "_dp"))


def _attacked(scheme: str) -> Iterator[UpperBound]:
    wrong = ("half the sensitivity", {K: K / 2}), ("twice the noise", {sigma: 2 * sigma})
    for (kind, end), (words, altered) in zip(_KINDS, wrong, strict=True):
        for losses in _CLASSES:
            bound, run = f"bound_{scheme}_{losses}{end}", f"solved_{scheme}{end}"
            check = UpperBound(bound, (run,), name=f"{losses}, {kind}")
            yield check.mutant(f"{losses}: {words}", altered=altered)


CLAIMS = tuple(
    CodeTest(
        f"ours/attacked/{scheme}",
        f"`bound` for {words} is not below the best solved run, in Renyi divergence and at a delta",
        proof("shift_program", "Theorem"),
        *_attacked(scheme),
        assumptions=(alpha > 1, m <= L),
    )
    for scheme, words in _WORDS.items()
)
