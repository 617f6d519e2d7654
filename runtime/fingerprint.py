"""Fingerprints that identify workloads, parameters and data sets."""

from hashlib import sha256
from typing import Any, Final

import torch
from torch import Tensor

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload

_SAMPLES: Final = 256
_ITEMS: Final = 16
"""Number of evenly spaced items that identify a data set."""


@torch.no_grad()
def identify_workload(workload: Workload, gradients: Gradients) -> dict[str, object]:
    """Identify a workload in the settings of a `lastiterate.numeric.store.Store`.

    The data and the first initial point are identified by all their bits, and a user's code by the mean
    gradient of the first samples at this point, to five digits.
    """
    digest = sha256()
    for part in (workload.inputs, workload.targets):
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    start = gradients.start
    digest.update(start.cpu().numpy().tobytes())
    first = torch.arange(min(gradients.samples, _SAMPLES))
    mean = gradients.total(start, chosen=first) / len(first)
    return {
        "workload": workload.name,
        "data": digest.hexdigest(),
        "fingerprint": [f"{float(v):.4e}" for v in (start.norm(), mean.norm(), (start * mean).sum())],
        "torch": torch.__version__,
    }


def fingerprint_of_values(values: Any) -> str:
    """Fingerprint of tensors, numbers and strings, in any nesting of mappings and sequences."""
    found = sha256()
    _feed(found, values)
    return found.hexdigest()


def data_fingerprint(data: Any) -> str:
    """Fingerprint of some items of a data set; empty if they vary, as with random transformations."""
    chosen = sorted({round(k * (len(data) - 1) / (_ITEMS - 1)) for k in range(_ITEMS)})
    first, second = (fingerprint_of_values([data[k] for k in chosen]) for _ in range(2))
    return first if first == second else ""


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, Tensor):
        found.update(f"{value.dtype}{tuple(value.shape)}".encode())
        value = value.detach().cpu().flatten().view(torch.uint8).numpy()
    if hasattr(value, "tobytes"):
        found.update(f"{getattr(value, 'dtype', '')}{getattr(value, 'shape', '')}".encode())
        found.update(value.tobytes())
    elif isinstance(value, dict):
        _feed(found, list(value.items()))
    elif isinstance(value, list | tuple):
        found.update(f"{len(value)}[".encode())
        for one in value:
            _feed(found, one)
    else:
        found.update(repr(value).encode())
