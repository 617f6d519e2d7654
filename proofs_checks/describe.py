"""One claim with its evidence, as text for a reader."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from tomllib import loads
from typing import Final

import sympy as sp
from jinja2 import Environment, PackageLoader, Template
from sympy.core.function import AppliedUndef

from lastiterate.proofs_checks.declared import misfit, place_in_order
from lastiterate.proofs_checks.engines.derivation import deduce, judgements
from lastiterate.proofs_checks.refutations import lines as refutation_lines
from lastiterate.proofs_checks.statement import as_text, of_check, quantified
from lastiterate.proofs_checks.verdict import ClaimReport, Outcome, Status, tally
from lastiterate.symbolic.checks import Check, Deduced, Derived, RenyiBound, Tracked, Units
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.families import FunctionValue
from lastiterate.symbolic.kernel.integrals import Proposition
from lastiterate.symbolic.kernel.judgement import Span
from lastiterate.symbolic.notation import GRADIENT, LENGTH, MEANING, PREVIOUS, UNITS, unit_text
from lastiterate.symbolic.statement import FIRST, OTHER, SAMPLES, SECOND, letters, parts
from lastiterate.symbolic.vectors import Vector


def evidence(claim: Claim, report: ClaimReport) -> Iterator[str]:
    """Lines with the title and, for each check that does not hold, its engine's answer."""
    yield f"{claim.title} ({claim.source})"
    for outcome in report.outcomes:
        if outcome.status is Status.HELD:
            continue
        detail = f": {outcome.detail}" if outcome.detail else ""
        yield f"check '{outcome.check}': {outcome.engine} says {outcome.status}{detail}"
        found = outcome.counterexample
        if found is not None:
            at = f"at {found.point}: " if found.at else ""
            yield f"  {at}{found.left} {found.relation} {found.right} fails"
    for symbol, meaning, _ in () if misfit(claim) else symbols(claim):
        if _TWICE in meaning:
            yield f"  {symbol} is {meaning}"


_TWICE: Final = "a different symbol, with other assumptions, that is called"


def symbols(claim: Claim) -> Iterator[tuple[sp.Symbol, str, str]]:
    """Symbols of a claim with meaning or declared range, and unit; functions last. A second x is x_2."""
    measured = any(isinstance(check, Units) for check in claim.checks)
    found = letters((claim.assumptions, claim.checks, claim.statement, claim.refutation))
    found -= {PREVIOUS, LENGTH, GRADIENT}
    names = dict[str, int]()
    for symbol in sorted(found, key=lambda one: (str(one), place_in_order(one))):
        plain = type(symbol) is sp.Symbol  # a vector and a number of one name differ in type
        names[symbol.name] = number = names.get(symbol.name, 0) + plain
        meaning, unit = MEANING.get(symbol, (described_range(symbol), UNITS.get(symbol) if measured else None))
        if symbol in claim.letters:
            meaning, unit = claim.letters[symbol] or described_range(symbol), None
        if plain and number > 1:
            yield sp.Symbol(f"{symbol.name}_{number}"), f"{meaning}: {_TWICE} {symbol.name}", ""
        elif meaning:
            yield symbol, meaning, "" if unit is None else unit_text(unit)
    said = parts((claim.assumptions, claim.checks, claim.statement))
    values = {value.func: value for part in said for value in part.atoms(AppliedUndef)}
    for function, value in sorted(values.items(), key=str):
        if words := described_range(value):
            yield sp.Symbol(function.__name__), f"a function, each value {words}", ""


_SIGNS: Final = ("positive", "negative", "nonnegative", "nonpositive", "nonzero")
_KINDS: Final = (
    ("prime", "prime number"),
    ("composite", "composite integer"),
    ("even", "even integer"),
    ("odd", "odd integer"),
    ("integer", "integer"),
    ("rational", "rational number"),
    ("real", "real number"),
)
"""Declarations in words, the strongest first."""


def described_range(symbol: sp.Expr) -> str:
    """Declaration of a symbol in words; empty for events and maps, which are symbols without declarations.

    >>> [described_range(sp.Symbol("x", **{fact: True})) for fact in ("odd", "negative", "complex")]
    ['an odd integer', 'a negative number', 'a complex number']
    """
    if symbol in (SAMPLES, OTHER):
        return "a data set"
    if symbol in (FIRST, SECOND):
        return "a law"
    if isinstance(symbol, Vector):
        return "a vector"
    if isinstance(symbol, FunctionValue):
        return "the value of a function at a point"
    if symbol.is_complex is None:
        return ""
    if symbol.is_zero:
        return "the number 0"
    sign = next((f"{one} " for one in _SIGNS if getattr(symbol, f"is_{one}")), "")
    sign = "" if symbol.is_prime or symbol.is_composite or (symbol.is_odd and sign == "nonzero ") else sign
    kind = next((words for fact, words in _KINDS if getattr(symbol, f"is_{fact}")), "complex number")
    said = f"{sign}{kind.removeprefix('real ') if sign else kind}"
    return f"a{'n' * said.startswith(('e', 'i', 'o'))} {said}{', not an integer' * bool(symbol.is_noninteger)}"


