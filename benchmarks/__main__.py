"""Run every benchmark and write RESULTS.md beside this file."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import accounting, batches, bounds, divergences, ledger
from benchmarks.table import Limit, Row, limits, ratios

_RESULTS = Path(__file__).with_name("RESULTS.md")
_PACKAGES = (
    *("lastiterate", "numpy", "scipy", "python-flint", "sympy", "z3-solver", "torch"),
    *("dp-accounting", "opacus", "prv-accountant", "autodp"),
)


def main() -> None:
    load = os.getloadavg()[0]
    rows: list[Row] = bounds.speed()
    try:
        from benchmarks import coupled, gradients
    except ImportError:  # torch is in the runtime extra
        print("gradients, coupled: skipped, torch is not installed")
    else:
        rows += gradients.measure()
        rows += coupled.measure()
    rows += divergences.speed()
    kept: list[tuple[str, Sequence[Limit]]] = [
        ("Growth with the number of steps", bounds.growth()),
        ("Memory", bounds.memory()),
        ("Long runs with batches", [*batches.without_replacement(), *batches.in_epochs()]),
        ("The certified bracket", bounds.brackets()),
        ("Divergences", divergences.accuracy()),
        ("The ledger", ledger.check()),
    ]
    parts = ["# Benchmarks", _head(load), "## Against baselines", ratios(rows)]
    for title, table in kept:
        parts += [f"## {title}", limits(table) if table else "`lastiterate check` does not run here."]
    parts += ["## Other accountants", _PEERS]
    parts += ["### Renyi divergence of one step", accounting.standings(accounting.renyi())]
    parts += ["### Epsilon of a run at a delta", accounting.standings(accounting.epsilons())]
    parts += ["### Known failures, Renyi divergence of one step", _failures()]
    _RESULTS.write_text("\n\n".join(parts) + "\n")
    print(_RESULTS.read_text())


_PEERS = (
    "All on one grid in one run, every accountant warmed up first. *above* and *below* are relative distances from the "
    "rigorous value: an enclosure for the Renyi divergence; for epsilon the interval between a lower bound (losses "
    "rounded down) and our certified upper bound. A number *below* the rigorous value promises more privacy than there "
    "is. *too small* counts those that are below by more than 1e-9; *lost* counts inf, nan and errors."
)


def _failures() -> str:
    lines = ["| setting | rigorous value | accountant | answer |", "|---|--:|---|--:|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in accounting.known_failures())])


def _head(load: float) -> str:
    cores = os.cpu_count() or 1
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    busy = (
        f" The machine was busy (load {load:.1f} on {cores} cores before the first measurement): read the ratios, "
        "not the times."
        if load > 0.5
        else ""
    )
    return (
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. Both times of a ratio are of one run; "
        "times are medians, except that the baseline of A.13 runs once. Costs are in units of the noise "
        f"(epsilon at order alpha is alpha / 2 times the cost).{busy}\n\n"
        f"Machine: {_processor()}, {cores} cores, {platform.system()} {platform.machine()}. "
        f"Python {platform.python_version()}, {versions}."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


main()
