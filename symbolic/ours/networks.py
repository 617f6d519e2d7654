"""Feed-forward networks on a ball of parameters: steps of the certified constants, for every number of layers.

Inductions run over the layers. Going up, a distance from the centre is at most a slope times what the layer below
passes on, and what moves in the layer itself. Going down, the second derivative of the outputs is taken apart: with u
the derivative of the outputs in the layer k below the top, and s that layer's second derivative, the loss's is
known but for u s. One neuron a layer is written out; with matrices in the place of the factors, in this order, it is
the same line.
"""

from lastiterate.symbolic.formulas import networks as formulas
from lastiterate.symbolic.prelude import *

_PAGE = "network_constants"
_k = Symbol("k", integer=True, nonnegative=True)
_zero, _one, _two = Integer(0), Integer(1), Integer(2)

_distance, _bound, _slope, _norm, _size, _reach = (
    Function(name, nonnegative=True) for name in ("X", "Y", "P", "N", "S", "M")
)
"""How far a layer is from its centre and at most is; its slope, the norm of its weights, s_l; and a norm."""

_here, _below, _passed, _bend, _total, _adjoint = (Function(name, real=True) for name in ("A", "F", "B", "C", "E", "U"))
_p, _v, _w = (Function(name, real=True) for name in ("a", "b", "c"))
"""Second derivative of the layer k below the top and of the one under it, whose first one is B, phi'' a'^2 of the layer
above, the terms so far, the derivative of the outputs; phi', and the direction and the weight of the layer."""

_moved, _least, _one_term, _its_bound = (Function(name, real=True) for name in ("D", "G", "H", "K"))

_bell = exp(-(xi**2) / 2) / sqrt(2 * pi)


def _second_derivative(factor: Expr) -> tuple[Eq, ...]:
    """The laws from the top down; ``factor`` is that of the mixed term."""
    mixed = factor * _p(_k) * _v(_k) * _passed(_k)
    return (
        Eq(_here(_k + 1), _below(_k)),
        Eq(_bend(_k + 1), _here(_k) - _p(_k) * (2 * _v(_k) * _passed(_k) + _w(_k) * _below(_k))),
        Eq(_adjoint(_k + 1), _adjoint(_k) * _p(_k) * _w(_k)),
        Eq(_total(_k + 1), _total(_k) + _adjoint(_k) * (_bend(_k + 1) + mixed)),
    )


_unrolled = (
    Induction(
        _k,
        Eq(_total(_k), kappa - _adjoint(_k) * _here(_k)),
        (Eq(_total(0), 0), Eq(_adjoint(0), 1), Eq(_here(0), kappa)),
        _second_derivative(_two),
        name="the sum over the layers of U (phi'' a'^2 + 2 phi' V h') is f'' less U h'' of the layer that is left",
    )
    .mutant("the factor 2 dropped", laws=_second_derivative(_one))
    .mutant("three percent less of it", laws=_second_derivative(Rational(97, 100) * _two))
)

_spread = Induction(
    _k,
    Le(_distance(_k), _bound(_k)),
    (Eq(_distance(0), 0), Eq(_bound(0), 0)),
    (
        Eq(_bound(_k + 1), formulas.layer_spread(_bound(_k), _norm(_k), r, _size(_k), _slope(_k)), evaluate=False),
        Le(_distance(_k + 1), _slope(_k) * (_norm(_k) * _distance(_k) + r * _size(_k))),
    ),
    name="distance from the centre, layer by layer",
)

_products = Induction(
    _k,
    Le(_distance(_k), _bound(_k)),
    (Eq(_distance(0), 0), Eq(_bound(0), 0)),
    (
        Eq(_bound(_k + 1), formulas.product_radius(_norm(_k), _slope(_k), _reach(_k), _bound(_k))),
        Le(_distance(_k + 1), _norm(_k) * _distance(_k) + _slope(_k) * (_reach(_k) + _distance(_k))),
    ),
    name="distance of a product of matrices from the product of the centres",
)

_terms = Induction(
    _k,
    Le(_moved(_k), _least(_k)),
    (Eq(_moved(0), 0), Eq(_least(0), 0)),
    (
        Eq(_moved(_k + 1), _moved(_k) + _one_term(_k)),
        Le(_one_term(_k), _its_bound(_k)),
        Eq(_least(_k + 1), _least(_k) + _its_bound(_k)),
    ),
    name="a sum of terms is at most the sum of their bounds",
)

_weight, _input, _product = (Function(name, real=True) for name in ("a", "b", "R"))
_weights, _inputs, _columns, _count = (Function(name, nonnegative=True) for name in ("A", "B", "X", "x"))

# Of a class: its probability, v and u less their means. Sums: the third cumulant of v, v and u, the variance of v.
_chance, _cumulant, _variance = (
    Function("p", nonnegative=True),
    Function("H", real=True),
    Function("V", nonnegative=True),
)
_off_v, _off_u = (Function(name, real=True) for name in "vu")
_third = Induction(
    t,
    Le(_cumulant(t), d * _variance(t)),
    begin(_cumulant, _variance),
    (
        gains(_cumulant, _chance(t) * _off_v(t) ** 2 * _off_u(t)),
        gains(_variance, _chance(t) * _off_v(t) ** 2),
        Le(_off_u(t), d),
    ),
    name="third cumulant, any number of classes",
)

