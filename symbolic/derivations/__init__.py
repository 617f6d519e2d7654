"""Privacy theorems as derivations: short functions that apply the kernel's rules in the order of the proof.

Each takes a kernel, which says what is given of the numbers and how side conditions are shown, and returns both orders.
The letters are those of `lastiterate.symbolic.notation`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from sympy import Eq, Expr, Ge, S

from lastiterate.symbolic.derivations.full_batch import composition, path, window
from lastiterate.symbolic.derivations.random_batches import poisson_composition, swap_composition
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.letters import q, v, z
from lastiterate.symbolic.notation import D, K, L, T, b, c, eta, m, n, s, sensitivity, sigma, tau, w

__all__ = ["DERIVATIONS", "Derivation"]

Derivation = Callable[[Kernel], Guarantee]

_replaced = Hypothesis("one of n samples is replaced, and gradients are clipped at K or are no longer than K", (n, K))
_LEMMAS: Final = {
    "clipped": ("chien_li/lemma_3_5/contraction_part",),
    "smooth": ("chien_li/lemma_3_5/sharper",),
    "convex": ("chien_li/lemma_3_4/convex", "chien_li/lemma_3_5/contraction_part"),
    "strongly convex": ("chien_li/lemma_3_4/strongly_convex", "chien_li/lemma_3_5/contraction_part"),
}
"""The claims that show how far a step carries two points, for each class of losses."""

_CONVEX: Final = Expansion(
    z,
    z + s,
    Guide.OTHER,
    _LEMMAS["convex"],
    frozenset(
        {_replaced, Hypothesis("every loss is convex and L-smooth, and its gradients are no longer than K", (L, K))}
    ),
    (eta * L <= 2,),
)
_STRONGLY_CONVEX: Final = Expansion(
    z,
    c * z + s,
    Guide.OTHER,
    _LEMMAS["strongly convex"],
    frozenset(
        {_replaced, Hypothesis("every loss is m-strongly convex and L-smooth, no gradient longer than K", (m, L, K))}
    ),
    (Ge(c, 1 - eta * m), Ge(c, eta * L - 1)),
)
_SMOOTH: Final = Expansion(
    z,
    c * z + s,
    Guide.OTHER,
    _LEMMAS["smooth"],
    frozenset({_replaced, Hypothesis("every loss is L-smooth", (L,))}),
    (Eq(c, 1 + eta * L * (n - 1) / n),),
)


def _from_zero(lemmas: tuple[str, ...], kernel: Kernel) -> Guarantee:
    return path(kernel, S.Zero, S.Zero, T, lemmas)


def _from_domain(lemmas: tuple[str, ...], kernel: Kernel) -> Guarantee:
    """The last w of tau + w steps."""
    return path(kernel, tau, D, w, lemmas)


def _window(expansion: Expansion, factor: Expr, kernel: Kernel) -> Guarantee:
    made = window(kernel, expansion, factor, s, D, v, T, w)
    values = {s: sensitivity(), v: sigma**2}
    return Guarantee(kernel.specialise(made.first, values), kernel.specialise(made.second, values))


DERIVATIONS: Final[Mapping[str, Derivation]] = {
    **{f"full_batch/paths from 0, {losses}": partial(_from_zero, lemmas) for losses, lemmas in _LEMMAS.items()},
    **{
        f"full_batch/paths from the domain, {losses}": partial(_from_domain, lemmas)
        for losses, lemmas in _LEMMAS.items()
    },
    "full_batch/composition": lambda kernel: composition(kernel, sensitivity(), sigma**2, T, _LEMMAS["clipped"]),
    "full_batch/convex": partial(_window, _CONVEX, S.One),
    "full_batch/strongly convex": partial(_window, _STRONGLY_CONVEX, c),
    "full_batch/smooth": partial(_window, _SMOOTH, c),
    "without_replacement/composition": lambda kernel: swap_composition(kernel, q, 2 * eta * K / b, sigma**2, T),
    "poisson/composition": lambda kernel: poisson_composition(kernel, q, eta * K / b, sigma**2, T),
}
"""What a claim calls a derivation."""
