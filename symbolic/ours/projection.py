"""Random projections by layers and by batches, and what automatic clipping does to a modulus.

M is the moment of `d2p2/theorem_1/projected_step`; loads stay below the rank. Layers are independent, so that their
moments multiply; whether the sample is in the batch is independent of the data. D2P2-SGD projects layer by layer and
does not say what that costs.
"""

from lastiterate.symbolic.derivations.checks import projection_checks
from lastiterate.symbolic.prelude import *

_one, _zero = Integer(1), Integer(0)
_cost = -r * log(1 - x / r)
_less = Rational(97, 100) * q
_drawn = Symbol("i", integer=True, nonnegative=True)
_binomial = Identity(
    Sum(binomial(t, _drawn) * u**_drawn * v ** (t - _drawn), (_drawn, 0, t)),
    (u + v) ** t,
    "the power of a ratio: the coefficients are the same from either end, so u <= v",
    (u <= v, t >= 1),
)

# Of a layer: what it multiplies a moment by, less than 1 by the term.
_product, _terms, _term = (Function(name, nonnegative=True) for name in ("P", "S", "x"))

# Two gradients of lengths x and y and of inner product Q.
_clipped = (x / (x + stab)) ** 2 + (y / (y + stab)) ** 2 - 2 * Q / ((x + stab) * (y + stab))
_given = (x * y >= Q, -x * y <= Q)


CLAIMS = (
    Ours(
        "ours/projection/theorem",
        "Steps with matrices of their own, all known: each costs its mean over the matrix, whoever sees the outcomes",
        proof("random_projection", "The price"),
        *projection_checks(),
        assumptions=(q <= 1,),
        repairs="d2p2/theorem_1",
    ),
    Ours(
        "ours/projection/layers",
        "Layers with Gaussian matrices of their own cost at most as much as the layer of least rank alone",
        proof("random_projection", "Layers"),
        Identity(Derivative(_cost, r), -log(1 - x / r) - (x / r) / (1 - x / r), "the slope in the rank"),
        Identity(
            Derivative(u / (1 - u) + log(1 - u), u),
            u / (1 - u) ** 2,
            "u = x / r: minus the slope grows from 0",
            (u < 1,),
        ),
        Inequality(_zero, "<", u / (1 - u) ** 2, given=(u < 1,), name="so it is positive"),
        Induction(
            t,
            Ge(_product(t), 1 - _terms(t)),
            (Eq(_product(0), 1), *begin(_terms)),
            (Eq(_product(t + 1), _product(t) * (1 - _term(t))), gains(_terms, _term(t)), Le(_term(t), 1)),
            name="apart, any number of layers, at most together",
        ),
        assumptions=(x < r,),
    ),
    Ours(
        "ours/projection/batches",
        "Whole order a, chance q of the sample: the binomial mean of M(j (j - 1)), at most 1 - q + q M(a (a - 1))",
        proof("random_projection", "The price"),
        _binomial.mutant("a term three percent larger", right=(u + Rational(103, 100) * v) ** t),
        Identity(
            moment_exponent(xi, (x, _one), (_zero, _one), j),
            density_exponent(xi, j * x, _one) + j * (j - 1) * x**2 / 2,
            "the Gaussian mean of the j-th power of the ratio: exp(j (j - 1) x^2 / 2), by completing the square",
        ).mutant("j^2", right=density_exponent(xi, j * x, _one) + j**2 * x**2 / 2),
        Induction(
            t,
            Le((1 - q + q * u) ** t, 1 - q + q * u**t),
            keeps=(Ge((u**t - 1) * (u - 1), 0),),
            name="hidden, at most revealed: at every whole order, ratio by ratio",
        ).mutant("three percent less of the chance", conclusion=Le((1 - q + q * u) ** t, 1 - _less + _less * u**t)),
        letters={
            t: "order a, a whole number",
            j: "times that the sample is drawn out of a",
            x: "distance of the means in units of the noise",
            u: "a ratio of densities; in the sum the smaller of its multiple by q and of 1 - q",
            v: "the larger",
        },
        assumptions=(q <= 1,),
    ),
    Ours(
        "ours/projection/automatic_clipping",
        "g / (|g| + gamma) is 1/gamma-Lipschitz: clipped gradients have the modulus of the gradients, over gamma",
        proof("expansions", "Automatic clipping"),
        Identity(diff(g / (g + stab), g), stab / (g + stab) ** 2, "the slope along a ray"),
        Inequality(stab / (g + stab) ** 2, "<= and attained", 1 / stab, name="along", attained=(Eq(g, 0),)),
        Inequality(1 / (g + stab), "<= and attained", 1 / stab, name="across", attained=(Eq(g, 0),)),
        Inequality(_clipped * stab**2, "<=", _one * (x**2 + y**2 - 2 * Q), given=_given, name="two"),
        assumptions=(stab > 0,),
    ),
)
