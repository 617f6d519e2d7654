"""Independent checker of privacy certificates: this file, python-flint, and nothing else.

    python checker.py CERTIFICATE.json

A certificate speaks of noisy SGD, W <- Proj[W - eta/b sum_{i in B} clip(g_i, K) + N(0, sigma^2 I)], T times, of which
the last iterate alone is released. It claims, for every loss of the class, every dimension and every two adjacent
data sets, in both directions, that the last iterate is mu-GDP, (alpha, epsilon)-RDP or (epsilon, delta)-DP. Besides
it holds *choices*: where a window begins, how long the shifts are, how the noise is shared. Every choice is free:
each rule below computes what follows from its choices in ball arithmetic, and a number that is stated must be at
least that. The proofs of the rules are the pages docs/proofs/ of the package lastiterate, which are named beside
them.

Numbers: [m, e] is m 2^e, exactly; "p/q" is a fraction; a list of runs has rows [m, e, k] or ["p/q", k], k times in a
row.
"""

import hashlib
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from flint import acb, arb, ctx, fmpq

FORMAT = "lastiterate certificate 1"
BITS = 320
LONGEST = 10**5
"""Steps that are followed one by one."""

Node = dict[str, Any]


class Refused(Exception):  # noqa: N818
    """A certificate that does not hold; the text says where and why."""


def need(holds: bool, why: str) -> None:
    """Refuse unless a condition holds for certain."""
    if not holds:
        raise Refused(why)


def at(where: str, rule: Callable[..., Any], *arguments: Any) -> Any:
    """Apply a rule; a refusal names the way to it."""
    try:
        return rule(*arguments)
    except Refused as refused:
        raise Refused(f"{where}: {refused}") from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Refused(f"{where}: {type(error).__name__} {error}") from None


def whole(value: Any, least: int = 0, most: int = 10**18) -> int:
    """A whole number."""
    need(type(value) is int and least <= value <= most, f"{value!r} is no whole number in [{least}, {most}]")
    return int(value)


def number(value: Any) -> arb:
    """[m, e] as m 2^e >= 0, exactly."""
    m, e = value
    return arb((whole(m, 0, 2**512), whole(e, -20_000, 20_000)))


def fraction(value: Any) -> arb:
    """The text "p/q" above 0, to 320 bits."""
    need(isinstance(value, str) and re.fullmatch("[0-9]{1,999}(/[0-9]{1,999})?", value) is not None, "no fraction")
    need(Fraction(value) > 0, f"{value} is not above 0")
    return ball(Fraction(value))


def ball(value: Fraction) -> arb:
    """The fraction, enclosed."""
    return arb(fmpq(value.numerator, value.denominator))


def shown(value: arb) -> str:
    """A number for readers: a float where it is one exactly, else an enclosure."""
    return repr(float(value)) if value == float(value) else str(value.str(20, radius=True))


def stated(node: Node, key: str, computed: arb) -> arb:
    """The number that a node states, which must be at least what its rule gives."""
    found = number(node[key])
    need(bool(computed <= found), f"{key} is {float(found)!r}, but its rule gives {computed.str(20)}")
    return found


