"""No attack may exceed a bound; and on linear losses, where the bound is tight, the canary must come close to it."""

from dataclasses import replace
from math import inf, log
from pathlib import Path

import known
import numpy as np
import pytest
from numpy.typing import NDArray

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.lower import lower_bounds, search, witness
from lastiterate.numeric.lower.audit import Audit, Scores, all_scores, audit
from lastiterate.numeric.lower.masses import Target
from lastiterate.numeric.lower.walk import cells_between
from lastiterate.numeric.published.chien_li import theorem_3_12
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.attack import (
    AttackKind,
    Others,
    _best_threshold,
    _likelihood_ratios,
    attack,
    hardest,
    worst_case,
)
from lastiterate.runtime.training import adjacent
from lastiterate.runtime.workloads.loading import load_workload

DELTA = 1e-2
SURE = 1 - 1e-9
"""Confidence at which a test that fails has found a defect, not bad luck."""
SEED = 1
SCHEMES = [("full", None), ("cyclic", 2), ("shuffled", 2), ("without_replacement", 2), ("poisson", 2)]
FLAT = [[1e-12] * 3] * 7


def crafted(run: NoisySGD, assumption: Assumption, others: Others, runs: int, level: float = SURE) -> Audit:
    return attack(
        worst_case(run, assumption, others),
        run,
        delta=DELTA,
        assumption=assumption,
        runs=runs,
        level=level,
        seed=SEED,
    )


def advantage(found: Audit) -> float:
    """True minus false positive rate."""
    return 1 - found.false_negatives / found.positives - found.false_positives / found.negatives


def surrounds(run: NoisySGD, assumption: Assumption, others: Others, truth: float) -> bool:
    """Whether an attack surely stays below the true epsilon, and at an ordinary confidence comes close to it."""
    below, close = (crafted(run, assumption, others, runs=20_000, level=level).epsilon for level in (SURE, 0.9))
    return below <= truth and 0.6 * truth <= close <= 1.2 * truth


@pytest.mark.parametrize(
    "assumption", [Clipped(), Smooth(1.0), Holder(1.0, 0.5), Convex(1.0), StronglyConvex(1.0, 0.25)], ids=repr
)
@pytest.mark.parametrize(("sampling", "batch"), SCHEMES)
@pytest.mark.sweep(8)
def test_no_crafted_losses_exceed_the_bound(sampling: str, batch: int | None, assumption: Assumption) -> None:
    run = NoisySGD(6, 1.0, 1.0, 1.0, 4, batch, sampling=sampling, diameter=3.0)
    most = bound(run, assumption, delta=DELTA)
    allowed = [
        others
        for others in Others
        if others != Others.OUTWARD or not isinstance(assumption, Convex | StronglyConvex)
    ]
    found = [crafted(run, assumption, others, runs=3000) for others in allowed]
    assert max(audit.epsilon for audit in found) <= most.epsilon
    assert [audit.refutes(most) for audit in found] == [()] * len(found)
    assert max(advantage(one) for one in found) > 0.02, "the attacks bite"


@pytest.mark.parametrize("kind", list(AttackKind))
@pytest.mark.parametrize(("sampling", "batch"), SCHEMES)
@pytest.mark.sweep(6)
def test_no_attack_on_a_network_exceeds_the_bound(sampling: str, batch: int | None, kind: AttackKind) -> None:
    run = NoisySGD(5, 0.5, 0.5, 1.0, 6, batch, sampling=sampling, diameter=8.0)
    workload = known.quadratic(
        [[1.0, 0.5], [3.0, 0.1], [0.2, 4.0], [1.0, 1.0], [0.1, 0.1], [2.0, 2.0], [40.0, 0.0]]
    )
    found = attack(workload, run, kind, delta=DELTA, runs=1500, level=SURE, target=1)
    for assumption in (Clipped(), Smooth(40.0)):
        stated = bound(run, assumption, delta=DELTA)
        assert found.epsilon <= stated.epsilon
        assert found.refutes(stated) == ()


