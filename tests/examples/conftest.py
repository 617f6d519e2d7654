import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "networks"))  # for `cifar` and `minilm`
