"""Record the numbers of `tests/numeric/recomputations` that have changed, for a reader of the difference.

python -m benchmarks.recorded && git diff tests/numeric/recomputations/numbers.json
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "numeric"))  # where the numbers are

from recomputations import recomputations
from recomputations.record import FILE, recorded_numbers


def _record() -> None:
    found = [one for numbers in recomputations().values() for one in numbers() if one.recorded]
    same = {one.what: recorded_numbers()[one.what] for one in found if one.low <= one.value <= one.high}
    rows = {one.what: same.get(one.what, one.value) for one in found}
    FILE.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
