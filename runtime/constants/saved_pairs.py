"""Pairs of points kept in a file, and computed anew from it: what is found need not be believed.

The file is one of safetensors, so nothing in it is executed: points ``x`` and ``y``, ``inputs`` and ``targets`` of the
samples, one row a pair, and what is said of them in the metadata, with a checksum of all of it.
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
from lastiterate.runtime.constants.input_sets import input_set
from lastiterate.runtime.constants.worst_case_record import BATCH, CLIPPED, WorstCaseConstants
from lastiterate.runtime.pair_table import Kind
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
    """One pair computed anew, in float64.

    Attributes:
        lam: the Hölder order.
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
    kept = [k for k, pair in enumerate(look.searched) if pair.constant > 0]
    if not kept:
        raise InputError(f"Pairs to save must be trusted, got none of {look.workload}; search in float64.")
    columns = zip(*(look.witnesses[k] for k in kept), strict=True)
    arrays = {name: np.stack(column) for name, column in zip(_NAMES, columns, strict=True)}
    said = {
        "format": _FORMAT,
        "workload": look.workload,
        "kind": str(look.kind),
        "inputs": look.inputs,
        "clip_norm": look.run.clip_norm,
        "diameter": look.run.diameter,
        "subset": None if look.subset is None else [look.subset.samples, look.subset.seed],
        "pairs": [
            {"lam": p.lam, "constant": p.constant, "sample": p.sample, "seed": look.seeds[k]}
            for k, p in ((k, look.searched[k]) for k in kept)
        ],
    }
    text = json.dumps(said | {"check": _check(said, arrays)})
    with writing("Saved pairs need", f"path={path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, numpy.save(arrays, metadata={_KEY: text}))


def recheck(workload: Workload, path: Path) -> tuple[Rechecked, ...]:
    """Compute the pairs of a file anew, one by one, by a plain backward pass in float64 on the CPU.

    A pair is found wanting, in `Rechecked.problem`, where it is no pair of the domain, or its sample none of the data
    or of the set of inputs.

    Raises:
        InputError: the file cannot be read, is damaged, no such file, or of another workload.
    """
    said, arrays = _read(path)
    if said["workload"] != workload.name:
        raise InputError(
            f"Saved pairs must be of the workload, got {path} of {said['workload']} for workload={workload.name}; name "
            "that one."
        )
    if said["subset"] is not None and workload.subset is None:
        workload = subset(workload, *said["subset"])
    return tuple(_Pair(workload, said, k, {name: arrays[name][k] for name in _NAMES}, path).rechecked()
                 for k in range(len(said["pairs"])))  # fmt: skip


class _Pair:
    """One pair of a file."""

    def __init__(
        self, workload: Workload, said: Mapping[str, Any], k: int, arrays: Mapping[str, NDArray[Any]], path: Path
    ) -> None:
        self.workload, self.said, self.own = workload, said, said["pairs"][k]
        self.kind = Kind(said["kind"])
        self.module = workload.initial(self.own["seed"]).double()
        self.parameters = [p for p in self.module.parameters() if p.requires_grad]
        self.center = nn.utils.parameters_to_vector(self.parameters).detach()
        self.row, self.target = (torch.from_numpy(np.array(arrays[name])) for name in ("inputs", "targets"))
        self.x, self.y = (torch.from_numpy(np.array(arrays[name])).double() for name in ("x", "y"))
        if self.x.shape != self.center.shape or not all(bool(torch.isfinite(at).all()) for at in (self.x, self.y)):
            raise InputError(
                f"Saved pairs must be points of the network, got {path} with {len(self.x)} numbers for "
                f"{len(self.center)} parameters; name the network that was searched."
            )

    def rechecked(self) -> Rechecked:
        """The pair computed anew."""
        lam, distance = self.own["lam"], float((self.x - self.y).norm())
        moved = float((self._gradient(self.x) - self._gradient(self.y)).norm())
        return Rechecked(lam, self.own["constant"], moved / distance**lam if distance else 0.0, self._problem())

    def _problem(self) -> str:
        reach = self.said["diameter"] / 2
        if max(float((at - self.center).norm()) for at in (self.x, self.y)) > reach * (1 + _SLACK):
            return (
                "a point lies outside of the domain around the weights of this network; name --checkpoint of the search"
            )
        if self.said["inputs"] is not None:
            row = self.row.double()[None]
            away = float((input_set(self.said["inputs"]).projected(row) - row).norm())
            return "the input lies outside of its set" if away > _CLOSE * (1 + float(row.norm())) else ""
        if self.kind in BATCH:
            return ""
        index = self.own["sample"]
        if not 0 <= index < self.workload.samples:
            return "its sample is none of the data"
        data = self.workload.inputs[index].to(self.row.dtype), self.workload.targets[index].to(self.target.dtype)
        same = torch.equal(data[0], self.row) and torch.equal(data[1], self.target)
        return "" if same else "its sample is not that of the data"

    def _gradient(self, point: Tensor) -> Tensor:
        """The gradient of the sample, or the mean of those of all, clipped where they were."""
        nn.utils.vector_to_parameters(point, self.parameters)
        if self.kind not in BATCH:
            return self._of_one(self.row, self.target)
        rows = zip(self.workload.inputs, self.workload.targets, strict=True)
        return torch.stack([self._of_one(row, target) for row, target in rows]).mean(dim=0)

    def _of_one(self, row: Tensor, target: Tensor) -> Tensor:
        row, target = (part.double() if part.is_floating_point() else part for part in (row, target))
        loss = self.workload.loss(self.module(row[None]), target[None])
        gradient = torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, self.parameters)])
        length, clip_norm = float(gradient.norm()), self.said["clip_norm"]
        return gradient * (clip_norm / length) if self.kind in CLIPPED and length > clip_norm else gradient


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
            "something else; save them anew."
        )
    return said, arrays


def _check(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Checksum of all that a file says."""
    parts = {
        name: [str(values.dtype), list(values.shape), sha256(np.ascontiguousarray(values).tobytes()).hexdigest()]
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
