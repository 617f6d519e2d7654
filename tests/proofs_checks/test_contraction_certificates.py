"""Certificates by contraction: they hold near the number of the route, and forged tables and prices are refused."""

import json
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import lastiterate as li
from lastiterate.numeric.bound import candidates, contracted
from lastiterate.numeric.certificates.description import UncertifiedError, dyadic, from_dyadic, seal_nodes
from lastiterate.numeric.certificates.proof import certificate
from lastiterate.numeric.contraction.block import Block
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import gaussian_table, unknown
from lastiterate.proofs_checks.certificates.checker import Refused, _Pair, accepted, check, gaussians

_FULL: dict[str, Any] = {"step_size": 0.1, "noise_std": 1.0, "dataset_size": 5}
_CYCLIC: dict[str, Any] = {"step_size": 0.1, "noise_std": 1.0, "batch_size": 4, "sampling": "cyclic"}
_CASES: dict[str, tuple[li.NoisySGD, li.Assumption, dict[str, float]]] = {
    "expanding": (li.NoisySGD(2000, clip_norm=2.0, diameter=1.0, **_FULL), li.Smooth(1.0), {"delta": 1e-5}),
    "an order": (li.NoisySGD(2000, clip_norm=2.0, diameter=1.0, **_FULL), li.Smooth(1.0), {"order": 8.0}),
    "some steps over": (
        li.NoisySGD(1001, clip_norm=6.25, diameter=3.6, **_FULL),
        li.Convex(1.0),
        {"delta": 1e-5},
    ),
    "concave": (li.NoisySGD(500, clip_norm=4.0, diameter=1.0, **_FULL), li.Holder(1.0, 0.5), {"delta": 1e-6}),
    "few blocks": (li.NoisySGD(7, clip_norm=6.25, diameter=4.0, **_FULL), li.Convex(1.0), {"delta": 1e-5}),
    "cyclic": (
        li.NoisySGD(103, clip_norm=10.0, dataset_size=20, diameter=1.0, **_CYCLIC),
        li.Convex(1.0),
        {"delta": 1e-5},
    ),
    "cyclic, an order": (
        li.NoisySGD(503, clip_norm=4.0, dataset_size=40, diameter=2.0, **_CYCLIC),
        li.Convex(1.0),
        {"order": 3.0},
    ),
}


def _candidate(
    run: li.NoisySGD, assumption: li.Assumption, order: float | None, delta: float | None
) -> TableCandidate:
    found = [one for one in candidates(run, assumption, order, delta) if not isinstance(one, TableCandidate)]
    (made,) = contracted(run, assumption, order, delta, found)
    assert isinstance(made, TableCandidate)
    return made


@lru_cache
def _made(case: str) -> tuple[TableCandidate, dict[str, Any]]:
    run, assumption, ask = _CASES[case]
    found = _candidate(run, assumption, ask.get("order"), ask.get("delta"))
    text = json.dumps(certificate(run, assumption, ask.get("order"), ask.get("delta"), found))
    return found, json.loads(text)


@pytest.mark.parametrize("case", _CASES)
def test_a_table_holds_and_says_nearly_what_the_route_says(case: str) -> None:
    found, made = _made(case)
    ask = _CASES[case][2]
    number, value = found.value(ask.get("order"), ask.get("delta")), from_dyadic(made["claim"]["value"])
    assert made["proof"]["rule"] == ("from table" if "delta" in ask else "moments")
    assert made["proof"]["of"]["round"] == (case != "few blocks")
    assert number * 0.999 <= value <= number * 1.015
    text = json.dumps(made)
    assert str(value) in check(text)
    assert value < found.other.value(ask.get("order"), ask.get("delta"))


def test_a_number_is_not_certified_by_the_route_beside_it() -> None:
    """Where a table says less than the other route its own claim is made; where it says more, that of the other."""
    run, assumption, _ = _CASES["expanding"]
    found = _candidate(run, assumption, None, 1e-5)
    worse = TableCandidate.of(run, unknown(found.table.g), 2000, found.other)
    assert certificate(run, assumption, None, 1e-5, worse)["proof"]["rule"] == "from table"
    assert certificate(run, assumption, None, None, worse)["proof"]["rule"] == "straight"


