"""Rules as the engine sees them, in words: strata, modules, families of rules, and plans.

Start reading at `describe`. Rules are compiled for each call, with temporary ids for constants that
are in no fact. So it also works on a store that is opened for reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from triplestore.closures.attached import UNION
from triplestore.datalog.text import show
from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Constant
from triplestore.reasoning.reasoner import compile_to_read
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.views.equality import reasoned
from triplestore.rules.body_plans import (
    HEAD,
    WHOLE,
    AtomStep,
    BodyPlan,
    ComputeStep,
    TableStep,
    plan,
)
from triplestore.rules.families import CompiledAtom, Family

if TYPE_CHECKING:
    from triplestore.closures.attached import Structure
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.readable_state import ReadableState
    from triplestore.rules.modules.module_groups import Owned

SECTIONS = ("program", "strata", "modules", "families", "plans")

SHOWN = 3
"""Maximum number of rules of a family that are shown."""


def describe(view: ReadableState, what: tuple[str, ...]) -> str:
    """The chosen sections, one below the other."""
    for section in what:
        if section not in SECTIONS:
            raise UsageError(f"rules have the sections {', '.join(SECTIONS)}, not {section!r}")
    rules = view.rules()
    if rules is None:
        return "there are no rules"
    if what == ("program",):
        return str(rules.program).rstrip()
    described = _Description(view, rules)
    parts = [getattr(described, section)() for section in SECTIONS if section in (what or SECTIONS)]
    return "\n\n".join(part.rstrip() for part in parts)


_HELPERS = {kind: f"x-triplestore:{kind}/" for kind in ("not", "aggregate", "constraint")}
_PADDED = re.compile(r"([^\s\[]+)\[(?:\1(?:, |(?=\])))+")


def _short(text: str) -> str:
    """Rows of helper relations without the name that fills their first columns."""
    return _PADDED.sub(r"\1[", text)


class _Description:
    def __init__(self, view: ReadableState, rules: Rules) -> None:
        self._view = view
        self._rules = rules
        self._compiled, self._terms = compile_to_read(rules, view.dictionary)
        self._namer = Namer({**view.prefixes, **rules.program.prefixes, **_HELPERS})

    @property
    def _prefixes(self) -> Mapping[str, str]:
        return {prefix: space for space, prefix in self._namer.prefixes.items()}

    def program(self) -> str:
        """The text of the rules."""
        return str(self._rules.program)

    def strata(self) -> str:
        """Which rules come after which; `*` marks recursive ones."""
        text = _short(self._compiled.stratification.describe(self._prefixes))
        helpers = self._compiled.simple.helpers.items()
        about = [f"  {self._namer.term(Constant(key))} is {text}" for (key, _), text in helpers]
        return "\n".join([text, *(["helpers:"] if about else []), *about])

    def modules(self) -> str:
        """The rules that each module owns, their closure, and how it is kept."""
        lines = []
        for owned in self._compiled.modules.values():
            structure = owned.group.structure
            names = [
                self._namer.term(Constant(name)) + (" turned around" if turned else "")
                for name, turned in zip(structure.relations, structure.turned, strict=True)
            ]
            lines.append(
                f"module of stratum {owned.number}: {_kind(structure)} {', '.join(names)}, "
                f"{self._kept(owned)}"
            )
            first = [self._compiled.rules[number] for number in sorted(owned.rules)[:SHOWN]]
            lines += [f"  {_short(show(rule, self._prefixes))}" for rule in first]
            if len(owned.rules) > SHOWN:
                lines.append(f"  and {len(owned.rules) - SHOWN:,} more")
        return "\n".join(lines) or "no rules are owned by modules"

    def _kept(self, owned: Owned) -> str:
        """How a closure is kept in the tables."""
        first = self._namer.term(Constant(owned.group.relations[0]))
        ids = self._view.dictionary.lookup_keys([owned.group.relations[0]])
        tables = reasoned(self._view.tables)
        relation = tables.relation(int(ids[0])) if ids[0] else None
        pairs = 0 if relation is None else len(relation)
        if int(ids[0]) in tables.closed:
            if owned.group.structure.kind == UNION:
                return (
                    f"a view: {pairs:,} pairs; those of the properties below are not stored twice"
                )
            size = tables.schemes[int(ids[0])].scheme.nbytes()
            return f"compressed: {pairs:,} pairs of {first} in {size:,} bytes"
        return f"written out: {pairs:,} rows of {first}"

    def families(self) -> str:
        """Which rules are evaluated together."""
        return "\n".join(line for family in self._families() for line in self._family(family))

    def plans(self) -> str:
        """In which order the items of bodies are matched, from each item that may change."""
        setting = Setting(Stored(reasoned(self._view.tables), self._compiled.type_id))
        lines = []
        for family in self._families():
            lines.append(self._title(family))
            pivots = range(len(family.body) + len(family.nots))
            for pivot in pivots if family.summary is None else (WHOLE,):
                steps = " -> ".join(self._steps(family, plan(family, pivot, setting)))
                lines.append(f"  {self._start(family, pivot)}: {steps or 'that is all'}")
        return "\n".join(lines)

    def _families(self) -> list[Family]:
        return sorted(self._compiled.strata.families, key=lambda f: (f.stratum, f.number))

    def _title(self, family: Family) -> str:
        kind = "recursive" if family.recursive else "nonrecursive"
        count = len(family.rules)
        rules = f"{count:,} {kind} rules" if count > 1 else f"one {kind} rule"
        return f"family {family.number}: {rules} of stratum {family.stratum}"

    def _family(self, family: Family) -> Iterator[str]:
        yield self._title(family)
        for number in family.rules[:SHOWN]:
            yield f"  {_short(show(self._compiled.rules[number], self._prefixes))}"
        if len(family.rules) > SHOWN:
            yield f"  and {len(family.rules) - SHOWN:,} more that differ in their constants"

    # -- plans ----------------------------------------------------------------------------------

    def _start(self, family: Family, pivot: int) -> str:
        if pivot in (WHOLE, HEAD):
            return "whole"
        if pivot < len(family.body):
            return f"from {self._atom(family, family.body[pivot])}"
        return f"from NOT {self._atom(family, family.nots[pivot - len(family.body)])}"

    def _steps(self, family: Family, made: BodyPlan) -> Iterator[str]:
        for step in made.steps:
            if isinstance(step, AtomStep):
                sign = "NOT " if step.negated else ""
                tests = not step.free and not step.negated
                yield f"{sign}{self._atom(family, step.atom)}{' (a test)' if tests else ''}"
            elif isinstance(step, TableStep):
                yield f"table of {len(family.rules):,} rules"
            else:
                yield self._computation(family, step)

    def _computation(self, family: Family, step: ComputeStep) -> str:
        text = expression_text(step.computation.expression, self._namer)
        if step.computation.target < 0:
            return f"FILTER({text})"
        return f"BIND({text} AS ?{family.variables[step.computation.target]})"

    def _atom(self, family: Family, atom: CompiledAtom) -> str:
        terms = [self._term(family, term) for term in atom.terms]
        if isinstance(atom.relation, tuple):
            return _short(f"{self._name(atom.relation[0])}[{', '.join(terms)}]")
        if atom.relation == ANY:
            return f"[{', '.join(terms)}]"
        if atom.relation != self._compiled.type_id:
            return f"{self._name(atom.relation)}[{', '.join(terms)}]"
        class_, member = terms
        return f"{class_}[{member}]" if atom.terms[0] < 0 else f"[{member}, rdf:type, {class_}]"

    def _term(self, family: Family, term: int) -> str:
        if term < 0:
            return self._name(-term)
        return f"?{family.variables[term] or f'constant{term}'}"

    def _name(self, term_id: int) -> str:
        return self._namer.term(Constant(self._terms.key(term_id)))


def _kind(structure: Structure) -> str:
    return "union of properties in" if structure.kind == UNION else f"{structure.kind} closure of"
