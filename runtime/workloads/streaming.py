"""Samples of a data loader, numbered in the order of their checksums, since a loader may shuffle."""

from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._pytree import (
    SequenceKey,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_map,
    tree_unflatten,
)
from torch.utils.data import DataLoader, Dataset

from lastiterate.numeric.errors import InputError, count
from lastiterate.runtime.devices import refuse_beyond
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.parts import Names, split_targets

_NAMES: Final = ("inputs", "targets")


def read_samples(
    data: Iterable[Any] | Dataset[Any],
    samples: int | None = None,
    targets: Names | None = None,
) -> tuple[Any, Any]:
    """Inputs and targets of a loader, tensors or dicts or tuples of tensors, in the order of their checksums.

    Args:
        data: iterable over pairs (inputs, targets), longer tuples or dicts, which are batches if it is a
            DataLoader and single samples otherwise, as for a Dataset.
        samples: number of samples read in each pass; None for all of them.
        targets: names or positions of the targets (`lastiterate.runtime.workloads.parts.split_targets`).

    Raises:
        InputError: ``data`` can be iterated only once, or yields other items, samples of several shapes or
            types, no or too few samples, more than fit in memory, or different samples in a second pass.
    """
    wanted = None if samples is None else count("samples", samples)
    if not isinstance(data, Iterable | Dataset):
        raise InputError(
            f"A loader must be iterable, got {type(data).__name__}; give a DataLoader or a Dataset."
        )
    if isinstance(data, Iterator):
        raise InputError(
            f"A loader must be iterable more than once, got {type(data).__name__}, which is exhausted after "
            "one pass; pass a DataLoader, a Dataset, or a class whose __iter__ begins again."
        )
    passed = partial(_batches, data, wanted, targets)
    batches: list[list[Tensor]] = []
    structure: Any = None
    digests: list[bytes] = []
    held = 0
    for tree in passed():
        batch, structure = tree_flatten(tree)
        batches.append([part.clone() for part in batch])  # a loader may reuse its batch
        digests += _digests(batch)
        before, held = held, held + sum(part.nbytes for part in batch)
        if held >> 20 > before >> 20:  # once per MiB, since reading the free memory is slow
            remedy = "give samples=N, the number to read of each pass"
            refuse_beyond(
                "Copies of the samples of a loader so far take", 2 * held, torch.device("cpu"), remedy
            )
    if not digests or len(digests) < (wanted or 0):
        needed = "at least one sample" if wanted is None else f"{wanted} samples"
        raise InputError(f"A loader must yield {needed}, got {len(digests)}; give more data, or ask for fewer.")
    if sorted(digest for tree in passed() for digest in _digests(tree_leaves(tree))) != sorted(digests):
        raise InputError(
            f"A loader must yield the same {len(digests)} samples in every pass, got different ones in the "
            "second; remove random transforms, sampling with replacement, and drop_last."
        )
    order = sorted(range(len(digests)), key=digests.__getitem__)
    found = [torch.cat(parts)[order] for parts in zip(*batches, strict=True)]
    inputs, wanted_too = tree_unflatten(found, structure)
    return inputs, wanted_too


def _digests(batch: list[Tensor]) -> list[bytes]:
    parts = [part.contiguous().reshape(len(part), -1).view(torch.uint8) for part in batch]
    return [blake2b(row.numpy(), digest_size=16).digest() for row in torch.cat(parts, dim=1)]


def _batches(data: Any, wanted: int | None, targets: Names | None) -> Iterator[Any]:
    batched = isinstance(data, DataLoader) and data.batch_sampler is not None
    left = float("inf") if wanted is None else wanted
    seen: list[tuple[torch.dtype, torch.Size]] = []
    first: Any = None
    with user_code("A loader must be read without an error", "in a pass over it; correct its Dataset."):
        for given in data if hasattr(data, "__iter__") else (data[k] for k in range(len(data))):
            if left <= 0:
                return
            tree = tree_map(lambda part: part if batched else part[None], _pair(given, targets))
            paths, structure = tree_flatten_with_path(tree)
            names = [str(getattr(path[-1], "key", _NAMES[path[0] == SequenceKey(1)])) for path, _ in paths]
            parts = [part for _, part in paths]
            if not all(part.ndim and len(part) == len(parts[0]) for part in parts):
                shapes = (f"{name}.shape={tuple(part.shape)}" for name, part in zip(names, parts, strict=True))
                raise InputError(
                    f"A batch needs one target per sample, got {' and '.join(shapes)}; yield the same number of each."
                )
            kinds = [(part.dtype, part.shape[1:]) for part in parts]
            seen, first = seen or kinds, first or structure
            if structure != first:
                raise InputError(
                    f"A loader must yield the same tensors in every batch, got {', '.join(names)} after others; name "
                    "and order them in one way."
                )
            for name, before, kind in zip(names, seen, kinds, strict=True):
                if before != kind or not kind[1].numel():
                    raise InputError(
                        f"The samples of a loader need one shape and type, got {name} of {_words(kind)} after "
                        f"{_words(before)}; pad or crop them (in every batch to the same length, by collate_fn), and "
                        "cast them to one type."
                    )
            number = int(min(left, len(parts[0])))
            left -= number
            if number:
                yield tree_map(lambda part: part[:number], tree)  # noqa: B023


def _pair(given: Any, targets: Names | None) -> tuple[Any, Any]:
    pair = split_targets(given, targets)
    try:
        return tree_map(lambda part: torch.as_tensor(part).detach().cpu(), pair, is_leaf=_is_numbers)  # type: ignore[no-any-return]
    except (TypeError, ValueError, RuntimeError):
        got = ", ".join(type(part).__name__ for part in tree_leaves(pair, is_leaf=_is_numbers))
        raise InputError(
            f"A loader must yield tensors, got {got}; convert them to tensors in the Dataset, or leave them out."
        ) from None


def _is_numbers(one: Any) -> bool:
    return isinstance(one, list | tuple) and not any(hasattr(leaf, "shape") for leaf in tree_leaves(one))


def _words(kind: tuple[torch.dtype, torch.Size]) -> str:
    return f"{str(kind[0]).removeprefix('torch.')} of shape {tuple(kind[1])}"
