r"""Feed-forward networks on a ball of parameters (docs/proofs/network_constants.md).

$h_0 = x$, $a_l = W_l h_{l-1} + b_l$, $h_l = \varphi_l(a_l)$, $|w - w_0| \le R$: constants $K$ and $L$ with
$|\nabla_w\ell| \le K$ and $|\nabla^2_w\ell| \le L$ on the ball.

Normalisation: $y = z/s$, $s = \sqrt{|z|^2/d + \epsilon}$, $n = y/\sqrt d$, $\rho = |n|^2 < 1$, $u$ of unit length and
$c = n \cdot u$. Along $z + t u$ at $t = 0$
$$y' = \frac{u - c n}s,\quad y'' = -\frac{2 c u + (1 - 3 c^2) n}{s^2\sqrt d},\quad
  y''' = -3\,\frac{(1 - 3 c^2) u - c(3 - 5 c^2) n}{s^3 d},$$
of lengths at most $1/s$, $2/(\sqrt{3 d}\,s^2)$ and $48/(25\sqrt{5 d}\,\epsilon)$, and $3/(d s^3)$, which are attained.

Inductions run over the layers. On the way down, $u$ is the first derivative of the outputs with respect to a
layer and $s$ the second. Formulas are for one neuron per layer and also hold for matrices in this order.
"""

from lastiterate.symbolic.formulas import networks as formulas
from lastiterate.symbolic.ours.paper import *

_PAGE = "network_constants"
_k = Symbol("k", integer=True, nonnegative=True)
_bell = exp(-(xi**2) / 2) / sqrt(2 * pi)

# Of a layer: its distance from the centre, and a bound of it; its slope, the norm of its weights, s_l; and a norm.
_distance, _bound, _slope, _norm, _size, _reach = (Function(name, nonnegative=True) for name in "XYPNSM")
_zero = (Eq(_distance(0), 0), Eq(_bound(0), 0))
# Of layer k below the top: its second derivative A, that of the layer under it, F, and the first derivative of that, B;
# phi'' a'^2 of the layer above, the terms so far, the derivative of the outputs; phi', the direction and the weight.
_here, _below, _passed, _bend, _total, _adjoint, _p, _v, _w = (
    Function(name, real=True) for name in "AFBCEUabc"
)
_moved, _least, _one_term, _its_bound = (Function(name, real=True) for name in "DGHK")
_weight, _input, _product = (Function(name, real=True) for name in "abR")
_weights, _inputs, _columns, _count = (Function(name, nonnegative=True) for name in "ABXx")
# Of a class: its probability, v and u less their means. Sums: the third cumulant of v, v and u, the variance of v.
_chance, _variance = (Function(name, nonnegative=True) for name in "pV")
_cumulant, _off_v, _off_u = (Function(name, real=True) for name in "Hvu")
_form, _larger_form, _entry, _larger, _shares = (Function(name, nonnegative=True) for name in "FGqQu")

_x, _back, _moved_on = map(Vector, "xsw")
_there = inner(_x, _back)  # |V x|^2 = <x, V'V x>
_near = Norm(_x - _back) <= r * Norm(_x)

# Of normalisation.
_stated = formulas.first(xi, v), formulas.second(xi, v, u), formulas.third(xi, v, u)
_line = formulas.along(zeta, xi, v, u)
_along, _n = Vector("e"), Vector("n")  # the direction u, and n
_cosine, _short = inner(_along, _n), 1 - Norm(_along) ** 2  # the second is 0


def _length(pair: tuple[Expr, Expr], at_most: Expr, name: str, *at: Boolean, times: Expr = S.One) -> Inequality:
    """A bound on the square of a length at s = d = 1, attained at the given xi = u . n and rho = |n|^2."""
    square = formulas.squared(pair, xi, rho) * times
    return Inequality(square, "<= and attained", at_most**2, (xi**2 <= rho, rho <= 1), name, at)


