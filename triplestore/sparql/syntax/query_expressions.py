"""Expressions of queries, in addition to those of rules: EXISTS, aggregates, function IRIs.

Start at `QueryExpressions`. Always true: each aggregate is replaced by a hidden variable
at once, so expressions have no aggregates in them; equal aggregates of one SELECT share a variable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from triplestore.expressions.functions import AGGREGATES, FUNCTIONS
from triplestore.expressions.text.expression_parser import ExpressionParser
from triplestore.expressions.text.term_parser import iri_of
from triplestore.expressions.text.tokens import BLANK, IRI, PREFIXED, VARIABLE, WORD, Tokens
from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.sparql.algebra.nodes import Aggregate, Node
from triplestore.sparql.syntax.known_prefixes import WELL_KNOWN

IN_PATTERN = "aggregates are allowed in SELECT, HAVING and ORDER BY, not in a graph pattern"


class QueryExpressions(ExpressionParser, ABC):
    """Reads expressions of queries.

    aggregate_iris  IRIs of functions that are aggregates
    aggregates      those of the current SELECT, and their variables; None where aggregates are not
                    allowed, for the reason in `no_aggregates`
    """

    names_blanks = False

    def __init__(
        self,
        tokens: Tokens,
        prefixes: Mapping[str, str] | None = None,
        aggregate_iris: Collection[str] = (),
    ) -> None:
        super().__init__(tokens, prefixes)
        self.aggregate_iris = frozenset(aggregate_iris)
        self.aggregates: dict[Aggregate, Variable] | None = None
        self.no_aggregates = IN_PATTERN
        self._aggregate_count = 0

    def declaration(self, prefix: str) -> str:
        """The declaration of a missing prefix, for messages."""
        return f"PREFIX {prefix}: <{WELL_KNOWN.get(prefix, '...')}>"

    @abstractmethod
    def exists_pattern(self) -> Node:
        """The pattern of an EXISTS; implemented by the parser of patterns."""

    def word(self) -> Expression:
        """A built-in call, EXISTS or an aggregate."""
        name = self.texts[self.at].upper()
        if name == "EXISTS":
            self.at += 1
            return Exists(self.exists_pattern())
        if name == "NOT" and self.texts[self.at + 1].upper() == "EXISTS":
            self.at += 2
            return Exists(self.exists_pattern(), negated=True)
        if name.lower() in AGGREGATES:
            self.at += 1
            return self._aggregate(name.lower(), name, self.at - 1)
        start = self.at
        found = super().word()
        arguments = found.arguments if isinstance(found, Call) else ()
        if name == "BOUND" and arguments and not isinstance(arguments[0], Variable):
            self.report("BOUND takes a variable", start)
        return found

    def primary(self) -> Expression:
        """A term other than a blank node, a call, or an expression in parentheses."""
        if self.kinds[self.at] == BLANK:
            self.report(
                f"_:{self.texts[self.at]} is not allowed in an expression: use a variable instead"
            )
        return super().primary()

    def constraint(self, where: str) -> Expression:
        """A condition of FILTER and the like: an expression in parentheses, or a call."""
        kind = self.kinds[self.at]
        if kind == WORD and self.texts[self.at].lower() not in ("true", "false"):
            return self.word()
        if kind in (IRI, PREFIXED):
            function = self.iri()
            if not self.is_operator("("):
                self.fail(f"'(' after the name of a function {where}")
            return self.call_of(function)
        if self.is_operator("("):
            return self.primary()
        hint = ": put it in parentheses" if kind == VARIABLE else ""
        self.fail(f"'(' or a function {where}{hint}", known=[*FUNCTIONS, "EXISTS", "NOT"])
        raise AssertionError

    def call_of(self, function: Constant) -> Expression:
        """The call of a function, cast or aggregate with an IRI."""
        name, text, start = iri_of(function), self.texts[self.at - 1], self.at - 1
        if name in self.aggregate_iris:
            return self._aggregate(name, text, start)
        if self.texts[self.at + 1].upper() == "DISTINCT" and self.kinds[self.at + 1] == WORD:
            self.at += 1
            self.fail(f"an argument: {text} is not an aggregate, only aggregates have DISTINCT")
        return Call(name, self.arguments(text))

    def _aggregate(self, function: str, name: str, start: int) -> Variable:
        aggregates = self.aggregates
        if aggregates is None:
            self.report(f"{name} is not allowed here: {self.no_aggregates}", start)
            aggregates = {}
        reason = self.no_aggregates
        self.aggregates, self.no_aggregates = None, "aggregates cannot be nested"
        self.expect("(", f"after {name}")
        self.enter()
        found = self._inner_aggregate(function, name)
        self.leave()
        self.expect(")", f"after the argument of {name}")
        self.aggregates, self.no_aggregates = aggregates, reason
        variable = aggregates.get(found)
        if variable is None:
            variable = aggregates[found] = Variable(f"aggregate:{self._aggregate_count}")
            self._aggregate_count += 1
        return variable

    def _inner_aggregate(self, function: str, name: str) -> Aggregate:
        distinct = self.take_word("DISTINCT")
        if self.is_operator("*"):
            if function != "count":
                self.fail(f"an expression: only COUNT accepts '*', not {name}")
            self.at += 1
            return Aggregate(function, None, distinct)
        argument = self.expression()
        if not self.take(";"):
            return Aggregate(function, argument, distinct)
        self.expect_word("SEPARATOR", f"after ';' in {name}")
        if function != "group_concat":
            self.report(f"{name} has no SEPARATOR, only GROUP_CONCAT has one", self.at - 1)
        self.expect("=", "after SEPARATOR")
        return Aggregate(function, argument, distinct, self.string("after SEPARATOR ="))
