"""The parser of triples, in patterns, templates and data.

Start at `TripleParser.triples_block`. Always true: triples are added to `triples`, longer
paths to `paths`, in the order of the text; those of a `[...]` or `(...)` come before the triple
around it. In a pattern blank nodes become hidden variables; in a template they are constants.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from triplestore.expressions.text.tokens import (
    BLANK,
    DECIMAL,
    DOUBLE,
    END,
    INTEGER,
    IRI,
    OPERATOR,
    PREFIXED,
    STRING,
    VARIABLE,
    WORD,
    Tokens,
)
from triplestore.expressions.tree import Constant, Variable
from triplestore.sparql.algebra.nodes import (
    Inverse,
    Path,
    PathExpression,
    Sequence,
    TermOrVariable,
    TriplePattern,
)
from triplestore.sparql.syntax.reified_triples import TYPE, ReifiedTripleParser
from triplestore.terms.term_keys import BLANK as BLANK_KIND
from triplestore.terms.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST

FIRST = Constant.iri(RDF_FIRST)
REST = Constant.iri(RDF_REST)
NIL = Constant.iri(RDF_NIL)


class TripleParser(ReifiedTripleParser):
    """Reads triples.

    bgp  the number of the current basic graph pattern, to which labels belong
    """

    def __init__(
        self,
        tokens: Tokens,
        prefixes: Mapping[str, str] | None = None,
        aggregate_iris: Collection[str] = (),
    ) -> None:
        super().__init__(tokens, prefixes, aggregate_iris)
        self.bgp = 0
        self.bgps = 0
        self._variables: dict[str, Variable] = {}
        self._labels: dict[str, int] = {}
        self._fresh_prefix = _unused_label(tokens.text)
        self._fresh = 0

    # --- blocks ---------------------------------------------------------------------------------

    def starts_triple(self) -> bool:
        """True if the next token can begin a triple."""
        kind = self.kinds[self.at]
        if kind in _STARTS:
            return True
        text = self.texts[self.at]
        if kind == OPERATOR:
            return text in _OPENS
        return kind == WORD and text.lower() in ("true", "false")

    def triples_block(self) -> None:
        """Triples with a '.' between them, and perhaps one at the end."""
        while self.starts_triple():
            self._same_subject()
            if not self.take("."):
                return

    def _same_subject(self) -> None:
        at = self.at
        long = self.texts[at] == "[" and self.texts[at + 1] != "]"
        long = long or (self.texts[at] == "(" and self.texts[at + 1] != ")")
        long = (long or self.texts[at] == "<<") and self.kinds[at] == OPERATOR
        subject = self.node("as subject")
        if long and not self._starts_verb():
            return
        self.property_list(subject)

    def property_list(self, subject: TermOrVariable) -> None:
        """Properties and objects of a subject, at least one."""
        while True:
            verb = self._verb()
            self._object(subject, verb)
            while self.take(","):
                self._object(subject, verb)
            if not self.is_operator(";"):
                return
            while self.take(";"):
                pass
            if not self._starts_verb():
                return

    def _object(self, subject: TermOrVariable, verb: PathExpression | Variable) -> None:
        object_ = self.node("as object")
        self._add(subject, verb, object_)
        if self.texts[self.at] in ("~", "{|"):
            self.annotations(subject, verb, object_)

    def _starts_verb(self) -> bool:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind in (VARIABLE, PREFIXED, IRI):
            return True
        return (kind == WORD and text == "a") or (kind == OPERATOR and text in ("^", "!", "("))

    def _verb(self) -> PathExpression | Variable:
        at = self.at
        kind = self.kinds[at]
        if kind == VARIABLE:
            return self.scoped_variable()
        if kind in (PREFIXED, IRI):
            if self.texts[at + 1] not in _IN_PATHS or self.template:
                return self.iri()
        elif kind == WORD and self.texts[at] == "a":
            if self.texts[at + 1] not in _IN_PATHS or self.template:
                self.at += 1
                return TYPE
        elif not self._starts_verb():
            self.fail("a property (an IRI, a variable, 'a' or a path)")
        if self.template:
            self.fail("a property (an IRI, a variable or 'a'): only patterns have paths")
        return self.path()

    # --- triples and paths ----------------------------------------------------------------------

    def _add(
        self, subject: TermOrVariable, verb: PathExpression | Variable, object_: TermOrVariable
    ) -> None:
        """Add a triple or a path; steps of the path that are single properties become triples."""
        if not self.template:
            self.count_part()
        if isinstance(verb, Constant | Variable):
            self.triples.append(TriplePattern(subject, verb, object_))
        elif isinstance(verb, Inverse):
            self._add(object_, verb.path, subject)
        elif isinstance(verb, Sequence):
            for part in verb.parts[:-1]:
                middle = self.fresh()
                self._add(subject, part, middle)
                subject = middle
            self._add(subject, verb.parts[-1], object_)
        else:
            self.paths.append(Path(subject, verb, object_))

    # --- nodes ----------------------------------------------------------------------------------

    def node(self, where: str) -> TermOrVariable:
        """The next term, variable, `[...]` or list; an error if there is none."""
        self.look_at_limits()
        kind = self.kinds[self.at]
        if kind == VARIABLE:
            return self.scoped_variable()
        if kind in (PREFIXED, IRI):
            return self.iri()
        if kind == BLANK:
            self.at += 1
            return self.labelled(self.texts[self.at - 1])
        if kind == OPERATOR:
            if self.texts[self.at] == "[":
                return self._bracketed()
            if self.texts[self.at] == "(":
                return self._list()
            if self.texts[self.at] == "<<(":
                return self.triple_term()
            if self.texts[self.at] == "<<":
                return self.reified_triple()
        found = self.constant(f"or a variable {where}")
        if found.kind == BLANK_KIND:
            raise AssertionError
        return found

    def scoped_variable(self) -> Variable:
        """The variable of the next token, which is in scope from here on."""
        name = self.texts[self.at]
        if self.no_variables:
            self.report(f"?{name} is not allowed here: {self.no_variables}")
        self.at += 1
        variable = self._variables.get(name)
        if variable is None:
            variable = self._variables[name] = Variable(name)
        self.scope[variable] = None
        return variable

    def labelled(self, label: str) -> TermOrVariable:
        """The blank node with a label."""
        if self.no_blanks:
            self.report(f"_:{label} is not allowed here: {self.no_blanks}", self.at - 1)
        if self.template:
            return Constant(b"\x02" + label.encode())
        if self._labels.setdefault(label, self.bgp) != self.bgp:
            self.report(
                f"_:{label} is in two basic graph patterns, where it could have different values: "
                "use a variable",
                self.at - 1,
            )
        return Variable(f"_:{label}")

    def fresh(self) -> TermOrVariable:
        """A blank node without label, or a hidden variable for one."""
        label = f"{self._fresh_prefix}{self._fresh}"
        self._fresh += 1
        return Constant(b"\x02" + label.encode()) if self.template else Variable(f"_:{label}")

    def _bracketed(self) -> TermOrVariable:
        if self.no_blanks:
            self.report(f"'[' is not allowed here: {self.no_blanks}")
        start = self.at
        self.at += 1
        node = self.fresh()
        if not self.take("]"):
            self.enter()
            self.property_list(node)
            self.leave()
            self.close("]", start, "or ';' after an object in '[...]'")
        return node

    def _list(self) -> TermOrVariable:
        start = self.at
        self.at += 1
        if self.take(")"):
            return NIL
        if self.no_blanks:
            self.report(f"'(' is not allowed here: {self.no_blanks}", start)
        self.enter()
        head = cell = self.fresh()
        while True:
            self._add(cell, FIRST, self.node("or ')' in a list"))
            if self.is_operator(")"):
                break
            next_cell = self.fresh()
            self._add(cell, REST, next_cell)
            cell = next_cell
            if self.kinds[self.at] == END:
                break
        self._add(cell, REST, NIL)
        self.leave()
        self.close(")", start, "at the end of a list")
        return head

    # --- brackets -------------------------------------------------------------------------------

    def close(self, bracket: str, opened: int, where: str) -> None:
        """Skip the closing bracket, which must come next; `opened` is the opening token."""
        if self.take(bracket):
            return
        if self.kinds[self.at] == END:
            line, column = self.tokens.place(self.tokens.start(opened))
            self.fail(f"'{bracket}' for the '{self.texts[opened]}' at {line}:{column}")
        self.fail(f"'{bracket}' {where}")


_STARTS = frozenset((VARIABLE, PREFIXED, IRI, STRING, INTEGER, DECIMAL, DOUBLE, BLANK))
_OPENS = frozenset(("[", "(", "+", "-", "<<(", "<<"))
_IN_PATHS = frozenset("/|*+?")


def _unused_label(text: str) -> str:
    """A prefix for new labels of blank nodes that no label in the text has."""
    prefix = "b"
    while f"_:{prefix}" in text:
        prefix += "_"
    return prefix
