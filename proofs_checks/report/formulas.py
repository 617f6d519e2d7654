"""Formulas as MathML, which every current browser shows without extra fonts or scripts."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from operator import methodcaller
from typing import Any, Final

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
        return sorted(terms, key=methodcaller("could_extract_minus_sign"))  # n - b, not -b + n

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
    signs = 0.35 * written.count("<mo>")  # the space around them
    ems = signs + 0.74 * len(re.sub(r"<[^>]*>|&#x\w+(;)", r"\1", written))  # rather more than less
    style = f' style="--ems:{ems:.0f}"' if ems > _NARROW else ""
    return written.replace("<math", f"<math{attribute}{style}", 1)


_NARROW: Final = 9
"""Width up to which a formula fits on every screen."""


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
    parts = re.split(r"\$\$(.+?)\$\$|\$(.+?)\$", text.strip(), flags=re.DOTALL)
    for words, shown, within in zip_longest(parts[::3], parts[1::3], parts[2::3]):
        made += words
        if shown:
            pieces = (_display(f"{{}} {one}") for one in shown.split("&&"))
            made += Markup('<span class="line">{}</span>').format(Markup(" ").join(pieces))
        if within:
            made += Markup(_mathml(within, "inline", ""))  # noqa: S704 - a formula of ours
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
