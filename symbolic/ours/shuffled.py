"""Batches from a permutation: later encounters, pooled orders, and the value iteration over epochs.

z' = c z - a without the sample, z' = c z + s - a with it. The order is independent of the data and the same for both
runs. t^alpha u^(1 - alpha) is jointly convex, being the perspective of t^alpha: Jensen with weights u and v. Corollary
A.3 of Chien & Li 2025 asks for the mean.
"""

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.windows import FREE_STEPS, IN_PROPORTION

_off = Rational(97, 100)


def _mean(one: Expr, other: Expr) -> Expr:
    return theta * one + (1 - theta) * other


def _stage(state: Expr, target: Expr) -> Expr:
    """The square of the shift from a state to a target; a is what the sample adds."""
    return Max(c * state + a - target, 0) ** 2


_weight = (theta <= 1,)
_joint = Inequality(
    _stage(_mean(x, y), _mean(z, g)),
    "<= and attained",
    _mean(_stage(x, z), _stage(y, g)),
    _weight,
    "cost of a stage, convex in state and target",
)

# d is the least cost over all targets, at the mean of two states; on the right are any targets of those states.
_any_targets = d <= _stage(_mean(x, y), _mean(z, g)) / r + G
_least = Inequality(
    d,
    "<= and attained",
    _mean(_stage(x, z) / r + P, _stage(y, g) / r + R),
    (*_weight, _any_targets, _mean(P, R) >= G),
    "the least over targets, where what follows is convex",
)

_tangents = u >= 1 + (1 - theta) * kappa, v >= 1 - theta * kappa
_exponentials = (
    Inequality(1 + kappa, "<= and attained", exp(kappa), name="exp is above its tangent", attained=(Eq(kappa, 0),)),
    Inequality(Integer(1), "<= and attained", _mean(u, v), (*_weight, *_tangents), "so exp is convex, about 0").mutant(
        "three percent less steep", given=(*_weight, _tangents[0], v >= 1 - _off * theta * kappa)
    ),
    Identity(
        exp(_mean(xi, zeta)) * put(_mean(exp((1 - theta) * kappa), exp(-theta * kappa)), {kappa: xi - zeta}),
        _mean(exp(xi), exp(zeta)),
        "and about any mean",
    ),
)

# Of an order: its chance; of its costs from the mean of two states and from either, exp of what they exceed the pools
# by, for the greatest the costs. Then the sums or the greatest of these.
_chance, _cost, _one, _other = (Function(name, nonnegative=True) for name in "pkfl")
_between, _first, _second = (Function(name, nonnegative=True) for name in "SAB")
_parts = (_between, _cost), (_first, _one), (_second, _other)
_convex = _mean(_one(t), _other(t))
_summed = tuple(gains(total, _chance(t) * one(t)) for total, one in _parts)
_greatest = tuple(Eq(most(t + 1), Max(most(t), one(t))) for most, one in _parts)


def _orders(laws: tuple[Relational, ...], name: str) -> Induction:
    """Of any number of orders, the costs of each of which are convex."""
    said = Le(_between(t), _mean(_first(t), _second(t)))
    check = Induction(t, said, begin(_between, _first, _second), (*laws, Le(_cost(t), _convex)), name=name)
    more = {_cost(t): _convex / _off}
    return check.mutant(f"three percent more: {name}", laws=tuple(one.xreplace(more) for one in laws))


def _shifted_after(more: Expr) -> Expr:
    """The state z after a step without the sample and the encounter, which adds ``more``; then a shift each."""
    return Max(q * Max(c * z - a, 0) + more - x, 0)


_encounter_first = Inequality(
    Max(c * Max(q * z + s - a, 0) - x, 0), "<= and attained", _shifted_after(c * s), given=(q <= c,), name="two steps"
)

# Shifts a that do not look at the order lead from A to e - a, e what a step makes of A. z is the distance of runs that
# meet the sample where m = 1, and not where m = 0; k is the secant of the expansion from z to A. C is the cost, B that
# of the shifts a alone, E what the sample adds.
_shift, _level, _image, _secant, _total, _without, _extra = (Function(one, nonnegative=True) for one in "aAekCBE")
_state, _met = Function("z", nonnegative=True), Function("m", real=True)
_coin = Eq(_met(t) ** 2, _met(t))
_levels = Eq(_level(t + 1), Max(_image(t) - _shift(t), 0))


def _adds(double: Expr) -> Expr:
    return s**2 + double * s * _shift(t)


def _follows(spent: Expr) -> Relational:
    """A step from z: what it makes of A, less the secant times A - z, and s where the sample is met; then its shift."""
    made = _image(t) - _secant(t) * (_level(t) - _state(t)) + s * _met(t)
    return Eq(_state(t + 1), Max(made - _shift(t) - spent * _met(t), 0))


