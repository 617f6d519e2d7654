"""Where tensors are made, without a GPU: on the meta device a tensor that was left on the CPU is an error too."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lastiterate.numeric.errors import InputError
from lastiterate.runtime import factors
from lastiterate.runtime import gradients as module
from lastiterate.runtime.constants.pairs import around_factored
from lastiterate.runtime.constants.search import Changes
from lastiterate.runtime.devices import device_of, threads_of_torch
from lastiterate.runtime.engine import Differentiation
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor, difference, flat, norm
from lastiterate.runtime.training.descent import project_onto_ball
from lastiterate.runtime.workloads.loading import load_workload

META = torch.device("meta")


class Formats(TorchDispatchMode):
    """Collects the formats of floating tensors that are made on the meta device."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        self.seen |= {
            leaf.dtype
            for leaf in tree_leaves(made)
            if isinstance(leaf, torch.Tensor) and leaf.device == META and leaf.is_floating_point()
        }
        return made


@pytest.mark.parametrize("name", ["builtin:iris-mlp-tanh", "builtin:digits-cnn"])
def test_everything_is_made_where_the_gradients_are_and_in_their_format(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "device_of", lambda _name: META)
    monkeypatch.setattr(Differentiation, "_tested", lambda *_: "")  # nothing can be read off the meta device
    monkeypatch.setattr(Differentiation, "batches_twice", True)
    monkeypatch.setattr(module, "telling_rows", lambda *_: [0, 1, 2])
    workload = load_workload(name)
    with Formats() as formats:
        gradients = Gradients(workload, workload.initial(0), device="meta", dtype="float32", tried=False)
        points = gradients.start.repeat(2, 1)
        leaves = gradients.at(points, slice(0, 5))
        drawn = torch.randn(2, gradients.dimension, dtype=torch.float64).to(points)
        rows, targets = gradients.rows()
        some, own = torch.arange(7), torch.tensor([[1, 2], [3, -1]])
        found = [
            *leaves,
            *difference(leaves, leaves, (norm(leaves), clip_factor(norm(leaves), 1.0))),
            flat(leaves),
            gradients.total(gradients.start, 1.0, some),
            gradients.totals(points, 1.0, some),
            gradients.totals(points, 1.0, own),
            gradients.losses(points, rows[0], targets[0]),
            points + drawn,
        ]
    assert formats.seen == {torch.float32}
    found.append(project_onto_ball(points + drawn, gradients.start, 1.0))
    changes = Changes(gradients, rows[:2], targets[:2], 1.0)
    change, longest = changes.between(points, points)
    found += [change, longest, changes.pulled(points, change)]
    assert {(value.device, value.dtype) for value in found} == {(META, torch.float32)}


def test_the_meta_device_sees_what_is_left_on_the_cpu() -> None:
    with pytest.raises(RuntimeError, match="not on the expected device meta"):
        torch.zeros(3, device="meta") + torch.zeros(3)
    with Formats() as formats:
        torch.zeros(3, dtype=torch.float64).to("meta")
    assert formats.seen == {torch.float64}


def test_devices_by_name() -> None:
    assert device_of("cpu") == torch.device("cpu")
    for name in ("banana", "meta", "mps", "cuda:x", "", "cpu:1"):
        with pytest.raises(InputError, match=f"device={name}"):
            device_of(name)


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    workload = load_workload("builtin:iris-mlp")
    with pytest.raises(InputError, match=r"device=cuda where torch .* sees 0 of type cuda; use cpu"):
        Gradients(workload, workload.initial(0), device="cuda")


def test_factored_gradients_are_made_where_the_parameters_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are compared in double precision; what comes back to the parameters is of their format."""
    monkeypatch.setattr(module, "device_of", lambda _name: META)
    monkeypatch.setattr(factors, "_FEWEST", 1)
    monkeypatch.setattr(factors, "_GRAM_COST", 0)
    monkeypatch.setattr(factors.Factored, "_right", lambda *_: True)  # nothing can be read off the meta device
    monkeypatch.setattr(Differentiation, "_tested", lambda *_: "")
    monkeypatch.setattr(module, "telling_rows", lambda *_: [0, 1, 2])
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0), device="meta", dtype="float32", tried=False)
    assert gradients.factored is not None
    total = gradients.total(gradients.start, 1.0, torch.arange(7))
    assert (total.device, total.dtype) == (META, torch.float32)
    norms, found, off = around_factored(gradients, gradients.start, gradients.start.repeat(2, 1), 1.0)
    assert {value.device for value in (norms, *found.values(), off)} == {META}


def test_threads_that_no_machine_has_are_refused_before_torch_tries_them() -> None:
    before = torch.get_num_threads()
    with (
        pytest.raises(InputError, match=r"at most \d+ on this machine.*threads=1000000000"),
        threads_of_torch(10**9),
    ):
        pass
    assert torch.get_num_threads() == before
