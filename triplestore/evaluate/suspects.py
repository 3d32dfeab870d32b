"""What an error of a budget names: the rule at work, or the one that did most.

Start reading at `blame`. `Evaluation` counts what each family did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.datalog.program import Constraint, Rule
from triplestore.datalog.text import show
from triplestore.rules.families import Family
from triplestore.rules.modules.module_groups import Owned
from triplestore.terms import to_ntriples

if TYPE_CHECKING:
    from triplestore.evaluate.evaluation import Evaluation

LENGTH = 200
"""Maximum number of characters of a rule that are shown."""


def blame(run: Evaluation) -> str:
    """The rules that made most and the rule at work, as part of an error; empty if unknown."""
    parts = []
    if run.new_terms:
        parts = [_most(run, run.new_terms, "new terms")]
    elif run.made:
        parts = [_most(run, run.made, "conclusions")]
    at = _at_work(run)
    if at and not any(at in part for part in parts):
        parts.append(f"at work was {at}")
    return ", and ".join(parts)


def _at_work(run: Evaluation) -> str:
    at = run.at
    if at is None or isinstance(at, str):
        return at or ""
    return _name(run, at) if isinstance(at, Family) else "the closure of " + _relations(at)


def _name(run: Evaluation, family: Family) -> str:
    """A family by its first rule."""
    origins = () if run.compiled is None else run.compiled.origins
    first = family.rules[0] if family.rules else -1
    if not 0 <= first < len(origins):
        return ""
    shown = _shown(origins[first])
    more = len(family.rules) - 1
    return f"{shown} (and {more:,} rules of the same shape)" if more else shown


def _most(run: Evaluation, counts: dict[Family, int], what: str) -> str:
    family, count = max(dict(counts).items(), key=lambda item: item[1])
    name = _name(run, family)
    return f"most {what} ({count:,}) came from {name}" if name else ""


def _relations(owned: Owned) -> str:
    return ", ".join(to_ntriples(name).decode() for name in owned.group.relations[:3])


def _shown(origin: Rule | Constraint) -> str:
    """A rule or constraint as it was written, with its place if it has one."""
    if isinstance(origin, Constraint):
        text = f'the constraint "{origin.id}" ({" ".join(origin.message.split())})'
        return text[:LENGTH]
    body = origin.body[:4]
    text = " ".join(show(Rule(origin.heads[:1], body, origin.name)).split())
    text = text.removesuffix(" .") + (", ..." if len(origin.body) > len(body) else "")
    text = text if len(text) <= LENGTH else text[:LENGTH] + " ..."
    place = f" ({origin.source})" if origin.source is not None else ""
    return text + place
