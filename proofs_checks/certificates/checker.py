"""Independent checker of privacy certificates: this file, python-flint, and nothing else.

    python checker.py CERTIFICATE.json

A certificate speaks of noisy SGD, W <- Proj[W - eta/b sum_{i in B} clip(g_i, K) + N(0, sigma^2 I)], T times, of which
the last iterate alone is released. It claims, for every loss of the class, every dimension and every two adjacent
data sets, in both directions, that the last iterate is mu-GDP, (alpha, epsilon)-RDP or (epsilon, delta)-DP. Besides
it holds *choices*, such as how long the shifts are. Every choice is free: each rule computes what follows from its
choices in balls, and a number that is stated must be at least that. Proofs are pages docs/proofs/ of lastiterate.

Numbers: [m, e] is m 2^e, exactly; "p/q" is a fraction; rows [m, e, k] or ["p/q", k] stand for k numbers.
"""

import hashlib
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpz_poly

FORMAT = "lastiterate certificate 1"
BITS = 320
LONGEST = 10**5  # steps that are followed one by one
Node = dict[str, Any]
Law = tuple[int, list[int], int]  # the first of some privacy losses, their masses, that of an infinite one; whole units


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
    return arb(fmpq(*Fraction(value).as_integer_ratio()))


def shown(value: arb) -> str:
    """A number for readers: a float where it is one exactly, else an enclosure."""
    return repr(float(value)) if value == float(value) else str(value.str(20, radius=True))


def stated(node: Node, key: str, computed: arb) -> arb:
    """The number that a node states, which must be at least what its rule gives."""
    found = number(node[key])
    need(bool(computed <= found), f"{key} is {float(found)!r}, but its rule gives {computed.str(20)}")
    return found