@pytest.mark.parametrize("sampling", [sampling for sampling, _batch in SCHEMES])
def test_the_canary_comes_close_to_the_exact_loss_of_linear_losses(sampling: str) -> None:
    """No projection: the certified lower bound is what linear losses lose; the attack stays below and comes close."""
    run = NoisySGD(4, 1.0, 1.0, 1.0, 4, None if sampling == "full" else 1, sampling=sampling)
    exact = max(
        one.value
        for one in lower_bounds(run, Convex(1.0), delta=DELTA)
        if "all others at -K" not in one.witness
    )
    assert surrounds(run, Convex(1.0), Others.STILL, exact)
    assert exact <= bound(run, Convex(1.0), delta=DELTA).epsilon


def test_the_canary_is_close_to_a_tight_bound_and_refutes_a_smaller_one() -> None:
    """Linear losses on the whole space: composition is exact, and an account of half the steps is found out."""
    run = NoisySGD(16, 1.0, 1.0, 1.0, 2)
    found = attack(known.quadratic(FLAT), run, delta=DELTA, runs=2000, level=0.99)
    truth = bound(run, Convex(1.0))
    assert truth.mu == pytest.approx(4.0)
    assert 0.75 * truth.mu <= found.mu <= truth.mu
    assert found.mu > bound(replace(run, steps=8), Convex(1.0)).mu


@pytest.mark.parametrize(
    ("runs", "too_much"),
    [(20_000, 1.05), (100_000, 1.02), pytest.param(400_000, 1.01, marks=pytest.mark.nightly)],
)
def test_a_bound_that_is_a_few_per_cent_too_small_is_refuted(runs: int, too_much: float) -> None:
    """The mutants: noise taken for 5, 2 and 1 per cent more than there is, in an account of linear losses."""
    run = NoisySGD(4, 1.0, 1.0, 1.0, 2)
    found = attack(worst_case(run, Convex(1.0)), run, delta=DELTA, assumption=Convex(1.0), runs=runs)
    assert found.refutes(bound(run, Convex(1.0), delta=DELTA)) == ()
    assert found.refutes(bound(replace(run, noise_std=too_much), Convex(1.0), delta=DELTA)) == ("mu",)


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.nightly) for one in (1, 2))])
def test_all_scores_certify_most_of_what_a_network_loses_to_a_canary(seed: int) -> None:
    """500 runs a side: one learned threshold shows less than 1 of 4.12, all scores more than 2.5, and refute less."""
    run = NoisySGD(10, 0.3, 0.1, 1.0, 20)
    workload = load_workload("builtin:iris-mlp-tanh")
    found = attack(workload, run, delta=1e-5, seed=seed)
    stated = bound(run, Clipped(), delta=1e-5)
    assert stated.epsilon == pytest.approx(4.12, abs=5e-3)
    assert found.epsilon < 1
    assert 2.5 <= found.gaussian_epsilon <= stated.epsilon
    assert found.refutes(stated) == ()
    too_small = bound(replace(run, noise_std=0.16), Clipped(), delta=1e-5)
    assert found.epsilon < too_small.epsilon
    assert found.refutes(too_small) == ("mu",)


def test_scores_of_runs_that_teach_a_ratio_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int, float]] = []

    def noted(with_it: NDArray[np.float64], without: NDArray[np.float64], *, level: float) -> Scores:
        taken.append((len(with_it), len(without), level))
        return all_scores(with_it, without, level=level)

    monkeypatch.setattr("lastiterate.runtime.attacks.attack.all_scores", noted)
    for kind in AttackKind:
        found = attack(
            known.quadratic(FLAT), NoisySGD(10, 1.0, 1.0, 1.0, 4), kind, delta=DELTA, runs=41, level=0.875
        )
        assert (found.negatives, found.positives, found.level) == (21, 21, 0.875)
    assert taken == [(41, 41, 0.9375), (41, 41, 0.9375), (21, 21, 0.9375)]


