"""Every block of code in the pages does what the page says, in an empty folder, or in a clone where the page says so.

sh        run line by line; exit status 1 is asked for by "sh fails"; pip is not run, but its extras must exist
          "sh profile" is for a shell's start; each shell it names must get a script to complete commands with
text      lines that the commands above printed, in this order
python    after ">>>" a doctest, one session a page; after "# path" appended to that file
toml      after "# path" written to that file
yaml      the same, and the run steps of its jobs are run
diff      after "+++ path" an edit of a file that is there: what it takes away stands there once
coq       a part of a file in proofs_checks/coq
"""

import doctest
import inspect
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from processes import FOREIGN, PLUGINS, PYTEST, TORCH, python

import lastiterate
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PROSE = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
CLONE = ("symbolic", "numeric", "proofs_checks", "runtime", "src", "pyproject.toml")


class Reader:
    """Someone who follows a page from its first block to its last."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.source = folder, source
        self.printed = ""
        self.session: dict[str, object] = {"__name__": "page"}

    def follow(self, kind: str, text: str) -> None:
        kind, _, how = kind.partition(" ")
        match kind:
            case "sh" if how == "profile":
                for shell in re.findall(r"_LASTITERATE_COMPLETE=(\w+)", text):
                    assert "_LASTITERATE_COMPLETE" in self.run("lastiterate", 0, _LASTITERATE_COMPLETE=shell)
            case "sh":
                self.printed = "".join(self.run(line, int(how == "fails")) for line in text.splitlines())
            case "text":
                self.expect(text)
            case "python" if text.startswith(">>>"):
                self.converse(text)
            case "python" | "toml":
                self.write(text)
            case "yaml":
                self.write(text)
                jobs = yaml.safe_load(text)["jobs"].values()
                self.printed = "".join(
                    self.run(step["run"], 0) for job in jobs for step in job["steps"] if "run" in step
                )
            case "diff":
                self.edit(text)
            case "coq":
                sources = (path.read_text() for path in (ROOT / "proofs_checks/coq").rglob("*.v"))
                assert any(text in source for source in sources), text
            case _:
                pytest.fail(f"no reader can follow a block of kind {kind!r}: {text}")

    def run(self, line: str, status: int, **more: str) -> str:
        program, *arguments = shlex.split(line)
        if program == "pip":
            self.check_extras(arguments)
            return ""
        command = [] if program == "python" else ["-m", program]
        if program == "pytest":
            command += PLUGINS
        torch = program == "python" or {"estimate", "attack"} & set(arguments)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(
                (str(self.source), str(ROOT / "examples" / "trainers"))
            ),  # as if copied
            "LASTITERATE_CACHE_DIR": str(self.folder.parent / "cache"),
            "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # a file that is edited within a second is compiled anew
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # other plugins take longer to load than a page takes
            **more,
        }
        known = TORCH if torch else PYTEST
        libraries = known if self.source == ROOT / "src" else FOREIGN
        done = python(*command, *arguments, cwd=self.folder, env=environment, libraries=libraries)
        assert done.returncode == status, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def check_extras(self, arguments: list[str]) -> None:
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert arguments[0] == "install"
        assert arguments[1].startswith("lastiterate")
        assert set(re.findall(r"[\w-]+(?=[,\]])", arguments[1])) <= set(known)

    def expect(self, text: str) -> None:
        place = 0
        for line in text.splitlines():
            place = self.printed.find(line, place)
            assert place >= 0, f"{line!r} is not in, or not in this order in\n{self.printed}"

    def converse(self, text: str) -> None:
        examples = doctest.DocTestParser().get_doctest(text, self.session, "page", None, None)
        told: list[str] = []
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
                examples, out=told.append, clear_globs=False
            )
        finally:
            os.chdir(before)
        self.session.update(examples.globs)
        assert outcome.failed == 0, "".join(told)

    def write(self, text: str) -> None:
        head, rest = text.split("\n", 1)
        assert re.fullmatch(r"# [\w/.]+", head), f"a file needs its path in a comment, got {head}"
        path = self.folder / head.removeprefix("# ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() if path.exists() and path.suffix == ".py" else "") + rest)

    def edit(self, text: str) -> None:
        head, *lines = text.splitlines()
        path = self.folder / head.removeprefix("+++ ")
        for hunk in "\n".join(lines).split("\n@@\n"):
            hunk_lines = hunk.splitlines()
            before = "\n".join(line[1:] for line in hunk_lines if line[:1] in (" ", "-"))
            after = "\n".join(line[1:] for line in hunk_lines if line[:1] in (" ", "+"))
            assert path.read_text().count(before) == 1, f"{path.name} does not have once\n{before}"
            path.write_text(path.read_text().replace(before, after))


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    return iter(BLOCK.findall(page.read_text()))


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_every_block_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    source = ROOT / "src"
    if "<!-- in a clone -->" in page.read_text():
        source = folder / "src"
        for name in CLONE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            skip = (
                {"ignore": shutil.ignore_patterns("__pycache__"), "symlinks": True}
                if (ROOT / name).is_dir()
                else {}
            )
            copy(ROOT / name, folder / name, **skip)
    reader = Reader(folder, source)
    for kind, text in blocks(page):
        reader.follow(kind, text)


def test_pages_have_blocks() -> None:
    kinds = [kind.split(" ")[0] for page in PAGES for kind, _ in blocks(page)]
    assert len(PAGES) >= 10
    assert min(kinds.count(kind) for kind in ("sh", "text", "python", "toml", "diff")) >= 1


def test_numbers_in_prose_are_not_results() -> None:
    """What is computed stands in a block that runs; prose may number theorems, sections and years."""
    named = r"(?:Theorems?|Lemmas?|Definitions?|Propositions?|Corollary|[Ss]ection|Figure|Appendix|and|Python)\s+[\w.]+"
    result = r"(?<![\w.])\d+\.\d+|(?<![\w.])(?!(?:19|20)\d\d\b)\d{2,}"
    prose = {page.name: re.sub(named, " ", PROSE.sub(" ", page.read_text())) for page in PAGES}
    assert {name: found for name, text in prose.items() if (found := re.findall(result, text))} == {}


def _prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def test_files_that_are_named_exist() -> None:
    folders = r"`((?:symbolic|numeric|runtime|proofs_checks|tests|examples|benchmarks|src)/[\w./]*)`"
    named = [(page.name, name) for page in PAGES for name in re.findall(folders, _prose(page))]
    assert named
    assert [(page, name) for page, name in named if not (ROOT / name).exists()] == []


def test_claims_that_are_named_are_in_the_ledger() -> None:
    keys = {claim.key for claim in CLAIMS}
    pattern = rf"`((?:{'|'.join({key.split('/')[0] for key in keys})})/[\w/]+)`"
    named = [(page.name, key) for page in PAGES for key in re.findall(pattern, _prose(page))]
    assert named
    assert [(page, key) for page, key in named if key not in keys] == []


def test_claims_that_are_said_to_fail_do() -> None:
    listed = (ROOT / "docs/trust.md").read_text().split("## Common mistakes")[1].split("One gap")
    verdicts = read_lock()
    for text, verdict in zip(listed, ("REFUTED", "GAP"), strict=True):
        named = re.findall(r"`(\w+/[\w/]+)`", text)
        assert named
        assert {verdicts[key].verdict for key in named} == {verdict}


def test_every_assumption_is_explained() -> None:
    table = (ROOT / "docs/conventions.md").read_text().split("## Assumptions on the losses")[1]
    public = [getattr(lastiterate, name) for name in lastiterate.__all__]
    kinds = [
        one for one in public if inspect.isclass(one) and issubclass(one, Assumption) and one is not Assumption
    ]
    assert len(kinds) >= 8
    assert not [kind.__name__ for kind in kinds if f"`{kind.__name__}(" not in table]


def test_links_of_the_files_at_the_root_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not link.startswith(("http://", "https://", "mailto:")):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
