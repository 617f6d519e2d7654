"""Every network of the tests' corpus at every command that measures one: a number, or one sentence.

    python -m benchmarks.networks                             # writes NETWORKS.md beside this file; an hour
    python -m benchmarks.networks --results FILE --stop 600   # continues FILE for ten minutes, and writes NETWORKS.md

The searches are short (few starts and steps), as their results are not compared; those of twenty networks are compared
with brute force by tests/runtime/test_brute_force.py.
"""

import argparse
import json
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).parents[1] / "tests" / "runtime"))  # for the corpus and the doors

from brought_networks import BROUGHT, RIGHTLY_REFUSED
from network_corpus import KINDS, Kind
from network_doors import DOORS

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants import refutation, worst_case_constants
from lastiterate.runtime.gradients import Gradients

_SHORT = {"_STARTS": 4, "_CURVED": 4, "_SCREENED": 8, "_ITERATIONS": 3, "_BENDING": 3}
_ROOT = Path(__file__).parents[1]
_LIMIT = 300
"""Seconds of CPU after which a command is interrupted."""

_WAYS = {
    "fused kernels": "plain kernels",
    "graph of decomposed": "recorded graph",
    "in a loop over pairs of a point and a sample, which is several": "loop",
    "by central differences": "differences",
}


class _LateError(Exception):
    """A command that takes too long."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.networks", description=__doc__)
    parser.add_argument("--results", default="", help="file of results to continue, one in a line")
    parser.add_argument("--kinds", default="", help="names of networks, separated by commas; all by default")
    parser.add_argument("--doors", default="", help="names of commands, separated by commas; all by default")
    parser.add_argument("--page", default="yes", help="no: do not write NETWORKS.md")
    parser.add_argument("--stop", type=float, default=float("inf"), help="seconds after which to stop")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name, value in _SHORT.items():
        setattr(worst_case_constants, name, value)
    refutation._STARTS = refutation._ITERATIONS = 8
    with tempfile.TemporaryDirectory() as folder:
        file = Path(given.results or f"{folder}/results.jsonl")
        file.touch()
        _continue(
            file,
            given.kinds.split(",") if given.kinds else [],
            given.doors or ",".join(["way", *DOORS]),
            given.stop,
        )
        found = [json.loads(line) for line in file.read_text().splitlines()]
    if given.page == "yes" and not given.kinds:
        (Path(__file__).parent / "NETWORKS.md").write_text(_page(found))


def _continue(file: Path, names: Sequence[str], doors: str, stop: float) -> None:
    done = {(one["kind"], one["door"]) for one in map(json.loads, file.read_text().splitlines())}
    ends = time.monotonic() + stop
    for door in doors.split(","):
        for kind in [*KINDS, *BROUGHT]:
            if time.monotonic() > ends:
                return
            if (kind.name, door) not in done and (not names or kind.name in names):
                with file.open("a") as out:
                    out.write(json.dumps({"kind": kind.name, "door": door} | measured(kind, door)) + "\n")


def measured(kind: Kind, door: str) -> dict[str, Any]:
    """Number or sentence of one network at one command, or the trace of another error."""

    def late(*_: Any) -> None:
        raise _LateError

    kept = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, _LIMIT)
    start, result = time.process_time(), {}
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if door == "way":
                result["way"] = _way(kind)
            else:
                result["number"] = DOORS[door](kind, Path(folder))
    except InputError as error:
        result["refused"] = str(error)
    except _LateError:
        result["late"] = traceback.format_exc()
    except Exception:
        result["crash"] = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, kept)
    result["warned"] = sorted({f"{one.category.__name__}: {one.message} ({one.filename})" for one in seen})
    return result | {"seconds": round(time.process_time() - start, 2)}


def _way(kind: Kind) -> str:
    """Ways in which gradients and products with Hessians are computed."""
    work = kind.workload()
    gradients = Gradients(work, work.initial(0))
    gradients.engine.way("products")
    words = gradients.engine.words()
    return ", ".join(way for said, way in _WAYS.items() if said in words) or "as it is"


def _page(found: Sequence[dict[str, Any]]) -> str:
    """The table of all results, and counts."""
    results = {(one["kind"], one["door"]): one for one in found}
    kinds = [
        kind for kind in [*KINDS, *BROUGHT] if any((kind.name, door) in results for door in ("way", *DOORS))
    ]
    first = [one for one in found if one["door"] == "estimate"]
    numbers = sum("number" in one for one in first)
    found = [one for one in found if one["door"] in DOORS]
    wrong = [one for one in found if "crash" in one or "late" in one]
    words = (
        f"Written by `python -m benchmarks.networks`: {len(kinds)} networks of `tests/runtime/network_corpus.py` and "
        f"`brought_networks.py`. {len(first)} of them were given to `estimate`, and {numbers} get a number; "
        f"{len(RIGHTLY_REFUSED)} are in the corpus because they must be refused. {len(found)} calls, of which "
        f"{len(wrong)} end in another error than one sentence or take more than five minutes of CPU. The searches are "
        "short."
    )
    lines = [
        "# Networks",
        "",
        words,
        "",
        "| command | called | number | one sentence | other |",
        "|---|--:|--:|--:|--:|",
    ]
    for door in DOORS:
        own = [one for one in found if one["door"] == door]
        counts = [sum(key in one for one in own) for key in ("number", "refused")]
        lines.append(f"| {door} | {len(own)} | {counts[0]} | {counts[1]} | {len(own) - sum(counts)} |")
    lines += ["", "| network | gradients and Hessians | constant found | others |", "|---|---|--:|---|"]
    lines += [_line(kind.name, results) for kind in kinds]
    return "\n".join(lines) + "\n"


def _line(name: str, results: dict[tuple[str, str], dict[str, Any]]) -> str:
    said = {"estimate": "not run"} | {
        door: _words(results[name, door]) for door in DOORS if (name, door) in results
    }
    ways = results.get((name, "way"), {"way": ""})
    way = ways.get("way", "")
    others = [
        f"{door}: {words}"
        for door, words in said.items()
        if door not in ("estimate", "certified") and not _is_number(words) and words != said["estimate"]
    ]
    if _is_number(said["estimate"]) or said["estimate"] == "not run":
        proved = said.get("certified", "")
        others = [f"certified: {proved}"] * _is_number(proved) + others
        return f"| {name} | {way} | {said['estimate']} | {'; '.join(others)} |"
    return f"| {name} | | | {'; '.join([said['estimate'], *others])} |"


def _words(one: dict[str, Any]) -> str:
    if "number" in one:
        return f"{one['number']:.4g}"
    said = one.get("refused") or next(one[key] for key in ("crash", "late") if key in one).splitlines()[-1]
    said = re.sub(r" (for|in) workload=.*?(?=;)", "", str(said))
    said = re.sub(r"\S*/(tmp\w+|site-packages)/", "", said.replace(f"{_ROOT}/", ""))
    return said.replace("|", "\\|").replace("\n", " ")


def _is_number(words: str) -> bool:
    try:
        float(words)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    main()
