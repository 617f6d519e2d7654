"""A non-smooth function with a Hoelder continuous derivative.

Statement    f(x) = sign(x) (3/4) |x|^(4/3) has f'(x) = |x|^(1/3), which is (2^(2/3), 1/3)-Hoelder, not Lipschitz.
Assumptions  real arguments; X = x^(1/3) and so on, so that cubes replace roots.
Derivation   Same sign: X - Y <= (X^3 - Y^3)^(1/3). Opposite signs: u^(1/3) + (1 - u)^(1/3) <= 2^(2/3), the power
             means of two numbers.
Source       Chien & Li 2025, A.14, (128)-(133), and line 31.
Remark       The printed f is odd, so its derivative is even, and the best constant is 1. Case 3 is about
             f(x) = (3/4) |x|^(4/3), whose derivative sign(x) |x|^(1/3) is odd, with best constant 2^(2/3). The
             claim holds for both.
"""

from sympy import Abs, Eq, Expr, Integer, Rational, diff, sign

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Inequality, Mutant, Relation, Role, Value
from lastiterate.symbolic.notation import lam, p, r, u, x, xi, y, z, zeta

_third, _one = Rational(1, 3), Integer(1)
_f = Rational(3, 4) * x ** Rational(4, 3)  # at |argument| = x
# X = x and Y = y are the cube roots of the two arguments' absolute values, z that of their distance.
_same, _opposite = (y <= x, z**3 >= x**3 - y**3), (z**3 >= x**3 + y**3,)
_from_zero = (Eq(y, 0), Eq(z, x))
_mean = u**_third + (1 - u) ** _third


def _odd(point: Expr) -> Expr:
    """sign(x) |x|^(1/3), the derivative of (3/4) |x|^(4/3)."""
    return sign(point) * Abs(point) ** _third


def _even(point: Expr) -> Expr:
    """|x|^(1/3), the derivative of sign(x) (3/4) |x|^(4/3)."""
    return Abs(point) ** _third


_across = Abs(xi) ** _third + zeta**_third

