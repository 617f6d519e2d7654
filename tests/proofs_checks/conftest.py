import sys
from pathlib import Path

import pytest

from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import Source

sys.path.insert(0, str(Path(__file__).parent))  # for the examples of the rules


@pytest.fixture(scope="session")
def make_claim():
    """A claim around some checks, with a made-up source."""

    def make(*checks, key="toy/claim", kind=Claim, **rest):
        return kind(key, "a toy", Source("toy", "Lemma 1"), *checks, **rest)

    return make
