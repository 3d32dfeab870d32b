"""The report for a pull request: start at `markdown_report`.

Always true: it has at most `COMPARISON.markdown_characters` characters, and every folded part that
it opens is closed; what does not fit is left out at the end, where the smallest causes are.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from triplestore.comparison.findings import Cause, Consequence, Findings, FoundViolation
from triplestore.comparison.reports.wording import (
    beside,
    breakdown,
    caveats,
    headline,
    numbers_of,
)
from triplestore.comparison.thresholds import COMPARISON

_LONGEST = 300
"""Maximum number of characters of one fact."""

_PROOF = 3000


def markdown_report(found: Findings) -> str:
    """The report in Markdown as GitHub and GitLab show it."""
    parts = list(_parts(found))
    room = COMPARISON.markdown_characters
    kept: list[str] = []
    last = "\n_The report is cut here; the JSON report has all of it._\n"
    for at, part in enumerate(parts):
        if len(part) > room - len(last):
            kept.append(last)
            break
        kept.append(part)
        room -= len(part)
        if at == len(parts) - 1:
            break
    return "".join(kept)


def _parts(found: Findings) -> Iterator[str]:
    yield f"### What this change infers\n\n{_text(headline(found))}\n"
    yield f"\n`{_code(found.old)}` → `{_code(found.new)}`\n"
    for came, title in ((True, "New violations"), (False, "Resolved violations")):
        chosen = [one for one in found.violations if one.came == came]
        if chosen:
            number = found.metrics.get("violations" if came else "resolved", len(chosen))
            yield f"\n#### {title}: {number:,}\n\n"
            yield from map(_violation, chosen[:20])
            if number > 20:
                yield f"\n… and {number - 20:,} more\n"
    if found.consequences:
        yield "\n#### Inferences by cause\n\n"
        yield from map(_consequence, found.consequences)
    if found.shapes:
        yield "\n#### Shapes\n\n"
        yield from (f"- {'new' if came else 'resolved'}: {_text(t)}\n" for came, t in found.shapes)
    if found.asserted:
        lines = "".join(f"{_sign(one)} {_cut(one.text)}\n" for one in found.asserted)
        number = found.metrics.get("added", 0) + found.metrics.get("removed", 0)
        more = number - len(found.asserted)
        lines += f"… and {more:,} more\n" if more > 0 else ""
        yield _folded(f"Asserted changes: {number:,}", _fenced(lines, "diff"))
    notes = caveats(found)
    if notes:
        yield "\n" + "".join(f"- {_text(note)}\n" for note in notes)


def _consequence(one: Consequence) -> str:
    place = f"<code>{escape(one.cause.place)}</code> " if one.cause.place else ""
    change = "added" if one.cause.came else "removed"
    title = f"<b>{numbers_of(one)}</b> by {place}{change} <code>{_html(one.cause.text)}</code>"
    body = ""
    if beside(one):
        body += f"{_text(beside(one).capitalize())}.\n\n"
    for name, counts in (("By class", one.classes), ("By property", one.properties)):
        if counts:
            body += f"{name}: {_text(breakdown(counts))}\n\n"
    for example in one.examples[:2]:
        body += _fenced((example.proof or example.fact)[:_PROOF])
    return _folded(title, body)


def _violation(one: FoundViolation) -> str:
    causes = ", ".join(
        f"<code>{escape(cause.place or cause.text[:_LONGEST])}</code>" for cause in one.causes[:3]
    )
    by = f" by {causes}" if causes else ""
    return _folded(f"<code>{_html(str(one))}</code>{by}", _fenced(one.proof[:_PROOF]))


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"


def _sign(cause: Cause) -> str:
    return "+" if cause.came else "-"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _html(text: str) -> str:
    return escape(_cut(text))


_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~@"})


def _text(text: str) -> str:
    return _cut(text).translate(_SPECIAL)


def _code(text: str) -> str:
    return _cut(text).replace("`", "'")
