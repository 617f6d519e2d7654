"""The two directions of the sampled Gaussian as functions of its rate, its noise and the order.

With base N(0, noise^2) and mixture M = (1 - rate) N(0, noise^2) + rate N(1, noise^2), for rates in (0, 1), positive
noise and orders above 1. They have no closed form for general orders; `lastiterate.numeric.enclosure.tape` knows them.
"""

from typing import cast

from sympy import Expr, Function  # has no stubs, so that a subclass looks untyped

__all__ = ["SampledDown", "SampledUp", "sampled_down", "sampled_up"]


class SampledUp(Function):  # type: ignore[misc]
    """D_order(M || N(0, noise^2)) as a function of (rate, noise, order): the mixture is the numerator."""

    nargs = (3,)


class SampledDown(Function):  # type: ignore[misc]
    """D_order(N(0, noise^2) || M) as a function of (rate, noise, order): the base is the numerator.

    Source: Altschuler & Talwar 2022, Definition 2.10; Chien & Li 2025, Definition 3.11.
    """

    nargs = (3,)


def sampled_up(rate: Expr, noise: Expr, order: Expr) -> Expr:
    """`SampledUp` of these arguments, as an expression for type checkers."""
    return cast("Expr", SampledUp(rate, noise, order))


def sampled_down(rate: Expr, noise: Expr, order: Expr) -> Expr:
    """`SampledDown` of these arguments, as an expression for type checkers."""
    return cast("Expr", SampledDown(rate, noise, order))
