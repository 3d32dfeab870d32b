"""Examples of SWRL's atoms for the page of rules."""

from __future__ import annotations

from tests.ontologies.oracle import turtle
from tests.ontologies.oracle.vocabulary import Fact

_PREFIXES = """@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix swrlb: <http://www.w3.org/2003/11/swrlb#> .
ex:x a swrl:Variable . ex:y a swrl:Variable . ex:z a swrl:Variable . ex:n a swrl:Variable .
ex:m a swrl:Variable .
"""
_RULE = """[] a swrl:Imp ;
  swrl:body (
{body}
  ) ;
  swrl:head ({head}) ."""
_CLASS = "[ a swrl:ClassAtom ; swrl:classPredicate ex:{} ; swrl:argument1 ex:{} ]"
_PROPERTY = (
    "[ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate ex:{} ;"
    " swrl:argument1 ex:{} ; swrl:argument2 ex:{} ]"
)
_VALUE = _PROPERTY.replace("Individual", "Datavalued")


def _rule(head: str, *body: str) -> str:
    return _RULE.format(head=head, body="\n".join(f"    {atom}" for atom in body))


EXAMPLES = {
    "Classes and properties": _rule(
        _PROPERTY.format("uncle", "x", "z"),
        _PROPERTY.format("parent", "x", "y"),
        _PROPERTY.format("brother", "y", "z"),
        _CLASS.format("Person", "x"),
    ),
    "Values and built-ins that test": _rule(
        _CLASS.format("Adult", "x"),
        _VALUE.format("age", "x", "n"),
        "[ a swrl:BuiltinAtom ; swrl:builtin swrlb:greaterThan ; swrl:arguments (ex:n 17) ]",
    ),
    "Built-ins that make values": _rule(
        _VALUE.format("nextAge", "x", "m"),
        _VALUE.format("age", "x", "n"),
        "[ a swrl:BuiltinAtom ; swrl:builtin swrlb:add ; swrl:arguments (ex:m ex:n 1) ]",
    ),
    "Data ranges": _rule(
        _CLASS.format("Counted", "x"),
        _VALUE.format("size", "x", "n"),
        "[ a swrl:DataRangeAtom ; swrl:dataRange xsd:integer ; swrl:argument1 ex:n ]",
    ),
    "The same": _rule(
        "[ a swrl:SameIndividualAtom ; swrl:argument1 ex:x ; swrl:argument2 ex:y ]",
        _VALUE.format("code", "x", "n"),
        _VALUE.format("code", "y", "n"),
    ),
    "Different": _rule(
        _PROPERTY.format("rival", "x", "y"),
        _PROPERTY.format("wants", "x", "z"),
        _PROPERTY.format("wants", "y", "z"),
        "[ a swrl:DifferentIndividualsAtom ; swrl:argument1 ex:x ; swrl:argument2 ex:y ]",
    ),
    "A rule without a head": _rule(
        "",
        _CLASS.format("Cat", "x"),
        _CLASS.format("Dog", "x"),
    ),
}
"""title -> a rule in Turtle."""

BUILTINS = """The first argument is the value of the others: a variable that nothing else binds gets
it, anything else is compared with it. A rule with a part that is not supported is left out as a
whole, and the report of `reason` says why."""


def swrl_facts(text: str) -> list[Fact]:
    """The triples of an example, with its variables."""
    return turtle(_PREFIXES + text)
