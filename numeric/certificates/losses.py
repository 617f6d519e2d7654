"""Lattices of privacy losses in certificates: the choices by which a composition is evaluated at a delta."""

from dataclasses import replace
from math import ceil, ldexp, log2

import numpy as np

from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.accounting.pld_fft import Composition
from lastiterate.numeric.accounting.pld_fft_plan import Plan, choose
from lastiterate.numeric.accounting.pld_lattice import Release
from lastiterate.numeric.certificates.description import Node, UncertifiedError, dyadic
from lastiterate.numeric.rounding import exact

_LONGEST = 1 << 16
"""Of a lattice, whose convolutions are exact: a coarser one is taken where it would be longer."""
_WIDEST = 1 << 22
"""Of the lattice of one step."""
_FAR = 100.0
"""Losses beyond it have no room in the 320 bits in which chords are computed."""
_BITS = 96
"""Kept below delta."""
_TRIMMED = 40
"""Bits of delta by which all that is moved up at the ends is smaller."""


def on_lattices(pair: DominatingPair, delta: float) -> tuple[float, Node]:
    """An epsilon at what the chance of failure leaves of delta, and the lattices that prove it.

    Raises:
        UncertifiedError: no lattice is in the reach of the checker.
    """
    value, lattices, most = 0.0, [], 1
    for side in ("remove", "add") if pair.steps[0].adjacency == "add_remove" else ("replace",):
        found = _releases(pair, side)
        plan = choose(found, delta, None) if delta > 0 else None
        near = (np.abs(one.loss(z)).max() < _FAR for one, z in zip(found, plan.nodes if plan else (), strict=False))
        if plan is None or not all(near):
            raise UncertifiedError(
                f"A certificate needs losses in the reach of a lattice, got delta={delta:g}; ask for another."
            )
        plan = _coarser(plan, max(plan.length // _LONGEST, 1))
        nodes = _nodes(found, plan)
        while max(max(map(abs, one)) for one in nodes) > _WIDEST:
            plan = _coarser(plan, 2)
            nodes = _nodes(found, plan)
        value = max(value, Composition.on(plan, found, delta).epsilon(delta))
        lattices.append({"spacing": dyadic(plan.spacing), "nodes": nodes})
        most = max(most, sum(one.count for one in found))
    bits = _BITS + ceil(-log2(delta))
    return value, {"lattices": lattices, "bits": bits, "trim": int(ldexp(delta, bits - _TRIMMED) / most)}


def _coarser(plan: Plan, times: int) -> Plan:
    return replace(plan, spacing=plan.spacing * times, length=max(plan.length // times, 64))


def _nodes(found: list[Release], plan: Plan) -> list[list[int]]:
    return [one.nodes(plan.spacing, z) for one, z in zip(found, plan.nodes, strict=True)]


def _releases(pair: DominatingPair, side: str) -> list[Release]:
    """Every kind of sampled step by itself, in its order, and the Gaussian beside them."""
    found = []
    for step in pair.steps:
        kind = "remove" if step.rate >= 1 else "replace" if step.adjacency == "replace" else side
        found.append(Release(min(step.rate, 1.0), 1 / exact(step.multiplier), kind, step.count))
    if pair.cost > 0:
        found.append(Release(1.0, exact(pair.cost).sqrt(), "remove", 1))
    return found