def test_ratios_whose_quotient_no_float_holds() -> None:
    g = np.exp(np.linspace(0, 600, 60))
    found = Block(g, gaussian_table(1.0), gaussian_table(3.0)).after(unknown(g))
    assert found.ahead[0] == pytest.approx(0.866386, abs=1e-6)
    assert 0 < found.ahead[-1] < 1e-190


def test_batches_that_are_random_have_none() -> None:
    run = li.NoisySGD(30, 0.1, 1.0, 2.0, 50, 5, "poisson", 1.0)
    other = candidates(run, li.Convex(1.0), None, 1e-5)[0]
    with pytest.raises(UncertifiedError, match="full or cyclic"):
        certificate(
            run, li.Convex(1.0), None, 1e-5, TableCandidate.of(run, unknown(np.array([1.0, 2.0])), 1, other)
        )


Forgery = dict[tuple[Any, ...], Any]


def _forged(made: dict[str, Any], forgery: Forgery) -> str:
    altered = json.loads(json.dumps(made))
    for (*way, last), value in forgery.items():
        place = altered
        for key in way:
            place = place[key]
        place[last] = value(place[last]) if callable(value) else value
    return accepted(seal_nodes(altered))


def _times(factor: float) -> Any:
    return lambda number: dyadic(from_dyadic(number) * factor)


def _less(price: dict[str, Any]) -> dict[str, Any]:
    """A price that is stated 1 per cent too low."""
    return price | {"cost": dyadic(from_dyadic(price["cost"]) * 0.98)}


_OF = ("proof", "of")
_LAST = (*_OF, "blocks", -1)
_FORGERIES: dict[str, Forgery] = {
    "a table 1 per cent lower": {
        (*_LAST, "table", "masses"): lambda masses: [_times(0.99)(one) for one in masses]
    },
    "a claim 1 per cent lower": {("claim", "value"): _times(0.99)},
    "a near price 1 per cent lower": {(*_LAST, "near"): _less},
    "a far price 1 per cent lower": {(*_LAST, "far"): _less},
    "a near price that is not there": {(*_LAST, "near"): None},
    "no thresholds": {(*_LAST, "thresholds"): None},
    "thresholds for fewer vertices": {(*_LAST, "thresholds"): lambda pairs: pairs[1:]},
    "thresholds beyond the ratios": {(*_LAST, "thresholds"): lambda pairs: [[10**6, 10**6 + 1] for _ in pairs]},
    "thresholds the other way round": {(*_LAST, "thresholds"): lambda pairs: [[b, a] for a, b in pairs]},
    "thresholds of another vertex": {(*_LAST, "thresholds"): lambda pairs: pairs[::-1]},
    "thresholds below 0": {(*_LAST, "thresholds"): lambda pairs: [[-1, b] for _, b in pairs]},
    "a wider domain": {("run", "diameter"): _times(1.01)},
    "no domain": {("run", "diameter"): None},
    "clip norm": {("run", "clip_norm"): _times(1.01)},
    "other steps": {(*_LAST, "steps"): lambda steps: steps + 1},
    "steps that are more than one block": {(*_LAST, "times"): 2},
    "random batches": {("run", "scheme"): "without_replacement"},
    "shuffled batches": {("run", "scheme"): "shuffled"},
    "a vertex twice": {(*_LAST, "table", "nodes"): lambda nodes: [nodes[0], *nodes[:-1]]},
    "a vertex below 1": {(*_LAST, "table", "nodes"): lambda nodes: [-nodes[0], *nodes[1:]]},
    "a mass less": {(*_LAST, "table", "masses"): lambda masses: masses[:-1]},
    "vertices closer together": {(*_OF, "spacing"): _times(0.99)},
    "masses above 1": {(*_LAST, "table", "masses", 0): [1, 0]},
}


