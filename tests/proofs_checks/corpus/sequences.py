# ruff: noqa: E501
"""Recursions, inductions, means of random batches and matrices, vectors and members of classes, false and true."""

from dataclasses import replace

import sympy as sp
from referee_letters import ONE, ZERO, R, count, even, pos, pos2, q, r, s, solves, time
from referee_means import (
    BATCH,
    A,
    always,
    b,
    d,
    empty,
    gaussian,
    is_,
    means,
    n,
    p,
    quadratic,
    u,
    v,
    w,
)
from referee_vectors import ball, body, curved, f, narrow, square, vectors, x, y, z

from lastiterate.symbolic.checks import NormBound
from lastiterate.symbolic.expectations import MEAN, SQUARES, TOTAL, Transposed, batch_mean
from lastiterate.symbolic.families import Operators, convex, smooth, strongly_convex
from lastiterate.symbolic.notation import PREVIOUS, L, eta, m
from lastiterate.symbolic.vectors import Norm, inner

HALF = R(1, 2)
nxt = u(time + 1)
rising = is_(nxt, u(time) + 1)
from_0, from_1 = (is_(u(0), 0),), (is_(u(0), 1),)
SUM, OVER = inner(TOTAL, TOTAL), TOTAL / b
MEDIUM = Norm(MEAN) ** 2
smooth_f = convex("f", L)
strong_f = strongly_convex("f", m, L)
any_f = smooth("f", L)
cocoercive, monotone, lipschitz = Operators("T", cocoercive=pos), Operators("T"), Operators("T", lipschitz=pos)
root = f.minimum(y)
UNIT = (sp.Eq(Norm(x), 1), sp.Eq(Norm(y), 1))


def image(family, point):
    return family.at(point).image


def value(family, point):
    return family.at(point).value


def pair(family, left, right, *more, sign="<=", given=()):
    return vectors(left, right, family.at(x), family.at(y), *more, sign=sign, given=given)


def turned(family):
    return image(family, x) - image(family, y)


def stepped(family, size, factor):
    return pair(family, Norm(x - y - size * turned(family)), factor * Norm(x - y))


def length(vector, bound, *given):
    return NormBound(vector, sp.sympify(bound), given)


