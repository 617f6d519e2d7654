"""Coq files for certificates: theorems that Coq checks in whole numbers, by the rules in proofs_checks/coq.

`written` reads what a certificate claims of a run and searches for paths and tables in whole numbers. Nothing
that it finds is trusted: Coq refuses numbers that are wrong, and the last theorem of the file says what was
proved. See docs/proofs/coq.md, "A certificate".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from math import ceil, exp, floor, inf, isqrt, log2
from statistics import NormalDist
from string import Template
from typing import Any

import numpy as np
from mpmath import erf, log, mpf, pi, sqrt, workprec

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.certificates.description import Node, UncertifiedError
from lastiterate.numeric.contraction.block import Block, DiscretePair
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.table import Table, tabulate, unknown
from lastiterate.numeric.rounding import exact
from lastiterate.proofs_checks.certificates.checker import gaussians

Pairs = list[tuple[int, int]]
_UNITS, _FINE, _MICRO, _GRID, _NODES = 10**12, 10**9, 10**6, 2**52, 2**36
"""Units of distances, of mu and e^epsilon, of epsilon, of enclosures of I, and of exponents s of nodes exp(mu s)."""
_COUNTS, _TABLE = {"near": 32, "far": 40}, 80
"""Numbers of nodes from 1 on of the tables of costs, and of the table that is carried through the blocks."""
_ROUNDS, _LIFTS = 400, (1e-6, 1e-5, 1e-4, 1e-3)
"""Maximum number of blocks until a table is final, and amounts by which it is lifted until Coq accepts it."""
_BEYOND = 2**60


def quotient(x: Fraction) -> str:
    """A fraction in Coq's real numbers."""
    return f"({x.numerator}/{x.denominator})" if x.denominator != 1 else f"({x.numerator})"


def scaled(scale: int, table: Pairs, m: int, n: int) -> int:
    """m times the scale times the value of a table at n / m, as in checker.v."""
    return m * (scale - sum(p for p, _ in table)) + sum(max(m * p - n * q, 0) for p, q in table)


def enclosures(points: Iterable[Fraction], name: str) -> Iterator[tuple[str, Fraction, str]]:
    """A lemma for every point: its name, the point and its text. It encloses I, from its value at the point before."""

    def integral(x: Fraction) -> mpf:
        return sqrt(pi / 2) * erf(mpf(x.numerator) / x.denominator / sqrt(2))

    for side, letter in ((1, "p"), (-1, "m")):
        before, x0, low, high = "zero", Fraction(0), 0, 0
        for k, x in enumerate(sorted((x for x in points if x * side > 0), key=abs)):
            least = int(floor((integral(x) - integral(x0)) * _GRID)) - 2
            made, ends = f"{name}_{letter}{k}", [low, high, least, least + 5]
            low, high = low + least, high + least + 5
            at, old, new = quotient(x), quotient(x0), [quotient(Fraction(one, _GRID)) for one in (low, high)]
            numbers = " ".join(quotient(Fraction(one, _GRID)) for one in ends)
            yield (
                made,
                x,
                (
                    f"Lemma {made} : {new[0]} <= I {at} <= {new[1]}.\n"
                    f"Proof. grows {before} {old} {at} {numbers}. Qed."
                ),
            )
            before, x0 = made, x
    yield "zero", Fraction(0), ""


def nodes(name: str, mu: Fraction, scale: int, table: Pairs) -> str:
    """Lemmas that a table of whole numbers is at least theta at its nodes, with enclosures of I."""
    with workprec(120):
        at = {
            (p, q): Fraction(
                int(floor(log(mpf(p) / q) * mu.denominator / mu.numerator * _NODES - 2)), _NODES
            )
            for p, q in table
            if p
        }
        made = list(enclosures({sign * mu / 2 - s for s in at.values() for sign in (1, -1)}, name))
    known, lines = {x: lemma for lemma, x, _ in made}, list[str]()
    for (p, q), s in at.items():
        ends = " ".join(known[sign * mu / 2 - s] for sign in (1, -1))
        value = scaled(scale, table, q, p)
        lines.append(f"- node {quotient(s)} {scale}%ZZ {name}_cost {q}%ZZ {p}%ZZ {value}%ZZ {ends}.")
    return "\n".join(
        [
            *(text for _, _, text in made if text),
            f"Lemma {name}_nodes : List.Forall (node_cost (ratio {name}_mu) {scale} {name}_cost) {name}_cost.",
            f"Proof. change (ratio {name}_mu) with {quotient(mu)}.",
            f"unfold {name}_cost at 2; repeat apply List.Forall_cons; [.. | apply List.Forall_nil].",
            *lines,
            "- left; reflexivity.",
            "Qed.",
        ]
    )