def unbroken(value: Any, where: str) -> None:
    """Refuse what was altered by accident, at the innermost object that holds it: its digest is that of its text."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        unbroken(one, f"{where}.{key}")
    if isinstance(value, dict):
        text = json.dumps({k: v for k, v in value.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
        found = hashlib.sha256(text.encode()).hexdigest()[:32]
        need(value.get("digest") == found, f"{where}: it was altered, its digest is another")


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
        need(node["adjacency"] == ("add_remove" if self.scheme == "poisson" else "replace"), "adjacency is another")
        self.random = self.scheme in ("without_replacement", "poisson")
        self.epoch, self.rate = self.n // self.b, arb(self.b) / self.n
        self.constant = len(self.eta.values) == len(self.sigma.values) == 1

    def __str__(self) -> str:
        size = f"size {self.eta}, noise {self.sigma}, clip norm {shown(self.clip)}, diameter {shown(self.diameter)}"
        return f"{self.steps} steps of {size}, {self.scheme} batches of {self.b} of {self.n}"

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
        self.each: list[Loss] = [one for part in self.parts for one in part.each] if self.name == "minimum" else [self]
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
        known = [part.linear**2 for part in self.parts if part.linear is not None]
        return sum(known, arb(0)).sqrt() if self.name == "blocks" and len(known) == len(self.parts) else None


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
        found = self._expanded(t, z, self.met(t))
        if self.meets == "every" and self.run.scheme != "full":  # it need not be in the batch
            found = found.max(self._expanded(t, z, met=False))
        return found.upper()

    def line(self, t: int) -> tuple[arb, arb]:
        """(c, s), e_t(z) <= c z + s for every z."""
        weight, low, high = self._steps(t, self.met(t))
        slopes = [(1 - low * one.m).max(high * one.L - 1) for one in self.loss.each if one.contracts]
        slopes += [1 + weight * one.linear for one in self.loss.each if not one.contracts and one.linear is not None]
        need(bool(slopes), "the class has no affine expansion")
        return min(slopes, key=float), self.run.moved(t) if self.met(t) else arb(0)

    def _steps(self, t: int, met: bool) -> tuple[arb, arb, arb]:
        """The weight of the samples of both runs, and the step sizes of the least and of the greatest batch."""
        eta, b = self.run.eta[t], self.run.b
        if self.sizes is None:
            return (eta * (b - 1) / b if met else eta), eta, eta
        low, high = (eta * k / b for k in self.sizes)  # a sum of k gradients over b: h = eta k / b along their mean
        return high, low, high

    def _expanded(self, t: int, z: arb, met: bool) -> arb:
        (weight, low, high), cap, found = self._steps(t, met), 2 * self.run.clip, arb("inf")
        for one in self.loss.each:
            if one.contracts:  # |x - y - h (g(x) - g(y))| <= max(1 - h m, h L - 1) |x - y|, and |g| <= K
                found = found.min((1 - low * one.m).max(high * one.L - 1) * z).min(z + high * cap)
            else:  # clipped gradients of one sample are at most min(omega, 2 K) apart
                omega = one.modulus(z)
                found = found.min(z + weight * (omega.min(cap) if omega.is_finite() else cap))
        return found + self.run.moved(t) if met else found


def start(node: Node, updates: Updates) -> tuple[int, arb]:
    """The first step of a window, and a distance that bounds the runs there.

    z_{t+1} = min(e_t(z_t), D) from ``since`` on: from one point at 0, and later from D, which a projection leaves.
    """
    run, tau, left = updates.run, whole(node["start"], 0, updates.run.steps - 1), 0
    since = whole(node["since"], 0, tau)
    z, alike = (run.diameter if since else arb(0)), run.constant and updates.meets == "every"
    need(bool(z.is_finite()), "nothing bounds the runs here")
    if alike and tau - since > LONGEST:  # z_k <= c^k z + s (1 + c + ... + c^(k-1))
        (c, s), left = updates.line(since), tau - since
        return tau, (c**left * z + s * (1 + geometric(c, left - 1))).upper().min(run.diameter)
    for t in range(since, tau):
        ahead = updates.e(t, z).min(run.diameter)
        if alike and ahead == z:
            break  # and so for all that follows
        z, left = ahead, left + 1
        need(left <= LONGEST, "the distance is tracked for too long")
    return tau, z


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
    dearest = (reduce(arb.max, each[t : t + period]) for t in range(0, run.steps, period))
    return sum(dearest if late else each, arb(0))


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
    tau, z = start(node, updates)
    return follow(node["shifts"], updates, tau, z, lambda t: updates.run.sigma[t] ** 2)


def straight(node: Node, updates: Updates) -> arb:
    """Over every stretch of m equal steps e(z) = c z + s the best path from z to z' = ``ends``, at last 0.

    V = c^-1 + ... + c^-m, W = c^-2 + ... + c^-2m, a_j = lam c^-j, lam = (s V + z - z' c^-m) / W, and mu^2 is the sum of
    lam^2 W / sigma^2. Feasible where c <= 1, and where the last shift is at least s. docs/proofs/affine_windows.md.
    """
    need(updates.meets == "every", "the sample is not in every batch")
    run, (tau, z), total = updates.run, start(node, updates), arb(0)
    for (t, end), after in zip(run.stretches(tau), [*map(number, node["ends"]), arb(0)], strict=True):
        (c, s), m = updates.line(t), end - t
        V, W = geometric(1 / c, m), geometric(1 / c**2, m)
        lam: arb = (s * V + z - after * c**-m) / W
        need(bool(lam >= 0) and bool(c > 0) and (bool(c <= 1) or bool(lam * c**-m >= s)), "the shifts pass below 0")
        total, z = total + lam**2 * W / run.sigma[t] ** 2, after
    return total


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
        return reduce(arb.max, places), never
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


def tail(n: int, q: arb, k: int) -> arb:
    """P(X >= k), X ~ Binomial(n, q), from above: P(X = k) / (1 - r), r = P(X = k + 1) / P(X = k), which falls."""
    if k <= 0 or k > n:
        return arb(1 if k <= 0 else 0)
    ratio = arb(n - k) / (k + 1) * q / (1 - q)
    return arb(n).bin(k) * q**k * (1 - q) ** (n - k) / (1 - ratio) if ratio < 1 else arb(1)


def leaving(node: Node, window: Node, run: Run) -> tuple[tuple[int, int] | None, arb]:
    """Sizes of Poisson batches without the sample, and the chance stated that some from ``since`` on has others."""
    if run.scheme != "poisson":
        return None, arb(0)
    others, sizes = run.n - 1, node["sizes"]
    low, high = whole(sizes["low"]), whole(sizes["high"], sizes["low"], others)
    one = tail(others, run.rate, high + 1) + tail(others, 1 - run.rate, others - low + 1)
    return (low, high), stated(node, "chance", (run.steps - whole(window.get("since", 0), 0, run.steps)) * one)


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
    g, rate = 1 / multiplier, arb(q.numerator) / q.denominator
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
        total = moment(alpha, None).max(moment(1 - alpha, None))
    return total.log() / (alpha - 1)


def price(node: Node, run: Run, alpha: arb) -> arb:
    """The divergence stated of a step with a multiplier, at least its own or that of a batch with the sample."""
    multiplier, found = number(node["multiplier"]), number(node["rdp"])
    computed = alpha / (2 * multiplier**2)
    for bits in (100, 250):
        if not computed <= found and run.rate < 1:
            computed = renyi(Fraction(run.b, run.n), multiplier, alpha, run.scheme != "poisson", bits)
    return stated(node, "rdp", computed)


def released(node: Node, run: Run, loss: Loss) -> tuple[list[tuple[int, int]], arb, arb]:
    """Counts of steps by multiplier listed, mu^2 of one Gaussian beside them, the chance that this fails.

    The composition of these dominates the last iterates in both directions. Without a window every step hides the
    change of its own data by all of its noise, rounded down to a multiplier listed.
    """
    need(run.random, "batches are not random")
    if node["rule"] == "window":
        return window(node, run, loss)
    need(node["rule"] == "sampled composition", f"rule {node['rule']!r} has no sampled steps")
    listed, kinds = [number(one["multiplier"]) for one in node["prices"]], []
    for first, end in run.stretches(0):
        below = [k for k, one in enumerate(listed) if one <= run.sigma[first] / run.moved(first)]
        need(bool(below), f"no multiplier is at most that of step {first}")
        kinds.append((max(below, key=lambda k: float(listed[k])), end - first))
    return kinds, arb(0), arb(0)


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


def window(node: Node, run: Run, loss: Loss) -> tuple[list[tuple[int, int]], arb, arb]:
    """A window of shifts under random batches, docs/proofs/without_replacement.md and poisson.md.

    Of the variance of step t the part (multiplier_t s_t)^2 hides the change of the data, the rest v_t a shift: beside
    the steps mu^2 = sum of a_t^2 / v_t, z_{t+1} = max(e_t(z_t) - a_t, 0), with e_t of two copies of one run and one
    batch. For e_t(z) = c_t z the best shifts cost z^2 / sum of v_t / (c_tau ... c_t)^2.
    """
    width, contraction = 1, arb(1)
    if "blocks" in node:
        tau, copies = whole(node["start"], 0, run.steps - 1), Updates(run, loss, "none", (0, run.n - 1))
        width, contraction, z, chance = at("blocks", blocks, node["blocks"], run, loss, tau)
    else:
        sizes, chance = leaving(node, node, run)
        copies = Updates(run, loss, "none", sizes)
        tau, z = start(node, Updates(run, loss, "every", sizes))
    listed = [number(one["multiplier"]) for one in node["prices"]]
    kinds = [(whole(kind), whole(count, 1)) for kind, count in node["kinds"]]
    ends = list(accumulate((count for _, count in kinds), initial=tau))[1:]
    need(ends[-1] == run.steps, "kinds need one price for every step of the window")

    def left(t: int) -> arb:
        """v_t."""
        found: arb = run.sigma[t] ** 2 - (listed[kinds[bisect_right(ends, t)][0]] * run.moved(t)) ** 2
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
    return kinds, stated(node, "cost", spent), chance


def mean_order(run: Run, alpha: arb) -> arb:
    """Composition on the mean over the orders of shuffled batches, docs/proofs/shuffled.md.

    e^((alpha-1) D) <= product over epochs of the mean over the l places of the sample, some of which the last epoch may
    not reach, of e^(alpha (alpha-1)/2 (s_t / sigma_t)^2).
    """
    need(run.scheme == "shuffled" and (run.constant or run.steps <= 20 * LONGEST), "no epochs to follow")
    cut, total = run.steps // run.epoch * run.epoch, arb(0)
    for first in {0, cut} - {run.steps} if run.constant else range(0, run.steps, run.epoch):
        end = min(first + run.epoch, run.steps)
        steps = range(first, first + 1 if run.constant else end)
        met = sum(((alpha * (alpha - 1) / 2 * (run.moved(t) / run.sigma[t]) ** 2).exp() for t in steps), arb(0))
        mean = 1 + (met / len(steps) - 1) * (end - first) / run.epoch
        total += (run.steps // run.epoch if run.constant and first < cut else 1) * mean.log()
    return total / (alpha - 1)


def rdp(node: Node, run: Run, loss: Loss, alpha: arb) -> tuple[arb, arb]:
    """Epsilon of (alpha, epsilon)-RDP in both directions, and the chance of the event outside which it holds."""
    rule, never = node["rule"], arb(0)
    if rule == "gaussian":
        squared, chance = at("of", gaussian, node["of"], run, loss)
        return stated(node, "rdp", alpha / 2 * squared), chance
    if rule in ("sampled composition", "window"):
        kinds, squared, chance = released(node, run, loss)
        prices = [at(f"prices.{i}", price, one, run, alpha) for i, one in enumerate(node["prices"])]
        return stated(node, "rdp", sum((n * prices[k] for k, n in kinds), alpha / 2 * squared)), chance
    if rule == "mean order":
        return stated(node, "rdp", mean_order(run, alpha)), never
    need(rule in ("ranges", "stretches"), f"rule {rule!r} gives no Renyi divergence")
    # docs/proofs/poisson.md, "A chain of ranges": G_0 fails with chance p_0, G_1 with p_1, ..., the last one never.
    terms = [at(f"of.{i}", rdp, one, run, loss, alpha) for i, one in enumerate(node["of"])]
    need(bool(terms[-1][1] == 0), "the last bound may fail")
    (least, chance), first = terms[0], node["of"][0]
    total = 1 - chance.min(arb(1))
    if rule == "stretches":  # "Stretches": G_0 rests on the last w of T equal steps, each costs a T-th of G_1
        w, each, blocks = whole(node["steps"], 1, run.steps), (alpha - 1) * terms[1][0] / run.steps, first.get("blocks")
        since = first["start"] - blocks["before"] * blocks["width"] if blocks else first["since"]
        kinds = [run.constant] + [one["rule"] for one in node["of"]]
        need(kinds == [True, "window", "sampled composition"] and since >= run.steps - w > 0, "no equal stretches")
        n, x = run.steps // w, chance * (each * w).exp()
        total = total * (1 - x**n) / (1 - x) + x**n * (each * (run.steps - n * w) - (alpha - 1) * least).exp()
    for value, fails in terms[1:] if rule == "ranges" else []:
        total += chance * ((alpha - 1) * (value.max(least) - least)).exp()
        chance = fails
    return stated(node, "rdp", least + total.log() / (alpha - 1)), never


def profile(side: str, q: arb, g: arb, t: arb) -> arb:
    """E_t of a step that the sample moves by g, in units of its noise, with chance q. docs/proofs/privacy_loss.md.

    "remove": with over without the sample; "add": without over with; "replace": either. For q = 1 that of a Gaussian.
    """
    if side == "add" or (side == "replace" and t < 1):
        return 1 - t + t * profile("remove" if side == "add" else side, q, g, 1 / t)
    x = 1 + (t - 1) / q
    return 1 - t if x <= 0 else q * (above(x.log() / g - g / 2) - x * above(x.log() / g + g / 2))


def chords(nodes: list[int], spacing: arb, bits: int, step: tuple[str, arb, arb]) -> Law:
    """The law whose profile is the chords of one between nodes and from (0, 1), docs/proofs/privacy_loss.md."""
    t = [arb(0)] + [(spacing * whole(k, -(2**22), 2**22)).exp() for k in nodes]
    f = [arb(1)] + [profile(*step, one) for one in t[1:]]
    slopes = [(w - v) / (y - x) for (x, v), (y, w) in pairwise(zip(t, f, strict=True))] + [arb(0)]
    masses = [x * (after - before) for x, (before, after) in zip(t[1:], pairwise(slopes), strict=True)] + [f[-1]]
    up = [max(int((mass * arb(2) ** bits).upper().ceil().fmpz()), 0) for mass in masses]
    need(all(k < after for k, after in pairwise(nodes)), "nodes need to rise")
    known = dict(zip(nodes, up, strict=False))
    return nodes[0], [known.get(k, 0) for k in range(nodes[0], nodes[-1] + 1)], up[-1]


def added(one: Law, other: Law, bits: int, trim: int) -> Law:
    """The law of the sum of two losses; at most ``trim`` of the mass at either end moves up."""
    (first, x, lost), (second, y, gone) = one, other
    masses = [-(-int(mass) >> bits) for mass in fmpz_poly(x) * fmpz_poly(y)]
    low = bisect_right(list(accumulate(masses)), trim)
    high = len(masses) - bisect_right(list(accumulate(masses[::-1])), trim)
    infinite = -(-(lost * (sum(y) + gone) + gone * (sum(x) + lost)) >> bits) + sum(masses[high:])
    return first + second + low, [sum(masses[: low + 1]), *masses[low + 1 : high]], infinite


def from_losses(node: Node, run: Run, loss: Loss, epsilon: arb, delta: arb) -> None:
    """Sum over privacy losses l > epsilon of mass (1 - e^(epsilon - l)), and the mass of infinite ones, <= delta.

    That of the sum of all losses, those of every step and of a Gaussian, outside an event whose chance adds to delta.
    """
    kinds, squared, chance = at("of", released, node["of"], run, loss)
    bits, trim = whole(node["bits"], 1, 4096), whole(node["trim"], 0, 2**4096)
    listed = [number(one["multiplier"]) for one in node["of"]["prices"]]
    steps = [(run.rate, 1 / one, sum(n for k, n in kinds if k == i)) for i, one in enumerate(listed)]
    steps += [(arb(1), squared.sqrt(), 1)] if squared > 0 else []
    sides = ("remove", "add") if run.scheme == "poisson" else ("replace",)
    for side, lattice in zip(sides, node["lattices"], strict=True):
        total, spacing, rest = (0, [2**bits], 0), number(lattice["spacing"]), arb(0)
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


def from_gdp(node: Node, run: Run, loss: Loss, epsilon: arb, delta: arb) -> None:
    """mu-GDP outside an event of chance p: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) + p <= delta."""
    squared, chance = at("of", gaussian, node["of"], run, loss)
    with ctx.workprec(32 * BITS):  # the two terms nearly cancel
        found = arb(0) if squared == 0 else profile("remove", arb(1), squared.sqrt(), epsilon.exp())
    need(bool(found + chance <= delta), "the hockey stick of the Gaussian exceeds delta at this epsilon")


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
        return need(bool(usual <= epsilon), "the usual conversion exceeds epsilon")
    p, turn = number(node["tangent"]), (-epsilon).exp()
    need(bool(p > delta) and bool(p <= 1), "the tangent needs a point in (delta, 1]")
    value = slope = arb(0)
    for x, y, sign in ((p, (p - delta) * turn, 1), (1 - p, 1 - (p - delta) * turn, -1)):
        if x > 0:  # x^alpha y^(1-alpha) and its derivative
            value += x * (x / y) ** (alpha - 1)
            slope += sign * (x / y) ** (alpha - 1) * (alpha - (alpha - 1) * turn * x / y)
    need(bool(slope >= 0) or bool(p == 1), "the tangent falls")
    value -= slope.max(arb(0)) * (p - delta)
    return need(bool(value >= ((alpha - 1) * rho).exp()), "the tangent is below e^((alpha-1) rho)")


def accepted(certificate: Any) -> str:
    """Check a certificate, and say what it proves in words of this file; raises `Refused`."""
    need(isinstance(certificate, dict) and certificate.get("format") == FORMAT, f"format needs to be {FORMAT!r}")
    at("file", unbroken, certificate, "certificate")
    with ctx.workprec(BITS):
        return str(at("certificate", claimed, certificate))


def claimed(top: Node) -> str:
    """The claim, whose value must be at least what the proof gives."""
    run, loss, claim, proof = at("run", Run, top["run"]), at("class", Loss, top["class"]), top["claim"], top["proof"]
    quantity, value = claim["quantity"], number(claim["value"])
    last = f"the last iterate on {loss} losses after {run},"
    if quantity == "dp":
        delta, rules = number(claim["at"]), {"from gdp": from_gdp, "from rdp": from_rdp, "from losses": from_losses}
        need(bool(delta > 0) and bool(delta < 1), "claim: at needs a delta in (0, 1)")
        need(proof["rule"] in rules, f"proof: rule {proof['rule']!r} gives no epsilon")
        at("proof", rules[proof["rule"]], proof, run, loss, value, delta)
        return f"{last} is ({shown(value)}, {shown(delta)})-DP"
    need(quantity in ("gdp", "rdp"), "claim: quantity needs to be gdp, rdp or dp")
    order = [] if quantity == "gdp" else [number(claim["at"])]
    need(all(alpha > 1 for alpha in order), "claim: at needs an order above 1")
    found, chance = at("proof", rdp if order else gaussian, proof, run, loss, *order)
    need(bool(chance == 0), "the bound may fail")
    at("claim", stated, claim, "value", found if order else found.sqrt())
    return f"{last} is ({shown(*order)}, {shown(value)})-RDP" if order else f"{last} is mu-GDP with mu = {shown(value)}"


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
