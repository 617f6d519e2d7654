"""Ratios against baselines, each measured in one run: ``python -m benchmarks`` writes RESULTS.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "networks"))  # for `cifar` and `minilm`
