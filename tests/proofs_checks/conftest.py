import pytest

from lastiterate.symbolic.claim import Claim, Source


@pytest.fixture
def make_claim():
    """A claim around some checks, with a made-up source."""

    def make(key="toy/claim", checks=(), mutants=(), **rest):
        source = Source("toy.txt", 1, "Lemma 1")
        return Claim(key=key, title="a toy", source=source, checks=checks, mutants=mutants, **rest)

    return make
