"""All claims, in the order of ``papers.toml``; modules that this file does not list are not checked.

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
from lastiterate.symbolic.papers import MODULES, claim_remarks

ORDER: Final[Mapping[str, tuple[str, ...]]] = MODULES
"""The modules of each paper, one per theorem, lemma, remark or appendix."""


def modules(*papers: str) -> tuple[ModuleType, ...]:
    """The modules of the papers, or of all papers; no other module is imported.

    Raises:
        ValueError: a remark is on a claim that does not exist.
    """
    found = {paper: tuple(_module(paper, name) for name in ORDER[paper]) for paper in papers or ORDER}
    for paper, made in found.items():
        if unknown := claim_remarks(paper).keys() - {claim.key for module in made for claim in module.CLAIMS}:
            raise ValueError(f"A remark of {paper}/remarks.toml needs a claim, got {min(unknown)}; rename it.")
    return tuple(module for made in found.values() for module in made)


def _module(paper: str, name: str) -> ModuleType:
    return import_module(f"lastiterate.symbolic.{paper}.{name}")


def naming(*keys: str) -> tuple[Claim, ...]:
    """The claims of the modules whose text contains one of the keys; only these modules are imported."""
    return tuple(claim for paper, name in places(*keys) for claim in _module(paper, name).CLAIMS)


def places(*keys: str) -> tuple[tuple[str, str], ...]:
    """Paper and name of each module whose text contains one of the keys."""
    return tuple(place for place, text in _texts().items() if any(f'"{key}"' in text for key in keys))


@cache
def _texts() -> Mapping[tuple[str, str], str]:
    folder = Path(__file__).parent
    places = ((paper, name) for paper in ORDER for name in ORDER[paper])
    return {
        (paper, name): (folder / paper / f"{name}.py").read_text(encoding="utf-8") for paper, name in places
    }


OWN: Final[dict[str, Claim]] = {}
"""Claims, by key, from folders that the user loaded; derivations in these folders can rely on the claims."""


def known(key: str) -> Claim | None:
    """The claim with this key, from the ledger or a folder that was loaded."""
    paper = key.partition("/")[0]
    found = {claim.key: claim for claim in naming(key)} if paper in ORDER else {}
    if paper in ORDER and key not in found:  # the module composes the key
        found = {claim.key: claim for claim in claims(paper)}
    return OWN.get(key) or found.get(key)


def claims(*papers: str) -> tuple[Claim, ...]:
    """The claims of the papers, or of all papers."""
    return tuple(claim for module in modules(*papers) for claim in module.CLAIMS)
