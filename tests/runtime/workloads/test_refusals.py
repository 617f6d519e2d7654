import inspect
import sys
from pathlib import Path

import pytest

from lastiterate.__main__ import main

THEIRS = inspect.cleandoc(
    """
    import torch
    from torch import nn
    from lastiterate.runtime.workloads.workload import Workload

    ROWS, LABELS = torch.rand(4, 2), torch.tensor([0, 1, 0, 1])

    def of(module, loss=nn.functional.cross_entropy, rows=ROWS, labels=LABELS):
        return Workload("theirs", lambda: module, loss, rows, labels)

    class Raises(nn.Linear):
        def forward(self, rows):
            raise ArithmeticError("not today")

    class Greedy(nn.Linear):
        def forward(self, rows):
            return super().forward(rows) + torch.empty(10**15)[:2]

    def no_module(): raise OSError("weights.pt is not there")
    def missing(): return Workload("theirs", no_module, nn.functional.cross_entropy, ROWS, LABELS)
    def another():
        module = nn.Linear(2, 2)
        module.load_state_dict(nn.Linear(2, 3).state_dict())
    def of_another(): return Workload("theirs", another, nn.functional.cross_entropy, ROWS, LABELS)
    def wide_labels(): return of(nn.Linear(2, 2), labels=torch.tensor([0, 1, 0, 5]))
    def raising(): raise KeyError("depth")
    def batch_norm(): return of(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    def dropout(): return of(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)))
    def forward_raises(): return of(Raises(2, 2))
    def greedy(): return of(Greedy(2, 2))
    def nan_loss(): return of(nn.Linear(2, 2), lambda out, y: out.sum() * float("nan"))
    def many_numbers(): return of(nn.Linear(2, 2), lambda out, y: out)
    def float_labels(): return of(nn.Linear(2, 2), labels=torch.rand(4))
    def no_data(): return of(nn.Linear(2, 2), rows=ROWS[:0], labels=LABELS[:0])
    def nan_data(): return of(nn.Linear(2, 2), rows=ROWS / 0 * 0)
    def sparse(): return of(nn.Linear(2, 2), rows=ROWS.to_sparse())
    def lazy(): return of(nn.LazyLinear(2))

    def a_list(): return of(nn.Linear(2, 2), rows=[[1.0, 2.0]] * 4)
    def good(): return of(nn.Linear(2, 2))
    def the_class(): return Workload
    """
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["their_bad:missing"], "built without an error, got OSError: weights.pt is not there at "),
        (["their_bad:of_another"], "size mismatch for weight"),
        (
            ["their_bad.py:good"],
            "got a file in workload=their_bad.py:good; run from its folder, and name it their_b",
        ),
        (
            ["./their_bad.py:good"],
            "got a file in workload=./their_bad.py:good; run from its folder, and name it their_b",
        ),
        (["their_bad:the_class"], "got the class Workload from workload=their_bad:the_class; call it"),
        (["their_bad.good"], "got workload=their_bad.good; try their_bad:good."),
        (["net.pt"], "name the workload that builds the network, and add --checkpoint"),
        (["their_script:good"], "must be importable, got SystemExit: 3 at"),
        (["their_bad:wide_labels"], "targets[3:4] of shape=(1,) and dtype=int64 (5)"),
        (["their_bad:raising"], "must return a workload, got KeyError: 'depth' at "),
        (["their_syntax:good"], "must be importable, got SyntaxError"),
        (["their_bad:batch_norm"], "replace batch norm with group norm"),
        (["their_bad:dropout"], "1=Dropout"),
        (["their_bad:forward_raises"], "ArithmeticError: not today at "),
        (["their_bad:greedy"], "lower the memory budget (--memory)"),
        (["their_bad:nan_loss"], "loss=nan"),
        (["their_bad:many_numbers"], "loss.shape=(1, 2)"),
        (["their_bad:float_labels"], "dtype=float64"),
        (["their_bad:no_data"], "at least one sample"),
        (["their_bad:nan_data"], "inputs with nan or inf"),
        (["their_bad:a_list"], "inputs=list"),
        (["their_bad:sparse"], "got inputs of layout=sparse_coo; use inputs.to_dense()"),
        (["their_bad:lazy"], "got the lazy weight; specify its sizes"),
        (["their_bad:good", "--memory", "40"], "memory=40; raise the budget to at least that (--memory "),
        (["their_bad:good", "--device", "banana"], "device=banana; use cpu"),
        (["their_bad:good", "--device", "meta"], "device=meta; use cpu"),
        (["their_bad:good", "--device", "cuda:99"], "device=cuda:99 where torch"),
        (["their_bad:good", "--device", "cpu:1"], "device=cpu:1 where torch"),
    ],
)
def test_the_command_says_it_in_one_line_and_keeps_what_is_there(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "their_bad.py").write_text(THEIRS)
    (tmp_path / "their_syntax.py").write_text("def good(:\n")
    (tmp_path / "their_script.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "their_bad", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "estimate",
                *arguments,
                "--inits",
                "1",
                "--points",
                "2",
                "--steps",
                "2",
                "--draw",
                "uniform",
                "--resume",
                "kept",
            ]
        )
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["mine.txt"]
