"""Samples of a data loader, written to a file as they come, so that no more than a batch is in memory.

A loader may shuffle, so the place of a sample in a pass says nothing. Here a sample is what its bytes are, and the
samples are numbered in the order of their checksums: the numbers that follow are the same in whatever order they came.
The first pass counts and sorts checksums, the second writes every sample to its place, and one that the first pass did
not have, from a random transform perhaps, is noticed. The file has no name and goes when the data do.
"""

import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.store import cache_folder, writing
from lastiterate.runtime.workloads.trials import user_code

_NAMES: Final = ("inputs", "targets")
_DIGEST: Final = 16

Row = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""The bytes of the input and of the target of a sample."""


def write_samples(data: Iterable[Any] | Dataset[Any], samples: int | None = None) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a loader, on disk, in the order of their checksums.

    Args:
        data: yields pairs (inputs, targets) whenever it is iterated: a DataLoader batches of them, anything else, as a
            Dataset, one sample at a time.
        samples: how many are read of each pass; None for all of them.

    Returns:
        Tensors of shape (n, ...) that lie in a file; memory holds what is looked at.

    Raises:
        InputError: it can be iterated only once, yields something else, samples of several shapes or types, none, too
            few, or others in the second pass; or there is no room on the disk.
    """
    wanted = None if samples is None else count("samples", samples)
    stream = _Stream(data)
    digests = sorted(_digest(row) for row in islice(stream.rows(), wanted))
    if not digests or len(digests) < (wanted or 0):
        needed = "at least one sample" if wanted is None else f"samples={wanted} samples"
        raise InputError(f"A loader needs to yield {needed}, got {len(digests)}; give more data, or ask for fewer.")
    folder, used, filled = cache_folder("samples"), Counter[bytes](), 0
    with writing("The samples of a loader need", f"folder={folder}", "make room there, or set LASTITERATE_CACHE_DIR"):
        folder.mkdir(parents=True, exist_ok=True)
        files = [tempfile.TemporaryFile(dir=folder) for _ in _NAMES]  # noqa: SIM115
        for row in islice(stream.rows(), wanted):
            digest = _digest(row)
            place = bisect_left(digests, digest) + used[digest]
            if digests[place : place + 1] != [digest]:
                filled = -1
                break
            used[digest], filled = used[digest] + 1, filled + 1
            for file, part in zip(files, row, strict=True):
                file.seek(place * len(part))
                file.write(part.tobytes())
        for file in files:
            file.flush()
    if filled != len(digests):
        raise InputError(
            f"A loader needs to yield the same samples in every pass, got others in the second after {used.total()} of "
            f"{len(digests)}; take out random transforms, drawing with replacement and drop_last."
        )
    inputs, targets = (
        torch.from_numpy(np.memmap(file, np.uint8, "r+")).view(dtype).reshape(len(digests), *shape)
        for file, (dtype, shape) in zip(files, stream.kinds, strict=True)
    )
    return inputs, targets


def _digest(row: Row) -> bytes:
    return blake2b(b"".join(part.tobytes() for part in row), digest_size=_DIGEST).digest()


class _Stream:
    """The samples of a loader, each as its bytes; all of one kind.

    Attributes:
        kinds: dtype and shape of the input and of the target of a sample, after the first one was seen.
    """

    def __init__(self, data: Any) -> None:
        if not isinstance(data, Iterable | Dataset):
            raise InputError(
                f"A loader needs to be iterable, got {type(data).__name__}; give a DataLoader or a Dataset."
            )
        if isinstance(data, Iterator):
            raise InputError(
                f"A loader needs to be iterable again, got {type(data).__name__}, which is over after one pass; give a "
                "DataLoader, a Dataset, or a class whose __iter__ begins again."
            )
        self._data = data
        self._batched = isinstance(data, DataLoader) and data.batch_sampler is not None
        self.kinds: list[tuple[torch.dtype, torch.Size]] = []

    def rows(self) -> Iterator[Row]:
        """One pass."""
        with user_code("A loader needs to be read without an error", "in a pass over it; mend its Dataset."):
            data: Any = self._data
            for given in data if hasattr(data, "__iter__") else (data[k] for k in range(len(data))):
                parts = [part if self._batched else part[None] for part in _pair(given)]
                if not all(part.ndim for part in parts) or len(parts[0]) != len(parts[1]):
                    raise InputError(
                        f"A batch needs one target a sample, got inputs.shape={tuple(parts[0].shape)} and "
                        f"targets.shape={tuple(parts[1].shape)}; yield as many of each."
                    )
                kinds = [(part.dtype, part.shape[1:]) for part in parts]
                self.kinds = self.kinds or kinds
                for name, seen, kind in zip(_NAMES, self.kinds, kinds, strict=True):
                    if seen != kind or not kind[1].numel():
                        raise InputError(
                            f"The samples of a loader need one shape and type, got {name} of {_words(kind)} after "
                            f"{_words(seen)}; pad or crop them, and cast them to one type."
                        )
                yield from zip(*(_bytes(part) for part in parts), strict=True)


def _pair(given: Any) -> list[Tensor]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        got = f"{type(given).__name__} of {len(given)}" if isinstance(given, (tuple, list)) else type(given).__name__
        raise InputError(f"A loader needs to yield pairs (inputs, targets), got {got}; return them from its Dataset.")
    found = []
    for name, part in zip(_NAMES, given, strict=True):
        try:
            found.append(torch.as_tensor(part).detach().cpu())
        except (TypeError, ValueError, RuntimeError):
            raise InputError(
                f"A loader needs to yield tensors, got {name} of type {type(part).__name__}; make tensors of them in "
                "the Dataset."
            ) from None
    return found


def _words(kind: tuple[torch.dtype, torch.Size]) -> str:
    return f"{str(kind[0]).removeprefix('torch.')} of shape {tuple(kind[1])}"


def _bytes(part: Tensor) -> NDArray[np.uint8]:
    """The rows as bytes, shape (rows, bytes of one)."""
    return part.contiguous().reshape(len(part), -1).view(torch.uint8).numpy()
