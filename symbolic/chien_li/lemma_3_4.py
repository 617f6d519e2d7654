r"""Lemma 3.4 of Chien & Li 2025: the update $\psi(x) = x - \eta \nabla f(x)$ is $c$-Lipschitz.

$$c = 1 + \eta L \text{ for } L\text{-smooth } f, \qquad c = 1 \text{ for convex } f, \eta \le \tfrac2L, \qquad
c = 1 - \eta \mu \text{ for } \mu\text{-strongly convex } f, \eta \le \tfrac1L$$

All hold for every loss of the class on R^d, by interpolation inequalities. They also hold for smooth losses
with gradients clipped at K, and for convex losses if no gradient is longer than K (see `section_5` for longer
gradients). No strongly convex loss is Lipschitz on all of R^d, so its step is not clipped. mu is m here.
"""

from lastiterate.symbolic.chien_li.paper import *
from lastiterate.symbolic.vector_steps import step

_strong = strongly_convex("f", m, L)

CLAIMS = (
    Claim(
        "chien_li/lemma_3_4/smooth",
        "Smooth losses: the update is (1 + eta L)-Lipschitz, clipping included",
        at("Lemma 3.4", "(78)-(79)"),
        step(smooth("f", L), 1 + eta * L, clipped=True),
    ),
    Claim(
        "chien_li/lemma_3_4/convex",
        "Convex K-Lipschitz losses, eta <= 2/L: the clipped update is 1-Lipschitz",
        at("Lemma 3.4"),
        step(convex("f", L, K), S.One, clipped=True).mutant(
            "convexity forgotten", step(smooth("f", L), S.One, clipped=True)
        ),
        assumptions=(eta * L <= 2,),
    ),
    Claim(
        "chien_li/lemma_3_4/strongly_convex",
        "Strongly convex losses, eta <= 1/L: the update is (1 - eta m)-Lipschitz",
        at("Lemma 3.4"),
        step(_strong, 1 - eta * m).mutant("only convex", step(convex("f", L), 1 - eta * m)),
        assumptions=(eta * L <= 1,),
    ),
    Ours(
        "chien_li/lemma_3_4/longer_steps",
        "Strongly convex: max(1 - eta m, eta L - 1) for every step, which is 1 - eta m up to eta = 2/(L + m)",
        at("Lemma 3.4"),
        Inequality(eta * L - 1, "<=", 1 - eta * m, (eta * (L + m) <= 2,), "the first up to 2/(L + m)"),
        step(_strong, Max(1 - eta * m, eta * L - 1)).mutant(
            "1 - eta m beyond", step(_strong, Max(1 - eta * m, 0))
        ),
    ),
)
