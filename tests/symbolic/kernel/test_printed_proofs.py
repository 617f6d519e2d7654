"""The proofs that the papers print stop at their first false line, and go on where it is granted."""

from dataclasses import replace

import pytest

from lastiterate.proofs_checks.engines import derivation
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.checks import Printed
from lastiterate.symbolic.claim import Role
from lastiterate.symbolic.derivations import DERIVATIONS, printed
from lastiterate.symbolic.derivations.printed import PRINTED
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.ledger import claims
from lastiterate.symbolic.notation import T


def _given(step: str, condition: str) -> str:
    return f"rule step, step {step}: given the shares Z' of the noise of all steps: {condition} is false"


STOPS = {
    "chien_li/theorem_3_1, convex": _given("j + tau", "tau + w - 1 <= j + tau"),
    "chien_li/theorem_3_1, strongly convex": _given("j + tau", "tau + w - 1 <= j + tau"),
    "chien_li/theorem_3_1, smooth": _given("j + tau", "tau + w - 1 <= j + tau"),
    "chien_li/theorem_3_7": _given("j + t + tau", "t + tau + w - 1 <= j + t + tau"),
    "chien_li/theorem_3_12": _given("j + tau", "tau + w - 1 <= j + tau"),
    "chien_li/theorem_3_12, given the share of a step alone": "A mean over the batch",
    "chien_li/theorem_a_1": _given("j + tau", "t <= j + tau"),
    "chien_li/corollary_a_3": _given("j + tau", "t <= j + tau"),
    "altschuler_talwar/theorem_3_1": _given("j + tau", "tau + w - 1 <= j + tau"),
    "altschuler_talwar/theorem_3_1, given the share of a step alone": "A mean over the batch",
    "altschuler_talwar/theorem_5_1": _given("j + tau", "tau + w - 1 <= j + tau"),
    "liang/theorem_3_3": "Exchanging the runs",
    "liang/theorem_3_3, from the other order": "Exchanging the runs",
    "liang/theorem_3_4": "rule step, step t: 0 >= -D*(L*eta + 1) + D*(L*eta*k/b + 1) is false",
    "liang/theorem_3_4, batches of b samples": "Exchanging the runs",
    "d2p2/theorem_1": "rule step, step 0: r*s <= s is false",
}


def test_printed_proofs_stop_at_the_line_that_is_false() -> None:
    every = [(check, claim) for claim in claims() for check in (*claim.checks, *claim.mutants)]
    checks = [(check, claim) for check, claim in every if isinstance(check, Printed)]
    assert {claim.role for _, claim in checks} == {Role.STEP}  # a statement may hold where its proof does not
    stopped = {check.derivation: derivation.decide(check, claim.assumptions) for check, claim in checks}
    assert stopped.keys() == PRINTED.keys() == STOPS.keys()
    assert {one.status for one in stopped.values()} == {Status.REFUTED}
    assert {
        key: one.detail for key, one in stopped.items() if f"it stops: {STOPS[key]}" not in one.detail
    } == {}


@pytest.mark.parametrize("key", [key for key in STOPS if "tau" in STOPS[key]])
def test_without_that_line_a_printed_proof_goes_on(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were Z' independent of the states, the next thing asked for would be what Z' costs, which is no more in scope."""
    free = replace(printed.all_shares(T), follows=False)
    monkeypatch.setattr(printed, "all_shares", lambda _: free)
    claim = next(one for one in claims() for check in one.checks if getattr(check, "derivation", "") == key)
    with pytest.raises(UnprovedError, match=r"A guarantee needs|A mean over the batch"):
        PRINTED[key](Kernel(prove).under(*claim.assumptions))


def test_a_proof_as_printed_holds_where_every_line_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "PRINTED", {"ours": DERIVATIONS["full_batch/composition"]})
    assert derivation.decide(Printed("ours"), ()).status is Status.HELD
