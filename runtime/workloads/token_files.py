"""Tokenised sentences with labels from a file of the user: safetensors, npz, parquet, or a line of JSON a sentence."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError

_TOKENS, _MASK, _SEGMENTS = "input_ids", "attention_mask", "token_type_ids"
_LABELS: Final = ("labels", "label")


@dataclass(frozen=True)
class Tokens:
    """Tokenised sentences and their classes, whole numbers all.

    Attributes:
        rows: shape (n, 3, tokens): the numbers of the tokens, 1 where there is a token and 0 after the end, and the
            segments of the tokens.
        labels: shape (n,).
    """

    rows: Tensor
    labels: Tensor


def read_tokens(path: Path, padding: int) -> Tokens:
    """The sentences of a file with the columns input_ids, attention_mask and labels, as a tokenizer names them.

    Nothing in the file runs. Sentences of a different length are filled up with ``padding`` where the mask is 0.

    Args:
        path: of a .safetensors, .npz, .parquet or .jsonl file; token_type_ids are taken where there are any.
        padding: number of the token that fills up.

    Raises:
        InputError: there is no such file, it is damaged or of another kind, or its columns do not fit together.
    """
    if not path.is_file():
        raise InputError(f"Tokenised data must be a file, got data={path}, which is none; check the path.")
    if path.suffix not in _READERS:
        raise InputError(f"Tokenised data must be in a file of {', '.join(_READERS)}, got data={path}; convert it.")
    try:
        columns = _READERS[path.suffix](path)
        label = next((name for name in _LABELS if name in columns), _LABELS[0])
        for name in (_TOKENS, _MASK, label):
            if name not in columns:
                raise InputError(
                    f"Tokenised data need {_TOKENS}, {_MASK} and {_LABELS[0]}, got data={path} without {name}; write "
                    "what the tokenizer returned, and the class of each sentence."
                )
        found = {name: [_whole(row) for row in columns[name]] for name in (_TOKENS, _MASK)}
        segments = [_whole(row) for row in columns[_SEGMENTS]] if _SEGMENTS in columns else []
        labels = _whole(columns[label])
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"This file needs its reader, got data={path} without {error.name}; install it.") from None
    except Exception as error:  # whatever damaged bytes make a reader raise
        raise InputError(
            f"Tokenised data must be whole numbers in a whole file, got data={path} "
            f"({type(error).__name__}: {' '.join(str(error).split())[:100].rstrip('.')}); write it again."
        ) from None
    ids, mask = found[_TOKENS], found[_MASK]
    segments = segments or [np.zeros_like(row) for row in ids]
    shapes = {tuple(len(row) for row in one) for one in (ids, mask, segments)}
    if len(shapes) > 1 or labels.ndim != 1 or len(labels) != len(ids) or not ids:
        raise InputError(
            f"Tokenised data need a mask as long as each sentence and one label for it, got data={path} with "
            f"{len(ids)} sentences and {_LABELS[0]} of shape={labels.shape}; write columns of one length."
        )
    for row, one in enumerate(mask):
        if not set(one.tolist()) <= {0, 1} or not one.any():
            raise InputError(f"{_MASK} must be 1 at the tokens and 0 after, got row={row} of data={path}; mend it.")
    longest = max(map(len, ids))
    filled = [[_filled(row, longest, by) for row in one] for one, by in ((ids, padding), (mask, 0), (segments, 0))]
    return Tokens(torch.from_numpy(np.stack([np.stack(one) for one in filled], axis=1)), torch.from_numpy(labels))


def _whole(values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Values as whole numbers, or a ValueError where they are something else."""
    read = np.asarray(values)
    if read.dtype.kind not in "iub":
        raise ValueError(f"{read.dtype} is no kind of whole number")
    return read.astype(np.int64)


def _filled(row: np.ndarray[Any, Any], length: int, by: int) -> np.ndarray[Any, Any]:
    return np.pad(row, (0, length - len(row)), constant_values=by)


def _of_safetensors(path: Path) -> Mapping[str, Any]:
    read: Mapping[str, Any] = import_module("safetensors.numpy").load_file(path)
    return read


def _of_npz(path: Path) -> Mapping[str, Any]:
    with np.load(path, allow_pickle=False) as read:
        return dict(read)


def _of_lines(path: Path) -> Mapping[str, Any]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _of_parquet(path: Path) -> Mapping[str, Any]:
    read: Mapping[str, Any] = import_module("pyarrow.parquet").read_table(path).to_pydict()
    return read


_READERS: Final[Mapping[str, Callable[[Path], Mapping[str, Any]]]] = MappingProxyType(
    {".safetensors": _of_safetensors, ".npz": _of_npz, ".parquet": _of_parquet, ".jsonl": _of_lines}
)
