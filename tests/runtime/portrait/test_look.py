"""The portrait of a network: known constants are shown, what is proved is never below, and what is missing is named."""

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import known
import numpy as np
import pytest
import torch
from schemas import schemas
from torch import nn

import lastiterate as li
from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.clock import Clock
from lastiterate.runtime.constants import worst_case_constants
from lastiterate.runtime.portrait import look as module
from lastiterate.runtime.portrait.record import Portrait

RUN = li.NoisySGD(steps=3, step_size=0.1, noise_std=0.5, clip_norm=1.0, dataset_size=6, diameter=2.0)
USER = """
import torch
from torch import nn
import lastiterate as li

def small():
    torch.manual_seed(0)
    rows = torch.randn(7, 2)
    return li.Workload("small", lambda: nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2)),
                       nn.functional.cross_entropy, rows, torch.tensor([0, 1, 0, 1, 0, 1, 0]))
"""
FILE = """
[run]
steps = 3
step_size = 0.1
noise_std = 0.5
clip_norm = 1.0
dataset_size = 6
diameter = 0.2
"""


def small(samples: int = 6, activation: type[nn.Module] = nn.Tanh) -> li.Workload:
    torch.manual_seed(0)
    rows = torch.randn(samples, 2)
    return li.Workload(
        "small",
        lambda: nn.Sequential(nn.Linear(2, 2), activation(), nn.Linear(2, 2)),
        nn.functional.cross_entropy,
        rows,
        torch.arange(samples) % 2,
    )


@pytest.fixture(autouse=True)
def _few_radii(monkeypatch: pytest.MonkeyPatch, short_search: None) -> None:  # noqa: ARG001
    monkeypatch.setattr(module, "_SHARES", (0.01, 0.3))
    monkeypatch.setattr(module, "_FEWER", {"screened": 8, "starts": 3, "iterations": 4, "rounds": 1})
    monkeypatch.setattr(module, "_PAIRS", (8, 6))


@pytest.fixture(scope="module")
def shown() -> Portrait:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SHARES", (0.01, 0.3))
        patch.setattr(worst_case_constants, "_STARTS", 16)
        patch.setattr(worst_case_constants, "_SCREENED", 100)
        return li.look(small(), RUN, lambdas=(0.5,), runs=20)


def test_constants_of_a_quadratic_are_known() -> None:
    found = li.look(known.quadratic([[1.0, 2.0], [3.0, -4.0]]), None, lambdas=(1.0,)).data
    assert [one["found"] for one in found["curve"]] == pytest.approx([4.0] * 3, rel=1e-3)
    mean, worst = found["spectra"]
    assert (mean["least"], mean["greatest"], mean["trace"]) == pytest.approx((-1.0, 2.0, 1.0))
    assert (worst["least"], worst["trace"]) == pytest.approx((-4.0, -1.0))
    (layer,) = found["layers"]
    assert (layer["worst"], layer["share"], layer["alone"]) == (1, pytest.approx(1.0), None)
    changes = np.array(found["modulus"])
    assert (changes[:, 1] <= 4.0 * (1 + 1e-9) * changes[:, 0]).all()
    assert changes[-1, 1] == pytest.approx(4.0, rel=1e-2)
    assert not found["given"]


def test_what_is_proved_is_never_below_what_is_found(shown: Portrait) -> None:
    data = shown.data
    curve = data["curve"]
    assert len(curve) == 3
    assert all(one["certified"] >= one["found"] * (1 - 1e-12) > 0 for one in curve)
    for less, more in pairwise(curve):
        assert less["found"] <= more["found"]
        assert less["certified"] <= more["certified"]
    for layer in data["layers"]:
        assert layer["alone"]["certified"] >= layer["alone"]["found"] > 0
        assert layer["found"] <= curve[-1]["found"] * (1 + 1e-3)
    assert sum(layer["share"] for layer in data["layers"]) == pytest.approx(1.0)
    proved = data["constants"]["certified"]
    assert all(change <= proved["smoothness"] * distance for distance, change in data["modulus"])


