"""One measurement by several processes: who computes what, and how the parts come together again.

    torchrun --nproc-per-node 4 -m lastiterate estimate builtin:iris-mlp --device cuda

The parts of a measurement are shared out: some iterates of an initialisation, the ascents and searches of a search, the
checkpoints of a training. Every part draws from a stream of its own, so it does not matter who computes it: the result
is the one of a single process bit by bit, on the same kind of device.

The processes talk through gloo, whatever device the gradients are computed on: only arrays that are on the CPU anyway
are exchanged. A failing process says why and ends; torchrun then ends the others. One that is cut off ends when it has
waited a day.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from time import sleep
from typing import Final

from torch import distributed
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.distributed_c10d import Store as Meeting
from torch.distributed.rendezvous import rendezvous

from lastiterate.numeric.errors import InputError, Interrupted
from lastiterate.numeric.store import Arrays, Store

_PATIENCE: Final = timedelta(days=1)
_MEETING: Final = timedelta(minutes=5)
_A_MOMENT: Final = 0.5
"""Seconds after which torchrun may end the process that is still saying why it fails."""


@dataclass(frozen=True)
class Team:
    """The processes of one measurement, seen from one of them.

    Attributes:
        rank: number of this process, counted from 0.
        size: number of processes.
    """

    rank: int = 0
    size: int = 1


def team() -> Team:
    """The processes that torch's default process group joins; this one alone where there is no group."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return Team()
    return Team(distributed.get_rank(), distributed.get_world_size())


def shared(own: dict[str, Arrays]) -> dict[str, Arrays]:
    """The named arrays of all processes, on every one of them; each must call it.

    Raises:
        InputError: another process ended before.
    """
    me = team()
    if me.size == 1:
        return own
    everyones: list[dict[str, Arrays]] = [{}] * me.size
    try:
        distributed.all_gather_object(everyones, own)
    except RuntimeError as error:
        raise InputError(
            f"What all processes found is needed, got rank={me.rank} of {me.size} waiting for one that ended; see "
            "what that one says, and start them again."
        ) from error
    return {name: arrays for theirs in everyones for name, arrays in theirs.items()}


Tasks = Mapping[str, Callable[[Mapping[str, Arrays]], Arrays]]
"""Parts of a measurement by name, each computed from the parts of earlier phases."""


def in_turn(phases: Sequence[Tasks], tell: Callable[[int, int], None], store: Store | None = None) -> dict[str, Arrays]:
    """All parts, each computed by one of the processes, on every one of them; each must call it.

    Every process computes parts of a phase that follow each other, and those of the next phase are shared out so that
    who has more of one has fewer of the other. ``tell`` is called with (finished, all) parts of this process. Parts
    are kept in ``store`` and found again.

    Raises:
        InputError: another process ended before.
    """
    me, found, before = team(), dict[str, Arrays](), 0
    own: list[list[str]] = []
    for tasks in phases:
        names, turn = list(tasks), (me.rank - before) % me.size
        own.append(names[len(names) * turn // me.size : len(names) * (turn + 1) // me.size])
        before += len(tasks)
    done, total, store = 0, sum(map(len, own)), store or Store(None, {})
    tell(done, total)
    for tasks, names in zip(phases, own, strict=True):
        mine = {}
        for name in names:
            mine[name] = store.part(name, partial(tasks[name], found))
            done += 1
            tell(done, total)
        found |= shared(mine)
    return found


def local_device(name: str) -> str:
    """The device of this process: ``cuda`` is the one that torchrun's LOCAL_RANK names; anything else is as it is."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if name == "cuda" and "LOCAL_RANK" in os.environ else name


@contextmanager
def process_group() -> Iterator[Team]:
    """Join the processes that torchrun started, for as long as the block lasts; without torchrun, do nothing.

    Where the block ends with an `InputError`, one process lets it go on, and the others end with status 2.

    Raises:
        InputError: the processes do not find each other.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Team()
        return
    try:
        store, rank, size = next(rendezvous("env://", timeout=_MEETING))
        distributed.init_process_group(
            "gloo", store=PrefixStore("group", store), rank=rank, world_size=size, timeout=_PATIENCE
        )
    except (ValueError, RuntimeError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(
            f"Several processes need to find each other, got WORLD_SIZE={os.environ['WORLD_SIZE']} ({said}); start "
            "them with torchrun."
        ) from error
    try:
        yield Team(rank, size)
    except InputError:
        if not _first_to_fail(store):
            sys.exit(2)
        raise
    except (KeyboardInterrupt, Interrupted):
        if rank:
            sys.exit(130)
        raise
    finally:
        distributed.destroy_process_group()


def _first_to_fail(store: Meeting) -> bool:
    """Tell whether no other process has failed before; if one has, leave it a moment to say why."""
    try:
        first = store.add("failed", 1) == 1
    except RuntimeError:  # the process that keeps the store is gone
        first = False
    if not first:
        sleep(_A_MOMENT)
    return first
