"""Constants in a diagonal metric, such as Adam's, by a change of the network's coordinates.

The metric is |x|_A^2 = sum a_i x_i^2, and the dual norm of gradients is |g|^2 = sum g_i^2 / a_i. For u =
sqrt(a) w, |u| = |w|_A, and the gradient in u is g / sqrt(a), whose length is the dual norm of g. A constant
in this metric is therefore the usual constant of the network with parameters u.

Write a factory that returns ``in_metric(workload, read_metric(Path("adam.pt"), workload))``, and measure it with
``lastiterate estimate my_module:factory``. No epsilon follows from the constants: isotropic noise in u has variance
noise_std^2 / a in w, and a must be fixed before the data are seen.

Source: docs/proofs/network_constants.md, "Other metrics".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.func import functional_call

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.networks import no_constants
from lastiterate.runtime.workloads.weights import Weights, read_saved
from lastiterate.runtime.workloads.workload import Workload

_NO_EPSILON: Final = (
    "Lengths are in the metric, gradients in its dual norm. No epsilon of a run with isotropic noise follows."
)
_NESTED: Final = ("optimizer", "optimizer_state_dict", "optimizer_state")


@dataclass(frozen=True)
class Metric:
    """Positive weights a of the coordinates, one tensor per trained parameter, and the file ``source``."""

    weights: Mapping[str, Tensor]
    source: str


class InMetric(nn.Module):
    """Network with parameters u = sqrt(a) w and the outputs of ``network`` (modified in place) at w."""

    def __init__(self, network: nn.Module, metric: Metric) -> None:
        super().__init__()
        self.network = network.double()  # until the precision of the measurement is known
        self._names = [name for name, values in network.named_parameters() if values.requires_grad]
        for k, name in enumerate(self._names):
            root, values = metric.weights[name].double().sqrt(), network.get_parameter(name)
            values.data = values.data * root
            self.register_buffer(f"scale_{k}", 1 / root)

    def forward(self, rows: Tensor) -> Tensor:
        own = dict(self.network.named_parameters())  # functional_call replaces them by plain tensors
        euclidean = {name: own[name] * self.get_buffer(f"scale_{k}") for k, name in enumerate(self._names)}
        outputs: Tensor = functional_call(self.network, euclidean, (rows,))
        return outputs


def read_metric(path: Path, workload: Workload) -> Metric:
    """Weights of a metric from a file: tensors by parameter name, or the state of a torch Adam optimiser.

    The file is .safetensors or the output of ``torch.save(optimizer.state_dict(), path)``; no code in it is
    executed. For Adam, the weights are sqrt(v / (1 - beta_2^t)) + eps, the divisors of its steps.

    Raises:
        InputError: an unreadable file, names or shapes that do not fit, or a weight that is not positive.
    """
    module, read = workload.initial(0), read_saved(path, "metric")
    state = next((read[key] for key in _NESTED if isinstance(read.get(key), Mapping)), read)
    weights = _of_adam(state, module, path) if isinstance(state, Mapping) and "param_groups" in state else read
    found: Weights = {}
    for name, values in module.named_parameters():
        if not values.requires_grad:
            continue
        given = weights.get(name)
        if not isinstance(given, Tensor) or given.shape != values.shape:
            got = tuple(given.shape) if isinstance(given, Tensor) else "none"
            raise InputError(
                f"A metric needs a weight for every parameter that is trained, got {name}={got} for "
                f"{tuple(values.shape)} in metric={path}; save one tensor per parameter, under its name."
            )
        if given.is_complex() or not bool((fine := torch.isfinite(given) & (given > 0)).all()):
            wrong = "complex numbers" if given.is_complex() else f"{float(given[~fine][0]):g}"
            raise InputError(
                f"A metric needs finite positive weights, got {name}={wrong} in metric={path}; save the divisors of an "
                "optimiser's steps, with an eps, and not the weights of a network."
            )
        found[name] = given.detach().double()
    return Metric(found, path.name)


def in_metric(workload: Workload, metric: Metric) -> Workload:
    """Workload in the coordinates u = sqrt(a) w."""
    name = f"{workload.name} in the metric of {metric.source}"
    unknown = no_constants("not known: the constants of the network are proved in the Euclidean norm")
    module = lambda: InMetric(workload.module(), metric)  # noqa: E731
    remark = f"{_NO_EPSILON} {workload.remark}".strip()
    return replace(workload, name=name, module=module, constants=unknown, remark=remark)


def _of_adam(state: Mapping[str, Any], module: nn.Module, path: Path) -> Weights:
    found: list[Tensor | None] = []
    try:
        for group in state["param_groups"]:
            for place in group["params"]:
                own = state["state"].get(place)
                if own is not None:
                    decayed = 1 - group["betas"][1] ** float(own["step"])
                    squares = own.get("max_exp_avg_sq", own["exp_avg_sq"]).double()
                found.append(None if own is None else (squares / decayed).sqrt() + group["eps"])
        names = [name for group in state["param_groups"] for name in group.get("param_names", ())]
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError, ZeroDivisionError):
        raise InputError(
            f"A metric needs the state of an Adam optimiser after at least one step, got metric={path}, which "
            "holds something else; save torch.optim.Adam(...).state_dict()."
        ) from None
    names = names or _in_order(module, len(found), len(state["param_groups"]), path)
    return {name: values for name, values in zip(names, found, strict=False) if values is not None}


def _in_order(module: nn.Module, count: int, groups: int, path: Path) -> list[str]:
    every = [name for name, _ in module.named_parameters()]
    moving = [name for name, values in module.named_parameters() if values.requires_grad]
    fitting = next((names for names in (every, moving) if len(names) == count), None)
    if groups == 1 and fitting is not None:
        return fitting
    raise InputError(
        f"A metric needs the names of the parameters, got {count} without names, in {groups} groups, in metric={path} "
        f"for {len(every)} in the network; build the optimiser from the network's named_parameters()."
    )
