"""Parts of a step that an author writes down: what nothing shows is supposed, and a theorem on it is not proved."""

from pathlib import Path

import pytest

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.proofs_checks.folder import read_claims
from lastiterate.proofs_checks.lock import LockedVerdict, drifts
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.symbolic.kernel.judgement import UnprovedError

MODULE = """
from dataclasses import replace

from sympy import Ge, S, Symbol

from lastiterate.symbolic.claim import derived
from lastiterate.symbolic.prelude import Claim, Derived, NormBound, Source
from lastiterate.symbolic.derivations.losses import LOSSES, Losses, no_less, replaced
from lastiterate.symbolic.derivations.losses import both_orders, by_claim, from_equal_points
from lastiterate.symbolic.kernel.induction import StepInduction
from lastiterate.symbolic.kernel.lemmas import Coin, Expansion, Guide, Shift, gaussian_shift, no_shift, supposing
from lastiterate.symbolic.kernel.profiles import Equal, Gauss, Order
from lastiterate.symbolic.notation import K, L, T, eta, n, sensitivity, sigma
from lastiterate.symbolic.vectors import Norm, Vector

s, v = sensitivity(), sigma**2
z, u, w = Symbol("z", nonnegative=True), Vector("u"), Vector("w")
j = Symbol("j", integer=True, nonnegative=True)
true = no_less(LOSSES["convex"].other_data(eta, n, S.One), z + s)
OWN = Claim(
    "mine/step", "Two nonexpansive maps, s apart", Source("Mine", "Lemma 1"),
    NormBound(u + w, z + s, (Norm(u) <= z, Norm(w) <= s)).mutant("half", bound=z + s / 2),
)
UNDECIDED = Claim(
    "mine/step", "Half of it, under the name of another", Source("Mine", "Lemma 1"),
    NormBound(u + w, z + s / 2, (Norm(u) <= z, Norm(w) <= s)),
)


def derivation(kernel):
    expansion, length, shift, coin = {parts}

    def step(inner, near, far):
        return inner.step(Order.FIRST, j, (near, far), expansion, shift, v, coin)

    made = StepInduction(kernel, j, T, ()).span(S.Zero, S.Zero, Gauss(j * length**2 / v), step)
    return both_orders(kernel, made)


DERIVATIONS = {{"mine/theorem": derivation}}
CHECK = Derived("mine/theorem", Gauss(T * {price} / v){supposed})
CLAIMS = (
    OWN,
    Claim(
        "mine/theorem", "Steps that hide what they make", Source("Mine", "Theorem 1"),
        CHECK, assumptions=(eta * L <= 2,), statement=derived((CHECK,), (eta * L <= 2,)),
    ),
)
"""
SHOWN = {
    "classes": "true, s, gaussian_shift(s, v), None",
    "own lemma": "by_claim(OWN, z), s, gaussian_shift(s, v), None",
}
OWED = {
    "half": "replace(true, after=z + s / 2), s / 2, gaussian_shift(s / 2, v), None",
    "nothing": "Expansion(z, z, Guide.OTHER, ()), S.Zero, no_shift(), None",
    "an unrelated lemma": "Expansion(z, z + s / 2, Guide.OTHER, ('ours/expansions/convex',)), s / 2, "
    "gaussian_shift(s / 2, v), None",
    "a class of one's own": "Losses('every loss is convex', (L, K), (), S.Zero).other_data(eta, 2 * n, S.One), "
    "s / 2, gaussian_shift(s / 2, v), None",
    "equal points": "from_equal_points(Guide.OTHER, s / 2), s / 2, gaussian_shift(s / 2, v), None",
    "a sample is replaced": "from_equal_points(Guide.OTHER, s / 2, (), (replaced(S.One, n),)), s / 2, "
    "gaussian_shift(s / 2, v), None",
    "a claim that is not decided": "by_claim(UNDECIDED, z), s / 2, gaussian_shift(s / 2, v), None",
    "a cheap shift": "true, s / 2, replace(gaussian_shift(s, v), profile=Gauss(s**2 / 4 / v)), None",
    "a shift of one's own": "true, s / 2, Shift(s, Gauss(s**2 / 4 / v), v), None",
    "a coin": "from_equal_points(Guide.OWN), s / 2, no_shift(), Coin(Gauss(s**2 / 4 / v), v)",
}
SAYS = "points at most the first apart are at most the second apart after the maps of a step of both runs"


