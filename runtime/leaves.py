"""Norms, differences and clip factors of per-sample gradients, leaf by leaf, and modules at other parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

Leaves = tuple[Tensor, ...]
"""One tensor per parameter, each of shape (points, samples, *parameter)."""


def flat(leaves: Leaves) -> Tensor:
    """Leaves as one tensor of shape (points, samples, dimension)."""
    return torch.cat([leaf.flatten(start_dim=2) for leaf in leaves], dim=2)


def norm(leaves: Leaves) -> Tensor:
    """Euclidean norm over all parameters, shape (points, samples)."""
    return torch.as_tensor(torch.linalg.vector_norm(leaf_norms(leaves), dim=0))


def leaf_norms(leaves: Leaves) -> Tensor:
    """Euclidean norm of every leaf, shape (leaves, points, samples)."""
    return torch.stack([torch.linalg.vector_norm(leaf.flatten(start_dim=2), dim=2) for leaf in leaves])


def difference(left: Leaves, right: Leaves, scale: tuple[Tensor, Tensor] | None = None) -> Leaves:
    """Difference u left - v right, as leaves of shape (points, samples, size of the parameter).

    ``right`` is broadcast. ``scale`` is (u, v), broadcast to shape (points, samples), or None for (1, 1).
    """
    parts = [(a.flatten(start_dim=2), b.flatten(start_dim=2)) for a, b in zip(left, right, strict=True)]
    if scale is None:
        return tuple(a - b for a, b in parts)
    u, v = scale[0][..., None], scale[1][..., None]
    return tuple(u * a - v * b for a, b in parts)


def clip_factor(norms: Tensor, clip_norm: float) -> Tensor:
    """Factors min(1, K / norm) that scale gradients with these norms into the ball of radius K."""
    return (clip_norm / norms).clamp(max=1.0).nan_to_num(nan=1.0)


def key_of_memory(one: Tensor) -> int:
    """Key of a tensor's memory, which its views share."""
    return int(one.untyped_storage()._cdata)


def places_of(module: nn.Module) -> dict[str, list[str]]:
    """Names of the places of each parameter, by its first name; places inside a repeated module count once.

    `functional_call` itself replaces a parameter of a repeated module repeatedly, and fails to restore it.
    """
    first: dict[int, str] = {}
    found: dict[str, list[str]] = {}
    for prefix, part in module.named_modules():
        for name, one in part.named_parameters(prefix, recurse=False, remove_duplicate=False):
            found.setdefault(first.setdefault(id(one), name), []).append(name)
    return found


def called_at(
    module: nn.Module, given: Mapping[str, Tensor], row: Tensor, places: Mapping[str, Sequence[str]]
) -> Any:
    """Output of a module with other parameters, in the places that `places_of` returns."""
    put = {place: one for name, one in given.items() for place in places[name]}
    return functional_call(module, put, (row,), tie_weights=False)
