"""Number of threads that torch uses on the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from lastiterate.numeric.run import count

__all__ = ["threads_of_torch"]


@contextmanager
def threads_of_torch(threads: int) -> Iterator[None]:
    """Let torch use so many threads on the CPU, and afterwards as many as before.

    Raises:
        InputError: ``threads`` is below 1.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count("threads", threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)
