"""Run every benchmark and write RESULTS.md beside this file."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import bounds, divergences, ledger
from benchmarks.table import Limit, Row, limits, ratios

_RESULTS = Path(__file__).with_name("RESULTS.md")
_PACKAGES = ("lastiterate", "numpy", "scipy", "python-flint", "sympy", "z3-solver", "torch", "dp-accounting")


def main() -> None:
    load = os.getloadavg()[0]
    rows: list[Row] = bounds.speed()
    try:
        from benchmarks import gradients
    except ImportError:  # torch is in the runtime extra
        print("gradients: skipped, torch is not installed")
    else:
        rows += gradients.measure()
    rows += divergences.speed()
    kept: list[tuple[str, Sequence[Limit]]] = [
        ("Growth with the number of steps", bounds.growth()),
        ("Memory", bounds.memory()),
        ("The certified bracket", bounds.brackets()),
        ("Divergences", divergences.accuracy()),
        ("The ledger", ledger.check()),
    ]
    parts = ["# Benchmarks", _head(load), "## Against baselines", ratios(rows)]
    for title, table in kept:
        parts += [f"## {title}", limits(table) if table else "`lastiterate check` does not run here."]
    _RESULTS.write_text("\n\n".join(parts) + "\n")
    print(_RESULTS.read_text())


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
