"""Unevaluated steps of a computation in a statement: substituted values, and Sympy's derivatives."""

from collections.abc import Mapping

from sympy import Derivative, Expr, Subs, Symbol, Tuple


def put(expression: Expr, values: Mapping[Symbol, Expr | int]) -> Expr:
    """Substitute values simultaneously without evaluation.

    Raises:
        ValueError: the expression has none of the letters, is itself a `put`, or binds a letter of a value.

    >>> from sympy.abc import x, y, z
    >>> put(x**2 + y, {x: y, z: 0})
    Subs(x**2 + y, x, y)
    """
    known = {letter: value for letter, value in values.items() if letter in expression.free_symbols}
    if isinstance(expression, Subs) or not known:
        raise ValueError(
            f"put needs a formula that is not a put and contains one of the letters {', '.join(map(str, values))}, got "
            f"{expression}."
        )
    put_in = Tuple(*known.values())
    bound = (expression.atoms(Symbol) - expression.free_symbols) & put_in.free_symbols
    if bound:
        raise ValueError(
            f"Values may not contain {', '.join(map(str, bound))}, which {expression} binds, got {put_in}."
        )
    return Subs(expression, tuple(known), put_in)


def carried_out(expression: Expr) -> Expr:
    """Carry out only the substitutions and derivatives in an expression.

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
