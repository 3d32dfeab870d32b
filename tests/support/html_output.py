"""Reads the HTML of a notebook's output strictly: start at `read_html`.

Elements must be closed in order; scripts, event handlers, links and anything else that could fetch
or run are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

ELEMENTS = {"style", "div", "span", "table", "tr", "th", "td", "details", "summary", "pre"}
ATTRIBUTES = {"class", "title", "open"}


@dataclass
class Read:
    """What a reader of the page finds."""

    texts: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    deepest: int = 0

    @property
    def text(self) -> str:
        """All texts, in order."""
        return "".join(self.texts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.read = Read()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, f"<{tag}>"
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            if name == "title":
                self.read.titles.append(value or "")
        self.open.append(tag)
        self.read.deepest = max(self.read.deepest, len(self.open))
        if tag == "td":
            self.read.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> with nothing open"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            assert "url" not in data
            assert "@import" not in data
            return
        self.read.texts.append(data)
        if "td" in self.open:
            self.read.cells[-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def read_html(html: str) -> Read:
    """The texts, titles and cells of an output."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.read
