"""Hessians of losses as linear operators of SciPy, for eigenvalues, traces and spectral densities."""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from torch import Tensor
from torch.func import vmap

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload

_PRODUCT: Final = 2
"""Memory of a Hessian product, in gradients."""


class HessianOperator(LinearOperator):  # type: ignore[misc]
    """Hessian of the loss of one sample, or of the mean loss of all samples (``sample`` None), at a point.

    ``gradients`` are those of the workload, on whose device and in whose dtype products are computed.
    """

    def __init__(self, gradients: Gradients, point: Tensor, sample: int | None = None) -> None:
        self._gradients, self._point = gradients, point
        self._samples = torch.arange(gradients.samples) if sample is None else torch.tensor([sample])
        size = gradients.dimension
        super().__init__(np.dtype(str(gradients.dtype).removeprefix("torch.")), (size, size))

    def _matvec(self, vector: Array) -> Array:
        return self._matmat(vector.reshape(-1, 1))[:, 0]

    def _matmat(self, vectors: Array) -> Array:
        rows = torch.as_tensor(np.ascontiguousarray(vectors.T)).to(self._point)
        total, (inputs, targets) = torch.zeros_like(rows), self._gradients.rows()
        product = vmap(self._gradients.curved, (None, 0, 0, 0))
        number = len(self._samples)
        for part in self._gradients.pair_chunks(len(rows) * number, weight=_PRODUCT):
            pairs = torch.arange(part.start, part.stop)
            vector, sample = (pairs // number).to(rows.device), self._samples[pairs % number]
            with torch.no_grad():
                found = product(self._point, rows[vector], inputs[sample], targets[sample])
            total.index_add_(0, vector, found)
        return np.asarray((total / number).cpu().numpy().T)

    def _adjoint(self) -> "HessianOperator":
        return self


def hessian_operator(
    workload: Workload, point: ArrayLike | Tensor | None = None, sample: int | None = None, **settings: Any
) -> HessianOperator:
    """Hessian as in `Workload.hessian_operator`; an `InputError` for a point or a sample that does not exist."""
    gradients = Sampling().but(**settings).gradients(workload)
    at = gradients.start if point is None else torch.as_tensor(point).to(gradients.start)
    if at.shape != gradients.start.shape or not bool(torch.isfinite(at).all()):
        raise InputError(
            f"A Hessian needs a finite point of shape=({gradients.dimension},), got shape={tuple(at.shape)}; give all "
            "trained parameters as one vector."
        )
    if sample is not None and count("sample", sample, least=0) >= gradients.samples:
        raise InputError(
            f"sample must be below the number of samples, {gradients.samples}, got sample={sample}; choose another."
        )
    return HessianOperator(gradients, at, sample)
