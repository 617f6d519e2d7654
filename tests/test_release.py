"""What a release is made of: one version, the same bytes in every build, an action that decides a paper's claims."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import lastiterate

ROOT = Path(__file__).parents[1]
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; it is in the dev extra")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
COQ = "proofs_checks/coq"  # proofs that nothing in the package reads


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command], cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of two builds of one commit, in different folders, under different masks, at different times."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("a release is built from a commit, and this is no clone")
    pytest.importorskip("build")
    found = []
    for mask in ("022", "077"):
        folder = tmp_path_factory.mktemp(f"dist{mask}")
        script = f'umask {mask} && exec "{ROOT}/.ci/dist" "{folder}/out"'
        run("bash", "-c", script, folder=folder, PYTHON=sys.executable, TMPDIR=str(folder))
        found.append({path.name: path.read_bytes() for path in (folder / "out").iterdir()})
        (folder / "out").rename(folder / "kept")
    return found[0], found[1]


@pytest.fixture(scope="module")
def unpacked(
    built: tuple[dict[str, bytes], dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    for name, content in built[0].items():
        (folder / name).write_bytes(content)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")  # noqa: S202 - built a moment ago
    return folder


def test_two_builds_are_the_same_bytes(built: tuple[dict[str, bytes], dict[str, bytes]]) -> None:
    first, second = built
    assert sorted(first) == [f"lastiterate-{VERSION}-py3-none-any.whl", f"lastiterate-{VERSION}.tar.gz"]
    assert first == second


def test_the_wheel_is_typed_and_complete_and_works_elsewhere(unpacked: Path) -> None:
    site = unpacked / "site"
    sources = [*(ROOT / "src/lastiterate").glob("*.py"), *(ROOT / "src/lastiterate/commands").rglob("*")]
    sources += [
        path
        for layer in ("symbolic", "numeric", "runtime", "proofs_checks")
        for path in (ROOT / layer).rglob("*")
    ]
    tracked = set(run("git", "ls-files", folder=ROOT).splitlines())
    for path in sources:
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and name in tracked and not name.startswith(COQ):
            assert (site / "lastiterate" / name.removeprefix("src/lastiterate/")).exists(), name
    assert (site / "lastiterate/py.typed").exists()
    assert not (site / "lastiterate" / COQ).exists()
    said = run(sys.executable, "-m", "lastiterate", "--version", folder=unpacked, PYTHONPATH=str(site))
    assert VERSION in said
    code = "import lastiterate, lastiterate.numeric.bound as b; print(lastiterate.__file__, b.__file__)"
    places = run(sys.executable, "-c", code, folder=unpacked, PYTHONPATH=str(site)).split()
    assert all(Path(place).is_relative_to(site) for place in places)


def test_the_sdist_has_no_links_and_no_half_of_the_tests(unpacked: Path) -> None:
    with tarfile.open(next(unpacked.glob("*.tar.gz"))) as sdist:
        members = sdist.getmembers()
    assert all(member.isfile() or member.isdir() for member in members)
    names = {member.name.partition("/")[2] for member in members}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "src/lastiterate/numeric/bound.py"} <= names
    assert not [name for name in names if name.startswith("tests") or COQ in name]


def test_a_clone_without_symbolic_links_works_and_gives_the_same_wheel(unpacked: Path, tmp_path: Path) -> None:
    """As git makes it on Windows."""
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", "--config", "core.symlinks=false", ROOT, clone, folder=tmp_path)
    assert not (clone / "src/lastiterate/numeric").is_dir()
    code = "import lastiterate; print(lastiterate.bound.__module__)"
    said = run(sys.executable, "-c", code, folder=tmp_path, PYTHONPATH=str(clone / "src"))
    assert said.split() == ["lastiterate.numeric.bound"]
    run(
        sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, clone, folder=tmp_path
    )
    with (
        zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel,
        zipfile.ZipFile(next(unpacked.glob("*.whl"))) as usual,
    ):
        sources = [name for name in usual.namelist() if name.startswith("lastiterate/")]
        assert sources == [name for name in wheel.namelist() if name.startswith("lastiterate/")]
        assert all(wheel.read(name) == usual.read(name) for name in sources)


def test_there_is_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == VERSION
    assert lastiterate.__version__ == VERSION
    changes = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(.+?)\]", changes, flags=re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0] == VERSION
    assert set(re.findall(r"^### (\w+)", changes, flags=re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known",
    }  # fmt: skip


def test_the_citation_has_what_its_schema_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert all(isinstance(citation[field], str) and citation[field] for field in ("message", "title"))
    assert citation["type"] == "software"
    assert citation["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    assert citation["authors"]
    assert all(
        {"name"} == set(one) or {"family-names", "given-names"} <= set(one) for one in citation["authors"]
    )


def test_contributing_fits_on_one_screen() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    assert len(lines) <= 55
    assert max(map(len, lines)) <= 132


def test_the_workflow_is_the_script_and_may_only_read() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    assert [step["run"] for step in job["steps"] if "run" in step] == ["bash .ci/run"]


def test_ci_resolves_all_extras_as_the_index_has_them(tmp_path: Path) -> None:
    """With a uv that tells what it was asked, and finds a conflict for one Python."""
    uv = tmp_path / "uv"
    uv.write_text(
        f'#!/bin/sh\ncd "{tmp_path}"\necho "$@" >>asked\nenv | grep -E "FIND_LINKS|EXTRA_INDEX|_CONSTRAINT" >>kept\n'
        'case "$*" in *"--python-version 3.12"*) echo "torch asks for another triton" >&2; exit 1;; esac\n'
    )
    uv.chmod(0o755)
    disk = {
        "PIP_INDEX_URL": "https://mirror.example/simple",
        "PIP_FIND_LINKS": "/wheels",
        "UV_FIND_LINKS": "/wheels",
        "PIP_CONSTRAINT": "/pins",
        "PIP_EXTRA_INDEX_URL": "file:///more",
    }
    done = subprocess.run(  # noqa: S603
        [ROOT / ".ci/resolve"],
        env=os.environ | {"UV": str(uv)} | disk,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Python 3.12 cannot have all extras" in done.stdout
    assert "torch asks for another triton" in done.stdout
    assert "Python 3.11" not in done.stdout
    assert (tmp_path / "kept").read_text() == ""
    asked = (tmp_path / "asked").read_text().splitlines()
    assert sorted(re.findall(r"--python-version (\S+)", " ".join(asked))) == ["3.11", "3.12", "3.13"]
    for part in (
        "--all-extras",
        "--constraint constraints.txt",
        "--default-index https://mirror.example/simple",
    ):
        assert all(part in line for line in asked)
    script = (ROOT / ".ci/run").read_text()
    assert ".ci/resolve" in script
    assert 'wait "$resolved" ||' in script


@pytest.mark.parametrize(
    ("native", "kinds"),
    [("AVX512", ["default"]), ("AVX2", ["default"]), ("DEFAULT", []), ("SVE256", ["default"])],
)
def test_ci_runs_what_runs_torch_with_the_kernels_of_other_processors(
    native: str, kinds: list[str], tmp_path: Path
) -> None:
    """With an interpreter that tells what it was asked; a processor has the kernels of older ones, and those alone."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nif [ "$1" = -c ]; then echo {native}; exit; fi\n'
        f'echo "$ATEN_CPU_CAPABILITY $@" >>"{tmp_path}/asked"\n'
    )
    python.chmod(0o755)
    (tmp_path / "asked").touch()
    run(ROOT / ".ci/kernels", folder=tmp_path, PYTHON=str(python))
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == kinds
    named = [part for line in asked for part in line.split() if part.startswith("tests/")]
    assert len(named) == len(set(named)), "each once"
    assert not asked or {"tests/docs/test_pages.py", "tests/test_readme.py"} <= set(named)
    assert all((ROOT / part).exists() for part in named)
    assert "kernels" in (ROOT / ".ci/run").read_text().split("make test")[1]


