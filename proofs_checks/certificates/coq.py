"""Coq files for certificates: theorems that Coq checks in whole numbers, by the rules in proofs_checks/coq.

`written` reads what a certificate claims of a run and searches for paths and tables in whole numbers. Nothing
that it finds is trusted: Coq refuses numbers that are wrong, and the last theorem of the file says what was
proved. See docs/proofs/coq.md, "A certificate".
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction
from importlib import resources
from math import ceil, exp, inf, isqrt
from statistics import NormalDist
from string import Template
from typing import Any

import numpy as np
from mpmath import erf, floor, log, mpf, pi, sqrt, workprec

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.certificates.description import Node, UncertifiedError, from_dyadic
from lastiterate.numeric.contraction.block import Block, DiscretePair
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.table import Table, tabulate, unknown
from lastiterate.numeric.rounding import exact
from lastiterate.proofs_checks.certificates.checker import gaussians

Pairs = list[tuple[int, int]]
Path = list[tuple[int, int, int]]
"""Steps of a path, the last one first: shift, distance left, and number of the line."""
_Named = dict[str, Fraction]
_Cost = tuple[Pairs, Table, int]
_Filled = tuple[Node, Fraction, int]
_UNITS, _FINE, _MICRO = 10**15, 10**9, 10**6
"""Units of distances, of mu and e^epsilon, and of epsilon."""
_COUNTS, _TABLE, _STRETCHES = {"near": 32, "far": 40}, 60, (1.3, 2.0, 4.0)
"""Numbers of nodes from 1 on of the tables of costs and of the table carried through the blocks, and logarithms of
its last node relative to epsilon, tried in turn."""
_ROUNDS, _LIFTS = 400, (1e-6, 1e-5, 1e-4, 1e-3)
"""Maximum number of blocks until a table is final, and amounts by which it is lifted until Coq accepts it."""
_LEAST, _BEYOND = 1000, 2**60
"""Smallest mass of an atom, and a ratio beyond those of all atoms."""


def _scaled(scale: int, table: Pairs, m: int, n: int) -> int:
    """m times the scale times the value of a table at n / m, as in checker.v."""
    return m * (scale - sum(p for p, _ in table)) + sum(max(m * p - n * q, 0) for p, q in table)


def _nodes(name: str, mu: Fraction, scale: int, table: Pairs, bits: int) -> str:
    """Lemmas that a table of whole numbers is at least theta at its nodes, and enclosures of I at growing points."""
    with workprec(bits + 60):
        each = {pq: floor(log(mpf(pq[0]) / pq[1]) / mu * 2**bits - 2) for pq in table if pq[0]}
        at = {pq: Fraction(int(s), 2**bits) for pq, s in each.items()}
        points = sorted({abs(sign * mu / 2 - s) for s in at.values() for sign in (1, -1)})
        values = [
            int(floor(sqrt(pi / 2) * erf(mpf(x.numerator) / x.denominator / sqrt(2)) * 2**bits)) for x in points
        ]
    known, made = {Fraction(0): "zero"}, list[str]()
    x0, v0, low, high = Fraction(0), 0, 0, 0
    for x, v in zip(points, values, strict=True):
        ends = low, high, v - v0 - 2, v - v0 + 3
        low, high = low + ends[2], high + ends[3]
        a, b, *said = (f"({Fraction(one, 2**bits)})" for one in (low, high, *ends))
        lemma = f"{name}_at{len(made)}"
        width = f"{bits + 16}%positive ({-bits - 2})%ZZ"
        proof = f"Proof. grows {width} {known[x0]} ({x0}) ({x}) {' '.join(said)}. Qed."
        made.append(f"Lemma {lemma} : {a} <= I ({x}) <= {b}.\n{proof}")
        known[x], x0, v0 = lemma, x, v
    made.append(
        f"Lemma {name}_nodes : List.Forall (node_cost (ratio {name}_mu) {scale} {name}_cost) {name}_cost.\n"
        f"Proof. change (ratio {name}_mu) with ({mu}).\n"
        f"unfold {name}_cost at 2; repeat apply List.Forall_cons; [.. | apply List.Forall_nil]."
    )
    for (p, q), s in at.items():
        both = " ".join(known[abs(sign * mu / 2 - s)] for sign in (1, -1))
        masses = f"{scale}%ZZ {name}_cost {q}%ZZ {p}%ZZ {_scaled(scale, table, q, p)}%ZZ"
        made.append(f"- node {bits + 16}%positive ({s}) {masses} {both}.")
    return "\n".join([*made, "- left; reflexivity.", "Qed."])


def _whole(table: Table, scale: int) -> tuple[Pairs, list[int]]:
    """Masses over a scale, rounded down, with a profile that is at least the table, and the places of their atoms."""
    atoms = DiscretePair.of(table)
    plain = zip((atoms.p / (1 + atoms.lift)).tolist(), (atoms.q / (1 - atoms.lift)).tolist(), strict=True)
    masses = [(int(p * scale), int(q * scale)) for p, q in plain]
    places = [k for k, (p, q) in enumerate(masses) if min(p, q) >= _LEAST]
    kept = [masses[k] for k in places]
    return [*kept, (0, scale - sum(q for _, q in kept))], places


def _furthest(mu: float, delta: float) -> float:
    """The logarithm of a ratio at which theta_mu is well below delta."""
    return mu * (mu / 2 - NormalDist().inv_cdf(delta / 100))


def _cost(mu: float, scale: int, delta: float, count: int) -> _Cost:
    """A table that is at least theta_mu, its values in both orders, and a number of bits that shows it."""
    known = tabulate(lambda t: gaussians(exact(mu), t), np.linspace(0, _furthest(mu, delta), count))
    values = np.minimum(known.ahead * (1 + 1e-6), 1.0)
    pairs, _ = _whole(Table(known.g, values, values), scale)
    p, q = (np.array(one, dtype=float) / scale for one in zip(*pairs, strict=True))
    for x, y in ((p, q), (q, p)):
        found = 1 - x.sum() + np.maximum(x - known.g[:, None] * y, 0).sum(axis=1)
        values = np.minimum(np.maximum(values, found * (1 + 1e-9)), 1.0)
    bits = 42 + ceil(np.log2(known.g[-1] / (delta * min(mu, 1.0))))
    return pairs, Table(known.g, values, values), bits


def _carried(scale: int, near: _Cost, far: _Cost, delta: float, about: float) -> tuple[Pairs, list[Any]]:
    """A table that is at least its own contraction, and the thresholds at its nodes, for an approximate epsilon."""
    goal = Goal(None, delta, inf, lambda _: inf)
    for stretch in _STRETCHES:
        g = np.exp(np.linspace(0, stretch * about, _TABLE))
        block, table, last = Block(g, near[1], far[1]), unknown(g), inf
        for _ in range(_ROUNDS):
            table = block.after(table).hull()
            if goal.value(table) < inf and last - goal.value(table) <= 1e-5 * about:
                break
            last = goal.value(table)
        for lift in _LIFTS if goal.value(table) < inf else ():
            values = np.minimum(table.ahead * (1 + lift) + lift * delta, 1.0)
            lifted = Table(g, values, values).hull()
            pairs, places = _whole(lifted, scale)
            block.after(lifted)
            found = _thresholds(DiscretePair.of(lifted).ratio, places, *block.thresholds[True])
            each = zip(pairs, found, strict=True)
            if all(_node_ok(scale, (pairs, near[0], far[0]), *one) for one in each):
                return pairs, found
    raise UncertifiedError(
        "Coq needs a table that is at least its own contraction, got none; use a larger delta."
    )


def _thresholds(ratio: Array, places: list[int], low: Any, high: Any) -> list[Any]:
    """For each atom (h, j) with u = min(p, h q) and v = min(q, p / j), and for the atom of ratio 0."""
    one, found = len(ratio) // 2, list[Any]()

    def at(k: int) -> tuple[int, int]:
        return (1, _BEYOND) if k < 0 else (_BEYOND, 1) if k == len(ratio) else (int(ratio[k] * _FINE), _FINE)

    for k in places:
        h, j = at(high[abs(k - one)]), at(low[abs(k - one)])
        found.append((h, j) if k >= one else (j[::-1], h[::-1]))
    return [*found, ((1, 1), (1, 1))]


def _node_ok(scale: int, tables: tuple[Pairs, Pairs, Pairs], node: tuple[int, int], thresholds: Any) -> bool:
    """The check of checker.v at a node."""
    (T, N, F), (n, m), (h, j) = tables, node, thresholds
    parts = [(max(0, min(p, q * h[0] // h[1])), max(0, min(q, p * j[1] // j[0]))) for p, q in T]
    A, B = scale - sum(u for u, _ in parts), scale - sum(v for _, v in parts)
    total = sum(_scaled(scale, N, m * u, n * v) for u, v in parts) + _scaled(scale, F, m * A, n * B)
    return total <= scale * _scaled(scale, T, m, n)


def _epsilon(scale: int, table: Pairs, delta: Fraction) -> tuple[Fraction, tuple[int, int]]:
    """The least epsilon, in millionths, at which a table is at most delta, and a number below e^epsilon."""

    def below(k: int) -> int:
        return int(exp(k / _MICRO) * (1 - 1e-12) * _FINE)

    most = delta * _FINE * scale
    k = bisect_left(range(100 * _MICRO), True, key=lambda k: _scaled(scale, table, _FINE, below(k)) <= most)
    return Fraction(k, _MICRO), (below(k), _FINE)


Line = tuple[str, str, Fraction, Fraction]
"""c and s of an expansion c z + s, in the names of a file and as numbers."""


def _lines(named: Mapping[str, Fraction]) -> list[Line]:
    """The expansions of a step that uses the sample (docs/proofs/expansions.md)."""
    eta, b, K, L = (named[x] for x in ("step_size", "batch", "clip", "L"))
    moved, weight, share = 2 * eta * K / b, eta * (b - 1) / b, "step_size * (batch - 1) / batch"
    if "m" in named:
        slope = max(1 - eta * named["m"], eta * L - 1)
        first = "Rmax (1 - step_size * m) (step_size * L - 1)", "moved", slope, moved
        return [first, ("1", "2 * step_size * clip + moved", Fraction(1), 2 * eta * K + moved)]
    capped = "1", f"2 * ({share}) * clip + moved", Fraction(1), 2 * weight * K + moved
    return [(f"1 + {share} * L", "moved", 1 + weight * L, moved), capped]


def _path(node: Node, steps: int, start: Fraction, lines: list[Line]) -> Path:
    """A path over steps from a distance to 0 along the shifts of a certificate, which are rounded up."""
    z, path, slope, offset = ceil(start * _UNITS), Path(), float(lines[0][2]), float(lines[0][3])
    m = steps if node["rule"] == "composition" else steps + node["since"] - node["start"]
    shifts = [0.0] * (steps - m) + [inf] * m
    if node["rule"] == "path":
        shifts[-m:] = [from_dyadic(row) for row in node["shifts"] for _ in range(row[2])] + [inf]
    for k, shift in enumerate(shifts, 1):
        if node["rule"] == "straight" and k == steps - m + 1:
            total = slope**m * z / _UNITS + offset * sum(slope**j for j in range(m))
            least = total / sum(slope ** (2 * j) for j in range(m))
            shifts[-m:] = [slope**j * least for j in reversed(range(m))]
            shift = shifts[-m]
        reached, line = min((ceil(c * z + s * _UNITS), i) for i, (_, _, c, s) in enumerate(lines))
        a = max(reached if k == steps or shift * _UNITS >= reached else ceil(shift * _UNITS), 1)
        z = max(reached - a, 0)
        path.insert(0, (a, z, line))
    return path


def _need(holds: bool, what: str, got: Any) -> None:
    if not holds:
        raise UncertifiedError(f"A Coq file needs {what}, got {got}; verify this certificate without Coq.")


def _list(ones: Iterable[Any]) -> str:
    return f"[:: {'; '.join(map(str, ones))}]"


def _mu(path: Path, noise: Fraction) -> Fraction:
    """The root of the sum of the squares of the shifts over the noise, rounded up."""
    squared = sum(a * a for a, _, _ in path) * _FINE**2 / (noise * _UNITS) ** 2
    return Fraction(isqrt(ceil(squared)) + 1, _FINE)


def _tables(stage: Node, named: _Named, lines: list[Line], delta: Fraction, about: float) -> _Filled:
    """Fields of a file for a contraction, its epsilon, and the number of steps of a block."""
    starts = {"near": Fraction(0), "far": named["diameter"]}
    steps = {name: stage["steps"] - stage[name].get("since", 0) for name in starts}
    paths = {name: _path(stage[name], steps[name], z, lines) for name, z in starts.items()}
    length, at = min(map(len, paths.values())), float(delta)
    mu = {name: _mu(path[:length], named["noise"]) for name, path in paths.items()}
    scale = 2 ** (20 + ceil(_furthest(float(mu["far"]), at) / np.log(2) - np.log2(at)))
    cost = {name: _cost(float(mu[name]), scale, at, k) for name, k in _COUNTS.items()}
    table, thresholds = _carried(scale, cost["near"], cost["far"], at, about)
    epsilon, below = _epsilon(scale, table, delta)
    fields = {
        "table": _list(table),
        "thresholds": _list(thresholds),
        "scale": scale,
        "widest": ceil(starts["far"] * _UNITS),
        "below": below,
        "nodes": "\n".join(_nodes(name, mu[name], scale, one[0], one[2]) for name, one in cost.items()),
    }
    for name, path in paths.items():
        fields[f"{name}_path"] = _list(f"({a}, {z}, line{k})" for a, z, k in path[:length])
        fields[f"{name}_mu"], fields[f"{name}_cost"] = mu[name].as_integer_ratio(), _list(cost[name][0])
    return fields, epsilon, length


def _gaussian(node: Node, steps: int, named: _Named, lines: list[Line], delta: Fraction) -> _Filled:
    """Fields of a file for a Gaussian path over the last steps, its epsilon, and the number of these steps."""
    since = node.get("since", 0)
    start = named["diameter"] if since else Fraction(0)
    path = _path(node, steps - since, start, lines)
    mu = _mu(path, named["noise"])
    epsilon = Fraction(ceil(gdp_epsilon(float(mu), float(delta)) * _MICRO) + 1, _MICRO)
    s = epsilon / mu
    fields = {
        "steps": steps,
        "since": since,
        "start": ceil(start * _UNITS),
        "path": _list(f"({a}, {z}, line{k})" for a, z, k in path),
        "path_mu": mu.as_integer_ratio(),
        "exponents": f"({mu}) ({s}) ({epsilon}) ({mu / 2 - s}) ({-mu / 2 - s})",
        "begins": "right; unfold diameter; cbn; lra" if since else "by left",
    }
    return fields, epsilon, len(path)


def written(top: Node, said: str) -> str:
    """Return the Coq file of a certificate; ``said`` is what the checker says of it.

    Raises:
        UncertifiedError: the theorems in Coq do not cover the certificate.
    """
    run, loss, claim, proof = top["run"], top["class"], top["claim"], top["proof"]
    rule, tables = f"the rule {proof['rule']!r}", proof["rule"] == "from table"
    _need(tables or proof["rule"] == "from gdp", "an (epsilon, delta) by contraction or a Gaussian path", rule)
    _need(run["scheme"] == "full", "full batches", f"{run['scheme']} batches")
    _need(loss["name"] in ("smooth", "convex", "strongly_convex"), "smooth or convex losses", loss["name"])
    _need(len(run["step_size"]) == len(run["noise_std"]) == 1, "equal steps", "a schedule")
    _need(run["diameter"] is not None, "a bounded domain", "none")
    numbers = {"step_size": run["step_size"][0], "noise": run["noise_std"][0], "clip": run["clip_norm"]}
    numbers |= {"diameter": run["diameter"]} | {letter: loss[letter] for letter in "Lm" if letter in loss}
    named = {"batch": Fraction(run["batch_size"])} | {k: Fraction(from_dyadic(x)) for k, x in numbers.items()}
    named |= {"m": Fraction(0)} if loss["name"] == "convex" else {}
    lines, value = _lines(named), from_dyadic(claim["value"])
    delta = Fraction(from_dyadic(claim["at"]))
    delta = min(Fraction(repr(float(delta))), delta)
    if tables:
        fields, epsilon, length = _tables(proof["of"]["blocks"][-1], named, lines, delta, value)
    else:
        fields, epsilon, length = _gaussian(proof["of"], run["steps"], named, lines, delta)
    each = ((c.as_integer_ratio(), s.as_integer_ratio()) for _, _, c, s in lines)
    fields |= {
        "said": said,
        "every": ", for every number of steps," * tables,
        "epsilon": f"{float(epsilon):.6f}".rstrip("0").rstrip("."),
        "delta": repr(float(delta)),
        "times": f"{float(epsilon) / value:.4f}",
        "numbers": "\n".join(f"Definition {name} : R := ({x})." for name, x in named.items()),
        "names": ", ".join(named),
        "lines": _list(f"({c}, {s})" for c, s, _, _ in lines),
        "noise": named["noise"].as_integer_ratio(),
        "used": _list(f"line{k}" for k in range(len(lines))),
        "used_lines": "\n".join(f"Definition line{k} : line := {one}." for k, one in enumerate(each)),
        "units": _UNITS,
        "delta_of": delta.as_integer_ratio(),
        "epsilon_ratio": epsilon,
        "delta_ratio": delta,
        "composition": "gaussian_composition -> " * (length > 1),
        "short": "by []" if length == 1 else "by move=> _; exact: composes",
        "introduce": "move=> composes; " * (length > 1),
    }
    folder = resources.files("lastiterate.proofs_checks.certificates")
    parts = [folder / f"{name}.v.template" for name in ("head", "carried" if tables else "path")]
    return Template("\n".join(part.read_text(encoding="utf-8") for part in parts)).substitute(fields)
