"""Every claim, in the order of the papers; what the solvers rest on comes last.

The order is that of ``papers.toml``, which a test compares with the files: a module that is not listed is not checked,
and nothing registers itself on import.

>>> claims("chien_li")[0].key
'chien_li/section_1/pareto'
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import MODULES

ORDER: Final[Mapping[str, tuple[str, ...]]] = MODULES
"""One module a theorem, lemma, remark or appendix, by paper."""


def modules(*papers: str) -> tuple[ModuleType, ...]:
    """The modules of the papers, or all; those of another paper are not imported, which takes seconds."""
    return tuple(_module(paper, name) for paper in papers or ORDER for name in ORDER[paper])


def _module(paper: str, name: str) -> ModuleType:
    return import_module(f"lastiterate.symbolic.{paper}.{name}")


def naming(*keys: str) -> tuple[Claim, ...]:
    """The claims of the modules of whose text one of the keys is a part; no other is imported."""
    return tuple(claim for paper, name in places(*keys) for claim in _module(paper, name).CLAIMS)


def places(*keys: str) -> tuple[tuple[str, str], ...]:
    """Paper and name of each module of whose text one of the keys is a part."""
    return tuple(place for place, text in _texts().items() if any(f'"{key}"' in text for key in keys))


@cache
def _texts() -> Mapping[tuple[str, str], str]:
    folder = Path(__file__).parent
    places = ((paper, name) for paper in ORDER for name in ORDER[paper])
    return {(paper, name): (folder / paper / f"{name}.py").read_text(encoding="utf-8") for paper, name in places}


OWN: Final[dict[str, Claim]] = {}
"""Claims of a folder of one's own that was loaded, by key: its derivations may rest on them."""


def known(key: str) -> Claim | None:
    """The claim of this key, of the ledger or of a folder that was loaded."""
    paper = key.partition("/")[0]
    found = {claim.key: claim for claim in naming(key)} if paper in ORDER else {}
    if paper in ORDER and key not in found:  # a key that its module puts together
        found = {claim.key: claim for claim in claims(paper)}
    return OWN.get(key) or found.get(key)


def claims(*papers: str) -> tuple[Claim, ...]:
    """The claims of the papers, or all; within a module the statement first, then the steps, then what is ours."""
    return tuple(claim for module in modules(*papers) for claim in module.CLAIMS)
