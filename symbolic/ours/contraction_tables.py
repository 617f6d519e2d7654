"""Tables of contraction: the profile on nodes is that of atoms, whose masses are what a block is searched by.

A table falls from its first node to its last; between nodes it is a chord, and below it the profile of p against q.
"""

from sympy import Eq, Function, Rational

from lastiterate.symbolic.claim import Induction, Ours
from lastiterate.symbolic.derivations.contraction import k
from lastiterate.symbolic.inductive import begin, gains
from lastiterate.symbolic.letters import gamma
from lastiterate.symbolic.notation import t
from lastiterate.symbolic.papers import proof

_mass, _other, _slope, _value, _node = (Function(name, real=True) for name in ("Q", "P", "s", "Y", "y"))
"""Masses of q and p up to a node, the slope that begins there, the value and the place of the node."""
_atom, _cell = (Function(name, real=True) for name in ("q", "d"))
"""Mass of q at the next node, and how far that is."""

_seen, _place, _steep, _weight, _width, _far_masses, _near_masses = (
    Function(name, real=True) for name in ("Y", "y", "s", "q", "d", "P", "Q")
)
"""The same from the last node down: the profile, place, slope, mass of q there, the cell, sums of y q and of q."""

CLAIMS = (
    Ours(
        "ours/contraction/atoms",
        "A table is the profile of atoms at its nodes: q is the change of slope, p = y q, and the last value has q = 0",
        proof("contraction", "Tables"),
        Induction(
            k,
            Eq(_mass(k), 1 + _slope(k)),
            (Eq(_mass(0), 1 + _slope(0)),),
            (Eq(_slope(k + 1), _slope(k) + _atom(k)), Eq(_mass(k + 1), _mass(k) + _atom(k))),
            name="the masses q up to a node are 1 and the slope that begins there",
        ).mutant("three percent more", conclusion=Eq(_mass(k), 1 + Rational(103, 100) * _slope(k))),
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
        ).mutant(
            "three percent less", conclusion=Eq(_other(k), 1 - _value(k) + Rational(97, 100) * _node(k) * _slope(k))
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
