# ruff: noqa: E501
"""Claims about means, and about sequences: those that are false or mean nothing, and those that are true."""

import sympy as sp
from referee_letters import ONE, R, count, k, nonneg, pos, pos2, q, r, s, time

from lastiterate.symbolic.checks import Expected, Induction
from lastiterate.symbolic.expectations import MEAN, SQUARES, TOTAL, Transposed, batch_mean, gaussian_mean
from lastiterate.symbolic.vectors import Norm, Vector, inner

A, B = sp.symbols("A B")
v, w = Vector("v"), Vector("w")
d, p, n, b = sp.symbols("d p n b", positive=True)
empty = sp.Symbol("b", integer=True, nonnegative=True)
u = sp.Function("u", real=True)
steps = sp.Function("steps", integer=True)
BATCH = (empty <= n, n > 1)


def gaussian(*words, rows=d, columns=p, variance=ONE):
    return gaussian_mean(*words, entries={A: (rows, columns, variance)})


def means(left, right, sign="=="):
    return Expected(sp.sympify(left), sign, sp.sympify(right))


def quadratic(one, matrix, other):
    return [Transposed(one), *matrix, other]


def always(conclusion, *laws, first=(), keeps=(), index=time, start=0):
    return Induction(index, conclusion, first, laws, keeps, start)


def is_(left, right):
    return sp.Eq(left, right, evaluate=False)


grows, square = is_(u(time + 1), u(time) + 1), [A, Transposed(A)]
added, shifted = u(time + 1) + u(time), quadratic(v, [A], v)

FALSE = [
    ("a letter that is called as a length", means(gaussian(shifted, shifted, rows=p), sp.Symbol("|v|", real=True, nonnegative=True) ** 4), ()),
    ("the trace of a matrix that is not square", means(gaussian([A]), 0), ()),
    ("a product that does not exist", means(gaussian_mean([A, B], entries={A: (d, p, ONE), B: (n, d, ONE)}), 0), ()),
    ("a vector of two sizes, once", means(gaussian(shifted), 0), ()),
    ("a vector of two sizes, twice", means(gaussian(shifted, shifted), Norm(v) ** 4), ()),
    ("the trace of no matrix", means(gaussian([], square), d * p), ()),
    ("a variance of any sign", means(gaussian(square, variance=r), r * d * p), ()),
    ("pairings left out", means(gaussian(quadratic(v, square * 2, v)), (p**2 + p * d) * Norm(v) ** 2), ()),
    ("the mean of a square at most the square of the mean", means(gaussian(square, square), (d * p) ** 2, "<="), ()),
    ("a random letter outside", means(gaussian(square), A, "<="), (d * p <= A,)),
    ("a random letter for a size", means(gaussian(square, rows=A), A * p), (A >= 0,)),
    ("a mean over what may be 0", means(gaussian(square, variance=nonneg) / (nonneg * d * p), 1), ()),
    ("a mean over a mean that may be 0", means(gaussian(square, variance=nonneg) / gaussian(square * 1, variance=2 * nonneg), R(1, 2)), ()),
    ("a mean of 0 times a pole", means(gaussian([A], columns=d) / (r - 1), 0), ()),
    ("a mean of 0 times no logarithm", means(gaussian([A], columns=d) * sp.log(r), 0), ()),
    ("the square of an inner product", means(batch_mean(inner(TOTAL, MEAN) ** 2, "draws", b), b**2 * Norm(MEAN) ** 4), (b >= 1,)),
    ("an inner product times a square", means(batch_mean(inner(TOTAL, MEAN) * inner(TOTAL, TOTAL), "draws", b), 0), (b >= 1,)),
    ("over a mean that may be 0", means(batch_mean(inner(TOTAL, MEAN) / Norm(MEAN) ** 2, "draws", b), b), (b >= 1,)),
    ("over an empty batch of coins", means(batch_mean(inner(TOTAL / empty, MEAN), "coins", empty, n), Norm(MEAN) ** 2), BATCH),
    ("over an empty batch", means(batch_mean(inner(TOTAL / empty, MEAN), "fixed", empty, n), Norm(MEAN) ** 2), BATCH),
    ("a batch of more than all", means(batch_mean(inner(TOTAL, TOTAL), "fixed", b, n), b**2 * SQUARES, "<="), (n >= 2,)),
    ("a batch of one sample", means(batch_mean(inner(TOTAL, TOTAL), "fixed", b, n), b**2 * SQUARES, "<="), (b <= n,)),
    ("a batch without replacement as one of draws", means(batch_mean(inner(TOTAL / b, TOTAL / b), "fixed", b, n), batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b)), (b <= n, n >= 2)),
    ("a false base", always(u(time) <= time, grows, first=(is_(u(0), 1),)), ()),
    ("no base", always(u(time) <= time, grows), ()),
    ("a start that is too early", always(time**2 <= 2**time), ()),
    ("what fails far out", always(u(time) <= 1000, grows, first=(is_(u(0), 0),)), ()),
    ("a pole on the way", always(u(time) / (time - 7) ** 2 <= 1, is_(u(time + 1), u(time)), first=(is_(u(0), 0),)), ()),
    ("a law with a pole at the start", always(u(time) >= 0, is_(u(time + 1), u(time) + 1 / time), first=(is_(u(0), 0),)), ()),
    ("a law with a pole on the way", always(u(time) >= 0, is_(u(time + 1), u(time) + 1 / (time - 7) ** 2), first=(is_(u(0), 0),)), ()),
    ("a law that ends at an index", always(u(time) <= 4, grows, time <= 3, first=(is_(u(0), 0),)), ()),
    ("laws against each other", always(u(time) <= 4, grows, u(time) <= 3, first=(is_(u(0), 0),)), ()),
    ("a sum of a sequence as of a number", always(is_(sp.Sum(u(k), (k, 0, time)) ** 2, (time + 1) * sp.Sum(u(k) ** 2, (k, 0, time)))), ()),
    ("a constant over the index", always(u(time) <= pos, u(time + 1) <= u(time) + pos / (time + 1) ** 2, first=(is_(u(0), 0),)), ()),
    ("a power of 0 to a negative index", always(nonneg ** (-time) >= 0), ()),
    ("every other index", always(u(time) <= 0, is_(u(time + 2), u(time)), first=(is_(u(0), 0),)), ()),
]  # fmt: skip

