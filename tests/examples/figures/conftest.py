import sys
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "examples" / "figures"
sys.path[:0] = [str(FOLDER), str(Path(__file__).parent)]  # the latter for `pictures`
