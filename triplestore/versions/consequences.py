"""What one state of a store has that another has not: start at `consequences_of`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from triplestore.reasoning.difference import Difference
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.reasoning.violations import (
    Violation,
    ViolationRelations,
    violation_relations,
    violations_between,
)
from triplestore.relations import INFERRED, Changes
from triplestore.storage import State
from triplestore.storage.metadata import PROGRAM, REGIMES, hidden_count, prefixes_of
from triplestore.terms import Dictionary
from triplestore.versions.one_dictionary import Line, under_one_dictionary
from triplestore.versions.seen_changes import seen_changes

SHOWN = 20
"""Maximum number of ended violations that are printed."""


class Consequences(Difference):
    """What came and what went between two states, and which violations ended; prints as text.

    >>> from triplestore import Store
    >>> store = Store()
    >>> prefix = "@prefix : <http://ex.org/> ."
    >>> _ = store.reason(rules=prefix + ":knows[?y, ?x] :- :knows[?x, ?y] .")
    >>> with store.branch() as b:
    ...     _ = b.load(prefix + ":a :knows :b .", "ttl")
    ...     print(b.diff(store))
    added 1
      + <http://ex.org/a> <http://ex.org/knows> <http://ex.org/b> .
    inferred 1
      + <http://ex.org/b> <http://ex.org/knows> <http://ex.org/a> .
    """

    def __init__(
        self,
        dictionary: Dictionary,
        net: Changes,
        relations: tuple[ViolationRelations, ViolationRelations],
        states: tuple[State, State],
        prefixes: Mapping[str, str],
    ) -> None:
        before, after = (state.tables for state in states)
        super().__init__(dictionary, net, relations[1], (before, after), prefixes)
        self._ended_from = dictionary, relations[0], states

    @cached_property
    def ended_violations(self) -> list[Violation]:
        """Violations that were there before and are not now; listed when first read."""
        dictionary, where, (before, after) = self._ended_from
        return list(violations_between(after.tables, before.tables, where, dictionary))

    @property
    def survivors(self) -> int:
        """How many quads that were inferred before still hold."""
        _, _, (before, _) = self._ended_from
        known = before.tables.total(INFERRED) - hidden_count(before.meta)
        return known - len(self.inferred_removed)

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.ended_violations)

    def __str__(self) -> str:
        ended = self.ended_violations
        if not ended:
            return super().__str__()
        lines = [super().__str__()] if super().__bool__() else []
        lines.append(f"ended violations {len(ended):,}")
        lines += [f"  . {violation}" for violation in ended[:SHOWN]]
        return "\n".join([*lines, "  ..."] if len(ended) > SHOWN else lines)

    def as_dict(self) -> dict[str, object]:
        """The same, fit for JSON: quads as lines of N-Quads."""
        return {
            "added": [str(quad) for quad in self.added],
            "removed": [str(quad) for quad in self.removed],
            "still_entailed": [str(quad) for quad in self.still_entailed],
            "inferred_added": [str(quad) for quad in self.inferred_added],
            "inferred_removed": [str(quad) for quad in self.inferred_removed],
            "new_violations": [each.as_dict() for each in self.new_violations],
            "ended_violations": [each.as_dict() for each in self.ended_violations],
        }


def consequences_of(before: Line, after: Line) -> Consequences:
    """What the second state has that the first has not, and the other way round."""
    now, was = under_one_dictionary(after, before)
    relations = _listed(before.now, was.dictionary), _listed(after.now, now.dictionary)
    net = seen_changes(was, now)
    return Consequences(now.dictionary, net, relations, (was, now), prefixes_of(after.now.meta))


def _listed(state: State, dictionary: Dictionary) -> ViolationRelations:
    """Where the violations of a state are, by another dictionary."""
    known = PROGRAM in state.meta or REGIMES in state.meta
    return violation_relations(rules_of_state(state) if known else None, dictionary)
