r"""Batches from a fresh permutation in every epoch (docs/proofs/shuffled.md).

The order is independent of the data and the same in both runs, so it is revealed. With $\mu_\pi$ the cost of
any path for the order $\pi$, $E_\gamma \le \mathrm{mean}_\pi\,\theta_{\mu_\pi}(\gamma)$, and
$$\varepsilon(\alpha) \le \frac1{\alpha - 1}\log\mathrm{mean}_\pi
  \exp\Big(\frac{\alpha(\alpha - 1)}2\mu_\pi^2\Big).$$
For $z' = c z\,(+ s) - a$ with $c \le 1$ the sample is last in every epoch of the worst order. In general
costs-to-go are convex in the distance; value iteration over epochs relies on this.

Checked: shifts for the worst order, and the mean over orders, by derivations; the shifts that do not depend on
the order, and the convexity on which value iteration relies, by inequalities and inductions.
"""

from lastiterate.symbolic.ours.paper import *
from lastiterate.symbolic.windows import FREE_STEPS, IN_PROPORTION

_EPOCHS = proof("shuffled", "The mean over orders: value iteration over epochs")
_weight = (theta <= 1,)

# Of an order: its probability; from the mean of two states, and from either, exp of the cost less the pool, or for the
# greatest the cost itself. Then the sums or the greatest of these.
_chance, _cost, _one, _other = (Function(name, nonnegative=True) for name in "pkfl")
_between, _first, _second = (Function(name, nonnegative=True) for name in "SAB")
_parts = (_between, _cost), (_first, _one), (_second, _other)

# Shifts a that do not depend on the order lead from A to e - a, e the image of A under a step. z is the distance of
# runs that meet the sample where m = 1, and not where m = 0; k is the secant of the expansion from z to A. C is the
# cost, B that of the shifts a alone, E what the sample adds.
_shift, _level, _image, _secant, _total, _without, _extra = (
    Function(one, nonnegative=True) for one in "aAekCBE"
)
_state, _met = Function("z", nonnegative=True), Function("m", real=True)
_coin = Eq(_met(t) ** 2, _met(t))
_made = _image(t) - _secant(t) * (_level(t) - _state(t)) + s * _met(t)


def _mean(one: Expr, other: Expr) -> Expr:
    return theta * one + (1 - theta) * other


def _stage(state: Expr, target: Expr) -> Expr:
    """The square of the shift from a state to a target, if the sample adds a."""
    return Max(c * state + a - target, 0) ** 2


def _orders(laws: Any, name: str) -> Induction:
    said = Le(_between(t), _mean(_first(t), _second(t)))
    each = tuple(laws(total, one) for total, one in _parts)
    convex_costs = Le(_cost(t), _mean(_one(t), _other(t)))
    return Induction(t, said, begin(_between, _first, _second), (*each, convex_costs), name=name)


