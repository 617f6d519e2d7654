"""Properties of h, the inverse of g(x) = x + L x^lambda.

Statement    h maps [0, inf) onto [0, inf), is strictly increasing, continuous, bijective, and for lambda = 1/2
             h(z) = ((-L + sqrt(L^2 + 4 z)) / 2)^2.
Assumptions  L >= 0, 0 < lambda <= 1, z >= 0.
Derivation   g' = 1 + L lambda x^(lambda - 1) > 0, g(0) = 0, g -> infinity. With u = sqrt(x), u^2 + L u = z.
Source       Chien & Li 2025, Lemma 3.9, A.9, (103)-(104).
Remark       A.9 prints the derivative without its factor lambda; the sign is the same. Closed forms exist for
             lambda = 1, 1/3, 2/3, 1/4, 3/4 too (`symbolic.holder`): triple-angle formulas and two quadratics.
             g is concave, so h is convex, h(z) <= z, and h(x) + h(y) <= h(x + y).
"""

from sympy import Expr, Integer, Rational, cos, diff, sqrt

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import (
    Claim,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Relation,
    Role,
    Sampled,
)
from lastiterate.symbolic.holder import g, inverse, slope
from lastiterate.symbolic.notation import K, L, lam, r, theta, u, v, x, y, z

_zero, _half = Integer(0), Rational(1, 2)
_box = {x: (Rational(1, 100), 4), L: (0, 4), lam: (Rational(1, 20), 1)}
_pair = {u: (Rational(1, 100), 2), lam: (Rational(1, 20), 1)}
_root = (-L + sqrt(L**2 + 4 * z)) / 2
_h = inverse(z, L, _half)

# lambda = 1/3: L = 3 r^2, so that sqrt(L / 3) = r; the root is 2 r sinh(theta) where z = 2 r^3 sinh(3 theta).
# The exponential e^theta is u.
_sinh_root, _sinh_three = r * (u - 1 / u), (u**3 - u**-3) / 2
# lambda = 2/3: L = 3 r; the root is r (2 cosh(theta) - 1) where z = 2 r^3 (1 + cosh(3 theta)); cos for small z.
_cosh_root, _cosh_three = r * (u + 1 / u - 1), (u**3 + u**-3) / 2
_cos_root = r * (2 * cos(theta) - 1)
# lambda = 1/4: u^4 + L u - z = (u^2 + a u + b)(u^2 - a u + d); with v = sqrt(2 L / a - a^2) the root is (v - a)/2.
_quartic_size, _quartic_root = u * (v**2 + u**2) / 2, (v - u) / 2
_quartic_z = (v**2 - u**2) * (v**2 + 3 * u**2) / 16


def _at_root(root: Expr, degree: int, power: int, size: Expr, value: Expr, name: str) -> Identity:
    """root^degree + L root^power = z."""
    return Identity(root**degree + size * root**power, value, name)


def _closed(order: Expr, size: Expr = L) -> Sampled:
    box = {z: (Rational(1, 20), 6), L: (Rational(1, 10), 3)}
    return Sampled(g(inverse(z, size, order), L, order), Relation.EQUAL, z, box, f"as written, lambda = {order}")


