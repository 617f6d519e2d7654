"""The letters with one meaning in the ledger, and letters whose meaning each claim states.

`MEANING` follows Chien & Li 2025. If letters of two papers collide, the rarer letter is renamed, as the claim
states: the window length T - tau is ``w`` (``m`` is strong convexity), and the closed convex set has no
symbol (``K`` is the clip norm).

Units: a *length* is measured in the norm of the parameters, and a *gradient* in length / (unit of eta).
"""

from typing import Final

from sympy import Expr, S, Symbol, fraction, sqrt, symbols

LENGTH, GRADIENT = symbols("length gradient", positive=True)
"""The base units; every unit is a product of their powers."""

NUMBER: Final = S.One

MEANING: Final[dict[Symbol, tuple[str, Expr]]] = {}
"""The meaning and the unit of each letter with only one meaning."""


def _letter(name: str, meaning: str, unit: Expr = NUMBER, **facts: bool) -> Symbol:
    letter = Symbol(name, **facts)
    MEANING[letter] = (meaning, unit)
    return letter


# The run.
T: Final = _letter("T", "number of steps", integer=True, positive=True)
t: Final = _letter("t", "time", integer=True, nonnegative=True)
tau: Final = _letter("tau", "start of the window of shifts", integer=True, nonnegative=True)
w: Final = _letter("w", "length of the window of shifts, T - tau", integer=True, positive=True)
n: Final = _letter("n", "size of the data set", integer=True, positive=True)
b: Final = _letter("b", "size of a batch; n for full batches", integer=True, positive=True)
eta: Final = _letter("eta", "step size", LENGTH / GRADIENT, positive=True)
sigma: Final = _letter("sigma", "standard deviation of the noise added to the iterate", LENGTH, positive=True)
K: Final = _letter("K", "clip norm of a per-sample gradient", GRADIENT, positive=True)
D: Final = _letter("D", "diameter of the domain (not its radius)", LENGTH, positive=True)

# The losses.
lam: Final = _letter("lambda", "Hoelder order of the gradients", positive=True)
L: Final = _letter(
    "L",
    "Hoelder constant of the gradients; smoothness where lambda = 1",
    GRADIENT / LENGTH**lam,
    nonnegative=True,
)
m: Final = _letter("m", "strong convexity", GRADIENT / LENGTH, positive=True)
c: Final = _letter("c", "Lipschitz constant of one gradient update", positive=True)

# The analysis.
alpha: Final = _letter("alpha", "order of the Renyi divergence", positive=True)
beta: Final = _letter("beta", "share of the noise variance that hides the change of the data", nonnegative=True)
s: Final = _letter("s", "sensitivity of one step, 2 eta K / n", LENGTH, positive=True)
Delta: Final = _letter(
    "Delta", "distance between the coupled runs at the start of the window", LENGTH, nonnegative=True
)
V: Final = _letter("V", "sum over the window of c^-j", positive=True)
W: Final = _letter("W", "sum over the window of c^-2j", positive=True)
mu: Final = _letter("mu", "parameter of Gaussian differential privacy", positive=True)
epsilon: Final = _letter("epsilon", "privacy loss of (epsilon, delta)", nonnegative=True)

# D2P2-SGD: its order eta is alpha here, its step size alpha is eta, its K steps are T, its batch B is b.
ell: Final = _letter(
    "ell", "dimension after the random projection (p of D2P2-SGD)", integer=True, positive=True
)
dim: Final = _letter("dim", "dimension of the parameters (d of D2P2-SGD)", integer=True, positive=True)
sigma_A: Final = _letter("sigma_A", "standard deviation of the entries of the projection", positive=True)  # noqa: N816
nu: Final = _letter(
    "nu",
    "standard deviation of the noise added after the projection (sigma_epsilon of D2P2-SGD)",
    positive=True,
)
stab: Final = _letter(
    "stab", "stability constant of normalised clipping (gamma of D2P2-SGD)", GRADIENT, nonnegative=True
)
C_2: Final = _letter("C_2", "a constant that a theorem says exists", positive=True)
chi: Final = _letter("chi", "log(1/delta)", positive=True)
# Liang et al.: noise and spread of gradients, and the terms of their rates.
sigma_dp: Final = _letter(
    "sigma_DP", "standard deviation of the noise added to the gradient, sigma / eta", GRADIENT, positive=True
)
sigma_sgd: Final = _letter(
    "sigma_SGD", "root mean square distance of a sample's gradient from the mean", GRADIENT, positive=True
)

growth: Final = _letter("N", "grows without limit", integer=True, positive=True)
"""The variable that tends to infinity along the path of an `Asymptotic` or `Unbounded` check."""

PREVIOUS: Final = Symbol("previous", real=True)
"""The value at index - 1 in the step of a `Recursion`."""


def sensitivity(batch: Expr = n) -> Expr:
    """The largest change of an update by a replaced sample: 2 eta K / batch (Chien & Li 2025, (33)-(36))."""
    return 2 * eta * K / batch


def unit_text(unit: Expr) -> str:
    """A unit as text, "1" for a number.

    >>> unit_text(GRADIENT / LENGTH**2)
    'gradient / length^2'
    """
    above, below = (
        " ".join(
            f"{base}^{power}".removesuffix("^1")
            for base, power in sorted(part.as_powers_dict().items(), key=str)
        )
        for part in fraction(unit)
    )
    return above if below == "1" else f"{above} / {below}"


a, d, g, x, y, z, G, P, R = symbols("a d g x y z G P R", nonnegative=True)
u, v, r, p, q, theta, rho = symbols("u v r p q theta rho", positive=True)
j: Final = Symbol("j", integer=True, positive=True)
h, Q, xi, zeta, gamma, kappa = symbols("h Q xi zeta gamma kappa", real=True)
"""Letters of any meaning, by sign. P, Q and R are often products of differences between points and gradients."""

UNITS: Final[dict[Symbol, Expr]] = {
    **dict.fromkeys((a, x, y, z, d, xi, zeta), LENGTH),
    **dict.fromkeys((u, theta, p, q, j, rho), NUMBER),
    **dict.fromkeys((v, P), LENGTH**2),
    **dict.fromkeys((gamma, kappa, g), GRADIENT),
    h: GRADIENT / LENGTH,
    G: sqrt(GRADIENT * LENGTH),
    Q: LENGTH * GRADIENT,
    R: GRADIENT**2,
}
"""Default units, which a check can change; a claim states the unit of any other letter."""
