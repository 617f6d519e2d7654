"""What holds of every command, whichever they are: help, JSON, exit status, colours, completion, hints."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import click
import jsonschema
import pytest
from processes import python
from schemas import schemas
from stopping import stopped

from lastiterate.__main__ import COMMANDS, cli, main
from lastiterate.commands.output import say_json
from lastiterate.numeric.display import plain

_ROOT = Path(__file__).parents[1]
_RUN = str(_ROOT / "examples" / "run.toml")
_SWEEP = str(_ROOT / "examples" / "sweep.toml")
_WITHOUT_DATA = {"new-claim"}
_KEY = "chien_li/theorem_3_1/composition"
_CHEAP = "d2p2/theorem_3/numbers"
_PLAIN: dict[str, list[str]] = {
    "check": ["--claim", _CHEAP, "--no-cache"],
    "list": ["--paper", "chien_li"],
    "show": [_CHEAP, "--no-cache"],
    "bound": [_RUN, "--order", "2"],
    "calibrate": [_RUN, "--epsilon", "0.1", "--order", "2"],
    "forget": [_RUN, "--steps", "3", "--delta", "1e-5"],
    "participation": [_RUN, "--steps", "3,5", "--delta", "1e-5"],
    "compare": [_RUN],
    "statement": [_RUN, "--delta", "1e-5"],
}
"""Arguments that end in a second."""


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)  # type: ignore[attr-defined]
    assert isinstance(found, click.Command)
    return found


def _shell(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | more.pop("environment", {})
    return python("-m", "lastiterate", *arguments, env=environment, **more)


def test_bare_it_prints_its_help() -> None:
    done = _shell()
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout == _shell("--help").stdout


def test_warnings_of_libraries_are_not_shown() -> None:
    code = (
        "import warnings, lastiterate.__main__ as m; warnings.simplefilter('default');"
        "m.cli.main = lambda **_: [warnings.warn(w, w) for w in (DeprecationWarning, FutureWarning, RuntimeWarning)];"
        "m.main([])"
    )
    done = python("-c", code, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert "RuntimeWarning" in done.stderr
    assert "DeprecationWarning" not in done.stderr
    assert "FutureWarning" not in done.stderr


def test_help_has_examples(subtests: pytest.Subtests) -> None:
    for name in COMMANDS:
        with subtests.test(name=name):
            told = _command(name).get_help(click.Context(_command(name), info_name=name))
            assert re.search(r"Examples?:\n\s+lastiterate " + name, told), told


def test_what_an_option_does_is_a_sentence(subtests: pytest.Subtests) -> None:
    for name in COMMANDS:
        with subtests.test(name=name):
            for option in _command(name).params:
                if isinstance(option, click.Option):
                    assert re.fullmatch(r"[A-Z0-9(].*\.", option.help or "", re.DOTALL), (
                        f"{option.opts}: {option.help}"
                    )


def test_what_prints_data_takes_json_and_has_a_schema(subtests: pytest.Subtests) -> None:
    for name in [name for name in COMMANDS if name not in _WITHOUT_DATA]:
        with subtests.test(name=name):
            options = {flag for option in _command(name).params for flag in option.opts}
            assert "--json" in options
            jsonschema.Draft202012Validator.check_schema(schemas()[name])


def test_every_schema_is_of_a_command() -> None:
    assert set(schemas()) == set(COMMANDS) - _WITHOUT_DATA


@pytest.mark.parametrize("name", _PLAIN)
def test_json_is_as_its_schema_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, *_PLAIN[name], "--json"])
    told = capsys.readouterr()
    assert caught.value.code == 0, told.err
    said = json.loads(told.out, parse_constant=pytest.fail)
    jsonschema.validate(said, schemas()[name])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"kind": 3}, schemas()[name]) if name != "compare" else jsonschema.validate(
            3, schemas()[name]
        )


def test_whatever_a_test_makes_a_command_print_is_held_to_its_schema() -> None:
    with click.Context(_command("sweep")):
        say_json({"out": "a.csv", "rows": 3, "refused": 0})
        with pytest.raises(jsonschema.ValidationError, match="'rows' is a required property"):
            say_json({"out": "a.csv", "refused": 0})


def test_json_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["sweep", _SWEEP, "--out", str(tmp_path / "out.csv"), "--jobs", "1", "--json"])
    assert caught.value.code == 0
    said = json.loads(capsys.readouterr().out)
    jsonschema.validate(said, schemas()["sweep"])
    assert said["rows"] > said["refused"]


def test_numbers_that_json_does_not_know() -> None:
    assert plain([float("nan"), {"a": float("-inf")}, 1.5, True]) == ["nan", {"a": "-inf"}, 1.5, True]


def test_a_file_or_a_name_that_is_not_there(
    subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Status 2, one sentence on stderr, nothing on stdout."""
    for name in [name for name in COMMANDS if name not in _WITHOUT_DATA]:
        with subtests.test(name=name):
            wrong = str(tmp_path / "nowhere.toml")
            arguments = {
                "check": ["--paper", "chien_lee"],
                "list": ["--paper", "chien_lee"],
                "show": ["chien_li/theorem_3_11"],
                "report": ["--paper", "chien_lee", "--out", str(tmp_path)],
                "bound": [wrong, "--order", "2"],
                "statement": [wrong],
                "verify": [wrong],
                "calibrate": [wrong, "--epsilon", "1", "--order", "2"],
                "compare": [wrong],
                "participation": [wrong, "--delta", "1e-5"],
                "forget": [wrong, "--steps", "5", "--delta", "1e-5"],
                "sweep": [wrong, "--out", str(tmp_path / "out.csv")],
                "estimate": ["builtin:iris-mlq"],
                "look": ["builtin:iris-mlq"],
                "checkpoints": ["builtin:iris-mlq", "net.pt", "later.pt"],
                "attack": [wrong, "--delta", "1e-5"],
                "drift": [wrong, "--workload", "builtin:iris-mlp"],
            }
            with pytest.raises(SystemExit) as caught:
                main([name, *arguments[name]])
            told = capsys.readouterr()
            assert caught.value.code == 2
            assert told.out == ""
            assert told.err.startswith("error: ")
            assert told.err.count("\n") == 1
            assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["bonud"], "bound"),
        (["show", "chien_li/theorem_3_1/compositoin"], _KEY),
        (["check", "--paper", "chien_lee"], "chien_li"),
        (["estimate", "builtin:iris-mpl"], "builtin:iris-mlp"),
        (["compare", _RUN, "--theorem", "liang_3_5"], "liang_3_"),
        (["bound", _RUN, "--odrer", "2"], "--order"),
    ],
)
def test_a_typing_error_is_answered_with_the_nearest_name(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert f"did you mean {meant}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "option"), [("bound", "--epsilon"), ("compare", "--delta"), ("attack", "--epsilon")]
)
def test_an_option_like_none_is_answered_with_all(
    name: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest name once was --json or --help."""
    with pytest.raises(SystemExit):
        main([name, _RUN, option, "1"])
    told = capsys.readouterr().err
    assert f"got {option}; the options are " in told
    assert "--order" in told or "--delta" in told


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (["bo"], "bound"),
        (["bound", "--or"], "--order"),
    ],
)
def test_the_shell_completes(
    words: list[str], among: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_LASTITERATE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["lastiterate", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        main([])
    assert among in [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]


def test_nobody_reads_the_output() -> None:
    """``lastiterate list | head -1``: no word on stderr."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    line = f"{shlex.quote(sys.executable)} -m lastiterate list | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)  # noqa: S603, S607
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("name", ["check", "compare"])
def test_no_colours_in_a_pipe(name: str) -> None:
    done = _shell(name, *_PLAIN[name])
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""


