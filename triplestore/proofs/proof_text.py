"""Proofs as text: a tree of facts, each with the rule that concludes it.

Start reading at `proof_text`. A fact that was shown before is only named; where the tree gets deep,
a branch ends in a number, and goes on under that number further below. So a proof of ten thousand
levels has as many lines as it has parts, each of them short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Not,
    Rule,
    TripleAtom,
    TupleAtom,
)
from triplestore.datalog.text import show
from triplestore.proofs.steps import Attempt, Member, ProofPart, ProofStep, Values

if TYPE_CHECKING:
    from triplestore.proofs.proof import Proof, WhyNot

_DEEPEST = 16  # branches on one another before the tree goes on further below
Prefixes = Mapping[str, str]


def proof_text(proof: Proof, names: Prefixes, most: int | None = None) -> str:
    """The lines of a proof and its alternatives; at most `most` facts of each."""
    lines = list(_Tree(proof, names, most).lines())
    if not proof.least:
        lines.append("(there may be a smaller proof: not all were looked at)")
    for number, other in enumerate(proof.alternatives, 1):
        lines += ["", f"alternative {number}:"]
        lines += _Tree(other, names, most).lines()
    if proof.alternatives and not proof.more:
        lines += ["", "(there are no other alternatives)"]
    return "\n".join(lines)


class _Match(NamedTuple):
    """One of the members that an aggregate lists."""

    part: ProofPart
    member: Member

    def text(self, names: Prefixes) -> str:
        """The values of what differs between members; facts speak for themselves without."""
        assert isinstance(self.part.item, Aggregate)
        groups = self.part.item.groups
        values = {v: value for v, value in self.member.values.items() if v not in groups}
        return values_text(values, names) or "once"


_Node: TypeAlias = "Atom | ProofPart | _Match | str"


class _Tree:
    """The lines of one proof, while they are written.

    later  facts whose proofs are shown further below, with their numbers
    """

    def __init__(self, proof: Proof, names: Prefixes, most: int | None) -> None:
        self.proof = proof
        self.names = names
        self.left = len(proof) if most is None else most
        self.shown: set[Atom] = set()
        self.later: dict[Atom, int] = {}
        self.skipped: set[Atom] = set()

    def lines(self) -> Iterator[str]:
        """All lines."""
        yield from self._from(self.proof.fact)
        number = 0
        while number < len(self.later):  # grows while it is gone through
            fact = list(self.later)[number]
            number += 1
            if fact not in self.shown:
                yield ""
                yield from self._from(fact, f"[{number}] ")
        if self.skipped:
            yield f"... and {len(self.proof) - len(self.shown):,} more facts"

    def _from(self, fact: Atom, mark: str = "") -> Iterator[str]:
        """The tree of one fact, from a stack of (start of its line, start of those below, what)."""
        stack: list[tuple[str, str, _Node]] = [(mark, "", fact)]
        while stack:
            first, rest, what = stack.pop()
            text, inner, more = self._node(what, len(rest) // 3)
            yield first + text
            bar = "│  " if inner else "   "
            yield from (rest + bar + line for line in more)
            for i, one in enumerate(reversed(inner)):
                start = ("└─ ", "   ") if i == 0 else ("├─ ", "│  ")
                stack.append((rest + start[0], rest + start[1], one))

    def _node(self, what: _Node, depth: int) -> tuple[str, list[_Node], list[str]]:
        """The text of a node, its children, and further lines about it."""
        if isinstance(what, str):
            return what, [], []
        if isinstance(what, ProofPart):
            left = what.count - len(what.members)
            shown = [_Match(what, member) for member in what.members]
            return part_text(what, self.names), [*shown, *[f"and {left:,} more"] * (left > 0)], []
        if isinstance(what, _Match):
            return what.text(self.names), list(what.member.facts), []
        text, step = self._fact(what, depth)
        if step is None:
            return text, [], []
        inner: list[_Node] = [part if part.fact is None else part.fact for part in step.parts]
        return text, inner, list(rule_lines(step, self.names))

    def _fact(self, fact: Atom, depth: int) -> tuple[str, ProofStep | None]:
        """The line of a fact, and its step if that is to follow."""
        step = self.proof.steps.get(fact)
        text = fact_text(fact, step, self.names)
        if step is None:
            return f"{text}  (not proved here: it took too long)", None
        if step.stated:
            self.shown.add(fact)
            return f"{text}  (asserted)", None
        if fact in self.shown:
            return f"{text}  (shown above)", None
        if len(self.shown) >= self.left:
            self.skipped.add(fact)
            return f"{text}  ...", None
        if depth >= _DEEPEST or (depth and fact in self.later):
            number = self.later.setdefault(fact, len(self.later) + 1)
            return f"{text}  (see [{number}] below)", None
        self.shown.add(fact)
        return text, step


def absence_text(absence: WhyNot, names: Prefixes) -> str:
    """Why a fact does not hold, rule by rule."""
    rules = absence.rules
    lines = [f"{show(absence.fact, names)} does not hold: it is not asserted, and "]
    if absence.constraint is not None:
        lines = [f"{_inconsistency(absence.constraint)} does not occur with these terms now"]
    elif rules == 0:
        lines[0] += "no rule concludes facts like it"
    elif rules == 1:
        lines[0] += "the rule that could conclude it does not"
    else:
        lines[0] += f"none of the {rules:,} rules that could conclude it does"
    shown = absence.attempts
    if absence.outside:
        shown = shown[:_BESIDE_AXIOMS]
        lines.insert(0, _outside_text(absence.outside))
    for attempt in shown:
        lines.append("")
        lines += _attempt_lines(attempt, names)
    if len(shown) < rules:
        lines += ["", f"and {rules - len(shown):,} more rules"]
    return "\n".join(lines)


_BESIDE_AXIOMS = 2  # rules that are shown where axioms without rules are the likely reason
_MOST_AXIOMS = 5


def _outside_text(outside: Sequence[str]) -> str:
    """The axioms without rules that may be the reason."""
    many = "an axiom" if len(outside) == 1 else "axioms"
    lines = [f"it may need {many} for which there is no rule:"]
    lines += ["  " + " ".join(one.split()) for one in outside[:_MOST_AXIOMS]]
    if len(outside) > _MOST_AXIOMS:
        lines.append(f"  and {len(outside) - _MOST_AXIOMS:,} more")
    return "\n".join(lines)


def _attempt_lines(attempt: Attempt, names: Prefixes) -> Iterator[str]:
    yield from rule_head_lines(attempt.rule, names)
    if attempt.values:
        example = ", for example" if attempt.ways > 1 else ""
        yield f"with {values_text(attempt.values, names)}{example}"
    for item in attempt.matched:
        yield f"├─ holds: {show(attempt.fill(item), names)}"
    last = "├─" if attempt.left or not attempt.exact else "└─"
    yield f"{last} {missing_text(attempt, names)}"
    if attempt.left:
        yield f"{'└─' if attempt.exact else '├─'} also open: " + ", ".join(
            show(attempt.fill(item), names) for item in attempt.left
        )
    if not attempt.exact:
        yield "└─ (not everything was looked at: there is too much of it)"


def missing_text(attempt: Attempt, names: Prefixes) -> str:
    """What is missing, in words."""
    item, ways = attempt.filled, attempt.ways
    others = f" (nor in {_many(ways - 1, 'other case', 'other cases')})" if ways > 1 else ""
    others = "" if attempt.alone else others
    shown = show(item, names)
    if isinstance(item, Not):
        facts = ", ".join(show(fact, names) for fact in attempt.facts)
        return f"in the way: {facts}, against {shown}{others}"
    if isinstance(item, Filter):
        return f"not true: {_inside(shown)}{others}"
    if isinstance(item, Bind):
        given = attempt.values.get(item.variable)
        inner = _inside(shown).rpartition(" AS ")[0]
        if not attempt.found:
            return f"no value: {inner}{others}"
        return f"{inner} is {show(attempt.found[0], names)}, not {_term(given, names)}{others}"
    if isinstance(item, Aggregate):
        if not attempt.found:
            return f"nothing to aggregate: {shown}{others}"
        wanted = tuple(attempt.values.get(result.variable) for result in item.results)
        given_text = _given(item, attempt.found, names)
        if None in wanted:
            return f"{given_text}{others}"
        return f"{given_text}, not {', '.join(_term(one, names) for one in wanted)}{others}"
    return f"no match: {shown}{others}"


def _term(term: Constant | None, names: Prefixes) -> str:
    return "that" if term is None else show(term, names)


def fact_text(fact: Atom, step: ProofStep | None, names: Prefixes) -> str:
    """A fact, or the inconsistency that a constraint's relation stands for."""
    if step is not None and isinstance(step.rule, Constraint):
        return _inconsistency(step.rule)
    return show(fact, names)


