"""Pairs of points stored in a file and recomputed from it, so that a search need not be trusted.

A safetensors file holds points ``x`` and ``y``, ``inputs`` and ``targets``, one row per pair; its metadata
holds their description and a checksum.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import digest, write_whole, writing
from lastiterate.runtime.constants.record import WorstCaseConstants
from lastiterate.runtime.constants.sampling import input_set
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.workloads.workload import Workload, subset

_KEY: Final = "lastiterate_pairs"
_FORMAT: Final = 1
_NAMES: Final = ("x", "y", "inputs", "targets")
_SLACK: Final = 1e-9
"""Relative tolerance, in float64, for a ratio and for a point's distance from the centre."""
_CLOSE: Final = 1e-6
"""Relative tolerance, in float32, for an input at the edge of its set."""


@dataclass(frozen=True)
class Rechecked:
    """One pair recomputed in float64.

    Attributes:
        lam: the order.
        said: constant in the file, gradient / length^lambda, less the rounding error assumed by the search.
        found: recomputed |G(x) - G(y)| / |x - y|^lambda; the difference itself for a jump, of order 0.
        distance: recomputed |x - y|, a length.
        problem: reason why the pair does not count, or empty.
    """

    lam: float
    said: float
    found: float
    distance: float
    problem: str

    @property
    def holds(self) -> bool:
        """True if the pair counts and attains the constant in the file, up to rounding."""
        return not self.problem and self.found >= self.said * (1 - _SLACK)


def save_pairs(path: Path, look: WorstCaseConstants) -> None:
    """Write the trusted pairs of a search, and a jump as order 0; an `InputError` if none exists or writing fails."""
    from safetensors.numpy import save

    kept = [pair for pair in look.searched if pair.constant > 0]
    kept += [] if look.jump is None else [look.jump.pair]
    if not kept:
        raise InputError(
            f"Pairs to save must be trusted, got none for workload={look.workload}; search in float64."
        )
    arrays = {name: np.stack([pair.place[name] for pair in kept]) for name in _NAMES}
    said = {
        "format": _FORMAT,
        "workload": look.workload,
        "kind": str(look.kind),
        "inputs": look.inputs,
        "clip_norm": look.run.clip_norm,
        "diameter": look.run.diameter,
        "subset": None if look.subset is None else [look.subset.samples, look.subset.seed],
        "pairs": [
            {"lam": pair.lam, "constant": pair.constant, "sample": pair.sample, "seed": pair.seed}
            for pair in kept
        ],
    }
    text = json.dumps(said | {"check": _check(said, arrays)})
    with writing("Saved pairs need", f"path={path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, save(arrays, metadata={_KEY: text}))


def recheck(workload: Workload, path: Path) -> tuple[Rechecked, ...]:
    """Recompute the pairs of a file, one by one, by a plain backward pass in float64 on the CPU.

    A pair has a `Rechecked.problem` if a point lies outside of the domain or the sample is not allowed.

    Raises:
        InputError: the file cannot be read, is damaged, does not hold pairs, or belongs to another workload.
    """
    said, arrays = _read(path)
    if said["workload"] != workload.name:
        raise InputError(
            f"Saved pairs must belong to the named workload, got {path} from {said['workload']} for "
            f"workload={workload.name}; name {said['workload']}."
        )
    if said["subset"] is not None and workload.subset is None:
        workload = subset(workload, *said["subset"])
    places = (
        {name: torch.from_numpy(np.array(arrays[name][k])) for name in _NAMES}
        for k in range(len(said["pairs"]))
    )
    return tuple(_recheck(workload, said | own, next(places), path) for own in said["pairs"])


def _recheck(workload: Workload, said: Mapping[str, Any], place: Mapping[str, Tensor], path: Path) -> Rechecked:
    module = workload.initial(said["seed"]).double()
    parameters = [p for p in module.parameters() if p.requires_grad]
    center = nn.utils.parameters_to_vector(parameters).detach()
    x, y = place["x"].double(), place["y"].double()
    if x.shape != center.shape or not bool(torch.isfinite(x).all() & torch.isfinite(y).all()):
        raise InputError(
            f"Saved pairs must have a finite number for every parameter, got {path} with {len(x)} numbers for "
            f"{len(center)} parameters; name the network that was searched."
        )
    row, target = (
        place[name].double() if place[name].is_floating_point() else place[name] for name in _NAMES[2:]
    )

    def gradient_at(point: Tensor) -> Tensor:
        nn.utils.vector_to_parameters(point, parameters)
        loss = workload.loss(module(row[None]), target[None])
        gradient = torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, parameters)])
        length, clip_norm = float(gradient.norm()), said["clip_norm"]
        clipped = said["kind"] == Kind.SAMPLE_CLIPPED and length > clip_norm
        return gradient * (clip_norm / length) if clipped else gradient

    distance, moved = float((x - y).norm()), float((gradient_at(x) - gradient_at(y)).norm())
    reach = said["diameter"] / 2 * (1 + _SLACK)
    if max(float((x - center).norm()), float((y - center).norm())) > reach:
        problem = (
            "a point lies outside the domain around the weights of this network; give the search's --checkpoint"
        )
    else:
        problem = _problem_of_sample(workload, said, place)
    found = moved / distance ** said["lam"] if distance else 0.0
    return Rechecked(said["lam"], said["constant"], found, distance, problem)


def _problem_of_sample(workload: Workload, said: Mapping[str, Any], place: Mapping[str, Tensor]) -> str:
    row, target, index = place["inputs"], place["targets"], said["sample"]
    if said["inputs"] is not None:
        input_ = row.double()[None]
        away = float((input_set(said["inputs"]).projected(input_) - input_).norm())
        return "the input lies outside the searched set" if away > _CLOSE * (1 + float(input_.norm())) else ""
    if not 0 <= index < workload.samples:
        return "the sample is not in the data"
    same = torch.equal(workload.inputs[index].to(row.dtype), row)
    same = same and torch.equal(workload.targets[index].to(target.dtype), target)
    return "" if same else "the sample differs from the one in the data"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            said = json.loads((file.metadata() or {})[_KEY])
            arrays = {name: file.get_tensor(name) for name in _NAMES}
        check = said.pop("check")
        same = check == _check(said, arrays) and said["format"] == _FORMAT and said["kind"] in tuple(Kind)
    except OSError as error:
        raise InputError(
            f"Saved pairs must be in a readable file, got {path} ({error.strerror or error}); check it."
        ) from None
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError):
        same = False
    if not same:
        raise InputError(
            f"Saved pairs must be as lastiterate estimate --save-pairs wrote them, got {path}, which is damaged or "
            "another kind of file; save them again."
        )
    return said, arrays


def _check(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    parts = {
        name: [str(values.dtype), list(values.shape), sha256(values.tobytes()).hexdigest()]
        for name, values in arrays.items()
    }
    return digest({"said": said, "arrays": parts})
