"""Hessians of losses as linear operators of SciPy, for eigenvalues, traces and spectral densities."""

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from torch.func import vmap

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count, teaches
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.trials import user_code


@teaches()
class HessianOperator(LinearOperator):  # type: ignore[misc]
    """Hessian as in `Workload.hessian_operator`; an `InputError` for a point or a sample that does not exist."""

    def __init__(self, gradients: Gradients, point: ArrayLike | None = None, sample: int | None = None) -> None:
        with user_code(
            "A Hessian needs a finite point", "from point; give all trained parameters as one vector."
        ):
            at = gradients.start if point is None else torch.as_tensor(point).to(gradients.start)
        if at.shape != gradients.start.shape or not bool(torch.isfinite(at).all()):
            raise InputError(
                f"A Hessian needs a finite point of shape=({gradients.dimension},), got shape={tuple(at.shape)}; give "
                "all trained parameters as one vector."
            )
        if sample is not None and count("sample", sample, least=0) >= gradients.samples:
            raise InputError(f"sample must be below {gradients.samples}, got sample={sample}; choose another.")
        self._gradients, self._point = gradients, at
        self._samples = torch.arange(gradients.samples) if sample is None else torch.tensor([sample])
        super().__init__(np.dtype(str(gradients.dtype).removeprefix("torch.")), 2 * (gradients.dimension,))

    @torch.no_grad()
    def _matmat(self, vectors: Array) -> Array:
        columns = torch.as_tensor(np.ascontiguousarray(vectors.T)).to(self._point)
        total, number = torch.zeros_like(columns), len(self._samples)
        product, (inputs, targets) = vmap(self._gradients.curved, (None, 0, 0, 0)), self._gradients.rows()
        for part in self._gradients.pair_chunks(len(columns) * number, weight=2):
            pairs = torch.arange(part.start, part.stop)
            column, sample = (pairs // number).to(columns.device), self._samples[pairs % number]
            total.index_add_(0, column, product(self._point, columns[column], inputs[sample], targets[sample]))
        return np.asarray((total / number).cpu().numpy().T)

    def _adjoint(self) -> "HessianOperator":
        return self
