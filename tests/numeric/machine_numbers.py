"""Certified numbers under the machine's rounding modes and python-flint's precisions; run by `test_machine`.

``python machine_numbers.py`` prints one JSON object: mode -> name -> number, as hexadecimal floats. Everything is
imported before a mode is set, so that no literal is read in a strange mode.
"""

import ctypes
import ctypes.util
import functools
import gc
import json
import platform
from collections.abc import Callable

from flint import ctx

import lastiterate as li
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.divergences import s_down, s_up

PLAIN = li.NoisySGD(7, 0.1, 0.3, 1.7, 3)
CONTRACTING = li.NoisySGD(9, 0.1, 0.7, 2.0, 5)
PROJECTED = li.NoisySGD(200, 0.1, 1.0, 2.0, 5, diameter=1.0)
WIDE = li.NoisySGD(5000, 0.1, 1.0, 2.0, 5, diameter=10.0)
CURVED = li.NoisySGD(60, 0.1, 1.0, 2.0, 5, diameter=0.3)
VARIED = li.NoisySGD(6, (0.1, 0.05, 0.2, 0.1, 0.3, 0.07), (0.3, 0.4, 0.3, 0.7, 0.3, 0.5), 1.0, 4, diameter=0.4)
ONCE = li.NoisySGD(1, 1.0, 1.0, 1.0, 10, batch_size=1, sampling="without_replacement")
SHUFFLED = li.NoisySGD(8, 0.3, 0.7, 1.0, 8, batch_size=2, sampling="shuffled")
WINDOWED = li.NoisySGD(60, 0.1, 0.7, 1.0, 10, batch_size=2, sampling="without_replacement", diameter=0.5)
STEP, MANY = SampledSteps(0.01, 1.0, "add_remove", 1), SampledSteps(0.01, 1.0, "add_remove", 300)
POISSON = li.NoisySGD(50, 1.0, 1.0, 1.0, 100, batch_size=1, sampling="poisson")
HOLDER, BENT, CONTRACTION = li.Holder(1.0, 0.5), li.StronglyConvex(4.0, 1.5), li.StronglyConvex(5.0, 1.0)

ABOVE: dict[str, Callable[[], float]] = {
    "composition": lambda: li.bound(PLAIN, li.Smooth(1.1), order=2.3).epsilon,
    "composition, delta": lambda: li.bound(PLAIN, li.Smooth(1.1), delta=1e-5).epsilon,
    "contraction": lambda: li.bound(CONTRACTING, CONTRACTION, order=2.0).epsilon,
    "window": lambda: bound_by_shifts(PROJECTED, li.Smooth(1.0), order=2.0).epsilon,
    "clipped": lambda: bound_by_shifts(WIDE, li.Clipped(), order=2.0).epsilon,
    "holder": lambda: bound_by_shifts(CURVED, HOLDER, order=2.0).epsilon,
    "schedule": lambda: bound_by_shifts(VARIED, BENT, order=2.0).epsilon,
    "contraction of tables": lambda: li.bound(PROJECTED, li.Smooth(1.0), order=2.0).epsilon,
    "contraction of tables, delta": lambda: li.bound(CURVED, HOLDER, delta=1e-5).epsilon,
    "drawn once": lambda: li.bound(ONCE, li.Smooth(1.0), order=20.0).epsilon,
    "drawn once, delta": lambda: DominatingPair(0.0, (STEP,)).dp(1e-5),
    "drawn often": lambda: DominatingPair(0.0, (MANY,)).rdp(4.0),
    "drawn often, delta": lambda: li.bound(POISSON, li.Convex(1.0), delta=1e-5).epsilon,
    "drawn in a window": lambda: li.bound(WINDOWED, li.Convex(1.0), order=4.0).epsilon,
    "shuffled": lambda: li.bound(SHUFFLED, li.Convex(1.0), order=3.0).epsilon,
    "s_up": lambda: s_up(0.1, 0.5, alpha=20.0).upper,
    "s_down": lambda: s_down(0.1, 0.5, alpha=20.0).upper,
    "calibrated": lambda: li.calibrate(PLAIN, li.Smooth(1.1), epsilon=1.0, order=2.0).run.noise_std,  # type: ignore[dict-item]
}
BELOW: dict[str, Callable[[], float]] = {
    "composition, below": lambda: li.lower_bound(PLAIN, li.Smooth(1.1), order=2.3).value,
    "composition, delta, below": lambda: li.lower_bound(PLAIN, li.Smooth(1.1), delta=1e-5).value,
    "drawn once, below": lambda: li.lower_bound(ONCE, li.Smooth(1.0), order=20.0).value,
    "shuffled, below": lambda: li.lower_bound(SHUFFLED, li.Convex(1.0), order=3.0).value,
    "drawn often, delta, below": lambda: li.lower_bound(POISSON, li.Convex(1.0), delta=1e-5).value,
    "contraction of tables, below": lambda: li.lower_bound(PROJECTED, li.Smooth(1.0), order=2.0).value,
    "s_up, below": lambda: s_up(0.1, 0.5, alpha=20.0).lower,
}

_X86 = {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00}
_ARM = {"downward": 0x800000, "upward": 0x400000, "toward zero": 0xC00000}
_TINY = float.fromhex("0x1p-60")
PRECISIONS = (20, 30, 1000)
"""Other than the usual 53."""


def numbers() -> dict[str, str]:
    """Every number afresh: caches are emptied first."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper):
            one.cache_clear()
    return {name: float(of()).hex() for name, of in (ABOVE | BELOW).items()}


def main() -> None:
    """Print the numbers of every mode."""
    found = {"nearest": numbers()}
    modes = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(platform.machine(), {})
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    for name, mode in modes.items():
        if libm.fesetround(mode):
            continue
        if (1.0 + _TINY > 1.0) != (name == "upward"):
            raise SystemExit(f"the mode {name} has no effect")
        try:
            found[name] = numbers()
        finally:
            libm.fesetround(0)
    for bits in PRECISIONS:
        ctx.prec = bits
        found[f"{bits} bits"] = numbers()
        ctx.prec = 53
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
