"""Letters of every declaration, and one short word for each type of check."""

import sympy as sp

from lastiterate.symbolic.checks import (
    Asymptotic,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    Recursion,
    Relation,
    Unbounded,
    Units,
    UpperBound,
    Value,
)
from lastiterate.symbolic.notation import t

R = sp.Rational
ZERO, ONE = sp.S.Zero, sp.S.One

r, s, q = sp.symbols("r s q", real=True)
pos, pos2 = sp.symbols("pos pos2", positive=True)
nonneg, nonneg2 = sp.symbols("nonneg nonneg2", nonnegative=True)
neg = sp.Symbol("neg", negative=True)
nonpos = sp.Symbol("nonpos", nonpositive=True)
nonzero = sp.Symbol("nonzero", nonzero=True)
whole = sp.Symbol("whole", integer=True)
count = sp.Symbol("count", integer=True, positive=True)
time = sp.Symbol("time", integer=True, nonnegative=True)
even = sp.Symbol("even", even=True)
odd = sp.Symbol("odd", odd=True)
prime = sp.Symbol("prime", prime=True)
composite = sp.Symbol("composite", composite=True)
broken = sp.Symbol("broken", real=True, integer=False)
u = sp.Function("u", real=True)
u_0 = sp.Symbol("u_0", real=True)
ratio = sp.Symbol("ratio", rational=True)
nought = sp.Symbol("nought", zero=True)
plain, plain2 = sp.symbols("plain plain2")
extended = sp.Symbol("extended", extended_real=True)
irrational = sp.Symbol("irrational", irrational=True)
imaginary = sp.Symbol("imaginary", imaginary=True)
infinite = sp.Symbol("infinite", infinite=True)
matrix = sp.Symbol("matrix", commutative=False)
k = sp.Symbol("k", integer=True)
i = sp.Symbol("i", integer=True)

same = Identity
solves = Recursion


def at_most(left, right, *given):
    return Inequality(sp.sympify(left), Relation.AT_MOST, sp.sympify(right), given)


def below(left, right, *given):
    return Inequality(sp.sympify(left), Relation.BELOW, sp.sympify(right), given)


def equal(left, right, *given):
    return Inequality(sp.sympify(left), Relation.EQUAL, sp.sympify(right), given)


def tight(left, right, *attained):
    return Inequality(sp.sympify(left), Relation.TIGHT, sp.sympify(right), attained=attained)


def on(box, left, right, relation=Relation.AT_MOST):
    return IntervalInequality(sp.sympify(left), relation, sp.sympify(right), box)


def below_on(box, left, right):
    return on(box, left, right, Relation.BELOW)


def always(conclusion, *laws, first=()):
    return Induction(t, conclusion, first, laws)


def printed(expression, text):
    return Value(sp.sympify(expression), text)


def order(left, right, constant=None, path=None):
    return Asymptotic(sp.sympify(left), sp.sympify(right), constant, path or {})


def grows(left, right, path):
    return Unbounded(sp.sympify(left), sp.sympify(right), path)


def alike(left, right, units=None):
    return Units(left, right, units or {})


def attacked(bound, runs, altered=None):
    return UpperBound(bound, runs, altered or {})
