import json
from dataclasses import replace
from math import inf
from pathlib import Path

import known
import pytest
import torch
from click.testing import CliRunner

from lastiterate.commands.constants import estimate_command as command
from lastiterate.numeric.bound import bound
from lastiterate.numeric.display import plain
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import ClippedConvex, Convex, Smooth, StronglyConvex
from lastiterate.numeric.losses.certified import logistic_regression
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants import worst_case_constants as module
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import BUILTIN, load_workload
from lastiterate.runtime.workloads.workload import Workload


def gradients_of(workload: Workload) -> Gradients:
    return Gradients(workload, workload.initial(0))


def test_curvature_is_the_top_eigenvalue_of_the_whole_hessian() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = gradients_of(workload)
    point = gradients.start
    rows, targets = gradients.rows()
    sample = 70
    hessian = torch.func.jacfwd(lambda at: gradients.of_one(at, rows[sample], targets[sample]))(point)
    exact = float(torch.linalg.eigvalsh(hessian).abs().max())
    one = Workload("one", workload.module, workload.loss, workload.inputs[[sample]], workload.targets[[sample]])
    found = known.top_curvature(gradients_of(one), point[None])
    assert exact * 0.98 <= found <= exact * (1 + 1e-9)
    everything = known.top_curvature(gradients, point[None])
    assert everything >= found * (1 - 1e-9)


def test_curvature_of_quadratics_is_exact_and_negative_counts() -> None:
    found = known.top_curvature(
        gradients_of(known.quadratic([[1.0, 0.5], [3.0, -4.0]])), torch.zeros(2, 2).double()
    )
    assert found == pytest.approx(4.0, rel=1e-12)


def test_of_one_is_what_at_computes() -> None:
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    rows, targets = gradients.rows()
    together = flat(gradients.at(gradients.start[None], slice(3, 4)))[0, 0]
    torch.testing.assert_close(gradients.of_one(gradients.start, rows[3], targets[3]), together)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("lam", "constant"), [(1 / 3, 2 ** (2 / 3)), (1.0, None)])
def test_search_finds_the_worst_pair_of_a_cube_root(lam: float, constant: float | None) -> None:
    gradients = gradients_of(known.odd_power())
    centre = torch.full_like(gradients.start, 0.05)
    (pair,) = known.search_pairs(gradients, centre, (lam,), diameter=1.0, starts=32, iterations=60)
    assert pair.constant >= pair.start > 0
    if constant:
        assert 0.999 * constant <= pair.constant <= constant * (1 + 1e-9)
    else:
        assert pair.constant > 100, "not Lipschitz: the ascent runs to ever closer pairs"


@pytest.mark.nightly
def test_search_on_a_quadratic_stays_below_the_constant_and_in_the_domain() -> None:
    gradients = gradients_of(known.quadratic([[1.0, 0.5], [3.0, 0.1]]))
    half, one = known.search_pairs(
        gradients, gradients.start, (1.0, 0.5), diameter=2.0, starts=64, iterations=30
    )
    assert 0.99 * 3 <= one.constant <= 3 * (1 + 1e-12)
    assert 0.97 * 3 * 2**0.5 <= half.constant <= 3 * 2**0.5 * (1 + 1e-12), (
        "attained by opposite ends of the domain"
    )
    assert half.distance <= 2.0 * (1 + 1e-12)
    assert (one.sample, half.sample) == (1, 1)


def test_clipped_search_finds_no_more_than_twice_the_clip_norm() -> None:
    gradients = gradients_of(known.quadratic([[1.0, 0.5], [3.0, 0.1]]))
    (pair,) = known.search_pairs(
        gradients, gradients.start, (1.0,), diameter=2.0, clip_norm=0.1, starts=64, iterations=30
    )
    assert pair.constant * pair.distance <= 0.2 * (1 + 1e-9)


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_search_beats_the_draws_of_the_paper() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    run = paper_run(workload, steps=20)
    look = worst_case_constants(workload, run, (1.0,))
    drawn = estimate_holder(workload, run, (1.0,), inits=1, points=20, draw="log-uniform")
    assert look.searched[0].constant > 3 * drawn.constant(1.0)
    assert look.certified is not None
    assert look.certified.smoothness >= look.searched[0].constant
    assert look.bounded is not None
    assert (
        look.bounded.epsilon
        == bound(paper_run(workload, steps=20), Smooth(look.certified.smoothness), order=2).epsilon
    )
    json.dumps(plain(look.as_dict()), allow_nan=False)


