"""Build the documentation: ``python docs/generate OUT`` puts written and generated pages together and runs Zensical."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from notebooks import notebook_pages
from papers import papers_table
from pictures import pictures
from reference import claim_page, command_help, subject_pages
from schemas import schema_files, schema_list
from verdicts import claim_pages, graphs, printed_table, used_table, verdict_page

from lastiterate.symbolic import ledger

ROOT = Path(__file__).parents[2]
_KEYS = {claim.key for claim in ledger.claims()}
_TABLES = {
    "commands": command_help,
    "papers": papers_table,
    "printed": printed_table,
    "schemas": schema_list,
    "used": used_table,
}


def build(out: Path, *, coarse: bool) -> int:
    """Write the site into ``out``; returns Zensical's exit status, which is not 0 after a warning.

    Args:
        out: a folder, which is created again.
        coarse: pictures of few points, for those who look at the site and not at the pictures.
    """
    with TemporaryDirectory() as folder:
        shutil.copy(ROOT / "mkdocs.yml", folder)
        shutil.copytree(ROOT / "docs", pages := Path(folder, "docs"), ignore=shutil.ignore_patterns("generate"))
        for path, content in _made(coarse=coarse).items():
            (pages / path).parent.mkdir(parents=True, exist_ok=True)
            (pages / path).write_bytes(content.encode() if isinstance(content, str) else content)
        for path in pages.rglob("*.md"):
            if path.name != "verdicts.md":
                up = "../" * (len(path.relative_to(pages).parts) - 1)
                path.write_text(_completed(path.read_text(encoding="utf-8"), up), encoding="utf-8")
        places = os.pathsep.join(
            [str(Path(__file__).parent), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        )
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        done = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": places},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            return done.returncode
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(folder, "site"), out)
    for path, page in claim_pages().items():
        (out / path).parent.mkdir(exist_ok=True)
        (out / path).write_text(page, encoding="utf-8")
    return 0


def _made(*, coarse: bool) -> dict[str, str | bytes]:
    """Path -> content of every generated page and picture."""
    return {
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "verdicts.md": verdict_page(),
        "reference/claims.md": claim_page(),
        **subject_pages(),
        **schema_files(),
        **notebook_pages(),
        **pictures(coarse=coarse),
        **graphs(),
    }


def _completed(markdown: str, up: str) -> str:
    """Put generated tables where a page says that `make docs` does, and lead from keys of claims to verdicts."""
    text_and_code = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    text_and_code[::2] = (
        re.sub(r"`([\w/]+)`", lambda found: _linked(found[1], up), text) for text in text_and_code[::2]
    )
    plain_fences = re.sub(r"^```(\w+) \w+$", r"```\1", "".join(text_and_code), flags=re.MULTILINE)
    return re.sub(
        r"\*Table `(\w+)`: `make docs` puts it here\.\*", lambda found: _TABLES[found[1]](), plain_fences
    )


def _linked(words: str, up: str) -> str:
    return f"[`{words}`]({up}verdicts.md#{words})" if words in _KEYS else f"`{words}`"


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]), coarse="COARSE_PICTURES" in os.environ))
