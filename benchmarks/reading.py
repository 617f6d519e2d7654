"""Count the lines that a sceptic reads to believe a claim of the ledger.

    python -m benchmarks.reading chien_li/theorem_3_1/convex

There are three ways to believe a claim, and each has its own count.

*Through Coq*, for a claim whose derivation is one theorem (proofs_checks/coq/rules.toml, `claim`): the statement that
`show` prints, the page that explains the theorem, and in Coq the statement of the theorem with the hypotheses of its
sections, all definitions on which it depends, in full, and all imports, notations, scopes and canonical structures of
the files that these come from. Proofs are not read: Coq reads them. Mathcomp and Coq's library are trusted, and not
counted.

*Through the trace*: the statement; the derivations as `show` prints them; for each rule in them that is a theorem of
Coq, its statement and definitions as above, so that a reader can compare each line with its rule; for each other rule
the module in Python; the pages about Gaussian profiles, for which tables stand in Coq; the side conditions, each as a
question in SMT-LIB that z3 and cvc5 answer with unsat; and the claims that the derivations cite, with all functions
that run when they are decided. The kernel itself is not read, because the reader compares the lines with the rules.

*Through Python*: all functions of this package that run when the derivations of the claim are decided and compared
with its statement. This is what one has to read if only the printed verdict is believed.

A line is a line of text that is not blank. A line of a file is counted once. Side conditions are asked for at the
points at which all their parts are defined, as the questions say (`distinct`).
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sympy as sp
import z3

from benchmarks import coq_held, coq_rules
from lastiterate.proofs_checks.describe import _RULES, derivation, symbols
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.derivation import judgements
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.engines.z3_answers import Terms, usable
from lastiterate.proofs_checks.implies import left_open
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.proofs_checks.statement import as_text, quantified
from lastiterate.symbolic.checks import Derived
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.kernel.rules import Kernel

z3.set_param("pp.min_alias_size", 10**6)  # no abbreviations
z3.set_param("pp.max_depth", 10**6)

ROOT = coq_rules.ROOT
COQ = coq_rules.COQ
THEOREM = "chien_li/theorem_3_1/convex"
"""The claim on docs/proofs/trusted.md."""

_SURROUNDINGS = re.compile(
    r"^\s*(?:From|Import|Export|Require|Set|Unset|Open Scope|Local Open Scope|Delimit|(?:Local )?Notation|Coercion|"
    r"(?:#\[local\] )?Canonical|Arguments|Section|End|Implicit Types)\b"
)
_GAUSSIAN_PAGES = ("enlarged_sets.md", "privacy_loss.md")


@dataclass
class Count:
    """Lines to read: the sets of line numbers in files, and numbers of lines of printed texts."""

    files: dict[str, set[int]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def add(self, file: str, lines: Iterable[int]) -> None:
        """Add lines of a file below the root."""
        written = (ROOT / file).read_text(encoding="utf-8").splitlines()
        self.files.setdefault(file, set()).update(one for one in lines if written[one - 1].strip())

    def say(self, what: str, text: str) -> None:
        """Add a printed text."""
        self.texts[what] = sum(bool(line.strip()) for line in text.splitlines())

    @property
    def total(self) -> int:
        """The number of lines."""
        return sum(self.texts.values()) + sum(map(len, self.files.values()))

    def __str__(self) -> str:
        rows = [*self.texts.items(), *((file, len(lines)) for file, lines in sorted(self.files.items()))]
        return "\n".join(f"{number:5}  {what}" for what, number in (*rows, ("in all", self.total)))


def claim_of(key: str) -> Claim:
    """The claim of the ledger with this key."""
    (claim,) = of_ledger(keys=(key,))
    return claim


def statement(claim: Claim) -> str:
    """The statement, the assumptions and the letters of a claim, as `show` prints them."""
    letters = (f"{letter}  {meaning}" for letter, meaning, _ in symbols(claim))
    return "\n".join((as_text(quantified(claim.stated)), *map(str, claim.assumptions), *letters))


# ---- Coq ----


class _File:
    """A file of Coq, and where its sentences are."""

    def __init__(self, name: str) -> None:
        self.name, self.text = name, (COQ / name).read_text(encoding="utf-8")
        self.place = str((COQ / name).relative_to(ROOT))

    def lines(self, sentence: str) -> range:
        """The lines of a sentence, given without comments and with single spaces, and of its proof if it defines."""
        between = r"(?:\s|\(\*.*?\*\))+"
        found = re.search(between.join(map(re.escape, sentence.split())), self.text, flags=re.DOTALL)
        if found is None:
            raise ValueError(f"{self.name} does not have the sentence {sentence}")
        end = found.end()
        if re.match(r"Definition\b", sentence) and ":=" not in sentence:
            end = self.text.index("Defined.", end)
        return range(self.text.count("\n", 0, found.start()) + 1, self.text.count("\n", 0, end) + 2)

    def surroundings(self) -> Iterator[int]:
        """The lines that can change the meaning of others."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if _SURROUNDINGS.match(line):
                yield number


