"""Initial parameters that an adversary would choose: all samples but one are fitted, and that one is not.

A bound holds for every W_0 that does not depend on the sample that differs, so the worst W_0 is the adversary's to
choose, who knows all other samples. There the gradients of the others nearly vanish and no longer pull the runs about,
and the sample's stays as long as the clip norm and hardly turns, so that its loss at W_T tells most. The sample that
takes its place under "replace" is fitted, too: one of two pulls, and half of the distance of a crafted canary is seen.

Source: Annamalai et al. 2024, who train the initial parameters on other data of the same kind.
"""

from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor, nn

from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor
from lastiterate.runtime.workloads.workload import Workload

_STEPS: Final = 1000
_RATE: Final = 0.05
_LONG: Final = 2.0
"""Steps of Adam, their size, and the clip norms that the sample's gradient is as long as where it is left alone."""


def crafted_workload(workload: Workload, run: NoisySGD, target: int, seed: int, **settings: Any) -> Workload:
    """The workload whose network starts at `crafted_start`, whatever its seed; settings are those of `Gradients`."""
    module = workload.initial(seed)
    gradients = Gradients(workload, module, **settings)
    start = crafted_start(gradients, run, target).cpu()

    def made() -> nn.Module:
        found = workload.initial(seed).to(start.dtype)
        nn.utils.vector_to_parameters(start, (p for p in found.parameters() if p.requires_grad))
        return found

    return replace(workload, module=made)


def crafted_start(gradients: Gradients, run: NoisySGD, target: int) -> Tensor:
    """Parameters, from ``gradients.start`` on, at which the sample ``target`` is missed and the others are fitted.

    Nothing is promised but that they depend on the data of the two runs in common, and on the sample and its substitute
    as the adversary knows them; how good they are shows in the attack.

    Returns:
        Shape (dimension,).
    """
    others = [k for k in range(run.dataset_size) if k != target]
    weight = max(1, len(others))
    spare = [gradients.samples - 1] if gradients.samples > run.dataset_size else []
    own, fitted = (torch.tensor(chosen).to(gradients.device) for chosen in ([target], [*others, *spare]))
    weights = torch.tensor([1.0] * len(others) + [float(weight)] * len(spare)).to(gradients.start)
    point = gradients.start.clone().requires_grad_(True)
    adam = torch.optim.Adam([point], lr=_RATE)
    for _ in range(_STEPS):
        here = point.detach()
        slope = gradients.weighted(here, run.clip_norm, fitted, weights)
        pull = gradients.total(here, chosen=own)
        length = torch.linalg.vector_norm(pull)
        short = length < _LONG * run.clip_norm
        slope = slope - torch.where(short, weight * clip_factor(length, run.clip_norm), 0.0) * pull
        point.grad = slope / weight
        adam.step()
    return point.detach()
