"""Values for the symbols of profiles and conditions."""

from sympy import Ge, Sum, Symbol, symbols

from lastiterate.symbolic.kernel.profiles import Equal, Gauss, Steps, put_values

x, y = symbols("x y", positive=True)
k, m = symbols("k m", integer=True, positive=True)


def test_values_are_put_all_at_once_and_bound_letters_stay() -> None:
    assert put_values((x - y, Ge(x, 2 * y)), {x: y, y: x}) == (y - x, Ge(y, 2 * x))
    total = Sum(x * k, (k, 1, m))
    assert put_values(total, {k: y, x: y, m: k + 1}) == Sum(y * k, (k, 1, m)).subs(
        m, Symbol("k", integer=True, positive=True) + 1
    )
    assert put_values(total, {k: y}) == total
    assert put_values(Equal(), {x: y}) == Equal()
    assert put_values("text", {x: y}) == "text"


def test_an_index_that_is_renamed_captures_no_letter() -> None:
    primed, other = Symbol("k'", integer=True, positive=True), Symbol("k''", integer=True, positive=True)
    assert put_values(Sum(x * primed * k, (k, 1, m)), {x: k}) == Sum(k * primed * other, (other, 1, m))
    steps = Steps(Gauss(x * primed * k), k, m)
    assert put_values(steps, {x: k}) == Steps(Gauss(k * primed * other), other, m)
