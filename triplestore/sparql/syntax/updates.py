"""The parser of updates.

Start at `UpdateParser.update`. Always true: the templates include the graph of WITH; data
has neither variables nor invalid triples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import pyoxigraph as ox

from triplestore.expressions.text.tokens import DATA, END, WORD
from triplestore.expressions.tree import Constant, Variable
from triplestore.sparql.algebra.nodes import (
    Bgp,
    DatasetClause,
    Graph,
    Node,
    QuadPattern,
    TermOrVariable,
    TermPattern,
    TriplePattern,
)
from triplestore.sparql.algebra.updates import (
    Add,
    Clear,
    Copy,
    Create,
    DeleteData,
    Drop,
    GraphTarget,
    InsertData,
    Load,
    Modify,
    Move,
    Operation,
    Update,
)
from triplestore.sparql.syntax.data_blocks import read_block
from triplestore.sparql.syntax.patterns import joined
from triplestore.sparql.syntax.queries import FORMS, UPDATES, QueryParser
from triplestore.sparql.syntax.reified_triples import as_pattern, computed, with_new_nodes
from triplestore.terms.term_keys import BLANK, IRI

_NO_BLANKS_DATA = "DELETE DATA cannot have blank nodes, because they do not name a resource"
_NO_BLANKS = "DELETE cannot have blank nodes: use a variable"
_NO_VARIABLES = "data cannot have variables: use INSERT { } WHERE { } or DELETE { } WHERE { }"


class NotPlainError(Exception):
    """A block of data cannot be read as TriG; the usual parser must read it."""


class _Block(NamedTuple):
    """Triples of a template for one graph."""

    graph: TermOrVariable | None
    triples: tuple[TriplePattern, ...]
    terms: tuple[TermPattern, ...]


class UpdateParser(QueryParser):
    """Reads updates."""

    def update(self) -> Update:
        """A whole request."""
        operations: list[Operation] = []
        self._inserted: dict[str, int] = {}  # label -> its operation
        while True:
            self.prologue()
            if self.kinds[self.at] == END:
                break
            operations.append(self._operation())
            self._labels.clear()
            if not self.take(";"):
                break
        if self.kinds[self.at] != END:
            self.fail("';' between two operations, or the end")
        return Update(tuple(operations), self.base, self.known_prefixes())

    def _operation(self) -> Operation:
        word = self.texts[self.at].upper() if self.kinds[self.at] == WORD else ""
        if word not in UPDATES:
            hint = ", but this is a query" if word in FORMS else ""
            self.fail(f"{', '.join(UPDATES[:-1])} or {UPDATES[-1]}{hint}", known=UPDATES)
        self._new_bgp()
        if word in ("INSERT", "DELETE", "WITH"):
            return self._change()
        self.at += 1
        silent = self.take_word("SILENT")
        if word == "LOAD":
            return self._load(silent)
        if word == "CREATE":
            self.expect_word("GRAPH", "after CREATE")
            return Create(self.expect_iri("after GRAPH: the name of a graph"), silent)
        if word == "CLEAR":
            return Clear(self._target(word), silent)
        if word == "DROP":
            return Drop(self._target(word), silent)
        return self._between(word, silent)

    # --- graphs ---------------------------------------------------------------------------------

    def _load(self, silent: bool) -> Load:
        source = self.expect_iri("after LOAD: the document to load")
        if not self.take_word("INTO"):
            return Load(source, None, silent)
        self.expect_word("GRAPH", "after INTO")
        return Load(source, self.expect_iri("after GRAPH: the name of a graph"), silent)

    def _target(self, word: str) -> GraphTarget:
        if self.take_word("GRAPH"):
            return self.expect_iri("after GRAPH: the name of a graph")
        targets: tuple[GraphTarget, ...] = ("DEFAULT", "NAMED", "ALL")
        for target in targets:
            if self.take_word(str(target)):
                return target
        self.fail(f"GRAPH and an IRI, DEFAULT, NAMED or ALL after {word}")
        raise AssertionError

    def _graph_or_default(self, where: str) -> Constant | None:
        if self.take_word("DEFAULT"):
            return None
        self.take_word("GRAPH")
        return self.expect_iri(f"or DEFAULT {where}")

    def _between(self, word: str, silent: bool) -> Add | Move | Copy:
        source = self._graph_or_default(f"after {word}")
        self.expect_word("TO", f"after the graph of {word}")
        target = self._graph_or_default("after TO")
        if word == "ADD":
            return Add(source, target, silent)
        return (Move if word == "MOVE" else Copy)(source, target, silent)

    # --- data -----------------------------------------------------------------------------------

    def _change(self) -> Operation:
        graph = None
        if self.take_word("WITH"):
            graph = self.expect_iri("after WITH: the name of a graph")
            if not (self.is_word("INSERT") or self.is_word("DELETE")):
                self.fail("DELETE or INSERT after WITH", known=("DELETE", "INSERT"))
        following = self.texts[self.at + 1].upper()
        if graph is None and following == "DATA":
            insert = self.is_word("INSERT")
            self.at += 2
            return InsertData(self._data(True)) if insert else DeleteData(self._data(False))
        if graph is None and following == "WHERE" and self.is_word("DELETE"):
            self.at += 2
            blocks = self._template_blocks("after DELETE WHERE", _NO_BLANKS)
            return self._modified_by(blocks, (), _pattern(blocks), None, None)
        return self._modify(graph)

    def _data(self, insert: bool) -> tuple[ox.Quad, ...]:
        start = self.at
        if self.kinds[self.at + 1] == DATA:
            quads = read_block(self.texts[self.at + 1], self.known_prefixes(), self.base)
            if quads is None:
                raise NotPlainError
            self.at += 2
            self.close("}", start, "at the end of data")
            if not insert and _labels(quads):
                raise NotPlainError
        else:
            self.no_variables, self.data = _NO_VARIABLES, True
            blocks = self._template_blocks("after DATA", "" if insert else _NO_BLANKS_DATA)
            self.no_variables, self.data = "", False
            self.terms = {}  # of variables, which were reported
            quads = tuple(quad for block in blocks for quad in self._ground(block, start))
        if insert:
            self._check_labels(_labels(quads), start)
        return quads

    def _check_labels(self, labels: set[str], start: int) -> None:
        """Refuse a label that is in two operations: it would be two blank nodes."""
        for label in sorted(labels):
            if self._inserted.setdefault(label, start) != start:
                self.report(
                    f"_:{label} is in two INSERT DATA, where it would be two blank nodes: "
                    "put both in one",
                    start,
                )

    def _ground(self, block: _Block, start: int) -> list[ox.Quad]:
        found: list[ox.Quad] = []
        if isinstance(block.graph, Variable):
            return found  # it was reported
        graph: Any = ox.DefaultGraph() if block.graph is None else block.graph.term
        for triple in block.triples:
            subject, predicate, object_ = triple
            if isinstance(subject, Variable) or isinstance(predicate, Variable):
                continue  # it was reported
            if isinstance(object_, Variable):
                continue
            if subject.kind not in (IRI, BLANK):
                self.report(
                    f"{subject} cannot be a subject: it is not an IRI or a blank node", start
                )
                continue
            terms: tuple[Any, Any, Any] = (subject.term, predicate.term, object_.term)
            found.append(ox.Quad(*terms, graph))
        return found

    # --- templates ------------------------------------------------------------------------------

    def _modify(self, graph: Constant | None) -> Modify:
        deletes: list[_Block] = []
        inserts: list[_Block] = []
        if self.take_word("DELETE"):
            deletes = self._template_blocks("after DELETE", _NO_BLANKS)
            if self.take_word("INSERT"):
                inserts = self._template_blocks("after INSERT", "")
        else:
            self.at += 1
            inserts = self._template_blocks("or DATA after INSERT", "")
        dataset = self.dataset_clauses("USING")
        self.expect_word("WHERE", "and a pattern after the templates of an update")
        pattern = self.group("after WHERE").node
        return self._modified_by(deletes, inserts, pattern, dataset, graph)

    def _modified_by(
        self,
        deletes: Sequence[_Block],
        inserts: Sequence[_Block],
        pattern: Node,
        dataset: DatasetClause | None,
        graph: Constant | None,
    ) -> Modify:
        terms = dict.fromkeys(term for block in (*deletes, *inserts) for term in block.terms)
        delete, insert = (_quads(blocks, graph, terms) for blocks in (deletes, inserts))
        return Modify(delete, insert, computed(pattern, terms), dataset, graph)

    def _template_blocks(self, where: str, no_blanks: str) -> list[_Block]:
        """The triples of a template in braces, one block per graph."""
        opened = self.at
        self.expect("{", where)
        self.template, self.no_blanks = True, no_blanks
        blocks: list[_Block] = []
        while True:
            self.triples_block()
            if self.triples:
                blocks.append(_Block(None, tuple(self.triples), self.take_terms()))
                self.triples = []
            if not self.take_word("GRAPH"):
                break
            blocks.append(self._graph_block())
            self.take(".")
        self.template, self.no_blanks = False, ""
        if self.kinds[self.at] == WORD:
            self.fail("a triple, GRAPH or '}' in a template", known=("GRAPH",))
        self.close("}", opened, "or '.' after a triple")
        return blocks

    def _graph_block(self) -> _Block:
        name = self._iri_or_variable("after GRAPH: the name of a graph")
        opened = self.at
        self.expect("{", "after the name of a graph")
        self.triples_block()
        self.close("}", opened, "or '.' after a triple")
        triples, self.triples = tuple(self.triples), []
        return _Block(name, triples, self.take_terms())


def _quads(
    blocks: Sequence[_Block], graph: Constant | None, terms: Collection[TermPattern]
) -> tuple[QuadPattern, ...]:
    return tuple(
        QuadPattern(s, p, o, graph if block.graph is None else block.graph)
        for block in blocks
        for s, p, o in with_new_nodes(terms, block.triples)
    )


def _pattern(blocks: list[_Block]) -> Node:
    """The template of DELETE WHERE as a pattern."""
    parts = []
    for block in blocks:
        triples, terms = as_pattern(block.triples, block.terms)
        found = joined([Bgp(triples), *terms])
        parts.append(found if block.graph is None else Graph(block.graph, found))
    return joined(parts)


def _labels(quads: tuple[ox.Quad, ...]) -> set[str]:
    blank = ox.BlankNode
    found = {quad.subject.value for quad in quads if type(quad.subject) is blank}
    for quad in quads:
        object_ = quad.object
        while type(object_) is ox.Triple:
            if type(object_.subject) is blank:
                found.add(object_.subject.value)
            object_ = object_.object
        if type(object_) is blank:
            found.add(object_.value)
    return found
