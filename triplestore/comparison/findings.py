"""What a comparison found, as plain data: start at `Findings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from triplestore.data_classes import data_class

JsonData: TypeAlias = "dict[str, Any]"


METRICS = (
    "added",
    "removed",
    "inferred",
    "inferred-removed",
    "types",
    "types-removed",
    "subclasses",
    "subclasses-removed",
    "violations",
    "resolved",
    "shapes",
    "resolved-shapes",
    "new-classes",
    "removed-classes",
    "new-properties",
    "removed-properties",
)
"""The numbers of a comparison: asserted triples, inferred ones, types and sub-class axioms among
these, violations that came and went, results of shapes, and declared classes and properties."""


@data_class
class Cause:
    """One asserted change, or one rule that came or went.

    text  the triple as in Turtle, or the rule
    came  whether it was added; False if it was removed
    kind  "triple" or "rule"
    file, line  where it is, as far as known
    """

    text: str
    came: bool
    kind: str = "triple"
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line, or an empty text."""
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@data_class
class Example:
    """One changed fact, its causes, and a proof of them: in the new state if the fact came."""

    fact: str
    came: bool
    causes: tuple[Cause, ...]
    proof: str = ""


@data_class
class Consequence:
    """What follows from one cause: the leading one of all these facts.

    added, removed          numbers of inferred facts
    types_added, types_removed  those of them that are types
    new_violations, resolved_violations  numbers of violations
    similar                 how many more causes with the same property or class are counted here
    together_with           how many other causes these facts have
    classes, properties     name -> (added, removed), the largest first
    """

    cause: Cause
    added: int = 0
    removed: int = 0
    types_added: int = 0
    types_removed: int = 0
    new_violations: int = 0
    resolved_violations: int = 0
    similar: int = 0
    together_with: int = 0
    classes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    properties: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()

    @property
    def total(self) -> int:
        """Number of facts and violations."""
        violations = self.new_violations + self.resolved_violations
        return self.added + self.removed + violations


@data_class
class FoundViolation:
    """A violation that came or went, with its causes."""

    rule: str
    message: str
    values: Mapping[str, str]
    came: bool
    causes: tuple[Cause, ...] = ()
    proof: str = ""

    def __str__(self) -> str:
        shown = ", ".join(f"?{name} = {term}" for name, term in self.values.items())
        return ": ".join(part for part in (self.rule, self.message, shown) if part)


@data_class
class Findings:
    """What lies between two states: asserted and inferred changes, violations, and causes.

    metrics     the numbers that `fail_on` can ask about, by name
    consequences  by leading cause, the largest first; at most `COMPARISON.shown_causes` of them
    left_out    how many causes are not listed, and how many facts follow from these
    unexplained how many inferred changes have no known cause
    inexact     how many have causes that may not be all of them
    asserted    the first asserted changes
    shapes      results of shapes that came and went, as texts
    notes       what the reader should know
    everything  each inferred change with its causes, if that was asked for
    """

    old: str
    new: str
    metrics: Mapping[str, int]
    consequences: tuple[Consequence, ...] = ()
    left_out: tuple[int, int] = (0, 0)
    unexplained: int = 0
    inexact: int = 0
    violations: tuple[FoundViolation, ...] = ()
    asserted: tuple[Cause, ...] = ()
    shapes: tuple[tuple[bool, str], ...] = ()
    notes: tuple[str, ...] = ()
    everything: tuple[Example, ...] | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return any(self.metrics.values())
