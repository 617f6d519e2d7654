"""Fingerprint of a workload: a few plain values by which it is recognised."""

import hashlib
from itertools import chain

import torch

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.rows import in_parts
from lastiterate.runtime.workloads.workload import Workload

_SAMPLES = 256


@torch.no_grad()
def fingerprint(workload: Workload, gradients: Gradients) -> dict[str, object]:
    """Identify a workload in the settings of a `lastiterate.numeric.store.Store`.

    Data and the first initial point, a checkpoint perhaps, are recognised by every bit. The code of a user's workload
    is recognised by what it computes: the mean gradient of the first samples at that point, to five digits.
    """
    digest = hashlib.sha256()
    for part in chain(in_parts(workload.inputs), in_parts(workload.targets)):
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    start = gradients.start
    digest.update(start.cpu().numpy().tobytes())
    first = torch.arange(min(gradients.samples, _SAMPLES))
    mean = gradients.total(start, chosen=first) / len(first)
    return {
        "workload": workload.name,
        "data": digest.hexdigest(),
        "fingerprint": [f"{float(v):.4e}" for v in (start.norm(), mean.norm(), (start * mean).sum())],
        "torch": torch.__version__,
    }
