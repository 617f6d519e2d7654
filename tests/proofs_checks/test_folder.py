"""A module of one's own that is not as it should be is told in one sentence, with the line and the claim."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sympy import Symbol

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import ENVIRONMENT
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import evidence, symbols
from lastiterate.proofs_checks.folder import read_claims, written_in
from lastiterate.proofs_checks.lock import read_lock

HEAD = """from sympy import Symbol
from lastiterate.symbolic.prelude import Claim, Inequality, Source
from lastiterate.symbolic.notation import eta
p = Symbol("p", positive=True)
s = Symbol("s", positive=True)
SOURCE = Source("Draft", "1")
"""
CLAIM = 'CLAIMS = (Claim("a/b", "", SOURCE, Inequality(eta * p, "<=", s + eta * p)),)\n'


def module(folder: Path, text: str) -> Path:
    file = folder / "one.py"
    file.write_text(HEAD + text)
    return file


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nCLAIMS = (qq,)", "got NameError: name 'qq' is not defined in line 8 of {}; correct it."),
        ('CLAIMS = (Claim("a/b", "", SOURCE,\nInequality(p)),)', "in line 8 of {}; correct it."),
        ("CLAIMS = (", "got SyntaxError: '(' was never closed"),
        (
            'CLAIMS = (Claim("a/b", "", SOURCE, assumptions=p > 1 and s > 1),)',
            "a tuple (p > 1, q > 1) in line 7 of",
        ),
        (
            CLAIM.replace('"<="', '">="'),
            "one of ==, <=, <, <= and attained, <~, got sign='>='; swap the sides in line",
        ),
        (CLAIM[:-3].replace("(Claim", "Claim"), "got CLAIMS=Claim(...); add a comma."),
        ("raise SystemExit(0)\nCLAIMS = ()", "got SystemExit: 0 in line 7 of {}; correct it."),
        (
            "DERIVATIONS = [1]\nCLAIMS = ()",
            "DERIVATIONS of {} needs a mapping from names, got [1]; write a dict.",
        ),
        ("CLAIMS = list(range(10**6))", "got CLAIMS=[0, 1, 2, ... 1000000 in all]; write one."),
        (CLAIM.replace("a/b", "a/B 1"), "got key='a/B 1' in one.py:7; rename it."),
        (CLAIM.replace('"a/b"', "3"), "got key=3 in one.py:7; rename it."),
        (CLAIM.replace('"a/b"', "[]"), "got key=[] in one.py:7; rename it."),
        (CLAIM.replace("a/b", "nokey"), "got key='nokey' in one.py:7; rename it."),
        (
            CLAIM.replace("a/b", "chien_li/theorem_3_12"),
            "got key=chien_li/theorem_3_12 in one.py:7;",
        ),
        (CLAIM.replace("SOURCE", "'Draft'"), "source needs a Source, got source='Draft' in one.py:7; write"),
    ],
)
@pytest.mark.parametrize("relative", [True, False])
def test_what_is_wrong_is_told_with_its_line_and_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str, relative: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    file = module(tmp_path, text)
    given = Path(os.path.relpath(file)) if relative else file
    with pytest.raises(InputError) as caught:
        read_claims(given)
    assert told.format(given) in str(caught.value)


def test_a_file_that_is_not_text_has_no_claims(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"\x80\x02")
    with pytest.raises(InputError, match="a tuple CLAIMS, got path"):
        read_claims(tmp_path / "weights.pt")


def test_a_list_of_claims_is_as_good_as_a_tuple(tmp_path: Path) -> None:
    (claim,) = read_claims(module(tmp_path, CLAIM.replace("= (", "= [").replace("),)", ")]"))).claims
    assert claim.key == "a/b"


def test_a_letter_declared_in_a_module_has_no_meaning_of_the_package(tmp_path: Path) -> None:
    (claim,) = read_claims(module(tmp_path, CLAIM)).claims
    assert [(str(letter), words) for letter, words, _ in symbols(claim)] == [
        ("eta", "step size"),
        ("p", "a positive number"),
        ("s", "a positive number"),
    ]
    explained = CLAIM.replace("p)),", 'p), letters={s: "a shift"}),')
    (claim,) = read_claims(module(tmp_path, explained)).claims
    assert (Symbol("s", positive=True), "a shift", "") in list(symbols(claim))


@pytest.mark.parametrize(
    "made",
    [
        'K = Symbol("K", positive=True)',
        'K = Symbol(name="K", positive=True)',
        'from sympy import symbols\nK, n = symbols("K n", positive=True)',
        "from beside import K",
        'from lastiterate.symbolic.prelude import *\nK = Symbol("K", positive=True)',
        "from lastiterate.symbolic.prelude import *\nfrom beside import K",
    ],
)
def test_a_letter_of_a_stranger_is_what_its_own_module_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    (tmp_path / "beside.py").write_text('from sympy import Symbol\nK = Symbol("K", positive=True)\n')
    monkeypatch.syspath_prepend(tmp_path)
    claims = 'CLAIMS = (Claim("a/b", "", SOURCE, Inequality(K, "<=", 2 * K)),)\n'
    (claim,) = read_claims(module(tmp_path, f"{made}\n{claims}")).claims
    assert [(str(letter), words) for letter, words, _ in symbols(claim)] == [("K", "a positive number")]


def test_a_module_that_takes_no_letter_from_the_ledger_has_none_of_its_meanings(tmp_path: Path) -> None:
    file = module(tmp_path, "")
    head = HEAD.replace("from lastiterate.symbolic.notation import eta\n", "")
    file.write_text(f'{head}K, m = (Symbol(x, positive=True) for x in "Km")\n{CLAIM.replace("eta", "K * m")}')
    (claim,) = read_claims(file).claims
    assert {words for _, words, _ in symbols(claim)} == {"a positive number"}


def test_two_symbols_of_one_name_are_told_apart(tmp_path: Path) -> None:
    claims = (
        'x = Symbol("p")\nCLAIMS = (Claim("a/b", "", SOURCE, Inequality(p, "<=", x), assumptions=(s > 1,)),)\n'
    )
    (claim,) = read_claims(module(tmp_path, claims.replace('Symbol("p")', 'Symbol("p", real=True)'))).claims
    other = "a real number: a different symbol, with other assumptions, that is called p"
    assert {str(letter): words for letter, words, _ in symbols(claim)} == {
        "p": "a positive number",
        "p_2": other,
        "s": "a positive number",
    }
    report = decide(claim)
    assert "    p_2 is a real number" in "\n".join(f"  {line}" for line in evidence(claim, report))
    (outcome,) = report.outcomes
    assert outcome.counterexample is not None
    assert set(outcome.counterexample.at) >= {"p", "p_2"}


def test_where_a_claim_is_written_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = (
        HEAD + "def both(key):\n    return (\n        Claim(key, '', SOURCE, Inequality(eta * p, '<=', s)),)\n"
    )
    found = read_claims(module(tmp_path, made.removeprefix(HEAD) + "\n\nCLAIMS = both('a/b')\n"))
    assert [written_in(claim) for claim in found.claims] == ["one.py:9"]
    monkeypatch.chdir(Path("/"))
    assert written_in(found.claims[0]) == f"{tmp_path / 'one.py'}:9".removeprefix("/")


def test_what_fails_is_told_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every format, and as an annotation where GitHub reads it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    module(tmp_path, CLAIM.replace("s + eta", "-s + eta"))
    for style in ("text", "json", "markdown", "junit", "sarif"):
        with pytest.raises(SystemExit) as ended:
            main(["check", "one.py", "--jobs", "1", "--format", style])
        told = capsys.readouterr()
        assert ended.value.code == 1
        assert "one.py:7" in told.out, style
        assert "::error file=one.py,line=7::a/b is " in told.err


def test_services_read_what_fails_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    good = CLAIM.replace("a/b", "a/good").removeprefix("CLAIMS = (").removesuffix(")\n")
    module(tmp_path, CLAIM.replace("s + eta", "-s + eta").removesuffix(")\n") + good + ")\n")

    def printed(style: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["check", "one.py", "--jobs", "1", "--format", style])
        assert ended.value.code == 1
        return capsys.readouterr().out

    (suite,) = ElementTree.fromstring(printed("junit"))  # noqa: S314 - our own text
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in suite}
    assert cases["a/good"].find("failure") is None
    assert (cases["a/b"].get("file"), cases["a/b"].get("line")) == ("one.py", "7")
    failure = cases["a/b"].find("failure")
    assert failure is not None
    assert "a/b is " in str(failure.text)

    (run,) = json.loads(printed("sarif"))["runs"]
    (result,) = run["results"]
    assert result["message"]["text"] == failure.text
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("one.py", 7)


@pytest.mark.parametrize("entry", ["1", '{"verdict": "MAYBE", "grade": null, "checks": 1, "rejected": 1}'])
def test_a_broken_entry_of_a_lock_file_is_told_with_its_line(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(f'{{\n "a/b": {entry}\n}}\n')
    with pytest.raises(InputError, match=r"lock\.json:2; restore"):
        read_lock(path)
