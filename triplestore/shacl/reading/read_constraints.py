"""The constraints that the parameters of a shape stand for: start at `read_constraints`.

`_READERS` has one function for each parameter of SHACL Core that a component begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from triplestore.errors import ShapesError, TripleStoreError
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.regex import compiled
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.shacl import model
from triplestore.shacl.model import Constraint
from triplestore.shacl.reading.shapes_graph import ShapesGraph, in_order, shown
from triplestore.shacl.vocabulary import TRUE, TRUTHS, Key, lexical, local_name, sh
from triplestore.terms.term_keys import BLANK, IRI, STRING

VALUE = Variable("value")

Reader: TypeAlias = Callable[["ShapeParameters", Key], Iterator[Constraint]]


class ShapeParameters:
    """The parameters of one shape.

    has_path  whether it is a property shape
    """

    def __init__(self, graph: ShapesGraph, node: Key, has_path: bool) -> None:
        self.graph = graph
        self.node = node
        self.has_path = has_path

    def values(self, name: str) -> list[Key]:
        """The values of a parameter, in a fixed order."""
        return in_order(self.graph.objects(self.node, sh(name)))

    def wrong(self, name: str, value: Key, expected: str) -> ShapesError:
        """The error of a value that a parameter cannot have."""
        return ShapesError(
            f"{shown(self.node)}: sh:{name} is {shown(value)}, where {expected} is expected"
        )

    def whole_number(self, name: str, value: Key) -> int:
        """The value of a parameter that is a number of things."""
        try:
            return int(lexical(value))
        except ValueError:
            raise self.wrong(name, value, "a whole number") from None

    def list_of(self, value: Key) -> tuple[Key, ...]:
        """The members of a parameter that is a list."""
        return tuple(self.graph.members(value))

    def only_with_path(self, name: str) -> None:
        """Refuse a parameter that only property shapes have."""
        if not self.has_path:
            raise ShapesError(
                f"{shown(self.node)}: sh:{name} needs sh:path: it is about the values of a path"
            )


def component_of(name: str) -> Key:
    """The component whose first parameter is this one.

    >>> local_name(component_of("minCount"))
    'MinCountConstraintComponent'
    """
    return sh(f"{name[0].upper()}{name[1:]}ConstraintComponent")


def read_constraints(graph: ShapesGraph, node: Key, has_path: bool) -> Iterator[Constraint]:
    """The constraints of SHACL Core that a shape has."""
    parameters = ShapeParameters(graph, node, has_path)
    for name, (read, single) in _READERS.items():
        values = parameters.values(name)
        if single and len(values) > 1:
            raise ShapesError(f"{shown(node)} has {len(values)} values of sh:{name}: give one")
        for value in values:
            yield from read(parameters, value)


# -- values one by one ----------------------------------------------------------------------------


def _class(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    if value[0] not in (IRI, BLANK):
        raise given.wrong("class", value, "a class")
    yield model.ClassTest(component_of("class"), value)


def _datatype(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    if value[0] != IRI:
        raise given.wrong("datatype", value, "the IRI of a datatype")
    condition = Call("=", (Call("DATATYPE", (VALUE,)), Constant(value)))
    yield model.DatatypeTest(component_of("datatype"), value, condition)


_KINDS = {
    "IRI": ("ISIRI",),
    "BlankNode": ("ISBLANK",),
    "Literal": ("ISLITERAL",),
    "BlankNodeOrIRI": ("ISBLANK", "ISIRI"),
    "BlankNodeOrLiteral": ("ISBLANK", "ISLITERAL"),
    "IRIOrLiteral": ("ISIRI", "ISLITERAL"),
}


def _node_kind(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    name = local_name(value)
    if value != sh(name) or name not in _KINDS:
        raise given.wrong("nodeKind", value, f"one of {', '.join(f'sh:{k}' for k in _KINDS)}")
    tests = [Call(function, (VALUE,)) for function in _KINDS[name]]
    yield model.ValueTest(component_of("nodeKind"), _any(tests), f"is not of node kind sh:{name}")


def _bound(name: str, sign: str, words: str) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        if value[0] in (IRI, BLANK):
            raise given.wrong(name, value, "a literal")
        condition = Call(sign, (VALUE, Constant(value)))
        yield model.ValueTest(component_of(name), condition, f"is not {words} {shown(value)}")

    return read


def _length(name: str, sign: str, words: str) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        number = given.whole_number(name, value)
        length = Call("STRLEN", (_TEXT,))
        limit = Constant(b'\x05%d"^^<http://www.w3.org/2001/XMLSchema#integer>' % number)
        condition = _all([_NOT_BLANK, Call(sign, (length, limit))])
        yield model.ValueTest(
            component_of(name), condition, f"has {words} than {number} characters"
        )

    return read


def _pattern(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    flags = given.graph.one(given.node, sh("flags"))
    text, letters = lexical(value), "" if flags is None else lexical(flags)
    try:
        compiled(text, letters)
    except (TripleStoreError, ExpressionError) as error:
        why = str(error) or "it is not a regular expression"
        raise ShapesError(f"{shown(given.node)}: sh:pattern {text!r}: {why}") from error
    texts = [Constant(bytes([STRING]) + each.encode()) for each in (text, letters)]
    arguments: tuple[Expression, ...] = (_TEXT, *texts)
    condition = _all([_NOT_BLANK, Call("REGEX", arguments)])
    yield model.ValueTest(
        component_of("pattern"), condition, f'does not match the pattern "{text}"'
    )


def _language_in(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    tags = given.list_of(value)
    language = Call("LANG", (VALUE,))
    tests = [Call("LANGMATCHES", (language, Constant(tag))) for tag in tags]
    wanted = ", ".join(map(lexical, tags))
    condition = _any(tests) if tests else Constant(_FALSE)
    yield model.ValueTest(component_of("languageIn"), condition, f"has no language of: {wanted}")


def _in(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    yield model.InTest(component_of("in"), given.list_of(value))


# -- all values -----------------------------------------------------------------------------------


def _has_value(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    yield model.HasValueTest(component_of("hasValue"), value)


def _count(name: str, at_least: bool) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        given.only_with_path(name)
        yield model.CountTest(component_of(name), given.whole_number(name, value), at_least)

    return read


def _unique_lang(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    given.only_with_path("uniqueLang")
    if value == TRUE:  # not "1", as a test of the W3C requires
        yield model.UniqueLang(component_of("uniqueLang"))


def _pair(name: str) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        if name.startswith("lessThan"):
            given.only_with_path(name)
        if value[0] != IRI:
            raise given.wrong(name, value, "the IRI of a property")
        yield model.PairTest(component_of(name), name, value)

    return read


# -- other shapes ---------------------------------------------------------------------------------


def _listed_shapes(name: str) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        yield model.Logical(component_of(name), name, given.list_of(value))

    return read


def _one_shape(name: str) -> Reader:
    def read(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
        yield model.Logical(component_of(name), name, (value,))

    return read


def _property(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    if not given.graph.objects(value, sh("path")):
        raise given.wrong("property", value, "a property shape, which has sh:path,")
    yield model.PropertyOf(component_of("property"), value)


def _qualified(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    given.only_with_path("qualifiedValueShape")
    siblings: tuple[Key, ...] = ()
    if given.graph.is_true(given.node, sh("qualifiedValueShapesDisjoint")):
        siblings = tuple(s for s in _siblings(given.graph, given.node) if s != value)
    for name, at_least in (("qualifiedMinCount", True), ("qualifiedMaxCount", False)):
        for number in given.values(name):
            count = given.whole_number(name, number)
            yield model.Qualified(component_of(name), value, count, at_least, siblings)


def _siblings(graph: ShapesGraph, node: Key) -> list[Key]:
    """The qualified shapes of all property shapes beside one."""
    found: dict[Key, None] = {}
    for _, properties in graph.with_predicate(sh("property")):
        if node in properties:
            for each in properties:
                found.update(dict.fromkeys(graph.objects(each, sh("qualifiedValueShape"))))
    return in_order(found)


def _closed(given: ShapeParameters, value: Key) -> Iterator[Constraint]:
    if value not in TRUTHS:
        return
    graph, node = given.graph, given.node
    allowed: set[Key] = set()
    for each in graph.objects(node, sh("property")):
        allowed.update(p for p in graph.objects(each, sh("path")) if p[0] == IRI)
    for ignored in graph.objects(node, sh("ignoredProperties")):
        allowed.update(graph.members(ignored))
    yield model.ClosedTest(component_of("closed"), frozenset(allowed))


# -- expressions ----------------------------------------------------------------------------------

_FALSE = b'\x05false"^^<http://www.w3.org/2001/XMLSchema#boolean>'
_TEXT = Call("STR", (VALUE,))
_NOT_BLANK = Call("!", (Call("ISBLANK", (VALUE,)),))


def _any(tests: list[Call]) -> Expression:
    return tests[0] if len(tests) == 1 else Call("||", tuple(tests))


def _all(tests: list[Call]) -> Expression:
    return Call("&&", tuple(tests))


_READERS: dict[str, tuple[Reader, bool]] = {
    "class": (_class, False),
    "datatype": (_datatype, True),
    "nodeKind": (_node_kind, True),
    "minCount": (_count("minCount", True), True),
    "maxCount": (_count("maxCount", False), True),
    "minExclusive": (_bound("minExclusive", ">", "greater than"), True),
    "minInclusive": (_bound("minInclusive", ">=", "at least"), True),
    "maxExclusive": (_bound("maxExclusive", "<", "less than"), True),
    "maxInclusive": (_bound("maxInclusive", "<=", "at most"), True),
    "minLength": (_length("minLength", ">=", "fewer"), True),
    "maxLength": (_length("maxLength", "<=", "more"), True),
    "pattern": (_pattern, False),
    "languageIn": (_language_in, True),
    "uniqueLang": (_unique_lang, True),
    "equals": (_pair("equals"), False),
    "disjoint": (_pair("disjoint"), False),
    "lessThan": (_pair("lessThan"), False),
    "lessThanOrEquals": (_pair("lessThanOrEquals"), False),
    "not": (_one_shape("not"), False),
    "and": (_listed_shapes("and"), False),
    "or": (_listed_shapes("or"), False),
    "xone": (_listed_shapes("xone"), False),
    "node": (_one_shape("node"), False),
    "property": (_property, False),
    "qualifiedValueShape": (_qualified, True),
    "closed": (_closed, True),
    "hasValue": (_has_value, False),
    "in": (_in, True),
}
"""The reader of each parameter, and whether a shape has at most one value of it."""

PARAMETERS = (*(sh(name) for name in _READERS), sh("sparql"))
"""The parameters of SHACL by which a shape is known."""
