"""Certificates at the theorems that are derived: every supposition of a theorem, evaluated at the numbers of one run.

A derived theorem of shifts says what it supposes of each step ("this holds") and of the sequences beside them. A
certificate gives the choices: first step, shifts, shares of the noise, sizes of batches. `replay` takes the steps, the
noise and the batches of the run, follows the distances by the suppositions themselves, in balls, and returns what the
theorem then says: mu^2 of the shifts, and mu^2 of the coin of every step. So the text of the kernel and that of `bound`
are held together wherever a theorem is known by name; the rules that convert a profile are elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from flint import arb

from lastiterate.numeric.certificates.description import undyadic
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.proofs_checks.engines.suppositions import Numbers, Theorem

LONGEST: Final = 1000
"""Steps of a window that are followed."""

_CLASSES: Final = {
    "clipped": "clipped",
    "smooth": "smooth",
    "holder": "Hoelder",
    "convex": "convex",
    "strongly_convex": "strongly convex",
}
_CONVERSIONS: Final = ("gaussian", "from gdp", "from rdp", "from losses", "ranges", "stretches")
_PATHS: Final = ("composition", "path", "straight")


@dataclass(frozen=True)
class Replayed:
    """A theorem at the numbers of a certificate, and what the certificate states in its place.

    Attributes:
        theorem: name in `lastiterate.symbolic.derivations.DERIVATIONS`.
        cost: mu^2 of the shifts; an upper bound, as is ``stated``.
        stated: mu^2 of them that the certificate states.
        coins: mu^2 of the coin of each step of the window, and what the certificate states of it.
    """

    theorem: str
    cost: float
    stated: float
    coins: tuple[tuple[float, float], ...] = ()

    def exceeds(self, rounding: float = 1e-8) -> bool:
        """Tell whether the theorem says more than is stated, by more than a relative ``rounding``."""
        pairs = ((self.cost, self.stated), *self.coins)
        return any(not said <= stated * (1 + rounding) for said, stated in pairs)


def replay(certificate: Mapping[str, Any]) -> tuple[Replayed, ...]:
    """The theorem behind a certificate at its numbers, once for each place of a sample that it speaks of.

    There is none for a mean over orders, for blocks of steps, for losses of several parts, and for more than `LONGEST`
    steps. Of bounds that hold on an event the first, which says most, is taken.

    Args:
        certificate: as `lastiterate.numeric.bound.Bound.certificate` gives it.

    Raises:
        UnprovedError: the theorem supposes something that is not so at these numbers.
        InputError: it is no certificate.
    """
    try:
        run, node = _Run(certificate["run"], certificate["class"]), certificate["proof"]
        losses = _CLASSES.get(certificate["class"]["name"])
        while node["rule"] in _CONVERSIONS:
            node = node["of"][0] if isinstance(node["of"], list) else node["of"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"A certificate needs a proof, a class and a run, got error={error!r}; write it anew."
        ) from None
    if losses is None or run.scheme == "shuffled":
        return ()
    with precision():
        match node["rule"]:
            case "positions" if run.constant and len(node["of"]) == 1:
                found = [_known(run, losses, node["of"][0], (run.steps - 1) % run.epoch)]
            case "positions":
                found = [_known(run, losses, one, place) for place, one in enumerate(node["of"])]
            case "window" if run.scheme != "cyclic" and "blocks" not in node:
                found = [_sampled(run, losses, node)]
            case rule if rule in _PATHS and run.scheme == "full":
                found = [_known(run, losses, node, 0)]
            case _:
                found = []
    return tuple(one for one in found if one is not None)


@dataclass
class _Run:
    """The numbers of a run, by the letters of the theorems."""

    description: Mapping[str, Any]
    losses: Mapping[str, Any]
    constants: Numbers = field(init=False)

    def __post_init__(self) -> None:
        told, names = self.description, {"L": "L", "lam": "lambda", "m": "m"}
        self.steps, self.scheme = int(told["steps"]), str(told["scheme"])
        n, b = int(told["dataset_size"]), int(told["batch_size"])
        self.epoch = 1 if self.scheme == "full" else n // b
        self.constants = {"n": arb(n), "b": arb(b), "K": arb(tuple(told["clip_norm"])), "q": arb(b) / n}
        if told["diameter"] is not None:
            self.constants["D"] = arb(tuple(told["diameter"]))
        self.constants |= {names[key]: arb(tuple(value)) for key, value in self.losses.items() if key in names}
        self.eta, self.noise = (list(_listed(told[name])) for name in ("step_size", "noise_std"))
        self.constant = len(told["step_size"]) == len(told["noise_std"]) == 1

    def rows(self, steps: Iterable[tuple[int, float]], beside: Callable[[int, float], Numbers]) -> list[Numbers]:
        """Step size, variance and what is beside them, for steps each with a number; one object for equal ones."""
        known: dict[tuple[int, int, float], Numbers] = {}
        found = []
        for t, one in steps:
            key = id(self.eta[t]), id(self.noise[t]), one
            if key not in known:
                known[key] = {"eta_j": self.eta[t], "v_j": self.noise[t] ** 2} | beside(t, one)
            found.append(known[key])
        return found

    def moved(self, t: int) -> arb:
        """The most by which the sample that differs moves a step."""
        return (1 if self.scheme == "poisson" else 2) * self.eta[t] * self.constants["K"] / self.constants["b"]


def _known(run: _Run, losses: str, node: Mapping[str, Any], place: int) -> Replayed | None:
    """A path of shifts for batches in a known order; steps before the first shift have shifts of 0."""
    since, start = node.get("since", 0), node.get("start", 0)
    if run.steps - since > LONGEST or node.get("ends"):
        return None
    theorem = Theorem(f"known_batches/{losses}, from {'the domain' if since else '0'}", run.constants)
    met = ((t, float(t % run.epoch == place)) for t in range(since, run.steps))
    rows = run.rows(met, lambda _, one: {"k_j": arb(one)})
    distance = run.constants["D"] if since else arb(0)
    still, shifts = [arb(0)] * (start - since), list[arb | None]([None] * (len(rows) - 1))  # a step hides what it does
    if node["rule"] == "path":
        shifts = [*still, *_listed(node["shifts"])]
    if node["rule"] == "straight":
        shifts = [*still, *theorem.straight(rows, start - since, distance)]
    return Replayed(theorem.name, theorem.window(rows, shifts, distance), undyadic(node["cost"]))


def _sampled(run: _Run, losses: str, node: Mapping[str, Any]) -> Replayed | None:
    """A window of shifts beside coins, before which a distance may be tracked; or coins alone."""
    since, start, poisson = node.get("since", 0), node.get("start", 0), run.scheme == "poisson"
    if run.steps - since > LONGEST:
        return None
    kind, part = "poisson_sizes" if poisson else run.scheme, "from the domain" if since else "from 0"
    theorem = Theorem(f"{kind}/{losses}, {f'tracked {part}' if start > since else part}", run.constants)
    sizes = node["sizes"] if poisson else {}
    size = {f"{name}_j": arb(sizes[name]) for name in ("low", "high") if sizes}
    distance = run.constants["D"] if since else arb(0)
    if start > since:
        distance = theorem.tracked(run.rows(((t, 0.0) for t in range(since, start)), lambda *_: size), distance)
    multipliers = list(_multipliers(node))
    steps = zip(range(start, run.steps), multipliers, strict=True)
    rows = run.rows(steps, lambda t, one: size | {"u_j": (exact(one) * run.moved(t)) ** 2})
    path: Sequence[arb | None] = [arb(0)] * (len(rows) - 1)
    if start > 0:  # two runs that begin at one point have nothing to hide but coins
        path = theorem.proportional(rows, distance) if node["shifts"] == "proportional" else [*_listed(node["shifts"])]
    cost = theorem.window(rows, path, distance)
    coins = tuple(zip(theorem.coins, (upper(1 / exact(one) ** 2) for one in multipliers), strict=True))
    return Replayed(theorem.name, cost, undyadic(node["cost"]), coins)


def _multipliers(node: Mapping[str, Any]) -> Iterator[float]:
    """Noise of the coin of each step over its sensitivity, one of those listed."""
    listed = [undyadic(one["multiplier"]) for one in node["prices"]]
    for kind, count in node["kinds"]:
        yield from [listed[kind]] * count


def _listed(rows: Sequence[tuple[int, int, int]]) -> Iterator[arb]:
    for mantissa, exponent, count in rows:
        yield from [arb((mantissa, exponent))] * count
