"""Files of strangers run nothing, pages show what they are given as text, and every licence is a free one.

What is code by its nature, and documented as such: a claim module (``pytest --lastiterate``) and the factory of a
workload (``module:factory``). All else that is read is data: run files, sweep files, lock files, caches, rows,
measurements and checkpoints.
"""

import ast
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from shared import parse_run

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.report.pages import files
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_ROOT = Path(__file__).parents[1]
_FOLDERS = ("symbolic", "numeric", "runtime", "proofs_checks", "src/lastiterate")
_NEVER = {
    *("eval", "exec", "compile", "__import__", "S", "parse_expr", "literal_eval", "lambdify"),
    *("os.system", "os.popen", "pickle.load", "pickle.loads", "pickle.dumps", "marshal.loads", "shelve.open"),
    *("yaml.load", "joblib.load", "torch.hub.load", "sp.S"),
}
"""Calls that run what they are given, or may."""
_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
_BADGE = "<script>alert(1)</script>"


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in _FOLDERS:
        for path in sorted((_ROOT / folder).glob("**/*.py")):
            if not any(part.is_symlink() for part in path.parents if part.is_relative_to(_ROOT)):
                yield path.relative_to(_ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value)}.{name}"
    return ""


def _offences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"imports {name}" for name in names if name.split(".")[0] in _MODULES)
        if not isinstance(node, ast.Call):
            continue
        called, given = _dotted(node.func), {one.arg: one.value for one in node.keywords}
        if called in _NEVER or called.endswith(".parse_expr"):
            yield f"line {node.lineno} calls {called}"
        if called.endswith("sympify") and not _is(given.get("strict"), value=True):
            yield f"line {node.lineno} calls {called} without strict=True, which would run a text"
        if called.endswith("torch.load") and not _is(given.get("weights_only"), value=True):
            yield f"line {node.lineno} calls torch.load without weights_only=True"
        if called in ("np.load", "numpy.load") and not _is(given.get("allow_pickle"), value=False):
            yield f"line {node.lineno} calls np.load without allow_pickle=False"
        if "shell" in given and not _is(given["shell"], value=False):
            yield f"line {node.lineno} gives {called} a shell"


def _is(node: ast.expr | None, *, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def test_nothing_runs_what_it_reads() -> None:
    found = {path: offences for path, tree in _sources() if (offences := list(_offences(tree)))}
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "eval(text)",
        "sp.sympify(text)",
        "sympy.parsing.parse_expr(text)",
        "import pickle",
        "from pickle import loads",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(text, shell=True)",
        "yaml.load(text)",
    ],
)
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    assert list(_offences(ast.parse(line)))


def test_only_claim_modules_and_factories_are_imported_by_name() -> None:
    """A module whose name comes from a user is imported in two places, both of which say so."""
    loading = ("import_module", "spec_from_file_location", "exec_module")
    known = ast.Constant | ast.JoinedStr | ast.Subscript
    importing = {
        path
        for path, tree in _sources()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and (name := _dotted(call.func).rpartition(".")[2]) in loading
        if name == "exec_module" or not all(isinstance(one, known) for one in call.args)
    }
    assert importing <= {
        "proofs_checks/folder.py",
        "runtime/workloads/loading.py",
        "proofs_checks/cache.py",  # our own packages
    }


@pytest.mark.parametrize(
    "value",
    ["\"__import__('os').system('touch x')\"", '"{0.__class__}"', '"%s%n"', '"$(touch x)"', '"`touch x`"'],
)
def test_a_run_file_is_data(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in (f"steps = {value}", f"step_size = {value}", f"sampling = {value}"):
        rest = "noise_std = 1.0\nclip_norm = 1.0\ndataset_size = 5\n"
        with pytest.raises(InputError):
            parse_run(f'[run]\n{line}\n{rest}[assumption]\nkind = "clipped"\n')
    assert not list(tmp_path.iterdir())


_PROSE = re.compile(
    r"title|remark|reading|statement|source|quote|note|meaning|why|name|detail|place|equation|file"
)


def _with_scripts(record: Any) -> Any:
    """Every text field of a record and of its parts that is shown and not looked up."""
    if isinstance(record, tuple):
        return tuple(_with_scripts(one) for one in record)
    if not is_dataclass(record) or isinstance(record, type | sp.Basic):
        return record
    changed: dict[str, Any] = {}
    for one in fields(record):
        value = getattr(record, one.name)
        if one.init and isinstance(value, str) and type(value) is str and _PROSE.search(one.name):
            changed[one.name] = f"{value}{_BADGE}"
        elif one.init and (is_dataclass(value) or isinstance(value, tuple)):
            changed[one.name] = _with_scripts(value)
    made = copy(record)
    vars(made).update(changed)
    return made


def test_the_pages_escape_every_text() -> None:
    """A claim and a report with a script in every text field give pages without one."""
    chosen = [
        claim for claim in CLAIMS if claim.key in ("chien_li/theorem_3_12", "chien_li/theorem_3_1/composition")
    ]
    reports = [_with_scripts(decide(claim)) for claim in chosen]
    claims = [_with_scripts(claim) for claim in chosen]
    written = files(claims, reports, (f"drift {_BADGE}",))
    pages = {
        name: data.decode() if isinstance(data, bytes) else data
        for name, data in written.items()
        if str(name).endswith(".html")
    }
    assert pages
    shown = "".join(pages.values())
    assert _BADGE not in shown
    assert "&lt;script&gt;alert(1)" in shown or "\\u003cscript" in shown


_FREE = re.compile(
    r"Apache|MIT|BSD|ISC|PSF|Python Software Foundation|LGPL|Lesser General Public|MPL|Mozilla|Unlicense|HPND|CC0|0BSD|"
    r"Zlib|public domain",
    re.IGNORECASE,
)
_UNDECLARED = {"z3-solver": "MIT"}
"""Packages whose metadata leaves the licence out; what their repositories say."""


def _runtime_packages() -> set[str]:
    """What ``pip install lastiterate`` brings, and what that brings."""
    wanted = [re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0] for line in _requirements()]
    found: set[str] = set()
    while wanted:
        name = wanted.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # only on another platform
        found.add(name)
        wanted += [re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0] for line in needs if "extra" not in line]
    return found


def _requirements() -> list[str]:
    import tomllib

    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *extras["sweep"], *extras["dp-accounting"]]


def test_every_dependency_has_a_free_licence() -> None:
    packages = _runtime_packages()
    assert {"click", "numpy", "sympy", "python-flint"} <= packages
    unknown = {}
    for name in sorted(packages):
        about = metadata.metadata(name)
        said = [about.get("License-Expression") or "", about.get("License") or ""]
        said += [one for one in about.get_all("Classifier") or [] if one.startswith("License")]
        said.append(_UNDECLARED.get(name, ""))
        if not any(_FREE.search(one[:400]) for one in said):
            unknown[name] = said
    assert unknown == {}
