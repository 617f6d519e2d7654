"""Samples of several tensors, such as tokens with their mask, as rows of one tensor.

A module gets the tensors again: those of a dict by name and those of a tuple in order if its ``forward`` takes
them so, otherwise the dict or the tuple itself.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

from lastiterate.numeric.errors import InputError

Names = str | int | Sequence[str | int]

TARGETS: Final = ("labels", "label", "targets", "target", "y")
"""Names of targets, the preferred one first."""


def split_targets(given: Any, targets: Names | None) -> tuple[Any, Any]:
    """Inputs and targets of a dict or tuple; without ``targets``, the target is named as usual or the last entry."""
    named = isinstance(given, Mapping)
    held = dict(given) if named else dict(enumerate(given)) if isinstance(given, tuple | list) else {}
    chosen = [name for name in TARGETS if name in held][:1] if named else [*held][-1:]
    if targets is not None:
        chosen = [targets] if isinstance(targets, str | int) else [*targets]
    if not chosen or not {*chosen} < held.keys():
        of = f" of {', '.join(map(str, held)) if named else len(held)}" if named or held else ""
        raise InputError(
            f"A loader must yield pairs (inputs, targets), got {type(given).__name__}{of}; give targets=NAME, the "
            "name of the targets in a dict or their position in a tuple."
        )
    found = []
    for some in (
        {name: one for name, one in held.items() if name not in chosen},
        {name: held[name] for name in chosen},
    ):
        values = tuple(some.values())
        found.append(values[0] if len(some) == 1 else some if named else values)
    return found[0], found[1]


@dataclass(frozen=True)
class Layout:
    """Structure, shapes and dtypes of the tensors in a row, which are stored in one dtype."""

    structure: TreeSpec
    kinds: tuple[tuple[torch.Size, torch.dtype], ...]

    @classmethod
    def of(cls, name: str, values: Any) -> tuple["Layout", Tensor]:
        """Layout of tensors of one length, and their rows; an `InputError` for other objects."""
        leaves, structure = tree_flatten(dict(values) if isinstance(values, Mapping) else values)
        lengths = {len(one) if isinstance(one, Tensor) and one.ndim else -1 for one in leaves}
        if len(lengths) != 1 or -1 in lengths:
            got = ", ".join(
                f"{type(one).__name__} of shape {tuple(getattr(one, 'shape', ()))}" for one in leaves
            )
            raise InputError(
                f"A workload needs tensors of one length, got {name} of {got}; use torch.as_tensor."
            )
        made = cls(structure, tuple((one.shape[1:], one.dtype) for one in leaves))
        dtype = torch.float64 if made.mixed else torch.int64
        if leaves[0].is_floating_point() and not made.mixed:
            dtype = max((one.dtype for one in leaves), key=lambda one: one.itemsize)
        rows = torch.cat([one.reshape(len(one), -1).to(dtype) for one in leaves], dim=1)
        if any(
            bool((one != again).any())
            for one, again in zip(leaves, tree_leaves(made.of_rows(rows)), strict=True)
        ):
            raise InputError(
                f"Integers next to floats must be at most 2^53, got larger ones in {name}; shift them."
            )
        return made, rows

    def __deepcopy__(self, _memo: Any) -> "Layout":
        return self

    @property
    def mixed(self) -> bool:
        """True if there are both integers and floats."""
        return len({dtype.is_floating_point for _, dtype in self.kinds}) > 1

    def of_rows(self, rows: Tensor) -> Any:
        """The tensors of some rows; floats have the dtype of the rows."""
        parts = torch.split(rows, [shape.numel() for shape, _ in self.kinds], dim=1)
        held = [
            part.reshape(len(rows), *shape).to(rows.dtype if dtype.is_floating_point else dtype)
            for part, (shape, dtype) in zip(parts, self.kinds, strict=True)
        ]
        return tree_unflatten(held, self.structure)


class OnParts(nn.Module):
    """Module of several tensors as a module of rows, or loss of several targets as a loss of their rows."""

    def __init__(self, whole: Any, layout: Layout) -> None:
        super().__init__()
        self.module, self.layout = whole, layout

    def forward(self, *given: Any) -> Any:
        held = self.layout.of_rows(given[-1])
        if len(given) > 1:
            return self.module(given[0], held)
        several, named = ([], held) if isinstance(held, dict) else (held, {})
        try:
            inspect.signature(self.module.forward).bind(*several, **named)
        except TypeError:
            several, named = [held], {}
        return self.module(*several, **named)
