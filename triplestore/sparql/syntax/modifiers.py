"""The parser of solution modifiers: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, VALUES.

Start at `ModifierParser.modifiers`. Always true: after `grouped`, expressions of HAVING and
ORDER BY only have variables of the groups.
"""

from __future__ import annotations

from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.expressions.text.tokens import INTEGER, IRI, PREFIXED, VARIABLE, WORD
from triplestore.expressions.tree import Expression, Variable, substitute, variables_of
from triplestore.sparql.algebra.nodes import (
    Aggregate,
    AggregateKey,
    Group,
    GroupKey,
    Node,
    OrderBy,
    OrderKey,
    Slice,
    Values,
    is_hidden,
)
from triplestore.sparql.syntax.patterns import PatternParser, Read, filtered, joined

_MOST_DIGITS = 18
AFTER = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


@data_class(frozen=False)
class Modifiers:
    """The modifiers behind a WHERE."""

    keys: list[GroupKey] = field(default_factory=list)
    grouped: bool = False
    having: list[Expression] = field(default_factory=list)
    order: list[OrderKey] = field(default_factory=list)
    offset: int = 0
    limit: int | None = None
    values: Values | None = None


class ModifierParser(PatternParser):
    """Reads solution modifiers."""

    def modifiers(self, read: Read) -> Modifiers:
        """The modifiers of a pattern."""
        found = Modifiers()
        if self.take_word("GROUP"):
            self.expect_word("BY", "after GROUP")
            found.grouped = True
            found.keys = self._group_keys(read)
        if self.take_word("HAVING"):
            found.having.append(self.constraint("after HAVING"))
            while self._starts_constraint():
                self.count_part()
                found.having.append(self.constraint("after HAVING"))
        if self.take_word("ORDER"):
            self.expect_word("BY", "after ORDER")
            found.order = self._order_keys()
        self._limits(found)
        if self.take_word("VALUES"):
            found.values = self.data_block()
        found.grouped = found.grouped or bool(self.aggregates)
        return found

    def _starts_constraint(self) -> bool:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == WORD:
            return text.upper() not in AFTER
        return kind in (IRI, PREFIXED) or self.is_operator("(")

    def _group_keys(self, read: Read) -> list[GroupKey]:
        keys: list[GroupKey] = []
        unnamed = 0
        aggregates, reason = self.aggregates, self.no_aggregates
        self.aggregates, self.no_aggregates = None, "GROUP BY comes before aggregates"
        while True:
            self.count_part()
            if self.kinds[self.at] == VARIABLE:
                variable = self.variable("")
                keys.append(GroupKey(variable, variable))
            elif self.is_operator("("):
                key = self._group_expression(read, Variable(f"key:{unnamed}"))
                unnamed += is_hidden(key.variable)
                keys.append(key)
            elif self._starts_constraint():
                expression = self.constraint("in GROUP BY")
                keys.append(GroupKey(Variable(f"key:{unnamed}"), expression))
                unnamed += 1
            else:
                break
        if not keys:
            self.fail("a variable, a call or '(expression AS ?variable)' after GROUP BY")
        self.aggregates, self.no_aggregates = aggregates, reason
        return list(dict.fromkeys(keys))

    def _group_expression(self, read: Read, variable: Variable) -> GroupKey:
        self.at += 1
        self.enter()
        expression = self.expression()
        self.leave()
        if self.take_word("AS"):
            variable = self.variable("after AS")
            if variable in read.scope:
                self.report(f"{variable} has a value already; use another name", self.at - 1)
        elif isinstance(expression, Variable):
            variable = expression
        self.expect(")", "or AS after an expression in GROUP BY")
        return GroupKey(variable, expression)

    def _order_keys(self) -> list[OrderKey]:
        keys: list[OrderKey] = []
        while True:
            self.count_part()
            if self.kinds[self.at] == VARIABLE:
                keys.append(OrderKey(self.variable("")))
            elif self.is_word("ASC") or self.is_word("DESC"):
                descending = self.is_word("DESC")
                self.at += 1
                if not self.is_operator("("):
                    self.fail(f"'(' after {'DESC' if descending else 'ASC'}")
                keys.append(OrderKey(self.primary(), descending))
            elif self._starts_constraint():
                keys.append(OrderKey(self.constraint("in ORDER BY")))
            else:
                break
        if not keys:
            self.fail("a variable, a call, '(expression)', ASC(...) or DESC(...) after ORDER BY")
        return keys

    def _limits(self, found: Modifiers) -> None:
        seen: set[str] = set()
        while self.is_word("LIMIT") or self.is_word("OFFSET"):
            word = self.texts[self.at].upper()
            if word in seen:
                self.report(f"{word} occurs twice")
            seen.add(word)
            self.at += 1
            if self.kinds[self.at] != INTEGER:
                self.fail(f"a number after {word}")
            if len(self.texts[self.at]) > _MOST_DIGITS:
                self.fail(f"a number of at most {_MOST_DIGITS} digits after {word}")
            number = int(self.texts[self.at])
            self.at += 1
            if word == "LIMIT":
                found.limit = number
            else:
                found.offset = number

    # --- groups ---------------------------------------------------------------------------------

    def grouped(
        self, read: Read, modifiers: Modifiers, computed: dict[Variable, Expression]
    ) -> Node:
        """The pattern with Group, HAVING and VALUES; the modifiers are changed.

        computed  expressions of SELECT by variable, without variables that SELECT computes
        """
        node = read.node
        if modifiers.grouped:
            self._sample(read, modifiers, computed)
            aggregates = (AggregateKey(v, a) for a, v in (self.aggregates or {}).items())
            node = Group(node, tuple(modifiers.keys), tuple(aggregates))
        node = filtered(node, modifiers.having)
        return joined([node, modifiers.values]) if modifiers.values else node

    def _sample(
        self, read: Read, modifiers: Modifiers, computed: dict[Variable, Expression]
    ) -> None:
        """Replace each ?x in HAVING and ORDER BY that a group does not have by SAMPLE(?x).

        In HAVING, a variable of SELECT stands for its expression: in the specification it is
        unbound there, which is useless.
        """
        assert self.aggregates is not None
        before = len(self.aggregates)
        kept = {key.variable for key in modifiers.keys}
        having = [substitute(condition, computed) for condition in modifiers.having]
        modifiers.having = [self._sampled(condition, read, kept) for condition in having]
        kept.update(computed)
        modifiers.order = [
            OrderKey(self._sampled(key.expression, read, kept), key.descending)
            for key in modifiers.order
        ]
        if len(self.aggregates) > before:
            self._renumber(modifiers, computed)

    def _renumber(self, modifiers: Modifiers, computed: dict[Variable, Expression]) -> None:
        """Number aggregates as if each SAMPLE had been written in the text."""
        assert self.aggregates is not None
        texts = [*computed.values(), *modifiers.having]
        texts += [key.expression for key in modifiers.order]
        aggregates = {variable: aggregate for aggregate, variable in self.aggregates.items()}
        seen = dict.fromkeys(v for text in texts for v in variables_of(text) if v in aggregates)
        new = dict(zip(seen, aggregates, strict=True))
        self.aggregates = {aggregates[old]: new[old] for old in seen}
        modifiers.having = [substitute(condition, new) for condition in modifiers.having]
        modifiers.order = [
            OrderKey(substitute(key.expression, new), key.descending) for key in modifiers.order
        ]

    def _sampled(self, expression: Expression, read: Read, kept: set[Variable]) -> Expression:
        lost = {v for v in variables_of(expression) if v in read.scope and v not in kept}
        samples: dict[Variable, Expression] = {}
        assert self.aggregates is not None
        for variable in sorted(lost, key=str):
            sample = Aggregate("sample", variable)
            if sample not in self.aggregates:
                self.aggregates[sample] = Variable(f"aggregate:{self._aggregate_count}")
                self._aggregate_count += 1
            samples[variable] = self.aggregates[sample]
        return substitute(expression, samples) if samples else expression


def ordered_and_sliced(node: Node, modifiers: Modifiers) -> Node:
    """A node with ORDER BY, LIMIT and OFFSET."""
    return sliced(ordered(node, modifiers), modifiers)


def ordered(node: Node, modifiers: Modifiers) -> Node:
    """A node with ORDER BY."""
    return OrderBy(node, tuple(modifiers.order)) if modifiers.order else node


def sliced(node: Node, modifiers: Modifiers) -> Node:
    """A node with LIMIT and OFFSET."""
    if modifiers.offset or modifiers.limit is not None:
        return Slice(node, modifiers.offset, modifiers.limit)
    return node
