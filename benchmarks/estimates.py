"""Processor time of a search with default settings, in this tree and in another one.

    python -m benchmarks.estimates [--against FOLDER] [--limit SECONDS] [--device cuda] [NAMES]

FOLDER is a checkout of another commit (`git worktree add FOLDER COMMIT`). The trees take turns, each network in a
process of its own with one thread, whose imports are not counted. On CUDA larger networks are searched with the
smallest settings.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, Final

ORDERS: Final = (0.25, 0.5, 0.75, 1.0)
_ROOT: Final = Path(__file__).parents[1]


def _networks() -> dict[str, tuple[Callable[[], Any], tuple[Any, Any]]]:
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self, inner: nn.Module, around: nn.Module) -> None:
            super().__init__()
            self.inner, self.around = inner, around

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.around(x) + self.inner(x)

    class Attention(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.norm, self.heads = nn.LayerNorm(width), heads
            self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows, tokens, width = x.shape
            parts = self.into(self.norm(x)).reshape(rows, tokens, 3, self.heads, width // self.heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            weights = torch.softmax(query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5, dim=-1)
            return self.out((weights @ value).transpose(1, 2).reshape(rows, tokens, width))

    class Mean(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mean(dim=1)

    def transformer(words: int, width: int, heads: int, blocks: int) -> nn.Module:
        parts: list[nn.Module] = [nn.Embedding(words, width)]
        for _ in range(blocks):
            wide = [nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)]
            parts += [
                Residual(Attention(width, heads), nn.Identity()),
                Residual(nn.Sequential(*wide), nn.Identity()),
            ]
        return nn.Sequential(*parts, nn.LayerNorm(width), Mean(), nn.Linear(width, 4))

    def block(into: int, out: int, stride: int) -> nn.Module:
        around = nn.Identity() if into == out else nn.Conv2d(into, out, 1, stride)
        first = [nn.Conv2d(into, out, 3, stride, 1), nn.GroupNorm(8, out), nn.SiLU()]
        return Residual(nn.Sequential(*first, nn.Conv2d(out, out, 3, 1, 1), nn.GroupNorm(8, out)), around)

    def cnn() -> nn.Module:
        first = [nn.Conv2d(3, 32, 3, 2, 1), nn.GELU(), nn.Conv2d(32, 64, 3, 2, 1), nn.GELU()]
        return nn.Sequential(*first, nn.Flatten(), nn.Linear(4096, 240), nn.GELU(), nn.Linear(240, 10))

    def resnet() -> nn.Module:
        widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        blocks = [block(a, b, 1 if a == b else 2) for a, b in pairwise(widths)]
        ends = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
        return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1), nn.GroupNorm(8, 64), nn.SiLU(), *blocks, *ends)

    seeded = torch.Generator().manual_seed(0)
    classes = torch.randint(4, (150,), generator=seeded)
    images = torch.randn(16, 3, 32, 32, generator=seeded), classes[:16]
    words = torch.randint(60, (64, 12), generator=seeded), classes[:64]
    return {
        "mlp-101": (
            lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5)),
            (torch.randn(150, 6, generator=seeded), classes),
        ),
        "transformer-9k": (lambda: transformer(60, 28, 4, 1), words),
        "cnn-1m": (cnn, images),
        "resnet-18": (resnet, images),
        "transformer-5m": (lambda: transformer(1000, 256, 8, 9), words),
    }


def _one(name: str, device: str) -> None:
    """Search one network and print processor and wall time and what was found."""
    import torch

    torch.set_num_threads(1)
    import torch._dynamo  # torch imports it at the first gradient
    from torch.nn.functional import cross_entropy

    from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
    from lastiterate.runtime.training.descent import paper_run
    from lastiterate.runtime.workloads.loading import load_workload
    from lastiterate.runtime.workloads.workload import Workload

    if name.startswith("builtin:"):
        workload = load_workload(name, None, None)
    else:
        module, data = _networks()[name]
        workload = Workload(name, module, cross_entropy, *data)
    run = paper_run(workload) if device == "cpu" else paper_run(workload, steps=2)
    orders, centers = (ORDERS, workload.recommended.get("centers")) if device == "cpu" else ((1.0,), 2)
    begun = time.process_time(), time.perf_counter()
    found = worst_case_constants(workload, run, orders, centers=centers, device=device)
    times = time.process_time() - begun[0], time.perf_counter() - begun[1]
    print(json.dumps({"cpu": times[0], "wall": times[1], "found": [pair.constant for pair in found.searched]}))


def _timed(tree: Path, name: str, device: str, limit: int) -> dict[str, Any]:
    """Result of `_one` in a tree, which has found nothing if it reached the limit of processor time.

    Raises:
        RuntimeError: the process ended in another way.
    """
    done = subprocess.run(  # noqa: S603
        [sys.executable, __file__, "--one", name, "--device", device],
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"cpu": limit, "wall": inf, "found": []}
    if done.returncode:
        raise RuntimeError(f"{tree}, {name}: exit status {done.returncode}, {done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(names: list[str], against: Path | None, device: str, limit: int) -> Iterator[str]:
    """Rows of the table, as soon as they are measured."""
    yield "| network | device | other, CPU s | this, CPU s | ratio | this, wall s | other found | found |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for name in names:
        own = _timed(_ROOT, name, device, limit)
        other = None if against is None else _timed(against, name, device, limit)
        said = [", ".join(f"{x:.5g}" for x in one["found"]) if one else "" for one in (other, own)]
        before = "" if other is None else f"{'' if other['found'] else '> '}{other['cpu']:.1f}"
        after = f"{'' if own['found'] else '> '}{own['cpu']:.1f}"
        ratio = "" if other is None else f"{'' if other['found'] else '> '}{other['cpu'] / own['cpu']:.1f}"
        yield f"| {name} | {device} | {before} | {after} | {ratio} | {own['wall']:.1f} | {said[0]} | {said[1]} |"


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--one")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=int, default=400)
    given = parser.parse_args()
    if given.one:
        _one(given.one, given.device)
        return
    usual = ["builtin:iris-mlp", "mlp-101", "transformer-9k", "cnn-1m"]
    names = given.names or (usual if given.device == "cpu" else ["mlp-101", "resnet-18", "transformer-5m"])
    for row in rows(names, given.against, given.device, given.limit):
        print(row, flush=True)


if __name__ == "__main__":
    _main()