def closure(theorems: coq_held.Theorems, names: Iterable[str]) -> Iterator[coq_held.Item]:
    """Theorems and all definitions in their statements, with the lemmas that definitions are made of."""
    todo = [theorems.find(name) for name in names]
    found = dict[tuple[str, str], coq_held.Item]()
    while todo:
        one = todo.pop()
        if (one.file, one.name) in found:
            continue
        found[one.file, one.name] = one
        said = " ".join((*one.context, one.text))
        if one.kind == "Definition" and ":=" not in one.text:  # defined by a proof
            lines = _File(one.file).lines(one.text)
            said += " ".join(_File(one.file).text.splitlines()[lines.start - 1 : lines.stop - 1])
        for word in re.findall(r"[\w']+", said):
            for file in (one.file, *theorems._imported[one.file]):
                own = theorems.items.get(file, {}).get(word)
                if own and (file == one.file or own.kind not in ("Let", "Notation")):
                    if own.kind not in ("Theorem", "Corollary", "Lemma") or one.kind == "Definition":
                        todo.append(own)
                    break
    yield from found.values()


def _read_coq(count: Count, names: Iterable[str]) -> None:
    theorems = coq_held.Theorems()
    for one in closure(theorems, names):
        file = _File(one.file)
        for sentence in (*one.context, one.text):
            count.add(file.place, file.lines(sentence))
        count.add(file.place, file.surroundings())


def compiled() -> dict[str, dict[str, Any]]:
    """The claims that are theorems of Coq: key -> row of the table."""
    return {one["key"]: one for one in coq_rules.read(COQ / "rules.toml", "claim")}


def through_coq(key: str) -> Count | None:
    """The lines to read for a claim whose derivation is one theorem of Coq; None for other claims."""
    rows = compiled()
    if key not in rows:
        return None
    count = Count()
    count.say("the statement", statement(claim_of(key)))
    page = (ROOT / "docs" / "proofs" / rows[key]["page"]).read_text(encoding="utf-8")
    explained = page.partition("\n## What a reader reads")[0]
    count.say(
        "the page, without its Coq", re.sub(r"^```coq\n.*?^```", "", explained, flags=re.DOTALL | re.MULTILINE)
    )
    _read_coq(count, rows[key]["theorems"])
    return count


# ---- The trace ----


def derived(claim: Claim) -> list[Derived]:
    """The derivations of a claim."""
    return [check for check in claim.checks if isinstance(check, Derived)]


def conditions(claim: Claim) -> dict[sp.Basic, frozenset[Any]]:
    """The side conditions of the derivations that are not premises, and the premises of each."""
    found = dict[sp.Basic, frozenset[Any]]()
    for check in derived(claim):
        kernel = Kernel(prove, frozenset(claim.assumptions))
        ends = [kernel.weaken(end, profile=check.profile) for end in judgements(check, claim.assumptions)]
        for shown in (one for end in ends for line in end.lines() for one in line.shown):
            if shown.condition not in shown.given:
                found.setdefault(shown.condition, shown.given)
    return found


class Questions:
    """The side conditions of a claim as one text in SMT-LIB: letters and their signs, then a block for each condition.

    A block asks whether premises allow that a condition is false; it has as few premises as z3 needs. The text of a
    condition for a solver is the head and its block.
    """

    def __init__(self, claim: Claim) -> None:
        self._letters = dict[str, sp.Symbol]()
        self._signs = dict[str, None]()
        chosen = [self._chosen(*one) for one in conditions(claim).items()]
        letters = "".join(f"(declare-const {one} Real)\n" for one in self._letters).replace("'", "~")
        self.head = f"(set-logic QF_NRA)\n{letters}{''.join(self._signs)}"
        self.blocks = list(dict.fromkeys(chosen))

    def __str__(self) -> str:
        return self.head + "".join(f"(push 1)\n{block}(check-sat)\n(pop 1)\n" for block in self.blocks)

    def texts(self) -> Iterator[str]:
        """The question of each condition."""
        return (f"{self.head}{block}(check-sat)\n" for block in self.blocks)

    def _chosen(self, condition: Any, given: frozenset[Any]) -> str:
        foreign = {one: len(one.free_symbols - condition.free_symbols) for one in usable(tuple(given))}
        for most in (0, 1, 2, max(foreign.values(), default=0)):
            lines, solver = self._written([one for one, number in foreign.items() if number <= most], condition)
            if solver.check() == z3.unsat:
                return lines
        raise ValueError(f"z3 has no answer for {condition}")

    def _written(self, premises: list[Any], condition: Any) -> tuple[str, z3.Solver]:
        terms, solver = Terms(whole=False), z3.Tactic("qfnra-nlsat").solver()
        asked = [
            *(terms.condition(one) for one in sorted(premises, key=str)),
            z3.Not(terms.condition(condition)),
        ]
        solver.add(*terms.side, *asked)
        names = dict[str, str]()
        for letter, variable in terms.variables.items():
            if self._letters.setdefault(letter.name, letter) != letter:
                raise ValueError(f"two letters are called {letter}")
            names[str(variable)] = letter.name
        signs = {sign for letter in terms.variables for sign in _signs(letter)}
        self._signs |= dict.fromkeys(sorted(signs))
        lines = [f"(assert {_plain(one, names)})\n" for one in (*terms.side, *asked)]
        lines = [one for one in dict.fromkeys(lines) if one not in signs]
        others = dict.fromkeys(re.findall(r"(?:part|root\d+)!\d+", "".join(lines)))
        return "".join((*(f"(declare-const {one} Real)\n" for one in others), *lines)), solver