def test_numbers_are_bounds_only_if_they_rest_on_proofs(shown: Portrait) -> None:
    kinds = {one["under"]: one["kind"] for one in shown.data["numbers"]}
    assert kinds == {"clipping alone": "bound", "constants that were found": "estimate"}
    proved = li.Workload(**vars(small()) | {"constants": li.constants_of_network(input_norm=4.0)})
    numbers = li.look(proved, RUN, li.Smooth(100.0), lambdas=(1.0,), budget=1e-9).data["numbers"]
    assert [(one["kind"], one["under"]) for one in numbers[1:3]] == [
        ("bound", "the assumption of the run file"),
        ("bound", "proved constants"),
    ]


def test_a_portrait_is_its_data(shown: Portrait, tmp_path: Path) -> None:
    again = Portrait.from_json(shown.to_json())
    assert again.to_html() == shown.to_html()
    assert again.to_markdown() == shown.to_markdown()
    assert str(again) == str(shown)
    shown.save(tmp_path / "new/net.html", tmp_path / "card.md", tmp_path / "net.json")
    assert (tmp_path / "new/net.html").read_text() == shown.to_html()
    assert json.loads((tmp_path / "net.json").read_text()) == json.loads(shown.to_json())
    with pytest.raises(InputError, match=r"ending in .html, .md, .json, got path=.*net.txt; rename it"):
        shown.save(tmp_path / "later.html", tmp_path / "net.txt")
    assert not (tmp_path / "later.html").exists()


def test_the_page_is_whole_and_loads_nothing(shown: Portrait) -> None:
    page = shown.to_html()
    for title in ("What was measured", "Smoothness on balls", "Layers and eigenvalues", "Privacy of the run"):
        assert f"<h2>{title}" in page
    assert page.count('role="img"') == 3
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|@import", page)
    assert "nan" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_names_are_escaped(shown: Portrait) -> None:
    page = Portrait(shown.data | {"workload": "<script>alert(1)</script>"}).to_html()
    assert "<script>" not in page


def test_parts_without_time_are_named() -> None:
    shown = li.look(small(), RUN, lambdas=(1.0,), budget=1e-9)
    skipped = shown.data["skipped"]
    assert set(skipped) == {"radii", "Hessian", "changes", "layers", "training", "drift", "audit"}
    assert all("as the budget of 1e-09 s is used up; raise the budget." in why for why in skipped.values())
    assert shown.data["curve"] == []
    assert "Left out, radii" in str(shown)
    assert shown.to_html().count("Not measured, or only in part") == 7
    with pytest.raises(InputError, match="budget"):
        li.look(small(), RUN, budget=-1.0)


def test_runs_on_adjacent_data_stay_within_what_is_tracked(shown: Portrait) -> None:
    drift, audit = shown.data["drift"], shown.data["audit"]
    assert (drift["pairs"], len(drift["greatest"])) == (20, 4)
    (tracked,) = drift["tracked"]
    assert tracked["kind"] == "certified"
    for mean, most, limit in zip(
        drift["root_mean_square"], drift["greatest"], tracked["distances"], strict=True
    ):
        assert mean <= most <= limit
    assert drift["greatest"][-1] > 0, "a copy of the worst sample replaces another one"
    assert 0 <= audit["epsilon"] <= min(one["epsilon"] for one in shown.data["numbers"])
    assert [stage["at"] for stage in shown.data["training"]] == [f"step {k}" for k in range(4)]
    assert all(stage["around"] > 0 for stage in shown.data["training"])


def test_checkpoints_are_shown_in_their_order(tmp_path: Path) -> None:
    paths = [tmp_path / f"{seed}.pt" for seed in (3, 2)]
    for seed, path in zip((3, 2), paths, strict=True):
        torch.save(small().initial(seed).state_dict(), path)
    first, second = li.look(small(), None, lambdas=(1.0,), checkpoints=paths).data["training"]
    assert (first["at"], second["at"]) == tuple(map(str, paths))
    assert first["between"] is None
    assert second["between"] > 0


def test_a_part_ends_when_time_is_up() -> None:
    parts = module._Parts(0.0, 1, None)
    parts.time = Clock(100.0)
    assert parts.do("before", lambda: parts.step(1, 2) or 1) == 1

    def works() -> None:
        parts.time = Clock(0.0)
        parts.step(1, 2)

    assert parts.do("drift", works) is None
    assert parts.skipped == {"drift": "nothing is measured, as the budget of 0 s is used up; raise the budget."}


