"""Pairs of points kept in a file, and computed again from it: what is found need not be believed.

The file is one of safetensors, so nothing in it is executed: points ``x`` and ``y``, ``inputs`` and ``targets`` of the
samples, one row a pair, and what is said of them in the metadata, with a checksum.
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
from lastiterate.runtime.constants.record import BATCH, CLIPPED, WorstCaseConstants
from lastiterate.runtime.constants.sampling import input_set
from lastiterate.runtime.workloads.workload import Workload, subset

_KEY: Final = "lastiterate_pairs"
_FORMAT: Final = 1
_NAMES: Final = ("x", "y", "inputs", "targets")
_SLACK: Final = 1e-9
"""Relative rounding of a ratio in float64, and of a point's distance from the centre, that is let pass."""
_CLOSE: Final = 1e-6
"""The same of an input at the edge of its set, in float32."""


@dataclass(frozen=True)
class Rechecked:
    """One pair computed again, in float64.

    Attributes:
        lam: the order.
        said: the constant that the file says, gradient / length^lambda, less the rounding assumed then.
        found: |G(x) - G(y)| / |x - y|^lambda now.
        problem: what is wrong with the pair itself, in words; empty where nothing is.
    """

    lam: float
    said: float
    found: float
    problem: str

    @property
    def holds(self) -> bool:
        """Tell whether the pair is one of the domain and its ratio at least what was said."""
        return not self.problem and self.found >= self.said * (1 - _SLACK)


def save_pairs(path: Path, look: WorstCaseConstants) -> None:
    """Write the pairs of a search, of every order that has one to trust.

    Raises:
        InputError: there is none, or the file cannot be written.
    """
    numpy = _safetensors()
    kept = [pair for pair in look.searched if pair.constant > 0]
    if not kept:
        raise InputError(f"Pairs to save must be trusted, got none of {look.workload}; search in float64.")
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
            {"lam": pair.lam, "constant": pair.constant, "sample": pair.sample, "seed": pair.seed} for pair in kept
        ],
    }
    text = json.dumps(said | {"check": _check(said, arrays)})
    with writing("Saved pairs need", f"path={path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, numpy.save(arrays, metadata={_KEY: text}))


def recheck(workload: Workload, path: Path) -> tuple[Rechecked, ...]:
    """Compute the pairs of a file again, one by one, by a plain backward pass in float64 on the CPU.

    `Rechecked.problem` says where a pair is not one of the domain, or its sample not one of the data or of the set of
    inputs.

    Raises:
        InputError: the file cannot be read, is damaged, is not one of pairs, or is of another workload.
    """
    said, arrays = _read(path)
    if said["workload"] != workload.name:
        raise InputError(
            f"Saved pairs must be of the workload, got {path} of {said['workload']} for workload={workload.name}; name "
            "that one."
        )
    if said["subset"] is not None and workload.subset is None:
        workload = subset(workload, *said["subset"])
    torches = {name: torch.from_numpy(np.array(arrays[name])) for name in _NAMES}
    pairs = enumerate(said["pairs"])
    return tuple(
        _recheck(workload, said, own, {n: all_of[k] for n, all_of in torches.items()}, path) for k, own in pairs
    )


def _recheck(
    workload: Workload, said: Mapping[str, Any], own: Mapping[str, Any], place: Mapping[str, Tensor], path: Path
) -> Rechecked:
    """Compute one pair again; ``own`` is what the file says of it alone."""
    module = workload.initial(own["seed"]).double()
    parameters = [p for p in module.parameters() if p.requires_grad]
    center = nn.utils.parameters_to_vector(parameters).detach()
    x, y = place["x"].double(), place["y"].double()
    if x.shape != center.shape or not bool(torch.isfinite(x).all() & torch.isfinite(y).all()):
        raise InputError(
            f"Saved pairs must be points of the network, got {path} with {len(x)} numbers for {len(center)} "
            "parameters; name the network that was searched."
        )

    def of_one(row: Tensor, target: Tensor) -> Tensor:
        row, target = (part.double() if part.is_floating_point() else part for part in (row, target))
        loss = workload.loss(module(row[None]), target[None])
        gradient = torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, parameters)])
        length, clip_norm = float(gradient.norm()), said["clip_norm"]
        return gradient * (clip_norm / length) if said["kind"] in CLIPPED and length > clip_norm else gradient

    def gradient_at(point: Tensor) -> Tensor:
        """The gradient of the sample, or the mean of those of all, clipped where they were."""
        nn.utils.vector_to_parameters(point, parameters)
        if said["kind"] not in BATCH:
            return of_one(place["inputs"], place["targets"])
        rows = zip(workload.inputs, workload.targets, strict=True)
        return torch.stack([of_one(row, target) for row, target in rows]).mean(dim=0)

    distance, moved = float((x - y).norm()), float((gradient_at(x) - gradient_at(y)).norm())
    reach = said["diameter"] / 2 * (1 + _SLACK)
    if max(float((x - center).norm()), float((y - center).norm())) > reach:
        problem = (
            "a point lies outside of the domain around the weights of this network; name --checkpoint of the search"
        )
    else:
        problem = _problem_of_sample(workload, said, own, place)
    return Rechecked(own["lam"], own["constant"], moved / distance ** own["lam"] if distance else 0.0, problem)


def _problem_of_sample(
    workload: Workload, said: Mapping[str, Any], own: Mapping[str, Any], place: Mapping[str, Tensor]
) -> str:
    row, target, index = place["inputs"], place["targets"], own["sample"]
    if said["inputs"] is not None:
        input_ = row.double()[None]
        away = float((input_set(said["inputs"]).projected(input_) - input_).norm())
        return "the input lies outside of its set" if away > _CLOSE * (1 + float(input_.norm())) else ""
    if said["kind"] in BATCH:
        return ""
    if not 0 <= index < workload.samples:
        return "its sample is not one of the data"
    same = torch.equal(workload.inputs[index].to(row.dtype), row)
    same = same and torch.equal(workload.targets[index].to(target.dtype), target)
    return "" if same else "its sample is not that of the data"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the words of a file, and its arrays."""
    _safetensors()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            said = json.loads((file.metadata() or {})[_KEY])
            arrays = {name: file.get_tensor(name) for name in _NAMES}
        check = said.pop("check")
        same = check == _check(said, arrays) and said["format"] == _FORMAT
    except OSError as error:
        raise InputError(f"Saved pairs must be a file, got {path} ({error.strerror or error}); check it.") from None
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError):
        same = False
    if not same:
        raise InputError(
            f"Saved pairs must be as lastiterate estimate --save-pairs wrote them, got {path}, which is damaged or "
            "something else; save them again."
        )
    return said, arrays


def _check(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Checksum of all that a file says."""
    parts = {
        name: [str(values.dtype), list(values.shape), sha256(values.tobytes()).hexdigest()]
        for name, values in arrays.items()
    }
    return digest({"said": said, "arrays": parts})


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise InputError(
            "Saved pairs need safetensors, got an installation without it; run pip install 'lastiterate[runtime]'."
        ) from None
    return safetensors.numpy
