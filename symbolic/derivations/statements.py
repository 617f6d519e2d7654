"""Statements that several papers make and that `deductions` proves."""

from typing import Final

from sympy import Basic, Eq, Expr, Function, Max, S, Sum, Symbol, exp, log, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.densities import *
from lastiterate.symbolic.notation import a, alpha, b, chi, epsilon, eta, n, sensitivity, sigma, sigma_dp, z
from lastiterate.symbolic.statement import *

POINT: Final = Point("x")
INDEX: Final = Symbol("i", integer=True, nonnegative=True)
COUNT: Final = Symbol("k", integer=True, nonnegative=True)
EPSILON_1, EPSILON_2 = symbols("epsilon_1 epsilon_2", nonnegative=True)
COST: Final = Function("e", nonnegative=True)(INDEX)
WEIGHT: Final = Function("p", nonnegative=True)(INDEX)
MIX: Final = Symbol("lambda", nonnegative=True)
THIRD, FOURTH = symbols("mu_3 mu_4")
VARIABLE: Final = Function("X", nonnegative=True)(Point("omega"))
LEVEL, RATE, RADIUS = symbols("a q R", positive=True)
FACTOR, APART = symbols("c s", nonnegative=True)
OTHER_MAP: Final = Symbol("psi'")

MIXED: Final = MIX * FIRST + (1 - MIX) * THIRD, MIX * SECOND + (1 - MIX) * FOURTH
EACH: Final = At(KERNEL, INDEX), At(KERNEL_2, INDEX)
LIMITS: Final = INDEX, S.One, COUNT
MIXTURES: Final = tuple(Sum(WEIGHT * law, LIMITS) for law in EACH)
"""Mixtures of two pairs; the i-th of k pairs; the limits of i; and the two mixtures of all pairs."""

_both: Final = RenyiDivergence(alpha, Joint(FIRST, KERNEL), Joint(SECOND, KERNEL_2))
_given: Final = Supremum(RenyiDivergence(alpha, At(KERNEL, POINT), At(KERNEL_2, POINT)), POINT)
STEP: Final = Supremum(
    RenyiDivergence(alpha, At(Next(FORMER, INDEX - 1), POINT), At(Next(LATTER, INDEX - 1), POINT)), POINT
)
"""The largest divergence between the i-th variables given all earlier variables."""


def post_processing(order: Expr, *conditions: Boolean) -> ForAll:
    """No map, random or not, increases the divergence between two laws."""
    after = RenyiDivergence(order, Image(MAP, FIRST), Image(MAP, SECOND))
    return closed(after <= RenyiDivergence(order, FIRST, SECOND), *conditions)


def composition(*conditions: Boolean) -> ForAll:
    """Two variables: the divergence of the first plus the largest divergence of the second given the first."""
    return closed(_both <= RenyiDivergence(alpha, FIRST, SECOND) + _given, *conditions)


def two_mechanisms() -> ForAll:
    """Two mechanisms, the second of which receives the first's output."""
    budgets = RenyiDivergence(alpha, FIRST, SECOND) <= EPSILON_1, _given <= EPSILON_2
    return closed(_both <= EPSILON_1 + EPSILON_2, alpha >= 1, *budgets)


def sequences(condition: Boolean) -> ForAll:
    """k variables: the sum of their largest divergences, each given the earlier variables."""
    return closed(_sequence() <= Sum(STEP, (INDEX, 1, COUNT)), condition)


def many_mechanisms() -> ForAll:
    """k mechanisms, each of which receives the outputs of earlier mechanisms."""
    return closed(_sequence() <= Sum(COST, (INDEX, 1, COUNT)), alpha >= 1, Every(STEP <= COST, INDEX))


def quasi_convexity() -> ForAll:
    """Mixtures of two pairs with the same weights have at most the larger divergence of the pairs."""
    most = Max(RenyiDivergence(alpha, FIRST, SECOND), RenyiDivergence(alpha, THIRD, FOURTH))
    return closed(RenyiDivergence(alpha, *MIXED) <= most, alpha >= 1, MIX <= 1)


def joint_convexity() -> ForAll:
    """For mixtures with the same weights, exp((alpha - 1) D) is at most its mean over the k pairs."""
    left, right = (exp((alpha - 1) * RenyiDivergence(alpha, *laws)) for laws in (MIXTURES, EACH))
    return closed(left <= Sum(WEIGHT * right, LIMITS), alpha >= 1, Eq(Sum(WEIGHT, LIMITS), 1))