FALSE = [
    # recursions
    ("starts at 0, not at 1", solves(time, ZERO, PREVIOUS + 2, 2 * time + 1), ()),
    ("one step too many", solves(time, ONE, 2 * PREVIOUS, 2 ** (time + 1)), ()),
    ("the stationary value is not the value", solves(time, ZERO, q * PREVIOUS + 1, 1 / (1 - q)), (q > 0, q < 1)),
    ("the geometric sum ends at t - 1", solves(time, ZERO, q * PREVIOUS + 1, (1 - q ** (time + 1)) / (1 - q)), (q > 0, q < 1)),
    ("1/t with the start forgotten", solves(count, ONE, PREVIOUS / (1 + PREVIOUS), 1 / (count + 1), start=1), ()),
    ("triangular numbers from t - 1", solves(time, ZERO, PREVIOUS + time, time * (time - 1) / 2), ()),
    ("agrees up to t = 4", solves(time, ZERO, PREVIOUS + 1, time + sp.ff(time, 5)), ()),
    ("a contraction with the wrong sign", solves(time, r, (1 - s) * PREVIOUS, (1 + s) ** (-time) * r), (s > 0, s < 1)),
    ("1 % too fast", solves(time, ONE, R(9, 10) * PREVIOUS, R(89, 100) ** time), ()),
    ("a square is not doubled", solves(time, pos, PREVIOUS**2, pos ** (2 * time)), ()),
    ("a pole at t = 2", solves(time, ONE, PREVIOUS * (time**2 - 4) / ((time - 2) * (time + 2)), ONE), ()),
    ("a clipped step that never clips", solves(time, ZERO, sp.Min(PREVIOUS + 1, 3), time), ()),
    ("a projection that never acts", solves(time, ONE, sp.Max(PREVIOUS - 1, 0), 1 - time), ()),
    ("Fibonacci's growth by 2", solves(time, ONE, 2 * PREVIOUS, sp.fibonacci(time + 1)), ()),
    ("an assumption that is undefined at the indices that it leaves out", solves(time, ZERO, PREVIOUS + 1, time + sp.Min(5 * time, 5)), (1 / ((time - 1) * (time - 2) * (time - 3)) ** 2 > 0,)),
    ("a closed form in the value before", solves(time, PREVIOUS, PREVIOUS, PREVIOUS), ()),
    ("an index of even numbers alone", solves(even, ZERO, PREVIOUS + 2, even), ()),
    # inductions
    ("n^2 <= 2^n from 3 on", always(count**2 <= 2**count, index=count, start=3), ()),
    ("n^2 + n + 1 is even-like: at most 2^n", always(time**2 + time + 1 <= 2 ** (time + 1)), ()),
    ("n! <= 4^n for every n", always(u(time) <= 4**time, is_(nxt, (time + 1) * u(time)), first=from_1), ()),
    ("the step without the base", always(u(time) <= time, rising, first=(is_(u(0), 1),)), ()),
    ("the base without the step", always(u(time) <= 1, rising, first=from_0), ()),
    ("all numbers below 300", always(u(time) <= 300, rising, first=from_0), ()),
    ("a contraction and noise: the stationary level", always(u(time) <= pos / (1 - s), nxt <= s * u(time) + pos, first=(u(0) <= 2 * pos / (1 - s),)), (s >= 0, s < 1)),
    ("noise adds even where the map contracts", always(u(time) <= u(0), is_(nxt, s * u(time) + pos)), (s >= 0, s < 1)),
    ("a drift of s a step: t s, not (t - 1) s", always(u(time) <= (time - 1) * pos, nxt <= u(time) + pos, first=from_0), ()),
    ("a law in one direction used in the other", always(u(time) >= time, nxt <= u(time) + 1, first=from_0), ()),
    ("Bernoulli below -2", always(1 + time * r <= (1 + r) ** time), (r >= -4,)),
    ("expansion as if it were none", always(u(time) <= time * pos, nxt <= (1 + s) * u(time) + pos, first=from_0), (s > 0,)),
    ("a law with a pole at 20", always(u(time) >= 0, is_(nxt, u(time) + 1 / (time - 20) ** 2), first=from_0), ()),
    ("a sequence that a law ends at 50", always(is_(u(time), time), rising, u(time) <= 50, first=from_0), ()),
    ("a quotient of two sequences that are 0 at 20", always(is_(u(time) / sp.Function("w", real=True)(time), 1), is_(nxt, u(time) - 1), is_(sp.Function("w", real=True)(time + 1), nxt), first=(is_(u(0), 20), is_(sp.Function("w", real=True)(0), u(0)))), ()),
    ("a law with a pole at 3", always(u(time) >= 0, is_(nxt, u(time) + 1 / (time - 3) ** 2), first=from_0), ()),
    ("a conclusion with a pole at 5", always(u(time) / (time - 5) ** 2 <= 1, is_(nxt, u(time)), first=from_0), ()),
    ("a law that only a constant of 0 obeys", always(u(time) <= 5, is_(nxt, u(time) + pos), u(time) <= 5, first=from_0), ()),
    ("a conclusion among the laws", always(u(time) <= 7, u(time) <= 7), ()),
    ("strict where the start is equal", always(u(time) < 1, is_(nxt, u(time) / 2), first=from_1), ()),
    ("every second value", always(u(time) >= 0, is_(nxt, -u(time)), first=from_1), ()),
    ("Cauchy without the count", always(u(time) ** 2 <= sp.Function("w", real=True)(time), is_(nxt, u(time) + r), is_(sp.Function("w", real=True)(time + 1), sp.Function("w", real=True)(time) + r**2), first=(is_(u(0), 0), is_(sp.Function("w", real=True)(0), 0))), ()),
    ("a mean over t that begins with none", always(u(time) / time <= 1, rising, first=from_0), ()),
    # means
    ("the trace of a Gaussian Gram matrix is d p, not d", means(gaussian([A, Transposed(A)]), d), ()),
    ("E|A'v|^2 is p |v|^2, not d", means(gaussian(quadratic(v, [A, Transposed(A)], v)), d * Norm(v) ** 2), ()),
    ("a variance, not a deviation", means(gaussian([A, Transposed(A)], variance=pos**2), pos * d * p), ()),
    ("independent of itself", means(gaussian([A, Transposed(A)], [A, Transposed(A)]), (d * p) ** 2), ()),
    ("a fourth moment is 3, not 1", means(gaussian([A, Transposed(A)] * 2, rows=ONE, columns=ONE), 1), ()),
    ("E<v, AA'w> vanishes for orthogonal ones only", means(gaussian(quadratic(v, [A, Transposed(A)], w)), 0), ()),
    ("an odd moment is 0, an even one is not", means(gaussian([A], [A], columns=d), 0), ()),
    ("the batch mean has the variance over b, with replacement", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "draws", b), SQUARES - MEDIUM), (b >= 1,)),
    ("without replacement the variance is smaller than by draws", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "fixed", b, n), (SQUARES - MEDIUM) / b), (b >= 1, b <= n, n >= 2)),
    ("(n - b)/n for (n - b)/(n - 1)", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "fixed", b, n), (n - b) / (n * b) * (SQUARES - MEDIUM)), (b >= 1, b <= n, n >= 2)),
    ("coins: the size of the batch is random, too", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "coins", b, n), (SQUARES - MEDIUM) / b, "<="), (b >= 1, b <= n, n > 1)),
    ("coins are not draws", means(batch_mean(SUM, "coins", b, n), batch_mean(SUM, "draws", b)), (b >= 1, b <= n, n > 1)),
    ("an unbiased mean with the wrong divisor", means(batch_mean(inner(TOTAL / n, MEAN), "fixed", b, n), MEDIUM), (b >= 1, b <= n, n >= 2)),
    ("a batch of one has the whole variance", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "draws", b), (SQUARES - MEDIUM) / 2, "<="), (b >= 1,)),
    ("second moment and variance", means(batch_mean(inner(OVER, OVER), "draws", b), SQUARES / b), (b >= 1,)),
    ("divided by a batch that may be empty", means(batch_mean(inner(TOTAL / empty, TOTAL / empty), "coins", empty, n), SQUARES, "<="), BATCH),
    ("Jensen for a mean, turned round", means(batch_mean(inner(OVER, OVER), "draws", b), MEDIUM, "<="), (b >= 1,)),
    # lengths
    ("two unit vectors are up to 2 apart, not sqrt 2", length(x - y, sp.sqrt(2), *UNIT), ()),
    ("a radius for the diameter", length(x - y, pos, Norm(x) <= pos, Norm(y) <= pos), ()),
    ("three unit vectors, no angle known", length(x + y + z, 2, *UNIT, sp.Eq(Norm(z), 1)), ()),
    ("orthogonality forgotten", length(x + y, sp.sqrt(2), *UNIT), ()),
    ("Pythagoras with an obtuse angle supposed", length(x - y, sp.sqrt(2), *UNIT, inner(x, y) <= 0), ()),
    ("a bound below 0, of the right square", length(x, -1, *UNIT), ()),
    ("1 % too small", length(x + y, R(198, 100), *UNIT), ()),
    ("a line for R^d: on a line two of three signs agree", length(x + y + z, 1, *UNIT, sp.Eq(Norm(z), 1), inner(x, y) <= 0, inner(y, z) <= 0, inner(x, z) <= 0), ()),
    # vectors and classes of functions
    ("Cauchy and Schwarz, strict", vectors(inner(x, y), Norm(x) * Norm(y), sign="<"), ()),
    ("the triangle inequality turned round", vectors(Norm(x) + Norm(y), Norm(x + y)), ()),
    ("the parallelogram law without its 2", vectors(square(x + y) + square(x - y), square(x) + square(y)), ()),
    ("three points on a line are not all", vectors(square(x - z), square(x - y) + square(y - z)), ()),
    ("inner products are not monotone in length", vectors(inner(x, z), inner(y, z), given=(Norm(x) <= Norm(y),)), ()),
    ("a quantifier exchanged: near every y for near some y", vectors(square(x - y), 1, given=(square(x - z) <= 1,)), ()),
    ("strong convexity without curvature", pair(smooth_f, m * square(x - y), inner(turned(smooth_f), x - y)), (m > 0,)),
    ("cocoercivity without convexity", pair(any_f, square(turned(any_f)), L * inner(turned(any_f), x - y)), (L > 0,)),
    ("cocoercivity with the constant turned round", pair(smooth_f, L * square(turned(smooth_f)), inner(turned(smooth_f), x - y)), (L > 0,)),
    ("Baillon and Haddad, 1 % more", pair(smooth_f, R(101, 100) * square(turned(smooth_f)), L * inner(turned(smooth_f), x - y)), (L > 0,)),
    ("the descent lemma without 1/2... times 1/3", pair(smooth_f, value(smooth_f, x), value(smooth_f, y) + inner(image(smooth_f, y), x - y) + L / 3 * square(x - y)), (L > 0,)),
    ("convex from the tangent at the wrong point", pair(f, value(f, x), value(f, y) + inner(image(f, y), x - y)), ()),
    ("a midpoint above the mean", vectors(value(f, x) / 2 + value(f, y) / 2, f.at((x + y) / 2).value, f.at(x), f.at(y), f.at((x + y) / 2)), ()),
    ("a step of 2/L contracts for no convex function", stepped(smooth_f, 2 / L, R(99, 100)), (L > 0,)),
    ("a step above 2/L", stepped(smooth_f, R(201, 100) / L, ONE), (L > 0,)),
    ("any step for convex losses", stepped(f, eta, ONE), ()),
    ("smooth losses that are not convex do expand", stepped(any_f, eta, ONE), (L > 0, eta * L <= 1)),
    ("1 - eta m beyond 2/(L + m)", stepped(strong_f, eta, 1 - eta * m), (m <= L, eta * L <= 2, eta * m <= 1)),
    ("the contraction as (1 - eta m)^2", stepped(strong_f, eta, (1 - eta * m) ** 2), (m < L, eta * L <= 1)),
    ("(L - m)/(L + m) with the step 1/L", stepped(strong_f, 1 / L, (L - m) / (L + m)), (m < L,)),
    ("clipping does not keep monotone gradients monotone", vectors(0, inner(ball.at(image(smooth_f, x)).image - ball.at(image(smooth_f, y)).image, x - y), smooth_f.at(x), smooth_f.at(y), ball.at(image(smooth_f, x)), ball.at(image(smooth_f, y))), (L > 0,)),
    ("a projection is no isometry", vectors(square(x - y), square(body.at(x).image - body.at(y).image), body.at(x), body.at(y)), ()),
    ("a projection is nearest, not twice as near", vectors(2 * square(x - body.at(x).image), square(x - y), body.at(x), body.member(y)), ()),
    ("Pythagoras of projections turned round", vectors(square(x - y), square(x - body.at(x).image) + square(body.at(x).image - y), body.at(x), body.member(y)), ()),
    ("a point of the set for any point", vectors(0, inner(x - body.at(x).image, body.at(x).image - y), body.at(x), body.at(y)), ()),
    ("monotone is not strongly monotone", vectors(pos * square(x - y), inner(turned(monotone), x - y), monotone.at(x), monotone.at(y)), ()),
    ("Lipschitz is not monotone", vectors(0, inner(turned(lipschitz), x - y), lipschitz.at(x), lipschitz.at(y)), ()),
    ("nonexpansive is not firmly so", vectors(square(turned(lipschitz)), pos * inner(turned(lipschitz), x - y), lipschitz.at(x), lipschitz.at(y)), ()),
    ("the value at a minimum is the least, not the greatest", vectors(value(f, x), root.value, f.at(x), root), ()),
    ("growth about a minimum without strong convexity", vectors(square(x - y), value(f, x) - root.value, f.at(x), root), ()),
    ("PL needs the factor 2 m, not 4 m", vectors(4 * m * (value(strong_f, x) - strong_f.minimum(y).value), square(image(strong_f, x)), strong_f.at(x), strong_f.minimum(y)), (m < L,)),
    ("gradients of one convex function are not equal", pair(f, square(turned(f)), 0), ()),
    ("equal where the quadratic is not isotropic", pair(narrow, square(turned(narrow)), pos**2 * square(x - y), sign="=="), (pos2 < pos,)),
    ("one smoothness for another", pair(curved, square(turned(curved)), square(x - y)), ()),
    ("a pole in a step", pair(f, square(x - y) * (r**2 - r) / r, (r - 1) * square(x - y) + square(x)), ()),
    ("hypotheses that no vectors meet", replace(vectors(square(x), 0, given=(square(x - y) <= 1, square(x) >= 9, square(y) <= 1)), multipliers={"given 1": 3, "given 2": 1, "given 3": 6}), ()),
    ("hypotheses that no function meets", pair(narrow, square(x - y), 0, given=(inner(turned(narrow), x - y) <= 0, square(x - y) >= 1)), (pos2 <= pos,)),
]  # fmt: skip

