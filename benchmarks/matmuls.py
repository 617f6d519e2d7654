"""Time of the matrix products of a computation: their shapes are recorded, then each is run alone."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

__all__ = ["alone", "flops", "recorded"]

_PRODUCTS: Final = {"mm": (0, 1), "addmm": (1, 2), "bmm": (0, 1), "baddbmm": (1, 2)}
"""Names of the operators, and which of their arguments are multiplied."""

Shapes = Counter[tuple[tuple[int, ...], tuple[int, ...]]]


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.shapes: Shapes = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        places = _PRODUCTS.get(func.overloadpacket.__name__)
        if places is not None:
            left, right = (tuple(args[place].shape) for place in places)
            self.shapes[left, right] += 1
        return func(*args, **(kwargs or {}))


def recorded(work: Callable[[], object]) -> Shapes:
    """How often matrices of which shapes were multiplied; batches of matrices have three dimensions."""
    with _Recorder() as recorder:
        work()
    return recorder.shapes


def flops(work: Callable[[], object]) -> int:
    """Floating-point operations of the matrix products of a computation, as torch counts them."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def alone(shapes: Shapes, dtype: torch.dtype, device: str) -> Callable[[], Tensor | None]:
    """A function that runs exactly these products, on random matrices, one pair prepared for each shape."""
    pairs = [
        (torch.randn(left, dtype=dtype, device=device), torch.randn(right, dtype=dtype, device=device), times)
        for (left, right), times in shapes.items()
    ]

    def products() -> Tensor | None:
        last = None
        for left, right, times in pairs:
            for _ in range(times):
                last = left @ right
        return last

    return products
