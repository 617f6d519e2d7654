"""Suppositions of derivations, held against those that the checks of a claim list."""

from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.derivation import derive, track, unmeetable
from lastiterate.symbolic.checks import Derived, RenyiBound, Tracked
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.derivations import DERIVATIONS, OF_PACKAGE, TRACKED
from lastiterate.symbolic.kernel.judgement import End, Law, Span
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.ledger import ORDER, claims, naming


def _ends(check: Derived | RenyiBound | Tracked, numbers: frozenset[Boolean]) -> tuple[Span, ...]:
    """Judgements that a derivation reaches: one order of a distance, both of a divergence."""
    if isinstance(check, Tracked):
        return (track(check.derivation, numbers),)
    made = derive(check.derivation, numbers)
    return made.first, made.second


def _is_of_ledger(claim: Claim) -> bool:
    """Tell whether a claim is of the ledger of the package."""
    paper = claim.key.partition("/")[0]
    return claim in naming(claim.key) or (paper in ORDER and claim in claims(paper))


def unlisted(claim: Claim) -> str:
    """Reason why a claim without a statement stays open, or "": its checks must list what their derivations suppose.

    For claims of the ledger `lastiterate show` and the lock file tell them. What nothing meets is no supposition.
    """
    for check in claim.checks:
        if not isinstance(check, Derived | RenyiBound | Tracked):
            continue
        table = TRACKED if isinstance(check, Tracked) else DERIVATIONS
        of_package = table.get(check.derivation) is OF_PACKAGE.get(check.derivation, claim)
        if of_package and _is_of_ledger(claim):
            continue
        given = frozenset((*claim.assumptions, *getattr(check, "given", ())))
        numbers = frozenset(one for one in given if not one.has(largest_order))
        ends = _ends(check, numbers)
        supposed = {one for end in ends for one in end.hypotheses}
        missing = sorted({str(one) for one in supposed}.difference(check.supposed))
        if missing:
            return f"all of it: its derivation supposes what its check does not list; say supposed={tuple(missing)}"
        why = unmeetable(given.union(part for one in supposed if type(one) in {Law, End} for part in one.constants))
        if why:
            return f"all of it: nothing meets what it supposes, {why}"
    return ""
