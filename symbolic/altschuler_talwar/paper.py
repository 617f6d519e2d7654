"""Places in the paper and its letters.

Its Lipschitz constant L is K here, its smoothness M is L, and its noise sigma on the gradient is sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.prelude import *

at: Final = partial(Source, PAPERS["altschuler_talwar"])
