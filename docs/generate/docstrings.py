"""A reading of docstrings for the reference: examples are code, proofs are linked, and an asterisk is one."""

import re
from typing import Any

import griffe

__all__ = ["Examples", "fenced"]


def fenced(docstring: str) -> str:
    """The docstring for a page of the reference; an asterisk in it stands for many keys of claims."""
    parts = re.split(r"((?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*)", docstring, flags=re.MULTILINE)
    parts[::2] = (
        re.sub(r"docs/([\w/]+)\.md", r"[\g<0>](../\1.md)", re.sub(r"(?<=/)\*", r"\\*", text))
        for text in parts[::2]
    )
    parts[1::2] = (f"```pycon\n{code.rstrip()}\n```\n" for code in parts[1::2])
    return "".join(parts)


class Examples(griffe.Extension):
    """Put every docstring through `fenced`."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Rewrite one docstring."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
