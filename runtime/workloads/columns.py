"""Columns of numbers from a user's file, in which no code is executed."""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.parts import TARGETS

_Made = TypeVar("_Made")


def read_columns(path: Path, what: str, needed: str, use: Callable[[Mapping[str, Any]], _Made]) -> _Made:
    """Result of ``use`` on the columns of a .safetensors, .npz, .parquet or .jsonl file.

    Raises:
        InputError: a file that is missing, damaged or of another kind, or columns that ``use`` cannot read;
            the message says ``what`` must be as ``needed``.
    """
    path = Path(path) if isinstance(path, str) else path
    if not isinstance(path, Path) or not path.is_file():
        raise InputError(f"{what} must be a file, got data={path}; check the path.")
    if path.suffix not in _READERS:
        raise InputError(
            f"{what} must be in a file whose name ends in one of {', '.join(_READERS)}, got data={path}; convert it."
        )
    try:
        return use(_READERS[path.suffix](path))
    except InputError:
        raise
    except ImportError as error:
        raise InputError(
            f"This file needs {error.name}, which is not installed, got data={path}; install the package."
        ) from None
    except Exception as error:  # damaged bytes may raise anything
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:100].rstrip('.')}"
        raise InputError(
            f"{what} must be {needed} in an undamaged file, got data={path} ({said}); write it again."
        ) from None


def read_rows(path: Path, inputs: Any, targets: Any) -> tuple[Any, Any]:
    """Inputs and targets of a file with the structure and dtypes of given ones; see `Workload.on_file`."""

    def chosen(columns: Mapping[str, Any]) -> tuple[Any, Any]:
        several = isinstance(targets, dict)
        names = [*targets] if several else [name for name in TARGETS if name in columns][:1]
        rest = [name for name in (inputs if isinstance(inputs, dict) else columns) if name not in names]
        if not names or not rest or not {*names, *rest} <= columns.keys():
            needed = [*(inputs if isinstance(inputs, dict) else ()), *(targets if several else ("labels",))]
            raise InputError(
                f"Data need a column for the inputs and one for the targets, {' and '.join(needed)}, got data={path} "
                f"with {', '.join(columns)}; rename them."
            )
        return _as(inputs, columns, rest), _as(targets, columns, names)

    return read_columns(path, "Data", "numbers, with rows of one length,", chosen)


def _as(own: Any, columns: Mapping[str, Any], names: list[str]) -> Any:
    found = {name: torch.from_numpy(np.array(columns[name])) for name in names}
    if isinstance(own, Tensor):
        whole = found[names[0]] if len(found) == 1 else torch.column_stack([*found.values()])
        return _cast(own, whole)
    held = found if isinstance(own, dict) else type(own)(found.values())
    return tree_map(_cast, own, held)


def _cast(own: Tensor, column: Tensor) -> Tensor:
    made = column.to(own.dtype)
    if not own.is_floating_point() and not torch.equal(made.to(column.dtype), column):
        raise ValueError("fractions in a column of whole numbers")
    return made


def _of_lines(path: Path) -> Mapping[str, Any]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {name: [row[name] for row in rows] for name in rows[0]}


_READERS: Final[Mapping[str, Callable[[Path], Mapping[str, Any]]]] = MappingProxyType({
    ".safetensors": lambda path: import_module("safetensors.numpy").load_file(path),
    ".npz": lambda path: dict(np.load(path, allow_pickle=False)),
    ".parquet": lambda path: import_module("pyarrow.parquet").read_table(path).to_pydict(),
    ".jsonl": _of_lines,
})  # fmt: skip