TRUE = [
    ("twice as far", solves(time, ZERO, PREVIOUS + 2, 2 * time), ()),
    ("the mean of a contraction with drift", solves(time, r, q * PREVIOUS + 1 - q, 1 + q**time * (r - 1)), (q > 0, q < 1)),
    ("a variance that adds up", solves(time, ZERO, q**2 * PREVIOUS + 1, (1 - q ** (2 * time)) / (1 - q**2)), (q > 0, q < 1)),
    ("odd numbers make squares", solves(time, ZERO, PREVIOUS + 2 * time - 1, time**2), ()),
    ("pyramids", solves(time, ZERO, PREVIOUS + time**2, time * (time + 1) * (2 * time + 1) / 6), ()),
    ("a harmonic step", solves(time, ONE, PREVIOUS / (1 + PREVIOUS), 1 / (1 + time)), ()),
    ("a factorial", solves(time, ONE, PREVIOUS * time, sp.factorial(time)), ()),
    ("double, then one more: 2^t - 1", solves(time, ZERO, 2 * PREVIOUS + 1, 2**time - 1), ()),
    ("n < 2^n, Cantor", always(time + 1 <= 2**time), ()),
    ("n^2 <= 2^n from 4 on", always(count**2 <= 2**count, index=count, start=4), ()),
    ("counting", always(u(time) <= time, rising, first=from_0), ()),
    ("Gronwall, discrete", always(u(time) <= pos * (1 + s) ** time, nxt <= (1 + s) * u(time), first=(u(0) <= pos,)), (s >= 0,)),
    ("a drift of s a step", always(u(time) <= time * pos, nxt <= u(time) + pos, first=from_0), ()),
    ("a contraction stays within its level", always(u(time) <= pos / (1 - s), nxt <= s * u(time) + pos, first=(u(0) <= pos / (1 - s),)), (s >= 0, s < 1)),
    ("a contraction falls", always(u(time) <= pos * s**time, nxt <= s * u(time), first=(u(0) <= pos,), keeps=()), (s > 0, s < 1)),
    ("a sequence that stays nonnegative", always(u(time) >= 0, nxt >= u(time) / 2, first=(u(0) >= 0,)), ()),
    ("a clipped walk stays in its interval", always(u(time) <= 3, is_(nxt, sp.Min(u(time) + 1, 3)), first=from_0), ()),
    ("a Gram matrix's trace", means(gaussian([A, Transposed(A)]), d * p), ()),
    ("Johnson and Lindenstrauss, the mean", means(gaussian(quadratic(v, [A, Transposed(A)], v), variance=1 / p), Norm(v) ** 2), (p > 0,)),
    ("inner products are kept in the mean", means(gaussian(quadratic(v, [A, Transposed(A)], w)), p * inner(v, w)), ()),
    ("a fourth moment", means(gaussian([A, Transposed(A)] * 2, rows=ONE, columns=ONE), 3), ()),
    ("the second moment of a chi square", means(gaussian([A, Transposed(A)], [A, Transposed(A)]), (d * p) ** 2 + 2 * d * p), ()),
    ("Jensen for a mean", means(gaussian([A, Transposed(A)]) ** 2, gaussian([A, Transposed(A)], [A, Transposed(A)]), "<="), ()),
    ("the variance of a mean of draws", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "draws", b), (SQUARES - MEDIUM) / b), (b >= 1,)),
    ("the finite population correction", means(batch_mean(inner(OVER - MEAN, OVER - MEAN), "fixed", b, n), (n - b) / (b * (n - 1)) * (SQUARES - MEDIUM)), (b >= 1, b <= n, n >= 2)),
    ("an unbiased batch", means(batch_mean(inner(OVER, MEAN), "fixed", b, n), MEDIUM), (b >= 1, b <= n, n >= 2)),
    ("coins are unbiased, too", means(batch_mean(inner(OVER, MEAN), "coins", b, n), MEDIUM), (b >= 1, b <= n, n > 1)),
    ("two vectors of one length", length(x - y, 2, *UNIT), ()),
    ("a diameter is twice the radius", length(x - y, 2 * pos, Norm(x) <= pos, Norm(y) <= pos), ()),
    ("Pythagoras, at least a right angle", length(x + y, sp.sqrt(2), *UNIT, inner(x, y) <= 0), ()),
    ("the triangle inequality", length(x + y, pos + pos2, Norm(x) <= pos, Norm(y) <= pos2), ()),
    ("Cauchy and Schwarz", vectors(2 * inner(x, y), square(x) + square(y)), ()),
    ("Apollonius", vectors(2 * square(z - (x + y) / 2), square(z - x) + square(z - y)), ()),
    ("Young for vectors", vectors(2 * inner(x, y), pos * square(x) + square(y) / pos), ()),
    ("the square of a mean", vectors(square((x + y) / 2), square(x) / 2 + square(y) / 2), ()),
    ("monotone gradients of convex functions", pair(f, 0, inner(turned(f), x - y)), ()),
    ("Baillon and Haddad", pair(smooth_f, square(turned(smooth_f)), L * inner(turned(smooth_f), x - y)), (L > 0,)),
    ("the descent lemma", pair(smooth_f, value(smooth_f, x), value(smooth_f, y) + inner(image(smooth_f, y), x - y) + L / 2 * square(x - y)), (L > 0,)),
    ("strongly monotone gradients", pair(strong_f, m * square(x - y), inner(turned(strong_f), x - y)), (m < L,)),
    ("Nesterov 2.1.12", pair(strong_f, m * L * square(x - y) + square(turned(strong_f)), (m + L) * inner(turned(strong_f), x - y)), (m < L,)),
    ("a gradient step up to 2/L", stepped(smooth_f, eta, ONE), (L > 0, eta * L <= 2)),
    ("a short step contracts by 1 - eta m", stepped(strong_f, eta, 1 - eta * m), (m < L, eta * L <= 1)),
    ("a projection does not expand", vectors(square(body.at(x).image - body.at(y).image), square(x - y), body.at(x), body.at(y)), ()),
    ("a projection is firmly nonexpansive", vectors(square(body.at(x).image - body.at(y).image), inner(body.at(x).image - body.at(y).image, x - y), body.at(x), body.at(y)), ()),
    ("Pythagoras of projections", vectors(square(x - body.at(x).image) + square(body.at(x).image - y), square(x - y), body.at(x), body.member(y)), ()),
    ("cocoercive maps are Lipschitz", vectors(pos**2 * square(turned(cocoercive)), square(x - y), cocoercive.at(x), cocoercive.at(y)), ()),
    ("the gradient at a minimum is 0: values lie above", vectors(root.value, value(f, x), f.at(x), root), ()),
    ("Polyak and Lojasiewicz of strongly convex functions", vectors(2 * m * (value(strong_f, x) - strong_f.minimum(y).value), square(image(strong_f, x)), strong_f.at(x), strong_f.minimum(y)), (m < L,)),
    ("quadratic growth", vectors(m / 2 * square(x - y), value(strong_f, x) - strong_f.minimum(y).value, strong_f.at(x), strong_f.minimum(y)), (m < L,)),
    ("a clipped gradient is no longer than K", vectors(square(ball.at(x).image), pos**2, ball.at(x)), ()),
    ("clipping does not expand", vectors(square(ball.at(x).image - ball.at(y).image), square(x - y), ball.at(x), ball.at(y)), ()),
]  # fmt: skip