def _on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    kept |= {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color"} | environment
    told: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other side is closed
            while piece := os.read(ours, 65536):
                told.append(piece)

    reader = Thread(target=read)
    reader.start()
    python("-m", "lastiterate", *arguments, env=kept, out=theirs)
    reader.join()
    os.close(ours)
    return b"".join(told).decode()


def test_no_color_is_respected_on_a_terminal() -> None:
    colour = re.compile(r"\x1b\[[0-9;]*[349][0-7]m")
    assert colour.search(_on_a_terminal("check", *_PLAIN["check"]))
    assert not colour.search(_on_a_terminal("check", *_PLAIN["check"], NO_COLOR="1"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["check", "--paper", "d2p2", "--no-cache", "--jobs", "2"],
            "interrupted: nothing is kept under --no-cache",
        ),
        (["sweep", _SWEEP, "--out", "@"], "interrupted: what was finished is kept"),
    ],
    ids=["check", "sweep"],
)
def test_interrupted(arguments: list[str], said: str, tmp_path: Path) -> None:
    """Ctrl-C: status 130, one line, and no process left behind."""
    out = tmp_path / "out.csv"
    told = stopped("SIGINT", 5, tmp_path, [one.replace("@", str(out)) for one in arguments])
    assert told.returncode == 130, told.stderr
    assert said in told.stderr
    assert told.stdout == ""