def test_every_night_makes_what_the_makefile_has_and_may_only_read() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    job, coq = workflow["jobs"].values()
    assert not any("permissions" in one for one in (job, coq))
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make ${{ matrix.target }}"]
    packages, *_, tests = (step["run"] for step in coq["steps"] if "run" in step)
    wanted = re.findall(r"libcoq-[\w-]+", (ROOT / "proofs_checks/coq/Makefile").read_text())
    (parts,) = re.findall(
        r"^MATHCOMP := (.*)", (ROOT / "proofs_checks/coq/Makefile").read_text(), flags=re.MULTILINE
    )
    wanted = {one for one in wanted if not one.endswith("-")} | {
        f"libcoq-mathcomp-{one}" for one in parts.split()
    }
    assert wanted <= set(packages.split())
    assert tests.endswith("tests/proofs_checks/test_coq*.py")
    targets = job["strategy"]["matrix"]["target"]
    assert {"nightly", "kernels KERNELS=all", "test PYTHON=python3.13"} <= set(targets)
    made = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {target.split()[0] for target in targets} <= set(made)
    (versions,) = (step["with"]["python-version"].split() for step in job["steps"] if "with" in step)
    assert versions[-1] == "3.11", "which is then python3"
    named = {found for target in targets for found in re.findall(r"python(3\.\d+)", target)}
    assert named == set(versions) == {"3.11", "3.12", "3.13"}


