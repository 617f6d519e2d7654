"""A progress bar on stderr, the same for every command."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lastiterate.numeric.errors import Interrupted


@contextmanager
def progress(words: str, kept: str = "") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar where stderr is a terminal; yields the function to call with (finished, all).

    Args:
        words: the work under way.
        kept: the end of the sentence about the finished parts after Ctrl-C; nothing is said where it is empty.

    Raises:
        Interrupted: by Ctrl-C, where something is kept.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    silent = not console.is_terminal or os.environ.get("RANK", "0") != "0"  # torchrun: the first process speaks
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task(words, total=None)
        try:
            yield lambda done, total: bar.update(task, completed=done, total=total)
        except KeyboardInterrupt:
            if not kept:
                raise
            done, total = (int(number or 0) for number in (bar.tasks[0].completed, bar.tasks[0].total))
            raise Interrupted(f"{done} of {total} {kept}") from None