CLAIMS = (
    Ours(
        "ours/certified/network/activations",
        "Where slope and curvature of tanh and GELU turn: zeros of phi'' and phi'''",
        proof(_PAGE, "Activations"),
        Identity(Derivative(tanh(h), (h, 2)), formulas.tanh_curvature(tanh(h)), "tanh''"),
        Identity(Derivative(tanh(h), (h, 3)), 2 * (3 * tanh(h) ** 2 - 1) * (1 - tanh(h) ** 2), "tanh'''"),
        Identity(Derivative(xi * (1 + erf(xi / sqrt(2))) / 2, (xi, 2)), (2 - xi**2) * _bell, "GELU''"),
        Identity(Derivative((2 - xi**2) * _bell, xi), xi * (xi**2 - 4) * _bell, "GELU'''"),
    ),
    Ours(
        "ours/certified/network/normalisation/derivatives",
        "The first three derivatives of z / sqrt(|z|^2 / d + eps) along a line",
        proof(_PAGE, "Normalisation"),
        VectorInequality(
            (Norm(sqrt(u) * v * _n + zeta * _along) ** 2 + zeta**2 * _short) / u + v**2 * (1 - Norm(_n) ** 2),
            "==",
            formulas.deviation(zeta, _cosine, v, u) ** 2,
            name="s^2 on the line, eps = s^2 (1 - |n|^2)",
        ),
        *(
            Identity(
                Subs(Derivative(_line[part], (zeta, order)), zeta, 0),
                pair[part],
                f"derivative {order}, its part along {vector}",
            )
            for order, pair in enumerate(_stated, start=1)
            for part, vector in enumerate("un")
        ),
        letters={u: "number of entries", v: "s", xi: "u . n", zeta: "length along the line", _along: "u"},
    ),
    Ours(
        "ours/certified/network/normalisation/bounds",
        "Layer norm: |y'| <= 1/s, |y''| <= 2/(sqrt(3 d) s^2), 48/(25 sqrt(5 d) eps), |y'''| <= 3/(d s^3); attained",
        proof(_PAGE, "Normalisation"),
        VectorInequality(
            Norm(gamma * _along + kappa * _n) ** 2 + gamma**2 * _short,
            "==",
            formulas.squared((gamma, kappa), _cosine, Norm(_n) ** 2),
            name="the square of a length",
        ),
        _length(formulas.first(xi, S.One), S.One, "|y'|^2 s^2", Eq(xi, 0)),
        _length(
            formulas.second(xi, S.One, S.One), formulas.greatest_bend(), "|y''|^2 s^4 d", Eq(xi, sqrt(3) / 3)
        ),
        _length(
            formulas.second(xi, S.One, S.One),
            formulas.worst_bend(),
            "|y''|^2 eps^2 d",
            Eq(xi, sqrt(5) / 5),
            Eq(rho, xi**2),
            times=(1 - rho) ** 2,
        ),
        _length(
            formulas.third(xi, S.One, S.One),
            formulas.twist(S.One, S.Zero, S.One),
            "|y'''|^2 s^6 d^2",
            Eq(xi, 0),
        ),
        letters={xi: "u . n", rho: "|n|^2", gamma: "part along u", kappa: "part along n", _along: "u"},
    ),
    Ours(
        "ours/certified/network/outputs",
        "Lines on cross-entropy's Hessian: a third cumulant is below osc times a variance, B B^T, row sums",
        proof(_PAGE, "The loss as a function of the outputs"),
        sum_induction(
            "third cumulant, any number of classes",
            Le(_cumulant(t), d * _variance(t)),
            {_cumulant: _chance(t) * _off_v(t) ** 2 * _off_u(t), _variance: _chance(t) * _off_v(t) ** 2},
            Le(_off_u(t), d),
        ),
        Identity(x**2 * ((1 - x**2) ** 2 + x**2 * (1 - x**2)), x**2 - x**4, "B B^T, diagonal"),
        Identity(
            x * y * (-(1 - x**2) * x * y - (1 - y**2) * x * y + x * y * (1 - x**2 - y**2)),
            -(x**2) * y**2,
            "B B^T, off it",
        ),
        Inequality(p * (1 - p) + p * z, "<= and attained", 2 * p * (1 - p), (z <= 1 - p,), "rows"),
        Inequality(p * (1 - p) * Abs(1 - 2 * p), "<=", p * (1 - p), name="logistic loss, either way"),
        assumptions=(p <= 1,),
        letters={d: "greatest difference of two entries of u", z: "sum of the other probabilities"}
        | {x: "root of a probability", y: "root of another"},
    ),
    Ours(
        "ours/certified/network/spread",
        "Radii of activations and of products of matrices, as they are made layer by layer, for every number of layers",
        proof(_PAGE, "Balls"),
        Induction(
            _k,
            Le(_distance(_k), _bound(_k)),
            _zero,
            (
                Eq(_bound(_k + 1), formulas.layer_spread(_bound(_k), _norm(_k), r, _size(_k), _slope(_k))),
                Le(_distance(_k + 1), _slope(_k) * (_norm(_k) * _distance(_k) + r * _size(_k))),
            ),
            name="distance from the centre, layer by layer",
        ),
        Induction(
            _k,
            Le(_distance(_k), _bound(_k)),
            _zero,
            (
                Eq(_bound(_k + 1), formulas.product_radius(_norm(_k), _slope(_k), _reach(_k), _bound(_k))),
                Le(_distance(_k + 1), _norm(_k) * _distance(_k) + _slope(_k) * (_reach(_k) + _distance(_k))),
            ),
            name="distance of a product of matrices from the product of the centres",
        ),
        Inequality(
            a * x + y * d + x * y,
            "<=",
            formulas.product_radius(a, v, d, u),
            (x <= u, y <= v),
            "a product of two balls",
        ),
        letters={
            _k: "number of a layer",
            r: "radius of the ball",
            a: "|A|",
            d: "|B|",
            u: "radius of B",
            v: "radius of A",
        },
    ),
    Ours(
        "ours/certified/network/sharing",
        "Lines on weights that are shared: a row of them at one place, and inputs that stand in several columns",
        proof(_PAGE, "Shared weights"),
        sum_induction(
            "one place, any number of weights",
            Le(_product(t) ** 2, _weights(t) * _inputs(t)),
            {_product: _weight(t) * _input(t), _weights: _weight(t) ** 2, _inputs: _input(t) ** 2},
        ),
        sum_induction(
            "the columns of any number of inputs",
            Le(_columns(t), z * _inputs(t)),
            {_columns: _count(t) * _input(t) ** 2, _inputs: _input(t) ** 2},
            Le(_count(t), z),
        ),
        letters={z: "most columns of an input"},
    ),
    Ours(
        "ours/certified/network/hessian",
        "Lines on the Hessian as a ball: a loss that grows by a factor, and a block off the diagonal",
        proof(_PAGE, "The Hessian as a matrix"),
        Inequality(y - x, "<= and attained", (u - 1) * x, (y <= u * x,), "above"),
        Inequality(x - y, "<=", (u - 1) * x, (x <= u * y,), "below"),
        Inequality(2 * a * x * y, "<= and attained", a * (x**2 + y**2), name="off the diagonal"),
        letters={u: "factor by which the loss grows at most", a: "norm of the block"}
        | {x: "form of the loss at the centre; share of the weights of a layer"}
        | {y: "form elsewhere; share of the parameters below it"},
    ),
    Ours(
        "ours/certified/network/second_derivative",
        "The second derivative of the outputs is a sum over the layers, for every number of layers of one neuron",
        proof(_PAGE, "The second derivative"),
        Induction(
            _k,
            Eq(_total(_k), kappa - _adjoint(_k) * _here(_k)),
            (Eq(_total(0), 0), Eq(_adjoint(0), 1), Eq(_here(0), kappa)),
            (
                Eq(_here(_k + 1), _below(_k)),
                Eq(_bend(_k + 1), _here(_k) - _p(_k) * (2 * _v(_k) * _passed(_k) + _w(_k) * _below(_k))),
                Eq(_adjoint(_k + 1), _adjoint(_k) * _p(_k) * _w(_k)),
                Eq(
                    _total(_k + 1),
                    _total(_k) + _adjoint(_k) * (_bend(_k + 1) + 2 * _p(_k) * _v(_k) * _passed(_k)),
                ),
            ),
            name="the sum over the layers of U (phi'' a'^2 + 2 phi' V h') is f'' less U h'' of the layer that is left",
        ),
        sum_induction(
            "a sum of terms is at most the sum of their bounds",
            Le(_moved(t), _least(t)),
            {_moved: _one_term(t), _least: _its_bound(t)},
            Le(_one_term(t), _its_bound(t)),
        ),
        letters={_k: "layers below the top", kappa: "second derivative of the outputs"},
    ),
    Ours(
        "ours/certified/network/form",
        "|A|^2 (1 - |I - V'V|) <= |A V|^2, V square; a nonnegative form of any number of layers grows with its entries",
        proof(_PAGE, "The constants"),
        VectorInequality((1 - r) * Norm(_x) ** 2, "<=", _there, given=(_near,), name="V x = 0 for x = 0 alone"),
        VectorInequality(
            (1 - r) * Norm(_moved_on) ** 2,
            "<=",
            z**2 * _there,
            given=(_near, Norm(_moved_on) <= z * Norm(_x)),
            name="so every vector is some u = V x, and |A u|^2 is at most |A V|^2 |u|^2 / (1 - r)",
        ),
        sum_induction(
            "the forms, pair of layers by pair, u the product of their shares",
            Le(_form(t), _larger_form(t)),
            {_form: _entry(t) * _shares(t), _larger_form: _larger(t) * _shares(t)},
            Le(_entry(t), _larger(t)),
        ),
        assumptions=(r < 1,),
        letters={r: "any positive number from |I - V'V| on", z: "|A V|", _back: "V'V x", _moved_on: "A V x"},
    ),
)