def test_what_the_nightly_installs_is_the_recipe_of_the_page() -> None:
    script, page = ((ROOT / name).read_text() for name in (".ci/installs", "docs/index.md"))
    (recipe,) = re.findall(r"^`pip install (torch .*)` first", page, flags=re.MULTILINE)
    assert "torchvision" in recipe.split()
    assert "s/^`pip install \\(torch .*\\)` first.*/\\1/p" in script


@pytest.mark.parametrize(
    "name", [*sorted(str(p.relative_to(ROOT)) for p in ROOT.glob(".github/workflows/*")), "action.yml"]
)
def test_foreign_actions_are_named_by_a_tag(name: str) -> None:
    used = re.findall(r"uses: (.+)", (ROOT / name).read_text())
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+(\.\d+)*", one) for one in used)


@pytest.mark.nightly  # seven seconds of pip and of cold starts for a file that hardly ever changes
def test_the_action_decides_the_claims_of_a_repository(unpacked: Path, tmp_path: Path) -> None:
    """Its own shell steps, in a repository that `lastiterate new-claim` made; what they install is the sdist."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, decide = (step for step in action["runs"]["steps"] if "run" in step)
    assert (install["env"], decide["env"]) == (
        {"HERE": "${{ github.action_path }}"}, {"CLAIMS": "${{ inputs.claims }}"},
    )  # fmt: skip
    sdist = next(unpacked.glob("*.tar.gz"))
    (tmp_path / "action").mkdir()
    run("tar", "-xzf", str(sdist), folder=tmp_path / "action")
    here = next((tmp_path / "action").iterdir())
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(str(Path(pytest.__file__).parents[1]) + "\n")  # pip among them
    environment = {
        "PATH": f"{tmp_path / 'venv/bin'}:{os.environ['PATH']}",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as: no isolation
        "PIP_NO_COMPILE": "1",
        "PIP_IGNORE_INSTALLED": "1", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path),
        "LASTITERATE_CACHE_DIR": str(tmp_path / "cache"),
    }  # fmt: skip
    paper = tmp_path / "paper"
    paper.mkdir()
    without_pytest = install["run"].removesuffix(" pytest")
    assert without_pytest != install["run"]
    run("bash", "-c", without_pytest, folder=paper, HERE=str(here), **environment)
    said = run("bash", "-c", "lastiterate new-claim claims/lemma.py", folder=paper, **environment)
    assert "claims/lemma.py" in said
    default = action["inputs"]["claims"]["default"]
    assert "1 passed" in run("bash", "-c", decide["run"], folder=paper, CLAIMS=default, **environment)
    lemma = paper / "claims/lemma.py"
    right = lemma.read_text()
    lemma.write_text(
        right.replace("closed_form=s * (1 - c**t) / (1 - c)", "closed_form=s * (1 - c**t) / (1 + c)", 1)
    )
    assert lemma.read_text() != right
    done = subprocess.run(  # noqa: S603
        ["bash", "-c", decide["run"]], cwd=paper, env=os.environ | environment | {"CLAIMS": default},  # noqa: S607
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "paper/lemma_1 is REFUTED" in done.stdout