def report(folder: Path, parts: str, price: str = "s**2", *, owed: bool = False) -> ClaimReport:
    """The report of a claim that lists what it supposes, and what is owed, too, if that is asked for."""
    for supposed in ((), None):
        listed = "" if supposed is not None else f", supposed={_listed(folder, owed)!r}"
        folder.joinpath("mine.py").write_text(MODULE.format(parts=parts, price=price, supposed=listed))
    return decide(read_claims(folder).claims[1])


def _listed(folder: Path, owed: bool) -> tuple[str, ...]:
    claim = read_claims(folder).claims[1]
    try:
        made = derive("mine/theorem", frozenset(claim.assumptions))
    except UnprovedError:
        return ()
    told = {one for end in (made.first, made.second) for one in end.hypotheses if owed or not one.lemma}
    return tuple(sorted(map(str, told)))


@pytest.mark.parametrize("parts", SHOWN.values(), ids=SHOWN)
def test_what_is_shown_proves(tmp_path: Path, parts: str) -> None:
    found = report(tmp_path, parts)
    assert found.verdict is Verdict.PROVED, found.outcomes


@pytest.mark.parametrize("parts", OWED.values(), ids=OWED)
def test_what_is_merely_written_down_does_not(tmp_path: Path, parts: str) -> None:
    found = report(tmp_path, parts, "s**2 / 4")
    assert found.verdict is Verdict.UNDECIDED
    detail = found.outcomes[0].detail
    told = ("assumes what it does not derive", "symmetric", "needs a claim in CLAIMS")
    assert any(one in detail for one in told), detail


def test_it_may_be_a_premise_of_the_theorem(tmp_path: Path) -> None:
    found = report(tmp_path, OWED["half"], "s**2 / 4", owed=True)
    assert found.verdict is Verdict.PROVED
    assert any(SAYS in one for one in found.outcomes[0].premises)


@pytest.mark.parametrize(
    ("key", "verdict"),
    [
        ("chien_li/theorem_3_12", Verdict.UNDECIDED),
        ("mine/nothing", Verdict.UNDECIDED),
        ("mine/step", Verdict.PROVED),
    ],
)
def test_a_lemma_needs_to_hold(tmp_path: Path, key: str, verdict: Verdict) -> None:
    found = report(tmp_path, f"supposing(true, lemmas=('{key}',)), s, gaussian_shift(s, v), None")
    assert found.verdict is verdict, found.outcomes


def test_a_lemma_that_is_changed_is_asked_again(tmp_path: Path) -> None:
    assert report(tmp_path, SHOWN["own lemma"]).verdict is Verdict.PROVED
    half = "by_claim(OWN, z), s / 2, gaussian_shift(s / 2, v), None"
    module = MODULE.replace('.mutant("half", bound=z + s / 2)', "").replace(
        "NormBound(u + w, z + s,", "NormBound(u + w, z + s / 2,"
    )
    tmp_path.joinpath("mine.py").write_text(module.format(parts=half, price="s**2 / 4", supposed=""))
    found = decide(read_claims(tmp_path).claims[1])
    assert found.verdict is Verdict.UNDECIDED
    assert "rests on a claim that does not hold: mine/step" in found.outcomes[0].detail


def test_the_lock_notices_what_is_supposed(tmp_path: Path) -> None:
    locked = report(tmp_path, SHOWN["classes"])
    less = report(tmp_path, SHOWN["own lemma"])
    assert drifts([locked], {locked.key: LockedVerdict.of(locked)}) == ()
    (told,) = drifts([less], {locked.key: LockedVerdict.of(locked)})
    assert "has other premises than when it was locked" in told
