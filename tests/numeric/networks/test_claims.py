"""The formulas of the ledger's claims on networks and the code that computes with them give the same numbers."""

from typing import Any

import pytest

from lastiterate.numeric.losses.activations import FUNCTIONS
from lastiterate.numeric.rounding import exact, precision
from lastiterate.symbolic.notation import h, xi
from lastiterate.symbolic.ours.networks import CLAIMS

_CHECKS: dict[str, Any] = {check.name: check for claim in CLAIMS for check in claim.checks}


@pytest.mark.parametrize("at", [-2.5, 0.3, 1.7])
def test_activations_are_those_of_the_claims(at: float) -> None:
    with precision():
        gelu, tanh = (FUNCTIONS[name].derivatives(exact(at), 4) for name in ("gelu", "tanh"))
        value = float(exact(at).tanh())
    for order, marks in ((2, "''"), (3, "'''")):
        stated = float(_CHECKS[f"GELU{marks}"].right.xreplace({xi: at}).evalf())
        assert stated == pytest.approx(float(gelu[order]), rel=1e-12)
    assert float(_CHECKS["tanh''"].right.xreplace({h: at}).evalf()) == pytest.approx(float(tanh[2]), rel=1e-12)
    assert float(_CHECKS["tanh'''"].right.xreplace({h: at}).evalf()) == pytest.approx(float(tanh[3]), rel=1e-12)
    assert float(tanh[1]) == pytest.approx(1 - value**2, rel=1e-12)
