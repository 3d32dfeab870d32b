"""The parser of queries: prologue, forms, SELECT clauses and solution modifiers.

Start at `QueryParser.query`. Always true: the operators above a pattern have the order of
section 18.2.4 of the specification: Group, Filter (HAVING), Join (VALUES at the end), Extend,
OrderBy, Project, Distinct or Reduced, Slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from triplestore.data_classes import data_class
from triplestore.expressions.text.term_parser import Stop
from triplestore.expressions.text.tokens import END, IRI, PREFIXED, VARIABLE, WORD
from triplestore.expressions.tree import Constant, Expression, Variable, substitute, variables_of
from triplestore.sparql.algebra.nodes import (
    UNIT,
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    Distinct,
    Extend,
    Node,
    Project,
    Query,
    Reduced,
    Select,
    Slice,
    TermOrVariable,
    TermPattern,
    TriplePattern,
    is_hidden,
)
from triplestore.sparql.syntax.modifiers import (
    AFTER,
    ModifierParser,
    Modifiers,
    ordered,
    ordered_and_sliced,
    sliced,
)
from triplestore.sparql.syntax.patterns import Read, joined
from triplestore.sparql.syntax.reified_triples import (
    as_template,
    computed,
    in_order_of_names,
    with_new_nodes,
)

_MOST_NODES = 100_000
"""Maximum size of an expression of SELECT after the variables in it are expanded."""

FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
UPDATES = ("INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY")


@data_class(frozen=False)
class _Item:
    """A variable of SELECT, its expression if it is computed, and the place of its token."""

    variable: Variable
    expression: Expression | None
    at: int


@data_class(frozen=False)
class _Clause:
    """The selected items, None for `*`; `distinct` is DISTINCT, REDUCED or ""."""

    distinct: str
    items: list[_Item] | None
    at: int

    def computed(self) -> dict[Variable, Expression]:
        """The expressions by variable, with computed variables in them expanded."""
        found: dict[Variable, Expression] = {}
        for item in self.items or ():
            if item.expression is not None:
                found[item.variable] = substitute(item.expression, found)
        return found


class _OfText(TypedDict):
    size: int
    base: str | None
    prefixes: dict[str, str]


class QueryParser(ModifierParser):
    """Reads queries."""

    # --- prologue and forms ---------------------------------------------------------------------

    def prologue(self) -> None:
        """BASE, PREFIX and VERSION."""
        while self.kinds[self.at] == WORD and (self.take_declaration() or self._take_version()):
            pass

    def _take_version(self) -> bool:
        """Skip VERSION with its text: all versions are read in the same way."""
        if not self.take_word("VERSION"):
            return False
        start = self.at
        self.string('after VERSION, such as "1.2"')
        if self.texts[start][:3] in ('"""', "'''"):
            self.report("the version is a string in single quotation marks", start)
        return True

    def query(self) -> Query:
        """A whole query."""
        self.prologue()
        word = self.texts[self.at].upper() if self.kinds[self.at] == WORD else ""
        if word not in FORMS:
            hint = ", but this is an update" if word in UPDATES else ""
            self.fail(f"{', '.join(FORMS[:-1])} or {FORMS[-1]}{hint}", known=FORMS)
        self.at += 1
        self._new_bgp()
        self.aggregates = {}
        if word == "SELECT":
            found: Query = self._select_query()
        elif word == "ASK":
            dataset = self.dataset_clauses("FROM")
            found = Ask(self._where_and_modifiers(), dataset=dataset, **self._of_text())
        elif word == "CONSTRUCT":
            found = self._construct()
        else:
            found = self._describe()
        if self.kinds[self.at] != END:
            self.fail("the end of the query or " + ", ".join(AFTER), known=AFTER)
        return found

    def _of_text(self) -> _OfText:
        """What each form has of its whole text, once that is read."""
        return {"size": len(self.kinds), "base": self.base, "prefixes": self.known_prefixes()}

    def known_prefixes(self) -> dict[str, str]:
        """The prefixes in force."""
        if not self._unknown:
            return dict(self.prefixes)
        return {p: name for p, name in self.prefixes.items() if p not in self._unknown}

    def dataset_clauses(self, word: str) -> DatasetClause | None:
        """FROM and FROM NAMED, or USING and USING NAMED."""
        default: list[Constant] = []
        named: list[Constant] = []
        while self.take_word(word):
            chosen = named if self.take_word("NAMED") else default
            chosen.append(self.expect_iri(f"after {word}: the name of a graph"))
        return DatasetClause(tuple(default), tuple(named)) if default or named else None

    def expect_iri(self, where: str) -> Constant:
        """An IRI that must come next."""
        if not self.is_iri():
            self.fail(f"an IRI {where}")
        return self.iri()

    def _select_query(self) -> Select:
        clause = self._select_clause()
        dataset = self.dataset_clauses("FROM")
        node = self._selected(clause, self._where())
        return Select(node, dataset=dataset, **self._of_text())

    def _construct(self) -> Construct:
        if self.is_operator("{"):
            template, terms = self._template()
            dataset = self.dataset_clauses("FROM")
            pattern = computed(self._where_and_modifiers(), terms)
            return Construct(pattern, template, dataset=dataset, **self._of_text())
        dataset = self.dataset_clauses("FROM")
        self.expect_word("WHERE", "or a template in '{' after CONSTRUCT")
        opened = self.at
        self.expect("{", "after WHERE")
        self._simple_triples()
        self.close(
            "}", opened, "or '.' after a triple: only triples are allowed without a template"
        )
        triples, self.triples = tuple(self.triples), []
        terms = self.take_terms()
        read = joined([Bgp(triples), *in_order_of_names(terms)])
        template, made = as_template(triples, terms)
        template = with_new_nodes(made, template)
        pattern = computed(self._modified(Read(read, [], self.scope)), made)
        return Construct(pattern, template, dataset=dataset, **self._of_text())

    def _simple_triples(self) -> None:
        """Triples of a pattern without paths."""
        start = self.at
        self.triples_block()
        if self.paths:
            self.report(
                "paths are not allowed without a template: they cannot be constructed", start
            )

    def _template(self) -> tuple[tuple[TriplePattern, ...], tuple[TermPattern, ...]]:
        opened = self.at
        self.expect("{", "")
        self.template = True
        self.triples_block()
        self.template = False
        self.close("}", opened, "or '.' after a triple of a template")
        triples, self.triples = tuple(self.triples), []
        terms = self.take_terms()
        return with_new_nodes(terms, triples), terms

    def _describe(self) -> Describe:
        targets: list[TermOrVariable] = []
        star = self.take("*")
        if not star:
            targets.append(self._iri_or_variable("or '*' after DESCRIBE"))
            while self.kinds[self.at] in (VARIABLE, IRI, PREFIXED):
                targets.append(self._iri_or_variable(""))
        dataset = self.dataset_clauses("FROM")
        has_where = star or self.is_word("WHERE") or self.is_operator("{")
        read = self._where() if has_where else Read(UNIT, [], {})
        pattern = self._modified(read)
        if star:
            targets = list(read.scope)
        return Describe(pattern, tuple(targets), dataset=dataset, **self._of_text())

    def _where(self) -> Read:
        self.take_word("WHERE")
        return self.group("where the pattern begins (WHERE)")

    def _where_and_modifiers(self) -> Node:
        return self._modified(self._where())

    def _modified(self, read: Read) -> Node:
        """A pattern with its modifiers, of a form other than SELECT."""
        modifiers = self.modifiers(read)
        return ordered_and_sliced(self.grouped(read, modifiers, {}), modifiers)

    # --- SELECT ---------------------------------------------------------------------------------

    def sub_select(self) -> Node:
        """A SELECT in braces; `scope` has the projected variables afterwards."""
        self.at += 1
        self.aggregates = {}
        node = self._selected(self._select_clause(), self._where())
        self.scope = dict.fromkeys(_projected(node))
        return node

    def _select_clause(self) -> _Clause:
        distinct = "DISTINCT" if self.take_word("DISTINCT") else ""
        if not distinct and self.take_word("REDUCED"):
            distinct = "REDUCED"
        start = self.at
        if self.take("*"):
            return _Clause(distinct, None, start)
        items = list(self._items())
        if not items:
            hint = ""
            if self.kinds[start] in (WORD, IRI, PREFIXED) and self.texts[start + 1] == "(":
                hint = f": expressions need a name, ({self.texts[start]}(...) AS ?name)"
            self.fail(f"a variable, '(expression AS ?variable)' or '*' after SELECT{hint}")
        return _Clause(distinct, items, start)

    def _items(self) -> Iterator[_Item]:
        while True:
            start = self.at
            self.count_part()
            if self.kinds[start] == VARIABLE:
                yield _Item(self.variable(""), None, start)
            elif self.take("("):
                self.enter()
                expression = self.expression()
                self.leave()
                self.expect_word("AS", "and a variable, or an operator, after an expression")
                variable = self.variable("after AS")
                self.expect(")", "after the variable of an expression")
                yield _Item(variable, expression, start)
            else:
                return

    def _selected(self, clause: _Clause, read: Read) -> Node:
        """The algebra of a SELECT; reads the modifiers behind its WHERE."""
        modifiers = self.modifiers(read)
        self._check_growth(clause)
        node = self.grouped(read, modifiers, clause.computed())
        if clause.items is None:
            if modifiers.grouped:
                self.report("SELECT * is not allowed with GROUP BY or aggregates", clause.at)
            variables = [*read.scope, *(modifiers.values.variables if modifiers.values else ())]
        else:
            self._check_items(clause.items, read, modifiers)
            variables = [item.variable for item in clause.items]
            for item in clause.items:
                if item.expression is not None:
                    node = Extend(node, item.variable, item.expression)
        node = Project(ordered(node, modifiers), tuple(dict.fromkeys(variables)))
        if clause.distinct:
            node = Distinct(node) if clause.distinct == "DISTINCT" else Reduced(node)
        return sliced(node, modifiers)

    def _check_growth(self, clause: _Clause) -> None:
        """Refuse (?x + ?x AS ?y) (?y + ?y AS ?z) and so on: each expansion may double the size."""
        sizes: dict[Variable, int] = {}
        for item in clause.items or ():
            if item.expression is not None:
                size = 1 + sum(sizes.get(v, 1) for v in variables_of(item.expression))
                if size > _MOST_NODES:
                    self.report(
                        f"the expression of {item.variable} is too large, because the variables "
                        "in it stand for others; use BIND",
                        item.at,
                    )
                    raise Stop
                sizes[item.variable] = size

    def _check_items(self, items: list[_Item], read: Read, modifiers: Modifiers) -> None:
        keys = {key.variable for key in modifiers.keys}
        in_scope = set(keys if modifiers.grouped else read.scope)
        if modifiers.values:
            in_scope.update(modifiers.values.variables)
        selected: set[Variable] = set()
        for item in items:
            used = [item.variable] if item.expression is None else variables_of(item.expression)
            for variable in used if modifiers.grouped else ():
                has = variable in in_scope or variable in selected
                if not has and not is_hidden(variable):
                    self.report(
                        f"{variable} is neither in GROUP BY nor in an aggregate, so a group may "
                        f"have several values; use SAMPLE({variable}), or group by it",
                        item.at,
                    )
            known = item.variable in in_scope or item.variable in selected
            if item.expression is not None and known:
                self.report(f"{item.variable} has a value already; use another name", item.at)
            selected.add(item.variable)


def _projected(node: Node) -> tuple[Variable, ...]:
    while not isinstance(node, Project):
        assert isinstance(node, Distinct | Reduced | Slice)
        node = node.pattern
    return node.variables
