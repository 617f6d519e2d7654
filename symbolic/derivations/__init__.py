"""Privacy theorems as derivations: short functions that apply the kernel's rules in the order of the proof.

Each takes a kernel, which says what is given of the numbers and how side conditions are shown, and returns both orders.
The letters are those of `lastiterate.symbolic.notation`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from sympy import Eq, Expr, S

from lastiterate.symbolic.derivations import (
    contraction,
    iterations,
    known_batches,
    noisy_sgd,
    random_batches,
    shared_noise,
)
from lastiterate.symbolic.derivations.losses import LOSSES
from lastiterate.symbolic.derivations.random_batches import N_0
from lastiterate.symbolic.kernel.judgement import Guarantee, Span
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, Delta, T, beta, c, s, sensitivity, sigma, t, tau, v, w, x, y

Derivation = Callable[[Kernel], Guarantee]
_OfLosses = Callable[..., Guarantee]

_PARTS: Final = {
    "from 0": (S.Zero, S.Zero, T),
    "from the domain": (tau, D, w),
    "tracked from 0": (tau, Delta, w),
    "tracked from the domain": (tau + t, Delta, w),
}
"""First step, distance, number of steps: the whole run, or w steps after others. Delta is tracked until then."""

_BLOCKS: Final = {
    "from 0": (S.Zero, S.Zero, T),
    "tracked from 0": (N_0 * w, Delta, T),
    "tracked from the domain": (tau + N_0 * w, Delta, T),
    "from the domain": (tau, D, T),
}
_AFFINE: Final = {"convex": S.One, "strongly convex": c, "smooth": c}
"""Classes of losses of which full batches carry z to c z + s, with the constant c."""

_GROWING: Final = ("modulus", "convex", "strongly convex")


def _window(losses: str, factor: Expr, kernel: Kernel) -> Guarantee:
    """One of n samples replaced in each of tau + w steps, which take z to at most c z + s; the last w are shifted."""
    outer, values = kernel.under(Eq(s, sensitivity())), {s: sensitivity(), v: sigma**2}
    made = known_batches.window(outer, LOSSES[losses].affine(factor), factor, s, D, v, tau + w, w)
    return Guarantee(kernel.specialise(made.first, values), kernel.specialise(made.second, values))


def _runs(made: _OfLosses, losses: str, run: tuple[Expr, ...], kernel: Kernel) -> Guarantee:
    return made(kernel, LOSSES[losses], *run)


def _paths(kind: str, made: _OfLosses, *, tracked: bool = False) -> dict[str, Derivation]:
    """Shifts of any lengths, by class of losses, over a whole run and over its last steps; or after steps without."""
    parts = list(_PARTS.items())[: 4 if tracked else 2]
    return {f"{kind}/{losses}, {part}": partial(_runs, made, losses, run) for losses in LOSSES for part, run in parts}


def _contracted(name: str, made: _OfLosses) -> dict[str, Derivation]:
    """Blocks that are contracted, by class of losses and by what is known of the steps before them."""
    return {
        f"contraction/{name}/{losses}, {begin}": partial(_runs, made, losses, (begin,))
        for losses in LOSSES
        for begin in contraction.BEGINS
    }


_sizes: Final = partial(random_batches.poisson_or_composition, random_batches.sized_window)
_blocks: Final = partial(random_batches.poisson_or_composition, random_batches.contracting_blocks)

DERIVATIONS: Final[dict[str, Derivation]] = {
    **_paths("known_batches", known_batches.path),
    "full_batch/composition": lambda kernel: known_batches.composition(kernel, sensitivity(), sigma**2, T),
    **{f"full_batch/{losses}": partial(_window, losses, factor) for losses, factor in _AFFINE.items()},
    **{
        f"cyclic/{losses}, {part}": partial(_runs, made, losses, (*run, w, t))
        for part, (made, run) in {
            "from the domain": (known_batches.cyclic, (tau, D)),
            "from 0": (known_batches.cyclic_from_0, (x, y)),
        }.items()
        for losses in LOSSES
    },
    **{f"last_step/{losses}": partial(_runs, known_batches.last_step, losses, (sigma**2, T)) for losses in LOSSES},
    **{
        f"shared_noise/{losses}, {start}": partial(shared_noise.window, losses, factor, start)
        for losses, factor in _AFFINE.items()
        for start in ("domain", "tracked", "clipped")
    },
    **{
        f"shared_noise/{kind}, {start}": partial(shared_noise.known_batches, start, full=kind == "modulus")
        for kind in ("modulus", "batches")
        for start in ("0", "domain")
    },
    **_paths("shuffled", known_batches.shuffled),
    **{key: one for key, one in _paths("late", known_batches.late).items() if "convex" in key},
    **_paths("without_replacement", random_batches.swap_window, tracked=True),
    "without_replacement/composition": random_batches.swap_composition,
    **{
        f"without_replacement/last step, {losses}": partial(random_batches.last_swap_step, LOSSES[losses], beta)
        for losses in _GROWING
    },
    **_paths("poisson", random_batches.poisson_window),
    "poisson/composition": random_batches.poisson_composition,
    **_paths("poisson_sizes", _sizes, tracked=True),
    **{f"poisson_ranges/{losses}": partial(random_batches.poisson_ranges, LOSSES[losses]) for losses in _GROWING},
    **{
        f"poisson_blocks/strongly convex, {part}": partial(_runs, _blocks, "strongly convex", run)
        for part, run in _BLOCKS.items()
    },
    **{
        f"poisson_stretches/{losses}": partial(
            random_batches.poisson_stretches, LOSSES[losses], random_batches.sized_window, w, w
        )
        for losses in _GROWING
    },
    "poisson_stretches/blocks": partial(
        random_batches.poisson_stretches, LOSSES["strongly convex"], random_batches.contracting_blocks, T, T * w
    ),
    **{f"projections/{kind}": made for kind, made in random_batches.PROJECTED.items()},
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
        for losses, factor in _AFFINE.items()
        for begin in contraction.BEGINS
    },
    **_contracted("shuffled", contraction.shuffled),
    **_contracted("without_replacement", contraction.without_replacement),
    **_contracted("poisson", contraction.poisson),
    **{f"contraction/forgetting/{name}": partial(contraction.forgetting, LOSSES[name]) for name in LOSSES},
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
