"""Formulas as MathML, which every current browser shows without extra fonts or scripts."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final
from xml.etree import ElementTree as ET

import sympy as sp
from latex2mathml.converter import convert
from markupsafe import Markup, escape
from sympy.core.symbol import Str
from sympy.printing.latex import LatexPrinter

from lastiterate.proofs_checks.statement import Line
from lastiterate.symbolic.statement import Condition

_SIGNS: Final = {
    "==": "=",
    "<=": "≤",
    ">=": "≥",
    "<": "<",
    "<= and attained": "≤",
    "<~": "≲",
    ">>": "≫",
    "~": "∼",
}
_LATEX: Final = str.maketrans(
    {"<": r"\lt ", "≤": r"\leq ", "≥": r"\geq ", "≲": r"\lesssim ", "≫": r"\gg ", "∼": r"\sim "}
)


class _Printer(LatexPrinter):  # type: ignore[misc]
    def _print_Symbol(self, expr: sp.Symbol) -> str:  # noqa: N802
        made: str = super()._print_Symbol(expr).replace("'", r"\text{′}")
        return rf"\text{{{made}}}" if len(made) > 2 and made.replace(" ", "").isalpha() else made

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        terms = super()._as_ordered_terms(expr, order)
        return sorted(terms, key=sp.Expr.could_extract_minus_sign)  # n - b, not -b + n

    def _call(self, head: str, *arguments: sp.Basic) -> str:
        return rf"{head}\left({', '.join(map(self._print, arguments))}\right)"

    def _print_RenyiDivergence(self, expr: sp.Function) -> str:  # noqa: N802
        order, numerator, denominator = map(self._print, expr.args)
        return rf"D_{{{order}}}\left({numerator} \parallel {denominator}\right)"

    def _print_ExpBase(self, expr: sp.Expr, exp: str | None = None) -> str:  # noqa: N802
        return str(self._do_exponent(rf"\text{{e}}^{{{self._print(expr.args[0])}}}", exp))

    def _print_QuantityBase(self, expr: sp.Function) -> str:  # noqa: N802
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(expr).__name__).lower()
        return self._call(rf"\text{{{words}}}", *expr.args)

    def _print_Condition(self, expr: Any) -> str:  # noqa: N802
        parts = re.split(r"\{(\d+)\}", expr.words)
        return "".join(
            self._print(expr.args[int(p)]) if k % 2 else rf"\text{{{p}}}" for k, p in enumerate(parts)
        )

    def _print_LeastOver(self, expr: sp.Function) -> str:  # noqa: N802
        below = " ".join(map(self._print, expr.args[1:]))
        return self._call(rf"\underset{{{below}}}{{\min}}", expr.args[0])


@lru_cache(maxsize=8192)
def _mathml(latex: str, display: str, attribute: str) -> str:
    written = re.sub(r' xmlns="\S+"| display="\w+"|\\(?=[{}]<)', "", convert(latex, display=display))
    wide = _ems(ET.fromstring(written))  # noqa: S314 - a printed formula
    style = f' style="--ems:{wide:.0f}"' if wide > _NARROW else ""
    return written.replace("<math", f"<math{attribute}{style}", 1)


_NARROW: Final = 9
"""Width in ems up to which a formula fits on every screen."""
_EACH: Final = {"mi": 0.62, "mn": 0.6, "mo": 0.9, "mtext": 0.58}
"""Width of a character in ems."""


def _ems(node: ET.Element) -> float:
    """Width of a formula in ems, rather more than less."""
    if node.tag in _EACH:
        return max(len(node.text or ""), 1) * _EACH[node.tag]
    parts = [_ems(part) for part in node]
    if node.tag in ("mfrac", "munder", "mover", "munderover"):
        return max(parts) + 0.3
    if node.tag in ("msub", "msup", "msubsup"):
        return parts[0] + 0.85 * max(parts[1:])
    return sum(parts) + (node.tag in ("msqrt", "mtd"))


@lru_cache(maxsize=8192)
def _latex(expression: sp.Basic, *, within: bool = False) -> str:
    made = str(_Printer({"fold_short_frac": within}).doprint(expression))
    return made if within else made.replace(r"\sum_", r"\sum\limits_")


def inline(expression: sp.Basic | int) -> Markup:
    """Expression or condition within a sentence, with short fractions on one line.

    >>> x = sp.Symbol("x")
    >>> str(inline(x < 2))
    '<math><mrow><mi>x</mi><mo>&#x0003C;</mo><mn>2</mn></mrow></math>'
    """
    return Markup(_mathml(_latex(sp.sympify(expression, strict=True), within=True), "inline", ""))  # noqa: S704 - a printed formula


def row(*parts: sp.Basic | int | str) -> Markup:
    """Expressions and signs, as a displayed formula; a narrow page may break it at each sign and each sum.

    >>> x = sp.Symbol("x")
    >>> "&#x0007E;" in row(x, "∼", x**2)
    True
    """
    return Markup(" ").join(map(_display, _pieces(parts)))


def _display(latex: str) -> Markup:
    return Markup(_mathml(latex, "block", ' displaystyle="true"'))  # noqa: S704 - a printed formula


def _pieces(parts: Iterable[sp.Basic | int | str]) -> Iterator[str]:
    sign = ""
    for part in parts:
        if isinstance(part, str):
            sign += part.translate(_LATEX)
            continue
        said = sp.sympify(part, strict=True)
        for term in _Printer()._as_ordered_terms(said) if isinstance(said, sp.Add) else (said,):
            written = _latex(term)
            yield "{} " * bool(sign) + (written if sign == "+" and written[0] == "-" else f"{sign} {written}")
            sign = "+"
        sign = ""


def with_formulas(text: str) -> Markup:
    """Text with LaTeX between dollar signs; a displayed formula may break at ``&&``.

    >>> str(with_formulas("a < $b$"))
    'a &lt; <math><mrow><mi>b</mi></mrow></math>'
    """
    made = Markup()
    for place, part in enumerate(re.split(r"(\$\$?)(.+?)\1", text.strip(), flags=re.DOTALL)):
        if place % 3 == 0:
            made += part
        elif place % 3 == 1:
            shown = part == "$$"
        else:
            pieces = [f"{'{} ' * bool(k)}{one}" for k, one in enumerate(part.split("&&"))]
            made += (
                Markup('<span class="line">{}</span>').format(Markup(" ").join(map(_display, pieces)))
                if shown
                else Markup(_mathml(part, "inline", ""))  # noqa: S704 - a printed formula
            )
    return made


def as_html(lines: Iterable[Line]) -> Iterator[Markup]:
    """Lines of a check or a statement, as formulas and paragraphs."""
    for line in lines:
        if line.sentence:
            parts = (_within(part) for part in line.parts)
            yield Markup("<p>{}</p>").format(Markup(line.sentence).format(*parts))  # noqa: S704 - sentences of ours
        else:
            yield row(*(relation_sign(part) if isinstance(part, str) else part for part in line.parts))


def _within(part: Any) -> Markup:
    """Part of a sentence: words, words of a condition (which may break into lines), or a formula."""
    if isinstance(part, str):
        return Markup("{}").format(relation_sign(part))
    if isinstance(part, Condition):
        # a `Sentence` holds its words
        parts = ("" if isinstance(one, Str) else inline(one) for one in part.args)
        return Markup(escape(part.words)).format(*parts)  # noqa: S704 - words of ours
    return inline(part)


def relation_sign(relation: str) -> str:
    """Sign of a `lastiterate.symbolic.checks.Relation`.

    >>> relation_sign("<=")
    '≤'
    """
    return _SIGNS.get(relation, relation)
