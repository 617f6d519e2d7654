"""What holds of all tests: how hypothesis draws, that Ctrl-C interrupts, that JSON is as its schema says."""

import atexit
import gc
import json
import os
import signal
import sys
from functools import wraps
from pathlib import Path
from typing import Any

# Before numpy and torch: the matrices are small, and on two threads, which wait busily, take several times as long.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import click
import jsonschema
import pytest
from hypothesis import settings

from lastiterate.commands import output

sys.path.insert(0, str(Path(__file__).parent))  # for `processes`, `shared` and `stopping`
sys.path.append(str(Path(__file__).parents[1] / "examples"))  # for `dp_events` and `one_run`
sys.path.append(str(Path(__file__).parents[1] / "examples" / "figures"))  # for `random_projection`
sys.path.append(
    str(Path(__file__).parents[1] / "examples" / "trainers")
)  # for `recorded_sgd` and `trainer_record`

sys.path.append(str(Path(__file__).parents[1] / "docs" / "generate"))  # for `schemas`

from schemas import schemas

# A shell has what it starts in the background ignore Ctrl-C, and so would every command that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hypothesis draws afresh on a developer's machine and in `make nightly`; CI repeats the same examples every time, half
# as many where a test does not say how many.
settings.register_profile("fresh", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=50)
settings.load_profile("ci" if os.environ.get("CI") else "fresh")


gc.set_threshold(100_000, 20, 50)  # expressions are many and hardly ever in circles


def pytest_collection_finish() -> None:
    """Leave out of every later garbage collection what lives as long as the tests do, but for the last."""
    gc.freeze()
    atexit.register(gc.unfreeze)  # else Triton tells of leaks


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End a worker that has reported at once: to take torch apart takes seconds, for which all wait."""
    if hasattr(config, "workerinput"):
        os._exit(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most cases of a sweep to the night; begin with the long tests, so that no core waits for the last one.

    The tests of what Coq compiles come last: one long test compiles it, and the others would wait for that.
    """
    sweeps: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in sweeps.values():
        (by_day,) = cases[0].get_closest_marker("sweep").args  # type: ignore[union-attr]
        kept = {round(i * (len(cases) - 1) / max(by_day - 1, 1)) for i in range(by_day)}
        for place, case in enumerate(cases):
            if place not in kept:
                case.add_marker("nightly")
    items.sort(
        key=lambda item: (
            item.get_closest_marker("long") is None,
            "rules" in getattr(item, "fixturenames", ()),
        )
    )


@pytest.fixture(autouse=True)
def _json_is_as_its_schema_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold whatever a test makes a command print in this process to the schema of the command."""
    original = output.dumped

    @wraps(original)
    def checked(value: Any, indent: int | None) -> str:
        text = original(value, indent)
        context = click.get_current_context(silent=True)
        if context is not None and context.command.callback is not None:
            own = context.command.callback
            module, name = own.__module__.rpartition(".")[2], own.__name__.removesuffix("_command")
            name = module if name == "command" else name
            jsonschema.validate(json.loads(text), schemas()[name])
        return text

    monkeypatch.setattr(output, "dumped", checked)
