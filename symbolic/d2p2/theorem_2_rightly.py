"""Theorem 2 mended for equal convex losses of slope at most G: moments, one step, and the sum over the steps.

The normalised gradients of equal losses have the mean that the proof takes for granted. By convexity f of the mean
iterate is at most the mean of f, which the sum bounds.
"""

from sympy import Integer, Symbol, log, sqrt

from lastiterate.symbolic.claim import Expected, Identity, Inequality, Ours
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.expectations import Transposed, gaussian_mean
from lastiterate.symbolic.letters import G, P, R, g, h, p, q, u, x, y, z
from lastiterate.symbolic.notation import T, dim, ell, eta, nu, sigma_A, stab
from lastiterate.symbolic.vectors import Norm, Vector, inner

_one = Integer(1)
_root = sqrt(ell)
_noise_true = dim * ell * sigma_A**2 * nu**2
_half_step = 2 * eta * _root * sigma_A**2
_A, _e = Symbol("A"), Symbol("e")
_back = gaussian_mean(
    [Transposed(_e), Transposed(_A), _A, _e], entries={_A: (dim, ell, sigma_A**2), _e: (ell, _one, nu**2)}
)
_u, _v = Vector("u"), Vector("v")
_matrix = {_A: (dim, ell, sigma_A**2)}
_forth = gaussian_mean([Transposed(_u), _A, Transposed(_A), _v], entries=_matrix) / _root
_size = gaussian_mean([Transposed(_v), _A, Transposed(_A), _A, Transposed(_A), _v], entries=_matrix) / ell
_across = gaussian_mean([Transposed(_v), _A, Transposed(_A), _A, _e], entries=_matrix | {_e: (ell, _one, nu**2)})
_now, _next = Symbol("D_k", nonnegative=True), Symbol("D_{k+1}", nonnegative=True)

STEP_MEANS = (
    Expected(_forth, "==", _root * sigma_A**2 * inner(_u, _v), name="projected step along u = x_k - x*"),
    Expected(_across, "==", Integer(0), name="the noise has mean 0 beside it"),
    Expected(_size, "<=", (ell + dim + 1) * sigma_A**4, (Norm(_v) <= 1,), "v of norm below 1"),
    Expected(_back, "==", _noise_true, name="noise"),
)
"""The means of a step, along any u, of a normalised gradient v and of the noise."""

CLAIMS = (
    Ours(
        "d2p2/theorem_2/rightly",
        "Equal convex losses of slope at most G: (G + gamma) for 1 + gamma, d sqrt(p) nu^2, (p + d + 1) sigma_A^2",
        at("Theorem 2", "(2)"),
        *STEP_MEANS,
        Inequality(
            h / (G + stab), "<=", p / (g + stab), (g <= G, h <= p, h >= 0), "(14), v = grad f/(|grad f| + gamma)"
        ),
        Inequality(
            _next + _half_step * (R + q),
            "<=",
            P + T * y + (z + 1 / T) * u,
            (
                _now + _half_step * R <= P + (T - 1) * y + z * u,
                _next <= _now - _half_step * q + y + u / T,
                T >= 1,
            ),
            "K - 1 steps to K: y and u of the projection and the noise, z the harmonic sum",
        ),
        Inequality(1 / (T + 1), "<=", -log(T / (T + 1)), (T >= 1,), "so z <= ln K + 1"),
        Identity(
            (G + stab)
            / (_half_step * T)
            * (x**2 + T * eta**2 * (ell + dim + 1) * sigma_A**4 + eta**2 * _noise_true * z),
            x**2 * (G + stab) / (2 * eta * T * sigma_A**2 * _root)
            + eta * dim * _root * (G + stab) * nu**2 * z / (2 * T)
            + eta * (ell + dim + 1) * sigma_A**2 * (G + stab) / (2 * _root),
            "the mean over K steps",
        ),
        assumptions=(stab > 0,),
        letters={
            G: "greatest slope",
            g: "slope at x_k",
            h: "f(x_k) - f*",
            p: "<x_k - x*, grad f(x_k)>",
            q: "mean of f(x_k) - f* over G + gamma",
            R: "sum of the q before",
            _now: "E|x_k - x*|^2",
            _next: "E|x_(k+1) - x*|^2",
            P: "|x_1 - x*|^2",
            y: "projection term",
            u: "noise term",
            z: "sum of 1/k",
        },
        repairs="d2p2/theorem_2",
    ),
)
