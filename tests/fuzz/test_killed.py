"""kill -9 in the middle of `check`, of a sweep and of an estimate; the same command again gives the same result."""

import json
import random
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from processes import TORCH
from stopping import stopped

from lastiterate.symbolic.ledger import claims

_ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long
_kills = pytest.mark.parametrize(
    "kills",
    [2, pytest.param(50, marks=(pytest.mark.nightly, pytest.mark.timeout(7200)))],
    ids=["ci", "nightly"],
)


def _stopped(step: int, arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    return stopped("SIGKILL", step, home, arguments, TORCH, XDG_CACHE_HOME=str(home), HOME=str(home))


def _whole(arguments: Sequence[str], home: Path) -> str:
    done = _stopped(0, arguments, home)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _kill_often(arguments: Sequence[str], home: Path, kills: int, first: int = 1) -> None:
    """Kill the command and its workers at one of their next steps, again and again; it gets as far as it gets."""
    rng = random.Random(kills)  # noqa: S311
    ended = [_stopped(rng.randint(first, first + 11), arguments, home).returncode for _ in range(kills)]
    assert -signal.SIGKILL in ended
    assert set(ended) <= {0, -signal.SIGKILL}


@pytest.mark.nightly
@_kills
def test_check(kills: int, tmp_path: Path) -> None:
    keys = [claim.key for claim in claims("d2p2")[:: 12 if kills < 10 else 6]]
    arguments = [
        "check",
        "--jobs",
        "2",
        "--format",
        "json",
        *(word for key in keys for word in ("--claim", key)),
    ]

    def verdicts(text: str) -> dict[str, tuple[str, str, int]]:
        return {
            one["key"]: (one["verdict"], one["grade"], one["rejected"]) for one in json.loads(text)["claims"]
        }

    undisturbed = verdicts(_whole(arguments, tmp_path / "undisturbed"))
    _kill_often(arguments, tmp_path / "killed", kills)
    assert verdicts(_whole(arguments, tmp_path / "killed")) == undisturbed


@_kills
def test_a_sweep(kills: int, tmp_path: Path) -> None:
    text = (
        (_ROOT / "examples" / "run.toml")
        .read_text(encoding="utf-8")
        .replace("diameter = 1.0", "diameter = inf")
    )
    noises = [0.5 + k / 100 for k in range(24 if kills < 10 else 60)]
    path = tmp_path / "sweep.toml"
    path.write_text(f"{text}\n[grid]\nnoise_std = {noises}\norder = [2, 8]\n", encoding="utf-8")
    tables = []
    for name, times in (("undisturbed", 0), ("killed", kills)):
        out = tmp_path / f"{name}.csv"
        arguments = ["sweep", str(path), "--out", str(out), "--jobs", "1"]
        if times:
            _kill_often(arguments, tmp_path, times, first=4)  # before, it tries whether the file can be written
            assert any((tmp_path / "killed.csv.rows").iterdir())
        _whole(arguments, tmp_path)
        tables.append(out.read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.nightly
@_kills
def test_an_estimate(kills: int, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    arguments = [
        "estimate",
        "builtin:iris-mlp",
        "--inits",
        "4",
        "--points",
        "10",
        "--steps",
        "10",
        "--draw",
        "uniform",
        "--json",
    ]

    def numbers(text: str) -> object:
        return json.loads(re.sub(r'"seconds": [\d.e+-]+', '"seconds": 0', text))

    undisturbed = numbers(_whole([*arguments, "--resume", str(tmp_path / "undisturbed")], tmp_path))
    again = [*arguments, "--resume", str(tmp_path / "killed")]
    _kill_often(again, tmp_path, kills)
    assert numbers(_whole(again, tmp_path)) == undisturbed
