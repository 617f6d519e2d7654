r"""Momentum with full batches: a projected heavy ball and Nesterov's method (docs/proofs/momentum.md).

From states $(W_t, W_{t-1})$ at the distances $(z, y)$, a step of a heavy ball that shifts its noise by $a$ leads to the
distances $((1+\beta) e(z) + \beta y - a, z)$, and one of Nesterov's method to $(e((1+\beta) z + \beta y) - a, z)$. Here
$e$ is the expansion of a step without momentum, of size $\eta/(1+\beta)$ for a heavy ball.

Checked: the kernel derives windows and blocks of any number of steps, and the last steps, for both methods.
"""

from lastiterate.symbolic.derivations import momentum
from lastiterate.symbolic.derivations.contraction import ABOVE, BEGINS, N, far, k, near
from lastiterate.symbolic.ours.paper import *

_BLOCK, _LAST = (Gauss(near(k)), Gauss(far(k))), (Gauss(momentum.last_near), Gauss(momentum.last_far))
_OF_CLASSES = [(kind, losses) for kind in momentum.KINDS for losses in momentum.CLASSES]


def _run(begin: str, *last: Profile) -> Profile:
    before = EVERYTHING if begin == ABOVE else Gauss(momentum.first)
    return Contracted(BlockChain(before, *_BLOCK, k, N), *last)


CLAIMS = (
    Ours(
        "ours/momentum/window",
        "Momentum: shifts of all steps from equal states, or of the last w steps from any states of the domain",
        proof("momentum", "One step"),
        *(
            Derived(
                f"momentum/{kind}/window/{losses}, {begin}", Gauss(momentum.first), f"{kind}, {losses}, {begin}"
            )
            for kind, losses in _OF_CLASSES
            for begin in ("from 0", "from the domain")
        ),
        letters={beta: "momentum"},
    ),
    Ours(
        "ours/momentum/blocks",
        "Momentum on a bounded domain: blocks that end at equal states, and t last steps that end at equal points",
        proof("momentum", "Blocks"),
        *(
            Derived(
                f"momentum/{kind}/blocks/{losses}, {begin}", _run(begin, *_LAST), f"{kind}, {losses}, {begin}"
            ).mutant(f"far no more than near, {kind}, {losses}, {begin}", profile=_run(begin, *_LAST[:1] * 2))
            for kind, losses in _OF_CLASSES
            for begin in BEGINS
        ),
        letters={beta: "momentum"},
    ),
)
