"""The expansion of one update: a distance z between two iterates on adjacent data sets becomes at most e(z).

Letters   eta is the step size, K the clip norm, b the number of samples in a batch, L the smoothness, m the strong
          convexity, omega the modulus of the gradients at z, and k = 1 - eta lambda the factor of weight decay lambda
          (1 without weight decay). Lengths are in the norm of the parameters.
Source    Chien & Li 2025, Lemmas 3.4, 3.5 and 3.8 to 3.10. The cap at 2 K, the factor (b - 1)/b for any modulus,
          and the contraction up to eta = 2/L are ours.
"""

from sympy import Expr, Max, Min, S, sqrt


def step_sensitivity(eta: Expr, K: Expr, b: Expr) -> Expr:
    """e(0) = 2 eta K / b, if one sample of the batch is replaced."""
    return 2 * eta * K / b


def moved(eta: Expr, K: Expr, b: Expr) -> Expr:
    """eta K / b, if one sample is added to a sum that is divided by b for every batch size."""
    return eta * K / b


def modulus(z: Expr, omega: Expr, eta: Expr, K: Expr, b: Expr, k: Expr = S.One) -> Expr:
    """k z + eta (b - 1)/b min(omega, 2 K) + 2 eta K / b, if the differing sample is in the batch."""
    return k * z + eta * (b - 1) / b * Min(omega, 2 * K) + step_sensitivity(eta, K, b)


def same_batch(z: Expr, omega: Expr, eta: Expr, K: Expr, k: Expr = S.One) -> Expr:
    """k z + eta min(omega, 2 K), if the differing sample is not in the batch."""
    return k * z + eta * Min(omega, 2 * K)


def hoelder_growth(x: Expr, L: Expr, lam: Expr) -> Expr:
    """x + L x^lambda; L here is eta times the Hoelder constant."""
    return x + L * x**lam


def expansion(z: Expr, L: Expr, lam: Expr, s: Expr) -> Expr:
    """hoelder_growth(z) + s."""
    return hoelder_growth(z, L, lam) + s


def inverse_half(z: Expr, L: Expr) -> Expr:
    """h(z), the solution of x + L sqrt(x) = z. Source: Chien & Li 2025, Lemma 3.9, (104)."""
    return ((sqrt(L**2 + 4 * z) - L) / 2) ** 2


def strongly_convex_over_sizes(
    eta: Expr, L: Expr, m: Expr, b: Expr, low: Expr, high: Expr, k: Expr = S.One
) -> Expr:
    """max(k - eta low m / b, eta high L / b - k), convex in the size of the batch."""
    return Max(k - eta * low / b * m, eta * high / b * L - k)