TRUE = [
    ("whole sizes", means(0, gaussian(square) * (p - 1) * (p - 2), "<="), ()),
    ("a whole batch", means(0, batch_mean(inner(TOTAL, TOTAL), "draws", b) * (b - 1) * (b - 2), "<="), (b >= 1,)),
    ("whole data", means(0, batch_mean(inner(TOTAL, TOTAL), "coins", q, n) * (n - 2), "<="), (q >= 0, q <= n, n > 1)),
    ("vectors on a line", means(gaussian(quadratic(v, square, v), columns=ONE) * gaussian(quadratic(w, square, w), columns=ONE) - gaussian(quadratic(v, square, w), columns=ONE) ** 2, (d - 1) * Norm(v) ** 2 * Norm(w) ** 2, "<="), ()),
    ("all pairings", means(gaussian(quadratic(v, square * 2, v)), (p**2 + p * d + p) * Norm(v) ** 2), ()),
    ("an odd moment", means(gaussian([A], [A], [A], columns=d, variance=pos2), 0), ()),
    ("the whole batch", means(batch_mean(inner(TOTAL / n - MEAN, TOTAL / n - MEAN), "fixed", n, n), 0), (n >= 2,)),
    ("less than by draws", means(batch_mean(inner(TOTAL, TOTAL), "fixed", b, n), batch_mean(inner(TOTAL, TOTAL), "draws", b), "<="), (b <= n, n >= 2)),
    ("whole squares", always(steps(time) ** 2 >= steps(time)), ()),
    ("a law of two steps", always(u(time) <= 2**time, is_(u(time + 2), added), first=(is_(u(0), 1), is_(u(1), 1)), keeps=(u(time) >= 0, u(time + 1) >= 0, u(time + 1) <= 2 ** (time + 1))), ()),
    ("Bernoulli", always(1 + time * r <= (1 + r) ** time), (r >= -1,)),
    ("from three on", always(2 * count + 1 <= 2**count, index=count, start=3), ()),
    ("a contraction", always(u(time) <= pos / (1 - s), u(time + 1) <= s * u(time) + pos, first=(u(0) <= pos,)), (s >= 0, s < 1)),
]  # fmt: skip
