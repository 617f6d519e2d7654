"""Bounds returned by `bound`, tested with the independent checker of certificates.

The checker, which shares no code with `bound`, recomputes a bound from the choices in its certificate. The
bound is refuted if its certificate is refused or claims a larger bound.
"""

import json
from typing import Any, Final

from sympy.logic.boolalg import Boolean

from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.certificates.description import dyadic, from_dyadic, seal_nodes, write_loss, write_run
from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.attacks.record import Assumed, assumption_at
from lastiterate.proofs_checks.attacks.settings import certified, scheduled_run
from lastiterate.proofs_checks.certificates.checker import Refused, accepted
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided, without_near_misses
from lastiterate.proofs_checks.engines.attack import altered_setting, split_assumptions
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Certified

_ROUNDING: Final = 1e-8
"""Relative amount by which a certificate may exceed the bound, because its paths are written as floats."""


def decide(check: Certified, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Compute `bound` at the settings that meet the assumptions, and check the certificates."""
    for name, got, known in (("scheme", check.scheme, SCHEMES), ("losses", check.losses, tuple(Assumed))):
        if got not in known:
            raise InputError(
                f"{name} must be one of {', '.join(known)}, got {name}={got}; {suggestion(got, known)}"
            )
    assumed, (kind, letter) = Assumed(check.losses), ("delta", "delta") if check.delta else ("order", "alpha")
    admits, unspoken = split_assumptions(assumptions, assumed)
    alter = altered_setting(check.altered, assumed)
    made, asked = 0, 0
    for setting in (one for one in certified() if letter in one and admits(one)):
        run, seen = scheduled_run(setting, check.scheme), alter(setting)
        losses = assumption_at(setting, assumed)
        try:
            losses.expansion(run, 0, differs=True)
        except InputError:  # a step size that is not allowed
            continue
        found = bound_by_shifts(
            scheduled_run(seen, check.scheme), assumption_at(seen, assumed), **{kind: seen[letter]}
        )
        asked += 1
        try:
            certificate = json.loads(json.dumps(found.certificate()))
        except InputError:  # its route has no certificate
            continue
        made += 1
        # The certificate is for this run, even if `bound` was given an altered one.
        certificate["claim"]["at"] = dyadic(setting[letter])
        certificate |= {"run": write_run(run), "class": write_loss(losses)}
        claimed, why = from_dyadic(certificate["claim"]["value"]), _refused(dict(seal_nodes(certificate)))
        if claimed > found.epsilon * (1 + _ROUNDING):
            why = why or f"the certificate claims {claimed!r}"
        if why and unspoken:
            return undecided(
                check,
                f"a certificate fails at a setting where {', '.join(map(str, unspoken))} could not be tested",
            )
        if why:
            at = {key: repr(number) for key, number in setting.items()}
            return refuted(check, Counterexample(at, "what follows", "<=", repr(found.epsilon), why))
    if not made:
        raise NoPointError(
            f"no setting has a certificate for {check.scheme} batches and {check.losses} losses."
        )
    detail = f"{made} certificates are accepted; {asked - made} bounds have no certificate"
    return held(check, Grade.NOT_REFUTED, detail, f"{made} certificates")


def _refused(certificate: dict[str, Any]) -> str:
    try:
        accepted(certificate)
    except Refused as refused:
        return str(refused)
    return ""


near_misses = without_near_misses  # the mutants of the check alter the run
