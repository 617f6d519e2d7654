"""Evaluators by name: formulas in 60 digits, order between them, and the direction of rounding."""

from math import inf

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import settings as options
from mpmath import mpf
from oracle import expand
from programs import run_of, settings

from lastiterate.numeric.losses.assumptions import Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.evaluators import EVALUATORS
from lastiterate.proofs_checks.attacks.wrong_bounds import WRONG_BOUNDS

pytestmark = pytest.mark.usefixtures("sixty_digits")

_BATCHES = ("without_replacement_convex", "poisson_convex", "cyclic_convex")
_FIXED = {name: evaluate for name, evaluate in EVALUATORS.items() if name not in _BATCHES}
"""Bounds for full batches, which are Gaussian."""

_QUICK = options(max_examples=40)
_KINDS = ("smooth", "convex", "strongly_convex", "holder", "clipped")

_RUN = {"T": 100, "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0}
_SETTING = _RUN | {"L": 1.0, "lam": 0.5, "m": 0.5, "alpha": 2.0}


def _full(setting: dict[str, float]) -> dict[str, float]:
    """With constants that suit every assumption: eta m <= eta L <= 1."""
    L = min(setting["L"], 1 / setting["eta"])
    return setting | {"L": L, "m": L * 0.3}


def _exactly(setting: dict[str, float]) -> dict[str, mpf]:
    """Formulas that need no optimisation."""
    v = {name: mpf(value) for name, value in setting.items()}
    run, scale = run_of(setting), v["alpha"] / (2 * v["sigma"] ** 2)
    losses = {
        "smooth": Smooth(setting["L"]),
        "convex": Convex(setting["L"]),
        "strongly_convex": StronglyConvex(setting["L"], setting["m"]),
        "holder": Holder(setting["L"], setting["lam"]),
        "clipped": Clipped(),
    }
    s = 2 * v["eta"] * v["K"] / v["n"]
    return {
        "composition": scale * v["T"] * s**2,
        "output_perturbation": scale * v["D"] ** 2,
        **{f"last_step_{kind}": scale * expand(run, losses[kind], 0, v["D"]) ** 2 for kind in _KINDS},
    }


@_QUICK
@given(setting=settings())
def test_closed_formulas_are_rounded_up(setting: dict[str, float]) -> None:
    setting = _full(setting)
    for name, exactly in _exactly(setting).items():
        told = EVALUATORS[name](setting)
        assert exactly <= mpf(told) <= exactly * (1 + mpf(10) ** -12), name


@_QUICK
@given(setting=settings())
def test_altschuler_talwar_b1(setting: dict[str, float]) -> None:
    v = {name: mpf(value) for name, value in setting.items()}
    s = 2 * v["eta"] * v["K"] / v["n"]
    windows = ((w * s + v["D"] + s) ** 2 / w for w in range(1, int(setting["T"]) + 1))
    exactly = v["alpha"] / (2 * v["sigma"] ** 2) * min(v["T"] * s**2, *windows, mp.inf)
    told = EVALUATORS["altschuler_talwar_b1"](setting)
    assert exactly <= mpf(told) <= exactly * (1 + mpf(10) ** -12)


@_QUICK
@given(setting=settings())
def test_ours_is_never_above_the_papers_nor_the_anchors(setting: dict[str, float]) -> None:
    setting = _full(setting)
    at = {name: evaluate(setting) for name, evaluate in _FIXED.items()}
    for kind in _KINDS:
        ours = at[f"shift_{kind}"]
        rivals = [at["composition"], at[f"last_step_{kind}"]]
        rivals += [at[f"chien_li_3_1_{kind}"]] if kind in ("smooth", "convex", "strongly_convex") else []
        rivals += [at["chien_li_3_7"]] if kind == "holder" else []
        rivals += [at["altschuler_talwar_b1"]] if kind == "convex" else []
        assert ours <= min(rivals) * (1 + 1e-9), kind
    assert WRONG_BOUNDS["affine_untested"](setting) <= at["chien_li_3_1_smooth"] * (1 + 1e-9)


@_QUICK
@given(setting=settings())
def test_epsilon_is_linear_in_the_order(setting: dict[str, float]) -> None:
    setting = _full(setting)
    for name, evaluate in _FIXED.items():
        twice = evaluate(setting | {"alpha": 2 * setting["alpha"]})
        assert twice == pytest.approx(2 * evaluate(setting), rel=1e-12), name


def test_no_step_no_loss() -> None:
    setting = _SETTING | {"T": 0}
    assert {evaluate(setting) for evaluate in EVALUATORS.values()} == {0.0}


def test_without_projection() -> None:
    setting = _SETTING | {"D": inf}
    composition = EVALUATORS["composition"](setting)
    for kind in ("smooth", "convex", "holder", "clipped"):
        assert EVALUATORS[f"last_step_{kind}"](setting) == inf
        assert EVALUATORS[f"shift_{kind}"](setting) == pytest.approx(composition, rel=1e-12)
    assert EVALUATORS["shift_strongly_convex"](setting) < EVALUATORS["chien_li_3_1_strongly_convex"](setting) < 0.5
    assert WRONG_BOUNDS["affine_untested"](setting) < 0.3 * composition  # and is no bound: its path is infeasible
