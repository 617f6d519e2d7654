"""Independent checker of privacy certificates, which needs only this file and python-flint.

    python checker.py CERTIFICATE.json

A certificate describes noisy SGD, W <- Proj[W - eta/b sum_{i in B} clip(g_i, K) + N(0, sigma^2 I)], run for T
steps; only the last iterate is released. It claims that, for every loss of the class, every dimension and
every two adjacent data sets, in both directions, the last iterate is mu-GDP, (alpha, epsilon)-RDP or
(epsilon, delta)-DP. It also holds *choices*, such as the lengths of the shifts. Any choice is allowed: each
rule computes the resulting number in ball arithmetic, and the stated number must be at least as large. The
proofs are in docs/proofs/ of lastiterate. The pair [m, e] is the exact number m 2^e; a row [m, e, k] stands
for k such numbers.
"""

import hashlib
import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from flint import acb, arb, ctx, fmpz_poly

FORMAT = "lastiterate certificate 1"
BITS = 320
LONGEST = 10**5  # largest number of steps followed one by one
CONSTANTS = {
    "smooth": ["L"],
    "convex": ["L"],
    "clipped_convex": ["L"],
    "holder": ["L", "lam"],
    "strongly_convex": ["L", "m"],
    "clipped": [],
}
PARTS = ["sum", "blocks", "minimum"]
CONSTANTS |= {"tabulated": [], **{name: [] for name in PARTS}}
WIDEST = 2**20  # largest number of losses in a law of privacy losses
Node = dict[str, Any]
Costs = list[arb]
# First privacy loss, masses from this loss on, mass of an infinite loss; masses are whole numbers of units.
Law = tuple[int, list[int], int]


class Refused(Exception):  # noqa: N818
    """Refusal of a certificate; the message says where and why."""