@pytest.mark.usefixtures("short_search")
def test_finished_parts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1]])
    run = paper_run(workload, steps=4)
    options = {"folder": tmp_path}
    whole = worst_case_constants(workload, run, (0.5, 1.0))
    told: list[tuple[int, int]] = []

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module.Search, "climb", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worst_case_constants(workload, run, (0.5, 1.0), on_step=lambda *now: told.append(now), **options)
    assert told == [(0, 4), (1, 4)]
    with monkeypatch.context() as patch:
        patch.setattr(module.Search, "curved", interrupted)
        assert worst_case_constants(workload, run, (0.5, 1.0), **options) == whole  # type: ignore[arg-type]
        patch.setattr(module, "train", interrupted)
        with pytest.raises(KeyboardInterrupt):  # orders that were searched together are not kept one by one
            worst_case_constants(workload, run, (1.0,), **options)  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt):
            worst_case_constants(workload, run, (1.0,), kind=Kind.SAMPLE_CLIPPED, **options)


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_clipped_gradients_are_searched() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1]], scale=0.05)
    look = worst_case_constants(
        workload, paper_run(workload, steps=4, clip_norm=0.6), (1.0,), kind=Kind.SAMPLE_CLIPPED
    )
    assert 0.9 * 3.0 <= look.searched[0].constant <= 3.0
    assert look.searched[0].constant * look.searched[0].distance <= 1.2


@pytest.mark.nightly
@pytest.mark.usefixtures("short_search")
def test_what_cannot_be_said_is_none() -> None:
    linear = worst_case_constants(known.linear(), paper_run(known.linear(), steps=2), (1.0,))
    assert (linear.searched[0].constant, linear.found) == (0.0, (0.0,))
    start_at_the_kink = Workload(
        "kink", lambda: known.Vector(1, 0.0), known.odd_power().loss, *[torch.zeros(1, 1)] * 2
    )
    kink = worst_case_constants(start_at_the_kink, paper_run(start_at_the_kink, steps=2), (1 / 3,))
    json.dumps(plain(kink.as_dict()), allow_nan=False)
    with pytest.raises(InputError, match="kind=whole"):
        worst_case_constants(known.linear(), paper_run(known.linear(), steps=2), (1.0,), kind="whole")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[pytest.mark.nightly] * (one not in {"breast-cancer", "iris-mlp-gelu"}))
        for one in sorted(BUILTIN)
    ],
)
def test_certified_constants_are_above_every_estimate(name: str) -> None:
    workload = load_workload(f"builtin:{name}")
    with pytest.raises(InputError, match=name):
        replace(workload, constants=None).certified(0, 1.0)
    certified = workload.certified(0, 2.0)
    if certified.lipschitz == inf:
        assert certified.smoothness == inf
        assert certified.statement.startswith("not known: ")
        return
    gradients = gradients_of(workload)
    around = (
        gradients.start + torch.randn(6, gradients.dimension, generator=torch.Generator().manual_seed(1)) * 0.02
    )
    found = known.top_curvature(gradients, torch.cat([gradients.start[None], around.double()]))
    (pair,) = known.search_pairs(gradients, gradients.start, (1.0,), diameter=2.0, starts=64, iterations=20)
    longest = flat(gradients.at(gradients.start[None]))[0].norm(dim=1).max()
    assert max(found, pair.constant) <= certified.smoothness
    assert float(longest) <= certified.lipschitz


def test_which_assumption_the_constants_prove() -> None:
    run = NoisySGD(10, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0)
    assert logistic_regression(1.0).assumption(run) == Convex(0.25)
    assert logistic_regression(9.0).assumption(run) == Convex(20.25), "for steps of every size"
    assert logistic_regression(3.0).assumption(run) == Convex(2.25), "clipped, but of a linear score"
    weighted = logistic_regression(1.0, l2=0.5, parameter_norm=1.0)
    assert weighted.assumption(run) == StronglyConvex(0.75, 0.5)
    clipped = logistic_regression(3.0, l2=0.5, parameter_norm=1.0).assumption(run)
    assert clipped == ClippedConvex(2.75), "clipping may act"


@pytest.mark.usefixtures("short_search")
def test_the_command_prints_what_each_number_is(tmp_path: object) -> None:
    options = ["--steps", "10", "--lambda", "1", "--resume", str(tmp_path)]
    said = CliRunner().invoke(command, ["builtin:breast-cancer", *options])
    assert said.exit_code == 0, said.output
    for part in ("found", "certified", "6.501-Lipschitz", "a bound for the run that was trained, T = 10"):
        assert part in said.output
    data = json.loads(CliRunner().invoke(command, ["builtin:breast-cancer", *options, "--json"]).output)
    assert data["search"]["certified"]["smoothness"] >= data["search"]["searched"][0]["constant"]


@pytest.mark.nightly
@pytest.mark.usefixtures("short_search")
def test_certified_constants_stand_beside_those_that_are_found() -> None:
    few = ["--steps", "2", "--lambda", "0.5", "--lambda", "1", "--diameter", "0.25"]
    smooth = CliRunner().invoke(command, ["builtin:iris-mlp-tanh", *few])
    data = json.loads(CliRunner().invoke(command, ["builtin:iris-mlp-tanh", *few, "--json"]).output)["search"]
    certified = data["certified"]["smoothness"]
    assert printed_up(certified, 4) in smooth.output
    assert data["upper"] == pytest.approx([certified / 2, certified], rel=1e-11), "L D^(1/2)"
    assert [low <= high for low, high in zip(data["found"], data["upper"], strict=True)] == [True, True]
    jumps = CliRunner().invoke(command, ["builtin:iris-mlp", *few]).output
    assert jumps.count("infinite") >= 3, "for each order, and in the sentence"
    assert "No finite constant is certified (infinite: " in jumps
    assert "a kink of relu" in jumps