def _inconsistency(constraint: Constraint) -> str:
    message = f": {constraint.message}" if constraint.message else ""
    return f"inconsistency {constraint.id}{message}"


def rule_lines(step: ProofStep, names: Prefixes) -> Iterator[str]:
    """The rule of a step, and what its variables stand for."""
    assert step.rule is not None
    yield from rule_head_lines(step.rule, names)
    if step.values:
        yield values_text(step.values, names)


def rule_head_lines(rule: Rule | Constraint, names: Prefixes) -> Iterator[str]:
    """What a rule is called, where it stands, and its text."""
    named = rule.name if isinstance(rule, Rule) else rule.id
    place = f"({rule.source})" if rule.source is not None else ""
    if named or place:
        kind = "rule" if isinstance(rule, Rule) else "constraint"
        yield " ".join(filter(None, ("by", kind, named, place)))
    if isinstance(rule, Rule) and rule.axioms:
        yield "made from " + ", ".join(show(axiom, names) for axiom in rule.axioms)
    yield rule_text(rule, names)


def rule_text(rule: Rule | Constraint, names: Prefixes) -> str:
    """The text of a rule without its name."""
    return show(replace(rule, name="") if isinstance(rule, Rule) else rule, names)


def values_text(values: Values, names: Prefixes) -> str:
    """Variables and what they stand for."""
    return ", ".join(f"{variable} = {show(value, names)}" for variable, value in values.items())


