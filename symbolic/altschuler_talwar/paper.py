"""Sources in the paper, and its letters.

The paper's Lipschitz constant L is K here, its smoothness M is L, and its noise sigma is sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.prelude import *

at: Final = partial(Source, PAPERS["altschuler_talwar"])
