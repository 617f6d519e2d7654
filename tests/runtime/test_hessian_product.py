"""Products with Hessians, for losses that PyTorch differentiates forward and for those that it does not."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import hessian, vmap

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload


@pytest.mark.parametrize(
    ("loss", "forward"),
    [
        (nn.functional.mse_loss, False),
        (nn.functional.huber_loss, False),
        (nn.functional.soft_margin_loss, False),
        (nn.functional.binary_cross_entropy_with_logits, True),
    ],
)
def test_the_product_is_that_of_the_dense_hessian(loss: Callable[[Tensor, Tensor], Tensor], forward: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    work = Workload(
        "small", lambda: nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)), loss, rows, rows[:, :1]
    )
    gradients = Gradients(work, work.initial(0))
    points = torch.randn(4, gradients.dimension, generator=generator, dtype=torch.float64)
    vectors = torch.randn(4, gradients.dimension, generator=generator, dtype=torch.float64)
    inputs, targets = (rows[:] for rows in gradients.rows())
    found = vmap(gradients.curved)(points, vectors, inputs, targets)
    assert gradients._forward == [forward]
    for k in range(4):
        dense = hessian(lambda at, k=k: gradients.losses(at[None], inputs[k], targets[k])[0], argnums=0)
        try:
            matrix = dense(points[k])
        except RuntimeError:  # of the forward half
            matrix = torch.autograd.functional.hessian(
                lambda at, k=k: gradients.losses(at[None], inputs[k], targets[k])[0], points[k]
            )
        torch.testing.assert_close(found[k], matrix @ vectors[k])
