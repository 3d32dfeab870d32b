"""Equality by representatives, inside of a closure on Spark.

Start reading at `expanded`. The rules of equality copy every fact to all equals of its terms, and
then every inferred fact. Instead, one term represents its equals here: facts are rewritten to
representatives, the other rules are applied to them, new equals are merged (components of a graph),
until nothing changes. Then every fact is written out for all equals. The result is that of the
rules of equality.

Only *safe* rules are used, whose meaning for representatives and for all equals is the same: no
values, counting, negation or variable properties, and no property of which the rules of equality
omit reflexive facts (`KEPT_APART`). The result is a large part of the closure; the exact rules
start with it and infer the rest. Their first round omits what is known to be closed: safe rules and
copies of facts (`settled`), except for those properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from triplestore.data_classes import data_class
from triplestore.datalog.program import (
    Atom,
    Constant,
    Filter,
    Item,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.rules import signature
from triplestore.expressions.tree import substitute
from triplestore.loaders.spark.closure.expressions import condition_on_ids
from triplestore.loaders.spark.closure.facts import Frame
from triplestore.loaders.spark.closure.graphs import Graphs
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.shapes import constants_of
from triplestore.ontologies.translate.schema_rules import EQUALITY, vocabulary_rules
from triplestore.terms.vocabulary import OWL, RDF_TYPE, RDFS

SAME_AS = b"\x01" + OWL.encode() + b"sameAs"
KEPT_APART = (
    SAME_AS,
    *(b"\x01" + RDFS.encode() + name for name in (b"subClassOf", b"subPropertyOf")),
    *(b"\x01" + OWL.encode() + name for name in (b"equivalentClass", b"equivalentProperty")),
)
"""Properties of which the rules of equality omit reflexive facts."""

_TYPE_KEY = b"\x01" + RDF_TYPE.encode()
MAX_MERGES = 100

Follow = Callable[[Program, Frame, str], Frame]
"""The closure of triples under a program, as triples; the last argument is a folder."""


@data_class
class Expanded:
    """Facts known to follow, and the rules that need not be applied to them again.

    triples  s, p, o
    settled  places of rules that conclude nothing new from the triples
    first    rules for the first round instead of these
    """

    triples: Frame
    settled: frozenset[int]
    first: tuple[Rule, ...]


def has_equality(rules: Iterable[Rule]) -> bool:
    """Whether simple rules contain all rules of equality."""
    known = {signature(rule) for rule in rules}
    return all(signature(one) in known for rule in _equality() for one in rule.split())


def expanded(
    rules: Sequence[Rule],
    asserted: Frame,
    naming: Naming,
    graphs: Graphs,
    work: str,
    follow: Follow,
) -> Expanded | None:
    """A large part of the closure under equality; None if equality renames the vocabulary."""
    safe = [number for number, rule in enumerate(rules) if is_safe(rule)]
    ids = naming.known_ids([*KEPT_APART, _TYPE_KEY])
    same_as = ids[SAME_AS]
    rows = asserted
    pairs = asserted.where(f"p = {same_as} AND s <> o").selectExpr("s AS a", "o AS b")
    for turn in range(MAX_MERGES):
        classes = _Classes.of(pairs, naming, graphs)
        constants = constants_of(rules[number] for number in safe)
        moved = classes.of_constants(naming.ids_of(constants), naming)
        if any(classes.has(number) for number in ids.values() if number):
            return None
        program = Program([_renamed(rules[number], moved) for number in safe])
        rows = follow(program, classes.rewritten(rows), f"{work}/equal-{turn}")
        found = rows.where(f"p = {same_as} AND s <> o").selectExpr("s AS a", "o AS b")
        if not classes.joins(found):
            apart = ", ".join(str(ids[key]) for key in KEPT_APART if ids[key]) or "0"
            triples = classes.written_out(rows.where(f"p NOT IN ({apart})"))
            triples = triples.unionAll(classes.pairs(same_as))
            return Expanded(triples, settled_among(rules, safe), _copies(rules, ids))
        pairs = pairs.unionAll(found)
    return None


@data_class
class _Classes:
    """Classes of equal terms.

    members  node, component; literals included, since they may connect other terms
    named    node, name: the representative of each term that is not a literal
    """

    members: Frame
    named: Frame

    @classmethod
    def of(cls, pairs: Frame, naming: Naming, graphs: Graphs) -> _Classes:
        members = graphs.connected(pairs)
        literals = naming.frame.where("substr(key, 1, 1) NOT IN (X'01', X'02')")
        things = members.join(literals.selectExpr("id AS node"), "node", "left_anti")
        names = things.groupBy("component").agg({"node": "min"}).toDF("component", "name")
        named, _ = graphs.kept(things.join(names, "component").select("node", "name"))
        return cls(members, named)

    def has(self, number: int) -> bool:
        """Whether a term is equal to another term."""
        return bool(self.named.where(f"node = {number}").limit(1).count())

    def of_constants(self, ids: dict[bytes, int], naming: Naming) -> dict[bytes, bytes]:
        """The representatives of constants that are not their own representative, by key."""
        if not ids:
            return {}
        listed = ", ".join(map(str, ids.values()))
        rows = self.named.where(f"node <> name AND node IN ({listed})").collect()
        names = {int(node): int(name) for node, name in rows}
        keys = naming.keys_of(names.values())
        return {key: keys[names[number]] for key, number in ids.items() if number in names}

    def rewritten(self, rows: Frame) -> Frame:
        """Triples of representatives, each once."""
        for place in ("s", "p", "o"):
            moved = self.named.where("node <> name")
            moved = moved.selectExpr(f"node AS {place}", f"name AS n{place}")
            rows = rows.join(moved, place, "left")
        return rows.selectExpr(*[f"coalesce(n{x}, {x}) AS {x}" for x in "spo"]).dropDuplicates()

    def written_out(self, rows: Frame) -> Frame:
        """The triples of all equals of representatives."""
        for place in ("s", "p", "o"):
            equals = self.named.selectExpr(f"name AS {place}", f"node AS n{place}")
            rows = rows.join(equals, place, "left")
        return rows.selectExpr(*[f"coalesce(n{x}, {x}) AS {x}" for x in "spo"])

    def joins(self, pairs: Frame) -> bool:
        """Whether some pairs connect different classes."""
        one = self.members.selectExpr("node AS a", "component AS ca")
        other = self.members.selectExpr("node AS b", "component AS cb")
        found = pairs.join(one, "a", "left").join(other, "b", "left")
        return bool(found.where("coalesce(ca, a) <> coalesce(cb, b)").limit(1).count())

    def pairs(self, same_as: int) -> Frame:
        """The owl:sameAs triples between terms of one class."""
        other = self.members.selectExpr("node AS o", "component")
        found = self.members.selectExpr("node AS s", "component").join(other, "component")
        return found.where("s <> o").selectExpr("s", f"{same_as}L AS p", "o")


def _equality() -> Sequence[Rule]:
    return vocabulary_rules(EQUALITY).rules


def is_safe(rule: Rule) -> bool:
    """Whether a rule is safe; see the top of this file."""
    if not rule.body or rule.nots or rule.aggregates or rule.binds:
        return False
    (head,) = rule.heads
    atoms = (head, *rule.atoms)
    if not all(_is_plain(atom) for atom in rule.atoms):
        return False
    if any(_names(atom) & {*KEPT_APART} - ({SAME_AS} if atom is head else set()) for atom in atoms):
        return False
    if not rule.filters:
        return _is_plain(head)
    to_same = isinstance(head, TripleAtom) and head.p == Constant(SAME_AS)
    return to_same and all(_tells_apart(one) for one in rule.filters)


def _is_plain(atom: Atom) -> bool:
    return isinstance(atom, TripleAtom) and isinstance(atom.p, Constant)


def _names(atom: Atom) -> set[bytes]:
    return {atom.p.key} if isinstance(atom, TripleAtom) and isinstance(atom.p, Constant) else set()


def _tells_apart(item: Filter) -> bool:
    """Whether a filter is `!SAMETERM(?x, ?y)`: true for representatives, it is so for equals."""
    text = condition_on_ids(item.expression, None) or ""
    return text.startswith("(NOT (") and " AND " not in text and " OR " not in text


def _renamed(rule: Rule, moved: dict[bytes, bytes]) -> Rule:
    """A rule with constants replaced by representatives."""

    def change(term: Any) -> Any:
        return (
            Constant(moved[term.key]) if isinstance(term, Constant) and term.key in moved else term
        )

    if not moved:
        return rule
    body = tuple(item if isinstance(item, Filter) else _mapped(item, change) for item in rule.body)
    return replace(rule, heads=(rule.heads[0].map(change),), body=body)


def _mapped(item: Item, change: Callable[[Any], Any]) -> Atom:
    """An atom with other terms; rewritten rules have only atoms and filters."""
    assert isinstance(item, TripleAtom | TupleAtom), item
    return item.map(change)


def settled_among(rules: Sequence[Rule], safe: Iterable[int]) -> frozenset[int]:
    """The places of rules that conclude nothing new from the written-out facts."""
    copying = {signature(one) for rule in _equality() for one in rule.split()}
    found = {number for number, rule in enumerate(rules) if signature(rule) in copying}
    found -= {n for n in found if not _copies_any(rules[n])}
    plain = {number for number in safe if SAME_AS not in _names(rules[number].heads[0])}
    return frozenset(found | plain)


def _copies_any(rule: Rule) -> bool:
    """Whether a rule of equality copies facts, or concludes equality."""
    (head,) = rule.heads
    return _names(head) <= {SAME_AS}


def _copies(rules: Sequence[Rule], ids: dict[bytes, int]) -> tuple[Rule, ...]:
    """The rules that replace subjects and objects, for facts that are not written out."""
    known = {signature(rule) for rule in rules}
    made = []
    for rule in (one for several in _equality() for one in several.split()):
        (head,) = rule.heads
        if signature(rule) not in known or not isinstance(head, TripleAtom):
            continue
        if not isinstance(head.p, Variable):
            continue
        made += [_with_property(rule, head.p, key) for key in KEPT_APART if ids[key]]
    return tuple(made)


def _with_property(rule: Rule, variable: Variable, key: bytes) -> Rule:
    name = Constant(key)

    def change(term: Any) -> Any:
        return name if term == variable else term

    body = tuple(
        Filter(substitute(item.expression, {variable: name}))
        if isinstance(item, Filter)
        else _mapped(item, change)
        for item in rule.body
    )
    return replace(rule, heads=(rule.heads[0].map(change),), body=body)
