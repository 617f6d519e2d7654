"""States of two points in the kernel: what its rules conclude, what they refuse, and false costs of blocks."""

from collections.abc import Callable

import pytest
from rules_on_chains import _kernel
from sympy import Eq, Expr, Ge, S, Symbol, symbols

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.derivations.losses import LOSSES
from lastiterate.symbolic.kernel.judgement import Both, Hypothesis, Span, UnprovedError, each_distance
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide, Shift, gaussian_shift, with_momentum
from lastiterate.symbolic.kernel.profiles import EVERYTHING, Equal, Gauss, Order
from lastiterate.symbolic.kernel.rules import Kernel, anything, contract, present, remember
from lastiterate.symbolic.notation import D, K, L, beta, eta, n, sigma

FIRST, ZERO = Order.FIRST, S.Zero
a, b, z, y = symbols("a b z y", nonnegative=True)
CONVEX = Kernel(prove, frozenset({eta * L <= 2, Ge(K, 0)}))
MOVED = 2 * eta * K / n


def _carried(before: Expr, shift: Expr) -> tuple[Expansion, Shift, Expr]:
    carried = with_momentum(LOSSES["convex"].other_data(eta, n, S.One), beta, before, ahead=True)
    return carried, gaussian_shift(shift, sigma**2), sigma**2


def _step(start: Expr, near: Expr, far: Expr, before: Expr, shift: Expr) -> Span:
    return remember(CONVEX, CONVEX.step(FIRST, start, (near, far), *_carried(before, shift)), before)


def _from_the_domain(start: Expr = ZERO) -> tuple[Span, Span]:
    """The two steps of a block, with the far cost of the page on momentum."""
    first = _step(start, D, ZERO, D, (1 + 2 * beta) * D + MOVED)
    return first, _step(start + 1, ZERO, ZERO, D, beta * D + MOVED)


def test_two_steps_hide_the_domain_and_two_sensitivities() -> None:
    first, second = _from_the_domain()
    made = CONVEX.chain(first, second)
    assert made.distances == (Both(D, D), Both(0, 0))
    cost = ((1 + 2 * beta) * D + MOVED) ** 2 + (beta * D + MOVED) ** 2
    CONVEX.weaken(made, profile=Gauss(cost / sigma**2))
    near = CONVEX.chain(*(_step(S(t), ZERO, ZERO, ZERO, MOVED) for t in range(2)))
    CONVEX.weaken(near, profile=Gauss(2 * MOVED**2 / sigma**2))
    ended = contract(CONVEX, anything(CONVEX, FIRST, (ZERO, ZERO), Both(0, 0)), near, made, D)
    assert present(CONVEX, ended).distances == (0, 0)


