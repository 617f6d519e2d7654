import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the examples of the rules
sys.path.insert(0, str(Path(__file__).parents[1] / "symbolic" / "kernel"))  # for chains

from coq_compiled import copy, make
from shared import made_once

from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import Source


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the theorems of Coq with the rules compiled, and what this printed in the file log."""

    def build(folder: Path) -> None:
        copy(folder)
        (folder / "log").write_text(make(folder, "rules"))

    return made_once(tmp_path_factory, "coq-rules", build)


@pytest.fixture(scope="session")
def make_claim():
    """A claim around some checks, with a made-up source."""

    def make(*checks, key="toy/claim", kind=Claim, **rest):
        return kind(key, "a toy", Source("toy", "Lemma 1"), *checks, **rest)

    return make