def _whole(table: Table, scale: int) -> tuple[Pairs, list[int]]:
    """Masses over a scale, rounded down, with a profile that is at least the table, and the places of their atoms."""
    atoms = DiscretePair.of(table)
    masses = [(int(p * scale), int(q * scale)) for p, q in zip(atoms.p.tolist(), atoms.q.tolist(), strict=True)]
    places = [k for k, (p, q) in enumerate(masses) if p and q]
    kept = [masses[k] for k in places]
    return [*kept, (0, scale - sum(q for _, q in kept))], places


@dataclass(frozen=True)
class _Cost:
    """A table of whole numbers that is at least theta_mu, and its values at nodes in both orders."""

    pairs: Pairs
    table: Table

    @classmethod
    def of(cls, mu: float, scale: int, delta: float, count: int) -> "_Cost":
        end = mu * (mu / 2 - NormalDist().inv_cdf(delta / 100))
        known = tabulate(lambda t: gaussians(exact(mu), t), np.linspace(0, end, count))
        values = np.minimum(known.ahead * (1 + 1e-6) + (1 + known.g) * 1e-12, 1.0)
        pairs, _ = _whole(Table(known.g, values, values), scale)
        p, q = (np.array(one, dtype=float) / scale for one in zip(*pairs, strict=True))
        ahead, back = (
            1 - one.sum() + np.maximum(one - known.g[:, None] * other, 0).sum(axis=1)
            for one, other in ((p, q), (q, p))
        )
        values = np.minimum(np.maximum(ahead, back) * (1 + 1e-9), 1.0)
        return cls(pairs, Table(known.g, values, values))


def _carried(scale: int, near: _Cost, far: _Cost, delta: Fraction, about: float) -> tuple[Pairs, list[Any]]:
    """A table that is at least its own contraction, and the thresholds at its nodes, for an approximate epsilon."""
    goal = Goal(None, float(delta), inf, lambda _: inf)
    g = goal.nodes(about, _TABLE)
    block, table, last = Block(g, near.table, far.table), unknown(g), inf
    for _ in range(_ROUNDS):
        table = block.after(table).hull()
        if goal.value(table) < inf and last - goal.value(table) <= 1e-5 * about:
            break
        last = goal.value(table)
    for lift in _LIFTS:
        values = np.minimum(table.ahead * (1 + lift) + lift * float(delta), 1.0)
        lifted = Table(g, values, values).hull()
        pairs, places = _whole(lifted, scale)
        block.after(lifted)
        found = _thresholds(DiscretePair.of(lifted).ratio, places, *block.thresholds[True])
        if all(_node_ok(scale, (pairs, near.pairs, far.pairs), *one) for one in zip(pairs, found, strict=True)):
            return pairs, found
    raise UncertifiedError("Coq needs a table that is at least its own contraction, got none; use a larger delta.")


def _thresholds(ratio: Array, places: list[int], low: Sequence[int], high: Sequence[int]) -> list[Any]:
    """For each atom (h, l) with u = min(p, h q) and v = min(q, p / l), and for the atom of ratio 0."""
    one, found = len(ratio) // 2, list[Any]()

    def at(k: int) -> tuple[int, int]:
        return (1, _BEYOND) if k < 0 else (_BEYOND, 1) if k == len(ratio) else (int(ratio[k] * _FINE), _FINE)

    for k in places:
        h, l = at(high[abs(k - one)]), at(low[abs(k - one)])
        found.append((h, l) if k >= one else (l[::-1], h[::-1]))
    return [*found, ((1, 1), (1, 1))]


