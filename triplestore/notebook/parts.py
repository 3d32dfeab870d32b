"""The parts of an output: tables, figures, folding trees, and the frame around them.

Start at `output`. Arguments called `text` are plain and are escaped here; those called `html` are
parts that were made by this package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from html import escape as _escape

from triplestore.data_classes import data_class

MAX_LINES = 200
"""Maximum number of lines of a text that is shown as it is."""

MAX_TITLE = 2000
"""Maximum number of characters of a text that shows on hover."""

# Class names are our own, so that nothing else on the page changes. Colours are those of the page.
# Selectors of tables repeat the class, to go before those of Jupyter, which align to the right.
_STYLE = """<style>
.triplestore { font-size: 13px; line-height: 1.45; }
.triplestore table { border-collapse: collapse; margin: 4px 0; font-size: inherit; }
.triplestore.triplestore table th, .triplestore.triplestore table td {
  padding: 2px 12px 2px 6px; border: 0; vertical-align: top;
  text-align: left; border-bottom: 1px solid rgba(128, 128, 128, .25);
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.triplestore.triplestore table th { font-weight: 600; white-space: nowrap; }
.triplestore.triplestore table td.number { text-align: right; }
.triplestore .title { font-weight: 600; }
.triplestore .note { opacity: .65; }
.triplestore details { margin-top: 2px; }
.triplestore .bad { color: #c62828; }
.triplestore [title] { text-decoration: underline dotted rgba(128, 128, 128, .7);
  text-underline-offset: 3px; }
.triplestore details > details, .triplestore details > .leaf { margin-left: 18px; }
.triplestore span { unicode-bidi: isolate; }
.triplestore .leaf { padding-left: 16px; }
.triplestore summary { cursor: pointer; }
.triplestore .tree, .triplestore pre { font-size: inherit; margin: 2px 0; white-space: pre-wrap;
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.triplestore .tree { white-space: normal; }
</style>"""


def output(*html: str) -> str:
    """One output of a cell.

    >>> print(output(line("a < b")).partition("</style>")[2])
    <div class="triplestore"><div>a &lt; b</div></div>
    """
    return f'{_STYLE}<div class="triplestore">{"".join(html)}</div>'


def escape(text: object) -> str:
    """A text so that it means itself, in an element or in the value of an attribute.

    >>> escape('<script>"')
    '&lt;script&gt;&quot;'
    """
    return _escape(str(text).replace("\0", "\ufffd"), quote=True)


def line(text: object, kind: str = "") -> str:
    """A line of text; `kind` is "title", "note", "bad" or nothing."""
    return f"<div{_class(kind)}>{escape(text)}</div>"


def span(text: str, whole: str = "", kind: str = "") -> str:
    """A piece of text; hovering shows `whole`, if it says more.

    >>> span(":ada", "http://ex.org/ada")
    '<span title="http://ex.org/ada">:ada</span>'
    """
    title = ""
    if whole and whole != text:
        cut = whole if len(whole) <= MAX_TITLE else whole[: MAX_TITLE - 1] + "…"
        title = f' title="{escape(cut)}"'
    return f"<span{_class(kind)}{title}>{escape(text)}</span>"


def _class(kind: str) -> str:
    return f' class="{escape(kind)}"' if kind else ""


def preformatted(text: str) -> str:
    """The first lines of a text, with their spaces.

    >>> preformatted("a\\n  b")
    '<pre>a\\n  b</pre>'
    """
    lines = text.splitlines()
    left = len(lines) - MAX_LINES
    if left <= 0:
        return f"<pre>{escape(text)}</pre>"
    shown = "\n".join(lines[:MAX_LINES])
    return f"<pre>{escape(shown)}</pre>{line(f'and {left:,} more lines', 'note')}"


def cell(html: str, number: bool = False) -> str:
    """A cell of a table; numbers are aligned to the right."""
    return f'<td class="number">{html}</td>' if number else f"<td>{html}</td>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of the texts of its head (which may be empty) and of `cell`s.

    >>> table(["?x"], [[cell("1", number=True)]])
    '<table><tr><th>?x</th></tr><tr><td class="number">1</td></tr></table>'
    """
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if heads else ''}{body}</table>"


def figures(rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and values, both as text."""
    made = ((f"<th>{escape(name.strip())}</th>", cell(escape(value))) for name, value in rows)
    return table([], made)


def showing(shown: int, total: int, what: str, more: bool = False) -> str:
    """How much of something is shown; `more` if there is more than the total that was counted.

    >>> showing(20, 12345, "solution"), showing(1, 1, "solution")
    ('<div class="note">showing 20 of 12,345 solutions</div>', '<div class="note">1 solution</div>')
    """
    many = f"{'more than ' if more else ''}{total:,} {what}{'' if total == 1 else 's'}"
    return line(many if shown >= total else f"showing {shown:,} of {many}", "note")


def folded(text: str, *html: str, unfolded: bool = False) -> str:
    """Something under a heading that a click unfolds."""
    opened = " open" if unfolded else ""
    return f"<details{opened}><summary>{escape(text)}</summary>{''.join(html)}</details>"


@data_class(frozen=False)
class Node:
    """A node of a tree: its own line, further lines, and what hangs on it."""

    html: str
    more: Sequence[str] = ()
    """Further lines, as text."""
    below: list[Node] = field(default_factory=list)


def tree(root: Node, unfolded: int = 3) -> str:
    """A tree that folds; at first, `unfolded` levels of it are open.

    Made without recursion, but a browser gives up on elements nested more than 500 deep: trees are
    cut before (see `proofs/proof_html.py`).
    """
    return f'<div class="tree">{"".join(_pieces(root, unfolded))}</div>'


def _pieces(root: Node, unfolded: int) -> Iterator[str]:
    stack: list[tuple[Node | str, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, str):
            yield node
        elif not node.below and not node.more:
            yield f'<div class="leaf">{node.html}</div>'
        else:
            opened = " open" if depth < unfolded else ""
            yield f"<details{opened}><summary>{node.html}</summary>"
            yield from (f'<div class="leaf note">{escape(text)}</div>' for text in node.more)
            stack.append(("</details>", depth))
            stack.extend((child, depth + 1) for child in reversed(node.below))
