"""`bound`: against the baseline of A.13, in T, and in memory.

Setting of the paper: K = 2, eta = 0.1, n = 5, D = 1, noise 1, L = 1.
"""

from dataclasses import replace
from time import perf_counter

from benchmarks.a13 import Setting, hoelder, smooth
from benchmarks.fresh import in_a_process
from benchmarks.table import Limit, Row, median_time
from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Clipped, Holder, Smooth
from lastiterate.numeric.published.chien_li import theorem_3_1, theorem_3_7
from lastiterate.numeric.run import NoisySGD

__all__ = ["growth", "memory", "speed"]

_PAPER = Setting(steps=200, samples=5, eta=0.1, K=2.0, D=1.0, L=1.0)

_MEMORY = """
import tracemalloc
from lastiterate.numeric.losses.assumptions import Holder, Smooth
from lastiterate.numeric.bound import bound
from lastiterate.numeric.run import NoisySGD
loaded = peak()
run = NoisySGD(steps=10**6, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
traced = sys.argv[2] == "traced"
if traced:
    tracemalloc.start()
bound(run, Smooth(1) if sys.argv[1] == "smooth" else Holder(1, 0.5), order=2)
used = tracemalloc.get_traced_memory()[1] / 2**20 if traced else 0
found = {"traced": used, "loaded": loaded, "resident": peak()}
"""


def _run(setting: Setting) -> NoisySGD:
    return NoisySGD(
        steps=setting.steps,
        step_size=setting.eta,
        noise_std=1.0,
        clip_norm=setting.K,
        dataset_size=setting.samples,
        diameter=setting.D,
    )


def speed() -> list[Row]:
    """`bound` against A.13; the baseline runs once, it takes seconds."""
    return [_smooth(), _hoelder()]


def _smooth() -> Row:
    start = perf_counter()
    theirs = smooth(_PAPER)
    slow = perf_counter() - start
    fast, ours = median_time(lambda: bound(_run(_PAPER), Smooth(_PAPER.L)).cost)
    printed = theorem_3_1(
        1 + _PAPER.eta * _PAPER.L, _PAPER.s, 2 * _PAPER.eta * _PAPER.K, _PAPER.D, _PAPER.steps
    )
    return Row(
        "`bound`, smooth, T = 200",
        "A.13, T = 200",
        slow,
        fast,
        1000.0,
        f"cost {ours:.6f}; A.13 {theirs:.9f}; Theorem 3.1 at its optimum {printed:.9f}"
        + _verdict(ours, theirs),
    )


def _hoelder() -> Row:
    short, long = replace(_PAPER, steps=60, lam=0.5), replace(_PAPER, steps=2000, lam=0.5)
    start = perf_counter()
    theirs = hoelder(short)
    slow = (perf_counter() - start) * long.steps / short.steps
    fast, ours = median_time(lambda: bound(_run(long), Holder(long.L, long.lam)).cost)
    same = bound(_run(short), Holder(short.L, short.lam)).cost
    printed = theorem_3_7(short.eta * short.L, short.lam, short.s, short.D, short.steps)
    return Row(
        "`bound`, Hoelder 1/2, T = 2,000",
        "A.13 at T = 60, times 2000/60",
        slow,
        fast,
        100.0,
        f"T = 60: {same:.6f}, A.13 {theirs:.9f}, Theorem 3.7 at its optimum {printed:.9f}; T = 2,000: {ours:.6f}"
        + _verdict(same, theirs),
    )


def _verdict(ours: float, theirs: float) -> str:
    """Ours is rounded up, theirs is not: a last digit does not count."""
    return "" if ours <= theirs * (1 + 1e-12) else " **ours is larger**"


def growth() -> list[Limit]:
    """Time at T = 1,000,000 over time at T = 1,000."""
    rows = []
    for name, assumption in (
        ("smooth", Smooth(1)),
        ("Hoelder 1/2", Holder(1, 0.5)),
        ("clipping alone", Clipped()),
    ):
        short, _ = median_time(lambda a=assumption: bound(_run(replace(_PAPER, steps=1000)), a).cost)
        long, _ = median_time(lambda a=assumption: bound(_run(replace(_PAPER, steps=10**6)), a).cost)
        note = f"{short * 1e3:.3g} ms and {long * 1e3:.3g} ms"
        rows.append(
            Limit(f"time of `bound` at T = 1,000,000 over T = 1,000, {name}", long / short, "times", 3.0, note)
        )
    return rows


def memory() -> list[Limit]:
    """Peak memory of one `bound` at T = 1,000,000 in a fresh process: traced, and of the process as a whole."""
    rows = []
    for name, kind in (("smooth", "smooth"), ("Hoelder 1/2", "holder")):
        traced, whole = (in_a_process(_MEMORY, kind, how) for how in ("traced", "plain"))
        rows.append(Limit(f"memory traced in `bound`, T = 1,000,000, {name}", traced["traced"], "MiB", 200.0))
        note = f"of which {whole['loaded']:.0f} MiB before the call: the interpreter, numpy, flint"
        rows.append(Limit(f"resident memory of that process, {name}", whole["resident"], "MiB", 200.0, note))
    return rows