def _on_the_line(losses: witness.Witness) -> float:
    """What a witness loses where its domain is the interval itself, and projection hides what it takes away."""
    edges = cells_between(-losses.half, losses.half, losses.run.noise_std_at(0) / 16)
    laws = [witness._law(losses, own, edges) for own in (losses.first, losses.second)]
    assert laws[0] is not None
    assert laws[1] is not None
    return Target(None, DELTA).of_masses(laws[0], laws[1])


@pytest.mark.nightly
def test_others_that_push_outwards_lose_what_the_certified_walk_says() -> None:
    """Not linear: the density that is propagated by quadrature and the runs that are drawn agree."""
    run = NoisySGD(5, 0.2, 0.1, 1.0, 4, 1, sampling="cyclic", diameter=0.6)
    families = search._families(run, Smooth(10.0), Target(None, DELTA))
    walks = {one.words: _on_the_line(one.make((0.0, 0.0, 0.0))) for one in families}
    assert surrounds(
        run, Smooth(10.0), Others.OUTWARD, walks["gradients that push outwards as hard as they may"]
    )
    assert surrounds(run, Smooth(10.0), Others.STILL, walks["clamped linear losses"])
    longer = replace(run, steps=100)
    assert hardest(longer, Smooth(10.0), DELTA) == Others.OUTWARD
    pushed, stood = (
        crafted(longer, Smooth(10.0), others, runs=10_000) for others in (Others.OUTWARD, Others.STILL)
    )
    assert stood.mu < pushed.mu
    assert pushed.epsilon <= bound(longer, Smooth(10.0), delta=DELTA).epsilon


def test_the_attack_refutes_theorem_3_12_of_chien_and_li() -> None:
    """The mutant: the canary exceeds what the refuted theorem claims at its best order, and not what holds."""
    run = NoisySGD(1, 1.0, 1.0, 1.0, 10, 1, sampling="without_replacement", diameter=20.0)
    assert theorem_3_12(run, Smooth(1.0), 20.0) == pytest.approx(0.0807, abs=1e-4)
    claimed = min(
        theorem_3_12(run, Smooth(1.0), order) + log(1 / DELTA) / (order - 1)
        for order in (5.0, 20.0, 100.0, 1000.0)
    )
    found = crafted(run, Smooth(1.0), Others.PULL, runs=20_000)
    assert found.epsilon > 2 * claimed
    assert found.epsilon <= bound(run, Smooth(1.0), delta=DELTA).epsilon


def test_a_canary_in_strongly_convex_losses_is_strongly_convex_itself() -> None:
    """A constant gradient is no such loss and exceeds that bound, rightly; so the canary is bent, or refused."""
    run = NoisySGD(200, 1.0, 10.0, 2.0, 1)
    strong = StronglyConvex(1.0, 0.1)
    constant = attack(worst_case(run, Convex(1.0)), run, delta=DELTA, runs=3000, level=SURE)
    assert constant.mu > bound(run, strong).mu
    assert constant.epsilon <= bound(run, Convex(1.0), delta=DELTA).epsilon
    with pytest.raises(InputError, match=r"m \* diameter / 2 < clip_norm=2, got m=0.1, diameter=inf"):
        attack(known.quadratic(FLAT), run, delta=DELTA, assumption=strong)
    inside = replace(run, diameter=30.0)
    bent = crafted(inside, strong, Others.STILL, runs=3000)
    assert advantage(bent) > 0.02
    assert bent.epsilon <= bound(inside, strong, delta=DELTA).epsilon


@pytest.mark.parametrize("kind", [AttackKind.LOSS, AttackKind.SHADOW])
def test_real_samples_leak_less_than_the_bound(kind: AttackKind) -> None:
    workload = load_workload("builtin:breast-cancer")
    run = NoisySGD(10, 1.0, 0.02, 1.0, 20, diameter=4.0)
    found = attack(workload, run, kind, delta=DELTA, runs=200, target=3)
    assert 0 < found.epsilon <= bound(run, Clipped(), delta=DELTA).epsilon


