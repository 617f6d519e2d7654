"""Samples of a data loader, numbered in the order of their checksums, since a loader may shuffle."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from lastiterate.numeric.errors import InputError, count
from lastiterate.runtime.devices import refuse_beyond
from lastiterate.runtime.trials import user_code

_NAMES: Final = ("inputs", "targets")


def read_samples(data: Iterable[Any] | Dataset[Any], samples: int | None = None) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a loader, in the order of their checksums.

    Args:
        data: iterable over pairs (inputs, targets), which are batches if it is a DataLoader and single
            samples otherwise, as for a Dataset.
        samples: number of samples read in each pass; None for all of them.

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
    batches: list[list[Tensor]] = []
    digests: list[bytes] = []
    held = 0
    for batch in _batches(data, wanted):
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
    if sorted(digest for batch in _batches(data, wanted) for digest in _digests(batch)) != sorted(digests):
        raise InputError(
            f"A loader must yield the same {len(digests)} samples in every pass, got different ones in the "
            "second; remove random transforms, sampling with replacement, and drop_last."
        )
    order = sorted(range(len(digests)), key=digests.__getitem__)
    inputs, targets = (torch.cat(parts)[order] for parts in zip(*batches, strict=True))
    return inputs, targets


def _digests(batch: list[Tensor]) -> list[bytes]:
    parts = [part.contiguous().reshape(len(part), -1).view(torch.uint8) for part in batch]
    return [blake2b(row.numpy(), digest_size=16).digest() for row in torch.cat(parts, dim=1)]


def _batches(data: Any, wanted: int | None) -> Iterator[list[Tensor]]:
    batched = isinstance(data, DataLoader) and data.batch_sampler is not None
    left = float("inf") if wanted is None else wanted
    seen: list[tuple[torch.dtype, torch.Size]] = []
    with user_code("A loader must be read without an error", "in a pass over it; correct its Dataset."):
        for given in data if hasattr(data, "__iter__") else (data[k] for k in range(len(data))):
            if left <= 0:
                return
            parts = [part if batched else part[None] for part in _pair(given)]
            if not all(part.ndim for part in parts) or len(parts[0]) != len(parts[1]):
                raise InputError(
                    f"A batch needs one target per sample, got inputs.shape={tuple(parts[0].shape)} and "
                    f"targets.shape={tuple(parts[1].shape)}; yield the same number of each."
                )
            kinds = [(part.dtype, part.shape[1:]) for part in parts]
            seen = seen or kinds
            for name, before, kind in zip(_NAMES, seen, kinds, strict=True):
                if before != kind or not kind[1].numel():
                    raise InputError(
                        f"The samples of a loader need one shape and type, got {name} of {_words(kind)} after "
                        f"{_words(before)}; pad or crop them, and cast them to one type."
                    )
            some = [part[: int(min(left, len(part)))] for part in parts]
            left -= len(some[0])
            if len(some[0]):
                yield some


def _pair(given: Any) -> list[Tensor]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        got = (
            f"{type(given).__name__} of {len(given)}"
            if isinstance(given, (tuple, list))
            else type(given).__name__
        )
        raise InputError(
            f"A loader must yield pairs (inputs, targets), got {got}; return them from its Dataset."
        )
    try:
        return [torch.as_tensor(part).detach().cpu() for part in given]
    except (TypeError, ValueError, RuntimeError):
        got = ", ".join(type(part).__name__ for part in given)
        raise InputError(
            f"A loader must yield tensors, got {got}; convert them to tensors in the Dataset."
        ) from None


def _words(kind: tuple[torch.dtype, torch.Size]) -> str:
    return f"{str(kind[0]).removeprefix('torch.')} of shape {tuple(kind[1])}"