def test_kinks_have_no_proved_constant_and_the_layer_is_named() -> None:
    shown = li.look(small(activation=nn.ReLU), None, lambdas=(1.0,))
    assert "no Hölder constant of an order above 0 is finite" in " ".join(shown.to_html().split())
    assert any("no useful constant is proved" in said and "kink of relu" in said for said in shown.notes())
    assert shown.data["curve"][-1]["certified"] == np.inf
    assert json.loads(shown.to_json())["curve"][-1]["certified"] == "inf"
    assert Portrait.from_json(shown.to_json()).to_html() == shown.to_html()


def test_the_first_samples_are_used_if_the_run_has_fewer() -> None:
    short = li.look(small(7), RUN, lambdas=(1.0,), budget=1e-9).data
    assert short["facts"]["samples"].startswith("6 of 7;")


@pytest.mark.parametrize("sample", [None, 4])
def test_hessians_are_those_of_autograd(sample: int | None) -> None:
    work = small()
    operator = work.hessian_operator(sample=sample)
    made = work.initial(0).double()
    names = [name for name, _ in made.named_parameters()]
    chosen = slice(None) if sample is None else slice(sample, sample + 1)

    def loss(point: torch.Tensor) -> torch.Tensor:
        parts = torch.split(point, [p.numel() for p in made.parameters()])
        given = {
            name: part.reshape(p.shape) for name, part, p in zip(names, parts, made.parameters(), strict=True)
        }
        out = torch.func.functional_call(made, given, (work.inputs[chosen].double(),))
        return work.loss(out, work.targets[chosen])

    start = torch.cat([p.detach().flatten() for p in made.parameters()])
    exact = torch.func.hessian(loss)(start).numpy()
    np.testing.assert_allclose(operator @ np.eye(12), exact, atol=1e-12)
    np.testing.assert_allclose(operator @ exact[0], exact @ exact[0], atol=1e-12)
    assert operator.H is operator


def test_hessians_of_what_is_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="sample must be below 6, got sample=6"):
        small().hessian_operator(sample=6)
    with pytest.raises(InputError, match=r"finite point of shape=\(12,\), got shape=\(3,\)"):
        small().hessian_operator(np.zeros(3))


def test_large_hessians_have_an_estimated_trace() -> None:
    rows = [[float(k) for k in range(-3, 500)]]
    gradients = module.Gradients(known.quadratic(rows), known.quadratic(rows).initial(0))
    found, top = module._spectrum(module.HessianOperator(gradients, gradients.start), 0)
    assert (found["least"], found["greatest"]) == pytest.approx((-3.0, 499.0), rel=1e-2)
    assert found["trace"] == pytest.approx(sum(rows[0]), abs=1e-6 + 5 * found["error"])
    assert abs(top[-1]) == pytest.approx(1.0, abs=0.05)


def _command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LASTITERATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine_to_look_at.py").write_text(USER)
    (tmp_path / "run.toml").write_text(FILE)
    with pytest.raises(SystemExit) as ended:
        main(["look", "mine_to_look_at:small", *arguments])
    return ended.value.code


def test_the_command_writes_pages_and_prints_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        _command(tmp_path, monkeypatch, "--run", "run.toml", "--out", "net.html", "--out", "card.md", "--json")
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    jsonschema.validate(said, schemas()["look"])
    assert said["given"]
    assert "lastiterate look" in said["repeat"]["command"] or said["repeat"]["command"].startswith(
        "lastiterate"
    )
    assert "<svg" in (tmp_path / "net.html").read_text()
    assert "| Bound |" in (tmp_path / "card.md").read_text()


def test_a_wrong_ending_and_ctrl_c_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _command(tmp_path, monkeypatch, "--out", "net.pdf") == 2
    assert "A portrait needs a file ending in" in capsys.readouterr().err

    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_curve", stop)
    assert _command(tmp_path, monkeypatch, "--out", "net.html") == 130
    assert "parts of the page are finished; no file is written" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} <= {
        "mine_to_look_at.py",
        "run.toml",
        "cache",
        "__pycache__",
    }


@pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")), reason="needs chromium-driver"
)
def test_the_page_fits_every_screen(shown: Portrait, tmp_path: Path) -> None:
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    shown.save(tmp_path / "net.html")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for width in (1280, 768, 390):
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get((tmp_path / "net.html").as_uri())
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            pictures = driver.execute_script(
                "return [...document.querySelectorAll('svg[role=img]')].map(one => one.getBoundingClientRect().width)"
            )
            assert all(width * 0.4 < one <= width for one in pictures)
    finally:
        driver.quit()
