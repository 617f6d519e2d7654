"""Steps of a computation that a statement shows: a value put into a formula, and, of Sympy, a derivative."""

from collections.abc import Mapping

from sympy import Derivative, Expr, Subs, Symbol


def put(expression: Expr, values: Mapping[Symbol, Expr | int]) -> Expr:
    """The expression with the values put in, all at once: the statement shows the formula and what is put into it.

    Raises:
        ValueError: the expression is itself one with values put in; the order would be unclear.

    >>> from sympy.abc import x, y
    >>> put(x**2 + y, {x: y})
    Subs(x**2 + y, x, y)
    """
    if isinstance(expression, Subs):
        raise ValueError(f"An expression without values put in is needed, got {expression}; put all in at once.")
    return Subs(expression, tuple(values), tuple(values.values()))


def carried_out(expression: Expr) -> Expr:
    """The expression with the values put in and the derivatives taken, and nothing else done.

    >>> from sympy.abc import x, y
    >>> carried_out(put(Derivative(x**2 + y, x), {x: y, y: 3}))
    2*y
    """
    if not expression.has(Subs, Derivative):
        return expression
    return expression.replace(lambda part: isinstance(part, Subs | Derivative), _done)


def _done(part: Subs | Derivative) -> Expr:
    if isinstance(part, Subs):
        return part.expr.xreplace(dict(zip(part.variables, part.point, strict=True)))
    return part.expr.diff(*part.variable_count)
