"""Certificates: those of random runs hold, altered ones are refused, and the checker stands alone."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from flint import acb, arb

import lastiterate as li
from lastiterate.__main__ import cli
from lastiterate.numeric.accounting.batches import rate
from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair, SampledSteps, step_rdp
from lastiterate.numeric.bound import by_shifts
from lastiterate.numeric.certificates import proof as proofs
from lastiterate.numeric.certificates.description import (
    dyadic,
    seal_nodes,
    write_run,
)
from lastiterate.numeric.certificates.proof import write_lattices
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.certificates import checker
from lastiterate.proofs_checks.certificates.checker import Refused, _Loss, _Run, accepted, check

FEW = [10, pytest.param(500, marks=(pytest.mark.nightly, pytest.mark.timeout(7200)))]
FULL: dict[str, Any] = {
    "step_size": 0.1,
    "noise_std": 1.0,
    "clip_norm": 2.0,
    "dataset_size": 5,
    "diameter": 1.0,
}
SAMPLED: dict[str, Any] = {
    "step_size": 0.1,
    "noise_std": 0.02,
    "clip_norm": 1.0,
    "dataset_size": 1000,
    "batch_size": 20,
    "diameter": 0.02,
}


def _drawn(rng: np.random.Generator) -> tuple[li.Bound, dict[str, Any]]:
    """A bound of a random run whose window is neither empty nor all of the run, mostly, and what was asked for."""

    def spread(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    scheme = str(rng.choice(list(SCHEMES)))
    b, batches = int(spread(1, 30)), 1 if scheme == "full" else int(rng.integers(2, 8))
    steps, eta, K = int(spread(1, 80)), spread(0.01, 0.5), spread(0.3, 5)
    s = 2 * eta * K / b
    D = inf if rng.random() < 0.15 else s * spread(0.3, 40)
    varied = rng.random() < 0.25
    etas = [eta * float(f) for f in rng.uniform(0.8, 1.2, steps)] if varied else eta
    noise = spread(0.02, 2) if scheme not in ("without_replacement", "poisson") else s * spread(0.3, 6)
    run = li.NoisySGD(steps, etas, noise, K, b * batches, None if scheme == "full" else b, scheme, D)  # type: ignore[arg-type]
    L, reach = float(rng.uniform(0.05, 1.6)) / eta, min(D, 10 * s)
    smooth, holder = li.Smooth(spread(0.01, 3) * K / reach), li.Holder(spread(0.01, 3) * K / reach**0.5, 0.5)
    table = li.Tabulated((reach / 3, reach), (0.2 * K, K))
    kinds: list[li.Assumption] = [
        li.Clipped(),
        smooth,
        holder,
        li.Convex(L),
        li.StronglyConvex(L, L * spread(1e-2, 1)),
    ]
    kinds += [li.Minimum(smooth, holder), li.Blocks(smooth, holder), table, li.Sum(smooth, table)]
    ask: dict[str, Any] = {"order": spread(1.2, 40)} if rng.random() < 0.6 else {"delta": spread(1e-9, 1e-2)}
    if not run.scheme.random and rng.random() < 0.3:
        ask = {}
    return li.bound(run, kinds[int(rng.integers(len(kinds)))], **ask), ask


def _certified(seed: int, count: int) -> Iterator[tuple[li.Bound, dict[str, Any]]]:
    """Bounds with their certificates; by contraction they are a little larger, or those of other routes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        found, _ = _drawn(rng)
        yield found, found.certificate(weaker=found.route == "contraction" or found.run.sampling == "shuffled")


def _value(certificate: dict[str, Any]) -> float:
    m, e = certificate["claim"]["value"]
    return float(int(m) * 2.0**e)


@pytest.mark.parametrize("count", FEW)
def test_certificates_of_random_runs_hold_and_claim_the_bound(count: int) -> None:
    for found, certificate in _certified(7, count):
        assert check(json.dumps(certificate))
        number = found.mu if found.order is None and found.delta is None else found.epsilon
        assert number is not None
        contracted = found.route == "contraction" or found.run.sampling == "shuffled"
        assert number * (0.99 if contracted else 1) <= _value(certificate)
        assert contracted or _value(certificate) <= number * (1 + 1e-9)


