"""Trial of an assumption on the steps of a training: the gradients that Opacus clips, at the iterates it visits.

Some samples are remembered with their clipped gradient and the iterate at which it was taken. When one is drawn again,
two points and two gradients of one loss are known, and an assumption that excludes such a pair is refuted. This needs
neither network nor loss, and costs no gradient.
"""

from collections.abc import Sequence
from typing import Final

import torch
from opacus.optimizers import DPOptimizer
from torch import Tensor

from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.runtime.constants.refutation import TRIED, conjuncts

_SAMPLES: Final = 16
_NUMBERS: Final = 2**22
"""Samples that are remembered, and the numbers that they may have together."""

_FLOOR: Final = 2.0**10
"""Rounding that is assumed of a gradient, in units of its last place."""


class Trial:
    """Gradients that were seen of some samples, and whether they refute an assumption.

    Args:
        assumption: to be tried; parts that say nothing of one sample's gradients are passed over.

    Attributes:
        pairs: of gradients of one sample that were held against it.
    """

    def __init__(self, assumption: Assumption) -> None:
        self._parts = [one for one in conjuncts(assumption) if isinstance(one, TRIED)]
        self._seen: dict[int, tuple[Tensor, Tensor]] = {}
        self.pairs = 0

    def refuted(self, optimizer: DPOptimizer, batch: Sequence[int]) -> str:
        """The clause that tells of a pair which refutes the assumption; empty where there is none.

        Args:
            optimizer: at a step, with the gradients of the batch.
            batch: which samples these are, in their order.
        """
        point = torch.cat([one.detach().reshape(-1) for one in optimizer.params])
        most = max(1, min(_SAMPLES, _NUMBERS // (2 * len(point)))) if self._parts else 0
        for row, sample in enumerate(batch):
            if sample not in self._seen and len(self._seen) >= most:
                continue
            gradient = torch.cat([one[row].reshape(-1) for one in optimizer.grad_samples])
            gradient = gradient * min(1.0, optimizer.max_grad_norm / (float(gradient.norm()) + 1e-6))
            before = self._seen.get(sample)
            self._seen[sample] = (point, gradient)
            found = self._against(sample, before, (point, gradient)) if before else ""
            if found:
                return found
        return ""

    def _against(self, sample: int, before: tuple[Tensor, Tensor], now: tuple[Tensor, Tensor]) -> str:
        apart, change = (b.double() - a.double() for a, b in zip(before, now, strict=True))
        floor = _FLOOR * torch.finfo(now[1].dtype).eps * float(before[1].norm() + now[1].norm())
        distance, least = float(apart.norm()), float(change.norm()) - floor
        if not distance > 0 or not least < float("inf"):
            return ""
        self.pairs += bool(self._parts)
        along = (float(change @ apart) / distance + floor) / distance
        for part in self._parts:
            order = float(part.lam) if isinstance(part, Holder) else 1.0
            if least > part.L * distance**order:
                return (
                    f"{part!r}, but at two iterates {distance:.3g} apart the clipped gradients of sample {sample} "
                    f"differ by {least:.4g}: L{'' if order == 1 else f' of order {order:g}'} is at least "
                    f"{least / distance**order:.4g}"
                )
            if isinstance(part, Convex | StronglyConvex) and along < getattr(part, "m", 0.0):
                return (
                    f"{part!r}, but from one iterate to another {distance:.3g} away the clipped gradient of sample "
                    f"{sample} grows by {along:.4g} of that, along it: losses are not so convex, or clipping acts"
                )
        return ""
