"""Coq files for certificates: theorems that Coq checks in whole numbers, by the rules in proofs_checks/coq.

`coq_file` reads what a certificate claims of a run and searches for paths and tables in whole numbers. Nothing
that it finds is trusted: Coq refuses numbers that are wrong, and the last theorem of the file says what was
proved. For batches without replacement and Poisson batches, the file carries a table by contraction, whatever rule
the certificate uses. See docs/proofs/coq.md, "A certificate".
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise, takewhile
from math import ceil, exp, inf, isqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from flint import arb
from jinja2 import Environment, PackageLoader, StrictUndefined
from mpmath import erf, floor, log, mpf, ncdf, pi, sqrt, workprec
from mpmath import exp as mp_exp

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.certificates.description import Node, UncertifiedError, from_dyadic
from lastiterate.numeric.contraction.block import Block, DiscretePair
from lastiterate.numeric.contraction.chain import Goal, resample
from lastiterate.numeric.contraction.random_batches import outcomes
from lastiterate.numeric.contraction.table import Table, tabulate, unknown
from lastiterate.numeric.rounding import exact
from lastiterate.proofs_checks.certificates.checker import gaussians

Pairs = list[tuple[int, int]]
Path = list[tuple[int, int, str]]
"""Steps of a path, the last one first: shift, distance left, and name of the line."""
_Named = dict[str, Fraction]
_Cost = tuple[Pairs, Table, int]
_Costs = dict[str, _Cost]
_Filled = tuple[Node, Fraction]
_UNITS, _FINE, _MICRO = 10**15, 10**9, 10**6
"""Units of distances, of mu and e^epsilon, and of epsilon."""
_COUNTS, _TABLE, _STRETCHES = {"near": 32, "far": 40}, 60, (1.3, 2.0, 4.0)
"""Numbers of nodes from 1 on of the tables of costs and of the table carried through the blocks, and logarithms of
its last node relative to epsilon, tried in turn."""
_ROUNDS, _LIFTS = 400, (1e-6, 1e-5, 1e-4, 1e-3)
"""Maximum number of blocks until a table is final, and amounts by which it is lifted until Coq accepts it."""
_BINS, _WINDOWS, _PASSES, _NODES, _WIDE = 6, (1, 2, 3, 4, 6, 9, 14, 20), 6, 24, 32
"""Number of costs of a far path for different numbers of uses; numbers of steps of a block, tried in turn; numbers
of searches, each with the epsilon found before; and nodes from 1 on of the cost of the sample's move and of the
table carried through the blocks."""
_LEAST, _BEYOND = 1000, 2**60
"""Smallest mass of an atom, and a ratio beyond those of all atoms."""


def _scaled(scale: int, table: Pairs, m: int, n: int) -> int:
    """m times the scale times the value of a table at n / m, as in checker.v."""
    return m * (scale - sum(p for p, _ in table)) + sum(max(m * p - n * q, 0) for p, q in table)


def _enclosed(name: str, places: Iterable[Fraction], bits: int) -> tuple[list[Any], dict[Fraction, str]]:
    """Lemmas that enclose I at growing points, for ``macros.v.j2``, and the name of the lemma at each point."""
    points = sorted({abs(x) for x in places})
    with workprec(bits + 60):
        values = [
            int(floor(sqrt(pi / 2) * erf(mpf(x.numerator) / x.denominator / sqrt(2)) * 2**bits)) for x in points
        ]
    known, made = {Fraction(0): "zero"}, list[Any]()
    x0, v0, low, high = Fraction(0), 0, 0, 0
    for x, v in zip(points, values, strict=True):
        ends = low, high, v - v0 - 2, v - v0 + 3
        low, high = low + ends[2], high + ends[3]
        a, b, *said = (Fraction(one, 2**bits) for one in (low, high, *ends))
        made.append((f"{name}_at{len(made)}", x0, x, known[x0], a, b, said))
        known[x], x0, v0 = made[-1][0], x, v
    return made, known


def _nodes(name: str, mu: Fraction, scale: int, cost: _Cost) -> dict[str, Any]:
    """Lemmas that a table of whole numbers is at least theta at its nodes, for ``macros.v.j2``."""
    table, _, bits = cost
    with workprec(bits + 60):
        each = {pq: floor(log(mpf(pq[0]) / pq[1]) / mu * 2**bits - 2) for pq in table if pq[0]}
    at = {pq: Fraction(int(s), 2**bits) for pq, s in each.items()}
    made, known = _enclosed(name, (sign * mu / 2 - s for s in at.values() for sign in (1, -1)), bits)
    nodes = [
        (p, q, s, _scaled(scale, table, q, p), [known[abs(sign * mu / 2 - s)] for sign in (1, -1)])
        for (p, q), s in at.items()
    ]
    sizes = {"mu": mu, "scale": scale, "bits": bits}
    return {"name": name, **sizes, "pairs": table, "lemmas": made, "nodes": nodes}


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
_Lines = Callable[[int], list[tuple[str, Line]]]
"""The expansions of a step before so many others, with their names."""


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


def _printed(value: Any) -> str:
    """Lists, pairs and truth values of Python in Coq; other values as they are."""
    if isinstance(value, list | tuple):
        inside = "; " if isinstance(value, list) else ", "
        return ("[:: {}]" if isinstance(value, list) else "({})").format(inside.join(map(_printed, value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _root(square: Fraction) -> Fraction:
    """The square root, rounded up."""
    return Fraction(isqrt(ceil(square * _FINE**2)) + 1, _FINE)


def _mu(path: Path, noise: Fraction) -> Fraction:
    """The root of the sum of the squares of the shifts over the noise, rounded up."""
    return _root(sum(a * a for a, _, _ in path) / (noise * _UNITS) ** 2)


def _tables(
    blocks: list[Node], named: _Named, lines: _Lines, free: _Lines, delta: Fraction, about: float
) -> _Filled:
    """Fields of a file for a contraction, and its epsilon.

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
        "table": table,
        "before": before,
        "thresholds": thresholds,
        "scale": scale,
        "widest": ceil(named["diameter"] * _UNITS),
        "below": below,
        "costs": [_nodes(name, mu[name], scale, one) | {"path": paths[name]} for name, one in cost.items()],
        "clean": counts,
        "length": max(map(len, paths.values())),
    }
    return fields, epsilon


