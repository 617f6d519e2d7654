"""Shift reduction and Lipschitz reduction: fresh noise pays for a shift, and a c-Lipschitz map scales it by c.

For any law within z + a of mu a coupling is parted: steps of length at most a are hidden by the noise, the rest leads
to a law within z of the noisy mu. For the second the image of such a law is within c z of the image of mu, (76), and
the rest is post-processing, (77).
"""

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.deductions import LIPSCHITZ
from lastiterate.symbolic.derivations.statements import FACTOR
from lastiterate.symbolic.prelude import *

CLAIMS = (
    Claim(
        "chien_li/lemma_3_2",
        "Noise of variance sigma^2 absorbs a shift a at the price alpha a^2 / (2 sigma^2), for every pair of laws",
        at("Lemma 3.2", "(5)"),
        Deduced(statements.shift_reduction(alpha > 1), "shift_reduction"),
    ),
    Claim(
        "chien_li/lemma_3_3",
        "A c-Lipschitz map brings a shift z to c z, for every pair of laws",
        at("Lemma 3.3", "(6)"),
        Deduced(statements.reduction(FACTOR * z, MAP, alpha > 1, LIPSCHITZ), "reduction/lipschitz"),
    ),
)
