"""Proofs as HTML for notebooks: a tree that folds.

Start reading at `proof_html` and `absence_html`. A fact that was shown before is only named. A
proof that is deep goes on in further trees below, as its text does: browsers give up on elements
that are nested 500 deep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from triplestore.datalog.program import Atom, Constraint
from triplestore.datalog.text import show
from triplestore.notebook.parts import Node, escape, folded, line, output, span, tree
from triplestore.proofs.proof_text import (
    fact_text,
    missing_text,
    part_text,
    rule_head_lines,
    rule_lines,
    values_text,
)
from triplestore.proofs.steps import Attempt, Member, ProofPart, ProofStep

if TYPE_CHECKING:
    from triplestore.proofs.proof import Proof, WhyNot

MAX_FACTS = 200
"""Maximum number of facts of a proof that are shown with their steps."""

MAX_DEPTH = 40
"""Maximum depth of a tree; what is deeper goes on in another tree."""

MAX_ATTEMPTS = 10
"""Maximum number of rules that are shown for a fact that does not hold."""

Prefixes: TypeAlias = Mapping[str, str]


def proof_html(proof: Proof, prefixes: Prefixes) -> str:
    """A proof and its alternatives, which are folded at first."""
    parts = [line(proof_summary(proof, prefixes), "title"), *_trees(proof, prefixes)]
    if not proof.least:
        parts.append(line("there may be a smaller proof: not all were searched", "note"))
    for number, other in enumerate(proof.alternatives, 1):
        parts.append(folded(f"alternative {number}", *_trees(other, prefixes)))
    return output(*parts)


def proof_summary(proof: Proof, prefixes: Prefixes) -> str:
    """A proof in one line."""
    fact = fact_text(proof.fact, proof.last, prefixes)
    if proof.stated:
        return f"{fact} is asserted"
    return f"proof of {fact}: {_many(len(proof), 'fact')}, {_many(proof.height, 'level')}"


def _trees(proof: Proof, prefixes: Prefixes) -> Iterator[str]:
    """The tree of a proof, and those in which it goes on."""
    making = _Trees(proof, prefixes)
    yield tree(making.root(proof.fact))
    number = 0
    while number < len(making.later):  # grows meanwhile
        fact = list(making.later)[number]
        number += 1
        if fact not in making.shown:
            yield tree(making.root(fact, f"[{number}] "))
    left = len(making.skipped)
    if left:
        many = len(proof) - len(making.shown)
        yield line(f"… and {many:,} more facts; print the proof to see all of them", "note")


class _Trees:
    """The trees of one proof, while they are made.

    later    facts whose proofs are in further trees, with their numbers
    skipped  facts that are left out
    """

    def __init__(self, proof: Proof, prefixes: Prefixes) -> None:
        self.proof = proof
        self.prefixes = prefixes
        self.shown: set[Atom] = set()
        self.later: dict[Atom, int] = {}
        self.skipped: set[Atom] = set()

    def root(self, fact: Atom, mark: str = "") -> Node:
        """The tree of a fact."""
        root = Node("")
        stack: list[tuple[Node, Atom | ProofPart | Member, int]] = [(root, fact, 0)]
        while stack:
            node, what, depth = stack.pop()
            inner = [(Node(""), one, depth + 1) for one in self._fill(node, what, depth)]
            node.below += [child for child, _, _ in inner]
            stack += reversed(inner)  # the first comes first, so that it is shown before others
        root.html = escape(mark) + root.html
        return root

    def _fill(
        self, node: Node, what: Atom | ProofPart | Member, depth: int
    ) -> list[Atom | ProofPart | Member]:
        """Write a node; returns what hangs on it."""
        if isinstance(what, ProofPart):
            node.html = escape(part_text(what, self.prefixes))
            left = what.count - len(what.members)
            if left > 0:
                node.more = (f"and {left:,} more",)
            return list(what.members)
        if isinstance(what, Member):
            node.html = escape(values_text(what.values, self.prefixes) or "once")
            return list(what.facts)
        step = self.proof.steps.get(what)
        note, follows = self._state(what, step, depth)
        node.html = span(fact_text(what, step, self.prefixes), show(what, {}))
        if note:
            node.html += " " + span(note, kind="note")
        if step is None or not follows:
            return []
        rule, *lines = rule_lines(step, self.prefixes)
        node.more = tuple(lines)
        node.html += " " + span(rule, kind="note")
        return [part if part.fact is None else part.fact for part in step.parts]

    def _state(self, fact: Atom, step: ProofStep | None, depth: int) -> tuple[str, bool]:
        """What is said about a fact, and whether its step follows."""
        if step is None:
            return "not proved here: it took too long", False
        if step.stated:
            self.shown.add(fact)
            return "asserted", False
        if fact in self.shown:
            return "shown above", False
        if len(self.shown) >= MAX_FACTS:
            self.skipped.add(fact)
            return "…", False
        if depth >= MAX_DEPTH or (depth and fact in self.later):
            return f"see [{self.later.setdefault(fact, len(self.later) + 1)}] below", False
        self.shown.add(fact)
        return "", True


def absence_html(absence: WhyNot, prefixes: Prefixes) -> str:
    """Why a fact does not hold: how far each rule gets, the nearest first."""
    parts = [line(absence_summary(absence, prefixes), "title")]
    if absence.outside:
        parts.append(line("it may need axioms for which there is no rule:", "note"))
        parts += [line(" ".join(axiom.split())) for axiom in absence.outside[:MAX_ATTEMPTS]]
    shown = absence.attempts[:MAX_ATTEMPTS]
    for place, attempt in enumerate(shown):
        parts.append(tree(_attempt(attempt, prefixes), unfolded=1 if place < 2 else 0))
    if absence.rules > len(shown):
        parts.append(line(f"and {absence.rules - len(shown):,} more rules", "note"))
    return output(*parts)


def absence_summary(absence: WhyNot, prefixes: Prefixes) -> str:
    """It in one line."""
    if absence.constraint is not None:
        return f"constraint {absence.constraint.id} is not violated by these terms"
    fact = show(absence.fact, prefixes)
    if not absence.rules:
        return f"{fact} does not hold: it is not asserted, and no rule concludes facts like it"
    rules = "the rule" if absence.rules == 1 else f"any of {absence.rules:,} rules"
    return f"{fact} does not hold: it is not asserted, and not inferred by {rules} for such facts"


def _attempt(attempt: Attempt, prefixes: Prefixes) -> Node:
    rule = attempt.rule
    name = rule.id if isinstance(rule, Constraint) else rule.name
    node = Node(escape(f"rule {name}" if name else "a rule without a name"))
    node.more = [text for text in rule_head_lines(rule, prefixes) if not text.startswith("by ")]
    if attempt.values:
        example = ", for example" if attempt.ways > 1 else ""
        node.more = [*node.more, f"with {values_text(attempt.values, prefixes)}{example}"]
    for item in attempt.matched:
        filled = attempt.fill(item)
        node.below.append(Node(escape("holds: ") + span(show(filled, prefixes), show(filled, {}))))
    node.below.append(Node(span(missing_text(attempt, prefixes), kind="bad")))
    if attempt.left:
        text = ", ".join(show(attempt.fill(item), prefixes) for item in attempt.left)
        node.below.append(Node(escape(f"also open: {text}")))
    if not attempt.exact:
        node.below.append(Node(span("not everything was searched: there is too much", kind="note")))
    return node


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
