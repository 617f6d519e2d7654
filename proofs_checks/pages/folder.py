"""The report as a folder: the page of all claims, a mapping page for each paper, and what other programs read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.files import write_whole
from lastiterate.proofs_checks.dominance import dominance
from lastiterate.proofs_checks.pages.entries import entries
from lastiterate.proofs_checks.pages.markdown import as_markdown
from lastiterate.proofs_checks.pages.page import ledger_page, mapping_page
from lastiterate.proofs_checks.report import as_json, as_junit
from lastiterate.proofs_checks.verdict import ClaimReport
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.items import Item, items
from lastiterate.symbolic.papers import PAPERS

__all__ = ["HOME", "files", "write_folder"]

HOME: Final = "index.html"


def files(claims: Sequence[Claim], reports: Sequence[ClaimReport], drifts: Sequence[str]) -> dict[str, str]:
    """The report's files by name; nothing is written.

    Args:
        claims: the claims, in the order of the ledger.
        reports: their reports, in the same order.
        drifts: sentences about verdicts that are not those of the lock file.
    """
    shown = entries(claims, reports)
    listed: dict[str, tuple[Item, ...]] = {}
    for paper in dict.fromkeys(entry.paper for entry in shown):
        found = items(paper) if paper in PAPERS else None
        if found:
            listed[paper] = found
    mapped = {paper: f"{paper}.html" for paper in listed}
    return {
        HOME: ledger_page(shown, drifts, mapped, dominance()),
        **{mapped[paper]: mapping_page(paper, found, shown, HOME) for paper, found in listed.items()},
        "ledger.md": as_markdown(shown),
        "ledger.json": as_json(reports, drifts) + "\n",
        "junit.xml": as_junit(reports, drifts) + "\n",
    }


def write_folder(folder: Path, contents: dict[str, str]) -> tuple[Path, ...]:
    """Write each file whole; the folder is made where it is not there.

    Raises:
        InputError: the folder is a file, or cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_whole(folder / name, text.encode())
    except OSError as error:
        raise InputError(
            f"The report needs a folder that can be written, got out={folder} ({error.strerror}); name another."
        ) from None
    return tuple(folder / name for name in contents)
