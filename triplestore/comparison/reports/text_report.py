"""The report for a terminal: start at `text_report`."""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.comparison.findings import Consequence, Findings, FoundViolation
from triplestore.comparison.reports.wording import (
    beside,
    breakdown,
    caveats,
    headline,
    numbers_of,
    signed,
)

_VIOLATIONS = 10


def text_report(found: Findings) -> str:
    """The report as lines of text."""
    return "\n".join(_lines(found))


def _lines(found: Findings) -> Iterator[str]:
    yield headline(found)
    for one in found.consequences:
        yield ""
        yield from _consequence(one)
    for came, title in ((True, "new violations"), (False, "resolved violations")):
        chosen = [one for one in found.violations if one.came == came]
        if chosen:
            yield ""
            yield title
            yield from _violations(chosen)
    if found.shapes:
        yield ""
        yield "shapes"
        for came, text in found.shapes:
            yield f"  {'+' if came else '-'} {text}"
    notes = caveats(found)
    if notes:
        yield ""
        yield from notes


def _consequence(one: Consequence) -> Iterator[str]:
    place = f"{one.cause.place}  " if one.cause.place else ""
    others = f"  ({beside(one)})" if beside(one) else ""
    yield f"{numbers_of(one)} by"
    yield f"  {place}{signed(one.cause)}{others}"
    for counts in (one.classes, one.properties):
        if counts:
            yield f"    {breakdown(counts)}"
    for example in one.examples[:1]:
        if example.proof:
            yield "    for example"
            yield from (f"      {line}" for line in example.proof.splitlines())


def _violations(chosen: list[FoundViolation]) -> Iterator[str]:
    for one in chosen[:_VIOLATIONS]:
        yield f"  ! {one}"
        for cause in one.causes[:3]:
            place = f"  ({cause.place})" if cause.place else ""
            yield f"      by {signed(cause)}{place}"
    if len(chosen) > _VIOLATIONS:
        yield f"  and {len(chosen) - _VIOLATIONS:,} more"