_RULES: Final = loads(files("lastiterate.proofs_checks").joinpath("rules.toml").read_text(encoding="utf-8"))


def _proof(
    page: str, theorem: str = "", none: str = "", supposes: str = "", *, tables: bool = False
) -> tuple[str, str]:
    """Proof of a rule, in a word and in a sentence.

    >>> _proof("docs/proofs/enlarged_sets.md", "chain in chain.v", tables=True)[0]
    'Coq, tables'
    """
    if not theorem:
        return "prose", f"prose: {none}; no theorem; {page}"
    of = " for profiles that are tables" if tables else ""
    said = f"theorem {theorem}{f', which supposes {supposes}' if supposes else ''}"
    return f"Coq{', tables' * tables}", f"machine-checked{of}: {said}; {page}"


def _lines(ends: Sequence[Span | Proposition], supposed: Iterable[str], always: Iterable[str]) -> Iterator[str]:
    judgements = list(dict.fromkeys(one for end in ends for one in end.lines()))
    number = {id(one): index for index, one in enumerate(judgements, 1)}
    rules, trusted = dict[str, str](), dict[str, dict[str, None]]()
    for one in judgements:
        name = one.rule if isinstance(one, Span) else "calculus"
        mark, rules[name] = _proof(**_RULES[name])
        trusted.setdefault(mark, {})[name] = None
        premises = ", ".join(str(number[id(premise)]) for premise in one.premises)
        yield f"{number[id(one)]:3} {one.rule}{f' ({premises})' if premises else ''}: {one}   [{mark}]"
        yield from (f"      {shown.condition}   [{shown.how}]" for shown in one.shown)
    given = sorted({str(one) for end in ends for one in end.given})
    yield from ("Supposes", *(f"  {one}" for one in (*supposed, *given)))
    cited = dict.fromkeys((*always, *(one for end in ends for one in end.cited())))
    yield from ("Rests on", *(f"  {one}" for one in cited))
    yield from ("Rules", *(f"  {name}: {proof}" for name, proof in rules.items()))
    engines = Counter(
        shown.how.partition(":")[0] for one in judgements for shown in one.shown if ":" in shown.how
    )
    yield from ("Trusted", *(f"  {mark}: {', '.join(names)}" for mark, names in sorted(trusted.items())))
    if engines:
        yield f"  engines: {', '.join(f'{engine} ({count})' for engine, count in sorted(engines.items()))}"
    yield f"  cited: {len(cited)} facts and claims, under Rests on"


_ALWAYS: Final = (
    "finite Borel measures on Polish spaces are inner regular",
    "the projection on a closed convex set brings no two points farther apart",
    "a Renyi divergence is at most the profile's, and moments of profiles multiply (docs/proofs/privacy_loss.md)",
)
"""Facts that every derivation of the kernel rests on."""


def derivation(claim: Claim, check: Check, outcome: Outcome) -> list[str]:
    """Lines of the derivation of a check that holds, one per rule; [] for other checks."""
    if outcome.status is not Status.HELD:
        return []
    if isinstance(check, Deduced):
        return list(_lines((deduce(check.derivation),), (), ("Lebesgue's integral, Fubini's theorem",)))
    if isinstance(check, Derived | RenyiBound | Tracked):
        ends = judgements(check, claim.assumptions)
        return list(_lines(ends, sorted({str(one) for end in ends for one in end.hypotheses}), _ALWAYS))
    return []


def describe(claim: Claim, report: ClaimReport, instead: Sequence[Claim] = ()) -> str:
    """A claim as text: title, source, verdict, assumptions, symbols, checks, wrong variants, remark."""
    if why := misfit(claim):
        return f"{claim.key}\n  verdict: {report.verdict}; {why}"
    told = claim.refutation
    named = list(symbols(claim))
    page = _template().render(
        claim=claim,
        report=report,
        tally=tally(report),
        headings={
            "scope: ": report.scope,
            "left open: ": report.left_open,
            "rests on: ": ", ".join(report.rests_on),
            "repairs: ": claim.repairs,
            "": claim.source.url,
        },
        said=as_text(quantified(told.says if told is not None and told.says is not None else claim.stated)),
        failure=() if told is None else tuple(refutation_lines(told)),
        instead=instead,
        conditions=[sp.pretty(condition, wrap_line=False) for condition in claim.assumptions],
        symbols=named,
        width=max((len(str(symbol)) for symbol, *_ in named), default=0) + 2,
        formula=lambda check: as_text(of_check(check)),
        derivation=derivation,
    )
    return page.rstrip("\n")


@cache
def _template() -> Template:
    folder = PackageLoader("lastiterate.proofs_checks", ".")
    return Environment(loader=folder, trim_blocks=True, lstrip_blocks=True).get_template("claim.txt.j2")  # noqa: S701 - text
