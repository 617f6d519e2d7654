"""The checks of a claim that a window of shifts, of any lengths, hides what the two runs differ in."""

from collections.abc import Callable, Iterator
from typing import Final

from sympy import Expr, Function

from lastiterate.symbolic.checks import Derived
from lastiterate.symbolic.derivations import known_batches as known
from lastiterate.symbolic.derivations import orders, ranges
from lastiterate.symbolic.derivations.projections import p as loads
from lastiterate.symbolic.derivations.random_batches import A, C, P, i, k, p, r
from lastiterate.symbolic.derivations.shared_noise import B
from lastiterate.symbolic.derivations.stretches import N, recurring
from lastiterate.symbolic.derivations.tracked import N_0
from lastiterate.symbolic.formulas.update import moved
from lastiterate.symbolic.kernel.profiles import (
    Average,
    Composed,
    Equal,
    Gauss,
    Mean,
    PoissonStep,
    Power,
    Profile,
    Steps,
    SwapStep,
)
from lastiterate.symbolic.kernel.projected import Projected, X
from lastiterate.symbolic.kernel.tables import Chords
from lastiterate.symbolic.notation import D, K, T, W, b, ell, eta, q, rho, sensitivity, sigma, t, tau, w

TRACKED: Final = ("tracked from 0", "tracked from the domain")
nodes = Function("y", positive=True)
"""Nodes of a lattice."""


def _derived(scheme: str, losses: str, cost: Callable[[Expr], Profile], *, tracked: bool = False) -> Iterator[Derived]:
    """Over the whole run, and over its last w steps, from the domain and perhaps after steps without shifts."""
    for part, steps in ({"from 0": T, "from the domain": w} | (dict.fromkeys(TRACKED, w) if tracked else {})).items():
        yield Derived(f"{scheme}/{losses}, {part}", cost(steps), f"{losses}, {part}")


def known_batches(losses: str) -> Iterator[Derived]:
    """Full batches, or others in a known order: mu^2 = A, the sum of squared shifts over the variances of the noise."""
    return _derived("known_batches", losses, lambda _: Gauss(known.A))


def cyclic(losses: str) -> Iterator[Derived]:
    """Batches in cyclic order: a path for a sample of the last step serves one that comes earlier."""
    return _derived("cyclic", losses, lambda _: Gauss(known.A))


def shuffled(losses: str) -> Iterator[Derived]:
    """The mean over orders of what each order costs."""
    mean = Average(orders.chances(orders.i), Gauss(orders.costs(orders.i)), orders.i, orders.N)
    return _derived("shuffled", losses, lambda _: mean)


def late(losses: str) -> Iterator[Derived]:
    """Shuffled batches: a path for an order with the sample late serves every other."""
    return _derived("late", losses, lambda _: Gauss(known.A))


def without_replacement(losses: str) -> Iterator[Derived]:
    """The coin of every step at its share of the noise, and the shifts at theirs."""

    def cost(steps: Expr) -> Profile:
        return Composed((Steps(SwapStep(q, p(i)), i, steps), Gauss(A)))

    return _derived("without_replacement", losses, cost, tracked=True)


def poisson(losses: str) -> Iterator[Derived]:
    """Coin and shift of every step, and 1 on the event that its batch is of another size than supposed."""
    inside = Composed((PoissonStep(q, p(i)), Gauss(C(i))))
    return _derived("poisson", losses, lambda steps: Steps(Mean(((1 - r(i), inside),), r(i)), i, steps))


def _or_composition(inside: Profile, steps: Expr) -> Mean:
    """The mean with a composition of all steps, on an event of chance rho."""
    return Mean(((1 - rho, inside), (rho, Steps(PoissonStep(q, P(i)), i, steps))))


def poisson_sizes(losses: str) -> Iterator[Derived]:
    """Coin and shift of every step where all batches are of the sizes supposed, a composition where not."""
    last = tau + w
    totals = {"from 0": T, "from the domain": last, "tracked from 0": last, "tracked from the domain": last + t}
    for part, total in totals.items():
        steps = T if part == "from 0" else w
        inside = Composed((Steps(PoissonStep(q, p(i)), i, steps), Gauss(A)))
        yield Derived(f"poisson_sizes/{losses}, {part}", _or_composition(inside, total), f"sizes: {losses}, {part}")


def poisson_ranges(*losses: str) -> Iterator[Derived]:
    """Ranges of sizes with a window each, counted by the first that holds, and a composition beyond them."""
    inside = Composed((Steps(PoissonStep(q, p(k, i)), i, ranges.lengths(k)), Gauss(ranges.costs(k))))
    found = Average(ranges.chances(k), inside, k, ranges.N)
    for one in losses:
        yield Derived(f"poisson_ranges/{one}", _or_composition(found, T), f"ranges: {one}")


def poisson_blocks() -> Iterator[Derived]:
    """Coins of every step and shifts in T blocks of w steps, where all blocks contract, a composition where not."""
    before = {"from 0": 0, "from the domain": tau, "tracked from 0": N_0 * w, "tracked from the domain": tau + N_0 * w}
    for part, steps in before.items():
        total = steps + T * w
        inside = Composed((Steps(Steps(PoissonStep(q, p(k, i)), i, w), k, T), Gauss(A)))
        yield Derived(f"poisson_blocks/strongly convex, {part}", _or_composition(inside, total), f"blocks, {part}")


def poisson_stretches(*losses: str) -> Iterator[Derived]:
    """Stretches of w steps, or of T blocks of w: each hides the diameter, and where it does not costs a composition."""
    step = PoissonStep(q, moved(eta, K, b) ** 2 / sigma**2)
    inside = Composed((Steps(PoissonStep(q, p(i)), i, w), Gauss(A)))
    for one in losses:
        yield Derived(f"poisson_stretches/{one}", recurring(inside, step, w, N), one)
    blocks = Composed((Steps(Steps(PoissonStep(q, p(k, i)), i, w), k, T), Gauss(A)))
    yield Derived("poisson_stretches/blocks", recurring(blocks, step, T * w, N), "blocks")


def on_lattices() -> Iterator[Derived]:
    """Compositions of steps that are put on lattices one by one; the nodes of a kind of steps are any."""

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


def projections() -> Iterator[Derived]:
    """Steps whose noise comes after a random projection, each at the mean over its matrix of what the sample costs."""
    load = loads(i)
    there = Projected(Gauss(load * X), ell)
    costs: dict[str, Profile] = {
        "known_batches": there,
        "revealed_coin": Mean(((q, there), (1 - q, Equal()))),
        "hidden_coin": Projected(PoissonStep(q, load * X), ell),
    }
    for kind, cost in costs.items():
        yield Derived(f"projections/{kind}", Steps(cost, i, T), kind.replace("_", " "))


def shared_noise(losses: str, factor: Expr) -> Iterator[Derived]:
    """Full batches, shares of the noise, and the three distances before the last w steps, of which each serves."""
    tracked = tau if factor == 1 else (factor**tau - 1) / (factor - 1)
    distances = {"domain": D, "tracked": sensitivity() * tracked, "clipped": 2 * eta * K * tau}
    for start, distance in distances.items():
        yield Derived(f"shared_noise/{losses}, {start}", Gauss((B + distance**2 / W) / sigma**2), f"start: {start}")
