r"""Random projections, and automatic clipping (docs/proofs/random_projection.md).

A step releases $A^\top g/\sqrt p + N(0, s^2)$, with a fresh, revealed $A$ of $p$ columns. Let
$R = \Delta^2\sigma_A^2/(p s^2)$ and $M(w) = (1 - w R)^{-p/2}$ for $w R < 1$. Then $(\alpha - 1)$ times the
divergence is at most $\log M(\alpha(\alpha - 1))$. For a sample that is used with probability $q$ it is at
most $\log(1 - q + q M(\alpha(\alpha - 1)))$ if its use is revealed, otherwise
$\log\sum_j\binom\alpha j(1 - q)^{\alpha - j} q^j M(j(j - 1))$. Layers are independent, so moments multiply.
The map $g \mapsto g/(|g| + \gamma)$ is $1/\gamma$-Lipschitz.
"""

from lastiterate.symbolic.ours.paper import *

_cost = -r * log(1 - x / r)
_drawn = Symbol("i", integer=True, nonnegative=True)
# Of a layer: what it multiplies a moment by, less than 1 by the term.
_product, _terms, _term = (Function(name, nonnegative=True) for name in "PSx")
# Two gradients of lengths x and y and of inner product Q, clipped.
_clipped = (x / (x + stab)) ** 2 + (y / (y + stab)) ** 2 - 2 * Q / ((x + stab) * (y + stab))

CLAIMS = (
    Ours(
        "ours/projection/theorem",
        "Steps with matrices of their own, all known: each costs its mean over the matrix, whoever sees the outcomes",
        proof("random_projection", "The cost"),
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
            "minus it grows from 0, u = x / r",
            (u < 1,),
        ),
        Inequality(S.Zero, "<", u / (1 - u) ** 2, (u < 1,), "so it is positive"),
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
        "Whole order a, probability q of the sample: the binomial mean of M(j (j - 1)), at most 1 - q + q M(a (a - 1))",
        proof("random_projection", "The cost"),
        Identity(
            Sum(binomial(t, _drawn) * u**_drawn * v ** (t - _drawn), (_drawn, 0, t)),
            (u + v) ** t,
            "the power of a ratio: the coefficients are the same from either end, so u <= v",
            (u <= v, t >= 1),
        ),
        Identity(
            moment_exponent(xi, (x, S.One), (S.Zero, S.One), j),
            density_exponent(xi, j * x, S.One) + j * (j - 1) * x**2 / 2,
            "the Gaussian mean of the j-th power of the ratio: exp(j (j - 1) x^2 / 2), by completing the square",
        ),
        Induction(
            t,
            Le((1 - q + q * u) ** t, 1 - q + q * u**t),
            keeps=(Ge((u**t - 1) * (u - 1), 0),),
            name="hidden, at most revealed: at every whole order, ratio by ratio",
        ),
        letters={t: "order a, a whole number", j: "times that the sample is drawn out of a", v: "the larger"}
        | {x: "distance of the means in units of the noise"}
        | {u: "a ratio of densities; in the sum the smaller of its multiple by q and of 1 - q"},
        assumptions=(q <= 1,),
    ),
    Ours(
        "ours/projection/automatic_clipping",
        "g / (|g| + gamma) is 1/gamma-Lipschitz: clipped gradients have the modulus of the gradients, over gamma",
        proof("expansions", "Automatic clipping"),
        Inequality(_clipped * stab**2, "<=", x**2 + y**2 - 2 * Q, (x * y >= Q, -x * y <= Q), "two gradients"),
        Identity(diff(g / (g + stab), g), stab / (g + stab) ** 2, "the slope along a ray"),
        Inequality(
            stab / (g + stab) ** 2, "<= and attained", 1 / stab, name="attained at 0", attained=(Eq(g, 0),)
        ),
        assumptions=(stab > 0,),
    ),
)