class _Object(Node):
    """JSON object that records which of its keys the rules read."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.read = {"digest"}

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - records the key


def need(holds: bool, why: str) -> None:
    """Refuse unless a condition certainly holds."""
    if not holds:
        raise Refused(why)


def _at(where: str, rule: Callable[..., Any], *arguments: Any) -> Any:
    """Apply a rule; a refusal names the path in the file."""
    try:
        return rule(*arguments)
    except Refused as refused:
        raise Refused(f"{where}: {refused}") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        OSError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise Refused(f"{where}: {type(error).__name__} {error}") from None


def whole(value: Any, least: int = 0, most: int = 10**18) -> int:
    """The value, refused unless it is a whole number in [least, most]."""
    need(
        type(value) is int and least <= value <= most,
        f"{value!r:.80} is not a whole number in [{least}, {most}]",
    )
    return int(value)


def _number(value: Any) -> arb:
    """Exact number m 2^e >= 0 of a pair [m, e]."""
    m, e = value
    return arb((whole(m, 0, 2**512), whole(e, -20_000, 20_000)))


def _shown(value: arb) -> str:
    return repr(float(value)) if value == float(value) else str(value.str(20, radius=True))


def stated(node: Node, key: str, computed: arb) -> arb:
    """Number stated in a node, refused if less than computed."""
    found = _number(node[key])
    need(bool(computed <= found), f"{key} is {float(found)!r}, but its rule gives {computed.str(20)}")
    return found


def unbroken(pairs: list[tuple[str, Any]]) -> Node:
    """JSON object, refused if a key is repeated or the digest does not match the content."""
    node = _Object(pairs)
    text = json.dumps({k: v for k, v in node.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    holds = node.get("digest") == hashlib.sha256(text.encode()).hexdigest()[:32] and len(node) == len(pairs)
    need(holds, f"the object of {', '.join(node)} was altered: its digest does not match")
    return node


def all_read(part: Any, way: str) -> None:
    """Refuse keys with non-null values that no rule has read: a reader might take them for claims."""
    for key, one in (
        part.items() if isinstance(part, _Object) else enumerate(part) if isinstance(part, list) else ()
    ):
        need(
            one is None or not isinstance(part, _Object) or key in part.read,
            f"{way}: no rule reads the key {key!r}",
        )
        all_read(one, f"{way}.{key}")


class _Rows:
    """Values, one per step, from rows that each end with a number of steps."""

    def __init__(self, rows: Any, steps: int, read: Callable[[Any], arb] = _number) -> None:
        self.values = [read(row[:-1]) for row in rows]
        self.ends = list(accumulate((whole(row[-1], 1) for row in rows), initial=0))
        need(self.ends[-1] == steps, f"rows need one number for each of {steps} steps")

    def __getitem__(self, t: int) -> arb:
        return self.values[bisect_right(self.ends, t) - 1]

    def part(self, first: int, end: int) -> "_Rows":
        """Values of steps ``first`` to ``end`` - 1."""
        part, stops = copy(self), [first, *(t for t in self.ends if first < t < end), end]
        part.values, part.ends = [self[t] for t in stops[:-1]], [t - first for t in stops]
        return part

    def __str__(self) -> str:
        return _shown(self.values[0]) if len(self.values) == 1 else f"in {len(self.values)} rows"


class _Run:
    def __init__(self, node: Node) -> None:
        self.steps, self.n = whole(node["steps"], 1), whole(node["dataset_size"], 1)
        self.b, self.scheme = whole(node["batch_size"], 1, self.n), node["scheme"]
        self.eta, self.sigma = (_Rows(node[key], self.steps) for key in ("step_size", "noise_std"))
        self.clip = _number(node["clip_norm"])
        self.diameter = arb("inf") if node["diameter"] is None else _number(node["diameter"])
        need(
            self.scheme in ("full", "cyclic", "shuffled", "without_replacement", "poisson"), "scheme is unknown"
        )
        whole_epochs = self.n % self.b == 0 or self.scheme not in ("cyclic", "shuffled")
        need(whole_epochs and (self.b == self.n or self.scheme != "full"), "batches must divide an epoch")
        need(
            node["adjacency"] == ("add_remove" if self.scheme == "poisson" else "replace"),
            "adjacency does not fit the scheme",
        )
        self.random = self.scheme in ("without_replacement", "poisson")
        self.epoch, self.rate = self.n // self.b, arb(self.b) / self.n
        self.constant = len(self.eta.values) == len(self.sigma.values) == 1
        self.apart = arb(0)  # both runs begin at one point

    def __str__(self) -> str:
        size = f"size {self.eta}, noise {self.sigma}, clip norm {_shown(self.clip)}, diameter {_shown(self.diameter)}"
        return f"{self.steps} steps of {size}, {self.scheme} batches of {self.b} of {self.n}"

    def moved(self, t: int) -> arb:
        """Shift s_t of an update by one sample: 2 eta K / b if replaced, eta K / b if left out."""
        return self.clip * self.eta[t] / self.b * (1 if self.scheme == "poisson" else 2)

    def part(self, first: int, steps: int, apart: arb) -> "_Run":
        """Run of ``steps`` steps from ``first`` on, begun at any two points at most ``apart`` apart."""
        part, end = copy(self), first + steps
        part.steps, part.eta, part.sigma = steps, self.eta.part(first, end), self.sigma.part(first, end)
        part.constant, part.apart = len(part.eta.values) == len(part.sigma.values) == 1, apart
        return part

    def stretches(self, tau: int) -> Iterator[tuple[int, int]]:
        """(first, end) of each stretch of equal steps from step tau on."""
        return pairwise(sorted({tau, *(end for end in (*self.eta.ends, *self.sigma.ends) if end > tau)}))


class _Loss:
    """Class of losses; those that are convex, and not clipped_convex, are K-Lipschitz, so clipping never acts."""

    def __init__(self, node: Node) -> None:
        self.name, self.convex = node["name"], "convex" in node["name"]
        unbounded = {"L"} if self.name in ("convex", "clipped_convex") else set()  # null stands for infinity
        self.constants = {
            x: arb("inf") if x in unbounded and node[x] is None else _number(node[x])
            for x in CONSTANTS[self.name]
        }
        self.L, self.m, self.lam = (self.constants.get(x, arb(x == "lam")) for x in ("L", "m", "lam"))
        parts = node["parts"] if self.name in PARTS else []
        self.parts = [_at(f"parts.{i}", _Loss, one) for i, one in enumerate(parts)]
        self.table = [(_number(row["distance"]), _number(row["value"])) for row in node.get("table", [])]
        need(all(x < y and v <= w for (x, v), (y, w) in pairwise(self.table)), "the table must increase")
        self.each: list[_Loss] = (
            [one for part in self.parts for one in part.each] if self.name == "minimum" else [self]
        )
        need(
            bool(self.lam > 0) and bool(self.lam <= 1) and bool(self.m <= self.L),
            "a constant is out of its range",
        )

    def __str__(self) -> str:
        inside = [f"{letter} = {_shown(one)}" for letter, one in self.constants.items()] + [
            *map(str, self.parts)
        ]
        inside += [f"{_shown(value)} up to {_shown(distance)}" for distance, value in self.table]
        return f"{self.name} ({', '.join(inside)})" if inside else str(self.name)

    def modulus(self, z: arb) -> arb:
        """omega(z): |g(x) - g(y)| <= omega(|x - y|) for every per-sample gradient g."""
        if z == 0:
            return arb(0)
        if self.name in ("smooth", "holder"):
            return self.L * (z if self.lam == 1 else z**self.lam)
        if self.name == "tabulated":
            return next((value for distance, value in self.table if z <= distance), arb("inf"))
        values = [part.modulus(z) for part in self.parts]
        if not values or not all(value.is_finite() for value in values):
            return arb("inf")  # clipping alone
        return sum(values, arb(0)) if self.name == "sum" else sum((v**2 for v in values), arb(0)).sqrt()

    def factor(self, h: arb, low: arb, high: arb) -> arb:
        """Lipschitz constant of a step of convex losses; step sizes are h, or from ``low`` to ``high``."""
        if self.name != "clipped_convex":
            return (1 - low * self.m).max(high * self.L - 1)
        a = h * self.L
        return 2 / (4 - a).sqrt() if a <= 3 else (a - 1).max(arb(1))

    def carried(self, z: arb, h: arb, clip: arb) -> arb:
        """Distance z > 0 after a step of size h of convex losses, by the length of their gradients."""
        if self.name == "clipped_convex":
            return h * clip + (z**2 + (h * clip) ** 2).sqrt()
        least = 2 / self.L if self.L > 0 else arb("inf")
        if h <= least:
            return z
        change = (self.L * z).min(2 * clip) if self.L.is_finite() else 2 * clip
        return (z**2 + h * (h - least).max(arb(0)) * change**2).sqrt()

    @property
    def linear(self) -> arb | None:
        """Constant L with omega(z) <= L z for every z; None if unknown."""
        whole = bool(self.parts) and all(part.linear is not None for part in self.parts)
        power = self.name in ("smooth", "holder") and (self.lam == 1 or self.L == 0)
        return self.modulus(arb(1)) if power or (whole and self.name == "blocks") else None


@dataclass(frozen=True)
class Updates:
    """Updates of two runs, see docs/proofs/expansions.md.

    ``meets`` says which batches may hold the sample: "every", "none", "late" (the last of each epoch), or the
    index of one batch of each epoch. ``sizes`` bounds the sizes of Poisson batches, not counting the sample.
    """

    run: _Run
    loss: _Loss
    meets: str | int
    sizes: tuple[int, int] | None = None

    def met(self, t: int) -> bool:
        """Tell whether the batch of step t may hold the sample."""
        if self.meets == "late":
            return (t + 1) % self.run.epoch == 0 or t == self.run.steps - 1
        return self.meets == "every" or t % self.run.epoch == self.meets

    def e(self, t: int, z: arb) -> arb:
        """e_t(z) for exact z, rounded up: points at most z apart are at most e_t(z) apart after step t."""
        both = [self.met(t), False] if self.meets == "every" and self.run.scheme != "full" else [self.met(t)]
        return reduce(arb.max, (self._expanded(t, z, met) for met in both)).upper()  # it may lack the sample

    def line(self, t: int) -> tuple[arb, arb]:
        """(c, s) with e_t(z) <= c z + s for every z."""
        weight, low, high = self._steps(t, self.met(t))
        slopes = [one.factor(weight, low, high) for one in self.loss.each if one.convex and one.L.is_finite()]
        slopes += [
            1 + weight * one.linear for one in self.loss.each if not one.convex and one.linear is not None
        ]
        need(bool(slopes), "the class needs an affine expansion")
        return min(slopes, key=float), self.run.moved(t) if self.met(t) else arb(0)

    def _steps(self, t: int, met: bool) -> tuple[arb, arb, arb]:
        """Weight of the shared samples, and the step sizes for the smallest and the largest batch."""
        eta, b = self.run.eta[t], self.run.b
        if self.sizes is None:
            return (eta * (b - 1) / b if met else eta), eta, eta
        # A sum of k gradients, divided by b, is a step of size h = eta k / b along their mean.
        low, high = (eta * k / b for k in self.sizes)
        return high, low, high

    def _expanded(self, t: int, z: arb, met: bool) -> arb:
        (weight, low, high), cap, found = self._steps(t, met), 2 * self.run.clip, arb("inf")
        for one in self.loss.each if z != 0 else ():
            if one.convex:
                found = found.min(one.carried(z, weight, self.run.clip))
                if one.L.is_finite():
                    found = found.min(one.factor(weight, low, high) * z)
            else:  # clipped gradients of one sample are at most min(omega, 2 K) apart
                omega = one.modulus(z)
                found = found.min(z + weight * (omega.min(cap) if omega.is_finite() else cap))
        found = found if z != 0 else arb(0)
        return found + self.run.moved(t) if met else found


def start(node: Node, updates: Updates) -> tuple[int, arb]:
    """First step tau of a window, and an upper bound on the distance between the runs before this step.

    The bound is z_{t+1} = min(e_t(z_t), D) from step ``since`` on. At this step, z is the initial distance,
    or the diameter D if ``since`` > 0.
    """
    run, tau = updates.run, whole(node["start"], 0, updates.run.steps - 1)
    since = whole(node["since"], 0, tau)
    z, alike = (run.diameter if since else run.apart), run.constant and updates.meets == "every"
    need(bool(z.is_finite()), "nothing bounds the distance between the runs")
    if alike and tau - since > LONGEST:  # z_k <= c^k z + s (1 + c + ... + c^(k-1))
        (c, s), k = updates.line(since), tau - since
        return tau, (c**k * z + s * powers(c, k)).upper().min(run.diameter)
    for t in range(since, tau):
        need(t - since < LONGEST, "the distance is tracked over too many steps")
        before, z = z, updates.e(t, z).min(run.diameter)
        if alike and z == before:
            break  # z stays constant
    return tau, z


def powers(r: arb, m: int) -> arb:
    """1 + r + ... + r^(m-1)."""
    return m * arb(1).union(r**m) if (r - 1).contains(0) else (1 - r**m) / (1 - r)


def _composition(_node: Node, updates: Updates) -> arb:
    """mu^2 of composition: the sum of (s_t / sigma_t)^2 over the steps whose batches may hold the sample."""
    run = updates.run
    need(bool(run.apart == 0), "the runs must begin at one point")
    if run.constant:
        first = updates.meets if isinstance(updates.meets, int) else 0
        period = 1 if updates.meets == "every" else run.epoch
        return (run.moved(0) / run.sigma[0]) ** 2 * len(range(first, run.steps, period))
    need(run.steps <= 20 * LONGEST, "the schedule has too many steps")
    return sum(((run.moved(t) / run.sigma[t]) ** 2 for t in range(run.steps) if updates.met(t)), arb(0))


def _path(node: Node, updates: Updates) -> arb:
    """mu^2 of a path with listed shifts a_t: the sum of a_t^2 / sigma_t^2 (docs/proofs/shift_program.md)."""
    return follow(node["shifts"], updates, *start(node, updates), lambda t: updates.run.sigma[t] ** 2)


def follow(rows: Any, updates: Updates, tau: int, z: arb, variance: Callable[[int], arb]) -> arb:
    """Sum of a_t^2 / variance(t), z_{t+1} = max(e_t(z_t) - a_t, 0); the last a_t is e_t(z_t), for z_T = 0."""
    last, total = updates.run.steps - 1, arb(0)
    shifts = _Rows(rows, last - tau)
    need(last - tau < 20 * LONGEST, "the path has too many steps")
    for t in range(tau, last):
        a = shifts[t - tau]
        z, total = (updates.e(t, z) - a).upper().max(arb(0)), total + a**2 / variance(t)
    return total + updates.e(last, z) ** 2 / variance(last)


def _straight(node: Node, updates: Updates) -> arb:
    """mu^2 of the best path over each stretch of m equal steps e(z) = c z + s from z to z' (in ``ends``).

    The last z' is 0. A stretch hides A = c^m z + s (1 + c + ... + c^(m-1)) - z' at the cost A^2 / (sigma^2
    S), with S = 1 + c^2 + ... + c^(2m-2). The path is feasible if A >= 0 and, unless c <= 1, the last shift A
    / S is at least s. See docs/proofs/affine_windows.md.
    """
    need(updates.meets in ("every", "none"), "the sample must be in every batch or in none")
    run, (tau, z), total = updates.run, start(node, updates), arb(0)
    for (t, end), after in zip(run.stretches(tau), [*map(_number, node["ends"]), arb(0)], strict=True):
        (c, s), m = updates.line(t), end - t
        A, S = c**m * z + s * powers(c, m) - after, powers(c * c, m)
        need(bool(A >= 0) and (bool(c <= 1) or bool(s <= A / S)), "the shifts exceed the distance")
        total, z = total + A**2 / S / run.sigma[t] ** 2, after
    return total


def _cost(node: Node, updates: Updates) -> arb:
    paths = {"composition": _composition, "path": _path, "straight": _straight}
    return stated(node, "cost", paths[node["rule"]](node, updates))


def _gaussian(node: Node, run: _Run, loss: _Loss) -> tuple[arb, arb]:
    """mu^2 of the last iterates, and the probability that this bound fails."""
    rule, never = node["rule"], arb(0)
    if rule == "positions":  # docs/proofs/cyclic.md: if steps are equal, a sample in the last batch costs most
        last = (run.steps - 1) % run.epoch
        count = 1 if run.constant and len(node["of"]) == 1 else min(run.epoch, run.steps)
        need(
            run.scheme == "cyclic" and len(node["of"]) == count,
            "positions need cyclic batches and a bound for each",
        )
        places = [last] if count == 1 else range(count)
        each = [
            _at(f"of.{p}", _cost, one, Updates(run, loss, p)) for p, one in zip(places, node["of"], strict=True)
        ]
        return reduce(arb.max, each), never
    if (
        rule == "late order"
    ):  # docs/proofs/shuffled.md: affine steps with c <= 1 cost most if participations are late
        need(
            run.scheme == "shuffled" and run.constant, "a late order needs shuffled batches and constant steps"
        )
        if node["of"]["rule"] != "composition":  # composition costs the same in every order
            contract = all(Updates(run, loss, meets).line(0)[0] <= 1 for meets in ("every", "none"))
            need(contract, "a late order needs updates that do not expand")
        return _at("of", _cost, node["of"], Updates(run, loss, "late")), never
    if rule == "worst batches":  # for fixed batches, a shift program; the largest expansion covers all batches
        need(run.random or run.scheme == "shuffled", "worst batches need random or shuffled batches")
        sizes, chance = leaving(node, node["of"], run)
        return _at("of", _cost, node["of"], Updates(run, loss, "every", sizes)), chance
    need(run.scheme == "full", f"rule {rule!r:.80} gives no mu for these batches")
    return _cost(node, Updates(run, loss, "every")), never


def _tail(n: int, q: arb, k: int) -> arb:
    """Upper bound P(X = k) / (1 - r) on P(X >= k), X ~ Binomial(n, q).

    The ratio r = P(X = k + 1) / P(X = k) decreases as k grows.
    """
    if k <= 0 or k > n:
        return arb(1 if k <= 0 else 0)
    ratio = arb(n - k) / (k + 1) * q / (1 - q)
    return arb(n).bin(k) * q**k * (1 - q) ** (n - k) / (1 - ratio) if ratio < 1 else arb(1)


def leaving(node: Node, window: Node, run: _Run) -> tuple[tuple[int, int] | None, arb]:
    """Range of sizes of Poisson batches without the sample, and probability of leaving it from step ``since`` on."""
    if run.scheme != "poisson":
        return None, arb(0)
    others, sizes = run.n - 1, node["sizes"]
    low, high = whole(sizes["low"]), whole(sizes["high"], sizes["low"], others)
    one = _tail(others, run.rate, high + 1) + _tail(others, 1 - run.rate, others - low + 1)
    return (low, high), stated(node, "chance", (run.steps - whole(window.get("since", 0), 0, run.steps)) * one)


def _above(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


@lru_cache(maxsize=256)
def _renyi(b: int, n: int, multiplier: arb, alpha: arb, replace: bool, bits: int) -> arb:
    """Upper bound on the Renyi divergence of one sampled step, in both directions.

    ``multiplier`` is the noise divided by the sensitivity. With g = 1 / multiplier, r(x) = 1 - q + q e^(g x -
    g^2/2) and M(p, a) = int_a^inf phi(x) r(x)^p dx, the divergence D has e^((alpha-1) D) =
    replace      1 + M(alpha, g/2) + M(1 - alpha, g/2) - M(1, g/2) - M(0, g/2);
    add, remove  max(M(alpha, -inf), M(1 - alpha, -inf)); M(alpha, -inf) is for the law with the sample on top.
    """
    g, rate = 1 / multiplier, arb(b) / n
    grown = (alpha * (alpha - 1) * g * g / 2).exp()

    def moment(p: arb, a: arb | None) -> arb:
        """M(p, a), by quadrature in ball arithmetic and bounds on the tails."""

        def integrand(x: acb, analytic: bool) -> acb:
            u = g * x - g * g / 2
            if u.real.mid() < 1:
                return (p * (1 + rate * u.expm1()).log(analytic=analytic) - x * x / 2).exp()
            # The same integrand, with p u - x^2/2 = p (p-1) g^2/2 - (x - p g)^2/2: wide balls give a tighter result.
            rest = p * (rate + (1 - rate) * (-u).exp()).log(analytic=analytic)
            return (rest - (x - p * g) ** 2 / 2 + p * (p - 1) * g * g / 2).exp()

        width = arb(2 * bits).sqrt() + 2
        low, high = (-width).mid() if a is None else a.lower(), (alpha * g + width).mid()
        size = arb(2) ** -bits * (rate * grown + 1 if p > 1 else (1 - rate) ** p)
        found = acb.integral(integrand, low, high, rel_tol=arb(2) ** -bits, abs_tol=size, eval_limit=10**5).real
        found /= (2 * arb.pi()).sqrt()
        # Above: r^p <= 1 - q + q e^(p u) for p > 1, because x^p is convex; r^p <= 1 for p < 0. Below: 1 - q <= r <= 1.
        found += (1 - rate) * _above(high) + rate * grown * _above(high - alpha * g) if p > 1 else _above(high)
        return found + (_above(width) * (1 if p > 1 else (1 - rate) ** p) if a is None else 0)

    if replace:
        known = _above(g / 2) + (1 - rate) * _above(g / 2) + rate * _above(-g / 2)
        total = 1 + moment(alpha, g / 2) + moment(1 - alpha, g / 2) - known
    else:
        total = moment(alpha, None).max(moment(1 - alpha, None))
    return total.log() / (alpha - 1)


def price(node: Node, run: _Run, alpha: arb) -> arb:
    """Stated divergence of a step, refused if less than the divergence of the sampled step."""
    multiplier = _number(node["multiplier"])
    found = alpha / (2 * multiplier**2)
    if not found <= _number(node["rdp"]) and run.rate < 1:
        found = _renyi(run.b, run.n, multiplier, alpha, run.scheme != "poisson", 200)
    return stated(node, "rdp", found)


def blocks(node: Node, run: _Run, loss: _Loss, tau: int) -> tuple[int, arb, arb, arb]:
    """Width w and contraction C of blocks of steps, a distance at tau, and the probability that these fail.

    See docs/proofs/poisson.md, "Blocks of strongly convex steps". If each batch has at most k samples, the
    batches of a block have at least S together, and eta k (L + m) / b <= 2, then C = (1 - eta m S / (b w))^w,
    applied at the block's last step. If all blocks from the beginning are tracked, the distance between the
    runs is at most w s / (1 - C) at the start of a block; j blocks after a distance D, it is at most w s / (1
    - C) + C^j D.
    """
    w, most = whole(node["width"], 2), whole(node["largest"], 0, run.n - 1)
    least, before = whole(node["sum"], 0, w * most), whole(node["before"])
    length, rest = divmod(run.steps - tau, w)
    part, h = max(loss.each, key=lambda one: float(one.m)), run.eta[0] / run.b  # the listed classes all hold
    affine = bool(part.m > 0) and len(run.eta.values) == 1
    need(length <= 20 * LONGEST, "the window has too many blocks")
    need(
        affine and rest == 0 and run.scheme == "poisson",
        "blocks need Poisson batches, a constant step size and strong convexity, and must fit the window",
    )
    C = (1 - h * part.m * least / w) ** w
    need(
        bool(h * most * (part.L + part.m) <= 2) and bool(C < 1),
        "blocks must contract for every allowed batch",
    )
    z = w * run.moved(0) / (1 - C) if before else run.diameter
    known = -(-tau // w)  # number of blocks before tau, the first one possibly cut
    if 0 < before < known:
        z += C**before * run.diameter
    need(bool(z.is_finite()), "nothing bounds the distance between the runs")
    each = w * _tail(run.n - 1, run.rate, most + 1) + _tail(
        w * (run.n - 1), 1 - run.rate, w * (run.n - 1) - least + 1
    )
    return w, C, z, stated(node, "chance", (min(before, known) + length) * each)


def _window(node: Node, run: _Run, loss: _Loss) -> tuple[list[int], arb, arb]:
    """Number of steps per listed multiplier, mu^2 of one further Gaussian, and the probability that these fail.

    The composition of the steps and the Gaussian dominates the last iterates in both directions
    (docs/proofs/poisson.md, without_replacement.md). The part (multiplier_t s_t)^2 of the variance of step t
    hides the change of the data; the rest v_t hides a shift a_t. Then mu^2 = sum of a_t^2 / v_t with z_{t+1}
    = max(e_t(z_t) - a_t, 0), where e_t is the expansion of two copies of one run with equal batches. If
    e_t(z) = c_t z, the best shifts cost (C z)^2 / S, where C is the product of all c_t, and S sums v_t times
    the squares of all later c.
    """
    need(run.random and node["rule"] == "window", "the bound needs a window of random batches")
    width, contraction = 1, arb(1)
    if "blocks" in node:
        tau, copies = whole(node["start"], 0, run.steps - 1), Updates(run, loss, "none", (0, run.n - 1))
        width, contraction, z, chance = _at("blocks", blocks, node["blocks"], run, loss, tau)
    else:
        sizes, chance = leaving(node, node, run)
        copies = Updates(run, loss, "none", sizes)
        tau, z = start(node, Updates(run, loss, "every", sizes))
    listed = [_number(one["multiplier"]) for one in node["prices"]]
    kinds = _Rows(node["kinds"], run.steps - tau, lambda kind: listed[whole(*kind)])

    def left(t: int) -> arb:
        """v_t."""
        return run.sigma[t] ** 2 - (kinds[t - tau] * run.moved(t)) ** 2

    inner = {t - 1 for t in range(tau + width, run.steps + 1, width)} if width > 1 else set[int]()
    stops = {*(tau + end for end in kinds.ends), *inner, *(t + 1 for t in inner)}.union(*run.stretches(tau))
    need(all(left(t) >= 0 for t in stops - {run.steps}), "a multiplier needs more noise than a step has")
    if node["shifts"] == "proportional":
        C, S = arb(1), arb(0)
        for t, end in pairwise(sorted(stops)):
            c = copies.line(t)[0] if width == 1 and z > 0 else contraction if t in inner else arb(1)
            grown = c ** (end - t)
            C, S = C * grown, S * grown**2 + left(t) * powers(c * c, end - t)
        spent = arb(0) if z == 0 else (C * z) ** 2 / S
    else:
        need(width == 1, "blocks need proportional shifts")
        spent = follow(node["shifts"], copies, tau, z, left)
    counts = [sum(count for kind, count in node["kinds"] if kind == k) for k in range(len(listed))]
    return counts, stated(node, "cost", spent), chance


def rdp(node: Node, run: _Run, loss: _Loss, alpha: arb) -> tuple[arb, arb]:
    """Epsilon of (alpha, epsilon)-RDP, and the probability that this bound fails."""
    rule, never = node["rule"], arb(0)
    if rule == "gaussian":
        squared, chance = _at("of", _gaussian, node["of"], run, loss)
        return stated(node, "rdp", alpha / 2 * squared), chance
    if rule == "window":
        counts, squared, chance = _window(node, run, loss)
        prices = [_at(f"prices.{i}", price, one, run, alpha) for i, one in enumerate(node["prices"])]
        total = sum((n * one for n, one in zip(counts, prices, strict=True)), alpha / 2 * squared)
        return stated(node, "rdp", total), chance
    if rule == "moments":
        return stated(node, "rdp", _moments(node, run, loss, alpha)), never
    need(rule == "ranges", f"rule {rule!r:.80} gives no Renyi divergence")
    # docs/proofs/poisson.md, "A chain of ranges": G_0 fails with probability p_0, G_1 with p_1, ..., the last never.
    terms = [_at(f"of.{i}", rdp, one, run, loss, alpha) for i, one in enumerate(node["of"])]
    need(bool(terms[-1][1] == 0), "the last bound must hold with probability 1")
    least, chance = terms[0]
    total = 1 - chance.min(arb(1))
    for value, fails in terms[1:]:
        total += chance * ((alpha - 1) * (value.max(least) - least)).exp()
        chance = fails
    return stated(node, "rdp", least + total.log() / (alpha - 1)), never


def profile(side: str, q: arb, g: arb, t: arb) -> arb:
    """E_t of a step that the sample moves by g standard deviations of the noise with probability q.

    "remove": the run with the sample over the run without it; "add": the reverse; "replace": two runs with
    different samples. If q = 1, the step is a Gaussian. See docs/proofs/privacy_loss.md.
    """
    if side == "add" or (side == "replace" and t < 1):
        return 1 - t + t * profile("remove" if side == "add" else side, q, g, 1 / t)
    x = 1 + (t - 1) / q
    return 1 - t if x <= 0 else q * gaussians(g, x)


def chords(nodes: list[int], spacing: arb, bits: int, step: tuple[str, arb, arb]) -> Law:
    """Law whose profile is linear between (0, 1) and a step's values at nodes; docs/proofs/privacy_loss.md."""
    t = [arb(0)] + [(spacing * whole(k, -(2**22), 2**22)).exp() for k in nodes]
    f = [arb(1)] + [profile(*step, one) for one in t[1:]]
    slopes = [(w - v) / (y - x) for (x, v), (y, w) in pairwise(zip(t, f, strict=True))] + [arb(0)]
    masses = [x * (after - before) for x, (before, after) in zip(t[1:], pairwise(slopes), strict=True)] + [
        f[-1]
    ]
    need(all(mass <= 2 for mass in masses), "a chord may not have a mass above 2")
    up = [max(int((mass * arb(2) ** bits).upper().ceil().fmpz()), 0) for mass in masses]
    need(all(k < after for k, after in pairwise(nodes)), "nodes must increase")
    known = dict(zip(nodes, up, strict=False))
    return nodes[0], [known.get(k, 0) for k in range(nodes[0], nodes[-1] + 1)], up[-1]


