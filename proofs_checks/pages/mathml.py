"""Formulas as MathML, which every current browser shows without fonts or scripts of its own.

Sympy prints presentation MathML with a few flaws: ``<`` is not escaped, entities are those of HTML, and what it
has no layout for comes out as a function call. Those are mended here, and what is not well-formed in the end is
given as plain text.
"""

# Sympy has no stubs; what pyright infers from its sources is wider than what it documents.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportGeneralTypeIssues=false

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html.entities import html5
from typing import Any, Final
from xml.etree import ElementTree as ET

import sympy as sp
from markupsafe import Markup, escape
from sympy.printing.mathml import MathMLPresentationPrinter

from lastiterate.proofs_checks.statement import Line

__all__ = ["as_html", "inline", "relation_sign", "row"]

WIDE: Final = 260
"""A displayed formula of more elements than this is wider than a sheet of paper; in print it is plain text instead."""

_ENTITY = re.compile(r"&(?!lt;|gt;|amp;)(\w+;)")
_SIGNS: Final = {"==": "=", "<=": "≤", "<": "<", "<= and attained": "≤", "<~": "≲", ">>": "≫", "~": "∼"}


class _Printer(MathMLPresentationPrinter):  # type: ignore[misc]
    """Sympy's printer with layouts that it lacks. Its methods are found by the names of Sympy's classes."""

    def _element(self, name: str, *children: Any, **attributes: str) -> Any:
        made = self.dom.createElement(name)
        for key, value in attributes.items():
            made.setAttribute(key, value)
        for child in children:
            made.appendChild(self.dom.createTextNode(child) if isinstance(child, str) else child)
        return made

    def _print_Piecewise(self, expr: sp.Piecewise) -> Any:  # noqa: N802
        rows = []
        for value, condition in expr.args:
            if condition == sp.true:
                words = [self._element("mtext", "otherwise")]
            else:
                words = [self._element("mtext", "if "), self._print(condition)]
            cells = (self._element("mtd", self._print(value)), self._element("mtd", *words))
            rows.append(self._element("mtr", *cells))
        table = self._element("mtable", *rows, columnalign="left")
        return self._element("mrow", self._element("mo", "{"), table)

    def _print_Product(self, expr: sp.Product) -> Any:  # noqa: N802
        index, low, high = expr.limits[0]
        below = self._element("mrow", self._print(index), self._element("mo", "="), self._print(low))
        sign = self._element("munderover", self._element("mo", "∏"), below, self._print(high))
        body = self._print(expr.function)
        if not expr.function.is_Atom:
            body = self._element("mrow", self._element("mo", "("), body, self._element("mo", ")"))
        return self._element("mrow", sign, body)

    def _call(self, head: Any, *arguments: Any) -> Any:
        printed = [part for argument in arguments for part in (self._print(argument), self._element("mo", ","))]
        return self._element("mrow", head, self._element("mo", "("), *printed[:-1], self._element("mo", ")"))

    def _print_RenyiDivergence(self, expr: sp.Function) -> Any:  # noqa: N802
        order, numerator, denominator = expr.args
        head = self._element("msub", self._element("mi", "D"), self._print(order))
        sides = (self._print(numerator), self._element("mo", "∥"), self._print(denominator))
        return self._element("mrow", head, self._element("mo", "("), *sides, self._element("mo", ")"))

    def _print_QuantityBase(self, expr: sp.Function) -> Any:  # noqa: N802
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(expr).__name__).lower()
        return self._call(self._element("mtext", words), *expr.args)

    def _print_Condition(self, expr: Any) -> Any:  # noqa: N802
        parts = re.split(r"\{(\d)\}", expr.words)
        made = [self._print(expr.args[int(p)]) if k % 2 else self._element("mtext", p) for k, p in enumerate(parts)]
        return self._element("mrow", *made)

    def _print_Minimum(self, expr: sp.Function) -> Any:  # noqa: N802
        below = self._element(
            "munder", self._element("mo", "min"), self._element("mrow", *map(self._print, expr.args[1:]))
        )
        return self._call(below, expr.args[0])

    def _print_BooleanTrue(self, _expr: sp.Basic) -> Any:  # noqa: N802
        return self._element("mtext", "true")

    def _print_BooleanFalse(self, _expr: sp.Basic) -> Any:  # noqa: N802
        return self._element("mtext", "false")


@lru_cache(maxsize=8192)
def _presentation(expression: sp.Basic) -> str:
    """Well-formed MathML without named entities, or "" where Sympy cannot print the expression so."""
    try:
        text: str = _Printer().doprint(expression)
    except (TypeError, ValueError, AttributeError, NotImplementedError, IndexError):
        return ""
    for sign, written in (("<", "&lt;"), (">", "&gt;"), ("-", "−")):
        text = text.replace(f"<mo>{sign}</mo>", f"<mo>{written}</mo>")
    text = _ENTITY.sub(lambda found: html5.get(found[1], found[0]), text)
    try:
        ET.fromstring(f"<math>{text}</math>")  # noqa: S314 - it was printed three lines above
    except ET.ParseError:
        return ""
    return text


def inline(expression: sp.Basic | int) -> Markup:
    """An expression or a condition within a sentence.

    >>> x = sp.Symbol("x")
    >>> str(inline(x < 2))
    '<math><mrow><mi>x</mi><mo>&lt;</mo><mn>2</mn></mrow></math>'
    """
    return _math([expression], block=False)


def row(*parts: sp.Basic | str) -> Markup:
    """Expressions with signs between them, as a formula of one line.

    >>> x = sp.Symbol("x")
    >>> "∼" in row(x, "∼", x**2)
    True
    """
    return _math(parts, block=True)


def as_html(lines: Iterable[Line]) -> Iterator[Markup]:
    """Lines of a check or a statement, as formulas and paragraphs."""
    for line in lines:
        if line.sentence:
            parts = (_inlined(part) for part in line.parts)
            yield Markup("<p>{}</p>").format(Markup(line.sentence).format(*parts))  # noqa: S704 - sentences of ours
        else:
            yield row(*(relation_sign(part) if isinstance(part, str) else part for part in line.parts))


def _inlined(part: object) -> Markup:
    if isinstance(part, str):
        return Markup("{}").format(relation_sign(part))
    return inline(part)


def relation_sign(relation: str) -> str:
    """The sign of a relation of `lastiterate.symbolic.claim.Relation`.

    >>> relation_sign("<=")
    '≤'
    """
    return _SIGNS.get(relation, relation)


def _math(parts: Any, *, block: bool) -> Markup:
    written = []
    for part in parts:
        if isinstance(part, str):
            written.append(f"<mo>{escape(part)}</mo>")
            continue
        text = _presentation(sp.sympify(part, strict=True))
        if not text:
            return _plain(parts)
        written.append(text)
    kind = ' displaystyle="true"' if block else ""
    body = "".join(written)
    if block and body.count("</m") > WIDE:
        text = Markup('<code class="plain-formula">{}</code>').format(_words(parts))
        return Markup(f'<math class="wide"{kind}>{body}</math>') + text  # noqa: S704
    return Markup(f"<math{kind}>{body}</math>")  # noqa: S704 - well-formed, and made of printed formulas


def _plain(parts: Any) -> Markup:
    return Markup("<code>{}</code>").format(_words(parts))


def _words(parts: Any) -> str:
    return " ".join(part if isinstance(part, str) else sp.sstr(part) for part in parts)
