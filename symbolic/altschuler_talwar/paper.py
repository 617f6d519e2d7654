"""Places in the paper, its letters, and the lower bound that an event shows.

The paper's Lipschitz constant L is the notation's K, its smoothness M is L, and its noise sigma, added to
the gradient, is sigma_DP: the iterate gets eta sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.prelude import *

at: Final = partial(Source, PAPERS["altschuler_talwar"])


def event(order: Expr, first: Expr, second: Expr) -> Expr:
    """A lower bound of D_order from an event of these two probabilities, the law of ``first`` first.

    Source: data processing; the term of the complement is dropped.

    >>> from sympy import Rational
    >>> event(Rational(2), Rational(1, 2), Rational(1, 32)).simplify()
    log(8)
    """
    return (order * log(first) - (order - 1) * log(second)) / (order - 1)