def added(one: Law, other: Law, bits: int, trim: int) -> Law:
    """Law of the sum of two losses, rounded up; at each end, a mass of at most ``trim`` moves up."""
    (first, x, lost), (second, y, gone) = one, other
    need(len(x) + len(y) <= WIDEST, "a law of privacy losses is too wide")
    masses = [-(-int(mass) >> bits) for mass in fmpz_poly(x) * fmpz_poly(y)]
    low = bisect_right(list(accumulate(masses)), trim)
    high = len(masses) - bisect_right(list(accumulate(masses[::-1])), trim)
    infinite = -(-(lost * (sum(y) + gone) + gone * (sum(x) + lost)) >> bits) + sum(masses[high:])
    need(sum(masses) + infinite <= 2 << bits, "the law of a sum of privacy losses may not have a mass above 2")
    return first + second + low, [sum(masses[: low + 1]), *masses[low + 1 : high]], infinite


class _Pair:
    """Laws P, Q with masses p, q at ratios dP/dQ = e^(h k), k increasing; ``only``: masses of P or Q alone."""

    def __init__(self, h: arb, k: list[int], p: Costs, q: Costs, only: Costs) -> None:
        self.h, self.k, self.p, self.q, self.only = h, k, p, q, only
        self.ratios = [(h * one).exp() for one in k]
        self.above = beyond(self.ratios[::-1], q[::-1], only[0])[::-1]
        self.below = beyond([1 / one for one in self.ratios], p, only[1])
        self.vertices = [excess for excess, _ in self.above[len(k) // 2 :]]

    def at(self, t: arb) -> arb:
        """E_t of P and Q."""
        return sum(((p - t * q).max(arb(0)) for p, q in zip(self.p, self.q, strict=True)), self.only[0])

    def after(
        self, k: int, ends: tuple[int, int], near: Callable[[int], arb], far: Callable[[arb], arb]
    ) -> arb:
        """int u N(g v/u) + A F(g B/A) at g = e^(h k) for u = min(p, g1 q), v = min(q, p/g0).

        A and B are the masses of p - u and q - v. ``ends`` are the places of the ratios g0 and g1, counted
        from 1. Place 0 means v = q and B = 0; a place after the last one means u = p and A = 0.
        """
        low, high, size = whole(ends[0], 0, len(self.k)), whole(ends[1], max(ends[0], 1)), len(self.k)
        total = sum((self.p[j] * near(k - self.k[j]) for j in range(max(low - 1, 0), min(high, size))), arb(0))
        B, P = self.below[low - 1] if low else (arb(0), arb(0))
        total += P * near(k - self.k[max(low - 1, 0)])
        if high > size:
            return total + self.only[0]
        A, Q = self.above[high - 1]
        total += Q * self.ratios[high - 1] * near(k - self.k[high - 1])
        return total if A == 0 else total + A * far((self.h * k).exp() * B / A)


def beyond(ratios: Costs, masses: Costs, only: arb) -> list[tuple[arb, arb]]:
    """Masses of P - l Q and of Q at ratios above l, for decreasing l; for 1/l, masses of Q - P/l and of P."""
    found, excess, mass, last = list[tuple[arb, arb]](), only, arb(0), arb(0)
    for ratio, one in zip(ratios, masses, strict=True):
        excess += mass * (last - ratio)
        found.append((excess, mass))
        mass, last = mass + one, ratio
    return found


def tabled(node: Node, h: arb) -> tuple[list[int], _Pair]:
    """Numbers k of vertices e^(h k) >= 1, and two mirrored laws whose profile is linear between vertices.

    The node lists the masses of Q at vertices above 1, then the mass of P alone; the rest of the mass is at
    1.
    """
    k = [0, *(whole(one, 1) for one in node["nodes"])]
    need(all(one < after for one, after in pairwise(k)), "nodes must increase")
    *q, only = map(_number, node["masses"])
    p = [mass * (h * one).exp() for mass, one in zip(q, k[1:], strict=True)]
    rest = 1 - sum(q, sum(p, only))
    need(bool(rest >= 0), "masses exceed 1")
    p, q = [*q[::-1], rest, *p], [*p[::-1], rest, *q]
    return k, _Pair(h, [-one for one in k[:0:-1]] + k, p, q, [only, only])


@lru_cache(maxsize=1 << 16)
def theta(mu: arb, h: arb, k: int) -> arb:
    """E_g of N(mu, 1) and N(0, 1) at g = e^(h k)."""
    return gaussians(mu, (h * k).exp())


def gaussians(mu: arb, t: arb) -> arb:
    """E_t of N(mu, 1) and N(0, 1)."""
    return arb(1) if t == 0 else _above(t.log() / mu - mu / 2) - t * _above(t.log() / mu + mu / 2)


def _contract(node: Node, run: _Run, loss: _Loss) -> _Pair:
    """Laws whose profile bounds that of the last iterates in both directions; see docs/proofs/contraction.md.

    The blocks are the last steps of the run. The first table Y_0 bounds N of its block if the block begins the
    run, and F otherwise (see `_contracted`); each later Y_i bounds Y_(i-1) carried through block i. If all
    steps are equal, the blocks may repeat: the last table Y holds after any number of rounds if Y is at least
    the near profile N of the steps left over before the first whole round. If the sample is met earlier in an
    epoch, both runs end with the same kernel and have fewer steps before it; from equal points these steps
    reach N <= F of a block, and no later Y is smaller.
    """
    need(node["rule"] == "contract", "the bound needs a table of contraction")
    h, stages, goes = _number(node["spacing"]), node["blocks"], node["round"] is True
    each = [whole(one["steps"], 1, run.steps) * whole(one["times"], 1, LONGEST) for one in stages]
    total, (k, last) = sum(each), tabled(stages[-1]["table"], h)
    need(
        run.scheme == "full" or (run.scheme == "cyclic" and run.constant),
        "a table needs full batches, or cyclic ones with constant steps",
    )
    if goes:
        need(run.constant and total % run.epoch == 0, "rounds need constant steps and whole epochs")
        if run.epoch == 1 and run.steps % total:
            rest = run.part(0, run.steps % total, arb(0))
            mu = _at("rest", _cost, node["rest"], Updates(rest, loss, "every")).sqrt().upper()
            need(
                all(theta(mu, h, one) <= Y for one, Y in zip(k, last.vertices, strict=True)),
                "rest exceeds the table",
            )
    need(goes or total <= run.steps, "the blocks may not have more steps than the run")
    before, first = last if goes else None, 0 if goes else run.steps - total
    for i, (stage, length) in enumerate(zip(stages, each, strict=True)):
        before = _at(f"blocks.{i}", _contracted, stage, run, loss, (first, length, sum(each[i:])), before, h)
        first += length
    return last


def _contracted(
    stage: Node, run: _Run, loss: _Loss, where: tuple[int, int, int], before: _Pair | None, h: arb
) -> _Pair:
    """Table after a block, or after equal blocks without the sample, each mapping A = E_g to A F(1+(g-1)/A).

    N and F are profiles of Gaussians with the mu of a path over the block's steps, from one point and from
    any two points of the domain. The table is tested only at its vertices: between them the bound is convex
    and the table is linear.
    """
    first, length, left = where
    place, steps = (left - 1) % run.epoch, stage["steps"]
    met, begin = place < length, 0 if run.constant else first
    need(
        not met or steps == length == (steps if run.epoch == 1 else place + 1),
        "a block must end with the sample",
    )
    meets = "every" if run.epoch == 1 else place if met else "none"

    def price(which: str, apart: arb) -> arb:
        squared: arb = _at(which, _cost, stage[which], Updates(run.part(begin, steps, apart), loss, meets))
        return squared.sqrt().upper()

    far, near = price("far", run.diameter), price("near", arb(0)) if met else arb(0)
    need(bool(near <= far), "near exceeds far")

    def near_at(k: int) -> arb:
        return theta(near, h, k) if met else (1 - (h * k).exp()).max(arb(0))

    def far_at(t: arb) -> arb:
        return gaussians(far, t)

    def bound(k: int, ends: tuple[int, int]) -> arb:
        if before is None:
            return near_at(k) if first == 0 else theta(far, h, k)
        if met:
            return before.after(k, ends, near_at, far_at)
        g = (h * k).exp()
        return reduce(
            lambda A, _: A * far_at(1 + (g - 1) / A) if A > 0 else A, range(stage["times"]), before.at(g)
        )

    nodes, after = tabled(stage["table"], h)
    kinks = [arb(1), *after.q[len(nodes) :]]
    for k, ends, Y, kink in zip(nodes, stage["thresholds"] or nodes, after.vertices, kinks, strict=True):
        need(
            bool(kink == 0) or bool(bound(k, ends) <= Y), f"the bound exceeds the table at e^({_shown(h * k)})"
        )
    return after


def from_losses(node: Node, run: _Run, loss: _Loss, epsilon: arb, delta: arb) -> None:
    """Refuse unless the sum of mass times 1 - e^(epsilon - l) over losses l > epsilon is at most delta."""
    counts, squared, chance = _at("of", _window, node["of"], run, loss)
    bits, trim = whole(node["bits"], 1, 4096), whole(node["trim"], 0, 2**4096)
    listed = zip(node["of"]["prices"], counts, strict=True)
    steps = [(run.rate, 1 / _number(one["multiplier"]), count) for one, count in listed]
    steps += [(arb(1), squared.sqrt(), 1)] if squared > 0 else []
    sides = ("remove", "add") if run.scheme == "poisson" else ("replace",)
    for side, lattice in zip(sides, node["lattices"], strict=True):
        total, spacing, rest = (0, [2**bits], 0), _number(lattice["spacing"]), arb(0)
        ratio = (-spacing).exp()
        for (q, g, count), nodes in zip(steps, lattice["nodes"], strict=True):
            one = many = chords(nodes, spacing, bits, (side, q, g))
            for digit in bin(count)[3:]:
                many = added(many, many, bits, trim)
                many = added(many, one, bits, trim) if digit == "1" else many
            total = added(total, many, bits, trim)
        first = max(int((epsilon / spacing).floor().fmpz()) + 1, total[0])
        masses = total[1][first - total[0] :]
        for mass in masses[::-1]:  # rest = sum of mass e^(l_0 - l)
            rest = rest * ratio + mass
        over = sum(masses) - (epsilon - spacing * first).exp() * rest + total[2]
        need(bool(over / arb(2) ** bits <= delta - chance), f"the sum over losses exceeds delta, side {side}")


def from_gdp(node: Node, run: _Run, loss: _Loss, epsilon: arb, delta: arb) -> None:
    """Refuse unless mu-GDP, except with probability p, implies (epsilon, delta)-DP.

    The condition is Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) + p <= delta.
    """
    squared, chance = _at("of", _gaussian, node["of"], run, loss)
    with ctx.workprec(32 * BITS):  # the two terms nearly cancel
        found = arb(0) if squared == 0 else profile("remove", arb(1), squared.sqrt(), epsilon.exp())
    need(bool(found + chance <= delta), "the hockey stick of the Gaussian exceeds delta at this epsilon")


def from_table(node: Node, run: _Run, loss: _Loss, epsilon: arb, delta: arb) -> None:
    """Refuse unless E_g of the table is at most delta at g = e^epsilon."""
    need(
        bool(_at("of", _contract, node["of"], run, loss).at(epsilon.exp()) <= delta),
        "the table exceeds delta at e^epsilon",
    )


def _moments(node: Node, run: _Run, loss: _Loss, alpha: arb) -> arb:
    """Renyi divergence D of a table: e^((alpha-1) D) is the integral of alpha (alpha-1) g^(alpha-2) E_g.

    Up to G, the integral uses the table, where an atom at l gives l^alpha. Above G, the divergence D of order
    b > alpha gives E_g <= e^((b-1) D) (b-1)^(b-1) b^-b g^(1-b).
    """
    law, b, cut = _at("of", _contract, node["of"], run, loss), _number(node["order"]), whole(node["cut"])
    known, chance = _at("tail", rdp, node["tail"], run, loss, b)
    need(bool(b > alpha) and bool(chance == 0), "order must exceed the claim's, and the tail must be certain")
    G, (excess, mass) = law.ratios[cut], law.above[cut]
    total = sum((q * ratio**alpha for q, ratio in zip(law.q[:cut], law.ratios, strict=False)), arb(0))
    total += (mass + law.q[cut]) * G**alpha + alpha * G ** (alpha - 1) * excess
    tail = ((b - 1) * (known + (b - 1).log()) - b * b.log()).exp() * G ** (alpha - b)
    found: arb = (total + alpha * (alpha - 1) / (b - alpha) * tail).log() / (alpha - 1)
    return found


def from_rdp(node: Node, run: _Run, loss: _Loss, epsilon: arb, delta: arb) -> None:
    """(alpha, rho)-RDP is (epsilon, delta)-DP if F(p) >= e^((alpha-1) rho) for all p in (delta, 1].

    F(p) = p^alpha r^(1-alpha) + (1-p)^alpha (1-r)^(1-alpha), r = (p - delta) e^-epsilon, is convex. So F lies
    above its tangent at any p: F >= F(p) - F'(p) (p - delta) if F'(p) >= 0, and F >= F(1) if F'(1) <= 0. If
    the second term of F is dropped, the condition is epsilon >= rho + log(1 - 1/alpha) - (log delta + log
    alpha) / (alpha - 1).
    """
    alpha = _number(node["order"])
    rho, chance = _at("of", rdp, node["of"], run, loss, alpha)
    need(bool(alpha > 1) and bool(chance == 0), "order must be above 1, and the bound must be certain")
    if node["tangent"] is None:
        usual = rho + (1 - 1 / alpha).log() - (delta.log() + alpha.log()) / (alpha - 1)
        return need(bool(usual <= epsilon), "the usual conversion exceeds epsilon")
    p, turn = _number(node["tangent"]), (-epsilon).exp()
    need(bool(p > delta) and bool(p <= 1), "the tangent needs a point in (delta, 1]")
    value = slope = arb(0)
    for x, y, sign in ((p, (p - delta) * turn, 1), (1 - p, 1 - (p - delta) * turn, -1)):
        if x > 0:  # x^alpha y^(1-alpha) and its derivative
            value += x * (x / y) ** (alpha - 1)
            slope += sign * (x / y) ** (alpha - 1) * (alpha - (alpha - 1) * turn * x / y)
    need(bool(slope >= 0) or bool(p == 1), "the tangent may not decrease")
    value -= slope.max(arb(0)) * (p - delta)
    return need(bool(value >= ((alpha - 1) * rho).exp()), "the tangent is below e^((alpha-1) rho)")


CONVERSIONS = {"from gdp": from_gdp, "from rdp": from_rdp, "from losses": from_losses, "from table": from_table}


def accepted(certificate: Any) -> str:
    """Check a certificate and return what it proves, in words; raises `Refused`."""
    with ctx.workprec(BITS):
        return str(_at("certificate", _claimed, certificate))


def _claimed(top: Node) -> str:
    """The claim in words, refused if the proof gives a larger value."""
    need(top["format"] == FORMAT, f"format must be {FORMAT!r}")
    top.get("hypotheses")  # words for readers
    run, loss = _at("run", _Run, top["run"]), _at("class", _Loss, top["class"])
    claim, proof = top["claim"], top["proof"]
    quantity, value = claim["quantity"], _number(claim["value"])
    last = f"the last iterate on {loss} losses after {run},"
    if quantity == "dp":
        delta = _number(claim["at"])
        need(bool(delta > 0) and bool(delta < 1), "claim: at needs a delta in (0, 1)")
        _at("proof", CONVERSIONS[proof["rule"]], proof, run, loss, value, delta)
        return f"{last} is ({_shown(value)}, {_shown(delta)})-DP"
    need(quantity in ("gdp", "rdp"), "claim: quantity must be gdp, rdp or dp")
    order = [] if quantity == "gdp" else [_number(claim["at"])]
    need(all(alpha > 1 for alpha in order), "claim: at needs an order above 1")
    found, chance = _at("proof", rdp if order else _gaussian, proof, run, loss, *order)
    need(bool(chance == 0), "the bound must hold with probability 1")
    _at("claim", stated, claim, "value", found if order else found.sqrt())
    said = f"({_shown(*order)}, {_shown(value)})-RDP" if order else f"mu-GDP with mu = {_shown(value)}"
    return f"{last} is {said}"


def check(text: str) -> str:
    """Like `accepted`, from the text of a file; refused if it was altered or has a key that no rule reads."""
    top = _at("file", lambda: json.loads(text, object_pairs_hook=unbroken))
    said = accepted(top)
    _at("file", all_read, top, "certificate")
    return said


if __name__ == "__main__":
    try:
        sys.stdout.write(f"holds: {check(_at('file', lambda: Path(sys.argv[1]).read_text('utf-8')))}\n")
    except Refused as refused:
        sys.stdout.write(f"refused: {refused}\n")
        sys.exit(1)