@pytest.mark.parametrize("count", FEW)
def test_a_certificate_altered_in_one_digit_is_refused_where_it_was_altered(count: int) -> None:
    rng = np.random.default_rng(11)
    for _, certificate in _certified(8, count):
        text = json.dumps(certificate)
        digits = [match.start() for match in re.finditer(r"\d", text)]
        place = digits[int(rng.integers(len(digits)))]
        other = str((int(text[place]) + int(rng.integers(1, 10))) % 10)
        altered = text[:place] + other + text[place + 1 :]
        with pytest.raises(Refused):
            check(altered)


@pytest.mark.parametrize("count", FEW)
def test_a_lie_with_new_digests_is_refused_by_arithmetic(count: int) -> None:
    """A claim below what its proof gives, a stated number that is less, a run with less noise."""
    for _, certificate in _certified(9, count):
        for lie in ("claim", "stated", "noise"):
            forged = json.loads(json.dumps(certificate))
            proof = forged["proof"]
            if lie == "claim":
                if not forged["claim"]["value"][0]:
                    continue
                forged["claim"]["value"] = _scaled(forged["claim"]["value"], 0.999)
            elif lie == "stated":
                while isinstance(proof.get("of"), dict):
                    proof = proof["of"]
                proof = proof["of"][-1] if "of" in proof else proof
                key = next((key for key in ("cost", "rdp") if key in proof), None)
                if key is None or not proof[key][0]:  # of privacy losses nothing but the claim is stated
                    continue
                proof[key] = dyadic(_least(forged, proof, key) * 0.999)
            else:
                rows = forged["run"]["noise_std"]
                rows[-1] = [*_scaled(rows[-1][:2], 0.99), rows[-1][2]]
            with pytest.raises(Refused):
                accepted(seal_nodes(forged))


def _least(certificate: dict[str, Any], node: dict[str, Any], key: str) -> float:
    """The number that a rule gives, which may be less than what the node states: lists serve more than one way."""
    stated, node[key] = node[key], [0, 0]
    with pytest.raises(Refused) as refused:
        accepted(seal_nodes(certificate))
    node[key] = stated
    found = re.search(r"its rule gives \[?([0-9.e+-]+)", str(refused.value))
    assert found is not None
    return float(found[1])


def _scaled(number: list[int], factor: float) -> list[int]:
    m, e = number
    return [int(m * 2**60 * factor), e - 60]


def _made(run: li.NoisySGD, assumption: li.Assumption, **ask: float) -> dict[str, Any]:
    found = _uncontracted(run, assumption, **ask)
    made: dict[str, Any] = json.loads(
        json.dumps(proofs.certificate(run, assumption, ask.get("order"), ask.get("delta"), found))
    )
    return made


def _uncontracted(run: li.NoisySGD, assumption: li.Assumption, **ask: float) -> Candidate:
    """The best bound without contraction."""
    order, delta = ask.get("order"), ask.get("delta")
    found = [one for one in by_shifts(run, assumption, order, delta) if one.route != "contraction"]
    return min(found, key=lambda one: one.value(order, delta))


def test_a_run_that_is_longer_is_another_run() -> None:
    certificate = _made(li.NoisySGD(steps=10, **FULL), li.Smooth(1.0))
    assert accepted(certificate)
    certificate["run"]["steps"] = 9
    for key in ("step_size", "noise_std"):
        certificate["run"][key][0][2] = 9
    assert accepted(seal_nodes(certificate)), "fewer steps cost no more"
    certificate["run"]["steps"] = 11
    for key in ("step_size", "noise_std"):
        certificate["run"][key][0][2] = 11
    with pytest.raises(Refused, match=r"certificate: proof: cost is"):
        accepted(seal_nodes(certificate))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda c: c["proof"]["shifts"].pop(), "rows need one number for each of"),
        (lambda c: c["proof"]["shifts"].append([1, -9, 1]), "rows need one number for each of"),
        (lambda c: c["proof"].update(since=c["proof"]["start"] + 1), "not a whole number"),
        (lambda c: c["run"].update(diameter=None), "nothing bounds the distance"),
        (lambda c: c["run"].update(scheme="cyclic"), "gives no mu for these batches"),
        (lambda c: c["class"].update(name="clipped"), "cost is"),
        (lambda c: c["class"].update(L=[3, 0]), "cost is"),
        (lambda c: c["proof"]["shifts"][0].__setitem__(0, 1), "cost is"),
        (lambda c: c["proof"].pop("start"), "KeyError 'start'"),
        (lambda c: c.update(claim=c["claim"] | {"value": [1, 0.5]}), "not a whole number"),
        (lambda c: c["claim"].update(quantity="gdb"), "at"),
    ],
)
def test_choices_that_do_not_fit_are_refused(change: Any, why: str) -> None:
    certificate = _made(li.NoisySGD(steps=300, **FULL), li.Holder(1.0, 0.6))
    assert certificate["proof"]["rule"] == "path"
    change(certificate)
    with pytest.raises(Refused, match=why):
        accepted(seal_nodes(certificate))


