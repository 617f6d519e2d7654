r"""Rules of jets of nodes of a graph, and derivatives of softmax (docs/proofs/network_constants.md).

Near a point and for two directions a node is $x + x_u\xi + x_v\zeta + x_{uv}\xi\zeta$, up to terms that do not enter
its second derivative $x_{uv}$. The derivatives of $\log\sum p_i e^{\xi u_i}$ are cumulants of numbers $u_i$ of mean 0.
"""

from lastiterate.symbolic.ours.paper import *

_PLACE = proof("network_constants", "Graphs of operators")

# Of a part of a group, a pair of blocks or a class: numbers, and a weight. F, G, H, S are sums of them.
_one, _other, _share, _F, _G = (Function(name, nonnegative=True) for name in "xypFG")
_value, _cube, _S, _H = (Function(name, real=True) for name in "vcSH")
_ratio = Function("q", positive=True)
_jets = [[Symbol(f"{name}_{part}", real=True) for part in ("0", "u", "v", "uv")] for name in "xyg"]
_X, _Y, _Z = (jet[0] + jet[1] * xi + jet[2] * zeta + jet[3] * xi * zeta for jet in _jets)
(_x, _xu, _xv, _xuv), (_y, _yu, _yv, _yuv), (_g, _gu, _gv, _guv) = _jets
_f1, _f2, _f3 = (Symbol(f"f_{k}", real=True) for k in range(1, 4))
_off = _X - _x
_of = _f1 * _off + _f2 * _off**2 / 2
_line = (1 - 3 * p + 3 * p**2) * h + p * (1 - p) * (1 - 2 * p)
_tangent = 3 * (1 - p) ** 2 * h / 4 + (1 - p) ** 3 / 4
_series = log(1 + v * xi**2 / 2 + gamma * xi**3 / 6 + u * xi**4 / 24)
_product, _turned = Vector("X"), Vector("Z")


def _second(name: str, formula: Expr, second: Expr) -> Identity:
    """The second derivative of a formula, and a mutant without the terms that contain x_v."""
    mixed = Subs(Derivative(formula, xi, zeta), (xi, zeta), (0, 0))
    return Identity(mixed, second, name).mutant(f"{name}, where x is still along v", right=second.subs(_xv, 0))