CLAIMS = (
    Ours(
        "ours/shuffled/worst",
        "Without expansion, z' = c z (+ s) - a: shifts for the sample last in every epoch serve every order",
        proof("shuffled", "In the worst order the sample comes late"),
        *windows("late", "convex", "strongly convex"),
        assumptions=(alpha > 1, eta * L <= 2, m <= L),
    ),
    Ours(
        "ours/shuffled/late",
        "Steps expand by c, the encounter by d <= c: a step later, with sensitivity c s, the same shifts leave no less",
        proof("shuffled", "In the worst order the sample comes late"),
        Inequality(
            Max(c * Max(q * z + s - a, 0) - x, 0),
            "<= and attained",
            Max(q * Max(c * z - a, 0) + c * s - x, 0),
            (q <= c,),
            "two steps",
        ).mutant("an encounter that expands more", given=()),
        letters={
            c: "factor of a step without the sample",
            q: "d, that of the encounter",
            a: "first shift",
            x: "second shift",
        },
    ),
    Ours(
        "ours/shuffled/mean",
        "The mean over orders of what a path for each of them costs: exp((alpha - 1) D_alpha) is jointly convex",
        proof("shuffled", "Shuffled batches"),
        *windows("shuffled", "modulus", "steps"),
        Deduced(statements.joint_convexity(), "joint_convexity", "joint convexity"),
        Deduced(statements.mean_of_orders(), "mean_of_orders", "divergences given an order"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "ours/shuffled/convex",
        "Costs-to-go stay convex in the distance, least over targets and pooled over any orders: chords lie above",
        _EPOCHS,
        Inequality(
            _stage(_mean(x, y), _mean(z, g)),
            "<= and attained",
            _mean(_stage(x, z), _stage(y, g)),
            _weight,
            "cost of a stage, convex in state and target",
        ).mutant(
            "three percent less of a state", sign="<=", right=_mean(_stage(97 * x / 100, z), _stage(y, g))
        ),
        # d is the least cost over all targets, at the mean of two states; on the right any targets of those states.
        Inequality(
            d,
            "<= and attained",
            _mean(_stage(x, z) / r + P, _stage(y, g) / r + R),
            (*_weight, d <= _stage(_mean(x, y), _mean(z, g)) / r + G, _mean(P, R) >= G),
            "the least over targets, where what follows is convex",
        ).mutant("what follows is not convex", given=(*_weight, d <= _stage(_mean(x, y), _mean(z, g)) / r + G)),
        Inequality(
            1 + kappa, "<= and attained", exp(kappa), name="exp is above its tangent", attained=(Eq(kappa, 0),)
        ),
        Inequality(
            S.One,
            "<= and attained",
            _mean(u, v),
            (*_weight, u >= 1 + (1 - theta) * kappa, v >= 1 - theta * kappa),
            "so exp is convex, about 0",
        ),
        Identity(
            exp(_mean(xi, zeta))
            * put(_mean(exp((1 - theta) * kappa), exp(-theta * kappa)), {kappa: xi - zeta}),
            _mean(exp(xi), exp(zeta)),
            "and about any mean",
        ),
        _orders(lambda total, one: gains(total, _chance(t) * one(t)), "so the mean of exp is convex"),
        Inequality(
            log(rho), "<= and attained", S.Zero, (rho <= 1,), "at most 1, so that its log", (Eq(rho, 1),)
        ).mutant("three percent more", sign="<=", given=(97 * rho <= 100,)),
        Identity(log(rho * exp(gamma)), log(rho) + gamma, "makes the pool at most the mean of two pools"),
        _orders(lambda most, one: Eq(most(t + 1), Max(most(t), one(t))), "so is the greatest"),
        assumptions=_weight,
        letters={
            theta: "any weight",
            x: "a state",
            y: "another",
            z: "target from it",
            g: "target from the other",
            a: "what the sample adds, s or 0",
            r: "variance of the noise of a stage",
            kappa: "xi - zeta",
            P: "cost of what follows the target",
            R: "of what follows the other",
            G: "of what follows their mean",
            d: "least cost from the mean of the states",
            u: "exp(xi) over exp of the mean of xi and zeta",
            xi: "cost of an order from a state less the pool, times the constant of the pool",
            v: "exp(zeta) over that",
            zeta: "xi from the other state",
            gamma: "mean of the pools of two states, times the constant",
            rho: "mean over the orders of exp of what their costs exceed gamma by",
        },
    ),
    Ours(
        "ours/shuffled/merged",
        "Free steps merge: hiding A over them costs A^2 / X at least, attained, X their noise carried to the end",
        _EPOCHS,
        *FREE_STEPS,
        *IN_PROPORTION,
    ),
    Ours(
        "ours/shuffled/oblivious",
        "Shifts blind to the order: an encounter spends s + a, which adds s^2 + 2 s a and leaves the state",
        proof("shuffled", "Shifts that do not depend on the order"),
        sum_induction(
            "the squares of a + s m add up to those of a and, where the sample is met, s^2 + 2 s a",
            Eq(_total(t), _without(t) + _extra(t)),
            {
                _total: (_shift(t) + s * _met(t)) ** 2,
                _without: _shift(t) ** 2,
                _extra: _met(t) * (s**2 + 2 * s * _shift(t)),
            },
            _coin,
        ),
        Induction(
            t,
            Le(_state(t), _level(t)),
            (Le(_state(0), _level(0)),),
            (
                _coin,
                Eq(_level(t + 1), Max(_image(t) - _shift(t), 0)),
                Eq(_state(t + 1), Max(_made - _shift(t) - s * _met(t), 0)),
            ),
            name="and the state is at most A as before, whatever nondecreasing expansion",
        ),
        Inequality(
            z + eta * (b - 1) / b * Min(L * x, 2 * K) + s,
            "<=",
            z + eta * Min(L * x, 2 * K) + s,
            name="with the sample at most s more than without",
        ),
    ),
)
