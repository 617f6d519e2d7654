"""What the address of a kept report takes in: all modules that decide, by what they say, and nothing else."""

import ast
import gc
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from lastiterate.proofs_checks import cache
from lastiterate.proofs_checks.cache import NUMBERS, PACKAGES, ReportCache, deciding
from lastiterate.proofs_checks.folder import sources_digest
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Engine, Identity
from lastiterate.symbolic.notation import x

ALL = cache.find_modules(deciding(set(Engine)))
LIGHT = cache.find_modules(deciding(set(Engine) - NUMBERS))
LEDGER = tuple(f"lastiterate.symbolic.{paper}" for paper in ledger.ORDER)

QUICK = """
altschuler_talwar/section_2_4/proposition_2_17 altschuler_talwar/section_5_2/earlier_bound
altschuler_talwar/theorem_4_1/construction altschuler_talwar/theorem_4_1/matching_dp_repaired
chien_li/appendix_a_13/clipping_alone chien_li/lemma_3_5 chien_li/lemma_3_5/closed_forms
chien_li/proof_3_1/conditioning d2p2/algorithm_1/clip d2p2/appendix_a_9/iterations d2p2/corollary_1/private_rate
d2p2/lemma_1 d2p2/theorem_2/mean_of_clipped liang/appendix_c_1/mean_square_repaired liang/table_1/late_steps
liang/table_1/units liang/corollary_3_11 liang/lemma_a_15 liang/lemma_a_2 liang/theorem_3_4/diameter
ours/poisson/blocks
"""
"""Claims with checks of every type that are decided soon."""

WRITTEN = {"windows"}
"""Modules of `symbolic` that claims are written with, which hold the formulas themselves, and no engine uses."""

SAMPLE = f"""
import json, sys
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.ledger import naming
keys = set({QUICK!r}.split()) | {{"chien_li/theorem_3_1/composition"}}
claims = {{claim.key: claim for claim in naming(*keys) if claim.key in keys}}
checks = {{type(check): (check, claim.assumptions) for claim in claims.values() for check in claim.checks}}
decide(claims["chien_li/lemma_3_5"])
for check, assumptions in checks.values():
    for one in (check, *check.mutants[:1]):
        decide_check(one, assumptions)
def kinds(kind):
    return set().union({{kind}}, *map(kinds, kind.__subclasses__()))
missing = {{one for one in kinds(Check) if not kinds(one) & set(checks)}}
print(json.dumps([sorted(map(str, missing)), sorted({{kind.engine for kind in checks}}), sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules of the package that a process has loaded that decides a check of every type."""
    done = subprocess.run([sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True)  # noqa: S603
    missing, engines, names = json.loads(done.stdout)
    assert missing == []
    assert set(engines) == {engine.value for engine in Engine}
    return {name for name in names if name.split(".")[0] == "lastiterate" and not name.startswith(LEDGER)}


def test_all_that_is_loaded_while_checks_are_decided_is_in_the_closure(loaded: set[str]) -> None:
    assert len(loaded) > 130
    assert loaded - ALL.keys() == {f"lastiterate.symbolic.{name}" for name in WRITTEN}


def test_what_was_left_out_by_a_bare_name_is_in_it() -> None:
    names = (
        "symbolic.statement",
        "symbolic.kernel.rules",
        "symbolic.derivations.known_batches",
        "symbolic.ledger",
    )
    assert {f"lastiterate.{name}" for name in names} <= LIGHT.keys()
    assert "lastiterate.numeric.contraction.fixed_batches" in ALL


def test_claims_on_which_derivations_rest_are_in_it_and_no_other() -> None:
    cited = {
        name
        for name in LIGHT
        if name.startswith(LEDGER) and name.count(".") == 3 and not name.endswith("paper")
    }
    papers = {
        "ours.expansions",
        "ours.poisson",
        "ours.sampled",
        "altschuler_talwar.proof_3_1",
        "altschuler_talwar.section_2_4",
        "liang.appendix_a",
    }
    assert cited == {f"lastiterate.symbolic.{name}" for name in papers}
    rules = [
        name
        for name in LIGHT
        if name.startswith(("lastiterate.symbolic.kernel", "lastiterate.symbolic.derivations"))
    ]
    texts = "".join(Path(str(import_module(name).__file__)).read_text(encoding="utf-8") for name in rules)
    rest = [claim for name in cited for claim in import_module(name).CLAIMS if f'"{claim.key}"' in texts]
    assert {claim.key.rpartition("/")[0] for claim in rest} >= {"ours/expansions", "ours/poisson"}
    assert all(NUMBERS.isdisjoint(claim.engines) for claim in rest)


def test_claims_that_no_number_decides_do_not_depend_on_the_modules_of_numbers() -> None:
    numeric = {name.split(".")[2] for name in LIGHT if name.startswith("lastiterate.numeric.")}
    assert numeric == {"arrays", "divergences", "enclosure", "errors", "rounding"}


def test_no_file_of_what_was_found_decides() -> None:
    files = {path.parent / one for path in ALL.values() for one in cache._read(path.read_bytes()).strings}
    assert {file.name for file in files if file.is_file()} == {
        "names.toml",
        "papers.toml",
        "schemes.toml",
        "theorems.toml",
    }


def _reworded(tree: ast.Module) -> bytes:
    """The module in another layout, with other docstrings and comments."""
    for one in ast.walk(tree):
        if (
            isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Constant)
            and isinstance(one.value.value, str)
        ):
            one.value.value += "Other words."
    return ast.unparse(tree).encode() + b"\n# a comment\n"


