"""Certificates of bounds: the choices behind a bound, for a checker that recomputes the rest.

`lastiterate.proofs_checks.certificates.checker`, a single file that imports none of our modules, states what
each rule proves.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import ceil, ldexp, log2
from typing import Any

import numpy as np

from lastiterate.numeric.accounting.batches import step_multiplier
from lastiterate.numeric.accounting.conversion import (
    gdp_epsilon,
    quick_rdp_to_dp,
    rdp_to_dp,
    tangent_point,
)
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair, step_rdp
from lastiterate.numeric.accounting.pld import Composition, Release, TransformPlan, plan_transform
from lastiterate.numeric.certificates.contraction import Contraction, table_moments
from lastiterate.numeric.certificates.description import (
    Node,
    UncertifiedError,
    dyadic,
    from_dyadic,
    seal_nodes,
    write_loss,
    write_run,
)
from lastiterate.numeric.certificates.paths import Paths
from lastiterate.numeric.contraction.chain import Goal, TableCandidate
from lastiterate.numeric.contraction.table import BEYOND
from lastiterate.numeric.explain import assumed
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.subsampling.noise_split import NoiseSplit
from lastiterate.numeric.subsampling.poisson import BlockShares, ContractingBlock
from lastiterate.numeric.subsampling.without_replacement import EventMixture

_LONGEST = 1 << 16
"""Maximum length of a lattice with exact convolutions; longer lattices are coarsened."""
_WIDEST = 1 << 22
"""Maximum lattice index for one step."""
_FAR = 100.0
"""Largest loss for which 320 bits suffice to compute chords."""
_BITS = 96
"""Number of bits kept below the leading bit of delta."""
_TRIMMED = 40
"""Exponent in the limit delta / 2**_TRIMMED on the total mass that trimming moves up at the ends."""
FORMAT = "lastiterate certificate 1"
STANDING = (
    "every update is W <- Proj[W - step_size / batch_size * (sum of clipped gradients) + N(0, noise_std^2 I)]",
    "the noise is fresh in every step",
    "both runs start at one point and project onto the same closed convex set of at most the diameter",
    "the last iterate alone is released",
)


def write_lattices(pair: DominatingPair, delta: float) -> tuple[float, Node]:
    """Epsilon at delta, and the lattices that prove it; raises `UncertifiedError` if losses are too large."""
    value, lattices, most = 0.0, [], 1
    for side in ("remove", "add") if pair.steps[0].adjacency == "add_remove" else ("replace",):
        found = _releases(pair, side)
        plan = plan_transform(found, delta, None) if delta > 0 else None
        near = (
            np.abs(one.loss(z)).max() < _FAR for one, z in zip(found, plan.nodes if plan else (), strict=False)
        )
        if plan is None or not all(near):
            raise UncertifiedError(
                f"A certificate needs losses that fit on a lattice, got delta={delta:g}; choose another delta."
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


def _coarser(plan: TransformPlan, times: int) -> TransformPlan:
    return replace(plan, spacing=plan.spacing * times, length=max(plan.length // times, 64))


def _nodes(found: list[Release], plan: TransformPlan) -> list[list[int]]:
    return [one.nodes(plan.spacing, z) for one, z in zip(found, plan.nodes, strict=True)]


def _releases(pair: DominatingPair, side: str) -> list[Release]:
    found = []
    for step in pair.steps:
        kind = "remove" if step.rate >= 1 else "replace" if step.adjacency == "replace" else side
        found.append(Release(min(step.rate, 1.0), 1 / exact(step.multiplier), kind, step.count))
    if pair.cost > 0:
        found.append(Release(1.0, exact(pair.cost).sqrt(), "remove", 1))
    return found


def certificate(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, found: Candidate
) -> Node:
    """Certificate of a bound at an order or a delta, or of mu; raises `InputError` if there is none."""
    if run.scheme.permuted and found.pair.steps:
        raise UncertifiedError(
            "A certificate of one shuffled batch is that of a batch without replacement, got sampling='shuffled'; "
            "bound the run with sampling='without_replacement'."
        )
    with precision():
        claim, proof = _Writer(run, assumption, found).claim(order, delta)
    body = {
        "format": FORMAT,
        "hypotheses": [*STANDING, *assumed(run, assumption)],
        "run": write_run(run),
        "class": write_loss(assumption),
        "claim": claim,
        "proof": proof,
    }
    return dict(seal_nodes(body))


def least_certified(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, found: Sequence[Candidate]
) -> tuple[Node, Candidate] | None:
    """The smallest bound that has a certificate, with the certificate."""
    for one in sorted(found, key=lambda one: one.value(None if delta is not None else order, delta)):
        try:
            return certificate(run, assumption, order, delta, one), one
        except UncertifiedError:
            continue
    return None


class _Writer:
    def __init__(self, run: NoisySGD, assumption: Assumption, found: Candidate) -> None:
        self.run, self.found, self.paths = run, found, Paths(run, assumption)

    def claim(self, order: float | None, delta: float | None) -> tuple[Node, Node]:
        found = self.found
        if isinstance(found, TableCandidate):
            return self.contracted(found, order, delta)
        if order is not None and delta is None:
            proof = self.rdp(found, order)
            value = max(found.rdp(order), from_dyadic(proof["rdp"]))
            return {"quantity": "rdp", "at": dyadic(order), "value": dyadic(value)}, proof
        if delta is None:
            proof, squared = self.paths.gaussian(found)
            value = max(upper(exact(squared).sqrt()), found.pair.mu)
            return {"quantity": "gdp", "value": dyadic(value)}, proof
        value = found.dp(delta)
        if found.renyi is not None:
            at, rho = found.renyi
            proof = {"rule": "from rdp", "order": dyadic(at), "tangent": None, "of": self.rdp(found, at)}
            rho = max(rho, from_dyadic(proof["of"]["rdp"]))
            value = max(value, rdp_to_dp(at, rho, delta))
            point = tangent_point(at, rho, delta, value)
            if point is not None and not quick_rdp_to_dp(at, rho, delta) <= value:
                proof["tangent"] = dyadic(point)
        elif found.pair.steps:
            least, proof = self.losses(found, delta)
            value = max(value, least)
        else:
            of, squared = self.paths.gaussian(found)
            proof = {"rule": "from gdp", "of": of}
            if squared > found.pair.cost:
                value = gdp_epsilon(upper(exact(squared).sqrt()), delta)
        return {"quantity": "dp", "at": dyadic(delta), "value": dyadic(value)}, proof

    def contracted(self, found: TableCandidate, order: float | None, delta: float | None) -> tuple[Node, Node]:
        """Claim and proof by a table, or by the other bound if that bound is not larger."""
        beside = _Writer(self.run, self.paths.assumption, found.other)
        if order is None and delta is None:
            return beside.claim(order, delta)
        asked = None if delta is not None else order, delta
        known = found.other.value(*asked)
        made = Contraction(self.run, self.paths.assumption, Goal(*asked, known, found.other.rdp)).best()
        proof: Node = {"rule": "from table"}
        if delta is not None:
            value, claim = made.table.epsilon(delta), {"quantity": "dp", "at": dyadic(delta)}
        else:
            assert order is not None  # noqa: S101
            tails = {order * factor: beside.rdp(found.other, order * factor) for factor in BEYOND}
            value, chosen, choices = table_moments(
                made, order, {b: from_dyadic(tail["rdp"]) for b, tail in tails.items()}
            )
            proof = {"rule": "moments", "tail": tails[chosen], "rdp": dyadic(value), **choices}
            claim = {"quantity": "rdp", "at": dyadic(order)}
        if not value < known:
            return beside.claim(order, delta)
        return claim | {"value": dyadic(value)}, proof | {"of": made.proof}

    def rdp(self, found: Candidate, order: float) -> Node:
        chosen = found.choices
        if isinstance(chosen, EventMixture):
            return self.mixture(chosen, order)
        if found.pair.steps:
            node = self.sampled(found)
            for price in node["prices"]:
                law, multiplier = found.pair.steps[0], from_dyadic(price["multiplier"])
                price["rdp"] = dyadic(step_rdp(law.rate, multiplier, law.adjacency, order))
            return node | {"rdp": dyadic(replace(found.pair, failure=0.0).rdp(order))}
        of, squared = self.paths.gaussian(found)
        return {"rule": "gaussian", "of": of, "rdp": dyadic(upper(exact(order) / 2 * exact(squared)))}

    def sampled(self, found: Candidate) -> Node:
        """Write sampled steps, with or without a window of shifts; `rdp` fills in their costs."""
        if isinstance(found.choices, NoiseSplit):
            return self.window(found.choices, found)
        listed = [one.multiplier for one in found.pair.steps]
        run = self.run
        alike = groupby(
            (run.step_size_at(t), run.noise_std_at(t)) for t in range(1 if run.constant else run.steps)
        )
        each = [
            (step_multiplier(run, *sizes), run.steps if run.constant else len(list(steps)))
            for sizes, steps in alike
        ]
        node = {"rule": "window", "start": 0, "since": 0, "shifts": "proportional", "cost": dyadic(0.0)}
        return self.paths.sized(node | _kinds(listed, each), None, node)

    def losses(self, found: Candidate, delta: float) -> tuple[float, Node]:
        """An epsilon from the privacy losses of all steps, and its proof."""
        pair = replace(found.pair, steps=tuple(found.pair.few_steps()))
        of = self.sampled(replace(found, pair=pair))
        value, choices = write_lattices(pair, lower(exact(delta) - exact(_chance(of))))
        return value, {"rule": "from losses", "of": of} | choices

    def mixture(self, chosen: EventMixture, order: float) -> Node:
        """Combine a bound outside an event with successive bounds inside the event."""
        parts = [self.rdp(one, order) for one in (chosen.inside, *chosen.beyond)]
        power, least = exact(order) - 1, exact(from_dyadic(parts[0]["rdp"]))
        chance = exact(_chance(parts[0]))
        total = 1 - chance
        for part in parts[1:]:
            total += chance * (power * (exact(from_dyadic(part["rdp"])).max(least) - least)).exp()
            chance = exact(_chance(part))
        value = upper(least + total.log() / power)
        if len(parts) == 2 and value >= from_dyadic(parts[1]["rdp"]):
            return parts[1]
        return {"rule": "ranges", "of": parts, "rdp": dyadic(value)}

    def window(self, chosen: NoiseSplit, found: Candidate) -> Node:
        shares, run = chosen.shares, self.run
        multipliers, start = chosen.multipliers, run.steps - len(chosen.multipliers)
        each = [(one, len(list(group))) for one, group in groupby(multipliers.tolist())]
        reach = float(shares.reach[len(multipliers) - 1])
        node = {
            "rule": "window",
            "start": start,
            **_kinds(np.unique(multipliers).tolist(), each),
            "shifts": "proportional",
            "cost": dyadic(found.pair.cost),
        }
        if isinstance(shares, BlockShares):
            return node | {"blocks": _blocks(shares.block, start, len(multipliers))}
        node |= self.paths.begun(shares.program, start, reach)
        return self.paths.sized(node, shares.program, node)


def _blocks(block: ContractingBlock, start: int, length: int) -> Node:
    """Blocks of a window, and the probability that one of the blocks used violates its assumptions."""
    before = min(block.before, max(-(-start // block.steps), 1))
    counted = min(before, -(-start // block.steps)) + length // block.steps
    least, largest = block.sizes
    chance = dyadic(upper(counted * exact(block.chance)))
    return {"width": block.steps, "sum": least, "largest": largest, "before": before, "chance": chance}


def _kinds(listed: list[float], each: Iterable[tuple[float, int]]) -> Node:
    """Increasing multipliers, and rows [index of the largest multiplier not above a step's, number of such steps]."""
    rows = [[bisect_right(listed, one) - 1, count] for one, count in each]
    return {"prices": [{"multiplier": dyadic(one)} for one in listed], "kinds": rows}


def _chance(node: Mapping[str, Any]) -> float:
    inner = node.get("of", node.get("blocks"))
    return (
        from_dyadic(node["chance"]) if "chance" in node else _chance(inner) if isinstance(inner, dict) else 0.0
    )
