"""Coq files for certificates of Poisson batches and of batches without replacement.

Whatever rule a certificate uses, the file carries a table by contraction, which is searched for here; nothing that
is found is trusted. See docs/proofs/coq.md, "A certificate".
"""

from collections.abc import Callable
from fractions import Fraction
from importlib import resources
from itertools import pairwise
from math import ceil, exp, isqrt
from string import Template
from typing import Any

import numpy as np
from flint import arb
from mpmath import exp as exp_of
from mpmath import floor, log, mpf, ncdf, workprec

from lastiterate.numeric.certificates.description import Node, UncertifiedError, from_dyadic
from lastiterate.numeric.contraction.block import Block
from lastiterate.numeric.contraction.chain import resample
from lastiterate.numeric.contraction.random_batches import outcomes
from lastiterate.numeric.contraction.table import Table, tabulate, unknown
from lastiterate.numeric.rounding import exact
from lastiterate.proofs_checks.certificates.checker import gaussians
from lastiterate.proofs_checks.certificates.coq import (
    _FINE,
    _LIFTS,
    _MICRO,
    _UNITS,
    Pairs,
    _carried,
    _Cost,
    _cost,
    _enclosed,
    _epsilon,
    _furthest,
    _lifted,
    _list,
    _need,
    _node_ok,
    _nodes,
    _path,
    _scaled,
    _whole,
    written,
)

_BINS, _WINDOWS, _PASSES, _NODES, _TABLE = 6, (1, 2, 3, 4, 6, 9, 14, 20), 6, 24, 32
"""Number of costs of a far path for different numbers of uses; numbers of steps of a block, tried in turn; numbers
of searches, each with the epsilon found before; and nodes from 1 on of the cost of the sample's move and of the
table carried through the blocks."""


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
) -> tuple[list[str], Pairs, Table]:
    """The plan of tables of more steps, and the last table."""
    (pairs, table), plan, sure, ends = one, list[str](), [(0, scale)], ((scale, 1), (1, scale))
    for bit in bin(w)[3:]:
        for twice in (True, False)[: 1 + int(bit)]:
            other = (pairs, table) if twice else one
            made = Block(g, other[1], unknown(g)).after(resample(table, g)).hull()
            before, near = pairs, other[0]

            def accepts(found: Pairs, before: Pairs = before, near: Pairs = near) -> bool:
                return all(_node_ok(scale, (before, near, sure, found), node, ends) for node in found)

            pairs, table = _fits(made, scale, delta, accepts)
            plan.append(f"({str(twice).lower()}, {_list(pairs)})")
    return plan, pairs, table


def _root(square: Fraction) -> Fraction:
    return Fraction(isqrt(ceil(square * _FINE**2)) + 1, _FINE)


def _far(
    mus: list[Fraction], probabilities: list[float], scale: int, delta: float
) -> tuple[Pairs, Table, Callable[[Pairs], tuple[list[list[int]], str]]]:
    """The mean of the costs of a far path, and a function that writes its values and their proofs."""
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

    def proved(table: Pairs) -> tuple[list[list[int]], str]:
        found, at = list[list[int]](), list[tuple[Fraction, list[Fraction]]]()
        with workprec(bits + 60):
            for n, m in table:
                if not n:
                    found.append([])
                    continue
                r = Fraction(int(floor(log(mpf(n) / m) * 2**bits - 2)), 2**bits)
                ratio, row = exp_of(mpf(r.numerator) / r.denominator), list[int]()
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
        made.append(
            "Lemma far_nodes : far_known found.\nProof.\n"
            "unfold far_known; cbn [carried found scale far_cost far_mus values].\n"
            "unfold far_cost_of, far_values; cbn [zip].\nrepeat apply List.Forall_cons; [.. | apply List.Forall_nil]."
        )
        for r, each in at:
            made.append(f"- far_at {bits + 16}%positive ({r}).")
            for mu, s in zip(mus, each, strict=True):
                both = " ".join(lemmas[abs(e * mu / 2 - s)] for e in (1, -1))
                made.append(f"  + far_value {bits + 16}%positive ({mu}) ({s}) {both}.")
        return found, "\n".join([*made, "- left; reflexivity.", "Qed."])

    return pairs, Table(known.g, values, values), proved


def coq_file(top: Node, said: str) -> str:
    """Coq file of a certificate; ``said`` is what the checker says of it.

    Raises:
        UncertifiedError: the theorems in Coq do not cover the certificate.
    """
    return (_random if top["run"]["scheme"] in ("poisson", "without_replacement") else written)(top, said)