@pytest.mark.parametrize("case", ["expanding", "cyclic", "few blocks"])
@pytest.mark.parametrize("forgery", _FORGERIES)
def test_what_is_forged_is_refused(case: str, forgery: str) -> None:
    (_, made), ways = _made(case), dict(_FORGERIES[forgery])
    with pytest.raises(Refused):
        raise AssertionError(f"{forgery} is accepted: {_forged(made, ways)}")


def test_steps_that_are_left_over_have_their_price() -> None:
    """1001 steps in blocks of 2 or 3: what is left must cost no more than the table, with a path of its own."""
    _, made = _made("some steps over")
    assert made["proof"]["of"]["rest"] is not None
    with pytest.raises(Refused):
        _forged(made, {(*_OF, "rest"): None})
    with pytest.raises(Refused):
        _forged(made, {(*_OF, "rest"): _less})


def test_a_chain_must_begin_where_the_run_begins() -> None:
    """Without its first block the table of the second one would have to bear any two points."""
    _, made = _made("few blocks")
    assert len(made["proof"]["of"]["blocks"]) > 2
    with pytest.raises(Refused):
        _forged(made, {(*_OF, "blocks"): lambda blocks: blocks[1:]})
    with pytest.raises(Refused):
        _forged(made, {(*_OF, "round"): True})


def test_a_far_price_may_track_from_the_diameter_only() -> None:
    """A distance that both runs keep without a projection is no far price: it must not start from one point."""
    _, made = _made("expanding")
    near = made["proof"]["of"]["blocks"][0]["near"]
    for price in (near, near | {"rule": "path", "start": 0, "since": 0, "shifts": []}):
        with pytest.raises(Refused, match="far"):
            _forged(made, {(*_OF, "blocks", 0, "far"): price})


def test_a_tail_of_another_order_is_refused() -> None:
    _, made = _made("an order")
    for forgery in (
        {("proof", "order"): _times(0.5)},
        {("proof", "order"): dyadic(8.0)},
        {("proof", "tail", "rdp"): _times(0.99)},
        {("proof", "rdp"): _times(0.999)},
        {("claim", "at"): dyadic(8.1)},
        {("proof", "cut"): 0},
    ):
        with pytest.raises(Refused):
            raise AssertionError(f"{forgery} is accepted: {_forged(made, forgery)}")


def test_any_thresholds_give_a_bound() -> None:
    """One block of Gaussians after two laws on three ratios: no pair of thresholds is below a true adversary."""
    with ctx.workprec(200):
        h, k, mass = arb(1) / 2, [-1, 0, 1], arb(1) / 5
        g = h.exp()
        masses = [mass * g, 1 - mass - mass * g, mass]
        before = _Pair(h, k, masses, masses[::-1], [arb(0), arb(0)])
        near, far = arb(1) / 4, arb(2)
        for place in range(4):
            bounds = [
                before.after(
                    place, (low, high), lambda j: gaussians(near, (h * j).exp()), lambda t: gaussians(far, t)
                )
                for low in range(4)
                for high in range(max(low, 1), 5)
            ]
            # Points 0 and 2 - 1/4 on a line: P and Q have these masses there, and then noise 1 and a step of 1/4.
            least = _adversary(before, (h * place).exp(), near, far)
            assert all(one >= least for one in bounds)


def _adversary(pair: _Pair, t: arb, near: arb, far: arb) -> arb:
    """P(S) - t Q(S) for half-lines S beyond the best of many points, where P moves its atoms by ``near``."""
    found = arb(0)
    spots = [-(far - near), arb(0), far - near]  # the three ratios, by height
    for cut in range(-40, 60):
        x = arb(cut) / 10
        p = sum(
            m * ((x - spot / 2 - near) / arb(2).sqrt()).erfc() / 2
            for m, spot in zip(pair.p, spots, strict=True)
        )
        q = sum(m * ((x - spot / 2) / arb(2).sqrt()).erfc() / 2 for m, spot in zip(pair.q, spots, strict=True))
        found = found.max(p - t * q)
    return found
