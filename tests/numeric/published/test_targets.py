"""Targets of attacks by name: formulas in 60 digits, order between them, and the direction of rounding."""

from math import inf

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import settings as options
from mpmath import mpf
from oracle import expand
from programs import run_of, settings

from lastiterate.numeric.losses.assumptions import Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.proofs_checks.attacks.targets import TARGETS

pytestmark = pytest.mark.usefixtures("sixty_digits")

_FULL = ("composition", "affine_untested", "chien_li_3_7", "altschuler_talwar_b1")
_FIXED = {
    name: target.evaluate
    for name, target in TARGETS.items()
    if not target.settings
    and (name in _FULL or name.startswith(("chien_li_3_1_", "shifts_full_", "last_step")))
}
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
        told = TARGETS[name].evaluate(setting)
        assert exactly <= mpf(told) <= exactly * (1 + mpf(10) ** -12), name


@_QUICK
@given(setting=settings())
def test_altschuler_talwar_b1(setting: dict[str, float]) -> None:
    setting = _full(setting)
    v = {name: mpf(value) for name, value in setting.items()}
    s = 2 * v["eta"] * v["K"] / v["n"]
    windows = ((w * s + v["D"] + s) ** 2 / w for w in range(1, int(setting["T"]) + 1))
    exactly = v["alpha"] / (2 * v["sigma"] ** 2) * min(v["T"] * s**2, *windows, mp.inf)
    told = TARGETS["altschuler_talwar_b1"].evaluate(setting)
    assert exactly <= mpf(told) <= exactly * (1 + mpf(10) ** -12)


@_QUICK
@given(setting=settings())
def test_ours_is_never_above_the_papers_nor_the_anchors(setting: dict[str, float]) -> None:
    setting = _full(setting)
    at = {name: evaluate(setting) for name, evaluate in _FIXED.items()}
    for kind in _KINDS:
        ours = at[f"shifts_full_{kind}"]
        rivals = [at["composition"], at[f"last_step_{kind}"]]
        rivals += [at[f"chien_li_3_1_{kind}"]] if kind in ("smooth", "convex", "strongly_convex") else []
        rivals += [at["chien_li_3_7"]] if kind == "holder" else []
        rivals += [at["altschuler_talwar_b1"]] if kind == "convex" else []
        assert ours <= min(rivals) * (1 + 1e-9), kind
    assert at["affine_untested"] <= at["chien_li_3_1_smooth"] * (1 + 1e-9)


@_QUICK
@given(setting=settings())
def test_epsilon_is_linear_in_the_order(setting: dict[str, float]) -> None:
    setting = _full(setting)
    for name, evaluate in _FIXED.items():
        twice = evaluate(setting | {"alpha": 2 * setting["alpha"]})
        assert twice == pytest.approx(2 * evaluate(setting), rel=1e-12), name


def test_without_projection() -> None:
    setting = _SETTING | {"D": inf}
    composition = TARGETS["composition"].evaluate(setting)
    for kind in ("smooth", "convex", "holder", "clipped"):
        assert TARGETS[f"last_step_{kind}"].evaluate(setting) == inf
        assert TARGETS[f"shifts_full_{kind}"].evaluate(setting) == pytest.approx(composition, rel=1e-12)
    assert (
        TARGETS["shifts_full_strongly_convex"].evaluate(setting)
        < TARGETS["chien_li_3_1_strongly_convex"].evaluate(setting)
        < 0.5
    )
    # And it is not a bound: its path is infeasible.
    assert TARGETS["affine_untested"].evaluate(setting) < 0.3 * composition
