"""The site: builds without a warning, loads nothing from elsewhere, every link leads somewhere, nothing is left out."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from schemas import schemas
from shared import made_once

import lastiterate
from lastiterate import opacus
from lastiterate.__main__ import cli
from lastiterate.numeric.published.theorems import THEOREMS
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

pytest.importorskip("zensical", reason="zensical is not installed; it is in the docs extra")
ROOT = Path(__file__).parents[2]
_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
_KNOWN_IN_THEME = (
    "https://unpkg.com/mermaid@12/dist/mermaid.min.js",
    "https://unpkg.com/resize-observer-polyfill",
    "https://unpkg.com/glightbox@3/dist/js/glightbox.min.js",
    "https://unpkg.com/glightbox@3/dist/css/glightbox.min.css",
    "https://unpkg.com/pyodide@314.0.2/pyodide.js",
    "https://unpkg.com/ace-builds@1.44.0/src-noconflict/ace.js",
    "https://cdn.jsdelivr.net/pyodide/v314.0.2/full/",
)
"""What the theme's script loads for diagrams, galleries and editors, of which there are none, and in browsers from
before the year 2020."""


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

    def build(folder: Path) -> None:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "docs/generate", str(folder)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COARSE_PICTURES": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout + done.stderr == ""

    return made_once(tmp_path_factory, "site", build)


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
        assert not [
            host for host in ("unpkg.com", "googleapis.com", "jsdelivr.net", "cloudflare.com") if host in text
        ]


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
        assert not re.findall(r"<(mtext|mi)>\\", path.read_text(encoding="utf-8")), (
            "a command that nobody translated"
        )


def test_nothing_is_left_out(site: Path, pages: dict[Path, Page]) -> None:
    def text(name: str) -> str:
        return "".join(pages[site / name / "index.html"].text)

    verdicts, commands, trust = map(text, ("verdicts", "reference/command_line", "trust"))
    assert len(CLAIMS) > 400
    assert all(claim.key in pages[site / "verdicts/index.html"].places for claim in CLAIMS)
    faulty = [
        claim for claim in CLAIMS if read_lock()[claim.key].verdict not in ("PROVED", "SUPPORTED", "CITED")
    ]
    assert all(claim.remark in verdicts for claim in faulty)
    places = [
        place for path, page in pages.items() if path.parent.parent.name == "reference" for place in page.places
    ]
    described = Counter(places)
    assert all(described[f"{home}.{name}"] == 1 for name, home in lastiterate._HOME.items())
    assert all(
        described[f"{thing.__module__}.{thing.__name__}"] == 1
        for thing in map(opacus.__dict__.get, opacus.__all__)
    )
    assert all(f"lastiterate {name}" in commands for name in cli.list_commands(None))  # type: ignore[arg-type]
    assert "\\b" not in commands, "a paragraph that should keep its lines"
    assert all(theorem.title in trust for theorem in THEOREMS.values())


def test_every_output_of_a_command_has_a_schema_with_the_version(site: Path, pages: dict[Path, Page]) -> None:
    folder = site / "reference/schemas"
    for name, schema in schemas().items():
        written = json.loads((folder / f"{name}.json").read_text())
        assert written == schema
        assert written["$id"] == f"urn:lastiterate:{version('lastiterate')}:{name}"
    assert "bound, calibrate, check" in "".join(pages[site / "reference/command_line/index.html"].text)


def test_every_block_of_code_is_one(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert "```" not in "".join(page.text), path
        if path.parent.parent.name == "reference":
            assert "<blockquote" not in path.read_text(encoding="utf-8"), (
                f"{path}: an example read as a quotation"
            )


def test_pictures_are_drawn(site: Path) -> None:
    drawn = sorted((site / "pictures").glob("*.svg"))
    assert len(drawn) == 4
    assert all(picture.with_suffix(".csv").exists() for picture in drawn)
    shown = "".join(
        (site / page / "index.html").read_text(encoding="utf-8") for page in ("mathematics", "train")
    )
    assert all(f"pictures/{picture.name}" in shown for picture in drawn)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site on this machine, for the length of a test."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("every", [18, pytest.param(1, marks=pytest.mark.nightly)])
def test_in_a_browser_nothing_is_asked_of_others_and_a_phone_is_wide_enough(
    every: int, site: Path, address: str
) -> None:
    """On every page by night; by day on the verdicts and on some pages of each kind."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed; it is in the dev extra"
    )
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("chromium and chromedriver are not installed: apt install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        still = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
        # else a width is asked for on the way to it
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", still)
        for path in (site / "verdicts" / "index.html", *sorted(site.rglob("index.html"))[::every]):
            browser.get(address + path.relative_to(site).as_posix())
            for width in (1280, 390):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 390}
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                # A page that is wider than a phone makes the phone's window as wide.
                wide = browser.execute_script(
                    "return Math.max(document.documentElement.scrollWidth, innerWidth)"
                )
                assert wide <= width, path
        sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        asked = [
            one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"
        ]
        assert len(asked) > 20
        assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
        assert browser.get_log("browser") == []
    finally:
        browser.quit()
