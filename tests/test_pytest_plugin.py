"""The pytest plugin and the template, in a folder of their own, as another repository would use them."""

import json
import os
from pathlib import Path

import pytest
from processes import PLUGINS, PYTEST, python

from lastiterate.__main__ import main

ROOT = Path(__file__).parents[1]
TEMPLATE = (ROOT / "src/lastiterate/commands/claim.py.template").read_text()
WRONG = TEMPLATE.replace("=s * (1 - c**t) / (1 - c))", "=s * (1 - c**t) / (1 + c))").replace(
    "lemma_1", "lemma_2"
)
SURVIVING = TEMPLATE.replace("=s / (1 - c))", "=s * (c**t - 1) / (c - 1))").replace("lemma_1", "lemma_3")


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def collect(tmp_path):
    """Write files, run pytest on them, and give its exit status and output."""
    (tmp_path / "claims").mkdir()

    def run(files, *arguments):
        write(tmp_path, files)
        environment = os.environ | {
            "PYTHONPATH": str(ROOT / "src"),
            "LASTITERATE_CACHE_DIR": str(tmp_path / ".cache"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        command = ["-m", "pytest", *PLUGINS, *arguments]
        done = python(*command, cwd=tmp_path, env=environment, libraries=PYTEST)
        return done.returncode, done.stdout + done.stderr

    return run


def test_nothing_is_executed_without_the_flag(collect):
    code, out = collect({"claims/bad.py": "raise SystemExit('it ran')", "test_own.py": "def test(): pass"})
    assert code == 0
    assert "1 passed" in out
    assert "it ran" not in out


def test_each_claim_is_a_test_and_failures_are_a_few_lines(collect):
    files = {"claims/right.py": TEMPLATE, "claims/wrong.py": WRONG, "claims/surviving.py": SURVIVING}
    code, out = collect(files, "--lastiterate")
    assert code == 1
    assert "2 failed, 1 passed" in out
    assert "paper/lemma_2 is REFUTED." in out
    assert "expected" not in out
    assert "lock file" not in out
    assert "check 'recursion': induction says refuted" in out
    assert "at c = 5/8, s = " in out
    assert "paper/lemma_3 does not reject the mutant 'stationary from the start'" in out
    assert "Traceback" not in out


def test_a_lock_file_is_what_counts(collect, tmp_path):
    files = {"claims/right.py": TEMPLATE, "claims/wrong.py": WRONG}
    assert status("check", str(write(tmp_path, files) / "claims"), "--update-lock", "--jobs", "1") == 0
    code, out = collect(files, "--lastiterate", "-p", "xdist", "-n", "2")
    assert code == 0, out
    code, out = collect({"claims/wrong.py": TEMPLATE.replace("lemma_1", "lemma_2")}, "--lastiterate")
    assert code == 1
    assert "paper/lemma_2 is PROVED, but the lock file says REFUTED." in out
    assert "1 failed, 1 passed" in out


def test_a_claim_or_a_check_that_is_gone_fails(collect, tmp_path):
    two = {"claims/a.py": TEMPLATE, "claims/b.py": TEMPLATE.replace("lemma_1", "lemma_2")}
    assert status("check", str(write(tmp_path, two) / "claims"), "--update-lock", "--jobs", "1") == 0
    (tmp_path / "claims" / "b.py").unlink()
    code, out = collect({}, "--lastiterate", "claims")
    assert code == 1
    assert "paper/lemma_2 is missing, but the lock file has it." in out
    assert collect({}, "--lastiterate", "claims/a.py")[0] == 0, "what is named is all that is asked for"
    lock = tmp_path / "lastiterate.lock.json"
    entries = json.loads(lock.read_text())
    entries["paper/lemma_1"]["checks"] += 1
    lock.write_text(json.dumps(entries))
    code, out = collect({}, "--lastiterate", "claims/a.py")
    assert code == 1
    assert "checks, but the lock file says" in out


def test_a_file_without_claims_and_a_key_twice_are_errors(collect):
    files = {
        "claims/a.py": TEMPLATE,
        "claims/b.py": TEMPLATE,
        "claims/c.py": "CLAIMS = 3",
        "more.py": "CLAIMS = ()",
    }
    code, out = collect(files, "--lastiterate", "-o", "lastiterate_claims=claims/*.py")
    assert code == 2
    assert "needs a tuple CLAIMS of Claim records, got CLAIMS=3" in out
    assert "got key=paper/lemma_1 twice" in out


def test_a_file_that_is_named_is_collected_wherever_it_lies_unless_it_is_a_test(collect):
    files = {"lemma.py": TEMPLATE, "test_own.py": "def test(): pass", "other.py": TEMPLATE}
    code, out = collect(files, "--lastiterate", "lemma.py", "test_own.py")
    assert code == 0, out
    assert "2 passed" in out


def status(*arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


def test_a_new_claim_is_the_template_and_never_overwrites(tmp_path, capsys):
    path = tmp_path / "claims" / "lemma.py"
    assert status("new-claim", str(path)) == 0
    assert path.read_text() == TEMPLATE
    path.write_text("mine")
    assert status("new-claim", str(path)) == 2
    assert "choose another" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert status("new-claim", str(tmp_path / "lemma.txt")) == 2
    assert ".py" in capsys.readouterr().err
    assert status("new-claim", str(path / "below.py")) == 2
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["claims", "lemma.py"]


def test_the_plugin_is_registered_under_the_name_of_its_module():
    import tomllib

    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert entry == {"lastiterate.pytest_plugin": "lastiterate.pytest_plugin"}


def test_the_lock_file_is_the_same_from_every_folder(collect, tmp_path):
    (tmp_path / "paper" / "claims").mkdir(parents=True)
    files = {"paper/claims/wrong.py": WRONG, "paper/pyproject.toml": ""}
    lock = tmp_path / "paper" / "lastiterate.lock.json"
    assert status("check", str(write(tmp_path, files) / "paper"), "--update-lock", "--jobs", "1") == 0
    for arguments in (("paper",), ("paper/claims/wrong.py",), ("--rootdir", "paper/claims", "paper/claims")):
        code, out = collect({}, "--lastiterate", *arguments)
        assert (code, "1 passed" in out) == (0, True), out
    assert not (tmp_path / "lastiterate.lock.json").exists()
    assert list(json.loads(lock.read_text())) == ["paper/lemma_2"]


def test_a_pattern_that_matches_nothing_says_so(collect):
    code, out = collect({"lemma.py": TEMPLATE}, "--lastiterate")
    assert code == 5
    assert "lastiterate: no file that matches claims/*.py has claims; name one" in out
