"""The parser of group graph patterns, which builds their algebra directly.

Start at `PatternParser.group`. Always true, by section 18.2.2 of the specification: the
filters of a group apply to all of it, or are the condition of an OPTIONAL; joins with an empty
pattern are dropped; adjacent triples are one basic graph pattern, even with a FILTER between them;
the variables in scope are those of `algebra.variables`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from triplestore.expressions.text.tokens import END, VARIABLE, WORD
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.sparql.algebra.nodes import (
    UNIT,
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Service,
    TermOrVariable,
    Union,
    Values,
)
from triplestore.sparql.syntax.query_expressions import IN_PATTERN
from triplestore.sparql.syntax.reified_triples import in_order_of_names
from triplestore.sparql.syntax.triples import TripleParser
from triplestore.terms.triples.split_triples import has_blank

_ELEMENTS = ("FILTER", "OPTIONAL", "GRAPH", "UNION", "MINUS", "BIND", "VALUES", "SERVICE")


class Read(NamedTuple):
    """A group: its pattern, its filters, and the variables in scope."""

    pattern: Node
    filters: list[Expression]
    scope: dict[Variable, None]

    @property
    def node(self) -> Node:
        """The pattern with its filters."""
        return filtered(self.pattern, self.filters)


class PatternParser(TripleParser):
    """Reads group graph patterns.

    readers  what reads an element of a group, by its first word
    """

    readers: ClassVar[Mapping[str, Callable[[Any, list[Node]], None]]]

    # --- groups ---------------------------------------------------------------------------------

    def group(self, where: str) -> Read:
        """A group in braces; `scope` is restored afterwards."""
        opened = self.at
        self.expect("{", where)
        self.enter()
        self.count_part()
        before = (self.scope, self.triples, self.paths, self.aggregates, self.no_aggregates)
        terms = self.terms
        self.scope, self.triples, self.paths, self.terms = {}, [], [], {}
        self.aggregates, self.no_aggregates = None, IN_PATTERN
        self._new_bgp()
        filters: list[Expression] = []
        pattern = self.sub_select() if self.is_word("SELECT") else self._body(filters)
        self._new_bgp()
        self.leave()
        self._close_group(opened)
        read = Read(pattern, filters, self.scope)
        self.scope, self.triples, self.paths, self.aggregates, self.no_aggregates = before
        self.terms = terms
        return read

    @abstractmethod
    def sub_select(self) -> Node:
        """A SELECT in braces; implemented by the parser of queries."""

    def exists_pattern(self) -> Node:
        """The pattern of an EXISTS, without any effect on the pattern around it."""
        bgp = self.bgp
        read = self.group("after EXISTS")
        self.bgp = bgp
        return read.node

    def _new_bgp(self) -> None:
        self.bgps += 1
        self.bgp = self.bgps

    def _close_group(self, opened: int) -> None:
        if self.starts_triple():
            self.fail("'.' between two triples")
        if self.kinds[self.at] == WORD:
            self.fail(f"a triple, {', '.join(_ELEMENTS[:-1])} or {_ELEMENTS[-1]}", known=_ELEMENTS)
        self.close("}", opened, "or '.' in a graph pattern")

    def _body(self, filters: list[Expression]) -> Node:
        parts: list[Node] = []
        while True:
            if self.starts_triple():
                self.triples_block()
                if self.starts_triple():
                    break
            word = self.texts[self.at].upper() if self.kinds[self.at] == WORD else ""
            if word == "FILTER":
                self.at += 1
                self.count_part()
                filters.append(self.constraint("after FILTER"))
            elif word in self.readers:
                self._flush(parts)
                self.at += 1
                self.readers[word](self, parts)
                self._new_bgp()
            elif self.is_operator("{"):
                self._flush(parts)
                self._union(parts)
                self._new_bgp()
            else:
                break
            self.take(".")
        self._flush(parts)
        return joined(parts)

    def _flush(self, parts: list[Node]) -> None:
        """Add the triples read so far as one basic graph pattern, and the paths."""
        if self.triples:
            parts.append(Bgp(tuple(self.triples)))
            self.triples = []
        if self.paths:
            parts += self.paths
            self.paths = []
        if self.terms:
            # In an order that does not depend on where the text has paths.
            parts += in_order_of_names(self.take_terms())

    # --- elements of a group; what stands before one is in `parts` ------------------------------

    def _union(self, parts: list[Node]) -> None:
        found = [self._inner("where a group begins")]
        while self.take_word("UNION"):
            found.append(self._inner("after UNION"))
        parts.append(united(found))

    def _inner(self, where: str) -> Node:
        read = self.group(where)
        self.scope.update(read.scope)
        return read.node

    def _optional(self, parts: list[Node]) -> None:
        read = self.group("after OPTIONAL")
        self.scope.update(read.scope)
        condition = conjunction(read.filters) if read.filters else None
        parts[:] = [LeftJoin(joined(parts), read.pattern, condition)]

    def _minus(self, parts: list[Node]) -> None:
        parts[:] = [Minus(joined(parts), self.group("after MINUS").node)]

    def _graph(self, parts: list[Node]) -> None:
        name = self._iri_or_variable("after GRAPH: the name of a graph")
        parts.append(Graph(name, self._inner("after the name of a graph")))

    def _service(self, parts: list[Node]) -> None:
        silent = self.take_word("SILENT")
        name = self._iri_or_variable("after SERVICE: the address of an endpoint")
        parts.append(Service(name, self._inner("after the address of a service"), silent))

    def _bind(self, parts: list[Node]) -> None:
        self.expect("(", "after BIND")
        self.count_part()
        self.enter()
        expression = self.expression()
        self.leave()
        self.expect_word("AS", "or an operator after the expression of a BIND")
        variable = self.variable("after AS")
        if variable in self.scope:
            self.report(f"{variable} has a value before this BIND; use another name", self.at - 1)
        self.expect(")", "after the variable of a BIND")
        self.scope[variable] = None
        parts[:] = [Extend(joined(parts), variable, expression)]

    def _values(self, parts: list[Node]) -> None:
        values = self.data_block()
        self.scope.update(dict.fromkeys(values.variables))
        parts.append(values)

    def data_block(self) -> Values:
        """The table of a VALUES."""
        if self.kinds[self.at] == VARIABLE:
            variables: tuple[Variable, ...] = (self.variable(""),)
            opened = self.at
            self.expect("{", "after the variable of VALUES")
            rows: list[tuple[Constant | None, ...]] = []
            while not self.is_operator("}") and self.kinds[self.at] != END:
                rows.append((self._value(),))
        else:
            variables = self._values_variables()
            opened = self.at
            self.expect("{", "after the variables of VALUES")
            rows = []
            while self.is_operator("("):
                rows.append(self._row(len(variables)))
        self.close("}", opened, "or another row in VALUES")
        return Values(variables, tuple(rows))

    def _values_variables(self) -> tuple[Variable, ...]:
        self.expect("(", "or a variable after VALUES")
        variables: dict[Variable, None] = {}
        while not self.take(")"):
            self.count_part()
            variable = self.variable("or ')' in VALUES")
            if variable in variables:
                self.report(f"{variable} occurs twice in this VALUES", self.at - 1)
            variables[variable] = None
        return tuple(variables)

    def _row(self, width: int) -> tuple[Constant | None, ...]:
        self.look_at_limits()
        start = self.at
        self.at += 1
        row = []
        while not self.is_operator(")") and self.kinds[self.at] != END:
            row.append(self._value())
        self.close(")", start, "or another value in a row of VALUES")
        if len(row) != width:
            plural = "variable" if width == 1 else "variables"
            self.report(f"a row of {len(row)} in VALUES with {width} {plural}", start)
        return tuple(row)

    def _value(self) -> Constant | None:
        if self.take_word("UNDEF"):
            return None
        if self.kinds[self.at] == VARIABLE:
            self.fail("a constant or UNDEF in VALUES: use BIND for computed values")
        start = self.at
        found = self.constant("or UNDEF in VALUES")
        if has_blank(found.key):
            self.report(
                f"{found} is not allowed in VALUES: a blank node does not name a resource", start
            )
        return found

    def _iri_or_variable(self, where: str) -> TermOrVariable:
        if self.kinds[self.at] == VARIABLE:
            return self.scoped_variable()
        if not self.is_iri():
            self.fail(f"an IRI or a variable {where}")
        return self.iri()


PatternParser.readers = {
    "OPTIONAL": PatternParser._optional,
    "MINUS": PatternParser._minus,
    "GRAPH": PatternParser._graph,
    "SERVICE": PatternParser._service,
    "BIND": PatternParser._bind,
    "VALUES": PatternParser._values,
}


# --- algebra from parts --------------------------------------------------------------------------


def joined(parts: Iterable[Node]) -> Node:
    """The join of patterns in this order.

    >>> joined([UNIT, Values((), ())])
    Values(variables=(), rows=())
    """
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, Join):
            flat += part.parts
        elif part != UNIT:
            flat.append(part)
    if not flat:
        return UNIT
    return flat[0] if len(flat) == 1 else Join(tuple(flat))


def united(parts: Iterable[Node]) -> Node:
    """The union of patterns in this order."""
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Union) else (part,)
    return flat[0] if len(flat) == 1 else Union(tuple(flat))


def conjunction(conditions: Iterable[Expression]) -> Expression:
    """The conjunction of conditions."""
    flat: list[Expression] = []
    for condition in conditions:
        if isinstance(condition, Call) and condition.function == "&&":
            flat += condition.arguments
        else:
            flat.append(condition)
    return flat[0] if len(flat) == 1 else Call("&&", tuple(flat))


def filtered(pattern: Node, conditions: list[Expression]) -> Node:
    """A pattern with filters."""
    return Filter(pattern, conjunction(conditions)) if conditions else pattern
