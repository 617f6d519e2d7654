"""torch.compile against eager execution: gradients, Gram differences and search steps, and when compiling is paid back.

    python -m benchmarks.compiled

Nothing of the package is compiled: these figures say why.
"""

import warnings
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any, Final, NamedTuple

import torch
from torch.func import vmap

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.devices import keep_freed_memory, threads_of_torch
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.inner_products import prepare_factors, products
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import subset

__all__ = ["WORDS", "table"]

WORDS: Final = (
    "One thread of the CPU, the same arguments for both, processor time. *compiling* is that of the first call; *paid "
    "back* is after how many calls it is earned, each doing the work of so many (point, sample) pairs in one shape: a "
    "search makes some hundred calls in several shapes, each of which is compiled again. Drawn points are what "
    "`lastiterate estimate --draw uniform` repeats; their gradients alone are compiled."
)
_SIZES: Final = {"builtin:iris-mlp": (64, 150, "float64"), "builtin:digits-cnn": (16, 64, "float64"),
                 "minilm:minilm": (1, 4, "float32")}  # fmt: skip
"""Points and samples at once, and the precision."""

_REPEATS: Final = 7


class _Work(NamedTuple):
    name: str
    pairs: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    compiled: Callable[..., Any] | None = None


def table() -> str:
    """Measured ratios as a table."""
    lines = ["| network | work | pairs | eager, ms | compiled, ms | ratio | compiling, s | paid back after |",
             "|---|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    keep_freed_memory()
    with threads_of_torch(1):
        for name, (points, samples, dtype) in _SIZES.items():
            try:
                workload = load_workload(name)
            except InputError as error:
                lines.append(f"| {name} | not measured: {error} | | | | | | |")
                continue
            few = subset(workload, samples, 0) if samples < workload.samples else workload
            gradients = Gradients(few, few.initial(0), dtype=dtype, memory=2**32)
            lines += [f"| {name.partition(':')[2]} | {_row(work)} |" for work in _works(gradients, points)]
    return "\n".join(lines)


def _works(gradients: Gradients, points: int) -> Iterator[_Work]:
    """The kinds of work of a measurement."""
    generator = torch.Generator().manual_seed(0)
    near = gradients.start + 0.01 * torch.randn(points, gradients.dimension, generator=generator).to(
        gradients.start
    )
    rows, targets = (part[:] for part in gradients.rows())
    pairs = points * gradients.samples
    yield _Work("per-sample gradients", pairs, gradients.of_rows, (near, rows, targets))
    if gradients.factored is None:
        yield _Work("drawn points", pairs, _drawn(gradients, points), ())
    else:
        here, there = (
            gradients.factored.at(gradients.parameters(at), slice(None)) for at in (gradients.start, near[0])
        )
        yield _Work("Gram differences", gradients.samples, products, (there, prepare_factors(here)))
    own_sample = torch.arange(len(near)) % gradients.samples
    arguments = (near, torch.ones_like(near), rows[own_sample], targets[own_sample])
    yield _Work("Hessian products of a search step", points, vmap(gradients.curved), arguments)


def _drawn(gradients: Gradients, points: int) -> Callable[[], list[torch.Tensor]]:
    def work() -> list[torch.Tensor]:
        table = measure_center(
            gradients, gradients.start, 1.0, Sampling(points=points, radius=1.0), stream(0, 1)
        )
        return [torch.from_numpy(values) for values in table.differences.values()]

    return work


def _row(work: _Work) -> str:
    slow, expected = _processor_time(work.function, work.arguments)
    torch.compiler.reset()
    compiled = work.compiled or torch.compile(work.function, dynamic=False)
    before = process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(*work.arguments)
    except Exception as error:  # whatever a compiler raises
        return f"{work.name} | {work.pairs} | {1000 * slow:.3g} | - | - | - | does not compile: {type(error).__name__}"
    first = process_time() - before
    fast, found = _processor_time(compiled, work.arguments)
    torch.testing.assert_close(_flat(found), _flat(expected), rtol=1e-3, atol=1e-4)
    after = f"{first / (slow - fast):,.0f} calls" if slow > fast else "never"
    times = f"{1000 * slow:.3g} | {1000 * fast:.3g} | {slow / fast:.2f} | {first:.1f}"
    return f"{work.name} | {work.pairs} | {times} | {after}"


def _processor_time(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, Any]:
    """The median of a few calls, which no other process disturbs; and the result."""
    found, times = function(*arguments), []
    for _ in range(_REPEATS):
        before = process_time()
        found = function(*arguments)
        times.append(process_time() - before)
    return median(times), found


def _flat(found: Any) -> list[torch.Tensor]:
    return [found] if isinstance(found, torch.Tensor) else list(found)


if __name__ == "__main__":
    print(f"{WORDS}\n\n{table()}")