_paid = Induction(
    t,
    Eq(_total(t), _without(t) + _extra(t)),
    begin(_total, _without, _extra),
    (
        _coin,
        gains(_total, (_shift(t) + s * _met(t)) ** 2),
        gains(_without, _shift(t) ** 2),
        gains(_extra, _met(t) * _adds(Integer(2))),
    ),
    name="the squares of a + s m add up to those of a and, where the sample is met, s^2 + 2 s a",
)
_blind = Induction(
    t,
    Le(_state(t), _level(t)),
    (Le(_state(0), _level(0)),),
    (_coin, _levels, _follows(s)),
    name="and the state is at most A as before, whatever nondecreasing expansion",
)

CLAIMS = (
    Ours(
        "ours/shuffled/worst",
        "Without expansion, z' = c z (+ s) - a: shifts for the sample last in every epoch serve every order",
        proof("shuffled", "The worst order is late"),
        *windows("late", "convex"),
        *windows("late", "strongly convex"),
        assumptions=(alpha > 1, eta * L <= 2, m <= L),
    ),
    Ours(
        "ours/shuffled/late",
        "Steps expand by c, the encounter by d <= c: a step later, with sensitivity c s, the same shifts leave no less",
        proof("shuffled", "The worst order is late"),
        _encounter_first.mutant("an encounter that expands more", given=()).mutant(
            "c s three percent less", right=_shifted_after(Rational(97, 100) * c * s)
        ),
        letters={
            c: "factor of a step without the sample",
            q: "d, that of the encounter",
            a: "first shift",
            x: "second",
        },
    ),
    Ours(
        "ours/shuffled/mean",
        "The mean over orders of what a path for each of them costs: exp((alpha - 1) D_alpha) is jointly convex",
        proof("shuffled", "Shuffled batches"),
        *windows("shuffled", "modulus"),
        Deduced(statements.joint_convexity(), "joint_convexity", "joint convexity"),
        Deduced(statements.mean_of_orders(), "mean_of_orders", "divergences given an order"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "ours/shuffled/convex",
        "Costs-to-go stay convex in the distance, least over targets and pooled over any orders: chords lie above",
        proof("shuffled", "The mean over orders: value iteration over epochs"),
        _joint.mutant("three percent less of a state", right=_mean(_stage(_off * x, z), _stage(y, g))),
        _least.mutant("what follows is not convex", given=(*_weight, _any_targets)).mutant(
            "three percent less of the cost", right=_off * _least.right
        ),
        *_exponentials,
        _orders(_summed, "so the mean of exp is convex, any number of orders"),
        Inequality(
            log(rho), "<= and attained", Integer(0), (rho <= 1,), "which is at most 1, so that its log", (Eq(rho, 1),)
        ).mutant("three percent more", given=(_off * rho <= 1,)),
        Identity(log(rho * exp(gamma)), log(rho) + gamma, "makes the pool at most the mean of two pools"),
        _orders(_greatest, "so is the greatest, any number of orders"),
        assumptions=_weight,
        letters={
            theta: "any weight",
            x: "a state",
            y: "another",
            z: "target from it",
            g: "target from the other",
            a: "what the sample adds, s or 0",
            r: "variance of the noise of a stage",
            P: "cost of what follows the target",
            R: "cost of what follows the other target",
            G: "cost of what follows the mean of the targets",
            d: "least cost from the mean of the states",
            xi: "cost of an order from a state less the pool, times the constant of the pool",
            zeta: "the same from the other state",
            kappa: "xi - zeta",
            u: "exp(xi) over exp of the mean of xi and zeta",
            v: "exp(zeta) over that",
            gamma: "mean of the pools of two states, times the constant",
            rho: "mean over the orders of exp of what their costs exceed gamma by",
        },
    ),
    Ours(
        "ours/shuffled/merged",
        "Free steps merge: hiding A over them costs A^2 / X at least, attained, X their noise carried to the end",
        proof("shuffled", "The mean over orders: value iteration over epochs"),
        *FREE_STEPS,
        *IN_PROPORTION,
    ),
    Ours(
        "ours/shuffled/oblivious",
        "Shifts blind to the order: an encounter spends s + a, which adds s^2 + 2 s a and leaves the state",
        proof("shuffled", "Shifts that do not look at the order"),
        _paid.mutant("three percent less of 2 s a", laws=(*_paid.laws[:-1], gains(_extra, _met(t) * _adds(2 * _off)))),
        _blind.mutant("three percent less of s", laws=(_coin, _levels, _follows(_off * s))),
        Inequality(
            z + eta * (b - 1) / b * Min(L * x, 2 * K) + s,
            "<=",
            z + eta * Min(L * x, 2 * K) + s,
            name="with the sample at most s more than without",
        ),
    ),
)
