r"""Lemmas 3.2 and 3.3 of Chien & Li 2025: noise pays for a shift, and a $c$-Lipschitz map $\phi$ scales it by $c$.

$$D_\alpha^{(z)}(\mu * N(0, \sigma^2 I) \| \nu * N(0, \sigma^2 I)) \le D_\alpha^{(z+a)}(\mu \| \nu)
+ \frac{\alpha a^2}{2 \sigma^2} \tag{5}, \qquad
D_\alpha^{(c z)}(\phi_\# \mu \| \phi_\# \nu) \le D_\alpha^{(z)}(\mu \| \nu) \tag{6}$$

Both hold for every pair of laws. In a coupling of mu with a law within z + a, the noise hides steps of length
at most a, and the rest leads to a law within z of the noisy mu. Images of laws within z of each other are
within c z, (76); then post-processing applies, (77).
"""

from lastiterate.symbolic.chien_li.paper import *

CLAIMS = (
    Claim(
        "chien_li/lemma_3_2",
        "Noise of variance sigma^2 absorbs a shift a at the cost alpha a^2 / (2 sigma^2), for every pair of laws",
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
