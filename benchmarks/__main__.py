"""Run every benchmark and write RESULTS.md beside this file; with --device cuda only the GPU benchmarks.

    python -m benchmarks
    python -m benchmarks --device cuda     # writes cuda.md, which RESULTS.md takes in

The second needs torch, numpy, scipy, scikit-learn, python-flint and, for the transformer, the `transformer` extra; it
takes a few minutes.
"""

import argparse
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.table import Limit, Missing, Row, limits, ratios

_HERE = Path(__file__).parent
_RESULTS = _HERE / "RESULTS.md"
_AS_WRITTEN = argparse.RawDescriptionHelpFormatter
_PACKAGES = (
    *("lastiterate", "numpy", "scipy", "python-flint", "sympy", "z3-solver", "torch"),
    *("dp-accounting", "opacus", "prv-accountant", "autodp"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__, formatter_class=_AS_WRITTEN)
    parser.add_argument("--device", default="cpu", help="cpu for everything, or cuda, cuda:INDEX, mps")
    device = parser.parse_args().device
    if device == "cpu":
        everything()
    else:
        on_device(device)


def on_device(device: str) -> None:
    """The GPU benchmarks, written to a separate file."""
    import torch

    from benchmarks import devices, gradients

    kind = devices.there(device).type
    name = f"{torch.cuda.get_device_name(device)}, driver {devices.driver()}" if kind == "cuda" else kind
    rows = [*gradients.measure(device), *devices.measure(device)]
    kept = devices.memory(device)
    parts = [f"{name}. {_head(os.getloadavg()[0], f'python -m benchmarks --device {device}')}", ratios(rows)]
    file = _HERE / f"{kind}.md"
    file.write_text("\n\n".join([*parts, *([limits(kept)] if kept else [])]) + "\n")
    print(file.read_text())


def everything() -> None:
    """All benchmarks of the CPU, with what was last written on a GPU."""
    from benchmarks import accounting, audits, batches, bounds, last_iterate, ledger

    load = os.getloadavg()[0]
    rows: list[Row | Missing] = [*bounds.speed()]
    eager: list[str] = []
    try:
        from benchmarks import compiled, coupled, factored, gradients
    except ImportError:  # torch is in the runtime extra
        print("gradients, factored, coupled: skipped, torch is not installed")
    else:
        rows += gradients.measure()
        rows += factored.measure()
        rows += coupled.measure()
        eager = [f"## torch.compile\n\n{compiled.WORDS}", compiled.table()]
    kept: list[tuple[str, Sequence[Limit]]] = [
        ("Growth with the number of steps", bounds.growth()),
        ("Memory", bounds.memory()),
        (
            "Long runs with batches",
            [*batches.without_replacement(), *batches.in_epochs(), *batches.hidden_places()],
        ),
        ("The ledger", ledger.check()),
    ]
    parts = ["# Benchmarks", _head(load), "## Against baselines", ratios(rows)]
    for title, table in kept:
        parts += [f"## {title}", limits(table) if table else "`lastiterate check` does not run here."]
    parts += [*eager, "## On a GPU", *_from_devices()]
    parts += ["## Other accountants", _PEERS]
    parts += ["### Renyi divergence of one step", accounting.standings(accounting.renyi())]
    parts += ["### Epsilon of a run at a delta", accounting.standings(accounting.epsilons())]
    parts += ["### Known failures, Renyi divergence of one step", _failures(accounting.known_failures())]
    parts += ["## What audits certify", audits.WORDS, audits.table()]
    parts += [
        "## The last iterate beside composition",
        last_iterate.WORDS,
        last_iterate.table(last_iterate.measured()),
    ]
    _RESULTS.write_text("\n\n".join(parts) + "\n")
    print(_RESULTS.read_text())


_PEERS = (
    "All on one grid in one run, every accountant warmed up first. *above* and *below* are relative distances from the "
    "rigorous value: an enclosure for the Renyi divergence; for epsilon the interval between a lower bound (losses "
    "rounded down) and our certified upper bound. A number *below* the rigorous value promises more privacy than there "
    "is. *too small* counts those that are below by more than 1e-9; *lost* counts inf, nan and errors."
)


def _failures(known: Sequence[Sequence[str]]) -> str:
    lines = ["| setting | rigorous value | accountant | answer |", "|---|--:|---|--:|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in known)])


def _from_devices() -> list[str]:
    """The sections that runs with --device wrote, or that there is none."""
    written = [file for file in (_HERE / "cuda.md", _HERE / "mps.md") if file.exists()]
    return [file.read_text().strip() for file in written] or [
        "No GPU has been measured yet: `make bench-gpu` does it."
    ]


def _head(load: float, command: str = "make bench") -> str:
    cores = os.cpu_count() or 1
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    busy = (
        f" The machine was busy (load {load:.1f} on {cores} cores before the first measurement): read the ratios, "
        "not the times."
        if load > 0.5
        else ""
    )
    return (
        f"Written by `{command}` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. Both times of a ratio are of one run; "
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