CLAIMS = (
    Claim(
        key="chien_li/appendix_a_14/derivative",
        title="f(x) = sign(x) (3/4) |x|^(4/3) has the derivative |x|^(1/3) on both sides of zero",
        source=at(766, "A.14"),
        assumptions=(x > 0,),
        checks=(
            Identity(diff(_f, x), x**_third, "x > 0"),
            Identity(diff(-_f, x) / diff(-x, x), x**_third, "x < 0: minus f, at -x"),
        ),
        mutants=(
            Mutant("3/4 dropped", Identity(diff(x ** Rational(4, 3), x), x**_third), Engine.IDENTITY),
            Mutant("power 2/3", Identity(diff(_f, x), x ** Rational(2, 3)), Engine.IDENTITY),
            Mutant("odd derivative for x < 0", Identity(diff(-_f, x) / diff(-x, x), -(x**_third)), Engine.IDENTITY),
        ),
    ),
    Claim(
        key="chien_li/appendix_a_14/powers",
        title="(129): 1 <= v^s + (1 - v)^s for v in [0, 1], s in (0, 1] (a and b not both zero)",
        source=at(775, "A.14", "(129)"),
        checks=(
            Inequality(
                _one,
                Relation.TIGHT,
                x + y,
                given=(x**3 + y**3 >= 1, x <= 1, y <= 1),
                name="s = 1/3, by cube roots",
                attained=(Eq(x, 1), Eq(y, 0)),
            ),
            Holds(
                u,
                Relation.AT_MOST,
                u**lam,
                {u: (Rational(1, 1000), 1), lam: (Rational(1, 100), 1)},
                "v <= v^s, the step below it",
            ),
        ),
        mutants=(
            Mutant(
                "s = 3",
                Holds(_one, Relation.AT_MOST, u**3 + (1 - u) ** 3, {u: (Rational(1, 10), Rational(9, 10))}),
                Engine.ENCLOSURE,
            ),
            Mutant(
                "v >= v^s",
                Holds(
                    u**lam,
                    Relation.AT_MOST,
                    u,
                    {u: (Rational(1, 10), Rational(9, 10)), lam: (Rational(1, 10), Rational(9, 10))},
                ),
                Engine.ENCLOSURE,
            ),
            Mutant(
                "constant 2",
                Inequality(Integer(2), Relation.AT_MOST, x + y, given=(x**3 + y**3 >= 1, x <= 1, y <= 1)),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/appendix_a_14/case_1",
        title="(128), (130): x, y >= 0 have |G(x) - G(y)| <= 1 |x - y|^(1/3)",
        source=at(780, "A.14", "(128)-(130)"),
        checks=(Inequality(x - y, Relation.TIGHT, z, given=_same, name="constant 1", attained=_from_zero),),
        mutants=(
            Mutant("constant 1/2", Inequality(x - y, Relation.AT_MOST, z / 2, given=_same), Engine.INEQUALITY),
            Mutant("sum for difference", Inequality(x + y, Relation.AT_MOST, z, given=_same), Engine.INEQUALITY),
        ),
        role=Role.STEP,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/appendix_a_14/case_2",
        title="Case 2: x, y <= 0 have |G(x) - G(y)| <= |x - y|^(1/3)",
        source=at(785, "A.14", "Case 2"),
        checks=(Inequality(x - y, Relation.AT_MOST, z, given=_same, name="with the power 1/3"),),
        misprint=Inequality(x - y, Relation.AT_MOST, z**3, given=_same, name="without it, as printed"),
        mutants=(
            Mutant("squared distance", Inequality(x - y, Relation.AT_MOST, z**6, given=_same), Engine.INEQUALITY),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "Case 2 ends with |(-x) - (-y)| = |x - y|, without the power 1/3. As printed it says that G is Lipschitz "
            "with constant 1, which fails near zero and contradicts (133). The power is meant, as in case 1."
        ),
    ),
    Claim(
        key="chien_li/appendix_a_14/case_3",
        title="(131): for x < 0 < y the difference |G(x) - G(y)| is |x|^(1/3) + y^(1/3)",
        source=at(789, "A.14", "(131)"),
        assumptions=(xi < 0, zeta > 0),
        checks=(Identity(Abs(_odd(-x) - _odd(p)), _odd(x) + _odd(p), "G(x) = sign(x) |x|^(1/3), at -x and p"),),
        misprint=Identity(
            Abs(_even(xi) - _even(zeta)), _across.subs(zeta, Abs(zeta)), name="G(x) = |x|^(1/3), as printed"
        ),
        mutants=(Mutant("minus", Identity(Abs(_odd(-x) - _odd(p)), _odd(p) - _odd(x)), Engine.IDENTITY),),
        role=Role.STEP,
        remark=(
            "The derivative of the printed odd f is even, so for opposite signs the difference is that of the absolute "
            "values, and (131) is no equivalence. It belongs to f(x) = (3/4) |x|^(4/3), whose derivative changes sign. "
            "The constant 2^(2/3) is right for both and best for that one; for the printed f it is 1."
        ),
    ),
    Claim(
        key="chien_li/appendix_a_14/constant",
        title="(132): u^(1/3) + (1 - u)^(1/3) <= 2^(2/3) = 1.587, attained at u = 1/2",
        source=at(794, "A.14", "(132)"),
        checks=(
            Inequality((x + y) ** 3, Relation.TIGHT, 4 * (x**3 + y**3), name="opposite signs, cubed"),
            Identity(_mean.subs(u, Rational(1, 2)), 2 ** Rational(2, 3), "attained at 1/2"),
            Value(2 ** Rational(2, 3), "1.587", "printed value"),
            Inequality(x, Relation.AT_MOST, Integer(1), given=(x**3 <= 1,), name="each term at most 1, so C = 2 does"),
        ),
        mutants=(
            Mutant(
                "C = 3/2",
                Inequality((x + y) ** 3, Relation.AT_MOST, Rational(27, 8) * (x**3 + y**3)),
                Engine.INEQUALITY,
            ),
            Mutant("attained at 1/3", Identity(_mean.subs(u, _third), 2 ** Rational(2, 3)), Engine.IDENTITY),
            Mutant("2^(1/3)", Value(2**_third, "1.587"), Engine.ENCLOSURE),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/appendix_a_14/best_constant",
        title="For the printed f the best constant is 1: | |x|^(1/3) - |y|^(1/3) | <= |x - y|^(1/3), equal at y = 0",
        source=at(768, "A.14", "(2^(2/3), 1/3)-Hoelder"),
        checks=(
            Inequality(x - y, Relation.TIGHT, z, given=_opposite, name="opposite signs", attained=_from_zero),
            Inequality(x - y, Relation.TIGHT, z, given=_same, name="same sign", attained=_from_zero),
            Identity(Abs(_even(p) - _even(Integer(0))), p**_third, "equal at y = 0"),
        ),
        mutants=(
            Mutant("constant 1/2", Inequality(x - y, Relation.AT_MOST, z / 2, given=_same), Engine.INEQUALITY),
            Mutant(
                "constant 1 for the odd derivative too",
                Inequality(x + y, Relation.AT_MOST, z, given=_opposite),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/appendix_a_14/not_lipschitz",
        title="(133): |G(x) - G(0)| / |x| = x^(-2/3) exceeds every r > 0 near zero",
        source=at(798, "A.14", "(133)"),
        assumptions=(x > 0,),
        checks=(
            Identity((x**_third) / x, x ** Rational(-2, 3), "the quotient"),
            Identity((r ** Rational(-3, 2)) ** Rational(-2, 3), r, "it is r at x = r^(-3/2)"),
            Inequality(r, Relation.BELOW, 1 / y**2, given=(y > 0, y**2 * r < 1), name="and more below; x = y^3"),
        ),
        mutants=(
            Mutant("power -1/3", Identity((x**_third) / x, x ** Rational(-1, 3)), Engine.IDENTITY),
            Mutant("bounded by r", Inequality(1 / y**2, Relation.AT_MOST, r, given=(y > 0,)), Engine.INEQUALITY),
        ),
        role=Role.STEP,
    ),
)