def test_the_likelihood_ratio_sees_a_difference_in_spread() -> None:
    """Unseen, the loss is more spread to both sides; a threshold on it sees one of them."""
    generator = np.random.default_rng(0)
    seen, unseen = generator.normal(0.0, 0.1, size=4000), generator.normal(0.0, 1.0, size=4000)

    def found(with_it: NDArray[np.float64], without: NDArray[np.float64]) -> float:
        threshold = _best_threshold(with_it[:2000], without[:2000], DELTA, 0.95)
        wrong, missed = int((without[2000:] > threshold).sum()), int((with_it[2000:] <= threshold).sum())
        counts = {"false_positives": wrong, "negatives": 2000, "false_negatives": missed, "positives": 2000}
        return audit(**counts, delta=DELTA).epsilon

    plain, ratio = found(seen, unseen), found(*_likelihood_ratios(seen, unseen))
    assert ratio > plain + 0.3
    same = np.zeros(8)
    assert all(np.isfinite(part).all() for part in _likelihood_ratios(same, same)), "nothing to fit is no error"


def test_finished_runs_are_kept_and_more_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjacent, "_MOST_RUNS", 40)
    run = NoisySGD(5, 1.0, 1.0, 1.0, 5, 1, sampling="without_replacement")

    def again(
        runs: int, folder: Path | None = tmp_path, kind: AttackKind = AttackKind.CANARY, memory: int = 2**28
    ) -> Audit:
        return attack(known.quadratic(FLAT), run, kind, delta=DELTA, runs=runs, folder=folder, memory=memory)

    def interrupt(done: int, _total: int) -> None:
        if done > 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(known.quadratic(FLAT), run, delta=DELTA, runs=80, folder=tmp_path, on_step=interrupt)
    assert len(list(tmp_path.rglob("block-*.npz"))) == 1
    first = again(80)
    assert first == again(80, folder=None, memory=20_000), "what was kept, and how much fits, changes nothing"
    assert len(list(tmp_path.rglob("block-*.npz"))) == 2
    again(120)
    assert len(list(tmp_path.rglob("block-*.npz"))) == 3
    again(80, kind=AttackKind.LOSS)
    again(80, kind=AttackKind.SHADOW)
    assert len(list(tmp_path.rglob("block-*.npz"))) == 5, "loss and shadow read the same runs"


def test_crafted_losses_of_another_assumption_are_not_taken_for_the_same(tmp_path: Path) -> None:
    run = NoisySGD(20, 0.2, 0.1, 1.0, 4, 1, sampling="cyclic", diameter=0.6)
    found = {
        (L, folder): attack(
            worst_case(run, Smooth(L), Others.OUTWARD), run, delta=DELTA, runs=100, folder=folder
        )
        for folder in (tmp_path, None)
        for L in (4.0, 100.0)
    }
    assert found[4.0, tmp_path] == found[4.0, None] != found[100.0, None] == found[100.0, tmp_path]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": 3}, "runs=3"),
        ({"target": 2}, "target=2"),
        ({"kind": "guess"}, "kind=guess"),
        ({"delta": 0.0}, "delta=0"),
        ({"level": 1.0}, "level=1"),
        ({"device": "cuda:99"}, "device=cuda:99"),
    ],
)
def test_bad_input(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        attack(known.linear(), NoisySGD(1, 1.0, 1.0, 1.0, 2), **({"delta": DELTA} | options))  # type: ignore[arg-type]


def test_data_that_are_too_few_and_losses_that_are_not_allowed() -> None:
    with pytest.raises(InputError, match=r"3 samples, .* got 2"):
        attack(known.linear(), NoisySGD(1, 1.0, 1.0, 1.0, 2), AttackKind.LOSS, delta=DELTA)
    run = NoisySGD(1, 1.0, 1.0, 1.0, 3)
    with pytest.raises(InputError, match="dataset_size=3 needs 3 samples, got 2"):
        attack(known.linear(), run, delta=DELTA)
    with pytest.raises(InputError, match="others=sideways"):
        worst_case(run, Smooth(1.0), "sideways")
    for wide in (run, replace(run, diameter=2.0)):
        assumption = Convex(1.0) if wide.diameter < inf else Smooth(1.0)
        with pytest.raises(InputError, match="push outwards need a diameter"):
            worst_case(wide, assumption, Others.OUTWARD)
