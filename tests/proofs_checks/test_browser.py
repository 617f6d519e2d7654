"""The page in headless Chromium: filter, search, permalink, keyboard, phone, print, and nothing from the network."""

import base64
import json
import re
import shutil

import pytest

from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.report.pages import entries, ledger_page
from lastiterate.proofs_checks.runner import run
from lastiterate.symbolic import ledger

selenium = pytest.importorskip("selenium", reason="selenium is not installed; it is in the dev extra")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CLAIMS = ledger.claims()

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not installed: apt install chromium-driver"
)

PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
WRONG, REPAIR = "chien_li/remarks_3_1/strict_every_t", "chien_li/remarks_3_1/strict_with_window"


@pytest.fixture(scope="module")
def shown():
    """A part of the ledger: some claims of each paper, and a refuted one with its repair."""
    chosen = [claim for k, claim in enumerate(CLAIMS) if k % 24 == 0 or claim.key in (WRONG, REPAIR)]
    return entries(chosen, run(chosen, jobs=1, cache=ReportCache()))


@pytest.fixture(scope="module")
def address(shown, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(ledger_page(shown), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def session():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(session, address):
    session.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    session.get("about:blank")
    session.get(address)
    WebDriverWait(session, 60, 0.05).until(
        lambda driver: driver.execute_script("return document.readyState") == "complete"
    )
    return session


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_first_screen_of_a_refuted_claim(page, address, width, height):
    """Statement, failure, both numbers and the picture, without scrolling in either direction."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.get(f"{address}#{WRONG}")
    claim = page.find_element(By.ID, WRONG)
    WebDriverWait(page, 20, 0.05).until(lambda _: claim.get_attribute("open"))
    page.execute_script("arguments[0].scrollIntoView()", claim)
    for part in (".told .says", ".told", ".fails", ".numbers"):
        box = page.execute_script(
            "const r = arguments[0].getBoundingClientRect(); return [r.top, r.bottom, r.left, r.right, r.height]",
            claim.find_element(By.CSS_SELECTOR, part),
        )
        assert box[0] >= 0, part
        assert box[1] <= height, part
        assert box[2] >= 0, part
        assert box[3] <= width, part
        assert box[4] > 20, part
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def visible(page):
    return [
        claim.get_attribute("id")
        for claim in page.find_elements(By.CSS_SELECTOR, "details.claim:not([hidden])")
    ]


def choose(page, field, value):
    Select(page.find_element(By.ID, field)).select_by_value(value)


def focused(page, key):
    """Wait until the claim has the focus, which is the last thing that following a link does."""
    script = "return document.activeElement.parentElement.id"
    WebDriverWait(page, 10, 0.05).until(lambda driver: driver.execute_script(script) == key)


def test_all_is_shown_first(page, shown):
    assert visible(page) == [entry.claim.key for entry in shown]
    assert page.find_element(By.ID, "shown").text == f"{len(shown)} of {len(shown)} claims"


def test_filters(page, shown):
    choose(page, "verdict", "REFUTED")
    refuted = [entry.claim.key for entry in shown if entry.report.verdict == "REFUTED"]
    assert visible(page) == refuted
    choose(page, "paper", "chien_li")
    assert visible(page) == [key for key in refuted if key.startswith("chien_li/")]
    assert [section.get_attribute("data-paper") for section in page.find_elements(By.CSS_SELECTOR, "section.paper")
            if section.is_displayed()] == ["chien_li"]  # fmt: skip
    choose(page, "paper", "")
    choose(page, "verdict", "")
    engine = min(shown[0].engines)
    choose(page, "engine", engine)
    assert visible(page) == [entry.claim.key for entry in shown if engine in entry.engines]
    choose(page, "engine", "")
    choose(page, "grade", "certified")
    assert visible(page) == [entry.claim.key for entry in shown if entry.report.grade == "certified"]


def test_search_takes_every_word(page):
    box = page.find_element(By.ID, "search")
    box.send_keys("tracking prior bounds")
    assert WRONG in visible(page)
    box.send_keys(" nowhere-in-the-ledger")
    assert visible(page) == []
    assert page.find_element(By.ID, "shown").text.startswith("0 of ")
    page.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(visible(page)) > 10


def test_a_permalink_opens_one_claim(session, address):
    session.get("about:blank")
    session.get(f"{address}#{WRONG}")
    focused(session, WRONG)
    opened = session.find_elements(By.CSS_SELECTOR, "details.claim[open]")
    assert [claim.get_attribute("id") for claim in opened] == [WRONG]
    top = session.execute_script("return arguments[0].getBoundingClientRect().top", opened[0])
    assert 0 <= top < 200


def test_a_link_to_a_claim_that_is_filtered_out_shows_it(page):
    choose(page, "verdict", "REFUTED")
    page.execute_script("location.hash = arguments[0]", REPAIR)
    focused(page, REPAIR)
    assert REPAIR in visible(page)
    assert page.find_element(By.ID, "verdict").get_attribute("value") == ""
    assert page.find_element(By.CSS_SELECTOR, "details.claim[open]").get_attribute("id") == REPAIR


def test_the_keyboard_alone(page):
    page.find_element(By.ID, "search").send_keys("strict_every_t")
    (claim,) = [
        e
        for e in page.find_elements(By.CSS_SELECTOR, "details.claim")
        if e.get_attribute("id").endswith("strict_every_t")
    ]
    for _ in range(30):
        page.switch_to.active_element.send_keys(Keys.TAB)
        if page.switch_to.active_element.tag_name == "summary":
            break
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.find_element(By.XPATH, "..").get_attribute("open") is not None
    assert claim.is_displayed()


def test_formulas_are_laid_out(page):
    page.execute_script("document.getElementById(arguments[0]).open = true", WRONG)
    heights = page.execute_script(
        "return [...document.querySelectorAll('[open] mfrac')].map(e => e.getBoundingClientRect().height)"
    )
    assert heights
    assert min(heights) > 10


def test_a_phone_never_scrolls_sideways(page):
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    page.execute_script("document.getElementById('open').click()")
    assert page.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [360, 360]


def test_print_shows_what_is_open_and_no_controls(page):
    choose(page, "paper", "chien_li")
    page.execute_script("document.getElementById(arguments[0]).open = true", WRONG)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not page.find_element(By.ID, "filters").is_displayed()
        assert page.find_element(By.CSS_SELECTOR, "[open] .numbers").is_displayed()
        assert page.execute_script("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert 1 <= len(re.findall(rb"/Type /Page\b", pdf)) < 12


def test_colours_have_contrast_in_light_and_dark(page):
    script = """
      const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
        v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
      const light = (c) => { const [r, g, b] = parse(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const paper = light(getComputedStyle(document.body).backgroundColor);
      return [...document.querySelectorAll('.badge, .quiet, .key, a, h1')].map((e) => {
        const ink = light(getComputedStyle(e).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); });
    """
    for scheme in ("light", "dark"):
        page.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        ratios = page.execute_script(script)
        assert min(ratios) >= 4.5, scheme
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_no_request_leaves_the_file_and_the_console_is_silent(session, address):
    session.get("about:blank")
    session.get_log("performance")
    session.get_log("browser")
    session.get(address)
    session.execute_script("document.getElementById('open').click()")
    sent = [json.loads(entry["message"])["message"] for entry in session.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    assert address in urls
    assert {url for url in urls if not url.startswith(("file:", "data:", "about:"))} == set()
    assert session.get_log("browser") == []
