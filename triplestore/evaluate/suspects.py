"""What an error of a budget names: the rule that was at work, or the one that did most.

Start reading at `Tally.blame`. Counting costs one addition for each evaluation of a family.
"""

from __future__ import annotations

from triplestore.datalog.program import Constraint, Rule
from triplestore.datalog.text import show
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.families import Family
from triplestore.rules.modules.module_groups import Owned
from triplestore.terms import to_ntriples

LENGTH = 200
"""Maximum number of letters of a rule that are shown."""


class Tally:
    """What the rules of an update did so far.

    compiled  the program they belong to
    at        what is at work: a family, or a closure that is computed as a whole
    made      how many instances each family had
    terms     how many new terms each family made
    """

    __slots__ = ("at", "compiled", "made", "terms")

    def __init__(self, compiled: Compiled | None = None) -> None:
        self.compiled = compiled
        self.at: Family | Owned | str | None = None
        self.made: dict[Family, int] = {}
        self.terms: dict[Family, int] = {}

    def count(self, family: Family, instances: int) -> None:
        """Count instances of a family."""
        self.made[family] = self.made.get(family, 0) + instances

    def count_terms(self, family: Family, terms: int) -> None:
        """Count terms that a family made."""
        self.terms[family] = self.terms.get(family, 0) + terms

    def blame(self) -> str:
        """What to say of who made most, as part of an error; empty if nothing is known."""
        parts = []
        if self.terms:
            parts = [_most(self, self.terms, "new terms")]
        elif self.made:
            parts = [_most(self, self.made, "conclusions")]
        at = self._at_work()
        if at and not any(at in part for part in parts):
            parts.append(f"at work was {at}")
        return ", and ".join(parts)

    def _at_work(self) -> str:
        at = self.at
        if at is None or isinstance(at, str):
            return at or ""
        return self.name(at) if isinstance(at, Family) else "the closure of " + _relations(at)

    def name(self, family: Family) -> str:
        """A family by its first rule."""
        if self.compiled is None:
            return ""
        origins = self.compiled.origins
        first = family.rules[0] if family.rules else -1
        if not 0 <= first < len(origins):
            return ""
        shown = _shown(origins[first])
        more = len(family.rules) - 1
        return f"{shown} (and {more:,} rules of the same shape)" if more else shown


def _most(tally: Tally, counts: dict[Family, int], what: str) -> str:
    family, count = max(dict(counts).items(), key=lambda item: item[1])
    name = tally.name(family)
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
