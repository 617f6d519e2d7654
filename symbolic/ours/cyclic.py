"""Fixed batches in the same order in every epoch: the worst sample, the strongly convex value, the touching points.

A path for the sample of the last step, started k steps later, is one for a sample met k steps earlier, with no more to
hide; then z stays at 0. The last encounter hides itself, the E - 1 before it share one straight string over l (E - 1)
steps, p = c^l, q = c^(l(E-1)). In the touching points q = c^d with d the steps from the encounter to the end.
"""

from lastiterate.symbolic.chien_li.paper import COMMON, attacked, linear
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.windows import FREE_STEPS, IN_PROPORTION

_zero = Integer(0)
_sharp = expansion(z, L, lam, a)
_budget = p / c * (1 - q) / (1 - p)
_noise = (1 - q**2) / (1 - c**2)
_value = p**2 / c**2 * (1 - c**2) / (1 - p) ** 2 * (1 - q) / (1 + q)


def _slope(left: Expr) -> Expr:
    """Rise of H over that of X between the encounter with c^d = left and the one l steps later."""
    return (s * left / c) / (left**2 / p**2 * (1 - p**2) / (1 - c**2))


_lower, _upper, _image, _secant, _shift = (Function(name, nonnegative=True) for name in ("z", "x", "e", "k", "a"))

_risen, _gone, _steep, _wide, _rise = (Function(name, nonnegative=True) for name in ("S", "X", "u", "x", "f"))

_points = gains(_risen, _steep(t) * _wide(t)), gains(_gone, _wide(t)), gains(_steep, _rise(t))
_under_the_chord = Inequality(
    P,
    "<= and attained",
    (P + R) * x / (x + y),
    (u * x >= P, v * y <= R, u <= v),
    "so any point lies below the chord of any two others around it",
)
_off = Rational(97, 100)

CLAIMS = (
    Ours(
        "ours/cyclic/theorem",
        "Cyclic batches: shifts that hide 2 eta K / b at the steps whose batch holds the sample",
        proof("cyclic", "The sample of the last step is the worst"),
        attacked("shifts_cyclic_convex", linear("cyclic"), COMMON[0]).mutant(
            "the best position", bound="cyclic_best_position"
        ),
        *windows("cyclic", "convex"),
        *windows("cyclic", "modulus"),
        *windows("cyclic", "strongly convex"),
        assumptions=(alpha > 1, m <= L),
    ),
    Ours(
        "ours/cyclic/last_step",
        "A path for a sample met at the last step serves one met earlier: less to hide, then z stays at 0",
        proof("cyclic", "The sample of the last step is the worst"),
        Inequality(c * z + s - a, "<=", c * x + s - a, name="a smaller state stays smaller"),
        Induction(
            t,
            Le(_lower(t), _upper(t)),
            (Le(_lower(0), _upper(0)),),
            (
                Eq(_lower(t + 1), Max(_image(t) - _shift(t), 0)),
                Eq(_upper(t + 1), Max(_image(t) + _secant(t) * (_upper(t) - _lower(t)) - _shift(t), 0)),
            ),
            name="for ever, whatever nondecreasing expansion: its secant is not negative",
        ),
        Identity(put(_sharp, {z: 0, a: 0}), _zero, "without the sample z = 0 stays at 0").mutant(
            "with the sample too", left=put(_sharp, {z: 0})
        ),
        assumptions=(c > 0, z <= x),
    ),
    Ours(
        "ours/cyclic/strongly_convex",
        "The E - 1 earlier encounters of the worst sample cost Bok, Su & Altschuler's value, one straight string",
        proof("cyclic", "The strongly convex value"),
        Recursion(w, _zero, PREVIOUS + p**w / c, p / c * (1 - p**w) / (1 - p), name="sum over the encounters"),
        Recursion(w, _zero, PREVIOUS + c ** (2 * w - 2), (1 - c ** (2 * w)) / (1 - c**2), name="width"),
        Identity(_budget**2 / _noise, _value, "squared drift over width"),
        assumptions=(c > 0, c < 1, p > 0, p < 1, q > 0, q < 1),
    ),
    Ours(
        "ours/participations/string",
        "Slopes between encounters l steps apart rise by c^-l towards the past; for c < 1 any chord lies above",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(put(_slope(u), {u: p * q}), put(_slope(u), {u: q}) / p, "ratio of slopes", (Ne(c, 1), Ne(p, 1))),
        Induction(
            t,
            Le(_risen(t), _steep(t) * _gone(t)),
            begin(_risen, _gone),
            _points,
            name="over any number of encounters the last slope is the greatest",
        ).mutant("three percent less", conclusion=Le(_risen(t), _off * _steep(t) * _gone(t))),
        Induction(
            t,
            Ge(_risen(t), v * _gone(t)),
            (Eq(_steep(0), v), *begin(_risen, _gone)),
            _points,
            keeps=(Ge(_steep(t), v),),
            name="the first slope is the least",
        ).mutant("three percent more", conclusion=Ge(_risen(t), v * _gone(t) / _off)),
        _under_the_chord.mutant(
            "three percent less steep after the point", given=(u * x >= P, v * y <= R, _off * u <= v)
        ),
        Recursion(w, Integer(0), PREVIOUS + (1 - c**2) * c ** (2 * w - 2), 1 - c ** (2 * w), name="(1 - c^2) X"),
        letters={
            p: "c^l",
            q: "c to the number of steps from an encounter to the end",
            P: "rise from an encounter to a later point of the path to the past",
            R: "rise from there to a third",
            x: "clock from the first to the second",
            y: "clock from the second to the third",
            u: "last slope before the second",
            v: "first slope after it",
        },
        assumptions=(y > 0,),
    ),
    Ours(
        "ours/participations/piece",
        "A piece hides an amount at the least cost by shifts in proportion to the noise over the growth before them",
        proof("affine_windows", "Schedules: a taut string"),
        *FREE_STEPS,
        *IN_PROPORTION,
        Recursion(w, _zero, PREVIOUS + c ** (2 * w - 2), (1 - c ** (2 * w)) / (1 - c**2), name="X", given=(Ne(c, 1),)),
    ),
)
