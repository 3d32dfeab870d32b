"""The parser of property paths.

Start at `PathParser.path`. Always true: nested sequences and alternatives are merged; `^^p`
is `p`; the inverse properties of a negated set form a separate set.
"""

from __future__ import annotations

from triplestore.expressions.text.term_parser import TermParser
from triplestore.expressions.text.tokens import IRI, OPERATOR, PREFIXED, WORD
from triplestore.expressions.tree import Constant
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from triplestore.terms.vocabulary import RDF_TYPE

_TYPE = Constant.iri(RDF_TYPE)


class PathParser(TermParser):
    """Reads paths."""

    def path(self) -> PathExpression:
        """A path: alternatives of sequences."""
        parts = [self._sequence()]
        while self.take("|"):
            parts.append(self._sequence())
        return _joined(Alternative, parts)

    def _sequence(self) -> PathExpression:
        parts = [self._inverse_or_element()]
        while self.take("/"):
            parts.append(self._inverse_or_element())
        return _joined(Sequence, parts)

    def _inverse_or_element(self) -> PathExpression:
        if self.take("^"):
            return _inverse(self._element())
        return self._element()

    def _element(self) -> PathExpression:
        path = self._primary()
        self.count_part()
        if self.kinds[self.at] == OPERATOR:
            modified = _MODIFIERS.get(self.texts[self.at])
            # `:p+5` is the property :p and the number +5
            if modified is not None and not (self.texts[self.at] == "+" and self.number_follows()):
                self.at += 1
                return modified(path)
        return path

    def _primary(self) -> PathExpression:
        if self.take("!"):
            return self._negated()
        if self.is_operator("("):
            self.at += 1
            self.enter()
            path = self.path()
            self.leave()
            self.expect(")", "or '/' or '|' in a path in parentheses")
            return path
        return self._property("or '(', '^' or '!' in a path")

    def _property(self, where: str) -> Constant:
        if self.kinds[self.at] in (IRI, PREFIXED):
            return self.iri()
        if self.kinds[self.at] == WORD and self.texts[self.at] == "a":
            self.at += 1
            return _TYPE
        self.fail(f"a property {where}")
        raise AssertionError

    def _negated(self) -> PathExpression:
        forward: list[Constant] = []
        backward: list[Constant] = []
        if self.take("("):
            if not self.take(")"):
                self._one_of_set(forward, backward)
                while self.take("|"):
                    self._one_of_set(forward, backward)
                self.expect(")", "or '|' in a negated set of properties")
        else:
            self._one_of_set(forward, backward)
        if not backward:
            return NegatedSet(tuple(forward))
        back = Inverse(NegatedSet(tuple(backward)))
        return Alternative((NegatedSet(tuple(forward)), back)) if forward else back

    def _one_of_set(self, forward: list[Constant], backward: list[Constant]) -> None:
        self.count_part()
        chosen = backward if self.take("^") else forward
        chosen.append(self._property("in a negated set of properties"))


_MODIFIERS: dict[str, type[ZeroOrMore] | type[OneOrMore] | type[ZeroOrOne]] = {
    "*": ZeroOrMore,
    "+": OneOrMore,
    "?": ZeroOrOne,
}


def _inverse(path: PathExpression) -> PathExpression:
    return path.path if isinstance(path, Inverse) else Inverse(path)


def _joined(
    kind: type[Alternative] | type[Sequence], parts: list[PathExpression]
) -> PathExpression:
    """One path of all parts; parts of the same kind are merged into it."""
    if len(parts) == 1:
        return parts[0]
    flat: list[PathExpression] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    return kind(tuple(flat))