CLAIMS = (
    Ours(
        "ours/certified/graph/derivatives",
        "Second derivatives of products x y, of functions f(x) and of adjoints f'(x) g, and the share of an operator",
        _PLACE,
        _second("x y", _X * _Y, _x * _yuv + _xu * _yv + _xv * _yu + _xuv * _y),
        _second("f(x)", _of, _f1 * _xuv + _f2 * _xu * _xv),
        _second(
            "f'(x) g",
            (_f1 + _f2 * _off + _f3 * _off**2 / 2) * _Z,
            _f1 * _guv + _f2 * (_xu * _gv + _xv * _gu + _xuv * _g) + _f3 * _xu * _xv * _g,
        ),
        _second(
            "a loss of x and z = f(x), of slopes y_0 and g_0",
            _y * _off + _g * _of + gamma * _off**2 / 2 + kappa * _off * _of,
            (_y + _g * _f1) * _xuv + (_g * _f2 + gamma + 2 * kappa * _f1) * _xu * _xv,
        ),
        letters=dict.fromkeys((*_jets[0], *_jets[1], *_jets[2], _f1, _f2, _f3), "a Taylor coefficient"),
    ),
    Ours(
        "ours/certified/graph/lengths",
        "Lengths of products entry by entry, of sums of products and of vectors; <Z, X Y> = <X, Z Y'>; forms",
        _PLACE,
        sum_induction(
            "products with factors up to a; fourth moments with p^(1/2) v for y",
            Le(_F(t), a**2 * _G(t)),
            {_F: (_one(t) * _other(t)) ** 2, _G: _other(t) ** 2},
            Le(_one(t), a),
        ).mutant("not squared", conclusion=Le(_F(t), a * _G(t))),
        sum_induction(
            "a sum of products (Cauchy and Schwarz)",
            Le(_S(t) ** 2, _F(t) * _G(t)),
            {_S: _one(t) * _other(t), _F: _one(t) ** 2, _G: _other(t) ** 2},
        ),
        sum_induction(
            "the square of the length of a sum of vectors, v the inner product with the next one",
            Le(_F(t), _G(t) ** 2),
            {_F: 2 * _value(t) + _one(t) ** 2, _G: _one(t)},
            Le(_value(t) ** 2, _F(t) * _one(t) ** 2),
        ),
        VectorInequality(
            *(inner(_product, _turned), "<=", p * q * r, (), (Norm(_product) <= p, Norm(_turned) <= q * r)),
            {"given 1": q * r / (2 * p), "given 2": p / (2 * q * r)},
            "a product with X",
        ),
        sum_induction(
            "a form in lengths of blocks, pair by pair",
            Le(2 * _F(t), _G(t)),
            {
                _F: _share(t) * _one(t) * _other(t),
                _G: _share(t) * (_one(t) ** 2 * _ratio(t) + _other(t) ** 2 / _ratio(t)),
            },
        ),
        Identity(Derivative(y * z + d * z**2 / 2, z), y + d * z, "a length whose speed grows at the rate d"),
    ),
    Ours(
        "ours/certified/graph/softmax",
        "The derivatives of log-sum-exp are cumulants; shares grow by the square of a factor; log-softmax",
        _PLACE,
        Identity(Subs(Derivative(_series, (xi, 3)), xi, 0), gamma, "third"),
        Identity(Subs(Derivative(_series, (xi, 4)), xi, 0), u - 3 * v**2, "fourth").mutant("moment", right=u),
        sum_induction(
            *("sums grow by x if terms do", Le(_F(t), x * _G(t)), {_F: _one(t), _G: _other(t)}),
            Le(_one(t), x * _other(t)),
        ),
        Inequality(y / v, "<=", x**2 * p / q, (y <= x * p, q <= x * v), "shares, if their terms grow by x"),
        Inequality((1 - p) ** 2 + z**2, "<= and attained", 2 * (1 - p) ** 2, (z <= 1 - p, p <= 1), "e_i - p"),
    ),
    Ours(
        "ours/certified/graph/cumulants",
        "Numbers of mean 0 in an interval of length 1, or o: mean cubes up to 1/(6 sqrt 3), fourth cumulants to o^4/8",
        _PLACE,
        Inequality(h**3, "<=", _line, (-p <= h, h <= 1 - p, p <= Rational(1, 3)), "a cube is below a chord"),
        Inequality(h**3, "<=", _tangent, (h <= 1 - p,), "or below a tangent"),
        sum_induction(
            "its mean, for any number of classes",
            Le(_H(t), gamma * _S(t) + kappa * _F(t)),
            {_F: _share(t), _S: _share(t) * _value(t), _H: _share(t) * _cube(t)},
            Le(_cube(t), gamma * _value(t) + kappa),
        ),
        Inequality(_line.subs(h, 0), "<= and attained", sqrt(3) / 18, (), "chord", (Eq(p, (3 - sqrt(3)) / 6),)),
        Inequality(_tangent.subs(h, 0), "<", sqrt(3) / 18, (3 * p >= 1,), "tangent").mutant("all p", given=()),
        Inequality(
            Abs(x - 3 * y**2), "<= and attained", a**4 / 8, (y**2 <= x, x <= a**2 * y, 4 * y <= a**2), "o^4/8"
        ),
        Inequality(Abs(x - 3 * y**2), "<=", 2 * y, (y**2 <= x, x <= 2 * y, 2 * y <= 1), "twice the variance"),
        assumptions=(p <= 1,),
    ),
)
