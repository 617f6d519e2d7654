import inspect
from importlib import import_module
from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.commands.figure import FIGURES


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", "ours/path", "--out", str(tmp_path)])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"ours-path.{end}") for end in ("png", "csv")]
    assert all((tmp_path / f"ours-path.{end}").stat().st_size > 1000 for end in ("png", "csv"))


def test_the_list_names_every_figure_first_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", "--list"])
    assert ended.value.code == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(FIGURES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "name"), (["chien_li/1a"], "--out"), (["chien_li/1a", "--out", __file__], "is a file")],
)
def test_what_is_missing_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "hint"), [("chien_li/1c", "did you mean chien_li/1"), ("x", "choose one of chien_li/1a")]
)
def test_a_wrong_name_is_one_sentence_and_writes_nothing(
    name: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["figure", name, "--out", str(tmp_path / "new")])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"name={name}" in error
    assert hint in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", FIGURES)
def test_the_table_names_functions_and_their_arguments(name: str) -> None:
    entry = FIGURES[name]
    if entry.measures:
        pytest.importorskip("torch")
    module, _, function = entry.draws.partition(":")
    takes = inspect.signature(getattr(import_module(f"lastiterate.{module}"), function)).parameters
    assert set(entry.quick) <= set(takes)
    assert entry.measures == ("folder" in takes)
