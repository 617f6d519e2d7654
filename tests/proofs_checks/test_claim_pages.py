"""The page of every refuted claim in headless Chromium: nothing is cut, and the first screen says what matters."""

import shutil
from pathlib import Path

import pytest
from sympy import Rational

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.refutations import ends, round_numbers
from lastiterate.proofs_checks.report.pages import _DATA, HOME, PaperForm, address, claim_page, entries
from lastiterate.proofs_checks.runner import run
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.statement import letters

LOCKED = read_lock()
REFUTED = [claim for claim in ledger.claims() if LOCKED[claim.key].verdict is Verdict.REFUTED]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

SCREENS = [(1280, 900, "screen"), (768, 1024, "screen"), (390, 844, "screen"), (700, 1000, "print")]
"""Width, height and medium; the last one is the text of an A4 page."""

CUT = """
const cut = [], folded = "details:not([open]) *:not(summary, summary *)";
for (const element of document.querySelectorAll("body *")) {
  if (!element.getClientRects().length || element.matches(`.skip, ${folded}`)) continue;
  const box = element.getBoundingClientRect(), inline = getComputedStyle(element).display === "inline";
  let wide = box.right > innerWidth + 0.5 || box.left < -0.5;
  if (element instanceof HTMLElement && !inline) wide ||= element.scrollWidth > element.clientWidth + 1;
  if (element.localName === "math")
    wide ||= box.right > element.parentElement.closest("p, li, dd, dt, div").getBoundingClientRect().right + 1;
  if (wide) cut.push(`${element.localName}.${element.className} ${element.textContent.slice(0, 40)}`);
}
return cut;
"""


def test_what_is_printed_belongs_to_refuted_claims_and_is_in_their_letters() -> None:
    """Every stored statement belongs to a refuted claim, and no two letters of a run become one."""
    assert set(_DATA["claims"]) == {claim.key for claim in REFUTED}
    for claim in REFUTED:
        told = claim.refutation
        assert told is not None
        shown = letters((tuple(told.at), told.fails, told.quantity, told.claimed, told.true))
        printed = PaperForm(claim, told)
        assert len({str(printed.letter(one)) for one in shown}) == len(shown), claim.key
        assert printed.says is not None
        assert "$" not in printed.says
        assert {one for one, _ in printed.meanings} >= {printed.letter(one) for one in told.at}, claim.key


@pytest.mark.parametrize("claim", REFUTED, ids=lambda claim: claim.key)
def test_the_run_is_a_point_of_the_picture_and_refutes_there(claim: Claim) -> None:
    told = claim.refutation
    assert told is not None
    printed = PaperForm(claim, told)
    (found,) = [(claimed, true) for _, claimed, true, here in printed.points if here]
    assert found == tuple(map(float, ends(told, told.at)))
    claimed, true = found
    assert claimed > true if told.sign == ">=" else claimed <= true
    both = round_numbers(told)
    assert (float(both.claimed), float(both.true)) == pytest.approx(found, rel=1e-3)
    places = [Rational(place) for place in _DATA["claims"][claim.key]["at"]]
    assert places == sorted(set(places))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for entry in entries(REFUTED, run(REFUTED, jobs=1, cache=ReportCache())):
        made[entry.claim.key] = folder / address(entry.claim.key)
        made[entry.claim.key].write_text(claim_page(entry, HOME, "page"), encoding="utf-8")
    return made


@pytest.mark.parametrize(("width", "height", "medium"), SCREENS)
def test_nothing_is_cut_and_the_first_screen_says_what_matters(
    pages: dict[str, Path], width: int, height: int, medium: str
) -> None:
    """Statement, failure, both numbers and the picture without scrolling, and no element wider than its box."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed; it is in the dev extra"
    )
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed: apt install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium})
        for key, path in pages.items():
            browser.get(path.as_uri())
            assert browser.execute_script(CUT) == [], key
            ends_at = browser.execute_script(
                "return ['.told', '.fails', '.numbers', '.sketch svg'].map("
                "(part) => document.querySelector(`.refutation ${part}`).getBoundingClientRect().bottom)"
            )
            assert max(ends_at) <= height, key
            assert (
                browser.execute_script("return document.querySelector('.told').clientWidth")
                > 0.9 * min(width, 960) - 20
            )
            browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
            assert browser.execute_script(CUT) == [], f"{key}, opened"
    finally:
        browser.quit()
