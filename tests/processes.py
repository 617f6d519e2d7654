"""Python processes that begin with their libraries imported: forks of a server that imported them once.

Each has its own session, signals, streams, folder, environment and exit status, as a command that a user starts, but
not the seconds that an interpreter takes to import torch or Sympy, nor what most commands of this repository import of
lastiterate. Those of another copy begin without that (`FOREIGN`); how a command starts is tested in cold processes.
"""

import atexit
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

FOREIGN = (
    "numpy",
    "scipy.optimize",
    "scipy.special",
    "sympy",
    "sympy.physics.units",
    "z3",
    "flint",
    "joblib",
    "pydantic",
    "rich.progress",
)
SYMPY = (*FOREIGN, "lastiterate.proofs_checks.decide", "lastiterate.numeric.compare")
PYTEST = (*SYMPY, "pytest")
TORCH = (
    *SYMPY, "torch", "torch._dynamo", "torch.fx.experimental.symbolic_shapes", "sklearn.datasets",
    "lastiterate.runtime.constants",
)  # fmt: skip


PLUGINS = ("-p", "lastiterate.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:unraisableexception")
"""Of a pytest in a process of its own; the last looks through all garbage five times at the end."""


@cache
def _server(_kind: tuple[bool, bool]) -> socket.socket:
    """The server for commands with torch, or for those without, whose forks have a quarter to copy; or for others."""
    ours, theirs = socket.socketpair()
    subprocess.Popen(  # noqa: S603
        [sys.executable, __file__, str(theirs.fileno())],
        pass_fds=[theirs.fileno()], start_new_session=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    theirs.close()
    return ours


def python(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    libraries: Sequence[str] = SYMPY,
    out: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``python *arguments`` with the libraries imported; it ends once nothing holds its output any more.

    Args:
        arguments: ``-m``, ``-c`` or the path of a script, and what follows.
        cwd: the folder, this process's if None.
        env: the environment, this process's if None.
        libraries: what is imported beforehand.
        out: a file descriptor for both streams, which is then closed here; pipes that are read if None.
    """
    server = _server(("torch" in libraries, SYMPY[-1] in libraries))
    pipes = [] if out is not None else [os.pipe(), os.pipe()]
    streams = [out, out] if out is not None else [writer for _, writer in pipes]
    said = [b"", b""]

    def read(index: int, pipe: int) -> None:
        with os.fdopen(pipe, "rb") as stream:
            said[index] = stream.read()

    socket.send_fds(server, [b"."], streams)
    request = {
        "arguments": arguments, "cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env),
        "libraries": libraries,
    }  # fmt: skip
    server.sendall(json.dumps(request).encode() + b"\n")
    for stream in set(streams):
        os.close(stream)
    readers = [threading.Thread(target=read, args=(at, reader)) for at, (reader, _) in enumerate(pipes)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    status = int(_line(server))
    return subprocess.CompletedProcess(["python", *arguments], status, *(text.decode() for text in said))


def _line(channel: socket.socket) -> bytes:
    """A line of the channel; nothing once it is closed."""
    text = b""
    while not text.endswith(b"\n") and (more := channel.recv(1 << 16)):
        text += more
    return text


def _forked(channel: socket.socket) -> tuple[list[str], list[int]] | None:
    """In a child, what it is to run and its streams; None in the server, once nobody asks any more."""
    while True:
        asked, streams, _, _ = socket.recv_fds(channel, 1, 2)
        if not asked:
            return None
        request = json.loads(_line(channel))
        for name in request["libraries"]:
            with suppress(ImportError):  # the command says so if it needs what is missing
                import_module(name)
        gc.freeze()  # else a child looks through, and so copies, all of it when it ends, longer than most run
        child = os.fork()
        if not child:
            channel.close()
            os.setsid()
            os.chdir(request["cwd"])
            os.environ.clear()
            os.environ.update(request["env"])
            sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
            return request["arguments"], streams
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        channel.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(arguments: list[str], streams: list[int]) -> None:
    """Run the arguments as the interpreter does, its streams being those."""
    for number, stream in enumerate([os.open(os.devnull, os.O_RDONLY), *streams]):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    first, *rest = arguments
    base = [path for path in sys.path[1:] if path not in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    named = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [str(Path(first).parent) if first not in ("-m", "-c") else "", *named, *base]
    sys.argv[:] = arguments if first not in ("-m", "-c") else [rest[0] if first == "-m" else "-c", *rest[1:]]
    if first == "-m":
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(rest[0], vars(module))  # noqa: S102
    else:
        runpy.run_path(first, run_name="__main__")


def _ended(status: object) -> int:
    """The exit status of `SystemExit`, whose words are printed; what runs at an exit has run."""
    if status is not None and not isinstance(status, int):
        sys.stderr.write(f"{status}\n")
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status & 0xFF if isinstance(status, int) else int(status is not None)


if __name__ == "__main__" and (asked := _forked(socket.socket(fileno=int(sys.argv[1])))):
    try:
        _become(*asked)
    except SystemExit as ended:
        os._exit(
            _ended(ended.code)
        )  # else the interpreter takes torch apart, and so copies it, for a third of a second
    os._exit(_ended(None))
