"""All names used in derivations: `from lastiterate.symbolic.kernel.prelude import *`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from sympy import Abs, Eq, Expr, Function, Ge, Gt, Le, Lt, Min, Piecewise, S, Symbol, oo, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.induction import Sequence, StepInduction
from lastiterate.symbolic.kernel.judgement import Both, Guarantee, Hypothesis, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Coin, Expansion, Guide, Shift, gaussian_shift, no_shift, on_condition, poisson_coin, projected_sample, shown,
    supposing, swap_coin, with_momentum,
)  # fmt: skip
from lastiterate.symbolic.kernel.profiles import (
    Average, BlockChain, Chords, Composed, Damped, Equal, Gauss, Letter, MeanProfile, Order, PoissonStep, Power,
    Profile, Projected, Recurring, Steps, SwapStep, ThreeLaws, X, compose,
)  # fmt: skip
from lastiterate.symbolic.kernel.rules import (
    Kernel, anything, compare_with_third, contract, observe, present, remember,
)  # fmt: skip
from lastiterate.symbolic.kernel.sealed import fix, genuine, rule