def _changed(tree: ast.Module) -> bytes:
    """The module with its last constant changed, or with one more."""
    texts = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    constants = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in texts]
    if not constants:
        return f"{ast.unparse(tree)}\nEPS = 1e-9\n".encode()
    constants[-1].value = "another" if isinstance(constants[-1].value, str) else 12345
    return ast.unparse(tree).encode()


@pytest.mark.parametrize("part", range(4))
def test_a_changed_constant_changes_the_hash_and_comments_docstrings_and_layout_do_not(part: int) -> None:
    for name, path in [*ALL.items()][part::4]:
        text = path.read_bytes()
        said = cache._read(text).digest
        tree = ast.parse(text)
        assert cache._read(_reworded(tree)).digest == said, name
        assert cache._read(_changed(tree)).digest != said, name


@pytest.mark.parametrize(
    "module", ["symbolic.statement", "numeric.rounding", "proofs_checks.defined", "papers.toml"]
)
def test_a_change_reaches_the_address(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    roots = deciding({Engine.IDENTITY})
    before, read = cache.fingerprint(roots), Path.read_bytes
    changed = ALL.get(f"lastiterate.{module}", ALL["lastiterate.symbolic.papers"].with_name("papers.toml"))
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + (b"\nA = 1\n" if path == changed else b"")
    )
    assert cache.fingerprint(roots) != before
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + (b"\n# words\n" if path.suffix == ".py" else b"")
    )
    assert cache.fingerprint(roots) == before


def test_a_module_beside_claims_of_ones_own_is_part_of_their_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    beside, file = tmp_path / "beside_the_claims.py", tmp_path / "claims.py"
    beside.write_text("RATE = 1\n")
    (tmp_path / "table.csv").write_text("1,2")
    file.write_text("from beside_the_claims import RATE\nTABLE = 'table.csv'\nCLAIMS = ()\n")
    __import__("beside_the_claims")
    found = [sources_digest([file])]
    beside.write_text("RATE = 2\n")
    found.append(sources_digest([file]))
    (tmp_path / "table.csv").write_text("1,3")
    found.append(sources_digest([file]))
    file.write_text("from beside_the_claims import RATE\nTABLE = 'table.csv'\nCLAIMS = ()  # none\n")
    found.append(sources_digest([file]))
    assert len(set(found[:3])) == 3
    assert found[3] == found[2]


def test_an_entry_of_another_address_is_not_taken(tmp_path: Path, make_claim) -> None:
    """Neither one of the claim as it was before, under a new name, nor one with the right checksum by hand."""
    from lastiterate.numeric.store import seal
    from lastiterate.proofs_checks.decide import decide

    store = ReportCache(tmp_path)
    old, new = make_claim(Identity(x + x, 2 * x)), make_claim(Identity(x, 2 * x))
    store.write(old, decide(old))
    entry = store.address(old).read_bytes()
    assert store.read(old) is not None
    store.address(new).write_bytes(entry)
    assert store.read(new) is None
    data = json.dumps(decide(old).to_json())
    for forged in (data, "null", "[1]", '["a", 1]', f'["", {data}]', f"[{data}]"):
        store.address(new).write_bytes(seal(forged.encode() + b"\n"))
        assert store.read(new) is None
        assert not store.address(new).exists()


def test_what_is_used_of_other_works_is_in_the_address() -> None:
    """Those whose answers a verdict rests on; others print, read files or start processes."""
    tops = {
        name.partition(".")[0] for path in ALL.values() for name in cache._read(path.read_bytes()).imports
    } - sys.stdlib_module_names
    deciding_ones = {"clarabel", "flint", "mpmath", "numpy", "scipy", "sympy", "z3"}
    others = {"dp_accounting", "joblib", "lastiterate", "pandas", "platformdirs", "pydantic", "rich"}
    assert (tops - others) | {"mpmath"} == deciding_ones  # Sympy evaluates by mpmath
    assert len(deciding_ones) == len(cache._SOLVERS)
    assert set(PACKAGES) == {"lastiterate.symbolic", "lastiterate.numeric", "lastiterate.proofs_checks"}


class _Slow:
    """A cycle whose end takes time, so that another thread runs while garbage is collected."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


def test_modules_are_read_by_several_threads_at_once() -> None:
    """Without a lock the parser of Python 3.11 raises SystemError about six times in 150."""
    text = Path(cache.__file__).read_bytes()
    rate, thresholds = sys.getswitchinterval(), gc.get_threshold()

    def digest(number: int) -> str:
        made = [_Slow() for _ in range(30)]
        return cache._read(text + b"#%d" % number + b"#" * len(made)).digest

    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(20, 5, 5)
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(digest, range(150)))) == 1
    finally:
        sys.setswitchinterval(rate)
        gc.set_threshold(*thresholds)
