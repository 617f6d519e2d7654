"""The tutorial does what it says, block by block, in an empty folder, as another repository would."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)( \w+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def execute(line, folder):
    program, *arguments = line.split()
    plugin = ["-p", "lastiterate.pytest_plugin", "-p", "no:cacheprovider"] if program == "pytest" else []
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "LASTITERATE_CACHE_DIR": str(folder.parent / "cache"),
    }
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", program, *plugin, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_every_block_runs(tmp_path):
    folder = tmp_path / "paper"
    folder.mkdir()
    blocks = BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text())
    assert [kind for kind, _, _ in blocks].count("python") >= 3
    output, decided = "", []
    for kind, how, text in blocks:
        if kind == "sh":
            for line in text.splitlines():
                done = execute(line, folder)
                output = done.stdout + done.stderr
                assert done.returncode == (1 if how else 0), output
                decided += re.findall(r"(\d+) passed", output)
        elif kind == "toml":
            (folder / "pyproject.toml").write_text(text)
        elif kind == "text":
            for line in text.splitlines():
                assert line in output
        else:
            head, rest = text.split("\n", 1)
            path = folder / head.removeprefix("# ")
            if how:
                before, after = rest.splitlines()
                assert path.read_text().count(before) == 1
                path.write_text(path.read_text().replace(before, after))
            else:
                path.write_text((path.read_text() if path.exists() else "") + rest)
    assert decided == ["1", "2", "4", "4", "4", "3"]
    assert (folder / "lastiterate.lock.json").exists()
