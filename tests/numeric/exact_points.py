"""Random points of dyadic rationals, and the exact value of a Sympy formula there."""

from random import Random

from flint import arb, fmpq
from mpmath import mp
from sympy import Expr, Float, Integer, Integral, N, Rational, S, lambdify

__all__ = ["Point", "value"]


class Point(dict[str, Rational]):
    """Random dyadic letters: ``p.eta`` is the exact Sympy number, ``p("eta")`` the same as a float."""

    def __init__(self, generator: Random) -> None:
        def dyadic(low: float, high: float, bits: int = 6) -> Rational:
            return Rational(generator.randint(int(low * 2**bits), int(high * 2**bits)), 2**bits)

        b = Integer(generator.randint(1, 6))
        eta, L = dyadic(1 / 16, 0.5), dyadic(0.25, 3.5)
        super().__init__(
            eta=eta, K=dyadic(0.25, 4), b=b, n=b * generator.randint(2, 5),
            L=L, m=L * Rational(generator.randint(1, 7), 8),
            lam=generator.choice([Rational(1, 2), Rational(1, 4), Rational(3, 4), S.One]), z=dyadic(0.05, 4),
            sigma=dyadic(0.25, 4), alpha=1 + dyadic(0.125, 8, 3), whole=Integer(generator.randint(2, 9)),
            q=dyadic(0.05, 0.9), w=Integer(generator.randint(1, 12)), c=dyadic(0.5, 1.5), s=dyadic(0.05, 2),
            D=dyadic(0.05, 4), x=dyadic(0.05, 4), y=dyadic(0.05, 4), d=dyadic(0.02, 0.2, 12),
            T=Integer(generator.randint(1, 30)),
        )  # fmt: skip

    def __getattr__(self, letter: str) -> Rational:
        return self[letter]

    def __call__(self, letter: str) -> float:
        return float(self[letter])


def value(statement: Expr) -> arb:
    """The statement at its point, to 40 digits: a rational exactly, anything else by Sympy's own arithmetic."""
    if statement.is_Rational:
        return arb(fmpq(int(statement.p), int(statement.q)))
    digits = 20 if statement.has(Integral) else 45
    number = N(statement.xreplace({one: integral(one) for one in statement.atoms(Integral)}), digits)
    assert number.is_Float, f"{statement} is not a number"
    middle = arb(str(number))
    return arb(middle, abs(middle) * arb(10) ** (5 - digits))


def integral(stated: Integral) -> Float:
    """A Gaussian integral by quadrature over the few dozen widths that count."""
    x, low, _ = stated.limits[0]
    with mp.workdps(25):
        ends = [max(low, Integer(-40)), *range(-38, 40, 2), 40]
        return Float(
            mp.quad(lambdify(x, stated.function, "mpmath"), [mp.mpf(N(end)) for end in ends if end >= low]), 25
        )
