"""Places in the paper and its letters.

The paper's Lipschitz constant L is the notation's K, its smoothness M is L, and its noise sigma, added to
the gradient, is sigma_DP: the iterate gets eta sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.prelude import *

at: Final = partial(Source, PAPERS["altschuler_talwar"])
