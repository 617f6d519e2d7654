"""Privacy theorems as derivations: short functions that apply the kernel's rules in the order of the proof.

Each takes a kernel, which says what is given of the numbers and how side conditions are shown, and returns both orders.
The letters are those of `lastiterate.symbolic.notation`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from sympy import Eq, Expr, S

from lastiterate.symbolic.derivations import contraction, iterations, noisy_sgd, projections, shared_noise
from lastiterate.symbolic.derivations.known_batches import (
    composition,
    last_step,
    path,
    window,
)
from lastiterate.symbolic.derivations.losses import LOSSES
from lastiterate.symbolic.derivations.orders import cyclic, cyclic_from_0, late, shuffled
from lastiterate.symbolic.derivations.random_batches import (
    contracting_blocks,
    last_swap_step,
    poisson_blocks,
    poisson_composition,
    poisson_sizes,
    poisson_window,
    sized_window,
    swap_composition,
    swap_window,
)
from lastiterate.symbolic.derivations.ranges import poisson_ranges
from lastiterate.symbolic.derivations.stretches import Inside, poisson_stretches
from lastiterate.symbolic.derivations.tracked import N_0
from lastiterate.symbolic.kernel.judgement import Guarantee, Span
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, Delta, K, T, b, beta, c, eta, q, s, sensitivity, sigma, t, tau, v, w, x, y

Derivation = Callable[[Kernel], Guarantee]

_PARTS: Final = {
    "from 0": (S.Zero, S.Zero, T),
    "from the domain": (tau, D, w),
    "tracked from 0": (tau, Delta, w),
    "tracked from the domain": (tau + t, Delta, w),
}
"""First step, distance, number of steps: the whole run, or w steps after others. Delta is tracked until then."""


def _window(losses: str, factor: Expr, kernel: Kernel) -> Guarantee:
    """One of n samples replaced in each of tau + w steps, which take z to at most c z + s; the last w are shifted."""
    made = window(kernel.under(Eq(s, sensitivity())), LOSSES[losses].affine(factor), factor, s, D, v, tau + w, w)
    values = {s: sensitivity(), v: sigma**2}
    return Guarantee(kernel.specialise(made.first, values), kernel.specialise(made.second, values))


def _paths(kind: str, made: Callable[..., Guarantee], *chance: Expr, tracked: bool = False) -> dict[str, Derivation]:
    """Shifts of any lengths, by class of losses, over a whole run and over its last steps; or after steps without."""

    def derivation(losses: str, part: str, kernel: Kernel) -> Guarantee:
        return made(kernel, LOSSES[losses], *chance, *_PARTS[part])

    return {
        f"{kind}/{losses}, {part}": partial(derivation, losses, part)
        for losses in LOSSES
        for part in list(_PARTS)[: 4 if tracked else 2]
    }


def _last_step(losses: str, kernel: Kernel) -> Guarantee:
    return last_step(kernel, LOSSES[losses], sigma**2, T)


def _last_swap_step(losses: str, kernel: Kernel) -> Guarantee:
    return last_swap_step(kernel, LOSSES[losses], q, beta, sigma**2, T)


def _cyclic(made: Callable[..., Guarantee], losses: str, begins: tuple[Expr, Expr], kernel: Kernel) -> Guarantee:
    return made(kernel, LOSSES[losses], *begins, w, t)


def _ranges(losses: str, kernel: Kernel) -> Guarantee:
    return poisson_ranges(kernel, LOSSES[losses], q, T)


def _stretches(losses: str, inside: Inside, count: Expr, length: Expr, kernel: Kernel) -> Guarantee:
    return poisson_stretches(kernel, LOSSES[losses], q, inside, count, length)


def _contracted(name: str, made: Callable[..., Guarantee], *chance: Expr) -> dict[str, Derivation]:
    """Blocks that are contracted, by class of losses and by what is known of the steps before them."""

    def derivation(losses: str, begin: str, kernel: Kernel) -> Guarantee:
        return made(kernel, LOSSES[losses], *chance, begin)

    return {
        f"contraction/{name}/{losses}, {begin}": partial(derivation, losses, begin)
        for losses in LOSSES
        for begin in contraction.BEGINS
    }


DERIVATIONS: Final[dict[str, Derivation]] = {
    **_paths("known_batches", path),
    "full_batch/composition": lambda kernel: composition(kernel, sensitivity(), sigma**2, T),
    "full_batch/convex": partial(_window, "convex", S.One),
    "full_batch/strongly convex": partial(_window, "strongly convex", c),
    "full_batch/smooth": partial(_window, "smooth", c),
    **{f"cyclic/{losses}, from the domain": partial(_cyclic, cyclic, losses, (tau, D)) for losses in LOSSES},
    **{f"cyclic/{losses}, from 0": partial(_cyclic, cyclic_from_0, losses, (x, y)) for losses in LOSSES},
    **{f"last_step/{losses}": partial(_last_step, losses) for losses in LOSSES},
    **{
        f"shared_noise/{losses}, {start}": partial(shared_noise.window, losses, factor, start)
        for losses, factor in {"convex": S.One, "strongly convex": c, "smooth": c}.items()
        for start in ("domain", "tracked", "clipped")
    },
    **{f"shared_noise/modulus, {start}": partial(shared_noise.path, start) for start in ("0", "domain")},
    **{f"shared_noise/batches, {start}": partial(shared_noise.known_batches, start) for start in ("0", "domain")},
    **_paths("shuffled", shuffled),
    **{key: one for key, one in _paths("late", late).items() if "convex" in key},
    **_paths("without_replacement", swap_window, q, tracked=True),
    "without_replacement/composition": lambda kernel: swap_composition(kernel, q, 2 * eta * K / b, sigma**2, T),
    **{
        f"without_replacement/last step, {losses}": partial(_last_swap_step, losses)
        for losses in ("modulus", "convex", "strongly convex")
    },
    **_paths("poisson", poisson_window, q),
    **_paths("poisson_sizes", poisson_sizes, q, tracked=True),
    **{f"poisson_ranges/{losses}": partial(_ranges, losses) for losses in ("modulus", "convex", "strongly convex")},
    "poisson_blocks/strongly convex, from 0": lambda kernel: poisson_blocks(
        kernel, LOSSES["strongly convex"], q, S.Zero, S.Zero, T
    ),
    "poisson_blocks/strongly convex, tracked from 0": lambda kernel: poisson_blocks(
        kernel, LOSSES["strongly convex"], q, N_0 * w, Delta, T
    ),
    "poisson_blocks/strongly convex, tracked from the domain": lambda kernel: poisson_blocks(
        kernel, LOSSES["strongly convex"], q, tau + N_0 * w, Delta, T
    ),
    "poisson_blocks/strongly convex, from the domain": lambda kernel: poisson_blocks(
        kernel, LOSSES["strongly convex"], q, tau, D, T
    ),
    **{
        f"poisson_stretches/{losses}": partial(_stretches, losses, sized_window, w, w)
        for losses in ("modulus", "convex", "strongly convex")
    },
    "poisson_stretches/blocks": partial(_stretches, "strongly convex", contracting_blocks, T, T * w),
    "projections/known_batches": lambda kernel: projections.known_batches(kernel, T),
    "projections/revealed_coin": lambda kernel: projections.revealed_coin(kernel, q, T),
    "projections/hidden_coin": lambda kernel: projections.hidden_coin(kernel, q, T),
    "iterations/contractions": partial(iterations.shifted, S.One, S.Zero, S.Zero, T),
    "iterations/contractions, apart": partial(iterations.shifted, S.One, tau, D, w),
    "iterations/Lipschitz, apart": partial(iterations.shifted, iterations.factor, tau, D, w),
    "noisy_sgd/composition": noisy_sgd.composition,
    "noisy_sgd/convex": noisy_sgd.convex,
    "noisy_sgd/strongly convex": noisy_sgd.strongly_convex,
    "noisy_sgd/cyclic, from 0": partial(noisy_sgd.cyclic, S.Zero, S.Zero),
    "noisy_sgd/cyclic, from the domain": partial(noisy_sgd.cyclic, tau, D),
    "contraction/one block": contraction.one_block,
    "contraction/lattice": contraction.lattice,
    "contraction/places": contraction.places,
    **{f"contraction/any blocks, {begin}": partial(contraction.any_blocks, begin) for begin in contraction.BEGINS},
    **_contracted("known_batches", contraction.known_batches),
    **_contracted("cyclic", contraction.cyclic),
    **{
        f"contraction/full_batch/{losses}, {begin}": partial(contraction.straight, losses, factor, begin)
        for losses, factor in {"convex": S.One, "strongly convex": c, "smooth": c}.items()
        for begin in contraction.BEGINS
    },
    **_contracted("shuffled", contraction.shuffled),
    **_contracted("without_replacement", contraction.without_replacement, q),
    **_contracted("poisson", contraction.poisson, q),
    **{f"contraction/forgetting/{name}": partial(contraction.forgetting, LOSSES[name]) for name in LOSSES},
    "poisson/composition": lambda kernel: poisson_composition(kernel, q, eta * K / b, sigma**2, T),
}
"""What a claim calls a derivation."""

TRACKED: Final[dict[str, Callable[[Kernel], Span]]] = {
    "Lipschitz maps": iterations.lipschitz_maps,
    "modulus": iterations.modulus,
    "batches": iterations.batches,
    "domain": iterations.inside,
}
"""What a claim calls a derivation of a distance between the last iterates of two runs."""

OF_PACKAGE: Final[Mapping[str, Any]] = MappingProxyType({**DERIVATIONS, **TRACKED})
"""The derivations of this package, of which the lock file knows what they suppose; other tables may grow."""
