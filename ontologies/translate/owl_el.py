"""The regime `owl-el` as a program: the rules of `owl_el_text.py`, and a few for properties.

Start reading at `rules_of`. The program does not depend on the axioms, which are rows of `SAID`. So
an edit of an ontology is an update of facts. It does depend on which properties of the ontology the
data have assertions with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

from triplestore.datalog.functions import IN_DATATYPE, SYMBOL
from triplestore.datalog.program import WELL_KNOWN, Constant, Program, Rule
from triplestore.datalog.text import read
from triplestore.ontologies.translate import owl_el_text as texts
from triplestore.terms.vocabulary import OWL, RDF, RDFS, XSD

HELPER = "x-triplestore:el/"
"""Relations of three columns and more begin with this."""

SAID = Constant.iri(HELPER + "said")
"""The relation of asserted axioms: property, subject, object."""

_ATOM = re.compile(r"(?<![\w:?\"])([A-Za-z]+)\[([^\]]*)\]")
_SAID_ATOM = re.compile(r"said\[(\S+), [^,\]]+, ([^\]]+)\]")
_WORDS = {"RDF": RDF, "RDFS": RDFS, "OWL": OWL, "XSD": XSD}


@cache
def _program(text: str) -> Program:
    """The program of a text in which relations are written as names."""
    for word, namespace in _WORDS.items():
        text = re.sub(rf"\b{word}\)", f'"{namespace}")', text)
    text = text.replace("SYMBOL(", f"<{SYMBOL}>(").replace("WITHIN(", f"<{IN_DATATYPE}>(")
    program = read(_ATOM.sub(_atom, text))
    named = [replace(rule, name=f"el-{rule.name or 'form'}") for rule in program.rules]
    return Program(named, program.constraints)


def _atom(match: re.Match[str]) -> str:
    name, arguments = match[1], match[2].split(", ")
    if len(arguments) > 2:
        return f"<{HELPER}{name}>[{match[2]}]"
    return f'[{arguments[0]}, "el:{name}", {arguments[-1]}]'


@cache
def relation(name: str) -> Constant:
    """The name of a relation of one or two columns, as rules have it.

    >>> print(relation("below"))
    "el:below"
    """
    return Constant(b"\x03el:" + name.encode())


@cache
def said() -> tuple[frozenset[str], frozenset[str]]:
    """The properties of which all asserted facts are rows of `SAID`, and the classes of which all
    asserted members are.

    >>> properties, classes = said()
    >>> OWL + "someValuesFrom" in properties, OWL + "TransitiveProperty" in classes
    (True, True)
    """
    text = "".join((texts.NORMAL_FORM, texts.INDIVIDUALS))
    properties, classes = set[str](), set[str]()
    for name, object_ in _SAID_ATOM.findall(text):
        if name == "rdf:type":
            classes.add(_whole(object_))
        else:
            properties.add(_whole(name))
    return frozenset(properties), frozenset(classes)


def _whole(name: str) -> str:
    prefix, _, local = name.partition(":")
    return WELL_KNOWN[prefix] + local


@lru_cache(maxsize=64)
def rules_of(others: bool, roles: frozenset[str] = frozenset()) -> Program:
    """The program of the regime.

    others  whether other rules may conclude axioms or types
    roles   properties of the ontology with which something is asserted

    >>> rules_of(False).rules[0].name
    'el-form'
    """
    parts = [texts.NORMAL_FORM, texts.SATURATION, texts.INDIVIDUALS, texts.CONCLUSIONS]
    found = _program("".join(parts))
    if others:
        found += _program(texts.FROM_OTHERS)
    for role in sorted(roles):
        found += _program(texts.ASSERTION.replace("ROLE", f"<{role}>"))
    return found


def is_of_regime(rules: Iterable[Rule]) -> bool:
    """Whether some rules are of this regime."""
    return any(rule.name.startswith("el-") for rule in rules)
