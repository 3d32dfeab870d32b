"""The page in a real browser: what tests need to open, look at and check it.

The browser is the system's Chromium; nothing is downloaded. `absent()` says what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BUNDLE = REPOSITORY / "triplestore" / "server" / "page" / "bundle"
SHOTS = REPOSITORY / "build" / "screenshots"
AXE = REPOSITORY / "ui" / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# The rules of WCAG 2.2 at levels A and AA, and what axe counts as good practice.
AXE_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.map((each) => ({
    rule: each.id, help: each.help,
    where: each.nodes.map((node) => node.target.flat().join(" ") + ": " + node.failureSummary),
  }));
}"""


def chromium() -> str | None:
    """The system's browser."""
    named = os.environ.get("TRIPLESTORE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


def build() -> None:
    """Build the page unless it is built from the same sources; without Node nothing happens."""
    subprocess.run([REPOSITORY / ".ci" / "ui"], check=True)


def absent() -> str | None:
    """What is missing for these tests, in one line."""
    if chromium() is None:
        return "no Chromium (Debian: apt-get install chromium-headless-shell)"
    if not (BUNDLE / "index.html").is_file():
        return "the page is not built (`make ui` needs Node 20.19 or later)"
    return None


@dataclass
class Visitor:
    """A person with the page open; `close` fails if the browser complained."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(10_000)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def _hear(self, message: Any) -> None:
        # Answers with an error status are said by the browser, and are looked at by the tests.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(f"{message.type}: {message.text}")

    def open(self, place: str = "query", **parameters: str) -> None:
        """Go to a place such as `resource`, with parameters."""
        text = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.base}/#/{place}{text}")
        self.page.locator("main h1").first.wait_for(state="attached")

    def ask(self, query: str) -> None:
        """Open a query in a tab of its own and run it."""
        self.page.goto("about:blank")  # an earlier answer would stand for the new one
        self.open("query", query=query, run="1")
        self.page.locator(".cm-content").wait_for()
        self.result.wait_for()

    @property
    def result(self) -> Locator:
        """The line above an answer, or an error."""
        return self.page.locator(".results .summary:not(.stale), .results [role=alert]").first

    def cells(self, column: int) -> Locator:
        """A column of the table of results, as far as drawn."""
        return self.page.locator(f".results tbody tr:not(.room) td:nth-child({column + 1})")

    def write(self, text: str) -> None:
        """Replace the text in the editor."""
        self.page.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def type(self, text: str) -> None:
        """Type at the end of the query."""
        self.page.locator(".cm-content").click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text)

    def repeat(self, act: Callable[[], object], sought: Locator, seconds: float = 20) -> None:
        """Do something again until something else is there, for what is loaded in steps."""
        end = time.monotonic() + seconds
        while not sought.count():
            assert time.monotonic() < end, f"never there: {sought}"
            act()
            self.page.wait_for_timeout(30)

    def fits(self) -> bool:
        """Whether nothing is wider than the screen."""
        size = self.page.viewport_size
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return size is not None and width <= size["width"]

    def shot(self, name: str) -> None:
        """Keep a picture of the page under build/screenshots."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def accessibility(self) -> list[dict[str, Any]]:
        """What axe finds on the page as it is now."""
        if not self.page.evaluate("typeof axe !== 'undefined'"):
            self.page.evaluate(AXE.read_text())
        found: list[dict[str, Any]] = self.page.evaluate(AXE_RUN)
        return found


Visit = Callable[..., Visitor]
"""The fixture `visit`."""


@contextmanager
def visiting(browser: Browser, base: str, **context: Any) -> Iterator[Visitor]:
    """A visitor with a fresh browser profile; its complaints fail the test."""
    context.setdefault("viewport", {"width": 1280, "height": 800})
    made = browser.new_context(**context)
    visitor = Visitor(made.new_page(), base)
    try:
        yield visitor
        assert not visitor.complaints, visitor.complaints
    finally:
        made.close()