def _gaussian(node: Node, steps: int, named: _Named, lines: _Lines, delta: Fraction) -> _Filled:
    """Fields of a file for a Gaussian path over the last steps, and its epsilon."""
    since = node.get("since", 0)
    start = named["diameter"] if since else Fraction(0)
    path = _path(node, steps - since, start, lines)
    mu = _mu(path, named["noise"])
    epsilon = Fraction(ceil(gdp_epsilon(float(mu), float(delta)) * _MICRO) + 1, _MICRO)
    fields = {"steps": steps, "since": since, "start": ceil(start * _UNITS), "path": path, "path_mu": mu}
    return fields | {"length": len(path)}, epsilon


def _run(top: Node) -> tuple[_Named, Fraction, float]:
    """Numbers of the run of a certificate by name, its delta, and its epsilon."""
    run, loss, claim = top["run"], top["class"], top["claim"]
    _need(loss["name"] in ("smooth", "convex", "strongly_convex"), "smooth or convex losses", loss["name"])
    _need(loss["L"] is not None, "a finite L", "L=inf")
    _need(len(run["step_size"]) == len(run["noise_std"]) == 1, "equal steps", "a schedule")
    _need(run["diameter"] is not None, "a bounded domain", "none")
    _need("at" in claim, "an (epsilon, delta)", "another claim")
    numbers = {"step_size": run["step_size"][0], "noise": run["noise_std"][0], "clip": run["clip_norm"]}
    numbers |= {"diameter": run["diameter"]} | {letter: loss[letter] for letter in "Lm" if letter in loss}
    named = {"batch": Fraction(run["batch_size"])} | {k: Fraction(from_dyadic(x)) for k, x in numbers.items()}
    named |= {"m": Fraction(0)} if loss["name"] == "convex" else {}
    delta = Fraction(from_dyadic(claim["at"]))
    return named, min(Fraction(repr(float(delta))), delta), from_dyadic(claim["value"])


