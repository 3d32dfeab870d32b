"""Graph patterns as text that is parsed to the same algebra.

Start at `Writer.select` and `Writer.elements`. Always true: a pattern gets braces if the
text would otherwise have another meaning, for example a Filter that is not the last of its group,
and triples that would become one basic graph pattern with those before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Constant, Exists, Expression, Variable
from triplestore.sparql.algebra.nodes import (
    UNIT,
    Aggregate,
    Alternative,
    Bgp,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    GroupKey,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    NegatedSet,
    Node,
    OneOrMore,
    OrderBy,
    OrderKey,
    Path,
    PathExpression,
    Project,
    Reduced,
    Sequence,
    Service,
    Slice,
    TermOrVariable,
    TermPattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
    is_hidden,
)
from triplestore.sparql.syntax.reified_triples import (
    is_computed,
    text_of_hidden,
    without_computed,
)
from triplestore.terms.vocabulary import RDF_TYPE

_TYPE = Constant.iri(RDF_TYPE)


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one level deeper."""
    return [f"  {line}" for line in lines]


class Writer(Namer):
    """Writes patterns, with prefixed names."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__(prefixes)
        self._declared = dict(prefixes)
        self._aggregates: dict[Variable, Aggregate] = {}

    def used_prefixes(self) -> Iterator[tuple[str, str]]:
        """The prefixes used so far, and their namespaces."""
        for prefix in sorted(self.used):
            yield prefix, self._declared[prefix]

    # --- terms ----------------------------------------------------------------------------------

    def term(self, term: TermOrVariable) -> str:
        """A term or variable; an aggregate for its hidden variable."""
        if isinstance(term, Constant) or not is_hidden(term):
            return super().term(term)
        found = self._aggregates.get(term)
        return text_of_hidden(term) if found is None else self._aggregate(found)

    def triple(self, subject: TermOrVariable, verb: TermOrVariable, object_: TermOrVariable) -> str:
        """A triple with its '.'."""
        middle = "a" if verb == _TYPE else self.term(verb)
        return f"{self.term(subject)} {middle} {self.term(object_)} ."

    def exists(self, exists: Exists) -> str:
        """EXISTS or NOT EXISTS."""
        word = "NOT EXISTS" if exists.negated else "EXISTS"
        return " ".join(line.strip() for line in self.group(word, exists.pattern))

    def _aggregate(self, aggregate: Aggregate) -> str:
        name = aggregate.function
        name = self.iri(name) if ":" in name else name.upper()
        text = "*" if aggregate.argument is None else self.expression(aggregate.argument)
        if aggregate.distinct:
            text = f"DISTINCT {text}"
        if aggregate.separator is not None:
            separator = Constant(b"\x03" + aggregate.separator.encode())
            text += f"; SEPARATOR = {separator}"
        return f"{name}({text})"

    def expression(self, expression: Expression) -> str:
        """An expression."""
        return expression_text(expression, self)

    def _in_parentheses(self, expression: Expression) -> str:
        return f"({self.expression(expression)})"

    # --- groups ---------------------------------------------------------------------------------

    def group(self, word: str, node: Node) -> list[str]:
        """A group in braces after a word."""
        return [f"{word} {{".lstrip(), *indented(self._content(node)), "}"]

    def _content(self, node: Node) -> list[str]:
        """The lines inside of the braces of a group for this node."""
        if isinstance(node, Project | Distinct | Reduced | Slice):
            return self.select(node, [])
        if isinstance(node, Filter):
            return [*self.elements(node.pattern), self._filter(node.condition)]
        return self.elements(node)

    def _filter(self, condition: Expression) -> str:
        return f"FILTER {self._in_parentheses(condition)}"

    def elements(self, node: Node) -> list[str]:
        """The elements of a group for this node, without filters."""
        if node == UNIT:
            return []
        if isinstance(node, Join):
            return self._join(node)
        if isinstance(node, LeftJoin):
            inner = self.elements(node.right)
            if node.condition is not None:
                inner.append(self._filter(node.condition))
            return [*self.elements(node.left), "OPTIONAL {", *indented(inner), "}"]
        if isinstance(node, Minus):
            return [*self.elements(node.left), *self.group("MINUS", node.right)]
        if is_computed(node):
            return self.elements(without_computed(node))
        if isinstance(node, Extend):
            text = f"BIND({self.expression(node.expression)} AS {node.variable})"
            return [*self.elements(node.pattern), text]
        return self._element(node)

    def _element(self, node: Node) -> list[str]:
        """A node that may follow others."""
        if isinstance(node, Bgp):
            return [self.triple(*triple) for triple in node.patterns]
        if isinstance(node, TermPattern):
            return []  # its term is written where it is used
        if isinstance(node, Path):
            path = path_text(node.path, self)
            return [f"{self.term(node.subject)} {path} {self.term(node.object)} ."]
        if isinstance(node, Union):
            lines = self.group("", node.parts[0])
            for part in node.parts[1:]:
                _, *rest = self.group("", part)
                lines += ["UNION {", *rest]
            return lines
        if isinstance(node, Graph):
            return self.group(f"GRAPH {self.term(node.name)}", node.pattern)
        if isinstance(node, Service):
            silent = "SILENT " if node.silent else ""
            return self.group(f"SERVICE {silent}{self.term(node.name)}", node.pattern)
        if isinstance(node, Values):
            return self.values(node)
        return self.group("", node)

    def _join(self, node: Join) -> list[str]:
        lines = self.elements(node.parts[0])
        block = isinstance(node.parts[0], Bgp | Path | TermPattern)
        at = 1
        while at < len(node.parts):
            part = node.parts[at]
            if block and isinstance(part, Bgp):
                # The following paths may share its blank nodes.
                end = at + 1
                while end < len(node.parts) and isinstance(node.parts[end], Path | TermPattern):
                    end += 1
                inner = [line for one in node.parts[at:end] for line in self._element(one)]
                lines += ["{", *indented(inner), "}"]
                block, at = False, end
                continue
            lines += self._element(part)
            block = isinstance(part, Bgp | Path | TermPattern)
            at += 1
        return lines

    def values(self, node: Values) -> list[str]:
        """VALUES."""
        names = " ".join(map(str, node.variables))
        rows = [
            "(" + " ".join("UNDEF" if term is None else self.term(term) for term in row) + ")"
            for row in node.rows
        ]
        return [f"VALUES ({names}) {{", *indented(rows), "}"]

    # --- SELECT and what stands behind a WHERE --------------------------------------------------

    def select(self, node: Node, dataset: list[str]) -> list[str]:
        """A SELECT; `dataset` has the lines of its FROM."""
        sliced, node = (node, node.pattern) if isinstance(node, Slice) else (None, node)
        word = "SELECT"
        if isinstance(node, Distinct | Reduced):
            word += f" {type(node).__name__.upper()}"
            node = node.pattern
        assert isinstance(node, Project), node
        variables, node = node.variables, node.pattern
        order, node = (node.keys, node.pattern) if isinstance(node, OrderBy) else ((), node)
        computed: dict[Variable, Expression] = {}
        below = node
        while isinstance(below, Extend):
            computed[below.variable] = below.expression
            below = below.pattern
        if _group_below(below) is None:
            computed, below = {}, node
        self._learn(below)
        items = [self._item(variable, computed.get(variable)) for variable in variables]
        lines = [f"{word} {' '.join(items) or '*'}", *dataset]
        where, behind = self._where(below, order)
        return [*lines, *where, *behind, *_limits(sliced)]

    def where(self, node: Node) -> tuple[list[str], list[str]]:
        """The WHERE of a form other than SELECT, and its modifiers."""
        node = without_computed(node)
        sliced, node = (node, node.pattern) if isinstance(node, Slice) else (None, node)
        order, node = (node.keys, node.pattern) if isinstance(node, OrderBy) else ((), node)
        self._learn(node)
        where, behind = self._where(node, order)
        return where, [*behind, *_limits(sliced)]

    def _learn(self, node: Node) -> None:
        group = _group_below(node)
        if group is not None:
            self._aggregates.update(group.aggregates)

    def _item(self, variable: Variable, expression: Expression | None) -> str:
        return (
            str(variable)
            if expression is None
            else f"({self.expression(expression)} AS {variable})"
        )

    def _where(self, node: Node, order: tuple[OrderKey, ...]) -> tuple[list[str], list[str]]:
        """The WHERE, and GROUP BY, HAVING, ORDER BY; VALUES behind a group."""
        group = _group_below(node)
        ordering = [f"ORDER BY {' '.join(map(self._order_key, order))}"] if order else []
        if group is None:
            return self.group("WHERE", node), ordering
        values: list[str] = []
        if isinstance(node, Join):
            node, last = node.parts
            assert isinstance(last, Values)
            values = self.values(last)
        grouping = ["GROUP BY " + " ".join(map(self._key, group.keys))] if group.keys else []
        if isinstance(node, Filter):
            grouping.append(f"HAVING {self._in_parentheses(node.condition)}")
        return self.group("WHERE", group.pattern), [*grouping, *ordering, *values]

    def _key(self, key: GroupKey) -> str:
        if key.variable == key.expression:
            return str(key.variable)
        name = "" if is_hidden(key.variable) else f" AS {key.variable}"
        return f"({self.expression(key.expression)}{name})"

    def _order_key(self, key: OrderKey) -> str:
        if key.descending:
            return f"DESC{self._in_parentheses(key.expression)}"
        if isinstance(key.expression, Variable) and not is_hidden(key.expression):
            return str(key.expression)
        return self._in_parentheses(key.expression)


def _group_below(node: Node) -> Group | None:
    """The Group of a SELECT, below VALUES and HAVING."""
    if isinstance(node, Join) and len(node.parts) == 2 and isinstance(node.parts[1], Values):
        node = node.parts[0]
    if isinstance(node, Filter):
        node = node.pattern
    return node if isinstance(node, Group) else None


def _limits(sliced: Slice | None) -> list[str]:
    if sliced is None:
        return []
    lines = [] if sliced.limit is None else [f"LIMIT {sliced.limit}"]
    return lines + ([f"OFFSET {sliced.offset}"] if sliced.offset else [])


# --- paths ---------------------------------------------------------------------------------------

_ALTERNATIVE, _SEQUENCE, _INVERSE, _PRIMARY = range(4)
_MODIFIERS = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}


def path_text(path: PathExpression, namer: Namer, least: int = _ALTERNATIVE) -> str:
    """A path; in parentheses if it binds less tightly than `least`.

    >>> a = Constant.iri("http://e/a")
    >>> path_text(ZeroOrMore(Alternative((a, Inverse(a)))), Namer({"": "http://e/"}))
    '(:a|^:a)*'
    """
    if isinstance(path, Constant):
        return "a" if path == _TYPE else namer.term(path)
    if isinstance(path, NegatedSet):
        strength, text = _PRIMARY, f"!({'|'.join(path_text(iri, namer) for iri in path.iris)})"
    elif isinstance(path, Alternative):
        parts = [path_text(part, namer, _SEQUENCE) for part in path.parts]
        strength, text = _ALTERNATIVE, "|".join(parts)
    elif isinstance(path, Sequence):
        parts = [path_text(part, namer, _INVERSE) for part in path.parts]
        strength, text = _SEQUENCE, "/".join(parts)
    elif isinstance(path, Inverse):
        strength, text = _INVERSE, f"^{path_text(path.path, namer, _INVERSE)}"
    else:
        modifier = _MODIFIERS[type(path)]
        # a modifier, `p*`, binds as tightly as `^p` and cannot be followed by another: `(p*)+`
        strength, text = _INVERSE, path_text(path.path, namer, _PRIMARY) + modifier
    return f"({text})" if strength < least else text
