"""Descriptions of runs and losses in certificates; every number is exact."""

import hashlib
import json
from collections.abc import Iterable
from itertools import groupby
from math import inf, isfinite
from typing import Any

from flint import arb

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import KINDS, Assumption, Blocks, Tabulated
from lastiterate.numeric.run import NoisySGD, described_run

Node = dict[str, Any]


class UncertifiedError(InputError):
    """The checker cannot verify this bound, but may be able to verify another bound."""


def seal_nodes(value: Any) -> Any:
    """Add a digest to every object."""
    if isinstance(value, list):
        return [seal_nodes(one) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {key: seal_nodes(one) for key, one in value.items() if key != "digest"}
    text = json.dumps(inner, sort_keys=True, separators=(",", ":"))
    return {**inner, "digest": hashlib.sha256(text.encode()).hexdigest()[:32]}


def dyadic(value: float | arb) -> list[int]:
    """Write an exact number m 2^e as [m, e]."""
    if not isfinite(float(value)):
        raise InputError(
            f"A certificate needs a finite number, got {value}; certify a run with a finite bound."
        )
    m, e = (int(part) for part in arb(value).man_exp())
    return [m, e]


def from_dyadic(value: list[int]) -> float:
    """Return m 2^e from [m, e]."""
    return float(arb((value[0], value[1])))


def run_lengths(values: Iterable[float | arb]) -> list[list[int]]:
    """Write numbers as rows [m, e, count] of equal numbers."""
    return [[*dyadic(value), len(list(group))] for value, group in groupby(values)]


def write_run(run: NoisySGD) -> Node:
    """Write a run; raises `InputError` if it has weight decay or momentum, or is for a group."""
    described_run("A certificate", run)
    if run.weight_decay:
        raise InputError(
            f"A certificate needs a run without weight decay, got weight_decay={run.weight_decay:g}; the checker does "
            "not support it."
        )

    def schedule(value: float | tuple[float, ...]) -> list[list[int]]:
        return run_lengths(value) if isinstance(value, tuple) else [[*dyadic(value), run.steps]]

    return {
        "steps": run.steps,
        "step_size": schedule(run.step_size),
        "noise_std": schedule(run.noise_std),
        "clip_norm": dyadic(run.clip_norm),
        "dataset_size": run.dataset_size,
        "batch_size": run.batch,
        "diameter": dyadic(run.diameter) if isfinite(run.diameter) else None,
        "scheme": run.scheme.name,
        "adjacency": run.adjacency,
    }


def write_loss(assumption: Assumption) -> Node:
    """Write a class of losses."""
    kind = Blocks if isinstance(assumption, Blocks) else type(assumption)
    name = next((name for name, (known, _) in KINDS.items() if known is kind), None)
    if name is None:
        raise InputError(
            f"A certificate needs one of {', '.join(KINDS)}, got {type(assumption).__name__}; use one of them."
        )
    if assumption.parts:
        return {"name": name, "parts": [write_loss(one) for one in assumption.parts]}
    if isinstance(assumption, Tabulated):
        rows = zip(assumption.distances, assumption.values, strict=True)
        return {"name": name, "table": [{"distance": dyadic(z), "value": dyadic(omega)} for z, omega in rows]}
    constants = {letter: getattr(assumption, letter) for letter in KINDS[name][1]}
    return {"name": name} | {letter: None if x == inf else dyadic(x) for letter, x in constants.items()}
