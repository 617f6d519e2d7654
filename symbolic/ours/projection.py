"""Random projections by layers and by batches, and what automatic clipping does to a modulus.

M is the moment of `d2p2/theorem_1/projected_step`; loads stay below the rank. Layers are independent, so that their
moments multiply; whether the sample is in the batch is independent of the data. D2P2-SGD projects layer by layer and
does not say what that costs.
"""

from sympy import Derivative, Eq, Expr, Function, Ge, Integer, Le, diff, exp, log

from lastiterate.symbolic.claim import Identity, Induction, Inequality, Ours
from lastiterate.symbolic.derivations.checks import projections
from lastiterate.symbolic.formulas.divergences import renyi, sampled_moment
from lastiterate.symbolic.inductive import begin, gains
from lastiterate.symbolic.letters import Q, g, j, q, r, u, x, y
from lastiterate.symbolic.notation import stab, t
from lastiterate.symbolic.papers import proof

_one, _zero = Integer(1), Integer(0)
_cost = -r * log(1 - x / r)
_cube = (1 - q) ** 3 + 3 * (1 - q) ** 2 * q + 3 * (1 - q) * q**2 * y + q**3 * x


def _of(order: int) -> Expr:
    """The divergence of a Gaussian step u long, of variance 1."""
    return renyi((u, _one), (_zero, _one), Integer(order))


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
        *projections(),
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
        "A batch that holds the sample with chance q: 1 - q + q M, or less: at order 3 the binomial mean of M",
        proof("random_projection", "The price"),
        Identity((j * x) ** 2 / 2 - j * x**2 / 2, j * (j - 1) * x**2 / 2, "the Gaussian mean of the j-th power"),
        Identity(sampled_moment(q, u**2, Integer(3)), _cube.subs({y: exp(_of(2)), x: exp(2 * _of(3))}), "order 3"),
        Induction(
            t,
            Le((1 - q + q * u) ** t, 1 - q + q * u**t),
            keeps=(Ge((u**t - 1) * (u - 1), 0),),
            name="hidden, at most revealed: at every whole order, ratio by ratio",
        ).mutant("half of the chance", conclusion=Le((1 - q + q * u) ** t, 1 - q / 2 + q / 2 * u**t)),
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
