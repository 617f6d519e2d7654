"""The shift program for an affine expansion e(z) = c z + s, in closed form.

The state z starts at Delta and reaches 0 by w steps z -> c z + s - a_j, with z >= 0 throughout. The cost is
the sum of a_j^2 over positions j = 1, ..., w, in units of the noise variance. The sums V and W are written
out (for numbers and small windows) or geometric (c not 1).

Source: Chien & Li 2025, (3), (11), (12); derived in `chien_li.theorem_3_1_direct` and neighbouring modules.
"""

from sympy import Expr, Integer


def sums(c: Expr, w: int) -> tuple[Expr, Expr]:
    """(V, W) of a window of w steps, written out: the sums of c^-j and of c^-2j for j = 1..w."""
    return sum((c**-j for j in range(1, w + 1)), Integer(0)), sum(
        (c ** (-2 * j) for j in range(1, w + 1)), Integer(0)
    )


def v_sum(c: Expr, w: Expr) -> Expr:
    """V as a geometric sum; c is not 1."""
    return (1 - c**-w) / (c - 1)


def w_sum(c: Expr, w: Expr) -> Expr:
    """W as a geometric sum; c is not 1."""
    return (1 - c ** (-2 * w)) / (c**2 - 1)


def cost(s: Expr, start: Expr, v: Expr, w: Expr) -> Expr:
    """(s V + Delta)^2 / W, the least cost if it is feasible (see `feasibility`); a squared length."""
    return (s * v + start) ** 2 / w


def direct_cost(c: Expr, s: Expr, start: Expr, w: int) -> Expr:
    """The cost of a window of w steps, written out."""
    return cost(s, start, *sums(c, w))


def window_cost(c: Expr, s: Expr, start: Expr, u: Expr) -> Expr:
    """The cost as a function of u = c^-w, c not 1, for a window of any real length."""
    return cost(s, start, (1 - u) / (c - 1), (1 - u**2) / (c**2 - 1))


def best_window_cost(c: Expr, s: Expr, start: Expr) -> Expr:
    """The least cost over real lengths, attained at c^w = 1 + Delta (c - 1)/s; 4 s Delta if c = 1."""
    return (c + 1) * start * (2 * s + (c - 1) * start)


def feasibility(c: Expr, s: Expr, start: Expr, w: Expr) -> Expr:
    """A number that is nonnegative if and only if the unconstrained optimum keeps z >= 0.

    For c <= 1, this always holds; for c > 1, the last shift must cover the sensitivity of one step. This is
    also the condition for beta_t <= 1 in (3).
    """
    return start * (c**2 - 1) - s * (c**w - 1) * (1 - c ** (1 - w))


def level(s: Expr, start: Expr, v: Expr, w: Expr) -> Expr:
    """(s V + Delta) / W, the factor of c^-j in the best shifts."""
    return (s * v + start) / w


def best_share(c: Expr, s: Expr, level: Expr, j: Expr) -> Expr:
    """beta_j of (3) if the constraint beta <= 1 is slack."""
    return s * c**j / level


def split_cost(c: Expr, s: Expr, start: Expr, w: int) -> Expr:
    """The sum in (3) at its best beta, exact, by water-filling s + a_j = max(s, level c^-j).

    Arguments are rational. The first (c < 1) or last (c > 1) positions, as few as possible, have beta = 1 and
    no shift.
    """
    positions = list(range(1, w + 1))
    while True:
        v = sum((c**-j for j in positions), Integer(0))
        squares = sum((c ** (-2 * j) for j in positions), Integer(0))
        line = level(s, start, v, squares)
        tight = 0 if c < 1 else -1
        if line * c ** -positions[tight] >= s or len(positions) == 1:
            return (w - len(positions)) * s**2 + cost(s, start, v, squares)
        del positions[tight]
