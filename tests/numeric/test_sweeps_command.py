"""``lastiterate sweep``: what it writes and prints, and that bad input is one sentence and status 2."""

from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.numeric import sweeps

_FILE = """
[run]
steps = 50
step_size = 0.1
noise_std = 1.0
clip_norm = 2.0
dataset_size = 6
[assumption]
kind = "convex"
L = 1.0
[grid]
diameter = [0.5, 1.0]
L = [1.0, 1e70]
delta = [1e-5]
"""


def _status(*arguments: str) -> object:
    with pytest.raises(SystemExit) as caught:
        main(["sweep", *arguments])
    return caught.value.code


def test_it_writes_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(_FILE)
    assert _status("sweep.toml", "--out", "out.csv", "--jobs", "1") == 0
    assert capsys.readouterr().out.splitlines() == [
        "out.csv: 4 rows, 2 of them without a number (see the error column)",
    ]
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == ["out.csv", "out.csv.rows", "sweep.toml"]


def test_an_interruption_is_status_130_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "sweep.toml").write_text(_FILE)
    files = str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "out.csv"), "--jobs", "1"
    numbered = sweeps._numbered

    def stopping(plan, row, point):
        if row == 2:
            raise KeyboardInterrupt
        return numbered(plan, row, point)

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "_numbered", stopping)
        assert _status(*files) == 130
    assert "resumes from there" in capsys.readouterr().err
    assert len(list((tmp_path / "out.csv.rows").glob("*/*.npz"))) == 2
    assert _status(*files) == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 5


def test_bad_input(subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for text, options, said in [
        (_FILE, ("--out", "out.txt"), "out=out.txt"),
        (_FILE, ("--out", "out.csv", "--jobs", "0"), "jobs=0"),
        (_FILE, ("--out", "out.csv", "--jobs", "two"), "two"),
        (_FILE, ("--out", "no/such/folder/out.csv"), "out=no/such/folder"),
        (_FILE, (), "--out"),
        (_FILE.replace("delta", "detla"), ("--out", "out.csv"), "did you mean delta"),
        (_FILE.replace("[1.0, 1e70]", "[]"), ("--out", "out.csv"), "L=[]"),
        (_FILE.replace("steps = 50", "step = 50"), ("--out", "out.csv"), "key='step'"),
        ("[grid", ("--out", "out.csv"), "must be TOML"),
    ]:
        with subtests.test(text=text, options=options, said=said):
            monkeypatch.chdir(tmp_path)
            Path("sweep.toml").write_text(text)
            assert _status("sweep.toml", *options) == 2
            told = capsys.readouterr()
            assert told.out == ""
            assert told.err.startswith("error: ")
            assert told.err.count("\n") == 1
            assert said in told.err
            assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]


def test_the_example(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples/sweep.toml"
    out = tmp_path / "sweep.csv"
    assert _status(str(example), "--out", str(out), "--jobs", "1") == 0
    assert len(out.read_text().splitlines()) == 25
