"""The second paper of one's own: its claims stand as locked, the lock notices what is weakened, its workflow runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.folder import read_claims

ROOT = Path(__file__).parents[2]
WINDOW = "bok_su_altschuler/noisy_gd/convex/window"
EXAMPLE = ROOT / "examples" / "shifted_interpolation"


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "paper", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "paper"


def told(capsys, *arguments):
    """Exit status and output of the command line."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out = capsys.readouterr()
    return ended.value.code, out.out + out.err


def test_claims_stand_as_locked_and_have_pages(folder, capsys, tmp_path):
    code, out = told(capsys, "check", folder, "--jobs", "1")
    assert (code, "drift" in out) == (0, False), out
    assert "5 claims: 5 PROVED" in out
    code, out = told(capsys, "list", folder)
    assert out.count(" PROVED ") == 5
    code, out = told(capsys, "show", "bok_su_altschuler/noisy_gd/convex", folder)
    assert "induction" in out
    assert "https://arxiv.org/abs/2403.00278" in out
    code, out = told(capsys, "report", folder, "--out", tmp_path / "report", "--jobs", "1")
    assert code == 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert page.count('<details class="claim"') == 5
    assert "each by a rule of the kernel" in page
    assert "Which bound is below which" not in page


@pytest.mark.parametrize(
    ("old", "new", "told_of"),
    [
        ("3 * D * s + s**2 * w", "4 * D * s + s**2 * w", "before 'For all D, K, eta, n, sigma, w with "),
        (
            '            "2 for 3"',
            '            "two for three"',
            "differently than when it was locked, but its statement is the same.",
        ),
        (
            "        assumptions=(s * w >= D,),",
            "        assumptions=(s * w >= 2 * D,),",
            "has changed: now",
        ),
    ],
)
def test_a_weakened_claim_is_noticed(folder, capsys, old, new, told_of):
    module = folder / "claims" / "noisy_gd.py"
    text = module.read_text()
    assert old in text
    module.write_text(text.replace(old, new))
    arguments = ("check", folder, "--jobs", "1", "--claim", WINDOW)
    code, out = told(capsys, *arguments)
    assert told_of in out
    assert code == 1, "a mutant's name is part of what is checked"
    code, out = told(capsys, *arguments, "--update-lock")
    assert code == 0
    assert f"locked 1 claim in {folder / 'lastiterate.lock.json'}, which has 5" in out
    assert told(capsys, *arguments)[0] == 0


def test_without_a_lock_file_nothing_drifts_and_nothing_has_a_verdict(folder, capsys):
    (folder / "lastiterate.lock.json").unlink()
    (folder / "pyproject.toml").touch()
    code, out = told(capsys, "list", folder)
    assert (code, out.count("  not locked  "), "UNDECIDED" in out) == (0, 5, False), out
    entries = json.loads(told(capsys, "list", folder, "--json")[1])
    assert {entry["verdict"] for entry in entries} == {None}
    module = folder / "claims" / "noisy_gd.py"
    module.write_text(module.read_text().replace("3 * D * s + s**2 * w", "D * s + s**2 * w"))
    code, out = told(capsys, "check", folder, "--jobs", "1", "--claim", WINDOW)
    assert code == 1
    assert "drift" not in out
    assert "the lock file says" not in out
    (fails,) = (line for line in out.splitlines() if WINDOW in line and "fails:" in line)
    assert fails.startswith(f"fails: {WINDOW} is GAP. [{module}:")


def test_a_key_that_is_not_there_says_where_it_was_looked_for(folder, capsys):
    out = told(capsys, "show", "mine/step_1")[1]
    assert "got claim=mine/step_1; for a claim of your own, give its folder after the key" in out
    assert (
        f"claim needs a name from {folder}, got claim=mine/lemma"
        in told(capsys, "show", "mine/lemma", folder)[1]
    )
    assert "did you mean chien_li" in told(capsys, "check", "--paper", "chien_lo")[1]


def test_a_deleted_claim_is_noticed(folder, capsys):
    lock = folder / "lastiterate.lock.json"
    entries = json.loads(lock.read_text())
    lock.write_text(
        json.dumps(entries | {"bok_su_altschuler/gone": entries["bok_su_altschuler/noisy_gd/convex"]})
    )
    code, out = told(capsys, "check", folder, "--jobs", "1")
    assert code == 1
    assert "bok_su_altschuler/gone is missing" in out


def test_a_name_is_registered_once(folder):
    read_claims(folder)
    read_claims(folder)
    other = folder / "claims" / "other.py"
    other.write_text('DERIVATIONS = {"full_batch/convex": None}\nCLAIMS = ()\n')
    with pytest.raises(InputError, match="unused names, got 'full_batch/convex', which is taken; rename it"):
        read_claims(folder)


def test_what_does_not_load_is_one_sentence(folder, capsys):
    (folder / "claims" / "broken.py").write_text("CLAIMS = (1 / 0,)\n")
    code, out = told(capsys, "check", folder)
    assert code == 2
    assert "got ZeroDivisionError: division by zero in line 1 of" in out
    assert told(capsys, "check", ROOT / "docs")[0] == 2


@pytest.mark.nightly
def test_the_workflow_runs(folder, tmp_path):
    """Its steps but the installation, for which this package stands, from the folder as a clone would have it."""
    steps = yaml.safe_load((EXAMPLE / ".github/workflows/claims.yml").read_text())["jobs"]["claims"]["steps"]
    command = tmp_path / "bin" / "lastiterate"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lastiterate "$@"\n')
    command.chmod(0o755)
    summary = tmp_path / "summary.md"
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    own = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "GITHUB_STEP_SUMMARY": str(summary)}
    ran = [step["run"] for step in steps if "run" in step and step["name"] != "Install"]
    assert len(ran) == 2
    for line in ran:
        subprocess.run(["bash", "-eo", "pipefail", "-c", line], cwd=folder, env=own, check=True)  # noqa: S603, S607
    assert "5 claims: 5 PROVED" in summary.read_text()
    assert (folder / "report" / "index.html").exists()


OWN = """
from dataclasses import replace

from lastiterate.proofs_checks.attacks import ATTACKS as KNOWN
from lastiterate.symbolic.prelude import Claim, Source, UpperBound
from lastiterate.symbolic.notation import K, alpha

ATTACKS = {"mine/linear": replace(KNOWN["linear"], name="mine/linear")}
CLAIMS = (
    Claim(
        "mine/bound",
        "Composition, attacked by a run of our own",
        Source("mine", "1"),
        UpperBound("composition", ("mine/linear",)).mutant("half the clip norm", altered={K: K / 2}),
        assumptions=(alpha > 1,),
    ),
)
"""


def test_attacks_of_ones_own(tmp_path, capsys):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "mine.py").write_text(OWN)
    code, out = told(capsys, "check", tmp_path, "--jobs", "1")
    assert code == 0, out
    assert "1 claim: 0 PROVED, 1 SUPPORTED" in out
    assert "1 of 1 mutants" in out
    (tmp_path / "claims" / "mine.py").write_text(OWN.replace('"mine/linear": replace', '"other": replace'))
    code, out = told(capsys, "check", tmp_path, "--jobs", "1")
    assert code == 1
    assert "mine/bound is UNDECIDED" in out