FALSE: dict[str, Callable[[], object]] = {
    "one step hides the domain of both points": lambda: CONVEX.weaken(_from_the_domain()[0], far=Both(0, 0)),
    "a block ends with unequal previous points and another follows": lambda: CONVEX.chain(
        _from_the_domain()[0], _step(S.One, ZERO, ZERO, ZERO, MOVED)
    ),
    "two steps from equal states at one sensitivity": lambda: CONVEX.weaken(
        CONVEX.chain(*(_step(S(t), ZERO, ZERO, ZERO, MOVED) for t in range(2))), profile=Gauss(MOVED**2 / sigma**2)
    ),
    "a far cost for one point of the domain": lambda: contract(
        CONVEX,
        anything(CONVEX, FIRST, (ZERO, ZERO), Both(0, 0)),
        _step(ZERO, ZERO, ZERO, ZERO, MOVED),
        _step(ZERO, D, ZERO, ZERO, (1 + beta) * D + MOVED),
        D,
    ),
    "a shift that forgets the previous points": lambda: _step(ZERO, ZERO, ZERO, D, MOVED),
    "a shift that forgets the momentum": lambda: _step(ZERO, D, ZERO, ZERO, D + MOVED),
    "the velocity in place of the previous point": lambda: remember(
        CONVEX, CONVEX.step(
            FIRST, ZERO, (ZERO, ZERO), LOSSES["convex"].other_data(eta, n, S.One), gaussian_shift(MOVED, sigma**2),
            sigma**2,
        ), ZERO,
    ),
    "the present point from states that differ": lambda: present(CONVEX, _from_the_domain()[0]),
    "the present point of points": lambda: present(CONVEX, CONVEX.identity(FIRST, ZERO, ZERO)),
    "points after states": lambda: CONVEX.chain(
        _from_the_domain()[1], CONVEX.suppose(FIRST, (S(2), S(3)), (ZERO, ZERO), Equal(), "points")
    ),
    "a number for a pair": lambda: CONVEX.weaken(_from_the_domain()[1], near=ZERO),
    "states in a step": lambda: _kernel.step(
        FIRST, ZERO, (Both(z, y), Both(z, y)), LOSSES["convex"].same_data(eta, eta), gaussian_shift(a, S.One), S.One
    ),
    "states in a step that forgets where it started": lambda: _kernel.step(
        FIRST, ZERO, (Both(z, y), Both(0, 0)), Expansion(y, ZERO, Guide.OTHER, ("ours/x",)),
        gaussian_shift(ZERO, S.One), S.One,
    ),
    "points as states": lambda: CONVEX.weaken(CONVEX.identity(FIRST, ZERO, ZERO), far=Both(0, 0)),
    "one step to the domain from states that differ": lambda: _kernel.domain(FIRST, (ZERO, S.One), Both(z, y), D),
    "one step to the domain from any two states": lambda: CONVEX.domain(FIRST, (ZERO, S.One), Both(D, D), D),
    "a pair for the letter of a distance": lambda: _kernel.specialise(
        _kernel.identity(FIRST, ZERO, z), {z: Both(S.One, ZERO)}
    ),
    "a step that does not remember, after one that does": lambda: CONVEX.chain(
        _from_the_domain()[0], CONVEX.step(FIRST, S.One, (ZERO, ZERO), *_carried(ZERO, MOVED))
    ),
    "a step that remembers twice": lambda: remember(CONVEX, _step(ZERO, ZERO, ZERO, ZERO, MOVED), ZERO),
    "near for states and far for points": lambda: contract(
        CONVEX,
        anything(CONVEX, FIRST, (ZERO, ZERO), Both(0, 0)),
        _step(ZERO, ZERO, ZERO, ZERO, MOVED),
        CONVEX.step(FIRST, ZERO, (D, ZERO), *_carried(ZERO, (1 + beta) * D + MOVED)),
        D,
    ),
    "near for points and far for states": lambda: contract(
        CONVEX,
        anything(CONVEX, FIRST, (ZERO, ZERO)),
        CONVEX.step(FIRST, ZERO, (ZERO, ZERO), *_carried(ZERO, MOVED)),
        _from_the_domain()[0],
        D,
    ),
    "a distance below 0": lambda: _kernel.identity(FIRST, ZERO, Both(z, -1 - y)),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_judgement_is_refused(name: str) -> None:
    with pytest.raises(UnprovedError):
        FALSE[name]()


def test_the_previous_points_are_supposed_until_they_are_remembered() -> None:
    carried = with_momentum(LOSSES["convex"].other_data(eta, n, S.One), beta, y, ahead=False)
    span = CONVEX.step(
        FIRST, ZERO, (z, (1 + beta) * (z + MOVED) + beta * y), carried, gaussian_shift(ZERO, S.One), S.One
    )
    apart = Hypothesis("the previous points of the two runs are at most this far apart", (y,))
    made = remember(CONVEX, span, y)
    assert apart in span.hypotheses - made.hypotheses
    assert made.distances == (Both(z, y), Both(span.far, z))
    assert any("1 + beta times that map" in one.says for one in made.hypotheses)


def test_domain_and_anything_of_states() -> None:
    assert _kernel.domain(FIRST, (ZERO, S.One), Both(0, 0), D).distances == (Both(0, 0), Both(D, D))
    assert _kernel.domain(FIRST, (ZERO, S(2)), Both(z, y), D).far == Both(D, D)
    assert anything(_kernel, FIRST, (ZERO, S.One), Both(z, y)).profile == EVERYTHING


@pytest.mark.parametrize(
    "condition",
    [
        Ge(Both(a, b), z),
        Ge(z, Both(a, b)),
        Ge(0, Both(a, b), evaluate=False),
        Eq(Both(a, b), 0, evaluate=False),
        Ge(Both(Both(a, b), b), 0),
        Ge(Both(a, b) - a, 0),
    ],
)
def test_a_pair_is_compared_only_with_a_pair(condition: Ge) -> None:
    with pytest.raises(UnprovedError, match="only with a pair"):
        each_distance(condition)


def test_each_of_two_distances_is_compared() -> None:
    assert each_distance(Ge(Both(a, b), Both(z, y))) == (a >= z) & (b >= y)
    assert each_distance(Ge(Both(a, -b - 1), 0)) == (Symbol("b", nonnegative=True) <= -1)