def part_text(part: ProofPart, names: Prefixes) -> str:
    """A condition in words."""
    if isinstance(part.filled, Not):
        return f"absent: {show(part.filled, names).removeprefix('NOT ')}"
    if isinstance(part.filled, Filter):
        return f"true: {_inside(show(part.filled, names))}"
    if isinstance(part.filled, Bind):
        assert part.value is not None
        inner = _inside(show(part.filled, names)).rpartition(" AS ")[0]
        return f"{show(part.value, names)} = {inner}"
    if isinstance(part.filled, TripleAtom | TupleAtom):
        return _given_text(part.filled, names)
    assert isinstance(part.filled, Aggregate)
    return (
        f"{results_text(part, names)}, of {_many(part.count, 'match', 'matches')} of "
        + ", ".join(show(item, names) for item in part.filled.body)
    )


_IN_WORDS = {
    "x-triplestore:scope/stated": "asserted in a graph of the scope",
    "x-triplestore:literals/variant": "the same value",
}


def _given_text(atom: Atom, names: Prefixes) -> str:
    """A fact of a relation that the store makes for its own rules."""
    name = atom.name.key[1:].decode() if isinstance(atom, TupleAtom) else ""
    terms = dict.fromkeys(show(term, names) for term in atom.terms if isinstance(term, Constant))
    return f"{_IN_WORDS.get(name, 'given')}: {', '.join(terms)}"


def results_text(part: ProofPart, names: Prefixes) -> str:
    """What an aggregate gave."""
    assert isinstance(part.item, Aggregate)
    return _given(part.item, part.results, names)


def _given(item: Aggregate, results: Sequence[Constant], names: Prefixes) -> str:
    """The results of an aggregate: `count(?y) = 3`."""
    texts = []
    for result, value in zip(item.results, results, strict=True):
        bare = show(replace(item, body=(), groups=(), results=(result,)), names)
        text = bare[bare.index("BIND ") + len("BIND ") :].rpartition(" AS ")[0]
        texts.append(f"{text} = {show(value, names)}")
    return ", ".join(texts)


def _inside(text: str) -> str:
    return text[text.index("(") + 1 : -1]


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