def _changed(certificate: dict[str, Any], *ways: tuple[tuple[Any, ...], Any]) -> dict[str, Any]:
    """The certificate with other values at these ways, sealed anew."""
    forged = json.loads(json.dumps(certificate))
    for way, value in ways:
        place = forged
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = value
    return seal_nodes(forged)  # type: ignore[no-any-return]


@pytest.mark.parametrize("assumption", [li.Smooth(0.05), li.Convex(1.0)])
def test_random_batches_that_are_forged_are_refused(assumption: li.Assumption) -> None:
    certificate = _made(li.NoisySGD(steps=3000, sampling="poisson", **SAMPLED), assumption, order=4.0)
    assert accepted(certificate)
    assert certificate["proof"]["rule"] == "ranges"
    first: tuple[Any, ...] = ("proof", "of", 0)
    part = certificate["proof"]["of"][0]
    forgeries: list[list[tuple[tuple[Any, ...], Any]]] = [
        [((*first, "chance"), [0, 0])],
        [((*first, "sizes", "high"), part["sizes"]["high"] - 1)],
        [((*first, "prices", 0, "rdp"), _scaled(part["prices"][0]["rdp"], 0.99))],
        [((*first, "prices", 0, "multiplier"), _scaled(part["prices"][0]["multiplier"], 0.99))],
        [((*first, "prices", -1, "multiplier"), _scaled(part["prices"][-1]["multiplier"], 1.05))],
        [((*first, "kinds"), part["kinds"][1:])],
        [((*first, "start"), part["start"] + 1)],
        [((*first, "since"), 0)],
        [(("proof", "of"), [part])],
        [(("run", "scheme"), "without_replacement"), (("run", "adjacency"), "replace")],
        [(("run", "dataset_size"), 990)],
        [(("claim", "at"), [17, -2])],
    ]
    for forgery in forgeries:
        with pytest.raises(Refused):
            accepted(_changed(certificate, *forgery))


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
def test_privacy_losses_that_are_forged_are_refused(sampling: Any) -> None:
    run = li.NoisySGD(steps=1000, sampling=sampling, **SAMPLED | {"diameter": 0.002})
    certificate = _made(run, li.Convex(1.0), delta=1e-5)
    assert accepted(certificate)
    proof = certificate["proof"]
    assert (proof["rule"], proof["of"]["rule"]) == ("from losses", "window")
    assert len(proof["lattices"]) == (2 if sampling == "poisson" else 1)
    nodes = proof["lattices"][0]["nodes"]
    of: tuple[Any, ...] = ("proof", "of")
    forgeries: list[list[tuple[tuple[Any, ...], Any]]] = [
        [(("claim", "value"), _scaled(certificate["claim"]["value"], 0.999))],
        [((*of, "prices", -1, "multiplier"), _scaled(proof["of"]["prices"][-1]["multiplier"], 1.01))],
        [((*of, "prices", 0, "multiplier"), [0, 0])],
        [((*of, "cost"), _scaled(proof["of"]["cost"], 0.999))],
        [((*of, "kinds"), proof["of"]["kinds"][1:])],
        [((*of, "start"), proof["of"]["start"] + 1)],
        [(("proof", "lattices"), proof["lattices"][1:])],
        [(("proof", "lattices", 0, "nodes"), nodes[1:])],
        [(("proof", "lattices", 0, "nodes", 0), nodes[0][::-1])],
        [(("proof", "lattices", 0, "nodes", 0), nodes[0][: len(nodes[0]) // 2])],
        [(("proof", "lattices", 0, "nodes", 0), [True])],
        [(("proof", "lattices", 0, "spacing"), _scaled(proof["lattices"][0]["spacing"], 0.5))],
        [(("proof", "lattices", 0, "spacing"), [0, 0])],
        [(("proof", "trim"), 2 ** proof["bits"])],
        [(("proof", "bits"), 8), (("proof", "trim"), 0)],
        [(("proof", "of"), {"rule": "composition", "cost": proof["of"]["cost"]})],
    ]
    for forgery in forgeries if sampling == "poisson" else forgeries[:1]:
        with pytest.raises(Refused):
            accepted(_changed(certificate, *forgery))


@pytest.mark.parametrize("steps", [1, 7, 64])
def test_privacy_losses_of_whole_batches_are_those_of_a_gaussian(steps: int) -> None:
    """Of a Gaussian the answer is known: chords give a little more, and never less."""
    run = li.NoisySGD(steps, 0.5, 1.0, 1.0, 8, 8, "poisson")
    pair = DominatingPair(0.0, (SampledSteps(1.0, 16.0, "add_remove", steps),))
    with precision():
        epsilon, choices = write_lattices(pair, 1e-6)
    exact = gdp_epsilon(steps**0.5 / 16, 1e-6)
    of = {
        "rule": "window",
        "start": 0,
        "since": 0,
        "prices": [{"multiplier": dyadic(16.0)}],
        "kinds": [[0, steps]],
    }
    of |= {"sizes": {"low": 7, "high": 7}, "chance": dyadic(0.0), "shifts": "proportional", "cost": dyadic(0.0)}
    body: dict[str, Any] = {
        "format": "lastiterate certificate 1",
        "run": write_run(run),
        "class": {"name": "clipped"},
        "claim": {"quantity": "dp", "at": dyadic(1e-6), "value": dyadic(epsilon)},
        "proof": {"rule": "from losses", "of": of} | choices,
    }
    assert exact <= epsilon <= exact * 1.001
    assert accepted(seal_nodes(body))
    body["claim"]["value"] = dyadic(exact * 0.99999)
    with pytest.raises(Refused, match="exceeds delta"):
        accepted(seal_nodes(body))


@pytest.mark.parametrize("side", ["remove", "add", "replace"])
def test_chords_are_no_less_than_the_profile(side: str) -> None:
    """Masses at nodes that are drawn have a profile above that of the step, and sums never fall short of it."""
    rng = np.random.default_rng(3)
    with precision():
        for _ in range(20):
            q, g = arb(float(rng.uniform(0.01, 0.9))), arb(float(rng.uniform(0.1, 3)))
            nodes = sorted({int(k) for k in rng.integers(-60, 60, int(rng.integers(1, 12)))})
            bits = int(rng.integers(8, 60))
            first, masses, lost = checker.chords(nodes, arb(0.0625), bits, (side, q, g))
            more = checker.added(
                (first, masses, lost), (0, [2**bits], 0), bits, int(rng.integers(0, 2**bits // 8))
            )
            for law in ((first, masses, lost), more):
                for k in range(-64, 65, 8):
                    t = (arb(0.0625) * k).exp()
                    over = [
                        mass * (1 - t / (arb(0.0625) * (law[0] + j)).exp()) for j, mass in enumerate(law[1])
                    ]
                    found = sum((one for one in over if one > 0), arb(law[2])) / 2**bits
                    assert found >= checker.profile(side, q, g, t) - arb(2) ** -200


def test_blocks_that_are_forged_are_refused() -> None:
    certificate = _made(
        li.NoisySGD(steps=300, sampling="poisson", **SAMPLED), li.StronglyConvex(1.0, 0.5), order=4.0
    )
    blocks = certificate["proof"]["of"][0]["blocks"]
    assert accepted(certificate)
    for key, value in [
        ("sum", blocks["sum"] + 20),
        ("largest", blocks["largest"] // 4),
        ("chance", [1, -200]),
        ("width", blocks["width"] * 2),
    ]:
        with pytest.raises(Refused):
            accepted(_changed(certificate, (("proof", "of", 0, "blocks", key), value)))


def test_blocks_need_the_sizes_of_poisson_batches() -> None:
    """Batches of two of three samples never hold one of the others alone, however likely Binomial sizes make that."""
    run = li.NoisySGD(40, 2.0, 3.0, 1.0, 3, 2, "without_replacement", 0.01)
    certificate = _made(run, li.Clipped(), order=1.05)
    price = step_rdp(rate(run), 1.4, "replace", 1.05)
    prices = [{"multiplier": dyadic(1.4), "rdp": dyadic(price)}]
    inside, outside, chance = 2 * price + 0.001, 40 * price * (1 + 1e-12), 0.95
    mixed = log((1 - chance) * exp(0.05 * inside) + chance * exp(0.05 * outside)) / 0.05 * (1 + 1e-9)
    window = {"rule": "window", "start": 38, "prices": prices, "kinds": [[0, 2]], "shifts": "proportional"}
    window |= {"cost": dyadic(0.001), "rdp": dyadic(inside)}
    window["blocks"] = {"width": 2, "sum": 1, "largest": 1, "before": 0, "chance": dyadic(chance)}
    composed = {
        "rule": "window",
        "start": 0,
        "since": 0,
        "prices": prices,
        "kinds": [[0, 40]],
        "shifts": "proportional",
    }
    composed |= {"cost": dyadic(0.0), "rdp": dyadic(outside)}
    certificate["class"] = {"name": "strongly_convex", "L": [1, 0], "m": [1, 0]}
    certificate["claim"]["value"] = dyadic(outside)
    assert accepted(seal_nodes(certificate | {"proof": composed}))
    certificate["proof"] = {"rule": "ranges", "of": [window, composed], "rdp": dyadic(mixed)}
    certificate["claim"]["value"] = dyadic(mixed)
    with pytest.raises(Refused, match="blocks need Poisson batches"):
        accepted(seal_nodes(certificate))


def test_the_statement_is_no_less_than_what_is_proved() -> None:
    """A delta that no float holds is not said to be 0, and the run is told as it is."""
    certificate = _made(li.NoisySGD(steps=10, **FULL), li.Smooth(1.0), delta=1e-5)
    assert certificate["proof"]["rule"] == "from gdp"
    told = accepted(certificate)
    assert told.startswith(
        "the last iterate on smooth (L = 1.0) losses after 10 steps of size 0.1, noise 1.0, clip "
    )
    assert "clip norm 2.0, diameter 1.0, full batches of 5 of 5, is (" in told
    tiny = accepted(_changed(certificate, (("claim", "at"), [1, -2000]), (("claim", "value"), [1, 12])))
    assert "0.0)-DP" not in tiny
    assert "e-60" in tiny
    rough = accepted(_changed(certificate, (("run", "diameter"), [2**80 // 3 + 1, -80])))
    assert "diameter [0.333333333333333" in rough


@pytest.mark.parametrize(
    "number", [1, "1", [1], [1, 0, 0], [-1, 0], [1.0, 0], [True, 0], [1, 0.5], [1, 10**6], None]
)
def test_a_number_is_two_whole_numbers(number: Any) -> None:
    certificate = _made(li.NoisySGD(steps=10, **FULL), li.Smooth(1.0))
    with pytest.raises(Refused):
        accepted(_changed(certificate, (("run", "clip_norm"), number)))


def test_a_gaussian_of_mu_0_needs_its_chance_below_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    run, loss = _Run(write_run(li.NoisySGD(steps=10, **FULL))), _Loss({"name": "clipped"})
    for chance in (1e-6, 1e-5, 1.1e-5, 0.5):
        monkeypatch.setattr(checker, "_gaussian", lambda *_, chance=chance: (arb(0), arb(chance)))
        if chance <= 1e-5:
            checker.from_gdp({"of": {}}, run, loss, arb(1), arb(1e-5))
            continue
        with pytest.raises(Refused, match="exceeds delta"):
            checker.from_gdp({"of": {}}, run, loss, arb(1), arb(1e-5))


def test_two_terms_that_cancel_are_told_apart() -> None:
    """At epsilon = 0 and mu = 1e-100 both are 1/2 to 320 bits, and delta is about mu / sqrt(2 pi)."""
    certificate = _made(li.NoisySGD(steps=1, **FULL), li.Smooth(1.0), delta=1e-5)
    certificate["run"]["noise_std"][0][:2] = [10**98, 3]  # moved is .08
    proof = {"rule": "composition", "cost": _up(arb(10) ** -200)}
    certificate["proof"] = {"rule": "from gdp", "of": proof}
    for delta, holds in ((arb("0.398943e-100"), True), (arb("0.398942e-100"), False)):
        certificate["claim"] |= {"value": [0, 0], "at": _up(delta)}
        if holds:
            assert accepted(seal_nodes(certificate))
        else:
            with pytest.raises(Refused, match="exceeds delta"):
                accepted(seal_nodes(certificate))


def _up(value: arb) -> list[int]:
    m, e = (value * (1 + arb(2) ** -40)).upper().man_exp()
    return [int(m), int(e)]


def test_quadratures_begin_where_their_enclosure_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends: of all of a wide ball g/2 the mass above its lower end counts, and beyond both others a bound."""
    begun: list[arb] = []
    ended: list[arb] = []

    def integral(integrand: Any, low: arb, high: arb, **options: Any) -> acb:
        begun.append(low)
        ended.append(high)
        return acb.integral(integrand, low, high, **options)

    monkeypatch.setattr(checker, "acb", type("Recorded", (acb,), {"integral": staticmethod(integral)}))
    wide = arb(3, 0.01)
    found = checker._renyi.__wrapped__(1, 10, wide, arb(4), True, 60)
    assert len(begun) == 2
    assert all(low <= 1 / wide / 2 for low in begun)
    assert all(high.is_exact() for high in ended)
    for multiplier in ("2.99", "3", "3.01"):
        assert found.upper() >= checker._renyi(1, 10, arb(multiplier).mid(), arb(4), True, 60)


@pytest.mark.parametrize("assumption", [li.Clipped(), li.Convex(1.0), li.Holder(0.01, 0.5)])
def test_orders_of_shuffled_batches_have_the_certificate_of_a_route_that_pools_none(
    assumption: li.Assumption,
) -> None:
    run = li.NoisySGD(25, 0.1, 0.1, 1.0, 40, 10, "shuffled", 0.3)
    found = li.bound(run, assumption, order=4.0)
    certificate = found.certificate(weaker=True)
    assert check(json.dumps(certificate))
    assert certificate["proof"]["of"]["rule"] in ("late order", "worst batches")
    assert found.epsilon <= _value(certificate)


def test_composition_over_orders_cannot_be_that_of_another_run() -> None:
    run = li.NoisySGD(25, 0.1, 0.1, 1.0, 40, 10, "shuffled")
    certificate = li.bound(run, li.Clipped(), delta=1e-5).certificate()
    assert accepted(certificate)
    assert certificate["proof"]["of"]["rule"] == "late order"
    assert _value(certificate) <= gdp_epsilon(7**0.5 * (2 * 0.1 / 10 / 0.1), 1e-5) * (1 + 1e-9)
    for forgery, why in (
        (("steps", 29), "cost is"),
        (("dataset_size", 30), "cost is"),
        (("scheme", "full"), "batches"),
    ):
        forged = _changed(certificate, (("run", forgery[0]), forgery[1]))
        for key in ("step_size", "noise_std"):
            forged["run"][key][0][2] = forged["run"]["steps"]
        with pytest.raises(Refused, match=why):
            accepted(seal_nodes(forged))
    for key in ("step_size", "noise_std"):
        rows = certificate["run"][key]
        forged = _changed(certificate, (("run", key), [[*rows[0][:2], 24], [*_scaled(rows[0][:2], 0.5), 1]]))
        with pytest.raises(Refused, match="a late order needs shuffled"):
            accepted(forged)


def test_the_late_order_serves_no_updates_that_expand() -> None:
    """Whatever is stated: for c > 1 an earlier participation costs more."""
    run = li.NoisySGD(25, 0.1, 0.1, 1.0, 40, 10, "shuffled", 0.3)
    certificate = li.bound(run, li.Convex(1.0), order=4.0).certificate(weaker=True)
    cost, rdp = (("proof", "of", "of", "cost"), [1, 20]), (("proof", "rdp"), [1, 30])
    ways: list[tuple[tuple[Any, ...], Any]] = [cost, rdp, (("claim", "value"), [1, 40])]
    assert accepted(_changed(certificate, *ways))
    with pytest.raises(Refused, match="updates that do not expand"):
        accepted(_changed(certificate, *ways, (("class", "name"), "smooth")))


def test_a_million_steps() -> None:
    certificate = li.bound(li.NoisySGD(steps=10**6, **FULL), li.Smooth(1.0)).certificate()
    assert certificate["proof"]["rule"] == "straight"
    assert len(json.dumps(certificate)) < 2000
    assert accepted(certificate)


@pytest.mark.nightly
def test_a_long_path_of_a_few_stretches_is_short_to_write_down() -> None:
    """Two stretches, from the diameter: the chords of a taut string between distances that the certificate holds."""
    steps = (1e-3,) * 60_000 + (5e-4,) * 60_000
    run = li.NoisySGD(len(steps), steps, 1.0, 2.0, 5, diameter=100.0)
    certificate = _made(run, li.Convex(1.0))
    proof = certificate["proof"]
    assert (proof["rule"], proof["start"], len(proof["ends"])) == ("straight", 0, 1)
    assert len(json.dumps(certificate)) < 2000
    assert accepted(certificate)
    forgeries: list[list[tuple[tuple[Any, ...], Any]]] = [
        [(("proof", "ends", 0), [0, 0])],
        [(("proof", "ends", 0), _scaled(proof["ends"][0], 1.01))],
        [(("proof", "ends", 0), [1, 40])],
        [(("proof", "ends"), [])],
        [(("proof", "ends"), [*proof["ends"], [0, 0]])],
        [(("run", "step_size", 1), certificate["run"]["step_size"][0])],
    ]
    for forgery in forgeries:
        with pytest.raises(Refused):
            accepted(_changed(certificate, *forgery))


def test_composition_of_a_schedule_has_a_certificate() -> None:
    run = li.NoisySGD(50, tuple(1e-4 + 1e-6 * t for t in range(50)), 1.0, 2.0, 5, diameter=1e-4)
    known = by_shifts(run, li.Convex(1.0), None, None, every=True)
    composed = next(one for one in known if one.route == "composition")
    certificate = proofs.certificate(run, li.Convex(1.0), None, None, composed)
    assert accepted(json.loads(json.dumps(certificate)))


def test_a_closed_form_that_passes_below_0_is_refused() -> None:
    """For c = 1.1 from 0 over 1000 steps it says 21 s^2 where the truth is 1000 s^2."""
    run = li.NoisySGD(steps=1000, step_size=0.1, noise_std=1.0, clip_norm=1.0, dataset_size=1000)
    certificate = _made(run, li.Smooth(1.0))
    assert certificate["proof"]["rule"] == "composition"
    certificate["proof"] = {"rule": "straight", "start": 0, "since": 0, "ends": [], "cost": [1, 0]}
    with pytest.raises(Refused, match="exceed the distance"):
        accepted(seal_nodes(certificate))


def test_the_checker_imports_nothing_of_ours_and_runs_alone(tmp_path: Path) -> None:
    source = Path(checker.__file__)
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert imported <= {*sys.stdlib_module_names, "flint"}
    alone = tmp_path / "checker.py"
    alone.write_text(source.read_text())
    path = tmp_path / "run.json"
    for altered, status, word in ((False, 0, "holds"), (True, 1, "refused")):
        certificate = li.bound(li.NoisySGD(steps=100, **FULL), li.Smooth(1.0)).certificate()
        certificate["run"]["steps"] += altered
        path.write_text(json.dumps(certificate))
        command = [sys.executable, "-I", str(alone), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert (done.returncode, done.stdout.partition(":")[0]) == (status, word), done.stderr
    path.write_bytes(b"\xff")
    for command in ([sys.executable, "-I", str(alone), *rest] for rest in ([], [str(path)], [str(tmp_path)])):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert (done.returncode, done.stdout.partition(":")[0]) == (1, "refused"), done.stderr


def test_the_commands(tmp_path: Path) -> None:
    run = str(Path(__file__).parents[2] / "examples" / "run.toml")
    path = tmp_path / "new" / "run.json"
    told = CliRunner()
    assert told.invoke(cli, ["bound", run, "--certificate", str(path)]).exit_code == 0
    assert told.invoke(cli, ["verify", str(path)]).output.startswith(
        "holds: the last iterate on smooth (L = 1.0) losses "
    )
    path.write_text(path.read_text().replace('"steps": ', '"steps": 1'))
    refused = told.invoke(cli, ["verify", str(path), "--json"])
    assert refused.exit_code == 1
    assert json.loads(refused.output) == {
        "holds": False,
        "statement": "file: the object of steps, step_size, noise_std, clip_norm, dataset_size, batch_size, diameter, "
        "scheme, adjacency, digest was altered: its digest does not match",
    }
    certificate = json.loads(path.read_text().replace('"steps": 1', '"steps": '))
    path.write_text(json.dumps(seal_nodes(certificate | {"remark": "epsilon is 0"})))
    more = told.invoke(cli, ["verify", str(path)])
    assert more.exit_code == 1
    assert "no rule reads the key 'remark'" in more.output
    assert told.invoke(cli, ["verify", str(tmp_path / "nothing")]).exit_code != 0


@pytest.mark.parametrize(
    ("way", "key"),
    [
        (("class",), "m"),
        (("run",), "rest"),
        (("proof", "of"), "chance"),
        (("hypotheses",), "delta"),
        ((), "remark"),
    ],
)
def test_a_key_that_no_rule_reads_is_refused_where_it_is(way: tuple[str, ...], key: str) -> None:
    """Also one that rules read elsewhere, as m of a class that has none."""
    certificate = _made(li.NoisySGD(steps=10, **FULL), li.Convex(1.0), order=4.0) | {"hypotheses": {}}
    assert check(json.dumps(seal_nodes(certificate)))
    place = certificate
    for one in way:
        place = place[one]
    place[key] = [1, -1]
    with pytest.raises(Refused, match=rf"{'.'.join(('certificate', *way))}: no rule reads the key '{key}'"):
        check(json.dumps(seal_nodes(certificate)))


def test_sizes_that_nobody_computes_are_refused_at_once() -> None:
    """Positions, rounds, blocks and sums of privacy losses of 10^18 steps, and masses of astronomic size."""
    many = 10**18
    run = write_run(li.NoisySGD(steps=1000, sampling="poisson", **SAMPLED))
    run |= {"steps": many, "noise_std": [[*run["noise_std"][0][:2], many]], "step_size": [[1, -9, many]]}
    body: dict[str, Any] = {"format": "lastiterate certificate 1", "run": run, "class": {"name": "clipped"}}
    window = {"rule": "window", "start": 0, "shifts": "proportional", "cost": [1, 0], "kinds": [[0, many]]}
    window |= {
        "prices": [{"multiplier": dyadic(1.0)}],
        "since": 0,
        "sizes": {"low": 0, "high": 999},
        "chance": [0, 0],
    }
    losses = {"rule": "from losses", "of": window, "bits": 60, "trim": 0}
    dp = {"quantity": "dp", "at": [1, -9], "value": [1, 0]}
    blocked = window | {
        "blocks": {"width": 2, "sum": 0, "largest": 1, "before": 0, "chance": [1, 0]},
        "rdp": [1, 0],
    }
    cyclic = run | {"scheme": "cyclic", "adjacency": "replace", "dataset_size": many, "batch_size": 1}
    stage = {"steps": 1, "times": 10**17}
    table = {"rule": "contract", "spacing": [1, 0], "blocks": [stage], "round": False}
    for claim, proof, described, why in (
        (dp, losses | {"lattices": [{"spacing": [1, 0], "nodes": [[0]]}] * 2}, run, "a mass above 2"),
        (
            dp,
            losses | {"lattices": [{"spacing": [1, 400], "nodes": [[-(2**22), 2**22]]}] * 2},
            run,
            "a mass above 2",
        ),
        (dp, losses | {"lattices": [{"spacing": [1, -20], "nodes": [[0, 2**20]]}] * 2}, run, "too wide"),
        ({"quantity": "rdp", "at": [2, 0], "value": [1, 0]}, blocked, run, "too many blocks"),
        (dp, {"rule": "from table", "of": table}, cyclic, "not a whole number"),
        (
            {"quantity": "gdp", "value": [1, 0]},
            {"rule": "positions", "of": []},
            cyclic,
            "positions need cyclic batches",
        ),
    ):
        with pytest.raises(Refused, match=why):
            accepted(body | {"claim": claim, "proof": proof, "run": described})


def test_what_is_no_certificate_is_refused() -> None:
    for text in ("", "[]", "{}", "3", "NaN", '{"format": 1, "format": 2}', "[" * 100_000):
        with pytest.raises(Refused):
            check(text)
    with pytest.raises(Refused) as refused:
        checker.whole("1" * 10**6)
    assert len(str(refused.value)) < 200