def digest(value: Node) -> str:
    """The digest of an object: of its canonical text, which holds the digests of the objects in it."""
    rest = {key: one for key, one in value.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def unbroken(value: Any, where: str) -> None:
    """Refuse what was altered by accident, at the innermost object that holds it."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        unbroken(one, f"{where}.{key}")
    if isinstance(value, dict):
        need(value.get("digest") == digest(value), f"{where}: it was altered, its digest is another")


class Schedule:
    """One number a step, from rows ["p/q", count]."""

    def __init__(self, rows: Any, steps: int) -> None:
        self.values = [fraction(value) for value, _ in rows]
        self.ends = list(accumulate(whole(count, 1) for _, count in rows))
        need(self.ends[-1] == steps, "a schedule needs one number for every step")

    def __getitem__(self, t: int) -> arb:
        return self.values[bisect_right(self.ends, t)]

    def __str__(self) -> str:
        return shown(self.values[0]) if len(self.values) == 1 else f"in {len(self.values)} rows"


class Run:
    """The run that is described."""

    def __init__(self, node: Node) -> None:
        self.steps, self.n = whole(node["steps"], 1), whole(node["dataset_size"], 1)
        self.b, self.scheme = whole(node["batch_size"], 1, self.n), node["scheme"]
        self.eta, self.sigma = (Schedule(node[key], self.steps) for key in ("step_size", "noise_std"))
        self.clip = fraction(node["clip_norm"])
        self.diameter = arb("inf") if node["diameter"] is None else fraction(node["diameter"])
        need(self.scheme in ("full", "cyclic", "shuffled", "without_replacement", "poisson"), "scheme is not known")
        need(self.scheme != "full" or self.b == self.n, "full batches hold all samples")
        need(self.scheme not in ("cyclic", "shuffled") or self.n % self.b == 0, "batches need to divide an epoch")
        related = "add_remove" if self.scheme == "poisson" else "replace"
        need(node["adjacency"] == related, f"adjacency needs to be {related}")
        self.epoch = self.n // self.b
        self.random = self.scheme in ("without_replacement", "poisson")
        self.rate = Fraction(self.b, self.n)
        self.constant = len(self.eta.values) == len(self.sigma.values) == 1

    def __str__(self) -> str:
        around = "" if self.diameter == arb("inf") else f", projected to diameter {shown(self.diameter)}"
        return (
            f"{self.steps} steps of size {self.eta}, noise {self.sigma}, clip norm {shown(self.clip)}{around}, "
            f"{self.scheme} batches of {self.b} of {self.n}"
        )

    def moved(self, t: int) -> arb:
        """s_t, how far one sample moves an update: 2 eta K / b where it is replaced, eta K / b where it is left out."""
        return self.eta[t] * self.clip / self.b * (1 if self.scheme == "poisson" else 2)

    def stretches(self, tau: int) -> Iterator[tuple[int, int]]:
        """(first, end) of the stretches of equal steps from tau on."""
        return pairwise(sorted({tau, *(end for end in (*self.eta.ends, *self.sigma.ends) if end > tau)}))


class Loss:
    """The class of losses; convex ones are L-smooth and K-Lipschitz, so that clipping never acts on them."""

    def __init__(self, node: Node) -> None:
        self.name = node["name"]
        self.L, self.m, self.lam, self.parts, self.table = arb(0), arb(0), arb(1), list[Loss](), []
        letters = {"smooth": "L", "convex": "L", "holder": ("L", "lam"), "strongly_convex": "Lm", "clipped": ""}
        self.letters = letters.get(self.name, ())
        for letter in self.letters:
            setattr(self, letter, number(node[letter]))
        if self.name == "tabulated":
            self.table = [(number(row["distance"]), number(row["value"])) for row in node["table"]]
            need(all(x < y and v <= w for (x, v), (y, w) in pairwise(self.table)), "the table needs to rise")
        elif self.name not in letters:
            need(self.name in ("sum", "blocks", "minimum"), "class is not known")
            self.parts = [at(f"parts.{i}", Loss, one) for i, one in enumerate(node["parts"])]
            need(bool(self.parts), "parts are missing")
        self.contracts = self.name in ("convex", "strongly_convex")
        maps = any(part.contracts or part.name == "minimum" for part in self.parts)
        need(self.name == "minimum" or not maps, "a sum of moduli needs moduli")
        need(bool(self.lam > 0) and bool(self.lam <= 1) and bool(self.m <= self.L), "a constant is out of its range")

    def __str__(self) -> str:
        inside = [f"{letter} = {shown(getattr(self, letter))}" for letter in self.letters] + [*map(str, self.parts)]
        inside += [f"{shown(value)} up to {shown(distance)}" for distance, value in self.table]
        return f"{self.name} ({', '.join(inside)})" if inside else str(self.name)

    def modulus(self, z: arb) -> arb:
        """omega(z), |g(x) - g(y)| <= omega(|x - y|) for every per-sample gradient, at a point z."""
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

    @property
    def linear(self) -> arb | None:
        """L where omega(z) <= L z for every z."""
        if self.name in ("smooth", "holder"):
            return self.L if self.lam == 1 or self.L == 0 else None
        known = [part.linear for part in self.parts if part.linear is not None]
        together = self.name == "blocks" and len(known) == len(self.parts)
        return sum((v**2 for v in known), arb(0)).sqrt() if together else None


@dataclass(frozen=True)
class Updates:
    """The updates of two runs, docs/proofs/expansions.md.

    ``meets`` says which batches hold the sample that differs: "every" (it may be in any), "none", "late" (the last
    of every epoch), or its place in the epoch, from 0. ``sizes`` is the range of Poisson batches without the sample.
    """

    run: Run
    loss: Loss
    meets: str | int
    sizes: tuple[int, int] | None = None

    def met(self, t: int) -> bool:
        """Tell whether the batch of step t may hold the sample."""
        if self.meets == "late":
            return (t + 1) % self.run.epoch == 0 or t == self.run.steps - 1
        return self.meets == "every" or t % self.run.epoch == self.meets

    def e(self, t: int, z: arb) -> arb:
        """e_t(z): updates from points at most z apart end at most so far apart, z a point; rounded up."""
        found = self._expanded(self.loss, t, z, self.met(t))
        if self.meets == "every" and self.run.scheme != "full":  # it need not be in the batch
            found = found.max(self._expanded(self.loss, t, z, met=False))
        return found.upper()

    def line(self, t: int) -> tuple[arb, arb]:
        """(c, s), e_t(z) <= c z + s for every z."""
        slopes = [c for c in self._slopes(self.loss, t, self.met(t)) if c is not None]
        need(bool(slopes), "the class has no affine expansion")
        return min(slopes, key=float), self.run.moved(t) if self.met(t) else arb(0)

    def _steps(self, t: int, met: bool) -> tuple[arb, arb, arb]:
        """The weight of the samples of both runs, and the step sizes of the least and of the greatest batch."""
        eta, b = self.run.eta[t], self.run.b
        if self.sizes is None:
            return (eta * (b - 1) / b if met else eta), eta, eta
        low, high = (eta * k / b for k in self.sizes)  # a sum of k gradients over b: h = eta k / b along their mean
        return high, low, high

    def _expanded(self, loss: Loss, t: int, z: arb, met: bool) -> arb:
        weight, low, high = self._steps(t, met)
        if loss.name == "minimum":  # all parts hold
            found = arb("inf")
            for part in loss.parts:
                found = found.min(self._expanded(part, t, z, met))
            return found
        cap = 2 * self.run.clip
        if loss.contracts:  # |x - y - h (g(x) - g(y))| <= max(1 - h m, h L - 1) |x - y|, and |g| <= K
            apart = ((1 - low * loss.m).max(high * loss.L - 1) * z).min(z + high * cap)
        else:  # clipped gradients of one sample are at most min(omega, 2 K) apart
            omega = loss.modulus(z)
            apart = z + weight * (omega.min(cap) if omega.is_finite() else cap)
        return apart + self.run.moved(t) if met else apart

    def _slopes(self, loss: Loss, t: int, met: bool) -> list[arb | None]:
        weight, low, high = self._steps(t, met)
        if loss.name == "minimum":
            return [slope for part in loss.parts for slope in self._slopes(part, t, met)]
        if loss.contracts:
            return [(1 - low * loss.m).max(high * loss.L - 1)]
        return [None if loss.linear is None else 1 + weight * loss.linear]


def start(node: Node, updates: Updates, tau: int) -> arb:
    """A distance that bounds the runs at time tau.

    zero: both start at one point. domain: a projection leaves at most D. tracked: z_{t+1} = min(e_t(z_t), D), since an
    earlier time at which one of the two was known.
    """
    run, kind, left = updates.run, node["kind"], 0
    need(kind in ("zero", "domain", "tracked"), "kind is not known")
    since = whole(node["since"], 0, tau) if kind == "tracked" else tau
    zero = kind == "zero" or (kind == "tracked" and since == 0)
    need(since == 0 if zero else bool(run.diameter.is_finite()), "nothing bounds the runs here")
    z, alike = (arb(0) if zero else run.diameter), run.constant and updates.meets == "every"
    if alike and tau - since > LONGEST:  # z_k <= c^k z + s (1 + c + ... + c^(k-1))
        (c, s), left = updates.line(since), tau - since
        return (c**left * z + s * (1 + geometric(c, left - 1))).upper().min(run.diameter)
    for t in range(since, tau):
        ahead = updates.e(t, z).min(run.diameter)
        if alike and ahead <= z:
            break  # z bounds all that follows
        z, left = ahead, left + 1
        need(left <= LONGEST, "the distance is tracked for too long")
    return z


def geometric(r: arb, m: int) -> arb:
    """r + r^2 + ... + r^m."""
    return m * r.union(r**m) if (r - 1).contains(0) else r * (1 - r**m) / (1 - r)


def composition(_node: Node, updates: Updates) -> arb:
    """Every update hides its own sensitivity, a_t = e_t(0), z_t = 0: sum of (s_t / sigma_t)^2 over the participations.

    Of a shuffled epoch the dearest step counts.
    """
    run = updates.run
    late, period = updates.meets == "late", 1 if updates.meets == "every" else run.epoch
    if run.constant:
        first = updates.meets if isinstance(updates.meets, int) else 0
        return len(range(first, run.steps, period)) * (run.moved(0) / run.sigma[0]) ** 2
    need(run.steps <= 20 * LONGEST, "the schedule is too long")
    each = [(run.moved(t) / run.sigma[t]) ** 2 if late or updates.met(t) else arb(0) for t in range(run.steps)]
    if late:
        return sum((largest(each[t : t + period]) for t in range(0, run.steps, period)), arb(0))
    return sum(each, arb(0))


def largest(values: list[arb]) -> arb:
    """A number that is at least all of these."""
    found = arb(0)
    for value in values:
        found = found.max(value).upper()
    return found


def follow(rows: Any, updates: Updates, tau: int, z: arb, variance: Callable[[int], arb]) -> arb:
    """sum of a_t^2 / v_t for z_{t+1} = max(e_t(z_t) - a_t, 0), z_T = 0: the last shift is what is left to hide."""
    last, total, t = updates.run.steps - 1, arb(0), tau
    need(last - tau < LONGEST and sum(whole(k, 1) for *_, k in rows) == last - tau, "a shift is missing or too many")
    for m, e, count in rows:
        a = number([m, e])
        for _ in range(count):
            z = (updates.e(t, z) - a).upper().max(arb(0))
            total += a**2 / variance(t)
            t += 1
    return total + updates.e(last, z) ** 2 / variance(last)


def path(node: Node, updates: Updates) -> arb:
    """A path of shifts, one by one: mu^2 = sum of a_t^2 / sigma_t^2. docs/proofs/shift_program.md."""
    tau = whole(node["start"], 0, updates.run.steps - 1)
    z = at("distance", start, node["distance"], updates, tau)
    return follow(node["shifts"], updates, tau, z, lambda t: updates.run.sigma[t] ** 2)


def straight(node: Node, updates: Updates) -> arb:
    """The best path of m equal steps e(z) = c z + s: mu^2 = (s V + z)^2 / (W sigma^2). docs/proofs/affine_windows.md.

    V = c^-1 + ... + c^-m, W = c^-2 + ... + c^-2m, a_j = lam c^-j, lam = (s V + z) / W. It is feasible where c <= 1, and
    where the last shift is at least s.
    """
    run, tau = updates.run, whole(node["start"], 0, updates.run.steps - 1)
    need(run.constant and updates.meets == "every", "the steps are not all alike")
    (c, s), m = updates.line(tau), run.steps - tau
    V, W = geometric(1 / c, m), geometric(1 / c**2, m)
    lam: arb = (s * V + at("distance", start, node["distance"], updates, tau)) / W
    need(bool(c > 0) and (bool(c <= 1) or bool(lam * c**-m >= s)), "the shifts pass below 0")
    return lam**2 * W / run.sigma[0] ** 2


def cost(node: Node, updates: Updates) -> arb:
    """mu^2 of one path."""
    rules = {"composition": composition, "path": path, "straight": straight}
    need(node["rule"] in rules, f"rule {node['rule']!r} is no path")
    return stated(node, "cost", rules[node["rule"]](node, updates))


def gaussian(node: Node, run: Run, loss: Loss) -> tuple[arb, arb]:
    """mu^2 of the last iterates, and the chance of the event outside which it holds."""
    rule, never = node["rule"], arb(0)
    if rule == "last position":  # docs/proofs/cyclic.md: with constant steps the sample of the last batch costs most
        need(run.scheme == "cyclic" and run.constant, "this needs cyclic batches and constant steps")
        return at("of", cost, node["of"], Updates(run, loss, (run.steps - 1) % run.epoch)), never
    if rule == "every position":  # else each place in the epoch; a sample that is never met costs nothing
        need(run.scheme == "cyclic" and len(node["of"]) == min(run.epoch, run.steps), "a position is missing")
        places = (at(f"of.{p}", cost, one, Updates(run, loss, p)) for p, one in enumerate(node["of"]))
        return largest(list(places)), never
    if rule == "late order":  # docs/proofs/shuffled.md: affine steps with c <= 1 cost most if participations are late
        need(run.scheme == "shuffled", "this needs shuffled batches")
        if node["of"]["rule"] != "composition":
            slopes = [Updates(run, loss, meets).line(0)[0] for meets in ("every", "none")]
            need(run.constant and all(c <= 1 for c in slopes), "updates expand")
        return at("of", cost, node["of"], Updates(run, loss, "late")), never
    if rule == "worst batches":  # given the batches it is a shift program, and the largest expansion serves all
        need(run.random or run.scheme == "shuffled", "batches are fixed")
        sizes, chance = leaving(node, node["of"], run)
        return at("of", cost, node["of"], Updates(run, loss, "every", sizes)), chance
    need(run.scheme == "full", f"rule {rule!r} gives no mu for these batches")
    return cost(node, Updates(run, loss, "every")), never


def tail(n: int, q: Fraction, k: int) -> arb:
    """P(X >= k), X ~ Binomial(n, q), from above: P(X = k) / (1 - r), r = (n - k) / (k + 1) q / (1 - q) < 1.

    The ratio of successive probabilities falls, so that r bounds all that follow. docs/proofs/poisson.md, "Sizes".
    """
    if k <= 0 or k > n:
        return arb(1 if k <= 0 else 0)
    ratio = Fraction(n - k, k + 1) * q / (1 - q) if q < 1 else Fraction(1)
    if ratio >= 1:
        return arb(1)
    return arb(n).bin(k) * ball(q) ** k * ball(1 - q) ** (n - k) / (1 - ball(ratio))


def leaving(node: Node, window: Node, run: Run) -> tuple[tuple[int, int] | None, arb]:
    """The range of the sizes of Poisson batches without the sample, and the chance stated that some batch leaves it.

    Some batch of the window, or of the steps over which its first distance was tracked.
    """
    if run.scheme != "poisson":
        return None, arb(0)
    others = run.n - 1
    high = whole(node["sizes"]["high"], 0, others)
    low = whole(node["sizes"]["low"], 0, high)
    one = tail(others, run.rate, high + 1) + tail(others, 1 - run.rate, others - low + 1)
    first = window.get("start", 0)
    if first and window["distance"]["kind"] == "tracked":
        first = whole(window["distance"]["since"], 0, first)
    return (low, high), stated(node, "chance", (run.steps - first) * one)


def above(x: arb) -> arb:
    """Mass of N(0, 1) above x."""
    return (x / arb(2).sqrt()).erfc() / 2


@lru_cache(maxsize=256)
def renyi(q: Fraction, multiplier: arb, alpha: arb, replace: bool, bits: int) -> arb:
    """The Renyi divergence of one sampled step in both directions, its noise ``multiplier`` times its sensitivity.

    With g = 1 / multiplier, r(x) = 1 - q + q e^(g x - g^2/2), M(p, a) = int_a^inf phi(x) r(x)^p dx, e^((alpha-1) D) is
    replace      1 + M(alpha, g/2) + M(1 - alpha, g/2) - M(1, g/2) - M(0, g/2);
    add, remove  M(alpha, -inf), with over without, and M(1 - alpha, -inf), without over with: the larger.
    """
    g, rate = 1 / multiplier, ball(q)
    grown = (alpha * (alpha - 1) * g * g / 2).exp()

    def moment(p: arb, a: arb | None) -> arb:
        """M(p, a), by quadrature in balls, and bounds of the ends."""

        def integrand(x: acb, analytic: bool) -> acb:
            u = g * x - g * g / 2
            if u.real.mid() < 1:
                return (p * (1 + rate * u.expm1()).log(analytic=analytic) - x * x / 2).exp()
            # The same with p u - x^2/2 = p (p-1) g^2/2 - (x - p g)^2/2, so that wide balls stay tight.
            rest = p * (rate + (1 - rate) * (-u).exp()).log(analytic=analytic)
            return (rest - (x - p * g) ** 2 / 2 + p * (p - 1) * g * g / 2).exp()

        width = arb(2 * bits).sqrt() + 2
        low, high = (-width).mid() if a is None else a.lower(), (alpha * g + width).mid()
        size = arb(2) ** -bits * (rate * grown + 1 if p > 1 else (1 - rate) ** p)
        found = acb.integral(integrand, low, high, rel_tol=arb(2) ** -bits, abs_tol=size, eval_limit=10**5).real
        found /= (2 * arb.pi()).sqrt()
        # Above: r^p <= 1 - q + q e^(p u) for p > 1, as x^p is convex; r^p <= 1 for p < 0. Below: 1 - q <= r <= 1.
        found += (1 - rate) * above(high) + rate * grown * above(high - alpha * g) if p > 1 else above(high)
        return found + (above(width) * (1 if p > 1 else (1 - rate) ** p) if a is None else 0)

    if replace:
        known = above(g / 2) + (1 - rate) * above(g / 2) + rate * above(-g / 2)
        total = 1 + moment(alpha, g / 2) + moment(1 - alpha, g / 2) - known
    else:
        total = largest([moment(alpha, None), moment(1 - alpha, None)])
    return total.log() / (alpha - 1)


def price(node: Node, run: Run, alpha: arb) -> tuple[arb, arb]:
    """A multiplier and the divergence stated of its step, at least its own or that of a batch with the sample."""
    multiplier, found = number(node["multiplier"]), number(node["rdp"])
    need(bool(multiplier > 0), "a multiplier needs to be above 0")
    computed = alpha / (2 * multiplier**2)
    for bits in (100, 250):
        if not computed <= found and run.rate < 1:
            computed = renyi(run.rate, multiplier, alpha, run.scheme != "poisson", bits)
    return multiplier, stated(node, "rdp", computed)


def sampled(node: Node, run: Run, alpha: arb) -> arb:
    """Composition: every step pays for its own data with all of its noise, rounded down to a multiplier listed."""
    listed = [at(f"prices.{i}", price, one, run, alpha) for i, one in enumerate(node["prices"])]
    total = arb(0)
    for first, end in run.stretches(0):
        own = run.sigma[first] / run.moved(first)
        below = [(multiplier, rdp) for multiplier, rdp in listed if multiplier <= own]
        need(bool(below), f"no multiplier is at most that of step {first}")
        total += (end - first) * max(below, key=lambda one: float(one[0]))[1]
    return total


def blocks(node: Node, run: Run, loss: Loss, tau: int) -> tuple[int, arb, arb, arb]:
    """Width w and contraction C of blocks of steps, a distance at tau, and the chance of the event outside which.

    docs/proofs/poisson.md, "Blocks of strongly convex steps". Batches of at most k samples, eta k / b (L + m) <= 2, at
    least S in all w: C = (1 - eta m S / (b w))^w, counted at the last step of the block. Tracked over all blocks from
    the beginning the runs are within w s / (1 - C) where a block begins, and over j blocks from D within that + C^j D.
    """
    w, most = whole(node["width"], 2), whole(node["largest"], 0, run.n - 1)
    least, before = whole(node["sum"], 0, w * most), whole(node["before"])
    length, rest = divmod(run.steps - tau, w)
    need(loss.name == "strongly_convex" and len(run.eta.values) == 1 and rest == 0, "blocks do not fit")
    need(run.scheme == "poisson", "blocks need Poisson batches")
    h = run.eta[0] / run.b
    need(bool(h * most * (loss.L + loss.m) <= 2), "a batch may be too large")
    C = (1 - h * loss.m * least / w) ** w
    need(bool(C < 1), "nothing contracts")
    z = w * run.moved(0) / (1 - C) if before else run.diameter
    known = -(-tau // w)  # all that there are, the first one possibly cut
    if 0 < before < known:
        z += C**before * run.diameter
    need(bool(z.is_finite()), "nothing bounds the runs here")
    each = w * tail(run.n - 1, run.rate, most + 1) + tail(w * (run.n - 1), 1 - run.rate, w * (run.n - 1) - least + 1)
    return w, C, z, stated(node, "chance", (min(before, known) + length) * each)


def window(node: Node, run: Run, loss: Loss, alpha: arb) -> tuple[arb, arb]:
    """A window of shifts under random batches, docs/proofs/without_replacement.md and poisson.md.

    Of the variance of step t the part (multiplier_t s_t)^2 hides the change of the data, the rest v_t a shift: the sum
    of the divergences of the steps + alpha/2 sum of a_t^2 / v_t, z_{t+1} = max(e_t(z_t) - a_t, 0), with e_t of two
    copies of one run and the same batch. For e_t(z) = c_t z the best shifts cost z^2 / sum of v_t / (c_tau ... c_t)^2.
    """
    need(run.random, "batches are not random")
    tau, width, contraction = whole(node["start"], 0, run.steps - 1), 1, arb(1)
    if "blocks" in node:
        copies = Updates(run, loss, "none", (0, run.n - 1))
        width, contraction, z, chance = at("blocks", blocks, node["blocks"], run, loss, tau)
    else:
        sizes, chance = leaving(node, node, run)
        copies = Updates(run, loss, "none", sizes)
        z = at("distance", start, node["distance"], Updates(run, loss, "every", sizes), tau)
    listed = [at(f"prices.{i}", price, one, run, alpha) for i, one in enumerate(node["prices"])]
    kinds = [(listed[whole(kind)], whole(count, 1)) for kind, count in node["kinds"]]
    ends = list(accumulate((count for _, count in kinds), initial=tau))[1:]
    need(ends[-1] == run.steps, "kinds need one price for every step of the window")

    def left(t: int) -> arb:
        """v_t."""
        found: arb = run.sigma[t] ** 2 - (kinds[bisect_right(ends, t)][0][0] * run.moved(t)) ** 2
        need(bool(found > 0), f"nothing is left of the noise of step {t}")
        return found

    if node["shifts"] == "proportional":
        total, growth = arb(0), arb(1)
        inner = {t - 1 for t in range(tau + width, run.steps + 1, width)} if width > 1 else set[int]()
        stops = sorted({tau, *ends, *inner, *(t + 1 for t in inner), *(end for _, end in run.stretches(tau))})
        for t, end in pairwise(stops):
            c = copies.line(t)[0] if width == 1 else contraction if t in inner else arb(1)
            c = c.max(arb(2) ** -200)
            total += left(t) / growth**2 * geometric(1 / c**2, end - t)
            growth *= c ** (end - t)
        spent = z**2 / total
    else:
        need(width == 1, "blocks need shifts in proportion")
        spent = follow(node["shifts"], copies, tau, z, left)
    toll = sum((count * rdp for (_, rdp), count in kinds), arb(0))
    return stated(node, "rdp", toll + alpha / 2 * stated(node, "cost", spent)), chance


def mean_order(run: Run, alpha: arb) -> arb:
    """Composition on the mean over the orders of shuffled batches, docs/proofs/shuffled.md.

    e^((alpha-1) D) <= product over epochs of the mean over the l places of the sample, some of which the last epoch may
    not reach, of e^(alpha (alpha-1)/2 (s_t / sigma_t)^2).
    """
    need(run.scheme == "shuffled" and (run.constant or run.steps <= 20 * LONGEST), "no epochs to follow")

    def log_mean(first: int, end: int) -> arb:
        costs = {t: (run.moved(t) / run.sigma[t]) ** 2 for t in range(first, first + 1 if run.constant else end)}
        met = sum(((alpha * (alpha - 1) / 2 * cost).exp() for cost in costs.values()), arb(0)) / len(costs)
        return (1 + (met - 1) * (end - first) / run.epoch).log()

    whole_epochs = run.steps // run.epoch * run.epoch
    total = log_mean(whole_epochs, run.steps) if whole_epochs < run.steps else arb(0)
    if run.constant:
        return (total + run.steps // run.epoch * log_mean(0, run.epoch)) / (alpha - 1)
    return (total + sum(log_mean(k, k + run.epoch) for k in range(0, whole_epochs, run.epoch))) / (alpha - 1)


def rdp(node: Node, run: Run, loss: Loss, alpha: arb) -> tuple[arb, arb]:
    """Epsilon of (alpha, epsilon)-RDP in both directions, and the chance of the event outside which it holds."""
    rule, never = node["rule"], arb(0)
    if rule == "gaussian":
        squared, chance = at("of", gaussian, node["of"], run, loss)
        return stated(node, "rdp", alpha / 2 * squared), chance
    if rule == "sampled composition":
        need(run.random, "batches are not random")
        return stated(node, "rdp", sampled(node, run, alpha)), never
    if rule == "mean order":
        return stated(node, "rdp", mean_order(run, alpha)), never
    if rule == "window":
        return window(node, run, loss, alpha)
    need(rule == "ranges", f"rule {rule!r} gives no Renyi divergence")
    # docs/proofs/poisson.md, "A chain of ranges": G_0 fails with chance p_0, G_1 with p_1, ..., the last one never:
    # e^((alpha-1) D) <= (1 - p_0) e^((alpha-1) G_0) + p_0 e^((alpha-1) G_1) + p_1 e^((alpha-1) G_2) + ...
    terms = [at(f"of.{i}", rdp, one, run, loss, alpha) for i, one in enumerate(node["of"])]
    need(bool(terms[-1][1] == 0), "the last bound may fail")
    least, chance = terms[0]
    total = 1 - chance.min(arb(1))
    for value, fails in terms[1:]:
        total += chance * ((alpha - 1) * (value.max(least) - least)).exp()
        chance = fails
    return stated(node, "rdp", least + total.log() / (alpha - 1)), never


def from_gdp(node: Node, run: Run, loss: Loss, epsilon: arb, delta: arb) -> None:
    """mu-GDP outside an event of chance p: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) + p <= delta."""
    squared, chance = at("of", gaussian, node["of"], run, loss)
    before = ctx.prec
    for bits in (BITS, 4 * BITS, 32 * BITS):  # the two terms nearly cancel
        ctx.prec = bits
        mu = squared.sqrt()
        first, second = above(epsilon / mu - mu / 2), epsilon.exp() * above(epsilon / mu + mu / 2)
        holds = (mu == 0 and chance <= delta) or first <= delta - chance or first - second <= delta - chance
        ctx.prec = before
        if holds:
            return
    raise Refused("the hockey stick of the Gaussian exceeds delta at this epsilon")


def from_rdp(node: Node, run: Run, loss: Loss, epsilon: arb, delta: arb) -> None:
    """(alpha, rho)-RDP is (epsilon, delta)-DP if F(p) >= e^((alpha-1) rho) for all p in (delta, 1].

    F(p) = p^alpha r^(1-alpha) + (1-p)^alpha (1-r)^(1-alpha), r = (p - delta) e^-epsilon, is convex: it lies above its
    tangent at any point, F(p) - F'(p) (p - delta) at least where F' >= 0, and above F(1) where F'(1) <= 0. Or, without
    the second term of F: epsilon >= rho + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1).
    """
    alpha = number(node["order"])
    need(bool(alpha > 1), "order needs to be above 1")
    rho, chance = at("of", rdp, node["of"], run, loss, alpha)
    need(bool(chance == 0), "the bound may fail")
    if node["tangent"] is None:
        usual = rho + (1 - 1 / alpha).log() - (delta.log() + alpha.log()) / (alpha - 1)
        return need(bool(usual <= epsilon), f"the conversion gives {usual.str(20)}")
    p, turn = number(node["tangent"]), (-epsilon).exp()
    need(bool(p > delta) and bool(p <= 1), "the tangent needs a point in (delta, 1]")
    value = slope = arb(0)
    for x, y, sign in ((p, (p - delta) * turn, 1), (1 - p, 1 - (p - delta) * turn, -1)):
        if x > 0:  # x^alpha y^(1-alpha) and its derivative
            value += x * (x / y) ** (alpha - 1)
            slope += sign * (x / y) ** (alpha - 1) * (alpha - (alpha - 1) * turn * x / y)
    need(bool(slope >= 0) or bool(p == 1), "the tangent falls")
    least = value - slope.max(arb(0)) * (p - delta)
    return need(bool(least >= ((alpha - 1) * rho).exp()), "the tangent is below e^((alpha-1) rho)")


def accepted(certificate: Any) -> str:
    """Check a certificate, and say what it proves in words of this file; raises `Refused`."""
    need(isinstance(certificate, dict) and certificate.get("format") == FORMAT, f"format needs to be {FORMAT!r}")
    at("file", unbroken, certificate, "certificate")
    before, ctx.prec = ctx.prec, BITS
    try:
        return str(at("certificate", claimed, certificate))
    finally:
        ctx.prec = before


def claimed(top: Node) -> str:
    """The claim, whose value must be at least what the proof gives."""
    run, loss, claim, proof = at("run", Run, top["run"]), at("class", Loss, top["class"]), top["claim"], top["proof"]
    quantity, value = claim["quantity"], number(claim["value"])
    last = f"the last iterate on {loss} losses after {run},"
    if quantity == "gdp":
        squared, chance = at("proof", gaussian, proof, run, loss)
        need(bool(chance == 0), "the bound may fail")
        at("claim", stated, claim, "value", squared.sqrt())
        return f"{last} is mu-GDP with mu = {shown(value)}"
    limit = number(claim["at"])
    if quantity == "rdp":
        need(bool(limit > 1), "claim: at needs an order above 1")
        found, chance = at("proof", rdp, proof, run, loss, limit)
        need(bool(chance == 0), "the bound may fail")
        at("claim", stated, claim, "value", found)
        return f"{last} is ({shown(limit)}, {shown(value)})-RDP in both directions"
    rules = {"from gdp": from_gdp, "from rdp": from_rdp}
    need(quantity == "dp" and bool(limit > 0) and bool(limit < 1), "claim: needs gdp, rdp, or dp at a delta in (0, 1)")
    need(proof["rule"] in rules, f"proof: rule {proof['rule']!r} gives no epsilon")
    at("proof", rules[proof["rule"]], proof, run, loss, value, limit)
    return f"{last} is ({shown(value)}, {shown(limit)})-DP"


def check(text: str) -> str:
    """As `accepted`, from the text of a file."""

    def once(pairs: list[tuple[str, Any]]) -> Node:
        need(len({key for key, _ in pairs}) == len(pairs), "a key stands twice in one object")
        return dict(pairs)

    return accepted(at("file", lambda: json.loads(text, object_pairs_hook=once)))


if __name__ == "__main__":
    try:
        sys.stdout.write(f"holds: {check(Path(sys.argv[1]).read_text())}\n")
    except Refused as refused:
        sys.stdout.write(f"refused: {refused}\n")
        sys.exit(1)
