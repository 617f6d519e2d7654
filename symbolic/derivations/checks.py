"""Checks that windows of arbitrary shifts hide the difference between the two runs."""

from itertools import product

from lastiterate.symbolic.checks import Derived
from lastiterate.symbolic.derivations import known_batches as known
from lastiterate.symbolic.derivations import random_batches as batches
from lastiterate.symbolic.derivations.losses import PARTS, UNTRACKED
from lastiterate.symbolic.derivations.random_batches import A, C, N, P, i, k, lengths, p, r, stretches
from lastiterate.symbolic.derivations.shared_noise import B
from lastiterate.symbolic.formulas.update import moved
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, T, W, b, ell, eta, q, rho, sensitivity, sigma, tau, w

nodes = Function("y", positive=True)
"""The nodes of a lattice."""

_BLOCKS = Composed((Steps(Steps(PoissonStep(q, p(k, i)), i, w), k, T), Gauss(A)))


def windows(kind: str, *losses: str) -> Iterator[Derived]:
    """Shifts over the whole run, or over the last w steps from the domain or from a tracked distance.

    Batches in a known, cyclic or ``late`` order cost mu^2 = A. ``shuffled`` batches cost a mean over orders.
    Random batches cost coins and shifts, or 1 for Poisson batches of an unlikely size.
    """
    orders = Average(known.chances(known.i), Gauss(known.costs(known.i)), known.i, known.N)
    inside = Composed((PoissonStep(q, p(i)), Gauss(C(i))))
    parts = PARTS if kind == "without_replacement" else UNTRACKED
    for one, (part, (_, _, steps)) in product(losses, parts.items()):
        costs: dict[str, Profile] = {
            "shuffled": orders,
            "without_replacement": Composed((Steps(SwapStep(q, p(i)), i, steps), Gauss(A))),
            "poisson": Steps(MeanProfile(((1 - r(i), inside),), r(i)), i, steps),
        }
        yield Derived(f"{kind}/{one}, {part}", costs.get(kind, Gauss(known.A)), f"{one}, {part}")


def _or_composition(inside: Profile, steps: Expr) -> MeanProfile:
    return MeanProfile(((1 - rho, inside), (rho, Steps(PoissonStep(q, P(i)), i, steps))))


def windows_or_composition(*losses: str) -> Iterator[Derived]:
    """The coin and shift of every step if all batches have the assumed sizes, and a composition otherwise."""
    for one, (part, (begins, _, steps)) in product(losses, PARTS.items()):
        inside = Composed((Steps(PoissonStep(q, p(i)), i, steps), Gauss(A)))
        yield Derived(
            f"poisson_sizes/{one}, {part}", _or_composition(inside, begins + steps), f"sizes: {one}, {part}"
        )


def ranges_or_composition(*losses: str) -> Iterator[Derived]:
    """A window for the first of the ranges that contains the sizes, or a composition if none does."""
    inside = Composed((Steps(PoissonStep(q, p(k, i)), i, lengths(k)), Gauss(batches.costs(k))))
    found = Average(batches.chances(k), inside, k, N)
    for one in losses:
        yield Derived(f"poisson_ranges/{one}", _or_composition(found, T), f"ranges: {one}")


def blocks_or_composition() -> Iterator[Derived]:
    """Coins and shifts in T blocks of w steps if all blocks contract, and a composition otherwise."""
    for part, (begins, _, _) in batches.BLOCKS.items():
        whole = _or_composition(_BLOCKS, begins + T * w)
        yield Derived(f"poisson_blocks/strongly convex, {part}", whole, f"blocks, {part}")


def stretch_checks(*losses: str) -> Iterator[Derived]:
    """Stretches of w steps, or of T blocks of w steps, that hide the diameter or cost a composition."""
    step = PoissonStep(q, moved(eta, K, b) ** 2 / sigma**2)
    inside = Composed((Steps(PoissonStep(q, p(i)), i, w), Gauss(A)))
    for one in losses:
        yield Derived(f"poisson_stretches/{one}", stretches(inside, step, w, N), one)
    yield Derived("poisson_stretches/blocks", stretches(_BLOCKS, step, T * w, N), "blocks")


def lattice_checks() -> Iterator[Derived]:
    """Compositions of steps whose profiles are on lattices, with arbitrary nodes for each kind of step."""

    def chords(part: Profile) -> Chords:
        return Chords(part, nodes(k, i), k, N)

    coins = {
        "without_replacement": SwapStep(q, (2 * eta * K / b) ** 2 / sigma**2),
        "poisson": PoissonStep(q, moved(eta, K, b) ** 2 / sigma**2),
    }
    for scheme, coin in coins.items():
        yield Derived(f"{scheme}/composition", Power(Chords(coin, nodes(k), k, N), T), f"{scheme}, composition")
    window = Composed((Steps(chords(SwapStep(q, p(i))), i, w), Chords(Gauss(A), nodes(k), k, N)))
    yield Derived("without_replacement/modulus, from the domain", window, "without_replacement, window")
    inside = Composed((Steps(chords(PoissonStep(q, p(i))), i, w), Chords(Gauss(A), nodes(k), k, N)))
    yield Derived("poisson_sizes/modulus, from the domain", _or_composition(inside, tau + w), "poisson, window")


def projection_checks() -> Iterator[Derived]:
    """Steps with noise after a random projection; the cost of the sample is averaged over the matrix."""
    load = p(i)
    there = Projected(Gauss(load * X), ell)
    costs: dict[str, Profile] = {
        "known_batches": there,
        "revealed_coin": MeanProfile(((q, there), (1 - q, Equal()))),
        "hidden_coin": Projected(PoissonStep(q, load * X), ell),
    }
    for kind, cost in costs.items():
        yield Derived(f"projections/{kind}", Steps(cost, i, T), kind.replace("_", " "))


def share_checks(losses: str, factor: Expr) -> Iterator[Derived]:
    """Full batches with shares of the noise and three bounds on the distance before the last w steps."""
    tracked = tau if factor == 1 else (factor**tau - 1) / (factor - 1)
    distances = {"domain": D, "tracked": sensitivity() * tracked, "clipped": 2 * eta * K * tau}
    for start, distance in distances.items():
        yield Derived(
            f"shared_noise/{losses}, {start}", Gauss((B + distance**2 / W) / sigma**2), f"start: {start}"
        )
