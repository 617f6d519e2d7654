"""Constants in a diagonal metric, such as that of Adam: the network in other coordinates.

With |x|_A^2 = sum a_i x_i^2 and the dual norm |g|^2 = sum g_i^2 / a_i of gradients, u = sqrt(a) w has |u| = |w|_A.
The gradient in u is g / sqrt(a), whose length is the dual norm of g. So a constant of the gradients in this metric is
the usual one of the network with parameters u, and so is all that is measured of it.

Source: docs/proofs/network_constants.md, "Other metrics".
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.runtime.workloads.weights import Weights, put_in, read_saved
from lastiterate.runtime.workloads.workload import Workload

_NESTED: Final = ("optimizer", "optimizer_state_dict", "optimizer_state")

_AGAIN: Final = 2.0**-20
"""Relative distance of weights from what they are after a change of coordinates and back, in float32 or better."""


@dataclass(frozen=True)
class Metric:
    """Positive weights a of the coordinates.

    Attributes:
        weights: one tensor of the shape of each parameter that moves, by its name.
        source: where they are from.
    """

    weights: Mapping[str, Tensor]
    source: str


class InMetric(nn.Module):
    """A network whose parameters are u = sqrt(a) w, and which computes what it does at w.

    Args:
        network: it is changed: its parameters become u.
        metric: a weight for every parameter that moves.
    """

    def __init__(self, network: nn.Module, metric: Metric) -> None:
        super().__init__()
        self.network = network.double()  # until the precision of the measurement is known
        self._names = [name for name, values in network.named_parameters() if values.requires_grad]
        for k, name in enumerate(self._names):
            root, values = metric.weights[name].double().sqrt(), network.get_parameter(name)
            values.data = values.data * root
            self.register_buffer(f"scale_{k}", 1 / root)

    def forward(self, rows: Tensor) -> Tensor:
        """Outputs of the network at w."""
        outputs: Tensor = functional_call(self.network, self.euclidean(), (rows,))
        return outputs

    def euclidean(self) -> dict[str, Tensor]:
        """The parameters w that move, by name."""
        own = dict(self.network.named_parameters())  # of which functional_call makes plain tensors
        return {name: own[name] * scale for name, scale in zip(self._names, self.scales(), strict=True)}

    def scales(self) -> list[Tensor]:
        """1 / sqrt(a) of each of them."""
        return [self.get_buffer(f"scale_{k}") for k in range(len(self._names))]


def read_metric(path: Path, workload: Workload) -> Metric:
    """The weights of a metric from a file: tensors by the names of the parameters, or the state of an Adam of torch.

    Of Adam it is what its steps are divided by, a = sqrt(v / (1 - beta_2^t)) + eps. Nothing in the file is executed.

    Args:
        path: .npz, .safetensors, or what ``torch.save(optimizer.state_dict(), path)`` wrote.
        workload: whose parameters they belong to.

    Raises:
        InputError: a file that cannot be read, names or shapes that are not those of the network, or a weight that is
            not positive.
    """
    module = workload.initial(0)
    read = _of_npz(path) if path.suffix == ".npz" else read_saved(path)
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
                f"A metric needs a weight for every parameter that moves, got {name}={got} for "
                f"{tuple(values.shape)} in metric={path}; save one tensor a parameter, by its name."
            )
        if given.is_complex():
            raise InputError(f"A metric needs real weights, got complex {name} in metric={path}; save lengths.")
        if not bool((fine := torch.isfinite(given) & (given > 0)).all()):
            wrong = float(given[~fine][0])
            remedy = "add an eps" if wrong == 0 else "save what an optimiser divides by, and no weights of a network"
            raise InputError(
                f"A metric needs finite positive weights, got {name}={wrong:g} in metric={path}; {remedy}."
            )
        found[name] = given.detach().double()
    return Metric(found, path.name)


def in_metric(workload: Workload, metric: Metric) -> Workload:
    """The workload with its network in the coordinates u = sqrt(a) w; distances and gradients are those of the metric.

    Certified constants that it brings along become those of the metric: with s the largest 1 / sqrt(a), lengths in w
    are at most s times those in u, so that L is at most s^2 times and K at most s times as large.

    >>> line = Workload("line", lambda: nn.Linear(1, 1, bias=False), lambda z, y: (z - y).square().sum() / 2,
    ...                 torch.tensor([[3.0]]), torch.zeros(1, 1))
    >>> slow = in_metric(line, Metric({"weight": torch.tensor([[4.0]])}, "by hand"))
    >>> (slow.initial(0).network.weight / line.initial(0).weight).item()
    2.0
    """

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        if (known := workload.constants) is None or not isinstance(module, InMetric):
            return LossConstants.unknown("not known: those of the network are proved in the Euclidean norm")
        network, at = deepcopy(module.network), {name: w.detach() for name, w in module.euclidean().items()}
        put_in(network.state_dict() | at, network, Path("metric"))
        most = max(float(scale.double().max()) for scale in module.scales())
        least = min(float(scale.double().min()) for scale in module.scales())
        length = sum(float(values.double().norm()) for values in at.values())
        with precision():
            wide = upper(exact(most) * exact(diameter) + exact(2 * length) * exact(_AGAIN))
            there = known(network, wide)
            convex = there.strong_convexity
            return replace(
                there,
                lipschitz=upper(exact(most) * exact(there.lipschitz)),
                smoothness=upper(exact(most) ** 2 * exact(there.smoothness)),
                strong_convexity=lower(exact(least) ** 2 * exact(convex)) if convex > 0 else convex,
                statement=f"{there.statement}; in the metric by its least weight",
                radius=inf if there.radius == inf else diameter / 2 if 2 * there.radius >= wide else 0.0,
            )

    name = f"{workload.name} in the metric of {metric.source}"
    return replace(workload, name=name, module=lambda: InMetric(workload.module(), metric), constants=constants)


def _of_npz(path: Path) -> Mapping[str, object]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: torch.from_numpy(np.asarray(file[name])) for name in file.files}
    except (OSError, ValueError, TypeError, EOFError, KeyError, BadZipFile):
        raise InputError(
            f"A metric needs a readable file of arrays of numbers, got metric={path}; write it by numpy.savez."
        ) from None


def _of_adam(state: Mapping[str, Any], module: nn.Module, path: Path) -> Weights:
    """sqrt(v / (1 - beta_2^t)) + eps of every parameter that has a state."""
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
            f"A metric needs the state of an Adam after a step or more, got metric={path} of something else; save "
            "torch.optim.Adam(...).state_dict()."
        ) from None
    names = names or _in_order(module, len(found), len(state["param_groups"]), path)
    return {name: values for name, values in zip(names, found, strict=False) if values is not None}


def _in_order(module: nn.Module, count: int, groups: int, path: Path) -> list[str]:
    """The names of the parameters in the order in which an optimiser got them."""
    every = [name for name, _ in module.named_parameters()]
    moving = [name for name, values in module.named_parameters() if values.requires_grad]
    fitting = next((names for names in (every, moving) if len(names) == count), None)
    if groups == 1 and fitting is not None:
        return fitting
    remedy = "it is of another network: take that of this one"
    if fitting is not None:
        remedy = "build the optimiser from module.named_parameters() and save it again"
    raise InputError(
        f"A metric needs to know which state is of which parameter, got {count} parameters in {groups} groups in "
        f"metric={path} for the {len(every)} of the network; {remedy}."
    )
