"""All names used in modules of claims: `from lastiterate.symbolic.prelude import *`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sympy import (
    S, Abs, Add, And, Derivative, Eq, Equivalent, Expr, Function, Ge, Integer, Lambda, Le, Lt, Max, Min, Ne, Or,
    Piecewise, Pow, Rational, Subs, Sum, Symbol, Tuple, binomial, ceiling, cosh, diff, erf, exp, log, oo, pi, sign,
    sinh, sqrt, tanh,
)  # fmt: skip
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import (
    Asymptotic, Check, Cited, Consequence, Deduced, Derived, Engine, Expected, Identity, Induction,
    Inequality, IntervalInequality, NormBound, Printed, Recursion, Relation, RenyiBound,
    Tracked, Unbounded, Units, UpperBound, Value, VectorInequality, begin, gains, mean_square,
    sum_induction,
)  # fmt: skip
from lastiterate.symbolic.claim import LAST_ITERATES, Claim, Ours, RefutingRun, Step, Words, words
from lastiterate.symbolic.expectations import MEAN, SQUARES, TOTAL, Transposed, batch_mean, gaussian_mean
from lastiterate.symbolic.families import (
    ConvexSet,
    Functions,
    InSet,
    Operators,
    convex,
    smooth,
    strongly_convex,
)
from lastiterate.symbolic.formulas.divergences import (
    SampledDown, SampledUp, chi_square, cumulative, delta_of_gdp, density_exponent, event, exchanged, hockey_stick,
    moment_exponent, projected_moment, projected_order_limit, projected_step, renyi, tail, two_coins,
)  # fmt: skip
from lastiterate.symbolic.formulas.shift_program import (
    best_share, best_window_cost, cost, direct_cost, feasibility, level, split_cost, sums, v_sum, w_sum,
    window_cost,
)  # fmt: skip
from lastiterate.symbolic.formulas.update import expansion, hoelder_growth, inverse_half
from lastiterate.symbolic.kernel.profiles import (
    Average, Composed, Equal, Gauss, PoissonStep, Power, Profile, Steps, SwapStep,
)  # fmt: skip
from lastiterate.symbolic.kernel.renyi import Sampled
from lastiterate.symbolic.notation import *
from lastiterate.symbolic.papers import PAPERS, Source, cited, proof
from lastiterate.symbolic.statement import *
from lastiterate.symbolic.unevaluated import carried_out, put
from lastiterate.symbolic.vectors import Inner, Norm, Vector, coefficients, inner