def _fill_in(
    kinds: tuple[str, str], said: str, named: _Named, delta: Fraction, value: float, filled: _Filled
) -> str:
    """Coq file from two templates; ``value`` is the epsilon of the certificate."""
    loader = PackageLoader("lastiterate.proofs_checks", "certificates")
    made = Environment(  # noqa: S701 - text
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["coq"] = _printed
    fields, epsilon = filled
    run = {"said": said, "named": named, "epsilon": epsilon, "delta": delta, "value": value, "units": _UNITS}
    return "\n".join(made.get_template(f"{kind}.v.j2").render(fields | run) for kind in kinds)


def _known(top: Node, said: str) -> str:
    """Coq file of a certificate for full or cyclic batches."""
    run, proof = top["run"], top["proof"]
    rule, tables = f"the rule {proof['rule']!r}", proof["rule"] == "from table"
    _need(tables or proof["rule"] == "from gdp", "an (epsilon, delta) by contraction or a Gaussian path", rule)
    schemes = "full, cyclic or Poisson batches, or batches without replacement"
    _need(run["scheme"] in ("full", "cyclic"), schemes, f"{run['scheme']} batches")
    named, delta, value = _run(top)
    period = run["dataset_size"] // run["batch_size"]
    used, unused = _lines(named), _lines(named, used=False) if period > 1 else []
    every = [(f"line{k}", one) for k, one in enumerate([*used, *unused])]

    def free(_: int) -> list[tuple[str, Line]]:
        return every[len(used) :]

    def lines(left: int) -> list[tuple[str, Line]]:
        return free(left) if left % period else every[: len(used)]

    if tables:
        *others, last = proof["of"]["blocks"]
        clean = list(takewhile(lambda one: one["near"] is None, others[::-1]))[::-1]
        fields, epsilon = _tables([*clean, last], named, lines, free, delta, value)
    else:
        of = proof["of"]["of"][0] if proof["of"]["rule"] == "positions" else proof["of"]
        fields, epsilon = _gaussian(of, run["steps"], named, lines, delta)
    fields |= {"period": period, "used_lines": used, "unused_lines": unused}
    kind = ("cyclic_" if period > 1 else "") + ("carried" if tables else "path")
    return _fill_in(("head", kind), said, named, delta, value, (fields, epsilon))


def _value(scale: int, table: Pairs, ratio: float) -> float:
    rest = scale - sum(p for p, _ in table)
    return (rest + sum(max(p - ratio * q, 0.0) for p, q in table)) / scale


def _fits(table: Table, scale: int, delta: float, accepts: Callable[[Pairs], bool]) -> tuple[Pairs, Table]:
    """The table in whole numbers, lifted until it is accepted, and its values."""
    for lift in _LIFTS:
        lifted = _lifted(table, lift / 10, delta)
        pairs, _ = _whole(lifted, scale)
        if accepts(pairs):
            ahead = np.array([_value(scale, pairs, r) for r in table.g]) * (1 + 1e-9)
            back = np.array([1 - r + r * _value(scale, pairs, 1 / r) for r in table.g]) * (1 + 1e-9) + 1e-15
            return pairs, Table(table.g, np.minimum(ahead, 1.0), np.minimum(back, 1.0)).hull()
    raise UncertifiedError("Coq needs a table of the costs, got none; use a larger delta.")


def _one_step(q: Fraction, scale: int, cost: _Cost, delta: float, *, swapped: bool) -> tuple[Pairs, Table]:
    """The cost of a step whose batch contains the sample with probability q."""
    pairs, known, _ = cost
    rate, a, b = float(q), q.numerator, q.denominator

    def up(g: float) -> float:
        return 1 - g if g <= 1 - rate else rate * _value(scale, pairs, (g - 1 + rate) / rate)

    def coin(n: int, m: int) -> int:
        return _scaled(scale, pairs, a * m, n * b - (b - a) * m)

    def accepted(one: Pairs, n: int, m: int) -> bool:
        if swapped and n < m:
            return not n or (m - n) * scale * b + coin(m, n) <= b * _scaled(scale, one, m, n)
        return n * b <= (b - a) * m or coin(n, m) <= b * _scaled(scale, one, m, n)

    g = np.unique(np.concatenate([1 + rate * (known.g - 1), 1 / (1 + rate * (1 / known.g - 1))]))
    g[0] = 1.0
    ahead = np.array([up(x) for x in g])
    back = ahead.copy() if swapped else np.array([1 - x + x * up(1 / x) for x in g])
    ahead[0] = back[0] = min(ahead[0], back[0])
    tight = Table(g, np.minimum.accumulate(ahead), np.minimum.accumulate(np.maximum(back, 0.0)))
    return _fits(tight.hull(), scale, delta, lambda one: all(accepted(one, *node) for node in one))


def _composed(
    w: int, scale: int, one: tuple[Pairs, Table], g: Any, delta: float
) -> tuple[list[tuple[bool, Pairs]], Pairs, Table]:
    """The plan of tables of more steps, and the last table."""
    (pairs, table), plan = one, list[tuple[bool, Pairs]]()
    sure, ends = [(0, scale)], ((scale, 1), (1, scale))
    for bit in bin(w)[3:]:
        for twice in (True, False)[: 1 + int(bit)]:
            other = (pairs, table) if twice else one
            made = Block(g, other[1], unknown(g)).after(resample(table, g)).hull()
            before, near = pairs, other[0]

            def accepts(found: Pairs, before: Pairs = before, near: Pairs = near) -> bool:
                return all(_node_ok(scale, (before, near, sure, found), node, ends) for node in found)

            pairs, table = _fits(made, scale, delta, accepts)
            plan.append((twice, pairs))
    return plan, pairs, table


def _far(mus: list[Fraction], probabilities: list[float], scale: int, delta: float) -> tuple[Pairs, Table, int]:
    """The mean of the costs of a far path, and a number of bits that shows it."""
    end = _furthest(float(mus[-1]), delta)

    def mean(t: arb) -> arb:
        return sum(
            (exact(p) * gaussians(exact(float(m)), t) for m, p in zip(mus, probabilities, strict=True)), arb(0)
        )

    known = tabulate(mean, np.linspace(0, end, _NODES))
    values = np.minimum(known.ahead * (1 + 1e-6), 1.0)
    pairs, _ = _whole(Table(known.g, values, values), scale)
    back = [1 - r + r * _value(scale, pairs, 1 / r) for r in known.g]
    values = np.minimum(np.maximum([_value(scale, pairs, r) for r in known.g], back) * (1 + 1e-9), 1.0)
    bits = 56 + ceil(np.log2(known.g[-1] / (delta * min(float(mus[0]), 1.0))))
    return pairs, Table(known.g, values, values), bits


def _far_values(mus: list[Fraction], scale: int, cost: _Cost) -> dict[str, Any]:
    """Values of the costs of a far path at the nodes of their mean, with lemmas for ``macros.v.j2``."""
    table, _, bits = cost
    found, at = list[list[int]](), list[tuple[Fraction, list[Fraction]]]()
    with workprec(bits + 60):
        for n, m in table:
            if not n:
                found.append([])
                continue
            r = Fraction(int(floor(log(mpf(n) / m) * 2**bits - 2)), 2**bits)
            ratio, row = mp_exp(mpf(r.numerator) / r.denominator), list[int]()
            for mu in mus:
                s, half = r / mu, mu / 2
                x, y = (mpf(z.numerator) / z.denominator for z in (half - s, -half - s))
                over = ncdf(x) - ratio * ncdf(y) - max(1 - ratio, 0)
                off = mpf(2) ** (4 - bits) * (1 + ratio) * len(table) * len(mus)  # of all enclosures
                theta = max(1 - ratio, 0) + over * (1 + mpf(10) ** -7) + off
                row.append(int(floor(theta * m * scale)) + 1)
            found.append(row)
            at.append((r, [r / mu for mu in mus]))
    places = (e * mu / 2 - s for _, each in at for mu, s in zip(mus, each, strict=True) for e in (1, -1))
    made, lemmas = _enclosed("far", places, bits)
    nodes = [
        (r, [(mu, s, [lemmas[abs(e * mu / 2 - s)] for e in (1, -1)]) for mu, s in zip(mus, each, strict=True)])
        for r, each in at
    ]
    return {"values": found, "bits": bits, "lemmas": made, "nodes": nodes}


def coq_file(top: Node, said: str) -> str:
    """Coq file of a certificate; ``said`` is what the checker says of it.

    Raises:
        UncertifiedError: the theorems in Coq do not cover the certificate.
    """
    return (_random if top["run"]["scheme"] in ("poisson", "without_replacement") else _known)(top, said)


def _random(top: Node, said: str) -> str:
    run, scheme, n = top["run"], top["run"]["scheme"], top["run"]["dataset_size"]
    _need(n > run["batch_size"] or scheme == "poisson", f"a batch_size below {n}", n)
    named, delta, value = _run(top)
    best, worse = (value, 1), 0
    for w in _WINDOWS[: 1 + (run["steps"] > 1) * len(_WINDOWS)]:
        number = best[0]
        try:
            for _ in range(_PASSES):
                found = float(_searched(named, n, delta, number, w, scheme, proofs=False)[1])
                number, settled = found, found > 0.98 * number
                if settled:
                    break
        except (UncertifiedError, ArithmeticError):
            continue
        best, worse = (best, worse + 1) if number >= best[0] else ((number, w), 0)
        if worse == 2:
            break
    filled = _searched(named, n, delta, *best, scheme, proofs=True)
    return _fill_in(("random_batches", scheme), said, named, delta, value, filled)


def _searched(
    named: dict[str, Fraction],
    dataset: int,
    delta: Fraction,
    about: float,
    w: int,
    scheme: str,
    *,
    proofs: bool,
) -> tuple[dict[str, Any], Fraction]:
    eta, K, L, batch, noise, D = (named[x] for x in ("step_size", "clip", "L", "batch", "noise", "diameter"))
    q, at, swapped = batch / dataset, float(delta), scheme != "poisson"
    # A Poisson batch may contain no sample, or all others; a batch without replacement weighs its samples by eta.
    least, most = (eta, eta) if swapped else (Fraction(0), eta * (dataset - 1) / batch)
    slope = max(1 - least * named["m"], most * L - 1) if "m" in named else 1 + most * L
    first = "Rmax (1 - share k * m) (share k * L - 1)" if "m" in named else "1 + share k * L"
    lines = [(first, "0", slope, Fraction(0)), ("1", "2 * share k * clip", Fraction(1), 2 * most * K)]
    straight = {"rule": "straight", "since": 0, "start": 0}
    path = _path(straight, w, D, lambda _: [(f"line{k}", one) for k, one in enumerate(lines)])
    move = ceil((1 + swapped) * eta * K / batch * _UNITS)
    extra = max(2 * a * move + move**2 for a, _, _ in path)
    kinds = outcomes(w, float(q), _BINS)
    squares, unit = sum(a * a for a, _, _ in path), (noise * _UNITS) ** 2
    mus = [_root((squares + uses * extra) / unit) for uses, _ in kinds]
    counts = [kinds[0][0] + 1, *(b[0] - a[0] for a, b in pairwise(kinds))]
    near_mu = Fraction(ceil(Fraction(move, _UNITS) / noise * _FINE), _FINE)
    largest = float(max(mus[-1], near_mu))
    scale = 2 ** (24 + ceil(_furthest(largest, at) / np.log(2) - np.log2(at)))
    cost = _cost(float(near_mu), scale, at, _NODES)
    one = _one_step(q, scale, cost, at, swapped=swapped)
    g = np.exp(np.linspace(0, 4 * about, 48))
    plan, near_pairs, near = _composed(w, scale, one, g, at)
    far = _far(mus, [p for _, p in kinds], scale, at)
    costs = {"near": (near_pairs, near, 0), "far": far}
    table, _, thresholds = _carried(scale, costs, None, at, about, _WIDE)
    epsilon, below = _both(scale, table, delta)
    if not proofs:
        return {}, epsilon
    fields = {
        "probability": q,
        "sizes": dataset - 1,
        "size": batch,
        "moved_by": move,
        "extra": extra,
        "counts": counts,
        "far_mus": [m.as_integer_ratio() for m in mus],
        "plan": plan,
        "one_step": one[0],
        "near": _nodes("near", near_mu, scale, cost),
        "far": _far_values(mus, scale, far),
        "far_cost": far[0],
        "far_path": path,
        "table": table,
        "thresholds": thresholds,
        "scale": scale,
        "widest": ceil(D * _UNITS),
        "below": below,
        "used_lines": lines,
        "length": w,
        "steps": w,
    }
    return fields, epsilon


def _both(scale: int, table: Pairs, delta: Fraction) -> tuple[Fraction, tuple[int, int]]:
    """The least epsilon, in millionths, at which a table is at most delta in both orders."""
    most, (low, _) = delta * scale, _epsilon(scale, table, delta)

    def below(k: int) -> int:
        return int(exp(k / _MICRO) * (1 - 1e-12) * _FINE)

    def back(k: int) -> bool:
        return (_FINE - below(k)) * scale + _scaled(scale, table, below(k), _FINE) <= most * _FINE

    k = bisect_left(range(50 * _MICRO), True, lo=int(low * _MICRO), key=back)
    return Fraction(k, _MICRO), (below(k), _FINE)
