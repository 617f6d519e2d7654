"""No certified number depends on how the machine rounds, nor on the precision python-flint happens to be in.

`machine_numbers` is run once in a process of its own, under every rounding mode of the machine and several
precisions; here each number is compared with the truth, in closed form at 60 digits, or with a certified number from
the other side.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import mpmath as mp
import pytest
from bracketing import bracket
from mpmath import mpf
from shared import made_once

import lastiterate as li

pytestmark = pytest.mark.nightly  # seven modes take as long as a hundred other tests

_FILE = Path(__file__).with_name("machine_numbers.py")
_MODES = ("nearest", "downward", "upward", "toward zero", "20 bits", "30 bits", "1000 bits")


Numbers = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    """Every number in every mode."""

    def measure(path: Path) -> None:
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(  # noqa: S603
            [sys.executable, str(_FILE)], capture_output=True, text=True, env=environment, check=True
        )
        path.write_text(done.stdout)

    found: dict[str, dict[str, str]] = json.loads(
        made_once(tmp_path_factory, "numbers.json", measure).read_text()
    )
    return {mode: {name: float.fromhex(one) for name, one in rows.items()} for mode, rows in found.items()}


def _up(q: mpf, s: mpf, order: int) -> mpf:
    """S_up for an integer order: 1/(a-1) log sum C(a,j) (1-q)^(a-j) q^j exp(j(j-1)/(2 s^2))."""
    parts = (
        mp.binomial(order, j) * (1 - q) ** (order - j) * q**j * mp.exp(j * (j - 1) / (2 * s**2))
        for j in range(order + 1)
    )
    return mp.log(mp.fsum(parts)) / (order - 1)


def _gaussian(mu: mpf, delta: mpf) -> mpf:
    def profile(e: mpf) -> mpf:
        return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu) - delta

    return _root(profile)


def _root(falling: Callable[[mpf], mpf]) -> mpf:
    """Where a falling function is 0, by halving [0, 64]."""
    low, high = mpf(0), mpf(64)
    for _ in range(190):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


def _window(s: mpf, c: mpf, D: mpf, steps: int) -> mpf:
    """The least of (s V + D)^2 / W over feasible windows, of composition, and of one last step."""
    costs = [steps * s**2, (c * D + s) ** 2]
    for w in range(1, steps + 1):
        V, W = mp.fsum(c**-j for j in range(1, w + 1)), mp.fsum(c ** (-2 * j) for j in range(1, w + 1))
        lam = (s * V + D) / W
        if c <= 1 or lam * c**-w >= s:
            costs.append((s * V + D) ** 2 / W)
    return min(costs)


@cache
def _truth() -> dict[str, mpf]:
    with mp.workdps(60):
        eta, tenth = mpf(0.1), mpf(1) / 10
        step = 2 * eta * mpf(1.7) / 3
        c, s = 1 - eta, 2 * eta * 2 / 5
        squared = 7 * (step / mpf(0.3)) ** 2
        geometric = s**2 * (1 + c) * (1 - c**9) / ((1 - c) * (1 + c**9)) / mpf(0.7) ** 2

        def once(e: mpf) -> mpf:  # H of the mixture at e^eps is q H of the Gaussian at 1 + (e^eps - 1) / q
            q = mpf(0.01)
            t = 1 + mp.expm1(e) / q
            return q * (mp.ncdf(0.5 - mp.log(t)) - t * mp.ncdf(-0.5 - mp.log(t))) - mpf(1e-5)

        slope = 2 * eta * 2  # clipping alone: z + 2 eta K from the diameter on
        return {
            "composition": mpf(2.3) / 2 * squared,
            "composition, delta": _gaussian(mp.sqrt(squared), mpf(1e-5)),
            "contraction": geometric,
            "window": _window(s, 1 + eta * 4 / 5, mpf(1), 200),
            "clipped": min((10 + m * slope) ** 2 / m for m in range(1, 5001)),
            "drawn once": _up(tenth, mpf(1) / 2, 20),
            "drawn once, delta": _root(once),
            "drawn often": 300 * _up(mpf(0.01), mpf(1), 4),
            "s_up": _up(mpf(0.1), mpf(1) / 2, 20),
            "calibrated": mp.sqrt(7) * step,
        }


@cache
def _certified_below() -> dict[str, float]:
    """For what has no closed form: certified from below, under the usual mode."""
    sys.path.insert(0, str(_FILE.parent))
    try:
        import machine_numbers as m
    finally:
        sys.path.pop(0)
    return {
        "holder": bracket(li.ShiftProgram(m.CURVED, m.HOLDER)).lower,
        "schedule": bracket(li.ShiftProgram(m.VARIED, m.BENT)).lower,
        "drawn often, delta": li.lower_bound(m.POISSON, li.Convex(1.0), delta=1e-5).value,
        "drawn in a window": li.lower_bound(m.WINDOWED, li.Convex(1.0), order=4.0).value,
        "shuffled": li.lower_bound(m.SHUFFLED, li.Convex(1.0), order=3.0).value,
        "contraction of tables": li.lower_bound(m.PROJECTED, li.Smooth(1.0), order=2.0).value,
        "contraction of tables, delta": li.lower_bound(m.CURVED, m.HOLDER, delta=1e-5).value,
        "s_down": 0.0807336,
    }


@pytest.mark.parametrize("mode", _MODES)
def test_bounds_are_above(mode: str, numbers: Numbers) -> None:
    if mode not in numbers:
        pytest.skip("the machine has no such mode")
    found = numbers[mode]
    with mp.workdps(60):
        for name, truth in (_truth() | _certified_below()).items():
            assert mpf(found[name]) >= truth * (1 - mpf(10) ** -40), name
            assert name in _certified_below() or mpf(found[name]) <= truth * (1 + mpf(10) ** -2), name


@pytest.mark.parametrize("mode", _MODES)
def test_lower_bounds_are_below(mode: str, numbers: Numbers) -> None:
    if mode not in numbers:
        pytest.skip("the machine has no such mode")
    found, usual = numbers[mode], numbers["nearest"]
    with mp.workdps(60):
        for name in (name for name in found if name.endswith(", below")):
            above = name.removesuffix(", below")
            truth = _truth().get(above, mpf(usual[above]))
            assert mpf(found[name]) <= truth * (1 + mpf(10) ** -40), name
            assert found[name] > 0.1 * truth, name


def test_all_modes_were_tried(numbers: Numbers) -> None:
    """Linux on x86 and ARM has them all."""
    assert set(numbers) == set(_MODES)
