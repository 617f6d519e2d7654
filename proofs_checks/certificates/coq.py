"""Coq files for certificates: theorems that Coq checks in whole numbers, by the rules in proofs_checks/coq.

`written` reads what a certificate claims of a run and searches for paths and tables in whole numbers. Nothing
that it finds is trusted: Coq refuses numbers that are wrong, and the last theorem of the file says what was
proved. See docs/proofs/coq.md, "A certificate".
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from importlib import resources
from itertools import takewhile
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
_Costs = dict[str, _Cost]
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


def _enclosed(name: str, places: Iterable[Fraction], bits: int) -> tuple[list[str], dict[Fraction, str]]:
    """Lemmas that enclose I at growing points, and the name of the lemma at each point."""
    points = sorted({abs(x) for x in places})
    with workprec(bits + 60):
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
    return made, known


def _nodes(name: str, mu: Fraction, scale: int, table: Pairs, bits: int) -> str:
    """Lemmas that a table of whole numbers is at least theta at its nodes."""
    with workprec(bits + 60):
        each = {pq: floor(log(mpf(pq[0]) / pq[1]) / mu * 2**bits - 2) for pq in table if pq[0]}
    at = {pq: Fraction(int(s), 2**bits) for pq, s in each.items()}
    made, known = _enclosed(name, (sign * mu / 2 - s for s in at.values() for sign in (1, -1)), bits)
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


def _carried(
    scale: int, costs: _Costs, clean: list[_Cost] | None, delta: float, about: float, count: int = _TABLE
) -> tuple[Pairs, Pairs, list[Any]]:
    """A table that is at least its own contraction, the table before the last block, and thresholds at the nodes.

    The blocks in ``clean``, which do not use the sample, come before the last block of a cyclic run.
    """
    goal = Goal(None, delta, inf, lambda _: inf)
    for stretch in _STRETCHES:
        g = np.exp(np.linspace(0, stretch * about, count))
        block, table, last = Block(g, costs["near"][1], costs["far"][1]), unknown(g), inf
        others = [Block(g, None, one[1]) for one in clean or ()]

        def passed(table: Table, others: list[Block] = others) -> Table:
            for other in others:
                table = other.after(table)
            return table.hull()

        for _ in range(_ROUNDS):
            table = block.after(passed(table)).hull()
            if goal.value(table) < inf and last - goal.value(table) <= 1e-5 * about:
                break
            last = goal.value(table)
        for lift in _LIFTS if goal.value(table) < inf else ():
            lifted = _lifted(table, lift, delta)
            before = lifted if clean is None else _lifted(passed(lifted), _LIFTS[0] / 100, delta)
            (pairs, places), (middle, _) = _whole(lifted, scale), _whole(before, scale)
            block.after(before)
            found = _thresholds(DiscretePair.of(before).ratio, places, block)
            tables = middle, costs["near"][0], costs["far"][0], pairs
            fits = all(_node_ok(scale, tables, *one) for one in zip(pairs, found, strict=True))
            if fits and all(
                _clean_ok(scale, pairs, middle, clean, node) for node in middle if clean is not None
            ):
                return pairs, middle, found
    raise UncertifiedError(
        "Coq needs a table that is at least its own contraction, got none; use a larger delta."
    )


def _lifted(table: Table, lift: float, delta: float) -> Table:
    ahead, back = (np.minimum(one * (1 + lift) + lift * delta, 1.0) for one in (table.ahead, table.back))
    return Table(table.g, ahead, ahead if table.symmetric else back).hull()


def _thresholds(ratio: Array, places: list[int], block: Block) -> list[Any]:
    """For each atom (h, j) with u = min(p, h q) and v = min(q, p / j), and for the atom of ratio 0."""
    one, found = len(ratio) // 2, list[Any]()

    def at(k: int) -> tuple[int, int]:
        return (1, _BEYOND) if k < 0 else (_BEYOND, 1) if k == len(ratio) else (int(ratio[k] * _FINE), _FINE)

    for k in places:
        low, high = block.thresholds[k >= one or block.symmetric]
        h, j = at(high[abs(k - one)]), at(low[abs(k - one)])
        found.append((h, j) if k >= one else (j[::-1], h[::-1]))
    return [*found, ((1, 1), (1, 1))]


def _node_ok(
    scale: int, tables: tuple[Pairs, Pairs, Pairs, Pairs], node: tuple[int, int], thresholds: Any
) -> bool:
    """The check of checker.v at a node."""
    (T, N, F, after), (n, m), (h, j) = tables, node, thresholds
    parts = [(max(0, min(p, q * h[0] // h[1])), max(0, min(q, p * j[1] // j[0]))) for p, q in T]
    A, B = scale - sum(u for u, _ in parts), scale - sum(v for _, v in parts)
    total = sum(_scaled(scale, N, m * u, n * v) for u, v in parts) + _scaled(scale, F, m * A, n * B)
    return total <= scale * _scaled(scale, after, m, n)


def _clean_ok(scale: int, table: Pairs, after: Pairs, clean: list[_Cost], node: tuple[int, int]) -> bool:
    """The check of clean.v at a node."""
    n, m = node
    a = min(scale, -(-_scaled(scale, table, m, n) // m))
    for far, _, _ in clean:
        a = min(scale, -(-_scaled(scale, far, m * a, m * a + (n - m) * scale) // (scale * m))) if a > 0 else 0
    return m * a <= _scaled(scale, after, m, n)


def _epsilon(scale: int, table: Pairs, delta: Fraction) -> tuple[Fraction, tuple[int, int]]:
    """The least epsilon, in millionths, at which a table is at most delta, and a number below e^epsilon."""

    def below(k: int) -> int:
        return int(exp(k / _MICRO) * (1 - 1e-12) * _FINE)

    most = delta * _FINE * scale
    k = bisect_left(range(100 * _MICRO), True, key=lambda k: _scaled(scale, table, _FINE, below(k)) <= most)
    return Fraction(k, _MICRO), (below(k), _FINE)


Line = tuple[str, str, Fraction, Fraction]
"""c and s of an expansion c z + s, in the names of a file and as numbers."""
_Lines = Callable[[int], list[tuple[int, Line]]]
"""The numbered expansions of a step before so many others."""


def _lines(named: Mapping[str, Fraction], *, used: bool = True) -> list[Line]:
    """The expansions of a step that uses the sample, or of one that does not (docs/proofs/expansions.md)."""
    eta, b, K, L = (named[x] for x in ("step_size", "batch", "clip", "L"))
    moved, said = (2 * eta * K / b, "moved") if used else (Fraction(0), "0")
    weight, share = (eta * (b - 1) / b, "step_size * (batch - 1) / batch") if used else (eta, "step_size")
    if "m" in named:
        slope = max(1 - eta * named["m"], eta * L - 1)
        first = "Rmax (1 - step_size * m) (step_size * L - 1)", said, slope, moved
        return [first, ("1", f"2 * step_size * clip + {said}", Fraction(1), 2 * eta * K + moved)]
    capped = "1", f"2 * ({share}) * clip + {said}", Fraction(1), 2 * weight * K + moved
    return [(f"1 + {share} * L", said, 1 + weight * L, moved), capped]


def _path(node: Node, steps: int, start: Fraction, lines: _Lines) -> Path:
    """A path over steps from a distance to 0 along the shifts of a certificate, which are rounded up."""
    z, path, (_, (_, _, slope, offset)) = ceil(start * _UNITS), Path(), lines(0)[0]
    m = steps if node["rule"] == "composition" else steps + node["since"] - node["start"]
    shifts = [0.0] * (steps - m) + [inf] * m
    if node["rule"] == "path":
        shifts[-m:] = [from_dyadic(row) for row in node["shifts"] for _ in range(row[2])] + [inf]
    for k, shift in enumerate(shifts, 1):
        if node["rule"] == "straight" and k == steps - m + 1:
            powers = [float(slope) ** j for j in range(m + 1)]
            total = powers[m] * z / _UNITS + float(offset) * sum(powers[:m])
            least = total / sum(one**2 for one in powers[:m])
            shifts[-m:] = [one * least for one in powers[:m][::-1]]
            shift = shifts[-m]
        reached, line = min((ceil(c * z + s * _UNITS), i) for i, (_, _, c, s) in lines(steps - k))
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


def _tables(
    blocks: list[Node], named: _Named, lines: _Lines, free: _Lines, delta: Fraction, about: float
) -> _Filled:
    """Fields of a file for a contraction, its epsilon, and the largest number of steps of a path.

    The last block uses the sample, in its last step if batches are cyclic; the blocks before it do not.
    """
    *clean, last = blocks
    each = {"near": (last, Fraction(0), lines), "far": (last, named["diameter"], lines)}
    each |= {f"clean{k}": (one, named["diameter"], free) for k, one in enumerate(clean)}
    paths, at = dict[str, Path](), float(delta)
    for name, (stage, start, steps) in each.items():
        node = stage["near" if name == "near" else "far"]
        paths[name] = _path(node, stage["steps"] - node.get("since", 0), start, steps)
    least = min(len(paths["near"]), len(paths["far"]))
    paths |= {"near": paths["near"][: 1 if free(0) else least], "far": paths["far"][:least]}
    mu = {name: _mu(path, named["noise"]) for name, path in paths.items()}
    scale = 2 ** (20 + ceil(_furthest(float(max(mu.values())), at) / np.log(2) - np.log2(at)))
    cost = {name: _cost(float(one), scale, at, _COUNTS.get(name, _COUNTS["far"])) for name, one in mu.items()}
    counts = [(f"clean{k}", stage["times"]) for k, stage in enumerate(clean)]
    passed = [cost[name] for name, n in counts for _ in range(n)] if free(0) else None
    table, before, thresholds = _carried(scale, cost, passed, at, about)
    epsilon, below = _epsilon(scale, table, delta)
    fields = {
        "table": _list(table),
        "before": _list(before),
        "thresholds": _list(thresholds),
        "scale": scale,
        "widest": ceil(named["diameter"] * _UNITS),
        "below": below,
        "nodes": "\n".join(_nodes(name, mu[name], scale, one[0], one[2]) for name, one in cost.items()),
        "clean": _list(f"Clean {n} {name}_mu {name}_path {name}_cost" for name, n in counts),
        "each_clean": " ".join(f"apply: List.Forall_cons; first exact: {name}_nodes." for name, _ in counts),
    }
    fields["costs"] = "\n".join(
        f"Definition {name}_path : path := {_list(f'({a}, {z}, line{k})' for a, z, k in path)}.\n"
        f"Definition {name}_mu : Z * Z := {mu[name].as_integer_ratio()}.\n"
        f"Definition {name}_cost : seq (Z * Z) := {_list(cost[name][0])}."
        for name, path in paths.items()
    )
    return fields, epsilon, max(map(len, paths.values()))


def _gaussian(node: Node, steps: int, named: _Named, lines: _Lines, delta: Fraction) -> _Filled:
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
    schemes = "full, cyclic or Poisson batches, or batches without replacement"
    _need(run["scheme"] in ("full", "cyclic"), schemes, f"{run['scheme']} batches")
    _need(loss["name"] in ("smooth", "convex", "strongly_convex"), "smooth or convex losses", loss["name"])
    _need(loss["L"] is not None, "a finite L", "L=inf")
    _need(len(run["step_size"]) == len(run["noise_std"]) == 1, "equal steps", "a schedule")
    _need(run["diameter"] is not None, "a bounded domain", "none")
    numbers = {"step_size": run["step_size"][0], "noise": run["noise_std"][0], "clip": run["clip_norm"]}
    numbers |= {"diameter": run["diameter"]} | {letter: loss[letter] for letter in "Lm" if letter in loss}
    named = {"batch": Fraction(run["batch_size"])} | {k: Fraction(from_dyadic(x)) for k, x in numbers.items()}
    named |= {"m": Fraction(0)} if loss["name"] == "convex" else {}
    period, value = run["dataset_size"] // run["batch_size"], from_dyadic(claim["value"])
    used, unused = _lines(named), _lines(named, used=False) if period > 1 else []
    every = list(enumerate([*used, *unused]))

    def free(_: int) -> list[tuple[int, Line]]:
        return every[len(used) :]

    def lines(left: int) -> list[tuple[int, Line]]:
        return free(left) if left % period else every[: len(used)]

    delta = Fraction(from_dyadic(claim["at"]))
    delta = min(Fraction(repr(float(delta))), delta)
    if tables:
        *others, last = proof["of"]["blocks"]
        clean = list(takewhile(lambda one: one["near"] is None, others[::-1]))[::-1]
        fields, epsilon, length = _tables([*clean, last], named, lines, free, delta, value)
    else:
        of = proof["of"]["of"][0] if proof["of"]["rule"] == "positions" else proof["of"]
        fields, epsilon, length = _gaussian(of, run["steps"], named, lines, delta)
    each = ((c.as_integer_ratio(), s.as_integer_ratio()) for _, (_, _, c, s) in every)
    fields |= {
        "said": said,
        "every": ", for every number of steps," * tables,
        "epsilon": f"{float(epsilon):.6f}".rstrip("0").rstrip("."),
        "delta": repr(float(delta)),
        "times": f"{float(epsilon) / value:.4f}",
        "numbers": "\n".join(f"Definition {name} : R := ({x})." for name, x in named.items()),
        "names": ", ".join(named),
        "lines": _list(f"({c}, {s})" for c, s, _, _ in used),
        "without": _list(f"({c}, {s})" for c, s, _, _ in unused),
        "period": period,
        "noise": named["noise"].as_integer_ratio(),
        "used": _list(f"line{k}" for k, _ in lines(0)),
        "unused": _list(f"line{k}" for k, _ in free(0)),
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
    kind = ("cyclic_" if period > 1 else "") + ("carried" if tables else "path")
    parts = [folder / f"{name}.v.template" for name in ("head", kind)]
    return Template("\n".join(part.read_text(encoding="utf-8") for part in parts)).substitute(fields)
