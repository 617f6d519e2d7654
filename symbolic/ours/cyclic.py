r"""Cyclic batches: the worst sample, and the optimum for strongly convex losses (docs/proofs/cyclic.md).

The sample of the last step is the worst: shifts $a_t$ for it also hide a sample met $k$ steps earlier, as
$a'_t = a_{t+k}$, since $z'_t \le z_{t+k}$; afterwards $z$ stays at 0. For strongly convex losses and $E$
epochs of $l$ batches the optimum is
$$s^2\Big(1 + c^{2l-2}\,\frac{1 - c^2}{(1 - c^l)^2}\,\frac{1 - c^{l(E-1)}}{1 + c^{l(E-1)}}\Big),$$
the value of Bok, Su & Altschuler 2024. If the sample is met every $l$ steps, the slopes of the taut string's
obstacle grow by the factor $c^{-l}$ from each participation to the one before.
"""

from lastiterate.symbolic.ours.paper import *
from lastiterate.symbolic.windows import FREE_STEPS, IN_PROPORTION

# p = c^l, q = c^(l(E-1)); between participations q = c^d, d the steps from one to the end.
_clock = Recursion(
    w, S.Zero, PREVIOUS + c ** (2 * w - 2), (1 - c ** (2 * w)) / (1 - c**2), name="X", given=(Ne(c, 1),)
)
_lower, _upper, _image, _secant, _shift = (Function(name, nonnegative=True) for name in "zxeka")
_risen, _gone, _steep, _wide, _rise = (Function(name, nonnegative=True) for name in "SXuxf")
_points = gains(_risen, _steep(t) * _wide(t)), gains(_gone, _wide(t)), gains(_steep, _rise(t))


def _slope(left: Expr) -> Expr:
    """(Rise of H) / (rise of X) between the encounter with c^d = ``left`` and the next encounter."""
    return (s * left / c) / (left**2 / p**2 * (1 - p**2) / (1 - c**2))


CLAIMS = (
    Ours(
        "ours/cyclic/theorem",
        "Cyclic batches: shifts that hide 2 eta K / b at the steps whose batch holds the sample",
        proof("cyclic", "The sample of the last step is the worst"),
        *windows("cyclic", "convex", "modulus", "strongly convex", "steps"),
        assumptions=(alpha > 1, m <= L),
    ),
    Ours(
        "ours/cyclic/last_step",
        "A path for a sample met at the last step serves one met earlier: less to hide, then z stays at 0",
        proof("cyclic", "The sample of the last step is the worst"),
        Induction(
            t,
            Le(_lower(t), _upper(t)),
            (Le(_lower(0), _upper(0)),),
            (
                Eq(_lower(t + 1), Max(_image(t) - _shift(t), 0)),
                Eq(_upper(t + 1), Max(_image(t) + _secant(t) * (_upper(t) - _lower(t)) - _shift(t), 0)),
            ),
            name="a smaller state stays smaller, whatever nondecreasing expansion: its secant is not negative",
        ),
        Identity(put(expansion(z, L, lam, a), {z: 0, a: 0}), S.Zero, "without the sample z = 0 stays at 0"),
    ),
    Ours(
        "ours/cyclic/strongly_convex",
        "The E - 1 earlier encounters of the worst sample cost Bok, Su & Altschuler's value, one straight string",
        proof("cyclic", "The strongly convex value"),
        Recursion(w, S.Zero, PREVIOUS + p**w / c, p / c * (1 - p**w) / (1 - p), name="sum over the encounters"),
        _clock,
        Identity(
            (p / c * (1 - q) / (1 - p)) ** 2 / ((1 - q**2) / (1 - c**2)),
            p**2 / c**2 * (1 - c**2) / (1 - p) ** 2 * (1 - q) / (1 + q),
            "squared drift over width",
        ),
        assumptions=(c > 0, c < 1, p > 0, p < 1, q > 0, q < 1),
    ),
    Ours(
        "ours/participations/string",
        "Slopes between encounters l steps apart rise by c^-l towards the past; for c < 1 any chord lies above",
        proof("affine_windows", "Schedules: a taut string"),
        Identity(
            put(_slope(u), {u: p * q}), put(_slope(u), {u: q}) / p, "ratio of slopes", (Ne(c, 1), Ne(p, 1))
        ),
        Induction(
            t,
            Le(_risen(t), _steep(t) * _gone(t)),
            begin(_risen, _gone),
            _points,
            name="over any number of encounters the last slope is the greatest",
        ),
        Induction(
            t,
            Ge(_risen(t), v * _gone(t)),
            (Eq(_steep(0), v), *begin(_risen, _gone)),
            _points,
            keeps=(Ge(_steep(t), v),),
            name="the first slope is the least",
        ),
        Inequality(
            P,
            "<= and attained",
            (P + R) * x / (x + y),
            (u * x >= P, v * y <= R, u <= v),
            "so any point lies below the chord of any two others around it",
        ),
        Recursion(w, S.Zero, PREVIOUS + (1 - c**2) * c ** (2 * w - 2), 1 - c ** (2 * w), name="(1 - c^2) X"),
        letters={p: "c^l", q: "c to the number of steps from an encounter to the end", x: "clock along P"}
        | {
            P: "rise from an encounter to a later point of the path to the past",
            R: "rise from there to a third",
        }
        | {y: "clock along R", u: "last slope before the second point", v: "first slope after it"},
        assumptions=(y > 0,),
    ),
    Ours(
        "ours/participations/piece",
        "A piece hides an amount at the least cost by shifts in proportion to the noise over the growth before them",
        proof("affine_windows", "Schedules: a taut string"),
        *FREE_STEPS,
        *IN_PROPORTION,
        _clock,
    ),
)
