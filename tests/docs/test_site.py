"""The site: builds without a warning, loads nothing from elsewhere, every link leads somewhere, nothing is left out."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import lastiterate
from lastiterate.__main__ import cli
from lastiterate.numeric.printed.catalogue import THEOREMS
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.symbolic.ledger import CLAIMS

pytest.importorskip("mkdocs", reason="mkdocs is not installed; it is in the docs extra")
ROOT = Path(__file__).parents[2]
_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
_KNOWN_IN_THEME = ("https://unpkg.com/mermaid@11/dist/mermaid.min.js", "https://unpkg.com/resize-observer-polyfill")
"""What the theme's script loads for diagrams, of which there are none, and in browsers from before the year 2020."""


class Page(HTMLParser):
    """What a page loads, where it leads, and the places in it that others may lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.text: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        address = given.get(_LOADS.get(tag, "")) or ""
        if address and not (tag == "link" and given.get("rel") in ("canonical", "next", "prev")):
            self.loads.append(address)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert not [address for address in page.loads if urlsplit(address).netloc], path
    for path in (*site.rglob("*.css"), *site.rglob("*.js"), *site.rglob("*.svg")):
        text = path.read_text(encoding="utf-8")
        for known in _KNOWN_IN_THEME:
            text = text.replace(known, "")
        assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//|@import\s+[\"'](?:https?:)?//", text), path
        assert not re.findall(r"[\"'`](?:https?:)?//[^\"'`]*\.(?:m?js|css|woff2?)\b", text), path
        assert not [host for host in ("unpkg.com", "googleapis.com", "jsdelivr.net", "cloudflare.com") if host in text]


def test_every_link_leads_to_a_place_that_is_there(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.relative_to(site)}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{path.relative_to(site)}: {link}"


def test_formulas_are_formulas(site: Path, pages: dict[Path, Page]) -> None:
    for name in ("mathematics", "conventions"):
        path = site / name / "index.html"
        assert path.read_text(encoding="utf-8").count("<math") > 20
        assert "$" not in "".join(pages[path].text)
        assert not re.findall(r"<(mtext|mi)>\\", path.read_text(encoding="utf-8")), "a command that nobody translated"


def test_nothing_is_left_out(site: Path, pages: dict[Path, Page]) -> None:
    def text(name: str) -> str:
        return "".join(pages[site / name / "index.html"].text)

    verdicts, commands, trust = map(text, ("verdicts", "reference/command_line", "trust"))
    assert len(CLAIMS) > 500
    assert all(claim.key in pages[site / "verdicts/index.html"].places for claim in CLAIMS)
    faulty = [claim for claim in CLAIMS if read_lock()[claim.key].verdict != "HOLDS"]
    assert all(claim.remark in verdicts for claim in faulty)
    homes = pages[site / "reference/python/index.html"].places
    assert all(any(place.endswith(f".{name}") for place in homes) for name in lastiterate.__all__)
    assert all(f"lastiterate {name}" in commands for name in cli.list_commands(None))  # type: ignore[arg-type]
    assert "\\b" not in commands, "a paragraph that should keep its lines"
    assert all(theorem.title in trust for theorem in THEOREMS.values())


def test_pictures_are_drawn(site: Path) -> None:
    drawn = sorted((site / "pictures").glob("*.svg"))
    assert len(drawn) == 2
    assert all(picture.with_suffix(".csv").exists() for picture in drawn)
    page = (site / "mathematics/index.html").read_text(encoding="utf-8")
    assert all(f"pictures/{picture.name}" in page for picture in drawn)
