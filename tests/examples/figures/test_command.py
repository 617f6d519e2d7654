import inspect
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "figures"
FIGURES = tomllib.loads((FOLDER / "figures.toml").read_text())


def drawn(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


def test_the_script_writes_what_it_prints(tmp_path: Path) -> None:
    done = drawn("ours/path", "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(tmp_path / f"ours-path.{end}") for end in ("csv", "png", "svg", "pdf")]
    assert all((tmp_path / f"ours-path.{end}").stat().st_size > 1000 for end in ("csv", "png", "svg", "pdf"))


def test_the_list_names_every_figure_first_in_its_line() -> None:
    assert [line.split()[0] for line in drawn("--list").stdout.splitlines()] == list(FIGURES)


@pytest.mark.parametrize(
    ("arguments", "said"), [(["ours/path", "--out", __file__], "is a file"), (["chien_li/1c"], "'chien_li/1a'")]
)
def test_a_mistake_is_one_sentence(arguments: list[str], said: str) -> None:
    done = drawn(*arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", FIGURES)
def test_the_table_names_functions_and_their_arguments(name: str) -> None:
    entry = FIGURES[name]
    if entry.get("measures"):
        pytest.importorskip("torch")
    module, _, function = entry["draws"].partition(":")
    takes = inspect.signature(getattr(import_module(module), function)).parameters
    assert set(entry.get("quick", {})) <= set(takes)
    assert entry.get("measures", False) == ("folder" in takes)