CLAIMS = (
    Claim(
        key="chien_li/lemma_3_9/monotone",
        title="1)-3): g(0) = 0, g grows strictly and without limit, so h is defined, increasing and bijective",
        source=at(183, "Lemma 3.9", "1)-3)"),
        assumptions=(lam <= 1,),
        checks=(
            Identity(g(_zero, L, lam), _zero, "g(0) = 0"),
            Holds(_zero, Relation.BELOW, slope(x, L, lam), _box, "g' > 0"),
            Inequality(x, Relation.AT_MOST, x + L * y, name="g(x) >= x: no limit; y = x^lambda"),
        ),
        mutants=(
            Mutant("g falls", Holds(slope(x, L, lam), Relation.AT_MOST, _zero, _box), Engine.ENCLOSURE),
            Mutant("g(0) = L", Identity(g(_zero, L, lam), L), Engine.IDENTITY),
            Mutant("also for L <= -1", Holds(_zero, Relation.BELOW, slope(x, -1 - L, lam), _box), Engine.ENCLOSURE),
        ),
    ),
    Claim(
        key="chien_li/lemma_3_9/derivative",
        title="The derivative of x + L x^lambda is 1 + L lambda x^(lambda - 1)",
        source=at(644, "A.9", "above (103)"),
        assumptions=(x > 0,),
        checks=(Identity(diff(g(x, L, lam), x), slope(x, L, lam), "derivative"),),
        misprint=Identity(diff(g(x, L, lam), x), 1 + L * x ** (lam - 1), name="without lambda, as printed"),
        mutants=(
            Mutant("exponent lambda", Identity(diff(g(x, L, lam), x), 1 + L * lam * x**lam), Engine.IDENTITY),
            Mutant("the one dropped", Identity(diff(g(x, L, lam), x), L * lam * x ** (lam - 1)), Engine.IDENTITY),
        ),
        role=Role.STEP,
        remark=(
            "The derivative is printed as 1 + L x^(lambda - 1), without the factor lambda. Only its sign is used, "
            "and that is the same. At x = 0 the derivative is infinite for lambda < 1, so 'for all x >= 0' means x > 0."
        ),
    ),
    Claim(
        key="chien_li/lemma_3_9/half",
        title="4): lambda = 1/2, h(z) = ((-L + sqrt(L^2 + 4 z)) / 2)^2",
        source=at(183, "Lemma 3.9", "4); (104)"),
        checks=(
            Identity(_root**2 + L * _root, z, "u^2 + L u = z"),
            Identity(_h, _root**2, "h = u^2"),
            Inequality(_zero, Relation.AT_MOST, _root, name="u >= 0, so sqrt(h) = u"),
        ),
        mutants=(
            Mutant("4 z without the 4", Identity(((-L + sqrt(L**2 + z)) / 2) ** 2, _h), Engine.IDENTITY),
            Mutant("the square forgotten", Identity(_root, _h), Engine.IDENTITY),
            Mutant("the other root", Identity(((-L - sqrt(L**2 + 4 * z)) / 2) ** 2, _h), Engine.IDENTITY),
            Mutant("u <= 0", Inequality(_root, Relation.AT_MOST, _zero), Engine.INEQUALITY),
        ),
    ),
    Claim(
        key="chien_li/lemma_3_9/cubics",
        title="Closed forms of h for lambda = 1, 1/3 (sinh) and 2/3 (cosh, or cos where 27 z < 4 L^3)",
        source=at(183, "Lemma 3.9", "4)"),
        assumptions=(z > 0, L > 0),
        checks=(
            Identity(g(inverse(z, L, Integer(1)), L, Integer(1)), z, "lambda = 1"),
            _at_root(_sinh_root, 3, 1, 3 * r**2, 2 * r**3 * _sinh_three, "lambda = 1/3"),
            _at_root(_cosh_root, 3, 2, 3 * r, 2 * r**3 * (1 + _cosh_three), "lambda = 2/3, large z"),
            _at_root(_cos_root, 3, 2, 3 * r, 2 * r**3 * (1 + cos(3 * theta)), "lambda = 2/3, small z"),
            _closed(Rational(1, 3)),
            _closed(Rational(2, 3)),
        ),
        mutants=(
            Mutant("lambda = 1: z (1 + L)", Identity(g(z * (1 + L), L, Integer(1)), z), Engine.IDENTITY),
            Mutant(
                "cosh for sinh",
                _at_root(r * (u + 1 / u), 3, 1, 3 * r**2, 2 * r**3 * _sinh_three, "mutant"),
                Engine.IDENTITY,
            ),
            Mutant(
                "factor two dropped",
                _at_root(_sinh_root, 3, 1, 3 * r**2, r**3 * _sinh_three, "mutant"),
                Engine.IDENTITY,
            ),
            Mutant(
                "the shift by L/3 forgotten",
                _at_root(r * (u + 1 / u), 3, 2, 3 * r, 2 * r**3 * (1 + _cosh_three), "mutant"),
                Engine.IDENTITY,
            ),
            Mutant("half of L", _closed(Rational(1, 3), L / 2), Engine.SAMPLING),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/lemma_3_9/quartics",
        title="Closed forms of h for lambda = 1/4 and 3/4, by two quadratics from a cubic",
        source=at(183, "Lemma 3.9", "4)"),
        assumptions=(z > 0, L > 0),
        checks=(
            _at_root(_quartic_root, 4, 1, _quartic_size, _quartic_z, "lambda = 1/4"),
            Identity(u**6 + 4 * _quartic_z * u**2, _quartic_size**2, "its cubic: y^3 + 4 z y = L^2, y = a^2"),
            Identity(
                1 / x**4 + K / (z * x**3) - 1 / z, (z + K * x - x**4) / (z * x**4), "lambda = 3/4 by u = 1/x, L = K"
            ),
            _closed(Rational(1, 4)),
            _closed(Rational(3, 4)),
        ),
        mutants=(
            Mutant(
                "the other quadratic",
                _at_root((v + u) / 2, 4, 1, _quartic_size, _quartic_z, "mutant"),
                Engine.IDENTITY,
            ),
            Mutant("y^3 + z y", Identity(u**6 + _quartic_z * u**2, _quartic_size**2), Engine.IDENTITY),
            Mutant("half of L, 1/4", _closed(Rational(1, 4), L / 2), Engine.SAMPLING),
            Mutant("half of L, 3/4", _closed(Rational(3, 4), L / 2), Engine.SAMPLING),
        ),
        role=Role.OURS,
    ),
    Claim(
        key="chien_li/lemma_3_9/shape",
        title="g is concave and subadditive; so h is convex, superadditive, and h(z) <= z",
        source=at(183, "Lemma 3.9"),
        assumptions=(lam <= 1,),
        checks=(
            Identity(diff(slope(x, L, lam), x), L * lam * (lam - 1) * x ** (lam - 2), "second derivative of g"),
            Inequality(L * lam * (lam - 1), Relation.AT_MOST, _zero, name="not positive"),
            Holds((1 + u) ** lam, Relation.AT_MOST, 1 + u**lam, _pair, "subadditive: z^lambda, at z = x (1 + u)"),
            Inequality(_h, Relation.AT_MOST, z, name="h(z) <= z, lambda = 1/2"),
        ),
        mutants=(
            Mutant("convex", Inequality(_zero, Relation.BELOW, L * lam * (lam - 1)), Engine.INEQUALITY),
            Mutant(
                "superadditive, lambda = 1/2",
                Inequality(1 + sqrt(u), Relation.AT_MOST, sqrt(1 + u)),
                Engine.INEQUALITY,
            ),
            Mutant("h(z) >= z", Inequality(z, Relation.AT_MOST, _h), Engine.INEQUALITY),
        ),
        role=Role.OURS,
    ),
)