def mean_of_orders() -> ForAll:
    """Mixtures of k pairs with the same weights diverge by at most the log-mean-exp of k bounds."""
    bound = log(Sum(WEIGHT * exp((alpha - 1) * COST), LIMITS)) / (alpha - 1)
    each = Every(RenyiDivergence(alpha, *EACH) <= COST, INDEX)
    return closed(RenyiDivergence(alpha, *MIXTURES) <= bound, alpha > 1, each, Eq(Sum(WEIGHT, LIMITS), 1))


def second_law() -> ForAll:
    """The divergence is convex in its second law."""
    bound = (1 - MIX) * RenyiDivergence(ANY_ORDER, FIRST, SECOND) + MIX * RenyiDivergence(
        ANY_ORDER, FIRST, THIRD
    )
    return closed(RenyiDivergence(ANY_ORDER, FIRST, (1 - MIX) * SECOND + MIX * THIRD) <= bound, MIX <= 1)


def conversion(loss: Expr = epsilon + chi / (alpha - 1)) -> ForAll:
    """A divergence of loss - log(1/delta)/(alpha - 1) gives (loss, delta)-DP, delta = exp(-chi)."""
    condition = RenyiDivergence(alpha, FIRST, SECOND) <= loss - chi / (alpha - 1)
    return closed(HockeyStick(exp(loss), FIRST, SECOND) <= exp(-chi), alpha > 1, condition)


def markov_inequality() -> ForAll:
    """Markov's inequality."""
    return closed(mean(Indicator(VARIABLE, LEVEL)) <= mean(VARIABLE) / LEVEL)


def shift_reduction(condition: Boolean) -> ForAll:
    """Gaussian noise hides a shift a, at the cost alpha a^2 / (2 sigma^2)."""
    noisy = Noisy(FIRST, sigma**2), Noisy(SECOND, sigma**2)
    bound = ShiftedDivergence(alpha, z + a, FIRST, SECOND) + alpha * a**2 / (2 * sigma**2)
    return closed(ShiftedDivergence(alpha, z, *noisy) <= bound, condition)


def reduction(distance: Expr, other: Basic, *conditions: Boolean) -> ForAll:
    """Maps of both laws turn a shift of z into a shift of ``distance``."""
    after = ShiftedDivergence(alpha, distance, Image(MAP, FIRST), Image(other, SECOND))
    return closed(after <= ShiftedDivergence(alpha, z, FIRST, SECOND), *conditions)


def apart(most: Expr) -> Every:
    """From each point, the laws after the random maps of the two runs diverge by at most ``most``."""
    return Every(RenyiDivergence(alpha, At(MAP, POINT), At(OTHER_MAP, POINT)) <= most, POINT)


def noisy_reduction(factor: Expr, most: Expr) -> ForAll:
    """A step that expands a shift by a factor, from runs whose steps diverge by at most ``most`` at each point."""
    bound = ShiftedDivergence(alpha, z, FIRST, SECOND) + most
    after = ShiftedDivergence(alpha, factor * z, Image(MAP, FIRST), Image(OTHER_MAP, SECOND))
    return closed(after <= bound, alpha > 1, Lipschitz(MAP, factor), apart(most))


def extremum(condition: Boolean) -> ForAll:
    """Among noisy laws on a ball, mixed in with probability q, point masses on the sphere diverge most."""
    still = Gaussian(S.Zero, sigma**2)
    apart = RenyiDivergence(alpha, still, (1 - RATE) * still + RATE * Noisy(FIRST, sigma**2))
    largest = Supremum(apart, FIRST, OnBall(FIRST, RADIUS))
    return closed(Eq(largest, sampled(RATE, sigma / RADIUS), evaluate=False), condition, RATE < 1)


def sampled(rate: Expr, noise: Expr) -> Expr:
    """S_alpha(rate, noise), written with the laws that define it."""
    still, moved = Normal(S.Zero, noise**2), Normal(S.One, noise**2)
    made: Expr = RenyiDivergence(alpha, still, (1 - rate) * still + rate * moved)
    return made


def _sequence() -> Expr:
    return S.One * RenyiDivergence(alpha, Prefix(FORMER, COUNT), Prefix(LATTER, COUNT))


def mixed_step(share: Expr = S.One, variance: Expr = (eta * sigma_dp) ** 2, rate: Expr = b / n) -> Expr:
    """The cost of a step with a random batch, both orders: by the mean of the moments with and without the sample."""
    square = sensitivity(b) ** 2 / (share * variance)
    return log(1 + rate * (exp(alpha * (alpha - 1) * square / 2) - 1)) / (alpha - 1)
