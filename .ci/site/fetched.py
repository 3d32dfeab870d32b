"""What a page of a built site would fetch from another site."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

_FETCHING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "link": "href",
}
_NOT_FETCHED = ("canonical", "next", "prev", "license")


class _Fetches(HTMLParser):
    """Collects the addresses that a browser fetches to show the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(_FETCHING.get(tag, "")) or ""
        if values.get("rel") in _NOT_FETCHED:
            return
        if address.startswith(("http:", "https:", "//")):
            self.found.append(address)
        if "mermaid" in (values.get("class") or "").split():
            self.found.append("mermaid, which the theme fetches for a drawing")


def fetched_from_elsewhere(site: Path) -> list[str]:
    """Each page with an address that it fetches, as a line; [] if there is none."""
    problems = []
    for page in sorted(site.rglob("*.html")):
        parser = _Fetches()
        parser.feed(page.read_text(encoding="utf-8"))
        problems += [f"{page.relative_to(site)}: fetches {address}" for address in parser.found]
    for sheet in sorted(site.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            problems.append(f"{sheet.relative_to(site)}: fetches from another site")
    return problems
