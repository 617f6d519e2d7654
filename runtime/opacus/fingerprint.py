"""Fingerprints by which parameters and data sets are known again after a checkpoint."""

from hashlib import sha256
from typing import Any, Final

import torch
from torch import Tensor

_ITEMS: Final = 16
"""Items of a data set, spread evenly over it, by which it is known."""


def fingerprint(values: Any) -> str:
    """Of tensors, numbers and texts, in any nesting of mappings and sequences."""
    found = sha256()
    _feed(found, values)
    return found.hexdigest()


def data_fingerprint(data: Any) -> str:
    """Of some items of a data set; empty where they do not read the same twice, as with random transformations."""
    chosen = sorted({round(k * (len(data) - 1) / (_ITEMS - 1)) for k in range(_ITEMS)})
    first, second = (fingerprint([data[k] for k in chosen]) for _ in range(2))
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
