"""A headless Chromium for tests of pages, driven through its chromedriver."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

ARROW_RIGHT, END, ESCAPE = "\ue014", "\ue010", "\ue00c"
_SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


class Browser:
    """Opens pages by name and asks them questions in JavaScript."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(self, name: str, fragment: str = "") -> None:
        """Open a page anew: another address in between, since a changed fragment alone reloads nothing."""
        self.driver.get("about:blank")
        self.driver.get(f"{(self.folder / name).as_uri()}.html#{fragment}")
        self.until("document.documentElement.dataset.ready === 'true'")
        # Charts are drawn once the browser has laid the page out.
        self.until("[...document.querySelectorAll('.chart')].every((one) => one.childElementCount || !one.clientWidth)")

    def ask(self, expression: str, *values: Any) -> Any:
        return self.driver.execute_script(f"return {expression}", *values)

    def until(self, condition: str) -> None:
        start = time.monotonic()
        while not self.ask(condition):
            assert time.monotonic() - start < 10, f"never true: {condition}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        self.ask("document.querySelector(arguments[0]).click()", selector)

    def text(self, selector: str) -> str:
        return self.ask("document.querySelector(arguments[0]).innerText", selector)

    def texts(self, selector: str) -> list[str]:
        return self.ask("[...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def keys(self, *keys: str) -> None:
        self.actions().send_keys(*keys).perform()

    def actions(self) -> Any:
        from selenium.webdriver import ActionChains

        return ActionChains(self.driver, duration=10)

    def element(self, selector: str) -> Any:
        self.ask(
            "document.querySelector(arguments[0]).scrollIntoView({ block: 'center', behavior: 'instant' })", selector
        )
        return self.driver.find_element("css selector", selector)

    def complaints(self) -> list[str]:
        """Return what the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Start a browser on the pages of `folder`; without one skip, or fail where CI is set."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if program is None or driver_path is None:
        _missing("Chromium and chromedriver (Debian's packages chromium and chromium-driver)")
    if find_spec("selenium") is None:
        _missing("the package selenium (pip install 'rlvr[test]')")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (*_SWITCHES, "--window-size=1300,1000"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path))
    try:
        yield Browser(driver, folder)
    finally:
        driver.quit()


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must have {what}", pytrace=False)
    pytest.skip(f"needs {what}")
