"""A module of one's own that is not as it should be is told in one sentence, with the line and the claim."""

import os
from pathlib import Path

import pytest
from sympy import Symbol

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.describe import symbols
from lastiterate.proofs_checks.folder import read_claims

HEAD = """from sympy import Symbol
from lastiterate.symbolic.claim import Claim, Inequality, Source
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
        ("\nCLAIMS = (qq,)", "got NameError: name 'qq' is not defined in line 8 of {}; mend it."),
        ('CLAIMS = (Claim("a/b", "", SOURCE,\nInequality(p)),)', "in line 8 of {}, claim a/b; mend it."),
        ("CLAIMS = (", "got SyntaxError: '(' was never closed"),
        ('CLAIMS = (Claim("a/b", "", SOURCE, assumptions=p > 1 and s > 1),)', "a tuple (p > 1, q > 1) in line 7 of"),
        (CLAIM.replace('"<="', '">="'), "one of ==, <=, <, <= and attained, <~, got sign='>='; swap the sides in line"),
        (CLAIM[:-3].replace("(Claim", "Claim"), "got CLAIMS=Claim(...); add a comma."),
        (CLAIM.replace("a/b", "a/B 1"), "got key='a/B 1' in {}; rename it."),
        (CLAIM.replace("a/b", "nokey"), "got key='nokey' in {}; rename it."),
        (CLAIM.replace("a/b", "chien_li/theorem_3_12"), "got key=chien_li/theorem_3_12 in {}, a claim of the ledger;"),
        (CLAIM.replace("SOURCE", "'Draft'"), "The claim a/b needs a Source for a source, got source='Draft'; write"),
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
