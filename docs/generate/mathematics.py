r"""Formulas between dollar signs as MathML, which browsers show without a script and without a font of ours.

``$...$`` stands in a line; ``$$...$$`` is a paragraph of its own. ``\$`` is a dollar sign.
"""

import re
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

__all__ = ["Formulas"]


class _Inline(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002, N802
        return self.md.htmlStash.store(convert(m[1])), m.start(), m.end()


class _Display(BlockProcessor):
    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002
        return (
            len(block.strip()) > len("$$$$") and block.strip().startswith("$$") and block.strip().endswith("$$")
        )

    def run(self, parent: Element, blocks: list[str]) -> None:
        latex = blocks.pop(0).strip().removeprefix("$$").removesuffix("$$")
        paragraph = Element("p", {"class": "formula"})
        paragraph.text = self.parser.md.htmlStash.store(convert(latex.strip(), display="block"))
        parent.append(paragraph)


class Formulas(Extension):
    """Adds both kinds of formula to a Markdown converter."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the two patterns, before those for emphasis."""
        md.inlinePatterns.register(_Inline(r"(?<![\\$])\$([^$\n]+(?:\n[^$\n]+)*)\$", md), "formula", 185)
        md.parser.blockprocessors.register(_Display(md.parser), "formula", 75)
