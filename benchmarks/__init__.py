"""Ratios against baselines, each measured in one run: ``python -m benchmarks`` writes RESULTS.md."""

import sys
from pathlib import Path

_EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path[:0] = [str(_EXAMPLES), str(_EXAMPLES / "networks")]  # for `one_run`, `cifar` and `minilm`
