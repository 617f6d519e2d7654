"""A theorem asked for by name: its number, the verdict of the lock file, why, and what is true instead."""

import json

import pytest

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Smooth
from lastiterate.numeric.published.theorems import THEOREMS
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.stated import theorem

_SAMPLED = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
_FILE = """[run]
steps = 1
step_size = 1.0
noise_std = 1.0
clip_norm = 1.0
dataset_size = 10
batch_size = 1
sampling = "without_replacement"
[assumption]
kind = "smooth"
L = 1.0
"""


def test_every_theorem_can_be_asked_for(subtests: pytest.Subtests) -> None:
    for name in THEOREMS:
        with subtests.test(name=name):
            found = theorem(name, _SAMPLED, Smooth(1.0), order=20)
            assert found.verdict == read_lock()[found.claim].verdict
            assert (found.epsilon is None) == bool(found.refusal)
            if found.verdict not in ("PROVED", "SUPPORTED"):
                assert found.why
                assert found.instead
            assert found.verdict in str(found)


def test_theorem_3_12_is_refuted_by_name() -> None:
    found = theorem("chien_li_3_12", _SAMPLED, Smooth(1.0), order=20)
    assert found.epsilon is not None
    assert round(found.epsilon, 4) == 0.0807
    assert "7.576" in found.why
    assert "37.576" in found.why
    assert "ours/sampled" in found.why
    assert [key for key, *_ in found.instead] == ["chien_li/theorem_3_12/both_orders", "ours/sampled/theorem"]


def test_a_theorem_that_says_nothing_of_the_run() -> None:
    found = theorem("d2p2_1", _SAMPLED, Smooth(1.0), order=20)
    assert found.epsilon is None
    assert "needs a different algorithm" in str(found)


def test_an_unknown_name() -> None:
    with pytest.raises(InputError, match="theorem='nothing'"):
        theorem("nothing", _SAMPLED, Smooth(1.0), order=20)


def run_command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_the_command(tmp_path, capsys) -> None:
    path = tmp_path / "run.toml"
    path.write_text(_FILE)
    assert run_command("compare", str(path), "--order", "20", "--theorem", "chien_li_3_12") == 0
    out = capsys.readouterr().out
    assert "(20, 0.0807336)-RDP" in out
    assert "REFUTED: chien_li/theorem_3_12" in out
    assert run_command("compare", str(path), "--order", "20", "--theorem", "chien_li_3_12", "--json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "REFUTED"
    assert run_command("compare", str(path), "--theorem", "chien_li_3_13") == 2
    assert "chien_li_3_12" in capsys.readouterr().err


def test_the_table(tmp_path, capsys) -> None:
    path = tmp_path / "run.toml"
    path.write_text(_FILE)
    assert run_command("compare", str(path), "--order", "20", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["chien_li_3_12"]["verdict"] == "REFUTED"
    assert rows["bound"]["verdict"] == "PROVED"
    assert rows["lower"]["verdict"] is None
    assert run_command("compare", str(path), "--order", "20") == 0
    out = capsys.readouterr().out
    assert "37.5762" in out
    assert "REFUTED" in out
