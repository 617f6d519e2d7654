"""Run files: what is read, and that whatever is wrong is one sentence, exit status 2, and nothing written."""

import json
import subprocess
from pathlib import Path

import pytest
from processes import python
from shared import parse_run

from lastiterate.__main__ import main
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped, Holder, Minimum, Smooth, Sum, Tabulated
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.run_file import load_run

_RUN = (
    "[run]\nsteps = 20\nstep_size = 0.1\nnoise_std = 1.0\nclip_norm = 2.0\ndataset_size = 5\ndiameter = 1.0\n"
)
_SMOOTH = '[assumption]\nkind = "smooth"\nL = 1.0\n'


def test_a_run() -> None:
    run, assumption = parse_run(_RUN + _SMOOTH)
    assert run == NoisySGD(20, 0.1, 1.0, 2.0, 5, diameter=1.0)
    assert assumption == Smooth(1.0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('kind = "holder"\nL = 2\nlam = 0.5', Holder(2, 0.5)),
        ('kind = "clipped"', Clipped()),
        ('kind = "tabulated"\ndistances = [1, 2]\nvalues = [0.5, 1]', Tabulated((1.0, 2.0), (0.5, 1.0))),
        ('kind = "sum"\nparts = [{kind = "smooth", L = 1}, {kind = "clipped"}]', Sum(Smooth(1), Clipped())),
        (
            'kind = "minimum"\nparts = [{kind = "smooth", L = 1}, {kind = "clipped"}]',
            Minimum(Smooth(1), Clipped()),
        ),
    ],
)
def test_assumptions(text: str, wanted: object) -> None:
    assert parse_run(f"{_RUN}[assumption]\n{text}\n")[1] == wanted


_BAD = [
    (_RUN.replace("steps = 20", 'steps = "20"') + _SMOOTH, "steps='20'"),
    (_RUN.replace("steps = 20", "steps = 20.0") + _SMOOTH, "steps=20.0"),
    (_RUN.replace("noise_std = 1.0", "noise_std = 0") + _SMOOTH, "noise_std=0"),
    (_RUN.replace("noise_std = 1.0", "noise_std = nan") + _SMOOTH, "noise_std=nan"),
    (_RUN.replace("noise_std = 1.0", "noise_std = [1.0, 2.0]") + _SMOOTH, "got 2 numbers"),
    (_RUN.replace("clip_norm = 2.0", "clip_norm = -2.0") + _SMOOTH, "clip_norm=-2"),
    (_RUN.replace("diameter = 1.0", "diameter = 0") + _SMOOTH, "diameter=0"),
    (_RUN.replace("diameter = 1.0", "radius = 1.0") + _SMOOTH, "key='radius'"),
    (_RUN.replace("step_size = 0.1\n", "") + _SMOOTH, "step_size"),
    (_RUN, "needs a table [assumption], got run"),
    (_SMOOTH, "needs a table [run]"),
    ("", "needs a table [run], got nothing"),
    (_RUN + _SMOOTH + "[grid]\n", "key='grid'; lastiterate sweep takes a grid"),
    (_RUN + _SMOOTH + "[more]\n", "key='more'"),
    (_RUN + _SMOOTH.replace("smooth", "smoth"), "kind='smoth'"),
    (_RUN + _SMOOTH.replace("L = 1.0", ""), "L"),
    (_RUN + _SMOOTH + "lam = 0.5\n", "key='lam'"),
    (_RUN + _SMOOTH.replace("L = 1.0", 'L = "1.0"'), "L='1.0'"),
    (_RUN + '[assumption]\nkind = "holder"\nL = 1\nlam = 1.5\n', "lam=1.5"),
    (_RUN + '[assumption]\nkind = "tabulated"\ndistances = 1\nvalues = [1]\n', "distances=1"),
    (_RUN + '[assumption]\nkind = "tabulated"\ndistances = ["a"]\nvalues = [1]\n', "distances[0]='a'"),
    (_RUN + '[assumption]\nkind = "sum"\nparts = [1, 2]\n', "parts="),
    (_RUN + '[assumption]\nkind = "sum"\nparts = []\n', "got"),
    ("run = 3\n" + _SMOOTH, "run=3"),
    ("not toml", "must be TOML"),
]


def test_one_sentence(subtests: pytest.Subtests) -> None:
    for text, said in _BAD:
        with subtests.test(text=text, said=said):
            with pytest.raises(InputError) as caught:
                parse_run(text)
            assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml"):
        load_run(tmp_path / "none.toml")


def test_a_mark_of_the_encoding_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("\ufeff" + _RUN + _SMOOTH, encoding="utf-8")
    assert load_run(tmp_path / "run.toml") == parse_run(_RUN + _SMOOTH)


def _command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "lastiterate", *arguments, cwd=folder)


def test_the_command_prints_the_bound(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(_RUN + _SMOOTH)
    done = _command(tmp_path, "bound", "run.toml", "--order", "2", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    ours = bound(*parse_run(_RUN + _SMOOTH), order=2)
    assert (said["kind"], said["epsilon"], said["mu"]) == ("bound", ours.epsilon, ours.mu)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            'sampling = "poisson"\nbatch_size = 1\n',
            "by contraction: blocks over steps ",
        ),
        (
            'sampling = "poisson"\nbatch_size = 1\ndiameter = 1e4\n',
            "by composition: all steps are charged (no window of shifts is cheaper: diameter=10000 against noise of",
        ),
        ("steps = 2000\n", "by contraction: blocks over steps 19"),
        ("steps = 2000\ndiameter = 1e4\n", "by composition: all steps are charged"),
    ],
)
def test_the_command_says_which_steps_are_charged(
    more: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {line.split(" = ")[0] for line in more.splitlines()}
    run = "\n".join(line for line in _RUN.splitlines() if line.split(" = ")[0] not in given) + "\n"
    (tmp_path / "run.toml").write_text(run + more + _SMOOTH)
    with pytest.raises(SystemExit):
        main(["bound", str(tmp_path / "run.toml"), "--order", "2"])
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (_RUN + _SMOOTH, ("--order", "1")),
        (_RUN + _SMOOTH, ("--order", "two")),
        (_RUN + _SMOOTH, ("--delta", "0")),
        (_RUN + _SMOOTH, ("--order", "2", "--delta", "1e-5")),
        (_RUN + _SMOOTH, ("--colour", "blue")),
        (_RUN.replace("step_size = 0.1", "step_size = 1e70") + _SMOOTH.replace("smooth", "convex"), ()),
        (_RUN.replace("diameter = 1.0", "radius = 1.0") + _SMOOTH, ()),
        ("not toml", ()),
    ],
)
def test_bad_input_is_status_2_and_nothing_written(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    (tmp_path / "run.toml").write_text(text)
    done = _command(tmp_path, "bound", "run.toml", *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.toml"]


def test_an_unknown_command_is_status_2(tmp_path: Path) -> None:
    done = _command(tmp_path, "bond")
    assert done.returncode == 2
    assert "command=bond" in done.stderr
    assert "bound" in done.stderr
