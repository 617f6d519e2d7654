"""Divergences of Gaussians and Gaussian mixtures, each with a guaranteed direction of error.

The first law is always the numerator: D(P || Q) is an expectation of powers of P / Q.
"""

from lastiterate.numeric.divergences.mixtures import Enclosure as Enclosure
from lastiterate.numeric.divergences.mixtures import Mixture as Mixture
from lastiterate.numeric.divergences.mixtures import renyi_mixtures as renyi_mixtures
from lastiterate.numeric.divergences.sampled import renyi_gaussian as renyi_gaussian
from lastiterate.numeric.divergences.sampled import replacement_step as replacement_step
from lastiterate.numeric.divergences.sampled import s_down as s_down
from lastiterate.numeric.divergences.sampled import s_up as s_up
