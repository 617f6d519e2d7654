r"""Tables of contraction: their atoms, and the bounds that they give (docs/proofs/contraction.md).

A convex table with values $Y_i$ at nodes $y_i$, and $Y_0 = 1$ at $y_0 = 0$, is the profile of atoms: at $y_i$
the mass $q_i$ is the change of slope, and $p_i = y_i q_i$; the last value is the mass of $p$ on a null set of
$q$. So any Rényi divergence is a sum over atoms, plus another bound beyond the last node. The values at the
nodes show $\mu$-GDP: a chord lies below the convex $\theta_\mu$ if its ends lie below a tangent.
"""

from lastiterate.symbolic.derivations.contraction import k
from lastiterate.symbolic.formulas import contraction as formulas
from lastiterate.symbolic.ours.paper import *

# Masses of q and p up to a node, the slope that begins there, its value and place; mass of q at the next node, and the
# distance to it.
_mass, _other, _slope, _value, _node, _atom, _cell = (Function(name, real=True) for name in "QPsYyqd")
# The same from the last node down: the profile, place, slope, mass of q there, the cell, sums of y q and of q.
_seen, _place, _steep, _weight, _width, _far_masses, _near_masses = (
    Function(name, real=True) for name in "YysqdPQ"
)

_moment = formulas.moment_up_to(alpha, u, r)
_density = exp(density_exponent(log(r), -(v**2) / 2, v**2)) / (sqrt(2 * pi) * v * r)
_tangent = formulas.markov(S.One, 1 + rho, u ** (1 + rho))
_power = alpha * (alpha - 1) * r ** (alpha - 2)


def _line(at: Expr) -> Expr:
    return xi - a * at


CLAIMS = (
    Ours(
        "ours/contraction/renyi",
        "Any Renyi order out of a table: its atoms, its last value, and another bound right of its last node r",
        proof("contraction", "Numbers"),
        Identity(Derivative(_moment, (u, 2)), alpha * (alpha - 1) * u ** (alpha - 2), "bent as the weight"),
        Identity(put(formulas.moment_up_to(1 + rho, u, r), {r: 0}), u ** (1 + rho), "from 0 on: an atom"),
        Identity(put(_moment, {u: r}), S.Zero, "nothing at r"),
        Identity(put(Derivative(_moment, u), {u: r}), S.Zero, "no slope at r"),
        Identity(Derivative(formulas.constant_moment(alpha, r, p), r), _power * p, "the last value p"),
        Identity(
            Derivative(formulas.gaussian_rest(alpha, r, v), r), -(r**alpha) * _density, "of Gaussians, mu = v"
        ),
        Identity(put(_tangent, {u: (1 + rho) / rho}), 1 / rho, "a power of u meets u - 1"),
        Identity(put(Derivative(_tangent, u), {u: (1 + rho) / rho}), S.One, "and touches it there"),
        Identity(
            Derivative(formulas.markov_rest(alpha, 1 + rho, p, r), r),
            -_power * formulas.markov(r, 1 + rho, p),
            "by a moment p of order 1 + rho",
        ),
        assumptions=(alpha > 1, 1 + rho > alpha),
        letters={rho: "a higher order less 1", u: "ratio of the two laws", r: "last node"}
        | {p: "value there, or a moment"},
    ),
    Ours(
        "ours/contraction/gdp",
        "The profile of mu-GDP is convex, so above its tangents: a chord is below it if both ends are below a tangent",
        proof("contraction", "Numbers"),
        Identity(Derivative(hockey_stick(r, v), r), -cumulative(-log(r) / v - v / 2), "slope"),
        Identity(Derivative(hockey_stick(r, v), (r, 2)), _density, "curvature"),
        Inequality(S.Zero, "<", _density, name="is positive"),
        Inequality(
            rho * gamma + (1 - rho) * kappa,
            "<= and attained",
            _line(rho * x + (1 - rho) * y),
            (rho <= 1, gamma <= _line(x), kappa <= _line(y)),
            "a chord with both ends below a line is below it",
        ),
        letters={v: "mu", r: "factor of the second law", rho: "share of an end", x: "an end of a cell"}
        | {y: "the other end", gamma: "value of a table at x", kappa: "value at y"}
        | {xi: "value of a tangent at 0", a: "its fall"},
    ),
    Ours(
        "ours/contraction/atoms",
        "A convex table is the profile of atoms: at a node q is the change of slope, p = y q; the last value has q = 0",
        proof("contraction", "Tables"),
        Induction(
            k,
            Eq(_mass(k), 1 + _slope(k)),
            (Eq(_mass(0), 1 + _slope(0)),),
            (Eq(_slope(k + 1), _slope(k) + _atom(k)), Eq(_mass(k + 1), _mass(k) + _atom(k))),
            name="the masses q up to a node are 1 and the slope that begins there",
        ),
        Induction(
            k,
            Eq(_other(k), 1 - _value(k) + _node(k) * _slope(k)),
            (Eq(_other(0), 0), Eq(_value(0), 1), Eq(_node(0), 0)),
            (
                Eq(_node(k + 1), _node(k) + _cell(k)),
                Eq(_value(k + 1), _value(k) + _slope(k) * _cell(k)),
                Eq(_slope(k + 1), _slope(k) + _atom(k)),
                Eq(_other(k + 1), _other(k) + (_node(k) + _cell(k)) * _atom(k)),
            ),
            name="the masses p up to the last node, where no slope begins, are 1 less the value there",
        ),
        Induction(
            t,
            Eq(_seen(t), gamma + _far_masses(t) - _place(t) * _near_masses(t)),
            (Eq(_seen(0), gamma), Eq(_steep(0), 0), *begin(_far_masses, _near_masses)),
            (
                Eq(_place(t + 1), _place(t) - _width(t)),
                Eq(_steep(t + 1), _steep(t) - _weight(t)),
                Eq(_seen(t + 1), _seen(t) - (_steep(t) - _weight(t)) * _width(t)),
                gains(_near_masses, _weight(t)),
                gains(_far_masses, _place(t) * _weight(t)),
            ),
            keeps=(Eq(_steep(t), -_near_masses(t)),),
            name="from the last node, of value gamma, down: the profile of the atoms at every node",
        ),
        letters={k: "number of a node", gamma: "value at the last node"},
    ),
)