def _signs(letter: sp.Symbol) -> list[str]:
    """What the declaration of a letter says of it."""
    terms = Terms(whole=False)
    names = {str(terms.term(letter)): letter.name}
    return [f"(assert {_plain(sign, names)})\n" for sign in terms.side]


def _plain(formula: z3.AstRef, names: dict[str, str]) -> str:
    text = " ".join(formula.sexpr().replace("|", "").split())
    for name, letter in names.items():
        text = re.sub(rf"(?<![\w'!]){re.escape(name)}(?!\d)", letter, text)
    return text.replace("'", "~")


def _files_of(code: Iterable[CodeType], count: Count) -> None:
    for one in code:
        file = Path(one.co_filename).resolve()
        if file.is_relative_to(ROOT) and file.is_file():
            numbers = [line for *_, line in one.co_lines() if line]
            if numbers:
                count.add(str(file.relative_to(ROOT)), range(one.co_firstlineno, max(numbers) + 1))


def functions(run: Callable[[], object]) -> set[CodeType]:
    """The functions of this package that run in a call, of which nothing may be cached yet."""
    seen = set[CodeType]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    folders = tuple(f"{ROOT / name}/" for name in ("symbolic", "proofs_checks", "numeric"))
    return {one for one in seen if str(Path(one.co_filename).resolve()).startswith(folders)}


def through_trace(key: str) -> Count:
    """The lines to read for a claim, except those for the cited claims that no theorem of Coq proves."""
    claim, count = claim_of(key), Count()
    count.say("the statement", statement(claim))
    rules = set[str]()
    for check in derived(claim):
        outcome = decide_check(check, claim.assumptions)
        count.say(f"the derivation, {check.name}", "\n".join(derivation(claim, check, outcome)))
        rules |= {line.rule for end in judgements(check, claim.assumptions) for line in end.lines()}
    entries = [_RULES[name] for name in sorted(rules)]
    named = (one["theorem"].split(" in proofs_checks/coq/") for one in entries if "theorem" in one)
    _read_coq(count, [f"{file}: {theorem}" for theorem, file in named])
    for page in (
        *(one["page"] for one in entries if "none" in one),
        *(f"docs/proofs/{one}" for one in _GAUSSIAN_PAGES),
    ):
        count.add(page, range(1, len((ROOT / page).read_text(encoding="utf-8").splitlines()) + 1))
    kernel = (ROOT / "docs" / "proofs" / "kernel.md").read_text(encoding="utf-8")
    count.say("docs/proofs/kernel.md, the judgements and the rules", kernel.partition("\n## Only rules")[0])
    count.say("the side conditions in SMT-LIB", str(Questions(claim)))
    lemmas = compiled()
    _read_coq(count, [name for key in cited(claim) if key in lemmas for name in lemmas[key]["theorems"]])
    return count


def cited(claim: Claim) -> list[str]:
    """The claims that the derivations of a claim cite."""
    ends = (end for check in derived(claim) for end in judgements(check, claim.assumptions))
    return sorted({one for end in ends for one in end.cited() if re.fullmatch(r"[\w/]+/[\w/]+", one)})


def _decided(claims: Iterable[Claim], *, all_checks: bool) -> Count:
    def run() -> None:
        for claim in claims:
            for check in claim.checks if all_checks else derived(claim):
                decide_check(check, claim.assumptions)
            left_open(claim)

    count = Count()
    _files_of(functions(run), count)
    return count


def _alone(key: str, way: str) -> str:
    """The count of a way that follows running functions, from a process in which nothing is cached."""
    command = [sys.executable, "-m", "benchmarks.reading", key, way]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.rstrip()  # noqa: S603


def main(key: str, way: str = "") -> None:
    """Print the counts of all ways, or of one way that follows running functions."""
    claim = claim_of(key)
    if way == "functions":
        print(_decided([claim], all_checks=False))
        return
    if way == "lemmas":
        print(_decided([claim_of(one) for one in cited(claim) if one not in compiled()], all_checks=True))
        return
    print(f"{key}\n\nThrough Coq\n{through_coq(key) or '       its derivation is not one theorem'}")
    print(f"\nThrough the trace\n{through_trace(key)}")
    if lemmas := sorted(set(cited(claim)) - compiled().keys()):
        print(f"  and for the claims {', '.join(lemmas)}\n{_alone(key, 'lemmas')}")
    print(f"\nThrough Python\n{_alone(key, 'functions')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
