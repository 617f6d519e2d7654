"""The letters of one meaning in the ledger; `letters` has those that stand for any number until a claim says for what.

The table `MEANING` follows Chien & Li 2025, the first paper of the ledger. Where two letters of the papers
collide, the rarer one is renamed here and the claim says so: the paper's window length T - tau is ``w``
(``m`` is strong convexity), the closed convex set is never a symbol (``K`` is the clip norm).

Units: a *length* is measured in the norm of the parameters, a *gradient* in length / (unit of eta).
"""

from typing import Final

from sympy import Expr, Symbol, symbols

# The run.
T: Final = Symbol("T", integer=True, positive=True)
t: Final = Symbol("t", integer=True, nonnegative=True)
tau: Final = Symbol("tau", integer=True, nonnegative=True)
w: Final = Symbol("w", integer=True, positive=True)
n: Final = Symbol("n", integer=True, positive=True)
b: Final = Symbol("b", integer=True, positive=True)
eta: Final = Symbol("eta", positive=True)
sigma: Final = Symbol("sigma", positive=True)
K: Final = Symbol("K", positive=True)
D: Final = Symbol("D", positive=True)

# The losses.
L: Final = Symbol("L", nonnegative=True)
lam: Final = Symbol("lambda", positive=True)
m: Final = Symbol("m", positive=True)
c: Final = Symbol("c", positive=True)

# The analysis.
alpha: Final = Symbol("alpha", positive=True)
beta: Final = Symbol("beta", nonnegative=True)
s: Final = Symbol("s", positive=True)
Delta: Final = Symbol("Delta", nonnegative=True)
V: Final = Symbol("V", positive=True)
W: Final = Symbol("W", positive=True)
mu: Final = Symbol("mu", positive=True)
epsilon: Final = Symbol("epsilon", nonnegative=True)

# D2P2-SGD: its order eta is alpha here, its step size alpha is eta, its K steps are T, its batch B is b.
ell: Final = Symbol("ell", integer=True, positive=True)
dim: Final = Symbol("dim", integer=True, positive=True)
sigma_A: Final = Symbol("sigma_A", positive=True)  # noqa: N816
nu: Final = Symbol("nu", positive=True)
stab: Final = Symbol("stab", nonnegative=True)
C_2: Final = Symbol("C_2", positive=True)
chi: Final = Symbol("chi", positive=True)
# Liang et al.: noise and spread of gradients, and what their rates are made of.
sigma_dp: Final = Symbol("sigma_DP", positive=True)
sigma_sgd: Final = Symbol("sigma_SGD", positive=True)

# Windows of three steps, written out.
SHIFTS: Final = symbols("a_1:4", nonnegative=True)
SHARES: Final = symbols("beta_1:4", positive=True)

growth: Final = Symbol("N", integer=True, positive=True)
"""Runs to infinity along the path of an `Asymptotic` or `Unbounded` check."""

PREVIOUS: Final = Symbol("previous", real=True)
"""Stands for the value at index - 1 in the step of a `Recursion`."""

MEANING: Final[dict[Symbol, tuple[str, str]]] = {
    T: ("number of steps", "1"),
    t: ("time", "1"),
    tau: ("start of the window of shifts", "1"),
    w: ("length of the window of shifts, T - tau", "1"),
    n: ("size of the data set", "1"),
    b: ("size of a batch; n for full batches", "1"),
    eta: ("step size", "length / gradient"),
    sigma: ("standard deviation of the noise added to the iterate", "length"),
    K: ("clip norm of a per-sample gradient", "gradient"),
    D: ("diameter of the domain (not its radius)", "length"),
    L: ("Hoelder constant of the gradients; smoothness where lambda = 1", "gradient / length^lambda"),
    lam: ("Hoelder order of the gradients", "1"),
    m: ("strong convexity", "gradient / length"),
    c: ("Lipschitz constant of one gradient update", "1"),
    alpha: ("order of the Renyi divergence", "1"),
    beta: ("share of the noise variance that hides the change of the data", "1"),
    s: ("sensitivity of one step, 2 eta K / n", "length"),
    Delta: ("distance of the coupled runs at the start of the window", "length"),
    V: ("sum over the window of c^-j", "1"),
    W: ("sum over the window of c^-2j", "1"),
    mu: ("parameter of Gaussian differential privacy", "1"),
    epsilon: ("privacy loss of (epsilon, delta)", "1"),
    ell: ("dimension after the random projection (p of D2P2-SGD)", "1"),
    dim: ("dimension of the parameters (d of D2P2-SGD)", "1"),
    sigma_A: ("standard deviation of the entries of the projection", "1"),
    nu: ("standard deviation of the noise added after the projection (sigma_epsilon of D2P2-SGD)", "1"),
    stab: ("stability constant of normalised clipping (gamma of D2P2-SGD)", "gradient"),
    C_2: ("a constant that a theorem says exists", "1"),
    chi: ("log(1/delta)", "1"),
    sigma_dp: ("standard deviation of the noise added to the gradient, sigma / eta", "gradient"),
    sigma_sgd: ("root mean square distance of a sample's gradient from the mean", "gradient"),
    **dict.fromkeys(SHIFTS, ("shift at a position of a window of three steps", "length")),
    **dict.fromkeys(SHARES, ("share of the noise variance there", "1")),
    growth: ("grows without limit", "1"),
    PREVIOUS: ("value of a recursion at index - 1", "as the recursion"),
}
"""What each letter that has one meaning stands for, and its unit."""


def sensitivity(batch: Expr = n) -> Expr:
    """The most by which replacing one sample moves one update: 2 eta K / batch, a length.

    Source: Chien & Li 2025, (33)-(36).
    """
    return 2 * eta * K / batch
