"""Every public function that needs torch, with what it cannot use: an answer, or one clear sentence."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from fuzzing import both, refuse_or_answer
from recorded_sgd import RecordedSGD
from torch import nn

import lastiterate as li
from lastiterate.runtime.constants.sampling import Sampling

_RUN, _FLAT = li.NoisySGD(2, 0.1, 1.0, 1.0, 4, diameter=1.0), li.Clipped()
_INPUTS, _TARGETS = torch.eye(4), torch.arange(4.0).unsqueeze(1)
_DATA = torch.utils.data.TensorDataset(_INPUTS, _TARGETS)
_CLIPPED = li.ClippedRows(_DATA, 1.0)


def _network() -> nn.Module:
    return nn.Linear(4, 1, bias=False)


_WORKLOAD = li.Workload("line", _network, nn.MSELoss(), _INPUTS, _TARGETS)


def _calls(junk: Any, other: Any) -> dict[str, Callable[[], object]]:
    """Each public function with something that it cannot use."""
    attacked: dict[str, Any] = {"delta": 0.1, "runs": 4}
    driven: dict[str, Any] = {"pairs": 2}
    return {
        "Workload module": lambda: li.Workload("line", junk, nn.MSELoss(), _INPUTS, _TARGETS),
        "Workload loss": lambda: li.Workload("line", _network, junk, _INPUTS, _TARGETS),
        "Workload inputs": lambda: li.Workload("line", _network, nn.MSELoss(), junk, other),
        "Workload name": lambda: li.Workload(junk, _network, nn.MSELoss(), _INPUTS, _TARGETS),
        "load_workload": lambda: li.load_workload(junk),
        "load_workload data": lambda: li.load_workload("builtin:iris-mlp", junk),
        "worst_case": lambda: li.worst_case(junk, other),
        "worst_case others": lambda: li.worst_case(_RUN, _FLAT, junk),
        "worst_case dimension": lambda: li.worst_case(_RUN, _FLAT, dimension=junk),
        "attack": lambda: li.attack(junk, other, **attacked),
        **{
            f"attack {name}": lambda name=name: li.attack(_WORKLOAD, _RUN, **(attacked | {name: junk}))
            for name in (
                "kind",
                "delta",
                "assumption",
                "target",
                "level",
                "dtype",
                "device",
                "memory",
                "seed",
                "runs",
            )
        },
        "measure_drift": lambda: li.measure_drift(junk, other, _FLAT, **driven),
        **{
            f"measure_drift {name}": lambda name=name: li.measure_drift(
                _WORKLOAD, _RUN, **({"assumption": _FLAT} | driven | {name: junk})
            )
            for name in ("assumption", "pairs", "replaced", "dtype", "device", "memory", "seed")
        },
        "coupled_runs": lambda: li.coupled_runs(junk, other, pairs=2),
        **{
            f"coupled_runs {name}": lambda name=name: li.coupled_runs(
                _WORKLOAD, _RUN, **({"pairs": 2} | {name: junk})
            )
            for name in ("pairs", "replaced", "dtype", "device", "memory", "seed")
        },
        "estimate_holder": lambda: li.estimate_holder(junk, other, (1.0,)),
        "estimate_holder lambdas": lambda: li.estimate_holder(_WORKLOAD, _RUN, junk, Sampling(1, 2, 2)),
        "estimate_holder sampling": lambda: li.estimate_holder(_WORKLOAD, _RUN, (1.0,), junk),
        "Sampling": lambda: Sampling(junk, other),
        "ProjectedNoisySGD": lambda: li.ProjectedNoisySGD(junk, other, _RUN),
        "ProjectedNoisySGD run": lambda: li.ProjectedNoisySGD(_network(), nn.MSELoss(), junk),
        **{
            f"ProjectedNoisySGD {name}": lambda name=name: li.ProjectedNoisySGD(
                _network(), nn.MSELoss(), _RUN, **{name: junk}
            )
            for name in ("center", "seed", "memory")
        },
        "RecordedSGD": lambda: RecordedSGD(_network(), nn.MSELoss(), _RUN, junk, other),
        "RecordedSGD run": lambda: RecordedSGD(_network(), nn.MSELoss(), junk, _INPUTS, _TARGETS),
        "LightningRecord": lambda: import_module("lightning_record").LightningRecord(junk, other),
        "HuggingFaceRecord": lambda: import_module("hugging_face_record").HuggingFaceRecord(junk, other),
        "ClippedRows": lambda: li.ClippedRows(junk, other),
        "ClippedRows norm": lambda: li.ClippedRows(_DATA, junk)[0],
        "assumption_of": lambda: li.assumption_of(junk, other, _CLIPPED, clip_norm=1.0),
        "assumption_of data": lambda: li.assumption_of(_network(), nn.MSELoss(), junk, clip_norm=1.0),
        "assumption_of clip_norm": lambda: li.assumption_of(_network(), nn.MSELoss(), _CLIPPED, clip_norm=junk),
        "constants_of_network": lambda: li.constants_of_network(junk)(_network(), 0.1),
        "constants_of_network loss": lambda: li.constants_of_network(1.0, loss=junk, scale=other)(
            _network(), 0.1
        ),
        "constants_of_network shape": lambda: li.constants_of_network(1.0, shape=junk)(_network(), 0.1),
        "constants_of_network module": lambda: li.constants_of_network(1.0)(junk, other),
        "certified_constants": lambda: li.certified_constants(junk, other),
        "certified_constants radius": lambda: li.certified_constants(_WORKLOAD, junk, seed=other),
        "certified_constants loss": lambda: li.certified_constants(
            _WORKLOAD, 0.1, input_radius=1.0, loss=junk, scale=other
        ),
        "look": lambda: li.look(junk, other),
        "look run": lambda: li.look(_WORKLOAD, junk, budget=0.0),
        "Portrait": lambda: li.Portrait(junk),
        "Portrait from_json": lambda: li.Portrait.from_json(junk),
        "HessianOperator": lambda: _WORKLOAD.hessian_operator(junk, sample=other),
        "refute": lambda: li.refute(junk, other, _FLAT),
        "refute run": lambda: li.refute(_WORKLOAD, junk, _FLAT),
        "refute seed": lambda: li.refute(_WORKLOAD, _RUN, _FLAT, seed=junk),
        "refute assumption": lambda: li.refute(_WORKLOAD, _RUN, junk, seed=other),
    }


@both
def test_what_cannot_be_used(times: int) -> None:
    refuse_or_answer(120 * times, _calls)


def test_every_public_name_is_called() -> None:
    called = {name.split(" ")[0] for name in _calls(None, None)}
    homes = {name: str(getattr(li, "_HOME")[name]) for name in li.__all__}  # noqa: B009
    made_by_others = {"Refutation"}
    assert {name for name, home in homes.items() if ".runtime." in home} <= called | made_by_others
