"""Certificates at the theorems that are derived: every supposition of a theorem, evaluated at the numbers of one run.

A derived theorem of shifts says what it supposes of each step ("this holds") and of the sequences beside them; a
certificate gives the choices: first step, shifts, shares of the noise, sizes of batches. The distances are followed by
the suppositions themselves, in balls, so that the text of the kernel and that of `bound` are held together wherever a
theorem is known by name; the rules that convert a profile are elsewhere. A letter of a step, such as a_j, goes by its
name; so does a function of the step, C for C(j).
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Final

from flint import arb
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from lastiterate.numeric.certificates.description import from_dyadic
from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.notation import L, m, q, rho

_UP: Final = 1 + 2.0**-50
_Numbers = dict[str, arb]


class _Law:
    """A supposition about a step, an inequality."""

    def __init__(self, law: Relational) -> None:
        self.law, self.left, self.right = law, _Formula(law.lhs), _Formula(law.rhs)
        self.gap, self.strict = _Formula(law.gts - law.lts), law.rel_op in {"<", ">"}
        self.names, self.seen = self.gap.names, list[arb]()

    def hold(self, values: _Numbers) -> None:
        """Raise an error where it is not so, or not seen."""
        numbers = [values[name] for name in self.names]
        if len(numbers) == len(self.seen) and all(map(operator.is_, numbers, self.seen)):
            return  # the step before had the same
        gap, self.seen = self.gap.at(values), numbers
        if not bool(gap > 0 if self.strict else gap >= 0):
            at = ", ".join(f"{name}={values[name].str(6, radius=False)}" for name in sorted(self.names))
            raise UnprovedError(f"The theorem supposes {self.law}, which is not so at {at}.")


class _Formula:
    """An expression in the letters of a step, of which functions of the step, such as C(j), are one."""

    def __init__(self, expression: Expr) -> None:
        self.expression = expression.replace(
            lambda one: isinstance(one, AppliedUndef), lambda one: Symbol(one.func.__name__, real=True)
        )
        self.letters = {str(one): one for one in self.expression.free_symbols}
        self.names = self.letters.keys()

    def at(self, values: _Numbers) -> arb:
        return enclose(self.expression, {one: values[name] for name, one in self.letters.items()})


class _Theorem:
    """A derived theorem, and what it supposes of the steps of a window and of those before it."""

    def __init__(self, name: str, constants: _Numbers) -> None:
        self.name, self.constants, self.coins = name, constants, list[float]()
        laws = _laws(name)
        ends = {"x_j", "x_next", "x_m", "z_m", "P"}
        self.of_windows = [law for law in laws if not law.names & ends]
        self.of_tracked = [law for law in laws if law.names & {"x_j", "x_next"} and "x_m" not in law.names]
        self.grows = next(law for law in self.of_windows if {"z_j", "z_next"} <= law.names)
        self.coin = next((law for law in self.of_windows if {"p", "u_j"} <= law.names), None)

    def tracked(self, rows: Sequence[_Numbers], x: arb) -> arb:
        """The distance after steps that cost nothing."""
        grows = next(law for law in self.of_tracked if {"x_j", "x_next"} <= law.names)
        for row in rows:
            values = self.constants | row | {"x_j": x}
            values["x_next"] = x = _just_above(grows.right.at(values))
            for law in self.of_tracked:
                law.hold(values)
        return x

    def proportional(self, rows: Sequence[_Numbers], z: arb) -> list[arb]:
        """The best shifts where e_j(z) = c_j z: a_j = l v_j / (c_0 ... c_j), but for the last."""
        growth, parts = arb(1), []
        for row in rows:
            growth *= self.after(row, z) / z
            parts.append((row["v_j"] - row["u_j"], growth))
        slope = z / sum((v / growth**2 for v, growth in parts), arb(0))
        return [(slope * v / growth).mid() for v, growth in parts[:-1]]

    def straight(self, rows: Sequence[_Numbers], first: int, z: arb) -> list[arb]:
        """The best shifts of equal steps e(z) = c z + s, a_j = l / c^(j+1), but for the last."""
        for row in rows[:first]:
            z = self.after(row, z)
        s = self.after(rows[-1], arb(0))
        reach = z if z != 0 else s
        c, count = (self.after(rows[-1], reach) - s) / reach, len(rows) - first
        powers = list(accumulate([1 / c] * count, operator.mul))
        slope = (s * sum(powers, arb(0)) + z) / sum((power**2 for power in powers), arb(0))
        return [(slope * power).mid() for power in powers[:-1]]

    def after(self, row: _Numbers, z: arb) -> arb:
        """e_j(z), by the supposition about the next distance."""
        return self.grows.right.at(self.constants | row | {"z_j": z, "a_j": arb(0)})

    def window(self, rows: Sequence[_Numbers], shifts: Sequence[arb | None], z: arb) -> float:
        """mu^2 of shifts, of which the last hides what is left; all that is supposed of them is checked."""
        total, before, p = arb(0), _Numbers(), arb(0)
        if len(shifts) != len(rows) - 1:
            raise InputError(
                f"A path needs shifts for {len(rows) - 1} steps, got shifts={len(shifts)}; write one each."
            )
        for row, shift in zip(rows, [*shifts, None], strict=True):
            after = self.after(row, z)
            a = _just_above(after) if shift is None else shift
            values = self.constants | row | {"z_j": z, "a_j": a, "z_next": _just_above(after - a)}
            if self.coin is not None:
                values["p"] = p if row is before else self.coin.left.at(values) / values["u_j"] * _UP
                before, p = row, values["p"]
                values["C"] = a**2 / (values["v_j"] - values["u_j"]) * _UP if a != 0 else arb(0)
                self.coins.append(upper(values["p"]))
            for law in self.of_windows:
                law.hold(values)
            total += values["C"] if self.coin is not None else a**2 / values["v_j"]
            z = values["z_next"]
        if not bool(z == 0):
            raise UnprovedError(f"The theorem supposes that nothing is left to hide, got z_m = {z}.")
        return upper(total)


@cache
def _laws(name: str) -> tuple[_Law, ...]:
    """Suppositions of a derived theorem about every step."""
    hypotheses = derive(name, frozenset({q <= 1, rho <= 1, m <= L})).first.hypotheses
    told = (one for each in hypotheses if each.says.endswith("this holds") for one in each.constants)
    return tuple(_Law(one) for one in told if isinstance(one, Relational) and one.rel_op != "==")


def _just_above(distance: arb) -> arb:
    """A number that is above a distance, if only just, or 0."""
    return (distance.upper() + arb(2) ** -120).upper() if distance.upper() > 0 else arb(0)


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
class ReplayedTheorem:
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


def replay_theorems(certificate: Mapping[str, Any]) -> tuple[ReplayedTheorem, ...]:
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
            f"A certificate needs a proof, a class and a run, got error={error!r}; write it again."
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


class _Run:
    """The numbers of a run, by the letters of the theorems."""

    def __init__(self, described: Mapping[str, Any], losses: Mapping[str, Any]) -> None:
        names = {"L": "L", "lam": "lambda", "m": "m"}
        self.steps, self.scheme = int(described["steps"]), str(described["scheme"])
        n, b = int(described["dataset_size"]), int(described["batch_size"])
        self.epoch = 1 if self.scheme == "full" else n // b
        self.constants: _Numbers = {"n": arb(n), "b": arb(b), "K": arb(tuple(described["clip_norm"])), "q": arb(b) / n}
        if described["diameter"] is not None:
            self.constants["D"] = arb(tuple(described["diameter"]))
        self.constants |= {names[key]: arb(tuple(value)) for key, value in losses.items() if key in names}
        self.eta, self.noise = (list(_listed(described[name])) for name in ("step_size", "noise_std"))
        self.constant = len(described["step_size"]) == len(described["noise_std"]) == 1

    def rows(self, steps: Iterable[tuple[int, float]], beside: Callable[[int, float], _Numbers]) -> list[_Numbers]:
        """Step size, variance and what is beside them, for steps each with a number; one object for equal ones."""
        known: dict[tuple[int, int, float], _Numbers] = {}
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


def _known(run: _Run, losses: str, node: Mapping[str, Any], place: int) -> ReplayedTheorem | None:
    """A path of shifts for batches in a known order; steps before the first shift have shifts of 0."""
    since, start = node.get("since", 0), node.get("start", 0)
    if run.steps - since > LONGEST or node.get("ends"):
        return None
    theorem = _Theorem(f"known_batches/{losses}, from {'the domain' if since else '0'}", run.constants)
    met = ((t, float(t % run.epoch == place)) for t in range(since, run.steps))
    rows = run.rows(met, lambda _, one: {"k_j": arb(one)})
    distance = run.constants["D"] if since else arb(0)
    still, shifts = [arb(0)] * (start - since), list[arb | None]([None] * (len(rows) - 1))  # a step hides what it does
    if node["rule"] == "path":
        shifts = [*still, *_listed(node["shifts"])]
    if node["rule"] == "straight":
        shifts = [*still, *theorem.straight(rows, start - since, distance)]
    return ReplayedTheorem(theorem.name, theorem.window(rows, shifts, distance), from_dyadic(node["cost"]))


def _sampled(run: _Run, losses: str, node: Mapping[str, Any]) -> ReplayedTheorem | None:
    """A window of shifts beside coins, before which a distance may be tracked; or coins alone."""
    since, start, poisson = node.get("since", 0), node.get("start", 0), run.scheme == "poisson"
    if run.steps - since > LONGEST:
        return None
    kind, part = "poisson_sizes" if poisson else run.scheme, "from the domain" if since else "from 0"
    theorem = _Theorem(f"{kind}/{losses}, {f'tracked {part}' if start > since else part}", run.constants)
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
    return ReplayedTheorem(theorem.name, cost, from_dyadic(node["cost"]), coins)


def _multipliers(node: Mapping[str, Any]) -> Iterator[float]:
    """Noise of the coin of each step over its sensitivity, one of those listed."""
    listed = [from_dyadic(one["multiplier"]) for one in node["prices"]]
    for kind, count in node["kinds"]:
        yield from [listed[kind]] * count


def _listed(rows: Sequence[tuple[int, int, int]]) -> Iterator[arb]:
    for mantissa, exponent, count in rows:
        yield from [arb((mantissa, exponent))] * count
