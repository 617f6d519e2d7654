"""The type of NumPy arrays of floats."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""An array of float64, of any shape."""
