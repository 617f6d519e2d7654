"""Lipschitz constant of the gradient update map psi(x) = x - eta clip(grad(x)).

Along a segment the gradient difference is an averaged Hessian times x - y, with eigenvalues h in [-L, L], [0, L] or [m,
L]: bound |1 - eta h|. For losses without second derivatives P, Q, R are the inner products of x - y and the gradient
difference: R <= L Q for convex losses, and the same for f - m |x|^2 / 2. Clipped convex losses: see `section_5`.
"""

from sympy import Abs, Expr, Integer, Max, Min
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Inequality, Ours
from lastiterate.symbolic.letters import P, Q, R, gamma, h, kappa, xi, zeta
from lastiterate.symbolic.notation import K, L, eta, m

_factor = Abs(1 - eta * h)
_one = Integer(1)
_any, _convex, _strong = (h >= -L, h <= L), (h >= 0, h <= L), (h >= m, h <= L)
_square = P - 2 * eta * Q + eta**2 * R


def _eigen(bound: Expr, *given: Boolean, name: str = "averaged Hessian") -> Inequality:
    return Inequality(_factor, "<= and attained", bound, given=given, name=name)


def _clip(gradient: Expr) -> Expr:
    return Max(-K, Min(K, gradient))


_moved = Abs(xi - eta * _clip(gamma) - zeta + eta * _clip(kappa))
_smooth = (Abs(gamma - kappa) <= L * Abs(xi - zeta),)


_coco = (R <= L * Q, Q >= 0, eta * L <= 2)
_strong_coco = (
    R - 2 * m * Q + m**2 * P <= (L - m) * (Q - m * P),
    m * P <= Q,
    m <= L,
)

CLAIMS = (
    Claim(
        "chien_li/lemma_3_4/smooth",
        "Smooth losses: the update is (1 + eta L)-Lipschitz, clipping included",
        at("Lemma 3.4", "(78)-(79)"),
        _eigen(1 + eta * L, *_any).mutant("twice eta L, never attained", _eigen(1 + 2 * eta * L, L > 0, *_any)),
        Inequality(_moved, "<=", (1 + eta * L) * Abs(xi - zeta), given=_smooth, name="with clipping"),
    ),
    Claim(
        "chien_li/lemma_3_4/convex",
        "Convex losses, eta <= 2/L: the update is 1-Lipschitz",
        at("Lemma 3.4"),
        _eigen(_one, *_convex, eta * L <= 2)
        .mutant("eta up to 3/L", _eigen(_one, *_convex, eta * L <= 3))
        .mutant("convexity forgotten", _eigen(_one, *_any, eta * L <= 2)),
        Inequality(_square, "<=", P, given=_coco, name="by cocoercivity").mutant(
            "cocoercive with 2 L", given=(R <= 2 * L * Q, Q >= 0, eta * L <= 2)
        ),
    ),
    Claim(
        "chien_li/lemma_3_4/strongly_convex",
        "Strongly convex losses, eta <= 1/L: the update is (1 - eta m)-Lipschitz",
        at("Lemma 3.4"),
        _eigen(1 - eta * m, *_strong, eta * L <= 1)
        .mutant("eta up to 2/L", _eigen(1 - eta * m, *_strong, eta * L <= 2))
        .mutant("only convex", _eigen(1 - eta * m, *_convex, eta * L <= 1)),
        Inequality(
            _square,
            "<=",
            (1 - eta * m) ** 2 * P,
            given=(*_strong_coco, eta * L <= 1),
            name="by cocoercivity",
        ),
    ),
    Ours(
        "chien_li/lemma_3_4/longer_steps",
        "Strongly convex: 1 - eta m up to eta = 2/(L + m), max(1 - eta m, eta L - 1) beyond",
        at("Lemma 3.4"),
        _eigen(1 - eta * m, *_strong, eta * (L + m) <= 2, name="up to 2/(L + m)").mutant(
            "1 - eta m beyond 2/(L + m)", _eigen(1 - eta * m, *_strong, eta * (L + m) <= 3, eta * L <= 2)
        ),
        _eigen(Max(1 - eta * m, eta * L - 1), *_strong, name="any step")
        .mutant("min for max", _eigen(Min(1 - eta * m, eta * L - 1), *_strong))
        .mutant("m and L exchanged", _eigen(Max(1 - eta * L, eta * m - 1), *_strong, eta * L <= 2)),
        Inequality(
            _square,
            "<=",
            (1 - eta * m) ** 2 * P,
            given=(*_strong_coco, eta * (L + m) <= 2),
            name="by cocoercivity",
        ),
    ),
)