def _node_ok(scale: int, tables: tuple[Pairs, Pairs, Pairs], node: tuple[int, int], thresholds: Any) -> bool:
    """The check of checker.v at a node."""
    (T, N, F), (n, m), (h, l) = tables, node, thresholds
    parts = [(max(0, min(p, q * h[0] // h[1])), max(0, min(q, p * l[1] // l[0]))) for p, q in T]
    A, B = scale - sum(u for u, _ in parts), scale - sum(v for _, v in parts)
    total = sum(scaled(scale, N, m * u, n * v) for u, v in parts) + scaled(scale, F, m * A, n * B)
    return total <= scale * scaled(scale, T, m, n)


def _epsilon(scale: int, table: Pairs, delta: Fraction) -> tuple[Fraction, tuple[int, int]]:
    """The least epsilon, in millionths, at which a table is at most delta, and a number below e^epsilon."""
    low, high = 0, 100 * _MICRO

    def below(k: int) -> int:
        return int(exp(k / _MICRO) * (1 - 1e-12) * _FINE)

    while low < high:
        k = (low + high) // 2
        reached = scaled(scale, table, _FINE, below(k)) <= delta * _FINE * scale
        low, high = (low, k) if reached else (k + 1, high)
    return Fraction(high, _MICRO), (below(high), _FINE)


Line = tuple[str, str, Fraction, Fraction]
"""c and s of an expansion c z + s, in the names of a file and as numbers."""


def _number(pair: Sequence[int]) -> Fraction:
    return pair[0] * Fraction(2) ** pair[1]


def _lines(named: Mapping[str, Fraction], loss: str) -> list[Line]:
    """The expansions of a step that uses the sample (docs/proofs/expansions.md)."""
    eta, b, K, L = named["step_size"], named["batch"], named["clip"], named.get("L", Fraction(0))
    moved, weight, share = 2 * eta * K / b, eta * (b - 1) / b, "step_size * (batch - 1) / batch"
    if "convex" in loss:
        slope = max(1 - eta * named.get("m", 0), eta * L - 1)
        least = "1 - step_size * m" if "m" in named else "1"
        first = f"Rmax ({least}) (step_size * L - 1)", "moved", slope, moved
        return [first, ("1", "2 * step_size * clip + moved", Fraction(1), 2 * eta * K + moved)]
    capped = "1", f"2 * ({share}) * clip + moved", Fraction(1), 2 * weight * K + moved
    return [(f"1 + {share} * L", "moved", 1 + weight * L, moved), capped] if "L" in named else [capped]


def _shifts(node: Node, steps: int, start: Fraction, line: Line) -> list[float]:
    """Shifts of a path of a certificate; the last one hides whatever is left."""
    if node["rule"] == "composition":
        return [inf] * steps
    if node["rule"] == "path":
        return [float(_number(row)) for row in node["shifts"] for _ in range(row[2])] + [inf]
    c, s, m = float(line[2]), float(line[3]), steps - node["start"]
    hidden = c**m * float(start) + s * sum(c**k for k in range(m))
    return [c ** (m - 1 - k) * hidden / sum(c ** (2 * j) for j in range(m)) for k in range(m)]


def _hidden(
    start: Fraction, shifts: list[float], lines: list[Line], noise: Fraction
) -> tuple[list[tuple[int, int, int]], Fraction]:
    """A path to distance 0, last step first: shift, distance left and line of each step; and its mu."""
    z, path = ceil(start * _UNITS), list[tuple[int, int, int]]()
    for k, shift in enumerate(shifts, 1):
        reached, line = min((ceil(c * z + s * _UNITS), i) for i, (_, _, c, s) in enumerate(lines))
        a = max(reached if k == len(shifts) or shift * _UNITS >= reached else ceil(shift * _UNITS), 1)
        z = max(reached - a, 0)
        path.insert(0, (a, z, line))
    squared = sum(a * a for a, _, _ in path) * _FINE**2 / (noise * _UNITS) ** 2
    return path, Fraction(isqrt(ceil(squared)) + 1, _FINE)


def _need(holds: bool, what: str, got: Any) -> None:
    if not holds:
        raise UncertifiedError(f"A Coq file needs {what}, got {got}; the certificate itself can be verified without Coq.")


def _list(ones: Iterable[Any]) -> str:
    return f"[:: {'; '.join(str(one) for one in ones)}]"


def written(top: Node, said: str) -> str:
    """The Coq file of a certificate that says ``said``; raises `UncertifiedError` if Coq has no rules for it."""
    run, loss, claim, proof = top["run"], top["class"], top["claim"], top["proof"]
    _need(claim["quantity"] == "dp", "an (epsilon, delta)", claim["quantity"])
    _need(proof["rule"] == "from table", "a bound by contraction", f"the rule {proof['rule']!r}")
    _need(run["scheme"] == "full", "full batches", f"{run['scheme']} batches")
    known = loss["name"] in ("smooth", "convex", "strongly_convex", "clipped")
    _need(known, "smooth, convex, strongly convex or clipped losses", loss["name"])
    named = {"step_size": _number(run["step_size"][0]), "noise": _number(run["noise_std"][0])}
    named |= {"clip": _number(run["clip_norm"]), "batch": Fraction(run["batch_size"])}
    named |= {"diameter": _number(run["diameter"])} | {x: _number(loss[x]) for x in "Lm" if x in loss}
    noise, lines, stage = named["noise"], _lines(named, loss["name"]), proof["of"]["blocks"][-1]
    starts = {"near": Fraction(0), "far": named["diameter"]}
    shifts = {name: _shifts(stage[name], stage["steps"], z, lines[0]) for name, z in starts.items()}
    length = min(map(len, shifts.values()))
    hidden = {name: _hidden(z, shifts[name][-length:], lines, noise) for name, z in starts.items()}
    delta, value = _number(claim["at"]), _number(claim["value"])
    delta = min(Fraction(repr(float(delta))), delta)
    scale = 2 ** (20 + ceil(-log2(delta)))
    cost = {name: _Cost.of(float(hidden[name][1]), scale, float(delta), k) for name, k in _COUNTS.items()}
    table, thresholds = _carried(scale, cost["near"], cost["far"], delta, float(value))
    epsilon, below = _epsilon(scale, table, delta)
    each = ((max(c, Fraction(0)).as_integer_ratio(), s.as_integer_ratio()) for _, _, c, s in lines)
    fields = {
        "said": said,
        "epsilon": f"{float(epsilon):g}",
        "delta": f"{float(delta):g}",
        "more": f"{float(epsilon / value - 1):.2%}",
        "numbers": "\n".join(f"Definition {name} : R := {quotient(x)}." for name, x in named.items()),
        "names": ", ".join(named),
        "lines": _list(f"({c}, {s})" for c, s, _, _ in lines),
        "noise": noise.as_integer_ratio(),
        "used": _list(f"line{k}" for k in range(len(lines))),
        "used_lines": "\n".join(f"Definition line{k} : line := {one}." for k, one in enumerate(each)),
        "table": _list(table),
        "thresholds": _list(thresholds),
        "scale": scale,
        "units": _UNITS,
        "widest": ceil(starts["far"] * _UNITS),
        "below": below,
        "delta_of": delta.as_integer_ratio(),
        "delta_of_real": "{} / {}".format(*delta.as_integer_ratio()),
        "epsilon_of": "{} / {}".format(*epsilon.as_integer_ratio()),
        "nodes": "\n".join(nodes(name, hidden[name][1], scale, cost[name].pairs) for name in starts),
        "composition": "gaussian_composition -> " * (length > 1),
        "introduce": "move=> composes; " * (length > 1),
        "short": "by []" if length == 1 else "by move=> _; exact: composes",
    }
    for name, (path, mu) in hidden.items():
        fields[f"{name}_path"] = _list(f"({a}, {z}, line{k})" for a, z, k in path)
        fields[f"{name}_mu"], fields[f"{name}_cost"] = mu.as_integer_ratio(), _list(cost[name].pairs)
    template = resources.files("lastiterate.proofs_checks.certificates") / "accepted.v.template"
    return Template(template.read_text(encoding="utf-8")).substitute(fields)