def _random(top: Node, said: str) -> str:
    run, loss, claim = top["run"], top["class"], top["claim"]
    scheme, n = run["scheme"], run["dataset_size"]
    _need(loss["name"] in ("smooth", "convex", "strongly_convex"), "smooth or convex losses", loss["name"])
    _need(loss["L"] is not None, "a finite L", "L=inf")
    _need(n > run["batch_size"] or scheme == "poisson", f"a batch_size below {n}", n)
    _need(len(run["step_size"]) == len(run["noise_std"]) == 1, "equal steps", "a schedule")
    _need(run["diameter"] is not None, "a bounded domain", "none")
    _need("at" in claim, "an (epsilon, delta)", "another claim")
    numbers = {"step_size": run["step_size"][0], "noise": run["noise_std"][0], "clip": run["clip_norm"]}
    numbers |= {"diameter": run["diameter"]} | {letter: loss[letter] for letter in "Lm" if letter in loss}
    named = {"batch": Fraction(run["batch_size"])} | {k: Fraction(from_dyadic(x)) for k, x in numbers.items()}
    named |= {"m": Fraction(0)} if loss["name"] == "convex" else {}
    value, delta = from_dyadic(claim["value"]), Fraction(from_dyadic(claim["at"]))
    delta = min(Fraction(repr(float(delta))), delta)
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
    fields, epsilon = _searched(named, n, delta, *best, scheme, proofs=True)
    first = "Rmax (1 - share k * m) (share k * L - 1)" if "m" in named else "1 + share k * L"
    fields |= {
        "said": said,
        "epsilon": f"{float(epsilon):.6f}".rstrip("0").rstrip("."),
        "delta": repr(float(delta)),
        "times": f"{float(epsilon) / value:.4f}",
        "numbers": "\n".join(f"Definition {name} : R := ({x})." for name, x in named.items()),
        "names": ", ".join(named),
        "lines": _list((f"({first}, 0)", "(1, 2 * share k * clip)")),
        "noise": named["noise"].as_integer_ratio(),
        "units": _UNITS,
        "delta_of": delta.as_integer_ratio(),
        "epsilon_ratio": epsilon,
        "delta_ratio": delta,
    }
    folder = resources.files("lastiterate.proofs_checks.certificates")
    parts = [folder / f"{name}.v.template" for name in ("random_batches", scheme)]
    return Template("\n".join(part.read_text(encoding="utf-8") for part in parts)).substitute(fields)


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
    lines = [("", "", slope, Fraction(0)), ("", "", Fraction(1), 2 * most * K)]
    straight = {"rule": "straight", "since": 0, "start": 0}
    path = _path(straight, w, D, lambda _: list(enumerate(lines)))
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
    far_pairs, far, proved = _far(mus, [p for _, p in kinds], scale, at)
    costs = {"near": (near_pairs, near, 0), "far": (far_pairs, far, 0)}
    table, _, thresholds = _carried(scale, costs, None, at, about, _TABLE)
    epsilon, below = _both(scale, table, delta)
    if not proofs:
        return {}, epsilon
    found, far_proofs = proved(far_pairs)
    fields = {
        "probability": q.as_integer_ratio(),
        "sizes": dataset - 1,
        "size": batch,
        "moved_by": move,
        "extra": extra,
        "counts": _list(counts),
        "far_mus": _list(m.as_integer_ratio() for m in mus),
        "far_values": _list(_list(row) for row in found),
        "plan": _list(plan),
        "one_step": _list(one[0]),
        "near_mu": near_mu.as_integer_ratio(),
        "near_cost": _list(cost[0]),
        "far_cost": _list(far_pairs),
        "far_path": _list(f"({a}, {z}, line{k})" for a, z, k in path),
        "table": _list(table),
        "thresholds": _list(thresholds),
        "scale": scale,
        "widest": ceil(D * _UNITS),
        "below": below,
        "nodes": _nodes("near", near_mu, scale, cost[0], cost[2]) + "\n" + far_proofs,
        "used_lines": "\n".join(
            f"Definition line{k} : line := ({c.as_integer_ratio()}, {s.as_integer_ratio()})."
            for k, (_, _, c, s) in enumerate(lines)
        ),
        "composition": "gaussian_composition -> " * (w > 1),
        "introduce": "move=> composes; " * (w > 1),
        "short": "by []" if w == 1 else "by move=> _; exact: composes",
        "steps": w,
    }
    return fields, epsilon


def _both(scale: int, table: Pairs, delta: Fraction) -> tuple[Fraction, tuple[int, int]]:
    """The least epsilon, in millionths, at which a table is at most delta in both orders."""
    micro, fine = _MICRO, _FINE
    most, (low, _) = delta * scale, _epsilon(scale, table, delta)

    def back(k: int) -> bool:
        e = int(exp(k / micro) * (1 - 1e-12) * fine)
        return (fine - e) * scale + _scaled(scale, table, e, fine) <= most * fine

    high, k = 50 * micro, int(low * micro)
    if not back(k):
        while high - k > 1:
            k, high = (k, (k + high) // 2) if back((k + high) // 2) else ((k + high) // 2, high)
        k = high
    return Fraction(k, micro), (int(exp(k / micro) * (1 - 1e-12) * fine), fine)
