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
from lastiterate.symbolic.claim import Claim, Engine, Inequality, Mutant, Recursion, Relation, Role
from lastiterate.symbolic.notation import PREVIOUS, K, c, eta, n, s, t, x, y, z

_s = 2 * eta * K / n
_cap = 2 * eta * K
_zero = Integer(0)
_past_threshold = ((c - 1) * x > _cap * (1 - 1 / n),)


def _geometric(closed: Expr) -> Recursion:
    return Recursion(t, _zero, c * PREVIOUS + s, closed, name="c D + s")


def _step(recursion: Expr, closed: Expr) -> Inequality:
    """One induction step: the recursion x at most both closed forms y and z stays so."""
    return Inequality(recursion, Relation.AT_MOST, closed, given=(x <= y, x <= z), name="induction step")


_closed_next = Min(c * y + _s, z + _cap)

CLAIMS = (
    Claim(
        key="chien_li/lemma_3_5/closed_forms",
        title="The two branches alone: s (1 - c^t) / (1 - c) and 2 eta K t",
        source=at(94, "Theorem 3.1", "(3)"),
        assumptions=(c > 0, c < 1),
        checks=(
            _geometric(s * (1 - c**t) / (1 - c)),
            Recursion(t, _zero, PREVIOUS + _cap, _cap * t, name="D + 2 eta K"),
        ),
        mutants=(
            Mutant("wrong base case", _geometric(s * (1 - c ** (t + 1)) / (1 - c)), Engine.IDENTITY),
            Mutant("stationary from the start", _geometric(s / (1 - c)), Engine.IDENTITY),
            Mutant("c and 1/c exchanged", _geometric(s * (1 - c**-t) / (1 - 1 / c)), Engine.IDENTITY),
            Mutant("t - 1 for t", Recursion(t, _zero, PREVIOUS + _cap, _cap * (t - 1)), Engine.IDENTITY),
            Mutant("another particular solution", _geometric(s / (1 - c) + c**t), Engine.IDENTITY),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="chien_li/lemma_3_5/first_branch",
        title="For c <= 1 the minimum in (7) is the first branch",
        source=at(604, "A.7", "Indeed, when c < 1"),
        checks=(Inequality(c * x + _s, Relation.AT_MOST, x + _cap, given=(c <= 1, n >= 1), name="c <= 1"),),
        mutants=(
            Mutant("for every c", Inequality(c * x + _s, Relation.AT_MOST, x + _cap), Engine.INEQUALITY),
            Mutant(
                "the second branch",
                Inequality(x + _cap, Relation.AT_MOST, c * x + _s, given=(c <= 1,)),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/lemma_3_5/threshold",
        title="The second branch is smaller exactly when (c - 1) D_{t-1} > 2 eta K (1 - 1/n)",
        source=at(604, "A.7", "This happens whenever"),
        checks=(
            Inequality(x + _cap, Relation.BELOW, c * x + _s, given=_past_threshold, name="if"),
            Inequality(_cap * (1 - 1 / n), Relation.BELOW, (c - 1) * x, given=(x + _cap < c * x + _s,), name="only if"),
        ),
        mutants=(
            Mutant(
                "2 eta K / n for 2 eta K (1 - 1/n)",
                Inequality(x + _cap, Relation.BELOW, c * x + _s, given=((c - 1) * x > _cap / n,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "c for c - 1",
                Inequality(x + _cap, Relation.BELOW, c * x + _s, given=(c * x > _cap * (1 - 1 / n),)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "factor two dropped",
                Inequality(x + _cap, Relation.BELOW, c * x + _s, given=((c - 1) * x > eta * K * (1 - 1 / n),)),
                Engine.INEQUALITY,
            ),
        ),
    ),
    Claim(
        key="chien_li/lemma_3_5/closed_form_valid",
        title="The closed form min(s sum c^t, 2 eta K t) of (3) is never below the recursion (7)",
        source=at(94, "Theorem 3.1", "(3)"),
        checks=(_step(Min(c * x + _s, x + _cap), _closed_next),),
        mutants=(
            Mutant("never above", _step(_closed_next, Min(c * x + _s, x + _cap)), Engine.INEQUALITY),
            Mutant(
                "sensitivity halved", _step(Min(c * x + _s, x + _cap), Min(c * y + _s / 2, z + _cap)), Engine.INEQUALITY
            ),
            Mutant("cap over n", _step(Min(c * x + _s, x + _cap), Min(c * y + _s, z + _s / 2)), Engine.INEQUALITY),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/lemma_3_5/recursion_smaller",
        title="Past the threshold the recursion (7) is strictly below the closed form of (3)",
        source=at(604, "A.7"),
        checks=(
            Inequality(
                Min(c * x + _s, x + _cap),
                Relation.BELOW,
                _closed_next,
                given=(x <= y, x < z, *_past_threshold),
                name="strictly below",
            ),
        ),
        mutants=(
            Mutant(
                "below the threshold too",
                Inequality(Min(c * x + _s, x + _cap), Relation.BELOW, _closed_next, given=(x <= y, x < z)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "equal",
                Inequality(
                    Min(c * x + _s, x + _cap), Relation.EQUAL, _closed_next, given=(x <= y, x < z, *_past_threshold)
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
    ),
)
