"""Privacy theorems as derivations: short functions that apply the kernel's rules in the order of the proof.

Each takes a kernel, which says what is given of the numbers and how side conditions are shown, and returns both orders.
The letters are those of `lastiterate.symbolic.notation`.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sympy import Eq, Ge, S

from lastiterate.symbolic.derivations.full_batch import path, window
from lastiterate.symbolic.derivations.random_batches import poisson_composition, swap_composition
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, L, T, b, c, eta, m, n, q, sensitivity, sigma, w, z

__all__ = ["DERIVATIONS", "Derivation"]

Derivation = Callable[[Kernel], Guarantee]

_s = sensitivity()
_replaced = Hypothesis("one of n samples is replaced, and gradients are clipped at K or are no longer than K", (n, K))
_CONVEX: Final = Expansion(
    z,
    z + _s,
    Guide.OTHER,
    ("chien_li/lemma_3_4/convex", "chien_li/lemma_3_5/contraction_part"),
    frozenset(
        {_replaced, Hypothesis("every loss is convex and L-smooth, and its gradients are no longer than K", (L, K))}
    ),
    (eta * L <= 2,),
)
_STRONGLY_CONVEX: Final = Expansion(
    z,
    c * z + _s,
    Guide.OTHER,
    ("chien_li/lemma_3_4/strongly_convex", "chien_li/lemma_3_5/contraction_part"),
    frozenset(
        {_replaced, Hypothesis("every loss is m-strongly convex and L-smooth, no gradient longer than K", (m, L, K))}
    ),
    (Ge(c, 1 - eta * m), Ge(c, eta * L - 1)),
)
_SMOOTH: Final = Expansion(
    z,
    c * z + _s,
    Guide.OTHER,
    ("chien_li/lemma_3_5/sharper",),
    frozenset({_replaced, Hypothesis("every loss is L-smooth", (L,))}),
    (Eq(c, 1 + eta * L * (n - 1) / n),),
)


DERIVATIONS: Final[Mapping[str, Derivation]] = {
    "full_batch/paths from 0": lambda kernel: path(kernel, S.Zero, S.Zero, T, ()),
    "full_batch/paths from the domain": lambda kernel: path(kernel, T - w, D, w, ()),
    "full_batch/convex": lambda kernel: window(kernel, _CONVEX, S.One, _s, D, sigma**2, T, w),
    "full_batch/strongly convex": lambda kernel: window(kernel, _STRONGLY_CONVEX, c, _s, D, sigma**2, T, w),
    "full_batch/smooth": lambda kernel: window(kernel, _SMOOTH, c, _s, D, sigma**2, T, w),
    "without_replacement/composition": lambda kernel: swap_composition(kernel, q, 2 * eta * K / b, sigma**2, T),
    "poisson/composition": lambda kernel: poisson_composition(kernel, q, eta * K / b, sigma**2, T),
}
"""What a claim calls a derivation."""
