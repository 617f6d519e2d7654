import sys
from collections.abc import Iterator
from pathlib import Path

import mpmath as mp
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `oracle` and `programs`


@pytest.fixture(scope="module")
def sixty_digits() -> Iterator[None]:
    """The precision of `oracle`, for the tests of one module."""
    with mp.workdps(60):
        yield
