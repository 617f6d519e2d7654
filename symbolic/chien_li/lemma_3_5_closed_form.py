"""The closed form of the tracked distance in Theorem 3.1 against the recursion of Lemma 3.5.

Statement    min(s (1 - c^t)/(1 - c), 2 eta K t) of (3) is never below the recursion (7), and for c <= 1 equal to it.
Assumptions  as Lemma 3.5.
Derivation   By induction on t, branch by branch.
Source       Chien & Li 2025, Theorem 3.1, (3), against Lemma 3.5, (7).
Remark       For c > 1 the recursion is smaller once (c - 1) D_{t-1} > 2 eta K (1 - 1/n). So (3) is valid but not the
             least that its own lemma gives.
"""

from sympy import Expr, Integer, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Inequality, Ours, Recursion, Step
from lastiterate.symbolic.notation import PREVIOUS, K, c, eta, n, s, t, x, y, z

_s = 2 * eta * K / n
_cap = 2 * eta * K
_zero = Integer(0)
_past_threshold = ((c - 1) * x > _cap * (1 - 1 / n),)


def _geometric(closed: Expr) -> Recursion:
    return Recursion(t, _zero, c * PREVIOUS + s, closed, name="c D + s")


def _step(recursion: Expr, closed: Expr) -> Inequality:
    """One induction step: the recursion x at most both closed forms y and z stays so."""
    return Inequality(recursion, "<=", closed, given=(x <= y, x <= z), name="induction step")


_closed_next = Min(c * y + _s, z + _cap)

CLAIMS = (
    Step(
        "chien_li/lemma_3_5/closed_forms",
        "The two branches alone: s (1 - c^t) / (1 - c) and 2 eta K t",
        at("Theorem 3.1", "(3)"),
        _geometric(s * (1 - c**t) / (1 - c)).mutant("another particular solution", _geometric(s / (1 - c) + c**t)),
        Recursion(t, _zero, PREVIOUS + _cap, _cap * t, name="D + 2 eta K"),
        assumptions=(c > 0, c < 1),
    ),
    Claim(
        "chien_li/lemma_3_5/first_branch",
        "For c <= 1 the minimum in (7) is the first branch",
        at("A.7", "Indeed, when c < 1"),
        Inequality(c * x + _s, "<=", x + _cap, given=(c <= 1, n >= 1), name="c <= 1")
        .mutant("for every c", given=())
        .mutant("the second branch", left=x + _cap, right=c * x + _s, given=(c <= 1,)),
    ),
    Claim(
        "chien_li/lemma_3_5/threshold",
        "The second branch is smaller exactly when (c - 1) D_{t-1} > 2 eta K (1 - 1/n)",
        at("A.7", "This happens whenever"),
        Inequality(x + _cap, "<", c * x + _s, given=_past_threshold, name="if")
        .mutant("2 eta K / n for 2 eta K (1 - 1/n)", given=((c - 1) * x > _cap / n,))
        .mutant("c for c - 1", given=(c * x > _cap * (1 - 1 / n),))
        .mutant("factor two dropped", given=((c - 1) * x > eta * K * (1 - 1 / n),)),
        Inequality(_cap * (1 - 1 / n), "<", (c - 1) * x, given=(x + _cap < c * x + _s,), name="only if"),
    ),
    Step(
        "chien_li/lemma_3_5/closed_form_valid",
        "The closed form min(s sum c^t, 2 eta K t) of (3) is never below the recursion (7)",
        at("Theorem 3.1", "(3)"),
        _step(Min(c * x + _s, x + _cap), _closed_next)
        .mutant("never above", _step(_closed_next, Min(c * x + _s, x + _cap)))
        .mutant("sensitivity halved", _step(Min(c * x + _s, x + _cap), Min(c * y + _s / 2, z + _cap)))
        .mutant("cap over n", _step(Min(c * x + _s, x + _cap), Min(c * y + _s, z + _s / 2))),
    ),
    Ours(
        "chien_li/lemma_3_5/recursion_smaller",
        "Past the threshold the recursion (7) is strictly below the closed form of (3)",
        at("A.7"),
        Inequality(
            Min(c * x + _s, x + _cap),
            "<",
            _closed_next,
            given=(x <= y, x < z, *_past_threshold),
            name="strictly below",
        )
        .mutant("below the threshold too", given=(x <= y, x < z))
        .mutant("equal", sign="=="),
    ),
)
