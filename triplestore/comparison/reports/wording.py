"""Sentences that several reports have in common: start at `headline`."""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.comparison.findings import Cause, Consequence, Findings


def headline(found: Findings) -> str:
    """The numbers in one line.

    >>> numbers = {"added": 2, "types": 640, "types-removed": 3, "violations": 1}
    >>> headline(Findings("a", "b", numbers))
    '2 triples added: +640 types, -3 types, 1 new violation'
    """
    numbers = found.metrics
    asserted = [
        _count(numbers.get(name, 0), "triple", name)
        for name in ("added", "removed")
        if numbers.get(name)
    ]
    types, gone = numbers.get("types", 0), numbers.get("types-removed", 0)
    parts = [
        *_signed(types, gone, "type"),
        *_signed(
            numbers.get("inferred", 0) - types,
            numbers.get("inferred-removed", 0) - gone,
            "other inferred triple",
        ),
    ]
    for name, sign in (("violations", "new"), ("resolved", "resolved")):
        if numbers.get(name):
            parts.append(counted(numbers[name], f"{sign} violation"))
    for name, sign in (("shapes", "new"), ("resolved-shapes", "resolved")):
        if numbers.get(name):
            parts.append(counted(numbers[name], f"{sign} shape result"))
    said = " and ".join(asserted) or "no triples changed"
    return f"{said}: {', '.join(parts) or 'no inferences'}"


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "class"), counted(2000, "type")
    ('1 class', '2,000 types')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _count(number: int, what: str, done: str) -> str:
    return f"{counted(number, what)} {done}"


def _signed(added: int, removed: int, what: str) -> list[str]:
    found = []
    if added > 0:
        found.append(f"+{counted(added, what)}")
    if removed > 0:
        found.append(f"-{counted(removed, what)}")
    return found


def numbers_of(one: Consequence) -> str:
    """What follows from a cause, in numbers.

    >>> numbers_of(Consequence(Cause(":a :p :b", True), 3, types_added=2, new_violations=1))
    '+2 types, +1 other triple, 1 new violation'
    """
    parts = [
        *_signed(one.types_added, one.types_removed, "type"),
        *_signed(one.added - one.types_added, one.removed - one.types_removed, "other triple"),
    ]
    if one.new_violations:
        parts.append(counted(one.new_violations, "new violation"))
    if one.resolved_violations:
        parts.append(counted(one.resolved_violations, "resolved violation"))
    return ", ".join(parts)


def beside(one: Consequence) -> str:
    """What acts beside the cause that is shown.

    >>> beside(Consequence(Cause(":a :p :b", True), similar=299, together_with=1))
    'and 299 similar triples, together with 1 other change'
    """
    parts = [f"and {counted(one.similar, 'similar triple')}"] if one.similar else []
    if one.together_with:
        parts.append(f"together with {counted(one.together_with, 'other change')}")
    return ", ".join(parts)


def signed(cause: Cause) -> str:
    """A cause with its sign."""
    return f"{'+' if cause.came else '-'} {cause.text}"


def breakdown(counts: Mapping[str, tuple[int, int]]) -> str:
    """Numbers by name.

    >>> breakdown({":Being": (612, 0), ":Stone": (0, 2)})
    ':Being +612, :Stone -2'
    """
    shown = []
    for name, (added, removed) in counts.items():
        signs = [f"+{added:,}"] if added else []
        signs += [f"-{removed:,}"] if removed else []
        shown.append(f"{name} {' '.join(signs)}")
    return ", ".join(shown)


def caveats(found: Findings) -> list[str]:
    """What the reader should know about the causes."""
    notes = list(found.notes)
    if found.left_out[0]:
        causes, facts = found.left_out
        notes.append(f"{counted(causes, 'more cause')} with {counted(facts, 'consequence')}")
    if found.unexplained:
        notes.append(
            f"the causes of {counted(found.unexplained, 'change')} are not known (they depend on "
            "negations, aggregates or computed values)"
        )
    if found.inexact:
        notes.append(f"{counted(found.inexact, 'change')} may have further causes")
    return notes
