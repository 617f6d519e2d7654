import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.pair_table import Subset
from lastiterate.runtime.workloads.loading import BUILTIN, load_workload
from lastiterate.runtime.workloads.workload import Workload, subset

GOOD = """
import torch
from torch import nn
from lastiterate.runtime.workloads.workload import Workload

def small():
    return Workload("small", lambda: nn.Linear(2, 1), lambda out, y: (out - y).square().sum(),
                    torch.ones(3, 2), torch.zeros(3, 1))

number = 3

def wrong():
    return 7

def reading(data=None):
    numbers = ["1"] * 3 if data is None else (data / "x").read_text().split()
    rows = torch.tensor([[float(x)] * 2 for x in numbers])
    return Workload("reading", lambda: nn.Linear(2, 1), lambda out, y: (out - y).square().sum(),
                    rows, torch.zeros(len(rows), 1))
"""


@pytest.fixture
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "their_model.py").write_text(GOOD)
    (tmp_path / "broken_import.py").write_text("import there_is_no_such_library_xyz\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("their_model", "broken_import"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return "their_model"


def test_iris_is_the_real_data_standardised() -> None:
    workload = load_workload("builtin:iris-mlp")
    assert workload.inputs.shape == (150, 4)
    assert np.bincount(workload.targets.numpy()).tolist() == [50, 50, 50]
    torch.testing.assert_close(workload.inputs.mean(dim=0), torch.zeros(4, dtype=torch.float64))
    module = workload.initial(0)
    assert sum(p.numel() for p in module.parameters()) == 515
    output = torch.zeros(1, 3)
    assert float(workload.loss(output, torch.tensor([1]))) == pytest.approx(0.1 * np.log(3))


def test_every_builtin_loads() -> None:
    for name in BUILTIN:
        assert load_workload(f"builtin:{name}").name == f"builtin:{name}"


def test_seeds_decide_the_initial_parameters_and_leave_the_global_generator_alone() -> None:
    workload = load_workload("builtin:iris-mlp")
    before = torch.get_rng_state()
    first, again, other = (
        nn.utils.parameters_to_vector(workload.initial(seed).parameters()) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_a_user_factory(user_module: str) -> None:
    assert load_workload(f"{user_module}:small").samples == 3


def test_a_factory_that_takes_data_gets_the_folder(user_module: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("5 6")
    assert load_workload(f"{user_module}:reading").samples == 3
    assert load_workload(f"{user_module}:reading", tmp_path).inputs[:, 0].tolist() == [5.0, 6.0]
    for name in (f"{user_module}:small", "builtin:iris-mlp"):
        with pytest.raises(InputError, match=f"Data must be a file, got data={tmp_path}"):
            load_workload(name, tmp_path)


def test_a_subset_is_drawn_without_replacement_by_the_seed() -> None:
    whole = workload_of(nn.Linear(1, 1), torch.arange(50.0)[:, None], torch.arange(50.0)[:, None])
    some, again, other = (subset(whole, 20, seed) for seed in (1, 1, 2))
    rows = some.inputs[:, 0].tolist()
    assert rows == sorted(set(rows))
    assert (some.samples, some.subset) == (20, Subset(20, 50, 1))
    assert torch.equal(some.inputs, some.targets)
    assert torch.equal(some.inputs, again.inputs)
    assert not torch.equal(some.inputs, other.inputs)
    assert torch.equal(subset(whole, 50, 3).inputs, whole.inputs)


def test_every_sample_is_in_a_subset_equally_often() -> None:
    whole = workload_of(nn.Linear(1, 1), torch.arange(10.0)[:, None], torch.zeros(10, 1))
    chosen = torch.cat([subset(whole, 3, seed).inputs[:, 0].long() for seed in range(1000)])
    counts = torch.bincount(chosen, minlength=10).double()
    # 7/9 of a chi-square of 9 degrees of freedom: three of ten without replacement vary less than with it
    assert float(((counts - 300).square() / 300).sum()) < 33.7 * 7 / 9


@pytest.mark.parametrize(("samples", "said"), [(4, "at most the 3"), (0, "samples=0"), (1.5, r"samples=1\.5")])
def test_bad_subsets(samples: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        subset(workload_of(nn.Linear(2, 1)), samples, 0)  # type: ignore[arg-type]


def test_a_subset_is_drawn_once() -> None:
    with pytest.raises(InputError, match="draw only once"):
        subset(subset(workload_of(nn.Linear(2, 1)), 2, 0), 1, 0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("iris-mlp", "try builtin:iris-mlp"),
        ("builtin:iris-mpl", "did you mean builtin:iris-mlp"),
        ("builtin:", "builtin:NAME, hf:FOLDER or module:factory"),
        ("no_such_module_xyz:small", "that module was not found"),
        ("broken_import:small", "its import there_is_no_such_library_xyz was not found"),
        ("their_model:smal", "did you mean their_model:small"),
        ("their_model:number", "number=int"),
        ("their_model:wrong", "got int"),
    ],
)
@pytest.mark.usefixtures("user_module")
def test_bad_names(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_workload(name)


def workload_of(
    module: object, inputs: torch.Tensor | None = None, targets: torch.Tensor | None = None
) -> Workload:
    rows = torch.ones(3, 2) if inputs is None else inputs
    return Workload(
        "test",
        lambda: module,  # type: ignore[arg-type, return-value]
        lambda out, y: (out - y).sum(),
        rows,
        torch.zeros(3, 1) if targets is None else targets,
    )


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), "1=BatchNorm1d"),
        (nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)), "1=Dropout"),
        (nn.ReLU(), "parameters to train"),
        (7, "got int"),
    ],
)
def test_modules_without_per_sample_gradients_are_refused(module: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        workload_of(module).initial(0)


@pytest.mark.parametrize(
    ("inputs", "targets", "said"),
    [
        (torch.ones(0, 2), torch.zeros(0, 1), "at least one sample"),
        (torch.ones(3, 2), torch.zeros(2, 1), "one target per sample"),
        (torch.tensor([[1.0], [float("nan")]]), torch.zeros(2, 1), "inputs with nan"),
    ],
)
def test_bad_data(inputs: torch.Tensor, targets: torch.Tensor, said: str) -> None:
    with pytest.raises(InputError, match=said):
        workload_of(nn.Linear(2, 1), inputs, targets)
