"""Noisy gradient descent with full batches: two theorems of Bok, Su & Altschuler 2024, with their proofs.

Statement    For losses whose gradients are no longer than K, steps of size eta on n samples with noise of deviation
             sigma on the iterate, and s = 2 eta K/n, the last iterate is mu-GDP with
             mu^2 = s^2/sigma^2 (1 - c^T)/(1 + c^T) (1 + c)/(1 - c), strongly convex losses, steps that contract by c;
             mu^2 = (3 D s + s^2 w)/sigma^2 for every window w >= D/s, convex losses on a domain of diameter D.
Derivation   Distances between two runs grow by at most s in a step and are contracted by c or not at all; shifts hide
             them. In the first they are in proportion to c^(T - t), in the second all equal, D/w + s.
Source       arXiv:2403.00278, section 4. Its L is 2 K here, its noise on the gradient is sigma/eta.
"""

from sympy import Eq, Gt, S, Symbol, Tuple

from lastiterate.symbolic.checks import Derived, Inequality, VectorInequality
from lastiterate.symbolic.claim import Claim, Step
from lastiterate.symbolic.derivations.known_batches import hide_straight
from lastiterate.symbolic.derivations.losses import LOSSES, both_orders, from_step_0, no_less
from lastiterate.symbolic.families import convex, strongly_convex
from lastiterate.symbolic.kernel.induction import StepInduction
from lastiterate.symbolic.kernel.judgement import Guarantee
from lastiterate.symbolic.kernel.lemmas import gaussian_shift
from lastiterate.symbolic.kernel.profiles import Gauss, Order
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, L, T, alpha, c, eta, m, n, sensitivity, sigma, tau, w
from lastiterate.symbolic.notation import s as a_step
from lastiterate.symbolic.papers import Source, cited
from lastiterate.symbolic.statement import Convex, Diameter, FullBatches, LeastOver, StronglyConvex, private
from lastiterate.symbolic.vectors import Norm, Vector

PAPER = cited("Bok, Su & Altschuler 2024")
s, v = sensitivity(), sigma**2
_j = Symbol("j", integer=True, nonnegative=True)  # step within the window


def windowed(kernel: Kernel) -> Guarantee:
    """Convex losses: w equal shifts hide the diameter and what the sample that differs adds to it."""
    expansion = LOSSES["convex"].other_data(eta, n, S.One)
    carried = no_less(expansion, expansion.z + s)
    shift = D / w + s
    steps = StepInduction(kernel, _j, w, ())

    def step(inner, near, far):
        return inner.step(Order.FIRST, tau + _j, (near, far), carried, gaussian_shift(shift, v), v)

    hidden = steps.span(tau, D * (1 - _j / w), Gauss(_j * shift**2 / v), step, far=S.Zero)
    return both_orders(kernel, from_step_0(kernel, hidden))


def contracted(kernel: Kernel) -> Guarantee:
    """Strongly convex losses: shifts in proportion to c^(T - t), from equal starts."""
    outer = kernel.under(Eq(a_step, s), Gt(c, 0))
    expansion = LOSSES["strongly convex"].affine(c)
    made = hide_straight(outer, expansion, c, a_step, S.Zero, v, S.Zero, T)
    return both_orders(kernel, kernel.specialise(made, {a_step: s}))


DERIVATIONS = {"bok_su_altschuler/convex": windowed, "bok_su_altschuler/strongly_convex": contracted}

x, y = Vector("x"), Vector("y")
_f, _g = convex("f", L), strongly_convex("g", m, L)
_fx, _fy, _gx, _gy = _f.at(x), _f.at(y), _g.at(x), _g.at(y)
_mu_squared = w * (D / w + s) ** 2 / v

_least = LeastOver(w * (D / w + s) ** 2, Tuple(w, 1, T)) / v
_contracts = (c < 1, m <= L, c >= 1 - eta * m, c >= eta * L - 1)
_theorem = s**2 / v * (1 - c**T) / (1 + c**T) * (1 + c) / (1 - c)

CLAIMS = (
    Claim(
        "bok_su_altschuler/noisy_gd/strongly_convex",
        "Strongly convex losses, contraction c < 1: mu^2 = s^2/sigma^2 (1 - c^T)/(1 + c^T) (1 + c)/(1 - c)",
        Source(PAPER, "Section 4", "NoisyGD, strongly convex losses"),
        Derived("bok_su_altschuler/strongly_convex", Gauss(_theorem), "shifts in proportion to c^(T - t)")
        .mutant("one percent less", profile=Gauss(99 * _theorem / 100))
        .mutant("one step fewer", profile=Gauss(_theorem.subs(T, T - 1))),
        statement=private(alpha * _theorem / 2, FullBatches(n), StronglyConvex(m, L, K), *_contracts),
        assumptions=_contracts,
    ),
    Claim(
        "bok_su_altschuler/noisy_gd/convex",
        "Convex losses on a bounded domain: the last iterate is mu-GDP with mu^2 = w (D/w + s)^2/sigma^2",
        Source(PAPER, "Section 4", "NoisyGD with projection"),
        Derived("bok_su_altschuler/convex", Gauss(_mu_squared), "equal shifts in the last w steps").mutant(
            "without the diameter", profile=Gauss(w * s**2 / v)
        ),
        statement=private(alpha / 2 * _least, FullBatches(n), Diameter(D), Convex(L, K), eta * L <= 2),
        assumptions=(eta * L <= 2,),
    ),
    Step(
        "bok_su_altschuler/noisy_gd/convex/window",
        "From D/s steps on mu^2 is at most (3 D s + s^2 w)/sigma^2, whatever T is",
        Source(PAPER, "Section 4", "NoisyGD with projection"),
        Inequality(_mu_squared, "<=", (3 * D * s + s**2 * w) / v, name="the theorem's value").mutant(
            "2 for 3", right=(2 * D * s + s**2 * w) / v
        ),
        assumptions=(s * w >= D,),
    ),
    Step(
        "bok_su_altschuler/noisy_gd/nonexpansive",
        "A gradient step on a convex, L-smooth loss brings no two points farther apart, for every dimension",
        Source(PAPER, "Section 4", "contractivity of a step"),
        VectorInequality(Norm(x - eta * _fx.image - (y - eta * _fy.image)), "<=", Norm(x - y), (_fx, _fy)),
        assumptions=(eta * L <= 2,),
    ),
    Step(
        "bok_su_altschuler/noisy_gd/contraction",
        "With strong convexity and eta (L + m) <= 2 it brings them nearer by 1 - eta m",
        Source(PAPER, "Section 4", "contractivity of a step"),
        VectorInequality(
            Norm(x - eta * _gx.image - (y - eta * _gy.image)), "<=", (1 - eta * m) * Norm(x - y), (_gx, _gy)
        ),
        assumptions=(eta * (L + m) <= 2, m <= L),
    ),
)
