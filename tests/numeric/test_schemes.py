"""Every scheme answers for itself: what docs/extend/scheme.md lists is there for each, so that nothing is left out."""

import json
from math import isfinite

import pytest

import lastiterate as li
from lastiterate.numeric.bound import _ROUTES
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.certificates.checker import check
from lastiterate.symbolic import ledger

pytestmark = pytest.mark.parametrize("name", SCHEMES)


def _run(name: str) -> li.NoisySGD:
    return li.NoisySGD(6, 0.1, 0.5, 1.0, 12, None if name == "full" else 3, name, diameter=1.0)


def test_its_facts_are_stated(name: str) -> None:
    run = _run(name)
    assert run.scheme is SCHEMES[name]
    assert run.adjacency == run.scheme.adjacency
    assert "{" not in run.scheme.statement.format(run=run)
    assert not run.scheme.claim or run.scheme.claim in {claim.key for claim in ledger.claims()}
    assert not run.scheme.refusal(run)


def test_it_has_bounds_by_both_ways_from_above_and_below_and_a_certificate(name: str) -> None:
    run, losses = _run(name), li.Convex(1.0)
    assert name in _ROUTES
    found = li.bound(run, losses, order=2.0)
    assert 0 < li.lower_bound(run, losses, order=2.0).value <= found.epsilon
    assert isfinite(found.epsilon)
    certificate = found.certificate(weaker=True)
    assert check(json.dumps(certificate))


def test_its_batches_are_drawn(name: str) -> None:
    pytest.importorskip("torch")
    from lastiterate.runtime.random_streams import Stream
    from lastiterate.runtime.training.batches import draw_batches

    drawn = [batch.tolist() for batch in draw_batches(_run(name), Stream(0, 0))]
    assert len(drawn) == 6
    assert not SCHEMES[name].fixed_size or {len(one) for one in drawn} == {_run(name).batch}
