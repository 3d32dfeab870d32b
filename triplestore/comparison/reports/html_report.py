"""The report as a page of its own: start at `html_report`.

Everything that comes from data is escaped; the page loads nothing and has no scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from triplestore.comparison.findings import Consequence, Findings, FoundViolation
from triplestore.comparison.reports.wording import (
    beside,
    breakdown,
    caveats,
    headline,
    numbers_of,
    signed,
)

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
pre, code { font: 13px/1.45 ui-monospace, monospace; background: #f3f4f6; border-radius: 4px }
code { padding: .1em .3em } pre { padding: .6rem .8rem; overflow-x: auto }
details { border: 1px solid #d5d9de; border-radius: 6px; margin: .4rem 0; padding: .3rem .8rem }
summary { cursor: pointer } table { border-collapse: collapse } td { padding: .1rem .8rem .1rem 0 }
td + td { text-align: right; font-variant-numeric: tabular-nums }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #16181b }
  pre, code { background: #23262b } details { border-color: #3a3f46 } }
"""


def html_report(found: Findings) -> str:
    """The report as one page of HTML."""
    body = "\n".join(_parts(found))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>What a change infers</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _parts(found: Findings) -> Iterator[str]:
    yield "<h1>What this change infers</h1>"
    yield f"<p><strong>{escape(headline(found))}</strong></p>"
    yield f"<p><code>{escape(found.old)}</code> → <code>{escape(found.new)}</code></p>"
    rows = (f"<tr><td>{escape(n)}</td><td>{c:,}</td></tr>" for n, c in found.metrics.items() if c)
    yield f"<table>{''.join(rows)}</table>"
    for came, title in ((True, "New violations"), (False, "Resolved violations")):
        chosen = [one for one in found.violations if one.came == came]
        if chosen:
            yield f"<h2>{title}</h2>"
            yield from map(_violation, chosen)
    if found.consequences:
        yield "<h2>Inferences by cause</h2>"
        yield from map(_consequence, found.consequences)
    if found.shapes:
        items = (f"<li>{'+' if came else '-'} {escape(text)}</li>" for came, text in found.shapes)
        yield f"<h2>Shapes</h2><ul>{''.join(items)}</ul>"
    if found.asserted:
        lines = "\n".join(signed(one) for one in found.asserted)
        number = found.metrics.get("added", 0) + found.metrics.get("removed", 0)
        yield f"<details><summary>Asserted changes: {number:,}</summary>"
        yield f"<pre>{escape(lines)}</pre></details>"
    yield from (f"<p>{escape(note)}</p>" for note in caveats(found))


def _consequence(one: Consequence) -> str:
    place = f"<code>{escape(one.cause.place)}</code> " if one.cause.place else ""
    made = f"<details><summary><b>{numbers_of(one)}</b> by {place}"
    made += f"<code>{escape(signed(one.cause))}</code></summary>"
    if beside(one):
        made += f"<p>{escape(beside(one).capitalize())}.</p>"
    for counts in (one.classes, one.properties):
        if counts:
            made += f"<p>{escape(breakdown(counts))}</p>"
    for example in one.examples:
        made += f"<pre>{escape(example.proof or example.fact)}</pre>"
    return f"{made}</details>"


def _violation(one: FoundViolation) -> str:
    causes = "".join(
        f"<li><code>{escape(signed(cause))}</code> {escape(cause.place)}</li>"
        for cause in one.causes
    )
    made = f"<details><summary><code>{escape(str(one))}</code></summary>"
    made += f"<ul>{causes}</ul>" if causes else ""
    return f"{made}<pre>{escape(one.proof)}</pre></details>"
