"""What MkDocs calls while it builds the site: formulas become MathML, and generated pages join the written ones."""

import re
from pathlib import Path

from mathematics import Formulas
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebooks import notebook_pages
from papers import papers_table
from pictures import pictures
from reference import claim_page, command_help, python_page
from verdicts import printed_table, used_table, verdict_page

from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_KEYS = {claim.key for claim in CLAIMS}
_TABLES = {"commands": command_help, "papers": papers_table, "printed": printed_table, "used": used_table}
ROOT = Path(__file__).parents[2]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Teach Markdown to read formulas."""
    config.markdown_extensions.append(Formulas())  # Markdown takes an instance as well as a name
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated."""
    made: dict[str, str | bytes] = {
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "verdicts.md": verdict_page(),
        "reference/python.md": python_page(),
        "reference/claims.md": claim_page(),
        **notebook_pages(),
        **pictures(coarse=config.extra["coarse_pictures"]),
    }
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Put generated tables where a page asks, ``<!-- table: NAME -->``, and lead from keys of claims to verdicts."""
    if page.file.src_uri == "verdicts.md":
        return markdown
    up = "../" * page.file.src_uri.count("/")
    text_and_code = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    text_and_code[::2] = (
        re.sub(r"`([\w/]+)`", lambda found: _linked(found[1], up), text) for text in text_and_code[::2]
    )
    plain_fences = re.sub(r"^```(\w+) \w+$", r"```\1", "".join(text_and_code), flags=re.MULTILINE)
    return re.sub(r"<!-- table: (\w+) -->", lambda found: _TABLES[found[1]](), plain_fences)


def _linked(words: str, up: str) -> str:
    return f"[`{words}`]({up}verdicts.md#{words})" if words in _KEYS else f"`{words}`"
