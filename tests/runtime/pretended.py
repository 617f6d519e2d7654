"""A device that is not there: tensors called meta that hold their numbers, so that every path can be walked.

Operators are run by the CPU. What a GPU would refuse is an error: tensors of both places in one operator. What it would
have to wait for is written down with the function that asked: a number, a mask or a size that is read, and a copy in
either direction.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from lastiterate import runtime
from lastiterate.runtime.replay import MASKS, READS

THERE: Final = torch.device("meta")
_INDEXED: Final = frozenset(("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"))
_RUNTIME: Final = Path(runtime.__file__).parent


class Pretended(Tensor):
    """A tensor on the pretended device.

    Attributes:
        held: its numbers, on the CPU.
    """

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "Pretended":
        """Wrap the numbers."""
        made: Pretended = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=THERE,
        )
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Refuse work outside of the mode."""
        raise AssertionError(f"{func} on the pretended device outside of PretendedDevice")

    def __repr__(self, **_: object) -> str:
        """Name it."""
        return f"Pretended({self.held!r})"


class PretendedDevice(TorchDispatchMode):
    """Runs what is asked of the device meta, and counts what it waits for.

    Attributes:
        waits: how often each function of the runtime read something off the device, and what.
        copies: how often each copied something to the device.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[tuple[str, str]] = Counter()
        self.copies: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator."""
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        lost = [one for one in tensors if one.device == THERE and not isinstance(one, Pretended)]
        assert not lost, f"{func}: a tensor was made on the device by way of the CPU; say .to(device)"
        there = [one for one in tensors if isinstance(one, Pretended)]
        goal = kwargs.get("device")
        to_there = bool(there) if goal is None else torch.device(goal) == THERE
        if goal is not None:
            kwargs = kwargs | {"device": torch.device("cpu")}
        self._check(name, args, tensors, there, to_there, moved=goal is not None)
        if name == "_efficientzerotensor":  # a derivative that is 0, for which torch sets no memory aside
            func = torch.ops.aten.zeros.default
        made = func(*tree_map(_held, args), **tree_map(_held, kwargs))
        if name.endswith("_") and not name.endswith("__"):
            return args[0]
        if "out" in kwargs:
            return kwargs["out"]
        return tree_map(_wrapped, made) if to_there else made

    def _check(
        self,
        name: str,
        args: Any,
        tensors: list[Tensor],
        there: list[Pretended],
        to_there: bool,
        *,
        moved: bool,
    ) -> None:
        here = [one for one in tensors if not isinstance(one, Pretended)]
        if moved or name in {"copy_", "_copy_from"}:
            target_there = to_there if moved else isinstance(args[0], Pretended)
            if there and (not target_there or (here and not isinstance(args[0], Pretended))):
                self.waits[_asking(), "copied"] += 1
            elif target_there and here:
                self.copies[_asking()] += 1
            return
        if not there:
            return
        if name in _INDEXED and any(one is not None and one.dtype in MASKS for one in args[1]):
            self.waits[_asking(), "mask"] += 1
        if name in READS:
            self.waits[_asking(), name] += 1
        for one in here:
            if name in _INDEXED and isinstance(args[0], Pretended):
                self.copies[_asking()] += 1
            elif one.ndim:
                raise RuntimeError(
                    f"{name}: a tensor of shape {tuple(one.shape)} is on the CPU, others on the device"
                )


def _held(value: Any) -> Any:
    return value.held if isinstance(value, Pretended) else value


def _wrapped(value: Any) -> Any:
    return Pretended(value) if isinstance(value, Tensor) else value


def _asking() -> str:
    """The innermost function of the runtime, as module.function."""
    frame = sys._getframe(1)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if _RUNTIME in file.parents:
            return f"{file.stem}.{frame.f_code.co_qualname.replace('.<locals>', '')}"
        frame = frame.f_back  # type: ignore[assignment]
    return "?"