_x, _back, _moved_on = map(Vector, ("x", "s", "w"))
_there = inner(_x, _back)  # |V x|^2 = <x, V'V x>
_one_to_one = VectorInequality(
    (1 - r) * Norm(_x) ** 2, "<=", _there, given=(Norm(_x - _back) <= r * Norm(_x),), name="V x = 0 for x = 0 alone"
)
_solved = VectorInequality(
    (1 - r) * Norm(_moved_on) ** 2,
    "<=",
    z**2 * _there,
    given=(*_one_to_one.given, Norm(_moved_on) <= z * Norm(_x)),
    name="so every vector is some u = V x, and |A u|^2 is at most |A V|^2 |u|^2 / (1 - r)",
)
_form, _larger_form, _entry, _larger, _share, _other_share = (
    Function(name, nonnegative=True) for name in ("F", "G", "q", "Q", "u", "v")
)

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
        "ours/certified/network/outputs",
        "Lines on cross-entropy's Hessian: a third cumulant is below osc times a variance, B B^T, row sums",
        proof(_PAGE, "The loss in its outputs"),
        _third.mutant("three percent less", conclusion=Le(_cumulant(t), Rational(97, 100) * d * _variance(t))),
        Identity(x**2 * ((1 - x**2) ** 2 + x**2 * (1 - x**2)), x**2 - x**4, "B B^T, diagonal"),
        Identity(
            x * y * (-(1 - x**2) * x * y - (1 - y**2) * x * y + x * y * (1 - x**2 - y**2)),
            -(x**2) * y**2,
            "B B^T, off it",
        ),
        Inequality(p * (1 - p) + p * z, "<= and attained", 2 * p * (1 - p), given=(z <= 1 - p,), name="rows"),
        Inequality(p * (1 - p) * Abs(1 - 2 * p), "<=", p * (1 - p), name="logistic loss, either way"),
        assumptions=(p <= 1,),
        letters={
            d: "greatest difference of two entries of u",
            x: "root of a probability",
            y: "root of another",
            z: "sum of the other probabilities",
        },
    ),
    Ours(
        "ours/certified/network/spread",
        "Radii of activations and of products of matrices, as they are made layer by layer, for every number of layers",
        proof(_PAGE, "Balls"),
        _spread.mutant(
            "the layer itself does not move",
            laws=(Eq(_bound(_k + 1), _slope(_k) * _norm(_k) * _bound(_k)), _spread.laws[1]),
        ),
        _products.mutant(
            "second order dropped",
            laws=(Eq(_bound(_k + 1), _norm(_k) * _bound(_k) + _slope(_k) * _reach(_k)), _products.laws[1]),
        ),
        Inequality(
            a * x + y * d + x * y,
            "<=",
            formulas.product_radius(a, v, d, u),
            given=(x <= u, y <= v),
            name="a product of two balls",
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
        proof(_PAGE, "Weights that are shared"),
        Inequality(
            (xi * h + zeta * gamma) ** 2, "<= and attained", (xi**2 + zeta**2) * (h**2 + gamma**2), name="one place"
        ),
        Inequality(
            x * a + y * d, "<= and attained", z * (a + d), given=(x <= z, y <= z), name="the columns of two inputs"
        ),
        Induction(
            t,
            Le(_product(t) ** 2, _weights(t) * _inputs(t)),
            begin(_product, _weights, _inputs),
            (
                gains(_product, _weight(t) * _input(t)),
                gains(_weights, _weight(t) ** 2),
                gains(_inputs, _input(t) ** 2),
            ),
            name="one place, any number of weights",
        ),
        Induction(
            t,
            Le(_columns(t), z * _inputs(t)),
            begin(_columns, _inputs),
            (gains(_columns, _count(t) * _input(t) ** 2), gains(_inputs, _input(t) ** 2), Le(_count(t), z)),
            name="the columns of any number of inputs",
        ),
        letters={
            xi: "a weight",
            zeta: "another",
            h: "an input",
            gamma: "another",
            x: "columns of an input",
            y: "of another",
            z: "most columns",
            a: "square of the input",
            d: "of the other",
        },
    ),
    Ours(
        "ours/certified/network/hessian",
        "Lines on the Hessian as a ball: a loss that grows by a factor, and a block off the diagonal",
        proof(_PAGE, "The Hessian as a matrix"),
        Inequality(y - x, "<= and attained", (u - 1) * x, given=(y <= u * x,), name="above"),
        Inequality(x - y, "<=", (u - 1) * x, given=(x <= u * y,), name="below"),
        Inequality(2 * a * x * y, "<= and attained", a * (x**2 + y**2), name="off the diagonal"),
        letters={
            x: "form of the loss at the centre; share of the weights of a layer",
            y: "form elsewhere; share of the parameters below it",
            u: "factor by which it grows at most",
            a: "norm of the block",
        },
    ),
    Ours(
        "ours/certified/network/second_derivative",
        "The second derivative of the outputs is a sum over the layers, for every number of layers of one neuron",
        proof(_PAGE, "The second derivative"),
        _unrolled,
        _terms,
        letters={_k: "layers below the top", kappa: "second derivative of the outputs"},
    ),
    Ours(
        "ours/certified/network/form",
        "|A|^2 (1 - |I - V'V|) <= |A V|^2, V square; a nonnegative form of any number of layers grows with its entries",
        proof(_PAGE, "The constants"),
        _one_to_one.mutant("V shortens three percent less", left=(1 - Rational(97, 100) * r) * Norm(_x) ** 2),
        _solved.mutant("three percent less of |A|", left=(1 - Rational(97, 100) * r) * Norm(_moved_on) ** 2),
        Induction(
            t,
            Le(_form(t), _larger_form(t)),
            begin(_form, _larger_form),
            (
                gains(_form, _entry(t) * _share(t) * _other_share(t)),
                gains(_larger_form, _larger(t) * _share(t) * _other_share(t)),
                Le(_entry(t), _larger(t)),
            ),
            name="the forms, pair of layers by pair",
        ),
        assumptions=(r < 1,),
        letters={r: "any positive number from |I - V'V| on", z: "|A V|", _back: "V'V x", _moved_on: "A V x"},
    ),
)
